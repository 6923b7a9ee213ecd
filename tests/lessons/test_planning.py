"""Planned lessons: greedy, looking ahead, and the best there is."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb

KINDS = [cb.BI, cb.SCBI]


def random_model(seed, n=4, m=3):
    return cb.Model(np.random.default_rng(seed).uniform(0.02, 1.0, (n, m)))


def belief_after(rule, data, hypothesis=0):
    learner = cb.Learner(rule)
    for datum in data:
        learner.observe(int(datum))
    others = np.delete(learner.log_belief, hypothesis)
    return learner.log_belief[hypothesis] - np.logaddexp.reduce(others)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6))
def test_look_ahead_of_one_is_the_greedy_choice(kind, seed):
    rule = kind(random_model(seed))
    plan = cb.plan_lesson(rule, 1, 5)
    belief = np.full(3, 1 / 3)
    for datum in plan.data:
        posteriors = rule.posteriors(belief)
        assert posteriors[datum, 1] >= posteriors[:, 1].max() * (1 - 1e-9)
        belief = rule.update(belief, int(datum))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), num_rounds=st.integers(1, 4))
def test_the_full_search_finds_the_best_of_all_sequences(kind, seed, num_rounds):
    rule = kind(random_model(seed))
    plan = cb.plan_lesson(rule, 0, num_rounds, look_ahead=num_rounds)
    every = [belief_after(rule, data) for data in product(range(4), repeat=num_rounds)]
    assert belief_after(rule, plan.data) == pytest.approx(max(every), abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_the_full_search_finds_the_best_order_without_repeats(kind, seed):
    rule = kind(cb.without_repeats(random_model(seed)))
    plan = cb.plan_lesson(rule, 0, 3, look_ahead=3)
    every = [belief_after(rule, data) for data in permutations(range(4), 3)]
    assert belief_after(rule, plan.data) == pytest.approx(max(every), abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_full_search_is_exact_where_the_matrix_changes(kind):
    # Bounds that hold for one matrix must not leave out moves in a world.
    for text in ("A..B\n.#..\n.S..", "A...\nC#.B\n..S."):
        rule = kind(cb.GridWorld.from_text(text, 0.4))
        plan = cb.plan_lesson(rule, 0, 3, look_ahead=3)
        every = [belief_after(rule, data) for data in product(range(4), repeat=3)]
        assert belief_after(rule, plan.data) == pytest.approx(max(every), abs=1e-8)


@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_the_full_search_finds_the_best_sequence_for_a_rationality_above_one(seed):
    # Each round multiplies the odds by ratios of the matrix to the power of the rationality.
    rule = cb.Pragmatic(random_model(seed), 1, rationality=3.0)
    plan = cb.plan_lesson(rule, 0, 3, look_ahead=3)
    every = [belief_after(rule, data) for data in product(range(4), repeat=3)]
    assert belief_after(rule, plan.data) == pytest.approx(max(every), abs=1e-8)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_looking_ahead_to_the_end_is_never_worse(seed):
    rule = cb.SCBI(random_model(seed, 5, 4))
    values = [belief_after(rule, cb.plan_lesson(rule, 0, 4, look_ahead=k).data) for k in (1, 2, 4)]
    assert values[2] >= max(values) - 1e-8


def test_the_likeliest_datum_of_scbi_is_the_greedy_one():
    # With even row sums the teacher's column is the learner's belief in the truth, rescaled.
    rule = cb.SCBI(random_model(3, 8, 5))
    likely = cb.run_lesson(cb.Teacher(rule, 2, choice="likeliest"), cb.Learner(rule), 6)
    assert np.array_equal(likely.data, cb.plan_lesson(rule, 2, 6).data)


def test_a_plan_can_be_made_for_a_learner_of_another_rule():
    model = random_model(5, 6, 4)
    plan = cb.plan_lesson(cb.SCBI(cb.without_repeats(model)), 0, 3, learner_rule=cb.BI(model))
    assert plan.rule_name == "BI"
    assert len(set(plan.data.tolist())) == 3
    ratios = cb.BI(model).posteriors(np.full(4, 0.25))[:, 0]
    assert plan.data[0] == np.argmax(ratios)


def test_plans_can_be_saved_and_go_on(tmp_path):
    rule = cb.SCBI(cb.without_repeats(random_model(2, 7, 3)))
    cb.plan_lesson(rule, 0, 3).save(tmp_path / "plan.json")
    longer = cb.Lesson.load(tmp_path / "plan.json").extend(2)
    assert np.array_equal(longer.data, cb.plan_lesson(rule, 0, 5).data)


def test_a_search_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("cobayes.lessons.planning.MOST_NODES", 10)
    with pytest.raises(cb.CobayesError, match="use a smaller look_ahead"):
        cb.plan_lesson(cb.SCBI(random_model(1, 9, 4)), 0, 6, look_ahead=6)


def test_a_deep_search_in_which_sequences_meet_again_is_not_refused():
    # 14 rounds of three data are 5e6 sequences, and 680 different counts of the data.
    rule = cb.BI(random_model(1, 3, 3))
    assert len(cb.plan_lesson(rule, 0, 14, look_ahead=14).data) == 14


def test_slippery_worlds_cannot_be_planned():
    world = cb.GridWorld.with_goals_on_top(5, 3, 2, 0.5, slip=0.1)
    with pytest.raises(cb.CobayesError, match="leads to one of"):
        cb.plan_lesson(cb.SCBI(world), "A", 3)


def test_data_that_only_the_learners_table_excludes_are_named_by_the_hint():
    rule = cb.BI(cb.limited_to([[1, 1], [1, 0.5], [0, 1]], [0, 1]))
    with pytest.raises(cb.CobayesError, match="allows none of the data") as caught:
        cb.plan_lesson(rule, 0, 2, learner_rule=cb.BI([[0, 1], [0, 0.5], [1, 1]]))
    assert "make one of '2' available" in caught.value.hint
