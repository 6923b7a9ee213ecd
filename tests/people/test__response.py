"""Tables with zeros: the likelihood is that of the rules, and derivatives hold there too."""

import numpy as np
import pytest

import cobayes as cb
from cobayes import people
from cobayes.people._response import draw_many
from cobayes.people.choices import read_choices
from cobayes.people.family import Family
from cobayes.people.likelihood import Likelihood
from cobayes.people.problems import read_problems

RNG = np.random.default_rng(8)


def patterns(count, shape=(7, 4)):
    """Random tables with two fifths of zeros, no empty row or column."""
    found = []
    while len(found) < count:
        table = RNG.random(shape) * (RNG.random(shape) > 0.4)
        if table.any(axis=0).all() and table.any(axis=1).all():
            found.append(table)
    return found


class Walk(cb.tasks.Task):
    """Data near the last one are likelier; the state is the last datum."""

    def __init__(self, table, costs):
        self.table, self.costs = cb.Model(table), costs

    def matrix_at(self, state):
        return self.table

    def data_prior_at(self, state):
        if state is None:
            return None
        weights = np.exp(-1.5 * self.costs[state])
        return weights / weights.sum()

    def next_state(self, state, datum):
        return datum


def rule_of(depth, table, rationality=1.0, **settings):
    return cb.Pragmatic(table, depth, rationality=rationality, **settings)


@pytest.mark.parametrize("depth", [0, 1, 2, 3, np.inf])
def test_likelihood_of_a_lesson_is_the_product_of_the_teachers_distributions(depth):
    for table in patterns(6):
        for rationality in (1.0,) if depth in (0, np.inf) else (1.0, 2.5):
            teacher = cb.Teacher(rule_of(depth, table, rationality), 1, rng=3)
            beliefs, chances, data = [], [], []
            for _ in range(3):
                beliefs.append(teacher.belief[1])
                before = teacher.distribution
                data.append(teacher.choose())
                chances.append(before[data[-1]])
            rows = {"person": "a", "round": [1, 2, 3], "hypothesis": 1, "datum": data}
            # Teacher and learner of a lesson share one rule: the belief followed is of depth K.
            scored = people.score(
                {**rows, "person": ["a"] * 3, "hypothesis": [1] * 3},
                table,
                depth=depth,
                rationality=rationality if depth else 1.0,
                inner_rationality=1.0 if depth == np.inf else rationality,
                other=depth,
            )
            assert scored["probability"].to_numpy() == pytest.approx(np.array(chances), abs=1e-9)
            assert scored["belief"].to_numpy() == pytest.approx(np.array(beliefs), abs=1e-9)
            total = scored["log_likelihood"].sum()
            assert total == pytest.approx(np.log(chances).sum(), abs=1e-8)


@pytest.mark.parametrize("depth", [0, 1, 2, np.inf])
def test_learners_believe_what_the_rule_says(depth):
    table = patterns(1)[0]
    rule = rule_of(depth, table)
    datum = int(np.flatnonzero(table[:, 0])[0])
    expected = rule.update(np.full(4, 0.25), datum)
    found = people.score(
        {"person": ["a"], "round": [1], "datum": [datum], "guess": [0]},
        table,
        depth=depth,
        response="guess",
    )
    assert found["probability"].iloc[0] == pytest.approx(expected[0], abs=1e-9)


@pytest.mark.parametrize("depth", [1, 2, np.inf])
def test_data_priors_of_a_task_are_those_of_the_rule(depth):
    task = Walk(patterns(1)[0], RNG.random((7, 7)))
    teacher = cb.Teacher(cb.Pragmatic(task, depth), 1, rng=5)
    chances, data = [], []
    for _ in range(3):
        before = teacher.distribution
        data.append(teacher.choose())
        chances.append(before[data[-1]])
    scored = people.score(
        {"person": ["a"] * 3, "round": [1, 2, 3], "hypothesis": [1] * 3, "datum": data},
        task,
        depth=depth,
        other=depth,
    )
    assert scored["probability"].to_numpy() == pytest.approx(np.array(chances), abs=1e-9)


