"""Sweeps for many beliefs at once, on one matrix.

Sixty-four problems lie side by side in the innermost loop ("lanes"), which the compiler turns
into vector instructions without reordering any sum: a lane's result does not depend on its
neighbours, so neither on how the work is cut up.

A belief is kept as ``mantissa * 2**(-512 * shift)``. Products of likelihoods stay exact far below
what float64 can hold, without a logarithm in the loop; a belief with a positive shift is below
1e-154 and weighs nothing in the sums.
"""

from __future__ import annotations

import math

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes._runtime.wide_vectors import use_wide_vectors
from cobayes.scaling.newton import newton_until_converged
from cobayes.scaling.stopping import LOOSEST as LOOSEST

LANES = 64


@compiled(fastmath={"contract"})
def multiply(matrix, vectors, out):
    """Fill ``out = matrix @ vectors`` for vectors side by side, four rows at a time."""
    use_wide_vectors()
    num_rows, num_columns = matrix.shape
    i = 0
    while i + 4 <= num_rows:
        for lane in range(LANES):
            out[i, lane] = 0.0
            out[i + 1, lane] = 0.0
            out[i + 2, lane] = 0.0
            out[i + 3, lane] = 0.0
        j = 0
        # Four by four: each number loaded is used four times before it leaves its register.
        while j + 4 <= num_columns:
            a00, a01, a02, a03 = matrix[i, j], matrix[i, j + 1], matrix[i, j + 2], matrix[i, j + 3]
            k = i + 1
            a10, a11, a12, a13 = matrix[k, j], matrix[k, j + 1], matrix[k, j + 2], matrix[k, j + 3]
            k = i + 2
            a20, a21, a22, a23 = matrix[k, j], matrix[k, j + 1], matrix[k, j + 2], matrix[k, j + 3]
            k = i + 3
            a30, a31, a32, a33 = matrix[k, j], matrix[k, j + 1], matrix[k, j + 2], matrix[k, j + 3]
            for lane in range(LANES):
                x0 = vectors[j, lane]
                x1 = vectors[j + 1, lane]
                x2 = vectors[j + 2, lane]
                x3 = vectors[j + 3, lane]
                out[i, lane] += a00 * x0 + a01 * x1 + a02 * x2 + a03 * x3
                out[i + 1, lane] += a10 * x0 + a11 * x1 + a12 * x2 + a13 * x3
                out[i + 2, lane] += a20 * x0 + a21 * x1 + a22 * x2 + a23 * x3
                out[i + 3, lane] += a30 * x0 + a31 * x1 + a32 * x2 + a33 * x3
            j += 4
        while j < num_columns:
            a0, a1, a2, a3 = matrix[i, j], matrix[i + 1, j], matrix[i + 2, j], matrix[i + 3, j]
            for lane in range(LANES):
                x0 = vectors[j, lane]
                out[i, lane] += a0 * x0
                out[i + 1, lane] += a1 * x0
                out[i + 2, lane] += a2 * x0
                out[i + 3, lane] += a3 * x0
            j += 1
        i += 4
    while i < num_rows:
        for lane in range(LANES):
            out[i, lane] = 0.0
        for j in range(num_columns):
            a0 = matrix[i, j]
            for lane in range(LANES):
                out[i, lane] += a0 * vectors[j, lane]
        i += 1


@compiled()
def rescue_group(matrix, mantissas, shifts, factors, row_scaling, tolerance, max_steps, stuck):
    """Solve the stuck lanes by Newton's method; return how many stay stuck."""
    num_rows, num_columns = matrix.shape
    row_sums = np.ones(num_rows)
    sums = np.empty(num_columns)
    own = np.empty(num_columns)
    scaling = np.empty(num_rows)
    work = np.empty((num_rows, num_columns))
    num_stuck = 0
    for lane in range(LANES):
        if stuck[lane] == 0:
            continue
        usable = True
        for j in range(num_columns):
            sums[j] = num_rows * mantissas[j, lane] if shifts[j, lane] == 0 else 0.0
            own[j] = factors[j, lane]
            usable = usable and own[j] > 0.0 and own[j] < math.inf
        if not usable:
            own[:] = 1.0
        _, error = newton_until_converged(
            matrix, row_sums, sums, own, scaling, work, tolerance, max_steps
        )
        for j in range(num_columns):
            factors[j, lane] = own[j]
        for i in range(num_rows):
            row_scaling[i, lane] = scaling[i]
        stuck[lane] = 0 if error <= tolerance else 1
        num_stuck += stuck[lane]
    return num_stuck


@compiled()
def rescue_crowd(matrix, mantissas, shifts, factors, row_scaling, tolerance, max_steps, stuck):
    """Do for every group what `rescue_group` does; return how many stay stuck."""
    num_stuck = 0
    for g in range(factors.shape[0]):
        num_stuck += rescue_group(
            matrix,
            mantissas[g],
            shifts[g],
            factors[g],
            row_scaling[g],
            tolerance,
            max_steps,
            stuck[g],
        )
    return num_stuck
