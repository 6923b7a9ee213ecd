"""The data prior with the highest rate, and its certificate."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import cobayes as cb
from cobayes.theory.best_prior import best_data_prior, solve_programme


def _random_matrix(seed, num_data, num_hypotheses):
    return np.random.default_rng(seed).dirichlet(np.ones(num_data), num_hypotheses).T


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 5))
def test_no_data_prior_beats_the_best_one(seed, num_data, num_hypotheses):
    matrix = _random_matrix(seed, num_data, num_hypotheses)
    tries = np.random.default_rng(seed).dirichlet(np.full(num_data, 0.5), 40)
    for hypothesis in (0, None):
        best = best_data_prior(matrix, hypothesis)
        assert best.data_prior.sum() == pytest.approx(1.0, abs=1e-12)
        assert -1e-12 <= best.gap <= 1e-9
        rule = cb.SCBI(matrix, data_prior=best.data_prior)
        own = np.mean(cb.rate_of_convergence(rule, hypothesis))
        assert own == pytest.approx(best.rate, abs=1e-9)
        for share in tries:
            rate = np.mean(cb.rate_of_convergence(cb.SCBI(matrix, data_prior=share), hypothesis))
            assert rate <= best.upper_bound + 1e-12
        assert best.uniform_rate <= best.rate + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_for_two_hypotheses_it_sits_on_the_two_extreme_ratios(seed):
    matrix = _random_matrix(seed, 7, 2)
    ratios = matrix[:, 1] / matrix[:, 0]
    best = best_data_prior(matrix, 0)
    extremes = {int(ratios.argmin()), int(ratios.argmax())}
    assert set(np.flatnonzero(best.data_prior > 1e-6)) == extremes
    # On two data with ratios a < b the optimum has a closed form: s = (b - a) / log(b / a).
    a, b = ratios.min(), ratios.max()
    mean = (b - a) / np.log(b / a)
    share = (mean - a) / (b - a)
    assert best.data_prior[ratios.argmax()] == pytest.approx(share, abs=1e-3)
    exact = np.log(mean) - share * np.log(b) - (1.0 - share) * np.log(a)
    assert best.rate == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(("num_hypotheses", "seed"), [(3, 0), (3, 1), (4, 0), (5, 0)])
def test_a_best_data_prior_on_few_data_exists(num_hypotheses, seed):
    """The linear programme of Theorem 9's proof, solved by the simplex method."""
    matrix = _random_matrix(seed, 30, num_hypotheses)
    best = best_data_prior(matrix, 0)
    ratios = matrix[:, 1:] / matrix[:, :1]
    means = best.data_prior @ ratios
    rivals = num_hypotheses - 1
    found = linprog(
        np.append(np.zeros(30), -1.0),
        A_ub=np.column_stack([np.log(ratios).T, np.ones(rivals)]),
        b_ub=np.log(means),
        A_eq=np.column_stack([np.vstack([np.ones(30), ratios.T]), np.zeros(rivals + 1)]),
        b_eq=np.append(1.0, means),
        bounds=[(0.0, None)] * 30 + [(None, None)],
        method="highs-ds",
    )
    share = np.where(found.x[:30] > 1e-9, found.x[:30], 0.0)
    assert (share > 0.0).sum() <= 2 * rivals
    rate = cb.rate_of_convergence(cb.SCBI(matrix, data_prior=share / share.sum()), 0)
    assert rate == pytest.approx(best.rate, abs=1e-7)


def test_scaling_rows_and_columns_of_the_matrix_changes_nothing():
    matrix = _random_matrix(3, 5, 3)
    rng = np.random.default_rng(0)
    scaled = matrix * rng.exponential(size=(5, 1)) * rng.exponential(size=3)
    assert best_data_prior(scaled).rate == pytest.approx(best_data_prior(matrix).rate, abs=2e-9)


