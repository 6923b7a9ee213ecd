"""BI: plain Bayesian inference, the paper's control."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.model import MatrixLike, Model
from cobayes.rules.base import Rule
from cobayes.rules.native import NativeRule


class BI(NativeRule):
    """Plain Bayesian inference: the likelihood is the column-normalised matrix, always.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray, `Model` or task.

    Notes
    -----
    Section 2.2 of the paper. Where a task makes some data unavailable, the likelihood is
    normalised over the available ones; finite costs do not matter to a literal teacher.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.BI(model).update([0.5, 0.5], "sun").round(3)
    array([0.778, 0.222])
    """

    name = "BI"

    def __init__(self, matrix: MatrixLike) -> None:
        super().__init__(matrix, None, 1e-12, kind="recursion")
        # A derived class with its own `respond` may depend on the belief.
        self.depends_on_belief = self.core is None

    def _restricted(self, model: Model, prior: NDArray[np.float64]) -> Rule:
        """Return the literal likelihood over the available data."""
        return _AvailableBI(model, prior)


class _AvailableBI(NativeRule):
    """The literal likelihood over some of the data."""

    name = "BI over available data"
    depends_on_belief = False

    def __init__(self, model: Model, prior: NDArray[np.float64]) -> None:
        available = prior > 0.0
        super().__init__(model, available / available.sum(), 1e-12, kind="recursion")

    def settings(self) -> dict[str, Any]:
        """Return the arguments beside the matrix that make the same rule again."""
        return {"prior": self.data_prior}
