"""Infinite depth: the values of `cobayes.SCBI` for many beliefs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobayes.people.problems import Table
from cobayes.rules import SCBI
from cobayes.rules.base import add_evidence

Array = NDArray[np.float64]


def cooperative(table: Table, log_beliefs: Array) -> tuple[Array, Array]:
    """Return log posteriors and log likelihoods of SCBI: (k, n, m) each.

    Parameters
    ----------
    table
        The matrix and the data prior.
    log_beliefs
        (k, m), normalised.
    """
    rule = SCBI(table.matrix)
    likelihoods = np.empty((len(log_beliefs), *table.matrix.shape))
    posteriors = np.empty_like(likelihoods)
    for row, log_belief in enumerate(log_beliefs):
        likelihoods[row] = rule.respond(log_belief).log_likelihood
        posteriors[row] = add_evidence(log_belief, likelihoods[row])
    return posteriors, likelihoods
