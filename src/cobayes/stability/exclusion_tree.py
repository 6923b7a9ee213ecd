"""The tree of data on a table with zeros, whose decided leaves enclose the success rate."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cobayes.stability.exclusion import EPSILON, Belief, Exclusions

Array = NDArray[np.float64]

Pair = tuple[Belief, Belief]


class ExclusionTree:
    """A tree of data on a table with zeros, with equal leaves merged.

    Parameters
    ----------
    matrix, data_prior
        The table and the data prior of both agents.
    priors
        Those of teacher and learner.
    position
        What is taught.
    depth, max_leaves
        How deep and how large it may be; the leaves of highest probability are expanded.
    """

    def __init__(
        self,
        matrix: Array,
        data_prior: Array,
        priors: tuple[Array, Array],
        position: int,
        depth: int,
        max_leaves: int,
    ) -> None:
        self._rule = Exclusions(matrix, data_prior, position)
        self._pattern = matrix[data_prior > 0.0] > 0.0
        self._position = position
        self._success: list[float] = []
        self._failure: list[float] = []
        self.num_leaves, self.depth = 0, 0
        leaves = self._undecided({(self._rule.start(priors[0]), self._rule.start(priors[1])): 1.0})
        for _ in range(depth):
            grown = self._expanded(leaves, max_leaves - self.num_leaves)
            if not grown:
                break
            self.depth += 1
            leaves = self._undecided(grown)
        else:
            self._bound(leaves)

    def interval(self) -> tuple[float, float]:
        """Return the enclosure of the success rate."""
        success, failure = (
            math.fsum(part) * (1.0 - 4.0 * EPSILON) for part in (self._success, self._failure)
        )
        return max(success, 0.0), min(1.0 - failure + EPSILON, 1.0)

    def _expanded(self, leaves: dict[Pair, float], budget: int) -> dict[Pair, float]:
        """Return the children of leaves, equal ones merged; what stays a leaf is counted."""
        order = sorted(leaves, key=leaves.__getitem__, reverse=True)
        grown: dict[Pair, float] = {}
        left: dict[Pair, float] = {}
        for number, pair in enumerate(order):
            taken = len(grown) + len(left) + len(order) - number - 1
            taught = believed = None
            if taken + len(self._pattern) <= budget:
                taught, believed = map(self._rule.respond, pair)
            if taught is None or believed is None:
                left[pair] = leaves[pair]
                continue
            for datum, chance in taught.chances.items():
                child = taught.posteriors[datum], believed.posteriors[datum]
                # A sum of lower bounds, rounded down.
                weight = leaves[pair] * chance * (1.0 - 2.0 * EPSILON)
                grown[child] = (grown.get(child, 0.0) + weight) * (1.0 - EPSILON)
        self._bound(left)
        return grown

    def _undecided(self, leaves: dict[Pair, float]) -> dict[Pair, float]:
        """Count the leaves at which the learner has decided, and return the others."""
        rest = {}
        for pair, weight in leaves.items():
            columns = pair[1].columns
            if columns == (self._position,):
                self._success.append(weight)
            elif self._position not in columns:
                self._failure.append(weight)
            else:
                rest[pair] = weight
        self.num_leaves += len(leaves) - len(rest)
        return rest

    def _bound(self, leaves: dict[Pair, float]) -> None:
        """Count leaves by the bounds of Theorem 12, where both agents expect the same data."""
        self.num_leaves += len(leaves)
        for pair, weight in leaves.items():
            columns = sorted({*pair[0].columns, *pair[1].columns})
            if (self._pattern[:, columns] == self._pattern[:, [self._position]]).all():
                (least, most), (low, high) = (self._range(belief) for belief in pair)
                self._success.append(weight * max(least + low - 1.0 - EPSILON, 0.0) / most)
                self._failure.append(weight * max(1.0 - high / least - EPSILON, 0.0))

    def _range(self, belief: Belief) -> tuple[float, float]:
        """Return between which values the belief in the taught hypothesis lies."""
        values = np.array(belief.values)
        value = float(values[belief.columns.index(self._position)] / values.sum())
        wide = math.exp(belief.error + (len(values) + 8) * EPSILON)
        return value / wide, min(value * wide, 1.0)
