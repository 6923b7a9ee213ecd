"""Recovery: simulated people fitted by the family that they come from."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cobayes._input.validation import generator, whole_number
from cobayes._intervals import exact_interval
from cobayes._output import percent
from cobayes.errors import warn_user
from cobayes.people.choices import read_problems
from cobayes.people.family import Family
from cobayes.people.fit import Progress, fit, silent
from cobayes.people.problems import Problem
from cobayes.people.simulate import draw_people, require_affordable_lessons, simulate

# Lower bound on seconds per response and depth: with intervals, 12,000 responses at five depths
# take 2 s (``python -m benchmarks.people_accuracy speed``).
SECONDS_PER_FIT = 2e-5
# People fitted between two reports of progress.
BLOCK = 50


@dataclass(frozen=True, eq=False, repr=False)
class Recovery:
    """Truth against estimate for simulated people.

    Attributes
    ----------
    table : DataFrame
        One row per person: ``depth`` and ``depth_estimate``; for every free parameter the truth,
        ``..._estimate``, ``..._low`` and ``..._high``, from the fit at the true depth.
    confusion : DataFrame
        True depth (rows) against the depth with the highest likelihood: shares of people.
    coverage : DataFrame
        One row per free parameter: ``coverage`` of the intervals with a 95 % exact interval,
        ``bias`` and ``rmse`` of the estimates, the ``median_width`` of the intervals (that of the
        bounds where a parameter is not identified), ``correlation``, ``num_identified``.
    num_choices : int
        Responses per person.

    Examples
    --------
    >>> import cobayes as cb
    >>> problems, family = cb.read_model("example:gestures"), cb.people.Family(depth=(0, 1))
    >>> recovery = cb.people.recover(family, problems, num_people=3, num_rounds=5, rng=1)
    >>> recovery.num_choices
    5
    """

    table: pd.DataFrame
    confusion: pd.DataFrame
    coverage: pd.DataFrame
    num_choices: int

    @property
    def depth_accuracy(self) -> float:
        """The share of people whose depth is recovered."""
        return float((self.table["depth"] == self.table["depth_estimate"]).to_numpy().mean())

    def __repr__(self) -> str:
        return (
            f"Recovery({len(self.table)} people, {self.num_choices} responses each; depth "
            f"recovered in {percent(self.depth_accuracy, digits=0)})\n{self.coverage.to_string()}"
        )


def recover(
    family: Family,
    problems: Any,
    *,
    num_people: int,
    num_rounds: int,
    num_lessons: int = 1,
    parameters: Mapping[str, Any] | None = None,
    priors: Any = None,
    confidence: float = 0.95,
    rng: Any = None,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Recovery:
    """Simulate people from a family on a design and fit the same family to them.

    Parameters
    ----------
    family
        Depths are drawn evenly from its depths.
    problems, priors
        The design, as in `score`.
    num_people
        The number of simulated people.
    num_rounds, num_lessons
        Responses per lesson, and lessons per person and problem.
    parameters
        True values: a number, or a range to draw from evenly. By default rationality is between 1
        and 6, lapse below 0.2 and weights between -2 and 2, within the family's bounds.
    confidence
        Confidence level of the intervals whose coverage is counted.
    rng
        Anything that `numpy.random.default_rng` takes.
    seconds
        A time limit: the result then has the people who were fitted until then, at least 50.
    progress
        Called with a text and the share of people done.

    Returns
    -------
    Recovery
        True and estimated parameters, and which depth was taken for which.

    Examples
    --------
    >>> from cobayes import people
    >>> family = people.Family(depth=1, lapse=0.0)
    >>> people.recover(family, [[3, 1], [1, 2]], num_people=20, num_rounds=30, rng=1).num_choices
    30
    """
    whole_number(num_people, "num_people", 1)
    random, tell = generator(rng), progress or silent
    known = read_problems(problems, priors)
    require_affordable_lessons(
        num_people * len(known) * whole_number(num_lessons, "num_lessons", 1),
        whole_number(num_rounds, "num_rounds", 1),
        list(known.values()),
        SECONDS_PER_FIT * len(family.depth),
    )
    truth = draw_people(family, num_people, parameters or {}, random)
    table = simulate(
        truth, known, num_rounds=num_rounds, num_lessons=num_lessons, family=family, rng=random
    )
    num_choices, parts, start = len(table) // num_people, [], time.monotonic()
    for first in range(0, num_people, BLOCK):
        tell(f"{first:,} of {num_people:,} people", first / num_people)
        if parts and seconds is not None and time.monotonic() - start > seconds:
            warn_user(f"stopped after {seconds:g} s with {first:,} of {num_people:,} people.")
            break
        # The rows of a person stand together.
        rows = table.iloc[first * num_choices : (first + BLOCK) * num_choices]
        some = truth.iloc[first : first + BLOCK]
        parts.append(_recovered(some, rows, known, family, confidence))
    tell("done", 1.0)
    result = pd.concat(parts, ignore_index=True)
    confusion = pd.crosstab(result["depth"], result["depth_estimate"], normalize="index")
    return Recovery(result, confusion, _coverage(result, family), num_choices)


def _recovered(
    truth: pd.DataFrame,
    choices: pd.DataFrame,
    problems: Mapping[str, Problem],
    family: Family,
    confidence: float,
) -> pd.DataFrame:
    """Return the truth of some people with estimates of depth, and of parameters at that depth."""
    chosen = fit(choices, problems, family, intervals=None).estimates
    result = truth.assign(depth_estimate=chosen["depth"].to_numpy())
    for depth in family.depth:
        own = truth["depth"] == depth
        if own.any():
            rows = choices[choices["person"].isin(truth["person"][own].tolist())]
            alone = fit(rows, problems, family.at(depth=depth), confidence=confidence).estimates
            for name in family.free_names(depth):
                ends = alone[[name, f"{name}_low", f"{name}_high"]].to_numpy()
                result.loc[own, [f"{name}_{end}" for end in ("estimate", "low", "high")]] = ends
    return result


def _coverage(table: pd.DataFrame, family: Family) -> pd.DataFrame:
    records = []
    for name in family.names:
        if f"{name}_estimate" not in table.columns:
            continue
        truth = table[name].to_numpy()
        guess, low, high = (
            table[f"{name}_{end}"].to_numpy() for end in ("estimate", "low", "high")
        )
        known = np.isfinite(guess)
        inside = pd.Series((low <= truth) & (truth <= high))[known]
        error = pd.Series(guess - truth)[known]
        ends = exact_interval(int(inside.sum()), len(inside)) if len(inside) else (0.0, 1.0)
        records.append(
            {
                "parameter": name,
                "coverage": inside.mean(),
                "coverage_low": ends[0],
                "coverage_high": ends[1],
                "bias": error.mean(),
                "rmse": (error**2).mean() ** 0.5,
                "median_width": float(np.nanmedian(high - low)),
                "correlation": table.filter([name, f"{name}_estimate"]).corr().iloc[0, 1],
                "num_identified": int(known.sum()),
            }
        )
    return pd.DataFrame(records).set_index("parameter")
