"""Compiled statistics of many beliefs, so that they cost little beside the inference."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import REASSOCIATE, compiled
from cobayes._runtime.vector_math import lane_log
from cobayes.lessons.statistics import WIDEST, log_odds
from cobayes.rules.beliefs import SHIFT_LOG, BeliefState
from cobayes.scaling.lanes import LANES

Array = NDArray[np.float64]

# More than any belief is ever shifted.
NO_SHIFT = 2**62


@compiled(fastmath=REASSOCIATE, inner=True)
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


class Tallies(NamedTuple):
    """The statistics of a block of lessons; round 0 is the prior.

    Attributes
    ----------
    hypothesis, level
        The true hypothesis, and the belief in it that counts as sure.
    means, squares : ndarray
        Mean and sum of squared deviations of the beliefs after every round, (rounds + 1, m).
    histogram : ndarray
        Counts of the log-odds of the truth after every round, (rounds + 1, bins).
    first_sure : ndarray
        The first round at which each learner was sure, (size,); rounds + 1: none.
    """

    hypothesis: int
    level: float
    means: Array
    squares: Array
    histogram: NDArray[np.uint16]
    first_sure: NDArray[np.int64]

    @classmethod
    def starting(
        cls, hypothesis: int, level: float, shape: tuple[int, int, int], histogram: NDArray
    ) -> Tallies:
        """Return statistics to be filled in; the shape is (rounds, m, size).

        Counts are added to those that the histogram, (rounds + 1, bins), holds already.
        """
        num_rounds, num_hypotheses, size = shape
        return cls(
            hypothesis,
            level,
            np.empty((num_rounds + 1, num_hypotheses)),
            np.empty((num_rounds + 1, num_hypotheses)),
            histogram,
            np.full(size, num_rounds + 1),
        )

    def add(self, beliefs: BeliefState, k: int) -> None:
        """Add the beliefs after round k."""
        tally(beliefs, self, k)

    def add_rounds(self, first: int, log_beliefs: Array) -> None:
        """Add the beliefs of a few lessons after some rounds, as logarithms, (rounds, size, m)."""
        beliefs = np.exp(log_beliefs)
        rounds = np.arange(first, first + len(beliefs))
        means = beliefs.mean(axis=1)
        self.means[rounds] = means
        self.squares[rounds] = ((beliefs - means[:, None]) ** 2).sum(axis=1)
        num_bins = self.histogram.shape[1]
        odds = log_odds(log_beliefs, self.hypothesis)
        place = np.clip((odds + WIDEST) * (num_bins / (2.0 * WIDEST)), 0.0, num_bins - 1.0)
        np.add.at(self.histogram, (rounds[:, None], place.astype(np.intp)), 1)
        is_sure = beliefs[:, :, self.hypothesis] >= self.level
        earliest = np.where(is_sure.any(axis=0), first + is_sure.argmax(axis=0), self.first_sure)
        np.minimum(self.first_sure, earliest, out=self.first_sure)


@compiled()
def tally(beliefs, tallies, k):
    """Fill in the `Tallies` of many learners' beliefs after round k."""
    mantissas, shifts, size = beliefs.mantissas, beliefs.shifts, beliefs.size
    num_groups, num_hypotheses, _ = mantissas.shape
    hypothesis, first_sure = tallies.hypothesis, tallies.first_sure
    mean, squares, histogram = tallies.means[k], tallies.squares[k], tallies.histogram[k]
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
            is_sure = (shifts[g, hypothesis, lane] == 0) & (belief >= tallies.level)
            earlier = first_sure[start + lane]
            first_sure[start + lane] = k if is_sure & (k < earlier) else earlier
