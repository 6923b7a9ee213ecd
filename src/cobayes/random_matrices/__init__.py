"""Random matrices: the probability that SCBI is faster than BI, and the mean gain in rate."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
