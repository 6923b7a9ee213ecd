"""Workers of a Dask cluster, found by the address or the file of its scheduler."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import time
from typing import Any

from cobayes.errors import import_optional
from cobayes.runs.failures import RunError
from cobayes.runs.workers import one_thread
from cobayes.runs.workers.tasks import Outcome, Task, failure, perform

_TASKS_PER_THREAD = 2
_SECONDS_TO_CONNECT = 15
_SECONDS_BETWEEN_COUNTS = 2.0


class DaskCluster:
    """Computes shards on the workers of a Dask scheduler.

    Workers may come and go: Dask gives a lost worker's shards to others. Every worker needs
    the same versions of cobayes, Python, NumPy, SciPy and Numba as this process.

    Parameters
    ----------
    scheduler
        An address (``tcp://host:8786``), the path of a scheduler file, or a
        `distributed.Client`, which is left open.
    """

    def __init__(self, scheduler: Any) -> None:
        distributed = import_optional("distributed", "cluster", "A Dask scheduler")
        self._owns_client = not isinstance(scheduler, distributed.Client)
        self._where = (
            str(scheduler)
            if self._owns_client
            else getattr(scheduler.scheduler, "address", "the client")
        )
        logs = [logging.getLogger(f"distributed.{name}") for name in ("client", "batched")]
        self._log_levels = [(log, log.level) for log in logs] if self._owns_client else []
        for log, _ in self._log_levels:
            # Of a scheduler that is gone we say so ourselves, in one line and no traceback.
            log.setLevel(logging.CRITICAL)
        try:
            self._client = self._connect(distributed, scheduler) if self._owns_client else scheduler
        except BaseException:
            self._restore_logs()
            raise
        self.description = f"Dask at {self._where}"
        self._futures: dict[Any, tuple[Any, Task]] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._submitted = 0
        self._threads = 0
        self._counted_at = float("-inf")

    @property
    def num_workers(self) -> int:
        """How many threads the workers have at present."""
        now = time.monotonic()
        if now - self._counted_at > _SECONDS_BETWEEN_COUNTS:
            self._counted_at = now
            # A scheduler that is busy or gone, a client that is closed: the last count stands.
            with contextlib.suppress(Exception):
                self._threads = sum(self._client.nthreads().values())
        return self._threads

    @property
    def capacity(self) -> int:
        """How many tasks may be in flight; at least a few, to wait for the first worker."""
        return _TASKS_PER_THREAD * max(1, self.num_workers)

    def submit(self, task: Task) -> None:
        """Send a task to the scheduler."""
        self._check_scheduler()
        self._submitted += 1
        # A retried shard must not find its failed predecessor under the same key.
        key = f"cobayes-{os.getpid()}-{id(self)}-{self._submitted}"
        future = self._client.submit(
            perform_on_cluster, task, key=key, pure=False, retries=0, priority=-self._submitted
        )
        self._futures[key] = (future, task)
        future.add_done_callback(lambda done: self._done.put(done.key))

    def wait(self, timeout: float) -> list[Outcome]:
        """Return what has finished."""
        keys: list[str] = []
        with contextlib.suppress(queue.Empty):
            keys.append(self._done.get(timeout=timeout))
            while True:
                keys.append(self._done.get_nowait())
        if not keys:
            self._check_scheduler()
        # Abandoned ones report too, when they are cancelled.
        return [self._collect(key) for key in keys if key in self._futures]

    def abandon(self) -> None:
        """Cancel what is in flight."""
        futures = [future for future, _ in self._futures.values()]
        self._futures.clear()
        if self._client.status == "running" and futures:
            with contextlib.suppress(Exception):
                self._client.cancel(futures, force=True)

    def close(self) -> None:
        """Cancel what is in flight and disconnect."""
        self.abandon()
        if self._owns_client:
            with contextlib.suppress(Exception):
                self._client.close(timeout=2)
        self._restore_logs()

    def _restore_logs(self) -> None:
        for log, level in self._log_levels:
            log.setLevel(level)

    def _collect(self, key: str) -> Outcome:
        future, task = self._futures.pop(key)
        if future.status == "finished":
            try:
                return future.result(timeout=30)
            except Exception as error:
                # The result's only worker may die before we fetch it.
                self._check_scheduler()
                return failure(task, f"its result was lost on the way: {error!r}")
        self._check_scheduler()
        if future.status == "error":
            return failure(task, f"Dask gave up on it: {future.exception(timeout=30)!r}")
        if future.status == "cancelled" or future.status == "lost":
            raise self._scheduler_gone()
        return failure(task, f"Dask reports its state as {future.status!r}")

    def _check_scheduler(self) -> None:
        if self._client.status != "running":
            raise self._scheduler_gone()

    def _scheduler_gone(self) -> RunError:
        return RunError(
            f"the Dask scheduler at {self._where} is gone.",
            "start it again; the same command then goes on where this one stopped",
        )

    @staticmethod
    def _connect(distributed: Any, scheduler: Any) -> Any:
        where = os.fspath(scheduler)
        if "://" not in where and (os.path.exists(where) or where.endswith(".json")):
            if not os.path.exists(where):
                raise RunError(
                    f"there is no scheduler file {where!r}.",
                    "start one with: dask scheduler --scheduler-file FILE",
                )
            options = {"scheduler_file": where}
        else:
            options = {"address": where}
        try:
            return distributed.Client(**options, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise RunError(
                f"no Dask scheduler answers at {where!r}: {error}",
                "start one with `dask scheduler`, and give its address or its scheduler file",
            ) from error


def perform_on_cluster(task: Task) -> Outcome:
    """Compute a shard on a Dask worker, which may run several at once.

    Parameters
    ----------
    task
        The shard.
    """
    one_thread.for_good()
    return perform(task)
