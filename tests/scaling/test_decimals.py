"""Tables that float64 cannot scale."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.scaling.decimals import MAX_ENTRIES, as_fraction, likelihood_in_decimals
from tests.scaling.exact_zeros import exact_blocks, exact_support, random_pattern

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


def test_rare_data_are_not_lost_in_ties():
    # The two common data belong to one hypothesis each; what is left of both goes to the rare one.
    matrix = [[0.9, 0.1], [1.0, 0.0], [0.0, 1.0]]
    for rare in (1e-6, 1e-10, 1e-12):
        rule = cb.SCBI(matrix, data_prior=[rare, (1.0 - rare) / 2.0, (1.0 - rare) / 2.0])
        # A belief of 1/2 and a data prior that is rounded to 1e-16 determine no more.
        np.testing.assert_allclose(rule.update([0.5, 0.5], 0), 0.5, atol=3e-16 / rare)


@pytest.mark.parametrize("smallest", [-20, -100])
def test_rare_data_have_the_blocks_of_the_slow_twin_and_their_sums(smallest):
    rng = np.random.default_rng(8)
    for number in range(30):
        n, m = int(rng.integers(3, 6)), int(rng.integers(2, 5))
        matrix = random_pattern(rng, n, m)
        prior = 10.0 ** rng.uniform(smallest, 0, size=n)
        prior /= prior.sum()
        belief = np.full(m, 1.0 / m) if number % 2 else rng.dirichlet(np.ones(m))
        rows = [as_fraction(n * value) for value in prior]
        columns = [n * as_fraction(value) for value in belief]
        found = likelihood_in_decimals(matrix, n * prior, belief, 1e-12)
        scaled = np.exp(found) * np.array([float(value) for value in columns])
        support = np.zeros((n, m), dtype=bool)
        for own, members, ratio in exact_blocks(matrix > 0.0, rows, columns):
            support |= exact_support(matrix > 0.0, own, members, rows, columns, ratio)
            wanted = [float(ratio * rows[i]) for i in own]
            np.testing.assert_allclose(scaled[own].sum(axis=1), wanted, rtol=1e-9)
        np.testing.assert_array_equal(np.isfinite(found), support)
        np.testing.assert_allclose(np.exp(found).sum(axis=0), 1.0, rtol=1e-12)
        assert largest_gap_of_cross_ratios(found, np.where(support, matrix, 0.0)) < 1e-11
        if prior.min() < 1e-9 * prior.max() and (matrix == 0.0).any():
            rule = cb.SCBI(matrix, data_prior=prior)
            # Without a near tie float64 decides; the belief goes through its logarithm.
            np.testing.assert_allclose(rule.likelihood(belief), np.exp(found), atol=1e-9)


def test_ordinary_tables_come_out_as_from_the_fast_solver():
    rng = np.random.default_rng(4)
    for _ in range(5):
        matrix = random_pattern(rng, 5, 4) + 1e-3
        sums = 5.0 * rng.dirichlet(np.ones(4))
        expected = cb.scale(matrix, column_sums=sums).matrix
        found = np.exp(likelihood_in_decimals(matrix, np.ones(5), sums / 5.0, 1e-12)) * sums
        np.testing.assert_allclose(found, expected, rtol=1e-11)
    # A hypothesis that nobody believes in gets what the row factors say.
    found = likelihood_in_decimals(matrix, np.ones(5), np.array([0.4, 0.6, 0.0, 0.0]), 1e-12)
    expected = cb.SCBI(matrix).respond(np.log([0.4, 0.6, 1e-300, 1e-300])).likelihood
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-11)


def test_large_tables_are_left_to_the_error():
    tall = np.ones((MAX_ENTRIES, 2))
    assert likelihood_in_decimals(tall, np.ones(MAX_ENTRIES), np.array([0.5, 0.5]), 1e-12) is None
