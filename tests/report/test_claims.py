"""Verdicts follow from numbers by the stated rules, and err as often as they say."""

import numpy as np
import pytest
from scipy.stats import norm

from cobayes.report.claims import (
    ERROR_RATE,
    family_quantile,
    judge_agreement,
    judge_interval,
    judge_order,
    probability_text,
    verdict_of,
)

NAMES = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("inside", "outside", "verdict"),
    [
        ([1, 1, 1], [0, 0, 0], "holds"),
        ([1, 1, 0], [0, 0, 0], "not decided"),
        ([1, 1, 0], [0, 0, 1], "holds except"),
        ([1, 0, 0], [0, 0, 1], "not decided"),
        ([1, 0, 0], [0, 1, 1], "does not hold"),
        ([0, 0, 0], [0, 0, 0], "not decided"),
        ([], [], "not decided"),
    ],
)
def test_a_verdict_needs_intervals_inside_or_outside(inside, outside, verdict):
    assert verdict_of(np.array(inside, bool), np.array(outside, bool)) == verdict


@pytest.mark.parametrize("count", [1, 10, 107])
def test_a_family_of_tests_errs_together_as_often_as_one(count):
    one = norm.sf(family_quantile(count, sides=1))
    assert one * count == pytest.approx(ERROR_RATE)
    assert 2 * norm.sf(family_quantile(count)) * count == pytest.approx(ERROR_RATE)


def test_a_vanishing_probability_is_not_written_as_zero():
    assert probability_text(0.0) == "p < 10⁻⁹⁹"
    assert probability_text(0.25) == "p = 0.25"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        ([0.6] * 5, [0.9] * 5, "holds"),
        ([0.4, 0.6, 0.6, 0.6, 0.6], [0.9] * 5, "not decided"),
        ([0.3, 0.6, 0.6, 0.6, 0.6], [0.4, 0.9, 0.9, 0.9, 0.9], "holds except"),
        ([0.3, 0.3, 0.3, 0.6, 0.6], [0.4, 0.4, 0.4, 0.9, 0.9], "does not hold"),
    ],
)
def test_intervals_above_a_limit_and_their_mirror_images_below_it(low, high, verdict):
    claim = judge_interval("s", "w", low, high, above=0.5, names=NAMES, what="P")
    assert claim.verdict == verdict
    assert claim.measured.startswith("the smallest P is")
    assert ("not at a" in claim.measured) == (verdict == "holds except")
    low, high = 1.0 - np.array(high), 1.0 - np.array(low)
    mirrored = judge_interval("s", "w", low, high, below=0.5, names=NAMES, what="P")
    assert mirrored.verdict == verdict
    assert mirrored.measured.startswith("the largest P is")


def test_an_exact_number_holds_or_does_not():
    claims = [judge_interval("s", "w", x, x, below=1e-9) for x in (0.0, 1e-9, 1e-6)]
    assert [claim.verdict for claim in claims] == ["holds", "holds", "does not hold"]
    assert {claim.uncertainty for claim in claims} == {"exact"}
    assert claims[0].rule == "every value lies at most 1e-09"
    assert judge_interval("s", "w", 0.0, 0.0, below=1.0, uncertainty="own").uncertainty == "own"


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
def test_order_within_the_noise(values, stderr, verdict):
    errors = np.full(5, stderr)
    claim = judge_order("s", "w", NAMES, values, errors, rises=True, what="E")
    assert claim.verdict == verdict
    mirrored = judge_order("s", "w", NAMES, [-v for v in values], errors, rises=False, what="E")
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


def test_a_claim_about_one_number_needs_no_list():
    listed = judge_interval("s", "w", [0.1], [0.4], below=1.0, values=[0.2])
    assert judge_interval("s", "w", 0.1, 0.4, below=1.0, values=0.2) == listed
    listed = judge_agreement("s", "w", [3.0], [0.1], [3.1], within=1.0, what="x")
    assert judge_agreement("s", "w", 3.0, 0.1, 3.1, within=1.0, what="x") == listed


@pytest.mark.parametrize(("exact", "chance"), [(3.0, "p = 0.61"), (3.1, "p < 10⁻⁹⁹")])
def test_an_exact_value_agrees_only_if_it_is_the_claimed_one(exact, chance):
    # χ² = 1 with 2 degrees of freedom has p = exp(-1/2).
    claim = judge_agreement("s", "w", [exact, 3.1], [0.0, 0.1], 3.0, within=1.0, what="x")
    assert claim.verdict == ("holds" if exact == 3.0 else "does not hold")
    assert chance in claim.measured


def test_agreement_of_dependent_values_takes_their_own_chi_square():
    options = {"within": 2.0, "what": "x"}
    claim = judge_agreement("s", "w", [3.2], [0.1], [3.0], chi_square=(9.0, 1), **options)
    assert claim.verdict == "does not hold"
    assert "χ² = 9.0 with 1 degrees of freedom" in claim.measured
    assert judge_agreement("s", "w", [3.2], [0.1], [3.0], **options).verdict == "holds"
