"""A logarithm, an exponential and random bits that LLVM turns into vector instructions.

Numba has no vector mathematics library at hand: a call of ``math.log`` costs 5 ns and keeps the
loop around it scalar. The functions below are branch-free arithmetic, so a loop over independent
lanes becomes vector code, at about 1 ns for a logarithm, and every lane gives the same bits
wherever it sits. They are meant for positive, finite, normal numbers and check nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled
from cobayes._runtime.wide_vectors import use_wide_vectors as use_wide_vectors

# Fused multiply-add and nothing else: a lane's result does not depend on its neighbours.
FUSED = {"contract"}

_SIGNIFICAND_BITS = np.uint64(52)
_SIGNIFICAND = np.uint64(0x000FFFFFFFFFFFFF)
_ONE = np.uint64(0x3FF0000000000000)
_TWO_TO_52 = np.uint64(0x4330000000000000)
_HALF_SQRT2 = np.uint64(0x3FE6A09E00000000)
_CENTRE = np.uint64(0x3FF0000000000000 - 0x3FE6A09E00000000)
_LN2 = 0.6931471805599453
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to a whole number


@compiled(inner=True)
def float_to_bits(value):
    """Return the bits of a float64 as an unsigned integer."""
    return np.float64(value).view(np.uint64)


@compiled(inner=True)
def bits_to_float(value):
    """Return the float64 that has the given bits."""
    return np.uint64(value).view(np.float64)


@compiled(fastmath=FUSED, inner=True)
def split_exponent(value):
    """Write a number as 2**exponent * fraction, with sqrt(1/2) <= fraction < sqrt(2)."""
    bits = float_to_bits(value) + _CENTRE
    exponent = bits_to_float((bits >> _SIGNIFICAND_BITS) | _TWO_TO_52) - (2.0**52 + 1023.0)
    return exponent, bits_to_float((bits & _SIGNIFICAND) + _HALF_SQRT2)


@compiled(fastmath=FUSED, inner=True)
def log_from_parts(exponent, ratio):
    """Return log(2**exponent * fraction) from ratio = (fraction - 1) / (fraction + 1).

    Callers that have another division to do share it; hence the ratio. The polynomial is the
    one of Sun's fdlibm for log((1 + ratio) / (1 - ratio)).
    """
    z = ratio * ratio
    tail = z * (0.1818357216161805012 + z * (0.1531383769920937332 + z * 0.1479819860511658591))
    tail = z * (0.2857142874366239149 + z * (0.2222219843214978396 + tail))
    tail = z * (0.6666666666666735130 + z * (0.3999999999940941908 + tail))
    return exponent * _LN2 + ratio * (2.0 + tail)


@compiled(fastmath=FUSED, inner=True)
def lane_log(value):
    """Return the natural logarithm, to about 3 units in the last place."""
    exponent, fraction = split_exponent(value)
    return log_from_parts(exponent, (fraction - 1.0) / (fraction + 1.0))


@compiled(fastmath=FUSED, inner=True)
def lane_exp(value):
    """Return the exponential of a number between -700 and 700, to 2 units in the last place."""
    shifted = value * (1.0 / _LN2) + _ROUND
    whole = shifted - _ROUND
    x = (value - whole * _LN2_HIGH) - whole * _LN2_LOW
    # Taylor's series to x^13: |x| <= log(2)/2.
    p = 1.0 / 39916800.0 + x * (1.0 / 479001600.0 + x * (1.0 / 6227020800.0))
    p = 1.0 / 40320.0 + x * (1.0 / 362880.0 + x * (1.0 / 3628800.0 + x * p))
    p = 1.0 / 120.0 + x * (1.0 / 720.0 + x * (1.0 / 5040.0 + x * p))
    p = 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x * p))))
    # The low bits of `shifted` hold the whole number: moving them up scales by 2**whole.
    return bits_to_float(float_to_bits(p) + (float_to_bits(shifted) << _SIGNIFICAND_BITS))


@compiled(inner=True)
def next_word(s0, s1, s2, s3):
    """Advance one lane of xoshiro256+ and return 64 random bits and its state.

    Blackman and Vigna (2021), ACM Trans. Math. Softw. 47(4), article 36.
    """
    word = s0 + s3
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return word, s0, s1, s2, s3


@compiled(inner=True)
def word_to_uniform(word):
    """Return (k + 1/2) / 2**52 with k the upper 52 bits: neither zero nor one."""
    return bits_to_float((word >> np.uint64(12)) | _ONE) - (1.0 - 2.0**-53)


@compiled(inner=True)
def next_uniform(s0, s1, s2, s3):
    """Advance one lane of xoshiro256+ and return a uniform number in (0, 1) and its state."""
    word, s0, s1, s2, s3 = next_word(s0, s1, s2, s3)
    return word_to_uniform(word), s0, s1, s2, s3


@compiled(inner=True)
def aligned_space(size):
    """Return a flat array that starts on a cache line, for use in compiled code."""
    buffer = np.empty(size + 8)
    start = -(buffer.ctypes.data // 8) % 8
    return buffer[start : start + size]


def lane_states(
    seed_sequence: np.random.SeedSequence, lanes: int, blocks: NDArray[np.int_] | None = None
) -> NDArray[np.uint64]:
    """Return the state of every lane's generator from a seed.

    Parameters
    ----------
    seed_sequence
        The seed.
    lanes
        How many generators.
    blocks
        Which lanes lie together, (number of blocks, lanes of a block); by default all of them.

    Returns
    -------
    ndarray
        Block after block, and of each the first words of all states, then the second and so on:
        (4 * lanes,).
    """
    states = aligned_array((4 * lanes,)).view(np.uint64)
    words = seed_sequence.generate_state(4 * lanes, np.uint64).reshape(4, lanes)
    states[:] = (words if blocks is None else words[:, blocks].swapaxes(0, 1)).reshape(-1)
    return states


def aligned_array(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an empty array that starts on a cache line, so that no vector straddles two."""
    size = int(np.prod(shape))
    buffer = np.empty(size + 8)
    start = -(buffer.ctypes.data // 8) % 8
    return buffer[start : start + size].reshape(shape)
