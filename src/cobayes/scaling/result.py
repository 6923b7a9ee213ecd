"""What `scale` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._output import freeze
from cobayes.errors import CobayesError, import_optional

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ScalingResult:
    """A scaled matrix, its scalings and how well its sums were met.

    ``matrix == row_scaling[:, None] * original * column_scaling``, except for entries that vanish
    (status "limit" or "infeasible"). For a batch every attribute has the batch's leading axes.

    Attributes
    ----------
    matrix : ndarray
        The scaled matrix.
    row_scaling, column_scaling : ndarray
        The two diagonals. A column with sum zero has scaling zero.
    row_sums, column_sums : ndarray
        The sums that were scaled to: those asked for, their totals made equal. Where these are
        infeasible, the row sums are what the rows got.
    status : str or ndarray
        "exact": the sums are met and no positive entry vanishes. "limit": the sums are met and some
        positive entries vanish. "infeasible": no matrix with these zeros has these sums; the column
        sums are met, the row sums are as even as they can be.
    residual : float or ndarray
        The largest relative error of a row or column sum, measured on `matrix`.
    num_iterations : int or ndarray
        Sweeps and Newton steps together.
    is_converged : bool or ndarray
        Whether the residual and the estimated error of the scalings are within the tolerance.
    error : float or ndarray
        Estimated relative error of the scalings, from the measured rate of convergence or from
        the last Newton step.
    data, hypotheses : tuple of str or None
        The labels, where the input had some.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.scale([[1.0, 2.0], [3.0, 1.0]])
    ScalingResult(2 x 2; converged; residual 1.8e-13; 16 iterations)
    """

    matrix: Array
    row_scaling: Array
    column_scaling: Array
    row_sums: Array
    column_sums: Array
    residual: Any
    num_iterations: Any
    is_converged: Any
    error: Any
    factors: Array
    status: Any = "exact"
    data: tuple[str, ...] | None = None
    hypotheses: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        freeze(self)

    def to_dataframe(self) -> pd.DataFrame:
        """Return the scaled matrix as a DataFrame with the labels of the input."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        self._require_single("a DataFrame")
        return pandas.DataFrame(
            self.matrix.copy(),
            index=pandas.Index(self._labels(self.data, 0), name="datum"),
            columns=pandas.Index(self._labels(self.hypotheses, 1), name="hypothesis"),
        )

    def to_xarray(self) -> xr.DataArray:
        """Return the scaled matrix as a DataArray with the labels of the input."""
        xarray = import_optional("xarray", "labels", "a DataArray")
        leading = [f"batch_{axis}" for axis in range(self.matrix.ndim - 2)]
        return xarray.DataArray(
            self.matrix.copy(),
            dims=(*leading, "datum", "hypothesis"),
            coords={
                "datum": self._labels(self.data, -2),
                "hypothesis": self._labels(self.hypotheses, -1),
            },
        )

    def __repr__(self) -> str:
        if np.size(self.residual) == 0:
            return f"ScalingResult(an empty batch of shape {self.matrix.shape})"
        state = "converged" if np.all(self.is_converged) else "NOT converged"
        for status in ("limit", "infeasible"):
            state += f"; {status}" if np.any(np.asarray(self.status) == status) else ""
        shape = " x ".join(str(length) for length in self.matrix.shape)
        return (
            f"ScalingResult({shape}; {state}; residual {np.max(self.residual):.1e}; "
            f"{int(np.max(self.num_iterations))} iterations)"
        )

    def _labels(self, labels: tuple[str, ...] | None, axis: int) -> list[str]:
        if labels is not None:
            return list(labels)
        return [str(position) for position in range(self.matrix.shape[axis])]

    def _require_single(self, what: str) -> None:
        if self.matrix.ndim != 2:
            raise CobayesError(
                f"{what} holds one matrix; this result is a batch of shape {self.matrix.shape}.",
                "use .to_xarray().",
            )


def accuracy_hint(error: float, loosest: float, use: str) -> str:
    """Return what to do about a scaling that missed its tolerance.

    Parameters
    ----------
    error
        What was reached.
    loosest
        A tolerance larger than this would not help.
    use
        How to pass a tolerance.
    """
    larger = "make the smallest entries of the matrix larger."
    if not error <= loosest:
        return f"float64 cannot hold these numbers: {larger}"
    return f"float64 gets no closer here: use {use} larger tolerance, or {larger}"
