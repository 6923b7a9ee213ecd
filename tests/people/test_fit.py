"""Fits: maxima, intervals, parameters that are not identified, and the table of trials."""

import numpy as np
import pandas as pd
import polars
import pytest
from scipy.stats import binom, norm

import cobayes as cb
from cobayes import people
from cobayes.people import Family, maximise

RNG = np.random.default_rng(11)
PROBLEMS = {f"p{i}": RNG.dirichlet(np.ones(8), size=3).T + 1e-3 for i in range(10)}
# With this confidence an interval misses the truth once in a thousand seeds.
SURE = 0.999
TRUTH = {"depth": 1, "rationality": 3.0, "lapse": 0.1}


@pytest.fixture(scope="module")
def choices():
    return people.simulate(TRUTH, PROBLEMS, num_people=6, num_rounds=3, rng=5)


@pytest.fixture(scope="module")
def fit(choices):
    return people.fit(choices, PROBLEMS, Family(depth=(0, 1, np.inf)))


def test_no_parameters_on_a_grid_have_a_higher_likelihood(choices, fit):
    row = fit.estimates.iloc[2]
    own = choices[choices["person"] == row["person"]]
    for rationality in np.linspace(0.0, 10.0, 11):
        for lapse in (0.0, 0.1, 0.3):
            for depth in (0, 1, np.inf):
                scored = people.score(
                    own, PROBLEMS, depth=depth, rationality=rationality, lapse=lapse
                )
                assert scored["log_likelihood"].sum() <= row["log_likelihood"] + 1e-6


def test_scores_at_the_estimates_sum_to_the_fitted_likelihood(choices, fit):
    row = fit.estimates.iloc[0]
    own = choices[choices["person"] == row["person"]]
    scored = people.score(
        own, PROBLEMS, depth=row["depth"], rationality=row["rationality"], lapse=row["lapse"]
    )
    assert scored["log_likelihood"].sum() == pytest.approx(row["log_likelihood"], abs=1e-8)
    assert fit.trials["log_likelihood"].sum() == pytest.approx(fit.log_likelihood, abs=1e-8)
    assert fit.trials.index.equals(pd.RangeIndex(len(choices)))


def test_ends_of_a_profile_interval_lie_where_the_profile_has_fallen_by_half_a_quantile(choices):
    family = Family(depth=1, lapse=0.1)
    fit = people.fit(choices, PROBLEMS, family)
    row = fit.estimates.iloc[1]
    own = choices[choices["person"] == row["person"]]
    for end in ("rationality_low", "rationality_high"):
        scored = people.score(own, PROBLEMS, depth=1, rationality=row[end], lapse=0.1)
        fall = row["log_likelihood"] - scored["log_likelihood"].sum()
        assert fall == pytest.approx(1.9207, abs=2e-3)  # half of chi-squared's 95 % quantile


def test_a_profile_leaves_the_bound_at_which_the_maximum_lies():
    # Some people have an estimated lapse of zero, but a positive lapse at a larger rationality.
    truth = {"depth": 1, "rationality": 3.0, "lapse": 0.02}
    choices = people.simulate(truth, PROBLEMS, num_people=6, num_rounds=2, rng=2)
    found = people.fit(choices, PROBLEMS, Family(depth=1))
    likelihood = found.likelihood(1)
    rows = found.estimates
    at_bound = np.flatnonzero((rows["lapse"] == 0.0) & (rows["rationality_high"] < 20.0))
    assert len(at_bound)
    for unit in at_bound:
        at = found.arrays.parameters[:, 0, :2].copy()
        best = -np.inf
        for lapse in np.linspace(0.0, 0.5, 2001):
            at[unit] = rows["rationality_high"][unit], lapse
            best = max(best, likelihood.log_likelihoods(at)[unit])
        fall = rows["log_likelihood"][unit] - best
        assert fall == pytest.approx(1.9207, abs=5e-3)  # half of chi-squared's 95 % quantile


