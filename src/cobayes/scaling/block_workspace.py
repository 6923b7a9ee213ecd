"""What the search for blocks works with, and what is common to its two methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled

WORD = 64
# Labels of rows and columns that belong to no component (yet).
UNSEEN = -1
LEFT_OVER = -2


class BlockWorkspace(NamedTuple):
    """The pattern of a matrix, memory for the search, and its answer.

    Make it once per matrix and thread with `block_workspace`; the answer is overwritten by the
    next search.

    Attributes
    ----------
    row_masks, column_masks : ndarray
        The columns that a row allows, and the rows that a column allows, as bits.
    tables, reach, totals : ndarray
        Memory of the search.
    row_labels, column_labels : ndarray
        The components, numbered from 0; -1: none. Entry (i, j) survives if the labels agree and
        the matrix is positive there.
    block_of : ndarray
        The block of every component, numbered from the highest ratio to the lowest.
    num_reached : ndarray
        How many columns a component's columns could hand their mass to.
    masses : ndarray
        The column sums to scale to: as given, or even ones where only columns with the sum zero
        allow a row.
    ratios : ndarray
        Masses over row sums, by component: rows are to be scaled to their sums times this.
    """

    row_masks: NDArray[np.uint64]
    column_masks: NDArray[np.uint64]
    tables: NDArray[np.float64]
    reach: NDArray[np.int64]
    totals: NDArray[np.float64]
    row_labels: NDArray[np.int64]
    column_labels: NDArray[np.int64]
    block_of: NDArray[np.int64]
    num_reached: NDArray[np.int64]
    masses: NDArray[np.float64]
    ratios: NDArray[np.float64]


def block_workspace(
    row_masks: NDArray[np.uint64], column_masks: NDArray[np.uint64], max_table_columns: int
) -> BlockWorkspace:
    """Return memory for finding the blocks of one pattern at any sums.

    Parameters
    ----------
    row_masks, column_masks
        The pattern; see `as_words`.
    max_table_columns
        Up to so many columns there is a table of all their sets.
    """
    n, m = len(row_masks), len(column_masks)
    num_sets = 2**m if m <= max_table_columns else 1
    return BlockWorkspace(
        row_masks=row_masks,
        column_masks=column_masks,
        tables=np.zeros((3, num_sets)),
        reach=np.zeros(m, dtype=np.int64),
        totals=np.zeros(m),
        row_labels=np.zeros(n, dtype=np.int64),
        column_labels=np.zeros(m, dtype=np.int64),
        block_of=np.zeros(m, dtype=np.int64),
        num_reached=np.zeros(m, dtype=np.int64),
        masses=np.zeros(m),
        ratios=np.zeros(m),
    )


def as_words(pattern: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack every row into words of 64 bits, the first column in the lowest bit."""
    length = -(-pattern.shape[1] // WORD) * 8
    packed = np.packbits(pattern, axis=1, bitorder="little")
    words = np.zeros((len(pattern), length), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return words.view("<u8").astype(np.uint64)


def as_pattern(words: NDArray[np.uint64], length: int) -> NDArray[np.bool_]:
    """Undo `as_words`."""
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    return bits[:, :length].astype(bool)


@compiled()
def attach(work, row_sums, count):
    """Give nodes without a component of their own the one that they have in the limit.

    A column whose sum tends to zero spends it where rows are least loaded: in the block with the
    lowest ratio among its rows, and there in the component that could hand mass to most others. A
    row whose sum tends to zero is filled from the block with the highest ratio.
    """
    num_rows, num_columns = work.row_labels.shape[0], work.column_labels.shape[0]
    row_labels, column_labels = work.row_labels, work.column_labels
    one = np.uint64(1)
    for j in range(num_columns):
        if column_labels[j] >= 0:
            continue
        best = UNSEEN
        for i in range(num_rows):
            bit = work.column_masks[j, i // WORD] >> np.uint64(i % WORD) & one
            label = row_labels[i]
            if bit == one and label >= 0 and (best < 0 or _is_less_loaded(work, label, best)):
                best = label
        column_labels[j] = best
    for label in range(count):
        work.ratios[label] = 0.0
        work.totals[label] = 0.0
    for i in range(num_rows):
        if row_labels[i] < 0:
            best = UNSEEN
            for j in range(num_columns):
                bit = work.row_masks[i, j // WORD] >> np.uint64(j % WORD) & one
                label = column_labels[j]
                if bit == one and label >= 0 and (best < 0 or _is_less_loaded(work, best, label)):
                    best = label
            row_labels[i] = best
        if row_labels[i] >= 0:
            work.totals[row_labels[i]] += row_sums[i]
    for j in range(num_columns):
        if column_labels[j] >= 0:
            work.ratios[column_labels[j]] += work.masses[j]
    for label in range(count):
        work.ratios[label] /= work.totals[label]


@compiled(inline="always")
def _is_less_loaded(work, label, other):
    """Tell whether a column would rather send mass to the first component than to the second."""
    if work.block_of[label] != work.block_of[other]:
        return work.block_of[label] > work.block_of[other]
    if work.num_reached[label] != work.num_reached[other]:
        return work.num_reached[label] > work.num_reached[other]
    return label < other
