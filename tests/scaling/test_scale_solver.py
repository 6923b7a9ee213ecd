"""Accuracy of scaled entries, against references in many digits."""

import math

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.optimize import brentq
from scipy.special import log_expit

import cobayes as cb
from tests.scaling.cases import all_cases, blocks
from tests.scaling.high_precision import largest_relative_error, scaled_exactly

CASES = all_cases()


def test_there_are_at_least_fifty_varied_cases():
    assert len(CASES) >= 50


@pytest.mark.parametrize(("name", "matrix", "rows", "columns"), CASES, ids=[c[0] for c in CASES])
def test_every_entry_is_accurate_to_1e_10(name, matrix, rows, columns):
    result = cb.scale(matrix, rows, columns)
    exact = scaled_exactly(matrix, result.row_sums, result.column_sums, result.factors)
    assert result.is_converged
    assert largest_relative_error(result.matrix, exact) < 1e-10


def test_two_columns_coupled_by_tiny_entries_are_accurate():
    # The columns share a mass of about 1e-13: even the first sweep changes the factors by less than
    # the tolerance, although the two small entries are still wrong by a factor.
    matrix = np.array([[1.0, 1e-13], [9e-13, 1.0]])
    s = cb.scale(matrix)
    # By symmetry of the sums both small entries are sqrt(1e-13 * 9e-13), up to 1e-12 of itself.
    np.testing.assert_allclose([s.matrix[0, 1], s.matrix[1, 0]], 3e-13, rtol=1e-10)


@pytest.mark.parametrize("span", [6, 20, 40, 80])
def test_two_by_two_matches_its_formula_for_entries_far_apart(span):
    # With all sums one, S = [[p, q], [q, p]] and p / q = sqrt(ad / bc).
    rng = np.random.default_rng(span)
    for _ in range(100):
        logs = rng.uniform(-span, span, size=(2, 2)) * np.log(10.0)
        s = cb.scale(np.exp(logs))
        half = (logs[0, 0] + logs[1, 1] - logs[0, 1] - logs[1, 0]) / 2.0
        small, large = (s.matrix[0, 1], s.matrix[0, 0]) if half > 0 else s.matrix[0]
        if half < 0:
            small, large = s.matrix[0, 0], s.matrix[0, 1]
        # The logarithms of the entries have rounding errors of about 1e-14.
        assert np.log(small / large) == pytest.approx(-abs(half), abs=1e-10)


@pytest.mark.parametrize("half", [130, 350])
def test_no_size_is_exempt_from_verification(half):
    # Two blocks coupled by 1e-13. All sums are one, so that both couplings have the same total.
    matrix = blocks(np.random.default_rng(0), (half, half), 1e-13)
    s = cb.scale(matrix)
    assert s.is_converged
    assert s.matrix[:half, half:].sum() == pytest.approx(s.matrix[half:, :half].sum(), rel=1e-10)


def test_groups_that_share_almost_no_data_are_found():
    # Sums of integers are exact. The groups share less mass than the tolerance, so that a sweep
    # hardly changes the factors of one group relative to those of the other.
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, m = 2 * rng.integers(2, 10), 2 * rng.integers(4, 13)
        is_inside = (rng.permutation(n) % 2)[:, None] == rng.permutation(m) % 2
        expected = np.where(is_inside, np.ceil(2.0**41 * rng.random((n, m)) ** 8), 1.0)
        powers = 2.0 ** rng.integers(-3, 4, size=(n, 1)) * 2.0 ** rng.integers(-3, 4, size=m)
        s = cb.scale(powers * expected, expected.sum(axis=1), expected.sum(axis=0))
        np.testing.assert_allclose(s.matrix, expected, rtol=2e-12)


@pytest.mark.parametrize("tolerance", [1e-7, 1e-10])
def test_entries_are_within_three_times_the_tolerance(tolerance):
    rng = np.random.default_rng(1)
    for _ in range(200):
        n, m = rng.integers(2, 33), rng.integers(2, 25)
        matrix = 10.0 ** rng.uniform(-rng.uniform(1, 20), 0, size=(n, m))
        sums = n * rng.dirichlet(np.full(m, 0.5)) + 1e-12
        found = cb.scale(matrix, None, sums, tolerance=tolerance)
        expected = cb.scale(matrix, None, sums, tolerance=1e-12).matrix
        assert found.residual <= tolerance
        np.testing.assert_allclose(found.matrix, expected, rtol=3 * tolerance)


