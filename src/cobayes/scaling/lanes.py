"""Many scaling problems on one matrix, sixty-four side by side.

Sixty-four problems lie in the innermost loop ("lanes"), which the compiler turns into vector
instructions without reordering any sum: a lane's result does not depend on its neighbours, so
neither on how the work is cut up.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled
from cobayes._runtime.eights import EIGHT_ZEROS, add_scaled, load_eight, store_eight
from cobayes._runtime.wide_vectors import use_wide_vectors
from cobayes.scaling.newton import newton_until_converged
from cobayes.scaling.stopping import LOOSEST as LOOSEST
from cobayes.scaling.stopping import MAX_SWEEPS
from cobayes.scaling.sweeps import ScalingState

Array = NDArray[np.float64]

LANES = 64
SLOW_MODE_STEPS = 40
# Up to so many columns these steps are taken by squaring a matrix of the columns.
MOST_SQUARED = 64


class Lanes(NamedTuple):
    """Many column sums to which one matrix is scaled, and the factors found for them.

    Problem k lies in lane ``k % LANES`` of group ``k // LANES``.

    Attributes
    ----------
    matrix : ndarray
        (n, m).
    shares : ndarray
        The column sums, divided by n, (groups, m, LANES).
    row_sums : ndarray or None
        (groups, n, LANES), zero where a row is not available; None: every row sum is one.
    factors : ndarray
        The column factors w, (groups, m, LANES); before a solution, where it starts.
    row_scaling : ndarray
        The row factors u, (groups, n, LANES).
    not_converged : ndarray
        One where a problem is to be solved or could not be, (groups, LANES).
    row_labels, column_labels : ndarray or None
        With zeros: the component of every row, (groups, n, LANES), and column, (groups, m, LANES).
        An entry whose labels differ vanishes.
    """

    matrix: Array
    shares: Array
    row_sums: Array | None
    factors: Array
    row_scaling: Array
    not_converged: NDArray[np.int64]
    row_labels: NDArray[np.int64] | None = None
    column_labels: NDArray[np.int64] | None = None


class Probes(NamedTuple):
    """What sweeps need beside the `Lanes`: the transpose, and what is known of their rates.

    Attributes
    ----------
    transposed : ndarray
        The transposed matrix in memory order, (m, n).
    vectors : ndarray
        A vector for each problem to which the sweep's derivative is applied, (groups, m, LANES).
    rates : ndarray
        About the rate at which sweeps converge, (groups, LANES); at first zero.
    changes, sweeps : ndarray
        The last change of a factor, and the number of sweeps, of the last solution,
        (groups, LANES).
    """

    transposed: Array
    vectors: Array
    rates: Array
    changes: Array
    sweeps: Array

    @classmethod
    def starting(cls, matrix: Array, vector: Array, groups: int) -> Probes:
        """Return probes that all start from one vector, (m,)."""
        return cls(
            np.array(matrix.T, order="C"),
            np.tile(vector[:, None], (groups, 1, LANES)),
            np.zeros((groups, LANES)),
            np.zeros((groups, LANES)),
            np.zeros((groups, LANES)),
        )


def slow_mode(matrix: Array, row_sums: Array, tolerance: float) -> Array:
    """Return about the direction in log-factors that sweeps correct most slowly, (m,).

    Found for equal column sums by the power method, as in `cobayes.scaling.sweeps`. Where parts of
    the matrix share few data it tells these parts from each other, for any column sums. In NumPy:
    a solver for one problem need not be compiled for this.
    """
    num_columns = matrix.shape[1]
    factors, share = np.ones(num_columns), row_sums.sum() / num_columns
    for _ in range(MAX_SWEEPS):
        rows = row_sums / (matrix @ factors * share)
        totals = rows @ matrix
        change = np.maximum.reduce(np.abs(factors * totals - 1.0))
        factors = 1.0 / totals
        if not change > tolerance:
            break
    likelihood = rows[:, None] * matrix * factors
    posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
    vector = start = np.cos(1.0 + 1.7 * np.arange(num_columns))
    num_steps, power = SLOW_MODE_STEPS, None
    if num_columns <= MOST_SQUARED:
        # Eight steps at once.
        power = likelihood.T @ (posterior - posterior.mean(axis=1, keepdims=True))
        num_steps //= 8
        with np.errstate(invalid="ignore", divide="ignore"):
            for _ in range(3):
                power = power @ power
                power /= np.maximum.reduce(np.abs(power), axis=None)
    for _ in range(num_steps):
        # Plain sums and maxima: for small matrices the calls are what this costs.
        if power is None:
            vector = likelihood.T @ (posterior @ (vector - np.add.reduce(vector) / num_columns))
        else:
            vector = power @ vector
        length = np.maximum.reduce(np.abs(vector))
        if not 0.0 < length < np.inf:
            return start
        vector /= length
    return vector


def to_lanes(values: NDArray) -> NDArray:
    """Lay (k, width) out as (groups, width, LANES); spare lanes repeat the last problem."""
    size, width = values.shape
    full, rest = divmod(size, LANES)
    out = np.empty((full + (rest > 0), width, LANES), dtype=values.dtype)
    if full:
        out[:full] = values[: full * LANES].reshape(full, LANES, width).swapaxes(1, 2)
    if rest:
        out[full, :, :rest] = values[full * LANES :].T
        out[full, :, rest:] = values[-1][:, None]
    return out


def row_to_lanes(values: NDArray, dtype: type[np.generic]) -> NDArray:
    """Lay (k,) out as (groups, LANES); spare lanes repeat the last number."""
    size = len(values)
    out = np.empty((-(-size // LANES), LANES), dtype=dtype)
    flat = out.reshape(-1)
    flat[:size], flat[size:] = values, values[-1]
    return out


def from_lanes(values: NDArray, size: int) -> NDArray:
    """Undo `to_lanes`: return (size, width)."""
    groups, width, _ = values.shape
    if groups == 1:
        return values[0, :, :size].T.copy()
    return values.swapaxes(1, 2).reshape(groups * LANES, width)[:size]


@compiled(fastmath={"contract"}, in_registers=True, inner=True)
def multiply(matrix, vectors, out):
    """Fill ``out = matrix @ vectors`` for vectors side by side, a multiple of eight.

    Four rows by eight vectors at a time: their sums stay in registers.
    """
    use_wide_vectors()
    num_rows, num_columns = matrix.shape
    for lane in range(0, vectors.shape[1], 8):
        if num_rows < 4:
            for i in range(num_rows):
                sums = EIGHT_ZEROS
                for j in range(num_columns):
                    sums = add_scaled(sums, matrix[i, j], load_eight(vectors, j, lane))
                store_eight(out, i, lane, sums)
            continue
        for start in range(0, num_rows, 4):
            # The last four rows may overlap with the ones before: these get the same sums again.
            i = min(start, num_rows - 4)
            a, b, c, d = EIGHT_ZEROS, EIGHT_ZEROS, EIGHT_ZEROS, EIGHT_ZEROS
            for j in range(num_columns):
                values = load_eight(vectors, j, lane)
                a = add_scaled(a, matrix[i, j], values)
                b = add_scaled(b, matrix[i + 1, j], values)
                c = add_scaled(c, matrix[i + 2, j], values)
                d = add_scaled(d, matrix[i + 3, j], values)
            store_eight(out, i, lane, a)
            store_eight(out, i + 1, lane, b)
            store_eight(out, i + 2, lane, c)
            store_eight(out, i + 3, lane, d)


@compiled(inner=True)
def fill_row_sums(row_sums, g, lane, out):
    """Fill in one problem's row sums, (n,)."""
    if row_sums is None:
        out[:] = 1.0
    else:
        for i in range(out.shape[0]):
            out[i] = row_sums[g, i, lane]


