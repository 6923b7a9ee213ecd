"""The scaling problem: validated sums, and matrices brought within the range of float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.distributions import SUM_SLACK
from cobayes._input.tables import as_floats
from cobayes.errors import CobayesError
from cobayes.scaling.stopping import EQUAL_TOTALS, LARGEST, SMALLEST, TINY

Array = NDArray[np.float64]


def balance(matrix: Array) -> tuple[Array, Array | float, Array | float]:
    """Divide rows and columns by units that bring extreme entries near one.

    Returns
    -------
    balanced, row_units, column_units
        ``matrix == row_units[:, None] * balanced * column_units`` up to rounding; the matrix
        itself, and ones, where nothing is extreme. Units are powers of two, so that no digit of
        an entry is lost.
    """
    smallest, largest = matrix.min(), matrix.max()
    if smallest >= SMALLEST and largest <= LARGEST:
        return matrix, 1.0, 1.0
    is_zero = matrix == 0.0
    if smallest == 0.0 and largest <= LARGEST and matrix[~is_zero].min() >= SMALLEST:
        return matrix, 1.0, 1.0
    mantissas, exponents = np.frexp(matrix)
    rows = np.zeros(matrix.shape[0])
    columns = np.zeros(matrix.shape[1])
    # Zeros stay zeros: they count neither as smallest nor as largest entries.
    logs = np.where(is_zero, np.nan, exponents.astype(np.float64))
    for _ in range(4):
        rows += _middle(logs - rows[:, None] - columns, 1)
        columns += _middle(logs - rows[:, None] - columns, 0)
    shifts = exponents - rows[:, None] - columns
    balanced = np.ldexp(mantissas, np.clip(shifts, -4000, 4000).astype(np.int64))
    if (balanced[~is_zero] < TINY).any() or not balanced.max() < np.inf:
        raise CobayesError(
            "the entries of the matrix are too far apart for floating point, even after its rows "
            "and columns are rescaled.",
            "make the smallest entries larger, or replace them by zeros.",
        )
    with np.errstate(over="ignore"):
        return balanced, np.exp2(rows), np.exp2(columns)


def _middle(logs: Array, axis: int) -> Array:
    """Return the whole numbers halfway between smallest and largest along an axis."""
    return np.round((np.nanmax(logs, axis=axis) + np.nanmin(logs, axis=axis)) / 2.0)


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
    rows = _as_sums(np.ones(n) if row_sums is None else row_sums, n, "row_sums", "row")
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
        columns = _as_sums(column_sums, m, "column_sums", "column")
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
        # A copy: the caller's own array must neither change nor be frozen.
        np.array(np.broadcast_to(rows, (*batch, n)), order="C"),
        np.ascontiguousarray(np.broadcast_to(columns, (*batch, m))),
    )


def _as_sums(sums: Any, length: int, name: str, what: str) -> Array:
    values = as_floats(sums, copy=False, name=name)
    if values.ndim == 0 or values.shape[-1] != length:
        raise CobayesError(
            f"{name} has shape {values.shape}; expected {length} numbers, one for each {what} of "
            "the matrix."
        )
    return values


def _first(values: Array, chosen: NDArray[np.bool_]) -> str:
    position = tuple(int(k) for k in np.argwhere(chosen)[0])
    place = position[0] if len(position) == 1 else position
    return f"{values[position]:g} at position {place}"
