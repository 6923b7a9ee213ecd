"""Simulated people."""

import numpy as np
import pandas as pd
import pytest

import cobayes as cb
from cobayes import people
from cobayes.people import Family

PROBLEM = {"one": [[0.6, 0.2, 0.3], [0.3, 0.1, 0.5], [0.1, 0.7, 0.2]]}


def test_choices_have_the_frequencies_of_the_teacher():
    found = people.simulate({"depth": np.inf}, PROBLEM, num_people=4000, num_rounds=1, rng=1)
    rule = cb.SCBI(PROBLEM["one"])
    for hypothesis in range(3):
        own = found[found["hypothesis"] == str(hypothesis)]["datum"].astype(int)
        shares = np.bincount(own, minlength=3) / len(own)
        expected = rule.teach(np.full(3, 1 / 3), hypothesis)
        error = np.sqrt(expected * (1 - expected) / len(own))
        # Nine comparisons at 4.5 standard errors: an error rate below 1e-4.
        assert np.all(np.abs(shares - expected) < 4.5 * error)


def test_the_same_seed_gives_the_same_people():
    settings = dict(num_people=3, num_rounds=4)
    first = people.simulate({"depth": 2, "lapse": 0.2}, PROBLEM, rng=9, **settings)
    again = people.simulate({"depth": 2, "lapse": 0.2}, PROBLEM, rng=9, **settings)
    pd.testing.assert_frame_equal(first, again)


def test_every_person_can_have_parameters_of_its_own(tmp_path):
    table = pd.DataFrame(
        {"person": ["ann", "bob"], "depth": [0.0, 1.0], "rationality": [0.0, 20.0], "lapse": 0.0}
    )
    found = people.simulate(table, PROBLEM, num_rounds=60, rng=2)
    first = found[(found["round"] == 1)]
    assert first["person"].tolist() == ["ann", "bob"]
    ann = found[found["person"] == "ann"]["datum"].value_counts(normalize=True)
    assert ann.min() > 0.1
    table.to_csv(tmp_path / "people.csv", index=False)
    again = people.simulate(tmp_path / "people.csv", PROBLEM, num_rounds=60, rng=2)
    pd.testing.assert_frame_equal(again, found)


def test_people_can_be_simulated_from_a_fit():
    truth = {"depth": 1, "rationality": 3.0}
    choices = people.simulate(truth, PROBLEM, num_people=3, num_rounds=20, rng=1)
    fit = people.fit(choices, PROBLEM, Family(depth=1))
    again = people.simulate(fit, PROBLEM, num_rounds=5, rng=1)
    assert again["person"].unique().tolist() == ["1", "2", "3"]
    pooled = people.fit(choices, PROBLEM, Family(depth=1), by=None)
    assert len(people.simulate(pooled, PROBLEM, num_people=4, num_rounds=2, rng=1)) == 8


def test_fixed_parameters_of_the_family_are_those_of_the_people():
    settings = dict(num_people=2, num_rounds=30, rng=4)
    given = people.simulate({"depth": 2, "lapse": 0.4}, PROBLEM, **settings)
    fixed = people.simulate({}, PROBLEM, family=Family(depth=2, lapse=0.4), **settings)
    pd.testing.assert_frame_equal(given, fixed)


def test_depth_without_an_inner_rationality_takes_people_who_have_one():
    table = pd.DataFrame({"depth": [np.inf, 2.0], "inner_rationality": [3.0, 3.0]})
    assert len(people.simulate(table, PROBLEM, num_rounds=2, rng=1)) == 4


def test_a_person_whose_parameter_is_missing_is_named():
    table = pd.DataFrame({"person": ["ann", "bob"], "rationality": [1.0, np.nan]})
    with pytest.raises(
        cb.CobayesError, match="'rationality' of person 'bob' is missing or not a number"
    ):
        people.simulate(table, PROBLEM, num_rounds=1)


