"""Experiments in shards: resumable, the same bits on one core and on a cluster.

>>> import cobayes as cb
>>> points = [cb.runs.Point(f"n = {n}", {"n": n}, 1000, 100) for n in (2, 3)]
>>> experiment = cb.runs.Experiment("mine", points, shard_function, seed=7)  # doctest: +SKIP
>>> result = cb.runs.run(experiment, "results/mine")                         # doctest: +SKIP
"""

from __future__ import annotations

from cobayes.runs.executors import workers
from cobayes.runs.plan import Experiment, Point, shard_seed
from cobayes.runs.progress import RunState, find_runs, read_state
from cobayes.runs.run import RunInterrupted, run, run_all
from cobayes.runs.statistics import (
    Estimate,
    PointResult,
    RunResult,
    add,
    concatenate,
    mean_estimate,
    proportion_estimate,
)
from cobayes.runs.store import PointState, RunError

__all__ = [
    "Estimate",
    "Experiment",
    "Point",
    "PointResult",
    "PointState",
    "RunError",
    "RunInterrupted",
    "RunResult",
    "RunState",
    "add",
    "concatenate",
    "find_runs",
    "mean_estimate",
    "proportion_estimate",
    "read_state",
    "run",
    "run_all",
    "shard_seed",
    "workers",
]