def test_profile_and_information_intervals_agree_for_many_choices():
    truth = {"depth": 0, "rationality": 1.5, "lapse": 0.1}
    choices = people.simulate(truth, PROBLEMS, num_people=1, num_rounds=60, rng=5)
    ends = {}
    for kind in ("profile", "information"):
        found = people.fit(choices, PROBLEMS, Family(depth=0), intervals=kind).estimates.iloc[0]
        ends[kind] = found[["rationality_low", "rationality_high"]].to_numpy(dtype=float)
    assert ends["profile"] == pytest.approx(ends["information"], rel=0.05)


def test_ratings_are_scored_with_a_noise_of_a_tenth_unless_another_is_given():
    ratings = {"person": ["a", "a"], "round": [1, 2], "datum": [0, 1], "hypothesis": [0, 1]}
    ratings["rating"] = [0.7, 0.2]
    by_default, given, other = (
        people.score(ratings, [[0.5, 0.2], [0.5, 0.8]], response="rating", **noise)
        for noise in ({}, {"noise": 0.1}, {"noise": 0.2})
    )
    expected = norm.logpdf([0.7, 0.2], by_default["probability"], 0.1)
    np.testing.assert_allclose(by_default["log_likelihood"], expected, rtol=1e-12)
    pd.testing.assert_frame_equal(by_default, given)
    assert not np.isclose(by_default["log_likelihood"], other["log_likelihood"]).any()


def test_a_polars_table_is_scored_like_a_pandas_table(choices):
    table = choices[["person", "problem", "round", "hypothesis", "datum"]]
    found = people.score(polars.DataFrame(table.to_dict("list")), PROBLEMS)
    pd.testing.assert_frame_equal(found, people.score(table, PROBLEMS))


def test_a_notebook_shows_the_estimates(choices, fit):
    pooled = people.fit(choices, PROBLEMS, fit.family, by=None)
    for found, text in ((fit, f"<td>{fit.units[0]}</td>"), (pooled, "everybody pooled")):
        html = found._repr_html_()
        assert text in html
        assert f"<td>{found.estimates['log_likelihood'][0]:.2f}</td>" in html


def test_pooled_fit_has_a_lower_likelihood_than_separate_fits(choices, fit):
    pooled = people.fit(choices, PROBLEMS, Family(depth=1), by=None)
    assert len(pooled.estimates) == 1
    assert pooled.log_likelihood < fit.log_likelihood
    assert pooled.estimates["rationality"].iloc[0] == pytest.approx(3.0, abs=1.0)


def test_rationality_of_a_literal_teacher_on_a_table_of_equal_numbers_is_not_identified():
    even = {"even": np.ones((4, 2))}
    choices = people.simulate({"depth": 0}, even, num_people=2, num_rounds=6, rng=1)
    found = people.fit(choices, even, Family(depth=0, lapse=0.0)).estimates.iloc[0]
    assert np.isnan(found["rationality"])
    assert (found["rationality_low"], found["rationality_high"]) == (0.0, 20.0)
    assert found["note"] == "rationality is not identified"
    assert found["num_parameters"] == 0


def test_note_names_a_parameter_at_its_bound():
    best = {"only": [[9.0, 1.0], [1.0, 9.0]]}
    table = {"person": ["a"] * 6, "round": range(6), "hypothesis": [0] * 6, "datum": [0] * 6}
    found = people.fit(table, best["only"], Family(depth=1, lapse=0.0)).estimates.iloc[0]
    assert found["rationality"] == 20.0
    assert "rationality is at its bound 20" in found["note"]


def test_fixed_parameters_are_not_counted(choices):
    free = people.fit(choices, PROBLEMS, Family(depth=1)).estimates
    fixed = people.fit(choices, PROBLEMS, Family(depth=1, lapse=0.1)).estimates
    assert (free["num_parameters"] == 2).all()
    assert (fixed["num_parameters"] == 1).all()
    assert "lapse_low" not in fixed.columns
    several = people.fit(choices, PROBLEMS, Family(depth=(0, 1), lapse=0.1)).estimates
    assert (several["num_parameters"] == 2).all()


