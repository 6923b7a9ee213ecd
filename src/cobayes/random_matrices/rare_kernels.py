"""Compiled Markov chains on random matrices, conditioned on a score above a level.

The score is BI's mean rate minus SCBI's; it is almost always negative. Eight matrices move side by
side. A step proposes a new column, by a kernel that leaves independent exponentials as they are,
and keeps it where the score stays above the level; only the pairs that hold the column
are computed again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled
from cobayes._runtime.vector_math import FUSED, aligned_array, lane_log, use_wide_vectors
from cobayes.random_matrices.column_pairs import WIDTH, pairs_with, sum_columns
from cobayes.random_matrices.rate_kernels import (
    LANES,
    fill_uniforms,
    log_row,
    logs_and_inverses,
    prepare_totals,
    to_exponentials,
)

Array = NDArray[np.float64]

# cos(pi v / 2) = sum_k (-1)^k (pi/2)^(2k) / (2k)! v^(2k), to the last bit for 0 <= v <= 1.
_COSINE = tuple((-1.0) ** k * (math.pi / 2) ** (2 * k) / math.factorial(2 * k) for k in range(12))


class Workspace(NamedTuple):
    """Memory for chains on eight matrices of m columns and n rows.

    Attributes
    ----------
    planes : ndarray
        Entries, logarithms and inverses; the proposal is the last column: (3, p) with
        p >= (m + 1) n 8.
    totals : ndarray
        Sums over every column, the proposal last, (7, (m + 1) 8).
    tables : ndarray
        Cross terms and ratios of every taught h (last axis) against every other one, (2, m, m 8).
    pairs : ndarray
        The same for the proposal, both ways, (4, m 8).
    nearest : ndarray
        The extreme terms of every h, (2, m 8).
    uniforms : ndarray
        Random numbers, (2, q) with q >= n 8 a multiple of LANES.
    """

    planes: Array
    totals: Array
    tables: Array
    pairs: Array
    nearest: Array
    uniforms: Array

    @classmethod
    def empty(cls, num_data: int, num_hypotheses: int) -> Workspace:
        """Return memory for matrices of a size."""
        row = num_hypotheses * WIDTH
        column = -(-num_data * WIDTH // LANES) * LANES
        return cls(
            aligned_array((3, (num_hypotheses + 1) * column)),
            aligned_array((7, row + WIDTH)),
            aligned_array((2, num_hypotheses, row)),
            aligned_array((4, row)),
            aligned_array((2, row)),
            aligned_array((2, column)),
        )


@compiled(fastmath=FUSED)
def propose_exponentials(old, first, second, step, new):
    """Move independent exponentials a little, by a kernel that is reversible for them.

    An exponential is the squared length of a complex normal variable; the variable is mixed
    with a fresh one, ``sqrt(1 - step^2) z + step z'``, whose angle to z is uniform.

    Parameters
    ----------
    old
        Exponentials.
    first, second
        As many uniform numbers, each.
    step
        Between 0 (stay) and 1 (a fresh draw); the correlation is 1 - step^2.
    new
        The result.
    """
    use_wide_vectors()
    keep = math.sqrt(1.0 - step * step)
    for k in range(old.size):
        a = keep * math.sqrt(old[k])
        b = step * math.sqrt(-lane_log(first[k]))
        v = second[k] * second[k]
        cosine = _COSINE[11]
        cosine = _COSINE[8] + v * (_COSINE[9] + v * (_COSINE[10] + v * cosine))
        cosine = _COSINE[4] + v * (_COSINE[5] + v * (_COSINE[6] + v * (_COSINE[7] + v * cosine)))
        cosine = _COSINE[1] + v * (_COSINE[2] + v * (_COSINE[3] + v * cosine))
        cosine = _COSINE[0] + v * cosine
        # |a + b e^(i phi)|^2 as a sum of squares: rounding cannot make it negative.
        new[k] = (a - b) * (a - b) + 4.0 * a * b * (cosine * cosine)


@compiled(fastmath=FUSED, inner=True)
def _update_largest(row, best):
    use_wide_vectors()
    for k in range(best.size):
        best[k] = max(best[k], row[k])


@compiled(fastmath=FUSED, inner=True)
def _update_smallest(row, best):
    use_wide_vectors()
    for k in range(best.size):
        best[k] = min(best[k], row[k])


@compiled(inner=True)
def _scores(totals, replaced, best_cross, log_ratio, num_data, scores):
    """Compute the scores; the totals of the replaced column are in the last one's place."""
    num_hypotheses = totals.shape[1] // WIDTH - 1
    for lane in range(WIDTH):
        score = 0.0
        for h in range(num_hypotheses):
            k = (num_hypotheses if h == replaced else h) * WIDTH + lane
            near = h * WIDTH + lane
            score += totals[5, k] - totals[1, k] - best_cross[near]
            score -= log_ratio[near] + totals[6, k]
        scores[lane] = score / num_hypotheses + math.log(num_data)


@compiled(inner=True)
def _build_tables(work, num_data):
    """Fill the tables: row b holds the terms of every taught h against b."""
    crosses, ratios, pairs = work.tables[0], work.tables[1], work.pairs
    for b in range(crosses.shape[0]):
        pairs_with(b, work.planes, work.totals, num_data, pairs)
        crosses[b, :] = pairs[2]
        ratios[b, :] = pairs[3]
        for lane in range(WIDTH):  # a column is no neighbour of its own
            crosses[b, b * WIDTH + lane] = -np.inf
            ratios[b, b * WIDTH + lane] = np.inf


