"""The slow, obviously correct twin of the fast solvers: alternating normalisation.

This is the textbook procedure of published code for SCBI. Tests compare the fast solvers with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SWEEPS_BETWEEN_CHECKS = 10


def alternate(
    matrix: Array,
    row_sums: Array,
    column_sums: Array,
    *,
    tolerance: float = 1e-12,
    max_sweeps: int = 1_000_000,
) -> tuple[Array, int]:
    """Normalise rows and columns alternately until all sums are within the tolerance.

    Parameters
    ----------
    matrix, row_sums, column_sums
        Positive; equal totals.
    tolerance
        Tolerance for the relative error of the row sums, computed every ten sweeps; the column sums
        are exact.
    max_sweeps
        The largest number of sweeps.

    Returns
    -------
    scaled, num_sweeps
        The scaled matrix and the number of sweeps.
    """
    scaled = np.asarray(matrix, dtype=np.float64)
    for sweep in range(1, max_sweeps + 1):
        scaled = row_sums[:, None] * scaled / scaled.sum(axis=1, keepdims=True)
        scaled = column_sums * scaled / scaled.sum(axis=0, keepdims=True)
        if sweep % SWEEPS_BETWEEN_CHECKS == 0:
            residual = np.abs(scaled.sum(axis=1) / row_sums - 1.0).max()
            if residual <= tolerance:
                return scaled, sweep
    return scaled, max_sweeps
