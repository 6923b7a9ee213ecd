from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from cobayes.runs import Experiment, Point, shard_seed

from .experiments import draw


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
