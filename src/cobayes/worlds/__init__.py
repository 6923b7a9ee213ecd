"""Worlds: a walker shows its goal by its moves, and a watcher infers it.

Modules load when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
