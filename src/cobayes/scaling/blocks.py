"""What zeros do to a scaling: the blocks that rows and columns fall into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.distributions import aligned
from cobayes._output import freeze
from cobayes.model import MatrixLike, as_model
from cobayes.scaling.block_subsets import MAX_COLUMNS, subset_blocks
from cobayes.scaling.block_workspace import BlockWorkspace, block_workspace
from cobayes.scaling.problem import validated_sums

Status = Literal["exact", "limit", "infeasible"]


class Block(NamedTuple):
    """Rows and columns that are scaled together.

    Attributes
    ----------
    rows, columns : ndarray
        Positions.
    ratio : float
        Column sums over row sums; 1 in every block where the sums can be met.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    ratio: float


@dataclass(frozen=True, eq=False)
class ScalingBlocks:
    """The blocks of a non-negative matrix at given sums, from the highest ratio to the lowest.

    Attributes
    ----------
    blocks : tuple of Block
        Rows, columns and ratio. Rows and columns with the sum zero are in the block that they
        join in the limit of small sums; a column that no available row allows is in none.
    support : ndarray
        (n, m), which entries of the scaled matrix stay positive (before a column with the sum zero
        is multiplied by it).
    status : str
        "exact": the sums can be met and no positive entry vanishes. "limit": the sums can be met
        if some positive entries vanish. "infeasible": no matrix with these zeros has these sums.
    row_labels, column_labels : ndarray
        The component of every row and column, -1 for none. An entry survives if it is
        positive and its labels agree.
    """

    blocks: tuple[Block, ...]
    support: NDArray[np.bool_]
    status: Status
    row_labels: NDArray[np.int64]
    column_labels: NDArray[np.int64]

    def __post_init__(self) -> None:
        freeze(self)


def scaling_blocks(
    matrix: MatrixLike, row_sums: ArrayLike | None = None, column_sums: ArrayLike | None = None
) -> ScalingBlocks:
    """Split a matrix with zeros into the blocks of its scaling.

    Alternating normalisation of rows and columns always leads to conditional distributions.
    Where no matrix with these zeros has the given sums, rows and columns split into blocks:
    inside each, columns get their sums and rows the same multiple of theirs, the block's ratio.
    Entries outside of the blocks vanish, and so may some inside.

    Parameters
    ----------
    matrix
        Not negative, shape (n, m), no empty row or column.
    row_sums
        Not negative, shape (n,); ones by default. Zero: the datum is not available.
    column_sums
        Not negative, shape (m,); equal ones with the total of the row sums by default.

    Returns
    -------
    ScalingBlocks
        The blocks, the entries that survive, and whether the sums can be met.

    Examples
    --------
    >>> import cobayes as cb
    >>> b = cb.scaling_blocks([[1, 0], [1, 1], [0, 1]], column_sums=[2.7, 0.3])
    >>> [(list(rows), list(columns), round(ratio, 2)) for rows, columns, ratio in b.blocks]
    [([0, 1], [0], 1.35), ([2], [1], 0.3)]

    Notes
    -----
    The blocks are those of the most even row sums that the columns can give. Ratios that differ by
    less than 1e-11, relatively, count as equal.
    """
    model = as_model(matrix)
    rows, columns = validated_sums(
        model.shape,
        aligned(row_sums, model.data, "datum", "row_sums"),
        aligned(column_sums, model.hypotheses, "hypothesis", "column_sums"),
    )
    return describe_blocks(model.matrix > 0.0, rows, columns)


def blocks_of_pattern(pattern: NDArray[np.bool_]) -> BlockWorkspace:
    """Return memory for finding the blocks of one pattern at any sums."""
    return block_workspace(pattern, MAX_COLUMNS)


def find_blocks(
    work: BlockWorkspace, row_sums: NDArray[np.float64], column_sums: NDArray[np.float64]
) -> int:
    """Fill labels, masses and ratios of a workspace; return the number of components.

    Kernels call `subset_blocks` (up to `MAX_COLUMNS` columns) or `flow_blocks` themselves, with the
    same arguments.

    Parameters
    ----------
    work
        Made by `blocks_of_pattern`.
    row_sums, column_sums
        Not negative; the totals need not agree.
    """
    if len(column_sums) <= MAX_COLUMNS:
        return subset_blocks(work, row_sums, column_sums)
    # Compiled for those who have many hypotheses only.
    from cobayes.scaling.block_flows import flow_blocks

    return flow_blocks(work, row_sums, column_sums)


def describe_blocks(
    pattern: NDArray[np.bool_], row_sums: NDArray[np.float64], column_sums: NDArray[np.float64]
) -> ScalingBlocks:
    """Find the blocks of a pattern and say whether the sums can be met."""
    work = blocks_of_pattern(pattern)
    count = find_blocks(work, row_sums, column_sums)
    row_labels, column_labels = work.row_labels.copy(), work.column_labels.copy()
    support = pattern & (row_labels[:, None] == column_labels)
    blocks = []
    for block in np.unique(work.block_of[:count]):
        is_member = work.block_of[:count] == block
        rows = np.flatnonzero(is_member[row_labels] & (row_labels >= 0))
        columns = np.flatnonzero(is_member[column_labels] & (column_labels >= 0))
        ratio = float(column_sums[columns].sum() / row_sums[rows].sum())
        blocks.append(Block(rows, columns, ratio))
    is_placed = (column_labels >= 0) | (column_sums == 0.0)
    counts = (row_sums > 0.0)[:, None] & (column_sums > 0.0)
    if len(blocks) > 1 or not is_placed.all():
        status: Status = "infeasible"
    else:
        status = "exact" if (support >= (pattern & counts)).all() else "limit"
    return ScalingBlocks(tuple(blocks), support, status, row_labels, column_labels)
