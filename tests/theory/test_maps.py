"""T_d, its inverse, and tau."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.theory.maps import inverse_update, teaching_map, update_map

seeds = st.integers(0, 2**32 - 1)
RULES = [cb.BI, cb.SCBI]


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 7, size=2)
    return rng.exponential(size=(n, m)) + 0.01, rng.dirichlet(np.ones(m)), rng


@pytest.mark.parametrize("kind", RULES)
@given(seed=seeds)
@settings(max_examples=50, deadline=None)
def test_the_inverse_undoes_the_update_and_the_update_the_inverse(kind, seed):
    matrix, belief, rng = random_case(seed)
    rule = kind(matrix)
    forward = update_map(rule, int(rng.integers(len(matrix))))
    np.testing.assert_allclose(forward.inverse(forward(belief)), belief, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(forward(forward.inverse(belief)), belief, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("kind", RULES)
def test_the_inverse_reaches_far_below_what_floats_can_hold(kind):
    # One datum moves a log-odds by a bounded amount, so -2000 stays far below exp(-745).
    forward = update_map(kind([[1.0, 2.0, 3.0], [4.0, 1.0, 1.0]]), 1)
    logs = np.array([0.0, -2000.0, -1.0])
    logs -= np.logaddexp.reduce(logs)
    after = forward.log_map(logs)
    assert after[1] < -1900.0
    np.testing.assert_allclose(forward.log_inverse(after), logs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", RULES)
def test_a_vertex_is_a_fixed_point_and_a_face_stays_a_face(kind):
    rule = kind([[1.0, 2.0, 3.0], [4.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
    assert inverse_update(rule, [0.0, 1.0, 0.0], 0).tolist() == [0.0, 1.0, 0.0]
    before = inverse_update(rule, [0.4, 0.0, 0.6], 2)
    assert before[1] == 0.0
    np.testing.assert_allclose(rule.update(before, 2), [0.4, 0.0, 0.6], rtol=1e-10, atol=0)


def test_tau_is_the_rows_of_all_updates_at_the_taught_hypothesis():
    matrix, belief, _ = random_case(3)
    rule = cb.SCBI(matrix)
    n = len(matrix)
    for h in range(matrix.shape[1]):
        by_definition = [update_map(rule, d)(belief)[h] / (n * belief[h]) for d in range(n)]
        np.testing.assert_allclose(teaching_map(rule, h)(belief), by_definition, rtol=1e-9)


def test_labels_are_understood_and_shown():
    rule = cb.SCBI(cb.Model([[1.0, 2.0], [3.0, 1.0]], ["up", "down"], ["A", "B"]))
    assert update_map(rule, "down").datum == 1
    assert "'down'" in repr(update_map(rule, "down"))
    assert "'B'" in repr(teaching_map(rule, "B"))
    with pytest.raises(cb.CobayesError, match="no datum called 'left'"):
        update_map(rule, "left")


def test_bad_beliefs_are_refused():
    forward = update_map(cb.SCBI([[1.0, 2.0], [3.0, 1.0]]), 0)
    with pytest.raises(cb.CobayesError, match="sums to"):
        forward.inverse([0.5, 0.2])
    for bad in ([0.0], [np.nan, 0.0], [np.inf, 0.0], [-np.inf, -np.inf]):
        with pytest.raises(cb.CobayesError, match="log-belief"):
            forward.log_map(bad)


def test_a_rule_of_ones_own_has_no_known_inverse():
    class Own(cb.SCBI):
        pass

    with pytest.raises(cb.CobayesError, match="not known"):
        inverse_update(Own([[1.0, 2.0], [3.0, 1.0]]), [0.5, 0.5], 0)
