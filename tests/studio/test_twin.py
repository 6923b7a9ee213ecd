"""The browser twin against Python's rules and against what defines the limit with zeros."""

import subprocess
from importlib import resources

import numpy as np
import pytest

import cobayes as cb
from tests.studio.cases import as_floats, data_prior, mixed_case, positive_case, zeros_case
from tests.studio.conftest import find_node, npm_file

TOLERANCE = 1e-10


def request(kind, matrix, belief, prior=None, **options):
    return {
        "ask": "respond",
        "rule": {"kind": kind, **options},
        "matrix": matrix.tolist(),
        "belief": belief.tolist(),
        "dataPrior": None if prior is None else prior.tolist(),
    }


def positive_weights(rng, matrix):
    """Return None or positive weights of the data."""
    prior = data_prior(rng, matrix)
    return None if prior is None or not prior.all() else prior


def make_rule(kind, matrix, prior, options):
    if kind == "BI":
        return cb.BI(matrix)
    if kind == "SCBI":
        return cb.SCBI(matrix, data_prior=prior)
    depth = options["depth"]
    rest = {name: value for name, value in options.items() if name != "depth"}
    return cb.Pragmatic(matrix, depth, data_prior=prior, **rest)


@pytest.mark.parametrize("kind", ["BI", "SCBI", "Pragmatic"])
def test_400_tables_agree_with_python(twin, kind):
    """Random, nearly diagonal, with zeros and ties; data priors; excluded hypotheses."""
    rng = np.random.default_rng(11)
    cases = []
    for number in range(400):
        matrix, belief, prior = mixed_case(rng, number)
        options = {}
        if kind == "Pragmatic":
            options = {
                "depth": int(rng.integers(0, 7)),
                "rationality": float(rng.choice([0.5, 1.0, 3.0])),
                "literal": str(rng.choice(["likelihood", "truth"])),
            }
        cases.append((matrix, belief, None if kind == "BI" else prior, options))
    answers = twin([request(kind, *case[:3], **case[3]) for case in cases])
    for (matrix, belief, prior, options), answer in zip(cases, answers, strict=True):
        rule = make_rule(kind, matrix, prior, options)
        np.testing.assert_allclose(
            as_floats(answer["likelihood"]), rule.likelihood(belief), rtol=0, atol=TOLERANCE
        )
        # NaN where no believed hypothesis allows the datum, in both.
        np.testing.assert_allclose(
            np.exp(as_floats(answer["logPosteriors"])),
            rule.posteriors(belief),
            rtol=0,
            atol=TOLERANCE,
        )


def test_the_blocks_are_pythons(twin):
    rng = np.random.default_rng(20)
    cases = [(*case, data_prior(rng, case[0])) for case in (zeros_case(rng) for _ in range(150))]
    uniform = [np.full(len(case[0]), 1 / len(case[0])) for case in cases]
    rows = [even if case[2] is None else case[2] for case, even in zip(cases, uniform, strict=True)]
    found = twin(
        [
            {
                "ask": "blocks",
                "matrix": matrix.tolist(),
                "rowSums": row_sums.tolist(),
                "columnSums": belief.tolist(),
            }
            for (matrix, belief, _), row_sums in zip(cases, rows, strict=True)
        ]
    )
    for (matrix, belief, _), row_sums, split in zip(cases, rows, found, strict=True):
        if not row_sums.all():
            continue  # rows without a sum are in no block here, in one of the limit in Python
        expected = cb.scaling_blocks(matrix, row_sums, belief)
        np.testing.assert_array_equal(split["support"], expected.support)
        for block, own in zip(split["blocks"], expected.blocks, strict=True):
            np.testing.assert_array_equal(block["rows"], own.rows)
            np.testing.assert_array_equal(block["columns"], own.columns)
            assert block["ratio"] == pytest.approx(own.ratio, rel=1e-10)


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


