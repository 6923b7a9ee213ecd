"""Local worker processes, one thread each, that die with the run and are replaced when lost."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from cobayes.runs.workers import one_thread
from cobayes.runs.workers.tasks import Outcome, Task, failure, perform

_TASKS_PER_WORKER = 2


class LocalProcesses:
    """Computes shards in processes of this machine.

    Parameters
    ----------
    num_workers
        How many processes.
    """

    def __init__(self, num_workers: int) -> None:
        self.num_workers = num_workers
        self.capacity = _TASKS_PER_WORKER * num_workers
        self.description = f"{num_workers} local processes"
        self._workers: list[_Worker] = []

    def submit(self, task: Task) -> None:
        """Give a task to the worker with the least to do."""
        if len(self._workers) < self.num_workers:
            self._workers.append(_Worker())
            self._workers[-1].give(task)
            return
        min(self._workers, key=lambda worker: len(worker.tasks)).give(task)

    def wait(self, timeout: float) -> list[Outcome]:
        """Return what has finished; the first task of a dead worker counts as failed."""
        outcomes: list[Outcome] = []
        busy: dict[Any, _Worker] = {w.connection: w for w in self._workers if w.tasks}
        for connection in wait(list(busy), timeout):
            worker = busy[connection]
            outcome = worker.take()
            if outcome is None:
                outcomes.append(self._replace(worker))
            elif isinstance(outcome, Outcome):
                outcomes.append(outcome)
        return outcomes

    def abandon(self) -> None:
        """End the workers, whatever they are doing; new ones start when they are needed."""
        self.close()

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        for worker in self._workers:
            worker.connection.close()
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _replace(self, dead: _Worker) -> Outcome:
        failed, *waiting = dead.tasks
        why = dead.end()
        if not dead.is_ready:
            why += (
                " before it was ready; if a script starts the run, "
                'the call must stand under `if __name__ == "__main__":`'
            )
        fresh = _Worker()
        self._workers[self._workers.index(dead)] = fresh
        for task in waiting:
            fresh.give(task)
        return failure(failed, why)


class _Worker:
    """A worker process as its parent sees it."""

    def __init__(self) -> None:
        # Not fork: threads and locks of this process would be copied in any state. Nothing of
        # ours but the pipe is inherited, so the folder's lock ends with this process.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.tasks: deque[Task] = deque()
        self.is_ready = False
        self._process = context.Process(
            target=_work, args=(theirs,), daemon=True, name="cobayes-worker"
        )
        try:
            with one_thread.environment(), _interrupts_blocked():
                self._process.start()
        except OSError:
            self.connection.close()
            raise
        finally:
            theirs.close()

    def give(self, task: Task) -> None:
        self.tasks.append(task)
        # A dead worker is noticed, and its tasks given away, when its pipe is read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(task)

    def take(self) -> Outcome | bool | None:
        """Return an outcome, True for the first sign of life, or None if it is dead."""
        try:
            message = self.connection.recv()
        except (EOFError, ConnectionResetError):
            return None
        if message is True:
            self.is_ready = True
        else:
            self.tasks.popleft()
        return message

    def end(self) -> str:
        """Make sure that the process has ended and say how."""
        self.connection.close()
        self._process.join(0.5)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        code = self._process.exitcode or 0
        self._process.close()
        if code < 0:
            return f"the worker process was killed by {signal.Signals(-code).name}"
        return f"the worker process ended with exit code {code}"


def _work(connection: Connection) -> None:
    """Compute tasks until the parent closes the pipe or dies."""
    # Ctrl-C reaches the whole process group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one_thread.for_good()
    tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()

    def receive() -> None:
        while True:
            try:
                tasks.put(connection.recv())
            except (EOFError, OSError):
                # Nobody is left to hear the result of the shard being computed.
                os._exit(0)

    def send(message: object) -> None:
        try:
            connection.send(message)
        except OSError:
            os._exit(0)

    send(True)
    threading.Thread(target=receive, daemon=True).start()
    while True:
        send(perform(tasks.get()))


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Let a worker be born deaf to Ctrl-C: until it can ignore it, it would print a traceback."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
