"""KL divergences between all columns of a matrix: what the rates of BI and SCBI are made of.

All pairs come from two matrix products. KL(x, y) = sum_i x_i log(x_i / y_i) is a small difference
of large terms when y is close to x; such pairs are computed again, from
sum_i x_i g(y_i / x_i) with g(r) = r - 1 - log r, all of whose terms are positive and, given the
differences y_i - x_i, accurate.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Kind = Literal["bi", "scbi"]

# |e| below which e - log(1 + e) comes from a series.
_NEAR = 0.3
# Divergences below this, relative to the logarithms they are differences of, are computed again
# without cancellation.
_CANCELLATION = 1e-2
BLOCK_ENTRIES = 1 << 20


def pairwise_divergences(stack: Array, kind: Kind, data_prior: Array | None = None) -> Array:
    """Return the divergences (matrix, h, j) of h's column from j's, infinite on the diagonal.

    Parameters
    ----------
    stack
        Matrices without negative entries and empty columns, (matrices, n, m).
    kind
        "bi": of the normalised columns. "scbi": of M-sharp's, in the limit of certainty about h.
    data_prior
        For "scbi": how often each datum is to be shown, (n,), all positive; None is uniform.

    Notes
    -----
    With z = M_j / M_h and data prior p, SCBI's is log(sum_i p_i z_i) - sum_i p_i log(z_i). It is
    infinite where one datum that h allows excludes j, and in the limit every j that allows other
    data than h is excluded by each of h's own: it spends all its mass on those others.
    """
    if (stack == 0.0).any():
        return np.array([_divergences_with_zeros(matrix, kind, data_prior) for matrix in stack])
    num_data = stack.shape[1]
    largest = stack.max(axis=1, keepdims=True)
    columns = stack / largest
    sums = columns.sum(axis=1, keepdims=True)
    columns /= sums
    # From the entries themselves: a quotient may underflow, its logarithm does not.
    logs = np.log(stack) - np.log(largest) - np.log(sums)
    size = 1.0 + np.abs(logs).max(axis=(1, 2))[:, None, None]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if kind == "bi":
            cross = columns.transpose(0, 2, 1) @ logs
            divergence = np.diagonal(cross, axis1=1, axis2=2)[:, :, None] - cross
        else:
            # Rows may be divided by anything; by their largest entry, ratios stay in range.
            scaled = columns / columns.max(axis=2, keepdims=True)
            inverse = 1.0 / scaled if data_prior is None else data_prior[:, None] / scaled
            log_ratio_sums = np.log(inverse.transpose(0, 2, 1) @ scaled)
            if data_prior is None:
                log_ratio_sums -= np.log(num_data)
                means = logs.mean(axis=1)
            else:
                means = data_prior @ logs
            divergence = log_ratio_sums - means[:, None, :] + means[:, :, None]
    unsure = ~(divergence > _CANCELLATION * size) | ~np.isfinite(divergence)
    diagonal = np.arange(stack.shape[2])
    unsure[:, diagonal, diagonal] = False
    pairs = np.argwhere(unsure)
    step = max(1, BLOCK_ENTRIES // num_data)
    for start in range(0, len(pairs), step):
        which, taught, other = pairs[start : start + step].T
        x, y = columns[which, :, taught], columns[which, :, other]
        log_x, log_y = logs[which, :, taught], logs[which, :, other]
        divergence[which, taught, other] = (
            divergence_of_pairs(x, y, log_x, log_y)
            if kind == "bi"
            else sharp_divergence_of_pairs(x, y, log_x, log_y, data_prior)
        )
    divergence[:, diagonal, diagonal] = np.inf
    return divergence


def _divergences_with_zeros(matrix: Array, kind: Kind, data_prior: Array | None) -> Array:
    """Do what `pairwise_divergences` does for one matrix with zeros, (m, m)."""
    num_data, num_hypotheses = matrix.shape
    columns = matrix / matrix.max(axis=0)
    columns /= columns.sum(axis=0)
    with np.errstate(divide="ignore"):
        logs = np.log(matrix) - np.log(matrix.max(axis=0))
    logs -= np.log(np.exp(logs).sum(axis=0))
    prior = np.full(num_data, 1.0 / num_data) if data_prior is None else data_prior
    allowed = matrix > 0.0
    divergence = np.full((num_hypotheses, num_hypotheses), np.inf)
    for h in range(num_hypotheses):
        rows = allowed[:, h]
        # BI excludes j by a datum of h that j does not allow; SCBI by any difference.
        differs = rows[:, None] & ~allowed if kind == "bi" else rows[:, None] != allowed
        others = ~differs.any(axis=0) & (np.arange(num_hypotheses) != h)
        if not others.any():
            continue
        x = np.broadcast_to(columns[rows, h], (int(others.sum()), int(rows.sum())))
        log_x = np.broadcast_to(logs[rows, h], x.shape)
        y, log_y = columns[rows][:, others].T, logs[rows][:, others].T
        if kind == "bi":
            # y need not sum to one over h's data: the rest is what g leaves out.
            outside = columns[~rows][:, others].sum(axis=0)
            divergence[h, others] = divergence_of_pairs(x, y, log_x, log_y) + outside
        else:
            share = prior[rows] / prior[rows].sum()
            divergence[h, others] = sharp_divergence_of_pairs(x, y, log_x, log_y, share)
    return divergence


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


def sharp_divergence_of_pairs(
    x: Array, y: Array, log_x: Array, log_y: Array, data_prior: Array | None = None
) -> Array:
    """Return KL(p, N(p y/x)) for rows of normalised distributions.

    Parameters
    ----------
    x, y, log_x, log_y
        As in `divergence_of_pairs`.
    data_prior
        p, (n,); None is uniform.

    Notes
    -----
    With z = y/x and w = z / mean(z) it is the mean of g(w), both means under p.
    """
    log_ratio = log_y - log_x
    shift = log_ratio.max(axis=-1, keepdims=True)
    log_mean = shift + np.log(_mean(np.exp(log_ratio - shift), data_prior))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        difference = (y - x) / x
        average = _mean(difference, data_prior)
        excess = (difference - average) / (1.0 + average)
    log_w = log_ratio - log_mean
    # Differences that overflowed, or lost their digits, are far from equal: logarithms serve.
    near = np.abs(excess) < _NEAR
    with np.errstate(over="ignore"):
        far = np.maximum(np.expm1(log_w) - log_w, 0.0)
    terms = np.where(near, excess_over_log(np.where(near, excess, 0.0), log_w), far)
    return _mean(terms, data_prior)[..., 0]


def _mean(values: Array, weights: Array | None) -> Array:
    """Return the mean over the last axis, which stays."""
    if weights is None:
        return values.mean(axis=-1, keepdims=True)
    return (values * weights).sum(axis=-1, keepdims=True)
