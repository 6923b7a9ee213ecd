"""Row and column sums of a scaling: checked, of one batch shape, with equal totals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.distributions import SUM_SLACK
from cobayes._input.tables import as_floats
from cobayes.errors import CobayesError

Array = NDArray[np.float64]

# Totals of row and column sums that differ by less than this are equal up to rounding: rescaling
# one kind would disturb sums that are exact.
EQUAL_TOTALS = 1e-14


def validated_sums(shape: tuple[int, ...], row_sums: Any, column_sums: Any) -> tuple[Array, Array]:
    """Return row and column sums, of one batch shape, whose totals agree.

    Parameters
    ----------
    shape
        Of the matrix, (..., n, m).
    row_sums, column_sums
        As the user gave them, or None.
    """
    n, m = shape[-2:]
    rows = as_sums(np.ones(n) if row_sums is None else row_sums, n, "row")
    is_bad = ~((rows >= 0.0) & (rows < np.inf))
    if is_bad.any():
        raise CobayesError(
            f"row_sums holds {_first(rows, is_bad)}; they must not be negative and must be finite."
        )
    with np.errstate(over="ignore"):
        totals = rows.sum(axis=-1, keepdims=True)
    if not (totals > 0.0).all():
        raise CobayesError("the row sums are all zero.", "at least one must be positive.")
    if not (totals < np.inf).all():
        raise CobayesError("row_sums add up to more than float64 can hold.", "rescale them.")
    if column_sums is None:
        columns = np.repeat(totals / m, m, axis=-1)
    else:
        columns = as_sums(column_sums, m, "column")
    is_bad = ~((columns >= 0.0) & (columns < np.inf))
    if is_bad.any():
        raise CobayesError(
            f"column_sums holds {_first(columns, is_bad)}; they must not be negative and must be "
            "finite."
        )
    try:
        batch = np.broadcast_shapes(shape[:-2], rows.shape[:-1], columns.shape[:-1])
    except ValueError as error:
        raise CobayesError(
            f"the batches do not fit: matrix {shape[:-2]}, row_sums {rows.shape[:-1]}, "
            f"column_sums {columns.shape[:-1]}."
        ) from error
    with np.errstate(over="ignore"):
        own = columns.sum(axis=-1, keepdims=True)
    gap = np.abs(own / totals - 1.0)
    if gap.size and not gap.max() <= SUM_SLACK:
        worst = np.unravel_index(int(np.argmax(gap)), gap.shape)
        wanted = np.broadcast_to(totals, gap.shape)[worst]
        raise CobayesError(
            f"the row sums total {wanted:.6g}, the column sums "
            f"{np.broadcast_to(own, gap.shape)[worst]:.6g}; no matrix has both.",
            "for a belief theta over hypotheses the column sums are n * theta.",
        )
    if gap.size and gap.max() > EQUAL_TOTALS:
        columns = np.where(gap > EQUAL_TOTALS, columns * (totals / own), columns)
    return (
        # Copies: the caller's own arrays must neither change nor be frozen.
        np.array(np.broadcast_to(rows, (*batch, n)), order="C"),
        np.array(np.broadcast_to(columns, (*batch, m)), order="C"),
    )


def as_sums(sums: Any, length: int, what: str) -> Array:
    """Return the sums of rows or columns as numbers, one for each row or column."""
    values = as_floats(sums, copy=False, name=f"{what}_sums")
    if values.ndim == 0 or values.shape[-1] != length:
        raise CobayesError(
            f"{what}_sums has shape {values.shape}; expected {length} numbers, one for each "
            f"{what} of the matrix."
        )
    return values


def _first(values: Array, chosen: NDArray[np.bool_]) -> str:
    position = tuple(int(k) for k in np.argwhere(chosen)[0])
    place = position[0] if len(position) == 1 else position
    return f"{values[position]:g} at position {place}"
