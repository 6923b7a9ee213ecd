"""Success rates with what is known about their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._intervals import normal_quantile
from cobayes._output import counted, html_table
from cobayes.errors import import_optional
from cobayes.rules import Rule
from cobayes.stability.bounds import frechet
from cobayes.stability.validation import common_law

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SuccessRate:
    """How often a learner ends up believing what it was taught.

    Attributes
    ----------
    value, stderr : float
        The estimate and its standard error, what stopping may hide included.
    lower, upper : float
        Between which values the estimate would lie if every sequence were taken to its end.
    num_sequences, num_unfinished : int
        How many sequences there were, and how many were cut off.
    outcomes, outcomes_stderr : ndarray
        The chance of ending at each hypothesis, (m,); `value` is one of them.
    method : str
        "lessons" or "coupling".
    hypothesis : str
        The label of what was taught.
    hypotheses : tuple of str
        All labels.
    max_rounds : int
        Where sequences were cut off.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.success_rate("example:M_1", hypothesis="h_1", num_sequences=200, rng=1)
    SuccessRate(1.0000 ± 4e-06 for 'h_1'; 200 lessons)
    """

    value: float
    stderr: float
    lower: float
    upper: float
    num_sequences: int
    num_unfinished: int
    outcomes: Array
    outcomes_stderr: Array
    method: str
    hypothesis: str
    hypotheses: tuple[str, ...]
    max_rounds: int

    @property
    def sampling_stderr(self) -> float:
        """The part of `stderr` that more sequences make smaller."""
        hidden = (self.upper - self.lower) / 2.0
        return math.sqrt(max(self.stderr**2 - hidden**2, 0.0)) if self.stderr >= 0.0 else math.nan

    def _repr_html_(self) -> str:
        low, high = self.interval()
        rows = [
            (name, f"{share:.4f}", f"{error:.1g}")
            for name, share, error in zip(
                self.hypotheses, self.outcomes, self.outcomes_stderr, strict=True
            )
        ]
        return html_table(
            f"teaching {self.hypothesis} succeeds with {self.value:.4f} (95 % interval {low:.4f} "
            f"to {high:.4f}, {counted(self.num_sequences, 'sequence')})",
            ("the learner ends at", "probability", "standard error"),
            rows,
        )

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return an interval that covers sampling and unfinished sequences.

        Parameters
        ----------
        confidence
            Confidence level of the normal interval around `lower` and `upper`.
        """
        reach = normal_quantile(confidence) * self.sampling_stderr
        return max(0.0, self.lower - reach), min(1.0, self.upper + reach)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per hypothesis: how often the learner ends there."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        return pandas.DataFrame(
            {"probability": self.outcomes, "stderr": self.outcomes_stderr},
            index=pandas.Index(self.hypotheses, name="believes"),
        )

    def to_xarray(self) -> xr.Dataset:
        """Return how often the learner ends at each hypothesis, with the labels."""
        xarray = import_optional("xarray", "labels", "a Dataset")
        return xarray.Dataset(
            {
                "probability": (("believes",), self.outcomes.copy()),
                "stderr": (("believes",), self.outcomes_stderr.copy()),
            },
            coords={"believes": list(self.hypotheses)},
            attrs={"taught": self.hypothesis, "method": self.method},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return {
            "value": self.value,
            "stderr": self.stderr,
            "lower": self.lower,
            "upper": self.upper,
            "num_sequences": self.num_sequences,
            "num_unfinished": self.num_unfinished,
            "outcomes": dict(zip(self.hypotheses, self.outcomes.tolist(), strict=True)),
            "method": self.method,
            "hypothesis": self.hypothesis,
            "max_rounds": self.max_rounds,
        }

    def __repr__(self) -> str:
        # One lesson has no standard error.
        error = "" if math.isnan(self.stderr) else f" ± {self.stderr:.1g}"
        counted_noun = "lesson" if self.method == "lessons" else "coupled pair"
        cut = ""
        if self.num_unfinished:
            cut = f", {self.num_unfinished} unfinished: {self.lower:.4f} to {self.upper:.4f}"
        return (
            f"SuccessRate({self.value:.4f}{error} for {self.hypothesis!r}; "
            f"{counted(self.num_sequences, counted_noun)}{cut})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SuccessRates:
    """The success rates of many learners on the same teaching sequences.

    Attributes
    ----------
    values, stderrs, lowers, uppers : ndarray
        One number a learner, (k,); see `SuccessRate`.
    outcomes : ndarray
        How often each learner ends at each hypothesis, (k, m).
    priors : ndarray
        The learners' priors, (k, m).
    num_sequences, num_unfinished : int
        The same for all.
    hypothesis : str
        The label of what was taught.
    hypotheses : tuple of str
        All labels.

    Examples
    --------
    >>> import cobayes as cb
    >>> sequences = cb.stability.TeachingSequences.draw("example:M_3", 0, num_sequences=500, rng=1)
    >>> found = sequences.success_of_many(priors=[[1 / 3, 1 / 3, 1 / 3], [0.2, 0.4, 0.4]])
    >>> found.values.round(1)
    array([1. , 0.6])
    """

    values: Array
    stderrs: Array
    lowers: Array
    uppers: Array
    outcomes: Array
    priors: Array
    num_sequences: int
    num_unfinished: int
    hypothesis: str
    hypotheses: tuple[str, ...]

    @classmethod
    def of(cls, rates: Sequence[SuccessRate], priors: Array) -> SuccessRates:
        """Collect single success rates."""
        return cls(
            values=np.array([rate.value for rate in rates]),
            stderrs=np.array([rate.stderr for rate in rates]),
            lowers=np.array([rate.lower for rate in rates]),
            uppers=np.array([rate.upper for rate in rates]),
            outcomes=np.array([rate.outcomes for rate in rates]),
            priors=priors,
            num_sequences=rates[0].num_sequences,
            num_unfinished=rates[0].num_unfinished,
            hypothesis=rates[0].hypothesis,
            hypotheses=rates[0].hypotheses,
        )

    def __len__(self) -> int:
        return len(self.values)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per learner: its prior, its success rate and the errors."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        columns = {f"prior of {name}": self.priors[:, j] for j, name in enumerate(self.hypotheses)}
        columns |= {
            "success_rate": self.values,
            "stderr": self.stderrs,
            "lower": self.lowers,
            "upper": self.uppers,
        }
        return pandas.DataFrame(columns, index=pandas.RangeIndex(len(self), name="learner"))

    def __repr__(self) -> str:
        return (
            f"SuccessRates({len(self)} learners taught {self.hypothesis!r}; "
            f"{self.values.min():.4f} to {self.values.max():.4f}; "
            f"{counted(self.num_sequences, 'lesson')}, {self.num_unfinished} unfinished)"
        )


def summarize(
    beliefs: Array,
    teacher_beliefs: Array,
    is_finished: NDArray[np.bool_],
    teacher: Rule,
    learner: Rule,
    hypothesis: int,
    max_rounds: int,
) -> SuccessRate:
    """Turn a learner's beliefs at the end of teaching sequences into a success rate.

    Parameters
    ----------
    beliefs, teacher_beliefs
        The learner's beliefs and the teacher's estimates at the end, (num_sequences, m).
    is_finished
        Whether that is where the learner ends.
    teacher, learner
        Their rules.
    hypothesis
        The position of what was taught.
    max_rounds
        Where sequences were cut off.

    Notes
    -----
    Proposition 5.1.
    """
    count = len(beliefs)
    means = beliefs.mean(axis=0)
    spread = beliefs.std(axis=0, ddof=1) if count > 1 else np.full(len(means), math.nan)
    lower, upper = chances_left(beliefs, teacher_beliefs, is_finished, teacher, learner, hypothesis)
    model = teacher.model
    return SuccessRate(
        value=float(means[hypothesis]),
        stderr=total_error(spread[hypothesis] / math.sqrt(count), lower.mean(), upper.mean()),
        lower=float(lower.mean()),
        upper=float(upper.mean()),
        num_sequences=count,
        num_unfinished=int(count - is_finished.sum()),
        outcomes=means,
        outcomes_stderr=spread / math.sqrt(count),
        method="lessons",
        hypothesis=model.hypotheses[hypothesis],
        hypotheses=model.hypotheses,
        max_rounds=max_rounds,
    )


def total_error(sampling: float, lower: float, upper: float) -> float:
    """Return a standard error of sampling together with what stopping may hide.

    Half of the width between the bounds counts as one more standard error: where every sequence
    agrees, that is all the doubt there is.
    """
    return float(math.hypot(sampling, (upper - lower) / 2.0))


def chances_left(
    beliefs: Array,
    teacher_beliefs: Array,
    is_finished: NDArray[np.bool_],
    teacher: Rule,
    learner: Rule,
    hypothesis: int,
) -> tuple[Array, Array]:
    """Return the least and the greatest chance of success from the end of every sequence on.

    Where a sequence stops, what would come is again a teacher and a learner with known beliefs:
    Frechet's bounds hold. The parameters are those of `summarize`.
    """
    own = beliefs[:, hypothesis]
    if common_law(teacher, learner) is not None:
        return frechet(teacher_beliefs[:, hypothesis], own)
    # Without a law under which both are martingales nothing is known of the rest.
    return np.where(is_finished, own, 0.0), np.where(is_finished, own, 1.0)
