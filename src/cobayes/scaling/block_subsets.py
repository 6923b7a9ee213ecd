"""Blocks of a zero pattern with few hypotheses, by looking at every set of hypotheses.

The columns of the first block are the set J with the largest ratio ``c(J) / r(N(J))``, where N(J)
are the rows that J allows. A set whose ratio equals its block's is tight: it fills its rows alone,
so entries of other columns in these rows vanish. Columns that no tight set separates form a
component.
"""

from __future__ import annotations

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes.scaling.block_workspace import LEFT_OVER, UNSEEN, attach
from cobayes.scaling.stopping import NEGLIGIBLE, TIE

# With more columns than this, flows are faster than a table of all sets.
MAX_COLUMNS = 8


@compiled(inline="always")
def _fill_set_sums(masks, row_labels, row_sums, masses, columns, tables):
    """Fill, for every set of columns, its mass and the row sums that it touches.

    ``tables[0]`` gets c(J), ``tables[1]`` gets r(N(J)), ``tables[2]`` the row sums that J does not
    touch. Nothing is subtracted, so small row sums are as accurate as large ones.
    """
    num_sets = tables.shape[1]
    num_columns = masses.shape[0]
    for k in range(num_sets):
        tables[0, k] = 0.0
        tables[1, k] = 0.0
        tables[2, k] = 0.0
    for i in range(masks.shape[0]):
        if row_labels[i] == UNSEEN and row_sums[i] > 0.0:
            touched = np.int64(masks[i, 0]) & columns
            if touched != 0:
                tables[2, touched] += row_sums[i]
    for j in range(num_columns):
        bit = 1 << j
        for k in range(num_sets):
            if k & bit == 0:
                touched_0, touched_1 = tables[1, k], tables[1, k | bit]
                free_0, free_1 = tables[2, k], tables[2, k | bit]
                tables[1, k] = touched_0 + touched_1
                tables[1, k | bit] = touched_0 + touched_1 + free_1
                tables[2, k] = free_0 + free_1
                tables[2, k | bit] = free_0
        for k in range(bit):
            tables[0, k | bit] = tables[0, k] + masses[j]


@compiled(inline="always")
def _largest_ratio(columns, tables):
    """Return the set of columns with the largest ratio; of several, their union."""
    best = 0.0
    for k in range(1, tables.shape[1]):
        if k & ~columns == 0 and tables[0, k] > best * tables[1, k]:
            best = tables[0, k] / tables[1, k]
    union = 0
    for k in range(1, tables.shape[1]):
        if k & ~columns == 0 and tables[0, k] >= best * (1.0 - TIE) * tables[1, k]:
            union |= k
    return union


@compiled(inline="always")
def _label_block(work, block, row_sums, count):
    """Label the components of one block; return the next free label.

    A component needs rows. Columns without any are left unlabelled, to be attached later.
    """
    masks, tables, reach = work.row_masks, work.tables, work.reach
    row_labels, column_labels = work.row_labels, work.column_labels
    num_columns = column_labels.shape[0]
    ratio = tables[0, block] / tables[1, block]
    for j in range(num_columns):
        reach[j] = 0
        if block >> j & 1:
            reach[j] = block
    for k in range(1, tables.shape[1]):
        if k & ~block == 0 and abs(tables[0, k] - ratio * tables[1, k]) <= TIE * tables[0, k]:
            for j in range(num_columns):
                if k >> j & 1:
                    reach[j] &= k
    for i in range(masks.shape[0]):
        allowed = np.int64(masks[i, 0]) & block
        if row_labels[i] != UNSEEN or allowed == 0 or not row_sums[i] > 0.0:
            continue
        common = block
        for j in range(num_columns):
            if allowed >> j & 1:
                common &= reach[j]
        for j in range(num_columns):
            if allowed >> j & 1 and reach[j] == common:
                if column_labels[j] < 0:
                    for other in range(num_columns):
                        if block >> other & 1 and reach[other] == common:
                            column_labels[other] = count
                    count += 1
                row_labels[i] = column_labels[j]
                break
    return count


@compiled()
def subset_blocks(work, row_sums, column_sums):
    """Label the components of a pattern with at most eight columns; see `blocks.find_blocks`."""
    masks, tables, reach = work.row_masks, work.tables, work.reach
    row_labels, column_labels, masses = work.row_labels, work.column_labels, work.masses
    num_rows, num_columns = row_labels.shape[0], column_labels.shape[0]
    total = 0.0
    available = 0
    for i in range(num_rows):
        row_labels[i] = UNSEEN
        if row_sums[i] > 0.0:
            available |= np.int64(masks[i, 0])
    for j in range(num_columns):
        column_labels[j] = UNSEEN
        total += column_sums[j]
    columns = 0
    for j in range(num_columns):
        masses[j] = 0.0
        if available >> j & 1 and column_sums[j] > NEGLIGIBLE * total:
            columns |= 1 << j
            masses[j] = column_sums[j]
    count = 0
    num_blocks = 0
    believed = columns
    for attempt in range(2):
        if attempt == 1:
            # Rows that nothing believed allows: shared out evenly among the other columns.
            left = 0
            for i in range(num_rows):
                if row_sums[i] > 0.0 and np.int64(masks[i, 0]) & believed == 0:
                    left |= np.int64(masks[i, 0])
            columns = left
            for j in range(num_columns):
                if left >> j & 1:
                    masses[j] = 1.0
        while columns != 0:
            _fill_set_sums(masks, row_labels, row_sums, masses, columns, tables)
            block = _largest_ratio(columns, tables)
            first = count
            count = _label_block(work, block, row_sums, count)
            for j in range(num_columns):
                if block >> j & 1 and column_labels[j] >= first:
                    size = 0
                    for other in range(num_columns):
                        size += reach[j] >> other & 1
                    work.num_reached[column_labels[j]] = size
            for label in range(first, count):
                work.block_of[label] = num_blocks
            # Rows of the block that no component took are out of reach of the later blocks.
            for i in range(num_rows):
                if row_labels[i] == UNSEEN and np.int64(masks[i, 0]) & block != 0:
                    row_labels[i] = LEFT_OVER
            columns &= ~block
            num_blocks += 1
    attach(work, row_sums, count)
    return count
