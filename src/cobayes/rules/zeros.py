"""Scaling a matrix with zeros to many beliefs: blocks for every belief, then each component."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled
from cobayes.rules.beliefs import BeliefState, fill_share
from cobayes.scaling.block_flows import flow_blocks
from cobayes.scaling.block_subsets import MAX_COLUMNS, subset_blocks
from cobayes.scaling.block_workspace import BlockWorkspace
from cobayes.scaling.blocks import fresh_workspace
from cobayes.scaling.components import scale_component
from cobayes.scaling.lanes import LANES, Lanes, fill_row_sums
from cobayes.scaling.stopping import MAX_NEWTON_STEPS
from cobayes.scaling.sweeps import ScalingState

# Rows without a component; columns without one have the label -1.
NO_COMPONENT = -3


@dataclass(frozen=True)
class BlockSolver:
    """Scales a matrix with zeros to many beliefs.

    Attributes
    ----------
    work : BlockWorkspace
        The pattern, and memory for the search for its blocks.
    tolerance : float
        For the relative error.
    """

    work: BlockWorkspace
    tolerance: float

    def solve(self, beliefs: BeliefState, lanes: Lanes) -> None:
        """Fill in labels and factors that belong to the beliefs; raise an error if that fails."""
        by_flow = None if lanes.matrix.shape[1] <= MAX_COLUMNS else True
        state = beliefs._replace(row_sums=None)  # they are in the lanes
        left = scale_components(state, lanes, self.work, by_flow, self.tolerance, MAX_NEWTON_STEPS)
        if left:
            from cobayes.rules.sequential import not_converged

            raise not_converged(left, self.tolerance)

    def keep(self, size: int, chosen: NDArray[np.intp]) -> BlockSolver:  # noqa: ARG002
        """Return the solver for some of the beliefs: it remembers nothing of them."""
        return BlockSolver(fresh_workspace(self.work), self.tolerance)


@compiled(inner=True)
def _find_components(work, row_sums, column_sums, by_flow):
    """Label rows and columns; return the number of components."""
    # The compiler drops the branch that does not apply: None is a type of its own.
    if by_flow is None:
        return subset_blocks(work, row_sums, column_sums)
    return flow_blocks(work, row_sums, column_sums)


@compiled(inline="always")
def _is_settled(mantissas, shifts, shares, lane):
    """Tell whether a lane's belief is certain, as it was when it was last answered."""
    for j in range(mantissas.shape[0]):
        belief = mantissas[j, lane]
        if not ((belief == 0.0 or belief == 1.0) and shifts[j, lane] == 0):
            return False
        if shares[j, lane] != belief:
            return False
    return True


@compiled()
def scale_components(beliefs, lanes, work, by_flow, tolerance, max_steps):
    """Scale a matrix with zeros to every belief; return how many scalings did not converge.

    Parameters
    ----------
    beliefs, lanes
        A `BeliefState`, and the `Lanes` whose labels and factors are to be filled in.
    work
        See `BlockSolver`.
    by_flow
        None: blocks are found by a table of all sets of hypotheses; else by flows.
    tolerance, max_steps
        As for `newton_until_converged`.
    """
    matrix = lanes.matrix
    num_rows, num_columns = matrix.shape
    row_sums, column_sums = np.empty(num_rows), np.empty(num_columns)
    rows, columns = np.empty(num_rows, dtype=np.int64), np.empty(num_columns, dtype=np.int64)
    num_left = 0
    for task in range(beliefs.size):
        g, lane = task // LANES, task % LANES
        mantissas, shifts, shares = beliefs.mantissas[g], beliefs.shifts[g], lanes.shares[g]
        if _is_settled(mantissas, shifts, shares, lane):
            continue
        fill_share(mantissas, shifts, lane, shares)
        fill_row_sums(lanes.row_sums, g, lane, row_sums)
        for j in range(num_columns):
            column_sums[j] = num_rows * shares[j, lane]
        count = _find_components(work, row_sums, column_sums, by_flow)
        for i in range(num_rows):
            label = work.row_labels[i] if row_sums[i] > 0.0 else NO_COMPONENT
            lanes.row_labels[g, i, lane] = label if label >= 0 else NO_COMPONENT
            lanes.row_scaling[g, i, lane] = 0.0
        for j in range(num_columns):
            lanes.column_labels[g, j, lane] = work.column_labels[j]
        is_converged = True
        for label in range(count):
            height, width = 0, 0
            for i in range(num_rows):
                if lanes.row_labels[g, i, lane] == label:
                    rows[height] = i
                    height += 1
            for j in range(num_columns):
                if work.column_labels[j] == label:
                    columns[width] = j
                    width += 1
            part = np.empty((height, width))
            targets, scaling = np.empty(height), np.empty(height)
            masses, factors = np.empty(width), np.empty(width)
            for b in range(width):
                j = columns[b]
                masses[b] = work.masses[j]
                start = lanes.factors[g, j, lane]
                factors[b] = start if start > 0.0 and start < math.inf else 1.0
            for a in range(height):
                targets[a] = row_sums[rows[a]] * work.ratios[label]
                for b in range(width):
                    part[a, b] = matrix[rows[a], columns[b]]
            # The last two are not used here.
            state = ScalingState(part, targets, masses, factors, scaling, masses, masses)
            is_converged &= scale_component(state, tolerance, max_steps)
            for a in range(height):
                lanes.row_scaling[g, rows[a], lane] = scaling[a]
            for b in range(width):
                lanes.factors[g, columns[b], lane] = factors[b]
        for j in range(num_columns):
            if work.column_labels[j] < 0:
                lanes.factors[g, j, lane] = 0.0
        lanes.not_converged[g, lane] = 0 if is_converged else 1
        num_left += lanes.not_converged[g, lane]
    return num_left
