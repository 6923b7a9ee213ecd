"""Atomic measures and the operator Psi."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.theory.measures import AtomicMeasure

seeds = st.integers(0, 2**32 - 1)
RULES = [cb.BI, cb.SCBI]


def random_case(seed, n=None, m=None):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(2, 6))
    m = m or int(rng.integers(2, 6))
    return rng.exponential(size=(n, m)) + 0.01, rng.dirichlet(np.ones(m)), rng


def sorted_atoms(measure):
    order = np.lexsort(measure.beliefs.round(9).T)
    return measure.weights[order], measure.beliefs[order]


@pytest.mark.parametrize("kind", RULES)
@given(seed=seeds)
@settings(max_examples=30)
def test_one_round_is_the_sum_over_data_of_equation_4(kind, seed):
    matrix, belief, rng = random_case(seed)
    rule = kind(matrix)
    h = int(rng.integers(matrix.shape[1]))
    after = AtomicMeasure.at(belief).push(rule, h)
    np.testing.assert_allclose(after.weights, rule.teach(belief, h), rtol=1e-9)
    np.testing.assert_allclose(after.beliefs, rule.posteriors(belief), rtol=1e-9)


@pytest.mark.parametrize("kind", RULES)
@given(seed=seeds)
@settings(max_examples=20)
def test_psi_preserves_convex_combinations(kind, seed):
    matrix, one, rng = random_case(seed)
    other = rng.dirichlet(np.ones(matrix.shape[1]))
    rule = kind(matrix)
    parts = [AtomicMeasure.at(one).push(rule, 0), AtomicMeasure.at(other)]
    weights = np.concatenate([0.3 * parts[0].weights, 0.7 * parts[1].weights])
    whole = AtomicMeasure(weights, np.concatenate([part.log_beliefs for part in parts]))
    whole, apart = whole.push(rule, 0), [part.push(rule, 0) for part in parts]
    expected = np.concatenate([0.3 * apart[0].weights, 0.7 * apart[1].weights])
    np.testing.assert_allclose(whole.weights, expected, rtol=1e-13)
    beliefs = np.concatenate([part.log_beliefs for part in apart])
    np.testing.assert_allclose(whole.log_beliefs, beliefs, rtol=1e-13)


@given(seed=seeds)
@settings(max_examples=20)
def test_teaching_is_uniform_data_conditioned_on_where_the_belief_ends(seed):
    """E_h[f(theta_k)] = E_U[f(theta_k) theta_k(h)] / theta_0(h): a Doob transform."""
    matrix, prior, _ = random_case(seed, n=3)
    rule = cb.SCBI(matrix)
    taught = uniform = AtomicMeasure.at(prior)
    for _ in range(3):
        taught, uniform = taught.push(rule, 0), uniform.push_data(rule)

    def function(beliefs):
        return np.cos(5.0 * beliefs).sum()

    conditioned = uniform.expect(lambda b: function(b) * b[0]) / prior[0]
    assert taught.expect(function) == pytest.approx(conditioned, rel=1e-9, abs=1e-9)


def test_push_data_follows_the_given_distribution_and_leaves_out_impossible_data():
    matrix, belief, _ = random_case(7, n=3)
    rule = cb.SCBI(matrix)
    after = AtomicMeasure.at(belief).push_data(rule, [0.25, 0.0, 0.75])
    np.testing.assert_allclose(after.weights, [0.25, 0.75])
    np.testing.assert_allclose(after.beliefs, rule.posteriors(belief)[[0, 2]], rtol=1e-10)


@pytest.mark.parametrize("kind", RULES)
def test_the_order_of_the_data_changes_nothing(kind):
    matrix, belief, rng = random_case(11, n=4, m=3)
    shuffled = matrix[rng.permutation(4)]
    one = sorted_atoms(AtomicMeasure.at(belief).push(kind(matrix), 1).push(kind(matrix), 1))
    two = sorted_atoms(AtomicMeasure.at(belief).push(kind(shuffled), 1).push(kind(shuffled), 1))
    for own, other in zip(one, two, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-9)


def test_moments_agree_with_plain_sums():
    _, _, rng = random_case(5)
    weights, beliefs = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(3), size=6)
    measure = AtomicMeasure.from_atoms(weights, beliefs)
    mean = sum(w * b for w, b in zip(weights, beliefs, strict=True))
    variance = sum(w * (b - mean) ** 2 for w, b in zip(weights, beliefs, strict=True))
    np.testing.assert_allclose(measure.mean(), mean, rtol=1e-14)
    np.testing.assert_allclose(measure.std(), np.sqrt(variance), rtol=1e-12)
    second = measure.expect(lambda b: np.outer(b, b))
    np.testing.assert_allclose(np.diag(second), weights @ beliefs**2, rtol=1e-13)


def test_a_measure_counts_its_atoms_and_numbers_hypotheses_without_labels():
    found = AtomicMeasure.from_atoms([0.25, 0.0, 0.75], [[0.5, 0.5], [0.1, 0.9], [0.2, 0.8]])
    assert found.num_atoms == len(found) == 2
    assert "0: 0.275, 1: 0.725" in repr(found)


def test_a_single_belief_has_no_spread_at_all():
    assert (AtomicMeasure.at([0.1, 0.2, 0.7]).std() == 0.0).all()


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_merging_under_bi_leaves_one_atom_for_each_count_of_the_data(rounds):
    matrix, belief, _ = random_case(13, n=3, m=4)
    rule = cb.BI(matrix)
    every = merged = AtomicMeasure.at(belief)
    for _ in range(rounds):
        every, merged = every.push(rule, 2), merged.push(rule, 2).merged()
    assert len(every) == 3**rounds
    assert len(merged) == math.comb(3 + rounds - 1, rounds)
    assert merged.weights.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(merged.mean(), every.mean(), rtol=1e-12)
    np.testing.assert_allclose(merged.std(), every.std(), rtol=1e-9)


def test_merging_keeps_apart_what_differs_and_joins_what_straddles_any_grid():
    step = 1e-10
    beliefs = [[0.5 - k * step, 0.5 + k * step] for k in (-1, 0, 1)]
    measure = AtomicMeasure.from_atoms([0.25, 0.25, 0.5], beliefs)
    assert len(measure.merged(1e-9)) == 1
    assert len(measure.merged(1e-11)) == 3
    assert measure.merged(1e-9).weights.tolist() == [1.0]
    # Ruled out is not the same as unlikely, and equals itself.
    corner = AtomicMeasure.from_atoms([0.2, 0.3, 0.5], [[0, 1], [0, 1], [1e-300, 1.0]])
    assert sorted(corner.merged().weights) == [0.5, 0.5]


@pytest.mark.parametrize("kind", RULES)
def test_tiny_beliefs_stay_exact(kind):
    # A quotient of beliefs changes by the quotient of likelihoods, far below 1e-308 as well.
    rule = kind([[1.0, 2.0], [3.0, 1.0]])
    logs = np.array([[0.0, -5000.0]])
    after = AtomicMeasure(np.ones(1), logs).push(rule, 0)
    likelihood = rule.likelihood([1.0, 0.0])
    odds = after.log_beliefs[:, 1] - after.log_beliefs[:, 0]
    np.testing.assert_allclose(
        odds + 5000.0, np.log(likelihood[:, 1] / likelihood[:, 0]), rtol=0, atol=1e-11
    )
    mean_log_odds = after.expect(lambda b: b[1] - b[0], log=True)
    assert mean_log_odds == pytest.approx(after.weights @ odds, rel=1e-12)


def test_atoms_that_rule_the_taught_hypothesis_out_are_refused_unless_they_weigh_nothing():
    rule = cb.SCBI([[1.0, 2.0], [3.0, 1.0]])
    with pytest.raises(cb.CobayesError, match="teaching is impossible"):
        AtomicMeasure.at([1.0, 0.0]).push(rule, 1)
    mixed = AtomicMeasure.from_atoms([1.0, 0.0], [[0.5, 0.5], [1.0, 0.0]])
    assert len(mixed) == 1
    assert len(mixed.push(rule, 1)) == 2
    # Uniform data ask for no true hypothesis.
    assert AtomicMeasure.at([1.0, 0.0]).push_data(rule).mean().tolist() == [1.0, 0.0]


def test_labels_come_from_the_rule_and_must_agree():
    rule = cb.BI(cb.Model([[1.0, 2.0], [3.0, 1.0]], ["up", "down"], ["A", "B"]))
    after = AtomicMeasure.at([0.5, 0.5]).push(rule, "B")
    assert after.hypotheses == ("A", "B")
    assert list(after.to_dataframe().columns) == ["weight", "A", "B"]
    assert after.to_xarray()["belief"].sel(hypothesis="B").shape == (2,)
    assert "A: " in repr(after)
    named = AtomicMeasure.at({"A": 0.25, "B": 0.75})
    assert named.push(rule, "A").hypotheses == ("A", "B")
    assert named.push(cb.BI(np.ones((2, 2))), 0).hypotheses == ("A", "B")
    assert AtomicMeasure.at([0.5, 0.5], range(2)).push(rule, 0).hypotheses == ("A", "B")
    with pytest.raises(cb.CobayesError, match="measure are 'B', 'A', those of the rule"):
        AtomicMeasure.at({"B": 0.25, "A": 0.75}).push(rule, "A")


def test_bad_measures_are_refused_with_a_reason():
    with pytest.raises(cb.CobayesError, match="needs an array of weights"):
        cb.AtomicMeasure.at([])
    rule = cb.BI(np.ones((2, 3)))
    with pytest.raises(cb.CobayesError, match="2 hypotheses, the rule 3"):
        AtomicMeasure.at([0.5, 0.5]).push(rule, 2)
    with pytest.raises(cb.CobayesError, match="2 hypotheses, the rule 3"):
        AtomicMeasure.at([0.5, 0.5]).push_data(rule)
    with pytest.raises(cb.CobayesError, match=r"sums to 0\.5"):
        AtomicMeasure.from_atoms([0.5], [[0.5, 0.5]])
    with pytest.raises(
        cb.CobayesError, match=r"shape \(2,\); expected 1 number, one for each atom"
    ):
        AtomicMeasure.from_atoms([0.5, 0.5], [[0.5, 0.5]])
    with pytest.raises(cb.CobayesError, match="negative"):
        AtomicMeasure.from_atoms([1.5, -0.5], [[0.5, 0.5], [1.0, 0.0]])
    with pytest.raises(cb.CobayesError, match="expected a distribution over hypotheses"):
        AtomicMeasure.from_atoms([1.0], [0.5, 0.5])
    for table in ([[0.5, 0.5]], np.array([[0.5, 0.5]]), np.log([0.5, 0.5])):
        with pytest.raises(cb.CobayesError, match=r"log-beliefs.*\n.*from_atoms\(weights"):
            AtomicMeasure(np.ones(1), table)
    for bad in (-0.1, 1.0, math.nan):
        with pytest.raises(cb.CobayesError, match="tolerance"):
            AtomicMeasure.at([1.0]).merged(bad)


@pytest.mark.parametrize("bad", ["ab", 5, None, 0.5])
def test_a_belief_that_is_none_is_refused_with_an_example_of_one(bad):
    with pytest.raises(cb.CobayesError, match=r"expected a distribution.*\n.*at\(\[0\.2, 0\.8"):
        AtomicMeasure.at(bad)
    with pytest.raises(cb.CobayesError, match=r"expected a distribution.*\n.*from_atoms\(\["):
        AtomicMeasure.from_atoms([1.0], bad)


def test_arguments_of_a_wrong_kind_get_one_clear_error():
    measure = AtomicMeasure.at([0.5, 0.5])
    with pytest.raises(cb.CobayesError, match=r"BI, without a matrix.*\n.*cobayes\.BI\(matrix\)"):
        measure.push(cb.BI, 0)
    for call in (
        lambda: measure.merged("a"),
        lambda: AtomicMeasure.from_atoms("a", [[0.5, 0.5]]),
        lambda: AtomicMeasure.from_atoms([], []),
    ):
        with pytest.raises(cb.CobayesError):
            call()


def test_a_measure_too_large_for_memory_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr("cobayes.theory.measures.MOST_NUMBERS", 100)
    rule = cb.SCBI(np.random.default_rng(0).exponential(size=(4, 2)))
    measure = AtomicMeasure.at([0.5, 0.5]).push(rule, 0).push(rule, 0)
    with pytest.raises(cb.CobayesError, match="from 16 to 64 atoms"):
        measure.push(rule, 0)


def test_a_measure_cannot_be_changed():
    measure = AtomicMeasure.at([0.5, 0.5])
    with pytest.raises(ValueError, match="read-only"):
        measure.weights[0] = 0.0
    with pytest.raises(AttributeError):
        measure.hypotheses = None


def test_the_number_of_threads_changes_no_bit():
    from cobayes._parallel import set_num_threads

    rule = cb.SCBI(np.random.default_rng(1).exponential(size=(9, 4)))
    results = []
    for threads in (1, 3):
        set_num_threads(threads)
        try:
            measure = AtomicMeasure.at([0.25] * 4)
            for _ in range(4):
                measure = measure.push(rule, 2)
            results.append(measure)
        finally:
            set_num_threads(None)
    assert len(results[0]) == 6561
    np.testing.assert_array_equal(results[0].weights, results[1].weights)
    np.testing.assert_array_equal(results[0].log_beliefs, results[1].log_beliefs)


def _zero_pattern(seed):
    rng = np.random.default_rng(seed)
    while True:
        n, m = rng.integers(2, 6, size=2)
        table = rng.random((n, m)) * (rng.random((n, m)) < 0.6)
        if (table > 0.0).any(axis=0).all() and (table > 0.0).any(axis=1).all():
            return table, rng.dirichlet(np.ones(m)), int(rng.integers(m)), rng


@pytest.mark.parametrize("seed", range(25))
def test_with_zeros_teaching_is_what_the_learner_expects_conditioned(seed):
    # P_h(d_1..d_k) = prod(r'/n) theta_k(h) / theta_0(h), r'/n being what the learner expects.
    table, prior, h, rng = _zero_pattern(seed)
    rule = cb.SCBI(table)
    belief, taught, expected = prior, 1.0, 1.0
    for _ in range(6):
        likelihood = rule.likelihood(belief)
        datum = int(rng.choice(len(table), p=likelihood[:, h] / likelihood[:, h].sum()))
        taught *= likelihood[datum, h]
        expected *= likelihood[datum] @ belief
        belief = rule.update(belief, datum)
    assert taught == pytest.approx(expected * belief[h] / prior[h], rel=1e-10)


@pytest.mark.parametrize("kind", [cb.SCBI, cb.BI])
@pytest.mark.parametrize("seed", range(8))
def test_with_zeros_measures_and_trees_agree(kind, seed):
    table, prior, h, _ = _zero_pattern(seed)
    rule = kind(table)
    measure = cb.AtomicMeasure.at(prior)
    for _ in range(3):
        measure = measure.push(rule, h)
    found = cb.exact_rounds(rule, h, 3, prior)
    np.testing.assert_allclose(found.means[-1], measure.mean(), atol=1e-10)
    np.testing.assert_allclose(found.stds[-1], measure.std(), atol=1e-8)


def test_bi_fed_a_mixture_ends_at_the_closest_column():
    rule = cb.BI([[0.7, 0.2, 0.4], [0.3, 0.8, 0.6]])
    shares = rule.model.normalized() @ np.array([0.5, 0.3, 0.2])
    measure = cb.AtomicMeasure.at([1 / 3, 1 / 3, 1 / 3])
    for _ in range(300):
        measure = measure.push_data(rule, shares).merged()
    divergences = (shares[:, None] * np.log(shares[:, None] / rule.model.normalized())).sum(axis=0)
    assert measure.mean().argmax() == divergences.argmin() == 2
    assert measure.mean()[2] > 0.98
    assert measure.expect(lambda belief: belief.max(axis=-1)) > 0.99


def test_a_function_is_called_for_each_belief_or_its_logarithms():
    measure = cb.AtomicMeasure.from_atoms([0.25, 0.75], [[0.2, 0.8], [0.6, 0.4]])
    assert measure.expect(lambda belief: belief[0]) == pytest.approx(0.5)
    np.testing.assert_allclose(measure.expect(lambda belief: belief), measure.mean())
    turned = measure.weights @ np.exp(1j * measure.beliefs[:, 0])
    assert measure.expect(lambda belief: np.exp(1j * belief[0])) == pytest.approx(turned)
    expected = measure.weights @ (measure.log_beliefs[:, 0] - measure.log_beliefs[:, 1])
    assert measure.expect(lambda logs: logs[0] - logs[1], log=True) == pytest.approx(expected)


def test_the_callers_arrays_stay_writable():
    weights, logs = np.ones(1), np.log([[0.5, 0.5]])
    measure = cb.AtomicMeasure(weights, logs)
    weights[0], logs[0, 0] = 2.0, -1.0
    assert measure.weights[0] == 1.0
    assert measure.beliefs[0, 0] == pytest.approx(0.5)


def test_a_hypothesis_without_a_datum_cannot_be_taught():
    rule = cb.SCBI([[1, 0], [0, 1], [1, 1]], data_prior=[1, 0, 0])
    with pytest.raises(cb.CobayesError, match="allows none of the data"):
        cb.AtomicMeasure.at([0.5, 0.5]).push(rule, 1)


def test_functions_that_give_no_numbers_are_explained():
    measure = cb.AtomicMeasure.from_atoms([0.5, 0.5], [[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]])
    with pytest.raises(cb.CobayesError, match="given one belief, an array of shape"):
        measure.expect(lambda belief: belief[7])
    with pytest.raises(cb.CobayesError, match="expected numbers"):
        measure.expect(lambda belief: "high" if belief[0] > 0.5 else "low")
    with pytest.raises(cb.CobayesError, match="different shapes"):
        measure.expect(lambda belief: belief[belief > 0.25])
    with pytest.raises(KeyError):  # an error of the user's own stays what it is
        measure.expect(lambda _: {}["missing"])


def test_a_datum_that_an_atom_excludes_is_named():
    rule = cb.BI(cb.Model([[1.0, 0.0], [1.0, 1.0]], ["red", "blue"], ["A", "B"]))
    certain = cb.AtomicMeasure.at([0.0, 1.0])
    with pytest.raises(cb.CobayesError, match="datum 'red' may be shown, but in some atom"):
        certain.push_data(rule)
    expected = certain.push_data(rule, "predictive")
    assert expected.beliefs.tolist() == [[0.0, 1.0]]
