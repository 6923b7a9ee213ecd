"""Posterior predictive checks."""

import numpy as np
import pytest

import cobayes as cb
from cobayes import people
from cobayes.people import Family

RNG = np.random.default_rng(21)
PROBLEMS = {f"p{i}": RNG.dirichlet(np.ones(8), size=3).T + 1e-3 for i in range(8)}


@pytest.fixture(scope="module")
def choices():
    truth = {"depth": 1, "rationality": 4.0, "lapse": 0.05}
    return people.simulate(truth, PROBLEMS, num_people=8, num_rounds=3, rng=5)


def test_predicted_frequencies_sum_to_one_and_are_calibrated(choices):
    fit = people.fit(choices, PROBLEMS, Family(depth=1), intervals=None)
    table = people.predictions(fit)
    sums = table.groupby(["problem", "hypothesis", "round"])[["predicted", "observed"]].sum()
    assert sums.to_numpy() == pytest.approx(1.0)
    found = people.calibration(fit, num_bins=4)
    assert found["num_options"].sum() == 8 * len(choices)
    # The parameters were fitted to the same responses: all four are inside.
    assert found["observed"].between(found["predicted_low"], found["predicted_high"]).all()


def test_a_wrong_model_is_outside_of_its_band(choices):
    wrong = Family(depth=0, rationality=1.0, lapse=0.0)
    found = people.calibration(people.fit(choices, PROBLEMS, wrong, intervals=None), num_bins=4)
    inside = found["observed"].between(found["predicted_low"], found["predicted_high"])
    assert not inside.to_numpy().all()
    with pytest.raises(cb.CobayesError, match="num_draws"):
        people.calibration(people.fit(choices, PROBLEMS, wrong), num_draws=0)


def test_the_band_is_that_of_the_posterior_predictive_distribution():
    # Twelve people choose once each between two data; nine show the first. The lapse is free, so
    # the first has probability 0.9 - 0.4 lapse, and both integrals are sums over a grid.
    rows = {"person": np.arange(12), "round": 1, "hypothesis": 0, "datum": [0] * 9 + [1] * 3}
    family = Family(depth=0, rationality=1.0, lapse=(0.0, 1.0))
    fit = people.fit(rows, [[0.9, 0.1], [0.1, 0.9]], family, by=None, intervals=None)
    found = people.predictions(fit, num_draws=500, rng=1).iloc[0]
    chance = 0.9 - 0.4 * (np.arange(2000) + 0.5) / 2000
    weight = chance**9 * (1.0 - chance) ** 3
    weight /= weight.sum()
    # The posterior's deviation is 0.09; 500 draws of a walk thinned by five count for at least 200.
    assert found["predicted"] == pytest.approx(weight @ chance, abs=0.025)
    from scipy.stats import binom

    below = np.array([weight @ binom.cdf(count, 12, chance) for count in range(13)])
    for end, share in (("predicted_low", 0.025), ("predicted_high", 0.975)):
        count = round(12 * found[end])
        assert below[count] >= share - 0.012
        assert (below[count - 1] if count else 0.0) <= share + 0.012
