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


@compiled(fastmath=FUSED, in_registers=True, inner=True)
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


@compiled(in_registers=True, inner=True)
def _larger(left, right):
    """Return the larger one of eight pairs of numbers."""
    return (
        left[0] if left[0] > right[0] else right[0],
        left[1] if left[1] > right[1] else right[1],
        left[2] if left[2] > right[2] else right[2],
        left[3] if left[3] > right[3] else right[3],
        left[4] if left[4] > right[4] else right[4],
        left[5] if left[5] > right[5] else right[5],
        left[6] if left[6] > right[6] else right[6],
        left[7] if left[7] > right[7] else right[7],
    )


@compiled(in_registers=True, inner=True)
def _smaller(left, right):
    """Return the smaller one of eight pairs of numbers."""
    return (
        left[0] if left[0] < right[0] else right[0],
        left[1] if left[1] < right[1] else right[1],
        left[2] if left[2] < right[2] else right[2],
        left[3] if left[3] < right[3] else right[3],
        left[4] if left[4] < right[4] else right[4],
        left[5] if left[5] < right[5] else right[5],
        left[6] if left[6] < right[6] else right[6],
        left[7] if left[7] < right[7] else right[7],
    )


@compiled(fastmath=FUSED, in_registers=True, inner=True)
def _multiply(a, b, planes, num_data, sums):
    """Fill in the sums over x log y and x / y, for three columns x from a on and one column y, b.

    Three columns at a time: the twelve vectors of sums stay in registers, and every number that is
    read serves two or three products.
    """
    use_wide_vectors()
    crosses_0, crosses_1, crosses_2 = EIGHT_ZEROS, EIGHT_ZEROS, EIGHT_ZEROS
    ratios_0, ratios_1, ratios_2 = EIGHT_ZEROS, EIGHT_ZEROS, EIGHT_ZEROS
    size = num_data * WIDTH
    for i in range(num_data):
        at = i * WIDTH
        log, inverse = load_eight(planes, 1, b * size + at), load_eight(planes, 2, b * size + at)
        x = load_eight(planes, 0, a * size + at)
        crosses_0 = add_products(crosses_0, x, log)
        ratios_0 = add_products(ratios_0, x, inverse)
        x = load_eight(planes, 0, (a + 1) * size + at)
        crosses_1 = add_products(crosses_1, x, log)
        ratios_1 = add_products(ratios_1, x, inverse)
        x = load_eight(planes, 0, (a + 2) * size + at)
        crosses_2 = add_products(crosses_2, x, log)
        ratios_2 = add_products(ratios_2, x, inverse)
    at = b * WIDTH
    store_eight(sums, 0, at, crosses_0)
    store_eight(sums, 1, at, crosses_1)
    store_eight(sums, 2, at, crosses_2)
    store_eight(sums, 3, at, ratios_0)
    store_eight(sums, 4, at, ratios_1)
    store_eight(sums, 5, at, ratios_2)


@compiled(in_registers=True, inner=True)
def _keep_nearest(a, sums, totals, part, smallest):
    """Take the largest cross terms of three columns, and the smallest of the ratios to them.

    The smallest go to a row of their own: a number that is replaced where a smaller one is found
    would be written by slow masked instructions.
    """
    use_wide_vectors()
    one, two, three = a * WIDTH, (a + 1) * WIDTH, (a + 2) * WIDTH
    best_0, best_1 = load_eight(totals, 3, one), load_eight(totals, 3, two)
    best_2 = load_eight(totals, 3, three)
    inverse_0, inverse_1 = load_eight(totals, 0, one), load_eight(totals, 0, two)
    inverse_2 = load_eight(totals, 0, three)
    shrink_0, shrink_1 = load_eight(totals, 2, one), load_eight(totals, 2, two)
    shrink_2 = load_eight(totals, 2, three)
    for at in range(0, sums.shape[1], WIDTH):
        log = load_eight(totals, 1, at)
        best_0 = _larger(differences(products(load_eight(sums, 0, at), inverse_0), log), best_0)
        best_1 = _larger(differences(products(load_eight(sums, 1, at), inverse_1), log), best_1)
        best_2 = _larger(differences(products(load_eight(sums, 2, at), inverse_2), log), best_2)
        ratio = _smaller(
            products(load_eight(sums, 3, at), shrink_0), products(load_eight(sums, 4, at), shrink_1)
        )
        ratio = _smaller(ratio, products(load_eight(sums, 5, at), shrink_2))
        store_eight(smallest, part, at, ratio)
    store_eight(totals, 3, one, best_0)
    store_eight(totals, 3, two, best_1)
    store_eight(totals, 3, three, best_2)


@compiled(in_registers=True, inner=True)
def _keep_smallest(smallest, totals):
    """Take the smallest ratio of every column."""
    for at in range(0, smallest.shape[1], WIDTH):
        best = load_eight(totals, 4, at)
        for part in range(smallest.shape[0]):
            best = _smaller(load_eight(smallest, part, at), best)
        store_eight(totals, 4, at, best)


@compiled()
def find_nearest(planes, num_data, num_hypotheses, totals):
    """Compare all pairs of columns and keep the nearest neighbours of each, under both rules.

    Parameters
    ----------
    planes, num_data, totals
        As in `sum_columns`. Rows 3 and 4 of the totals are the results, in and out: the largest
        sum x_h log x_b / S_h - log S_b and the smallest sum x_b / x_h exp(-c_b) so far.
    num_hypotheses
        The number of columns m, at least three.
    """
    sums = np.empty((6, num_hypotheses * WIDTH))
    smallest = np.empty((-(-num_hypotheses // 3), num_hypotheses * WIDTH))
    for part in range(smallest.shape[0]):
        # The last three columns may overlap with the ones before: these are compared again.
        a = min(3 * part, num_hypotheses - 3)
        for b in range(num_hypotheses):
            _multiply(a, b, planes, num_data, sums)
        for k in range(3):
            for at in range((a + k) * WIDTH, (a + k + 1) * WIDTH):
                # No column is its own neighbour.
                sums[k, at], sums[3 + k, at] = -np.inf, np.inf
        _keep_nearest(a, sums, totals, part, smallest)
    _keep_smallest(smallest, totals)


@compiled()
def pairs_with(column, planes, totals, num_data, out):
    """Compare one column with the first m.

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
