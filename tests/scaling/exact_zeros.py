"""A slow reference for matrices with zeros: blocks in exact fractions, scaling in sixty digits.

It has no code in common with the library. It finds blocks by trying every set of columns, and
surviving entries by a flow in fractions and a transitive closure.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import mpmath as mp
import numpy as np

from tests.scaling.high_precision import DIGITS, scaled_exactly


def exact_blocks(pattern, rows, columns):
    """Return (rows, columns, ratio) of every block, for sums given as fractions."""
    n, m = pattern.shape
    free_rows = {i for i in range(n) if rows[i] > 0}
    free_columns = [j for j in range(m) if columns[j] > 0]
    blocks = []
    while free_columns:
        best = None
        for size in range(1, len(free_columns) + 1):
            for chosen in combinations(free_columns, size):
                touched = {i for i in free_rows if any(pattern[i, j] for j in chosen)}
                ratio = sum(columns[j] for j in chosen) / sum(rows[i] for i in touched)
                if best is None or (ratio, size) > best[:2]:
                    best = (ratio, size, chosen, touched)
        ratio, _, chosen, touched = best
        blocks.append((sorted(touched), list(chosen), ratio))
        free_rows -= touched
        free_columns = [j for j in free_columns if j not in chosen]
    return blocks


def exact_support(pattern, block_rows, block_columns, rows, columns, ratio):
    """Return which entries of a block can be positive in a matrix with the block's sums."""
    flow = {}
    room = {i: ratio * rows[i] for i in block_rows}
    for j in block_columns:
        left = columns[j]
        while left > 0:
            parent = {("column", j): None}
            queue = [("column", j)]
            end = None
            for kind, k in queue:
                if kind == "column":
                    more = [("row", i) for i in block_rows if pattern[i, k]]
                else:
                    if room[k] > 0:
                        end = k
                        break
                    more = [("column", h) for h in block_columns if flow.get((k, h), 0) > 0]
                for node in more:
                    if node not in parent:
                        parent[node] = (kind, k)
                        queue.append(node)
            path = [("row", end)]
            while parent[path[-1]] is not None:
                path.append(parent[path[-1]])
            taken = [flow[b[1], a[1]] for a, b in pairwise(path) if a[0] == "column"]
            amount = min([left, room[end], *taken])
            for a, b in pairwise(path):
                edge = (a[1], b[1]) if a[0] == "row" else (b[1], a[1])
                flow[edge] = flow.get(edge, 0) + (amount if a[0] == "row" else -amount)
            room[end] -= amount
            left -= amount
    nodes = [("row", i) for i in block_rows] + [("column", j) for j in block_columns]
    index = {node: k for k, node in enumerate(nodes)}
    reaches = np.eye(len(nodes), dtype=bool)
    for i in block_rows:
        for j in block_columns:
            reaches[index["column", j], index["row", i]] |= bool(pattern[i, j])
            reaches[index["row", i], index["column", j]] |= flow.get((i, j), 0) > 0
    for k in range(len(nodes)):
        reaches |= reaches[:, [k]] & reaches[[k]]
    support = np.zeros_like(pattern)
    for i in block_rows:
        for j in block_columns:
            both = reaches[index["row", i], index["column", j]]
            support[i, j] = pattern[i, j] and both
    return support


def exact_limit(matrix, rows, columns, first_factors):
    """Return the limit that meets the column sums, as mpmath numbers, and its blocks.

    Parameters
    ----------
    matrix
        Not negative, float64.
    rows, columns
        Positive, as fractions.
    first_factors
        Where Newton's method begins; the result does not depend on it and is verified.
    """
    n, m = matrix.shape
    blocks = exact_blocks(matrix > 0.0, rows, columns)
    limit = [[mp.mpf(0)] * m for _ in range(n)]
    for block_rows, block_columns, ratio in blocks:
        support = exact_support(matrix > 0.0, block_rows, block_columns, rows, columns, ratio)
        for part_rows, part_columns in _components(support, block_rows, block_columns):
            part = np.where(support, matrix, 0.0)[np.ix_(part_rows, part_columns)]
            with mp.workdps(DIGITS):
                scaled = scaled_exactly(
                    part,
                    [_mpf(ratio * rows[i]) for i in part_rows],
                    [_mpf(columns[j]) for j in part_columns],
                    first_factors[part_columns],
                )
            for a, i in enumerate(part_rows):
                for b, j in enumerate(part_columns):
                    limit[i][j] = scaled[a][b]
    return limit, blocks


def _mpf(fraction):
    return mp.mpf(fraction.numerator) / fraction.denominator


def _components(support, block_rows, block_columns):
    """Split a block into parts that the surviving entries connect."""
    left = list(block_columns)
    while left:
        part_columns, part_rows = {left[0]}, set()
        while True:
            part_rows = {i for i in block_rows if support[i, list(part_columns)].any()}
            wider = {j for j in block_columns if support[list(part_rows), j].any()} | part_columns
            if wider == part_columns:
                break
            part_columns = wider
        left = [j for j in left if j not in part_columns]
        yield sorted(part_rows), sorted(part_columns)


def random_pattern(rng, n, m):
    """Return a random matrix with zeros, none of its rows or columns empty."""
    pattern = rng.random((n, m)) < rng.uniform(0.2, 0.9)
    pattern[np.arange(n), rng.integers(m, size=n)] = True
    pattern[rng.integers(n, size=m), np.arange(m)] = True
    return np.where(pattern, rng.exponential(size=(n, m)), 0.0)


def random_fractions(rng, count, total):
    """Return positive fractions with small numerators, so that ties are common."""
    parts = rng.integers(1, 7, size=count)
    return [Fraction(int(part), int(parts.sum())) * total for part in parts]
