from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobayes.errors import CobayesError
from cobayes.runs import Experiment, Point, suggest_samples_per_shard
from cobayes.runs.plan import _digest_of

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


def test_digest_of_code_notices_a_change_but_no_comment():
    def digest(source: str) -> str:
        names: dict = {}
        exec(source, names)
        return _digest_of(names["f"].__code__)

    first = digest("def f(x):\n    return x in {'a', 'b'} or x + 1\n")
    assert digest("def f(x):\n    # why\n\n    return x in {'b', 'a'} or x + 1\n") == first
    assert digest("def f(x):\n    return x in {'a', 'b'} or x + 2\n") != first
    assert digest("def f(x):\n    return x in {'a', 'c'} or x + 1\n") != first


def test_suggested_size_takes_about_the_time_asked_for():
    size = suggest_samples_per_shard(draw, {"scale": 1.0}, seconds=0.05)
    assert size in {step * 10**power for step in (1, 2, 5) for power in range(9)}
    # A lognormal costs 5 to 500 ns, whatever the machine does at the same time.
    assert 0.05 / 500e-9 / 5 <= size <= 0.05 / 5e-9


def test_identity_is_the_same_for_equal_plans():
    one = Experiment("x", [Point("a", {"v": np.ones(2)})], draw, estimate=estimate)
    two = Experiment("x", (Point("a", {"v": [1.0, 1.0]}),), draw)
    assert one.identity() == two.identity()
