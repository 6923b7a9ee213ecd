"""Teachers against each other, for learners of several rules."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.lessons.comparing import TEACHERS, truthful_data


def random_model(seed, n=4, m=3):
    return cb.Model(np.random.default_rng(seed).uniform(0.02, 1.0, (n, m)))


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_optimal_teacher_is_never_worse_than_any_other(seed):
    found = cb.compare_teachers(
        random_model(seed), 0, num_rounds=5, num_lessons=50, level=0.7, rng=seed
    )
    for learner in found.learners:
        best = found.result("optimal", learner)
        for teacher in found.teachers:
            other = found.result(teacher, learner).median_rounds
            assert best.is_proved
            assert other is None or best.median_rounds <= other


def test_every_teacher_is_compared_with_every_learner():
    questions = [0, 0, 1, 1]
    found = cb.compare_teachers(
        random_model(1), 1, num_rounds=4, num_lessons=20, questions=questions, rng=0
    )
    assert found.teachers == tuple(TEACHERS)
    assert found.learners == ("BI", "Pragmatic", "SCBI")
    assert len(found.to_dataframe()) == len(TEACHERS) * 3
    assert all(len(result.beliefs) == 5 for result in found.results)
    assert "Rounds until belief in '1' is 0.95" in repr(found)
    assert "<caption>" in found._repr_html_()
    with pytest.raises(cb.CobayesError, match="were not compared"):
        found.result("nobody", "BI")


def test_the_same_seed_gives_the_same_table_whichever_teachers_are_asked_for():
    model = random_model(2)
    everything = cb.compare_teachers(model, 0, num_rounds=4, num_lessons=30, rng=5)
    one = cb.compare_teachers(model, 0, teachers="SCBI", num_rounds=4, num_lessons=30, rng=5)
    np.testing.assert_array_equal(
        one.result("SCBI", "BI").beliefs, everything.result("SCBI", "BI").beliefs
    )


def test_truthful_data_are_those_that_speak_for_the_hypothesis():
    model = cb.Model([[0.6, 0.1], [0.3, 0.3], [0.1, 0.6]])
    assert truthful_data(model, 0).tolist() == [True, True, False]


def test_an_active_learner_asks_the_question_that_tells_most():
    # Question a tells the two hypotheses apart, question b does not.
    model = cb.Model([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5], [0.5, 0.5]])
    found = cb.compare_teachers(
        model, 0, teachers="active", questions="aabb", num_rounds=1, num_lessons=400, rng=1
    )
    # One answer to a: 0.9 with probability 0.9 and 0.1 with probability 0.1.
    assert found.result("active", "BI").beliefs[1] == pytest.approx(0.82, abs=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"teachers": "magic"}, "no teacher called 'magic'"),
        ({"teachers": "active"}, "which data answer which question"),
        ({"teachers": "active", "questions": "ab"}, "2 questions were given for 4 data"),
        ({"level": 1.0}, "level is 1.0"),
        ({"num_rounds": 0}, "num_rounds"),
    ],
)
def test_bad_input_gets_one_clear_error(options, message):
    with pytest.raises(cb.CobayesError, match=message):
        cb.compare_teachers(random_model(0), 0, **options)


def test_a_misspelt_teacher_is_recognised():
    with pytest.raises(cb.CobayesError, match="did you mean 'optimal'"):
        cb.compare_teachers("example:M_1", 0, teachers=["optmal"])


def test_an_optimum_that_is_not_proved_is_explained_below_the_table():
    found = cb.compare_teachers("example:M_1", 0, teachers="optimal", learners=["BI"], rng=1)
    assert found.notes() == []
    open_ended = replace(found, results=(replace(found.results[0], is_proved=False),))
    assert "<=" in repr(open_ended)
    assert repr(open_ended).endswith("was too large to be finished")
