"""Sets of data, shown together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb

MODEL = cb.Model(np.random.default_rng(1).uniform(0.05, 1.0, (5, 3)), "abcde", "xyz")


def test_sets_of_size_one_equal_singles():
    assert cb.sets_of(MODEL, 1) == MODEL


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_a_bayesian_learner_of_a_set_has_seen_its_members(seed, size):
    # Up to the weights of the sets of each hypothesis, which the learner divides by.
    model = cb.Model(np.random.default_rng(seed).uniform(0.05, 1.0, (5, 3)))
    sets = cb.sets_of(model, size)
    assert sets.num_data == len({frozenset(label.split(" + ")) for label in sets.data})
    row = [model.datum_index(name) for name in sets.data[-1].split(" + ")]
    np.testing.assert_allclose(sets.matrix[-1], model.matrix[row].prod(axis=0))


def test_too_many_sets_are_refused_with_their_number():
    with pytest.raises(cb.CobayesError, match=r"there are [0-9,]+ sets of 4") as found:
        cb.sets_of(np.ones((1000, 4)) + np.eye(1000)[:, :4], 4)
    assert "plan_lesson" in str(found.value)
    with pytest.raises(cb.CobayesError, match="no sets of 6 different data"):
        cb.sets_of(MODEL, 6)


def test_products_that_vanish_are_an_error_and_not_a_zero():
    with pytest.raises(cb.CobayesError, match="leave the range of floating point"):
        cb.sets_of([[1e-200, 1.0], [1e-200, 1.0], [1.0, 1.0]], 2)
