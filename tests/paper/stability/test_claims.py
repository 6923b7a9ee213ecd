"""Verdicts on stability for success rates that are known functions of the learner."""

import math

import numpy as np
import pytest

from cobayes.paper.stability.cases import (
    Case,
    Effort,
    column_cases,
    learners_of,
    plane_basis,
    points_of,
)
from cobayes.paper.stability.claims import (
    judge_axes,
    judge_bounds,
    judge_closeness,
    judge_conjecture,
    judge_euclidean_certificate,
    judge_single_sequences,
    judge_straight,
    judge_variation_certificate,
    largest_step,
)
from cobayes.paper.stability.experiment import (
    CaseRates,
    deviance_limit,
    excess_above,
    excess_below,
    fit_cones,
    fit_rays,
    used_share,
)
from cobayes.stability.bounds import frechet

EFFORT = Effort(1000, num_uniform=60)
BATCHES = 40


def rates_with(case, value, noise=0.0, seed=1, num_lessons=4000):
    """Return success rates that are a given function of the learners, with noisy batches."""
    learners = learners_of(case, EFFORT, 1)
    exact = np.asarray(value(learners), dtype=float)
    errors = noise * np.random.default_rng(seed).standard_normal((BATCHES, len(exact)))
    batches = exact + errors
    mean = np.clip(batches.mean(axis=0), 0.0, 1.0)
    return CaseRates.of(
        case,
        learners,
        batches,
        success=mean,
        success_stderr=np.sqrt(mean * (1.0 - mean) / num_lessons),
        success_low=mean,
        success_high=mean,
        num_lessons=num_lessons,
        num_unfinished=0,
    )


DISC = Case("disc", "M_3", "theta_1")


def falling(bend=0.0, noise=0.0, **more):
    def value(learners):
        return 1.0 - 2.0 * learners.distance + bend * learners.distance**2

    return rates_with(DISC, value, noise, **more)


def test_straight_ray_has_no_bend_and_a_parabola_its_sagitta():
    for fit in fit_rays(falling()).itertuples():
        assert fit.bend == pytest.approx(0.0, abs=1e-12)
        assert fit.r_squared == pytest.approx(1.0)
        assert fit.fall == pytest.approx(0.14)
    # 1 - 2 d + 8 d^2 on [0, 0.07]: the chord is 8 (0.035)^2 away in the middle.
    for fit in fit_rays(falling(bend=8.0)).itertuples():
        assert fit.bend == pytest.approx(8.0 * 0.035**2)
        assert fit.bend_stderr == pytest.approx(0.0, abs=1e-12)


def test_standard_error_of_a_bend_is_that_of_repeated_experiments():
    # 60 repetitions: the sample's own error is 9 % of it.
    found = [fit_rays(falling(noise=0.01, seed=seed)).iloc[3] for seed in range(60)]
    scatter = np.std([fit.bend for fit in found], ddof=1)
    claimed = np.mean([fit.bend_stderr for fit in found])
    assert claimed == pytest.approx(scatter, rel=0.35)


@pytest.mark.parametrize(
    ("rates", "verdict"),
    [
        (falling(noise=0.0005), "holds"),
        (falling(bend=8.0, noise=0.0002), "does not hold"),
        (falling(noise=0.02), "not decided"),
        (rates_with(DISC, lambda learners: 1.0 - 0.01 * learners.distance), "not decided"),
    ],
    ids=["straight", "bent", "noisy", "flat"],
)
def test_verdict_on_straightness(rates, verdict):
    assert judge_straight([rates], "here").verdict == verdict


def test_bent_rays_are_named_where_most_are_straight():
    bent = falling(bend=8.0, noise=0.0002)
    claim = judge_straight([falling(noise=0.0002), falling(noise=0.0002), bent], "here")
    assert claim.verdict == "holds except"
    assert "M₃, θ₁ ray 1" in claim.measured
    assert "slows down on 6 and speeds up on 0" in claim.measured


