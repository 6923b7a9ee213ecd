"""The browser twin's rules against Python's and against what defines the limit with zeros."""

import subprocess
from importlib import resources

import numpy as np
import pytest

import cobayes as cb
from tests.browser.cases import (
    TOLERANCE,
    as_floats,
    data_prior,
    make_rule,
    mixed_case,
    positive_case,
    zeros_case,
)
from tests.browser.conftest import find_node, npm_file


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
            continue  # a row of sum zero is in no block of the twin, but in a block of Python
        expected = cb.scaling_blocks(matrix, row_sums, belief)
        np.testing.assert_array_equal(split["support"], expected.support)
        for block, own in zip(split["blocks"], expected.blocks, strict=True):
            np.testing.assert_array_equal(block["rows"], own.rows)
            np.testing.assert_array_equal(block["columns"], own.columns)
            assert block["ratio"] == pytest.approx(own.ratio, rel=1e-10)


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
        for _ in range(1000):
            # Twenty sweeps by factors, which stay far from overflow, then the matrix again.
            columns = np.ones(len(belief))
            for _ in range(20):
                rows = 1.0 / len(matrix) / (swept @ columns)
                columns = belief / (rows @ swept)
            swept *= rows[:, None] * columns
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
            expected = cb.rate_of_convergence(getattr(cb, kind)(matrix))
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


def test_the_types_of_the_twin_are_consistent():
    """What its JSDoc says is checked as strictly as TypeScript can."""
    compiler = npm_file("typescript/lib/tsc.js")
    options = "--allowJs --checkJs --noEmit --strict --skipLibCheck --target es2022 --module esnext"
    more = "--moduleResolution bundler --lib es2023,dom"
    entry = resources.files("cobayes.browser") / "twin" / "cobayes.js"
    done = subprocess.run(
        [find_node(), str(compiler), *options.split(), *more.split(), str(entry)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
