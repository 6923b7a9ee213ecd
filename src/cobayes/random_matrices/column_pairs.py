"""The inner loop of the rates of random matrices: two columns of eight matrices at once.

Columns are (n, 8) numbers, one after another, in three planes: x, log x and 1/x. Their totals are
eight numbers each in seven rows, of which these kernels know 1/S, log S, exp(-c), and the two
results of `find_nearest`. Sums of eight matrices stay in registers; see `cobayes._runtime.eights`.
"""

from __future__ import annotations

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes._runtime.eights import (
    EIGHT_ZEROS,
    add_products,
    add_scaled,
    differences,
    load_eight,
    products,
    store_eight,
)
from cobayes._runtime.vector_math import FUSED, use_wide_vectors

WIDTH = 8


@compiled(fastmath=FUSED, in_registers=True)
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
        sums, crosses, logs = EIGHT_ZEROS, EIGHT_ZEROS, EIGHT_ZEROS
        for i in range(num_data):
            at = (column * num_data + i) * WIDTH
            x, log = load_eight(planes, 0, at), load_eight(planes, 1, at)
            sums = add_scaled(sums, 1.0, x)
            crosses = add_products(crosses, x, log)
            logs = add_scaled(logs, 1.0, log)
        store_eight(totals, 0, column * WIDTH, sums)
        store_eight(totals, 1, column * WIDTH, crosses)
        store_eight(totals, 2, column * WIDTH, logs)


@compiled(fastmath=FUSED, in_registers=True)
def _compare(a, b, planes, num_data, totals, out, place):
    """Fill (4, 8): the cross term and the ratio with column a taught, then with b taught."""
    use_wide_vectors()
    crosses, ratios = EIGHT_ZEROS, EIGHT_ZEROS
    back_crosses, back_ratios = EIGHT_ZEROS, EIGHT_ZEROS
    for i in range(num_data):
        one, other = (a * num_data + i) * WIDTH, (b * num_data + i) * WIDTH
        x, y = load_eight(planes, 0, one), load_eight(planes, 0, other)
        crosses = add_products(crosses, x, load_eight(planes, 1, other))
        ratios = add_products(ratios, y, load_eight(planes, 2, one))
        back_crosses = add_products(back_crosses, y, load_eight(planes, 1, one))
        back_ratios = add_products(back_ratios, x, load_eight(planes, 2, other))
    one, other = a * WIDTH, b * WIDTH
    crosses = products(crosses, load_eight(totals, 0, one))
    back_crosses = products(back_crosses, load_eight(totals, 0, other))
    store_eight(out, 0, place, differences(crosses, load_eight(totals, 1, other)))
    store_eight(out, 1, place, products(ratios, load_eight(totals, 2, other)))
    store_eight(out, 2, place, differences(back_crosses, load_eight(totals, 1, one)))
    store_eight(out, 3, place, products(back_ratios, load_eight(totals, 2, one)))


@compiled()
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
    pair = np.empty((4, WIDTH))
    for a in range(num_hypotheses):
        for b in range(a + 1, num_hypotheses):
            _compare(a, b, planes, num_data, totals, pair, 0)
            for lane in range(WIDTH):
                one, other = a * WIDTH + lane, b * WIDTH + lane
                totals[3, one] = max(totals[3, one], pair[0, lane])
                totals[4, one] = min(totals[4, one], pair[1, lane])
                totals[3, other] = max(totals[3, other], pair[2, lane])
                totals[4, other] = min(totals[4, other], pair[3, lane])


@compiled()
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
    for other in range(out.shape[1] // WIDTH):
        _compare(column, other, planes, num_data, totals, out, other * WIDTH)
