"""Compiled rates of random n x 2 matrices.

A row is two exponentials, G u and G (1 - u) with u uniform and G = -log(v1 v2): their ratio is
u / (1 - u), so two logarithms serve where there would be three. With S the sums of the columns
and L = log(u / (1 - u))

    BI      (sum_i G_i u_i L_i / S_0 - sum_i G_i (1 - u_i) L_i / S_1) / 2
    SCBI    log(sum_i u_i / (1 - u_i) * sum_i (1 - u_i) / u_i) / 2 - log n

Short loops over some rows at a time: a long one would keep the processor waiting for its own
results.
"""

from __future__ import annotations

import math

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes._runtime.vector_math import (
    FUSED,
    bits_to_float,
    lane_log,
    log_from_parts,
    next_word,
    split_exponent,
    use_wide_vectors,
    word_to_uniform,
)

# Literal constants in the kernels: the compiler must see that lanes do not overlap.
LANES = 64
_L = LANES
_ROWS = 8
# Where things lie in the scratch array: sums, then the rows' u, their G, 1 / (u (1 - u)), L and
# 1 / (1 - u).
_SUMS = 6 * LANES
_PLANE = _ROWS * LANES
WORK_SIZE = _SUMS + 5 * _PLANE

_ONE = np.uint64(0x3FF0000000000000)
_HALF_A_WORD = np.uint64(0x000FFFFFFFF00000)


@compiled(fastmath=FUSED)
def draw_rows(states, work, num_rows):
    """Draw u and v1 v2 for some rows, at most eight.

    Two words of random bits a row: u takes one, v1 and v2 share the other. Numbers of 32 bits do
    for these: G only weighs the rows, and its mean is right to 1e-10.
    """
    use_wide_vectors()
    for row in range(num_rows):
        base = _SUMS + row * _L
        for k in range(_L):
            s0, s1, s2, s3 = states[k], states[_L + k], states[2 * _L + k], states[3 * _L + k]
            word, s0, s1, s2, s3 = next_word(s0, s1, s2, s3)
            halves, s0, s1, s2, s3 = next_word(s0, s1, s2, s3)
            states[k], states[_L + k] = s0, s1
            states[2 * _L + k], states[3 * _L + k] = s2, s3
            upper = ((halves >> np.uint64(12)) & _HALF_A_WORD) | _ONE
            lower = ((halves << np.uint64(20)) & _HALF_A_WORD) | _ONE
            v1 = bits_to_float(upper) - (1.0 - 2.0**-33)
            v2 = bits_to_float(lower) - (1.0 - 2.0**-33)
            work[base + k] = word_to_uniform(word)
            work[base + _PLANE + k] = v1 * v2


# The next four are functions of their own: inside a long one the compiler would load every constant
# of a loop again in every step.


@compiled(fastmath=FUSED, inner=True, forceinline=False)
def _split_products(work, num_rows):
    """Fill in both inverses, and of v1 v2 what its logarithm needs; one division serves all."""
    use_wide_vectors()
    for k in range(num_rows * _L):
        at = _SUMS + k
        u = work[at]
        product = u * (1.0 - u)
        _, fraction = split_exponent(work[at + _PLANE])
        inverse = 1.0 / (product * (fraction + 1.0))
        both = (fraction + 1.0) * inverse
        work[at + 2 * _PLANE] = both
        work[at + 4 * _PLANE] = u * both
        work[at + 3 * _PLANE] = (fraction - 1.0) * (product * inverse)


@compiled(fastmath=FUSED, inner=True, forceinline=False)
def _find_totals(work, num_rows):
    """Turn v1 v2 into G."""
    use_wide_vectors()
    for k in range(num_rows * _L):
        at = _SUMS + k
        exponent, _ = split_exponent(work[at + _PLANE])
        work[at + _PLANE] = -log_from_parts(exponent, work[at + 3 * _PLANE])


@compiled(fastmath=FUSED, inner=True, forceinline=False)
def _split_ratios(work, num_rows):
    """Fill in what the logarithm of u / (1 - u) needs."""
    use_wide_vectors()
    for k in range(num_rows * _L):
        at = _SUMS + k
        _, fraction = split_exponent(work[at] * work[at + 4 * _PLANE])
        work[at + 3 * _PLANE] = (fraction - 1.0) / (fraction + 1.0)


@compiled(fastmath=FUSED, inner=True, forceinline=False)
def _find_logs(work, num_rows):
    """Fill in L."""
    use_wide_vectors()
    for k in range(num_rows * _L):
        at = _SUMS + k
        exponent, _ = split_exponent(work[at] * work[at + 4 * _PLANE])
        work[at + 3 * _PLANE] = log_from_parts(exponent, work[at + 3 * _PLANE])


@compiled(fastmath=FUSED, inner=True)
def _add_rows(work, num_rows):
    """Add rows to the sums: of x, y, x L, y L, 1 / (1 - u) and 1 / u."""
    use_wide_vectors()
    for row in range(num_rows):
        base = _SUMS + row * _L
        for k in range(_L):
            u = work[base + k]
            total = work[base + _PLANE + k]
            inverse = work[base + 2 * _PLANE + k]
            log_ratio = work[base + 3 * _PLANE + k]
            w = 1.0 - u
            x = total * u
            y = total * w
            work[k] += x
            work[_L + k] += y
            work[2 * _L + k] += x * log_ratio
            work[3 * _L + k] += y * log_ratio
            work[4 * _L + k] += work[base + 4 * _PLANE + k]
            work[5 * _L + k] += w * inverse


@compiled(fastmath=FUSED, inner=True)
def _finish(work, num_data, bayes, cooperative):
    """Turn the sums into the mean rates of both rules."""
    use_wide_vectors()
    offset = math.log(num_data)
    for k in range(_L):
        rate = 0.5 * (work[2 * _L + k] / work[k] - work[3 * _L + k] / work[_L + k])
        # sum u/w = sum 1/w - n, and the same with u and w exchanged.
        ratios = (work[4 * _L + k] - num_data) * (work[5 * _L + k] - num_data)
        work[k] = rate
        work[_L + k] = 0.5 * lane_log(ratios) - offset
    for k in range(_L):
        bayes[k] = work[k]
    for k in range(_L):
        cooperative[k] = work[_L + k]


@compiled(fastmath=FUSED)
def sample_two_columns(states, work, num_data, bayes, cooperative):
    """Fill two arrays with the mean rates of random n x 2 matrices.

    Parameters
    ----------
    states
        (4 * LANES,) unsigned, changed in place.
    work
        (WORK_SIZE,), scratch.
    num_data
        The number of rows.
    bayes, cooperative
        (blocks, LANES), the results.
    """
    for block in range(bayes.shape[0]):
        work[:_SUMS] = 0.0
        for start in range(0, num_data, _ROWS):
            num_rows = min(_ROWS, num_data - start)
            draw_rows(states, work, num_rows)
            _split_products(work, num_rows)
            _find_totals(work, num_rows)
            _split_ratios(work, num_rows)
            _find_logs(work, num_rows)
            _add_rows(work, num_rows)
        _finish(work, num_data, bayes[block], cooperative[block])
