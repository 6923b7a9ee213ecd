"""Bounds on the success rate that follow from the priors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobayes.errors import CobayesError
from cobayes.stability import (
    conjectured_success,
    prior_distance,
    success_bounds,
    two_hypothesis_success,
)

priors = st.integers(2, 6).flatmap(
    lambda m: st.tuples(
        *[
            st.lists(st.floats(0.01, 1.0), min_size=m, max_size=m).map(
                lambda values: np.array(values) / sum(values)
            )
            for _ in range(2)
        ]
    )
)


@given(priors)
def test_bounds_are_ordered_and_meet_at_equal_priors_on_the_truth(pair):
    own, theirs = pair
    bounds = success_bounds(own, theirs, 0)
    assert 0.0 <= bounds[0] <= bounds[1] <= 1.0
    assert success_bounds(own, own, 0)[1] == 1.0


@given(priors)
def test_total_variation_is_half_of_l1_and_the_conjectures_are_ordered(pair):
    own, theirs = pair
    assert prior_distance(own, theirs, "tv") == 0.5 * prior_distance(own, theirs, "l1")
    # l1 >= euclidean and, on the simplex, tv >= euclidean / sqrt(2).
    assert conjectured_success(own, theirs, 0, "l1") <= conjectured_success(own, theirs, 0) + 1e-12
    assert prior_distance(own, theirs, "tv") >= prior_distance(own, theirs) / np.sqrt(2.0) - 1e-12


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_two_hypotheses_attain_the_upper_bound_and_keep_the_conjecture(p, q):
    own, theirs = [p, 1.0 - p], [q, 1.0 - q]
    exact = two_hypothesis_success(own, theirs, 0)
    assert exact == pytest.approx(success_bounds(own, theirs, 0)[1])
    for distance in ("euclidean", "l1", "tv"):
        assert exact >= conjectured_success(own, theirs, 0, distance) - 1e-12


def test_labels_work_in_mappings():
    bounds = success_bounds({"a": 0.4, "b": 0.6}, {"b": 0.7, "a": 0.3}, "a")
    assert bounds[1] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: success_bounds([0.0, 1.0], [0.5, 0.5], 0), "teaching is impossible"),
        (lambda: success_bounds([0.5, 0.5], [0.5, 0.25, 0.25], 0), "shape"),
        (lambda: two_hypothesis_success([0.2, 0.3, 0.5], [0.2, 0.3, 0.5], 0), "3 hypotheses"),
        (lambda: prior_distance([[0.5]], [0.5, 0.5]), "equal last axes"),
        (lambda: conjectured_success([0.5, 0.5], [0.5, 0.5], 0, "hamming"), "hamming"),
    ],
)
def test_bad_input_gets_an_error_that_says_why(call, message):
    with pytest.raises(CobayesError, match=message):
        call()


@pytest.mark.parametrize(
    "prior",
    [
        [0.5 + 1j, 0.5],
        np.ma.array([0.5, 0.5], mask=[False, True]),
        [10**400, 1],
        [[0.5], [0.5, 0.5]],
        ["a", 0.5],
    ],
    ids=["complex", "masked", "huge integer", "ragged", "text"],
)
def test_a_prior_that_is_not_made_of_real_numbers_is_refused(prior):
    for pair in ((prior, [0.5, 0.5]), ([0.5, 0.5], prior)):
        with pytest.raises(CobayesError):
            success_bounds(*pair, 0)
        with pytest.raises(CobayesError):
            prior_distance(*pair)
