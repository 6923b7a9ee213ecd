"""What we are measured against: the textbook procedure in NumPy, and POT."""

from __future__ import annotations

import numpy as np
import ot

from cobayes.scaling.reference import alternate

TOLERANCE = 1e-12


def problem(n: int, m: int, seed: int = 1):
    """Return a random matrix as in the paper and the column sums of a random belief."""
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(n), size=m).T.copy()
    return matrix, n * rng.dirichlet(np.full(m, 5.0))


def textbook_scale(matrix, columns):
    return alternate(matrix, np.ones(len(matrix)), columns, tolerance=TOLERANCE)[0]


def pot_scale(matrix, columns):
    """Scale by optimal transport with regularisation one: the kernel is then our matrix.

    POT stops on the Euclidean norm of the absolute error; the threshold is the tolerance times
    the norm of the sums, which is our relative tolerance on average over the columns.
    """
    n = len(matrix)
    target = columns / n
    plan = ot.sinkhorn(
        np.full(n, 1.0 / n),
        target,
        -np.log(matrix),
        1.0,
        stopThr=TOLERANCE * float(np.linalg.norm(target)),
        numItermax=100_000,
    )
    return n * plan


def lesson(scale, matrix, num_rounds: int, seed: int = 0):
    """Play a lesson about the first hypothesis as published code does: scale, draw, take a row."""
    rng = np.random.default_rng(seed)
    n, m = matrix.shape
    belief = np.full(m, 1.0 / m)
    for _ in range(num_rounds):
        scaled = scale(matrix, n * belief)
        column = scaled[:, 0] / scaled[:, 0].sum()
        datum = min(int(np.searchsorted(np.cumsum(column), rng.random(), "right")), n - 1)
        # General packages lose beliefs below 1e-16; the floor keeps them going.
        belief = np.maximum(scaled[datum], 1e-13)
        belief /= belief.sum()
    return belief
