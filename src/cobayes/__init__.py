"""Sequential Cooperative Bayesian Inference (SCBI).

The names that most work needs are here, listed in ``__init__.pyi``; the others are in the modules
that are listed there. Modules load when they are first used, so that ``import cobayes`` is quick.
"""

import importlib
import importlib.util
import sys
import warnings
from typing import Any

import lazy_loader

from cobayes._version import __version__ as __version__

_listed, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# Version 0.1 had every public name at the top; those of these modules are still found there.
_MODULES_OF_OLD_NAMES = (
    *("conjecture", "lessons", "random_matrices", "rules", "scaling"),
    *("stability", "tasks", "theory", "worlds"),
)


def __getattr__(name: str) -> Any:
    try:
        return _listed(name)
    except AttributeError:
        # Python asks for `model` here before it imports it in `from cobayes import model`.
        if name.startswith("_") or importlib.util.find_spec(f"cobayes.{name}"):
            raise
        for home in _MODULES_OF_OLD_NAMES:
            module = importlib.import_module(f"cobayes.{home}")
            if name in getattr(module, "__all__", ()):
                warnings.warn(
                    f"cobayes.{name} is now cobayes.{home}.{name}.",
                    DeprecationWarning,
                    stacklevel=2,
                )
                return getattr(module, name)
        # Python then asks "Did you mean ...?".
        missing = f"module 'cobayes' has no attribute {name!r}"
        raise AttributeError(missing, name=name, obj=sys.modules[__name__]) from None