def test_equal_columns_have_rate_zero_under_any_data_prior():
    best = best_data_prior([[0.3, 0.3], [0.7, 0.7]], 0)
    assert best.rate == pytest.approx(0.0, abs=1e-12)
    assert best.upper_bound == pytest.approx(0.0, abs=1e-9)


def test_one_hypothesis_has_no_rate():
    with pytest.raises(cb.CobayesError, match="at least two"):
        best_data_prior([[1.0], [2.0]])


def test_the_answer_reads_well():
    best = cb.best_data_prior(cb.examples["M_3"], "h_1")
    assert "rate" in repr(best)
    assert list(best.to_dataframe().index) == list(best.model.data)


DISJOINT = np.array(
    [[8, 3, 0, 0], [2, 7, 0, 0], [1, 1, 0, 0], [0, 0, 6, 1], [0, 0, 2, 7], [0, 0, 3, 3.0]]
)
OVERLAPPING = np.array([[8, 3, 0, 0], [2, 7, 5, 1], [1, 2, 2, 9], [0, 0, 6, 1], [0, 0, 2, 7.0]])


@pytest.mark.parametrize("table", [DISJOINT, OVERLAPPING])
@pytest.mark.parametrize("hypothesis", [0, None])
def test_with_zeros_the_bound_holds_for_every_data_prior(table, hypothesis):
    best = best_data_prior(table, hypothesis)
    rates = cb.rate_of_convergence(cb.SCBI(table, data_prior=best.data_prior))
    assert best.rate == pytest.approx(rates.mean() if hypothesis is None else rates[0], abs=1e-9)
    rng = np.random.default_rng(1)
    for prior in rng.dirichlet(np.full(len(table), 0.4), size=200):
        rates = cb.rate_of_convergence(cb.SCBI(table, data_prior=prior / prior.sum()))
        found = rates.mean() if hypothesis is None else rates[0]
        assert found <= best.upper_bound + 1e-12
        # Of hypotheses that allow different but overlapping data the mean rate is not concave: the
        # best one found need not be the best, and the gap says so.
        is_concave = hypothesis is not None or table is DISJOINT
        assert found <= (best.rate if is_concave else best.rate + best.gap) + 1e-6
    assert best.rate > best.uniform_rate + (0.04 if is_concave else 0.0)


def test_with_zeros_hypotheses_that_share_no_data_have_the_best_of_both():
    best = best_data_prior(DISJOINT)
    alone = [best_data_prior(part).rate for part in (DISJOINT[:3, :2], DISJOINT[3:, 2:])]
    assert best.rate == pytest.approx(np.mean(alone), abs=1e-6)
    assert 0.0 <= best.gap < 1e-6


@pytest.mark.parametrize("hypothesis", [0, None])
def test_ratios_beyond_float64_are_refused(hypothesis):
    with pytest.raises(cb.CobayesError, match="span more than 1e300"):
        cb.best_data_prior([[1.0, 1e-200], [1e-200, 1.0]], hypothesis)


def test_where_each_datum_excludes_every_rival_all_data_priors_are_best():
    found = cb.best_data_prior(np.eye(3))
    np.testing.assert_array_equal(found.data_prior, np.full(3, 1 / 3))
    assert found.rate == found.uniform_rate == math.inf


def test_multipliers_of_zero_bound_no_rate(monkeypatch):
    # Without its multipliers the linear programme proves nothing, even if its solution is right.
    def without_multipliers(*arguments):
        answer = solve_programme(*arguments)
        answer.ineqlin.marginals = np.zeros_like(answer.ineqlin.marginals)
        return answer

    monkeypatch.setattr("cobayes.theory.best_prior.solve_programme", without_multipliers)
    monkeypatch.setattr("cobayes.theory.best_prior.MAX_CUTS", 5)
    with pytest.raises(cb.ConvergenceError, match="its upper bound inf"):
        best_data_prior([[0.7, 0.2, 0.0], [0.2, 0.3, 0.0], [0.1, 0.5, 1.0]])
