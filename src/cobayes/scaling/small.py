"""Newton's method for two to four columns, sixty-four problems side by side.

For so few columns the Newton step is a closed formula, and three to five of them do what ten
to thirty sweeps do. With ``g_j = w_j sum_i u_i M_ij - 1`` the Jacobian in ``log w`` is the
Laplacian of the chain ``P_jk = w_j (sum_i u_i**2 M_ij M_ik) w_k c_k`` on the columns (see
`newton`). Three columns: the most believed one is pinned and the rest solved without
subtractions. Four: ``Laplacian + 1 c^T / n``, which is similar to a positive definite matrix, so
that elimination without pivoting is stable. Two are treated as three, one of weight zero.

Three and four columns are written out one by one. Loops over a constant number of columns, from
one factory, gave the same bits and took 10 to 50 % longer; three columns as four, one of weight
zero, 70 % (1,024 problems with 3 and 20 rows).

All numbers of a group lie in one flat array at offsets known to the compiler, which can then
prove that lanes do not touch each other and use vector instructions. A step is found in one loop
and taken in the next: in a loop this long few lanes are on their way at once, and each waits for
its divisions (one loop for both took a third longer).
"""

from __future__ import annotations

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes.scaling.lanes import LANES
from cobayes.scaling.stopping import LONGEST_STEP, LOOSEST

SMALLEST, LARGEST = 2, 4
MAX_STEPS = 16

# Where the numbers of a group lie, in units of LANES: factors, column sums, totals, pair sums,
# weights, active lanes, the last step.
_SUMS_3, _TOTALS_3, _PAIRS_3, _WEIGHTS_3, _ACTIVE_3, _LAST_3, _SIZE_3 = 3, 6, 9, 12, 15, 16, 17
_SUMS_4, _TOTALS_4, _PAIRS_4, _WEIGHTS_4, _ACTIVE_4, _LAST_4, _SIZE_4 = 4, 8, 12, 18, 22, 23, 24
# What a group needs for itself.
WORK = _SIZE_4 * LANES


@compiled(inline="always")
def _growth(step):
    """Return about exp(step), exact to fifth order and positive, for a step cut to size."""
    step = step if step < LONGEST_STEP else LONGEST_STEP
    step = step if step > -LONGEST_STEP else -LONGEST_STEP
    return 1.0 + step * (1.0 + step * (0.5 + step * (1.0 / 6.0 + step * (1.0 / 24.0))))


@compiled(inline="always")
def _is_done(length, before, tolerance):
    """Tell whether a step ends the iteration, from its length and that of the step before.

    Newton's steps shrink quadratically, s' = C s**2: two of them tell how long the next would
    be, so it need not be taken to see that it is within the tolerance.
    """
    is_next_short = length * length * length <= 0.1 * tolerance * (before * before)
    return (length <= tolerance) | ((length * length <= 0.01 * tolerance) & is_next_short)


@compiled(inner=True)
def _row_sum(row_sums, g, i, at):
    """Return a row sum; None means that all are one."""
    if row_sums is None:
        return 1.0
    return row_sums[g, i, at]


@compiled(fastmath={"contract"}, inner=True)
def _sum_rows_3(matrix, row_sums, g, work):
    """Fill weights, totals ``sum_i u_i M_ij`` and pair sums ``sum_i u_i**2 M_ij M_ik / r_i``."""
    for at in range(LANES):
        for j in range(3):
            work[(_WEIGHTS_3 + j) * LANES + at] = (
                work[j * LANES + at] * work[(_SUMS_3 + j) * LANES + at]
            )
        for j in range(6):
            work[(_TOTALS_3 + j) * LANES + at] = 0.0
    for i in range(matrix.shape[0]):
        m0, m1, m2 = matrix[i, 0], matrix[i, 1], matrix[i, 2]
        for at in range(LANES):
            u = 1.0 / (
                m0 * work[_WEIGHTS_3 * LANES + at]
                + m1 * work[(_WEIGHTS_3 + 1) * LANES + at]
                + m2 * work[(_WEIGHTS_3 + 2) * LANES + at]
            )
            a0, a1, a2 = u * m0, u * m1, u * m2
            r = _row_sum(row_sums, g, i, at)
            b0, b1, b2 = r * a0, r * a1, r * a2
            work[_TOTALS_3 * LANES + at] += b0
            work[(_TOTALS_3 + 1) * LANES + at] += b1
            work[(_TOTALS_3 + 2) * LANES + at] += b2
            work[_PAIRS_3 * LANES + at] += b0 * a1
            work[(_PAIRS_3 + 1) * LANES + at] += b0 * a2
            work[(_PAIRS_3 + 2) * LANES + at] += b1 * a2


