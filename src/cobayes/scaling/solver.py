"""Choosing the method: plain sweeps, sweeps on several threads, Newton's method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.threads import map_chunks
from cobayes.scaling import sweeps
from cobayes.scaling.block_workspace import BlockWorkspace

Array = NDArray[np.float64]

# From this many entries on, sweeps run on several threads (measured: below it, starting the
# threads costs more than it gains).
PARALLEL_SIZE = 400_000
CHUNK_SIZE = 200_000
# Where entries of one row (and of one column) spread further than this, the matrix may nearly
# fall apart into blocks, and sweeps may look finished when they are not.
WIDE_SPREAD = 1e5
# From this spread on a mode may hide that takes tens of sweeps: the rate is then probed.
PROBED_SPREAD = 30.0
# By how much an error may exceed the tolerance when probing finds a slower mode behind it.
SLACK = 5.0
# A rate of plain sweeps, found by probing, from which on Newton's method has the last word.
SLOW_RATE = 0.9
MAX_NEWTON_STEPS = 200
# Two hypotheses that share less than this are as good as blocks of their own.
WEAK_COUPLING = 1e-3
# The smallest number that float64 holds with all its digits.
TINY = float(np.finfo(np.float64).tiny)
MAX_PAIRED_COLUMNS = 64


class Solution(NamedTuple):
    """The factors of one scaling problem, and how they were found.

    Attributes
    ----------
    row_scaling : ndarray
        u, shape (n,).
    factors : ndarray
        w, shape (m,): the column scaling without the column sums.
    num_iterations : int
        Sweeps and Newton steps together.
    error : float
        Estimated relative error of the factors.
    rate : float
        Measured rate of convergence of plain sweeps, NaN where unknown.
    """

    row_scaling: Array
    factors: Array
    num_iterations: int
    error: float
    rate: float


def entry_spread(matrix: Array) -> float:
    """Return how far apart the entries of a row or column lie, as a ratio: 1 if they are equal.

    The further, the more nearly the matrix may fall apart into blocks. Zeros make it infinite.
    """
    with np.errstate(over="ignore", divide="ignore"):
        by_row = (matrix.max(axis=1) / matrix.min(axis=1)).max()
        by_column = (matrix.max(axis=0) / matrix.min(axis=0)).max()
    return float(min(by_row, by_column))


def is_nearly_blocks(matrix: Array) -> bool:
    """Tell whether, at some belief, two hypotheses share next to no data.

    Of many columns some are looked at, evenly spaced.
    """
    num_columns = matrix.shape[1]
    if num_columns == 1 or not entry_spread(matrix) > WIDE_SPREAD:
        return False
    if num_columns > MAX_PAIRED_COLUMNS:
        matrix = matrix[:, np.linspace(0, num_columns - 1, MAX_PAIRED_COLUMNS).astype(int)]
    return weakest_coupling(matrix) < WEAK_COUPLING


def weakest_coupling(matrix: Array) -> float:
    """Return the least coupling of two hypotheses over all beliefs in just these two.

    With posteriors p_i of the first one after datum i, the coupling is the mean of
    ``p_i (1 - p_i)`` over ``p (1 - p)`` of their mean: one minus the rate of convergence of
    plain sweeps.
    """
    logs = np.log(matrix)
    weakest = 1.0
    for first in range(matrix.shape[1] - 1):
        ratios = logs[:, first, None] - logs[:, first + 1 :]  # (n, pairs)
        # Every belief in the two amounts to a shift of the log ratios.
        for share in np.linspace(0.0, 1.0, 17):
            shift = (1.0 - share) * ratios.min(axis=0) + share * ratios.max(axis=0)
            posterior = 1.0 / (1.0 + np.exp(shift - ratios))
            mean = posterior.mean(axis=0)
            coupling = (posterior * (1.0 - posterior)).mean(axis=0) / (mean * (1.0 - mean))
            weakest = min(weakest, float(coupling.min()))
    return weakest


def solve(
    matrix: Array,
    row_sums: Array,
    column_sums: Array,
    *,
    tolerance: float,
    max_iterations: int,
    spread: float,
    factors: Array | None = None,
    rate: float = np.nan,
) -> Solution:
    """Scale one positive matrix to positive row sums and non-negative column sums.

    Parameters
    ----------
    matrix, row_sums, column_sums
        Validated float64; equal totals.
    tolerance
        For the relative error of every factor.
    max_iterations
        Most sweeps and Newton steps together.
    spread
        The matrix's `entry_spread`: where it is wide the result is verified.
    factors, rate
        Those of a problem nearby, for a warm start.
    """
    num_rows, num_columns = matrix.shape
    w = np.ones(num_columns) if factors is None else factors.copy()
    column_sums = np.where(column_sums < sweeps.NEGLIGIBLE, 0.0, column_sums)
    row_scaling = np.empty(num_rows)
    totals = np.empty(num_columns)
    weights = np.empty(num_columns)
    allowed = min(max_iterations, sweeps.MAX_SWEEPS)
    suspicious = spread > WIDE_SPREAD
    run = _threaded_sweeps if matrix.size >= PARALLEL_SIZE else sweeps.sweeps_until_converged
    count, error, rate = run(
        matrix,
        row_sums,
        column_sums,
        w,
        row_scaling,
        totals,
        weights,
        rate,
        tolerance,
        not suspicious,
        allowed,
    )
    if spread > PROBED_SPREAD and error <= tolerance and num_columns > 1:
        from cobayes.scaling.probing import probed_rate

        seen = rate if rate > 0.0 else 0.0
        rate = max(seen, probed_rate(matrix, row_sums, column_sums, w, row_scaling))
        if suspicious:
            error = error / (1.0 - rate) if rate < SLOW_RATE else np.inf
        else:
            # The sweeps took their own rate for the slowest; if it is not, more is left.
            truly = error * _left_after(rate) / _left_after(seen) if rate < 1.0 else np.inf
            error = truly if truly > SLACK * tolerance else error
    if error > tolerance and num_columns > 1 and count < max_iterations:
        from cobayes.scaling.newton import newton_until_converged

        if not np.isfinite(w).all():
            w = np.ones(num_columns)
        steps, error = newton_until_converged(
            matrix,
            row_sums,
            column_sums,
            w,
            row_scaling,
            np.empty_like(matrix),
            tolerance,
            min(MAX_NEWTON_STEPS, max_iterations - count),
        )
        count += steps
    if not (_is_usable(row_scaling[row_sums > 0.0]) and _is_usable(w)):
        error = np.inf  # beyond the range of float64, however small the last change was
    return Solution(row_scaling, w, count, error, rate)


def _is_usable(factors: Array) -> bool:
    return bool((factors >= TINY).all() and (factors < np.inf).all())


def solve_components(
    matrix: Array,
    row_sums: Array,
    blocks: BlockWorkspace,
    count: int,
    *,
    tolerance: float,
    max_iterations: int,
    factors: Array | None = None,
) -> tuple[Array, Solution]:
    """Scale every component of a matrix with zeros.

    Parameters
    ----------
    matrix, row_sums
        Validated float64; entries and row sums may be zero.
    blocks, count
        The components, from `find_blocks`.
    tolerance, max_iterations, factors
        See `solve`.

    Returns
    -------
    supported, solution
        The matrix without the entries that vanish, and its factors. Rows get their sums times the
        ratio of their component; rows and columns without a component have factor zero.
    """
    row_labels = np.where(row_sums > 0.0, blocks.row_labels, -1)
    supported = np.where(row_labels[:, None] == blocks.column_labels, matrix, 0.0)
    if count == 1 and (row_labels == 0).all() and (blocks.column_labels == 0).all():
        return supported, solve(
            matrix,
            row_sums,
            blocks.masses,
            tolerance=tolerance,
            max_iterations=max_iterations,
            spread=entry_spread(matrix),
            factors=factors,
        )
    row_scaling = np.zeros(matrix.shape[0])
    column_factors = np.zeros(matrix.shape[1])
    num_iterations, error = 0, 0.0
    for label in range(count):
        rows = np.flatnonzero(row_labels == label)
        columns = np.flatnonzero(blocks.column_labels == label)
        part = matrix[np.ix_(rows, columns)]
        solution = solve(
            part,
            row_sums[rows] * blocks.ratios[label],
            blocks.masses[columns],
            tolerance=tolerance,
            max_iterations=max_iterations,
            spread=entry_spread(part),
            factors=None if factors is None else factors[columns],
        )
        row_scaling[rows] = solution.row_scaling
        column_factors[columns] = solution.factors
        num_iterations = max(num_iterations, solution.num_iterations)
        error = max(error, solution.error)
    return supported, Solution(row_scaling, column_factors, num_iterations, error, np.nan)


def _left_after(rate: float) -> float:
    """Return how much of its last change a series of sweeps is off; see `sweeps.judge`."""
    return max(1.0, rate / (1.0 - rate))


def _threaded_sweeps(
    matrix: Array,
    row_sums: Array,
    column_sums: Array,
    factors: Array,
    row_scaling: Array,
    totals: Array,
    weights: Array,
    rate: float,
    tolerance: float,
    trusted: bool,
    max_sweeps: int,
) -> tuple[int, float, float]:
    """Do what `sweeps_until_converged` does, with the rows dealt out to threads."""
    num_rows, num_columns = matrix.shape
    # Cut by size alone: the totals are then added up in the same order on any machine.
    num_chunks = min(num_rows, max(1, round(matrix.size / CHUNK_SIZE)))
    edges = np.linspace(0, num_rows, num_chunks + 1).astype(int)
    shares = np.empty((num_chunks, num_columns))
    np.multiply(factors, column_sums, out=weights)

    def sweep_chunk(chunk: int) -> None:
        shares[chunk] = 0.0
        sweeps.sweep_rows(
            matrix, row_sums, weights, row_scaling, shares[chunk], edges[chunk], edges[chunk + 1]
        )

    previous, error, count = np.nan, np.inf, 0
    for count in range(1, max_sweeps + 1):
        map_chunks(sweep_chunk, range(num_chunks))
        shares.sum(axis=0, out=totals)
        change = sweeps.finish_sweep(totals, column_sums, factors, weights)
        stop, error, rate = sweeps.judge(change, previous, rate, count, tolerance, trusted)
        if stop:
            break
        previous = change
    return count, error, rate
