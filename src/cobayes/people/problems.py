"""The problems that people were given: tables with labels, priors, and what may be shown next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import find, is_position
from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.rules import SCBI
from cobayes.rules.response import add_evidence
from cobayes.tasks.task import Task

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """What holds before one response: the matrix and the data prior, zero for unavailable data."""

    matrix: Array
    data_prior: Array

    @cached_property
    def _rule(self) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
        """SCBI on the data and hypotheses that can play a part, and their positions."""
        rows = np.flatnonzero((self.data_prior > 0.0) & self.matrix.any(axis=1))
        columns = np.flatnonzero(self.matrix[rows].any(axis=0))
        prior = self.data_prior[rows]
        # The uniform prior is left to the rule: it knows faster ways then.
        weights = prior / prior.sum() if np.ptp(prior) > 1e-12 * prior.max() else None
        return SCBI(self.matrix[np.ix_(rows, columns)], data_prior=weights), rows, columns

    def cooperative(self, log_beliefs: Array) -> tuple[Array, Array]:
        """Return log posteriors and log likelihoods of SCBI: (k, n, m) each.

        Data that are not available, and hypotheses that allow none of the others, have minus
        infinity.

        Parameters
        ----------
        log_beliefs
            (k, m), normalised.
        """
        rule, rows, columns = self._rule
        posteriors = np.full((len(log_beliefs), *self.matrix.shape), -np.inf)
        likelihoods = posteriors.copy()
        known = np.flatnonzero(np.isfinite(log_beliefs[:, columns]).any(axis=1))
        if len(known):
            beliefs = add_evidence(log_beliefs[np.ix_(known, columns)], np.zeros(len(columns)))
            found = rule.respond_many(beliefs)
            with np.errstate(invalid="ignore"):
                after = add_evidence(beliefs[:, None, :], found)
            places = np.ix_(known, rows, columns)
            likelihoods[places] = found
            # A datum that no believed hypothesis allows has no posterior.
            posteriors[places] = np.where(np.isnan(after), -np.inf, after)
        return posteriors, likelihoods


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem: a labelled table, perhaps a task around it, and the learner's first belief."""

    name: str
    model: Model
    prior: Array
    task: Task | None = None
    _tables: dict[Any, Table] = field(default_factory=dict, repr=False)

    @property
    def start(self) -> Any:
        """The state before anything was shown."""
        return None if self.task is None else self.task.start

    def next_state(self, state: Any, datum: int) -> Any:
        """Return the state after one more datum."""
        if self.task is None:
            return None
        outcomes = list(self.task.next_states(state, datum))
        if len(outcomes) != 1:
            raise CobayesError(
                f"problem {self.name!r}: datum {self.model.data[datum]!r} has {len(outcomes)} "
                "possible outcomes, and a table of choices does not say which one it had.",
                "give a task in which every datum leads to one state.",
            )
        return outcomes[0][0]

    def table(self, state: Any) -> Table:
        """Return the matrix and the data prior in a state."""
        if state not in self._tables:
            model = self.model if self.task is None else self.task.matrix_at(state)
            prior = None if self.task is None else self.task.data_prior_at(state)
            if prior is None:
                prior = np.full(model.num_data, 1.0 / model.num_data)
            elif not prior.any():
                raise CobayesError(
                    f"problem {self.name!r}: a choice was made where no datum was available.",
                    "check the table of choices: the task had ended before.",
                )
            self._tables[state] = Table(model.matrix, prior)
        return self._tables[state]

    def labels(self, kind: str) -> tuple[str, ...]:
        """Return the labels of the data ("datum") or hypotheses ("hypothesis")."""
        return self.model.data if kind == "datum" else self.model.hypotheses

    def find(self, value: Any, kind: str) -> int:
        """Return the position of a datum or hypothesis as written in a table of choices."""
        return _find_in_table(value, self.labels(kind), kind)


def _find_in_table(value: Any, labels: Sequence[str], kind: str) -> int:
    """Return a position; in a table a number that is a label means the label."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column with a missing value elsewhere holds floats
    text = str(value).strip()
    if text in labels:
        return labels.index(text)
    if isinstance(value, str) and text.isdecimal():
        value = int(text)
    return find(value if is_position(value) else text, labels, kind)