@compiled(fastmath={"contract"}, inner=True)
def _step_3(work, tolerance):
    """Take one Newton step in every active lane; return how many are not done."""
    num_active = 0
    for at in range(LANES):
        w0, w1, w2 = work[at], work[LANES + at], work[2 * LANES + at]
        s0 = work[_SUMS_3 * LANES + at]
        s1 = work[(_SUMS_3 + 1) * LANES + at]
        s2 = work[(_SUMS_3 + 2) * LANES + at]
        v0 = work[_WEIGHTS_3 * LANES + at]
        v1 = work[(_WEIGHTS_3 + 1) * LANES + at]
        v2 = work[(_WEIGHTS_3 + 2) * LANES + at]
        g0 = w0 * work[_TOTALS_3 * LANES + at] - 1.0
        g1 = w1 * work[(_TOTALS_3 + 1) * LANES + at] - 1.0
        g2 = w2 * work[(_TOTALS_3 + 2) * LANES + at] - 1.0
        q01 = work[_PAIRS_3 * LANES + at]
        q02 = work[(_PAIRS_3 + 1) * LANES + at]
        q12 = work[(_PAIRS_3 + 2) * LANES + at]
        p01, p02 = w0 * q01 * v1, w0 * q02 * v2
        p10, p12 = w1 * q01 * v0, w1 * q12 * v2
        p20, p21 = w2 * q02 * v0, w2 * q12 * v1
        one = s1 > s0
        most = s1 if one else s0
        two = s2 > most
        # The pinned column p is the most believed; a and b follow it in a circle.
        p_ap = p02 if two else (p21 if one else p10)
        p_ab = p01 if two else (p20 if one else p12)
        p_bp = p12 if two else (p01 if one else p20)
        p_ba = p10 if two else (p02 if one else p21)
        g_a = g0 if two else (g2 if one else g1)
        g_b = g1 if two else (g0 if one else g2)
        inverse = -1.0 / (p_ap * p_bp + p_ap * p_ba + p_ab * p_bp)
        step_a = inverse * ((p_bp + p_ba) * g_a + p_ab * g_b)
        step_b = inverse * ((p_ap + p_ab) * g_b + p_ba * g_a)
        length_a, length_b = abs(step_a), abs(step_b)
        # Written so that a NaN is kept.
        work[_PAIRS_3 * LANES + at] = length_a if not length_a <= length_b else length_b
        work[_TOTALS_3 * LANES + at] = step_a if two else (step_b if one else 0.0)
        work[(_TOTALS_3 + 1) * LANES + at] = step_b if two else (0.0 if one else step_a)
        work[(_TOTALS_3 + 2) * LANES + at] = 0.0 if two else (step_a if one else step_b)
    for at in range(LANES):
        step0, step1 = work[_TOTALS_3 * LANES + at], work[(_TOTALS_3 + 1) * LANES + at]
        step2 = work[(_TOTALS_3 + 2) * LANES + at]
        w0, w1, w2 = work[at], work[LANES + at], work[2 * LANES + at]
        length = work[_PAIRS_3 * LANES + at]
        active = work[_ACTIVE_3 * LANES + at] > 0.0
        work[at] = w0 * _growth(step0) if active else w0
        work[LANES + at] = w1 * _growth(step1) if active else w1
        work[2 * LANES + at] = w2 * _growth(step2) if active else w2
        still = active & (not _is_done(length, work[_LAST_3 * LANES + at], tolerance))
        work[_LAST_3 * LANES + at] = length
        work[_ACTIVE_3 * LANES + at] = 1.0 if still else 0.0
        num_active += 1 if still else 0
    return num_active


