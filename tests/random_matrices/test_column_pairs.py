"""The loops over pairs of columns against NumPy, and the request for wide vectors."""

import numba
import numpy as np
import pytest
from numba import types
from numba.extending import intrinsic

from cobayes._runtime import wide_vectors
from cobayes.random_matrices import column_pairs
from cobayes.random_matrices.column_pairs import FOUR, WIDTH


@intrinsic
def broken(typingctx):
    """Fail where code is made, as another version of the compiler might."""

    def generate(context, builder, signature, arguments):
        raise AttributeError("the compiler's inside has changed")

    return types.none(), generate


@numba.njit
def calls_broken(*arguments):
    broken()


def random_columns(n, m, width):
    """Return planes and totals of some matrices, and the terms of all pairs of their columns."""
    rng = np.random.default_rng(n)
    x = rng.standard_exponential((m, n, width)) + 1e-12
    planes = np.stack([x, np.log(x), 1.0 / x]).reshape(3, -1)
    totals = rng.uniform(0.5, 2.0, (7, m * width))
    inverse, log_total, shrink = totals[:3].reshape(3, m, width)
    # Entry (h, b): the cross term and the ratio of columns h, which is taught, and b.
    crosses = np.einsum("hiw,biw->hbw", x, np.log(x)) * inverse[:, None] - log_total
    ratios = np.einsum("hiw,biw->hbw", 1.0 / x, x) * shrink
    sums = np.stack([x, x * np.log(x), np.log(x)]).sum(axis=2).reshape(3, -1)
    return planes, totals, crosses, ratios, sums


# Cross terms are differences of numbers of size one or more.
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
SHAPES = pytest.mark.parametrize("shape", [(1, 3), (2, 4), (7, 5), (30, 3)])


@SHAPES
def test_sums_over_columns_of_eight_matrices_equal_numpys(shape):
    n, m = shape
    planes, totals, crosses, ratios, expected_sums = random_columns(n, m, WIDTH)
    pairs = np.empty((4, m * WIDTH))
    column_pairs.pairs_with(m - 1, planes, totals, n, pairs)
    expected = np.stack([crosses[-1], ratios[-1], crosses[:, -1], ratios[:, -1]])
    np.testing.assert_allclose(pairs, expected.reshape(4, -1), **CLOSE)

    sums = totals.copy()
    column_pairs.sum_columns(planes, 1, m, n, sums)
    np.testing.assert_allclose(sums[:3, WIDTH:], expected_sums[:, WIDTH:], **CLOSE)
    np.testing.assert_array_equal(sums[:, :WIDTH], totals[:, :WIDTH])


@SHAPES
def test_sums_over_columns_of_four_matrices_equal_numpys(shape):
    n, m = shape
    planes, totals, crosses, ratios, expected_sums = random_columns(n, m, FOUR)
    nearest = totals.copy()
    nearest[3], nearest[4] = -np.inf, np.inf
    column_pairs.find_nearest(planes, n, m, nearest)
    others = ~np.eye(m, dtype=bool)[:, :, None]
    highest = np.where(others, crosses, -np.inf).max(axis=1)
    lowest = np.where(others, ratios, np.inf).min(axis=1)
    np.testing.assert_allclose(nearest[3], highest.reshape(-1), **CLOSE)
    np.testing.assert_allclose(nearest[4], lowest.reshape(-1), **CLOSE)

    sums = totals.copy()
    column_pairs.sum_columns_of_four(planes, n, m, sums)
    np.testing.assert_allclose(sums[:3], expected_sums, **CLOSE)
    np.testing.assert_array_equal(sums[3:], totals[3:])


def test_wide_vectors_are_not_asked_for_where_that_does_not_compile():
    assert wide_vectors.choose_vector_width() is wide_vectors.ask_for_wide_vectors
    assert wide_vectors.choose_vector_width(calls_broken) is wide_vectors.ask_for_nothing
