"""Sets of data, shown together."""

import pickle
import re
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cobayes as cb

MODEL = cb.Model(np.random.default_rng(1).uniform(0.05, 1.0, (5, 3)), "abcde", "xyz")


def test_sets_of_size_one_are_the_model_itself():
    assert cb.sets_of(MODEL, 1) == MODEL


@given(st.integers(0, 2**32 - 1), st.integers(2, 3))
def test_a_set_is_possible_if_all_its_members_are(seed, size):
    matrix = (np.random.default_rng(seed).random((6, 3)) < 0.7) * 1.0
    matrix[:size] = 1.0  # every hypothesis allows a set
    matrix[size:, 0] = 1.0  # and every datum has a hypothesis
    found = cb.sets_of(cb.Model(matrix, "abcdef"), size)
    for label, row in zip(found.data, found.matrix, strict=True):
        members = ["abcdef".index(name) for name in label.split(" + ")]
        assert np.array_equal(row > 0.0, (matrix[members] > 0.0).all(axis=0))
    assert found.num_data == comb(6, size)  # the first hypothesis allows them all


def test_sets_that_every_hypothesis_rules_out_are_left_out():
    found = cb.sets_of(cb.Model([[1, 0], [1, 0], [0, 1], [0, 1]], "abcd"), 2)
    assert found.data == ("a + b", "c + d")


def test_a_hypothesis_without_a_set_is_named():
    with pytest.raises(cb.CobayesError, match="hypothesis 'y' allows 1 datum, so no set of 2"):
        cb.sets_of(cb.Model([[1, 0], [1, 0], [1, 1]], "abc", "xy"), 2)


def test_a_lesson_on_sets_is_saved_and_continued(tmp_path):
    rule = cb.SCBI(cb.sets_of(MODEL, 2))

    def lesson(num_rounds):
        return cb.run_lesson(cb.Teacher(rule, 0, rng=5), cb.Learner(rule), num_rounds)

    lesson(2).save(tmp_path / "lesson.json")
    again = cb.Lesson.load(tmp_path / "lesson.json").extend(2)
    assert np.array_equal(again.log_beliefs, lesson(4).log_beliefs)


def test_sets_are_pickled_as_a_model():
    model = cb.sets_of(MODEL, 2)
    assert pickle.loads(pickle.dumps(model)) == model


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_the_entry_of_a_set_is_the_product_of_its_members(seed, size):
    model = cb.Model(np.random.default_rng(seed).uniform(0.05, 1.0, (5, 3)))
    sets = cb.sets_of(model, size)
    assert sets.num_data == len({frozenset(label.split(" + ")) for label in sets.data})
    row = [model.datum_index(name) for name in sets.data[-1].split(" + ")]
    np.testing.assert_allclose(sets.matrix[-1], model.matrix[row].prod(axis=0))


def test_too_many_sets_are_refused_with_their_number():
    with pytest.raises(cb.CobayesError, match=r"there are [0-9,]+ sets of 4") as found:
        cb.sets_of(np.ones((1000, 4)) + np.eye(1000)[:, :4], 4)
    assert "plan_lesson" in str(found.value)


def test_the_greedy_set_that_the_error_names_can_be_built():
    matrix = np.random.default_rng(2).uniform(0.05, 1.0, (300, 4))
    with pytest.raises(cb.CobayesError) as found:
        cb.sets_of(matrix, 4)
    call = re.search(r"plan_lesson\(.*\d\)", str(found.value))
    assert call is not None
    names = {name: getattr(cb, name) for name in ("plan_lesson", "SCBI", "without_repeats")}
    plan = eval(call.group(), {**names, "matrix": matrix, "hypothesis": 1})
    assert len(set(plan.data.tolist())) == 4
    assert plan.beliefs[-1, 1] > 0.9


def test_sets_larger_than_the_data_are_refused():
    with pytest.raises(cb.CobayesError, match="size of the sets is 6; expected at most 5"):
        cb.sets_of(MODEL, 6)


def test_products_beyond_float64_are_an_error():
    with pytest.raises(cb.CobayesError, match="out of the range of float64"):
        cb.sets_of([[1e-200, 1.0], [1e-200, 1.0], [1.0, 1.0]], 2)
    with pytest.raises(cb.CobayesError, match="out of the range of float64"):
        cb.sets_of([[1e200], [1e200]], 2)
    with pytest.raises(cb.CobayesError, match="out of the range of float64"):
        cb.sets_of([[1e200, 1.0], [1e200, 1.0], [0.0, 1.0], [1.0, 1.0]], 3)
