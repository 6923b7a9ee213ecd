"""Verdicts follow from numbers by the stated rules."""

import numpy as np
import pytest
from scipy.stats import norm

from cobayes.report.claims import ERROR_RATE, family_quantile, probability_text, verdict_of


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
    one = norm.sf(family_quantile(count))
    assert one * count == pytest.approx(ERROR_RATE)
    assert 2 * norm.sf(family_quantile(count, two_sided=True)) * count == pytest.approx(ERROR_RATE)


def test_a_vanishing_probability_is_not_written_as_zero():
    assert probability_text(0.0) == "p < 10⁻⁹⁹"
    assert probability_text(0.25) == "p = 0.25"
