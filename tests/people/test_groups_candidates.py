"""Laplace's method with importance sampling: effective numbers, priors, proposal densities."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logsumexp

from cobayes import people
from cobayes.people import Family
from cobayes.people.groups import SPREAD, Group
from cobayes.people.posterior import propose

RNG = np.random.default_rng(3)
PROBLEMS = {f"p{i}": RNG.dirichlet(np.ones(12), size=3).T + 1e-3 for i in range(10)}


@pytest.mark.slow
def test_effective_number_of_candidates_is_large_for_150_people():
    # With a covariance from a quasi-Newton method the effective number for the group was 15.
    random = np.random.default_rng(5)
    truth = pd.DataFrame(
        {
            "person": [f"P{number}" for number in range(150)],
            "depth": random.choice([0.0, 1.0, 2.0, np.inf], 150),
            "rationality": 20.0 * expit(-1.7 + 0.5 * random.standard_normal(150)),
            "lapse": 0.5 * expit(-1.5 + 0.8 * random.standard_normal(150)),
        }
    )
    choices = people.simulate(truth, PROBLEMS, num_rounds=3, rng=1)
    found = people.fit_group(choices, PROBLEMS, Family(), num_draws=200, rng=2)
    assert found.group_effective[0] > 100
    assert found.effective.min() > 50


def test_points_of_the_logistic_distribution_have_flat_priors():
    lines = np.random.default_rng(1).logistic(size=(40_000, 2 + 3))
    group = Group.from_line(lines, 1)
    share = np.exp(group.log_share)
    np.testing.assert_allclose(share.sum(axis=1), 1.0, rtol=1e-12)
    # A Dirichlet distribution of four ones: means 1/4, variances 3/80. Four standard errors.
    np.testing.assert_allclose(share.mean(axis=0), 0.25, atol=4 * np.sqrt(3 / 80 / 40_000))
    np.testing.assert_allclose(share.var(axis=0), 3 / 80, rtol=0.05)
    place = (group.spread[:, 0] - SPREAD[0]) / (SPREAD[1] - SPREAD[0])
    assert abs(place.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 40_000)


def test_candidates_have_the_density_that_they_come_from():
    random = np.random.default_rng(2)
    centre, covariance = np.array([[1.0, -1.0]]), np.array([[[0.5, 0.2], [0.2, 0.3]]])
    points, log_density = propose([(centre, covariance), (-centre, covariance)], 4000, random)
    # The weights of a standard normal density have mean 1, and give its moments.
    log_normal = -0.5 * (points**2).sum(axis=2) - np.log(2.0 * np.pi)
    weights = np.exp(log_normal - log_density)
    assert abs(weights.mean() - 1.0) < 0.03
    assert abs((weights * points[..., 0] ** 2).mean() - 1.0) < 0.06
    assert np.isfinite(logsumexp(log_density))
