"""From whatever the user gives as `rng` to independent streams."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def spawn_sequences(rng: Any, count: int) -> list[np.random.SeedSequence]:
    """Return independent seed sequences, the same ones for the same seed.

    A seed or a SeedSequence gives the same children every time it is used; a Generator moves
    on, as it does when numbers are drawn from it.

    Parameters
    ----------
    rng
        See `generator`.
    count
        The number of sequences.
    """
    if isinstance(rng, np.random.SeedSequence):
        # Spawning counts in the sequence itself: the caller's must stay as it is.
        rng = np.random.SeedSequence(rng.entropy, spawn_key=rng.spawn_key, pool_size=rng.pool_size)
    source = generator(rng).bit_generator.seed_seq
    if not isinstance(source, np.random.SeedSequence):
        raise CobayesError(
            f"the random generator {rng!r} was not made from a seed sequence and has no children.",
            "give a seed, or numpy.random.default_rng(seed).",
        )
    return source.spawn(count)


def spawn_generators(rng: Any, count: int) -> list[np.random.Generator]:
    """Return independent generators; see `spawn_sequences`."""
    return [np.random.default_rng(sequence) for sequence in spawn_sequences(rng, count)]
