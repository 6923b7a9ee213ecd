"""Many lessons on tasks: compiled without repeats, one by one on the rest."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.lessons.groups import FreshGroup, Group, SteppedGroup, is_compiled

MODEL = cb.Model(np.random.default_rng(1).uniform(0.05, 1.0, (6, 3)))
KINDS = [cb.BI, cb.SCBI, lambda task: cb.Pragmatic(task, 2)]


def simulate(rule, **options):
    given = {"num_rounds": 5, "num_lessons": 40, "rng": 3, **options}
    return cb.simulate(rule, 1, **given)


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_lessons_without_repeats_match_lessons_one_by_one(kind):
    rule = kind(cb.without_repeats(MODEL))
    prior = rule.log_belief(None)
    fresh, stepped = FreshGroup(rule, prior, 30), SteppedGroup(rule, prior, 30)
    rngs = np.random.default_rng(5), np.random.default_rng(5)
    seen = []
    for _ in range(6):
        data = fresh.draw(1, rngs[0])
        assert np.array_equal(data, stepped.draw(1, rngs[1]))
        fresh.observe(data)
        stepped.observe(data)
        np.testing.assert_allclose(
            fresh.beliefs.log_beliefs, stepped.log_beliefs, rtol=1e-7, atol=1e-9
        )
        seen.append(data)
    assert (np.sort(np.array(seen), axis=0) == np.arange(6)[:, None]).all()


def test_one_by_one_matches_compiled_lessons_on_a_model():
    rule = cb.SCBI(MODEL)
    prior = rule.log_belief(None)
    compiled, stepped = Group(rule, prior, 30), SteppedGroup(rule, prior, 30)
    rngs = np.random.default_rng(5), np.random.default_rng(5)
    for _ in range(4):
        data = compiled.draw(0, rngs[0])
        assert np.array_equal(data, stepped.draw(0, rngs[1]))
        compiled.observe(data)
        stepped.observe(data)
    np.testing.assert_allclose(compiled.beliefs.log_beliefs, stepped.log_beliefs, rtol=1e-7)


def test_what_is_compiled():
    assert is_compiled(cb.SCBI(MODEL))
    assert is_compiled(cb.SCBI(cb.without_repeats(MODEL)))
    assert not is_compiled(cb.SCBI(cb.GridWorld.paper()))


def test_simulate_teaches_better_without_repeats_when_data_repeat_themselves():
    found = simulate(cb.SCBI(cb.without_repeats(MODEL)), num_lessons=2000)
    assert found.means.shape == (6, 3)
    assert found.num_contradicted == 0
    stepwise = [
        cb.run_lesson(
            cb.Teacher(cb.SCBI(cb.without_repeats(MODEL)), 1, rng=k),
            cb.Learner(cb.SCBI(cb.without_repeats(MODEL))),
            5,
        ).beliefs[-1, 1]
        for k in range(300)
    ]
    error = np.std(stepwise) / np.sqrt(300) + found.stderr()[-1]
    assert abs(np.mean(stepwise) - found.mean()[-1]) < 5 * error


def test_simulate_takes_a_learner_who_does_not_know_the_constraint():
    found = simulate(cb.SCBI(cb.without_repeats(MODEL)), learner_rule=cb.BI(MODEL))
    assert found.learner_rule_name == "BI"


def test_simulate_asks_for_no_more_rounds_than_there_are_data():
    with pytest.raises(cb.CobayesError, match="has data for 6"):
        simulate(cb.SCBI(cb.without_repeats(MODEL)), num_rounds=7)


@pytest.mark.parametrize("slip", [0.0, 0.2])
def test_simulate_walks_in_worlds(slip):
    world = cb.GridWorld.with_goals_on_top(5, 3, 2, 0.5, slip=slip)
    found = cb.simulate(cb.SCBI(world), "A", num_rounds=12, num_lessons=30, rng=1)
    assert found.mean()[-1] > 0.6


def test_teachers_can_be_compared_without_repeats():
    found = cb.lessons.compare_teachers(
        cb.without_repeats(MODEL), 0, num_rounds=30, num_lessons=50, level=0.7, rng=1
    )
    assert found.num_rounds == 6
    assert all(len(result.beliefs) == 7 for result in found.results)
