"""Design of a study: recovery of simulated parameters, and informative trials."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from cobayes._input.validation import generator, instance, number_between, whole_number
from cobayes._intervals import exact_interval
from cobayes._output import percent
from cobayes.errors import CobayesError, warn_user
from cobayes.people.choices import read_choices, read_problems
from cobayes.people.family import Family, as_family
from cobayes.people.fit import fit
from cobayes.people.groups import GroupFit
from cobayes.people.likelihood import Likelihood
from cobayes.people.model import draw_many
from cobayes.people.problems import Array, Positions, Problem
from cobayes.people.result import Fit, Progress, teller
from cobayes.people.simulate import require_affordable_lessons, require_known, simulate

# Lower bound on the time of a fit in seconds per response and depth. A fit of 12,000 responses at
# five depths, with intervals, takes at least 2 s (``python -m benchmarks.people_accuracy speed``).
SECONDS_PER_FIT = 2e-5
# The number of people fitted between two reports of progress.
BLOCK = 50
# The range of a parameter is divided into this number of intervals of equal probability. With
# more intervals, each would have too few draws.
NUM_INTERVALS = 20
# The largest number of response probabilities that are computed at once.
CHUNK = 2_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Recovery:
    """True and estimated parameters of simulated people.

    Attributes
    ----------
    table : DataFrame
        One row per person: true and estimated depth (``depth``, ``depth_estimate``), and the true
        parameters. A free parameter such as ``lapse`` also has the columns ``lapse_estimate``,
        ``lapse_low`` and ``lapse_high``, from the fit at the true depth.
    confusion : DataFrame
        Rows are true depths, columns estimated depths (those with the highest likelihood). An entry
        is a share of the people who have the row's true depth; each row sums to one.
    coverage : DataFrame
        One row per free parameter. ``num_identified`` is the number of people for whom the
        parameter is identified. For these people, ``coverage`` is the share of intervals that
        contain the truth, and ``coverage_low`` to ``coverage_high`` is the exact 95 % interval of
        this share. Also for these people, ``bias`` is the mean and ``rmse`` the root mean square of
        estimate minus truth, and ``correlation`` is the correlation of truth and estimate.
        ``median_width`` is the median width of all intervals. If a parameter is not identified, its
        interval goes from bound to bound.
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
    """Simulate people of a family, and fit the same family to their responses.

    The true hypothesis of each lesson is drawn uniformly, whatever the prior.

    Parameters
    ----------
    family
        The family; true depths are drawn uniformly from its depths.
    problems, priors
        As in `score`.
    num_people
        The number of simulated people.
    num_rounds, num_lessons
        Responses per lesson, and lessons per person and problem.
    parameters
        A mapping from parameter to its true value, equal for all people, or to a range from which
        true values are drawn uniformly. Default ranges: rationality 1 to 6, lapse 0 to 0.2,
        sharpness and inner rationality 0.5 to 3, prior temperature 0.5 to 2, noise 0.05 to 0.3,
        weights -2 to 2. A value or an end of a range that is outside of the family's bounds is
        replaced by the nearest bound.
    confidence
        Confidence level of the intervals whose coverage is counted.
    rng
        Anything that `numpy.random.default_rng` accepts.
    seconds
        A time limit in seconds, >= 0; by default there is none. People who were not fitted in time
        are left out, but the first 50 people are always fitted.
    progress
        A function that is called with a text and the share of people done, 0 to 1.

    Returns
    -------
    Recovery
        True and estimated parameters and depths.

    Examples
    --------
    >>> from cobayes import people
    >>> family = people.Family(depth=1, lapse=0.0)
    >>> people.recover(family, [[3, 1], [1, 2]], num_people=20, num_rounds=30, rng=1).num_choices
    30
    """
    whole_number(num_people, "num_people", 1)
    if seconds is not None:
        number_between(seconds, "seconds", 0.0, float("inf"), closed="both")
    random, tell = generator(rng), teller(progress)
    known, family = read_problems(problems, priors), as_family(family)
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
        # The rows of a person are consecutive.
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
    """Return the rows of `Recovery.table` for some people."""
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
    records = {}
    for name in family.names:
        columns = [name, f"{name}_estimate", f"{name}_low", f"{name}_high"]
        if columns[1] not in table.columns:
            continue
        truth, guess, low, high = table[columns].to_numpy().T
        known = np.isfinite(guess)
        # A Series, because the mean of an empty Series is NaN without a warning.
        inside = pd.Series((low <= truth) & (truth <= high))[known]
        error = pd.Series(guess - truth)[known]
        ends = exact_interval(int(inside.sum()), len(inside)) if len(inside) else (0.0, 1.0)
        records[name] = {
            "coverage": inside.mean(),
            "coverage_low": ends[0],
            "coverage_high": ends[1],
            "bias": error.mean(),
            "rmse": (error**2).mean() ** 0.5,
            "median_width": float(np.nanmedian(high - low)),
            "correlation": table.filter(columns[:2]).corr().iloc[0, 1],
            "num_identified": int(known.sum()),
        }
    return pd.DataFrame.from_dict(records, orient="index").rename_axis("parameter")


