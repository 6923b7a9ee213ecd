"""What atomic measures are made of: expectations of functions, and data that nobody expects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.theory import atoms as atoms_module

# The same function of one belief, and of a table of beliefs.
PAIRS = [
    (lambda b: b[0] ** 2, lambda b: b[:, 0] ** 2),
    (lambda b: b[-1], lambda b: b[:, -1]),
    (lambda b: b.max(), lambda b: b.max(axis=1)),
    (lambda b: b**3, lambda b: b[:, :] ** 3),
    (lambda b: float(b[0] > 0.3), lambda b: (b[:, 0] > 0.3).astype(float)),
    (lambda b: np.outer(b, b), lambda b: b[:, :, None] * b[:, None, :]),
    (lambda b: b - b.max(), lambda b: b - b.max(axis=1, keepdims=True)),
    (lambda b: np.sort(b, axis=0)[0], lambda b: np.sort(b, axis=1)[:, 0]),
]


def random_measure(num_atoms, num_hypotheses, seed=0):
    rng = np.random.default_rng(seed)
    beliefs = rng.dirichlet(np.ones(num_hypotheses), size=num_atoms)
    return cb.AtomicMeasure.from_atoms(rng.dirichlet(np.ones(num_atoms)), beliefs)


def plain_sum(measure, function):
    return sum(w * np.asarray(function(b)) for w, b in zip(*atoms(measure), strict=True))


def atoms(measure):
    return measure.weights, measure.beliefs


def test_as_many_atoms_as_hypotheses_are_not_taken_for_each_other():
    rule = cb.SCBI([[0.5, 0.2, 0.2], [0.3, 0.5, 0.2], [0.2, 0.3, 0.6]])
    measure = cb.AtomicMeasure.at([0.2, 0.3, 0.5]).push(rule, 1)
    assert measure.beliefs.shape == (3, 3)
    expected = measure.weights @ measure.beliefs[:, 0] ** 2
    assert measure.expect(lambda belief: belief[0] ** 2) == pytest.approx(expected, rel=1e-14)
    assert measure.expect(lambda belief: belief[:, 0] ** 2) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("pair", PAIRS)
@given(num_atoms=st.integers(1, 6), num_hypotheses=st.integers(1, 6), seed=st.integers(0, 9))
@settings(max_examples=25)
def test_functions_of_one_belief_and_of_all_have_the_same_expectation(
    pair, num_atoms, num_hypotheses, seed
):
    measure = random_measure(num_atoms, num_hypotheses, seed)
    expected = plain_sum(measure, pair[0])
    for function in pair:
        np.testing.assert_allclose(measure.expect(function), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("pair", PAIRS)
def test_many_atoms_change_no_expectation(pair):
    measure = random_measure(atoms_module.PROBES + 805, 3)
    expected = plain_sum(measure, pair[0])
    for function in pair:
        np.testing.assert_allclose(measure.expect(function), expected, rtol=1e-11)


def test_one_call_serves_many_atoms_when_the_function_goes_row_by_row():
    measure = random_measure(20_000, 3)
    calls = []

    def function(beliefs):
        calls.append(beliefs.shape)
        return beliefs[..., 0] * beliefs[..., 1]

    expected = measure.weights @ (measure.beliefs[:, 0] * measure.beliefs[:, 1])
    assert measure.expect(function) == pytest.approx(expected, rel=1e-12)
    assert calls.count((20_000, 3)) == 1
    assert len(calls) < 300


def test_a_function_that_mixes_atoms_when_called_at_once_is_called_for_each():
    measure = random_measure(atoms_module.PROBES + 900, 3)

    def function(belief):  # a table has another maximum
        return np.where(belief.max() > 0.99, belief[..., 0], belief[..., 1])

    assert measure.expect(function) == pytest.approx(plain_sum(measure, function), rel=1e-12)


def test_logarithms_are_handed_over_one_belief_at_a_time_as_well():
    measure = random_measure(3, 3)
    expected = measure.weights @ (measure.log_beliefs[:, 0] - measure.log_beliefs[:, 1])
    assert measure.expect(lambda logs: logs[0] - logs[1], log=True) == pytest.approx(expected)
    assert measure.expect(lambda logs: logs[:, 0] - logs[:, 1], log=True) == pytest.approx(expected)


def test_functions_that_give_no_numbers_are_explained():
    measure = random_measure(3, 3)
    with pytest.raises(cb.CobayesError, match="for one belief, an array of shape"):
        measure.expect(lambda belief: belief[7])
    with pytest.raises(cb.CobayesError, match="for one belief, an array of shape"):
        measure.expect(lambda beliefs: beliefs[:, :].sum(axis=0))
    with pytest.raises(cb.CobayesError, match="expected numbers"):
        measure.expect(lambda belief: "high" if belief[0] > 0.5 else "low")
    with pytest.raises(cb.CobayesError, match="different shapes"):
        measure.expect(lambda belief: belief[belief < belief.max()][: int(10 * belief[0])])
    with pytest.raises(KeyError):  # an error of the user's own stays what it is
        measure.expect(lambda _: {}["missing"])


def test_a_datum_that_an_atom_excludes_is_named():
    rule = cb.BI(cb.Model([[1.0, 0.0], [1.0, 1.0]], ["red", "blue"], ["A", "B"]))
    certain = cb.AtomicMeasure.at([0.0, 1.0])
    with pytest.raises(cb.CobayesError, match="datum 'red' is excluded"):
        certain.push_data(rule)
    expected = certain.push_data(rule, "predictive")
    assert expected.beliefs.tolist() == [[0.0, 1.0]]
