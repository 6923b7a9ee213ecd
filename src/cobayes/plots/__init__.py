"""Figures of lessons, matrices, beliefs, worlds and fits to people.

The functions named ``plot_...`` draw on given Axes or on a new figure, and return the Axes;
`draw_lessons` returns a Figure, `save_animation` writes a file. They need matplotlib (``pip install
'.[plots]'``), which is imported with the first figure. The colours of Okabe and Ito and the colour
map cividis are safe for colour-blind readers; curves also differ in line or marker. `style` is the
common style.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
