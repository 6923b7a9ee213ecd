"""Random matrices, columns uniform on the simplex, and sums of the mean rates of both rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobayes import _core
from cobayes._input.labels import is_position
from cobayes._parallel import num_threads, require_affordable, short_number
from cobayes.errors import CobayesError

RateStatistics = dict[str, int | float]
"""Counts and sums that add up over chunks; see `sample_rates_chunk`."""


def sample_rates_chunk(
    num_data: int, num_hypotheses: int, num_samples: int, seed_sequence: np.random.SeedSequence
) -> RateStatistics:
    """Draw random matrices and return sums over them, which add up over chunks.

    Parameters
    ----------
    num_data, num_hypotheses
        The shape, at least 2 x 2.
    num_samples
        The number of matrices.
    seed_sequence
        The chunk's own seed: the same one gives the same bits.

    Returns
    -------
    dict
        "count"; "count_not_slower", how often SCBI's mean rate was at least BI's; "sum_..." and
        "sum_squared_..." of "bi", "scbi" (mean rates) and "difference" (SCBI minus BI).
    """
    num_data, num_hypotheses = check_shape(num_data, num_hypotheses)
    not_slower, sums, squares, _, _ = _core.random_rates(
        num_data,
        num_hypotheses,
        num_samples=num_samples,
        seed=int(seed_sequence.generate_state(1, np.uint64)[0]),
        num_threads=num_threads(),
    )
    names = ("bi", "scbi", "difference")
    return {
        "count": num_samples,
        "count_not_slower": not_slower,
        **{f"sum_{name}": float(value) for name, value in zip(names, sums, strict=True)},
        **{f"sum_squared_{name}": float(value) for name, value in zip(names, squares, strict=True)},
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
