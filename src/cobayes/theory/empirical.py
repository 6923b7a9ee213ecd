"""Rates of convergence as they are seen in lessons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cobayes.errors import CobayesError
from cobayes.lessons.simulation import simulate
from cobayes.rules import Rule


@dataclass(frozen=True)
class EmpiricalRate:
    """The slope of the log-odds of the truth, with its uncertainty.

    Attributes
    ----------
    value, stderr : float
        The mean slope over the lessons, per round, and its standard error.
    first_round, last_round : int
        Between which the slope was taken.
    num_lessons : int
        How many lessons.
    """

    value: float
    stderr: float
    first_round: int
    last_round: int
    num_lessons: int


def empirical_rate(
    rule: Rule,
    hypothesis: int | str,
    *,
    num_rounds: int = 2000,
    num_lessons: int = 2000,
    burn_in: int | None = None,
    prior: ArrayLike | None = None,
    rng: Any = None,
) -> EmpiricalRate:
    """Measure the asymptotic rate of convergence in simulated lessons.

    Parameters
    ----------
    rule
        `SCBI` or `BI`.
    hypothesis
        The true hypothesis, by position or label.
    num_rounds, num_lessons
        How long and how many; log-beliefs do not underflow, so thousands of rounds are fine.
    burn_in
        The rounds before the slope is taken; half of them by default.
    prior
        The common prior; uniform by default.
    rng
        Anything that `numpy.random.default_rng` takes.

    Notes
    -----
    Theorems 3.2 (BI) and 3.6 (SCBI): log(theta(h) / (1 - theta(h))) / k tends to the rate. The
    slope between two late rounds is used, so that what happens early does not count.
    """
    first = num_rounds // 2 if burn_in is None else burn_in
    if not 0 <= first < num_rounds:
        raise CobayesError(
            f"the burn-in is {first} of {num_rounds} rounds; expected fewer rounds, from 0 on."
        )
    if num_lessons < 2:
        raise CobayesError(f"num_lessons is {num_lessons}; a standard error needs two or more.")
    ensemble = simulate(
        rule,
        hypothesis,
        num_rounds=num_rounds,
        num_lessons=num_lessons,
        prior=prior,
        rng=rng,
        keep_paths=[first, num_rounds],
    )
    odds = ensemble.log_odds()
    slopes = (odds[:, 1] - odds[:, 0]) / (num_rounds - first)
    return EmpiricalRate(
        float(slopes.mean()),
        float(slopes.std(ddof=1) / np.sqrt(num_lessons)),
        first,
        num_rounds,
        num_lessons,
    )
