"""Values and gradients of the likelihood against the slow twin and against the rules."""

import numpy as np
import pytest

import cobayes as cb
from cobayes import people
from cobayes.people.choices import read_choices
from cobayes.people.family import Family
from cobayes.people.likelihood import Likelihood
from cobayes.people.problems import read_problems
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
        inner_rationality=(0.1, 5.0),
        prior_temperature=(0.1, 5.0),
        features={"edge": EDGE} if response == "choice" else None,
        response=response,
    )
    return Family(**settings | changes)


def likelihood_of(family):
    problems = read_problems(MATRICES, PRIORS)
    choices = read_choices(table(family.response), problems, family.response)
    return Likelihood(choices, family, family.depth[0], np.zeros(len(choices), dtype=int))


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
        values["inner_rationality"] = 1.0
    found = likelihood.evaluate(np.array([[values[name] for name in family.names]]))
    assert found.value[0] == pytest.approx(float(slow(depth, response, values)), abs=1e-11)
    names = family.free_names(depth)
    assert len(names) >= 3
    for position, name in enumerate(names):
        expected = reference.derivative(lambda at: slow(depth, response, at), values, name)
        assert found.gradient[0, position] == pytest.approx(float(expected), abs=1e-9), name


@pytest.mark.parametrize("depth", [0, 1, np.inf])
def test_gradients_go_through_the_learner_that_is_followed(depth):
    family = family_of(depth, "choice", other=2)
    likelihood = likelihood_of(family)
    assert "inner_rationality" in family.free_names(depth)
    at = np.array([[VALUES[name] for name in family.names]])
    found = likelihood.evaluate(at)
    for position, column in enumerate(likelihood.free):
        step = np.zeros_like(at)
        step[0, column] = 1e-5
        up, down = (likelihood.evaluate(at + sign * step).value[0] for sign in (1, -1))
        assert found.gradient[0, position] == pytest.approx((up - down) / 2e-5, abs=1e-8)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_table_as_it_is_can_be_the_literal_learner(depth):
    family = family_of(depth, "guess", literal="truth")
    values = np.array([[VALUES[name] for name in family.names]])
    found = likelihood_of(family).evaluate(values).value[0]
    assert found == pytest.approx(float(slow(depth, "guess", VALUES, "truth")), abs=1e-12)


def test_expected_information_is_the_variance_of_the_gradient():
    family = family_of(2, "choice")
    likelihood = likelihood_of(family)
    values = np.array([[VALUES[name] for name in family.names]])
    found = likelihood.responses(values)
    # Options that only pad a smaller problem have probability zero.
    relative = found.derivative / np.where(found.probability > 0.0, found.probability, 1.0)
    by_hand = np.einsum("ptk,qtk->tpq", relative, found.derivative)
    assert likelihood.rows(values).information == pytest.approx(by_hand, abs=1e-14)
    assert found.derivative.sum(axis=2) == pytest.approx(0.0, abs=1e-14)


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


def test_lapse_is_all_that_a_ruled_out_datum_gets():
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
    likelihood = Likelihood(choices, family, 2, np.repeat([0, 1], 5))
    first = np.array([VALUES[name] for name in family.names])
    both = np.array([first, first * 0.9])
    whole = likelihood.evaluate(both)
    part = likelihood.take(np.array([1])).evaluate(both[1:])
    for found, expected in zip(part, whole, strict=True):
        assert found[0] == pytest.approx(expected[1])
