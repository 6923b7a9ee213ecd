"""The rate of the best teacher."""

import math

import numpy as np
import pytest

import cobayes as cb
from cobayes.theory import choosing_rate


def test_with_two_hypotheses_the_most_telling_datum_is_shown_alone():
    matrix = np.array([[0.6, 0.3], [0.3, 0.2], [0.1, 0.5]])
    found = choosing_rate(matrix, 0, rule="bi")
    assert found.rate == pytest.approx(math.log(2.0))
    np.testing.assert_allclose(found.data_shares, [1.0, 0.0, 0.0], atol=1e-12)
    assert found.drawing_rate == pytest.approx(cb.rate_of_convergence(matrix, 0, rule="bi"))


@pytest.mark.parametrize("kind", [cb.BI, cb.SCBI])
@pytest.mark.parametrize("name", ["M_1", "M_3", "M'_2"])
def test_lessons_with_these_shares_reach_the_rate_and_greedy_ones_do_not_exceed_it(kind, name):
    rule = kind(cb.examples[name].model)
    found = choosing_rate(rule, 0)
    assert found.rate > found.drawing_rate
    assert "nats per round" in repr(found)
    # Show data in these proportions, as evenly as possible, to a learner that is nearly sure: on
    # M'_2 they lead an SCBI learner with a uniform prior elsewhere.
    m = rule.model.num_hypotheses
    learner = cb.Learner(rule, np.where(np.arange(m) == 0, 0.999, 0.001 / (m - 1)))
    shown = np.zeros(len(found.data_shares))
    odds = []
    for k in range(1, 801):
        datum = int(np.argmax(k * found.data_shares - shown))
        shown[datum] += 1
        learner.observe(datum)
        logs = learner.log_belief
        odds.append(logs[0] - np.logaddexp.reduce(logs[1:]))
    assert (odds[799] - odds[399]) / 400 == pytest.approx(found.rate, rel=0.02)
    greedy = cb.plan_lesson(rule, 0, 200).log_beliefs
    gained = greedy[:, 0] - np.logaddexp.reduce(greedy[:, 1:], axis=1)
    assert (gained[200] - gained[100]) / 100 <= found.rate * 1.01


def test_zeros_are_refused():
    with pytest.raises(cb.CobayesError, match="zeros"):
        choosing_rate([[1.0, 0.0], [1.0, 1.0]], 0)
