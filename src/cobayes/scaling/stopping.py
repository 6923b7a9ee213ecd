"""Every threshold of scaling one matrix, when to stop, and what a matrix looks like.

Sweeps see how fast they converge from their own changes. A mode that hardly decays, as between two
parts of a matrix that share few data, does not show there while its share in the changes is small.
So the matrix is looked at first: where its entries lie far apart, the result is probed.
"""

from __future__ import annotations

import math

import numpy as np

from cobayes._runtime.compiled import REASSOCIATE, compiled
from cobayes._runtime.vector_math import lane_exp

# Column sums below this are left out of the row sums: their products would be denormal numbers,
# which are a hundred times slower and too small to count.
NEGLIGIBLE = 1e-290
# The smallest number that float64 holds with all its digits.
TINY = float(np.finfo(np.float64).tiny)
# Products of a few entries within these bounds neither overflow nor vanish.
SMALLEST, LARGEST = 1e-70, 1e70
# Totals of row and column sums that differ by less than this are equal up to rounding: rescaling
# one kind would disturb sums that are exact.
EQUAL_TOTALS = 1e-14

# Looser tolerances than this save next to nothing, and would leave estimates of the error, which
# may be several times too small, as large as what was asked for: SCBI takes them as this.
LOOSEST = 1e-9
# Two ratios of sums of a zero pattern that differ by less than this, relatively, count as equal.
# Sums that come from a scaling are accurate to about 1e-12. Treating a near tie as a tie changes
# the scaled matrix by at most this times its total and the number of its rows and columns.
TIE = 1e-11

# Plain sweeps are given up after this many; from the first checkpoint on, earlier where it is
# plain that they would not do.
MAX_SWEEPS = 200
FIRST_CHECKPOINT = 16
MAX_NEWTON_STEPS = 200
# A change this small is rounding noise: it tells nothing about the rate of convergence.
NOISE = 1e-14

# Where entries of one row (and of one column) spread further than this, the matrix may nearly
# fall apart into blocks, and sweeps may look finished when they are not.
WIDE_SPREAD = 1e5
# From this spread on a mode may hide that takes tens of sweeps: the rate is then probed.
PROBED_SPREAD = 30.0
# By how much an error may exceed the tolerance when probing finds a slower mode behind it.
SLACK = 5.0
# A rate of plain sweeps, found by probing, from which on Newton's method has the last word.
SLOW_RATE = 0.9
# Sweeps that may follow a probe which found the error above the tolerance.
MORE_SWEEPS = 10
# A probe takes at most so many steps of the power method, and fewer once no mode slower than the
# harmless rate can hide: one that does is taken to have at least this share, over the square root
# of the number of columns, in the vector that the probe starts from.
MAX_PROBES = 10
HARMLESS_RATE = 0.5
LEAST_SHARE = 0.01
# Two hypotheses that share less than this are as good as blocks of their own; rounding errors grow
# by its inverse.
WEAK_COUPLING = 1e-3
# No step of a quick method changes a factor by more than about e: from a warm start none runs away.
LONGEST_STEP = 1.0
MAX_PAIRED_COLUMNS = 64
NUM_PAIRED_BELIEFS = 17

# From this many entries on, sweeps run on several threads, each on chunks of so many (measured:
# below it, starting the threads costs more than it gains).
PARALLEL_SIZE = 400_000
CHUNK_SIZE = 200_000


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
        Whether a change that is mere noise counts as converged.

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
    error = change * remaining(rate)
    if error <= tolerance:
        return True, error, rate
    if num_sweeps >= FIRST_CHECKPOINT and num_sweeps & (num_sweeps - 1) == 0:
        # At powers of two: would as many sweeps as are allowed at all still be too few?
        return error * rate**MAX_SWEEPS > tolerance, error, rate
    return False, error, rate


@compiled()
def remaining(rate):
    """Return the error left after a change of one: the geometric series, and the change itself."""
    return max(1.0, rate / (1.0 - rate))


