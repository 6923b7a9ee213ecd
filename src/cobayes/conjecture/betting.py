"""Sequential testing by betting: evidence that may be looked at after every sample.

Against the claim "these numbers between 0 and 1 have a mean of at least b" one bets: a stake s
multiplies the wealth by ``1 + s (b - x)`` with every number x. If the claim is true the wealth
cannot be expected to grow, so it exceeds 1 / alpha with probability alpha at most, however
long one plays and whenever one stops (Ville's inequality).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cobayes._input.tables import as_floats
from cobayes._input.validation import number_between
from cobayes.errors import CobayesError

# Stakes, as shares of the largest one that cannot lose everything.
SHARES = 0.5 ** np.arange(1, 11)


class BettingTest:
    """Evidence against the claim that a mean is at least some bound.

    Parameters
    ----------
    bound
        Strictly between 0 and 1.

    Attributes
    ----------
    count : int
        How many numbers were seen.
    """

    def __init__(self, bound: float) -> None:
        self.bound = number_between(bound, "the bound", 0.0, 1.0)
        self.count = 0
        self._log_wealth = np.zeros(len(SHARES))
        self._total = 0.0
        self._squares = 0.0

    def add(self, values: ArrayLike) -> None:
        """Bet on further numbers between 0 and 1, (k,)."""
        numbers = as_floats(values, copy=True, name="sample").ravel()
        if numbers.size and not (numbers.min() >= 0.0 and numbers.max() <= 1.0):
            raise CobayesError("the numbers to bet on must lie between 0 and 1.")
        stakes = SHARES / (1.0 - self.bound)
        gains = self.bound - numbers
        self._log_wealth += np.log1p(stakes[:, None] * gains).sum(axis=1)
        self.count += numbers.size
        self._total += float(numbers.sum())
        self._squares += float((numbers**2).sum())

    @property
    def log_evidence(self) -> float:
        """The logarithm of the wealth, averaged over the stakes."""
        peak = self._log_wealth.max()
        return float(peak + math.log(np.exp(self._log_wealth - peak).mean()))

    @property
    def mean(self) -> float:
        """The mean of the numbers seen; NaN before the first."""
        return self._total / self.count if self.count else math.nan

    @property
    def stderr(self) -> float:
        """The standard error of the mean; NaN before the second."""
        if self.count < 2:
            return math.nan
        variance = max(0.0, self._squares - self.count * self.mean**2) / (self.count - 1)
        return math.sqrt(variance / self.count)

    def rejects(self, alpha: float) -> bool:
        """Tell whether the claim is rejected at a false-alarm rate."""
        return self.log_evidence >= -math.log(alpha)

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return {
            "bound": self.bound,
            "count": self.count,
            "mean": self.mean if self.count else None,
            "stderr": self.stderr if self.count > 1 else None,
            "log_evidence": self.log_evidence,
        }


def spent(alpha: float, number: int) -> float:
    """Return the false-alarm rate of one of infinitely many tests that share `alpha`.

    Parameters
    ----------
    alpha
        For all of them together.
    number
        The position of the test, from zero on. The shares 6 / (pi k)**2 add up to one, so that
        a search may go on for ever, choose what to test next by what it saw before, and still
        raises a false alarm with probability alpha at most.
    """
    return alpha * 6.0 / (math.pi * (number + 1)) ** 2