@compiled(fastmath={"contract"}, inner=True)
def _sum_rows_4(matrix, row_sums, g, work):
    """Do what `_sum_rows_3` does, for four columns."""
    for at in range(LANES):
        for j in range(4):
            work[(_WEIGHTS_4 + j) * LANES + at] = (
                work[j * LANES + at] * work[(_SUMS_4 + j) * LANES + at]
            )
        for j in range(10):
            work[(_TOTALS_4 + j) * LANES + at] = 0.0
    for i in range(matrix.shape[0]):
        m0, m1, m2, m3 = matrix[i, 0], matrix[i, 1], matrix[i, 2], matrix[i, 3]
        for at in range(LANES):
            u = 1.0 / (
                m0 * work[_WEIGHTS_4 * LANES + at]
                + m1 * work[(_WEIGHTS_4 + 1) * LANES + at]
                + m2 * work[(_WEIGHTS_4 + 2) * LANES + at]
                + m3 * work[(_WEIGHTS_4 + 3) * LANES + at]
            )
            a0, a1, a2, a3 = u * m0, u * m1, u * m2, u * m3
            r = _row_sum(row_sums, g, i, at)
            b0, b1, b2, b3 = r * a0, r * a1, r * a2, r * a3
            work[_TOTALS_4 * LANES + at] += b0
            work[(_TOTALS_4 + 1) * LANES + at] += b1
            work[(_TOTALS_4 + 2) * LANES + at] += b2
            work[(_TOTALS_4 + 3) * LANES + at] += b3
            work[_PAIRS_4 * LANES + at] += b0 * a1
            work[(_PAIRS_4 + 1) * LANES + at] += b0 * a2
            work[(_PAIRS_4 + 2) * LANES + at] += b0 * a3
            work[(_PAIRS_4 + 3) * LANES + at] += b1 * a2
            work[(_PAIRS_4 + 4) * LANES + at] += b1 * a3
            work[(_PAIRS_4 + 5) * LANES + at] += b2 * a3