@compiled()
def probed_error(error, seen, rate, tolerance, spread):
    """Return the error of sweeps that converge at the probed rate, not at the one they saw."""
    if spread > WIDE_SPREAD:
        return error / (1.0 - rate) if rate < SLOW_RATE else math.inf
    # The sweeps took their own rate for the slowest; if it is not, more is left.
    truly = error * remaining(rate) / remaining(seen) if rate < 1.0 else math.inf
    return truly if truly > SLACK * tolerance else error


@compiled(fastmath={"nnan", "nsz"})
def entry_spread(matrix):
    """Return how far apart the entries of a row or column lie, as a ratio: 1 if they are equal.

    The further, the more nearly the matrix may fall apart into blocks. Zeros make it infinite.
    Above `WIDE_SPREAD` it need not be known, and some rows may tell.
    """
    num_rows, num_columns = matrix.shape
    largest = np.zeros(num_columns)
    smallest = np.full(num_columns, np.inf)
    by_row, by_column = 1.0, 1.0
    for i in range(num_rows):
        high, low = 0.0, np.inf
        for j in range(num_columns):
            high = max(high, matrix[i, j])
            low = min(low, matrix[i, j])
            largest[j] = max(largest[j], matrix[i, j])
            smallest[j] = min(smallest[j], matrix[i, j])
        by_row = max(by_row, high / low)
        if i == num_rows - 1 or (i % 64 == 63 and by_row > WIDE_SPREAD):
            for j in range(num_columns):
                by_column = max(by_column, largest[j] / smallest[j])
            if by_column > WIDE_SPREAD:
                break
    return min(by_row, by_column)


def is_nearly_blocks(matrix: np.ndarray) -> bool:
    """Tell whether, at some belief, two hypotheses share next to no data.

    Of many columns some are looked at, evenly spaced.
    """
    num_columns = matrix.shape[1]
    if num_columns == 1 or not entry_spread(matrix) > WIDE_SPREAD:
        return False
    if num_columns > MAX_PAIRED_COLUMNS:
        matrix = matrix[:, np.linspace(0, num_columns - 1, MAX_PAIRED_COLUMNS).astype(int)]
    logs = np.log(np.ascontiguousarray(matrix.T))
    return weakest_coupling(logs, WEAK_COUPLING) < WEAK_COUPLING


@compiled(fastmath=REASSOCIATE)
def weakest_coupling(logs, most=1.0):
    """Return the least coupling of two hypotheses over all beliefs in just these two.

    With posteriors p_i of the first one after datum i, the coupling is the mean of
    ``p_i (1 - p_i)`` over ``p (1 - p)`` of their mean: one minus the rate of convergence of
    plain sweeps. By Birkhoff's theorem it is at least ``cosh(r / 4)**-2`` where the log ratios
    range over r: pairs for which that exceeds `most` are left out. The logarithms are given
    hypothesis by hypothesis, (m, n).
    """
    num_columns, num_rows = logs.shape
    weakest = 1.0
    ratios = np.empty(num_rows)
    for first in range(num_columns - 1):
        for second in range(first + 1, num_columns):
            low, high = np.inf, -np.inf
            for i in range(num_rows):
                ratios[i] = logs[first, i] - logs[second, i]
                low, high = min(low, ratios[i]), max(high, ratios[i])
            if math.cosh(min(0.25 * (high - low), 300.0)) ** -2.0 > most:
                continue
            for part in range(NUM_PAIRED_BELIEFS):
                # Every belief in the two amounts to a shift of the log ratios.
                share = part / (NUM_PAIRED_BELIEFS - 1.0)
                shift = (1.0 - share) * low + share * high
                mean, mixed = 0.0, 0.0
                for i in range(num_rows):
                    # Further out the posterior is one or zero to all digits.
                    gap = min(max(shift - ratios[i], -600.0), 600.0)
                    posterior = 1.0 / (1.0 + lane_exp(gap))
                    mean += posterior
                    mixed += posterior * (1.0 - posterior)
                mean /= num_rows
                weakest = min(weakest, mixed / num_rows / (mean * (1.0 - mean)))
    return weakest
