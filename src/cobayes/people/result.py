"""What a fit gives back: estimates, depths and trials as tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._output import html_table
from cobayes.errors import CobayesError, import_optional
from cobayes.people._estimation import Estimates
from cobayes.people.choices import Choices
from cobayes.people.family import Family
from cobayes.people.likelihood import Likelihood
from cobayes.people.predict import trial_table
from cobayes.people.problems import Problem

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


class BestDepth(NamedTuple):
    """The units whose best depth is one and the same.

    Attributes
    ----------
    likelihood : Likelihood
        Of these units at this depth.
    units, rows : ndarray
        Positions among the fit's units and rows.
    parameters : ndarray
        (units, parameters): the estimates.
    """

    likelihood: Likelihood
    units: Positions
    rows: Positions
    parameters: Array


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A family fitted to people.

    Attributes
    ----------
    family : Family
        What was fitted.
    choices : Choices
        The checked table.
    problems : dict
        By name.
    by : str or None
        The column that tells units apart; None: everybody is pooled.
    units : list
        The values of that column, in the order of the table.
    groups : list of ndarray
        The rows of every unit.
    arrays : Estimates
        All numbers as arrays, units by depths by parameters.

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

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """One row per unit: its best depth, the parameters with intervals, AIC, BIC, a note.

        A parameter that is not identified is NaN; its interval spans the bounds.
        ``num_parameters`` counts the identified free parameters, and one for the depth where
        there is a choice of it.
        """
        found, best, every = self.arrays, self.arrays.best, np.arange(len(self.groups))
        known = found.is_identified[every, best]
        values = found.parameters[every, best]
        columns: dict[str, Any] = self._unit_column()
        columns["depth"] = np.array([float(depth) for depth in self.family.depth])[best]
        for position, parameter in enumerate(self.family.parameters):
            shown = known[:, position] | (not parameter.is_free)
            columns[parameter.name] = np.where(shown, values[:, position], np.nan)
            if parameter.is_free:
                columns[f"{parameter.name}_low"] = found.low[:, position]
                columns[f"{parameter.name}_high"] = found.high[:, position]
        value, counts = found.value[every, best], np.array([len(rows) for rows in self.groups])
        num_parameters = known.sum(axis=1) + (len(self.family.depth) > 1)
        columns |= {
            "log_likelihood": value,
            "num_choices": counts,
            "num_parameters": num_parameters,
            "aic": 2.0 * (num_parameters - value),
            "bic": num_parameters * np.log(counts) - 2.0 * value,
            "note": [self._note(unit, int(best[unit])) for unit in range(len(best))],
        }
        return self._frame(columns)

    @cached_property
    def depths(self) -> pd.DataFrame:
        """One row per unit and depth: the maximum at that depth."""
        found = self.arrays
        parts = []
        for number, depth in enumerate(self.family.depth):
            columns = self._unit_column()
            columns["depth"] = np.full(len(self.groups), float(depth))
            for position, parameter in enumerate(self.family.parameters):
                shown = found.is_identified[:, number, position] | (not parameter.is_free)
                values = found.parameters[:, number, position]
                columns[parameter.name] = np.where(shown, values, np.nan)
            columns["log_likelihood"] = found.value[:, number]
            columns["num_parameters"] = found.is_identified[:, number].sum(axis=1)
            parts.append(self._frame(columns))
        pandas = import_optional("pandas", "people", "a table of depths")
        return pandas.concat(parts, ignore_index=True)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The choices with log-likelihoods, beliefs and regressors; see `score`."""
        pandas = import_optional("pandas", "people", "a table of trials")
        parts = [trial_table(part.likelihood, part.parameters) for part in self.at_best()]
        return pandas.concat(parts).sort_index(kind="stable")

    @property
    def log_likelihood(self) -> float:
        """The sum over units."""
        return float(self.arrays.value.max(axis=1).sum())

    @property
    def num_parameters(self) -> int:
        """The number of identified parameters of all units together."""
        return int(self.estimates["num_parameters"].to_numpy().sum())

    def at_best(self) -> Iterator[BestDepth]:
        """Yield every depth that is some unit's best, with those units."""
        best = self.arrays.best
        for number, depth in enumerate(self.family.depth):
            units = np.flatnonzero(best == number)
            if len(units):
                rows = np.concatenate([self.groups[unit] for unit in units])
                own = np.repeat(np.arange(len(units)), [len(self.groups[unit]) for unit in units])
                likelihood = Likelihood(self.choices.take(rows), self.family, depth, own)
                yield BestDepth(likelihood, units, rows, self.arrays.parameters[units, number])

    def at_depth(self, depth: float) -> Fit:
        """Return the fit of one depth alone; intervals are left out."""
        if depth not in self.family.depth:
            raise CobayesError(
                f"depth {depth!r} was not fitted.",
                f"choose from {', '.join(f'{own:g}' for own in self.family.depth)}.",
            )
        number = self.family.depth.index(depth)
        found = self.arrays
        alone = Estimates(
            found.parameters[:, [number]],
            found.value[:, [number]],
            found.is_identified[:, [number]],
            found.is_converged[:, [number]],
            np.full_like(found.low, np.nan),
            np.full_like(found.high, np.nan),
        )
        return replace(self, family=self.family.at(depth=depth), arrays=alone)

    def to_arviz(self, num_draws: int = 500, rng: Any = None) -> Any:
        """Return draws from the posterior under flat priors, with log-likelihoods, for ArviZ.

        Parameters
        ----------
        num_draws
            Draws per unit.
        rng
            Anything that `numpy.random.default_rng` takes.
        """
        from cobayes.people.posterior import to_arviz

        return to_arviz(self, num_draws, rng)

    def _unit_column(self) -> dict[str, Any]:
        return {} if self.by is None else {self.by: self.units}

    @staticmethod
    def _frame(columns: dict[str, Any]) -> pd.DataFrame:
        return import_optional("pandas", "people", "a table of estimates").DataFrame(columns)

    def _note(self, unit: int, number: int) -> str:
        """Say what is not identified, at a bound, or not converged."""
        found = self.arrays
        notes = []
        names = self.family.free_names(self.family.depth[number])
        for position, parameter in enumerate(self.family.parameters):
            if parameter.name not in names:
                continue
            value = found.parameters[unit, number, position]
            if not found.is_identified[unit, number, position]:
                notes.append(f"{parameter.name} is not identified")
            elif value in (parameter.low, parameter.high):
                notes.append(f"{parameter.name} is at its bound {value:g}")
        if not found.is_converged[unit, number]:
            notes.append("not converged")
        return "; ".join(notes)

    def __repr__(self) -> str:
        units = "everybody pooled" if self.by is None else f"{self.by}: {len(self.units)}"
        depths = ", ".join(f"{depth:g}" for depth in self.family.depth)
        return (
            f"Fit({units}; responses: {len(self.choices)}; depths: {depths}; "
            f"log-likelihood: {self.log_likelihood:.2f})"
        )

    def _repr_html_(self) -> str:
        free = [parameter.name for parameter in self.family.parameters if parameter.is_free]

        def shown(row: dict[Any, Any], name: str) -> str:
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            interval = "" if np.isnan(low) else f" ({low:.3g} to {high:.3g})"
            return f"{row[name]:.3g}{interval}"

        rows = [
            (
                str(row.get(self.by, "everybody")),
                f"{row['depth']:g}",
                *(shown(row, name) for name in free),
                f"{row['log_likelihood']:.2f}",
                row["note"],
            )
            for row in self.estimates.to_dict(orient="records")
        ]
        names = (self.by or "", "depth", *free, "log-likelihood", "note")
        return html_table(repr(self), names, rows)
