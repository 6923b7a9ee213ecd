"""Intervals for proportions."""

import numpy as np
import pytest
from scipy.stats import binom

from cobayes._intervals import (
    exact_interval,
    normal_quantile,
    proportion_stderr,
)
from cobayes.errors import CobayesError

COUNTS = [(0, 10), (3, 10), (10, 10), (1, 10**6), (7, 8), (10**8, 10**8), (5 * 10**7, 10**8)]


@pytest.mark.parametrize(("successes", "trials"), COUNTS)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_exact_interval_leaves_half_of_the_doubt_on_each_side(successes, trials, confidence):
    low, high = exact_interval(successes, trials, confidence)
    tail = 0.5 * (1.0 - confidence)
    if successes > 0:
        assert binom.sf(successes - 1, trials, low) == pytest.approx(tail, rel=1e-6)
    else:
        assert low == 0.0
    if successes < trials:
        assert binom.cdf(successes, trials, high) == pytest.approx(tail, rel=1e-6)
    else:
        assert high == 1.0


def test_no_exception_in_any_sample_is_not_certainty():
    low, high = exact_interval(1000, 1000)
    assert low < 1.0 == high
    assert proportion_stderr(1000, 1000) > 0.0


def test_exact_interval_covers_at_least_as_often_as_it_says():
    trials = 30
    intervals = [exact_interval(k, trials, 0.9) for k in range(trials + 1)]
    for p in np.linspace(0.01, 0.99, 99):
        covering = [k for k, (low, high) in enumerate(intervals) if low <= p <= high]
        assert binom.pmf(covering, trials, p).sum() >= 0.9 - 1e-12


def test_lower_end_without_exceptions_has_the_known_form():
    # Clopper-Pearson with k = N: low = (alpha/2)^(1/N).
    assert exact_interval(10**8, 10**8)[0] == pytest.approx(0.025 ** (1e-8), abs=1e-15)


def test_standard_error_is_the_usual_one_for_many_of_both():
    assert proportion_stderr(300_000, 10**6) == pytest.approx((0.3 * 0.7 / 1e6) ** 0.5, rel=1e-4)


def test_normal_quantile_is_the_textbook_one():
    assert normal_quantile(0.95) == pytest.approx(1.959963984540054, rel=1e-14)


@pytest.mark.parametrize(("successes", "trials"), [(1, 0), (-1, 5), (6, 5)])
def test_impossible_counts_are_refused(successes, trials):
    with pytest.raises(CobayesError, match="successes in"):
        exact_interval(successes, trials)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_impossible_confidence_is_refused(confidence):
    with pytest.raises(CobayesError, match="strictly between 0 and 1"):
        exact_interval(1, 2, confidence)
