"""The programs that cobayes is compared with: the textbook, batched NumPy, POT and OTT-JAX.

The textbook scales one matrix at a time. Batched NumPy is a careful implementation for many
beliefs. POT and OTT-JAX are common solvers for optimal transport. A peer is prepared by the
function in `PEERS`, with the arguments of the call in `calls` that has the same name.
"""

import time

import numpy as np

from benchmarks.calls import SEEDS, batch, problem

TOLERANCE = 1e-12
# Lower bound of beliefs; smaller beliefs are lost to rounding in these programs.
LEAST_BELIEF = 1e-13


def textbook_scale(matrix, columns):
    """Normalise rows and columns alternately; check the row sums every ten sweeps."""
    while True:
        for _ in range(10):
            matrix = matrix / matrix.sum(axis=1, keepdims=True)
            matrix = columns * matrix / matrix.sum(axis=0)
        if np.abs(matrix.sum(axis=1) - 1.0).max() <= TOLERANCE:
            return matrix


def textbook_lessons(n, m, num_rounds=30, **_):
    """Prepare one lesson per matrix, as in published code: the drawn row is the new belief."""
    matrices = [problem(n, m, seed)[0] for seed in SEEDS]

    def play():
        rng = np.random.default_rng(0)
        for matrix in matrices:
            belief = np.full((1, m), 1.0 / m)
            for _ in range(num_rounds):
                scaled = textbook_scale(matrix, n * belief[0])
                belief = _next_beliefs(scaled[_draw(scaled[None, :, 0], rng)])

    return play, len(matrices) * num_rounds


def numpy_scale(matrix, beliefs, factors):
    """Return the factors of the rows (k, n) and columns (k, m) for many beliefs (k, m).

    All sums are matrix products, the sweeps start from given factors, and problems that have
    converged are dropped.
    """
    rows = np.empty((len(beliefs), len(matrix)))
    active, weights, old = np.arange(len(beliefs)), len(matrix) * beliefs, factors
    while len(active):
        u = 1.0 / ((old * weights) @ matrix.T)
        w = 1.0 / (u @ matrix)
        goes_on = (np.abs(w - old) > TOLERANCE * w).any(axis=1)
        if not goes_on.all():
            done = active[~goes_on]
            rows[done], factors[done] = u[~goes_on], w[~goes_on]
            active, weights, w = active[goes_on], weights[goes_on], w[goes_on]
        old = w
    return rows, factors


def numpy_lessons(n, m, num_lessons, num_rounds=30):
    matrices = [problem(n, m, seed)[0] for seed in SEEDS]

    def play():
        rng = np.random.default_rng(0)
        found = []
        for matrix in matrices:
            beliefs = np.full((num_lessons, m), 1.0 / m)
            w = np.ones((num_lessons, m))
            for _ in range(num_rounds):
                u, w = numpy_scale(matrix, beliefs, w)
                data = _draw(u * matrix[:, 0], rng)
                likelihood = matrix[data] * w * u[np.arange(num_lessons), data][:, None]
                beliefs = _next_beliefs(likelihood * beliefs)
            found.append(beliefs[:, 0].mean())
        return np.array(found)

    return play, len(matrices) * num_lessons * num_rounds


def _next_beliefs(posteriors):
    posteriors = np.maximum(posteriors, LEAST_BELIEF)
    return posteriors / posteriors.sum(axis=1, keepdims=True)


def _draw(shares, rng):
    """Draw a position from every row, in proportion to its entries."""
    sums = np.cumsum(shares, axis=1)
    targets = rng.random((len(sums), 1)) * sums[:, -1:]
    return np.minimum((sums <= targets).sum(axis=1), shares.shape[1] - 1)


def numpy_scale_batch(n, count):
    matrix, columns = batch(n, count)

    def run():
        u, w = numpy_scale(matrix, columns / n, np.ones_like(columns))
        return u[:, :, None] * matrix * (w * columns)[:, None, :]

    return run, count


def numpy_rates(n, m):
    """Compare the rates of BI and SCBI on random matrices, in batches of the fastest size."""
    rng = np.random.default_rng(1)
    itself = np.where(np.eye(m, dtype=bool), np.inf, 0.0)

    def compare(count):
        matrix = rng.standard_exponential((count, n, m))
        matrix /= matrix.sum(axis=1, keepdims=True)
        logs = np.log(matrix)
        means = logs.mean(axis=1)
        own = np.einsum("bij,bij->bj", matrix, logs)
        bayes = own[:, :, None] - matrix.swapaxes(1, 2) @ logs
        # Entry (h, j) of the product is sum_i M_ij / M_ih.
        ratios = np.log((1.0 / matrix).swapaxes(1, 2) @ matrix / n)
        cooperative = ratios - means[:, None, :] + means[:, :, None]
        rates = [(kl + itself).min(axis=2).mean(axis=1) for kl in (bayes, cooperative)]
        return np.mean(rates[1] - rates[0])

    def cost(count):
        compare(count)
        start = time.process_time()
        compare(count)
        return (time.process_time() - start) / count

    best = min((16, 64, 256, 1024), key=cost)
    return lambda: compare(best), best


def pot_scale(matrix, columns):
    """Scale by optimal transport with regularisation one: the kernel is then our matrix.

    POT stops on the Euclidean norm of the absolute error; the threshold is the tolerance times
    the norm of the sums, which is our relative tolerance on average over the columns.
    """
    import ot

    n, target = len(matrix), columns / len(matrix)
    threshold = TOLERANCE * float(np.linalg.norm(target))
    given = dict(stopThr=threshold, numItermax=100_000)
    return n * ot.sinkhorn(np.full(n, 1.0 / n), target, -np.log(matrix), 1.0, **given)


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


def _scale_with(solver):
    def prepare(n):
        matrix, columns = problem(n, n)
        return lambda: solver(matrix, columns), 1

    return prepare


PEERS = {
    "NumPy": {
        "lessons": numpy_lessons,
        "scale_batch": numpy_scale_batch,
        "rates": numpy_rates,
    },
    "textbook": {"scale": _scale_with(textbook_scale), "lessons": textbook_lessons},
    "POT": {"scale": _scale_with(pot_scale)},
    "OTT-JAX": {"scale": lambda n: _scale_with(ott_scale())(n)},
}