@compiled(fastmath={"contract"}, inner=True)
def _step_4(share, work, tolerance):
    """Do what `_step_3` does, for four columns; `share` is 1 / n."""
    num_active = 0
    for at in range(LANES):
        w0, w1 = work[at], work[LANES + at]
        w2, w3 = work[2 * LANES + at], work[3 * LANES + at]
        v0, v1 = work[_WEIGHTS_4 * LANES + at], work[(_WEIGHTS_4 + 1) * LANES + at]
        v2, v3 = work[(_WEIGHTS_4 + 2) * LANES + at], work[(_WEIGHTS_4 + 3) * LANES + at]
        c0, c1 = share * work[_SUMS_4 * LANES + at], share * work[(_SUMS_4 + 1) * LANES + at]
        c2, c3 = share * work[(_SUMS_4 + 2) * LANES + at], share * work[(_SUMS_4 + 3) * LANES + at]
        q01, q02 = work[_PAIRS_4 * LANES + at], work[(_PAIRS_4 + 1) * LANES + at]
        q03, q12 = work[(_PAIRS_4 + 2) * LANES + at], work[(_PAIRS_4 + 3) * LANES + at]
        q13, q23 = work[(_PAIRS_4 + 4) * LANES + at], work[(_PAIRS_4 + 5) * LANES + at]
        d0 = 1.0 - w0 * work[_TOTALS_4 * LANES + at]
        d1 = 1.0 - w1 * work[(_TOTALS_4 + 1) * LANES + at]
        d2 = 1.0 - w2 * work[(_TOTALS_4 + 2) * LANES + at]
        d3 = 1.0 - w3 * work[(_TOTALS_4 + 3) * LANES + at]
        p01, p02, p03 = w0 * q01 * v1, w0 * q02 * v2, w0 * q03 * v3
        p10, p12, p13 = w1 * q01 * v0, w1 * q12 * v2, w1 * q13 * v3
        p20, p21, p23 = w2 * q02 * v0, w2 * q12 * v1, w2 * q23 * v3
        p30, p31, p32 = w3 * q03 * v0, w3 * q13 * v1, w3 * q23 * v2
        # Eliminate column 0, then 1, then 2 of Laplacian + 1 c^T / n.
        x01, x02, x03 = c1 - p01, c2 - p02, c3 - p03
        i0 = 1.0 / (p01 + p02 + p03 + c0)
        f1, f2, f3 = (c0 - p10) * i0, (c0 - p20) * i0, (c0 - p30) * i0
        x11, x12, x13 = p10 + p12 + p13 + c1 - f1 * x01, c2 - p12 - f1 * x02, c3 - p13 - f1 * x03
        x21, x22, x23 = c1 - p21 - f2 * x01, p20 + p21 + p23 + c2 - f2 * x02, c3 - p23 - f2 * x03
        x31, x32, x33 = c1 - p31 - f3 * x01, c2 - p32 - f3 * x02, p30 + p31 + p32 + c3 - f3 * x03
        d1, d2, d3 = d1 - f1 * d0, d2 - f2 * d0, d3 - f3 * d0
        i1 = 1.0 / x11
        f2, f3 = x21 * i1, x31 * i1
        x22, x23 = x22 - f2 * x12, x23 - f2 * x13
        x32, x33 = x32 - f3 * x12, x33 - f3 * x13
        d2, d3 = d2 - f2 * d1, d3 - f3 * d1
        i2 = 1.0 / x22
        f3 = x32 * i2
        step3 = (d3 - f3 * d2) / (x33 - f3 * x23)
        step2 = (d2 - x23 * step3) * i2
        step1 = (d1 - x12 * step2 - x13 * step3) * i1
        step0 = (d0 - x01 * step1 - x02 * step2 - x03 * step3) * i0
        work[_TOTALS_4 * LANES + at], work[(_TOTALS_4 + 1) * LANES + at] = step0, step1
        work[(_TOTALS_4 + 2) * LANES + at], work[(_TOTALS_4 + 3) * LANES + at] = step2, step3
    for at in range(LANES):
        step0, step1 = work[_TOTALS_4 * LANES + at], work[(_TOTALS_4 + 1) * LANES + at]
        step2, step3 = work[(_TOTALS_4 + 2) * LANES + at], work[(_TOTALS_4 + 3) * LANES + at]
        w0, w1 = work[at], work[LANES + at]
        w2, w3 = work[2 * LANES + at], work[3 * LANES + at]
        length0, length1, length2, length3 = abs(step0), abs(step1), abs(step2), abs(step3)
        length = length0 if not length0 <= length1 else length1
        length = length if not length <= length2 else length2
        length = length if not length <= length3 else length3
        active = work[_ACTIVE_4 * LANES + at] > 0.0
        work[at] = w0 * _growth(step0) if active else w0
        work[LANES + at] = w1 * _growth(step1) if active else w1
        work[2 * LANES + at] = w2 * _growth(step2) if active else w2
        work[3 * LANES + at] = w3 * _growth(step3) if active else w3
        still = active & (not _is_done(length, work[_LAST_4 * LANES + at], tolerance))
        work[_LAST_4 * LANES + at] = length
        work[_ACTIVE_4 * LANES + at] = 1.0 if still else 0.0
        num_active += 1 if still else 0
    return num_active


