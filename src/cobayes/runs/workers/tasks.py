"""One shard as a message to a worker, and what comes back."""

from __future__ import annotations

import functools
import os
import platform
import socket
import time
import traceback
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cobayes._version import __version__
from cobayes.runs.code import package_digest
from cobayes.runs.plan import ShardFunction, shard_seed
from cobayes.runs.statistics import pack

Key = tuple[int, int]

CODE = "code of cobayes"
"""Beside the versions of packages: the digest of cobayes's own code."""


@dataclass(frozen=True)
class Task:
    """Everything a worker needs to compute one shard of one of the runs that share it."""

    run: int
    key: Key
    function: ShardFunction
    parameters: dict[str, Any]
    num_samples: int
    seed: int
    experiment: str
    point: str


@dataclass(frozen=True)
class Outcome:
    """What became of a task: packed statistics, or an error."""

    run: int
    key: Key
    packed: bytes | None
    error: str | None
    seconds: float
    worker: str
    versions: tuple[tuple[str, str], ...]


@functools.cache
def versions_here() -> tuple[tuple[str, str], ...]:
    """Return the versions of all that can change the bits of a result."""
    found = [
        ("cobayes", __version__),
        ("python", ".".join(platform.python_version_tuple()[:2])),
    ]
    for package in ("numpy", "scipy", "numba"):
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "not installed"))
    found.append((CODE, package_digest()))
    return tuple(found)


def perform(task: Task) -> Outcome:
    """Compute a shard; an exception becomes part of the outcome, so no worker is lost to it.

    Parameters
    ----------
    task
        The shard.
    """
    start = time.perf_counter()
    packed, error = None, None
    try:
        seeds = shard_seed(task.seed, task.experiment, task.point, task.key[1])
        packed = pack(task.function(dict(task.parameters), seeds, task.num_samples))
    except Exception:
        error = traceback.format_exc()
    worker = f"{socket.gethostname()}:{os.getpid()}"
    seconds = time.perf_counter() - start
    return Outcome(task.run, task.key, packed, error, seconds, worker, versions_here())


def failure(task: Task, why: str) -> Outcome:
    """Return the outcome of a task whose worker died.

    Parameters
    ----------
    task
        The shard.
    why
        What is known about the death.
    """
    return Outcome(task.run, task.key, None, why, 0.0, "", versions_here())
