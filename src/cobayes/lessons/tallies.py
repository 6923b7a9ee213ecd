"""Compiled statistics of a crowd, so that they cost little beside the inference."""

from __future__ import annotations

import math

from cobayes.compiled import REASSOCIATE, compiled
from cobayes.lessons.statistics import BIN_WIDTH, NUM_BINS, WIDEST

SHIFT_LOG = 512.0 * math.log(2.0)


@compiled(fastmath=REASSOCIATE)
def tally(mantissas, shifts, size, hypothesis, level, round_, mean, squares, histogram, first_sure):
    """Summarise the beliefs of a crowd after a round.

    Parameters
    ----------
    mantissas, shifts
        The beliefs, (groups, m, lanes); see `cobayes.scaling.lanes`.
    size
        How many lanes count.
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
    num_groups, num_hypotheses, width = mantissas.shape
    for j in range(num_hypotheses):
        total = 0.0
        for g in range(num_groups):
            for lane in range(min(width, size - g * width)):
                total += mantissas[g, j, lane] if shifts[g, j, lane] == 0 else 0.0
        average = total / size
        spread = 0.0
        for g in range(num_groups):
            for lane in range(min(width, size - g * width)):
                belief = mantissas[g, j, lane] if shifts[g, j, lane] == 0 else 0.0
                spread += (belief - average) * (belief - average)
        mean[j] = average
        squares[j] = spread
    for one in range(size):
        g, lane = one // width, one % width
        belief = mantissas[g, hypothesis, lane]
        # The others are summed on the scale of the largest of them.
        least = shifts[g, hypothesis, lane] + 1_000_000
        for j in range(num_hypotheses):
            if j != hypothesis and mantissas[g, j, lane] > 0.0 and shifts[g, j, lane] < least:
                least = shifts[g, j, lane]
        rest = 0.0
        for j in range(num_hypotheses):
            if j != hypothesis and shifts[g, j, lane] == least:
                rest += mantissas[g, j, lane]
        odds = math.log(belief / rest) - SHIFT_LOG * (shifts[g, hypothesis, lane] - least)
        if not odds < WIDEST:
            place = NUM_BINS - 1
        elif odds < -WIDEST:
            place = 0
        else:
            place = min(int((odds + WIDEST) / BIN_WIDTH), NUM_BINS - 1)
        histogram[place] += 1
        is_sure = shifts[g, hypothesis, lane] == 0 and belief >= level
        if is_sure and round_ < first_sure[one]:
            first_sure[one] = round_
