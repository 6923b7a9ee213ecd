"""Scaling one component of a matrix with zeros, quickly where it is small and well coupled."""

from __future__ import annotations

import math

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes.scaling.newton import newton_until_converged, solve_laplacian
from cobayes.scaling.stopping import LONGEST_STEP, WEAK_COUPLING

# Steps in working precision, before the careful method takes over.
MAX_QUICK_STEPS = 12


@compiled(inline="always")
def _scale_by_one(state):
    """Scale a component of which one column has all the mass; return whether it is one."""
    part, row_sums, column_sums = state.matrix, state.row_sums, state.column_sums
    factors, row_scaling = state.factors, state.row_scaling
    num_rows, num_columns = part.shape
    largest = np.argmax(column_sums)
    for j in range(num_columns):
        if j != largest and column_sums[j] > 0.0:
            return False
    for i in range(num_rows):
        if not part[i, largest] > 0.0:
            return False
        row_scaling[i] = row_sums[i] / (part[i, largest] * column_sums[largest])
    for j in range(num_columns):
        total = 0.0
        for i in range(num_rows):
            total += row_scaling[i] * part[i, j]
        factors[j] = 1.0 / total
    return True


@compiled(inline="always")
def _quick_newton(state, tolerance):
    """Take Newton steps in working precision; return whether they converged.

    The equations are those of `newton`, with plain sums for the errors. Good enough where columns
    are well coupled, which the smallest pivot of the elimination tells.
    """
    part, row_sums, column_sums = state.matrix, state.row_sums, state.column_sums
    factors, row_scaling = state.factors, state.row_scaling
    num_rows, num_columns = part.shape
    chain = np.empty((num_columns, num_columns))
    errors, step = np.empty(num_columns), np.empty(num_columns)
    shares = np.empty(num_columns)
    pinned = np.argmax(column_sums)
    for _ in range(MAX_QUICK_STEPS):
        for j in range(num_columns):
            errors[j] = 1.0
            for k in range(num_columns):
                chain[j, k] = 0.0
        for i in range(num_rows):
            total = 0.0
            for j in range(num_columns):
                shares[j] = part[i, j] * factors[j]
                total += shares[j] * column_sums[j]
            row_scaling[i] = row_sums[i] / total
            inverse = 1.0 / total
            for j in range(num_columns):
                share = shares[j] * row_scaling[i]
                errors[j] -= share
                for k in range(j):
                    chain[j, k] += share * (shares[k] * inverse)
        for j in range(num_columns):
            for k in range(j):
                pair = chain[j, k]
                chain[j, k] = pair * column_sums[k]
                chain[k, j] = pair * column_sums[j]
        # Columns that hand each other less of their mass are left to the careful method.
        if not solve_laplacian(chain, errors, pinned, step) > WEAK_COUPLING:
            return False
        length = 0.0
        for j in range(num_columns):
            # Written so that a NaN is kept.
            length = length if abs(step[j]) <= length else abs(step[j])
        if not length < math.inf:
            return False
        if length <= tolerance:
            return True
        shrink = LONGEST_STEP / length if length > LONGEST_STEP else 1.0
        for j in range(num_columns):
            factors[j] *= math.exp(shrink * step[j])
    return False


@compiled(inline="always")
def scale_component(state, tolerance, max_steps):
    """Scale one component; return whether that converged.

    Parameters
    ----------
    state
        The component, without rows or columns of zeros, and where its factors start; see
        `newton_until_converged`.
    tolerance, max_steps
        As for `newton_until_converged`.
    """
    if _scale_by_one(state) or _quick_newton(state, tolerance):
        return True
    factors = state.factors
    for j in range(factors.shape[0]):
        if not (factors[j] > 0.0 and factors[j] < math.inf):
            factors[:] = 1.0
    work = np.empty(state.matrix.shape)
    _, error = newton_until_converged(state, work, tolerance, max_steps)
    return error <= tolerance
