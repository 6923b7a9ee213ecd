"""The run engine: speed-up on two processes, and what the engine itself costs.

Run alone with ``python -m benchmarks.bench_runs``.
"""

from __future__ import annotations

import tempfile
import time

import numpy as np

from cobayes.runs import Experiment, Point, RunResult, run

NUM_POINTS = 4
SHARDS_PER_POINT = 32
SAMPLES_PER_SHARD = 10_000


def compute(parameters, seeds, num_samples):
    """Work in the processor's cache, about half a second a shard, without other threads."""
    rng = np.random.default_rng(seeds)
    total = 0.0
    for _ in range(num_samples):
        total += np.log(rng.random(parameters["size"])).sum()
    return {"total": total}


def experiment() -> Experiment:
    points = [
        Point(
            f"point {k}", {"size": 10_000}, SHARDS_PER_POINT * SAMPLES_PER_SHARD, SAMPLES_PER_SHARD
        )
        for k in range(NUM_POINTS)
    ]
    return Experiment("bench", points, compute)


def timed(jobs: int) -> tuple[float, RunResult]:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        result = run(experiment(), folder, jobs=jobs)
        return time.perf_counter() - start, result


def rows() -> list[dict[str, object]]:
    """One row per measure: name, value, unit, and the least or most it should be."""
    one, first = timed(1)
    two, second = timed(2)
    if first.digest != second.digest:
        raise RuntimeError("one and two processes gave different bits")
    work = sum(point.seconds for point in first.points)
    busy = sum(point.seconds for point in second.points) / (2 * two)
    return [
        {
            "name": "runs: speed-up on 2 processes, starting them included",
            "value": one / two,
            "unit": "x",
            "target": ">= 1.8",
        },
        {
            # Says what the engine loses even where other programs keep the cores busy.
            "name": "runs: share of its time that a worker computes, 2 processes",
            "value": 100 * busy,
            "unit": "%",
            "target": ">= 90",
        },
        {
            "name": "runs: overhead of the engine, 1 process",
            "value": 100 * (one - work) / work,
            "unit": "%",
            "target": "<= 3",
        },
        {
            "name": "runs: time of 1 process",
            "value": one,
            "unit": "s",
            "target": "",
        },
    ]


if __name__ == "__main__":
    for row in rows():
        print(f"{row['name']:60} {row['value']:8.3g} {row['unit']:3} {row['target']}")
