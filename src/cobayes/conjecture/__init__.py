"""Conjecture 5.3: certificates of counter-examples, and the limit of small perturbations."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
