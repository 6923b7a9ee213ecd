"""Recovery of simulated people: coverage, confusion, time limits."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.people_accuracy import shapes

import cobayes as cb
from cobayes import people
from cobayes.people import Family

PROBLEM = {"one": [[0.6, 0.2, 0.3], [0.3, 0.1, 0.5], [0.1, 0.7, 0.2]]}


def test_recovery_counts_coverage_and_confusion():
    rng = np.random.default_rng(5)
    problems = {f"p{i}": rng.dirichlet(np.ones(8), size=3).T + 1e-3 for i in range(6)}
    family = Family(depth=(0, 1), lapse=0.05)
    found = people.recover(family, problems, num_people=40, num_rounds=5, rng=6)
    assert found.num_choices == 30
    assert found.confusion.to_numpy().sum(axis=1) == pytest.approx(1.0)
    assert found.depth_accuracy > 0.8
    row = found.coverage.loc["rationality"]
    # Of 40 intervals at least 33 cover with probability 0.9995 if each does with 0.95.
    assert row["coverage"] >= 33 / 40
    assert row["num_identified"] == 40
    with pytest.raises(cb.CobayesError, match="no parameter 'speed'"):
        people.recover(family, problems, num_people=2, num_rounds=1, parameters={"speed": 1.0})


def test_recovery_stops_at_its_time_limit_with_the_people_done():
    told = []
    settings = {"num_people": 120, "num_rounds": 2, "rng": 1}
    family = Family(depth=1, lapse=0.05)
    with pytest.warns(cb.CobayesWarning, match="50 of 120 people"):
        part = people.recover(family, PROBLEM, seconds=0.0, **settings)
    whole = people.recover(
        family, PROBLEM, progress=lambda _, share: told.append(share), **settings
    )
    assert told == [0.0, 50 / 120, 100 / 120, 1.0]
    pd.testing.assert_frame_equal(part.table, whole.table.head(50))


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
