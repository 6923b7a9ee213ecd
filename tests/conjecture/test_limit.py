"""Derivatives of beliefs, and the limit of small perturbations."""

import itertools
import json

import numpy as np
import pytest

import cobayes as cb
from cobayes.conjecture import Certificate, LimitCertificate, load_certificate
from cobayes.conjecture.limit import children, limit_slope

# Found by search; docs/conjecture.md.
MATRIX = [[0.8097, 0.2716, 0.6848], [0.0588, 0.7280, 0.1016], [0.1315, 0.0004, 0.2136]]
PRIOR = [0.0188, 0.1893, 0.7919]


def test_derivatives_of_posteriors_are_those_of_finite_differences():
    rng = np.random.default_rng(1)
    rule = cb.SCBI(rng.exponential(size=(4, 3)))
    belief, step = rng.dirichlet(np.ones(3)), np.array([-1.0, 0.3, 0.7])
    logs, ratios = children(rule, np.log(belief)[None], step[None] / belief)
    np.testing.assert_allclose(np.exp(logs[0]), rule.posteriors(belief), rtol=1e-9)
    found = np.exp(logs) * ratios
    size = 1e-6
    expected = rule.posteriors(belief + size * step) - rule.posteriors(belief - size * step)
    np.testing.assert_allclose(found[0], expected / (2.0 * size), rtol=1e-5, atol=1e-8)
    # The mean posterior is the belief, so the mean derivative is the direction.
    np.testing.assert_allclose(found[0].mean(axis=0), step, rtol=1e-9)


def test_the_estimate_agrees_with_all_sequences_of_three_data():
    rng = np.random.default_rng(2)
    rule = cb.SCBI(rng.exponential(size=(3, 3)) + 0.05)
    prior, step = np.array([0.2, 0.3, 0.5]), np.array([-0.02, 1.0, -0.98])
    total = 0.0
    for data in itertools.product(range(3), repeat=3):
        logs, ratios = np.log(prior), step / prior
        for datum in data:
            all_logs, derivatives = children(rule, logs[None], ratios[None])
            logs, ratios = all_logs[0, datum], derivatives[0, datum]
        total += abs(np.exp(logs[0]) * ratios[0]) / 27.0
    exact = (total - step[0]) / (2.0 * np.abs(step).sum())
    found = limit_slope(rule.model, 0, prior, step, num_rounds=3, num_lessons=4000, rng=3)
    # Four standard errors: one false alarm in 16,000 seeds.
    assert 1e-4 < found.stderr < 0.01
    assert abs(found.value - exact) <= 4.0 * found.stderr


@pytest.mark.parametrize(("hypothesis", "expected"), [(0, 0.5), (1, 0.0)])
def test_with_two_hypotheses_half_of_the_distance_is_lost(hypothesis, expected):
    matrix = np.random.default_rng(4).exponential(size=(4, 2))
    found = limit_slope(
        matrix, hypothesis, [0.7, 0.3], [-1, 1], num_rounds=20, num_lessons=50, rng=5
    )
    assert found.value == pytest.approx(expected, abs=1e-9)


def test_a_finite_perturbation_agrees_with_all_sequences_of_three_data():
    rng = np.random.default_rng(2)
    rule = cb.SCBI(rng.exponential(size=(3, 3)) + 0.05)
    prior, step = np.array([0.2, 0.3, 0.5]), np.array([-0.05, 0.08, -0.03])
    total = 0.0
    for data in itertools.product(range(3), repeat=3):
        beliefs = [prior, prior + step]
        for datum in data:
            beliefs = [rule.update(belief, datum) for belief in beliefs]
        total += abs(beliefs[0][0] - beliefs[1][0]) / 27.0
    size = np.abs(step).sum()
    exact = (total - step[0]) / (2.0 * size)
    found = limit_slope(
        rule.model,
        0,
        prior,
        step,
        num_rounds=3,
        log10_size=np.log10(size),
        num_lessons=4000,
        rng=3,
    )
    assert abs(found.value - exact) <= 4.0 * found.stderr
    # Much smaller perturbations do not underflow, and give the limit on the same random numbers.
    arguments = {"num_rounds": 40, "num_lessons": 300, "rng": 4}
    limit = limit_slope(rule.model, 0, prior, step, **arguments)
    for size in (-60, -200, -1000):
        tiny = limit_slope(rule.model, 0, prior, step, log10_size=size, **arguments)
        assert tiny.value == pytest.approx(limit.value, rel=1e-9)


