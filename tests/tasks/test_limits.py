"""Data that may be shown, and others that may not."""

import numpy as np
import pytest

import cobayes as cb

MODEL = cb.Model(np.random.default_rng(1).uniform(0.05, 1.0, (5, 3)), data="abcde")


@pytest.mark.parametrize("kind", [cb.BI, cb.SCBI, lambda task: cb.Pragmatic(task, 2)])
def test_nothing_else_is_drawn_or_planned(kind):
    rule = kind(cb.limited_to(MODEL, ["b", 4]))
    drawn = cb.run_lesson(cb.Teacher(rule, 1, rng=3), cb.Learner(cb.BI(MODEL)), 12)
    assert set(drawn.data_labels) == {"b", "e"}
    planned = cb.plan_lesson(rule, 1, 4, learner_rule=cb.BI(MODEL))
    assert set(planned.data_labels) <= {"b", "e"}


def test_without_repeats_it_ends_with_the_last_of_them():
    rule = cb.BI(cb.without_repeats(cb.limited_to(MODEL, "bde")))
    lesson = cb.plan_lesson(rule, 0, 3, learner_rule=cb.BI(MODEL))
    assert sorted(lesson.data_labels) == ["b", "d", "e"]
    assert cb.plan_lesson(rule, 0, 4, learner_rule=cb.BI(MODEL)).num_rounds == 3


def test_a_limit_to_all_data_changes_no_lesson():
    lessons = [
        cb.run_lesson(cb.Teacher(cb.SCBI(task), 1, rng=3), cb.Learner(cb.SCBI(task)), 5)
        for task in (MODEL, cb.limited_to(MODEL, "abcde"))
    ]
    np.testing.assert_allclose(lessons[0].beliefs, lessons[1].beliefs, rtol=1e-12)


def test_a_lesson_on_it_is_saved(tmp_path):
    rule = cb.SCBI(cb.limited_to(MODEL, "bd"))
    lesson = cb.run_lesson(cb.Teacher(rule, 1, rng=3), cb.Learner(rule), 3)
    lesson.save(tmp_path / "lesson.npz")
    assert set(cb.Lesson.load(tmp_path / "lesson.npz").extend(9).data_labels) == {"b", "d"}


def test_data_are_checked():
    with pytest.raises(cb.CobayesError, match="no datum called 'z'"):
        cb.limited_to(MODEL, "az")
    with pytest.raises(cb.CobayesError, match="no datum may be shown"):
        cb.limited_to(MODEL, [])