def test_weights_of_features_are_recovered():
    def same_as_last(model, history):
        return [float(bool(history) and datum == history[-1]) for datum in range(model.num_data)]

    family = Family(depth=1, lapse=0.0, features={"again": same_as_last, "first": [1] + [0] * 7})
    truth = {"depth": 1, "rationality": 2.0, "again": -1.5, "first": 1.0}
    choices = people.simulate(truth, PROBLEMS, num_people=1, num_rounds=40, rng=2, family=family)
    found = people.fit(choices, PROBLEMS, family, confidence=SURE).estimates.iloc[0]
    for name in ("rationality", "again", "first"):
        assert found[f"{name}_low"] < truth[name] < found[f"{name}_high"]
    with pytest.raises(cb.CobayesError, match="expected 8 finite numbers"):
        people.fit(choices, PROBLEMS, Family(depth=1, features={"short": [1.0, 2.0]}))


@pytest.mark.parametrize("response", ["guess", "rating"])
def test_learners_can_be_fitted(response):
    family = Family(depth=(0, 1), response=response)
    truth = {"depth": 1, "rationality": 1.5, "lapse": 0.05}
    choices = people.simulate(truth, PROBLEMS, num_people=1, num_rounds=30, rng=4, family=family)
    found = people.fit(choices, PROBLEMS, family, confidence=SURE).estimates.iloc[0]
    assert found["depth"] == 1.0
    assert found["rationality_low"] < 1.5 < found["rationality_high"]
    assert found["lapse_low"] <= 0.05 <= found["lapse_high"]


@pytest.mark.slow
def test_inner_parameters_can_be_fitted():
    priors = {name: [0.6, 0.3, 0.1] for name in PROBLEMS}
    family = Family(depth=2, lapse=0.0, inner_rationality=(0.2, 5.0), prior_temperature=(0.1, 4.0))
    truth = {"depth": 2, "rationality": 3.0, "inner_rationality": 2.0, "prior_temperature": 0.5}
    choices = people.simulate(
        truth, PROBLEMS, num_people=2, num_rounds=3, num_lessons=4, rng=8, family=family,
        priors=priors,
    )  # fmt: skip
    found = people.fit(
        choices, PROBLEMS, family, priors=priors, num_starts=2, confidence=SURE
    ).estimates
    assert (found["note"] == "").all()  # all have converged, and no estimate is at a bound
    for name in ("rationality", "inner_rationality", "prior_temperature"):
        assert (found[f"{name}_low"] <= truth[name]).all()
        assert (truth[name] <= found[f"{name}_high"]).all()


def test_static_learner_is_distinguished_from_one_that_learns():
    truth = {"depth": 1, "rationality": 4.0}
    static = Family(depth=1, lapse=0.0, other="static")
    choices = people.simulate(truth, PROBLEMS, num_people=1, num_rounds=20, rng=3, family=static)
    learns = people.fit(choices, PROBLEMS, Family(depth=1, lapse=0.0))
    stays = people.fit(choices, PROBLEMS, static)
    assert stays.log_likelihood > learns.log_likelihood + 10.0
    assert stays.trials["belief"].to_numpy() == pytest.approx(1 / 3)


def test_trials_hold_beliefs_and_entropies_of_successive_rounds(fit, choices):
    trials = fit.trials
    assert list(trials.columns[: len(choices.columns)]) == list(choices.columns)
    first = trials[trials["round"] == 1]
    assert first["belief"].to_numpy() == pytest.approx(1 / 3)
    assert first["entropy"].to_numpy() == pytest.approx(np.log(3.0))
    assert (trials["information_gain"] >= -1e-12).all()
    later = trials[trials["round"] == 2]
    before = trials[trials["round"] == 1]
    assert later["belief"].to_numpy() == pytest.approx(before["belief_after"].to_numpy())
    assert later["entropy"].to_numpy() == pytest.approx(before["entropy_after"].to_numpy())
    assert trials["rank"].between(1, 8).all()


def test_columns_of_the_user_are_kept_whatever_their_names(choices):
    own = choices.assign(condition="a", belief=range(len(choices)))
    found = people.score(own, PROBLEMS)
    assert found["condition"].eq("a").all()
    assert found["belief_given"].tolist() == list(range(len(choices)))
    assert found["belief"].between(0.0, 1.0).all()


