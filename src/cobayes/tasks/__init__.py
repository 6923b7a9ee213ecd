"""Tasks: the matrix of the next round, and the data that may be shown."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
