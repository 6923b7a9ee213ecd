"""What the judges conclude from numbers, and how often they err."""

import numpy as np
import pytest

from cobayes.report.claims import ERROR_RATE
from cobayes.report.judges import (
    judge_agreement,
    judge_all_above,
    judge_differences,
    judge_exact,
    judge_monotone,
)

NAMES = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        ([0.6] * 5, [0.9] * 5, "holds"),
        ([0.4, 0.6, 0.6, 0.6, 0.6], [0.9] * 5, "not decided"),
        ([0.3, 0.6, 0.6, 0.6, 0.6], [0.4, 0.9, 0.9, 0.9, 0.9], "holds except"),
        ([0.3, 0.3, 0.3, 0.6, 0.6], [0.4, 0.4, 0.4, 0.9, 0.9], "does not hold"),
    ],
)
def test_everywhere_above_a_threshold(low, high, verdict):
    middle = (np.array(low) + high) / 2
    claim = judge_all_above("s", "w", NAMES, middle, low, high, 0.5, what="P")
    assert claim.verdict == verdict
    assert ("not at a" in claim.measured) == (verdict == "holds except")


@pytest.mark.parametrize(
    ("values", "stderr", "verdict"),
    [
        ([1, 2, 3, 4, 5], 0.1, "holds"),
        ([1, 2, 1.99, 4, 5], 0.1, "not decided"),
        ([1, 2, 1.0, 4, 5], 0.1, "holds except"),
        ([5, 4, 3, 2, 1], 0.1, "does not hold"),
        ([1, 1.01, 1.02, 1.01, 1.05], 0.1, "not decided"),
        ([1, 2, 1.99, 4, 5], 0.0, "holds except"),
        ([1, 2, 3, 4, 5], 0.0, "holds"),
        ([1, 2, 2, 4, 5], 0.0, "holds except"),
    ],
)
def test_monotone_within_the_noise(values, stderr, verdict):
    errors = np.full(5, stderr)
    claim = judge_monotone("s", "w", NAMES, values, errors, rises=True, what="E")
    assert claim.verdict == verdict
    mirrored = judge_monotone("s", "w", NAMES, [-v for v in values], errors, rises=False, what="E")
    assert mirrored.verdict == verdict
    if verdict == "holds except":
        assert "it falls from b to c" in claim.measured
        assert "it rises from b to c" in mirrored.measured


def test_agreement_errs_as_often_as_it_says():
    # 2000 true claims, each refused with a probability of 1 %: 20 +- 4.4, within four deviations.
    rng = np.random.default_rng(20)
    refused = sum(
        judge_agreement(
            "s",
            "w",
            rng.normal(3.0, 0.2, 10),
            np.full(10, 0.2),
            np.full(10, 3.0),
            within=2.0,
            what="x",
        ).verdict
        == "does not hold"
        for _ in range(2000)
    )
    assert abs(refused - 2000 * ERROR_RATE) < 4 * np.sqrt(2000 * ERROR_RATE)
    wrong = judge_agreement("s", "w", [3.0, 4.0], [0.1, 0.1], [3.0, 3.0], within=2.0, what="x")
    assert wrong.verdict == "does not hold"


@pytest.mark.parametrize(("stderr", "verdict"), [(0.01, "holds"), (0.1, "not decided")])
def test_agreement_needs_intervals_inside_its_limit(stderr, verdict):
    claim = judge_agreement("s", "w", [3.0, 3.0], [stderr] * 2, [3.0, 3.0], within=0.1, what="x")
    assert claim.verdict == verdict


@pytest.mark.parametrize(
    ("differences", "noise", "verdict"),
    [
        ([1.0, 2.0, 1.5, 1.2], None, "holds"),
        ([1.0, 2.0, 1.5, 1.2, 1.3, 1.4, 1.6, -0.1], None, "holds except"),
        ([1.0, 2.0, 1.5, 1.2, 1.3, 1.4, 1.6, -0.1], 0.1, "holds"),
        ([1.0, -1.0, 0.5, -0.6], None, "not decided"),
        ([-1.0, -2.0, -1.5, -1.2], None, "does not hold"),
    ],
)
def test_one_number_above_another_in_every_matrix(differences, noise, verdict):
    errors = None if noise is None else np.full(len(differences), noise)
    claim = judge_differences("s", "w", differences, what="it is", noise=errors)
    assert claim.verdict == verdict
    positive = sum(d > 0 for d in differences)
    assert f"above zero in {positive} of {len(differences)} matrices" in claim.measured


def test_a_difference_needs_more_than_a_few_matrices():
    # The mean is two standard errors above zero; Student's t with three degrees asks for 5.8.
    claim = judge_differences("s", "w", [1.0, 3.0, 2.0, 0.2], what="it is")
    assert claim.verdict == "not decided"


def test_an_identity_holds_up_to_rounding():
    assert judge_exact("s", "w", 1e-12, 1e-9, "m").verdict == "holds"
    assert judge_exact("s", "w", 1e-6, 1e-9, "m").verdict == "does not hold"
