"""The browser twin's lessons, ensembles, boards and random numbers against Python's."""

import numpy as np
import pytest

import cobayes as cb
from tests.browser.cases import TOLERANCE, as_floats, make_rule, positive_case, zeros_case


@pytest.mark.parametrize("kind", ["BI", "SCBI", "Pragmatic"])
@pytest.mark.parametrize("repeats", [True, False])
def test_lessons_agree_with_python(twin, kind, repeats):
    """On tables with zeros; without repeats on positive ones, so that no hypothesis runs out."""
    rng = np.random.default_rng(22)
    options = {"depth": 2, "rationality": 1.0} if kind == "Pragmatic" else {}
    requests, expected = [], []
    for _ in range(15):
        matrix, prior = zeros_case(rng) if repeats else positive_case(rng)
        subject = matrix if repeats else cb.without_repeats(matrix)
        rule = make_rule(kind, subject, None, options)
        teacher = cb.Teacher(rule, int(rng.integers(len(prior))), prior, rng=rng)
        lesson = cb.run_lesson(teacher, cb.Learner(rule, prior), 40 if repeats else len(matrix))
        requests.append(
            {
                "ask": "follow",
                "matrix": matrix.tolist(),
                "rule": {"kind": kind, **options},
                "prior": prior.tolist(),
                "data": lesson.data.tolist(),
                "noRepeats": not repeats,
            }
        )
        expected.append(lesson.beliefs)
    for found, beliefs in zip(twin(requests), expected, strict=True):
        np.testing.assert_allclose(np.exp(as_floats(found)), beliefs, rtol=0, atol=TOLERANCE)


def test_long_lessons_keep_their_logarithms(twin):
    """Log-beliefs after 400 data, far below what a float can hold."""
    rng = np.random.default_rng(16)
    matrix = rng.dirichlet(np.ones(6), 4).T
    data = rng.integers(0, 6, 400).tolist()
    for kind in ("BI", "SCBI"):
        [found] = twin(
            [{"ask": "follow", "matrix": matrix.tolist(), "rule": {"kind": kind}, "data": data}]
        )
        learner = cb.Learner(getattr(cb, kind)(matrix))
        for datum in data:
            learner.observe(datum)
        np.testing.assert_allclose(as_floats(found)[-1], learner.log_belief, rtol=1e-9, atol=1e-9)


def test_without_repeats_nothing_is_shown_twice(twin):
    rng = np.random.default_rng(19)
    matrix = rng.dirichlet(np.ones(6), 3).T
    [lesson] = twin(
        [
            {
                "ask": "lesson",
                "matrix": matrix.tolist(),
                "rule": {"kind": "SCBI"},
                "hypothesis": 1,
                "numRounds": 10,
                "seed": 4,
                "noRepeats": True,
            }
        ]
    )
    assert sorted(lesson["data"]) == list(range(6))


