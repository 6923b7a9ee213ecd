"""Generators and seeds from the user's argument `rng`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError


def generator(rng: Any = None) -> np.random.Generator:
    """Return the generator that `numpy.random.default_rng` makes, or a clear error.

    Parameters
    ----------
    rng
        None, an integer >= 0, a SeedSequence, a BitGenerator or a
        Generator, which is returned as it is.
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise CobayesError(
            f"rng is {rng!r}; expected a seed: {error}.",
            "give an integer >= 0, or a numpy Generator.",
        ) from error


def seed_of(rng: Any) -> int:
    """Return 64 random bits, the seed of a call of the native core.

    A seed or a SeedSequence gives the same bits every time it is used; a Generator moves on, as it
    does when numbers are drawn from it.
    """
    return int(generator(rng).integers(2**64, dtype=np.uint64))


def spawn_generators(rng: Any, count: int) -> list[np.random.Generator]:
    """Return independent generators; see `seed_of` for what repeats."""
    return np.random.default_rng(seed_of(rng)).spawn(count)


def draw(shares: NDArray[np.float64], uniform: float) -> int:
    """Draw a datum from its distribution by one uniform number; never one of probability zero."""
    sums = np.cumsum(shares)
    datum = int(np.searchsorted(sums, uniform * sums[-1], side="right"))
    return min(datum, int(np.flatnonzero(shares)[-1]))
