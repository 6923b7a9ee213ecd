"""Estimates with their uncertainty, from sums over samples."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error.

    Parameters
    ----------
    value
        The estimate; NaN where there are no samples yet.
    stderr
        Its standard error; NaN where it is not known.
    """

    value: float
    stderr: float = math.nan

    def __str__(self) -> str:
        if not math.isfinite(self.stderr) or self.stderr <= 0:
            return f"{self.value:.6g}"
        # Two digits of the uncertainty, and as many decimals of the value.
        exponent = math.floor(math.log10(self.stderr))
        decimals = 1 - exponent
        if 0 <= decimals <= 10:
            return f"{self.value:.{decimals}f} ± {self.stderr:.{decimals}f}"
        return f"{self.value:.6g} ± {self.stderr:.1e}"


def mean_estimate(count: float, total: float, total_of_squares: float) -> Estimate:
    """Estimate a mean from the number of samples, their sum and the sum of their squares.

    Parameters
    ----------
    count
        Number of samples.
    total
        Their sum.
    total_of_squares
        The sum of their squares.
    """
    count, total, total_of_squares = float(count), float(total), float(total_of_squares)
    if count == 0:
        return Estimate(math.nan)
    mean = total / count
    if count == 1:
        return Estimate(mean)
    variance = max(0.0, total_of_squares - count * mean * mean) / (count - 1)
    return Estimate(mean, math.sqrt(variance / count))


def proportion_estimate(successes: float, trials: float) -> Estimate:
    """Estimate a probability from counts.

    The standard error adds two successes and two failures (Agresti and Coull), so that it
    is never zero: a proportion of one in a finite sample is not certain.

    Parameters
    ----------
    successes
        How often it happened.
    trials
        How often it could have.
    """
    successes, trials = float(successes), float(trials)
    if trials == 0:
        return Estimate(math.nan)
    adjusted = (successes + 2) / (trials + 4)
    return Estimate(successes / trials, math.sqrt(adjusted * (1 - adjusted) / (trials + 4)))
