"""Pictures of lessons, matrices and beliefs; every function takes and returns an Axes.

They need matplotlib (``pip install '.[plots]'``), which is imported at the first picture.
Colours are those of Okabe and Ito, and the map cividis, which colour-blind readers can tell apart;
no picture relies on colour alone. `style` is the house style of all pictures.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
