"""Which atoms of a measure are equal, and which are light enough to drop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def merge_equal(weights: Array, log_beliefs: Array, tolerance: float) -> tuple[Array, Indices]:
    """Return the weights of the different atoms and where each is first found.

    Parameters
    ----------
    weights, log_beliefs
        Shapes (a,) and (a, m).
    tolerance
        Atoms are equal when no log-belief differs by more than this.
    """
    from cobayes.theory.tree_kernels import lead_equal_atoms

    finite = np.where(np.isfinite(log_beliefs), log_beliefs, 0.0)
    # Equal atoms have equal projections: sorting these avoids comparing all pairs.
    direction = np.cos(np.arange(1.0, finite.shape[1] + 1.0))
    keys = finite @ direction
    rounding = 1e-14 * float(np.abs(finite).max()) * len(direction)
    window = tolerance * float(np.abs(direction).sum()) + rounding
    leaders = np.empty(len(weights), dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    lead_equal_atoms(keys, order, log_beliefs, tolerance, window, leaders)
    kept, places = np.unique(leaders, return_inverse=True)
    merged = np.zeros(len(kept))
    np.add.at(merged, places, weights)
    return merged, kept


def heaviest(weights: Array, mass: float) -> tuple[Indices, float]:
    """Return, in order, the atoms that stay and the weight of those that go.

    Parameters
    ----------
    weights
        Shape (a,).
    mass
        The most that the others may weigh; one atom always stays.
    """
    order = np.argsort(weights, kind="stable")
    dropped = np.cumsum(weights[order])
    count = min(int(np.searchsorted(dropped, mass, side="right")), len(weights) - 1)
    return np.sort(order[count:]), float(dropped[count - 1]) if count else 0.0