def informative(
    problems: Any,
    family: Family | None = None,
    about: str = "depth",
    given: Fit | GroupFit | None = None,
    rng: Any = None,
    *,
    priors: Any = None,
    num_draws: int = 4000,
) -> pd.DataFrame:
    """Rank trials by the expected information gain, in nats, from one response of a person.

    The expected information gain is the mutual information of the response and the depth, or of
    the response and a parameter whose range is divided into twenty intervals of equal probability.
    The sum over responses is exact; the mean over people is estimated from random draws of people.

    Parameters
    ----------
    problems, priors
        As in `score`.
    family
        A family for choices or guesses; by default the family of ``given``, or `Family()` if there
        is no ``given``.
    about
        The unknown: "depth", or a free parameter such as "rationality".
    given
        The fit from which people are drawn: new people from the group of a `GroupFit`, or the
        people of a `Fit`, with depths weighted by BIC. Without a fit, depths are drawn uniformly.
        Parameters without an estimate are drawn from the default ranges of `recover`.
    rng
        Anything that `numpy.random.default_rng` accepts.
    num_draws
        The number of draws of people.

    Returns
    -------
    DataFrame
        One row per trial, best first: ``problem``, ``hypothesis`` (the truth that a teacher is
        given) or ``datum`` (the first datum that a learner sees), and ``nats``.

    Examples
    --------
    >>> from cobayes import people
    >>> family = people.Family(depth=(0, 1), lapse=0.05)
    >>> table = people.informative({"p": [[3, 1], [1, 2], [1, 1]]}, family, rng=1)
    >>> table["hypothesis"].tolist()
    ['1', '0']
    """
    fit = given.fit if isinstance(given, GroupFit) else given
    if fit is not None:
        instance(fit, Fit, "given", "what people.fit or people.fit_group returns")
    family = as_family(fit.family if fit and family is None else family)
    if fit and (fit.family.names, fit.family.depth) != (family.names, family.depth):
        raise CobayesError(
            "the fit has other depths or parameters than the family.",
            "give the family of the fit, or omit the family.",
        )
    if family.response == "rating":
        raise CobayesError(
            "the information gain is a sum over options, and ratings have none.",
            'use response="guess".',
        )
    if about not in (("depth",) if len(family.depth) > 1 else ()) + family.free_names():
        raise CobayesError(
            f"about={about!r} is not free in the family.",
            "choose 'depth' if the family has several depths, or a free parameter.",
        )
    whole_number(num_draws, "num_draws", NUM_INTERVALS)
    depth, values = _draw(family, given, num_draws, generator(rng))
    known = read_problems(problems, priors)
    shown = "hypothesis" if family.is_teacher else "datum"
    trials = [(name, label) for name, own in known.items() for label in own.labels(shown)]
    frame = pd.DataFrame(trials, columns=["problem", shown])
    # `read_choices` needs responses. They have no effect, because all options are summed over.
    answer, kind = ("datum", "datum") if family.is_teacher else ("guess", "hypothesis")
    frame[answer] = [known[name].labels(kind)[0] for name in frame["problem"]]
    table = read_choices(frame.assign(count=1), known, family.response)
    label = depth
    if about != "depth":
        order = np.argsort(np.argsort(values[:, family.names.index(about)], kind="stable"))
        label = order * NUM_INTERVALS // num_draws
    _, label, counts = np.unique(label, return_inverse=True, return_counts=True)
    size = max(len(own.labels(kind)) for own in known.values())
    # A person's label is the depth, or the interval of the parameter. An entry of `sums` (labels,
    # trials, options) is the sum of the option's probability over the people with this label.
    sums = np.zeros((len(counts), len(table), size))
    for place, own in enumerate(family.depth):
        likelihood = Likelihood(table, family, own, [np.arange(len(table))])
        people = np.flatnonzero(depth == place)
        step = max(1, CHUNK // sums[0].size)
        for chunk in (people[at : at + step] for at in range(0, len(people), step)):
            many = likelihood.take(np.zeros(len(chunk), dtype=np.int64))
            found, _ = many.responses(values[chunk][:, likelihood.columns])
            np.add.at(sums, label[chunk], found.reshape(-1, *sums.shape[1:]))
    given_label = special.entr(sums / counts[:, None, None]).sum(axis=2)
    all_people = special.entr(sums.sum(axis=0) / num_draws).sum(axis=1)
    nats = all_people - counts / num_draws @ given_label
    found = frame[["problem", shown]].assign(nats=np.maximum(nats, 0.0))
    return found.sort_values("nats", ascending=False, kind="stable", ignore_index=True)


def _draw(
    family: Family, given: Fit | GroupFit | None, count: int, random: np.random.Generator
) -> tuple[Positions, Array]:
    """Draw s people; return the positions of their depths (s,), and all parameters (s, names)."""
    if isinstance(given, GroupFit):
        return given.draw_next(count, random)
    table = draw_people(given.family if given else family, count, {}, random)
    values = table[list(family.names)].to_numpy()
    if given is None:
        return np.searchsorted(family.depth, table["depth"].to_numpy()), values
    found = given.arrays
    sizes = np.log([len(rows) for rows in given.groups])[:, None]
    weights = special.softmax(found.value - 0.5 * found.is_identified.sum(axis=2) * sizes, axis=1)
    person = random.integers(len(weights), size=count)
    depth = draw_many(weights[person], random.random(count))
    has_estimate = found.is_identified[person, depth]
    return depth, np.where(has_estimate, found.parameters[person, depth], values)


def draw_people(
    family: Family, count: int, ranges: Mapping[str, Any], random: np.random.Generator
) -> pd.DataFrame:
    """Return drawn people, one per row; a parameter not in `ranges` has its usual range."""
    require_known(ranges, family.names)
    columns: dict[str, Any] = {
        "person": [str(number) for number in range(1, count + 1)],
        "depth": random.choice([float(depth) for depth in family.depth], size=count),
    }
    for name, bounds in family.bounds.items():
        ends = np.broadcast_to(ranges.get(name, family.usual(name)), 2)
        columns[name] = random.uniform(*np.clip(ends, *bounds), size=count)
    return pd.DataFrame(columns)
