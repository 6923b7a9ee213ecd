"""The teachers of `compare_teachers` choose data as documented."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.errors import ImpossibleDatumError
from cobayes.lessons.teachers import drawing_rule, truthful_data


def random_model(seed, n=4, m=3):
    return cb.Model(np.random.default_rng(seed).uniform(0.02, 1.0, (n, m)))


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_the_optimal_teacher_is_never_worse_than_any_other(seed):
    found = cb.lessons.compare_teachers(
        random_model(seed), 0, num_rounds=5, num_lessons=50, level=0.7, rng=seed
    )
    for learner in found.learners:
        best = found.result("optimal", learner)
        for teacher in set(found.teachers) - {"active"}:  # which has answers instead of data
            other = found.result(teacher, learner).median_rounds
            assert best.is_proved
            assert other is None or best.median_rounds <= other


def belief_after(rule, data, model):
    """Return the belief in the first hypothesis, zero where its teacher cannot show the data."""
    learner = cb.Learner(rule)
    if not model.matrix[list(data), 0].all():
        return 0.0
    try:
        for datum in data:
            learner.observe(datum)
    except ImpossibleDatumError:
        return 0.0
    return learner.belief[0]


RULES = {"BI": cb.BI, "Pragmatic, depth 1": lambda task: cb.Pragmatic(task, 1), "SCBI": cb.SCBI}


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), without=st.booleans(), with_zeros=st.booleans())
def test_the_optimal_lesson_is_as_short_as_the_shortest_of_all_sequences(seed, without, with_zeros):
    model = random_model(seed)
    if with_zeros:
        model = cb.Model(np.where(np.eye(4, 3, -1) > 0.0, 0.0, model.matrix))
    task = cb.without_repeats(model) if without else model
    found = cb.lessons.compare_teachers(task, 0, teachers="optimal", num_rounds=3, level=0.8)
    for name, kind in RULES.items():
        lengths = [
            length
            for length in (1, 2, 3)
            for data in product(range(4), repeat=length)
            if belief_after(kind(task), data, model) >= 0.8
        ]
        shortest = min(lengths, default=None)
        assert found.result("optimal", name).median_rounds == shortest


def test_truthful_data_are_those_that_speak_for_the_hypothesis():
    model = cb.Model([[0.6, 0.1], [0.3, 0.3], [0.1, 0.6]])
    assert truthful_data(model, 0).tolist() == [True, True, False]


def test_an_active_learner_asks_the_question_that_tells_most():
    # Question a tells the two hypotheses apart, question b does not.
    model = cb.Model([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5], [0.5, 0.5]])
    found = cb.lessons.compare_teachers(
        model, 0, teachers="active", questions="aabb", num_rounds=1, num_lessons=400, rng=1
    )
    # One answer to a: 0.9 with probability 0.9 and 0.1 with probability 0.1.
    assert found.result("active", "BI").beliefs[1] == pytest.approx(0.82, abs=0.05)


def test_after_the_shortest_lesson_the_optimal_teacher_goes_on():
    found = cb.lessons.compare_teachers(
        "example:diagnosis", "influenza", teachers="optimal", num_rounds=9
    )
    for result in found.results:
        assert (np.diff(result.beliefs[result.median_rounds :]) > 0.0).all()


def test_yes_or_no_questions_are_answered_by_the_table_as_it_is():
    # Membership queries: two answers tell four concepts apart.
    concepts = cb.Model([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]])
    for task in (concepts, cb.without_repeats(concepts)):
        found = cb.lessons.compare_teachers(
            task, 0, teachers="active", num_lessons=5, num_rounds=3, rng=0
        )
        np.testing.assert_allclose(found.result("active", "SCBI").beliefs, [0.25, 0.5, 1.0, 1.0])


@pytest.mark.parametrize("name", ["num_rounds", "num_lessons"])
def test_questions_without_end_are_refused(name):
    with pytest.raises(cb.CobayesError, match="would take about"):
        cb.lessons.compare_teachers(random_model(0), 0, teachers="active", **{name: 10**400})


def test_a_question_that_a_hypothesis_cannot_answer_is_named():
    model = cb.Model([[1, 0], [0, 1], [1, 1]], "abc", "xy")
    with pytest.raises(cb.CobayesError, match="'y' rules out every answer to question '1'"):
        cb.lessons.compare_teachers(model, 0, teachers="active", questions=[1, 2, 2])


def test_random_and_truthful_teachers_keep_to_what_is_available():
    steps = np.where(np.abs(np.subtract.outer(range(4), range(4))) > 1, np.inf, 0.0)
    task = cb.moving_costs(random_model(6), steps)
    for teacher in ("random", "truthful"):
        rule = drawing_rule(teacher, task, 0)
        run = cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(cb.SCBI(task)), 30)
        assert np.abs(np.diff(run.data)).max() <= 1
        many = cb.simulate(rule, 0, num_rounds=5, num_lessons=10, learner_rule=cb.SCBI(task), rng=1)
        assert many.num_contradicted == 0


# With this table and BI learners, greedy choices need 8 rounds; `belief_after` of all sequences of
# 7 data shows that 7 are enough, and of all sequences of 6 data that 6 are not.
SLOW_FOR_GREEDY = cb.Model([[5, 6, 8], [4, 7, 1], [5, 4, 1], [6, 5, 1]])


def test_the_optimal_lesson_can_be_shorter_than_the_greedy_one(monkeypatch):
    def rounds_of(teacher):
        found = cb.lessons.compare_teachers(
            SLOW_FOR_GREEDY, 0, teachers=[teacher], learners=["BI"], num_rounds=8, level=0.9
        )
        return found.results[0].median_rounds, found.results[0].is_proved

    rule = cb.BI(SLOW_FOR_GREEDY)
    best = {
        k: max(belief_after(rule, data, SLOW_FOR_GREEDY) for data in multisets(k)) for k in (6, 7)
    }
    assert best[6] < 0.9 <= best[7]
    assert rounds_of("greedy") == (8, True)
    assert rounds_of("optimal") == (7, True)
    monkeypatch.setattr("cobayes.lessons.teachers.MOST_BELIEFS", 1)
    assert rounds_of("optimal") == (8, False)  # the greedy lesson, which is not proved to be best


def multisets(size):
    """Return the data of all lessons of a length; under BI their order does not matter."""
    return combinations_with_replacement(range(SLOW_FOR_GREEDY.num_data), size)


@pytest.mark.parametrize(("teacher", "first"), [("random", None), ("truthful", [0, 2])])
def test_without_repeats_drawn_data_are_all_shown_true_ones_first(teacher, first):
    model = cb.Model([[0.5, 0.2, 0.1], [0.1, 0.3, 0.4], [0.3, 0.2, 0.1], [0.1, 0.3, 0.4]])
    found = cb.lessons.compare_teachers(
        cb.without_repeats(model), 0, teachers=[teacher], learners=[cb.BI(model)], num_rounds=9,
        num_lessons=50, rng=1,
    )  # fmt: skip
    beliefs = found.results[0].beliefs
    assert len(beliefs) == 5  # four data, each of them once
    assert beliefs[-1] == pytest.approx(belief_after(cb.BI(model), range(4), model), rel=1e-12)
    if first is not None:
        assert beliefs[2] == pytest.approx(belief_after(cb.BI(model), first, model), rel=1e-12)
