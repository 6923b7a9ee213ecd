"""Confidence intervals that are valid for proportions near 0 and 1.

The usual interval ``p +- z sqrt(p(1-p)/N)`` has width zero at an observed proportion of 0 or 1. The
exact interval always has a positive width.
"""

from __future__ import annotations

import math

from cobayes._input.validation import number_between
from cobayes.errors import CobayesError


def normal_quantile(confidence: float) -> float:
    """Return the half-width, in standard deviations, of a normal interval with this confidence.

    Parameters
    ----------
    confidence
        Strictly between 0 and 1.
    """
    from scipy.special import ndtri

    number_between(confidence, "confidence", 0.0, 1.0)
    return float(ndtri(0.5 + 0.5 * confidence))


def exact_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Clopper-Pearson interval for a proportion.

    It contains the true proportion with at least the stated confidence.

    Parameters
    ----------
    successes, trials
        The numbers of successes and of trials; at least one trial.
    confidence
        Strictly between 0 and 1.

    Notes
    -----
    If all N trials succeed, the lower end is ((1 - confidence) / 2)**(1/N). At 95 % it is about
    1 - 3.7/N.
    """
    from scipy.special import betaincinv

    _check_counts(successes, trials)
    number_between(confidence, "confidence", 0.0, 1.0)
    tail = 0.5 * (1.0 - confidence)
    failures = trials - successes
    low = 0.0 if successes == 0 else float(betaincinv(successes, failures + 1.0, tail))
    # One minus the lower end for the failures, which SciPy computes accurately even if it is tiny.
    high = 1.0 if failures == 0 else 1.0 - float(betaincinv(failures, successes + 1.0, tail))
    return low, high


def proportion_stderr(successes: int, trials: int) -> float:
    """Return a standard error of a proportion; it is never zero.

    It is the standard deviation of the Beta(successes + 1, failures + 1) distribution: about
    sqrt(p(1-p)/N) for many successes and failures, and about 1/N without successes or without
    failures.

    Parameters
    ----------
    successes, trials
        The numbers of successes and of trials; at least one trial.
    """
    _check_counts(successes, trials)
    a, b = successes + 1.0, trials - successes + 1.0
    return math.sqrt(a * b / (a + b + 1.0)) / (a + b)


def _check_counts(successes: int, trials: int) -> None:
    if trials < 1 or not 0 <= successes <= trials:
        raise CobayesError(
            f"{successes} successes in {trials} trials; expected at least one trial, and from 0 to "
            f"{trials} successes."
        )
