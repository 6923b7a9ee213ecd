"""Derivatives of beliefs, and the limit of small perturbations."""

import itertools

import numpy as np
import pytest

import cobayes as cb
from cobayes.conjecture.small_perturbations import children, limit_slope

# Found by search; docs/conjecture.md.
MATRIX = [[0.8097, 0.2716, 0.6848], [0.0588, 0.7280, 0.1016], [0.1315, 0.0004, 0.2136]]
PRIOR = [0.0188, 0.1893, 0.7919]


def test_derivatives_of_posteriors_are_those_of_finite_differences():
    rng = np.random.default_rng(1)
    rule = cb.SCBI(rng.exponential(size=(4, 3)))
    belief, step = rng.dirichlet(np.ones(3)), np.array([-1.0, 0.3, 0.7])
    logs, found = children(rule, np.log(belief)[None], step[None])
    np.testing.assert_allclose(np.exp(logs[0]), rule.posteriors(belief), rtol=1e-9)
    size = 1e-6
    expected = rule.posteriors(belief + size * step) - rule.posteriors(belief - size * step)
    np.testing.assert_allclose(found[0], expected / (2.0 * size), rtol=1e-5, atol=1e-8)
    # The mean posterior is the belief, and so is the mean derivative the direction.
    np.testing.assert_allclose(found[0].mean(axis=0), step, rtol=1e-9)


def test_the_estimate_agrees_with_all_sequences_of_three_data():
    rng = np.random.default_rng(2)
    rule = cb.SCBI(rng.exponential(size=(3, 3)) + 0.05)
    prior, step = np.array([0.2, 0.3, 0.5]), np.array([-0.02, 1.0, -0.98])
    total = 0.0
    for data in itertools.product(range(3), repeat=3):
        logs, tangent = np.log(prior), step
        for datum in data:
            all_logs, derivatives = children(rule, logs[None], tangent[None])
            logs, tangent = all_logs[0, datum], derivatives[0, datum]
        total += abs(tangent[0]) / 27.0
    exact = (total - step[0]) / (2.0 * np.abs(step).sum())
    found = limit_slope(rule.model, 0, prior, step, num_rounds=3, num_sequences=4000, rng=3)
    # Four standard errors: one false alarm in 16,000 seeds.
    assert 1e-4 < found.stderr < 0.01
    assert abs(found.value - exact) <= 4.0 * found.stderr


@pytest.mark.parametrize(("hypothesis", "expected"), [(0, 0.5), (1, 0.0)])
def test_with_two_hypotheses_half_of_the_distance_is_lost(hypothesis, expected):
    matrix = np.random.default_rng(4).exponential(size=(4, 2))
    found = limit_slope(
        matrix, hypothesis, [0.7, 0.3], [-1, 1], num_rounds=20, num_sequences=50, rng=5
    )
    assert found.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_the_conjecture_fails_in_l1_for_tiny_perturbations():
    found = limit_slope(MATRIX, 0, PRIOR, [-1, 1, 0], num_rounds=500, num_sequences=12_000, rng=6)
    assert found.value > 1.0 + 4.0 * found.stderr


@pytest.mark.parametrize("direction", [[1, 1, -1], [0, 0, 0], [1, -1]])
def test_a_direction_that_is_none_is_refused(direction):
    with pytest.raises(cb.CobayesError, match="sum to zero"):
        limit_slope(MATRIX, 0, PRIOR, direction, num_rounds=1)


def test_zeros_are_refused():
    with pytest.raises(cb.CobayesError, match="must be positive"):
        limit_slope([[0.5, 0.0], [0.5, 1.0]], 0, [0.5, 0.5], [1, -1], num_rounds=1)