@compiled(inner=True)
def _nearest_with_proposal(work, column):
    """Find the nearest neighbours with one column replaced by the proposal."""
    crosses, ratios, pairs = work.tables[0], work.tables[1], work.pairs
    best_cross, best_ratio = work.nearest[0], work.nearest[1]
    num_hypotheses = crosses.shape[0]
    best_cross[:] = -np.inf
    best_ratio[:] = np.inf
    for b in range(num_hypotheses):
        _update_largest(pairs[2] if b == column else crosses[b], best_cross)
        _update_smallest(pairs[3] if b == column else ratios[b], best_ratio)
    for lane in range(WIDTH):
        own = column * WIDTH + lane
        best_cross[own] = -np.inf
        best_ratio[own] = np.inf
        for b in range(num_hypotheses):
            if b != column:
                best_cross[own] = max(best_cross[own], pairs[0, b * WIDTH + lane])
                best_ratio[own] = min(best_ratio[own], pairs[1, b * WIDTH + lane])


@compiled(inner=True)
def _accept(work, lane, column, num_data):
    """Put the proposal, the last column, in the place of a column in one lane."""
    planes, totals, pairs = work.planes, work.totals, work.pairs
    crosses, ratios = work.tables[0], work.tables[1]
    num_hypotheses = crosses.shape[0]
    for i in range(num_data):
        new = (num_hypotheses * num_data + i) * WIDTH + lane
        old = (column * num_data + i) * WIDTH + lane
        for plane in range(3):
            planes[plane, old] = planes[plane, new]
    own = column * WIDTH + lane
    for row in range(7):
        totals[row, own] = totals[row, num_hypotheses * WIDTH + lane]
    for b in range(num_hypotheses):
        if b != column:
            k = b * WIDTH + lane
            crosses[b, own] = pairs[0, k]
            ratios[b, own] = pairs[1, k]
            crosses[column, k] = pairs[2, k]
            ratios[column, k] = pairs[3, k]


@compiled()
def draw_matrices(states, matrices, planes):
    """Fill eight matrices (8, m, n) with independent exponentials."""
    fill_uniforms(states, planes[0])
    to_exponentials(planes[0], planes[1])
    _, num_hypotheses, num_data = matrices.shape
    for h in range(num_hypotheses):
        for i in range(num_data):
            for lane in range(WIDTH):
                matrices[lane, h, i] = planes[0, (h * num_data + i) * WIDTH + lane]


@compiled()
def move_matrices(states, matrices, scores, level, step, sweeps, work):
    """Move eight matrices, keeping their scores above the level; return the acceptances.

    With no sweeps only the scores are computed.

    Parameters
    ----------
    states
        (4 * LANES,) unsigned, changed in place.
    matrices
        (8, m, n) exponentials, column by column; changed in place.
    scores
        (8,), changed in place.
    level, step, sweeps
        The least score; the size of a step; how often every column is moved.
    work
        A `Workspace`.
    """
    planes, totals, uniforms, nearest = work.planes, work.totals, work.uniforms, work.nearest
    _, num_hypotheses, num_data = matrices.shape
    size = num_data * WIDTH
    proposal = num_hypotheses * size
    for h in range(num_hypotheses):
        for i in range(num_data):
            for lane in range(WIDTH):
                planes[0, (h * num_data + i) * WIDTH + lane] = matrices[lane, h, i]
    planes[0, proposal : proposal + size] = planes[0, :size]
    logs_and_inverses(
        planes[0, : proposal + size], planes[1, : proposal + size], planes[2, : proposal + size]
    )
    sum_columns(planes, 0, num_hypotheses + 1, num_data, totals)
    prepare_totals(totals, num_data)
    _build_tables(work, num_data)
    accepted = 0
    new_scores = np.empty(WIDTH)
    for _ in range(sweeps):
        for column in range(num_hypotheses):
            fill_uniforms(states, uniforms[0])
            fill_uniforms(states, uniforms[1])
            start = column * size
            new = planes[0, proposal : proposal + size]
            propose_exponentials(
                planes[0, start : start + size], uniforms[0], uniforms[1], step, new
            )
            logs_and_inverses(
                new, planes[1, proposal : proposal + size], planes[2, proposal : proposal + size]
            )
            sum_columns(planes, num_hypotheses, num_hypotheses + 1, num_data, totals)
            prepare_totals(totals[:, num_hypotheses * WIDTH :], num_data)
            pairs_with(num_hypotheses, planes, totals, num_data, work.pairs)
            _nearest_with_proposal(work, column)
            log_row(nearest[1])
            _scores(totals, column, nearest[0], nearest[1], num_data, new_scores)
            for lane in range(WIDTH):
                if new_scores[lane] > level:
                    _accept(work, lane, column, num_data)
                    scores[lane] = new_scores[lane]
                    accepted += 1
    if sweeps == 0:
        nearest[0] = -np.inf
        nearest[1] = np.inf
        for b in range(num_hypotheses):
            _update_largest(work.tables[0, b], nearest[0])
            _update_smallest(work.tables[1, b], nearest[1])
        log_row(nearest[1])
        _scores(totals, -1, nearest[0], nearest[1], num_data, scores)
    for h in range(num_hypotheses):
        for i in range(num_data):
            for lane in range(WIDTH):
                matrices[lane, h, i] = planes[0, (h * num_data + i) * WIDTH + lane]
    return accepted
