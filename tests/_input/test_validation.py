"""Checks of arguments."""

from fractions import Fraction

import numpy as np
import pytest

import cobayes as cb
from cobayes._input.validation import items, number_between, one_of, whole_number
from cobayes.errors import CobayesError


@pytest.mark.parametrize("value", [10**400, -(10**400), Fraction(10**400), float("nan"), "x", True])
def test_a_number_out_of_bounds_is_an_error_however_large(value):
    with pytest.raises(CobayesError, match="expected a number strictly between 0 and 1"):
        number_between(value, "epsilon", 0.0, 1.0)


def test_bounds_are_allowed_where_they_are_closed():
    assert number_between(1, "level", 0.0, 1.0, closed="high") == 1.0
    with pytest.raises(CobayesError, match=r"between 0 and 1 \(1 allowed\)"):
        number_between(0, "level", 0.0, 1.0, closed="high")


@pytest.mark.parametrize("value", [1.0, "3", True, None, 0])
def test_counts_are_integers_of_at_least_the_smallest_allowed(value):
    with pytest.raises(CobayesError, match="expected an integer >= 1"):
        whole_number(value, "num_rounds", 1)


def test_numpy_integers_are_counts():
    assert whole_number(np.int64(3), "num_rounds", 1) == 3


def test_the_error_about_a_percentage_says_how_to_write_it():
    with pytest.raises(CobayesError, match=r"level is 95.*\n.*write 0\.95 for 95 %"):
        number_between(95, "level", 0.0, 1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cb.SCBI(np.eye(2) + 0.1).update([[0.5, 0.5], [1.0]], 0),
        lambda: cb.moving_costs(np.eye(2) + 0.1, np.ones((2, 2)) * 1j),
        lambda: cb.people.exceedance([[1.0, 2.0], [3.0]]),
        lambda: cb.GridWorld(10**400, 3, (0, 0), [(1, 1), (2, 2)], 0.5),
        lambda: cb.Pragmatic(np.eye(2) + 0.1, 10**9),
        lambda: cb.people.Family(depth=(10**9,)),
        lambda: cb.Lesson.load("a\0b"),
        lambda: cb.Learner(cb.BI(np.eye(2) + 0.1)).save("a\0b"),
        lambda: cb.studio(np.eye(2) + 0.1).save("a\0b"),
    ],
)
def test_odd_arguments_get_one_clear_error(call):
    with pytest.raises(cb.CobayesError):
        call()


@pytest.mark.parametrize("value", ["row", 3, ["rows"], np.array(["rows"])])
def test_the_error_about_an_unknown_choice_lists_the_known_ones(value):
    with pytest.raises(CobayesError, match=r"axis is .*; expected 'rows', 'columns' or None\."):
        one_of(value, "axis", ("rows", "columns", None))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (3, "names is 3; expected a list of names."),
        (object, "names is of type type; expected a list of names."),
        (["a", 3], "an item of names is 3; expected only names."),
        (["a"], "names has 1 items; expected at least 2."),
    ],
)
def test_a_list_is_checked_item_by_item(values, message):
    with pytest.raises(CobayesError) as found:
        items(values, "names", "names", str, least=2)
    assert found.value.message == message
    assert items(iter("ab"), "names", "names", str, least=2) == ["a", "b"]


STUDY = cb.people.example_study()
MATRIX = [[0.8, 0.3], [0.2, 0.7]]


@pytest.mark.parametrize(
    "call",
    [
        lambda: cb.Model(MATRIX, data=3),
        lambda: cb.limited_to(MATRIX, None),
        lambda: cb.AtomicMeasure.at([0.5, 0.5], hypotheses=2),
        lambda: cb.stability.success_rates(MATRIX, 0, learner_priors=None),
        lambda: cb.success_rate(MATRIX, 0, method=["lessons"]),
        lambda: cb.lessons.compare_teachers(MATRIX, 0, teachers=None),
        lambda: cb.lessons.compare_teachers(MATRIX, 0, learners=3),
        lambda: cb.GridWorld(3, 3, (0, 0), [(2, 2), (0, 2)], 0.5, walls=None),
        lambda: cb.GridWorld.from_text(None),
        lambda: cb.GridWorld.paper(width=10**30),
        lambda: cb.worlds.TabularWorld([[1, 2]], 0, {"a": 1, "b": 2}, 0.5),
        lambda: cb.conjecture.load_certificate(None),
        lambda: cb.conjecture.limit_slope(MATRIX, 0, [0.5, 0.5], "up", num_rounds=1),
        lambda: cb.runs.Experiment("name", ["point"], lambda: {}),
        lambda: cb.runs.find_runs(3),
        lambda: cb.people.fit(*STUDY, confidence="95 %"),
        lambda: cb.people.fit(*STUDY, progress=True),
        lambda: cb.people.recover(1, MATRIX, num_people=1, num_rounds=1),
        lambda: cb.people.simulate({}, MATRIX, num_people=1, num_rounds=1, family="depth 1"),
        lambda: cb.people.informative(MATRIX, "depth 1"),
        lambda: cb.people.informative(MATRIX, given=[]),
        lambda: cb.people.cross_validate(None),
        lambda: cb.people.compare({"all": cb.people.fit(*STUDY, intervals=None)}, num_draws=10),
        lambda: cb.Model.from_dict(None),
        lambda: cb.people.calibration("fit"),
        lambda: cb.people.LogLikelihood(*STUDY, "depth 1"),
        lambda: cb.people.LogLikelihood(*STUDY, cb.people.Family(depth=1))("high"),
        lambda: cb.people.Family(features=["cost"]),
    ],
)
def test_a_value_of_the_wrong_kind_is_a_clear_error(call):
    with pytest.raises(CobayesError, match=r"expected|cannot be read as numbers|memory"):
        call()
