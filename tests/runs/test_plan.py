from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobayes.errors import CobayesError
from cobayes.runs import Experiment, Point, plan, shard_seed, suggest_samples_per_shard

from .experiments import draw, estimate


@given(st.integers(1, 10**12), st.integers(1, 10**12))
def test_shards_together_draw_exactly_the_samples_of_the_point(num_samples, samples_per_shard):
    point = Point("p", {}, num_samples, max(samples_per_shard, num_samples // 50))
    sizes = [point.samples_in(shard) for shard in range(point.num_shards)]
    assert sum(sizes) == num_samples
    assert min(sizes) >= 1
    assert set(sizes[:-1]) <= {point.samples_per_shard}


def test_every_shard_is_planned_once_and_every_point_begins_early():
    experiment = Experiment(
        "x", [Point("a", {}, 3, 1), Point("b", {}, 1), Point("c", {}, 2, 1)], draw
    )
    assert list(experiment.shards()) == [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2)]
    assert experiment.num_shards == 6


def test_parameters_become_what_json_gives_back():
    point = Point("p", {"matrix": np.eye(2), "n": np.int64(3), "pair": (1, 2), "x": 0.1})
    assert point.parameters == {"matrix": [[1, 0], [0, 1]], "n": 3, "pair": [1, 2], "x": 0.1}


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}])
def test_parameters_that_json_cannot_hold_are_refused(value):
    with pytest.raises(CobayesError, match="point 'p' cannot be written as JSON"):
        Point("p", {"x": value})


@pytest.mark.parametrize("wrong", [0, -1, 1.5])
def test_sizes_must_be_whole_and_positive(wrong):
    with pytest.raises(CobayesError, match="num_samples of point 'p'"):
        Point("p", {}, wrong)
    with pytest.raises(CobayesError, match="samples_per_shard of point 'p'"):
        Point("p", {}, 10, wrong)


def test_two_points_with_one_name_are_refused():
    with pytest.raises(CobayesError, match="two points of 'x' are named 'a'"):
        Experiment("x", [Point("a"), Point("b"), Point("a")], draw)


def test_a_function_that_workers_cannot_import_is_refused():
    def local(parameters, seeds, num_samples):
        return {}

    for function in (local, lambda parameters, seeds, num_samples: {}, max):
        with pytest.raises(CobayesError, match="defined at the top of a module"):
            Experiment("x", [Point("a")], function)  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds_per_sample", [3e-7, 1e-4, 0.4])
def test_suggested_size_takes_about_the_time_asked_for(monkeypatch, seconds_per_sample):
    """By a clock that goes on by what a sample costs, not by the machine's."""
    now = 0.0

    def shard(parameters, seeds, num_samples):
        nonlocal now
        now += num_samples * seconds_per_sample
        return {}

    monkeypatch.setattr(plan.time, "perf_counter", lambda: now)
    size = suggest_samples_per_shard(shard, {}, seconds=1.5)
    assert size in {step * 10**power for step in (1, 2, 5) for power in range(9)}
    assert 1.5 / 2.5 <= size * seconds_per_sample <= 1.5 or size == 1


def test_identity_is_the_same_for_equal_plans():
    one = Experiment("x", [Point("a", {"v": np.ones(2)})], draw, estimate=estimate)
    two = Experiment("x", (Point("a", {"v": [1.0, 1.0]}),), draw)
    assert one.identity() == two.identity()


def test_seed_does_not_depend_on_the_hash_seed_of_the_process():
    program = (
        "from cobayes.runs import shard_seed;"
        "print(shard_seed(5, 'rates', 'n = 3', 7).generate_state(2).tolist())"
    )
    seen = {
        subprocess.check_output(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": value}
        )
        for value in ("1", "2")
    }
    here = shard_seed(5, "rates", "n = 3", 7).generate_state(2).tolist()
    assert seen == {f"{here}\n".encode()}


def test_streams_differ_in_seed_experiment_point_and_shard():
    paths = [
        (0, "a", "b", 0),
        (1, "a", "b", 0),
        (0, "a", "b", 1),
        (0, "a", "c", 0),
        (0, "ab", "", 0),
        (0, "", "ab", 0),
        (0, "b", "a", 0),
        (0, "1:a", "b", 0),
    ]
    states = {tuple(shard_seed(*path).generate_state(4).tolist()) for path in paths}
    assert len(states) == len(paths)


def test_stream_of_a_shard_ignores_how_many_points_and_shards_there_are():
    few = Experiment("x", [Point("b", {}, 10, 10)], draw)
    many = Experiment("x", [Point("a"), Point("b", {}, 1000, 10)], draw)
    assert np.array_equal(
        few.seed_sequence(0, 0).generate_state(8), many.seed_sequence(1, 0).generate_state(8)
    )
