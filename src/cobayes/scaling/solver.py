"""Choosing the method: plain sweeps, sweeps on several threads, Newton's method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes.scaling.block_workspace import BlockWorkspace
from cobayes.scaling.stopping import (
    MAX_NEWTON_STEPS,
    MAX_SWEEPS,
    NEGLIGIBLE,
    PARALLEL_SIZE,
    TINY,
    entry_spread,
)
from cobayes.scaling.sweeps import ScalingState, solve_by_sweeps, solve_on_threads

Array = NDArray[np.float64]


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
    row_scaling = np.empty(num_rows)
    # Not by `make_state`: a named tuple that Numba hands over is made by Python code, and Numba
    # crashes when Ctrl-C stops that.
    sums = np.where(column_sums >= NEGLIGIBLE, column_sums, 0.0)
    state = ScalingState(
        matrix, row_sums, sums, w, row_scaling, np.empty(num_columns), np.empty(num_columns)
    )
    run = solve_on_threads if matrix.size >= PARALLEL_SIZE else solve_by_sweeps
    count, error, rate = run(state, rate, tolerance, min(max_iterations, MAX_SWEEPS), spread)
    if error > tolerance and num_columns > 1 and count < max_iterations:
        from cobayes.scaling.newton import newton_until_converged

        if not np.isfinite(w).all():
            w[:] = 1.0
        most = min(MAX_NEWTON_STEPS, max_iterations - count)
        steps, error = newton_until_converged(state, np.empty_like(matrix), tolerance, most)
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
