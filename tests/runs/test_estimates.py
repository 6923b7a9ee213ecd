from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobayes.runs import Estimate, mean_estimate, proportion_estimate


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=50))
def test_mean_estimate_is_the_textbook_mean_and_standard_error(sample):
    values = np.array(sample)
    estimate = mean_estimate(len(values), values.sum(), (values**2).sum())
    assert estimate.value == pytest.approx(values.mean(), abs=1e-9)
    expected = values.std(ddof=1) / math.sqrt(len(values))
    # Sums of squares cancel to about the square root of the rounding error.
    assert estimate.stderr == pytest.approx(expected, rel=1e-6, abs=1e-4)


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_proportion_is_exact_and_never_certain(successes, trials):
    successes = min(successes, trials)
    estimate = proportion_estimate(successes, trials)
    assert estimate.value == successes / trials
    assert estimate.stderr > 0


def test_without_samples_nothing_is_known():
    assert math.isnan(mean_estimate(0, 0, 0).value)
    assert math.isnan(proportion_estimate(0, 0).value)
    assert math.isnan(mean_estimate(1, 5, 25).stderr)


def test_estimate_reads_with_two_digits_of_its_uncertainty():
    assert str(Estimate(0.123456, 0.0012)) == "0.1235 ± 0.0012"
    assert str(Estimate(1234.6, 12)) == "1235 ± 12"
    assert str(Estimate(0.5)) == "0.5"
