"""The invariants of the consistency proof and Proposition 5.1."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.rules import Response
from cobayes.theory.exact import exact_rounds
from cobayes.theory.invariants import check_invariants

seeds = st.integers(0, 2**32 - 1)
CONSISTENCY, RATIOS, MARTINGALE, OUTWARDS = range(4)


def verdicts(report):
    return [invariant.holds for invariant in report.invariants]


def random_matrix(seed, n=None, m=None):
    rng = np.random.default_rng(seed)
    n, m = n or int(rng.integers(2, 6)), m or int(rng.integers(2, 6))
    return rng.exponential(size=(n, m)) + 0.01, rng.dirichlet(np.ones(m)), rng


@given(seed=seeds)
@settings(max_examples=40)
def test_every_invariant_holds_for_scbi_on_random_models(seed):
    matrix, prior, rng = random_matrix(seed)
    report = check_invariants(matrix, int(rng.integers(matrix.shape[1])), prior, num_rounds=3)
    assert report.holds, str(report)
    assert report.failures == ()


@given(seed=seeds)
@settings(max_examples=20)
def test_bi_has_the_first_two_but_its_mean_belief_moves_under_uniform_data(seed):
    matrix, prior, _ = random_matrix(seed)
    report = check_invariants(cb.BI(matrix), 0, prior, num_rounds=3)
    assert verdicts(report)[:2] == [True, True]
    assert not report.invariants[MARTINGALE].holds


def test_the_measured_numbers_are_those_of_the_exact_rounds():
    matrix, prior, _ = random_matrix(4, 3, 3)
    report = check_invariants(matrix, 1, prior, num_rounds=5)
    exact = exact_rounds(cb.SCBI(matrix), 1, 5, prior)
    np.testing.assert_allclose(report.mean_belief, exact.mean, rtol=1e-10)
    np.testing.assert_allclose(report.mean_ratios[5], prior / prior[1], rtol=1e-9)
    np.testing.assert_allclose(report.uniform_mean[5], prior, rtol=1e-9)
    # Teaching h is conditioning: E_U |theta|^2 = sum_h theta_0(h) E_h[theta(h)].
    squares = sum(prior[h] * exact_rounds(cb.SCBI(matrix), h, 5, prior).mean for h in range(3))
    np.testing.assert_allclose(report.uniform_spread, squares - 1.0 / 3.0, rtol=1e-9)
    assert (report.uniform_spread < 1.0 - 1.0 / report.model.num_hypotheses).all()


class Forgetful(cb.SCBI):
    """A learner who doubts the first hypothesis a little more every round."""

    def respond(self, log_belief):
        likelihood = super().respond(log_belief).likelihood
        return Response(likelihood, np.log(likelihood * [0.5, 1.0, 1.0]))


class Timid(cb.SCBI):
    """A learner who goes back half the way, in log-odds, to the uniform belief every round."""

    def respond(self, log_belief):
        likelihood = super().respond(log_belief).likelihood
        return Response(likelihood, np.log(likelihood) - 0.5 * log_belief)


def test_a_rule_that_forgets_fails_both_invariants_of_the_consistency_proof():
    matrix = [[1.0, 1.1, 1.0], [1.0, 1.0, 1.1], [1.1, 1.0, 1.0]]
    report = check_invariants(Forgetful(matrix), 0)
    assert verdicts(report)[:3] == [False, False, False]
    assert report.invariants[CONSISTENCY].deviation > 0.01
    # Ratios to a belief that halves every round double: six rounds, 2^6 - 1.
    assert report.invariants[RATIOS].deviation == pytest.approx(63.0, rel=0.01)
    assert not report.holds
    assert "FAIL" in repr(report)
    assert "FAILS" in str(report)


def test_a_timid_rule_fails_proposition_5_1_in_both_halves():
    matrix = [[1.0, 1.1, 1.0], [1.0, 1.0, 1.1], [1.1, 1.0, 1.0]]
    report = check_invariants(Timid(matrix), 0, [0.8, 0.1, 0.1])
    assert verdicts(report)[2:] == [False, False]
    assert report.uniform_spread[-1] < 0.1 * report.uniform_spread[0]


def test_a_rule_that_answers_nonsense_does_not_pass():
    class Broken(cb.SCBI):
        def respond(self, log_belief):
            return Response(np.full(self.model.shape, 0.5), np.full(self.model.shape, np.nan))

    assert verdicts(check_invariants(Broken(np.ones((2, 2))), 0)) == [False] * 4


def test_hypotheses_that_are_ruled_out_and_tiny_priors_do_no_harm():
    matrix, _, _ = random_matrix(2, 3, 3)
    assert check_invariants(matrix, 0, [0.5, 0.0, 0.5]).holds
    assert check_invariants(matrix, 0, [1e-12, 0.5, 0.5 - 1e-12]).holds
    assert check_invariants(matrix[:, :1], 0).holds


def test_the_number_of_rounds_adapts_to_the_number_of_data():
    assert check_invariants(np.ones((2, 2)), 0).num_rounds == 6
    assert check_invariants(np.ones((20, 2)), 0).num_rounds == 3
    assert check_invariants(np.ones((30_000, 1)), 0).num_rounds == 1


def test_tables_and_words_name_the_hypothesis():
    model = cb.Model([[1.0, 2.0], [3.0, 1.0]], ["up", "down"], ["A", "B"])
    report = check_invariants(model, "B")
    table = report.to_dataframe()
    assert table["holds"].all()
    assert "'B'" in table["statement"][0]
    data = report.to_xarray()
    assert data.attrs["true_hypothesis"] == "B"
    assert data["mean_ratio"].sel(hypothesis="A").shape == (7,)
    assert "4 invariants, all hold" in repr(report)
    assert report._repr_html_().count("<tr>") == 5


def test_bad_input_is_refused_with_a_reason():
    with pytest.raises(cb.CobayesError, match="teaching is impossible"):
        check_invariants(np.ones((2, 2)), 0, [0.0, 1.0])
    for bad in (0, -1, 2.5):
        with pytest.raises(cb.CobayesError, match="num_rounds"):
            check_invariants(np.ones((2, 2)), 0, num_rounds=bad)
    with pytest.raises(cb.CobayesError, match="no hypothesis"):
        check_invariants(np.ones((2, 2)), "C")


def test_too_many_rounds_are_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(cb.AtomicMeasure, "push", lambda *_: pytest.fail("work was begun"))
    model = cb.Model(np.random.default_rng(0).exponential(size=(3, 3)))
    # 3 * 3^13 numbers are below 1e7, 3 * 3^14 are not.
    with pytest.raises(cb.CobayesError, match=r"num_rounds is 30.*up to round 13"):
        check_invariants(model, 0, num_rounds=30)


def test_one_datum_allows_any_number_of_rounds():
    assert check_invariants([[1.0, 2.0]], 0, num_rounds=40).holds


@pytest.mark.parametrize("tolerance", ["a", -1.0, None, float("nan")])
def test_a_tolerance_that_is_no_number_is_refused(tolerance):
    with pytest.raises(cb.CobayesError, match="tolerance is"):
        check_invariants(np.ones((2, 2)), 0, tolerance=tolerance)


@pytest.mark.parametrize("seed", range(12))
def test_the_invariants_hold_on_tables_with_zeros(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 5, size=2)
    table = rng.random((n, m)) * (rng.random((n, m)) < 0.7)
    table[:, 0] += 0.1  # no empty row
    table[0, ~(table > 0.0).any(axis=0)] = 1.0  # no empty column
    report = check_invariants(table, int(rng.integers(m)), rng.dirichlet(np.ones(m)), num_rounds=3)
    assert report.holds, str(report)


def test_the_invariants_hold_under_the_data_priors_law():
    matrix, prior, _ = random_matrix(4, 4, 3)
    limited = cb.limited_to(matrix, [0, 1, 3])
    for rule in (cb.SCBI(matrix, data_prior=[0.1, 0.2, 0.3, 0.4]), cb.SCBI(limited)):
        report = check_invariants(rule, 1, prior)
        assert report.holds, str(report)
        assert "data from the data prior" in str(report)


def test_on_tables_with_zeros_only_scbi_has_the_invariants_of_even_data():
    table = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 1, 1.0]])
    prior, shares = [0.2, 0.3, 0.5], [0.1, 0.2, 0.3, 0.3, 0.1]
    shared = check_invariants(cb.SCBI(table, data_prior=shares), 0, prior)
    assert shared.holds
    assert "data as close to the data prior as the zeros allow" in str(shared)
    for rule in (cb.BI(table), cb.Pragmatic(table, 1)):
        report = check_invariants(rule, 0, prior)
        assert [each.statement for each in report.failures] == [
            "the mean belief is constant under data as equally frequent as the zeros allow"
        ]
