"""The likelihood: values and gradients against `reference` and the rules, with zeros and tasks."""

import numpy as np
import pandas as pd
import pytest

import cobayes as cb
from cobayes import people
from cobayes.people.choices import read_choices, read_problems
from cobayes.people.family import Family
from cobayes.people.likelihood import Likelihood
from cobayes.people.model import draw_many
from tests.people import reference

MATRICES = {
    "wide": [[0.6, 0.2, 0.3], [0.3, 0.1, 0.5], [0.1, 0.7, 0.2], [0.4, 0.4, 0.1]],
    "small": [[0.9, 0.4], [0.2, 0.5], [0.3, 0.1]],
}
PRIORS = {"wide": [0.5, 0.2, 0.3], "small": [0.7, 0.3]}
LESSONS = {"wide": (1, [2, 0, 3]), "small": (0, [0, 1])}
GUESSES = {"wide": [1, 2, 0], "small": [0, 0]}
RATINGS = {"wide": [0.0, 0.35, 1.0], "small": [0.6, 0.9]}
EDGE = {"wide": [1.0, 0.0, 0.0, 1.0], "small": [0.0, 1.0, 2.0]}
VALUES = {
    "rationality": 1.7,
    "lapse": 0.07,
    "edge": 0.4,
    "inner_rationality": 1.3,
    "sharpness": 0.9,
    "prior_temperature": 0.8,
    "noise": 0.3,
}


def table(response):
    rows = []
    for name, (truth, data) in LESSONS.items():
        for position, datum in enumerate(data):
            row = dict(person="a", problem=name, round=position, hypothesis=truth, datum=datum)
            row |= {"guess": GUESSES[name][position], "rating": RATINGS[name][position]}
            rows.append(row)
    return {key: [row[key] for row in rows] for key in rows[0]}


def family_of(depth, response, **changes):
    settings = dict(
        depth=depth,
        rationality=(0.0, 20.0),
        lapse=(0.0, 0.5),
        prior_temperature=(0.1, 5.0),
        response=response,
    )
    if response == "choice":
        settings |= dict(inner_rationality=(0.1, 5.0), features={"edge": EDGE})
    else:
        settings |= dict(sharpness=(0.0, 20.0))
    return Family(**settings | changes)


def likelihood_of(family):
    problems = read_problems(MATRICES, PRIORS)
    choices = read_choices(table(family.response), problems, family.response)
    return Likelihood(choices, family, family.depth[0], [np.arange(len(choices))])


def slow(depth, response, values, literal="likelihood"):
    total = 0
    for name, (truth, data) in LESSONS.items():
        answers = GUESSES[name] if response == "guess" else RATINGS[name]
        lesson = (MATRICES[name], PRIORS[name], truth, data, answers)
        feature = EDGE[name] if response == "choice" else None
        total += reference.log_likelihood([lesson], depth, values, response, literal, feature)
    return total


@pytest.mark.parametrize("response", ["choice", "guess", "rating"])
@pytest.mark.parametrize("depth", [0, 1, 2, 3, np.inf])
def test_gradients_agree_with_finite_differences_in_high_precision(depth, response):
    family = family_of(depth, response)
    likelihood = likelihood_of(family)
    values = dict(VALUES)
    if depth == np.inf:
        values[family.recursion] = 1.0
    found = likelihood.evaluate(np.array([[values[name] for name in likelihood.names]]))
    assert found.value[0] == pytest.approx(float(slow(depth, response, values)), abs=1e-11)
    names = family.free_names(depth)
    assert len(names) >= 3
    for position, name in enumerate(names):
        expected = reference.derivative(lambda at: slow(depth, response, at), values, name)
        assert found.gradient[0, position] == pytest.approx(float(expected), abs=1e-9), name


