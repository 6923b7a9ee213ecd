"""Scoring given parameters and fitting free ones, per person or pooled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import shorten
from cobayes._input.validation import whole_number
from cobayes._intervals import check_confidence
from cobayes.errors import CobayesError
from cobayes.people._estimation import Estimates, Progress, estimate, silent
from cobayes.people.choices import Choices, read_choices
from cobayes.people.family import Family
from cobayes.people.likelihood import Likelihood
from cobayes.people.predict import trial_table
from cobayes.people.problems import Problem, read_problems
from cobayes.people.result import Fit

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


def score(
    choices: Any,
    problems: Any,
    *,
    depth: float = 1,
    rationality: float = 1.0,
    lapse: float = 0.0,
    priors: Mapping[str, Any] | None = None,
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
        or a file.
    problems
        A mapping from name to matrix or task, a folder of model files, or one matrix.
    depth, rationality, lapse
        As in `Family`.
    priors
        From problem to prior; uniform by default.
    **settings
        Further settings of `Family`, with numbers for all parameters.

    Returns
    -------
    DataFrame
        One row per choice, with the columns named above.

    Examples
    --------
    >>> from cobayes import people
    >>> choices = {"person": ["a"], "round": [1], "hypothesis": [0], "datum": [0]}
    >>> people.score(choices, [[0.5, 0.2], [0.5, 0.8]])["probability"].round(3).tolist()
    [0.65]
    """
    family = Family(depth=depth, rationality=rationality, lapse=lapse, **settings)
    free = [p.name for p in family.parameters if p.is_free and p.name != "noise"]
    if free or len(family.depth) > 1:
        raise CobayesError(
            f"{free[0] if free else 'depth'} is not a single number; a score needs numbers.",
            "use cobayes.people.fit to estimate it.",
        )
    known = read_problems(problems, priors)
    table = read_choices(choices, known, family.response)
    values = np.array([[parameter.low for parameter in family.parameters]])
    likelihood = Likelihood(table, family, family.depth[0], np.zeros(len(table), dtype=np.int64))
    return trial_table(likelihood, values)


def fit(
    choices: Any,
    problems: Any,
    family: Family | None = None,
    by: str | None = "person",
    *,
    priors: Mapping[str, Any] | None = None,
    intervals: str | None = "profile",
    confidence: float = 0.95,
    num_starts: int = 4,
    progress: Progress | None = None,
) -> Fit:
    """Fit a family to a table of responses by maximum likelihood.

    Parameters
    ----------
    choices, problems, priors
        As in `score`.
    family
        What to fit; by default depths 0, 1, 2 and infinity with rationality and lapse free.
    by
        The column whose values get parameters of their own; None pools everybody.
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
    return fit_choices(
        read_choices(choices, known, family.response),
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
    found = estimate(
        table,
        family,
        groups,
        num_starts=num_starts,
        intervals=intervals,
        confidence=confidence,
        progress=progress or silent,
    )
    _require_possible(found, table, family, groups)
    return Fit(family, table, problems, by, units, groups, found)


def group_rows(table: Choices, by: str | None) -> tuple[list[Any], list[Positions]]:
    """Return the units, in the order of their first rows, and the rows of each."""
    if by is None:
        return [], [np.arange(len(table))]
    if by not in table.frame.columns:
        raise CobayesError(
            f"there is no column {by!r} to fit by.",
            f"use one of {shorten([*map(str, table.frame.columns)])}, or None (--by none) to pool "
            "everybody.",
        )
    empty = table.frame[by].isna().to_numpy()
    if empty.any():
        raise CobayesError(
            f"row {int(empty.argmax()) + 1} of the table, column {by!r}: the cell is empty.",
            "fill it in, or drop the row.",
        )
    groups: dict[Any, list[int]] = {}
    for row, value in enumerate(table.frame[by].tolist()):
        groups.setdefault(value, []).append(row)
    return list(groups), [np.array(rows) for rows in groups.values()]


def _require_possible(
    found: Estimates, table: Choices, family: Family, groups: list[Positions]
) -> None:
    """Raise an error where no depth and no parameters can produce some person's responses."""
    bad = np.flatnonzero(~np.isfinite(found.value.max(axis=1)))
    if not len(bad):
        return
    rows = np.concatenate([groups[unit] for unit in bad])
    people = table.frame["person"].iloc[rows]
    for row in rows:
        problem, datum = table.problem[row], table.datum[row]
        if datum >= 0 and problem.table(table.history[row]).data_prior[datum] == 0.0:
            raise CobayesError(
                f"row {row + 1}: datum {problem.model.data[datum]!r} was not available, says the "
                "task of the problem.",
                "give the matrix itself as the problem (no --no-repeats), or drop the row.",
            )
    if family.response == "choice":
        matrices = [problem.model.matrix for problem in table.problem]
        ruled_out = [
            row for row in rows if matrices[row][table.datum[row], table.hypothesis[row]] == 0.0
        ]
        if ruled_out:
            people = table.frame["person"].iloc[ruled_out]
            raise CobayesError(
                f"{len(ruled_out)} choices show a datum that the truth rules out, the first in row "
                f"{ruled_out[0] + 1}; without a lapse their likelihood is zero. "
                f"Persons: {_names(people)}.",
                "free the lapse, lapse=(0.0, 0.5), or drop these rows.",
            )
    raise CobayesError(
        f"some responses are impossible at every depth of the family: persons {_names(people)}.",
        "free the lapse, lapse=(0.0, 0.5), or allow finite depths.",
    )


def _names(people: pd.Series) -> str:
    return shorten([str(name) for name in dict.fromkeys(people.tolist())])