def test_blocks_coupled_below_double_double_precision_are_balanced():
    matrix = np.array(
        [
            [1.0, 2.0, 1e-35, 1e-35],
            [3.0, 1.0, 1e-35, 1e-35],
            [1e-40, 1e-40, 1.0, 1.5],
            [1e-40, 1e-40, 2.0, 1.0],
        ]
    )
    s = cb.scale(matrix)
    assert s.matrix[:2, 2:].sum() == pytest.approx(s.matrix[2:, :2].sum(), rel=1e-12)
    exact = scaled_exactly(matrix, s.row_sums, s.column_sums, s.factors)
    assert largest_relative_error(s.matrix, exact) < 1e-10


def test_nearly_block_matrices_are_accurate_or_not_converged():
    rng = np.random.default_rng(0)
    num_converged = 0
    for _ in range(60):
        sizes = rng.integers(1, 4, size=rng.integers(2, 4))
        matrix = blocks(rng, sizes, 1.0)
        coupling = 10.0 ** rng.uniform(-60, -25, size=matrix.shape)
        is_inside = np.repeat(np.arange(len(sizes)), sizes)
        matrix = np.where(is_inside[:, None] == is_inside, matrix, coupling)
        s = cb.scale(matrix, on_failure="return")
        if s.is_converged:
            num_converged += 1
            exact = scaled_exactly(matrix, s.row_sums, s.column_sums, s.factors)
            assert largest_relative_error(s.matrix, exact) < 1e-9
    assert num_converged > 50


def test_two_row_matrices_with_entries_far_apart_are_accurate():
    rng = np.random.default_rng(1)
    for _ in range(60):
        matrix = 10.0 ** rng.uniform(-60, 60, size=(2, rng.integers(2, 5)))
        s = cb.scale(matrix, column_sums=2 * rng.dirichlet(np.ones(matrix.shape[1])))
        exact = scaled_exactly(matrix, s.row_sums, s.column_sums, s.factors)
        assert largest_relative_error(s.matrix, exact) < 1e-9


@pytest.mark.parametrize("span", [40, 80, 150, 300])
def test_two_rows_that_share_the_columns_evenly_are_accurate_or_not_converged(span):
    # Each row gets the mass of half of the columns. For m = 6 the column sums 1/3 are rounded. The
    # mass that the halves share, often less than 1e-16, must not be that rounding error.
    rng = np.random.default_rng(span)
    num_converged = 0
    for m in (2, 4, 6, 6, 6, 10, 12) * 6:
        logs = rng.uniform(-span, span, size=(2, m)) * np.log(10.0)
        s = cb.scale(np.exp(logs), on_failure="return")
        if s.is_converged:
            num_converged += 1
            odds = np.diff(np.log(np.exp(logs)), axis=0)[0]
            ranked = np.sort(odds)
            shift = brentq(
                lambda x, a=ranked[: m // 2], b=ranked[m // 2 :]: (
                    np.logaddexp.reduce(log_expit(a - x)) - np.logaddexp.reduce(log_expit(x - b))
                ),
                odds.min() - 1.0,
                odds.max() + 1.0,
                xtol=1e-13,
            )
            exact = np.log(2.0 / m) + log_expit(np.array([shift - odds, odds - shift]))
            is_held = exact > np.log(1e-290)
            np.testing.assert_allclose(
                np.log(s.matrix[is_held]), exact[is_held], rtol=0.0, atol=1e-9
            )
    assert num_converged > 30


@pytest.mark.parametrize("num_columns", range(2, 7))
def test_newton_needs_few_steps(num_columns):
    # With wrong steps the careful method would still find the solution, but later.
    rng = np.random.default_rng(num_columns)
    for matrix in rng.exponential(size=(20, 12, num_columns)):
        assert (
            cb.scale(matrix, column_sums=12 * rng.dirichlet(np.ones(num_columns))).num_iterations
            <= 6
        )


@pytest.mark.parametrize("coupling", [1e-12, 1e-20, 1e-30, 1e-100])
@pytest.mark.parametrize("excess", [0.0, 8e-15])
def test_sums_that_are_equal_up_to_rounding_are_treated_as_equal(coupling, excess):
    # Three columns of 1/3 belong to a row of 1: the rounding error of their sum, 1e-16, must not be
    # taken for mass between the groups. Adding up equal columns gives [[1, x], [x, 1]] with sums 1.
    matrix = np.full((2, 4), coupling)
    matrix[0, :3] = matrix[1, 3] = 1.0
    found = cb.scale(matrix, column_sums=[1 / 3, 1 / 3, 1 / 3, 1.0 + excess])
    expected = coupling / (1.0 + coupling)
    np.testing.assert_allclose(found.matrix[1, :3], expected / 3, rtol=1e-9)
    np.testing.assert_allclose(found.matrix[0, 3], expected, rtol=1e-9)


