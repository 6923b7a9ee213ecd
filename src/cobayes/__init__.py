"""Sequential Cooperative Bayesian Inference (SCBI).

The public names are listed in ``__init__.pyi``. Modules load when they are first used, so that
``import cobayes`` is quick.
"""

import lazy_loader

from cobayes._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
