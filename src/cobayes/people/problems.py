"""The problems of a study, and the situations in which people responded.

A situation is a problem together with the data shown so far. In the same situation, all people with
the same parameters have the same belief. Tables of different sizes are padded with zeros to one
shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logsumexp

from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.rules import SCBI, Rule
from cobayes.tasks.task import Task

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
History = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """A problem of a study: a task (a plain table is one, too) and the learner's prior."""

    name: str
    task: Task
    prior: Array

    @cached_property
    def model(self) -> Model:
        """The table with its labels, as it is at the start of a lesson."""
        return self.task.model

    @cached_property
    def _rule(self) -> Rule:
        return SCBI(self.task)

    def rule_at(self, state: Any) -> Rule:
        """Return SCBI with the matrix and data prior of a state; `Rule.at` caches the rules."""
        prior = self.task.data_prior_at(state)
        if prior is not None and not prior.any():
            raise CobayesError(
                f"problem {self.name!r}: a lesson continues after its last available datum.",
                "drop the later rounds of the lesson; in a simulation, ask for fewer rounds.",
            )
        return self._rule.at(state)

    def next_state(self, state: Any, datum: int) -> Any:
        """Return the state after one more datum."""
        outcomes = self.task.next_states(state, datum)
        if len(outcomes) != 1:
            raise CobayesError(
                f"problem {self.name!r}: datum {self.model.data[datum]!r} has {len(outcomes)} "
                "possible outcomes, and a table of choices does not say which one occurred.",
                "give a task in which every datum leads to one state.",
            )
        return outcomes[0][0]

    def labels(self, kind: str) -> tuple[str, ...]:
        """Return the labels of the data ("datum") or hypotheses ("hypothesis")."""
        return self.model.data if kind == "datum" else self.model.hypotheses


class Tables:
    """The distinct tables of some situations: logarithms of matrices and of data priors.

    Parameters
    ----------
    rules
        The rule of every situation, from `Problem.rule_at`.

    Attributes
    ----------
    index : ndarray
        The position of every situation's table.
    rules : list of Rule
        SCBI on each table.
    log_matrix, log_likelihood : ndarray
        (tables, n, m): the matrices, and the literal teachers T_0 (matrices with normalised
        columns); minus infinity for zeros and for data that are not available.
    log_data_prior : ndarray
        (tables, n); minus infinity for data that are not available.
    num_hypotheses : ndarray
        (tables,): the numbers of hypotheses, without padding.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.index, _ = pd.factorize(np.array([id(rule) for rule in rules]))
        self.rules = list({id(rule): rule for rule in rules}.values())
        self.num_hypotheses = np.array([rule.model.num_hypotheses for rule in self.rules])
        num_data = max(rule.model.num_data for rule in self.rules)
        matrices = np.zeros((len(self.rules), num_data, self.num_hypotheses.max()))
        priors = np.zeros(matrices.shape[:2])
        for matrix, prior, rule in zip(matrices, priors, self.rules, strict=True):
            n, m = rule.model.shape
            own = getattr(rule, "data_prior", None)
            prior[:n] = 1.0 / n if own is None else own
            matrix[:n, :m] = rule.model.matrix * (prior[:n] > 0.0)[:, None]
        with np.errstate(divide="ignore"):
            self.log_matrix, self.log_data_prior = np.log(matrices), np.log(priors)
        totals = np.asarray(logsumexp(self.log_matrix, axis=1, keepdims=True))
        self.log_likelihood = self.log_matrix - np.where(np.isfinite(totals), totals, 0.0)


class Situations:
    """The distinct situations of a table of responses: pairs of a problem and a history.

    A history is the sequence of data shown before. The parent of a situation has the same history
    without the last datum.

    Parameters
    ----------
    problem
        The problem of every row.
    lesson, level
        (t,): the lesson of each row, and the number of data shown in this lesson before the row.
    datum
        (t,): the position of each row's datum.

    Attributes
    ----------
    at : ndarray
        (t,): the situation of every row.
    problems, histories : list
        The problem and the history of every situation.
    level : ndarray
        The number of data in every situation's history.
    parent : ndarray
        The position of every situation's parent; a situation with no history is its own parent.
        Parents precede their children.
    tables : Tables
        The tables of all situations.
    """

    def __init__(
        self, problem: Sequence[Problem], lesson: Positions, level: Positions, datum: Positions
    ) -> None:
        self.at, _ = pd.factorize(np.array([id(own) for own in problem]))
        self.problems = list({id(own): own for own in problem}.values())
        self.histories: list[History] = [()] * len(self.problems)
        states = [own.task.start for own in self.problems]
        parents = [np.arange(len(states))]
        # The current situation of every lesson, and the last datum shown in it.
        here, last = np.zeros((2, lesson.max() + 1), dtype=np.int64)
        here[lesson] = self.at
        width = max(own.model.num_data for own in self.problems)
        order = np.argsort(level, kind="stable")
        for number, rows in enumerate(np.split(order, np.cumsum(np.bincount(level))[:-1])):
            if number:
                whose = lesson[rows]
                steps, place = np.unique(here[whose] * width + last[whose], return_inverse=True)
                here[whose] = len(states) + place
                before, shown = np.divmod(steps, width)
                parents.append(before)
                for parent, own in zip(before.tolist(), shown.tolist(), strict=True):
                    states.append(self.problems[parent].next_state(states[parent], own))
                    self.problems.append(self.problems[parent])
                    self.histories.append((*self.histories[parent], own))
            self.at[rows] = here[lesson[rows]]
            last[lesson[rows]] = datum[rows]
        self.parent = np.concatenate(parents)
        self.level = np.array([len(history) for history in self.histories])
        self.tables = Tables(
            [own.rule_at(state) for own, state in zip(self.problems, states, strict=True)]
        )
