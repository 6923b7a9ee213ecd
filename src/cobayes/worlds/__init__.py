"""Worlds: a walker shows its goal by its moves, and a watcher infers it.

Modules load when they are first used. The Gymnasium environment ``cobayes/GridWorld-v0`` is
registered by importing `cobayes.worlds.gym`, which happens here if Gymnasium is loaded already;
``gymnasium.make("cobayes.worlds.gym:cobayes/GridWorld-v0")`` works in any case.
"""

import importlib
import sys

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

if "gymnasium" in sys.modules:
    importlib.import_module("cobayes.worlds.gym")
