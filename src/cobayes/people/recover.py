"""Recovery: simulate a study, fit it, and see whether the truth comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import whole_number
from cobayes._intervals import wilson_interval
from cobayes._random import generator
from cobayes.errors import CobayesError, import_optional
from cobayes.people.choices import read_problems
from cobayes.people.family import Family, Parameter, depth_name
from cobayes.people.fit import Progress, fit, silent
from cobayes.people.simulate import require_affordable_lessons, simulate

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

# From below, per response and depth: 12,000 responses at five depths take 7 s, with intervals
# (``python -m benchmarks.people_accuracy``).
SECONDS_PER_FIT = 5e-5

# Where true parameters are drawn from unless the user says otherwise, cut to the bounds.
USUAL = {
    "rationality": (1.0, 6.0),
    "sharpness": (0.5, 3.0),
    "lapse": (0.0, 0.2),
    "inner_rationality": (0.5, 3.0),
    "prior_temperature": (0.5, 2.0),
    "noise": (0.05, 0.3),
}


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
        One row per free parameter: ``coverage`` of the intervals with a 95 % Wilson interval,
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
            f"recovered in {100 * self.depth_accuracy:.1f} %)\n{self.coverage.to_string()}"
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
    progress
        Called with a text and the share done.

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
    pandas = import_optional("pandas", "people", "a recovery")
    whole_number(num_people, "num_people", 1)
    random = generator(rng)
    known = read_problems(problems, priors)
    require_affordable_lessons(
        num_people * len(known) * whole_number(num_lessons, "num_lessons", 1),
        whole_number(num_rounds, "num_rounds", 1),
        list(known.values()),
        SECONDS_PER_FIT * len(family.depth),
    )
    truth = _draw_people(family, num_people, dict(parameters or {}), random)
    table = simulate(
        truth, known, num_rounds=num_rounds, num_lessons=num_lessons, family=family, rng=random
    )
    tell = progress or silent
    chosen = fit(
        table, known, family, intervals=None, progress=lambda text, share: tell(text, 0.5 * share)
    )
    result = truth.assign(depth_estimate=chosen.estimates["depth"].to_numpy())
    confusion = pandas.crosstab(result["depth"], result["depth_estimate"], normalize="index")
    for number, depth in enumerate(family.depth):
        tell(f"intervals at depth {depth_name(depth)}", 0.5 + 0.5 * number / len(family.depth))
        own = truth["depth"] == depth
        if own.any():
            rows = table[table["person"].isin(truth["person"][own].tolist())]
            alone = fit(rows, known, family.at(depth=depth), confidence=confidence).estimates
            for name in family.free_names(depth):
                ends = alone[[name, f"{name}_low", f"{name}_high"]].to_numpy()
                result.loc[own, [f"{name}_{end}" for end in ("estimate", "low", "high")]] = ends
    tell("done", 1.0)
    return Recovery(result, confusion, _coverage(result, family), len(table) // num_people)


def _draw_people(
    family: Family, count: int, ranges: dict[str, Any], random: np.random.Generator
) -> pd.DataFrame:
    """Return true parameters, one row per person."""
    pandas = import_optional("pandas", "people", "a table of people")
    unknown = [name for name in ranges if name not in family.names]
    if unknown:
        raise CobayesError(
            f"there is no parameter {unknown[0]!r}.", f"choose from {', '.join(family.names)}."
        )
    columns: dict[str, Any] = {
        "person": [str(number) for number in range(1, count + 1)],
        "depth": random.choice([float(depth) for depth in family.depth], size=count),
    }
    for parameter in family.parameters:
        low, high = _range_of(parameter, ranges.get(parameter.name))
        columns[parameter.name] = random.uniform(low, high, size=count)
    return pandas.DataFrame(columns)


def _range_of(parameter: Parameter, given: Any) -> tuple[float, float]:
    """Return the range that true values are drawn from, within the bounds."""
    if given is None:
        given = USUAL.get(parameter.name, (-2.0, 2.0))
    low, high = given if isinstance(given, (tuple, list)) else (given, given)
    low = float(np.clip(low, parameter.low, parameter.high))
    return low, float(np.clip(high, low, parameter.high))


def _coverage(table: pd.DataFrame, family: Family) -> pd.DataFrame:
    pandas = import_optional("pandas", "people", "a recovery")
    records = []
    for parameter in family.parameters:
        if f"{parameter.name}_estimate" not in table.columns:
            continue
        truth = table[parameter.name].to_numpy()
        guess, low, high = (
            table[f"{parameter.name}_{end}"].to_numpy() for end in ("estimate", "low", "high")
        )
        known = np.isfinite(guess)
        inside = ((low <= truth) & (truth <= high))[known]
        error = (guess - truth)[known]
        ends = wilson_interval(int(inside.sum()), len(inside)) if len(inside) else (0.0, 1.0)
        spread = known.sum() > 1 and np.ptp(truth[known]) > 0 and np.ptp(guess[known]) > 0
        records.append(
            {
                "parameter": parameter.name,
                "coverage": inside.mean() if len(inside) else np.nan,
                "coverage_low": ends[0],
                "coverage_high": ends[1],
                "bias": error.mean() if len(inside) else np.nan,
                "rmse": np.sqrt((error**2).mean()) if len(inside) else np.nan,
                "median_width": float(np.nanmedian(high - low)),
                "correlation": np.corrcoef(truth[known], guess[known])[0, 1] if spread else np.nan,
                "num_identified": int(known.sum()),
            }
        )
    return pandas.DataFrame(records).set_index("parameter")
