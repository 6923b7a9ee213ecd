"""BI: plain Bayesian inference, the paper's control."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.model import MatrixLike
from cobayes.rules.base import Response, Rule
from cobayes.rules.beliefs import WIDEST_SPREAD, BeliefState
from cobayes.rules.responses import CompiledResponses
from cobayes.scaling.problem import balance


class BI(Rule):
    """Plain Bayesian inference: the likelihood is the column-normalised matrix, always.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray or `Model`.

    Notes
    -----
    Section 2.2 of the paper.
    """

    name: ClassVar[str] = "BI"
    depends_on_belief: ClassVar[bool] = False

    def __init__(self, matrix: MatrixLike) -> None:
        super().__init__(matrix)
        likelihood = self.model.normalized()
        likelihood.flags.writeable = False
        self._response = Response(likelihood)
        if ((likelihood == 0.0) & (self.model.matrix > 0.0)).any():
            # Likelihoods below 1e-308: in factors, whose logarithms are exact.
            balanced, rows, _ = balance(self.model.matrix)
            row_factors = np.broadcast_to(rows, len(balanced))
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                column_factors = 1.0 / (row_factors[:, None] * balanced).sum(axis=0)
            factors = np.append(row_factors, column_factors)
            if not ((factors > 0.0) & (factors < np.inf)).all():
                raise CobayesError(
                    "some likelihoods are too small for floating point.",
                    "make the smallest entries of the matrix larger, or replace them by zeros.",
                )
            self._response = Response(balanced, row_factors, column_factors)

    def respond(
        self,
        log_belief: NDArray[np.float64],  # noqa: ARG002
        memory: NDArray[np.float64] | None = None,  # noqa: ARG002
    ) -> Response:
        """Return the same likelihood whatever the belief."""
        return self._response

    def workspace(self, beliefs: BeliefState) -> CompiledResponses | None:
        """Return compiled answers to beliefs; see `Rule.workspace`."""
        matrix = self._response.matrix
        if (
            self._response.row_factors is not None
            or not matrix.max() <= WIDEST_SPREAD * matrix.min()
        ):
            return None
        return CompiledResponses.starting(beliefs, matrix)