def test_zeros_have_the_sums_that_their_blocks_ask_for(twin):
    """Columns sum to theta, rows to ratio times p, entries outside the support are zero."""
    rng = np.random.default_rng(12)
    cases = [
        (*case, positive_weights(rng, case[0])) for case in (zeros_case(rng) for _ in range(150))
    ]
    answers = twin([request("SCBI", *case) for case in cases])
    asked = [
        {
            "ask": "blocks",
            "matrix": matrix.tolist(),
            "rowSums": (np.ones(len(matrix)) if prior is None else prior).tolist(),
            "columnSums": belief.tolist(),
        }
        for matrix, belief, prior in cases
    ]
    found = twin(asked)
    several = 0
    for (matrix, belief, prior), answer, split in zip(cases, answers, found, strict=True):
        likelihood = as_floats(answer["likelihood"])
        scaled = likelihood * belief
        weights = np.full(len(matrix), 1.0 / len(matrix)) if prior is None else prior
        np.testing.assert_allclose(likelihood.sum(axis=0), 1.0, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(scaled > 0, split["support"])
        rows = sorted(row for block in split["blocks"] for row in block["rows"])
        assert rows == list(range(len(matrix)))
        for block in split["blocks"]:
            np.testing.assert_allclose(
                scaled[block["rows"]].sum(axis=1),
                block["ratio"] * weights[block["rows"]],
                rtol=0,
                atol=1e-11,
            )
        several += len(split["blocks"]) > 1
        # Belief is a martingale when data are drawn in proportion to the row sums.
        posteriors = np.exp(as_floats(answer["logPosteriors"]))
        np.testing.assert_allclose(scaled.sum(axis=1) @ posteriors, belief, rtol=0, atol=1e-12)
    assert several > 40


def test_zeros_are_the_limit_of_many_sweeps(twin):
    """Where sweeps converge geometrically, 20,000 of them give the twin's answer."""
    rng = np.random.default_rng(13)
    cases = [zeros_case(rng) for _ in range(30)]
    answers = twin([request("SCBI", *case) for case in cases])
    gaps = []
    for (matrix, belief), answer in zip(cases, answers, strict=True):
        swept = matrix.copy()
        for _ in range(20_000):
            swept *= (1.0 / len(matrix) / swept.sum(axis=1))[:, None]
            swept *= belief / swept.sum(axis=0)
        gaps.append(np.abs(swept / swept.sum(axis=0) - as_floats(answer["likelihood"])).max())
    # Sweeps approach the limit like 1/k where a positive entry vanishes inside a block.
    assert np.median(gaps) < 1e-12
    assert max(gaps) < 5e-4


@pytest.mark.parametrize("literal", ["likelihood", "truth"])
def test_recursion_follows_its_definition(twin, literal):
    rng = np.random.default_rng(14)
    cases = []
    for _ in range(60):
        matrix, belief = zeros_case(rng) if rng.random() < 0.5 else positive_case(rng)
        depth, alpha = int(rng.integers(1, 6)), float(rng.choice([0.5, 1.0, 3.0]))
        cases.append((matrix, belief, positive_weights(rng, matrix), depth, alpha))
    answers = twin(
        [
            request("Pragmatic", *case[:3], depth=case[3], rationality=case[4], literal=literal)
            for case in cases
        ]
    )
    for (matrix, belief, prior, depth, alpha), answer in zip(cases, answers, strict=True):
        weights = np.ones(len(matrix)) if prior is None else prior
        teacher = matrix / matrix.sum(axis=0)
        learner = (matrix if literal == "truth" else teacher) * belief
        learner = learner / learner.sum(axis=1, keepdims=True)
        for _ in range(depth):
            teacher = weights[:, None] * learner**alpha
            teacher = teacher / teacher.sum(axis=0)
            learner = teacher * belief
            learner = learner / learner.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(as_floats(answer["likelihood"]), teacher, rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(
            np.exp(as_floats(answer["logPosteriors"])), learner, rtol=0, atol=TOLERANCE
        )


def test_depth_zero_is_plain_bayes_and_great_depth_is_scbi(twin):
    rng = np.random.default_rng(15)
    matrix, belief = rng.dirichlet(np.ones(5), 4).T, rng.dirichlet(np.ones(4))
    zero, literal, deep, limit = twin(
        [
            request("Pragmatic", matrix, belief, depth=0),
            request("BI", matrix, belief),
            request("Pragmatic", matrix, belief, depth=400),
            request("SCBI", matrix, belief),
        ]
    )
    np.testing.assert_allclose(zero["likelihood"], literal["likelihood"], rtol=1e-14)
    np.testing.assert_allclose(deep["likelihood"], limit["likelihood"], rtol=0, atol=1e-10)


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


def test_rates_are_those_of_the_theorem(twin):
    rng = np.random.default_rng(17)
    for _ in range(5):
        matrix = rng.dirichlet(np.ones(5), 4).T
        for kind in ("BI", "SCBI"):
            found = twin(
                [
                    {
                        "ask": "rate",
                        "matrix": matrix.tolist(),
                        "rule": {"kind": kind},
                        "hypothesis": h,
                    }
                    for h in range(4)
                ]
            )
            expected = cb.rate_of_convergence(matrix, rule=kind.lower())
            np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_rates_of_a_recursion_are_pythons_with_zeros_too(twin):
    rng = np.random.default_rng(19)
    tables = [rng.dirichlet(np.ones(5), 3).T, cb.examples["reference-game"].model.matrix]
    tables += [np.array([[1.0, 0.0, 2.0], [1.0, 1.0, 1.0], [2.0, 3.0, 0.0], [1.0, 1.0, 2.0]])]
    for matrix in tables:
        for depth in (0, 1, 3):
            asked = {"ask": "rate", "matrix": matrix.tolist()}
            rule = {"kind": "Pragmatic", "depth": depth}
            found = twin([{**asked, "rule": rule, "hypothesis": h} for h in range(3)])
            expected = cb.rate_of_convergence(cb.Pragmatic(matrix, depth))
            np.testing.assert_allclose(as_floats(found), expected, rtol=1e-9)


def test_data_that_are_not_available_play_no_part(twin):
    rng = np.random.default_rng(18)
    matrix, belief = rng.dirichlet(np.ones(6), 3).T, rng.dirichlet(np.ones(3))
    left = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    for kind in ("BI", "SCBI"):
        all_of_it, part = twin(
            [
                request(kind, matrix, belief, left / left.sum()),
                request(kind, matrix[left > 0], belief),
            ]
        )
        found = as_floats(all_of_it["likelihood"])
        np.testing.assert_array_equal(found[left == 0], 0.0)
        np.testing.assert_allclose(found[left > 0], part["likelihood"], rtol=0, atol=1e-13)


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


@pytest.mark.parametrize("seed", [0, 6, 2**32 - 1, 2**40 + 3, [6, 0], [6, 1999], [1, 2, 3, 4, 5]])
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


def test_costs_of_moving_are_pythons(twin):
    rng = np.random.default_rng(24)
    matrix, costs = rng.dirichlet(np.ones(5), 3).T, 3.0 * rng.random((5, 5))
    costs[0, 3] = np.inf
    rule = cb.SCBI(cb.moving_costs(matrix, costs, weight=1.5))
    lesson = cb.run_lesson(
        cb.Teacher(rule, 1, rng=np.random.SFC64(7)), cb.Learner(rule), num_rounds=12
    )
    weighted = [[None if np.isinf(cost) else 1.5 * cost for cost in row] for row in costs]
    [found] = twin(
        [
            {
                "ask": "lesson",
                "matrix": matrix.tolist(),
                "rule": {"kind": "SCBI"},
                "hypothesis": 1,
                "numRounds": 12,
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


def test_the_success_rate_agrees_with_python_within_its_noise(twin):
    example = cb.examples["M_2"]
    teacher, learner = np.full(3, 1 / 3), np.array([0.2, 0.5, 0.3])
    [found] = twin(
        [
            {
                "ask": "success",
                "matrix": example.model.matrix.tolist(),
                "rule": {"kind": "SCBI"},
                "hypothesis": 0,
                "prior": teacher.tolist(),
                "learnerPrior": learner.tolist(),
                "numLessons": 600,
                "seed": 1,
            }
        ]
    )
    expected = cb.success_rate(
        example.model, hypothesis=0, teacher_prior=teacher, learner_prior=learner, rng=2
    )
    spread = np.sqrt(expected.value * (1 - expected.value) / 600)
    assert found["unfinished"] == 0
    assert abs(found["value"] - expected.value) < 5 * np.hypot(spread, expected.stderr)
    assert found["lower"] < found["value"] < found["upper"]


@pytest.mark.parametrize("has_zeros", [False, True])
def test_the_enclosure_of_success_is_pythons(twin, has_zeros):
    rng = np.random.default_rng(25)
    for _ in range(4):
        matrix = rng.dirichlet(np.ones(3), 3).T
        if has_zeros:
            matrix[0, 1] = matrix[1, 2] = 0.0
        teacher, learner = rng.dirichlet(np.full(3, 3.0)), rng.dirichlet(np.full(3, 3.0))
        [found] = twin(
            [
                {
                    "ask": "enclosure",
                    "matrix": matrix.tolist(),
                    "hypothesis": 1,
                    "prior": teacher.tolist(),
                    "learnerPrior": learner.tolist(),
                    "maxDepth": 6,
                }
            ]
        )
        expected = cb.success_enclosure(
            matrix, 1, teacher_prior=teacher, learner_prior=learner, depth=6
        )
        assert has_zeros or found["depth"] == 6
        assert found["lower"] == pytest.approx(expected.lower, abs=1e-8)
        assert found["upper"] == pytest.approx(expected.upper, abs=1e-8)


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


def test_the_types_of_the_twin_are_consistent():
    """What its JSDoc says is checked as strictly as TypeScript can."""
    compiler = npm_file("typescript/lib/tsc.js")
    options = "--allowJs --checkJs --noEmit --strict --target es2022 --module esnext"
    more = "--moduleResolution bundler --lib es2023,dom"
    entry = resources.files("cobayes.studio") / "twin" / "cobayes.js"
    done = subprocess.run(
        [find_node(), str(compiler), *options.split(), *more.split(), str(entry)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
