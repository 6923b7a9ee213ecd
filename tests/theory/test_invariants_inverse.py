"""The inverse of an update."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.rules.response import add_evidence
from cobayes.theory.invariants import inverse_update, log_inverse

seeds = st.integers(0, 2**32 - 1)
RULES = [cb.BI, cb.SCBI]


def random_case(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 7, size=2)
    return rng.exponential(size=(n, m)) + 0.01, rng.dirichlet(np.ones(m)), rng


@pytest.mark.parametrize("kind", RULES)
@given(seed=seeds)
@settings(max_examples=50)
def test_the_inverse_undoes_the_update_and_the_update_the_inverse(kind, seed):
    matrix, belief, rng = random_case(seed)
    rule = kind(matrix)
    d = int(rng.integers(len(matrix)))
    there_and_back = inverse_update(rule, rule.update(belief, d), d)
    np.testing.assert_allclose(there_and_back, belief, rtol=1e-9, atol=1e-15)
    back_and_there = rule.update(inverse_update(rule, belief, d), d)
    np.testing.assert_allclose(back_and_there, belief, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("kind", RULES)
def test_the_inverse_reaches_far_below_what_floats_can_hold(kind):
    # One datum moves a log-odds by a bounded amount, so -2000 stays far below exp(-745).
    rule = kind([[1.0, 2.0, 3.0], [4.0, 1.0, 1.0]])
    logs = np.array([0.0, -2000.0, -1.0])
    logs -= np.logaddexp.reduce(logs)
    after = add_evidence(logs, rule.respond(logs).log_likelihood[1])
    assert after[1] < -1900.0
    np.testing.assert_allclose(log_inverse(rule, after, 1), logs, rtol=1e-12, atol=1e-12)


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
        by_definition = [rule.update(belief, d)[h] / (n * belief[h]) for d in range(n)]
        np.testing.assert_allclose(rule.teach(belief, h), by_definition, rtol=1e-9)


def test_labels_are_understood_and_bad_beliefs_refused():
    rule = cb.SCBI(cb.Model([[1.0, 2.0], [3.0, 1.0]], ["up", "down"], ["A", "B"]))
    np.testing.assert_array_equal(
        inverse_update(rule, {"B": 0.4, "A": 0.6}, "down"), inverse_update(rule, [0.6, 0.4], 1)
    )
    with pytest.raises(cb.CobayesError, match="no datum called 'left'"):
        inverse_update(rule, [0.5, 0.5], "left")
    with pytest.raises(cb.CobayesError, match="sums to"):
        inverse_update(rule, [0.5, 0.2], 0)


def test_a_subclass_has_its_parents_inverse_unless_it_answers_differently():
    class Renamed(cb.SCBI):
        """Answers as SCBI does."""

    class Own(cb.SCBI):
        """A custom response."""

        def respond(self, log_belief):
            return super().respond(log_belief)

    matrix = [[1.0, 2.0], [3.0, 1.0]]
    np.testing.assert_array_equal(
        inverse_update(Renamed(matrix), [0.3, 0.7], 0),
        inverse_update(cb.SCBI(matrix), [0.3, 0.7], 0),
    )
    with pytest.raises(cb.CobayesError, match="not known"):
        inverse_update(Own(matrix), [0.5, 0.5], 0)


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("belief", [[0.3, 0.7], [0.0, 1.0]])
def test_on_limited_data_the_inverse_undoes_the_update(kind, belief):
    rule = kind(cb.limited_to([[0.8, 0.3], [0.2, 0.7], [0.5, 0.9]], [0, 1]))
    np.testing.assert_allclose(inverse_update(rule, rule.update(belief, 0), 0), belief, rtol=1e-9)


@pytest.mark.parametrize("kind", RULES)
def test_with_zeros_the_inverse_exists_where_nothing_is_excluded(kind):
    rule = kind([[1.0, 2.0, 1.0], [3.0, 1.0, 0.0], [0.0, 1.0, 2.0]])
    belief = np.array([0.3, 0.3, 0.4])
    after = rule.update(belief, 0)
    np.testing.assert_allclose(inverse_update(rule, after, 0), belief, rtol=1e-9)
    with pytest.raises(cb.CobayesError, match="several beliefs"):
        inverse_update(rule, rule.update(belief, 1), 1)
