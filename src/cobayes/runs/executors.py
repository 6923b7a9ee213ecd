"""Executors for shards: this process, processes of this machine, and a Dask cluster.

Each shard is computed on one thread, because the rounding of large matrix products depends on the
number of BLAS threads. So results have the same bits with any executor.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any

import threadpoolctl

from cobayes import _parallel
from cobayes._input.validation import whole_number
from cobayes.errors import CobayesError, import_optional
from cobayes.runs.ledger import RunError

_SECONDS_TO_CONNECT = 15
# Memory of an idle worker process with NumPy, SciPy and cobayes, as `ps -o rss` shows it.
_BYTES_PER_PROCESS = 1e8


@contextlib.contextmanager
def workers(*, jobs: int | None = None, scheduler: Any = None) -> Iterator[Executor]:
    """Keep one set of workers for several runs: ``with workers(jobs=2) as executor``.

    Parameters
    ----------
    jobs
        Number of processes of this machine; 1 computes in this process (default: one per core).
    scheduler
        Address or scheduler file of a Dask cluster.

    Yields
    ------
    Executor
        An executor for `run(..., executor=...)`; it is shut down when the block ends.

    Examples
    --------
    >>> from cobayes.runs import workers
    >>> with workers(jobs=1) as executor:
    ...     executor.submit(sum, [1, 2]).result()
    3
    """
    if scheduler is not None and jobs is not None:
        raise CobayesError(
            "both jobs and scheduler are given; a scheduler has its own workers.",
            "give only one of them.",
        )
    if scheduler is not None:
        with _cluster(os.fspath(scheduler)) as client:
            yield client.get_executor(pure=False)
        return
    count = _parallel.CORES if jobs is None else whole_number(jobs, "jobs", 1)
    memory = count * _BYTES_PER_PROCESS
    _parallel.require_affordable(f"{count} processes", "use fewer jobs.", num_bytes=memory)
    with Processes(count) if count > 1 else ThisProcess() as executor:
        yield executor


class ThisProcess(Executor):
    """An executor that computes in the calling thread."""

    num_workers = 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function; the future keeps its result or exception."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(Executor):
    """The standard process pool; a new one replaces a pool in which a worker died.

    Parameters
    ----------
    num_workers
        Number of processes; they start when they are needed.
    """

    def __init__(self, num_workers: int) -> None:
        self.num_workers = num_workers
        self._pool: ProcessPoolExecutor | None = None
        self._alive: Any = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call to the pool."""
        with _interrupts_blocked():
            try:
                return self._started().submit(fn, *args, **kwargs)
            except BrokenExecutor:
                self.kill()
                return self._started().submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when the submitted calls have ended."""
        if self._pool is not None:
            self._pool.shutdown(wait, cancel_futures=cancel_futures)
            self._pool = None

    def kill(self) -> None:
        """End the processes at once, also during a computation."""
        if self._pool is not None:
            self._alive.close()
            self.shutdown(cancel_futures=True)

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Processes are not forked: a fork would copy threads and locks in an undefined state.
            context = multiprocessing.get_context("spawn")
            end, self._alive = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(self.num_workers, context, _start_worker, (end,))
        return self._pool


def _start_worker(end: Any) -> None:
    """Prepare a worker process, which ends when its parent closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C, not the workers

    def watch() -> None:
        with contextlib.suppress(OSError):
            end.poll(None)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


class OneThread:
    """Limits this process to one thread while at least one ``with`` block is active."""

    def __init__(self) -> None:
        self._lock, self._num_users, self._limits = threading.Lock(), 0, contextlib.ExitStack()

    def __enter__(self) -> None:
        import scipy.linalg  # noqa: F401 - its BLAS can be limited only after it is loaded

        with self._lock:
            if self._num_users == 0:
                self._limits.callback(_parallel.set_num_threads, _parallel.num_threads())
                _parallel.set_num_threads(1)
                self._limits.enter_context(threadpoolctl.threadpool_limits(1))
            self._num_users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._num_users -= 1
            if self._num_users == 0:
                self._limits.close()


one_thread = OneThread()


def num_workers(executor: Executor) -> int:
    """Return the number of workers of an executor; the number of cores if it is unknown.

    Parameters
    ----------
    executor
        An executor of this module, the standard library, Dask or mpi4py.
    """
    client = getattr(executor, "_client", None)
    if client is not None:  # Dask: each thread counts as a worker; their number may change
        with contextlib.suppress(Exception):
            return sum(client.nthreads().values())
    found = getattr(executor, "num_workers", None) or getattr(executor, "_max_workers", None)
    return found if isinstance(found, int) else _parallel.CORES


@contextlib.contextmanager
def _cluster(where: str) -> Iterator[Any]:
    distributed = import_optional("distributed", "cluster", "A Dask scheduler")
    kind = "scheduler_file" if os.path.exists(where) else "address"
    options = {kind: where, "timeout": _SECONDS_TO_CONNECT, "set_as_default": False}
    with contextlib.ExitStack() as stack:
        # A lost scheduler is reported by one error, without Dask's tracebacks. The filters stay,
        # because Dask's tasks log tracebacks when they are garbage-collected, possibly after the
        # client is closed.
        for name in ("asyncio", "tornado.application", "distributed.core", "distributed.utils"):
            logging.getLogger(name).addFilter(_is_no_lost_connection)
        for name in ("distributed.client", "distributed.batched"):
            log = logging.getLogger(name)
            stack.callback(log.setLevel, log.level)
            log.setLevel(logging.CRITICAL)
        try:
            client = distributed.Client(**options)
        except (OSError, TimeoutError, ValueError) as error:
            raise RunError(
                f"no Dask scheduler answers at {where!r}: {error}",
                "give the address of a running `dask scheduler`, or the file that it wrote with "
                "--scheduler-file.",
            ) from error
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=2)


def _is_no_lost_connection(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], OSError))


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C while worker processes start, since they do not ignore it yet."""
    mask = getattr(signal, "pthread_sigmask", None)
    before = mask(signal.SIG_BLOCK, [signal.SIGINT]) if mask else ()
    try:
        yield
    finally:
        if mask:
            mask(signal.SIG_SETMASK, before)
