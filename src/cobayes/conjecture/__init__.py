"""Conjecture 5.3 of the paper: certificates of counter-examples, and the limit of small errors."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
