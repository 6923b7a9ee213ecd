"""The studio: a page to play with, and experiments for the browser.

`page` makes the one HTML file, `bundle` joins the modules of `page/` and `twin/` into its script.
Both ``cobayes.studio`` and the function that makes the page have one name: the module can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from cobayes.studio.page import Studio, live_figure, studio

__all__ = ["Studio", "live_figure", "studio"]


class _CallableModule(ModuleType):
    """Importing this package sets ``cobayes.studio`` to it; calling it must make the page."""

    def __call__(self, *args: Any, **options: Any) -> Studio:
        return studio(*args, **options)


sys.modules[__name__].__class__ = _CallableModule
