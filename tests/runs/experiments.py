"""Experiments that the tests run, in this process and in others: importable, cheap, exact."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from cobayes.runs import Estimate, Experiment, Point, mean_estimate


class Gate:
    """A folder of signals: shards wait, in any process, until the test allows them to continue.

    So a test can act in the middle of a run, on a machine of any speed.
    """

    def __init__(self, folder) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(exist_ok=True)

    def open(self, num_shards: int) -> None:
        """Allow the first `num_shards` shards of every point to continue."""
        (self.folder / "new").write_text(str(num_shards))
        (self.folder / "new").replace(self.folder / "open")

    def enter(self, scale: float, shard: int) -> None:
        """Note that a shard has begun, and wait until it may continue."""
        (self.folder / f"begun {scale} {shard}").touch()
        is_open = self.folder / "open"
        while not is_open.exists() or shard >= int(is_open.read_text()):
            time.sleep(0.01)

    @property
    def num_begun(self) -> int:
        """The number of shards that have begun so far."""
        return len(list(self.folder.glob("begun *")))


def draw(parameters, seeds, num_samples):
    """Return sums of floats, whose last bits depend on the order of the summands."""
    if parameters.get("gate"):
        Gate(parameters["gate"]).enter(parameters["scale"], seeds.spawn_key[-1])
    if parameters.get("shuffle"):  # so that shards finish in another order than they start in
        time.sleep(0.004 * (7 * seeds.spawn_key[-1] % 5))
    sample = np.random.default_rng(seeds).lognormal(0.0, parameters["scale"], num_samples)
    return {
        "count": num_samples,
        "total": sample.sum(),
        "total_of_squares": (sample**2).sum(),
        "above": int((sample > 1).sum()),
        "histogram": np.histogram(np.log(sample), bins=5, range=(-2, 2))[0].astype(np.int32),
        "logs": np.log(sample[:3]),
    }


def estimate(statistics, parameters) -> dict[str, Estimate]:
    return {
        "mean": mean_estimate(
            statistics["count"], statistics["total"], statistics["total_of_squares"]
        ),
        "above": mean_estimate(statistics["count"], statistics["above"], statistics["above"]),
    }


def drawing(num_shards=20, *, gate="", num_points=2, seed=3, **options) -> Experiment:
    """The standard experiment: the last shard of every point is smaller than the others."""
    points = [
        Point(
            f"scale {k + 1}",
            {"scale": (k + 1) / 10, "gate": str(gate)},
            num_samples=100 * num_shards - 37,
            samples_per_shard=100,
        )
        for k in range(num_points)
    ]
    return Experiment("drawing", points, draw, seed=seed, estimate=estimate, **options)


def fail(parameters, seeds, num_samples):
    """Fail in the shard at position `bad_shard`."""
    if seeds.spawn_key[-1] == parameters["bad_shard"]:
        raise ZeroDivisionError("as the test asked")
    return {"count": num_samples}


def fail_at_first(parameters, seeds, num_samples):
    """Fail at the first `num_failures` attempts of a shard; each attempt leaves a file."""
    shard = seeds.spawn_key[-1]
    tries = len(list(Path(parameters["folder"]).glob(f"{shard}-*")))
    Path(parameters["folder"], f"{shard}-{tries}").touch()
    if tries < parameters["num_failures"]:
        raise RuntimeError("not yet")
    return {"value": np.random.default_rng(seeds).random()}


def die(parameters, seeds, num_samples):
    """Kill this process in shard `bad_shard`: at each attempt, or, with a folder, at the first."""
    mark = Path(parameters.get("folder", "/nowhere"), f"died-{seeds.spawn_key[-1]}")
    if seeds.spawn_key[-1] == parameters["bad_shard"] and not mark.exists():
        if "folder" in parameters:
            mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": np.random.default_rng(seeds).random()}


def bulky(parameters, seeds, num_samples):
    """Return many bytes."""
    return {"noise": np.random.default_rng(seeds).random(num_samples)}


def bulky_experiment() -> Experiment:
    return Experiment("bulky", [Point("noise", {}, 40 * 2000, 2000)], bulky)


def solve(parameters, seeds, num_samples):
    """Solve a linear system that is large enough for BLAS to use several threads."""
    rng = np.random.default_rng(seeds)
    return {"solution": np.linalg.solve(rng.random((200, 200)), rng.random((200, 50)))}