@pytest.mark.parametrize("depth", [0, 1, np.inf])
def test_gradients_include_the_rule_that_updates_the_learner_in_mind(depth):
    family = family_of(depth, "choice", other=2)
    likelihood = likelihood_of(family)
    assert "inner_rationality" in family.free_names(depth)
    at = np.array([[VALUES[name] for name in likelihood.names]])
    found = likelihood.evaluate(at)
    for position in range(at.size):
        step = np.zeros_like(at)
        step[0, position] = 1e-5
        up, down = (likelihood.evaluate(at + sign * step).value[0] for sign in (1, -1))
        assert found.gradient[0, position] == pytest.approx((up - down) / 2e-5, abs=1e-8)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_literal_learner_can_use_the_table_without_normalisation(depth):
    family = family_of(depth, "guess", literal="truth")
    likelihood = likelihood_of(family)
    values = np.array([[VALUES[name] for name in likelihood.names]])
    found = likelihood.evaluate(values).value[0]
    assert found == pytest.approx(float(slow(depth, "guess", VALUES, "truth")), abs=1e-12)


def test_expected_information_is_the_variance_of_the_gradient():
    family = family_of(2, "choice")
    likelihood = likelihood_of(family)
    values = np.array([[VALUES[name] for name in likelihood.names]])
    probability, derivative = likelihood.responses(values, likelihood.names)
    # Options that only pad a smaller problem have probability zero.
    relative = derivative / np.where(probability > 0.0, probability, 1.0)
    by_hand = np.einsum("ptk,qtk->tpq", relative, derivative)
    assert likelihood.by_row(values, likelihood.names).information == pytest.approx(
        by_hand, abs=1e-14
    )
    assert derivative.sum(axis=2) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize(("depth", "rule"), [(0, cb.BI), (np.inf, cb.SCBI)])
def test_likelihood_of_a_sequence_is_the_product_of_the_teachers_distributions(depth, rule):
    matrix, data = MATRICES["wide"], [2, 0, 0, 3, 1]
    choices = {"person": 5 * ["a"], "round": range(5), "hypothesis": 5 * [2], "datum": data}
    scored = people.score(choices, matrix, depth=depth)
    teacher = cb.Teacher(rule(matrix), 2)
    for row, datum in enumerate(data):
        assert scored["probability"].iloc[row] == pytest.approx(teacher.distribution[datum])
        assert scored["belief"].iloc[row] == pytest.approx(teacher.belief[2])
        teacher.observe(datum)
    assert scored["belief_after"].iloc[-1] == pytest.approx(teacher.belief[2])


def test_datum_that_is_almost_impossible_has_the_probability_of_a_lapse():
    found = people.score(
        {"person": ["a"], "round": [1], "hypothesis": [0], "datum": [2]},
        cb.Model([[1.0, 1.0], [1.0, 2.0], [1e-300, 1.0]]),
        depth=1,
        lapse=0.3,
    )
    assert found["probability"].iloc[0] == pytest.approx(0.1)


def test_units_can_be_evaluated_alone():
    family = family_of(2, "choice")
    problems = read_problems(MATRICES, PRIORS)
    one = table("choice")
    two = {key: [*one[key], *one[key]] for key in one}
    two["person"] = ["a"] * 5 + ["b"] * 5
    choices = read_choices(two, problems, "choice")
    likelihood = Likelihood(choices, family, 2, [np.arange(5), np.arange(5, 10)])
    first = np.array([VALUES[name] for name in likelihood.names])
    both = np.array([first, first * 0.9])
    whole = likelihood.evaluate(both)
    part = likelihood.take(np.array([1])).evaluate(both[1:])
    for found, expected in zip(part, whole, strict=True):
        assert found[0] == pytest.approx(expected[1])


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
            # In a lesson, teacher and learner share one rule: the belief is updated at depth K.
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
def test_learners_have_the_posterior_of_the_rule(depth):
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
        likelihood = Likelihood(choices, family, np.inf, [np.arange(2)])
        assert likelihood.names == ("rationality", "prior_temperature")
        at, step = np.array([[2.0, 0.83]]), np.array([[0.0, 1e-5]])
        up, down = (likelihood.evaluate(at + sign * step).value[0] for sign in (1, -1))
        slope = likelihood.evaluate(at).gradient[0, 1]
        assert slope == pytest.approx((up - down) / 2e-5, abs=1e-5)


