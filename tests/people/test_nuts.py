"""The No-U-Turn sampler: the posterior of Laplace's method, diagnostics, all families."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import cobayes as cb
from cobayes import people
from cobayes.people import Family, groups, nuts

RNG = np.random.default_rng(3)
PROBLEMS = {f"p{i}": RNG.dirichlet(np.ones(6), size=3).T + 1e-3 for i in range(6)}
FAMILY = Family(depth=(0, 1), lapse=0.05, features={"cost": np.arange(6.0)}, weights=(-3.0, 3.0))


def study():
    random = np.random.default_rng(2)
    truth = {
        "depth": random.choice([0.0, 1.0], 3),
        "rationality": 20.0 * expit(-1.5 + 0.5 * random.standard_normal(3)),
        "lapse": 0.05,
        "cost": [-1.5, -0.5, 0.5],
    }
    return people.simulate(pd.DataFrame(truth), PROBLEMS, num_rounds=4, family=FAMILY, rng=2)


@pytest.mark.slow
def test_nuts_finds_the_posterior_of_laplace():
    pytest.importorskip("numpyro", reason="NumPyro is not installed: extra people-groups")
    choices, told = study(), []
    found = people.fit_group(choices, PROBLEMS, FAMILY, num_draws=1000, rng=1)
    sampled = people.fit_group(
        choices, PROBLEMS, FAMILY, "nuts", 1, progress=lambda text, share: told.append(share)
    )
    assert sampled.draws["rationality"].shape[::2] == (4, 3)
    assert (sampled.r_hat < 1.01).all()
    assert told == sorted(told)
    np.testing.assert_allclose(sampled.depth_probability, found.depth_probability, atol=0.03)
    assert sampled.group["effective"].min() > 200
    # Four standard errors of 200 independent draws.
    for name in ("rationality", "cost", "median", "spread", "share"):
        ours, theirs = (
            own.draws[name].reshape(-1, found.draws[name].shape[-1]) for own in (sampled, found)
        )
        distance = np.abs(ours.mean(axis=0) - theirs.mean(axis=0))
        assert (distance < 4.0 * theirs.std(axis=0) / np.sqrt(200)).all()
    low, high = sampled.group.loc["median cost", ["low", "high"]]
    assert low < -0.5 < high
    tree = sampled.to_arviz()
    assert tree["posterior"]["rationality"].sizes["chain"] == 4


def test_nuts_without_numpyro_names_the_missing_package(monkeypatch):
    choices = study()
    monkeypatch.setitem(sys.modules, "numpyro", None)
    with pytest.raises(cb.MissingDependencyError, match="numpyro"):
        people.fit_group(choices, PROBLEMS, FAMILY, method="nuts")


FREE = {"prior_temperature": (0.0, 2.0), "inner_rationality": (0.0, 5.0)}


COST = {"lapse": (0.0, 0.3), "features": {"cost": np.arange(6.0)}}
RATING = {"response": "rating", "sharpness": (0.0, 5.0)}


@pytest.mark.parametrize("settings", [{}, FREE, COST, RATING])
def test_density_in_jax_has_the_values_and_derivatives_of_the_likelihood(settings):
    jax = pytest.importorskip("jax", reason="JAX is not installed: extra people-groups")
    family = Family(depth=2, **settings)
    choices = people.simulate({}, PROBLEMS, num_people=3, num_rounds=2, family=family, rng=1)
    likelihood = people.fit(choices, PROBLEMS, family, intervals=None).likelihood(2)
    # "unused" is a parameter that this depth does not have.
    names = ("unused", *likelihood.names)
    points = np.random.default_rng(1).standard_normal((3, len(names)))
    density = nuts.density_in_jax(likelihood, names)
    expected = likelihood.on_line(points[:, 1:])
    # Single precision.
    np.testing.assert_allclose(jax.jit(density)(points), expected.value, rtol=1e-5)
    gradient = jax.grad(lambda at: density(at).sum())(jax.numpy.float32(points))
    np.testing.assert_allclose(gradient[:, 1:], expected.gradient, rtol=1e-4, atol=1e-4)
    assert (np.asarray(gradient[:, 0]) == 0.0).all()


@pytest.mark.slow
def test_nuts_takes_ratings_and_a_free_learner_in_mind(monkeypatch):
    pytest.importorskip("numpyro", reason="NumPyro is not installed: extra people-groups")
    monkeypatch.setattr(groups, "MOST", 512)
    # Two problems, because each step calls the likelihood in NumPy.
    problems = {name: PROBLEMS[name] for name in ("p0", "p1")}
    priors = {name: [0.6, 0.3, 0.1] for name in problems}
    family = Family(depth=0, response="rating", lapse=0.02, noise=0.1, prior_temperature=(0.0, 2.0))
    choices = people.simulate(
        {}, problems, num_people=2, num_rounds=1, family=family, priors=priors, rng=1
    )
    found, sampled = (
        people.fit_group(choices, problems, family, method, 1, priors=priors)
        for method in ("laplace", "nuts")
    )
    assert (sampled.r_hat < 1.01).all()
    width = found.draws["median"].std()
    distance = np.abs(sampled.draws["median"].mean() - found.draws["median"].mean())
    # Four standard errors of 200 independent draws.
    assert distance < 4.0 * width / np.sqrt(200)
