"""A rule's answer to one belief, and Bayes' formula with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Response:
    """A rule's answer to a belief: a likelihood matrix in factored form.

    An agent looks at one column and one row of it; the whole matrix is made when asked for.

    Attributes
    ----------
    matrix : ndarray
        Shape (n, m).
    row_factors, column_factors : ndarray or None
        The likelihood is ``row_factors[:, None] * matrix * column_factors``; None means ones.
    memory : ndarray or None
        What makes the answer to the next belief quicker; an agent hands it back.
    logs : ndarray or None
        What the learner takes for the log-likelihood, (n, m), where the logarithm of the likelihood
        is not exact enough (or, for a literal learner that takes a table as it is, another one).

    Examples
    --------
    >>> import numpy as np
    >>> import cobayes as cb
    >>> response = cb.SCBI([[0.6, 0.2], [0.4, 0.8]]).respond(np.log([0.5, 0.5]))
    >>> response.likelihood.round(3)
    array([[0.71, 0.29],
           [0.29, 0.71]])
    >>> response.column(0).round(3)
    array([0.71, 0.29])
    """

    matrix: Array
    row_factors: Array | None = None
    column_factors: Array | None = None
    memory: Array | None = None
    logs: Array | None = None

    @property
    def likelihood(self) -> Array:
        """The likelihood matrix, (n, m); columns sum to one."""
        if self.row_factors is None or self.column_factors is None:
            return self.matrix
        # In this order and with one temporary, which also becomes the result.
        likelihood = self.row_factors[:, None] * self.matrix
        likelihood *= self.column_factors
        return likelihood

    def column(self, hypothesis: int) -> Array:
        """Return the distribution over data under one hypothesis, (n,)."""
        if self.row_factors is None or self.column_factors is None:
            return self.matrix[:, hypothesis].copy()
        return self.row_factors * self.matrix[:, hypothesis] * self.column_factors[hypothesis]

    def log_row(self, datum: int) -> Array:
        """Return log-likelihoods of one datum, (m,), exact where likelihoods underflow."""
        if self.logs is not None:
            return self.logs[datum]
        with np.errstate(divide="ignore"):
            logs = np.log(self.matrix[datum])
            if self.row_factors is None or self.column_factors is None:
                return logs
            return np.log(self.row_factors[datum]) + logs + np.log(self.column_factors)

    @property
    def log_likelihood(self) -> Array:
        """Logarithms of the likelihood matrix, (n, m)."""
        if self.logs is not None:
            return self.logs
        with np.errstate(divide="ignore"):
            logs = np.log(self.matrix)
            if self.row_factors is None or self.column_factors is None:
                return logs
            return np.log(self.row_factors)[:, None] + logs + np.log(self.column_factors)


def add_evidence(log_belief: Array, log_likelihood: Array) -> Array:
    """Return log Bayes: log belief + log likelihood, normalised along the last axis.

    Parameters
    ----------
    log_belief
        Shape (m,); minus infinity where a hypothesis is ruled out.
    log_likelihood
        One row (m,) or all of them (n, m). A row that excludes all that is believed gives NaN.
    """
    joint = log_belief + log_likelihood
    peak = joint.max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):  # minus infinity everywhere: NaN
        return joint - (peak + np.log(np.exp(joint - peak).sum(axis=-1, keepdims=True)))


def log_posterior(log_belief: Array, likelihood: Array) -> Array:
    """Return log Bayes from a likelihood; see `add_evidence`."""
    with np.errstate(divide="ignore"):
        return add_evidence(log_belief, np.log(likelihood))
