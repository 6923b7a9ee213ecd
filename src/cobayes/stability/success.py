"""The success rate: how often a learner ends up believing what it is taught."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import Distribution
from cobayes._input.validation import items, one_of
from cobayes._intervals import normal_quantile
from cobayes._output import Result, counted, freeze, html_table
from cobayes.errors import CobayesError, import_optional
from cobayes.model import MatrixLike
from cobayes.rules import Rule, as_rule
from cobayes.rules.naming import Agents, as_agents
from cobayes.stability.bounds import frechet
from cobayes.stability.teaching import (
    MAX_ROUNDS,
    common_law,
    require_affordable_teaching,
    teach_until_sure,
)
from cobayes.theory.certainty import LEVEL

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SuccessRate(Result):
    """The estimated success rate: how often the learner converges to ("ends at") what it is taught.

    Attributes
    ----------
    outcomes, outcomes_stderr : ndarray
        The probability that the learner ends at each hypothesis, (m,), and its standard error from
        sampling.
    sampling_stderr : float
        The standard error of `value` from sampling, which decreases with more lessons.
    lower, upper : float
        Bounds on the value that the estimate would have if every lesson were continued to its end.
    num_lessons, num_unfinished : int
        The number of lessons (or coupled pairs), and the number of those that were cut off after
        `max_rounds` rounds, before their outcome was known.
    method : str
        "lessons" or "coupling".
    hypothesis : str
        The label of the taught hypothesis.
    hypotheses : tuple of str
        All labels.
    max_rounds : int
        The largest number of rounds of a lesson.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.success_rate("example:M_1", "h_1", num_lessons=200, rng=1)
    SuccessRate(1.0000 ± 4e-06 for 'h_1'; 200 lessons)
    """

    outcomes: Array
    outcomes_stderr: Array
    sampling_stderr: float
    lower: float
    upper: float
    num_lessons: int
    num_unfinished: int
    method: str
    hypothesis: str
    hypotheses: tuple[str, ...]
    max_rounds: int

    __post_init__ = freeze

    @property
    def value(self) -> float:
        """The estimate: the probability that the learner ends at the taught hypothesis."""
        return float(self.outcomes[self.hypotheses.index(self.hypothesis)])

    @property
    def stderr(self) -> float:
        """The standard error, which includes the effect of unfinished lessons.

        It is the square root of ``sampling_stderr**2 + ((upper - lower) / 2)**2``.
        """
        return math.hypot(self.sampling_stderr, (self.upper - self.lower) / 2.0)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return an interval for the success rate.

        It allows for the sampling error and for any outcome of the unfinished lessons.

        Parameters
        ----------
        confidence
            Confidence level of the normal margin below `lower` and above `upper`.
        """
        reach = normal_quantile(confidence) * self.sampling_stderr
        return max(0.0, self.lower - reach), min(1.0, self.upper + reach)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per hypothesis: the probability that the learner ends at it."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        return pandas.DataFrame(
            {"probability": self.outcomes, "stderr": self.outcomes_stderr},
            index=pandas.Index(self.hypotheses, name="believes"),
        )

    def to_xarray(self) -> xr.Dataset:
        """Return the probability that the learner ends at each hypothesis, with the labels."""
        found = self.to_dataframe().to_xarray()
        return found.assign_attrs(taught=self.hypothesis, method=self.method)

    def _repr_html_(self) -> str:
        low, high = self.interval()
        shares = zip(self.hypotheses, self.outcomes, self.outcomes_stderr, strict=True)
        return html_table(
            f"teaching {self.hypothesis} succeeds with probability {self.value:.4f} (95 % interval "
            f"{low:.4f} to {high:.4f}, {self._counted()})",
            ("the learner ends at", "probability", "standard error"),
            [(name, f"{share:.4f}", f"{error:.1g}") for name, share, error in shares],
        )

    def _counted(self) -> str:
        return counted(self.num_lessons, "lesson" if self.method == "lessons" else "coupled pair")

    def __repr__(self) -> str:
        # One lesson has no standard error.
        error = "" if math.isnan(self.stderr) else f" ± {self.stderr:.1g}"
        cut = ""
        if self.num_unfinished:
            cut = f", {self.num_unfinished} unfinished: {self.lower:.4f} to {self.upper:.4f}"
        return (
            f"SuccessRate({self.value:.4f}{error} for {self.hypothesis!r}; {self._counted()}{cut})"
        )


