"""The studio: a page to play with, and experiments for the browser.

`page` makes the one HTML file, `experiment` the folder with a jsPsych experiment; `bundle` joins
the modules of `twin/`, `page/` and `experiment/` into their scripts.
The function `studio` and this package share a name, so that the package can be called as well.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from cobayes.studio.experiment import write_experiment
from cobayes.studio.page import Studio, live_figure, studio

__all__ = ["Studio", "live_figure", "studio", "write_experiment"]


class _CallableModule(ModuleType):
    """What ``cobayes.studio`` is after an import of this package; calling it makes the page."""

    def __call__(self, *args: Any, **options: Any) -> Studio:
        return studio(*args, **options)


sys.modules[__name__].__class__ = _CallableModule
