"""Tables that float64 cannot scale."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.scaling.decimals import MAX_ENTRIES, scale_in_decimals
from tests.scaling.exact_zeros import random_pattern

# Refused by the solvers in float64: the factors leave its range, or hypotheses exchange less than
# rounding. Powers of ten; None is a zero.
EXTREME = (
    (
        [[-97, None, -70, -295], [None, None, -6, -112], [-66, -226, None, -216],
         [-273, -2, -265, -167]],
        [0.25, 0.25, 0.25, 0.25],
    ),
    (
        [[-240, -70, None], [-39, -172, -17], [-75, -15, -277], [-3, -265, -251]],
        [0.323, 0.367, 0.31],
    ),
    (
        [[-131, -38, -278, None, None], [None, -206, -294, -221, -226], [-56, -25, -36, -20, -288]],
        [0.068, 0.256, 0.173, 0.149, 0.354],
    ),
)  # fmt: skip


def largest_gap_of_cross_ratios(found, matrix):
    """Return how far log(found / matrix) is from a sum of a row's and a column's number."""
    difference = (found - np.log(np.where(matrix > 0.0, matrix, np.nan))).ravel()
    n, m = matrix.shape
    design = np.hstack([np.repeat(np.eye(n), m, axis=0), np.tile(np.eye(m), (n, 1))])
    known = np.isfinite(difference)
    numbers, *_ = np.linalg.lstsq(design[known], difference[known], rcond=None)
    return np.abs(design[known] @ numbers - difference[known]).max()


@pytest.mark.parametrize(("powers", "belief"), EXTREME)
def test_tables_beyond_float64_have_the_sums_and_cross_ratios_that_define_the_answer(
    powers, belief
):
    matrix = np.array([[0.0 if x is None else 10.0**x for x in row] for row in powers])
    theta = np.array(belief)
    with pytest.raises(cb.ConvergenceError):
        cb.scale(matrix, column_sums=len(matrix) * theta)
    found = cb.SCBI(matrix).respond(np.log(theta))
    np.testing.assert_allclose(found.likelihood.sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(len(matrix) * found.likelihood @ theta, 1.0, rtol=1e-12)
    # The logarithms are up to 700, with a rounding of 1e-13 each.
    assert largest_gap_of_cross_ratios(found.log_likelihood, matrix) < 1e-11


def test_ordinary_tables_come_out_as_from_the_fast_solver():
    rng = np.random.default_rng(4)
    for _ in range(5):
        matrix = random_pattern(rng, 5, 4) + 1e-3
        sums = 5.0 * rng.dirichlet(np.ones(4))
        expected = cb.scale(matrix, column_sums=sums).matrix
        found = np.exp(scale_in_decimals(matrix, np.ones(5), sums, 1e-12)) * sums
        np.testing.assert_allclose(found, expected, rtol=1e-11)
    # A hypothesis that nobody believes in gets what the row factors say.
    found = scale_in_decimals(matrix, np.ones(5), np.array([2.0, 3.0, 0.0, 0.0]), 1e-12)
    expected = cb.SCBI(matrix).respond(np.log([0.4, 0.6, 1e-300, 1e-300])).likelihood
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-11)


def test_large_tables_are_left_to_the_error():
    assert scale_in_decimals(np.ones((MAX_ENTRIES, 2)), np.ones(400), np.ones(2), 1e-12) is None
