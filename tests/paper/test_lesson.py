"""The section "worked lesson": averages over lessons."""

import numpy as np
import pytest

from cobayes import SCBI, examples, simulate
from cobayes.paper import lesson


def test_sums_of_a_shard_are_those_of_the_beliefs():
    found = lesson.average_shard({"rule": "SCBI", "num_rounds": 3}, np.random.SeedSequence(1), 50)
    example, rng = examples[lesson.EXAMPLE], np.random.default_rng(np.random.SeedSequence(1))
    counts = {"num_rounds": 3, "num_lessons": 50}
    paths = simulate(SCBI(example), example.hypothesis, **counts, rng=rng).paths
    beliefs = np.exp(paths[:, :, example.model.hypothesis_index(example.hypothesis)])
    assert found["total"] == pytest.approx(beliefs.sum(axis=0))
    assert found["squares"] == pytest.approx((beliefs**2).sum(axis=0))
