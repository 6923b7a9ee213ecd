"""Drawing a datum from a distribution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def draw(shares: NDArray[np.float64], uniform: float) -> int:
    """Return the datum that a uniform number falls on; one of positive probability."""
    sums = np.cumsum(shares)
    datum = int(np.searchsorted(sums, uniform * sums[-1], side="right"))
    return min(datum, int(np.flatnonzero(shares)[-1]))
