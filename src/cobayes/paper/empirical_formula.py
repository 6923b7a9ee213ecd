"""The supplement's empirical formula for P of n x 2 matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

PARAMETERS = ("a", "c", "b", "d")
GUESS = (0.5, 1.5, 0.1, -0.3)
"""The authors' values: -ln(1 - P) = a ln(x (x + 1) / (x - c)) + b x + d."""


def empirical_formula(num_data: ArrayLike, a: float, c: float, b: float, d: float) -> Array:
    """Return -ln(1 - P) by the supplement's formula.

    Parameters
    ----------
    num_data
        The number of rows, x.
    a, c, b, d
        See `GUESS`.

    Notes
    -----
    With the authors' values this is 1 - P = sqrt((x - 1.5) / (x (x + 1))) exp(-0.1 x + 0.3).
    """
    x = np.asarray(num_data, dtype=float)
    return a * np.log(x * (x + 1.0) / (x - c)) + b * x + d
