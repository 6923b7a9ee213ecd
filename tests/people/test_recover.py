"""Slow checks of whole studies: do intervals cover, do depths come back."""

import numpy as np
import pytest
from benchmarks.people_accuracy import shapes

from cobayes import people
from cobayes.people import Family


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, np.inf])
def test_intervals_cover_the_truth_as_often_as_they_say(depth):
    rng = np.random.default_rng(3)
    problems = {f"p{i}": rng.dirichlet(np.ones(8), size=3).T + 1e-3 for i in range(20)}
    found = people.recover(
        Family(depth=depth),
        problems,
        num_people=200,
        num_rounds=2,
        parameters={"rationality": 3.0, "lapse": 0.1},
        rng=4,
    )
    for name in ("rationality", "lapse"):
        # Of 200 intervals that cover with 0.95 each, fewer than 179 do with probability 0.001.
        assert found.coverage.loc[name, "coverage"] >= 179 / 200, name


@pytest.mark.slow
def test_depth_1_is_told_from_infinity_by_200_choices_on_40_problems():
    found = people.recover(
        Family(depth=(1, np.inf)),
        shapes(40, seed=1),
        num_people=40,
        num_rounds=5,
        parameters={"rationality": 3.0, "lapse": 0.02},
        rng=8,
    )
    assert found.num_choices == 200
    # If 0.95 are recovered on average, fewer than 33 of 40 are with probability 0.0006.
    assert found.depth_accuracy >= 33 / 40