@pytest.mark.parametrize("count", ["num_rounds", "num_people", "num_lessons"])
def test_lessons_that_take_too_long_are_refused(count):
    settings = {"num_rounds": 2, "num_people": 2, count: 10**12}
    with pytest.raises(cb.CobayesError, match=r"would take about .* the limit is"):
        people.simulate({"depth": 1}, PROBLEM, **settings)
    with pytest.raises(cb.CobayesError, match="2 lessons of"):
        people.simulate(pd.DataFrame({"depth": [1, 1]}), PROBLEM, num_rounds=10**12)
    with pytest.raises(cb.CobayesError, match=r"would take about .* the limit is"):
        people.recover(Family(depth=1), PROBLEM, **{"num_rounds": 2, "num_people": 10**9})


def test_choices_of_a_long_lesson_can_be_scored():
    # The belief is carried from round to round, so that 400 rounds take 400 steps.
    found = people.simulate({"depth": 1}, PROBLEM, num_people=1, num_rounds=400, rng=1)
    scored = people.score(found, PROBLEM, depth=1)
    assert np.isfinite(scored["log_likelihood"]).all()


@pytest.mark.parametrize(
    "parameters",
    [{"lapse": 2.0}, {"depth": 1.5}, {"rationality": "high"}, {"rationality": 10**400}, 3],
)
def test_invalid_parameters_are_refused(parameters):
    with pytest.raises(cb.CobayesError):
        people.simulate(parameters, PROBLEM, num_people=1, num_rounds=1)


def test_unknown_parameters_are_refused():
    with pytest.raises(cb.CobayesError, match="name of a parameter is 'speed'"):
        people.simulate({"speed": 1.0}, PROBLEM, num_people=1, num_rounds=1)
    with pytest.raises(cb.CobayesError, match="num_people"):
        people.simulate({"depth": 1}, PROBLEM, num_rounds=1)


def test_choices_without_repeats_never_repeat_and_can_be_scored():
    task = {"one": cb.without_repeats(PROBLEM["one"])}
    choices = people.simulate({"depth": 1, "lapse": 0.3}, task, num_people=20, num_rounds=3, rng=4)
    for _, lesson in choices.groupby(["person", "problem"]):
        assert lesson["datum"].nunique() == 3
    scored = people.score(choices, task, depth=1)
    last = scored[scored["round"] == 3]
    assert last["probability"].to_numpy() == pytest.approx(1.0)
    repeated = choices.assign(datum="0")
    with pytest.raises(cb.CobayesError, match="is not available"):
        people.fit(repeated, task, Family(depth=1))
    with pytest.raises(cb.CobayesError, match="continues after its last available datum"):
        people.simulate({"depth": 1}, task, num_people=1, num_rounds=4)


def test_learners_are_never_shown_data_that_are_gone_or_impossible():
    # Hypothesis 0 allows two of the four data.
    task = {"one": cb.without_repeats([[1, 0], [1, 1], [0, 1], [0, 1]])}
    study = dict(num_people=20, family=Family(response="guess"), rng=4)
    found = people.simulate({"depth": 1}, task, num_rounds=2, **study)
    about_first = found[found["hypothesis"] == "0"]
    assert set(about_first["datum"]) == {"0", "1"}
    assert (about_first.groupby("person")["datum"].nunique() == 2).all()
    with pytest.raises(cb.CobayesError, match=r"'0' allows none of the data .* in round 3"):
        people.simulate({"depth": 1}, task, num_rounds=3, **study)


def test_free_parameters_that_are_not_given_have_neutral_values():
    family = Family(depth=(0, 2), response="rating", noise=(0.01, 1.0))
    settings = dict(num_people=2, num_rounds=5, rng=4, family=family)
    neutral = {"depth": 1, "rationality": 1, "sharpness": 1, "prior_temperature": 1}
    given = people.simulate(neutral | {"lapse": 0.0, "noise": 0.1}, PROBLEM, **settings)
    pd.testing.assert_frame_equal(people.simulate({}, PROBLEM, **settings), given)


def test_true_hypotheses_are_drawn_uniformly_whatever_the_prior():
    found = people.simulate(
        {"depth": 1},
        PROBLEM,
        priors={"one": [0.9, 0.05, 0.05]},
        num_people=900,
        num_rounds=1,
        rng=1,
    )
    # Four standard errors, sqrt(900 * 1/3 * 2/3) = 14.
    assert found["hypothesis"].value_counts().between(300 - 57, 300 + 57).all()
