"""KL divergences of nearly equal columns, without cancellation.

KL(x, y) = sum_i x_i log(x_i / y_i) is a small difference of large terms when y is close to x. As
both sum to one it is also sum_i x_i g(y_i / x_i) with g(r) = r - 1 - log r, all of whose terms are
positive and, given the differences y_i - x_i, accurate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# |e| below which e - log(1 + e) comes from a series.
_NEAR = 0.3


def excess_over_log(excess: Array, log: Array) -> Array:
    """Return e - log(1 + e), which is never negative.

    Parameters
    ----------
    excess
        e, greater than -1.
    log
        log(1 + e), used where e is not small.
    """
    # With s = e / (2 + e): e = 2s/(1 - s) and log(1 + e) = 2 (s + s^3/3 + s^5/5 + ...).
    s = np.where(np.abs(excess) < _NEAR, excess, 0.0)
    s = s / (2.0 + s)
    square = s * s
    series = np.zeros_like(s)
    for k in range(25, 1, -2):
        series = square * (1.0 / k + series)
    near = 2.0 * square / (1.0 - s) - 2.0 * s * series
    return np.where(np.abs(excess) < _NEAR, near, np.maximum(excess - log, 0.0))


def divergence_of_pairs(x: Array, y: Array, log_x: Array, log_y: Array) -> Array:
    """Return KL(x, y) for rows of normalised distributions.

    Parameters
    ----------
    x, y
        (pairs, n), rows sum to one.
    log_x, log_y
        Their logarithms.
    """
    log_ratio = log_y - log_x
    # x g(y/x) = (y - x) - x log(y/x) needs no quotient where the columns differ much.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        excess = (y - x) / x
    near = np.abs(excess) < _NEAR
    far_terms = np.maximum((y - x) - x * log_ratio, 0.0)
    near_terms = x * excess_over_log(np.where(near, excess, 0.0), np.zeros_like(x))
    return np.where(near, near_terms, far_terms).sum(axis=-1)


def sharp_divergence_of_pairs(x: Array, y: Array, log_x: Array, log_y: Array) -> Array:
    """Return KL(uniform, N(y/x)) for rows of normalised distributions.

    Parameters
    ----------
    x, y, log_x, log_y
        As in `divergence_of_pairs`.

    Notes
    -----
    With z = y/x and w = z / mean(z) it is the mean of g(w).
    """
    log_ratio = log_y - log_x
    shift = log_ratio.max(axis=-1, keepdims=True)
    log_mean = shift + np.log(np.exp(log_ratio - shift).mean(axis=-1, keepdims=True))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        difference = (y - x) / x
        average = difference.mean(axis=-1, keepdims=True)
        excess = (difference - average) / (1.0 + average)
    log_w = log_ratio - log_mean
    # Differences that overflowed, or lost their digits, are far from equal: logarithms serve.
    near = np.abs(excess) < _NEAR
    with np.errstate(over="ignore"):
        far = np.maximum(np.expm1(log_w) - log_w, 0.0)
    return np.where(near, excess_over_log(np.where(near, excess, 0.0), log_w), far).mean(axis=-1)
