"""Sums over pairs of columns of eight matrices, in ordinary Numba; see `column_pairs`.

Columns are (n, 8) numbers, one after another, in three planes: x, log x and 1/x. Their totals are
eight numbers each in seven rows, of which these kernels know 1/S, log S, exp(-c), and the two
results of `find_nearest`.
"""

from __future__ import annotations

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes._runtime.vector_math import FUSED, use_wide_vectors

WIDTH = 8
# A literal constant in the kernels: the compiler must see how long the lanes are.
_W = WIDTH


@compiled(fastmath=FUSED)
def sum_columns(planes, first, last, num_data, totals):
    """Put the sums over some columns of x, x log x and log x into the first three rows.

    Parameters
    ----------
    planes
        (3, p).
    first, last
        Which columns; the last is not included.
    num_data
        The number of rows n.
    totals
        (7, columns * 8).
    """
    use_wide_vectors()
    for column in range(first, last):
        place = column * _W
        totals[:3, place : place + _W] = 0.0
        for i in range(num_data):
            start = (column * num_data + i) * _W
            for lane in range(_W):
                x, log = planes[0, start + lane], planes[1, start + lane]
                totals[0, place + lane] += x
                totals[1, place + lane] += x * log
                totals[2, place + lane] += log


@compiled(fastmath=FUSED)
def _compare(a, b, planes, num_data, totals, out):
    """Fill (4, 8): the cross term and the ratio with column a taught, then with b taught."""
    use_wide_vectors()
    out[:] = 0.0
    for i in range(num_data):
        one, other = (a * num_data + i) * _W, (b * num_data + i) * _W
        for lane in range(_W):
            x, y = planes[0, one + lane], planes[0, other + lane]
            out[0, lane] += x * planes[1, other + lane]
            out[1, lane] += y * planes[2, one + lane]
            out[2, lane] += y * planes[1, one + lane]
            out[3, lane] += x * planes[2, other + lane]
    for lane in range(_W):
        one, other = a * _W + lane, b * _W + lane
        out[0, lane] = out[0, lane] * totals[0, one] - totals[1, other]
        out[1, lane] *= totals[2, other]
        out[2, lane] = out[2, lane] * totals[0, other] - totals[1, one]
        out[3, lane] *= totals[2, one]


@compiled(fastmath=FUSED)
def find_nearest(planes, num_data, num_hypotheses, totals):
    """Compare all pairs of columns and keep the nearest neighbours of each, under both rules.

    Parameters
    ----------
    planes, num_data, totals
        As in `sum_columns`. Rows 3 and 4 of the totals are the results, in and out: the largest
        sum x_h log x_b / S_h - log S_b and the smallest sum x_b / x_h exp(-c_b) so far.
    num_hypotheses
        The number of columns m.
    """
    pair = np.empty((4, _W))
    for a in range(num_hypotheses):
        for b in range(a + 1, num_hypotheses):
            _compare(a, b, planes, num_data, totals, pair)
            for lane in range(_W):
                one, other = a * _W + lane, b * _W + lane
                totals[3, one] = max(totals[3, one], pair[0, lane])
                totals[4, one] = min(totals[4, one], pair[1, lane])
                totals[3, other] = max(totals[3, other], pair[2, lane])
                totals[4, other] = min(totals[4, other], pair[3, lane])


@compiled(fastmath=FUSED)
def pairs_with(column, planes, totals, num_data, out):
    """Compare one column with the first m: what `find_nearest` takes extremes of.

    Parameters
    ----------
    column
        The position of the one.
    planes, totals, num_data
        As in `sum_columns`.
    out
        (4, m * 8): the cross term and the ratio with the one taught, then with the other taught.
    """
    pair = np.empty((4, _W))
    for other in range(out.shape[1] // _W):
        _compare(column, other, planes, num_data, totals, pair)
        out[:, other * _W : (other + 1) * _W] = pair
