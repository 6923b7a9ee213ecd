"""The situations that people were in: every distinct problem and history, computed once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cobayes.people._learners import (
    Situations,
    Smooth,
    cooperative,
    learner,
    normalise,
    scaled_learner,
)
from cobayes.people.family import INNER, STATIC, Family
from cobayes.people.problems import Problem, Table

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Mind:
    """The learner that a person has in mind, in every situation of a tree.

    Attributes
    ----------
    log_belief : Smooth
        (nodes, m): before the datum.
    log_posterior : Smooth
        (nodes, n, m): after every datum, by the learner that utilities are made of.
    log_followed : ndarray
        (nodes, n, m): after every datum, by the learner whose belief is followed.
    """

    log_belief: Smooth
    log_posterior: Smooth
    log_followed: Array


class Tree:
    """Nodes are situations, ordered by the number of data shown; a child has one datum more.

    Parameters
    ----------
    problems, histories
        Problems and histories of the rows of a table.
    owners
        A number for each row; rows with other owners never share a node. Needed where every
        person has a learner in mind of its own.

    Attributes
    ----------
    node : ndarray
        The situation of every row.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        histories: Sequence[tuple[int, ...]],
        owners: Sequence[int] | None = None,
    ) -> None:
        self._known: dict[tuple[int, str, tuple[int, ...]], int] = {}
        self._problems: list[Problem] = []
        self._histories: list[tuple[int, ...]] = []
        self._owners: list[int] = []
        self._parents: list[int] = []
        who = [0] * len(problems) if owners is None else owners
        found = [self._add(*row) for row in zip(problems, histories, who, strict=True)]
        self._sort(np.array(found, dtype=np.int64))
        self._read_tables()

    def _add(self, problem: Problem, history: tuple[int, ...], owner: int) -> int:
        key = (int(owner), problem.name, history)
        if key not in self._known:
            parent = self._add(problem, history[:-1], owner) if history else -1
            self._known[key] = len(self._problems)
            self._problems.append(problem)
            self._histories.append(history)
            self._owners.append(int(owner))
            self._parents.append(parent)
        return self._known[key]

    def _sort(self, found: Positions) -> None:
        levels = np.array([len(history) for history in self._histories])
        order = np.argsort(levels, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        self.node = place[found]
        self.problems = [self._problems[i] for i in order]
        self.histories = [self._histories[i] for i in order]
        self.owner = np.array(self._owners)[order]
        self.parent = np.where(
            np.array(self._parents)[order] < 0, -1, place[np.array(self._parents)[order]]
        )
        self.datum = np.array([h[-1] if h else -1 for h in self.histories])
        ends = np.cumsum(np.bincount(levels))
        self.levels = [slice(int(a), int(b)) for a, b in zip([0, *ends[:-1]], ends, strict=True)]

    def _read_tables(self) -> None:
        """Collect distinct tables and pad them to one shape."""
        tables: dict[int, int] = {}
        self.tables: list[Table] = []
        self.table = np.empty(len(self.problems), dtype=np.int64)
        for node, (problem, history) in enumerate(zip(self.problems, self.histories, strict=True)):
            table = problem.table(history)
            if id(table) not in tables:
                tables[id(table)] = len(self.tables)
                self.tables.append(table)
            self.table[node] = tables[id(table)]
        self.num_data = max(table.matrix.shape[0] for table in self.tables)
        self.num_hypotheses = max(table.matrix.shape[1] for table in self.tables)
        shape = (len(self.tables), self.num_data, self.num_hypotheses)
        matrices, priors = np.zeros(shape), np.zeros(shape[:2])
        for position, table in enumerate(self.tables):
            n, m = table.matrix.shape
            matrices[position, :n, :m] = table.matrix * (table.data_prior > 0.0)[:, None]
            priors[position, :n] = table.data_prior
        with np.errstate(divide="ignore"):
            self.log_matrix = np.log(matrices)
            self.log_data_prior = np.log(priors)
        self.log_teacher = normalise(Smooth(self.log_matrix, np.zeros((0, *shape))), axis=-2).value

    def log_prior(self, nodes: slice, temperature: Smooth) -> Smooth:
        """Return the first beliefs, log prior * temperature, normalised."""
        problems = self.problems[nodes]
        prior = np.zeros((len(problems), self.num_hypotheses))
        for row, problem in enumerate(problems):
            prior[row, : len(problem.prior)] = problem.prior
        with np.errstate(divide="ignore"):
            logs = np.log(prior)
        finite = np.where(np.isfinite(logs), logs, 0.0)
        value = np.where(np.isfinite(logs), temperature.value[:, None] * finite, -np.inf)
        return normalise(Smooth(value, temperature.tangents[:, :, None] * finite), axis=-1)

    def mind(self, family: Family, depth: float, inner: Mapping[str, Smooth] | None = None) -> Mind:
        """Return the learner that a person of this depth has in mind, in every situation.

        Parameters
        ----------
        family
            Says which learner is followed and what the literal one is.
        depth
            The person's.
        inner
            Inner rationality and prior temperature of every node, (nodes,) each; None takes the
            lower bounds, which are the values of fixed parameters.
        """
        if inner is None:
            count = len(self.problems)
            inner = {
                name: Smooth(np.full(count, family.parameter(name).low), np.zeros((0, count)))
                for name in INNER
            }
        rationality, temperature = (inner[name] for name in INNER)
        num_tangents = len(rationality.tangents)
        shape = (len(self.problems), self.num_data, self.num_hypotheses)
        belief = _empty((shape[0], shape[2]), num_tangents)
        posterior, followed = _empty(shape, num_tangents), _empty(shape, num_tangents)
        own, other = family.learner_depth(depth), family.followed_depth(depth)
        for number, level in enumerate(self.levels):
            if number == 0 or family.other == STATIC:
                now = self.log_prior(level, _part(temperature, level))
            else:
                now = self._descend(level, belief, followed)
            answer = self._learner(level, now, own, _part(rationality, level), family.literal)
            _store(belief, level, now)
            _store(posterior, level, answer)
            if other == own:
                _store(followed, level, answer)
                continue
            _store(
                followed,
                level,
                self._learner(level, now, other, _part(rationality, level), family.literal),
            )
        return Mind(belief, posterior, followed.value)

    def _learner(
        self, level: slice, belief: Smooth, depth: float, rationality: Smooth, literal: str
    ) -> Smooth:
        """Return log L_depth in the situations of one level."""
        tables = self.table[level]
        if not math.isinf(depth):
            logs = self.log_teacher if literal == "likelihood" else self.log_matrix
            situations = Situations(logs[tables], self.log_data_prior[tables])
            return learner(situations, belief, depth, rationality)
        shape = (len(tables), self.num_data, self.num_hypotheses)
        log_posterior, log_likelihood = np.full(shape, -np.inf), np.full(shape, -np.inf)
        for table in np.unique(tables):
            rows = np.flatnonzero(tables == table)
            n, m = self.tables[table].matrix.shape
            found = cooperative(self.tables[table], belief.value[rows, :m])
            log_posterior[rows, :n, :m], log_likelihood[rows, :n, :m] = found
        return scaled_learner(log_posterior, log_likelihood, belief)

    def _descend(self, level: slice, belief: Smooth, followed: Smooth) -> Smooth:
        """Return the beliefs after one more datum; an impossible datum changes nothing."""
        parent, datum = self.parent[level], self.datum[level]
        value, tangents = followed.value[parent, datum], followed.tangents[:, parent, datum]
        kept = ~np.isfinite(value).any(axis=1)
        value[kept] = belief.value[parent[kept]]
        tangents[:, kept] = belief.tangents[:, parent[kept]]
        return Smooth(value, tangents)


def _empty(shape: tuple[int, ...], num_tangents: int) -> Smooth:
    return Smooth(np.empty(shape), np.empty((num_tangents, *shape)))


def _part(whole: Smooth, nodes: slice) -> Smooth:
    return Smooth(whole.value[nodes], whole.tangents[:, nodes])


def _store(whole: Smooth, nodes: slice, part: Smooth) -> None:
    whole.value[nodes] = part.value
    whole.tangents[:, nodes] = part.tangents