def test_derivatives_at_infinite_depth_hold_with_zeros():
    prior = np.array([0.4, 0.1, 0.3, 0.2])
    family = Family(depth=np.inf, lapse=0.05, prior_temperature=(0.1, 5.0))
    for table in patterns(8):
        data = np.flatnonzero(table[:, 0])[:2]
        problems = read_problems({"p": table}, {"p": prior})
        rows = {"person": ["a"] * 2, "problem": ["p"] * 2, "round": [1, 2]}
        rows |= {"hypothesis": [0, 0], "datum": list(data) * (2 // len(data))}
        choices = read_choices(rows, problems, "choice")
        likelihood = Likelihood(choices, family, np.inf, np.zeros(2, dtype=int))
        at = np.array([[2.0, 0.05, 1.0, 0.83]])
        step = np.zeros((1, 4))
        step[0, 3] = 1e-5
        up, down = (likelihood.evaluate(at + sign * step).value[0] for sign in (1, -1))
        slope = likelihood.evaluate(at).gradient[0, 1]
        assert slope == pytest.approx((up - down) / 2e-5, abs=1e-5)


def test_a_datum_that_the_truth_rules_out_gets_the_lapse_alone():
    table = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    rows = {"person": ["a"], "round": [1], "hypothesis": [0], "datum": [2]}
    for depth in (0, 1, 2, np.inf):
        found = people.score(rows, table, depth=depth, lapse=0.2)
        assert found["probability"].iloc[0] == pytest.approx(0.05)


def test_impossible_choices_without_a_lapse_are_counted_and_people_named():
    table = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    rows = {
        "person": ["ann", "bob", "bob"],
        "round": [1, 1, 2],
        "hypothesis": [0, 0, 0],
        "datum": [1, 2, 2],
    }
    with pytest.raises(cb.CobayesError, match=r"2 choices show a datum .* row 2;.*'bob'"):
        people.fit(rows, table, Family(lapse=0.0))
    found = people.fit(rows, table, Family())
    assert np.isfinite(found.log_likelihood)


def test_a_learner_that_has_ruled_the_truth_out_makes_all_data_alike():
    # Datum 1 is the sign of hypothesis 1 at infinite depth, so the truth 0 is ruled out by it.
    table = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    rows = {"person": ["a"] * 2, "round": [1, 2], "hypothesis": [2, 2], "datum": [3, 2]}
    found = people.score(rows, table, depth=1, lapse=0.2)
    assert found["belief"].iloc[1] == 0.0
    # Only datum 2 goes with the truth; the lapse adds a quarter of 0.2.
    assert found["probability"].iloc[1] == pytest.approx(0.8 + 0.05)


def test_features_count_where_the_learner_has_ruled_the_truth_out():
    table = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    rows = {"person": ["a"] * 2, "round": [1, 2], "hypothesis": [2, 2], "datum": [3, 2]}
    features = {"edge": [0.0, 0.0, 1.0, 0.0]}
    family = dict(depth=1, lapse=0.2, features=features, weights=1.5)
    found = people.score(rows, table, **family)
    assert found["belief"].iloc[1] == 0.0
    # Data 1 and 2 go with the truth.
    expected = 0.8 / (1.0 + np.exp(-1.5)) + 0.05
    assert found["probability"].iloc[1] == pytest.approx(expected)
    free = people.LogLikelihood(
        rows, table, Family(**family | {"weights": (-3.0, 3.0), "rationality": 1.0})
    )
    up, down = (free([1.5 + step])[0] for step in (1e-5, -1e-5))
    assert free([1.5])[1][0] == pytest.approx((up - down) / 2e-5, abs=1e-8)


def test_rationality_of_a_literal_teacher_on_zeros_and_ones_is_not_identified():
    table = {"shape": np.array([[1, 1], [1, 0], [0, 1], [1, 1]])}
    choices = people.simulate({"depth": 0}, table, num_people=1, num_rounds=12, rng=1)
    found = people.fit(choices, table, Family(depth=0)).estimates.iloc[0]
    assert np.isnan(found["rationality"])
    assert "rationality is not identified" in found["note"]


def test_a_draw_never_leaves_the_support():
    probability = np.array([[0.0, 0.3, 0.7 - 1e-16, 0.0]])
    for uniform in (0.0, 0.2999, 0.3001, 1.0 - 1e-16):
        assert draw_many(probability, np.array([uniform]))[0] in (1, 2)
