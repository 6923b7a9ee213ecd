"""BI: plain Bayesian inference, the paper's control."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cobayes.model import MatrixLike, Model
from cobayes.rules.base import Restricted, Rule
from cobayes.rules.beliefs import WIDEST_SPREAD, BeliefState
from cobayes.rules.response import Response
from cobayes.rules.responses import CompiledResponses
from cobayes.scaling.lanes import Lanes


class BI(Rule):
    """Plain Bayesian inference: the likelihood is the column-normalised matrix, always.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray or `Model`.

    Notes
    -----
    Section 2.2 of the paper.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.BI(model).update([0.5, 0.5], "sun").round(3)
    array([0.778, 0.222])
    """

    name: ClassVar[str] = "BI"
    is_factored: ClassVar[bool] = True
    closed_form: ClassVar[Literal["bi", "scbi"] | None] = "bi"

    def __init__(self, matrix: MatrixLike) -> None:
        super().__init__(matrix)
        likelihood = self.model.normalized()
        likelihood.flags.writeable = False
        # Where a likelihood is too small for float64 its logarithm is not.
        is_exact = np.array_equal(likelihood > 0.0, self.model.matrix > 0.0)
        self._response = Response(likelihood, logs=None if is_exact else self._logs())

    @property
    def depends_on_belief(self) -> bool:
        """No: the likelihood is the same at every belief."""
        return False

    def respond(
        self,
        log_belief: NDArray[np.float64],  # noqa: ARG002
        memory: NDArray[np.float64] | None = None,  # noqa: ARG002
    ) -> Response:
        """Return the same likelihood whatever the belief."""
        return self._response

    def _logs(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            logs = np.log(self.model.matrix)
        return logs - np.logaddexp.reduce(logs, axis=0)

    def _restricted(self, model: Model, prior: NDArray[np.float64]) -> Rule:
        """Return the literal likelihood over the available data; costs do not matter to it."""
        return _AvailableBI(self, model, prior)

    def workspace(self, beliefs: BeliefState) -> CompiledResponses | None:
        """Return compiled answers to beliefs; see `Rule.workspace`."""
        matrix = self._response.matrix
        smallest = matrix[matrix > 0.0].min()
        is_exact = self._response.logs is None
        if not is_exact or smallest < 1.0 / WIDEST_SPREAD:
            return None
        solver = None if beliefs.row_sums is None else AvailableSolver()
        return CompiledResponses.starting(beliefs, matrix, solver)


class _AvailableBI(Restricted):
    """The literal likelihood over some of the data: columns of the matrix, scaled."""

    name: ClassVar[str] = "BI over available data"
    is_factored: ClassVar[bool] = True

    @property
    def depends_on_belief(self) -> bool:
        """No: the likelihood is the same at every belief."""
        return False


class AvailableSolver:
    """Normalises the columns of the likelihood over the data that each belief has left."""

    def solve(self, beliefs: BeliefState, lanes: Lanes) -> None:
        """Fill in the factors: which data are available, and what the columns are divided by."""
        assert beliefs.row_sums is not None
        available = (beliefs.row_sums > 0.0).astype(np.float64)
        totals = np.einsum("ij,gil->gjl", lanes.matrix, available)
        lanes.row_scaling[:] = available
        lanes.factors[:] = np.where(totals > 0.0, 1.0 / np.where(totals > 0.0, totals, 1.0), 0.0)

    def keep(self, size: int, chosen: NDArray[np.intp]) -> AvailableSolver:  # noqa: ARG002
        """Return the solver for some of the beliefs: it remembers nothing."""
        return self