def test_an_impossible_datum_leaves_the_belief_as_it_was(twin):
    matrix = [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    [beliefs] = twin(
        [{"ask": "follow", "matrix": matrix, "rule": {"kind": "BI"}, "data": [1, 2, 0]}]
    )
    assert beliefs[1] == beliefs[2] == beliefs[3]


@pytest.mark.parametrize("seed", [0, 6, 2**32 - 1, 2**40 + 3])
def test_the_generator_is_numpys(twin, seed):
    """Bit for bit: a seed of the page can be drawn again in Python."""
    [found] = twin([{"ask": "uniforms", "seed": seed, "count": 1000}])
    expected = np.random.Generator(np.random.SFC64(seed)).random(1000)
    assert found == expected.tolist()


def test_drawn_lessons_are_pythons(twin):
    """The same seed gives the same data: a lesson of every rule, with and without repeats."""
    rng = np.random.default_rng(23)
    requests, expected = [], []
    for number in range(12):
        matrix, prior = positive_case(rng) if number % 2 else zeros_case(rng)
        kind = ("BI", "SCBI", "Pragmatic")[number % 3]
        options = {"depth": 1, "rationality": 2.0} if kind == "Pragmatic" else {}
        truth, repeats = int(rng.integers(len(prior))), number % 4 < 2
        rule = make_rule(kind, matrix if repeats else cb.without_repeats(matrix), None, options)
        teacher = cb.Teacher(rule, truth, prior, rng=np.random.SFC64(number))
        left = teacher.task.rounds_left(teacher.state, truth)
        rounds = 20 if left is None else min(left, 20)
        expected.append(cb.run_lesson(teacher, cb.Learner(rule, prior), rounds).data.tolist())
        requests.append(
            {
                "ask": "lesson",
                "matrix": matrix.tolist(),
                "rule": {"kind": kind, **options},
                "hypothesis": truth,
                "prior": prior.tolist(),
                "numRounds": 20,
                "seed": number,
                "noRepeats": not repeats,
            }
        )
    assert [lesson["data"] for lesson in twin(requests)] == expected


@pytest.mark.parametrize(("repeats", "weight"), [(True, 1.5), (False, 900.0)])
def test_costs_of_moving_are_pythons(twin, repeats, weight):
    """Without repeats, exp(-cost) relative to the cheapest datum, the last one, underflows."""
    rng = np.random.default_rng(24)
    matrix, costs = rng.dirichlet(np.ones(5), 3).T, 1.0 + rng.random((5, 5))
    np.fill_diagonal(costs, 0.0)
    costs[0, 3] = np.inf
    subject, num_rounds = (matrix, 12) if repeats else (cb.without_repeats(matrix), 4)
    rule = cb.SCBI(cb.moving_costs(subject, costs, weight))
    teacher = cb.Teacher(rule, 1, rng=np.random.SFC64(7))
    lesson = cb.run_lesson(teacher, cb.Learner(rule), num_rounds)
    weighted = [[None if np.isinf(cost) else weight * cost for cost in row] for row in costs]
    [found] = twin(
        [
            {
                "ask": "lesson",
                "matrix": matrix.tolist(),
                "rule": {"kind": "SCBI"},
                "hypothesis": 1,
                "numRounds": num_rounds,
                "noRepeats": not repeats,
                "seed": 7,
                "costs": weighted,
            }
        ]
    )
    assert found["data"] == lesson.data.tolist()
    beliefs = np.exp(as_floats(found["logBeliefs"]))
    np.testing.assert_allclose(beliefs, lesson.beliefs, rtol=0, atol=TOLERANCE)


def test_ensembles_agree_with_python_within_their_noise(twin):
    matrix = cb.examples["M_2"].model.matrix
    settings = {"numRounds": 15, "numLessons": 1500, "hypothesis": 0, "seed": 3}
    for kind in ("BI", "SCBI"):
        [found] = twin(
            [{"ask": "simulate", "matrix": matrix.tolist(), "rule": {"kind": kind}, **settings}]
        )
        expected = cb.simulate(getattr(cb, kind)(matrix), 0, num_rounds=15, num_lessons=6000, rng=1)
        noise = np.hypot(found["std"][-1] / 1500**0.5, expected.std(0)[-1] / 6000**0.5)
        assert abs(found["mean"][-1] - expected.mean(0)[-1]) < 5 * noise


def test_the_board_has_pythons_matrices(twin):
    world = cb.GridWorld(
        5, 4, (3, 2), {"A": (0, 0), "B": (0, 4), "C": (2, 4)}, 0.6, walls=[(1, 1), (1, 2), (2, 0)]
    )
    board = {
        "width": 5,
        "height": 4,
        "start": [3, 2],
        "goals": {"A": [0, 0], "B": [0, 4], "C": [2, 4]},
        "discount": 0.6,
        "walls": [[1, 1], [1, 2], [2, 0]],
    }
    squares = list(world.states)
    found = twin([{"ask": "grid", "board": board, "square": list(square)} for square in squares])
    for square, matrix in zip(squares, found, strict=True):
        np.testing.assert_allclose(matrix, world.matrix_at(square).matrix, rtol=1e-13)
