"""The likelihood as a function for others."""

import numpy as np
import pytest
from scipy.optimize import minimize

import cobayes as cb
from cobayes import people
from cobayes.people import Family, LogLikelihood

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


def test_outside_of_the_bounds_nothing_is_likely(choices):
    density = LogLikelihood(choices, PROBLEMS, Family(depth=1))
    assert density([1.0, 0.9])[0] == -np.inf


def test_nonsense_is_refused(choices):
    with pytest.raises(cb.CobayesError, match="needs one"):
        LogLikelihood(choices, PROBLEMS, Family(depth=(0, 1)))
    with pytest.raises(cb.CobayesError, match="expected 2 numbers: rationality, lapse"):
        LogLikelihood(choices, PROBLEMS, Family(depth=1))([1.0])


@pytest.mark.parametrize("response", ["guess", "rating"])
def test_arviz_gets_what_learners_answered(response):
    family = Family(depth=1, response=response)
    found = people.simulate({}, PROBLEMS, num_people=2, num_rounds=2, family=family, rng=1)
    tree = people.fit(found, PROBLEMS, family, intervals=None).to_arviz(40, rng=1)
    answers = np.asarray(tree["observed_data"]["response"])
    assert answers == pytest.approx(found[response].astype(float).to_numpy())
