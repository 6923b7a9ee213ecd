"""Statistics that can be added up block by block, so that no path needs to be kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Beyond this the belief is within 1e-19 of zero or one; such lessons go to the last bins.
WIDEST = 44.0
# Bins of 0.02, and wider ones where a histogram of that for each round would take too much memory.
MOST_BINS = 4400
FEWEST_BINS = 88
MOST_COUNTS = 8_000_000


def num_bins(num_rounds: int) -> int:
    """Return the number of bins of each round's histogram: as many as fit into 64 MB."""
    affordable = MOST_COUNTS // (num_rounds + 1)
    return max(FEWEST_BINS, min(MOST_BINS, affordable // FEWEST_BINS * FEWEST_BINS))


def log_odds(log_beliefs: Array, hypothesis: int) -> Array:
    """Return log(theta(h) / sum of the others) from log-beliefs, hypotheses on the last axis."""
    others = np.delete(log_beliefs, hypothesis, axis=-1)
    if others.shape[-1] == 0:
        return np.full(log_beliefs.shape[:-1], np.inf)
    peak = others.max(axis=-1, keepdims=True)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        rest = np.log(np.exp(others - safe).sum(axis=-1)) + safe[..., 0]
    return log_beliefs[..., hypothesis] - rest


class Moments:
    """Means and sums of squared deviations of blocks, merged exactly in a fixed order."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 0
        self.mean = np.zeros(shape)
        self.squares = np.zeros(shape)

    def merge(self, count: int, mean: Array, squares: Array) -> None:
        """Take in a block: its size, its mean and its sum of squared deviations."""
        total = self.count + count
        gap = mean - self.mean
        self.mean = self.mean + gap * (count / total)
        self.squares = self.squares + squares + gap**2 * (self.count * count / total)
        self.count = total

    @property
    def std(self) -> Array:
        """The standard deviation over everything taken in."""
        return np.sqrt(self.squares / self.count)


@dataclass(frozen=True, eq=False)
class LogOddsHistogram:
    """Counts of log-odds, one row per round, in bins of 0.02 (wider beyond 1,800 rounds)."""

    counts: NDArray[np.int64]

    def belief_quantile(self, shares: Array) -> Array:
        """Return quantiles of the belief at every round, interpolated within a bin."""
        flat = np.atleast_1d(shares)
        edges = np.linspace(-WIDEST, WIDEST, self.counts.shape[1] + 1)
        found = np.empty((len(flat), len(self.counts)))
        for k, row in enumerate(self.counts):
            cumulative = np.concatenate([[0], np.cumsum(row)]) / row.sum()
            # Nothing lies beyond the last bin that is not empty.
            last = np.flatnonzero(row)[-1] + 2
            found[:, k] = np.interp(flat, cumulative[:last], edges[:last])
        quantiles = 1.0 / (1.0 + np.exp(-found))
        return quantiles if np.ndim(shares) else quantiles[0]
