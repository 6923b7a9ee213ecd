"""Where shards are computed: one interface, three places."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from cobayes._runtime import threads
from cobayes.errors import CobayesError
from cobayes.runs.workers import one_thread
from cobayes.runs.workers.tasks import Outcome, Task, perform


class Executor(Protocol):
    """Computes tasks, a few at a time, and hands back outcomes in any order.

    Examples
    --------
    >>> from cobayes.runs import workers
    >>> with workers(jobs=1) as executor:
    ...     executor.num_workers, executor.capacity >= 1
    (1, True)
    """

    description: str

    @property
    def num_workers(self) -> int:
        """How many shards are computed at once."""
        ...

    @property
    def capacity(self) -> int:
        """How many tasks may be in flight: a few per worker, so that none waits for us."""
        ...

    def submit(self, task: Task) -> None:
        """Take a task."""
        ...

    def wait(self, timeout: float) -> list[Outcome]:
        """Return what has finished, after at most this many seconds if possible."""
        ...

    def abandon(self) -> None:
        """Forget what is in flight; what is submitted later is computed as usual."""
        ...

    def close(self) -> None:
        """Let the workers go; abandon what is in flight."""
        ...


class InProcess:
    """Computes shards in the calling process, one after the other, on one thread."""

    num_workers = 1
    capacity = 1

    def __init__(self) -> None:
        self.description = "this process"
        self._tasks: list[Task] = []

    def submit(self, task: Task) -> None:
        """Take a task."""
        self._tasks.append(task)

    def wait(self, timeout: float) -> list[Outcome]:  # noqa: ARG002
        """Compute what was submitted."""
        with one_thread.here():
            outcomes = [perform(task) for task in self._tasks]
        self._tasks.clear()
        return outcomes

    def abandon(self) -> None:
        """Forget what was submitted."""
        self._tasks.clear()

    def close(self) -> None:
        """Forget what was submitted."""
        self.abandon()


@contextlib.contextmanager
def workers(*, jobs: int | None = None, scheduler: Any = None) -> Iterator[Executor]:
    """Keep one set of workers for several runs: ``with workers(jobs=2) as executor``.

    Parameters
    ----------
    jobs
        Number of local processes; 1 is this process alone; all cores when left out.
    scheduler
        Address or scheduler file of a Dask cluster, or a `distributed.Client`.

    Yields
    ------
    Executor
        For `run(..., executor=...)`; it is closed at the end.

    Examples
    --------
    >>> from cobayes.runs import workers
    >>> with workers(jobs=1) as executor:
    ...     executor.num_workers
    1
    """
    executor = choose_executor(jobs=jobs, scheduler=scheduler)
    try:
        yield executor
    finally:
        executor.close()


def choose_executor(
    function: Any = None, *, jobs: int | None = None, scheduler: Any = None
) -> Executor:
    """Return the executor that the options ask for.

    Parameters
    ----------
    function
        The shard function, which workers must be able to import.
    jobs
        Number of local processes; 1 is this process alone. When left out, all cores, or this
        process where others could not import the function (a notebook).
    scheduler
        Address or scheduler file of a Dask cluster, or a `distributed.Client`.
    """
    if scheduler is not None:
        if jobs is not None:
            raise CobayesError(
                "both jobs and scheduler are given; the scheduler knows its own workers.",
                "leave out one of them",
            )
        from cobayes.runs.workers.cluster import DaskCluster

        return DaskCluster(scheduler)
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise CobayesError(f"jobs is {jobs!r}; expected an integer >= 1.")
    if jobs == 1:
        return InProcess()
    if function is not None and not _importable_by_workers(function):
        if jobs is None:
            return InProcess()
        raise CobayesError(
            f"other processes cannot import the shard function {function.__qualname__!r}, "
            "which was defined interactively.",
            "put it into a module, or use jobs=1",
        )
    count = jobs or threads.available_cores()
    if count == 1:
        return InProcess()
    from cobayes.runs.workers.processes import LocalProcesses

    return LocalProcesses(count)


def _importable_by_workers(function: Any) -> bool:
    if function.__module__ != "__main__":
        return True
    main = sys.modules["__main__"]
    if getattr(main, "__spec__", None) is not None:
        return True
    path = getattr(main, "__file__", None)
    return path is not None and os.path.exists(Path(path))