@pytest.mark.parametrize("coupling", [1e-20, 1e-100])
def test_sums_that_are_equal_up_to_rounding_are_treated_as_equal_with_exact_totals(coupling):
    # The columns of the first group are 5.6e-17 below a row's sum, those of the second above it.
    matrix = np.full((2, 6), coupling)
    matrix[0, :3] = matrix[1, 3:] = 1.0
    columns = [1 / 3] * 5 + [1 / 3 + 2.0**-53]
    assert math.fsum(columns) == 2.0
    found = cb.scale(matrix, column_sums=columns)
    np.testing.assert_allclose(found.matrix[1, :3], coupling / 3, rtol=1e-9)
    np.testing.assert_allclose(found.matrix[0, 3:], coupling / 3, rtol=1e-9)


def test_columns_of_rules_sum_to_one_whatever_the_tolerance():
    # The last sweep normalises columns, so that only rows have the error of the tolerance.
    rng = np.random.default_rng(1)
    rule = cb.SCBI(rng.exponential(size=(20, 20)), tolerance=1e-9)
    likelihoods = rule.likelihood(rng.dirichlet(np.ones(20), size=50))
    assert np.abs(likelihoods.sum(axis=1) - 1.0).max() < 5e-15


@pytest.mark.parametrize("doubt", [1e-2, 1e-4, 1e-6, 1e-10])
def test_beliefs_near_certainty_have_their_own_scalings(doubt):
    # Only problems in which one column has all mass up to rounding may share a solution.
    rng = np.random.default_rng(2)
    rule = cb.SCBI(rng.exponential(size=(10, 8)))
    beliefs = doubt * rng.dirichlet(np.ones(8), size=6)
    beliefs[:, 3] += 1.0 - doubt
    together = rule.likelihood(beliefs)
    np.testing.assert_allclose(np.einsum("kdh,kh->kd", together, beliefs), 0.1, rtol=1e-11)


@pytest.mark.parametrize(("rarity", "doubt"), [(1e-6, 1e-12), (1e-8, 1e-10)])
def test_a_belief_near_certainty_matters_for_a_datum_that_is_nearly_as_rare(rarity, doubt):
    # Other columns change the factor of the rare row by up to doubt / rarity.
    matrix = np.random.default_rng(1).uniform(0.1, 1.0, (10, 8))
    prior = np.array([rarity, *np.full(9, (1.0 - rarity) / 9.0)])
    belief = np.full(8, doubt)
    belief[3] = 1.0 - 7.0 * doubt
    likelihood = cb.SCBI(matrix, data_prior=prior).likelihood(belief)
    np.testing.assert_allclose(likelihood @ belief, prior, rtol=1e-12)


