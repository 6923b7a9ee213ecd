"""Compiled sampling of random matrices and of their mean rates, many side by side.

A column that is uniform on the simplex is a normalised vector of exponentials, and the sums that
normalise it enter the rates in one place only. The kernels therefore work with the
exponentials x themselves:

    KL(h, b)       = sum_i x_ih (log x_ih - log x_ib) / S_h - log S_h + log S_b
    KL#(h, b)      = log(sum_i x_ib / x_ih) - c_b + c_h - log n

with S the column's sum and c the mean of its logarithms. Innermost loops run over independent
lanes, so vectors change no sum's order.
"""

from __future__ import annotations

import math

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes._runtime.vector_math import (
    FUSED,
    lane_exp,
    lane_log,
    log_from_parts,
    next_uniform,
    split_exponent,
    use_wide_vectors,
)
from cobayes.random_matrices.column_pairs import FOUR, find_nearest, sum_columns_of_four

LANES = 64
# A literal constant in the kernels: the compiler must see that lanes do not overlap.
_BLOCK = 32
_B = _BLOCK
# Generators of eight matrices side by side, and of the first and the last four of the eight.
BLOCKS = np.arange(LANES).reshape(-1, _BLOCK)
FOURS = np.arange(LANES).reshape(-1, 2, FOUR).swapaxes(0, 1).reshape(2, _BLOCK)
# So many numbers at a time are drawn: what is made of them is then in the fastest cache.
_TILE = 8 * _BLOCK


@compiled(fastmath=FUSED)
def fill_uniforms(states, out):
    """Fill a flat array, a multiple of the number of lanes long, with uniform numbers.

    States come in blocks of lanes, which take turns; see `lane_states`.
    """
    use_wide_vectors()
    at = 0
    for start in range(0, out.shape[0], _B):
        part, own = out[start : start + _B], states[at : at + 4 * _B]
        for k in range(_B):
            s0, s1, s2, s3 = own[k], own[_B + k], own[2 * _B + k], own[3 * _B + k]
            u, s0, s1, s2, s3 = next_uniform(s0, s1, s2, s3)
            own[k], own[_B + k] = s0, s1
            own[2 * _B + k], own[3 * _B + k] = s2, s3
            part[k] = u
        at += 4 * _B
        if at == states.shape[0]:
            at = 0


# The next four are functions of their own: inside a long one the compiler would load every constant
# of a loop again in every step. Logarithms take two loops: in one long loop the processor would
# wait for its own results.


@compiled(fastmath=FUSED, inner=True, forceinline=False)
def _split_uniforms(values, ratios):
    """Fill in (f - 1) / (f + 1), with f the fractions of an even number of uniform numbers.

    One division serves two numbers, here and in `_split_and_invert`.
    """
    use_wide_vectors()
    half = values.size // 2
    for k in range(half):
        _, u = split_exponent(values[k])
        _, v = split_exponent(values[half + k])
        inverse = 1.0 / ((u + 1.0) * (v + 1.0))
        ratios[k] = (u - 1.0) * ((v + 1.0) * inverse)
        ratios[half + k] = (v - 1.0) * ((u + 1.0) * inverse)


@compiled(fastmath=FUSED, inner=True, forceinline=False)
def _split_and_invert(values, ratios, inverses):
    """Fill in (f - 1) / (f + 1) and 1/x, with f the fractions of an even number of numbers x."""
    use_wide_vectors()
    half = values.size // 2
    for k in range(half):
        x, y = values[k], values[half + k]
        _, x_fraction = split_exponent(x)
        _, y_fraction = split_exponent(y)
        x_product, y_product = x * (x_fraction + 1.0), y * (y_fraction + 1.0)
        inverse = 1.0 / (x_product * y_product)
        x_inverse, y_inverse = y_product * inverse, x_product * inverse
        ratios[k] = (x_fraction - 1.0) * (x * x_inverse)
        ratios[half + k] = (y_fraction - 1.0) * (y * y_inverse)
        inverses[k] = (x_fraction + 1.0) * x_inverse
        inverses[half + k] = (y_fraction + 1.0) * y_inverse


@compiled(fastmath=FUSED, inner=True, forceinline=False)
def _finish_exponentials(values, ratios):
    """Turn uniform numbers into exponentials, in place."""
    use_wide_vectors()
    for k in range(values.size):
        exponent, _ = split_exponent(values[k])
        values[k] = -log_from_parts(exponent, ratios[k])


