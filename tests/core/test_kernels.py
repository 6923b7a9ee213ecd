"""Terms of the kernels on which small beliefs, small products, error bounds and stops depend."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.rules.naming import as_agents
from cobayes.stability.teaching import teach_until_sure


@pytest.mark.parametrize("smallest", [1e-100, 1e-200, 1e-250])
def test_each_datum_adds_its_log_ratio_however_small_the_belief(smallest):
    # The truth shows only the second datum, up to a probability of `smallest`. With 1e-200 and
    # 1e-250 the product of a belief and this probability soon underflows.
    rule = cb.BI([[1.0, smallest], [smallest, 1.0]])
    paths = cb.simulate(rule, 1, num_rounds=6, num_lessons=3, rng=0).paths
    expected = np.arange(1, 7) * np.log(smallest)
    np.testing.assert_allclose(paths[:, 1:, 0], np.broadcast_to(expected, (3, 6)), rtol=1e-13)


@pytest.mark.parametrize("rarity", [1e-80, 1e-83, 1e-86])
def test_likelihoods_keep_their_digits_where_a_partial_product_underflows(rarity):
    # Let T_0 be the matrix with normalised columns, z its product with the uniform belief, and p
    # the data prior. Then T_1(0|1) / T_1(1|1) = (p_0 z_1 / (p_1 z_0)) T_0(0|1) / T_0(1|1), and
    # z_1 / z_0 = 3 up to 1e-60. The partial product p_0 / z_0 * 1e-240 is denormal.
    rule = cb.Pragmatic([[1.0, 1e-240], [1.0, 1e-60]], 1, data_prior=[rarity, 1.0 - rarity])
    found = rule.likelihood([0.5, 0.5])
    assert found[0, 1] / found[1, 1] == pytest.approx(3.0 * rarity * 1e-180, rel=1e-12, abs=0.0)


def test_errors_are_within_the_tolerance_where_one_row_has_most_of_the_total():
    # The first row has nine tenths of the total, and gives the column with the largest sum only
    # a thousandth of its own sum, but more than any other row gives: the bound on the error
    # (sweeps.hpp) needs shares of rows, not amounts.
    n, m, tolerance = 200, 12, 1e-7
    rows = np.array([0.9 * n, *np.full(n - 1, 0.1 * n / (n - 1))])
    for seed in range(6):
        rng = np.random.default_rng(seed)
        shares = np.full((n, m), 1e-4 / (m - 1)) * rng.uniform(0.5, 2.0, (n, m))
        shares[0] = (1.0 - 1e-3) / (m - 1)
        shares[:, 0] = 0.0
        shares[:, 0] = 1.0 - shares.sum(axis=1)
        scaled = rows[:, None] * shares
        matrix = scaled * np.exp(rng.normal(size=(n, 1))) * np.exp(rng.normal(size=m))
        found = cb.scale(matrix, rows, scaled.sum(axis=0), tolerance=tolerance)
        np.testing.assert_allclose(found.matrix, scaled, rtol=tolerance)


@pytest.mark.parametrize("row_sum", [0.4, 0.995, 1.0, 1.99, 3.99, 1e-30, 1e30])
def test_one_column_may_have_nearly_all_of_any_total(row_sum):
    matrix = np.random.default_rng(1).uniform(0.1, 1.0, (10, 8))
    columns = np.full(8, 1e-20 * row_sum)
    columns[0] = 10.0 * row_sum
    found = cb.scale(matrix, np.full(10, row_sum), columns)
    np.testing.assert_allclose(found.matrix[:, 0], row_sum, rtol=1e-12)
    np.testing.assert_allclose(found.matrix.sum(axis=0), columns, rtol=1e-12)


def test_a_datum_that_is_not_available_makes_tiny_column_sums_no_harder():
    # Both rows are full with the first column. The sum 1e-280 goes to the row that is likelier
    # under the second column relative to the first: the other gets 1e-40 of it.
    found = cb.scale([[1e-40, 1.0], [1.0, 1.0], [1.0, 1.0]], [1.0, 1.0, 0.0], [2.0, 1e-280])
    np.testing.assert_allclose(found.matrix[:, 0], [1.0, 1.0, 0.0], rtol=1e-12)
    assert found.matrix[0, 1] == pytest.approx(1e-280, rel=1e-12, abs=0.0)


def test_a_teacher_who_is_sure_from_the_start_shows_one_datum():
    rule = cb.SCBI([[0.6, 0.2], [0.4, 0.8]])
    ends = teach_until_sure([as_agents(rule, 0, [1.0 - 1e-9, 1e-9], None, [0.5, 0.5])], 20, 3)
    assert (ends.num_rounds == 1).all()
    assert (ends.believed[0, :, 0] != 0.5).all()  # the learner has learnt from it


def test_updated_beliefs_underflow_gradually():
    # 1e-160 * 1e-150 is denormal, but not zero.
    rule = cb.BI([[1.0, 1e-150], [1e-150, 1.0]])
    assert rule.update([1e-160, 1.0], 1)[0] == pytest.approx(1e-310, rel=1e-10, abs=0.0)


def test_a_tiny_belief_wins_where_the_other_hypothesis_all_but_excludes_the_datum():
    # The joint probabilities are 1e-180 and 1e-157 * 0.5. The core's sum of joint probabilities
    # leaves out the second, because its belief is below 2^-512; the sum is then below 2^-300.
    rule = cb.BI([[1e-180, 0.5], [1.0, 0.5]])
    found = rule.update([1.0, 1e-157], 0)
    np.testing.assert_allclose(found, [2e-23, 1.0], rtol=1e-12)


@pytest.mark.parametrize("rarity", [1e-85, 1e-100, 1e-130])
def test_a_tiny_belief_changes_no_likelihood_beside_a_tinier_data_prior(rarity):
    # The belief in the second hypothesis is too small to matter: u_1 = 1 / (w_0 1e-60) * rarity,
    # so the odds of its column are (1e-60 / rarity) * 1e-60.
    rule = cb.SCBI([[1.0, 1e-60], [1e-60, 1.0]], data_prior=[1.0 - rarity, rarity])
    found, error, _ = rule.core.respond(np.array([[0.0, -500.0]]))
    assert found[0, 1, 0] == pytest.approx(rarity, rel=1e-12, abs=0.0)
    assert found[0, 0, 1] / found[0, 1, 1] == pytest.approx(1e-120 / rarity, rel=1e-12)
    assert error <= 1e-12


def test_a_belief_that_is_kept_in_units_matters_beside_a_data_prior_as_small():
    rule = cb.SCBI([[1.0, 1e-60], [1e-60, 1.0]], data_prior=[1.0, 1e-150])
    with pytest.raises(cb.ConvergenceError):
        rule.update([1.0, 1e-160], 0)


@pytest.mark.parametrize("log_belief", [-320.0, -330.0, -340.0])
def test_a_posterior_keeps_the_digits_of_an_update(log_belief):
    rule = cb.BI([[1e-100, 1.0, 1e-180], [1.0, 1.0, 1.0]])
    logs = np.array([[0.0, -195.7, log_belief]])
    posterior = rule.core.posteriors(logs)[0][0, 0]
    updated = rule.core.update(logs, np.array([0]), in_logs=False)[0][0]
    np.testing.assert_allclose(posterior, updated, rtol=1e-12)
