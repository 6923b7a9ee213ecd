"""Running experiments: from the plans through shared workers into the ledgers, and on again."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cobayes.runs.failures import (
    RunError,
    RunInterrupted,
    are_descriptors_used_up,
    too_few_descriptors,
    what_is_kept,
)
from cobayes.runs.folder import command_line, delete_run
from cobayes.runs.lock import FolderLock
from cobayes.runs.plan import Experiment
from cobayes.runs.progress import Reporter, choose_reporter
from cobayes.runs.results import RunResult
from cobayes.runs.state import RunState
from cobayes.runs.work import Work
from cobayes.runs.workers import Executor, choose_executor

_SECONDS_BETWEEN_REPORTS = 1.0
_SECONDS_TO_WAIT = 0.5


def run(
    experiment: Experiment,
    folder: str | Path,
    *,
    jobs: int | None = None,
    scheduler: Any = None,
    executor: Executor | Callable[[], Executor] | None = None,
    fresh: bool = False,
    progress: bool | Callable[[RunState], None] = False,
) -> RunResult:
    """Run an experiment in a folder, or go on where an earlier run there stopped.

    The result is the same bits whatever the workers, and however often it was interrupted.

    Parameters
    ----------
    experiment
        The plan.
    folder
        Where ledger and manifest are kept; made if it does not exist.
    jobs
        Number of local processes; 1 is this process alone; all cores when left out.
    scheduler
        Address or scheduler file of a Dask cluster, or a `distributed.Client`.
    executor
        Workers to share between runs, from `workers`, in place of jobs and scheduler; or a
        function that returns them and is called only if there is something to compute.
    fresh
        Delete the run that is in the folder and start over.
    progress
        True shows progress on standard error; a function is called with the state instead.

    Returns
    -------
    RunResult
        The statistics of every point; the same bits for any number of workers.

    Raises
    ------
    RunError
        The folder holds another run, or is in use, or cannot be written; a scheduler is gone.
    ShardError
        A shard failed three times.
    RunInterrupted
        Ctrl-C. The message says what is kept.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from cobayes import runs
    >>> def shard(parameters, seed_sequence, num_samples):
    ...     draws = np.random.default_rng(seed_sequence).random(num_samples)
    ...     return {"count": num_samples, "total": draws.sum()}
    >>> points = [runs.Point("one", {}, num_samples=1000, samples_per_shard=500)]
    >>> experiment = runs.Experiment("uniform", points, shard, seed=1)
    >>> result = runs.run(experiment, tempfile.mkdtemp(), jobs=1)
    >>> result["one"].statistics["count"]
    1000
    """
    (result,) = run_all(
        [(experiment, folder)],
        jobs=jobs,
        scheduler=scheduler,
        executor=executor,
        fresh=fresh,
        progress=progress,
    )
    return result


def run_all(
    experiments: Sequence[tuple[Experiment, str | Path]],
    *,
    jobs: int | None = None,
    scheduler: Any = None,
    executor: Executor | Callable[[], Executor] | None = None,
    fresh: bool = False,
    progress: bool | Callable[[RunState], None] = False,
) -> list[RunResult]:
    """Run several experiments on the same workers at once, each in a folder of its own.

    Each result is the one that `run` gives. Use it for many small experiments: workers that one
    of them leaves idle go on with the next.

    Parameters
    ----------
    experiments
        Plans and their folders.
    jobs, scheduler, executor, fresh, progress
        See `run`.

    Returns
    -------
    list of RunResult
        In the order of the experiments.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from cobayes import runs
    >>> def shard(parameters, seed_sequence, num_samples):
    ...     draws = np.random.default_rng(seed_sequence).random(num_samples)
    ...     return {"count": num_samples, "total": draws.sum()}
    >>> points = [runs.Point("one", {}, num_samples=1000, samples_per_shard=500)]
    >>> experiment = runs.Experiment("uniform", points, shard, seed=1)
    >>> [result] = runs.run_all([(experiment, tempfile.mkdtemp())], jobs=1)
    >>> result["one"].num_samples
    1000
    """

    def start() -> Executor:
        if executor is None:
            shard = experiments[0][0].shard
            return choose_executor(shard, jobs=jobs, scheduler=scheduler)
        return executor() if callable(executor) else executor

    reporter = choose_reporter(progress)
    with contextlib.ExitStack() as stack:
        stack.callback(reporter.close)
        works = []
        for position, (experiment, place) in enumerate(experiments):
            folder = _made(Path(place))
            lock = FolderLock(folder)
            lock.acquire()
            stack.callback(lock.release)
            if fresh:
                delete_run(folder, reporter.message)
            work = Work(experiment, folder, position)
            stack.callback(work.ledger.close)
            works.append(work)
            if work.was_begun and not (work.is_done and len(experiments) > 1):
                reporter.message(work.news)
        num_done = sum(work.is_done for work in works)
        if num_done and len(experiments) > 1:
            reporter.message(f"{num_done} of {len(works)} runs are complete already")
        session = _Session(works, reporter)
        if not all(work.is_done for work in works):
            session.execute(start, is_shared=executor is not None)
        return [work.result() for work in works]


class _Session:
    """Runs at work on one set of workers."""

    def __init__(self, works: list[Work], reporter: Reporter) -> None:
        self._works = works
        self._reporter = reporter
        self._executor: Executor | None = None
        self._reported_at = float("-inf")

    def execute(self, start_executor: Callable[[], Executor], is_shared: bool) -> None:
        with InterruptGuard() as guard:
            try:
                self._execute(start_executor, guard)
            finally:
                if self._executor is not None and not is_shared:
                    self._executor.close()

    def _execute(self, start_executor: Callable[[], Executor], guard: InterruptGuard) -> None:
        ending = "failed"
        try:
            with guard.interruptible():
                self._executor = start_executor()
            for work in self._works:
                work.start(self._executor)
            self._report(force=True)
            self._work(self._executor, guard)
            ending = "complete"
        except KeyboardInterrupt:
            ending = "interrupted"
            raise self._interrupted() from None
        except OSError as error:
            if are_descriptors_used_up(error):
                raise too_few_descriptors(self._works[0].ledger.path) from error
            raise
        finally:
            # Before the workers go: afterwards nobody can say how many there were.
            if self._executor is not None and ending != "complete":
                self._executor.abandon()
                # The disk may be full: then the first error is the one to show.
                with contextlib.suppress(RunError):
                    self._report(force=True, ending=ending)

    def _work(self, executor: Executor, guard: InterruptGuard) -> None:
        in_flight = 0
        waiting = [work for work in self._works if work.todo]
        while waiting or in_flight:
            with guard.interruptible():
                # Few in flight: a cluster's memory and a Ctrl-C's loss stay small.
                while waiting and in_flight < executor.capacity:
                    executor.submit(waiting[0].next_task())
                    in_flight += 1
                    waiting = [work for work in waiting if work.todo]
                outcomes = executor.wait(_SECONDS_TO_WAIT)
            in_flight -= len(outcomes)
            for position in dict.fromkeys(outcome.run for outcome in outcomes):
                work = self._works[position]
                work.record([outcome for outcome in outcomes if outcome.run == position])
                if work.is_done:
                    self._reporter.update(self._joined([work.report(executor, "complete")]))
            waiting = [work for work in self._works if work.todo]
            self._report()

    def _report(self, *, force: bool = False, ending: str | None = None) -> None:
        now = time.monotonic()
        if force or now - self._reported_at >= _SECONDS_BETWEEN_REPORTS:
            self._reported_at = now
            self._reporter.update(
                self._joined([work.report(self._executor, ending) for work in self._works])
            )

    def _joined(self, states: list[RunState]) -> RunState:
        """Return the state of all runs as one: that of the only run, where there is one."""
        if len(self._works) == 1:
            return states[0]
        if len(states) == 1:
            states = [work.state() for work in self._works]
        status = next((s.status for s in states if s.status != "complete"), "complete")
        rates = [s.shards_per_second for s in states if not math.isnan(s.shards_per_second)]
        return RunState(
            folder=Path(os.path.commonpath([work.folder.absolute() for work in self._works])),
            experiment=", ".join(dict.fromkeys(s.experiment for s in states)),
            seed=states[0].seed,
            status=status,
            points=tuple(point for s in states for point in s.points),
            seconds=max(s.seconds for s in states),
            num_workers=max(s.num_workers for s in states),
            executor=states[0].executor,
            shards_per_second=sum(rates) if rates else math.nan,
        )

    def _interrupted(self) -> RunInterrupted:
        done = sum(work.num_done for work in self._works)
        total = sum(work.experiment.num_shards for work in self._works)
        names = ", ".join(dict.fromkeys(repr(work.experiment.name) for work in self._works))
        folder = os.path.commonpath([work.folder.absolute() for work in self._works])
        lost = [work for work in self._works if not work.ledger.is_in_place()]
        return RunInterrupted(
            f"stopped by Ctrl-C; {what_is_kept(lost[0].ledger.path)}."
            if lost
            else f"stopped by Ctrl-C; {done} of {total} shards of {names} are saved in {folder!r}.",
            f"the same command goes on from here: {command_line()}",
        )


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
        raise RunError(
            f"cannot make the folder {str(folder)!r}: {getattr(error, 'strerror', None) or error}.",
            "choose a folder that you may write to",
        ) from error
    return folder


class InterruptGuard:
    """Within it, Ctrl-C raises KeyboardInterrupt only inside `interruptible`.

    Elsewhere it is remembered until the next such block. In threads other than the main one,
    which never see Ctrl-C, it does nothing.
    """

    def __init__(self) -> None:
        self._may_raise = False
        self._is_pending = False
        self._before: Any = None

    def __enter__(self) -> InterruptGuard:
        if threading.current_thread() is threading.main_thread():
            # None stands for a handler that was not set from Python and cannot be put back.
            self._before = signal.signal(signal.SIGINT, self._handle) or signal.default_int_handler
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self._is_pending and exc_info[0] is None:
                signal.raise_signal(signal.SIGINT)

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Allow KeyboardInterrupt in the block, at once if one is pending."""
        self._may_raise = True
        try:
            if self._is_pending:
                self._is_pending = False
                raise KeyboardInterrupt
            yield
        finally:
            self._may_raise = False

    def _handle(self, *_: object) -> None:
        if not self._may_raise:
            self._is_pending = True
            return
        raise KeyboardInterrupt
