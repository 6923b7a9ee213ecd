"""Lessons of one teacher with several learners, until the teacher is sure."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.rules import BI, SCBI
from cobayes.rules.naming import as_agents
from cobayes.stability import success_rate, success_rates
from cobayes.stability.teaching import teach_until_sure


def _teach(example, learners, hypothesis=0, count=70, max_rounds=1000):
    """Play lessons and return how they end."""
    rule = SCBI(example.model)
    pairs = [as_agents(rule, hypothesis, None, *learner) for learner in learners]
    return teach_until_sure(pairs, count, 3, max_rounds=max_rounds)


@pytest.mark.parametrize(("name", "max_rounds"), [("M_4", 1000), ("M_5", 20)])
def test_the_teachers_own_learner_ends_where_the_teacher_does(name, max_rounds):
    example = cb.examples[name]
    ends = _teach(example, [(SCBI(example.model), None)], max_rounds=max_rounds)
    np.testing.assert_allclose(ends.believed[0], ends.taught, rtol=0.0, atol=1e-9)
    assert (ends.is_finished == (ends.taught[:, 0] > 1.0 - 1e-5)).all()
    assert ends.is_finished.all() == (max_rounds == 1000)
    assert (ends.num_rounds[~ends.is_finished] == max_rounds).all()


def test_a_learner_who_is_not_sure_after_more_data_has_no_known_end():
    model = cb.examples["M_4"].model
    nearly_equal = 1.0 + 0.01 * np.random.default_rng(0).random(model.shape)
    slow = SCBI(nearly_equal, data_prior=[0.5, 0.3, 0.2])
    ends = teach_until_sure([as_agents(SCBI(model), 0, None, slow)], 70, 3, max_rounds=400)
    assert ends.is_finished.all()
    assert (ends.believed < 0.5).all()
    assert not ends.is_known.any()


class Scripted(SCBI):
    """SCBI in the eyes of the library a custom rule: it overrides `respond`."""

    name = "scripted"

    def respond(self, log_belief):
        """Return SCBI's answer."""
        return super().respond(log_belief)


def test_a_custom_rule_is_taught_like_the_native_rule_that_it_copies():
    # Each datum says much, so that lessons are short.
    model, theirs = cb.Model([[0.8, 0.1, 0.2], [0.1, 0.7, 0.1], [0.1, 0.2, 0.7]]), [0.2, 0.5, 0.3]
    assert Scripted(model).core is None
    arguments = {"hypothesis": 0, "learner_prior": theirs, "num_lessons": 100}
    native = success_rate(SCBI(model), rng=1, **arguments)
    for own, other in ((Scripted, Scripted), (Scripted, SCBI), (SCBI, Scripted)):
        rate = success_rate(own(model), learner_rule=other(model), rng=2, **arguments)
        assert abs(rate.value - native.value) <= 4.0 * np.hypot(rate.stderr, native.stderr)
        assert rate.num_unfinished == 0
    pair = as_agents(Scripted(model), 0, None, BI(model), theirs)
    ends = teach_until_sure([pair], 5, 3, max_rounds=4)
    assert (ends.num_rounds == 4).all()
    assert not ends.is_finished.any()
    np.testing.assert_allclose(ends.believed.sum(axis=2), 1.0, rtol=1e-12)


@pytest.mark.parametrize("max_rounds", [1000, 3])
def test_beside_a_custom_learner_the_others_are_taught_as_without_it(max_rounds):
    # The zeros, or the learner's data prior, make the teacher continue after it is sure.
    zeros, positive = [[0.6, 0.3, 0.0], [0.4, 0.4, 0.5], [0.0, 0.3, 0.5]], np.eye(3) + 0.5
    other = SCBI(positive, data_prior=[0.5, 0.3, 0.2])
    for table, rule in ((zeros, None), (positive, other)):
        options = {
            "num_lessons": 400,
            "learner_priors": [[0.2, 0.5, 0.3]],
            "max_rounds": max_rounds,
        }
        (alone,) = success_rates(table, 0, learner_rules=[rule], rng=1, **options)
        beside, _ = success_rates(table, 0, learner_rules=[rule, Scripted(table)], rng=2, **options)
        for end in ("lower", "upper"):
            ends = getattr(alone, end), getattr(beside, end)
            assert abs(ends[0] - ends[1]) <= 4.0 * np.hypot(alone.stderr, beside.stderr) + 0.05
        assert (alone.num_unfinished > 0) == (beside.num_unfinished > 0) == (max_rounds == 3)


@pytest.mark.parametrize("believed", range(4))
def test_a_learner_that_is_sure_of_something_else_keeps_a_belief(believed):
    prior = np.full(4, 1e-9)
    prior[believed] = 1.0 - 3e-9
    example = cb.examples["M'_2"]
    found = _teach(example, [(SCBI(example.model), prior)]).believed[0]
    assert ((found >= 0.0) & (found <= 1.0)).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)


def test_a_learner_who_has_excluded_the_hypothesis_has_a_known_end():
    # Datum 0 excludes hypothesis 0 in the learner's table. The learner cannot tell the other two
    # hypotheses apart, so it is then never sure.
    teacher = SCBI([[0.7, 0.2, 0.1], [0.2, 0.3, 0.3], [0.1, 0.5, 0.6]])
    learner = SCBI([[0, 1, 1], [1, 2, 2], [1, 3, 3]], data_prior=[0.5, 0.3, 0.2])
    ends = teach_until_sure([as_agents(teacher, 0, None, learner)], 50, 3, max_rounds=300)
    assert ends.is_finished.all()
    assert ends.is_known.all()
    excludes = ends.believed[0, :, 0] == 0.0
    assert excludes.any()
    np.testing.assert_allclose(ends.believed[0, excludes, 1:], 0.5, rtol=1e-12)


def test_with_zeros_a_sure_teacher_goes_on_until_the_learner_is_sure():
    # The teacher is sure after one datum, 1 or 2 with equal chances. Datum 2 convinces the learner
    # at once. Datum 1 makes it believe 0 so much that another 1 excludes hypothesis 1.
    table = np.array([[0.5, 0.0], [1.0, 0.5], [0.0, 2.0]])
    rate = cb.success_rate(
        table, hypothesis=1, prior=[0.15, 0.85], learner_prior=[0.58, 0.42], rng=1
    )
    assert cb.SCBI(table).update([0.15, 0.85], 1)[1] == 1.0
    assert 0.0 < cb.SCBI(table).update([0.58, 0.42], 1)[1] < 1.0 / 3.0
    assert abs(rate.value - 0.75) < 4 * rate.stderr
    assert set(np.round([rate.lower, rate.upper], 9)) == {round(rate.value, 9)}


def test_with_different_data_priors_a_sure_teacher_goes_on():
    matrix = [[0.7, 0.2], [0.2, 0.3], [0.1, 0.5]]
    teacher, learner = cb.SCBI(matrix, data_prior=[0.1, 0.2, 0.7]), cb.SCBI(matrix)
    rate = cb.success_rate(teacher, 0, learner_rule=learner, num_lessons=300, rng=1)
    lessons = cb.simulate(teacher, 0, num_rounds=400, num_lessons=300, learner_rule=learner, rng=2)
    error = np.hypot(rate.stderr, 0.5 / np.sqrt(300))
    assert abs(rate.value - lessons.mean()[-1]) < 4 * error
    assert rate.num_unfinished == 0
