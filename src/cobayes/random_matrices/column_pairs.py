"""The inner loop of the rates of random matrices: pairs of columns of several matrices at once.

Columns are (n, 8) numbers of eight matrices, one after another, or (n, 4) of four, in three planes:
x, log x and 1/x. Their totals are eight or four numbers each in seven rows, of which these kernels
know 1/S, log S, exp(-c), and the two results of `find_nearest`. Sums stay in registers, eight side
by side; see `cobayes._runtime.eights`. Four matrices are two columns side by side: then one column
serves both, fewer numbers are read for every product, and more columns fit into the fastest cache.
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
    load_fours,
    products,
    store_eight,
)
from cobayes._runtime.vector_math import FUSED, use_wide_vectors

WIDTH = 8
FOUR = 4


@compiled(fastmath=FUSED, in_registers=True, inner=True)
def _sum_eight(planes, first, second, step, num_data, totals, place):
    """Put eight sums of x, x log x and log x into three rows: four from each of two places."""
    use_wide_vectors()
    sums, crosses, logs = EIGHT_ZEROS, EIGHT_ZEROS, EIGHT_ZEROS
    for i in range(num_data):
        at, other = first + i * step, second + i * step
        x, log = load_fours(planes, 0, at, other), load_fours(planes, 1, at, other)
        sums = add_scaled(sums, 1.0, x)
        crosses = add_products(crosses, x, log)
        logs = add_scaled(logs, 1.0, log)
    store_eight(totals, 0, place, sums)
    store_eight(totals, 1, place, crosses)
    store_eight(totals, 2, place, logs)


@compiled()
def sum_columns(planes, first, last, num_data, totals):
    """Put the sums over some columns of x, x log x and log x into the first three rows.

    Parameters
    ----------
    planes
        (3, p), of eight matrices.
    first, last
        Which columns; the last is not included.
    num_data
        The number of rows n.
    totals
        (7, columns * 8).
    """
    for column in range(first, last):
        at = column * num_data * WIDTH
        _sum_eight(planes, at, at + FOUR, WIDTH, num_data, totals, column * WIDTH)


@compiled()
def sum_columns_of_four(planes, num_data, num_hypotheses, totals):
    """Put the sums over all columns of x, x log x and log x into the first three rows.

    Parameters
    ----------
    planes, num_data, num_hypotheses, totals
        As in `find_nearest`.
    """
    size = num_data * FOUR
    for pair in range(-(-num_hypotheses // 2)):
        # The last two columns may overlap with the ones before, here and below.
        b = min(2 * pair, num_hypotheses - 2)
        _sum_eight(planes, b * size, (b + 1) * size, FOUR, num_data, totals, b * FOUR)


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


@compiled(in_registers=True, inner=True)
def _store_larger_four(values, row, first, eight):
    """Write the larger ones of the first and the last four numbers into a row."""
    swapped = eight[4], eight[5], eight[6], eight[7], eight[0], eight[1], eight[2], eight[3]
    larger = _larger(eight, swapped)
    values[row, first] = larger[0]
    values[row, first + 1] = larger[1]
    values[row, first + 2] = larger[2]
    values[row, first + 3] = larger[3]


@compiled(fastmath=FUSED, in_registers=True, inner=True)
def _multiply(a, b, planes, num_data, sums):
    """Fill in the sums over x log y and x / y: three columns x from a on, two columns y from b on.

    The twelve vectors of sums stay in registers, and every number that is read serves three or
    four products.
    """
    use_wide_vectors()
    crosses_0, crosses_1, crosses_2 = EIGHT_ZEROS, EIGHT_ZEROS, EIGHT_ZEROS
    ratios_0, ratios_1, ratios_2 = EIGHT_ZEROS, EIGHT_ZEROS, EIGHT_ZEROS
    size = num_data * FOUR
    for i in range(num_data):
        at, other = b * size + i * FOUR, (b + 1) * size + i * FOUR
        log, inverse = load_fours(planes, 1, at, other), load_fours(planes, 2, at, other)
        # In this order; in another one the compiler runs out of registers.
        at = a * size + i * FOUR
        x = load_fours(planes, 0, at, at)
        crosses_0 = add_products(crosses_0, x, log)
        ratios_0 = add_products(ratios_0, x, inverse)
        at = (a + 1) * size + i * FOUR
        x = load_fours(planes, 0, at, at)
        crosses_1 = add_products(crosses_1, x, log)
        ratios_1 = add_products(ratios_1, x, inverse)
        at = (a + 2) * size + i * FOUR
        x = load_fours(planes, 0, at, at)
        crosses_2 = add_products(crosses_2, x, log)
        ratios_2 = add_products(ratios_2, x, inverse)
    at = b * FOUR
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
    one, two, three = a * FOUR, (a + 1) * FOUR, (a + 2) * FOUR
    best_0, best_1 = load_fours(totals, 3, one, one), load_fours(totals, 3, two, two)
    best_2 = load_fours(totals, 3, three, three)
    inverse_0, inverse_1 = load_fours(totals, 0, one, one), load_fours(totals, 0, two, two)
    inverse_2 = load_fours(totals, 0, three, three)
    shrink_0, shrink_1 = load_fours(totals, 2, one, one), load_fours(totals, 2, two, two)
    shrink_2 = load_fours(totals, 2, three, three)
    last = sums.shape[1] - WIDTH
    for start in range(0, sums.shape[1], WIDTH):
        at = min(start, last)
        log = load_eight(totals, 1, at)
        best_0 = _larger(differences(products(load_eight(sums, 0, at), inverse_0), log), best_0)
        best_1 = _larger(differences(products(load_eight(sums, 1, at), inverse_1), log), best_1)
        best_2 = _larger(differences(products(load_eight(sums, 2, at), inverse_2), log), best_2)
        ratio = _smaller(
            products(load_eight(sums, 3, at), shrink_0), products(load_eight(sums, 4, at), shrink_1)
        )
        ratio = _smaller(ratio, products(load_eight(sums, 5, at), shrink_2))
        store_eight(smallest, part, at, ratio)
    _store_larger_four(totals, 3, one, best_0)
    _store_larger_four(totals, 3, two, best_1)
    _store_larger_four(totals, 3, three, best_2)


@compiled(in_registers=True, inner=True)
def _keep_smallest(smallest, totals):
    """Take the smallest ratio of every column."""
    last = smallest.shape[1] - WIDTH
    for start in range(0, smallest.shape[1], WIDTH):
        at = min(start, last)
        best = load_eight(totals, 4, at)
        for part in range(smallest.shape[0]):
            best = _smaller(load_eight(smallest, part, at), best)
        store_eight(totals, 4, at, best)


@compiled()
def find_nearest(planes, num_data, num_hypotheses, totals):
    """Compare all pairs of columns and keep the nearest neighbours of each, under both rules.

    Parameters
    ----------
    planes
        (3, p), of four matrices.
    num_data
        The number of rows n.
    num_hypotheses
        The number of columns m, at least three.
    totals
        (7, m * 4). Rows 3 and 4 are the results, in and out: the largest
        sum x_h log x_b / S_h - log S_b and the smallest sum x_b / x_h exp(-c_b) so far.
    """
    sums = np.empty((6, num_hypotheses * FOUR))
    smallest = np.empty((-(-num_hypotheses // 3), num_hypotheses * FOUR))
    for part in range(smallest.shape[0]):
        # The last three columns may overlap with the ones before: these are compared again.
        a = min(3 * part, num_hypotheses - 3)
        for pair in range(-(-num_hypotheses // 2)):
            _multiply(a, min(2 * pair, num_hypotheses - 2), planes, num_data, sums)
        for k in range(3):
            for at in range((a + k) * FOUR, (a + k + 1) * FOUR):
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
