"""Figures of lessons, matrices and beliefs; every function accepts and returns an Axes.

They need matplotlib (``pip install '.[plots]'``), which is imported with the first figure. The
colours of Okabe and Ito and the colour map cividis are safe for colour-blind readers; no figure
uses colour alone to distinguish things. `style` is the common style of all figures.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
