"""Exceedance probabilities against closed forms, sampling, and beyond both."""

import numpy as np
import pytest
from scipy import special

import cobayes as cb
from cobayes.people import exceedance
from cobayes.people.exceedance import exceedance_probabilities


@pytest.mark.parametrize(("a", "b"), [(3, 5), (1, 40), (0.5, 200), (2, 500), (30, 30), (700, 650)])
def test_two_models_have_the_closed_form_of_the_beta_distribution(a, b):
    found = exceedance_probabilities(np.array([a, b], dtype=float))
    assert found[0] == pytest.approx(special.betainc(b, a, 0.5), rel=1e-11)


def test_exceedance_agrees_with_sampling_where_sampling_can_see():
    counts = np.array([3.0, 7.0, 1.0, 9.5])
    num_samples = 400_000
    drawn = np.random.default_rng(7).dirichlet(counts, size=num_samples)
    shares = np.bincount(drawn.argmax(axis=1), minlength=4) / num_samples
    expected = exceedance_probabilities(counts)
    # Four comparisons at 4.5 standard errors fail by chance with a probability below 3e-5.
    error = np.sqrt(expected * (1 - expected) / num_samples)
    assert np.all(np.abs(shares - expected) < 4.5 * error)
    assert expected.sum() == pytest.approx(1.0, abs=1e-14)


def test_a_probability_of_1e_20_is_right_to_nine_digits():
    # Three models of which two are equal: P(1 exceeds) by adaptive quadrature in 40 digits.
    import mpmath as mp

    counts = [1.0, 60.0, 60.0]
    with mp.workdps(40):
        cdf = lambda x: mp.gammainc(60, 0, x, regularized=True)  # noqa: E731
        expected = mp.quad(lambda x: mp.exp(-x) * cdf(x) ** 2, [0, 20, 40, 60, 80, 120, 200])
    assert float(expected) < 1e-17
    found = exceedance_probabilities(np.array(counts))[0]
    assert found == pytest.approx(float(expected), rel=1e-9)


def test_evidence_that_says_nothing_gives_chance_and_a_high_omnibus_risk():
    found = exceedance(np.zeros((20, 3)))
    assert found.protected == pytest.approx(1 / 3)
    assert found.frequencies == pytest.approx(1 / 3)
    assert found.omnibus_risk > 0.5


def test_clear_evidence_gives_certainty():
    evidence = np.tile([0.0, -8.0, -9.0], (25, 1))
    found = exceedance(evidence)
    assert found.protected[0] > 0.999
    assert found.omnibus_risk < 1e-6
    assert found.attributions[:, 0] == pytest.approx(1.0, abs=1e-3)


def test_adding_a_number_to_a_persons_evidence_changes_nothing():
    evidence = np.random.default_rng(3).normal(0.0, 3.0, size=(12, 4))
    shifted = evidence + np.linspace(-500.0, 500.0, 12)[:, None]
    first, second = exceedance(evidence), exceedance(shifted)
    assert first.exceedance == pytest.approx(second.exceedance, rel=1e-8)
    assert first.omnibus_risk == pytest.approx(second.omnibus_risk, abs=1e-8)


@pytest.mark.parametrize("common", [1e15, 1e300])
def test_huge_evidence_keeps_the_differences_between_models(common):
    # At 1e300 differences of 4 are lost by the caller already: all models are equal.
    evidence = np.tile([0.0, -4.0], (6, 1))
    found = exceedance(evidence + common)
    expected = exceedance(evidence if common == 1e15 else np.zeros((6, 2)))
    assert found.exceedance == pytest.approx(expected.exceedance)
    assert found.omnibus_risk == pytest.approx(expected.omnibus_risk)
    assert found.omnibus_risk > 0.0


def test_evidence_must_be_a_finite_table():
    with pytest.raises(cb.CobayesError, match="one finite number for each person"):
        exceedance([[0.0, np.nan]])
