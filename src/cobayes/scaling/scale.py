"""`scale`: Sinkhorn scaling with a measured residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes import _core
from cobayes._input.distributions import aligned
from cobayes._input.labels import make_labels
from cobayes._input.tables import as_floats, require_entries, unpack
from cobayes._input.validation import number_between, whole_number
from cobayes._output import freeze
from cobayes._parallel import num_threads
from cobayes.errors import CobayesError, ConvergenceError, InfeasibleError, import_optional
from cobayes.model import MatrixLike
from cobayes.scaling.blocks import STATUSES, explain, find_blocks
from cobayes.scaling.sums import validated_sums

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
    ScalingResult(2 x 2; converged; residual 0.0e+00; 3 iterations)
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


def scale(
    matrix: MatrixLike,
    row_sums: ArrayLike | None = None,
    column_sums: ArrayLike | None = None,
    *,
    tolerance: float = 1e-12,
    max_iterations: int = 100_000,
    on_failure: Literal["raise", "return"] = "raise",
) -> ScalingResult:
    """Scale a non-negative matrix to given row and column sums (Sinkhorn scaling).

    Finds the one matrix of the form ``diag(row_scaling) @ matrix @ diag(column_scaling)`` that
    has these sums: by Newton's method for few columns, by accelerated sweeps for more. Zeros may
    make some positive entries vanish, or make the sums impossible: see the result's ``status``
    and `scaling_blocks`.

    Parameters
    ----------
    matrix
        Not negative, no empty row or column, shape (..., n, m); leading axes are a batch.
    row_sums
        Not negative, shape (..., n); ones by default. A row with sum zero comes out as zeros.
    column_sums
        Not negative, shape (..., m); equal ones with the total of the row sums by default. A
        column with sum zero comes out as zeros. Totals that differ by at most 1e-3 count as
        rounded: the column sums are rescaled.
    tolerance
        For the relative error of every sum, and for the estimated relative error of every
        entry.
    max_iterations
        Most sweeps and Newton steps together.
    on_failure
        "raise" a `ConvergenceError` (an `InfeasibleError` where zeros make the sums impossible), or
        "return" the result as far as it got: for infeasible sums the limit of alternating
        normalisation that meets the column sums.

    Returns
    -------
    ScalingResult
        The scaled matrix, the scalings, the measured residual.

    Examples
    --------
    >>> import cobayes as cb
    >>> s = cb.scale([[1, 2], [3, 1]], column_sums=[0.5, 1.5])
    >>> s.matrix.sum(axis=1).round(6), s.matrix.sum(axis=0).round(6), s.status
    (array([1., 1.]), array([0.5, 1.5]), 'exact')

    Notes
    -----
    The ``(r, c)``-Sinkhorn scaling of Section 2.1; ``scale(M, column_sums=n * theta)`` is the
    paper's ``M^<n theta>``. Cross-ratios of the matrix are preserved.
    """
    number_between(tolerance, "tolerance", 0.0, 1.0, hint="1e-12 is the default.")
    whole_number(max_iterations, "max_iterations", 1)
    if on_failure not in ("raise", "return"):
        raise CobayesError(f"on_failure is {on_failure!r}; expected 'raise' or 'return'.")
    values, data, hypotheses = unpack(matrix)
    array = _as_float_array(values)
    n, m = array.shape[-2:]
    if array.ndim == 2:
        data = None if data is None else make_labels(data, n, "datum")
        hypotheses = None if hypotheses is None else make_labels(hypotheses, m, "hypothesis")
    _require_entries(array, data, hypotheses)
    rows, columns = validated_sums(
        array.shape,
        row_sums if data is None else aligned(row_sums, data, "datum", "row_sums"),
        column_sums
        if hypotheses is None
        else aligned(column_sums, hypotheses, "hypothesis", "column_sums"),
    )
    batch = rows.shape[:-1]
    is_one_table = array.ndim == 2 and (row_sums is None or np.ndim(row_sums) <= 1 or not batch)
    tables = array if array.ndim == 2 else np.broadcast_to(array, (*batch, n, m))
    found, row_scaling, factors, targets, errors, residuals, iterations, codes = _core.scale(
        np.ascontiguousarray(tables).reshape(-1, n, m),
        rows.reshape(-1, n)[:1] if is_one_table else rows.reshape(-1, n),
        columns.reshape(-1, m),
        tolerance=tolerance,
        max_iterations=min(max_iterations, 2**30),
        num_threads=num_threads(),
    )
    if (codes == 3).any():
        raise CobayesError(
            "the entries of the matrix are too far apart for floating point, even after its rows "
            "and columns are rescaled.",
            "make the smallest entries larger, or replace them by zeros.",
        )
    is_converged = (residuals <= tolerance) & (errors <= tolerance)
    status = np.array([STATUSES[code] for code in codes.tolist()], dtype=object)
    result = ScalingResult(
        matrix=found.reshape(*batch, n, m),
        row_scaling=row_scaling.reshape(*batch, n),
        column_scaling=factors.reshape(*batch, m) * columns,
        row_sums=targets.reshape(*batch, n),
        column_sums=columns,
        residual=residuals.reshape(batch) if batch else float(residuals[0]),
        num_iterations=iterations.reshape(batch) if batch else int(iterations[0]),
        is_converged=is_converged.reshape(batch) if batch else bool(is_converged[0]),
        error=errors.reshape(batch) if batch else float(errors[0]),
        factors=factors.reshape(*batch, m),
        status=status.reshape(batch) if batch else status[0],
        data=data,
        hypotheses=hypotheses,
    )
    if on_failure == "raise":
        if (codes == 2).any():
            place = int(np.argmax(codes == 2))
            item = tuple(int(k) for k in np.unravel_index(place, batch)) if batch else ()
            raise _infeasible_error(tables[item] if array.ndim > 2 else array, rows, result, item)
        if not is_converged.all():
            raise _convergence_error(result, tolerance, max_iterations)
    return result


def _infeasible_error(table: Array, asked: Array, result: ScalingResult, item: tuple[int, ...]):
    """Return the error about sums that zeros make impossible, for the first item concerned."""
    n, m = table.shape
    rows, columns = asked[item], result.column_sums[item]
    text = explain(
        find_blocks(np.ascontiguousarray(table), rows, columns),
        rows,
        columns,
        result.data or make_labels(None, n, "datum"),
        result.hypotheses or make_labels(None, m, "hypothesis"),
    )
    place = f"item ({', '.join(map(str, item))}) of the batch: " if item else ""
    return InfeasibleError(
        f"{place}no matrix with these zeros has these sums: {text}",
        "change the sums, fill in zeros that are not meant, or pass on_failure='return' for the "
        "limit that meets the column sums.",
        result,
    )


def _convergence_error(result: ScalingResult, tolerance: float, max_iterations: int):
    missed = int(np.sum(~np.asarray(result.is_converged)))
    where = "the scaling" if np.ndim(result.residual) == 0 else f"{missed} scalings of the batch"
    count = int(np.max(result.num_iterations))
    if count >= max_iterations:
        hint = f"raise max_iterations above {max_iterations}, or pass on_failure='return'."
    else:
        worst = float(max(np.max(result.error), np.max(result.residual)))
        hint = f"{accuracy_hint(worst, 1.0, 'a')} on_failure='return' returns what was reached."
    return ConvergenceError(
        f"{where} did not converge to {tolerance:g}: after {count} iterations the residual is "
        f"{np.max(result.residual):.2g} and the estimated error {np.max(result.error):.2g}.",
        hint,
        result,
    )


def _as_float_array(values) -> Array:
    array = as_floats(values, copy=False)
    if np.ndim(values) < 2 or array.shape[-1] == 0 or array.shape[-2] == 0:
        raise CobayesError(
            f"the matrix has shape {np.shape(values)}; expected (..., n, m), data by hypotheses."
        )
    return array


def _require_entries(array: Array, data, hypotheses) -> None:
    """Raise an error that says what is wrong with the entries."""
    if array.min(initial=np.inf) > 0.0 and array.max(initial=0.0) < np.inf:
        return
    for item in np.ndindex(array.shape[:-2]):
        try:
            require_entries(
                array[item],
                data or make_labels(None, array.shape[-2], "datum"),
                hypotheses or make_labels(None, array.shape[-1], "hypothesis"),
            )
        except CobayesError as error:
            if not item:
                raise
            place = ", ".join(map(str, item))
            raise CobayesError(
                f"item ({place}) of the batch: {error.message}", error.hint
            ) from None


def accuracy_hint(error: float, loosest: float, use: str) -> str:
    """Return what to do about a scaling that missed its tolerance.

    Parameters
    ----------
    error
        The error that was reached.
    loosest
        A tolerance larger than this would not help.
    use
        How to pass a tolerance.
    """
    larger = "make the smallest entries of the matrix larger."
    if not error <= loosest:
        return f"float64 cannot hold these numbers: {larger}"
    return f"float64 gets no closer here: use {use} larger tolerance, or {larger}"
