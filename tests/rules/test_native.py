import numpy as np
import pytest

import cobayes as cb
from cobayes.theory.rates import limit_divergences


def random_problem(seed, n=5, m=4):
    rng = np.random.default_rng(seed)
    return rng.gamma(1.0, size=(n, m)) + 0.05, rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n))


@pytest.mark.parametrize("seed", range(5))
def test_a_data_prior_gives_the_row_sums_and_makes_the_belief_a_martingale(seed):
    matrix, belief, prior = random_problem(seed)
    rule = cb.SCBI(matrix, data_prior=prior)
    likelihood = rule.likelihood(belief)
    np.testing.assert_allclose(likelihood.sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(likelihood @ belief, prior, rtol=1e-11)
    np.testing.assert_allclose(prior @ rule.posteriors(belief), belief, rtol=1e-11)


def test_a_uniform_data_prior_changes_nothing():
    matrix, belief, _ = random_problem(1)
    equal = cb.SCBI(matrix, data_prior=np.full(5, 0.2))
    assert np.array_equal(equal.likelihood(belief), cb.SCBI(matrix).likelihood(belief))


def test_data_that_are_not_available_are_left_out():
    matrix, belief, _ = random_problem(2)
    rule = cb.SCBI(matrix, data_prior=[0.25, 0.25, 0.0, 0.25, 0.25])
    rest = np.delete(matrix, 2, axis=0)
    expected = cb.SCBI(rest).likelihood(belief)
    np.testing.assert_allclose(np.delete(rule.likelihood(belief), 2, axis=0), expected, rtol=1e-11)
    assert (rule.likelihood(belief)[2] == 0.0).all()
    assert np.isnan(rule.posteriors(belief)[2]).all()
    with pytest.raises(cb.CobayesError, match="the data prior of datum '2' is zero"):
        rule.update(belief, 2)
    ensemble = cb.simulate(rule, 1, num_rounds=1000, num_lessons=100, rng=1)
    assert ensemble.mean()[-1] > 0.9


@pytest.mark.parametrize("h", range(3))
def test_the_rate_with_a_data_prior_follows_the_formula(h):
    # R(p; h) = min_j log sum_i p_i z_ij - sum_i p_i log z_ij with z_ij = M_ij / M_ih.
    matrix, _, prior = random_problem(3, 6, 3)
    z = matrix / matrix[:, [h]]
    rates = np.delete(np.log(prior @ z) - prior @ np.log(z), h)
    rule = cb.SCBI(matrix, data_prior=prior)
    assert limit_divergences(rule, h).min() == pytest.approx(rates.min(), rel=1e-12)


def test_rates_of_the_rules_are_those_of_the_theorems():
    matrix, _, _ = random_problem(4)
    for rule in (cb.SCBI(matrix), cb.BI(matrix)):
        expected = cb.rate_of_convergence(rule)
        found = [limit_divergences(rule, h).min() for h in range(4)]
        np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_the_rate_is_infinite_if_zeros_distinguish_the_hypotheses():
    rule = cb.SCBI([[1.0, 1.0, 2.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert cb.rate_of_convergence(rule, 0) == np.inf
    assert cb.rate_of_convergence([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0 + 1e-9]], 0) == np.inf
