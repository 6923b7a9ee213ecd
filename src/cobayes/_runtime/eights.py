"""Eight numbers side by side, as a tuple: the compiler keeps them in vector registers.

A loop over lanes that adds to an array reads and writes the sums at every step. Sums in a tuple
stay in registers over the whole loop. No sum is reordered, so results do not depend on the vectors
that a processor has.
"""

from __future__ import annotations

import numpy as np

from cobayes._runtime.compiled import compiled

EIGHT_ZEROS = (0.0,) * 8

_FUSED = {"contract"}


# Positions without a sign: the compiler need not ask whether one counts from the end.
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(k) for k in range(1, 8))


@compiled(in_registers=True, inner=True)
def load_eight(values, row, first):
    """Return eight numbers of a row, from a position on."""
    i, k = np.uint64(row), np.uint64(first)
    return (
        values[i, k],
        values[i, k + _1],
        values[i, k + _2],
        values[i, k + _3],
        values[i, k + _4],
        values[i, k + _5],
        values[i, k + _6],
        values[i, k + _7],
    )


@compiled(in_registers=True, inner=True)
def load_fours(values, row, first, second):
    """Return four numbers of a row, from a position on, and four from another position on."""
    i, k, j = np.uint64(row), np.uint64(first), np.uint64(second)
    return (
        values[i, k],
        values[i, k + _1],
        values[i, k + _2],
        values[i, k + _3],
        values[i, j],
        values[i, j + _1],
        values[i, j + _2],
        values[i, j + _3],
    )


@compiled(in_registers=True, inner=True)
def store_eight(values, row, first, eight):
    """Write eight numbers into a row, from a position on."""
    i, k = np.uint64(row), np.uint64(first)
    values[i, k] = eight[0]
    values[i, k + _1] = eight[1]
    values[i, k + _2] = eight[2]
    values[i, k + _3] = eight[3]
    values[i, k + _4] = eight[4]
    values[i, k + _5] = eight[5]
    values[i, k + _6] = eight[6]
    values[i, k + _7] = eight[7]


@compiled(fastmath=_FUSED, in_registers=True, inner=True)
def add_scaled(sums, factor, eight):
    """Add eight numbers times one factor to eight sums."""
    return (
        sums[0] + factor * eight[0],
        sums[1] + factor * eight[1],
        sums[2] + factor * eight[2],
        sums[3] + factor * eight[3],
        sums[4] + factor * eight[4],
        sums[5] + factor * eight[5],
        sums[6] + factor * eight[6],
        sums[7] + factor * eight[7],
    )


@compiled(fastmath=_FUSED, in_registers=True, inner=True)
def add_products(sums, left, right):
    """Add the products of eight pairs of numbers to eight sums."""
    return (
        sums[0] + left[0] * right[0],
        sums[1] + left[1] * right[1],
        sums[2] + left[2] * right[2],
        sums[3] + left[3] * right[3],
        sums[4] + left[4] * right[4],
        sums[5] + left[5] * right[5],
        sums[6] + left[6] * right[6],
        sums[7] + left[7] * right[7],
    )


@compiled(in_registers=True, inner=True)
def products(left, right):
    """Return the products of eight pairs of numbers."""
    return (
        left[0] * right[0],
        left[1] * right[1],
        left[2] * right[2],
        left[3] * right[3],
        left[4] * right[4],
        left[5] * right[5],
        left[6] * right[6],
        left[7] * right[7],
    )


@compiled(in_registers=True, inner=True)
def differences(left, right):
    """Return the differences of eight pairs of numbers."""
    return (
        left[0] - right[0],
        left[1] - right[1],
        left[2] - right[2],
        left[3] - right[3],
        left[4] - right[4],
        left[5] - right[5],
        left[6] - right[6],
        left[7] - right[7],
    )


@compiled(in_registers=True, inner=True)
def inverses(eight):
    """Return one over each of eight numbers."""
    return (
        1.0 / eight[0],
        1.0 / eight[1],
        1.0 / eight[2],
        1.0 / eight[3],
        1.0 / eight[4],
        1.0 / eight[5],
        1.0 / eight[6],
        1.0 / eight[7],
    )