@compiled()
def solve_by_newton(lanes, tolerance, max_steps):
    """Solve the problems that are not converged by Newton's method; return how many are left."""
    num_rows, num_columns = lanes.matrix.shape
    row_sums = np.empty(num_rows)
    sums = np.empty(num_columns)
    own = np.empty(num_columns)
    scaling = np.empty(num_rows)
    work = np.empty((num_rows, num_columns))
    # The last two are not used here.
    state = ScalingState(lanes.matrix, row_sums, sums, own, scaling, sums, sums)
    num_left = 0
    for g in range(lanes.factors.shape[0]):
        for lane in range(LANES):
            if lanes.not_converged[g, lane] == 0:
                continue
            usable = True
            for j in range(num_columns):
                sums[j] = num_rows * lanes.shares[g, j, lane]
                own[j] = lanes.factors[g, j, lane]
                usable = usable and own[j] > 0.0 and own[j] < math.inf
            if not usable:
                own[:] = 1.0
            fill_row_sums(lanes.row_sums, g, lane, row_sums)
            _, error = newton_until_converged(state, work, tolerance, max_steps)
            for j in range(num_columns):
                lanes.factors[g, j, lane] = own[j]
            for i in range(num_rows):
                lanes.row_scaling[g, i, lane] = scaling[i]
            lanes.not_converged[g, lane] = 0 if error <= tolerance else 1
            num_left += lanes.not_converged[g, lane]
    return num_left
