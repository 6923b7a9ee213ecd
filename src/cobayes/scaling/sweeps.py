"""Plain Sinkhorn sweeps, fused so that each one reads the matrix once.

The scaled matrix is ``S[i, j] = u[i] M[i, j] w[j] c[j]`` with row factors
``u[i] = r[i] / sum_j M[i, j] c[j] w[j]`` and column factors ``w[j] = 1 / sum_i u[i] M[i, j]``. The
column sums ``c`` enter as weights only, so ``w`` and the column-stochastic ``u[i] M[i, j] w[j]``
stay exact however small an entry of ``c`` is, even zero.

The loops are written once and made twice: compiled, and in Python with the rows dealt out to
threads, for large matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import REASSOCIATE, compiled
from cobayes._runtime.threads import map_chunks, num_threads
from cobayes.scaling.stopping import (
    CHUNK_SIZE,
    HARMLESS_RATE,
    LEAST_SHARE,
    MAX_PROBES,
    MORE_SWEEPS,
    NEGLIGIBLE,
    PROBED_SPREAD,
    SLOW_RATE,
    WIDE_SPREAD,
    judge,
    probed_error,
    remaining,
)

Array = NDArray[np.float64]


class ScalingState(NamedTuple):
    """A scaling problem, its solution so far, and memory for one number per column.

    Attributes
    ----------
    matrix, row_sums, column_sums : ndarray
        The problem; negligible column sums are zero.
    factors, row_scaling : ndarray
        w and u.
    totals, weights : ndarray
        Column totals of a sweep, and the factors times the column sums.
    """

    matrix: Array
    row_sums: Array
    column_sums: Array
    factors: Array
    row_scaling: Array
    totals: Array
    weights: Array


@compiled()
def make_state(matrix, row_sums, column_sums, factors, row_scaling):
    """Return the state of a problem, without column sums that are negligible."""
    num_columns = matrix.shape[1]
    sums = np.empty(num_columns)
    for j in range(num_columns):
        sums[j] = column_sums[j] if column_sums[j] >= NEGLIGIBLE else 0.0
    totals, weights = np.empty(num_columns), np.empty(num_columns)
    return ScalingState(matrix, row_sums, sums, factors, row_scaling, totals, weights)


@compiled(fastmath=REASSOCIATE)
def sweep_rows(state, totals, start, stop):
    """Scale some rows to their sums and add their share to the column totals.

    Each row is used twice while it is in the cache: for its own sum and for the totals.
    """
    matrix, row_sums, weights = state.matrix, state.row_sums, state.weights
    row_scaling = state.row_scaling
    num_columns = matrix.shape[1]
    for i in range(start, stop):
        row_total = 0.0
        for j in range(num_columns):
            row_total += matrix[i, j] * weights[j]
        scaling = row_sums[i] / row_total
        row_scaling[i] = scaling
        for j in range(num_columns):
            totals[j] += scaling * matrix[i, j]


@compiled(fastmath=REASSOCIATE)
def probe_rows(state, totals, start, stop):
    """Apply the derivative of a sweep to some rows and add their share to the totals."""
    matrix, row_sums, weights = state.matrix, state.row_sums, state.weights
    row_scaling = state.row_scaling
    num_columns = matrix.shape[1]
    for i in range(start, stop):
        average = 0.0
        for j in range(num_columns):
            average += matrix[i, j] * weights[j]
        share = row_scaling[i] * row_scaling[i] * average / row_sums[i]
        for j in range(num_columns):
            totals[j] += share * matrix[i, j]


@compiled(inline="always")
def sweep_all(state):
    """Sweep all rows on this thread."""
    for j in range(state.totals.shape[0]):
        state.totals[j] = 0.0
    sweep_rows(state, state.totals, 0, state.matrix.shape[0])


@compiled(inline="always")
def probe_all(state):
    """Probe all rows on this thread."""
    for j in range(state.totals.shape[0]):
        state.totals[j] = 0.0
    probe_rows(state, state.totals, 0, state.matrix.shape[0])


def on_threads(kernel: Callable[..., None]) -> Callable[[ScalingState], None]:
    """Return a pass over all rows that deals them out to threads."""

    def pass_over_rows(state: ScalingState) -> None:
        num_rows, num_columns = state.matrix.shape
        # Cut by size alone: the totals are then added up in the same order on any machine.
        num_chunks = min(num_rows, max(1, round(state.matrix.size / CHUNK_SIZE)))
        edges = np.linspace(0, num_rows, num_chunks + 1).astype(int)
        shares = np.zeros((num_chunks, num_columns))

        def pass_over(chunks: range) -> None:
            for chunk in chunks:
                kernel(state, shares[chunk], edges[chunk], edges[chunk + 1])

        # Handing a chunk over to a thread takes a good part of the time of a chunk.
        size = -(-num_chunks // (2 * num_threads()))
        map_chunks(pass_over, [range(num_chunks)[k : k + size] for k in range(0, num_chunks, size)])
        shares.sum(axis=0, out=state.totals)

    return pass_over_rows


@compiled(inline="always")
def start_sweeps(state):
    """Fill in the weights that belong to the factors."""
    for j in range(state.factors.shape[0]):
        state.weights[j] = state.factors[j] * state.column_sums[j]


@compiled(inline="always")
def finish_sweep(state):
    """Turn column totals into new factors; return the largest relative change.

    The change is ``max_j |w_old / w_new - 1|``, which is also the relative error of the
    column sums before this step. NaN anywhere gives NaN.
    """
    change = 0.0
    for j in range(state.totals.shape[0]):
        deviation = abs(state.factors[j] * state.totals[j] - 1.0)
        # Written so that a NaN is kept, not lost in a comparison.
        if not deviation <= change:
            change = deviation
        state.factors[j] = 1.0 / state.totals[j]
        state.weights[j] = state.factors[j] * state.column_sums[j]
    return change


@compiled(inline="always")
def start_probe(vector):
    """Fill in the vector that every probe starts from, the same arbitrary one every time."""
    for j in range(vector.shape[0]):
        # The square keeps it from nearly cancelling over neighbouring columns, which blocks are.
        vector[j] = math.cos(1.0 + 1.7 * j + 0.7 * j * j)


@compiled(fastmath=REASSOCIATE)
def aim_probe(state, vector):
    """Take the mean out of a vector, normalise it and fill in its weights; return its length."""
    total, mean = 0.0, 0.0
    for j in range(vector.shape[0]):
        total += state.column_sums[j]
        mean += state.column_sums[j] * vector[j]
    mean /= total
    square = 0.0
    for j in range(vector.shape[0]):
        vector[j] -= mean
        square += state.column_sums[j] * vector[j] * vector[j]
    if not square > 0.0:
        return 0.0
    length = math.sqrt(square / total)
    for j in range(vector.shape[0]):
        vector[j] /= length
        state.weights[j] = state.factors[j] * state.column_sums[j] * vector[j]
    return length


@compiled(fastmath=REASSOCIATE)
def read_probe(state, vector):
    """Replace a vector by its image; return its Rayleigh quotient."""
    total, product = 0.0, 0.0
    for j in range(vector.shape[0]):
        total += state.column_sums[j]
        image = state.totals[j] * state.factors[j]
        product += state.column_sums[j] * vector[j] * image
        vector[j] = image
    return product / total


def make_solver(sweep: Any, probe: Any) -> Callable[..., Any]:
    """Return the procedure that scales by sweeps and verifies the result.

    Parameters
    ----------
    sweep, probe
        Passes over all rows, compiled or on threads.
    """

    def solve_by_sweeps(state, rate, tolerance, max_sweeps, spread):
        """Sweep until the error is within the tolerance, or plain sweeps look hopeless.

        Returns the number of sweeps, the estimated error of the factors and the rate of
        convergence; see `judge`. A mode that hardly decays stands out after a few steps of the
        power method, however little of it the sweeps had to correct.
        """
        start_sweeps(state)
        previous, error, count = math.nan, math.inf, 0
        while count < max_sweeps:
            sweep(state)
            change = finish_sweep(state)
            count += 1
            stop, error, rate = judge(
                change, previous, rate, count, tolerance, not spread > WIDE_SPREAD
            )
            if stop:
                break
            previous = change
        if not (spread > PROBED_SPREAD and error <= tolerance and state.factors.shape[0] > 1):
            return count, error, rate
        seen = rate if rate > 0.0 else 0.0
        rate = seen
        vector = np.empty(state.factors.shape[0])
        start_probe(vector)
        most = LEAST_SHARE / math.sqrt(state.factors.shape[0])
        for num_probes in range(MAX_PROBES):
            length = aim_probe(state, vector)
            if num_probes > 0:
                most *= HARMLESS_RATE / length if length > 0.0 else math.inf
            # What is left is less than a mode of that rate would have left of its least share.
            if most >= 1.0 or length == 0.0:
                break
            probe(state)
            rate = max(rate, read_probe(state, vector))
        error = probed_error(error, seen, rate, tolerance, spread)
        # Where the probe found no slow mode, a few more sweeps cost less than Newton's method.
        start_sweeps(state)
        for _ in range(MORE_SWEEPS):
            if error <= tolerance or not rate < SLOW_RATE or count >= max_sweeps:
                break
            sweep(state)
            change = finish_sweep(state)
            count += 1
            error = probed_error(change * remaining(rate), rate, rate, tolerance, spread)
        return count, error, rate

    return solve_by_sweeps


solve_by_sweeps = compiled()(make_solver(sweep_all, probe_all))
solve_on_threads = make_solver(on_threads(sweep_rows), on_threads(probe_rows))


@compiled(fastmath=REASSOCIATE, inner=True)
def _total(values):
    """Return the sum of some numbers."""
    total = 0.0
    for j in range(values.shape[0]):
        total += values[j]
    return total


@compiled()
def assemble(matrix, row_scaling, factors, row_sums, column_sums, out):
    """Fill the scaled matrix and return its residual, measured on the entries written.

    The residual is the largest relative error of a row sum or of a column sum. Column sums are
    measured before they are multiplied by their target, so that a target of 1e-308 is measured
    as well as any other.
    """
    num_rows, num_columns = matrix.shape
    column_totals = np.zeros(num_columns)
    residual = 0.0
    for i in range(num_rows):
        for j in range(num_columns):
            share = row_scaling[i] * matrix[i, j] * factors[j]
            column_totals[j] += share
            out[i, j] = share * column_sums[j]
        total = _total(out[i])
        target = row_sums[i]
        deviation = abs(total / target - 1.0) if target > 0.0 else total
        if not deviation <= residual:
            residual = deviation
    for j in range(num_columns):
        # A column that no row with a positive sum allows has no factor, and is left out.
        deviation = abs(column_totals[j] - 1.0) if factors[j] != 0.0 else 0.0
        if not deviation <= residual:
            residual = deviation
    return residual
