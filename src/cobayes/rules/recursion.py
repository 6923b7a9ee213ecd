"""The recursion of pragmatic rules for many beliefs, sixty-four side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled
from cobayes._runtime.vector_math import lane_exp, lane_log
from cobayes.rules.beliefs import BeliefState, fill_shares
from cobayes.scaling.lanes import LANES, Lanes, multiply

Array = NDArray[np.float64]

# Intermediate factors go up to this and down to its inverse.
LARGEST_FACTOR = 1e140


@dataclass(frozen=True)
class RecursionSolver:
    """Finds the factors of T_K, of which the matrix is ``literal ** (rationality ** K)``.

    Attributes
    ----------
    powers : ndarray
        The literal likelihood to the powers of levels 0 to K, (K + 1, n, m); one suffices where
        the rationality is one.
    transposed : ndarray
        The same, (K + 1, m, n).
    depth : int
        K, at least one.
    rationality : float
        Alpha.
    """

    powers: Array
    transposed: Array
    depth: int
    rationality: float

    @classmethod
    def starting(cls, log_literal: Array, depth: int, rationality: float) -> RecursionSolver:
        """Return the solver for a literal likelihood given by its logarithms, (n, m)."""
        num_levels = 1 if rationality == 1.0 else depth + 1
        levels = [rationality**level * log_literal for level in range(num_levels)]
        powers = np.exp(levels)
        return cls(powers, np.ascontiguousarray(powers.swapaxes(1, 2)), depth, rationality)

    @property
    def smallest_belief(self) -> float:
        """Below this, factors may leave the range of float64 where zeros leave nobody else.

        A datum that only such hypotheses allow has a row factor of the belief to the power of minus
        the rationality, which enters the next level to that power.
        """
        growth = sum(self.rationality**level for level in range(1, self.depth + 1))
        return LARGEST_FACTOR ** -min(1.0, 2.0 / growth)

    def solve(self, beliefs: BeliefState, lanes: Lanes) -> None:
        """Fill in the factors that belong to the beliefs."""
        recurse_many(beliefs, lanes, self.powers, self.transposed, self.depth, self.rationality)

    def keep(self, size: int, chosen: NDArray[np.intp]) -> RecursionSolver:  # noqa: ARG002
        """Return the solver for some of the beliefs: it remembers nothing of them."""
        return self


@compiled(inner=True)
def _weigh_rows(rows, row_sums, g, rationality):
    """Turn totals z into row factors ``p * z**-rationality``; impossible data get zero."""
    for i in range(rows.shape[0]):
        for lane in range(LANES):
            total = rows[i, lane]
            if rationality == 1.0:
                power = 1.0 / total
            else:
                power = lane_exp(-rationality * lane_log(total if total > 0.0 else 1.0))
            rows[i, lane] = power if total > 0.0 else 0.0
        if row_sums is not None:
            for lane in range(LANES):
                rows[i, lane] *= row_sums[g, i, lane]


@compiled()
def recurse_many(beliefs, lanes, powers, transposed, depth, rationality):
    """Fill in the factors of T_K for every belief.

    Parameters
    ----------
    beliefs, lanes
        A `BeliefState`, and the `Lanes` to be filled in.
    powers, transposed, depth, rationality
        See `RecursionSolver`.
    """
    num_groups, num_columns, _ = lanes.shares.shape
    weights = np.empty((num_columns, LANES))
    totals = np.empty((num_columns, LANES))
    last = powers.shape[0] - 1
    for g in range(num_groups):
        shares, factors, rows = lanes.shares[g], lanes.factors[g], lanes.row_scaling[g]
        fill_shares(beliefs.mantissas[g], beliefs.shifts[g], shares)
        for j in range(num_columns):
            for lane in range(LANES):
                weights[j, lane] = shares[j, lane]
        for k in range(depth):
            multiply(powers[min(k, last)], weights, rows)
            _weigh_rows(rows, lanes.row_sums, g, rationality)
            multiply(transposed[min(k + 1, last)], rows, totals)
            for j in range(num_columns):
                for lane in range(LANES):
                    total = totals[j, lane]
                    factors[j, lane] = 1.0 / total if total > 0.0 else 0.0
                    weights[j, lane] = factors[j, lane] * shares[j, lane]