def test_progress_is_told_from_0_to_1(choices):
    told = []
    people.fit(choices, PROBLEMS, Family(depth=1), progress=lambda text, share: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.parametrize("response", ["choice", "guess"])
def test_inner_parameters_are_free_on_problems_of_different_sizes(response):
    problems = {"wide": RNG.random((6, 5)), "small": [[0.9, 0.4], [0.2, 0.5]]}
    priors = {"wide": [0.1, 0.2, 0.3, 0.2, 0.2], "small": [0.7, 0.3]}
    settings = {"inner_rationality": (0.0, 5.0)} if response == "choice" else {}
    family = Family(depth=(0, 2), prior_temperature=(0.0, 3.0), response=response, **settings)
    choices = people.simulate(
        {"depth": 2, "rationality": 2.0}, problems, num_people=3, num_rounds=2, rng=1,
        family=family, priors=priors,
    )  # fmt: skip
    found = people.fit(choices, problems, family, priors=priors, num_starts=2)
    alone = people.fit(
        choices[choices["person"] == "2"], problems, family, priors=priors, num_starts=2
    )
    assert found.arrays.value[1] == pytest.approx(alone.arrays.value[0], abs=1e-6)
    assert len(people.calibration(found, 3, num_draws=10)) == 3


@pytest.mark.parametrize(("name", "value"), [("MAX_STEPS", 1), ("MAX_DAMPING", 0.0)])
def test_maximisation_that_was_stopped_early_is_not_converged(choices, monkeypatch, name, value):
    monkeypatch.setattr(maximise, name, value)
    found = people.fit(choices, PROBLEMS, Family(depth=1), intervals=None)
    assert not found.arrays.is_converged.any()
    assert found.estimates["note"].str.contains("not converged").all()


def test_the_highest_maximum_is_found_far_from_the_usual_start():
    # Beliefs are so uneven that a sharpness above 1 saturates; the maximum lies near 0.2.
    matrix = np.array([[1.0, 32.0], [5.0, 80.0], [10.0, 80.0], [80.0, 10.0], [32.0, 1.0]])
    truth = {"depth": 0, "sharpness": 0.2}
    family = Family(depth=0, sharpness=(0.0, 20.0), response="guess")
    priors = {"p": [0.001, 0.999]}
    choices = people.simulate(
        truth, {"p": matrix}, num_people=300, num_rounds=1, family=family, priors=priors, rng=1
    )
    found = people.fit(choices, {"p": matrix}, family, by=None, priors=priors).estimates.iloc[0]
    assert found["sharpness_low"] < 0.2 < found["sharpness_high"] < 1.0


def test_few_fits_miss_the_highest_maximum():
    random = np.random.default_rng(7)
    problems = {f"p{i}": random.dirichlet(np.ones(4), size=3).T + 1e-3 for i in range(4)}
    people_of = {
        "person": np.arange(300).astype(str),
        "depth": random.choice([0.0, 1.0, 2.0, np.inf], 300),
        "rationality": random.uniform(0.3, 8.0, 300),
        "lapse": random.uniform(0.0, 0.3, 300),
    }
    choices = people.simulate(pd.DataFrame(people_of), problems, num_rounds=3, rng=random)
    few, many = (
        people.fit(choices, problems, Family(depth=(0, 1, 2)), intervals=None, num_starts=number)
        for number in (4, 12)
    )
    # With the four likeliest starting points of 40, 8 of the 900 maxima were missed.
    assert (few.arrays.value < many.arrays.value - 1e-3).sum() <= 3


def test_a_saved_fit_has_the_same_tables(fit, tmp_path):
    fit.save(tmp_path / "fit.cobayes")
    loaded = people.Fit.load(tmp_path / "fit.cobayes")
    for table in ("estimates", "depths", "trials"):
        pd.testing.assert_frame_equal(getattr(loaded, table), getattr(fit, table))
    assert loaded.family == fit.family


def test_fits_with_tasks_features_and_counts_are_saved(tmp_path):
    task = {"p": cb.without_repeats([[3.0, 1.0], [1.0, 2.0], [1.0, 1.0]])}
    feature = pd.Series([0.0, 1.0, 0.0], ["2", "0", "1"])
    family = Family(depth=(1, np.inf), lapse=0.05, features={"edge": feature}, other=1)
    rows = {"hypothesis": [0, 1, 1], "datum": [0, 1, 2], "problem": ["p"] * 3, "count": [4, 2, 1]}
    found = people.fit(rows | {"mood": ["good", None, "bad"]}, task, family, by=None)
    found.save(tmp_path / "fit.cobayes")
    loaded = people.Fit.load(tmp_path / "fit.cobayes")
    pd.testing.assert_frame_equal(loaded.estimates, found.estimates)
    pd.testing.assert_frame_equal(loaded.trials, found.trials, check_dtype=False)
    assert loaded.family.features == {"edge": {"p": (1.0, 0.0, 0.0)}}

    def edge(model, history):
        return [1, 0, 0]

    for feature in (edge, {"p": edge}):
        again = people.fit(rows, task, family.at(features={"f": feature}), None)
        with pytest.raises(cb.CobayesError, match="'f' is a function, which cannot be saved"):
            again.save(tmp_path / "no.cobayes")


def test_a_file_that_is_no_fit_is_refused(fit, tmp_path):
    cb.Learner(cb.SCBI([[1.0, 2.0], [2.0, 1.0]])).save(tmp_path / "learner")
    for name, message in (("learner", "not a saved fit"), ("none", "there is no file")):
        with pytest.raises(cb.CobayesError, match=message):
            people.Fit.load(tmp_path / name)


def test_invalid_arguments_are_refused(choices):
    with pytest.raises(cb.CobayesError, match=r"there is no column \['person'\] to fit by"):
        people.fit(choices, PROBLEMS, by=["person"])  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        cb.CobayesError, match=r"row 1 .* column 'tags': the cell holds .*expected one value"
    ):
        people.fit(choices.assign(tags=[[1]] * len(choices)), PROBLEMS, by="tags")
    for table in (choices, choices.assign(age=1).rename(columns={"age": 7})):
        with pytest.raises(cb.CobayesError, match="no column '7' to fit by"):
            people.fit(table, PROBLEMS, by="7")
    with pytest.raises(cb.CobayesError, match=r"row 1 .* column 'age': the cell is empty"):
        people.fit(choices.assign(age=np.nan), PROBLEMS, by="age")
    with pytest.raises(cb.CobayesError, match=r"expected a people\.Family"):
        people.fit(choices, PROBLEMS, "scbi")  # pyright: ignore[reportArgumentType]
    with pytest.raises(cb.CobayesError, match="intervals is 'wide'"):
        people.fit(choices, PROBLEMS, intervals="wide")
    with pytest.raises(cb.CobayesError, match="not a single number"):
        people.score(choices, PROBLEMS, depth=(0, 1))


def test_person_whose_temperature_has_no_expected_information_converges():
    # Guesses with a threshold and one lapse: the likelihood is constant in the temperature up to a
    # value from which it falls.
    shown = np.arange(6)
    table = binom.pmf(shown[:, None], 5, [0.3, 0.7])
    data = [0, 0, 1, 1, 2, 2, 4, 4, 5]
    guess = [0, 0, 1, 1, 0, 1, 1, 1, 1]
    choices = {"person": "a", "round": 1, "lesson": range(9), "datum": data, "guess": guess}
    family = Family(
        response="guess",
        depth=(0, 1, 2, np.inf),
        rationality=1.0,
        sharpness=(0.0, 20.0),
        prior_temperature=(0.0, 2.0),
    )
    odds = (0.7 / 0.3) ** 8
    prior = {"*": [1.0 / (1.0 + odds), odds / (1.0 + odds)]}
    fit = people.fit(pd.DataFrame(choices), table, family, priors=prior, intervals=None)
    assert fit.arrays.is_converged.all()
