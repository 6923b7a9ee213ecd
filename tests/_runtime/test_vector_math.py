"""The vector logarithm, exponential and generator, against slow and certain ones."""

import numpy as np
import pytest
from numba import njit

from cobayes._runtime.vector_math import (
    bits_to_float,
    float_to_bits,
    lane_exp,
    lane_log,
    lane_states,
    next_uniform,
)

MASK = (1 << 64) - 1


@njit
def apply_log(values, out):
    for k in range(values.size):
        out[k] = lane_log(values[k])


@njit
def apply_exp(values, out):
    for k in range(values.size):
        out[k] = lane_exp(values[k])


@njit
def round_trip(value):
    return bits_to_float(float_to_bits(value))


@njit
def stream(states, out):
    s0, s1, s2, s3 = states[0], states[1], states[2], states[3]
    for k in range(out.size):
        out[k], s0, s1, s2, s3 = next_uniform(s0, s1, s2, s3)


def xoshiro256plus(state):
    """The published recurrence, in Python's integers."""
    s = [int(word) for word in state]
    while True:
        yield (s[0] + s[3]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = ((s[3] << 45) | (s[3] >> 19)) & MASK


def wide_range():
    """Return positive numbers of every size, many of them close to one."""
    rng = np.random.default_rng(0)
    values = np.concatenate(
        [
            rng.uniform(0, 1, 200_000),
            1.0 + rng.uniform(-1e-3, 1e-3, 100_000),
            1.0 - np.exp(rng.uniform(-36, 0, 100_000)),
            np.exp(rng.uniform(-700, 700, 100_000)),
            [np.sqrt(0.5), np.sqrt(2.0), 2.0**-53, 1.0 - 2.0**-53, 2.0**-1022, 1.0],
        ]
    )
    return values[values > 0]


def test_logarithm_is_accurate_to_a_few_units_in_the_last_place():
    values = wide_range()
    found = np.empty_like(values)
    apply_log(values, found)
    expected = np.log(values)
    assert np.all(np.abs(found - expected) <= 4 * np.spacing(np.abs(expected)))


def test_exponential_is_accurate_to_a_few_units_in_the_last_place():
    values = np.random.default_rng(0).uniform(-700, 700, 200_000)
    values = np.concatenate([values, values / 1000, [0.0]])
    found = np.empty_like(values)
    apply_exp(values, found)
    np.testing.assert_allclose(found, np.exp(values), rtol=6e-16)


@pytest.mark.parametrize("value", [0.0, -1.5, np.inf, 5e-324, np.pi])
def test_bits_come_back_as_the_same_float(value):
    assert round_trip(value) == value


def test_generator_follows_the_published_recurrence():
    states = lane_states(np.random.SeedSequence(7), 1)
    found = np.empty(1000)
    stream(states, found)
    words = xoshiro256plus(states)
    expected = [((next(words) >> 12) + 0.5) / 2**52 for _ in found]
    assert found.tolist() == expected


def test_uniform_numbers_never_reach_zero_or_one():
    out = np.empty(1)
    for word, expected in ((0, 2.0**-53), (MASK, 1.0 - 2.0**-53)):
        # The next word is s0 + s3.
        stream(np.array([word, 0, 0, 0], dtype=np.uint64), out)
        assert out[0] == expected
        assert 0.0 < out[0] < 1.0