def test_the_estimate_at_a_large_distance_agrees_with_the_success_rate():
    # After enough rounds for all lessons to end, the lower bound is the failure rate itself.
    model, own = cb.examples["M_1"].model, np.full(3, 1.0 / 3.0)
    step = np.array([-1.0, 0.0, 1.0]) * 2.0 / 15.0
    found = limit_slope(
        model, 0, own, step, log10_size=np.log10(4.0 / 15.0), num_rounds=1500, num_lessons=1500,
        rng=1,
    )  # fmt: skip
    # 0.5335 +- 0.004 by 20,000 lessons (seed 1); docs/conjecture.md.
    expected, error = (1.0 - 0.5335) / 3.0 / (4.0 / 15.0), 0.004 / 3.0 / (4.0 / 15.0)
    assert abs(found.value - expected) <= 4.0 * np.hypot(found.stderr, error)


def test_beliefs_far_below_float64_have_derivatives():
    rule = cb.SCBI(np.random.default_rng(1).exponential(size=(4, 3)))
    ratios = np.array([[0.7, -0.3, 0.2]])
    found = [children(rule, np.array([[-1e-300, -2.0 * x, -x]]), ratios)[1] for x in (300, 3000)]
    # Near a corner the derivatives do not depend on the size of the other beliefs.
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-100)
    assert np.isfinite(found[1]).all()


@pytest.mark.slow
def test_the_conjecture_fails_in_l1_for_tiny_perturbations():
    certificate = load_certificate("l1-small-perturbations")
    np.testing.assert_allclose(certificate.model.matrix, MATRIX)
    limit = certificate.slope(num_lessons=1500, rng=6)
    assert limit.value > 1.0 + 4.0 * limit.stderr
    # The ratio falls as the perturbation grows: no failure above about 1e-60 is known.
    assert certificate.slope(log10_size=-30.0, num_lessons=500, rng=7).value < 0.9


def test_the_packaged_certificate_says_what_was_measured(tmp_path):
    certificate = load_certificate("l1-small-perturbations")
    assert (
        certificate.evidence["limit"]["value"] > 1.0 + 6.0 * certificate.evidence["limit"]["stderr"]
    )
    path = tmp_path / "again.json"
    path.write_text(json.dumps(certificate.to_dict()), encoding="utf-8")
    assert load_certificate(path).to_dict() == certificate.to_dict()
    outcome = certificate.check(num_lessons=2, rng=1)
    assert not outcome.is_confirmed or outcome.standard_errors >= 6.0
    assert json.dumps(outcome.to_dict())
    assert isinstance(load_certificate("tv-paper-matrix"), Certificate)
    with pytest.raises(cb.CobayesError, match="no entry 'matrix'"):
        load_certificate({"kind": LimitCertificate.kind, "format": 2})
    with pytest.raises(cb.CobayesError, match="not a certificate of format 2"):
        load_certificate({**certificate.to_dict(), "format": 1})


@pytest.mark.parametrize("direction", [[1, 1, -1], [0, 0, 0], [1, -1]])
def test_an_invalid_direction_is_refused(direction):
    with pytest.raises(cb.CobayesError, match="sum to zero"):
        limit_slope(MATRIX, 0, PRIOR, direction, num_rounds=1)


def test_endless_work_is_refused_with_the_estimate():
    case = load_certificate("l1-small-perturbations")
    with pytest.raises(cb.CobayesError, match="would take about"):
        case.slope(num_rounds=10**12, num_lessons=100)
    with pytest.raises(cb.CobayesError, match="would take about"):
        case.slope(num_rounds=1, num_lessons=10**12)


def test_zeros_are_refused():
    with pytest.raises(cb.CobayesError, match="must be positive"):
        limit_slope([[0.5, 0.0], [0.5, 1.0]], 0, [0.5, 0.5], [1, -1], num_rounds=1)
