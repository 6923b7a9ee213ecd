"""Rounds until certainty, predicted from the limit and seen in lessons."""

import math

import numpy as np
import pytest

import cobayes as cb
from cobayes.theory.time_to_certainty import predicted_rounds


def first_rounds(rule, level, num_rounds, num_lessons=600):
    """The round at which each lesson first has log-odds above a level."""
    odds = cb.simulate(rule, 0, num_rounds=num_rounds, num_lessons=num_lessons, rng=1).log_odds(0)
    assert (odds > level).any(axis=1).all()
    return (odds > level).argmax(axis=1)


@pytest.mark.parametrize("kind", [cb.SCBI, cb.BI])
@pytest.mark.parametrize("name", ["M_2", "M_4", "grid-world"])
def test_lessons_take_as_long_as_predicted_when_doubt_is_small(kind, name):
    rule = kind(cb.examples[name].model)
    doubt = 1e-9
    found = predicted_rounds(rule, 0, doubt=doubt)
    rounds = first_rounds(rule, math.log((1 - doubt) / doubt), int(found.mean + 12 * found.std))
    # A shift that does not grow with the doubt is left: 5 % here, beside 4 standard errors.
    error = 4.0 * rounds.std() / math.sqrt(len(rounds)) + 0.05 * found.mean
    assert rounds.mean() == pytest.approx(found.mean, abs=error)
    assert rounds.std() == pytest.approx(found.std, rel=0.15)
    assert np.quantile(rounds, 0.9) == pytest.approx(found.quantile(0.9), rel=0.1)


def test_further_digits_of_certainty_cost_their_logarithm_over_the_rate():
    rule = cb.SCBI(cb.examples["M_1"].model)
    near, far = (predicted_rounds(rule, 0, doubt=doubt) for doubt in (1e-4, 1e-9))
    assert far.mean - near.mean == pytest.approx(math.log(1e5) / near.rate, rel=1e-4)
    limit = int(far.mean + 10 * far.std)
    seen = first_rounds(rule, math.log(1e9), limit) - first_rounds(rule, math.log(1e4), limit)
    assert seen.mean() == pytest.approx(
        far.mean - near.mean, abs=4.0 * seen.std() / math.sqrt(len(seen)) + 2.0
    )


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
