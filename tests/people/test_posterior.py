"""The likelihood as a function for samplers, draws from the posterior, predictive checks."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import cobayes as cb
from cobayes import people
from cobayes.people import Family, LogLikelihood
from cobayes.people.posterior import draw_parameters, replicate

PROBLEMS = {f"p{i}": np.random.default_rng(i).dirichlet(np.ones(6), size=3).T for i in range(5)}


@pytest.fixture(scope="module")
def choices():
    return people.simulate(
        {"depth": 1, "rationality": 2.0, "lapse": 0.1}, PROBLEMS, num_people=3, num_rounds=4, rng=1
    )


@pytest.mark.parametrize("depth", [0, 1, np.inf])
def test_another_optimiser_finds_the_same_maximum(choices, depth):
    family = Family(depth=depth)
    density = LogLikelihood(choices, PROBLEMS, family)
    assert density.names == ("rationality", "lapse")
    found = minimize(
        lambda at: tuple(-part for part in density(at)),
        [1.0, 0.2],
        jac=True,
        bounds=list(zip(density.low, density.high, strict=True)),
    )
    ours = people.fit(choices, PROBLEMS, family, by=None, intervals=None)
    assert -found.fun == pytest.approx(ours.log_likelihood, abs=1e-5)


def test_log_likelihood_is_minus_infinity_outside_of_the_bounds(choices):
    density = LogLikelihood(choices, PROBLEMS, Family(depth=1))
    assert density([1.0, 0.9])[0] == -np.inf


def test_invalid_arguments_are_refused(choices):
    with pytest.raises(cb.CobayesError, match="needs one"):
        LogLikelihood(choices, PROBLEMS, Family(depth=(0, 1)))
    with pytest.raises(cb.CobayesError, match="expected 2 numbers: rationality, lapse"):
        LogLikelihood(choices, PROBLEMS, Family(depth=1))([1.0])


def test_draws_have_the_moments_of_the_posterior_at_bounds_and_far_from_them(choices):
    # With twelve choices per person some lapses lie at zero and the rationality is skewed.
    fit = people.fit(choices, PROBLEMS, Family(depth=1), intervals=None)
    ((likelihood, _, start),) = fit.at_best()
    rationality, lapse = ((np.arange(80) + 0.5) / 80 * top for top in (20.0, 0.5))
    logs = np.array(
        [[likelihood.evaluate(np.tile([r, e], (3, 1))).value for e in lapse] for r in rationality]
    )
    weights = np.exp(logs - logs.max(axis=(0, 1)))
    weights /= weights.sum(axis=(0, 1))
    draws, effective = draw_parameters(likelihood, start, 1000, np.random.default_rng(1))
    assert (effective > 300).all()
    for unit in range(3):
        for column, grid in enumerate((rationality, lapse)):
            share = weights[..., unit].sum(axis=1 - column)
            mean = share @ grid
            deviation = np.sqrt(share @ (grid - mean) ** 2)
            # Six comparisons at 4.5 standard errors of at least 300 effective draws.
            found = draws[:, unit, column]
            assert found.mean() == pytest.approx(mean, abs=4.5 * deviation / np.sqrt(300))
            assert found.std() == pytest.approx(deviation, rel=0.2)


@pytest.mark.parametrize("response", ["guess", "rating"])
def test_arviz_gets_the_answers_of_learners(response):
    family = Family(depth=1, response=response)
    found = people.simulate({}, PROBLEMS, num_people=2, num_rounds=2, family=family, rng=1)
    tree = people.fit(found, PROBLEMS, family, intervals=None).to_arviz(40, rng=1)
    answers = np.asarray(tree["observed_data"]["response"])
    assert answers == pytest.approx(found[response].astype(float).to_numpy())


def test_arviz_gets_missing_values_for_a_parameter_that_the_depth_does_not_have():
    family = Family(depth=(0, 1), response="guess", lapse=0.02)
    truth = {"depth": [0.0] * 3 + [1.0] * 3, "rationality": 2.0}
    choices = people.simulate(pd.DataFrame(truth), PROBLEMS, num_rounds=9, family=family, rng=1)
    fit = people.fit(choices, PROBLEMS, family, intervals=None)
    draws = fit.to_arviz(40, rng=1)["posterior"]
    shown = fit.estimates["rationality"].notna()
    assert shown.nunique() == 2
    assert (np.isfinite(draws["rationality"]) == shown.to_numpy()).all()
    assert (draws["lapse"] == 0.02).all()


RNG = np.random.default_rng(21)
MANY = {f"p{i}": RNG.dirichlet(np.ones(8), size=3).T + 1e-3 for i in range(8)}


@pytest.fixture(scope="module")
def many_choices():
    truth = {"depth": 1, "rationality": 4.0, "lapse": 0.05}
    return people.simulate(truth, MANY, num_people=8, num_rounds=3, rng=5)


def test_predicted_frequencies_sum_to_one_and_are_calibrated(many_choices):
    fit = people.fit(many_choices, MANY, Family(depth=1), intervals=None)
    _, mean, _, _ = replicate(fit, 20, 1)
    assert mean.sum(axis=1) == pytest.approx(1.0)
    found = people.calibration(fit, num_bins=4)
    assert found["num_options"].sum() == 8 * len(many_choices)
    # The parameters were fitted to the same responses: all four are inside.
    assert found["observed"].between(found["predicted_low"], found["predicted_high"]).all()


def test_a_wrong_model_is_outside_of_its_band(many_choices):
    wrong = Family(depth=0, rationality=1.0, lapse=0.0)
    found = people.calibration(people.fit(many_choices, MANY, wrong, intervals=None), num_bins=4)
    inside = found["observed"].between(found["predicted_low"], found["predicted_high"])
    assert not inside.to_numpy().all()
    with pytest.raises(cb.CobayesError, match="num_draws"):
        people.calibration(people.fit(many_choices, MANY, wrong), num_draws=0)


def test_the_band_is_that_of_the_posterior_predictive_distribution():
    # Twelve people choose once each between two data; nine show the first. The lapse is free, so
    # the first has probability 0.9 - 0.4 lapse, and both integrals are sums over a grid.
    rows = {"person": np.arange(12), "round": 1, "hypothesis": 0, "datum": [0] * 9 + [1] * 3}
    family = Family(depth=0, rationality=1.0, lapse=(0.0, 1.0))
    fit = people.fit(rows, [[0.9, 0.1], [0.1, 0.9]], family, by=None, intervals=None)
    _, mean, _, drawn = replicate(fit, 500, 1)
    ends = np.quantile((drawn == 0).sum(axis=1), (0.025, 0.975))
    chance = 0.9 - 0.4 * (np.arange(2000) + 0.5) / 2000
    weight = chance**9 * (1.0 - chance) ** 3
    weight /= weight.sum()
    # The posterior's deviation is 0.09, so the mean of 500 draws has a standard error of 0.004.
    assert mean[0, 0] == pytest.approx(weight @ chance, abs=0.018)
    from scipy.stats import binom

    below = np.array([weight @ binom.cdf(count, 12, chance) for count in range(13)])
    for end, share in zip(ends, (0.025, 0.975), strict=True):
        count = round(end)
        assert below[count] >= share - 0.012
        assert (below[count - 1] if count else 0.0) <= share + 0.012


@pytest.mark.filterwarnings("error")
def test_calibration_and_loo_are_finite_for_flat_likelihoods():
    # Two hypotheses, a strong prior and four guesses per person: the likelihoods are flat.
    matrix = np.array([[1.0, 32.0], [5.0, 80.0], [80.0, 5.0], [32.0, 1.0]])
    rows = {
        "person": np.repeat([f"p{i}" for i in range(6)], 4),
        "round": 1,
        "lesson": list(range(4)) * 6,
        "datum": [0, 1, 2, 3] * 6,
        "guess": [1, 1, 1, 1, 1, 1, 0, 0] * 3,
    }
    settings = dict(sharpness=(0.0, 20.0), prior_temperature=(0.0, 2.0))
    family = Family(depth=(0, 1, 2, np.inf), response="guess", **settings)
    fit = people.fit(rows, matrix, family, priors={"*": [0.001, 0.999]})
    table = people.calibration(fit, 3, num_draws=20)
    assert np.isfinite(table.to_numpy()).all()
    assert np.isfinite(people.compare({"all": fit}, num_draws=50).table["loo"]).all()
