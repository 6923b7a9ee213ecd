"""Ordinary matrices, scaled in one compiled call: positive, not extreme, quick to converge."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._runtime.compiled import compiled
from cobayes._runtime.eights import EIGHT_ZEROS, add_scaled, load_eight, products, store_eight
from cobayes._runtime.vector_math import aligned_space, use_wide_vectors
from cobayes.scaling.accelerated import left_after
from cobayes.scaling.lanes import LANES, Lanes, Probes, from_lanes, to_lanes
from cobayes.scaling.many import solve_by_sweeps as solve_many
from cobayes.scaling.result import ScalingResult
from cobayes.scaling.stopping import (
    EQUAL_TOTALS,
    LARGEST,
    MAX_SWEEPS,
    NEGLIGIBLE,
    PARALLEL_SIZE,
    SLACK,
    SMALLEST,
    TINY,
    entry_spread,
)
from cobayes.scaling.sweeps import assemble, make_state, solve_by_sweeps

Array = NDArray[np.float64]

# Up to so many columns eight matrices are measured side by side.
_FEW_COLUMNS = 64


class PlainProblem(NamedTuple):
    """An ordinary matrix that is scaled to one belief after another.

    Attributes
    ----------
    matrix, row_sums : ndarray
        Positive, (n, m) and (n,).
    tolerance, spread : float
        See `solve`.
    """

    matrix: Array
    row_sums: Array
    tolerance: float
    spread: float


class Scalings(NamedTuple):
    """Where the results of a batch are written.

    Attributes
    ----------
    matrices, row_scaling, factors : ndarray
        The scaled matrices, (k, n, m), and their factors, (k, n) and (k, m).
    found : ndarray
        Whether an item is done, its iterations, error and residual, (k, 4).
    """

    matrices: Array
    row_scaling: Array
    factors: Array
    found: Array


def scale_plain_array(
    matrix: Any,
    row_sums: ArrayLike | None,
    column_sums: ArrayLike | None,
    tolerance: float,
    max_iterations: int,
) -> ScalingResult | None:
    """Scale one array without labels in one compiled call, or return None where that fails."""
    array = _as_plain(matrix, 2)
    if array is None or not 0 < array.size < PARALLEL_SIZE:
        return None
    # With a zero the kernel would be compiled in vain.
    if not np.minimum.reduce(array, axis=None) > 0.0:
        return None
    n, m = array.shape
    if row_sums is None:
        rows = np.empty(n)
        rows.fill(1.0)
    else:
        rows = _as_plain(row_sums, 1)
    if column_sums is None:
        columns = None if rows is None else np.full(m, rows.sum() / m)
    else:
        columns = _as_plain(column_sums, 1)
    if rows is None or columns is None or len(rows) != n or len(columns) != m:
        return None
    out, row_scaling, factors = np.empty((n, m)), np.empty(n), np.empty(m)
    is_done, count, error, residual = scale_plainly(
        *(array, rows, columns, tolerance, min(max_iterations, MAX_SWEEPS)),
        *(out, row_scaling, factors, 0.0),
    )
    if not is_done:
        return None
    return ScalingResult(
        matrix=out,
        row_scaling=row_scaling,
        column_scaling=factors * columns,
        row_sums=rows.copy() if rows is row_sums else rows,
        column_sums=columns.copy() if columns is column_sums else columns,
        residual=residual,
        num_iterations=count,
        is_converged=True,
        error=error,
        factors=factors,
    )


def _as_plain(values: Any, ndim: int) -> Array | None:
    """Return values as the compiled procedure takes them, or None where they need a closer look."""
    if type(values) is list:
        try:
            values = np.array(values)
        except ValueError:  # a ragged list
            return None
    if type(values) is not np.ndarray or values.ndim != ndim or values.dtype.kind not in "iuf":
        return None
    # To the compiler read-only arrays would be another type, for which it would compile again.
    if values.dtype == np.float64 and values.flags.carray:
        return values
    return np.array(values, dtype=np.float64, order="C")


@compiled()
def scale_plainly(
    matrix, row_sums, column_sums, tolerance, max_sweeps, out, row_scaling, factors, spread
):
    """Scale an ordinary matrix in one call: look at it, sweep, verify and measure.

    Fills the scaled matrix and its factors, with the numbers that the general procedure gives. A
    spread below one is not yet known. The arrays are arguments one by one: to hand over a tuple of
    them would take 1.6 microseconds longer, out of about 30 for a small matrix.

    Returns
    -------
    is_done, num_iterations, error, residual
        Not done: something is out of the ordinary (zeros, extreme entries, totals that differ, slow
        convergence), and the general procedure has to see to it.
    """
    num_rows, num_columns = matrix.shape
    row_total, column_total = 0.0, 0.0
    is_plain = True
    for i in range(num_rows):
        row_total += row_sums[i]
        is_plain &= row_sums[i] > 0.0
        for j in range(num_columns):
            is_plain &= (matrix[i, j] >= SMALLEST) & (matrix[i, j] <= LARGEST)
    for j in range(num_columns):
        column_total += column_sums[j]
        is_plain &= column_sums[j] >= 0.0
        factors[j] = 1.0
    is_plain &= row_total < np.inf
    if not is_plain or not abs(column_total / row_total - 1.0) <= EQUAL_TOTALS:
        return False, 0, np.inf, np.inf
    unit = sum_unit(row_total)
    rows, columns = np.empty(num_rows), np.empty(num_columns)
    for i in range(num_rows):
        rows[i] = row_sums[i] / unit
    for j in range(num_columns):
        columns[j] = column_sums[j] / unit
    state = make_state(matrix, rows, columns, factors, row_scaling)
    if spread < 1.0:
        spread = entry_spread(matrix)
    count, error, _ = solve_by_sweeps(state, np.nan, tolerance, max_sweeps, spread)
    is_done = error <= tolerance
    for i in range(num_rows):
        is_done &= (row_scaling[i] >= TINY) & (row_scaling[i] < np.inf)
    for j in range(num_columns):
        is_done &= (factors[j] >= TINY) & (factors[j] < np.inf)
    if not is_done:
        return False, count, error, np.inf
    residual = assemble(matrix, row_scaling, factors, row_sums, column_sums, out)
    return residual <= tolerance, count, error, residual


@compiled()
def sum_unit(total):
    """Return the power of two nearest to a total.

    Dividing both kinds of sums by one number changes none of the factors; by a power of two, it
    keeps equal sums of sums equal.
    """
    mantissa, exponent = math.frexp(total)
    return math.ldexp(1.0, exponent if mantissa > 0.75 else exponent - 1)


@compiled()
def scale_many_plainly(matrices, row_sums, column_sums, tolerance, max_sweeps, out):
    """Fill in the `Scalings` of many matrices, or of one matrix to many sums.

    See `scale_plainly`.
    """
    spread = entry_spread(matrices[0]) if matrices.shape[0] == 1 else 0.0
    for k in range(out.found.shape[0]):
        is_done, count, error, residual = scale_plainly(
            matrices[k if matrices.shape[0] > 1 else 0],
            row_sums[k],
            column_sums[k],
            tolerance,
            max_sweeps,
            out.matrices[k],
            out.row_scaling[k],
            out.factors[k],
            spread,
        )
        out.found[k, 0] = 1.0 if is_done else 0.0
        out.found[k, 1], out.found[k, 2], out.found[k, 3] = count, error, residual


def scale_together(
    matrix: Array, column_sums: Array, slowest: Array, tolerance: float, out: Scalings
) -> None:
    """Scale one matrix to many column sums by the sweeps of many lessons; all row sums are one.

    Parameters
    ----------
    matrix, column_sums
        Positive, (n, m), and not negative, (k, m).
    slowest
        The `slow_mode` of the matrix.
    tolerance
        For residual and error.
    out
        The results, to be filled in.
    """
    n, m = matrix.shape
    shares = to_lanes(np.where(column_sums >= NEGLIGIBLE, column_sums, 0.0) / n)
    groups = len(shares)
    pending = np.zeros((groups, LANES), dtype=np.int64)
    pending.reshape(-1)[: len(column_sums)] = 1
    rows, columns = np.ones((groups, n, LANES)), np.ones((groups, m, LANES))
    lanes = Lanes(matrix, shares, None, columns, rows, pending)
    probes = Probes.starting(matrix, slowest, groups)
    # Half of the tolerance, so that what is measured afterwards is hardly ever above it.
    solve_many(lanes, probes, 0.5 * tolerance, True)
    out.row_scaling[:] = from_lanes(rows, len(column_sums))
    out.factors[:] = from_lanes(columns, len(column_sums))
    _assemble_many(lanes, probes, column_sums, to_lanes(column_sums), tolerance, out)


@compiled(fastmath={"contract"}, in_registers=True, inner=True)
def _sum_entries(matrix, row_scaling, factors, targets, first, totals):
    """Fill in the column sums over their targets, then the row sums, of eight scaled matrices.

    Sums of the same products as `assemble` writes, in (m + n, 8); the eight lie side by side from
    the first on.
    """
    use_wide_vectors()
    num_rows, num_columns = matrix.shape
    for j in range(num_columns):
        store_eight(totals, j, 0, EIGHT_ZEROS)
    for i in range(num_rows):
        scaling, row = load_eight(row_scaling, i, first), EIGHT_ZEROS
        for j in range(num_columns):
            share = add_scaled(EIGHT_ZEROS, matrix[i, j], scaling)
            share = products(share, load_eight(factors, j, first))
            store_eight(totals, j, 0, add_scaled(load_eight(totals, j, 0), 1.0, share))
            row = add_scaled(row, 1.0, products(share, load_eight(targets, j, first)))
        store_eight(totals, num_columns + i, 0, row)


@compiled(inner=True)
def _write_entries(matrix, row_scaling, factors, column_sums, out):
    """Fill in a scaled matrix."""
    for i in range(matrix.shape[0]):
        factor = row_scaling[i]
        for j in range(matrix.shape[1]):
            out[i, j] = factor * matrix[i, j] * factors[j] * column_sums[j]


@compiled()
def _assemble_many(lanes, probes, column_sums, targets, tolerance, out):
    """Do what `assemble` does for many; see `scale_together`. Targets: column sums in lanes."""
    num_rows, num_columns = lanes.matrix.shape
    totals = aligned_space((num_columns + num_rows) * 8).reshape(num_columns + num_rows, 8)
    row_sums = np.ones(num_rows)
    for k in range(out.found.shape[0]):
        g, lane = k // LANES, k % LANES
        rows, columns, matrix = out.row_scaling[k], out.factors[k], out.matrices[k]
        if num_columns > _FEW_COLUMNS:
            residual = assemble(lanes.matrix, rows, columns, row_sums, column_sums[k], matrix)
        else:
            if k % 8 == 0:
                _sum_entries(
                    lanes.matrix, lanes.row_scaling[g], lanes.factors[g], targets[g], lane, totals
                )
            residual = 0.0
            for j in range(num_columns + num_rows):
                deviation = abs(totals[j, k % 8] - 1.0)
                if not deviation <= residual:
                    residual = deviation
            _write_entries(lanes.matrix, rows, columns, column_sums[k], matrix)
        rate = probes.rates[g, lane]
        error = probes.changes[g, lane] * left_after(rate) if rate < 1.0 else np.inf
        # As in `probed_error`: within the slack the rate that the sweeps saw counts.
        error = tolerance if tolerance < error <= SLACK * tolerance else error
        is_done = lanes.not_converged[g, lane] == 0 and error <= tolerance
        is_done = is_done and residual <= tolerance
        out.found[k, 0] = 1.0 if is_done else 0.0
        out.found[k, 1], out.found[k, 2] = probes.sweeps[g, lane], error
        out.found[k, 3] = residual


@compiled()
def update_plainly(matrix, row_sums, belief, total, datum, tolerance, spread, posterior):
    """Fill in the posterior of SCBI after one datum; return whether that went as usual.

    Parameters
    ----------
    matrix, row_sums
        Positive.
    belief, total
        The belief and its sum, which it is divided by.
    datum
        The row.
    tolerance, spread
        See `solve`.
    posterior
        Out: the belief after the datum.
    """
    num_rows, num_columns = matrix.shape
    columns, factors = np.empty(num_columns), np.ones(num_columns)
    is_plain = True
    for j in range(num_columns):
        is_plain &= belief[j] >= 0.0
        columns[j] = num_rows * (belief[j] / total)
    if not is_plain:
        return False
    state = make_state(matrix, row_sums, columns, factors, np.empty(num_rows))
    _, error, _ = solve_by_sweeps(state, np.nan, tolerance, MAX_SWEEPS, spread)
    if not error <= tolerance:
        return False
    evidence = 0.0
    for j in range(num_columns):
        posterior[j] = matrix[datum, j] * factors[j] * columns[j]
        evidence += posterior[j]
    for j in range(num_columns):
        posterior[j] /= evidence
    return evidence > TINY and evidence < np.inf
