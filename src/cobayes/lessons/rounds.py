"""Compiled rounds: drawing data from scaled matrices and taking them in, lane by lane.

Loops over lanes touch few arrays each: the compiler then checks at run time that these do not
overlap, and uses vector instructions.
"""

from __future__ import annotations

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes.scaling.lanes import LANES

TINY = 2.0**-512
HUGE = 2.0**512

# What a group needs for itself, in units of LANES.
SCRATCH = 3 * LANES


@compiled()
def draw_group(matrix, factors, row_scaling, hypotheses, uniforms, data, scratch):
    """Draw a datum for every lane from the column of its hypothesis.

    Parameters
    ----------
    matrix, factors, row_scaling
        A lane's likelihoods are ``row_scaling[i] * matrix[i, j] * factors[j]``.
    hypotheses, uniforms
        What each lane teaches and its random number, (lanes,).
    data
        Out: the data drawn, (lanes,).
    scratch
        (SCRATCH,).
    """
    num_rows = matrix.shape[0]
    num_alike = 0
    for lane in range(LANES):
        num_alike += 1 if hypotheses[lane] == hypotheses[0] else 0
    if num_alike == LANES:
        _draw_column(matrix, factors, row_scaling, hypotheses[0], uniforms, data, scratch)
        return
    for lane in range(LANES):
        h = hypotheses[lane]
        total = 0.0
        datum = num_rows - 1
        for i in range(num_rows):
            total += row_scaling[i, lane] * matrix[i, h] * factors[h, lane]
            if uniforms[lane] < total:
                datum = i
                break
        data[lane] = datum


@compiled()
def _draw_column(matrix, factors, row_scaling, h, uniforms, data, scratch):
    """Do what `draw_group` does where everybody teaches the same."""
    for lane in range(LANES):
        data[lane] = 0
        scratch[lane] = 0.0
        scratch[LANES + lane] = factors[h, lane]
    # A datum is the number of sums that do not exceed the random number.
    for i in range(matrix.shape[0] - 1):
        entry = matrix[i, h]
        for lane in range(LANES):
            scratch[lane] += row_scaling[i, lane] * entry * scratch[LANES + lane]
        for lane in range(LANES):
            data[lane] += 1 if uniforms[lane] >= scratch[lane] else 0


@compiled()
def observe_group(matrix, factors, row_scaling, data, mantissas, shifts, scratch):
    """Multiply every lane's belief by the likelihood of its datum and normalise it.

    Parameters
    ----------
    matrix, factors, row_scaling
        A lane's likelihoods are ``row_scaling[i] * matrix[i, j] * factors[j]``.
    data
        What each lane observes, (lanes,).
    mantissas, shifts
        In and out: the beliefs, (m, lanes); see `cobayes.scaling.lanes`.
    scratch
        (SCRATCH,).
    """
    num_rows, num_columns = matrix.shape
    for lane in range(LANES):
        scratch[lane] = 0.0
        scratch[LANES + lane] = num_rows * row_scaling[np.uint64(data[lane]), lane]
    for j in range(num_columns):
        for lane in range(LANES):
            scratch[2 * LANES + lane] = matrix[np.uint64(data[lane]), j]
        for lane in range(LANES):
            entry = scratch[LANES + lane] * scratch[2 * LANES + lane]
            mantissas[j, lane] *= entry * factors[j, lane]
        for lane in range(LANES):
            scratch[lane] += mantissas[j, lane] if shifts[j, lane] == 0 else 0.0
    for lane in range(LANES):
        scratch[lane] = 1.0 / scratch[lane]
    for j in range(num_columns):
        for lane in range(LANES):
            value = mantissas[j, lane] * scratch[lane]
            shift = shifts[j, lane]
            sinks = (value < TINY) & (value > 0.0)
            rises = (value >= 1.0) & (shift > 0)
            shifts[j, lane] = shift + 1 if sinks else (shift - 1 if rises else shift)
            mantissas[j, lane] = value * HUGE if sinks else (value * TINY if rises else value)


@compiled()
def draw_crowd(matrix, factors, row_scaling, hypotheses, uniforms, data):
    """Draw for every group; see `draw_group`."""
    scratch = np.empty(SCRATCH)
    for g in range(factors.shape[0]):
        draw_group(matrix, factors[g], row_scaling[g], hypotheses[g], uniforms[g], data[g], scratch)


@compiled()
def observe_crowd(matrix, factors, row_scaling, data, mantissas, shifts):
    """Let every group observe its data; see `observe_group`."""
    scratch = np.empty(SCRATCH)
    for g in range(factors.shape[0]):
        observe_group(matrix, factors[g], row_scaling[g], data[g], mantissas[g], shifts[g], scratch)
