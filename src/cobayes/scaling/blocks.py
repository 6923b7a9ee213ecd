"""Blocks: the groups of rows and columns into which zeros split a scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes import _core
from cobayes._input.labels import SUM_SLACK, aligned, shorten
from cobayes._input.tables import as_floats
from cobayes._output import freeze
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, as_model

Array = NDArray[np.float64]

Status = Literal["exact", "limit", "infeasible"]
STATUSES: tuple[Status, ...] = ("exact", "limit", "infeasible")


class Block(NamedTuple):
    """Rows and columns that are scaled together.

    Attributes
    ----------
    rows, columns : ndarray
        Positions.
    ratio : float
        Total of the column sums divided by that of the row sums; 1 if the sums are feasible.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    ratio: float


@dataclass(frozen=True, eq=False)
class ScalingBlocks:
    """The blocks of a non-negative matrix scaled to given sums, in order of decreasing ratio.

    Attributes
    ----------
    blocks : tuple of Block
        Rows, columns and the ratio of column to row sums. A row or column with the sum zero is in
        the block to which it would belong if its sum were very small. A column that is positive
        only in rows with the sum zero is in no block; nor is a row that is positive only in such
        columns.
    support : ndarray
        (n, m): which entries of the scaled matrix stay positive. In a block, rows and columns with
        the sum zero are treated as if their sum were very small.
    status : str
        "exact": a matrix with these sums exists and no positive entry vanishes. "limit": such a
        matrix exists, but some positive entries vanish. "infeasible": no matrix with these zeros
        has these sums.
    row_labels, column_labels : ndarray
        The component of every row and column, -1 for none. A positive entry stays positive if its
        row and column are in the same component; a block has one or more components.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.scaling_blocks([[1.0, 0.0], [1.0, 1.0]]).status
    'limit'
    """

    blocks: tuple[Block, ...]
    support: NDArray[np.bool_]
    status: Status
    row_labels: NDArray[np.int64]
    column_labels: NDArray[np.int64]

    __post_init__ = freeze

    def __repr__(self) -> str:
        rows, columns = self.support.shape
        ratios = ", ".join(f"{block.ratio:.4g}" for block in self.blocks)
        return f"ScalingBlocks({rows} x {columns}; {self.status}; ratios of blocks: {ratios})"


def scaling_blocks(
    matrix: MatrixLike, row_sums: ArrayLike | None = None, column_sums: ArrayLike | None = None
) -> ScalingBlocks:
    """Split a matrix with zeros into the blocks of its scaling.

    Rows and columns of the matrix are normalised in turn to the given sums; the blocks describe
    the limit. If no matrix with these zeros has the given sums, rows and columns split into
    several blocks. In a block the columns have the given sums, and the sum of each row is the given
    one multiplied by the block's ratio. Entries outside the blocks vanish, and so may some inside.

    Parameters
    ----------
    matrix
        Not negative, shape (n, m); every row and column has a positive entry.
    row_sums
        Not negative, shape (n,); ones by default. Zero: the datum is not available.
    column_sums
        Not negative, shape (m,); by default all equal, with the same total as the row sums.

    Returns
    -------
    ScalingBlocks
        The blocks, the entries that stay positive, and whether the sums can be met.

    Examples
    --------
    >>> import cobayes as cb
    >>> b = cb.scaling_blocks([[1, 0], [1, 1], [0, 1]], column_sums=[2.7, 0.3])
    >>> [(rows.tolist(), columns.tolist(), round(ratio, 2)) for rows, columns, ratio in b.blocks]
    [([0, 1], [0], 1.35), ([2], [1], 0.3)]

    Notes
    -----
    Of all row sums that these zeros and column sums allow, the limit has those whose ratios to the
    given row sums are most uniform. Ratios with a relative difference below 1e-11 are
    treated as equal.
    """
    model = as_model(matrix)
    rows, columns = validated_sums(
        model.shape,
        aligned(row_sums, model.data, "datum", "row_sums"),
        aligned(column_sums, model.hypotheses, "hypothesis", "column_sums"),
    )
    if rows.ndim > 1:
        found = f"the sums are a batch of shape {rows.shape[:-1]}; expected those of one problem."
        raise CobayesError(found, "call scaling_blocks once for each item of the batch.")
    return find_blocks(model.matrix, rows, columns)


def find_blocks(matrix: Array, row_sums: Array, column_sums: Array) -> ScalingBlocks:
    """Return the blocks of validated arrays; see `scaling_blocks`."""
    found = _core.scaling_blocks(matrix, row_sums, column_sums)
    row_labels, column_labels, block_of, count, status = found
    blocks = []
    for block in np.unique(block_of[:count]):
        is_member = block_of[:count] == block
        rows = np.flatnonzero(is_member[row_labels] & (row_labels >= 0))
        columns = np.flatnonzero(is_member[column_labels] & (column_labels >= 0))
        ratio = float(column_sums[columns].sum() / row_sums[rows].sum())
        blocks.append(Block(rows, columns, ratio))
    # Sorted again: the core's order ignores relative differences of ratios below 1e-11.
    blocks.sort(key=lambda block: -block.ratio)
    support = (matrix > 0.0) & (row_labels[:, None] == column_labels) & (column_labels >= 0)
    return ScalingBlocks(tuple(blocks), support, STATUSES[status], row_labels, column_labels)


