"""Teachers against each other, for learners of several rules."""

from dataclasses import replace

import numpy as np
import pytest

import cobayes as cb
from cobayes.lessons.teachers import TEACHERS


def random_model(seed, n=4, m=3):
    return cb.Model(np.random.default_rng(seed).uniform(0.02, 1.0, (n, m)))


def test_every_teacher_is_compared_with_every_learner():
    found = cb.lessons.compare_teachers(random_model(1), 1, num_rounds=4, num_lessons=20, rng=0)
    assert found.teachers == tuple(TEACHERS)
    assert found.learners == ("BI", "Pragmatic, depth 1", "SCBI")
    assert len(found.to_dataframe()) == len(TEACHERS) * 3
    assert all(len(result.beliefs) == 5 for result in found.results)
    assert "Rounds until belief in '1' is 0.95" in repr(found)
    assert "<th>SCBI learner</th>" in found._repr_html_()
    with pytest.raises(cb.CobayesError, match="were not compared"):
        found.result("nobody", "BI")


def test_the_same_seed_gives_the_same_table_whichever_teachers_are_asked_for():
    model = random_model(2)
    everything = cb.lessons.compare_teachers(model, 0, num_rounds=4, num_lessons=30, rng=5)
    one = cb.lessons.compare_teachers(
        model, 0, teachers="SCBI", num_rounds=4, num_lessons=30, rng=5
    )
    np.testing.assert_array_equal(
        one.result("SCBI", "BI").beliefs, everything.result("SCBI", "BI").beliefs
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"teachers": "magic"}, "no teacher called 'magic'"),
        ({"teachers": []}, "teachers has 0 items"),
        ({"learners": []}, "learners has 0 items"),
        ({"teachers": "active", "questions": "ab"}, "2 questions were given for 4 data"),
        ({"level": 1.0}, "level is 1.0"),
        ({"num_rounds": 0}, "num_rounds"),
    ],
)
def test_bad_input_gets_one_clear_error(options, message):
    with pytest.raises(cb.CobayesError, match=message):
        cb.lessons.compare_teachers(random_model(0), 0, **options)


def test_a_rule_in_place_of_the_matrix_is_refused():
    reader = cb.Pragmatic(random_model(0), 0, literal="truth")
    with pytest.raises(cb.CobayesError, match="a rule was given where a matrix") as found:
        cb.lessons.compare_teachers(reader, 0)
    assert "learners=[rule]" in str(found.value)


def test_a_misspelt_teacher_is_recognised():
    with pytest.raises(cb.CobayesError, match="did you mean 'optimal'"):
        cb.lessons.compare_teachers("example:M_1", 0, teachers=["optmal"])


def test_an_optimum_that_is_not_proved_is_explained_below_the_table():
    found = cb.lessons.compare_teachers(
        "example:M_1", 0, teachers="optimal", learners=["BI"], rng=1
    )
    assert found.notes() == []
    open_ended = replace(found, results=(replace(found.results[0], is_proved=False),))
    assert "<=" in repr(open_ended)
    assert repr(open_ended).endswith("was too large to be finished")


def test_entries_above_one_are_no_answers():
    counts = cb.Model([[3, 1], [1, 3]])
    found = cb.lessons.compare_teachers(counts, 0, num_rounds=2, num_lessons=5, rng=0)
    assert "active" not in found.teachers
    assert "active is left out: entries above 1" in repr(found)
    with pytest.raises(cb.CobayesError, match="'active' cannot be compared here: entries above 1"):
        cb.lessons.compare_teachers(counts, 0, teachers="active")


def test_learners_of_one_name_are_told_apart():
    model = random_model(4)
    learners = ["bi", cb.Pragmatic(model, 1), cb.Pragmatic(model, 3), cb.BI(model)]
    found = cb.lessons.compare_teachers(
        model, 0, teachers="greedy", learners=learners, num_rounds=2, num_lessons=5
    )
    assert found.learners == ("BI", "Pragmatic, depth 1", "Pragmatic, depth 3", "BI (4)")


def test_a_walker_that_slips_is_compared_by_many_lessons():
    world = cb.GridWorld.with_goals_on_top(5, 3, 2, 0.5, slip=0.4)
    found = cb.lessons.compare_teachers(world, "A", num_rounds=6, num_lessons=30, rng=1)
    assert found.teachers == ("random", "truthful", "literal", "SCBI", "likeliest")
    needed = found.result("likeliest", "BI").rounds_needed
    assert needed.counts.sum() + needed.num_unsure == 30
    assert "greedy is left out: in this task the state after a datum is random" in repr(found)