def success_rate(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    *,
    num_lessons: SupportsIndex = 10_000,
    prior: Distribution | None = None,
    learner_rule: Rule | MatrixLike | None = None,
    learner_prior: Distribution | None = None,
    method: Literal["lessons", "coupling"] = "lessons",
    level: float = LEVEL,
    max_rounds: SupportsIndex = MAX_ROUNDS,
    rng: Any = None,
) -> SuccessRate:
    """Estimate the probability that a learner converges to the hypothesis that it is taught.

    Parameters
    ----------
    rule
        The teacher's rule; a matrix means `SCBI(matrix)`.
    hypothesis
        The hypothesis that is taught, by position or label.
    num_lessons
        The number of lessons, or of coupled pairs.
    prior
        The learner's prior as the teacher assumes it (default: uniform).
    learner_rule, learner_prior
        The learner's actual rule and prior (default: what the teacher assumes).
    method
        "lessons": the teacher draws the data. "coupling": both agents are shown data from the data
        prior; on tables with zeros, or with different data priors, see `coupling`.
    level
        A lesson stops when the teacher's estimate of the belief in the taught hypothesis exceeds
        this. A coupled pair stops when either agent's belief in any hypothesis exceeds it.
    max_rounds
        The largest number of rounds of a lesson. If a sure teacher continues (see Notes), at most
        this number of rounds is added. Up to sampling errors, the rate without this limit is
        between the result's `lower` and `upper`.
    rng
        Anything that `numpy.random.default_rng` accepts. The same seed gives the same bits for
        any number of threads.

    Returns
    -------
    SuccessRate
        The rate, its standard error, and bounds on the effect of unfinished lessons.

    Notes
    -----
    Definition 5.2 and Proposition 5.1: the success rate is the learner's mean belief when the
    teacher is sure, up to ``1 - level``. On tables with zeros, and with different data priors, the
    proposition does not hold; in these cases a sure teacher continues until the learner is sure,
    too, or has excluded the taught hypothesis. If teacher or learner follow another rule than SCBI,
    the value is the learner's mean belief when the teacher stops.

    Examples
    --------
    >>> import cobayes as cb
    >>> rate = cb.success_rate([[0.6, 0.3], [0.4, 0.7]], 0, learner_prior=[0.4, 0.6], rng=1)
    >>> abs(rate.value - 0.4 / 0.5) < 4 * rate.stderr  # min(1, theta^L(h) / theta^T(h))
    True
    """
    pair = as_agents(rule, hypothesis, prior, learner_rule, learner_prior, every_round=True)
    one_of(method, "method", ("lessons", "coupling"))
    if method == "coupling":
        from cobayes.stability.coupling import coupling

        found = coupling(
            pair.teacher,
            num_lessons=num_lessons,
            prior=prior,
            learner_rule=pair.learner,
            learner_prior=learner_prior,
            level=level,
            max_rounds=max_rounds,
            rng=rng,
        )
        return found.success(pair.hypothesis)
    return _rates([pair], num_lessons, level, max_rounds, rng)[0]


def success_rates(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    *,
    num_lessons: SupportsIndex = 10_000,
    prior: Distribution | None = None,
    learner_rules: Iterable[Rule | MatrixLike | None] = (None,),
    learner_priors: Iterable[Distribution | None] = (None,),
    level: float = LEVEL,
    max_rounds: SupportsIndex = MAX_ROUNDS,
    rng: Any = None,
) -> list[SuccessRate]:
    """Estimate the success rates of many learners on the same lessons.

    Because the lessons are the same, differences between learners usually have smaller standard
    errors than with separate lessons.

    Parameters
    ----------
    rule, hypothesis, num_lessons, prior, level, max_rounds, rng
        See `success_rate`.
    learner_rules, learner_priors
        A rule and a prior for each learner (None: the teacher's). A single rule or prior is used
        for all learners.

    Returns
    -------
    list of SuccessRate
        One rate for each learner, in the given order.

    Examples
    --------
    >>> import cobayes as cb
    >>> priors = [[1 / 3, 1 / 3, 1 / 3], [0.2, 0.4, 0.4]]
    >>> found = cb.stability.success_rates(
    ...     "example:M_3", 0, learner_priors=priors, num_lessons=500, rng=1
    ... )
    >>> [round(rate.value, 1) for rate in found]
    [1.0, 0.6]
    """
    rules = items(learner_rules, "learner_rules", "rules")
    priors = items(learner_priors, "learner_priors", "distributions")
    size = max(len(rules), len(priors), 1)
    if min(len(rules), len(priors)) not in (1, size):
        raise CobayesError(
            f"there are {len(rules)} rules and {len(priors)} priors of learners.",
            "give lists of the same length, or a single rule or prior for all.",
        )
    learners = zip(rules * (size // len(rules)), priors * (size // len(priors)), strict=True)
    teacher = as_rule(rule)
    pairs = [as_agents(teacher, hypothesis, prior, *own, every_round=True) for own in learners]
    return _rates(pairs, num_lessons, level, max_rounds, rng)


def _rates(
    pairs: list[Agents],
    num_lessons: SupportsIndex,
    level: float,
    max_rounds: SupportsIndex,
    rng: Any,
) -> list[SuccessRate]:
    """Return the success rate of each learner; all pairs have the same teacher and hypothesis."""
    model, h = pairs[0].teacher.model, pairs[0].hypothesis
    count, most = require_affordable_teaching(model, 1 + len(pairs), num_lessons, level, max_rounds)
    ends = teach_until_sure(pairs, count, rng, level=level, max_rounds=most)
    found = []
    for pair, beliefs, is_known in zip(pairs, ends.believed, ends.is_known, strict=True):
        if common_law(pair.teacher, pair.learner) is not None:
            # By Proposition 5.1, Frechet's bounds also hold for the rest of an unfinished lesson,
            # with the last beliefs as priors.
            lower, upper = frechet(ends.taught[:, h], beliefs[:, h])
        else:
            lower = np.where(is_known, beliefs[:, h], 0.0)
            upper = np.where(is_known, beliefs[:, h], 1.0)
        spread = np.full(beliefs.shape[1], math.nan)
        if count > 1:
            spread = beliefs.std(axis=0, ddof=1) / math.sqrt(count)
        found.append(
            SuccessRate(
                outcomes=beliefs.mean(axis=0),
                outcomes_stderr=spread,
                sampling_stderr=float(spread[h]),
                lower=float(lower.mean()),
                upper=float(upper.mean()),
                num_lessons=count,
                num_unfinished=int(count - is_known.sum()),
                method="lessons",
                hypothesis=model.hypotheses[h],
                hypotheses=model.hypotheses,
                max_rounds=most,
            )
        )
    return found
