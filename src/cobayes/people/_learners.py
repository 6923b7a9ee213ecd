"""The learner that a person has in mind, with exact derivatives.

Arrays have a leading axis of situations: ``log_belief`` (b, m), ``log_posterior`` (b, n, m).
Derivatives stand in front of it: (q, b, ...), one for each inner parameter. Values at infinite
depth are those of `cobayes.SCBI`, from `cooperative`; `scaled_learner` adds the derivatives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes.people.problems import Table
from cobayes.rules import SCBI
from cobayes.rules.beliefs import BeliefState
from cobayes.rules.response import add_evidence

Array = NDArray[np.float64]


class Smooth(NamedTuple):
    """An array together with its derivatives along q directions, (q, *shape)."""

    value: Array
    tangents: Array


@dataclass(frozen=True)
class Situations:
    """What holds in each of b situations: tables and data priors, in logarithms.

    Attributes
    ----------
    log_literal : ndarray
        (b, n, m): log T_0, or the table itself for ``literal="truth"``; minus infinity at zeros.
    log_data_prior : ndarray
        (b, n); minus infinity where a datum is not available.
    """

    log_literal: Array
    log_data_prior: Array


def normalise(logs: Smooth, axis: int) -> Smooth:
    """Return logarithms normalised along an axis, with their derivatives.

    Slices that are all minus infinity stay so.
    """
    peak = logs.value.max(axis=axis, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    weights = np.exp(logs.value - peak)
    total = weights.sum(axis=axis, keepdims=True)
    safe = np.where(total > 0.0, total, 1.0)
    value = logs.value - (peak + np.log(safe))
    if not len(logs.tangents):
        return Smooth(value, np.zeros((0, *value.shape)))
    weights /= safe
    # The tangents' axis is in front, so a negative axis means the same one.
    tangents = logs.tangents - (weights * logs.tangents).sum(axis=axis, keepdims=True)
    tangents[:, np.isneginf(value)] = 0.0
    return Smooth(value, tangents)


def bayes(log_likelihood: Smooth, log_belief: Smooth) -> Smooth:
    """Return log posteriors (b, n, m) for every datum."""
    joint = Smooth(
        log_likelihood.value + log_belief.value[:, None, :],
        log_likelihood.tangents + log_belief.tangents[:, :, None, :],
    )
    return normalise(joint, axis=-1)


def learner(
    situations: Situations,
    log_belief: Smooth,
    depth: float,
    rationality: Smooth,
) -> Smooth:
    """Return log L_depth(h | d) of a finite depth: (b, n, m).

    Parameters
    ----------
    situations
        Tables and data priors.
    log_belief
        The learner's, before the datum.
    depth
        An integer; see `scaled_learner` for infinity.
    rationality
        (b,): the one inside the recursion.
    """
    num_tangents = len(log_belief.tangents)
    literal = situations.log_literal
    posterior = bayes(Smooth(literal, np.zeros((num_tangents, *literal.shape))), log_belief)
    for _ in range(int(depth)):
        posterior = bayes(teacher(situations, posterior, rationality), log_belief)
    return posterior


def teacher(situations: Situations, posterior: Smooth, rationality: Smooth) -> Smooth:
    """Return log T(d | h), proportional to p(d) L(h | d) ** rationality: (b, n, m)."""
    alpha = rationality.value[:, None, None]
    possible = np.isfinite(posterior.value)
    finite = np.where(possible, posterior.value, 0.0)
    weighted = np.where(possible, alpha * finite, -np.inf)
    weighted += situations.log_data_prior[:, :, None]
    tangents = alpha * posterior.tangents + rationality.tangents[:, :, None, None] * finite
    return normalise(Smooth(weighted, tangents), axis=-2)


def cooperative(table: Table, log_beliefs: Array) -> tuple[Array, Array]:
    """Return log posteriors and log likelihoods of SCBI: (k, n, m) each.

    Data that are not available, and hypotheses that allow none of the others, are left out.

    Parameters
    ----------
    table
        The matrix and the data prior.
    log_beliefs
        (k, m), normalised.
    """
    rows = np.flatnonzero(table.data_prior)
    available = table.matrix[rows]
    # A datum that every hypothesis rules out teaches nothing.
    rows, available = rows[available.any(axis=1)], available[available.any(axis=1)]
    columns = np.flatnonzero(available.any(axis=0))
    prior = table.data_prior[rows]
    shape = (len(log_beliefs), *table.matrix.shape)
    posteriors, likelihoods = np.full(shape, -np.inf), np.full(shape, -np.inf)
    beliefs = log_beliefs[:, columns]
    known = np.isfinite(beliefs).any(axis=1)
    if not known.any():
        return posteriors, likelihoods
    beliefs = beliefs[known]
    beliefs = add_evidence(beliefs, np.zeros(len(columns)))
    # The uniform prior is left to the rule: it knows faster ways then.
    weights = prior / prior.sum() if np.ptp(prior) > 1e-12 * prior.max() else None
    rule = SCBI(available[:, columns], data_prior=weights)
    found = rule.respond_many(BeliefState.from_logs(beliefs)).log_likelihoods
    with np.errstate(invalid="ignore"):
        after = add_evidence(beliefs[:, None, :], found)
    places = np.ix_(np.flatnonzero(known), rows, columns)
    likelihoods[places] = found
    # A datum that no believed hypothesis allows has no posterior.
    posteriors[places] = np.where(np.isnan(after), -np.inf, after)
    return posteriors, likelihoods


def scaled_learner(log_posterior: Array, log_likelihood: Array, log_belief: Smooth) -> Smooth:
    """Return log L at infinite depth with its derivatives, by the implicit function theorem.

    With L the posteriors, T the likelihood and b the logarithms of the column factors, the sums of
    the scaled matrix stay what they must be if (1 - T'L) db = d log theta - d log lambda, where
    lambda is the ratio of the block that a column belongs to. One linear system of m unknowns per
    situation. Where blocks meet (ties) the limit has one-sided derivatives only; this is the one
    within the present blocks.

    Parameters
    ----------
    log_posterior, log_likelihood
        (b, n, m): the learner and the teacher of `cobayes.SCBI` at the belief.
    log_belief
        (b, m), minus infinity where a hypothesis is ruled out.
    """
    if not len(log_belief.tangents):
        return Smooth(log_posterior, np.zeros((0, *log_posterior.shape)))
    believed = np.isfinite(log_belief.value)
    posterior = np.exp(log_posterior)
    likelihood = np.where(believed[:, None, :], np.exp(log_likelihood), 0.0)
    theta = np.exp(log_belief.value)
    num_hypotheses = theta.shape[1]
    mixing = np.einsum("bij,bik->bjk", likelihood, posterior)
    connected = (mixing > 0.0) | np.eye(num_hypotheses, dtype=bool)
    for _ in range(max(1, math.ceil(math.log2(max(2, num_hypotheses))))):
        connected = np.einsum("bij,bjk->bik", connected, connected, dtype=np.int64) > 0
    share = connected * theta[:, None, :]
    total = share.sum(axis=2, keepdims=True)
    share = share / np.where(total > 0.0, total, 1.0)
    tangent = np.where(believed, log_belief.tangents, 0.0)
    # The ratio of a block changes by what its beliefs gain together.
    right = tangent - np.einsum("bjk,qbk->qbj", share, tangent)
    system = np.eye(num_hypotheses) - mixing + share
    change = np.linalg.solve(system[None], right[..., None])[..., 0]
    change = np.where(believed, change, 0.0)
    tangents = change[:, :, None, :] - np.einsum("bij,qbj->qbi", posterior, change)[..., None]
    tangents[:, np.isneginf(log_posterior)] = 0.0
    return Smooth(log_posterior, tangents)
