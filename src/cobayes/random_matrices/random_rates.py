"""Random matrices, columns uniform on the simplex, and the mean rates of both rules on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import is_position
from cobayes._runtime.limits import require_affordable, short_number
from cobayes._runtime.vector_math import aligned_array, lane_states
from cobayes.errors import CobayesError
from cobayes.random_matrices.column_pairs import FOUR, WIDTH
from cobayes.random_matrices.rate_kernels import FOURS, LANES, add_up, sample_columns
from cobayes.random_matrices.two_column_kernels import WORK_SIZE, sample_two_columns

# So many rates at a time are handed on, to spread the cost of a call.
_BLOCK_SAMPLES = 1 << 14

RateStatistics = dict[str, int | float]
"""Counts and sums that add up over chunks; see `sample_rates_chunk`."""


def sample_mean_rates(
    num_data: int, num_hypotheses: int, num_samples: int, seed_sequence: np.random.SeedSequence
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw random matrices and return the mean rates of both rules on each.

    Parameters
    ----------
    num_data, num_hypotheses
        The shape, at least 2 x 2.
    num_samples
        How many matrices.
    seed_sequence
        The seed: the same one gives the same bits.

    Returns
    -------
    tuple of ndarray
        The rate of BI and that of SCBI, averaged over the hypotheses, each (num_samples,).
    """
    blocks = list(_rate_blocks(num_data, num_hypotheses, num_samples, seed_sequence))
    if not blocks:
        return np.empty(0), np.empty(0)
    return np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])


def sample_rates_chunk(
    num_data: int, num_hypotheses: int, num_samples: int, seed_sequence: np.random.SeedSequence
) -> RateStatistics:
    """Draw random matrices and return sums over them, which add up over chunks.

    Parameters
    ----------
    num_data, num_hypotheses
        The shape, at least 2 x 2.
    num_samples
        How many matrices.
    seed_sequence
        The chunk's own seed: the same one gives the same bits.

    Returns
    -------
    dict
        "count"; "count_not_slower", how often SCBI's mean rate was at least BI's; "sum_..." and
        "sum_squared_..." of "bi", "scbi" (mean rates) and "difference" (SCBI minus BI).
    """
    count = count_not_slower = 0
    sums = np.zeros(6)
    for bi, scbi in _rate_blocks(num_data, num_hypotheses, num_samples, seed_sequence):
        count += bi.size
        count_not_slower += int(add_up(bi, scbi, sums))
    names = ("bi", "squared_bi", "scbi", "squared_scbi", "difference", "squared_difference")
    return {
        "count": count,
        "count_not_slower": count_not_slower,
        **{f"sum_{name}": float(value) for name, value in zip(names, sums, strict=True)},
    }


def add_statistics(left: RateStatistics, right: RateStatistics) -> RateStatistics:
    """Add two sets of statistics name by name."""
    return {name: left[name] + right[name] for name in left}


def check_shape(num_data: Any, num_hypotheses: Any) -> tuple[int, int]:
    """Return both as integers, or raise an error unless they are at least two."""
    for value, what in ((num_data, "data"), (num_hypotheses, "hypotheses")):
        if not is_position(value) or value < 2:
            raise CobayesError(
                f"the number of {what} is {value!r}; expected an integer of at least 2.",
                "with one datum or one hypothesis there is nothing to learn.",
            )
    require_affordable(
        f"matrices of {short_number(num_data)} x {short_number(num_hypotheses)}",
        "take a smaller shape.",
        # Four matrices at once, with their logarithms and inverses.
        num_bytes=4.0 * 24.0 * min(num_data * num_hypotheses, 10**300),
    )
    return int(num_data), int(num_hypotheses)


def _rate_blocks(
    num_data: int, num_hypotheses: int, num_samples: int, seed_sequence: np.random.SeedSequence
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    check_shape(num_data, num_hypotheses)
    draw = _draw_pairs if num_hypotheses == 2 else _draw_groups
    return draw(seed_sequence, num_data, num_hypotheses, num_samples)


def _draw_pairs(seed_sequence: np.random.SeedSequence, num_data: int, _: int, num_samples: int):
    states = lane_states(seed_sequence, LANES)
    work = aligned_array((WORK_SIZE,))
    for start in range(0, num_samples, _BLOCK_SAMPLES):
        count = min(_BLOCK_SAMPLES, num_samples - start)
        rates = np.empty((2, -(-count // LANES), LANES))
        sample_two_columns(states, work, num_data, rates[0], rates[1])
        yield rates[0].reshape(-1)[:count], rates[1].reshape(-1)[:count]


def _draw_groups(
    seed_sequence: np.random.SeedSequence, num_data: int, num_hypotheses: int, num_samples: int
):
    # Eight matrices share the generators; four at a time need less memory.
    states = lane_states(seed_sequence, LANES, FOURS).reshape(2, -1)
    # Generators fill whole rounds of lanes, so every plane may end in unused numbers.
    rounds = -(-num_data * num_hypotheses * WIDTH // LANES)
    planes = aligned_array((3, rounds * LANES // 2))
    totals = aligned_array((7, num_hypotheses * FOUR))
    for start in range(0, num_samples, _BLOCK_SAMPLES):
        count = min(_BLOCK_SAMPLES, num_samples - start)
        rates = np.empty((2, -(-count // WIDTH), 2, FOUR))
        for k in range(2):
            sample_columns(states[k], planes, totals, num_data, rates[0, :, k], rates[1, :, k])
        yield rates[0].reshape(-1)[:count], rates[1].reshape(-1)[:count]
