"""BI: plain Bayesian inference, the paper's control."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cobayes.model import MatrixLike
from cobayes.rules.base import Response, Rule
from cobayes.rules.beliefs import WIDEST_SPREAD, BeliefState
from cobayes.rules.responses import CompiledResponses


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
        if not matrix.max() <= WIDEST_SPREAD * matrix.min():
            return None
        return CompiledResponses.starting(beliefs, matrix)