def explain(
    blocks: ScalingBlocks,
    row_sums: Array,
    column_sums: Array,
    data: tuple[str, ...],
    hypotheses: tuple[str, ...],
    words: tuple[str, str] = ("its share of the column sums", "their share of the column sums"),
) -> str:
    """Return a sentence that says which data and hypotheses make the sums infeasible.

    Parameters
    ----------
    blocks
        The blocks at the infeasible sums.
    row_sums, column_sums
        The infeasible sums.
    data, hypotheses
        The labels.
    words
        Words for the share of the column sums, for one hypothesis and for several.
    """
    unplaced = np.flatnonzero((blocks.column_labels < 0) & (column_sums > 0.0))
    if len(unplaced):
        names = shorten([hypotheses[j] for j in unplaced], 6)
        return f"no datum that {names} allows has a positive row sum."
    lowest = blocks.blocks[-1]
    rows = lowest.rows[row_sums[lowest.rows] > 0.0]
    columns = lowest.columns
    share = column_sums[columns].sum() / column_sums.sum()
    needed = row_sums[rows].sum() / row_sums.sum()
    return (
        f"{shorten([data[i] for i in rows], 6)} {'is' if len(rows) == 1 else 'are'} possible under "
        f"{shorten([hypotheses[j] for j in columns], 6)} only; {words[len(columns) > 1]} is "
        f"{share:.3g}, but {needed:.3g} is needed."
    )


# If the totals of row and column sums have a relative difference of at most this, the difference is
# rounding error. The column sums are then not rescaled, so that exact sums stay exact.
EQUAL_TOTALS = 1e-14


def validated_sums(shape: tuple[int, ...], row_sums: Any, column_sums: Any) -> tuple[Array, Array]:
    """Return row and column sums with the same batch shape and equal totals.

    Parameters
    ----------
    shape
        The shape of the matrix, (..., n, m).
    row_sums, column_sums
        The user's arguments, or None.
    """
    n, m = shape[-2:]
    rows = as_sums(np.ones(n) if row_sums is None else row_sums, n, "row")
    _require_usable(rows, "row_sums")
    with np.errstate(over="ignore"):
        totals = rows.sum(axis=-1, keepdims=True)
    if not (totals > 0.0).all():
        raise CobayesError("the row sums are all zero.", "make at least one of them positive.")
    if not (totals < np.inf).all():
        raise CobayesError("row_sums add up to more than float64 can hold.", "rescale them.")
    if column_sums is None:
        columns = np.repeat(totals / m, m, axis=-1)
    else:
        columns = as_sums(column_sums, m, "column")
    _require_usable(columns, "column_sums")
    batch = common_batch(shape[:-2], rows, columns)
    with np.errstate(over="ignore"):
        own = columns.sum(axis=-1, keepdims=True)
    gap = np.abs(own / totals - 1.0)
    if gap.size and not gap.max() <= SUM_SLACK:
        worst = np.unravel_index(int(np.argmax(gap)), gap.shape)
        wanted = np.broadcast_to(totals, gap.shape)[worst]
        raise CobayesError(
            f"the row sums total {wanted:.6g}, the column sums "
            f"{np.broadcast_to(own, gap.shape)[worst]:.6g}; no matrix has both.",
            "make the totals equal; for a belief theta give the column sums n * theta.",
        )
    if gap.size and gap.max() > EQUAL_TOTALS:
        columns = np.where(gap > EQUAL_TOTALS, columns * (totals / own), columns)
    return (
        # Copies, so that the caller's arrays are neither changed nor made read-only.
        np.array(np.broadcast_to(rows, (*batch, n)), order="C"),
        np.array(np.broadcast_to(columns, (*batch, m)), order="C"),
    )


def common_batch(
    batch: tuple[int, ...], row_sums: Array | None, column_sums: Array | None
) -> tuple[int, ...]:
    """Return the common leading axes of the matrices and of the sums that were given."""
    own = [() if sums is None else sums.shape[:-1] for sums in (row_sums, column_sums)]
    try:
        return np.broadcast_shapes(batch, *own)
    except ValueError as error:
        raise CobayesError(
            f"the leading axes of the arguments do not match: matrix {batch}, row_sums {own[0]}, "
            f"column_sums {own[1]}.",
            "give all of them the same leading axes, or none.",
        ) from error


def as_sums(sums: Any, length: int, what: str) -> Array:
    """Return the sums of rows or columns as numbers, one for each row or column."""
    values = as_floats(sums, copy=False, name=f"{what}_sums")
    if values.ndim == 0 or values.shape[-1] != length:
        raise CobayesError(
            f"{what}_sums has shape {values.shape}; expected {length} numbers, one for each "
            f"{what} of the matrix."
        )
    return values


def _require_usable(sums: Array, name: str) -> None:
    """Raise an error unless sums are finite and not negative."""
    is_bad = ~((sums >= 0.0) & (sums < np.inf))
    if is_bad.any():
        position = tuple(np.argwhere(is_bad)[0].tolist())
        place = position[0] if len(position) == 1 else position
        raise CobayesError(
            f"{name} holds {sums[position]:g} at position {place}; expected finite numbers >= 0."
        )
