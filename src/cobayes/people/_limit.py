"""Infinite depth: the values of `cobayes.SCBI` for many beliefs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobayes.people.problems import Table
from cobayes.rules import SCBI
from cobayes.rules.base import add_evidence
from cobayes.rules.beliefs import BeliefState

Array = NDArray[np.float64]


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
