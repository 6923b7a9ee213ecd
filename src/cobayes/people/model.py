"""The likelihood of people's responses, with exact gradients and expected information.

A tree holds the situations that people were in; people who were in one situation share it. Rows
are responses (t), units are people (u), and parameters are columns named by the family (p).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes.people.choices import Choices
from cobayes.people.family import STATIC, Family
from cobayes.people.learner import Smooth, Tables, after_datum, first_beliefs, think
from cobayes.people.problems import Problem
from cobayes.people.responses import (
    Evaluation,
    Options,
    Scores,
    answered,
    choose,
    make_options,
    prepare,
    rated,
    utilities,
)

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Positions = NDArray[np.int64]
History = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Tree:
    """Situations: every distinct problem and history; a child has one datum more.

    Attributes
    ----------
    problems, histories : list
        Of every node.
    tables : Tables
        The tables of all nodes.
    index, parent, datum, owner : ndarray
        Table, parent (-1: none), last datum and owner of every node. Nodes of different owners
        are distinct: each owner has a learner in mind of its own.
    """

    problems: list[Problem]
    histories: list[History]
    tables: Tables
    index: Positions
    parent: Positions
    datum: Positions
    owner: Positions

    @classmethod
    def grow(
        cls, problems: Sequence[Problem], histories: Sequence[History], owners: Sequence[int]
    ) -> tuple[Tree, Positions]:
        """Return the tree of some rows, and the node of every row."""
        known: dict[tuple[int, str, History], int] = {}
        nodes: list[tuple[Problem, History, Any, int, int]] = []
        found = np.empty(len(problems), dtype=np.int64)
        for row, (problem, history, owner) in enumerate(
            zip(problems, histories, owners, strict=True)
        ):
            first = len(history)
            while first >= 0 and (owner, problem.name, history[:first]) not in known:
                first -= 1
            for size in range(first + 1, len(history) + 1):
                parent = known[owner, problem.name, history[: size - 1]] if size else -1
                state = (
                    problem.next_state(nodes[parent][2], history[size - 1])
                    if size
                    else problem.start
                )
                known[owner, problem.name, history[:size]] = len(nodes)
                nodes.append((problem, history[:size], state, parent, owner))
            found[row] = known[owner, problem.name, history]
        of, past, states, parents, whose = (list(column) for column in zip(*nodes, strict=True))
        tables = Tables(of, states)
        datum = np.array([history[-1] if history else -1 for history in past])
        return cls(of, past, tables, tables.index, np.array(parents), datum, np.array(whose)), found

    @cached_property
    def levels(self) -> list[Positions]:
        """Nodes by the number of data shown."""
        return split(np.array([len(history) for history in self.histories]))

    def take(self, owners: Positions) -> tuple[Tree, Positions]:
        """Return the tree of some owners, numbered from zero again, and the nodes it had."""
        kept = np.flatnonzero(np.isin(self.owner, owners))
        place = np.full(len(self.owner) + 1, -1)
        place[kept] = np.arange(len(kept))
        part = Tree(
            [self.problems[node] for node in kept],
            [self.histories[node] for node in kept],
            self.tables,
            self.index[kept],
            place[self.parent[kept]],  # the last place, -1, is that of no parent
            self.datum[kept],
            np.searchsorted(owners, self.owner[kept]),
        )
        return part, kept

    def walk(
        self, family: Family, depth: float, inner: Mapping[str, Smooth]
    ) -> Iterator[tuple[Positions, Smooth, Smooth, Smooth]]:
        """Follow the learner in mind from level to level.

        Parameters
        ----------
        family, depth
            The person's.
        inner
            The family's inner parameters of every node, (nodes,) each.

        Yields
        ------
        place : ndarray
            (nodes,): where a node of this level stands in the arrays.
        belief, posterior, followed : Smooth
            Before the datum (b, m), and after every datum (b, n, m) by the learner in mind and by
            the learner that is followed.
        """
        rationality, temperature = (inner[name] for name in family.inner)
        place = np.zeros(len(self.problems), dtype=np.int64)
        belief = followed = None
        for nodes in self.levels:
            if belief is None or followed is None or family.other == STATIC:
                problems = [self.problems[node] for node in nodes]
                width = self.tables.num_hypotheses
                belief = first_beliefs(problems, temperature.take(nodes), width)
            else:
                parents = place[self.parent[nodes]]
                belief = after_datum(followed, belief, parents, self.datum[nodes])
            place[nodes] = np.arange(len(nodes))
            posterior, followed = think(
                self.tables, self.index[nodes], belief, family, depth, rationality.take(nodes)
            )
            yield place, belief, posterior, followed


def split(level: Positions) -> list[Positions]:
    """Return the positions with level 0, 1, and so on."""
    order = np.argsort(level, kind="stable")
    return np.split(order, np.cumsum(np.bincount(level))[:-1])


class Mind(NamedTuple):
    """What the learner in mind believes.

    Attributes
    ----------
    scores : Scores
        Of every question.
    before : ndarray
        (nodes, m): log beliefs before the datum.
    after : ndarray
        (shown, m): log beliefs after the data that were shown, of the learner that is followed.
    """

    scores: Scores
    before: Array
    after: Array


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood of one depth for all units (people, or everybody at once).

    Parameters are arrays (units, parameters) in the order of ``family.names``; derivatives are
    taken along the free ones. People who were in one situation share its beliefs, which are
    computed once unless a free parameter changes them.

    Attributes
    ----------
    choices, family, depth
        What is modelled by what.
    rows, units : ndarray
        Rows of the choices, and the unit of each: 0, 0, ..., 1, 1, ... without gaps.
    tree : Tree
        The situations.
    node, about : ndarray
        (q,): of every distinct question: its situation, and the truth (teachers) or the datum
        (learners).
    options : Options
        Of every question.
    shown : ndarray
        (s, 2): every distinct pair of a situation and the datum shown there.
    question, pair : ndarray
        (t,): of every row, its question and its place in `shown`.
    mind : Mind or None
        The learner in mind where no free parameter changes it.
    """

    choices: Choices
    family: Family
    depth: float
    rows: Positions
    units: Positions
    tree: Tree
    node: Positions
    about: Positions
    options: Options
    shown: Positions
    question: Positions
    pair: Positions
    mind: Mind | None = None

    @classmethod
    def of(cls, choices: Choices, family: Family, depth: float, groups: Sequence[Positions]):
        """Return the likelihood of groups of rows, one for each unit."""
        rows = np.concatenate(groups)
        units = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        is_shared = not set(family.inner) & set(family.free_names(depth))
        problems = [choices.problem[row] for row in rows]
        histories = [choices.history[row] for row in rows]
        owners = [0] * len(rows) if is_shared else units.tolist()
        tree, at = Tree.grow(problems, histories, owners)
        datum = choices.datum[rows]
        about = choices.hypothesis[rows] if family.is_teacher else datum
        width = max(tree.tables.num_data, tree.tables.num_hypotheses)
        asked, question = np.unique(at * width + about, return_inverse=True)
        shown, pair = np.unique(at * width + datum, return_inverse=True)
        node, about = np.divmod(asked, width)
        shown = np.column_stack(np.divmod(shown, width))
        situations = [(tree.problems[n], tree.histories[n]) for n in node]
        options = make_options(family, depth, tree.tables, tree.index[node], about, situations)
        made = cls(
            choices, family, depth, rows, units, tree, node, about, options, shown, question, pair
        )
        # Equal bounds are the values of fixed parameters.
        return replace(made, mind=made.think(family.low[None])) if is_shared else made

    @cached_property
    def free(self) -> tuple[str, ...]:
        """Names of the free parameters."""
        return self.family.free_names(self.depth)

    @cached_property
    def columns(self) -> Positions:
        """Positions of the free parameters among all."""
        return np.array([self.family.column(name) for name in self.free], dtype=np.int64)

    @cached_property
    def inner(self) -> tuple[str, ...]:
        """Names of the free parameters that change the learner in mind."""
        return tuple(name for name in self.free if name in self.family.inner)

    @cached_property
    def starts(self) -> Positions:
        """The first row of every unit."""
        return np.flatnonzero(np.r_[True, self.units[1:] != self.units[:-1]])

    @cached_property
    def answer(self) -> Positions:
        """The option of every row that was answered; the rated hypothesis for ratings."""
        columns = {"choice": "datum", "guess": "guess", "rating": "hypothesis"}
        return getattr(self.choices, columns[self.family.response])[self.rows]

    @cached_property
    def _levels(self) -> list[tuple[Positions, Positions, Positions]]:
        """Nodes, questions and shown data by the number of data shown before."""
        level = np.array([len(history) for history in self.tree.histories])
        asked, shown = level[self.node], level[self.shown[:, 0]]
        return [
            (nodes, np.flatnonzero(asked == number), np.flatnonzero(shown == number))
            for number, nodes in enumerate(self.tree.levels)
        ]

    def think(self, parameters: Array) -> Mind:
        """Return what the learner in mind believes in all situations."""
        if self.mind is not None:
            return self.mind
        tables, owner = self.tree.tables, self.tree.owner
        inner = {}
        for name in self.family.inner:
            tangents = np.zeros((len(self.inner), len(owner)))
            if name in self.inner:
                tangents[self.inner.index(name)] = 1.0
            inner[name] = Smooth(parameters[owner, self.family.column(name)], tangents)
        utility = np.empty(self.options.log_base.shape)
        slopes = np.empty((len(self.inner), *utility.shape))
        before = np.empty((len(owner), tables.num_hypotheses))
        after = np.empty((len(self.shown), tables.num_hypotheses))
        walk = self.tree.walk(self.family, self.depth, inner)
        for (nodes, asked, shown), (place, belief, posterior, followed) in zip(
            self._levels, walk, strict=True
        ):
            before[nodes] = belief.value
            node = self.node[asked]
            utility[asked], slopes[:, asked] = utilities(
                self.family,
                self.depth,
                tables,
                self.tree.index[node],
                posterior,
                place[node],
                self.about[asked],
            )
            node, datum = self.shown[shown].T
            after[shown] = after_datum(followed, belief, place[node], datum).value
        return Mind(prepare(Smooth(utility, slopes), self.options), before, after)

    @cached_property
    def _row_scores(self) -> Scores | None:
        """The scores of every row where no free parameter changes them."""
        return None if self.mind is None else self.mind.scores.take(self.question)

    def responses(self, parameters: Array, *, with_derivatives: bool = True) -> tuple[Array, Array]:
        """Return the probabilities of all options (t, k), and their derivatives (p, t, k)."""
        scores = self._row_scores
        if scores is None:
            scores = self.think(parameters).scores.take(self.question)
        family, at_row = self.family, parameters[self.units]
        exponent = at_row[:, family.column(family.exponent)]
        lapse = at_row[:, family.column("lapse"), None]
        features = list(family.features or {})
        weights = at_row[:, [family.column(name) for name in features]]
        choice = choose(scores, exponent, weights)
        attentive = (1.0 - lapse) * choice
        probability = attentive + lapse * scores.even
        free = self.free if with_derivatives else ()
        derivative = np.zeros((len(free), *probability.shape))
        for place, name in enumerate(free):
            if name == "lapse":
                np.subtract(scores.even, choice, out=derivative[place])
                continue
            if name == family.exponent:
                slope = scores.utility
            elif name in features:
                slope = scores.features[..., features.index(name)]
            elif name in self.inner:
                slope = exponent[:, None] * scores.tangents[self.inner.index(name)]
            else:
                continue  # the noise of ratings is outside of the softmax
            np.subtract(slope, (choice * slope).sum(axis=1, keepdims=True), out=derivative[place])
            derivative[place] *= attentive
        return probability, derivative

    def by_row(self, parameters: Array, *, with_derivatives: bool = True) -> Evaluation:
        """Return log-likelihood, gradient and information of every row."""
        probability, derivative = self.responses(parameters, with_derivatives=with_derivatives)
        if self.family.response != "rating":
            return answered(probability, derivative, self.answer)
        noise = parameters[self.units, self.family.column("noise")]
        free = self.free if with_derivatives else ()
        place = free.index("noise") if "noise" in free else None
        every = np.arange(len(self.rows))
        believed, slope = probability[every, self.answer], derivative[:, every, self.answer].T
        return rated(self.choices.rating[self.rows], believed, slope, noise, place)

    def evaluate(self, parameters: Array) -> Evaluation:
        """Return the sums over the rows of every unit."""
        rows = self.by_row(parameters)
        return Evaluation(*(np.add.reduceat(part, self.starts, axis=0) for part in rows))

    def values(self, parameters: Array) -> Array:
        """Return the log-likelihood of every unit, (u,)."""
        return np.add.reduceat(self.by_row(parameters, with_derivatives=False).value, self.starts)

    def take(self, units: Positions) -> Likelihood:
        """Return the likelihood of some units only, given in order, numbered from zero again."""
        kept = np.flatnonzero(np.isin(self.units, units))
        part = replace(
            self,
            rows=self.rows[kept],
            units=np.searchsorted(units, self.units[kept]),
            question=self.question[kept],
            pair=self.pair[kept],
        )
        if self.mind is not None:
            return part
        tree, nodes = self.tree.take(units)
        asked, question = np.unique(part.question, return_inverse=True)
        shown, pair = np.unique(part.pair, return_inverse=True)
        moved = np.searchsorted(nodes, self.shown[shown, 0])
        return replace(
            part,
            tree=tree,
            node=np.searchsorted(nodes, self.node[asked]),
            about=self.about[asked],
            options=self.options.take(asked),
            shown=np.c_[moved, self.shown[shown, 1]],
            question=question,
            pair=pair,
        )

    def pooled(self, wanted: Flags) -> Likelihood:
        """Return the likelihood of the wanted units' rows as one unit."""
        part = self.take(np.flatnonzero(wanted))
        tree = replace(part.tree, owner=np.zeros_like(part.tree.owner))
        return replace(part, units=np.zeros_like(part.units), tree=tree)

    def beliefs(self, parameters: Array) -> tuple[Array, Array]:
        """Return the belief before and after every row's datum, (t, m) each, as logarithms.

        It is the learner's whom a teacher follows, or the learner's own.
        """
        mind = self.think(parameters)
        return mind.before[self.node[self.question]], mind.after[self.pair]