@compiled(fastmath=FUSED, inner=True, forceinline=False)
def _finish_logs(values, ratios):
    """Turn the ratios of numbers into their logarithms, in place."""
    use_wide_vectors()
    for k in range(values.size):
        exponent, _ = split_exponent(values[k])
        ratios[k] = log_from_parts(exponent, ratios[k])


@compiled(inner=True)
def to_exponentials(values, scratch):
    """Turn uniform numbers, an even number of them, into exponentials, in place."""
    _split_uniforms(values, scratch)
    _finish_exponentials(values, scratch)


@compiled(inner=True)
def logs_and_inverses(values, logs, inverses):
    """Fill two flat arrays of even length with log x and 1/x."""
    _split_and_invert(values, logs, inverses)
    _finish_logs(values, logs)


@compiled(fastmath=FUSED, inner=True)
def prepare_totals(totals, num_data):
    """Turn the sums into 1/S, log S, exp(-c), two starting values, sum x log x / S and c."""
    use_wide_vectors()
    # One short loop for each step: with more arrays the compiler gives up on vectors.
    inverse, log_total, shrink, cross, ratio, own, mean_log = (
        totals[0],
        totals[1],
        totals[2],
        totals[3],
        totals[4],
        totals[5],
        totals[6],
    )
    for k in range(inverse.size):
        own[k] = log_total[k] / inverse[k]
    for k in range(inverse.size):
        log_total[k] = lane_log(inverse[k])
    for k in range(inverse.size):
        inverse[k] = 1.0 / inverse[k]
    for k in range(inverse.size):
        mean_log[k] = shrink[k] / num_data
    for k in range(inverse.size):
        shrink[k] = lane_exp(-mean_log[k])
    cross[:] = -np.inf
    ratio[:] = np.inf


@compiled(fastmath=FUSED, inner=True)
def log_row(row):
    """Take logarithms in place."""
    use_wide_vectors()
    for k in range(row.size):
        row[k] = lane_log(row[k])


@compiled(fastmath=FUSED)
def sample_columns(states, planes, totals, num_data, bayes, cooperative):
    """Fill two arrays with the mean rates of random n x m matrices, four at a time.

    Parameters
    ----------
    states
        The generators of four of eight matrices, one row of `FOURS`; changed in place.
    planes
        (3, p), scratch for x, log x and 1/x, each (m, n, 4) and some unused numbers, to
        make p a multiple of the number of generators.
    totals
        (7, m * 4), scratch.
    num_data
        The number of rows n.
    bayes, cooperative
        (groups, 4), the results.
    """
    num_hypotheses = totals.shape[1] // FOUR
    offset = math.log(num_data)
    for group in range(bayes.shape[0]):
        for start in range(0, planes.shape[1], _TILE):
            end = min(start + _TILE, planes.shape[1])
            values, logs = planes[0, start:end], planes[1, start:end]
            fill_uniforms(states, values)
            to_exponentials(values, logs)
            logs_and_inverses(values, logs, planes[2, start:end])
        sum_columns_of_four(planes, num_data, num_hypotheses, totals)
        prepare_totals(totals, num_data)
        find_nearest(planes, num_data, num_hypotheses, totals)
        log_row(totals[4])
        for lane in range(FOUR):
            rate = 0.0
            rate_sharp = 0.0
            for h in range(num_hypotheses):
                k = h * FOUR + lane
                rate += totals[5, k] - totals[1, k] - totals[3, k]
                rate_sharp += totals[4, k] + totals[6, k]
            bayes[group, lane] = rate / num_hypotheses
            cooperative[group, lane] = rate_sharp / num_hypotheses - offset


@compiled()
def add_up(bi, scbi, sums):
    """Add rates, their differences and all their squares to (6,) sums; count SCBI >= BI."""
    count = 0
    for k in range(bi.shape[0]):
        difference = scbi[k] - bi[k]
        sums[0] += bi[k]
        sums[1] += bi[k] * bi[k]
        sums[2] += scbi[k]
        sums[3] += scbi[k] * scbi[k]
        sums[4] += difference
        sums[5] += difference * difference
        count += difference >= 0.0
    return count
