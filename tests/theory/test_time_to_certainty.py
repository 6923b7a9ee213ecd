"""Rounds until certainty, predicted from the limit and seen in lessons."""

import math

import numpy as np
import pytest
from scipy import stats

import cobayes as cb
from cobayes.theory.time_to_certainty import mean_overshoot, predicted_rounds


def first_rounds(rule, level, num_rounds, num_lessons=600):
    """The round at which each lesson first has log-odds above a level."""
    odds = cb.simulate(rule, 0, num_rounds=num_rounds, num_lessons=num_lessons, rng=1).log_odds(0)
    assert (odds > level).any(axis=1).all()
    return (odds > level).argmax(axis=1)


@pytest.mark.parametrize("kind", [cb.SCBI, cb.BI])
@pytest.mark.parametrize("name", ["M_1", "M_2", "M_4", "M'_1", "grid-world"])
def test_lessons_take_as_long_as_predicted_when_doubt_is_small(kind, name):
    rule = kind(cb.examples[name].model)
    doubt = 1e-9
    found = predicted_rounds(rule, 0, doubt=doubt)
    rounds = first_rounds(rule, math.log((1 - doubt) / doubt), int(found.mean + 12 * found.std))
    # A shift that does not grow with the doubt is left: 3 % here, beside 4 standard errors.
    error = 4.0 * rounds.std() / math.sqrt(len(rounds)) + 0.03 * found.mean
    assert rounds.mean() == pytest.approx(found.mean, abs=error)
    # Of several rivals that are nearly as hard, the spread is known to a fifth (M'_1).
    assert rounds.std() == pytest.approx(found.std, rel=0.25)
    assert np.quantile(rounds, 0.9) == pytest.approx(found.quantile(0.9), rel=0.1)


@pytest.mark.parametrize("name", ["M_1", "M_4"])
def test_further_digits_of_certainty_cost_their_logarithm_over_the_rate(name):
    rule = cb.SCBI(cb.examples[name].model)
    near, far = (predicted_rounds(rule, 0, doubt=doubt) for doubt in (1e-4, 1e-9))
    # A second rival takes its share of rounds: more on M_1, where it is nearly as hard.
    assert far.mean - near.mean == pytest.approx(
        math.log(1e5) / near.rate, rel=0.05 if name == "M_1" else 0.01
    )
    limit = int(far.mean + 10 * far.std)
    seen = first_rounds(rule, math.log(1e9), limit) - first_rounds(rule, math.log(1e4), limit)
    assert seen.mean() == pytest.approx(
        far.mean - near.mean, abs=4.0 * seen.std() / math.sqrt(len(seen)) + 2.0
    )


def test_the_overshoot_is_that_of_spitzers_identity():
    # E X^2 / (2 E X) less the sum over k of E max(-S_k, 0) / k, with binomial sums S_k.
    shares, steps = np.array([0.65, 0.35]), np.array([math.log(1.9), math.log(0.45)])
    mean = shares @ steps
    expected = shares @ steps**2 / (2.0 * mean)
    for k in range(1, 1500):
        ups = np.arange(k + 1)
        below = np.maximum(-(ups * steps[0] + (k - ups) * steps[1]), 0.0)
        expected -= float(stats.binom.pmf(ups, k, shares[0]) @ below) / k
    assert mean_overshoot(shares, steps) == pytest.approx(expected, rel=5e-3)
    # Steps of one width, up or down: the first value above zero is one step.
    assert mean_overshoot(np.array([0.6, 0.4]), np.array([1.0, -1.0])) == pytest.approx(0.5)


def test_rounds_of_bi_with_two_hypotheses_are_those_of_a_random_walk():
    # Increments are independent from the first round on: the renewal theorem says it all.
    rule = cb.BI([[0.7, 0.4], [0.2, 0.35], [0.1, 0.25]])
    found = predicted_rounds(rule, 0, doubt=1e-6)
    rounds = first_rounds(rule, math.log((1 - 1e-6) / 1e-6), 1500, num_lessons=8000)
    stderr = rounds.std() / math.sqrt(len(rounds))
    assert abs(rounds.mean() - found.mean) <= 4.0 * stderr
    # Without the overshoot it would be off by more.
    assert rounds.mean() - (found.mean - found.overshoot / found.rate) > 2.0 * stderr


def test_the_rate_and_the_rival_are_those_of_the_theorem():
    model = cb.examples["M_5"].model
    for name in ("scbi", "bi"):
        found = predicted_rounds(model, 1, rule=name)
        assert found.rate == pytest.approx(cb.rate_of_convergence(model, 1, rule=name))
        assert found.rival == model.hypotheses[cb.theory.relevant_hypothesis(model, 1, rule=name)]
    assert "nats per round" in repr(found)


def test_a_pragmatic_rule_is_predicted_too():
    matrix = np.random.default_rng(3).dirichlet(np.ones(4), 3).T
    deep = predicted_rounds(cb.Pragmatic(matrix, 40), 0)
    assert deep.mean == pytest.approx(predicted_rounds(matrix, 0).mean, rel=1e-3)


def test_equal_columns_take_for_ever_and_exclusion_has_no_normal_limit():
    assert predicted_rounds([[0.5, 0.5], [0.5, 0.5]], 0).mean == math.inf
    with pytest.raises(cb.CobayesError, match="exclude every rival"):
        predicted_rounds([[1.0, 0.0], [1.0, 1.0]], 0)
    with pytest.raises(cb.CobayesError, match="doubt"):
        predicted_rounds([[0.6, 0.3], [0.4, 0.7]], 0, doubt=0.7)


def test_a_learner_who_is_sure_already_needs_no_round():
    assert (
        predicted_rounds([[0.6, 0.3], [0.4, 0.7]], 0, prior=[0.999, 0.001], doubt=0.1).mean == 0.0
    )
