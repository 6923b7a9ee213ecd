"""Newton's method for the matrices on which plain sweeps are slow.

With ``y = log w`` the column equations are ``g_j = w_j sum_i u_i(w) M_ij - 1 = 0``. Their
Jacobian is ``diag(sum_k P_jk) - P`` where ``P_jk = sum_i A_ij A_ik c_k / r_i`` and
``A_ij = u_i M_ij w_j``: the Laplacian of a Markov chain on the columns, singular along
constants. Where the matrix nearly falls apart into blocks, two things keep every entry of the
result accurate: ``g`` is evaluated in twice the working precision, and the linear system is
solved by elimination without subtractions (Grassmann, Taksar and Heyman), which is accurate
for every entry however small the coupling between the blocks is.
"""

from __future__ import annotations

import math

import numpy as np

from cobayes.compiled import compiled

# A step changes no factor by more than exp(LONGEST_STEP).
LONGEST_STEP = 6.0
SPLITTER = 134217729.0  # 2**27 + 1, Veltkamp's constant for float64


@compiled(inline="always")
def _two_product(a, b):
    """Return the product and its rounding error, exactly."""
    product = a * b
    t = SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@compiled(inline="always")
def _multiply(high, low, factor):
    """Return a double-double times a double."""
    product, error = _two_product(high, factor)
    error += low * factor
    total = product + error
    return total, error - (total - product)


@compiled(inline="always")
def _add(high, low, other_high, other_low):
    """Return the sum of two double-doubles (positive ones: no cancellation)."""
    total = high + other_high
    virtual = total - high
    error = (high - (total - virtual)) + (other_high - virtual) + low + other_low
    result = total + error
    return result, error - (result - total)


@compiled()
def column_errors(matrix, row_sums, column_sums, factors, row_scaling, errors):
    """Fill ``errors[j] = w_j sum_i u_i M_ij - 1``, computed in twice the working precision."""
    num_rows, num_columns = matrix.shape
    weights = np.empty((num_columns, 2))
    totals = np.zeros((num_columns, 2))
    for j in range(num_columns):
        weights[j, 0], weights[j, 1] = _two_product(factors[j], column_sums[j])
    for i in range(num_rows):
        high, low = 0.0, 0.0
        for j in range(num_columns):
            term, rest = _multiply(weights[j, 0], weights[j, 1], matrix[i, j])
            high, low = _add(high, low, term, rest)
        # u = r / (high + low), with one correction for the remainder of the division.
        scaling = row_sums[i] / high
        product, error = _two_product(scaling, high)
        correction = (((row_sums[i] - product) - error) - scaling * low) / high
        row_scaling[i] = scaling
        for j in range(num_columns):
            term, rest = _multiply(scaling, correction, matrix[i, j])
            totals[j, 0], totals[j, 1] = _add(totals[j, 0], totals[j, 1], term, rest)
    for j in range(num_columns):
        high, low = _multiply(totals[j, 0], totals[j, 1], factors[j])
        errors[j] = (high - 1.0) + low


@compiled()
def _coupling(matrix, row_sums, column_sums, factors, row_scaling, work):
    """Return P, the Markov chain on the columns; `work` has the matrix's shape."""
    num_rows, num_columns = matrix.shape
    for i in range(num_rows):
        scaling = row_scaling[i] / math.sqrt(row_sums[i]) if row_sums[i] > 0.0 else 0.0
        for j in range(num_columns):
            work[i, j] = scaling * matrix[i, j] * factors[j]
    chain = np.dot(work.T, work)
    for j in range(num_columns):
        for k in range(num_columns):
            chain[j, k] *= column_sums[k]
    return chain


@compiled()
def _solve_laplacian(chain, right_side, pinned, solution):
    """Solve ``(diag(row sums of P) - P) x = b`` with ``x[pinned] = 0``; destroys P and b.

    Only the off-diagonal entries of P count. The diagonal is summed up again at every
    elimination, so nothing is ever subtracted.
    """
    size = chain.shape[0]
    order = np.empty(size - 1, dtype=np.int64)
    diagonal = np.empty(size)
    position = 0
    for j in range(size):
        if j != pinned:
            order[position] = j
            position += 1
    for step in range(size - 1):
        q = order[step]
        total = chain[q, pinned]
        for later in range(step + 1, size - 1):
            total += chain[q, order[later]]
        diagonal[q] = total
        if not total > 0.0:
            return False
        for later in range(step + 1, size - 1):
            j = order[later]
            share = chain[j, q] / total
            if share > 0.0:
                right_side[j] += share * right_side[q]
                for k in range(size):
                    chain[j, k] += share * chain[q, k]
    solution[pinned] = 0.0
    for step in range(size - 2, -1, -1):
        q = order[step]
        total = right_side[q]
        for later in range(step + 1, size - 1):
            k = order[later]
            total += chain[q, k] * solution[k]
        solution[q] = total / diagonal[q]
    return True


@compiled()
def newton_until_converged(
    matrix, row_sums, column_sums, factors, row_scaling, work, tolerance, max_steps
):
    """Take Newton steps until one is within the tolerance.

    Parameters
    ----------
    matrix, row_sums, column_sums
        The problem; negligible column sums are zero.
    factors
        In: where to start (w). Out: the last ones.
    row_scaling
        Out: u, from the last factors.
    work
        Room of the matrix's shape.
    tolerance
        The last step, which is the error before it, must be at most this.
    max_steps
        Never take more than this.

    Returns
    -------
    num_steps, error
        The error is the length of the last step, or infinity where no step could be taken.
    """
    num_columns = matrix.shape[1]
    errors = np.empty(num_columns)
    step = np.empty(num_columns)
    start = np.empty(num_columns)
    pinned = np.argmax(column_sums)
    column_errors(matrix, row_sums, column_sums, factors, row_scaling, errors)
    length = np.inf
    for count in range(max_steps):
        chain = _coupling(matrix, row_sums, column_sums, factors, row_scaling, work)
        if not _solve_laplacian(chain, -errors, pinned, step):
            return count, np.inf
        length = 0.0
        slope = 0.0
        for j in range(num_columns):
            if not abs(step[j]) <= length:
                length = abs(step[j])
            slope += column_sums[j] * errors[j] * step[j]
        if not length < np.inf:
            return count, np.inf
        share = min(1.0, LONGEST_STEP / length) if length > 0.0 else 1.0
        start[:] = factors
        for _ in range(40):
            for j in range(num_columns):
                factors[j] = start[j] * math.exp(share * step[j])
            column_errors(matrix, row_sums, column_sums, factors, row_scaling, errors)
            new_slope = 0.0
            for j in range(num_columns):
                new_slope += column_sums[j] * errors[j] * step[j]
            # The dual is convex: past its minimum along the step the slope turns positive.
            if new_slope <= 0.5 * abs(slope) or length <= tolerance:
                break
            share *= 0.5
        if length <= tolerance:
            return count + 1, length
    return max_steps, length
