"""Random streams named by experiment, point and shard, not by who computes them when."""

from __future__ import annotations

import hashlib

import numpy as np


def shard_seed(seed: int, experiment: str, point: str, shard: int) -> np.random.SeedSequence:
    """Return the seed sequence of one shard.

    It is the child of ``SeedSequence(seed)`` whose spawn key is the SHA-256 of the two names,
    followed by the shard's position. Python's own ``hash`` differs from process to process.

    Parameters
    ----------
    seed
        The seed of the whole experiment, not negative.
    experiment, point
        Names.
    shard
        Position of the shard within the point.

    Examples
    --------
    >>> rng = np.random.default_rng(shard_seed(7, "rates", "n = 3", 0))
    """
    # A length before each name: ("ab", "c") and ("a", "bc") must not collide.
    text = "".join(f"{len(name)}:{name}" for name in (experiment, point))
    digest = hashlib.sha256(text.encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.SeedSequence(seed, spawn_key=(*words, shard))