UNIFORM = Case("uniform", "M'_1", "theta'_3")


def upper(learners):
    return frechet(UNIFORM.teacher_prior[0], learners.learner_prior_1.to_numpy())[1]


def lower(learners):
    return frechet(UNIFORM.teacher_prior[0], learners.learner_prior_1.to_numpy())[0]


def test_success_at_the_bounds_violates_nothing():
    for value in (upper, lower):
        rates = rates_with(UNIFORM, value)
        claim = judge_bounds([rates], "here")
        assert claim.verdict == "holds"
        assert claim.measured.count("0 of 60") == 2


def test_closeness_to_the_bound_is_judged_by_intervals():
    at = rates_with(UNIFORM, upper, num_lessons=10**6)
    assert judge_closeness([at], "here").verdict == "holds"
    far = rates_with(UNIFORM, lambda learners: 0.5 * upper(learners), num_lessons=10**6)
    assert judge_closeness([far], "here").verdict == "does not hold"
    noisy = rates_with(UNIFORM, upper, num_lessons=50)
    assert judge_closeness([noisy], "here").verdict == "not decided"


def test_success_beyond_a_bound_is_found():
    above = rates_with(UNIFORM, lambda learners: np.minimum(1.0, upper(learners) + 0.1))
    assert judge_bounds([above], "here").verdict == "does not hold"
    below = rates_with(UNIFORM, lambda learners: np.maximum(0.0, lower(learners) - 0.1))
    assert judge_bounds([below], "here").verdict == "does not hold"


def test_excess_is_the_number_of_standard_errors():
    rates = rates_with(UNIFORM, lambda learners: np.full(len(learners), 0.31))
    # Binomial: a standard error of sqrt(0.3 * 0.7 / 4000) = 0.00725.
    expected = 0.01 / math.sqrt(0.3 * 0.7 / 4000)
    assert excess_above(rates.learners, np.full(60, 0.30))[0] == pytest.approx(expected, rel=0.03)
    assert excess_above(rates.learners, np.full(60, 0.32)).max() == 0.0
    assert excess_below(rates.learners, np.full(60, 0.32))[0] == pytest.approx(expected, rel=0.03)
    assert excess_below(rates.learners, np.full(60, -0.5)).max() == 0.0


def test_a_sample_without_failures_does_not_exceed_a_bound_near_one():
    # 100 successes in 100 where the bound is 0.99: the sample's standard error is zero, yet it
    # happens with probability 0.37.
    rates = rates_with(UNIFORM, lambda learners: np.ones(len(learners)), num_lessons=100)
    assert excess_above(rates.learners, np.full(60, 0.99))[0] == pytest.approx(
        math.sqrt(-200 * math.log(0.99))
    )
    assert excess_above(rates.learners, np.full(60, 0.99))[0] < deviance_limit(60)


def test_unfinished_sequences_count_as_successes_against_a_lower_bound():
    rates = rates_with(UNIFORM, lambda learners: np.full(len(learners), 0.5))
    patient = rates.learners.assign(success_high=0.9)
    assert excess_below(rates.learners, np.full(60, 0.9)).min() > 4.0
    assert excess_below(patient, np.full(60, 0.9)).max() == 0.0


def test_conjecture_is_judged_by_the_failure_that_it_allows():
    def promised(factor):
        belief = DISC.teacher_prior[0]
        return lambda learners: 1.0 - factor * learners.distance / belief

    kept = judge_conjecture([rates_with(DISC, promised(0.1), num_lessons=10**8)], "here")
    assert kept.verdict == "holds"
    noisy = judge_conjecture([rates_with(DISC, promised(0.9))], "here")
    assert noisy.verdict == "not decided"
    broken = judge_conjecture([rates_with(DISC, promised(1.3))], "here")
    assert broken.verdict == "does not hold"
    nearly = judge_conjecture([rates_with(DISC, promised(1.09))], "here")
    assert nearly.verdict == "not decided"
    shares, _ = used_share(rates_with(DISC, promised(0.9)).learners, "euclidean")
    assert np.isnan(shares[0])
    assert np.allclose(shares[1:], 0.9)


