"""Scoring given parameters and fitting free ones, per person or pooled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import shorten
from cobayes._input.validation import whole_number
from cobayes._intervals import check_confidence
from cobayes.errors import CobayesError
from cobayes.people.choices import Choices, read_choices, read_problems
from cobayes.people.family import Family, depth_name
from cobayes.people.maximise import MARGIN, Maximum, climb_from_everywhere, profile
from cobayes.people.model import Likelihood
from cobayes.people.problems import Problem
from cobayes.people.result import Estimates, Fit, trial_table

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
Progress = Callable[[str, float], None]

# Responses that are worked on together: they bound the memory.
CHUNK_ROWS = 20_000
# Information below this, per response and with parameters in units of their range, is none.
NO_INFORMATION = 1e-9
# Points over the bounds at which the likelihood is looked at before the climbs.
NUM_POINTS = 40
# Where the first climb starts: values that are usual in the literature.
USUAL_START = {
    "rationality": 2.0,
    "sharpness": 1.0,
    "lapse": 0.05,
    "noise": 0.2,
    "inner_rationality": 1.0,
    "prior_temperature": 1.0,
}


def silent(text: str, share: float) -> None:
    """Say nothing: the progress that nobody asked for."""
    del text, share


def score(
    choices: Any,
    problems: Any,
    *,
    depth: float = 1,
    rationality: float = 1.0,
    lapse: float = 0.0,
    priors: Any = None,
    **settings: Any,
) -> pd.DataFrame:
    """Return the table of trials for given parameters.

    To every choice it adds its probability and log-likelihood, the rank of the chosen option,
    the belief in the truth before and after, the entropy before and after, and the information
    gain (Kullback-Leibler divergence of the belief after from the one before, in nats). All
    other columns are kept; one with the name of an added column becomes ``..._given``.

    Parameters
    ----------
    choices
        A table with the columns person, problem, round, hypothesis, datum: a DataFrame, a mapping
        or a file. With a column count, a row stands for that many first responses of anybody;
        person and round are not needed then.
    problems
        A mapping from name to matrix or task, a folder of model files, or one matrix.
    depth, rationality, lapse
        As in `Family`.
    priors
        A mapping from problem to prior, or a table (or file) with the columns problem, hypothesis
        and prior; uniform by default.
    **settings
        Further settings of `Family`, with numbers for all parameters.

    Returns
    -------
    DataFrame
        One row per response, with the columns named above.

    Examples
    --------
    >>> from cobayes import people
    >>> choices = {"person": ["a"], "round": [1], "hypothesis": [0], "datum": [0]}
    >>> people.score(choices, [[0.5, 0.2], [0.5, 0.8]])["probability"].round(3).tolist()
    [0.65]
    """
    settings.setdefault("noise", 0.1)
    family = Family(depth=depth, rationality=rationality, lapse=lapse, **settings)
    free = family.free_names()
    if free or len(family.depth) > 1:
        raise CobayesError(
            f"{(*free, 'depth')[0]} is not a single number; a score needs all parameters.",
            "use people.fit to estimate them.",
        )
    known = read_problems(problems, priors)
    table = read_choices(choices, known, family.response)
    likelihood = Likelihood.of(table, family, family.depth[0], [np.arange(len(table))])
    return trial_table(likelihood, family.low[None])


def fit(
    choices: Any,
    problems: Any,
    family: Family | None = None,
    by: str | None = "person",
    *,
    priors: Any = None,
    intervals: str | None = "profile",
    confidence: float = 0.95,
    num_starts: int = 4,
    progress: Progress | None = None,
) -> Fit:
    """Estimate a family's parameters by maximum likelihood.

    Parameters
    ----------
    choices, problems, priors
        As in `score`.
    family
        Which depths and which free parameters; the default has depths 0, 1, 2 and infinity.
    by
        The column whose values are fitted one by one; None pools everybody.
    intervals
        "profile" (where the profile likelihood falls below the chi-squared quantile),
        "information" (normal approximation, quicker; it covers parameters near a bound, such as
        small lapses, too rarely) or None.
    confidence
        Confidence level of the intervals.
    num_starts
        Climbs for each unit and depth.
    progress
        Called with a text and the share done.

    Returns
    -------
    Fit
        The estimates with their errors, log-likelihoods and regressors of every trial.

    Examples
    --------
    >>> from cobayes import people
    >>> problems = {"coins": [[0.9, 0.5], [0.1, 0.5]]}
    >>> truth = {"depth": 1, "rationality": 2.0, "lapse": 0.0}
    >>> choices = people.simulate(truth, problems, num_people=3, num_rounds=20, rng=1)
    >>> people.fit(choices, problems, people.Family(depth=1, lapse=0.0))  # doctest: +ELLIPSIS
    Fit(person: 3; responses: 60; depths: 1; log-likelihood: ...)
    """
    family = Family() if family is None else family
    if not isinstance(family, Family):
        raise CobayesError(
            f"the family is {family!r}; expected a cobayes.people.Family.",
            "write people.Family(depth=(0, 1)).",
        )
    if intervals not in ("profile", "information", None):
        raise CobayesError(
            f"intervals is {intervals!r}; expected 'profile', 'information' or None."
        )
    check_confidence(confidence)
    whole_number(num_starts, "num_starts", 1)
    known = read_problems(problems, priors)
    table = read_choices(choices, known, family.response)
    return fit_choices(
        table,
        known,
        family,
        by,
        intervals=intervals,
        confidence=confidence,
        num_starts=num_starts,
        progress=progress,
    )


def fit_choices(
    table: Choices,
    problems: dict[str, Problem],
    family: Family,
    by: str | None,
    *,
    intervals: str | None = None,
    confidence: float = 0.95,
    num_starts: int = 4,
    progress: Progress | None = None,
) -> Fit:
    """Fit checked choices; see `fit`."""
    units, groups = group_rows(table, by)
    likelihoods: dict[float, Likelihood] = {}
    maxima, tell = [], progress or silent
    for number, depth in enumerate(family.depth):
        tell(f"depth {depth_name(depth)}", number / (len(family.depth) + 1))
        likelihoods[depth] = Likelihood.of(table, family, depth, groups)
        maxima.append(_climb(likelihoods[depth], groups, num_starts))
    _require_possible(np.max([found.value for found in maxima], axis=0), table, family, groups)
    tell("intervals", len(family.depth) / (len(family.depth) + 1))
    found = _collect(maxima, list(likelihoods.values()), intervals, confidence)
    tell("done", 1.0)
    return Fit(family, table, problems, by, units, groups, found, likelihoods)


def group_rows(table: Choices, by: str | None) -> tuple[list[Any], list[Positions]]:
    """Return the units, in the order of their first rows, and the rows of each."""
    if by is None:
        return [], [np.arange(len(table))]
    columns = [*map(str, table.frame.columns)]
    if not isinstance(by, str) or by not in columns:
        raise CobayesError(
            f"there is no column {by!r} to fit by.",
            f"use one of {shorten(columns)}, or None (--by none) to pool everybody.",
        )
    empty = table.frame[by].isna().to_numpy()
    if empty.any():
        raise CobayesError(
            f"row {int(empty.argmax()) + 1} of the table, column {by!r}: the cell is empty.",
            "fill it in, or drop the row.",
        )
    groups: dict[Any, list[int]] = {}
    for row, value in enumerate(table.frame[by].tolist()):
        try:
            groups.setdefault(value, []).append(row)
        except TypeError:
            raise CobayesError(
                f"row {row + 1} of the table, column {by!r}: the cell holds a "
                f"{type(value).__name__}; expected a text or a number."
            ) from None
    return list(groups), [np.array(rows) for rows in groups.values()]


def starting_points(likelihood: Likelihood, num_starts: int) -> Array:
    """Return where the climbs of every unit start, (starts, units, parameters).

    The first start has values that are usual in the literature. The others are the likeliest of
    points spread over the bounds, the same points every time.
    """
    family = likelihood.family
    low, width = family.low, family.high - family.low
    usual = np.array([USUAL_START.get(name, 0.0) for name in family.names])
    # Cubes put more points near the lower bounds, where rationality and lapse usually are.
    spread = np.random.default_rng(20200).random((NUM_POINTS, len(low))) ** 3
    spread[:, low < 0.0] = 0.25 + 0.5 * spread[:, low < 0.0]
    # A bound itself can be a point without slope: start inside.
    margin = MARGIN * width
    points = np.vstack([usual, low + width * spread])
    points = np.clip(points, low + margin, family.high - margin)
    unused = family.recursion
    if not family.has_recursion(likelihood.depth) and family.parameter(unused).is_free:
        points[:, family.column(unused)] = 1.0
    num_units = len(likelihood.starts)
    if not len(likelihood.free):
        return np.tile(points[:1, None], (1, num_units, 1))
    values = np.array([likelihood.values(np.tile(point, (num_units, 1))) for point in points[1:]])
    likeliest = 1 + np.argsort(-values, axis=0)[: num_starts - 1]
    return points[np.vstack([np.zeros((1, num_units), dtype=int), likeliest])]


def _climb(likelihood: Likelihood, groups: Sequence[Positions], num_starts: int) -> Maximum:
    """Return the maxima of all units, some units at a time."""
    # Units by the multiple of CHUNK_ROWS that their last row reaches.
    chunk = np.cumsum([len(rows) for rows in groups]) // CHUNK_ROWS
    parts = [np.flatnonzero(chunk == number) for number in np.unique(chunk)]
    found = []
    for units in parts:
        part = likelihood.take(units) if len(parts) > 1 else likelihood
        found.append(climb_from_everywhere(part, starting_points(part, num_starts)))
    names = Maximum.__dataclass_fields__
    return Maximum(*(np.concatenate([getattr(part, name) for part in found]) for name in names))


def _collect(
    maxima: list[Maximum], likelihoods: list[Likelihood], intervals: str | None, confidence: float
) -> Estimates:
    """Return the estimates of all depths, with intervals at the best one of each unit."""
    low, high = likelihoods[0].family.low, likelihoods[0].family.high
    num_units = len(maxima[0].value)
    estimates = Estimates(
        _snap(np.stack([found.parameters for found in maxima], axis=1), low, high),
        np.stack([found.value for found in maxima], axis=1),
        np.stack(list(map(_identified, likelihoods, maxima)), axis=1),
        np.stack([found.is_converged for found in maxima], axis=1),
        np.full((num_units, len(low)), np.nan),
        np.full((num_units, len(low)), np.nan),
    )
    for number, (likelihood, found) in enumerate(zip(likelihoods, maxima, strict=True)):
        units = np.flatnonzero(estimates.best == number)
        if intervals is None or not len(units):
            continue
        known = estimates.is_identified[units, number]
        estimates.low[units], estimates.high[units] = interval_ends(
            likelihood.take(units), found.take(units), known, intervals, confidence
        )
    return estimates


def _snap(parameters: Array, low: Array, high: Array) -> Array:
    """Move estimates that differ from a bound by rounding only onto it."""
    near = 1e-9 * (high - low)
    parameters = np.where(parameters - low < near, low, parameters)
    return np.where(high - parameters < near, high, parameters)


def _identified(likelihood: Likelihood, found: Maximum) -> NDArray[np.bool_]:
    """Return which parameters the responses say anything about, (u, p).

    A direction without information makes all parameters that take part in it unidentified.
    """
    family, free = likelihood.family, likelihood.columns
    flags = np.zeros(found.parameters.shape, dtype=bool)
    if not len(free):
        return flags
    width = (family.high - family.low)[free]
    counts = np.bincount(likelihood.units)[:, None, None]
    sizes, directions = np.linalg.eigh(found.information * width * width[:, None] / counts)
    involved = (np.abs(directions) > 0.1) & (sizes < NO_INFORMATION)[:, None, :]
    flags[:, free] = ~involved.any(axis=2)
    return flags


def interval_ends(
    likelihood: Likelihood,
    found: Maximum,
    is_identified: NDArray[np.bool_],
    kind: str,
    confidence: float,
) -> tuple[Array, Array]:
    """Return the ends of the intervals, (u, p) each; NaN for parameters that are not free.

    The interval of a parameter that is not identified spans its bounds.
    """
    from scipy.special import chdtri

    family, columns = likelihood.family, likelihood.columns
    quantile = float(chdtri(1, 1.0 - confidence))
    if kind == "profile":
        ends = [profile(likelihood, found, place, 0.5 * quantile) for place in range(len(columns))]
    else:
        covariance = np.linalg.pinv(found.information, rcond=1e-12, hermitian=True)
        errors = np.sqrt(quantile * np.maximum(np.einsum("upp->pu", covariance), 0.0))
        values = found.parameters[:, columns].T
        ends = list(zip(values - errors, values + errors, strict=True))
    low, high = np.full((2, *is_identified.shape), np.nan)
    for column, (lower, upper) in zip(columns, ends, strict=True):
        known, bounds = is_identified[:, column], (family.low[column], family.high[column])
        low[:, column] = np.where(known, np.clip(lower, *bounds), bounds[0])
        high[:, column] = np.where(known, np.clip(upper, *bounds), bounds[1])
    return low, high


def _require_possible(
    value: Array, table: Choices, family: Family, groups: Sequence[Positions]
) -> None:
    """Raise an error where no depth and no parameters can produce some person's responses."""
    bad = np.flatnonzero(~np.isfinite(value))
    if not len(bad):
        return
    rows = np.concatenate([groups[unit] for unit in bad.tolist()])
    if family.is_teacher:
        for row in rows.tolist():
            problem, state = table.problem[row], table.problem[row].start
            for datum in table.history[row]:
                state = problem.next_state(state, datum)
            if problem.table(state).data_prior[table.datum[row]] == 0.0:
                raise CobayesError(
                    f"row {row + 1}: datum {problem.model.data[table.datum[row]]!r} was not "
                    "available, says the task of the problem.",
                    "give the matrix itself as the problem (no --no-repeats), or drop the row.",
                )
        entries = [
            table.problem[row].model.matrix[table.datum[row], table.hypothesis[row]]
            for row in rows.tolist()
        ]
        ruled_out = rows[np.array(entries) == 0.0]
        if len(ruled_out):
            raise CobayesError(
                f"{len(ruled_out)} choices show a datum that the truth rules out, the first in row "
                f"{ruled_out[0] + 1}; without a lapse their likelihood is zero"
                f"{_whose(table, ruled_out)}.",
                "free the lapse, lapse=(0.0, 0.5), or drop these rows.",
            )
    raise CobayesError(
        f"some responses are impossible at every depth of the family{_whose(table, rows)}.",
        "free the lapse, lapse=(0.0, 0.5), or allow finite depths.",
    )


def _whose(table: Choices, rows: Positions) -> str:
    """Return the persons of some rows for a message."""
    if "person" not in table.frame.columns:
        return ""
    people = dict.fromkeys(table.frame["person"].iloc[rows].tolist())
    return f"; persons: {shorten([str(name) for name in people])}"
