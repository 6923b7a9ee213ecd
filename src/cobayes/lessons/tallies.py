"""Compiled statistics of many beliefs, so that they cost little beside the inference."""

from __future__ import annotations

import math

import numpy as np

from cobayes._runtime.compiled import REASSOCIATE, compiled
from cobayes._runtime.vector_math import lane_log
from cobayes.lessons.statistics import WIDEST
from cobayes.rules.beliefs import SHIFT_LOG
from cobayes.scaling.lanes import LANES

# More than any belief is ever shifted.
NO_SHIFT = 2**62


@compiled(fastmath=REASSOCIATE)
def _summarise(mantissas, shifts, count):
    """Return mean and sum of squared deviations of the first lanes' beliefs, (lanes,) each."""
    total = 0.0
    for lane in range(count):
        total += mantissas[lane] if shifts[lane] == 0 else 0.0
    mean = total / count
    squares = 0.0
    for lane in range(count):
        gap = (mantissas[lane] if shifts[lane] == 0 else 0.0) - mean
        squares += gap * gap
    return mean, squares


@compiled(inline="always")
def _log_odds(mantissas, shifts, hypothesis, least, odds):
    """Fill the log-odds of the truth in every lane, or infinity where they are beyond all bins.

    The other beliefs are summed on the scale of the largest of them, `least`.
    """
    num_hypotheses = mantissas.shape[0]
    for lane in range(LANES):
        least[lane] = NO_SHIFT
        odds[lane] = 0.0
    for j in range(num_hypotheses):
        if j != hypothesis:
            for lane in range(LANES):
                shift = shifts[j, lane] if mantissas[j, lane] > 0.0 else NO_SHIFT
                least[lane] = shift if shift < least[lane] else least[lane]
    for j in range(num_hypotheses):
        if j != hypothesis:
            for lane in range(LANES):
                odds[lane] += mantissas[j, lane] if shifts[j, lane] == least[lane] else 0.0
    for lane in range(LANES):
        rest = odds[lane]
        odds[lane] = mantissas[hypothesis, lane] / rest if rest > 0.0 else math.inf
    for lane in range(LANES):
        ratio = odds[lane]
        # The logarithm is made for positive, finite numbers.
        log_ratio = lane_log(ratio if (ratio > 0.0) & (ratio < math.inf) else 1.0)
        log_ratio = log_ratio if ratio > 0.0 else -math.inf
        odds[lane] = log_ratio if ratio < math.inf else math.inf
    for lane in range(LANES):
        odds[lane] -= SHIFT_LOG * (shifts[hypothesis, lane] - least[lane])


@compiled()
def tally(beliefs, hypothesis, level, round_, mean, squares, histogram, first_sure):
    """Summarise the beliefs of many learners after a round.

    Parameters
    ----------
    beliefs
        A `BeliefState`.
    hypothesis, level
        The true hypothesis, and the belief in it that counts as sure.
    round_
        The round just played.
    mean, squares
        Out: mean and sum of squared deviations of the belief in every hypothesis.
    histogram
        Out: counts of the log-odds of the truth.
    first_sure
        In and out: the first round at which each one was sure.
    """
    mantissas, shifts, size = beliefs.mantissas, beliefs.shifts, beliefs.size
    num_groups, num_hypotheses, _ = mantissas.shape
    num_bins = histogram.shape[0]
    bins_per_unit = num_bins / (2.0 * WIDEST)
    least = np.empty(LANES, dtype=np.int64)
    odds = np.empty(LANES)
    mean[:] = 0.0
    squares[:] = 0.0
    for g in range(num_groups):
        start = g * LANES
        count = min(LANES, size - start)
        for j in range(num_hypotheses):
            # Groups are merged one after the other, as Chan, Golub and LeVeque do it.
            own_mean, own_squares = _summarise(mantissas[g, j], shifts[g, j], count)
            gap = own_mean - mean[j]
            mean[j] += gap * (count / (start + count))
            squares[j] += own_squares + gap * gap * (start * count / (start + count))
        _log_odds(mantissas[g], shifts[g], hypothesis, least, odds)
        for lane in range(LANES):
            place = (odds[lane] + WIDEST) * bins_per_unit
            place = place if place > 0.0 else 0.0
            odds[lane] = place if place < num_bins - 1 else num_bins - 1
        for lane in range(count):
            histogram[np.uint64(odds[lane])] += 1
        for lane in range(count):
            belief = mantissas[g, hypothesis, lane]
            is_sure = (shifts[g, hypothesis, lane] == 0) & (belief >= level)
            earlier = first_sure[start + lane]
            first_sure[start + lane] = round_ if is_sure & (round_ < earlier) else earlier
