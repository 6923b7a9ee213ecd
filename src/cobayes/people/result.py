"""The result of a fit: tables of estimates, depths and trials; saving and loading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobayes._input.labels import aligned, shorten
from cobayes._input.validation import generator, instance, whole_number
from cobayes.errors import CobayesError, import_optional
from cobayes.people.choices import Choices, read_choices, read_problems
from cobayes.people.family import Family
from cobayes.people.likelihood import Likelihood
from cobayes.people.posterior import draw_parameters
from cobayes.people.problems import Array, Positions, Problem
from cobayes.people.tables import filled

Progress = Callable[[str, float], None]


def teller(progress: Progress | None) -> Progress:
    """Return the user's progress function; for None, a function that does nothing."""
    if progress is None:
        return lambda text, share: None  # noqa: ARG005
    kind: Any = Callable
    return instance(progress, kind, "progress", "a function of a text and a share")


@dataclass(frozen=True)
class Estimates:
    """Estimates of every unit (u) at every depth (k) for all parameters (p).

    Attributes
    ----------
    parameters : ndarray
        (u, k, p).
    value : ndarray
        (u, k): log-likelihoods; minus infinity if a response is impossible.
    is_identified : ndarray
        (u, k, p): False for fixed parameters, for parameters that the depth does not have, and for
        parameters that the responses do not determine.
    is_converged : ndarray
        (u, k).
    low, high : ndarray
        (u, p): ends of the intervals at the best depth; NaN if there is no interval.
    """

    parameters: Array
    value: Array
    is_identified: NDArray[np.bool_]
    is_converged: NDArray[np.bool_]
    low: Array
    high: Array

    @property
    def best(self) -> Positions:
        """Positions of the depths with the highest likelihood, (u,); ties go to the lower depth."""
        # Likelihoods that differ only by rounding are treated as equal.
        lead = self.value.max(axis=1, keepdims=True)
        return np.argmax(self.value >= lead - 1e-9 * np.maximum(1.0, np.abs(lead)), axis=1)

    @property
    def at_best(self) -> Array:
        """The parameters at the best depth of each unit, (u, p)."""
        return self.parameters[np.arange(len(self.best)), self.best]


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A family fitted to people.

    Attributes
    ----------
    family : Family
        The family that was fitted.
    choices : Choices
        The validated table of responses.
    problems : dict
        The problems by name.
    by : str or None
        The column whose values are the units; None: all people are one unit.
    units : list
        The values of the column `by`, in the order of the table; empty if `by` is None.
    groups : list of ndarray
        The rows of every unit.
    arrays : Estimates
        Estimates, log-likelihoods and intervals as arrays.

    Examples
    --------
    >>> import cobayes as cb
    >>> fit = cb.people.fit(*cb.people.example_study(), cb.people.Family(depth=(0, 1)))
    >>> fit
    Fit(person: 3; responses: 15; depths: 0, 1; log-likelihood: -25.59)
    """

    family: Family
    choices: Choices
    problems: dict[str, Problem]
    by: str | None
    units: list[Any]
    groups: list[Positions]
    arrays: Estimates
    _likelihoods: dict[float, Likelihood] = field(default_factory=dict)

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """One row per unit: its best depth, the parameters with intervals, AIC, BIC, a note.

        A parameter that is not identified is NaN, and its interval goes from bound to bound. A
        parameter that the best depth does not have is NaN without an interval. ``num_parameters``
        counts the identified free parameters, plus one if the family has several depths.
        """
        best = self.arrays.best
        table = self._table(best, has_intervals=True)
        counts = np.array([len(rows) for rows in self.groups])
        table.insert(len(table.columns) - 1, "num_choices", counts)
        table["num_parameters"] += len(self.family.depth) > 1
        table["aic"] = 2.0 * (table["num_parameters"] - table["log_likelihood"])
        table["bic"] = table["num_parameters"] * np.log(counts) - 2.0 * table["log_likelihood"]
        table["note"] = [self._note(unit, int(depth)) for unit, depth in enumerate(best)]
        return table

    @cached_property
    def depths(self) -> pd.DataFrame:
        """One row per unit and depth: the estimates and the log-likelihood at that depth."""
        numbers = range(len(self.family.depth))
        parts = [self._table(np.full(len(self.groups), number)) for number in numbers]
        return pd.concat(parts, ignore_index=True)

    def _table(self, number: Positions, *, has_intervals: bool = False) -> pd.DataFrame:
        """Return the estimates of each unit k, at the depth with the position ``number[k]``."""
        found, every = self.arrays, np.arange(len(self.groups))
        known = found.is_identified[every, number]
        is_fixed = self.family.low == self.family.high
        shown = np.where(known | is_fixed, found.parameters[every, number], np.nan)
        columns: dict[str, Any] = {} if self.by is None else {self.by: self.units}
        columns["depth"] = np.array(self.family.depth, dtype=np.float64)[number]
        for place, name in enumerate(self.family.names):
            columns[name] = shown[:, place]
            if has_intervals and not is_fixed[place]:
                columns[f"{name}_low"] = found.low[:, place]
                columns[f"{name}_high"] = found.high[:, place]
        columns["log_likelihood"] = found.value[every, number]
        columns["num_parameters"] = known.sum(axis=1)
        return pd.DataFrame(columns)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The choices with log-likelihoods, beliefs and regressors; see `score`."""
        parts = [trial_table(likelihood, values) for likelihood, _, values in self.at_best()]
        return pd.concat(parts).sort_index(kind="stable")

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of each unit at its best depth, summed over units."""
        return float(self.arrays.value.max(axis=1).sum())

    def likelihood(self, depth: float) -> Likelihood:
        """Return the likelihood of all units at a depth; it is kept for later calls."""
        if depth not in self._likelihoods:
            made = Likelihood(self.choices, self.family, depth, self.groups)
            self._likelihoods[depth] = made
        return self._likelihoods[depth]

    def at_best(self) -> Iterator[tuple[Likelihood, Positions, Array]]:
        """Group the units by their best depth, without empty groups.

        Yields the likelihood, the positions and the free parameters (u, p) of each group's units.
        """
        best = self.arrays.best
        for number, depth in enumerate(self.family.depth):
            units = np.flatnonzero(best == number)
            if len(units):
                own = self.likelihood(depth).take(units)
                yield own, units, self.arrays.parameters[units, number][:, own.columns]

    def at_depth(self, depth: float) -> Fit:
        """Return the fit of one depth, without intervals."""
        if depth not in self.family.depth:
            raise CobayesError(
                f"depth {depth!r} was not fitted.",
                f"choose from {', '.join(f'{depth:g}' for depth in self.family.depth)}.",
            )
        number, found = [self.family.depth.index(depth)], self.arrays
        arrays: Any = (found.parameters, found.value, found.is_identified, found.is_converged)
        without = np.full((2, *found.low.shape), np.nan)
        alone = Estimates(*(array[:, number] for array in arrays), *without)
        return replace(self, family=self.family.at(depth=depth), arrays=alone)

    def to_arviz(self, num_draws: int = 500, rng: Any = None) -> Any:
        """Return draws from the posterior under flat priors, with log-likelihoods, for ArviZ.

        Every unit keeps its best depth; a parameter that this depth does not have is NaN. The draws
        are resampled from weighted candidates, in random order; they form one chain. ``effective``
        in constant_data is the effective number of candidates of each unit. If it is far below
        `num_draws`, the draws do not represent the posterior well.

        Parameters
        ----------
        num_draws
            Draws per unit.
        rng
            Anything that `numpy.random.default_rng` accepts.
        """
        whole_number(num_draws, "num_draws", 1)
        arviz = import_optional("arviz_base", "people", "to_arviz()")
        random = generator(rng)
        label, shape = self.by or "everybody", (1, num_draws, len(self.groups))
        draws = {
            name: np.full(shape, low if low == high else np.nan)
            for name, (low, high) in self.family.bounds.items()
        }
        logs = np.empty((1, num_draws, len(self.choices)))
        effective = np.empty(len(self.groups))
        for likelihood, units, parameters in self.at_best():
            found, effective[units] = draw_parameters(likelihood, parameters, num_draws, random)
            for place, name in enumerate(likelihood.names):
                draws[name][0][:, units] = found[:, :, place]
            for number, values in enumerate(found):
                logs[0, number, likelihood.rows] = likelihood.by_row(values).value
        content = {
            "posterior": draws,
            "log_likelihood": {"response": logs},
            "observed_data": {"response": self.choices.response},
            "constant_data": {"effective": effective},
        }
        coords = {label: [str(unit) for unit in self.units] or ["everybody"]}
        dims = {name: [label] for name in (*draws, "effective")} | {"response": ["row"]}
        return arviz.from_dict(content, coords=coords, dims=dims)

    def save(self, path: str | Path) -> None:
        """Write the fit with its choices and problems into one file, for `load`.

        In the choices, columns that are not numeric are saved as texts. Functions in features
        cannot be saved.

        Parameters
        ----------
        path
            The file.
        """
        from cobayes.lessons.saving import to_plain, write

        features = {}
        for name, feature in (self.family.features or {}).items():
            parts = (
                feature if isinstance(feature, Mapping) else dict.fromkeys(self.problems, feature)
            )
            if any(map(callable, parts.values())):
                raise CobayesError(
                    f"the feature {name!r} is a function, which cannot be saved.",
                    "give its numbers as arrays, or save fit.estimates and fit.trials.",
                )
            # Numbers with labels are saved in the order of each problem's data.
            features[name] = {
                own.name: aligned(parts.get(own.name), own.model.data, "datum", "feature")
                for own in self.problems.values()
            }
        settings = {own.name: getattr(self.family, own.name) for own in fields(Family) if own.init}
        content = {
            "family": settings | {"features": features},
            "choices": {str(name): _cells(column) for name, column in self.choices.frame.items()},
            "problems": {name: own.task for name, own in self.problems.items()},
            "priors": {name: own.prior for name, own in self.problems.items()},
            "by": self.by,
            "arrays": vars(self.arrays),
        }
        write(path, "fit", to_plain(content))

    @classmethod
    def load(cls, path: str | Path) -> Fit:
        """Read a fit from a file that `save` wrote.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        Fit
            A fit with the same tables.
        """
        from cobayes.lessons.saving import explained, from_plain, read

        saved = read(path, "fit")
        with explained("fit"):
            content = from_plain(saved)
            family = Family(**_as_given(content["family"]))
            problems = read_problems(content["problems"], content["priors"])
            choices = read_choices(content["choices"], problems, family.response)
            units, groups = group_rows(choices, content["by"])
            u, k, p = len(groups), len(family.depth), len(family.names)
            shapes = [(u, k, p), (u, k), (u, k, p), (u, k), (u, p), (u, p)]
            arrays = []
            for own, shape in zip(fields(Estimates), shapes, strict=True):
                kind = bool if own.name.startswith("is_") else np.float64
                arrays.append(np.array(content["arrays"][own.name], dtype=kind).reshape(shape))
            return cls(family, choices, problems, content["by"], units, groups, Estimates(*arrays))

    def _note(self, unit: int, number: int) -> str:
        found, notes = self.arrays, []
        for name in self.family.free_names(self.family.depth[number]):
            place = unit, number, self.family.names.index(name)
            if not found.is_identified[place]:
                notes.append(f"{name} is not identified")
            elif found.parameters[place] in self.family.bounds[name]:
                notes.append(f"{name} is at its bound {found.parameters[place]:g}")
        return "; ".join(notes + ["not converged"] * (not found.is_converged[unit, number]))

    def __repr__(self) -> str:
        units = "everybody pooled" if self.by is None else f"{self.by}: {len(self.units)}"
        depths = ", ".join(f"{depth:g}" for depth in self.family.depth)
        return (
            f"Fit({units}; responses: {len(self.choices)}; depths: {depths}; "
            f"log-likelihood: {self.log_likelihood:.2f})"
        )

    def _repr_html_(self) -> str:
        shown = self.estimates.to_html(float_format="{:.2f}".format, max_rows=20, index=False)
        return f"<p>{escape(repr(self))}</p>{shown}"


def _as_given(value: Any) -> Any:
    """Return a family's setting, which was read from a file, with lists turned into tuples."""
    if isinstance(value, dict):
        return {name: _as_given(own) for name, own in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _cells(column: pd.Series) -> Any:
    """Return a column for a file: an array of numbers, or a list of texts and None."""
    if column.dtype.kind in "iuf":
        return column.to_numpy()
    return [None if empty else str(cell) for cell, empty in zip(column, column.isna(), strict=True)]


def group_rows(table: Choices, by: str | None) -> tuple[list[Any], list[Positions]]:
    """Return the units in order of appearance, and the rows of each unit.

    If `by` is None, there are no units, and all rows form one group.
    """
    if by is None:
        return [], [np.arange(len(table))]
    columns = table.frame.columns
    if not isinstance(by, str) or by not in columns:
        names = shorten([*map(str, columns)])
        raise CobayesError(
            f"there is no column {by!r} to fit by.",
            f"give by=None (--by none) to pool all people, or one of {names}.",
        )
    groups = table.frame.groupby(filled(table.frame, by), sort=False).indices
    return list(groups), list(groups.values())


def trial_table(likelihood: Likelihood, values: Array) -> pd.DataFrame:
    """Return the user's rows with the columns that `score` adds.

    Options with the same probability share their mean rank.

    Parameters
    ----------
    likelihood, values
        The likelihood of some units, and their free parameters, (u, p).
    """
    probability, _ = likelihood.responses(values)
    before, after = likelihood.beliefs(values)
    every = np.arange(len(likelihood.rows))
    own = probability[every, likelihood.answer][:, None]
    available = likelihood.scores(values).even > 0.0
    above = ((probability > own * (1.0 + 1e-9)) & available).sum(axis=1)
    equal = ((np.abs(probability - own) <= 1e-9 * own) & available).sum(axis=1)
    about = likelihood.choices.hypothesis[likelihood.rows]
    logs_before, logs_after = (np.where(np.isfinite(logs), logs, 0.0) for logs in (before, after))
    gain = np.where(np.isfinite(after), logs_after - logs_before, 0.0)
    added = {
        "depth": likelihood.depth,
        "probability": own[:, 0],
        "log_likelihood": likelihood.by_row(values).value,
        "rank": above + 0.5 * (equal + 1.0),
        "belief": np.exp(before[every, about]),
        "belief_after": np.exp(after[every, about]),
        "entropy": -(np.exp(before) * logs_before).sum(axis=1) + 0.0,
        "entropy_after": -(np.exp(after) * logs_after).sum(axis=1) + 0.0,
        "information_gain": (np.exp(after) * gain).sum(axis=1),
    }
    frame = likelihood.choices.frame.iloc[likelihood.rows].set_axis(likelihood.rows)
    clashes = {name: f"{name}_given" for name in frame.columns if name in added}
    return frame.rename(columns=clashes).assign(**added)
