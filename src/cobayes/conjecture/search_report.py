"""What a search for counter-examples has found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from cobayes._intervals import normal_quantile
from cobayes.conjecture.candidates import Candidate
from cobayes.stability.bounds import Distance


@dataclass(frozen=True)
class Slope:
    """A candidate's slope: failure times theta^T(h) over the distance, at most 1 if all is well.

    Attributes
    ----------
    value, stderr : float
        The estimate, from the side that favours the conjecture, and its standard error.
    num_sequences : int
        How many sequences it rests on.
    """

    value: float
    stderr: float
    num_sequences: int

    def merged(self, other: Slope) -> Slope:
        """Return the estimate from both sets of sequences."""
        total = self.num_sequences + other.num_sequences
        mine, theirs = self.num_sequences / total, other.num_sequences / total
        return Slope(
            mine * self.value + theirs * other.value,
            math.hypot(mine * self.stderr, theirs * other.stderr),
            total,
        )

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the normal confidence interval."""
        reach = normal_quantile(confidence) * self.stderr
        return self.value - reach, self.value + reach


@dataclass(frozen=True, eq=False, repr=False)
class SearchReport:
    """What a search has found.

    Attributes
    ----------
    distance : str
        The form of the conjecture.
    num_candidates, num_tests : int
        How many candidates were looked at, and how many were tested.
    alpha : float
        The false-alarm rate of the whole search.
    seconds : float
        How long it ran, over all its sessions.
    worst : Candidate or None
        The candidate with the steepest slope.
    slope : Slope or None
        Its slope, from sequences drawn after it was chosen.
    confirmed : tuple of dict
        The counter-examples: file, slope, log-evidence.

    Examples
    --------
    >>> import tempfile
    >>> from cobayes.conjecture import Falsifier
    >>> report = Falsifier(tempfile.mkdtemp(), "tv", seed=1).report()
    >>> report.num_candidates, report.confirmed
    (0, ())
    """

    distance: Distance
    num_candidates: int
    num_tests: int
    alpha: float
    seconds: float
    worst: Candidate | None
    slope: Slope | None
    confirmed: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return {
            "distance": self.distance,
            "num_candidates": self.num_candidates,
            "num_tests": self.num_tests,
            "alpha": self.alpha,
            "seconds": self.seconds,
            "worst": None if self.worst is None else self.worst.to_dict(),
            "slope": None if self.slope is None else vars(self.slope),
            "interval": None if self.slope is None else list(self.slope.interval()),
            "confirmed": list(self.confirmed),
        }

    def __repr__(self) -> str:
        verdict = (
            f"{len(self.confirmed)} counter-examples" if self.confirmed else "no counter-example"
        )
        slope = ""
        if self.slope is not None:
            low, high = self.slope.interval()
            slope = f"; steepest slope {self.slope.value:.3f} ({low:.3f} to {high:.3f})"
        return (
            f"SearchReport({self.distance}: {verdict} among {self.num_candidates} candidates, "
            f"{self.num_tests} tests{slope})"
        )