def test_errors_of_sweeps_stay_near_the_tolerance():
    # Two weakly coupled blocks: the error left after the last sweep is several times its change.
    rng = np.random.default_rng(3)
    errors = []
    for _ in range(200):
        m = int(rng.integers(7, 14))
        n = int(rng.integers(m, 20))
        is_own = (np.arange(n)[:, None] < n // 2) == (np.arange(m) < m // 2)
        matrix = rng.exponential(size=(n, m)) * np.where(is_own, 1.0, 10.0 ** rng.uniform(-2, 0))
        columns = n * rng.dirichlet(np.ones(m))
        found, exact = (cb.scale(matrix, None, columns, tolerance=t) for t in (1e-7, 1e-13))
        errors.append(np.abs(found.matrix / exact.matrix - 1.0).max())
    assert max(errors) < 4e-7  # 2.5e-7 was measured


def test_a_newton_step_that_is_short_by_chance_is_not_the_last():
    # The third step is so short that the fourth is predicted to be below rounding.
    matrix = np.array([[3.0, 100.0], [200.0, 30.0], [20.0, 200.0]])
    s = cb.scale(matrix, column_sums=[1.358, 1.642])
    exact = scaled_exactly(matrix, s.row_sums, s.column_sums, s.column_scaling)
    assert largest_relative_error(s.matrix, exact) < 1e-14  # 1.4e-10 with one step less


@pytest.mark.parametrize("num_columns", [2, 4, 6, 8, 12])
@pytest.mark.parametrize("tolerance", [0.1, 1e-3, 1e-5, 1e-8])
def test_the_estimated_error_is_near_the_true_one_whatever_the_tolerance(num_columns, tolerance):
    rng = np.random.default_rng(num_columns)
    for matrix in rng.exponential(size=(40, num_columns + 3, num_columns)):
        columns = len(matrix) * rng.dirichlet(np.ones(num_columns))
        found, exact = (cb.scale(matrix, None, columns, tolerance=t) for t in (tolerance, 1e-13))
        error = np.abs(found.matrix / exact.matrix - 1.0).max()
        assert error < 10.0 * found.error + 1e-14
        assert error < 1e-3  # also with a large tolerance


def test_an_error_that_the_bound_proves_is_at_least_the_true_one():
    # Half of the rows lie almost wholly in the largest column. Of the others this column has 0.7,
    # except for one row, so the bound by the smallest share of a row (sweeps.hpp) is too large.
    # The bound by columns (probe.hpp) is not: it has 2 delta, and with delta / 2 the true error
    # is up to 1.2 of the estimate, instead of 0.31.
    for seed in range(40):
        rng = np.random.default_rng(seed)
        scaled = np.empty((40, 8))
        scaled[:, 0] = [1e-3, *np.full(19, 0.7), *np.full(20, 1.0 - 1e-4)]
        scaled[:, 1:] = (1.0 - scaled[:, :1]) * rng.dirichlet(np.ones(7), 40)
        matrix = scaled * np.exp(rng.normal(size=(40, 1))) * np.exp(rng.normal(size=8))
        for tolerance in (1e-5, 1e-6, 1e-7):
            found = cb.scale(matrix, scaled.sum(axis=1), scaled.sum(axis=0), tolerance=tolerance)
            assert np.abs(found.matrix / scaled - 1.0).max() <= found.error


@pytest.mark.parametrize("num_columns", [8, 12, 20])
def test_accelerated_sweeps_need_few_iterations(num_columns):
    # With wrong acceleration the careful method would still find the solution, but later.
    rng = np.random.default_rng(num_columns)
    needed = [
        cb.scale(matrix, None, len(matrix) * rng.dirichlet(np.ones(num_columns))).num_iterations
        for matrix in rng.exponential(size=(40, num_columns + 3, num_columns))
    ]
    assert np.mean(needed) < 13.5


@pytest.mark.parametrize("seed", range(40))
def test_two_groups_that_only_the_largest_column_couples_are_as_accurate(seed):
    """The slow mode, one group against the other, is zero at the largest column."""
    rng = np.random.default_rng(seed)
    (n, m), other_rows, other_columns = rng.integers(4, 12, 2), *rng.integers(4, 12, 2)
    shape = n + other_rows, m + other_columns + 1
    is_inside = (np.arange(shape[0]) < n)[:, None] == (np.arange(shape[1]) < m)
    scaled = np.where(is_inside, np.ceil(2.0**20 * rng.random(shape)), 1.0)
    scaled[:, -1] = np.ceil(2.0**21 * rng.random(shape[0]))
    units = 2.0 ** rng.integers(-3, 4, (shape[0], 1)) * 2.0 ** rng.integers(-3, 4, shape[1])
    found = cb.scale(units * scaled, scaled.sum(axis=1), scaled.sum(axis=0))
    np.testing.assert_allclose(found.matrix, scaled, rtol=3e-12)


def test_the_limit_of_iterations_applies_to_each_component():
    weak = np.full((4, 4), 1e-8) + np.eye(4)
    sums = [1.2, 0.8, 1.1, 0.9]
    many = block_diag(*[np.array([[2.0, 1.0], [1.0, 3.0]])] * 30, weak)
    alone = cb.scale(weak, column_sums=sums, max_iterations=100)
    found = cb.scale(many, column_sums=[*np.ones(60), *sums], max_iterations=100)
    assert found.num_iterations > 100
    np.testing.assert_allclose(found.matrix[60:, 60:], alone.matrix, rtol=1e-11)


@pytest.mark.parametrize("limit", [1, 4, 8, 12, 20, 24])
def test_both_methods_for_a_component_together_keep_the_limit_of_iterations(limit):
    # Newton's method in lanes fails after 16 steps; the careful method needs 9 more. The component
    # with one entry takes one step.
    matrix = block_diag([[1.0]], np.full((4, 4), 1e-8) + np.eye(4))
    sums = [1.0, 1.2, 0.8, 1.1, 0.9]
    found = cb.scale(matrix, column_sums=sums, max_iterations=limit, on_failure="return")
    assert not found.is_converged
    assert found.num_iterations == limit + 1


def test_sweeps_and_newton_steps_together_keep_the_limit_of_iterations():
    # Tables that are swept again after a probe of the rate.
    for seed in range(60):
        rng = np.random.default_rng(seed)
        matrix = rng.random((8, 8))
        matrix[:4, 4:] *= (coupling := 10.0 ** -rng.uniform(0.5, 4))
        matrix[4:, :4] *= coupling
        sums = rng.dirichlet(np.ones(8)) * 8
        options = {"column_sums": sums, "on_failure": "return"}
        needed = cb.scale(matrix, **options).num_iterations
        for limit in range(max(5, needed - 6), needed):
            assert cb.scale(matrix, max_iterations=limit, **options).num_iterations <= limit
