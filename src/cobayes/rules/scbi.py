"""SCBI: sequential cooperative Bayesian inference, the paper's rule."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from cobayes import _core
from cobayes._input.distributions import Distribution
from cobayes._input.validation import number_between
from cobayes.model import MatrixLike
from cobayes.rules.native import LOOSEST, NativeRule
from cobayes.rules.response import Response


class SCBI(NativeRule):
    """Sequential cooperative Bayesian inference: the likelihood is scaled to the belief.

    At belief ``theta`` the matrix is Sinkhorn-scaled to row sums one and column sums
    ``n theta``. The teacher draws a datum from the column of the true hypothesis; the learner
    takes the datum's row as its new belief. Scaling rows or columns of the matrix changes
    nothing. Where zeros make the sums impossible, the limit of alternating normalisation takes
    their place; see `scaling_blocks`.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray or `Model`.
    data_prior
        Probabilities of the data before anything is taught; uniform by default, zero for data
        that are not available. The row sums are ``n data_prior``.
    tolerance
        For the relative error of the scaling. Values above 1e-9 count as 1e-9: a looser scaling
        saves next to nothing.

    Notes
    -----
    Section 2.1 and Algorithm 1 of the paper. ``likelihood`` is M_k, ``posteriors`` is
    M^<n theta>, ``update(theta, d)`` is T_d(theta) and ``teach`` is tau.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.SCBI(model).update([0.5, 0.5], "sun").round(3)
    array([0.753, 0.247])
    """

    name = "SCBI"

    def __init__(
        self,
        matrix: MatrixLike,
        *,
        data_prior: Distribution | None = None,
        tolerance: float = 1e-12,
    ) -> None:
        number_between(
            tolerance,
            "tolerance",
            1e-15,
            1.0,
            closed="low",
            hint="1e-12 is the default; float64 itself is good for about 1e-15.",
        )
        super().__init__(matrix, data_prior, min(tolerance, LOOSEST), kind="cooperation")

    def at_certainty(self, hypothesis: SupportsIndex | str) -> Response:
        """Return the likelihood matrix in the limit of certainty; see `Rule.at_certainty`.

        With zeros, another hypothesis that allows a datum which this one rules out is known to
        choose such data only.
        """
        if self.core is None:
            return super().at_certainty(hypothesis)
        column = self.model.hypothesis_index(hypothesis)
        logs = _core.log(self.model.matrix)
        weights = np.zeros((len(logs), 1))
        if self.data_prior is not None:
            weights = _core.log(self.data_prior)[:, None]
        own = logs[:, column, None]
        is_allowed = own > -np.inf
        inside = np.where(is_allowed, weights + logs - np.where(is_allowed, own, 0.0), -np.inf)
        outside = np.where(is_allowed, -np.inf, weights + logs)
        goes_out = (outside > -np.inf).any(axis=0)
        logs = np.where(goes_out, outside, inside)
        totals = np.logaddexp.reduce(logs, axis=0)
        logs -= np.where(totals > -np.inf, totals, 0.0)
        return Response(_core.exp(logs), logs)

    def settings(self) -> dict[str, Any]:
        """Return the arguments beside the matrix that make the same rule again."""
        prior = self.data_prior
        return {
            "tolerance": self.tolerance,
            "data_prior": None if prior is None else prior.tolist(),
        }
