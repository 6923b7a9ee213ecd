"""Log-likelihoods of people's responses, with exact gradients and expected information."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.people._learners import Smooth
from cobayes.people._response import (
    Options,
    Responses,
    Role,
    Rows,
    Scores,
    answered,
    choose,
    prepare,
    rated,
)
from cobayes.people._tree import Mind, Tree
from cobayes.people.choices import Choices
from cobayes.people.family import INNER, Family
from cobayes.people.problems import Problem

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


class Evaluation(NamedTuple):
    """Per unit: log-likelihood (u,), gradient (u, p) and expected information (u, p, p)."""

    value: Array
    gradient: Array
    information: Array


class Likelihood:
    """The likelihood of one depth for all units (people, or everybody at once).

    Parameters are arrays (units, number of the family's parameters) in the order of
    ``family.names``; derivatives are taken along the free ones.

    Parameters
    ----------
    choices
        Checked rows, ordered by unit.
    family
        Which parameters there are.
    depth
        The one depth.
    units
        The unit of every row: 0, 0, ..., 1, 1, ... without gaps.
    """

    def __init__(self, choices: Choices, family: Family, depth: float, units: Positions) -> None:
        self.choices, self.family, self.depth, self.units = choices, family, depth, units
        self.free = tuple(family.names.index(name) for name in family.free_names(depth))
        self._inner = [column for column in self.free if family.names[column] in INNER]
        self._grow()
        self.options = self._make_options()
        self._mind: Mind | None = None
        self._scores: Scores | None = None
        if not self._inner:
            # Nothing inside the learner in mind changes, so it is computed once.
            self._mind = self._tree.mind(family, depth)
            self._scores = prepare(self._utility_of(self._mind), self.options)

    def _grow(self) -> None:
        owners = self.units.tolist() if self._inner else None
        self._tree = Tree(self.choices.problem, self.choices.history, owners)
        self._node = self._tree.node

    @property
    def starts(self) -> Positions:
        """The first row of every unit."""
        return np.flatnonzero(np.r_[True, self.units[1:] != self.units[:-1]])

    def _make_options(self) -> Options:
        choices, tree = self.choices, self._tree
        tables = tree.table[self._node]
        if self.family.response != "choice":
            counts = np.array([problem.model.num_hypotheses for problem in choices.problem])
            available = np.arange(tree.num_hypotheses) < counts[:, None]
            log_base = np.where(available, 0.0, -np.inf)
            return Options(log_base, available, np.zeros((*log_base.shape, 0)))
        log_base = tree.log_data_prior[tables]
        available = np.isfinite(log_base)
        if self.depth == 0:
            # The literal teacher knows which data are available, not how likely they are.
            log_base = np.where(available, 0.0, -np.inf)
        allowed = np.isfinite(tree.log_matrix[tables, :, choices.hypothesis]) & available
        allowed = np.where(allowed.any(axis=1, keepdims=True), allowed, available)
        return Options(log_base, allowed, self._make_features(log_base.shape))

    def _make_features(self, shape: tuple[int, ...]) -> Array:
        features = self.family.features or {}
        values = np.zeros((*shape, len(features)))
        known: dict[tuple[str, str, tuple[int, ...]], Array] = {}
        for position, (name, feature) in enumerate(features.items()):
            for row, (problem, history) in enumerate(
                zip(self.choices.problem, self.choices.history, strict=True)
            ):
                key = (name, problem.name, history if callable(feature) else ())
                if key not in known:
                    known[key] = _feature_values(name, feature, problem, history)
                values[row, : len(known[key]), position] = known[key]
        return values

    def _utility_of(self, mind: Mind) -> Smooth:
        """Return utilities of the options, (t, k)."""
        node, truth = self._node, self.choices.hypothesis
        value, tangents = mind.log_posterior
        if self.family.response != "choice":
            datum = self.choices.datum
            return Smooth(value[node, datum], tangents[:, node, datum])
        if self.depth == 0:
            value = self._tree.log_teacher[self._tree.table[node], :, truth]
            return Smooth(value, np.zeros((len(self._inner), *value.shape)))
        # (q, nodes, n, m) with the last axis first: two advanced indices that stand together.
        return Smooth(
            value.transpose(0, 2, 1)[node, truth], tangents.transpose(0, 1, 3, 2)[:, node, truth]
        )

    def mind(self, parameters: Array) -> Mind:
        """Return the learner in mind, in the situations of the tree."""
        if self._mind is not None:
            return self._mind
        owner = self._tree.owner
        inner = {}
        for name in INNER:
            column = self.family.names.index(name)
            tangents = np.zeros((len(self._inner), len(owner)))
            if column in self._inner:
                tangents[self._inner.index(column)] = 1.0
            inner[name] = Smooth(parameters[owner, column], tangents)
        return self._tree.mind(self.family, self.depth, inner)

    def responses(self, parameters: Array, *, with_derivatives: bool = True) -> Responses:
        """Return the probabilities of all options in every row, and their derivatives."""
        scores = self._scores
        if scores is None:
            scores = prepare(self._utility_of(self.mind(parameters)), self.options)
        at_row = parameters[self.units]
        num_features = self.options.features.shape[2]
        return choose(
            scores,
            at_row[:, 0],
            at_row[:, 1],
            at_row[:, 2 : 2 + num_features],
            tuple(self._role(column) for column in self.free) if with_derivatives else (),
        )

    def _role(self, column: int) -> Role:
        name = self.family.names[column]
        if name in ("rationality", "lapse"):
            return name
        if column in self._inner:
            return ("inner", self._inner.index(column))
        return None if name == "noise" else ("weight", column - 2)

    def rows(self, parameters: Array, *, with_derivatives: bool = True) -> Rows:
        """Return log-likelihood, gradient and information of every row."""
        responses = self.responses(parameters, with_derivatives=with_derivatives)
        choices = self.choices
        if self.family.response == "choice":
            return answered(responses, choices.datum)
        if self.family.response == "guess":
            return answered(responses, choices.guess)
        column = self.family.names.index("noise")
        place = self.free.index(column) if column in self.free and with_derivatives else None
        noise = parameters[self.units, column]
        return rated(responses, choices.hypothesis, choices.rating, noise, place)

    def evaluate(self, parameters: Array) -> Evaluation:
        """Return the sums over the rows of every unit."""
        starts, rows = self.starts, self.rows(parameters)
        return Evaluation(*(np.add.reduceat(part, starts, axis=0) for part in rows))

    def take(self, units: Positions) -> Likelihood:
        """Return the likelihood of some units only, given in order, numbered from zero again."""
        sizes = np.bincount(self.units)
        rows = np.flatnonzero(np.isin(self.units, units))
        return self._part(rows, np.repeat(np.arange(len(units)), sizes[units]))

    def pooled(self, wanted: NDArray[np.bool_]) -> Likelihood:
        """Return the likelihood of the wanted rows as one unit."""
        rows = np.flatnonzero(wanted)
        return self._part(rows, np.zeros(len(rows), dtype=np.int64))

    def _part(self, rows: Positions, units: Positions) -> Likelihood:
        part = object.__new__(Likelihood)
        part.__dict__.update(self.__dict__)
        part.choices, part.units = self.choices.take(rows), units
        part.options = self.options.take(rows)
        if self._scores is None:
            part._grow()
        else:
            part._node = self._node[rows]
            part._scores = self._scores.take(rows)
        return part

    def beliefs(self, parameters: Array) -> tuple[Array, Array]:
        """Return the belief before and after every row's datum, (t, m) each, as logarithms.

        It is the learner's whom a teacher follows, or the learner's own.
        """
        mind = self.mind(parameters)
        before = mind.log_belief.value[self._node]
        after = mind.log_followed[self._node, self.choices.datum]
        impossible = ~np.isfinite(after).any(axis=1)
        after[impossible] = before[impossible]
        return before, after


def _feature_values(name: str, feature: Any, problem: Problem, history: tuple[int, ...]) -> Array:
    """Return a feature's numbers, one per datum, or say what is wrong with them."""
    if callable(feature):
        found = feature(problem.model, history)
    else:
        found = feature.get(problem.name) if hasattr(feature, "get") else feature
    try:
        values = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape != (problem.model.num_data,) or not np.isfinite(values).all():
        raise CobayesError(
            f"the feature {name!r} gives {found!r} for problem {problem.name!r}; expected "
            f"{problem.model.num_data} finite numbers, one for each datum."
        )
    return values
