"""Hierarchical fits: the posterior on a grid, calibration, shrinkage, errors."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks.people_accuracy import five_people, integrate
from scipy.special import expit

import cobayes as cb
from cobayes import people
from cobayes.people import Family, groups

RNG = np.random.default_rng(3)
PROBLEMS = {f"p{i}": RNG.dirichlet(np.ones(6), size=3).T + 1e-3 for i in range(6)}
FAMILY = Family(depth=(0, 1), lapse=0.05)


def crowd(num_people, random, median=-1.5, spread=0.5, share=(0.5, 0.5)):
    """People whose rationality, between 0 and 20, has normal logits."""
    return pd.DataFrame(
        {
            "person": [f"P{number}" for number in range(num_people)],
            "depth": random.choice([0.0, 1.0], num_people, p=share),
            "rationality": 20.0 * expit(median + spread * random.standard_normal(num_people)),
            "lapse": 0.05,
        }
    )


@pytest.fixture(scope="module")
def study():
    choices, problems, family = five_people()
    return choices, people.fit_group(choices, problems, family, num_draws=1000, rng=1)


def test_posterior_means_agree_with_integration_over_a_grid(study):
    _, found = study
    expected = integrate(found.fit)
    deep = expected.pop("depth 1")
    np.testing.assert_allclose(found.depth_probability[:, 1], deep, atol=0.01)
    assert found.depth_probability.sum(axis=1) == pytest.approx(1.0, abs=1e-15)
    assert found.depth_probability.max() <= 1.0
    for name, theirs in expected.items():
        draws = found.draws[name][0]
        # Four standard errors of 1000 draws, and one per cent.
        allowed = 0.01 * theirs + 4.0 * draws.std(axis=0) / np.sqrt(len(draws))
        assert (np.abs(draws.mean(axis=0) - theirs) < allowed).all(), name


def test_truth_has_uniform_ranks_among_the_draws(monkeypatch):
    # Simulation-based calibration: the truth is drawn from the prior of the model.
    monkeypatch.setattr(groups, "MOST", 256)
    ranks = []
    for seed in range(12):
        random = np.random.default_rng(seed)
        median, spread = random.logistic(), random.uniform(*groups.SPREAD)
        share = random.dirichlet([1.0, 1.0])
        truth = crowd(4, random, median, spread, share)
        choices = people.simulate(truth, PROBLEMS, num_rounds=1, rng=random)
        draws = people.fit_group(choices, PROBLEMS, FAMILY, num_draws=99, rng=random).draws
        pairs = [(draws["median"][0, :, 0], 20.0 * expit(median))]
        pairs += [(draws["spread"][0, :, 0], spread), (draws["share"][0, :, 0], share[0])]
        pairs += list(zip(draws["rationality"][0].T, truth["rationality"], strict=True))
        ranks.append([(own < value).mean() for own, value in pairs])
    # 84 ranks; those of one study are not independent. The band has about four standard errors.
    ranks = np.array(ranks)
    assert abs(ranks.mean() - 0.5) < 0.2
    assert abs(ranks.std() - np.sqrt(1.0 / 12.0)) < 0.1


def test_people_are_recovered_better_than_by_separate_fits():
    truth = crowd(25, np.random.default_rng(5))
    choices = people.simulate(truth, PROBLEMS, num_rounds=2, rng=3)
    found = people.fit_group(choices, PROBLEMS, FAMILY, num_draws=100, rng=1)
    errors = [
        np.nanmean((table["rationality"] - truth["rationality"]) ** 2)
        for table in (found.estimates, found.fit.estimates)
    ]
    assert errors[0] < 0.5 * errors[1]


def test_draws_go_to_arviz_with_names(study):
    _, found = study
    tree = found.to_arviz()
    assert tree["posterior"]["rationality"].dims == ("chain", "draw", "person")
    assert tree["posterior"]["share"].coords["depth"].values.tolist() == ["0", "1"]
    shares = tree["constant_data"]["depth_probability"].sel(person="d").values
    assert shares.sum() == pytest.approx(1.0, abs=1e-5)


def test_equal_seeds_give_equal_estimates(study, monkeypatch):
    monkeypatch.setattr(groups, "MOST", 256)
    choices, _ = study
    first, second = (
        people.fit_group(choices, PROBLEMS, FAMILY, num_draws=50, rng=4).estimates for _ in range(2)
    )
    pd.testing.assert_frame_equal(first, second)


def test_parameter_that_a_depth_does_not_have_is_drawn_from_the_group(monkeypatch):
    monkeypatch.setattr(groups, "MOST", 256)
    family = Family(response="guess", depth=(0, 1, np.inf), sharpness=(0.0, 5.0), lapse=0.02)
    truth = {"depth": 0, "rationality": 1.0, "sharpness": 2.0, "lapse": 0.02}
    choices = people.simulate(truth, PROBLEMS, num_people=3, num_rounds=2, family=family, rng=1)
    found = people.fit_group(choices, PROBLEMS, family, num_draws=50, rng=1)
    assert found.estimates.filter(like="rationality").notna().all(axis=None)
    assert len(found.group) == 7


@pytest.mark.parametrize("method", ["laplace", pytest.param("nuts", marks=pytest.mark.slow)])
def test_depths_without_free_parameters_have_shares_only(monkeypatch, method):
    if method == "nuts":
        pytest.importorskip("numpyro", reason="NumPyro is not installed: extra people-groups")
    monkeypatch.setattr(groups, "MOST", 256)
    family = Family(depth=(0, 1), rationality=2.0, lapse=0.05)
    choices = people.simulate(
        {"depth": 1, "rationality": 2.0, "lapse": 0.05}, PROBLEMS, num_people=4, num_rounds=3, rng=1
    )
    found = people.fit_group(choices, PROBLEMS, family, method, num_draws=200, rng=1)
    assert found.effective.min() > 50
    values = found.fit.arrays.value
    share = (np.arange(200) + 0.5) / 200
    logs = np.logaddexp(values[:, :1] + np.log(share), values[:, 1:] + np.log1p(-share)).sum(axis=0)
    expected = (share * np.exp(logs - logs.max())).sum() / np.exp(logs - logs.max()).sum()
    assert found.group.loc["share of depth 0", "estimate"] == pytest.approx(expected, abs=0.04)


def test_invalid_arguments_are_refused_as_by_fit(study):
    choices, _ = study
    with pytest.raises(cb.CobayesError, match="expected 'laplace' or 'nuts'"):
        people.fit_group(choices, PROBLEMS, FAMILY, method="gibbs")
    with pytest.raises(cb.CobayesError, match="no free parameter"):
        people.fit_group(choices, PROBLEMS, Family(depth=1, rationality=1.0, lapse=0.1))
    for bad in (choices.drop(columns="person"), choices.assign(datum="none")):
        with pytest.raises(cb.CobayesError) as ours:
            people.fit_group(bad, PROBLEMS, FAMILY)
        with pytest.raises(cb.CobayesError) as theirs:
            people.fit(bad, PROBLEMS, FAMILY)
        assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("response", ["choice", "guess"])
def test_a_poor_approximation_is_a_warning(monkeypatch, response):
    for limit in ("LEAST_EFFECTIVE", "FEWEST_EFFECTIVE", "NEAR_BOUND"):
        monkeypatch.setattr(sys.modules["cobayes.people.fit"], limit, 1e9)
    monkeypatch.setattr(groups, "MOST", 256)
    # Learners of depth 0 have no free parameter.
    family = FAMILY.at(response=response)
    settings = dict(num_people=3, num_rounds=2, family=family, rng=1)
    choices = people.simulate({"depth": 1}, PROBLEMS, **settings)
    with pytest.warns(cb.CobayesWarning) as caught:
        people.fit_group(choices, PROBLEMS, family, num_draws=50, rng=1)
    for warning, words in zip(
        caught,
        ("worth .* independent", "effective draws: '1', '2', '3'", "near the limit of spreads"),
        strict=True,
    ):
        assert re.search(words, str(warning.message))
