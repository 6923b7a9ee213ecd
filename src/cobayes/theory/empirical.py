"""Rates of convergence as they are seen in lessons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from cobayes._input.validation import counts_by, whole_number
from cobayes._output import counted
from cobayes.errors import CobayesError, import_optional
from cobayes.lessons.simulation import simulate
from cobayes.rules import Rule, as_rule

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


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
    rule_name : str
        "BI" or "SCBI".
    hypothesis : int
        The position of the hypothesis that was taught.
    hypothesis_label : str
        Its label.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.BI("example:M_1")
    >>> rate = cb.theory.empirical_rate(rule, "h_1", num_rounds=100, num_lessons=50, rng=1)
    >>> rate.first_round < rate.last_round, round(rate.value, 2)
    (True, 0.09)
    """

    value: float
    stderr: float
    first_round: int
    last_round: int
    num_lessons: int
    rule_name: str
    hypothesis: int
    hypothesis_label: str

    def __repr__(self) -> str:
        return (
            f"EmpiricalRate({self.rule_name}; {self.value:.4g} ± {self.stderr:.2g} nats per round "
            f"for {self.hypothesis_label!r}; rounds {self.first_round} to {self.last_round} of "
            f"{counted(self.num_lessons, 'lesson')})"
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row; concatenate the rows of several rules or hypotheses to a table."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        return pandas.DataFrame(
            [
                {
                    "rule": self.rule_name,
                    "hypothesis": self.hypothesis_label,
                    "value": self.value,
                    "stderr": self.stderr,
                    "first_round": self.first_round,
                    "last_round": self.last_round,
                    "num_lessons": self.num_lessons,
                }
            ]
        )

    def to_xarray(self) -> xr.Dataset:
        """Return the slope as a Dataset with axes for rule and hypothesis, of length one."""
        xarray = import_optional("xarray", "labels", "a Dataset")
        dims = ("rule", "hypothesis")
        return xarray.Dataset(
            {"value": (dims, [[self.value]]), "stderr": (dims, [[self.stderr]])},
            coords={"rule": [self.rule_name], "hypothesis": [self.hypothesis_label]},
            attrs={
                "first_round": self.first_round,
                "last_round": self.last_round,
                "num_lessons": self.num_lessons,
            },
        )


@counts_by("num_lessons")
def empirical_rate(
    rule: Rule,
    hypothesis: SupportsIndex | str,
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

    Returns
    -------
    EmpiricalRate
        The rate in nats per round and its standard error.

    Notes
    -----
    Theorems 3.2 (BI) and 3.6 (SCBI): log(theta(h) / (1 - theta(h))) / k tends to the rate. The
    slope between two late rounds is used, so that what happens early does not count.

    Where a second hypothesis is nearly as hard to tell from the truth as the relevant one, the
    two change places at random for some thousand rounds. Until then the log-odds, which follow
    the harder one at each moment, grow more slowly than the theorems say: by about the spread of
    the difference over the number of rounds. The standard error does not show this; more rounds do.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.BI("example:M_1")
    >>> rate = cb.theory.empirical_rate(rule, "h_1", num_rounds=100, num_lessons=50, rng=1)
    >>> round(rate.value, 3)
    0.087
    """
    model = as_rule(rule).model
    column = model.hypothesis_index(hypothesis)
    num_rounds = whole_number(num_rounds, "num_rounds", 1)
    num_lessons = whole_number(num_lessons, "num_lessons", 2)
    first = num_rounds // 2 if burn_in is None else whole_number(burn_in, "the burn-in", 0)
    if first >= num_rounds:
        raise CobayesError(f"the burn-in is {first} of {num_rounds} rounds; expected fewer rounds.")
    ensemble = simulate(
        rule,
        column,
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
        rule.title,
        column,
        model.hypotheses[column],
    )
