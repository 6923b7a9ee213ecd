"""Blocks of a zero pattern with any number of hypotheses, by maximum flow.

Columns send their sums to rows of capacity ``ratio * row_sum``. If all arrives, the part is one
block. Otherwise the columns that still hold mass, with all that they reach, have a higher ratio and
split off. In a block, entries survive inside the strongly connected components of the residual
graph: a column may send more to any row that it allows, a row may give back what it has received.
Sets of rows and of columns are words of 64 bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes.scaling.block_workspace import LEFT_OVER, UNSEEN, WORD, attach
from cobayes.scaling.stopping import NEGLIGIBLE, TIE


class _Network(NamedTuple):
    """The flow and the residual graph.

    `sends` and `receives` have a bit for every flow that could be taken back, by row and by
    column. `rows` and `columns` are the part of the graph that a search may enter.
    """

    row_masks: np.ndarray
    column_masks: np.ndarray
    flow: np.ndarray
    receives: np.ndarray
    sends: np.ndarray
    supply: np.ndarray
    capacity: np.ndarray
    unsent: np.ndarray
    spare: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    seen_rows: np.ndarray
    seen_columns: np.ndarray
    row_parent: np.ndarray
    column_parent: np.ndarray
    queue: np.ndarray


@compiled(inline="always")
def _lowest(word):
    """Return the position of the lowest bit that is set."""
    position = 0
    for width in (32, 16, 8, 4, 2, 1):
        if word & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)) == np.uint64(0):
            word >>= np.uint64(width)
            position += width
    return position


@compiled(inline="always")
def _has(words, position):
    return words[position // WORD] >> np.uint64(position % WORD) & np.uint64(1) == np.uint64(1)


@compiled(inline="always")
def _put(words, position, value):
    bit = np.uint64(1) << np.uint64(position % WORD)
    if value:
        words[position // WORD] |= bit
    else:
        words[position // WORD] &= ~bit


@compiled(forceinline=False, inner=True)
def _make_network(work, masses):
    num_rows, num_columns = work.row_labels.shape[0], masses.shape[0]
    row_words, column_words = work.row_masks.shape[1], work.column_masks.shape[1]
    return _Network(
        work.row_masks,
        work.column_masks,
        np.zeros((num_rows, num_columns)),
        np.zeros((num_rows, row_words), np.uint64),
        np.zeros((num_columns, column_words), np.uint64),
        masses,
        np.zeros(num_rows),
        np.zeros(num_columns),
        np.zeros(num_rows),
        np.zeros(column_words, np.uint64),
        np.zeros(row_words, np.uint64),
        np.zeros(column_words, np.uint64),
        np.zeros(row_words, np.uint64),
        np.zeros(num_rows, np.int64),
        np.zeros(num_columns, np.int64),
        np.zeros(num_columns, np.int64),
    )


@compiled(forceinline=False, inner=True)
def _send(net, i, j, amount):
    """Change the flow from column j to row i, and what could be taken back of it.

    A flow counts if it is not small beside either of its ends: what is small beside both its column
    and its row is rounding, and what is small beside one of them cannot move the other.
    """
    net.flow[i, j] += amount
    counts = net.flow[i, j] > TIE * max(net.supply[j], net.capacity[i])
    _put(net.receives[i], j, counts)
    _put(net.sends[j], i, counts)


@compiled(forceinline=False, inner=True)
def _search(net, length, is_backward, stops_at_spare):
    """Mark what the columns in the queue reach; return how many rows could take more.

    Backward, the arcs are followed against their direction. The rows that were found are not
    expanded where `stops_at_spare`.
    """
    found = 0
    head = 0
    while head < length:
        j = net.queue[head]
        head += 1
        for word in range(net.rows.shape[0]):
            bits = net.sends[j, word] if is_backward else net.column_masks[j, word]
            bits &= net.rows[word] & ~net.seen_rows[word]
            net.seen_rows[word] |= bits
            while bits != np.uint64(0):
                i = word * WORD + _lowest(bits)
                bits &= bits - np.uint64(1)
                net.row_parent[i] = j
                if stops_at_spare and net.spare[i] > TIE * net.capacity[i]:
                    found += 1
                    continue
                for place in range(net.columns.shape[0]):
                    more = net.row_masks[i, place] if is_backward else net.receives[i, place]
                    more &= net.columns[place] & ~net.seen_columns[place]
                    net.seen_columns[place] |= more
                    while more != np.uint64(0):
                        k = place * WORD + _lowest(more)
                        more &= more - np.uint64(1)
                        net.column_parent[k] = i
                        net.queue[length] = k
                        length += 1
    return found


@compiled(forceinline=False, inner=True)
def _forget(net):
    for word in range(net.rows.shape[0]):
        net.seen_rows[word] = np.uint64(0)
    for place in range(net.columns.shape[0]):
        net.seen_columns[place] = np.uint64(0)


@compiled(forceinline=False, inner=True)
def _augment(net, last):
    """Send along the path that ends in a row; return how much."""
    amount = net.spare[last]
    i = last
    j = net.row_parent[i]
    while net.column_parent[j] >= 0:
        i = net.column_parent[j]
        amount = min(amount, net.flow[i, j])
        j = net.row_parent[i]
    amount = min(amount, net.unsent[j])
    if not amount > 0.0:
        return 0.0
    net.unsent[j] -= amount
    net.spare[last] -= amount
    i = last
    j = net.row_parent[i]
    while True:
        _send(net, i, j, amount)
        if net.column_parent[j] < 0:
            return amount
        i = net.column_parent[j]
        _send(net, i, j, -amount)
        j = net.row_parent[i]


@compiled(forceinline=False, inner=True)
def _maximise(net, rows, columns):
    """Send as much as possible inside a part; leaves marked what unsent mass could reach."""
    for j in columns:
        for word in range(net.rows.shape[0]):
            bits = net.column_masks[j, word] & net.rows[word]
            while bits != np.uint64(0) and net.unsent[j] > 0.0:
                i = word * WORD + _lowest(bits)
                bits &= bits - np.uint64(1)
                amount = min(net.unsent[j], net.spare[i])
                if amount > 0.0:
                    net.unsent[j] -= amount
                    net.spare[i] -= amount
                    _send(net, i, j, amount)
    while True:
        _forget(net)
        length = 0
        for j in columns:
            if net.unsent[j] > TIE * net.supply[j]:
                net.queue[length] = j
                net.column_parent[j] = -1
                _put(net.seen_columns, j, True)
                length += 1
        if _search(net, length, False, True) == 0:
            return
        sent = 0.0
        for i in rows:
            if _has(net.seen_rows, i) and net.spare[i] > TIE * net.capacity[i]:
                sent += _augment(net, i)
        if not sent > 0.0:
            return


@compiled(forceinline=False, inner=True)
def _enter(net, rows, columns, row_sums, ratio, kept):
    """Prepare a part: its capacities, and a share of the flow that is there already."""
    for word in range(net.rows.shape[0]):
        net.rows[word] = np.uint64(0)
    for place in range(net.columns.shape[0]):
        net.columns[place] = np.uint64(0)
    for j in columns:
        _put(net.columns, j, True)
        net.unsent[j] = net.supply[j]
    for i in rows:
        _put(net.rows, i, True)
        net.capacity[i] = ratio * row_sums[i]
        net.spare[i] = net.capacity[i]
        for j in columns:
            if net.flow[i, j] > 0.0:
                amount = min(kept * net.flow[i, j], net.spare[i], max(net.unsent[j], 0.0))
                net.flow[i, j] = 0.0
                net.unsent[j] -= amount
                net.spare[i] -= amount
                _send(net, i, j, amount)


@compiled(forceinline=False, inner=True)
def _count_reached(net, start):
    """Return how many columns of the part a column could hand mass to."""
    _forget(net)
    net.queue[0] = start
    _put(net.seen_columns, start, True)
    _search(net, 1, False, False)
    count = 0
    for place in range(net.columns.shape[0]):
        word = net.seen_columns[place]
        while word != np.uint64(0):
            word &= word - np.uint64(1)
            count += 1
    return count


@compiled(forceinline=False, inner=True)
def _label_components(net, work, rows, columns, count):
    """Label the strongly connected components of a part that have rows; return the next label."""
    first = count
    ahead_rows, ahead_columns = net.seen_rows.copy(), net.seen_columns.copy()
    for start in columns:
        if not _has(net.columns, start):
            continue
        for is_backward in (False, True):
            _forget(net)
            net.queue[0] = start
            _put(net.seen_columns, start, True)
            _search(net, 1, is_backward, False)
            if not is_backward:
                ahead_rows, ahead_columns = net.seen_rows.copy(), net.seen_columns.copy()
        has_rows = False
        for i in rows:
            if _has(ahead_rows, i) and _has(net.seen_rows, i):
                work.row_labels[i] = count
                _put(net.rows, i, False)
                has_rows = True
        for j in columns:
            if _has(ahead_columns, j) and _has(net.seen_columns, j):
                work.column_labels[j] = count if has_rows else UNSEEN
                _put(net.columns, j, False)
        count += 1 if has_rows else 0
    for i in rows:
        _put(net.rows, i, True)
    for j in columns:
        _put(net.columns, j, True)
    is_counted = np.zeros(count - first, np.bool_)
    for j in columns:
        label = work.column_labels[j]
        if count - first > 1 and label >= first and not is_counted[label - first]:
            is_counted[label - first] = True
            work.num_reached[label] = _count_reached(net, j)
    return count


@compiled(forceinline=False, inner=True)
def _split_part(net, row_parts, column_parts, rows, columns, part):
    """Move what unsent mass reaches into a part of its own; return whether anything is left."""
    for j in columns:
        # A column all of whose rows split off splits off with them.
        is_left = False
        for word in range(net.rows.shape[0]):
            if net.column_masks[j, word] & net.rows[word] & ~net.seen_rows[word] != np.uint64(0):
                is_left = True
                break
        if not is_left:
            _put(net.seen_columns, j, True)
    num_left = 0
    for i in rows:
        if not _has(net.seen_rows, i):
            num_left += 1
    if num_left == 0:
        return False
    for i in rows:
        if _has(net.seen_rows, i):
            row_parts[i] = part
    for j in columns:
        if _has(net.seen_columns, j):
            column_parts[j] = part
    # Flows from the rest into these rows are rounding: they drop out with the arcs.
    for i in rows:
        for j in columns:
            if row_parts[i] != column_parts[j] and net.flow[i, j] > 0.0:
                _send(net, i, j, -net.flow[i, j])
    return True


@compiled(forceinline=False, inner=True)
def _members(parts, part):
    count = 0
    for node in range(parts.shape[0]):
        count += 1 if parts[node] == part else 0
    members = np.empty(count, np.int64)
    count = 0
    for node in range(parts.shape[0]):
        if parts[node] == part:
            members[count] = node
            count += 1
    return members


@compiled(forceinline=False, inner=True)
def _decompose(net, work, row_sums, row_parts, column_parts, count, num_blocks):
    """Find the blocks of part 0 from the highest ratio to the lowest; return both counts."""
    num_parts = 1
    # Parts wait in the order of their ratios, the highest on top.
    stack = np.zeros(column_parts.shape[0] + 1, np.int64)
    ratios = np.zeros(column_parts.shape[0] + 1)
    height = 1
    while height > 0:
        part = stack[height - 1]
        rows, columns = _members(row_parts, part), _members(column_parts, part)
        if columns.shape[0] == 0 or rows.shape[0] == 0:
            height -= 1
            continue
        total, row_total = 0.0, 0.0
        for j in columns:
            total += net.supply[j]
        for i in rows:
            row_total += row_sums[i]
        ratio = total / row_total
        kept = min(1.0, ratio / ratios[part]) if ratios[part] > 0.0 else 1.0
        _enter(net, rows, columns, row_sums, ratio, kept)
        _maximise(net, rows, columns)
        unsent = 0.0
        for j in columns:
            unsent += max(net.unsent[j], 0.0)
        if unsent > TIE * total and _split_part(
            net, row_parts, column_parts, rows, columns, num_parts
        ):
            ratios[part] = ratio
            ratios[num_parts] = ratio
            stack[height] = num_parts
            height += 1
            num_parts += 1
            continue
        first = count
        count = _label_components(net, work, rows, columns, count)
        for label in range(first, count):
            work.block_of[label] = num_blocks
        for i in rows:
            if work.row_labels[i] < 0:
                work.row_labels[i] = LEFT_OVER
        num_blocks += 1
        height -= 1
    return count, num_blocks


@compiled(forceinline=False)
def flow_blocks(work, row_sums, column_sums):
    """Label the components of a pattern; see `blocks.find_blocks`."""
    num_rows, num_columns = work.row_labels.shape[0], work.column_labels.shape[0]
    masses = work.masses
    row_parts = np.full(num_rows, -1)
    column_parts = np.full(num_columns, -1)
    total = 0.0
    for j in range(num_columns):
        total += column_sums[j]
        work.column_labels[j] = UNSEEN
    for j in range(num_columns):
        is_believed = column_sums[j] > NEGLIGIBLE * total
        masses[j] = column_sums[j] if is_believed else 0.0
    for i in range(num_rows):
        work.row_labels[i] = UNSEEN
        if row_sums[i] > 0.0:
            for j in range(num_columns):
                if masses[j] > 0.0 and _has(work.row_masks[i], j):
                    row_parts[i] = 0
                    column_parts[j] = 0
    net = _make_network(work, masses)
    count, num_blocks = _decompose(net, work, row_sums, row_parts, column_parts, 0, 0)
    # Rows that nothing believed allows: shared out evenly among the other columns.
    any_left = False
    for i in range(num_rows):
        is_left = row_sums[i] > 0.0 and row_parts[i] < 0
        row_parts[i] = -1
        if is_left:
            any_left = True
            row_parts[i] = 0
            for j in range(num_columns):
                if _has(work.row_masks[i], j):
                    masses[j] = 1.0
    if any_left:
        for j in range(num_columns):
            is_new = column_parts[j] < 0 and work.column_labels[j] < 0 and masses[j] == 1.0
            column_parts[j] = 0 if is_new and not column_sums[j] > NEGLIGIBLE * total else -1
        net = _make_network(work, masses)
        count, num_blocks = _decompose(
            net, work, row_sums, row_parts, column_parts, count, num_blocks
        )
    attach(work, row_sums, count)
    return count
