"""What we are measured against: the textbook, batched NumPy, POT and OTT-JAX.

The textbook scales one matrix at a time. The batched program is what a careful user of NumPy would
write for many beliefs: matrix products for all row and column sums, warm starts, and the same
tolerance. POT and OTT-JAX are the two solvers for optimal transport that people use.
"""

from __future__ import annotations

import importlib.util

import numpy as np
import ot

from cobayes.scaling.reference import alternate

TOLERANCE = 1e-12
HAS_OTT = importlib.util.find_spec("ott") is not None


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


def ott_scale():
    """Return OTT-JAX's Sinkhorn as a compiled function of a matrix and its column sums."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from ott.geometry.geometry import Geometry
    from ott.problems.linear.linear_problem import LinearProblem
    from ott.solvers.linear.sinkhorn import Sinkhorn

    solver = Sinkhorn(threshold=TOLERANCE, norm_error=1, lse_mode=False, max_iterations=100_000)

    @jax.jit
    def solve(matrix, columns):
        n = matrix.shape[0]
        geometry = Geometry(kernel_matrix=matrix, epsilon=1.0)
        plan = solver(LinearProblem(geometry, a=jax.numpy.full(n, 1.0 / n), b=columns / n)).matrix
        return n * plan

    return lambda matrix, columns: np.asarray(solve(matrix, columns))


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


def batched_lessons(matrix, num_lessons: int, num_rounds: int, seed: int = 0):
    """Play many lessons about the first hypothesis, all sums by matrix products.

    Every round goes on from the last factors until none changes by more than the tolerance.
    """
    rng = np.random.default_rng(seed)
    n, m = matrix.shape
    beliefs = np.full((num_lessons, m), 1.0 / m)
    factors = np.ones((num_lessons, m))
    everyone = np.arange(num_lessons)
    for _ in range(num_rounds):
        change = np.inf
        while change > TOLERANCE:
            rows = 1.0 / ((factors * (n * beliefs)) @ matrix.T)
            updated = 1.0 / (rows @ matrix)
            change = np.abs(factors / updated - 1.0).max()
            factors = updated
        data = _draw(rows * matrix[:, 0], rng)
        beliefs = matrix[data] * factors * beliefs * rows[everyone, data][:, None]
        beliefs = np.maximum(beliefs, 1e-13)
        beliefs /= beliefs.sum(axis=1, keepdims=True)
    return beliefs


def batched_sweeps(matrix, num_lessons: int, num_rounds: int, num_sweeps: int, seed: int = 0):
    """Play many lessons on a matrix with zeros, with so many sweeps in every round.

    The matrices themselves are swept: their factors may tend to zero or infinity.
    """
    rng = np.random.default_rng(seed)
    n, m = matrix.shape
    beliefs = np.full((num_lessons, m), 1.0 / m)
    everyone = np.arange(num_lessons)
    for _ in range(num_rounds):
        scaled = np.repeat(matrix[None], num_lessons, axis=0)
        for _ in range(num_sweeps):
            scaled /= scaled.sum(axis=2, keepdims=True)
            scaled *= (n * beliefs / scaled.sum(axis=1))[:, None]
        beliefs = np.maximum(scaled[everyone, _draw(scaled[:, :, 0], rng)], 1e-13)
        beliefs /= beliefs.sum(axis=1, keepdims=True)
    return beliefs


def _draw(shares, rng):
    """Draw a position from every row, in proportion to its entries."""
    sums = np.cumsum(shares, axis=1)
    wanted = rng.random((len(sums), 1)) * sums[:, -1:]
    return np.minimum((sums <= wanted).sum(axis=1), shares.shape[1] - 1)


def batched_scale(matrix, columns):
    """Scale one matrix to many column sums (k, m), all sums by matrix products."""
    factors = np.ones_like(columns)
    while True:
        rows = 1.0 / ((factors * columns) @ matrix.T)
        updated = 1.0 / (rows @ matrix)
        change = np.abs(factors / updated - 1.0).max()
        factors = updated
        if change <= TOLERANCE:
            return rows[:, :, None] * matrix * (factors * columns)[:, None, :]


def broadcast_rates(rng, batch: int, n: int, m: int, data_last: bool) -> tuple[float, float]:
    """P and E of a batch in the published form: every pair of columns by broadcasting."""
    matrix = _random_batch(rng, batch, n, m, data_last)
    logs = np.log(matrix)
    itself = np.where(np.eye(m, dtype=bool), np.inf, 0.0)
    kl = (matrix[:, :, :, None] * (logs[:, :, :, None] - logs[:, :, None, :])).sum(axis=1)
    sharp = matrix[:, :, None, :] / matrix[:, :, :, None]
    sharp = sharp / sharp.sum(axis=1, keepdims=True)
    kl_sharp = -np.log(n * sharp).mean(axis=1)
    return _advantage(kl + itself, kl_sharp + itself)


def matmul_rates(rng, batch: int, n: int, m: int, data_last: bool) -> tuple[float, float]:
    """P and E of a batch, sums over data as matrix products: what a careful user would write."""
    matrix = _random_batch(rng, batch, n, m, data_last)
    logs = np.log(matrix)
    itself = np.where(np.eye(m, dtype=bool), np.inf, 0.0)
    own = np.einsum("bij,bij->bj", matrix, logs)
    kl = own[:, :, None] - matrix.swapaxes(1, 2) @ logs
    # Entry (h, j) of the product is sum_i M_ij / M_ih.
    ratios = np.log((1.0 / matrix).swapaxes(1, 2) @ matrix / n)
    means = logs.mean(axis=1)
    kl_sharp = ratios - (means[:, None, :] - means[:, :, None])
    return _advantage(kl + itself, kl_sharp + itself)


def _random_batch(rng, batch: int, n: int, m: int, data_last: bool):
    if data_last:  # memory order (batch, m, n): sums over data run along memory
        matrix = rng.standard_exponential((batch, m, n)).transpose(0, 2, 1)
    else:
        matrix = rng.standard_exponential((batch, n, m))
    return matrix / matrix.sum(axis=1, keepdims=True)


def _advantage(bayes, cooperative) -> tuple[float, float]:
    difference = cooperative.min(axis=2).mean(axis=1) - bayes.min(axis=2).mean(axis=1)
    return float((difference >= 0).mean()), float(difference.mean())
