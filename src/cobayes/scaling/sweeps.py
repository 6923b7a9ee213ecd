"""Plain Sinkhorn sweeps, fused so that each one reads the matrix once.

The scaled matrix is ``S[i, j] = u[i] M[i, j] w[j] c[j]`` with row factors
``u[i] = r[i] / sum_j M[i, j] c[j] w[j]`` and column factors ``w[j] = 1 / sum_i u[i] M[i, j]``. The
column sums ``c`` enter as weights only, so ``w`` and the column-stochastic ``u[i] M[i, j] w[j]``
stay exact however small an entry of ``c`` is, even zero.
"""

from __future__ import annotations

import math

from cobayes._runtime.compiled import REASSOCIATE, compiled

# Column sums below this are left out of the row sums: their products would be denormal numbers,
# which are a hundred times slower and too small to count.
NEGLIGIBLE = 1e-290
# Plain sweeps are given up after this many; from the first checkpoint on, earlier where it is
# plain that they would not do.
MAX_SWEEPS = 200
FIRST_CHECKPOINT = 16
# A change this small is rounding noise: it tells nothing about the rate of convergence.
NOISE = 1e-14


@compiled(fastmath=REASSOCIATE)
def sweep_rows(matrix, row_sums, weights, row_scaling, totals, start, stop):
    """Scale some rows to their sums and add their share to the column totals.

    Each row is used twice while it is in the cache: for its own sum and for the totals.
    """
    num_columns = matrix.shape[1]
    for i in range(start, stop):
        row_total = 0.0
        for j in range(num_columns):
            row_total += matrix[i, j] * weights[j]
        scaling = row_sums[i] / row_total
        row_scaling[i] = scaling
        for j in range(num_columns):
            totals[j] += scaling * matrix[i, j]


@compiled()
def finish_sweep(totals, column_sums, factors, weights):
    """Turn column totals into new factors; return the largest relative change.

    The change is ``max_j |w_old / w_new - 1|``, which is also the relative error of the
    column sums before this step. NaN anywhere gives NaN.
    """
    change = 0.0
    for j in range(totals.shape[0]):
        deviation = abs(factors[j] * totals[j] - 1.0)
        # Written so that a NaN is kept, not lost in a comparison.
        if not deviation <= change:
            change = deviation
        factors[j] = 1.0 / totals[j]
        weights[j] = factors[j] * column_sums[j]
    return change


@compiled()
def judge(change, previous, rate, num_sweeps, tolerance, trusted):
    """Decide after a sweep whether to go on.

    Parameters
    ----------
    change, previous
        The changes in this sweep and in the one before (NaN after the first).
    rate
        The rate of convergence known so far, or NaN.
    num_sweeps
        How many sweeps have been done.
    tolerance
        For the change in one sweep and for the estimated remaining error.
    trusted
        Whether a change that is mere noise counts as converged; see `solver.entry_spread`.

    Returns
    -------
    stop, error, rate
        The error is the larger of the change and of what a geometric series of further
        changes adds up to. We stop when it is within the tolerance, and also when plain sweeps
        are hopeless: the error then says so.
    """
    if not change < math.inf:
        return True, math.inf, rate
    if change > NOISE and previous == previous:
        rate = change / previous
    if rate != rate:
        # Nothing but noise so far: the solution, unless the matrix nearly falls apart.
        noise_only = num_sweeps >= 3 and change <= NOISE
        return noise_only, change if noise_only and trusted else math.inf, rate
    if rate >= 1.0:
        return num_sweeps >= FIRST_CHECKPOINT, math.inf, rate
    error = change * max(1.0, rate / (1.0 - rate))
    if error <= tolerance:
        return True, error, rate
    if num_sweeps >= FIRST_CHECKPOINT and num_sweeps & (num_sweeps - 1) == 0:
        # At powers of two: would as many sweeps as are allowed at all still be too few?
        return error * rate**MAX_SWEEPS > tolerance, error, rate
    return False, error, rate


@compiled()
def sweeps_until_converged(
    matrix,
    row_sums,
    column_sums,
    factors,
    row_scaling,
    totals,
    weights,
    rate,
    tolerance,
    trusted,
    max_sweeps,
):
    """Sweep until the error estimate is within the tolerance, or plain sweeps look hopeless.

    Parameters
    ----------
    matrix, row_sums, column_sums
        The problem; negligible column sums are zero.
    factors
        In: where to start (w). Out: the last ones.
    row_scaling
        Out: u, from the factors before the last ones.
    totals, weights
        Room for one number a column.
    rate, tolerance, trusted
        See `judge`.
    max_sweeps
        Never do more than this.

    Returns
    -------
    num_sweeps, error, rate
        See `judge`.
    """
    num_rows, num_columns = matrix.shape
    for j in range(num_columns):
        weights[j] = factors[j] * column_sums[j]
    previous = math.nan
    error = math.inf
    num_sweeps = 0
    while num_sweeps < max_sweeps:
        for j in range(num_columns):
            totals[j] = 0.0
        sweep_rows(matrix, row_sums, weights, row_scaling, totals, 0, num_rows)
        change = finish_sweep(totals, column_sums, factors, weights)
        num_sweeps += 1
        stop, error, rate = judge(change, previous, rate, num_sweeps, tolerance, trusted)
        if stop:
            break
        previous = change
    return num_sweeps, error, rate
