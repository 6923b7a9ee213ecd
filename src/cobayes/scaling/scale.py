"""`scale`: Sinkhorn scaling with a measured residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes import _core
from cobayes._input.labels import aligned, make_labels
from cobayes._input.tables import as_floats, require_entries, unpack
from cobayes._input.validation import number_between, one_of, whole_number
from cobayes._output import freeze
from cobayes._parallel import num_threads
from cobayes.errors import CobayesError, ConvergenceError, InfeasibleError, import_optional
from cobayes.model import MatrixLike
from cobayes.scaling.blocks import (
    STATUSES,
    as_sums,
    common_batch,
    explain,
    find_blocks,
    validated_sums,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]
Labels = tuple[str, ...] | None

# Status codes of the core; codes above 3 mean invalid input.
_INFEASIBLE, _OUT_OF_RANGE = 2, 3
_STATUSES = np.array(STATUSES, dtype=object)


@dataclass(frozen=True, eq=False, repr=False)
class ScalingResult:
    """A scaled matrix, its row and column factors, and the error of its sums.

    ``matrix == row_scaling[:, None] * original * column_scaling``, except for entries that vanish
    (status "limit" or "infeasible"). For a batch, all attributes except the labels have the batch's
    leading axes.

    Attributes
    ----------
    matrix : ndarray
        The scaled matrix.
    row_scaling, column_scaling : ndarray
        The factors of the rows and of the columns. A row or column with sum zero has the factor
        zero.
    row_sums, column_sums : ndarray
        The sums to which the matrix was scaled: the requested ones, with equal totals. If the
        requested sums are infeasible, `row_sums` are those of the limit of alternating
        normalisation.
    status : str or ndarray
        "exact": the matrix has the requested sums and no positive entry vanishes. "limit": it has
        the requested sums, but some positive entries vanish. "infeasible": no matrix with these
        zeros has these sums. The column sums of `matrix` are then the requested ones, but zero for
        a column that is positive only in rows with sum zero; the row sums have the most uniform
        possible ratios to the requested ones.
    residual : float or ndarray
        The largest relative error of a row or column sum, measured on `matrix`.
    num_iterations : int or ndarray
        Sweeps and Newton steps together.
    is_converged : bool or ndarray
        Whether `residual` and `error` are within the tolerance.
    error : float or ndarray
        Estimated relative error of the row and column factors, from the measured rate of
        convergence or from the last Newton step.
    factors : ndarray
        `column_scaling` divided by the column sums; also defined where a column sum is zero.
    data, hypotheses : tuple of str or None
        The labels, if the input had labels.

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
    data: Labels = None
    hypotheses: Labels = None

    __post_init__ = freeze

    def to_dataframe(self) -> pd.DataFrame:
        """Return the scaled matrix as a DataFrame with the labels of the input."""
        if self.matrix.ndim != 2:
            raise CobayesError(
                "a DataFrame holds one matrix; this result is a batch of shape "
                f"{self.matrix.shape}.",
                "use .to_xarray().",
            )
        return cast("pd.DataFrame", self.to_xarray().to_pandas())

    def to_xarray(self) -> xr.DataArray:
        """Return the scaled matrix as a DataArray with the labels of the input."""
        xarray = import_optional("xarray", "labels", "a DataArray")
        leading = [f"batch_{axis}" for axis in range(self.matrix.ndim - 2)]
        names = _labels(self.matrix.shape, self.data, self.hypotheses)
        return xarray.DataArray(
            self.matrix.copy(),
            dims=(*leading, "datum", "hypothesis"),
            coords={"datum": list(names[0]), "hypothesis": list(names[1])},
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

    Finds the unique matrix of the form ``diag(row_scaling) @ matrix @ diag(column_scaling)`` that
    has these sums: by Newton's method for few columns, by accelerated sweeps for more. With zeros,
    some positive entries may vanish, or the sums may be impossible: see the result's ``status`` and
    `scaling_blocks`.

    Parameters
    ----------
    matrix
        Not negative, shape (..., n, m); leading axes are a batch. Every row and column has a
        positive entry.
    row_sums
        Not negative, shape (..., n); ones by default. A row with sum zero becomes zero.
    column_sums
        Not negative, shape (..., m); by default all equal, with the same total as the row sums. A
        column with sum zero becomes zero. A relative difference of the totals of at most 1e-3 is
        attributed to rounding, and the column sums are rescaled.
    tolerance
        Bound for the measured relative error of every sum, and for the estimated relative error of
        the scaling factors. The relative error of an entry may be three times as large.
    max_iterations
        The largest number of sweeps and Newton steps together. Where zeros split the matrix into
        components, the limit applies to each component.
    on_failure
        "raise" a `ConvergenceError` (an `InfeasibleError` if zeros make the sums impossible), or
        "return" the result that was reached; for infeasible sums this is the limit of alternating
        normalisation, see `InfeasibleError`.

    Returns
    -------
    ScalingResult
        The scaled matrix, the factors of rows and columns, and the measured residual.

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
    one_of(on_failure, "on_failure", ("raise", "return"))
    values, data, hypotheses = unpack(matrix)
    array = as_floats(values, copy=False)
    if array.ndim < 2 or array.shape[-1] == 0 or array.shape[-2] == 0:
        raise CobayesError(
            f"the matrix has shape {array.shape}; expected (..., n, m), data by hypotheses."
        )
    n, m = array.shape[-2:]
    if data is not None:
        data = make_labels(data, n, "datum")
        row_sums = aligned(row_sums, data, "datum", "row_sums")
    if hypotheses is not None:
        hypotheses = make_labels(hypotheses, m, "hypothesis")
        column_sums = aligned(column_sums, hypotheses, "hypothesis", "column_sums")
    rows = None if row_sums is None else as_sums(row_sums, n, "row")
    columns = None if column_sums is None else as_sums(column_sums, m, "column")
    batch = array.shape[:-2]
    if (rows is not None and rows.ndim > 1) or (columns is not None and columns.ndim > 1):
        batch = common_batch(batch, rows, columns)
    *found, report = _core.scale(
        _flat(array, 2, batch),
        None if rows is None else _flat(rows, 1, batch),
        None if columns is None else _flat(columns, 1, batch),
        tolerance=tolerance,
        max_iterations=min(max_iterations, 2**30),
        num_threads=num_threads() if batch else 1,
    )
    if batch:
        found = [values.reshape(*batch, *values.shape[1:]) for values in found]
        errors, residuals, iterations, codes = report.T.reshape(4, *batch)
        worst = codes.max(initial=0.0)
    else:
        found = [values[0] for values in found]
        errors, residuals, iterations, codes = report[0].tolist()
        worst = codes
    if worst >= _OUT_OF_RANGE:
        raise _explained(array, data, hypotheses, row_sums, column_sums)
    is_converged = (residuals <= tolerance) & (errors <= tolerance)
    scaled, row_scaling, column_scaling, factors, own_rows, own_columns = found
    result = ScalingResult(
        matrix=scaled,
        row_scaling=row_scaling,
        column_scaling=column_scaling,
        row_sums=own_rows,
        column_sums=own_columns,
        residual=residuals,
        num_iterations=iterations.astype(np.int64) if batch else int(iterations),
        is_converged=is_converged,
        error=errors,
        factors=factors,
        status=_STATUSES[codes.astype(np.int64)] if batch else STATUSES[int(codes)],
        data=data,
        hypotheses=hypotheses,
    )
    if on_failure == "raise":
        if worst == _INFEASIBLE:
            raise _infeasible_error(array, row_sums, column_sums, result)
        if not (is_converged.all() if batch else is_converged):
            raise _convergence_error(result, tolerance, max_iterations)
    return result


def _flat(values: Array, num_axes: int, batch: tuple[int, ...]) -> Array:
    """Return tables or sums with one leading axis, of length one if the batch shares them."""
    if values.ndim == num_axes and 0 not in batch:
        return values[None]
    own = values.shape[-num_axes:]
    return np.ascontiguousarray(np.broadcast_to(values, (*batch, *own))).reshape(-1, *own)


def _labels(shape: tuple[int, ...], data: Labels, hypotheses: Labels) -> tuple[Any, Any]:
    """Return the labels of data and hypotheses; without labels, their positions."""
    n, m = shape[-2:]
    return data or make_labels(None, n, "datum"), hypotheses or make_labels(None, m, "hypothesis")


def _place(item: tuple[int, ...]) -> str:
    """Return the beginning of a sentence that names the position of an item in its batch."""
    return f"item ({', '.join(map(str, item))}) of the batch: " if item else ""


def _explained(
    array: Array, data: Labels, hypotheses: Labels, row_sums: Any, column_sums: Any
) -> CobayesError:
    """Return the error that says why the core refused a table or its sums."""
    for item in np.ndindex(array.shape[:-2]):
        try:
            require_entries(array[item], *_labels(array.shape, data, hypotheses))
        except CobayesError as error:
            return CobayesError(f"{_place(item)}{error.message}", error.hint)
    validated_sums(array.shape, row_sums, column_sums)
    return CobayesError(
        "the entries of the matrix are too far apart for floating point, even after its rows "
        "and columns are rescaled.",
        "make the smallest entries larger, or replace them by zeros.",
    )


def _infeasible_error(
    array: Array, row_sums: Any, column_sums: Any, result: ScalingResult
) -> InfeasibleError:
    """Return the error about infeasible sums, for the first such item of the batch."""
    item = tuple(np.argwhere(np.asarray(result.status) == "infeasible")[0].tolist())
    rows, columns = validated_sums(array.shape, row_sums, column_sums)
    table = np.ascontiguousarray(np.broadcast_to(array, result.matrix.shape)[item])
    text = explain(
        find_blocks(table, rows[item], columns[item]),
        rows[item],
        columns[item],
        *_labels(array.shape, result.data, result.hypotheses),
    )
    return InfeasibleError(
        f"{_place(item)}no matrix with these zeros has these sums: {text}",
        "change the sums, replace zeros that are not intended, or pass on_failure='return' for the "
        "limit of alternating normalisation.",
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
        hint = f"{accuracy_hint(worst, 1.0, 'a')} on_failure='return' returns the last iterate."
    return ConvergenceError(
        f"{where} did not converge to {tolerance:g}: after {count} iterations the residual is "
        f"{np.max(result.residual):.2g} and the estimated error {np.max(result.error):.2g}.",
        hint,
        result,
    )


def accuracy_hint(error: float, loosest: float, use: str) -> str:
    """Return what to do about a scaling whose error is above the tolerance.

    Parameters
    ----------
    error
        The error that was reached.
    loosest
        The largest tolerance that has an effect.
    use
        The text between "use" and "larger tolerance" in the hint: "a", or for example
        "SCBI(matrix, tolerance=...) with a".
    """
    larger = "make the smallest entries of the matrix and of the data prior (row sums) larger."
    if not error <= loosest:
        return f"float64 cannot hold these numbers: {larger}"
    return f"float64 gets no closer here: use {use} larger tolerance, or {larger}"