@compiled(inner=True)
def _write_rows(columns, row_sums, g, weights, row_scaling, four):
    """Fill the row factors that go with weights ``w_j c_j``, one array per group of lanes."""
    for i in range(columns.shape[0]):
        m0, m1, m2 = columns[i, 0], columns[i, 1], columns[i, 2]
        for at in range(LANES):
            total = m0 * weights[at] + m1 * weights[LANES + at] + m2 * weights[2 * LANES + at]
            if four is not None:
                total += columns[i, 3] * weights[3 * LANES + at]
            row_scaling[i, at] = _row_sum(row_sums, g, i, at) / total


@compiled(inner=True)
def _newton_step(columns, row_sums, g, work, tolerance, three, four):
    """Take one Newton step for all lanes of a group; return how many are not done."""
    num_active = 0
    # The compiler drops a branch on what is None, a type of its own; of others it keeps both.
    if three is not None:
        _sum_rows_3(columns, row_sums, g, work)
        num_active = _step_3(work, tolerance)
    if four is not None:
        _sum_rows_4(columns, row_sums, g, work)
        num_active = _step_4(1.0 / columns.shape[0], work, tolerance)
    return num_active


@compiled()
def three_columns(matrix):
    """Return a matrix of two columns with a third; any other as it is."""
    num_rows, num_columns = matrix.shape
    columns = matrix
    if num_columns == 2:
        columns = np.empty((num_rows, 3))
        for i in range(num_rows):
            columns[i, 0], columns[i, 1], columns[i, 2] = matrix[i, 0], matrix[i, 1], matrix[i, 0]
    return columns


@compiled()
def solve_in_closed_form(lanes, g, columns, tolerance, three, four, work):
    """Scale a matrix of two to four columns to the column sums of one group.

    The twin of `many.solve_by_sweeps`, for m from `SMALLEST` to `LARGEST`.

    Parameters
    ----------
    lanes, g
        The problems and the group; its factors and row scalings are filled in.
    columns
        The matrix as `three_columns` gives it.
    tolerance
        For the relative error of the factors.
    three, four
        True for up to three and for four columns; the other is None, so that only one procedure
        is compiled.
    work
        Room for numbers, (WORK,).

    Returns
    -------
    num_left
        How many problems are not solved after `MAX_STEPS`; `lanes.not_converged` marks them.
    """
    tolerance = min(tolerance, LOOSEST)
    num_active = 0
    for at in range(LANES):
        num_active += lanes.not_converged[g, at]
    if num_active == 0:
        return 0
    num_rows, num_columns = lanes.matrix.shape
    width = 4 if num_columns == 4 else 3
    active, last = (_ACTIVE_4, _LAST_4) if width == 4 else (_ACTIVE_3, _LAST_3)
    shares, factors = lanes.shares[g], lanes.factors[g]
    for j in range(width):
        source = j if j < num_columns else 0
        for at in range(LANES):
            work[j * LANES + at] = factors[source, at]
            share = num_rows * shares[source, at]
            work[(width + j) * LANES + at] = share if j < num_columns else 0.0
    for at in range(LANES):
        work[active * LANES + at] = lanes.not_converged[g, at]
        work[last * LANES + at] = 0.0
    for _ in range(MAX_STEPS):
        num_active = _newton_step(columns, lanes.row_sums, g, work, tolerance, three, four)
        if num_active == 0:
            break
    for j in range(num_columns):
        for at in range(LANES):
            factors[j, at] = work[j * LANES + at]
            # From here on the sums hold the weights that go with the final factors.
            work[(width + j) * LANES + at] *= factors[j, at]
    weights = work[width * LANES :]
    _write_rows(columns, lanes.row_sums, g, weights, lanes.row_scaling[g], four)
    for at in range(LANES):
        lanes.not_converged[g, at] = 1 if work[active * LANES + at] > 0.0 else 0
    return num_active
