"""Sequential Cooperative Bayesian Inference (SCBI).

``__init__.pyi`` lists the most common names, and modules with further names. A module is loaded
when one of its names is first used, so that ``import cobayes`` is fast.
"""

import sys
from typing import Any

import lazy_loader

from cobayes.versions import __version__ as __version__
from cobayes.worlds import register_with_gymnasium

register_with_gymnasium()
_listed, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
# Modules that are searched for an unknown name, so that the error can say where the name is.
_SEARCHED = ("lessons", "plots", "stability", "tasks", "theory", "worlds")


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _listed(name)
    message = f"module 'cobayes' has no attribute {name!r}"
    for module in () if name.startswith("_") else _SEARCHED:
        if name in dir(_listed(module)):
            raise AttributeError(f"{message}; it is cobayes.{module}.{name}")
    # With `name` and `obj` Python adds "Did you mean ...?" to the traceback.
    raise AttributeError(message, name=name, obj=sys.modules[__name__])