def test_total_variation_and_l1_differ_by_a_factor_of_two():
    rates = falling()
    tv, _ = used_share(rates.learners, "tv")
    l1, _ = used_share(rates.learners, "l1")
    assert np.allclose(tv[1:], 2.0 * l1[1:])


def test_verdicts_by_certificates_say_that_they_are_recorded():
    euclidean = judge_euclidean_certificate([], "here")
    variation = judge_variation_certificate([], "here")
    assert euclidean.verdict == variation.verdict == "does not hold"
    assert "recorded in a certificate of cobayes" in euclidean.measured
    assert "0.9592" in euclidean.measured
    assert variation.uncertainty.startswith("exact; the data come from a certificate")


@pytest.mark.parametrize(
    ("success", "num_lessons", "verdict"),
    [(0.99, 10**6, "holds"), (0.5, 10**6, "does not hold"), (0.95, 50, "not decided")],
)
def test_verdict_on_single_sequences_follows_their_standard_deviation(
    success, num_lessons, verdict
):
    # Beliefs that end at 0 or 1 have the standard deviation sqrt(s (1 - s)).
    def value(learners):
        return np.full(len(learners), success)

    rates = rates_with(DISC, value, num_lessons=num_lessons)
    assert judge_single_sequences([rates], "here").verdict == verdict


COLUMN = column_cases("M_4")[0]


def cone(slow, fast, angle, noise=0.0, seed=1):
    """Return success that falls by a cone with known axes; the angle is that of the slow one."""
    first, second = plane_basis(3)

    def value(learners):
        moved = points_of(learners) - points_of(learners)[0]
        x, y = moved @ first, moved @ second
        turned = np.arctan2(y, x) - np.radians(angle)
        speed = 0.5 * (slow + fast) + 0.5 * (slow - fast) * np.cos(2.0 * turned)
        return 1.0 - np.hypot(x, y) * speed

    return rates_with(COLUMN, value, noise, seed)


def test_cone_fit_finds_speeds_and_axes():
    fit = fit_cones([cone(1.0, 3.0, 40.0)]).iloc[0]
    assert fit.slow == pytest.approx(1.0, rel=1e-6)
    assert fit.fast == pytest.approx(3.0, rel=1e-6)
    assert fit.angle == pytest.approx(90.0, abs=1.0)
    assert fit.r_squared == pytest.approx(1.0)


def test_slow_axis_along_the_curve_of_equal_divergence_is_not_off_it():
    learners = cone(1.0, 3.0, 40.0).learners
    curve = points_of(learners[learners.kind == "equal divergence"])
    first, second = plane_basis(3)
    step = curve[1] - curve[-1]
    angle = math.degrees(math.atan2(step @ second, step @ first)) % 180.0
    assert fit_cones([cone(1.0, 3.0, angle)]).off_curve[0] == pytest.approx(0.0, abs=2.0)
    assert fit_cones([cone(1.0, 3.0, angle + 30.0)]).off_curve[0] == pytest.approx(30.0, abs=2.0)


def test_largest_step_is_that_between_neighbours():
    # A fall of 3 per unit of distance, on circles 0.005 apart.
    assert largest_step([cone(3.0, 3.0, 0.0)]) == pytest.approx(0.015)


@pytest.mark.parametrize(
    ("fast", "noise", "verdict"),
    [(3.0, 0.002, "holds"), (1.3, 0.0002, "does not hold"), (2.2, 0.02, "not decided")],
)
def test_verdict_on_the_two_directions(fast, noise, verdict):
    rates = cone(1.0, fast, 70.0, noise)
    assert judge_axes([rates], "here").verdict == verdict