def test_datum_that_is_impossible_under_the_truth_has_the_probability_of_a_lapse():
    table = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    rows = {"person": ["a"], "round": [1], "hypothesis": [0], "datum": [2]}
    for depth in (0, 1, 2, np.inf):
        found = people.score(rows, table, depth=depth, lapse=0.2)
        assert found["probability"].iloc[0] == pytest.approx(0.05)


def test_error_names_number_and_people_of_impossible_choices():
    table = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    rows = {
        "person": ["ann", "bob", "bob"],
        "round": [1, 1, 2],
        "hypothesis": [0, 0, 0],
        "datum": [1, 2, 2],
    }
    with pytest.raises(cb.CobayesError, match=r"row 2 of .*responses: 2\).*'bob'"):
        people.fit(rows, table, Family(lapse=0.0))
    found = people.fit(rows, table, Family())
    assert np.isfinite(found.log_likelihood)


def test_error_counts_each_response_of_a_table_of_counts():
    counts = {"hypothesis": ["0", "0"], "datum": ["0", "1"], "count": [5, 3]}
    with pytest.raises(cb.CobayesError, match=r"row 2 of .* \(such responses: 3\)"):
        people.fit(counts, [[1, 1], [0, 1]], people.Family(depth=1, lapse=0.0), None)


def test_data_are_equal_if_the_learner_in_mind_has_excluded_the_truth():
    # Datum 3 is impossible under hypothesis 2, so that after datum 3 the belief in it is zero.
    table = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    rows = {"person": ["a"] * 2, "round": [1, 2], "hypothesis": [2, 2], "datum": [3, 2]}
    found = people.score(rows, table, depth=1, lapse=0.2)
    assert found["belief"].iloc[1] == 0.0
    # Only datum 2 is possible under the truth; the lapse adds a quarter of 0.2.
    assert found["probability"].iloc[1] == pytest.approx(0.8 + 0.05)


def test_features_count_if_the_learner_in_mind_has_excluded_the_truth():
    table = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    rows = {"person": ["a"] * 2, "round": [1, 2], "hypothesis": [2, 2], "datum": [3, 2]}
    features = {"edge": [0.0, 0.0, 1.0, 0.0]}
    family = dict(depth=1, lapse=0.2, features=features, weights=1.5)
    found = people.score(rows, table, **family)
    assert found["belief"].iloc[1] == 0.0
    # Data 1 and 2 are possible under the truth.
    expected = 0.8 / (1.0 + np.exp(-1.5)) + 0.05
    assert found["probability"].iloc[1] == pytest.approx(expected)
    free = people.LogLikelihood(
        rows, table, Family(**family | {"weights": (-3.0, 3.0), "rationality": 1.0})
    )
    up, down = (free([1.5 + step])[0] for step in (1e-5, -1e-5))
    assert free([1.5])[1][0] == pytest.approx((up - down) / 2e-5, abs=1e-8)


def test_features_with_labels_are_put_in_order():
    model = cb.Model([[0.6, 0.2], [0.3, 0.1], [0.1, 0.7]], list("abc"))
    rows = {"person": ["a"], "round": [1], "hypothesis": [0], "datum": ["c"]}
    cost = pd.Series({"c": 3.0, "a": 1.0, "b": 2.0})
    found = [
        people.score(rows, model, features={"cost": own}, weights=-1.0)["probability"][0]
        for own in ([1.0, 2.0, 3.0], cost, lambda model, history: cost)
    ]
    assert found[0] == found[1] == found[2]
    with pytest.raises(cb.CobayesError, match="there is no datum called 'd'"):
        people.score(rows, model, features={"cost": cost.rename({"a": "d"})}, weights=-1.0)


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
