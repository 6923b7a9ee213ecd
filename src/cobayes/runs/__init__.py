"""Experiments in shards: resumable, reproducible to the bit, on one machine or on a cluster.

>>> import cobayes as cb
>>> points = [cb.runs.Point(f"n = {n}", {"n": n}, 1000, 100) for n in (2, 3)]
>>> experiment = cb.runs.Experiment("mine", points, shard_function, seed=7)  # doctest: +SKIP
>>> result = cb.runs.run(experiment, "results/mine")                         # doctest: +SKIP
"""

from __future__ import annotations

from cobayes.runs.engine import run, run_all
from cobayes.runs.failures import RunError, RunInterrupted, ShardError
from cobayes.runs.plan import Experiment, Point, shard_seed, suggest_samples_per_shard
from cobayes.runs.results import PointResult, RunResult
from cobayes.runs.state import PointState, RunState, find_runs, read_state
from cobayes.runs.statistics import (
    Estimate,
    add,
    concatenate,
    mean_estimate,
    proportion_estimate,
)
from cobayes.runs.workers import Executor, workers

__all__ = [
    "Estimate",
    "Executor",
    "Experiment",
    "Point",
    "PointResult",
    "PointState",
    "RunError",
    "RunInterrupted",
    "RunResult",
    "RunState",
    "ShardError",
    "add",
    "concatenate",
    "find_runs",
    "mean_estimate",
    "proportion_estimate",
    "read_state",
    "run",
    "run_all",
    "shard_seed",
    "suggest_samples_per_shard",
    "workers",
]
