"""Running an experiment: from the plan through workers into the ledger, and back on resumption."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cobayes.runs.failures import (
    RunError,
    RunInterrupted,
    ShardError,
    are_descriptors_used_up,
    damaged,
    too_few_descriptors,
    what_is_kept,
)
from cobayes.runs.folder import (
    command_line,
    delete_run,
    describe_machine,
    open_ledger,
    when,
    write_manifest,
)
from cobayes.runs.interrupts import InterruptGuard
from cobayes.runs.ledger import Ledger
from cobayes.runs.lock import FolderLock
from cobayes.runs.plan import Experiment
from cobayes.runs.progress import Reporter, choose_reporter
from cobayes.runs.results import PointReduction, PointResult, RunResult
from cobayes.runs.state import PointState, RunState
from cobayes.runs.workers import Executor, choose_executor
from cobayes.runs.workers.tasks import Key, Outcome, Task, versions_here

_ATTEMPTS = 3
_SECONDS_BETWEEN_REPORTS = 1.0
_SECONDS_BETWEEN_MANIFESTS = 10.0
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

    Raises
    ------
    RunError
        The folder holds another run, or is in use, or cannot be written; a scheduler is gone.
    ShardError
        A shard failed three times.
    RunInterrupted
        Ctrl-C. The message says what is kept.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"cannot make the folder {str(folder)!r}: {error.strerror}.",
            "choose a folder that you may write to",
        ) from error

    def start() -> Executor:
        if executor is None:
            return choose_executor(experiment.shard, jobs=jobs, scheduler=scheduler)
        return executor() if callable(executor) else executor

    reporter = choose_reporter(progress)
    lock = FolderLock(folder)
    lock.acquire()
    try:
        if fresh:
            delete_run(folder, reporter.message)
        with contextlib.closing(open_ledger(folder, experiment)) as ledger:
            return _Run(experiment, folder, ledger, reporter).execute(
                start, is_shared=executor is not None
            )
    finally:
        reporter.close()
        lock.release()


class _Run:
    """One session of work on a run."""

    def __init__(
        self, experiment: Experiment, folder: Path, ledger: Ledger, reporter: Reporter
    ) -> None:
        self._experiment = experiment
        self._folder = folder
        self._ledger = ledger
        self._reporter = reporter
        self._reductions = [
            PointReduction(experiment, position) for position in range(len(experiment.points))
        ]
        self._todo: deque[Key] = deque()
        self._failures: Counter[Key] = Counter()
        self._session = 0
        self._started = time.monotonic()
        self._seconds_before = sum(session["seconds"] for session in ledger.sessions())
        self._num_finished_here = 0
        self._executor: Executor | None = None
        self._num_workers = 0
        self._reported_at = self._manifest_at = float("-inf")

    def execute(self, start_executor: Callable[[], Executor], is_shared: bool) -> RunResult:
        self._load()
        if not self._todo:
            self._reporter.message(f"{self._experiment.name}: complete in {self._folder} already")
            for reduction in self._reductions:
                reduction.refresh()
            return self._result()
        with InterruptGuard() as guard:
            return self._session_of_work(start_executor, is_shared, guard)

    def _session_of_work(
        self, start_executor: Callable[[], Executor], is_shared: bool, guard: InterruptGuard
    ) -> RunResult:
        ending = "failed"
        try:
            try:
                with guard.interruptible():
                    self._executor = start_executor()
                self._session = self._ledger.start_session(
                    self._executor.description, self._executor.num_workers
                )
                self._report(force=True)
                self._work(self._executor, guard)
                ending = "complete"
            except KeyboardInterrupt:
                ending = "interrupted"
                raise self._interrupted() from None
            except OSError as error:
                if are_descriptors_used_up():
                    raise too_few_descriptors(self._ledger.path) from error
                raise
            finally:
                # Before the workers go: afterwards nobody can say how many there were.
                if self._executor is not None:
                    if ending != "complete":
                        self._executor.abandon()
                    # The disk may be full: then the first error is the one to show.
                    with contextlib.suppress(*[RunError] * (ending != "complete")):
                        self._report(force=True, ending=ending)
        finally:
            if self._executor is not None and not is_shared:
                self._executor.close()
        return self._result()

    def _load(self) -> None:
        """Reduce what is finished and queue what is not."""
        done: set[Key] = set()
        planned = set(self._experiment.shards())
        for (point, shard), packed, seconds in self._ledger.finished():
            if (point, shard) not in planned:
                raise damaged(
                    self._ledger.path, f"it has a shard {shard} of point {point}, outside the plan"
                )
            self._reductions[point].put(shard, packed, seconds)
            done.add((point, shard))
        self._todo.extend(key for key in self._experiment.shards() if key not in done)
        if done and self._todo:
            self._reporter.message(
                f"going on in {self._folder}: {len(done)} of "
                f"{self._experiment.num_shards} shards are done"
            )

    def _work(self, executor: Executor, guard: InterruptGuard) -> None:
        in_flight = 0
        while self._todo or in_flight:
            with guard.interruptible():
                # Few in flight: a cluster's memory and a Ctrl-C's loss stay small.
                while self._todo and in_flight < executor.capacity:
                    executor.submit(self._task(self._todo.popleft()))
                    in_flight += 1
                outcomes = executor.wait(_SECONDS_TO_WAIT)
            in_flight -= len(outcomes)
            self._record([outcome for outcome in outcomes if outcome.packed is not None])
            for outcome in outcomes:
                if outcome.packed is None:
                    self._retry(outcome)
            self._report()

    def _record(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            self._check_versions(outcome)
        if outcomes:
            self._ledger.add(outcomes)
        for outcome in outcomes:
            point, shard = outcome.key
            self._reductions[point].put(shard, outcome.packed or b"", outcome.seconds)
            self._num_finished_here += 1

    def _retry(self, outcome: Outcome) -> None:
        self._failures[outcome.key] += 1
        if self._failures[outcome.key] < _ATTEMPTS:
            self._todo.appendleft(outcome.key)
            return
        position, shard = outcome.key
        point = self._experiment.points[position]
        error = (outcome.error or "").strip()
        failure = ShardError(
            f"shard {shard} of point {point.name!r} of {self._experiment.name!r} failed "
            f"{_ATTEMPTS} times, with parameters {json.dumps(point.parameters)}, seed "
            f"{self._experiment.seed} and {point.samples_in(shard)} samples; the last time: "
            f"{error.splitlines()[-1] if error else 'for no known reason'}",
            f"{self._num_done} of {self._experiment.num_shards} shards were recorded in "
            f"{str(self._folder)!r}, and {what_is_kept(self._ledger.path)}; remove the cause and "
            "run the same command again",
        )
        # The worker's traceback, which Python shows below ours.
        failure.add_note(error)
        raise failure

    def _check_versions(self, outcome: Outcome) -> None:
        if outcome.versions == versions_here():
            return
        here = dict(versions_here())
        other = [f"{n} {v} (here {here.get(n)})" for n, v in outcome.versions if here.get(n) != v]
        raise RunError(
            f"the worker {outcome.worker} has {', '.join(other)}; results could differ in bits.",
            "install the same versions on every worker",
        )

    def _task(self, key: Key) -> Task:
        point = self._experiment.points[key[0]]
        return Task(
            key=key,
            function=self._experiment.shard,
            parameters=dict(point.parameters),
            num_samples=point.samples_in(key[1]),
            seed=self._experiment.seed,
            experiment=self._experiment.name,
            point=point.name,
        )

    def _report(self, *, force: bool = False, ending: str | None = None) -> None:
        now = time.monotonic()
        if not force and now - self._reported_at < _SECONDS_BETWEEN_REPORTS:
            return
        self._reported_at = now
        if not self._ledger.is_in_place():
            raise RunError(
                f"{str(self._ledger.path)!r} was removed or replaced while the run wrote to it; "
                "the shards of this run are lost.",
                "keep the folder of a run in place, then run the same command again",
            )
        if self._executor is not None:
            self._num_workers = self._executor.num_workers
        news = {}
        for position, reduction in enumerate(self._reductions):
            if reduction.has_news:
                reduction.refresh()
                news[position] = reduction.estimates
        elapsed = now - self._started
        state = self._state(ending or "running", elapsed)
        self._ledger.update(self._session, elapsed, state.num_workers, ending or "stopped", news)
        if force or now - self._manifest_at > _SECONDS_BETWEEN_MANIFESTS:
            self._manifest_at = now
            write_manifest(self._folder, self._manifest(state))
        self._reporter.update(state)

    @property
    def _num_done(self) -> int:
        return sum(reduction.num_done for reduction in self._reductions)

    def _state(self, status: str, elapsed: float) -> RunState:
        return RunState(
            folder=self._folder,
            experiment=self._experiment.name,
            seed=self._experiment.seed,
            status=status,
            points=tuple(
                PointState(
                    name=point.name,
                    parameters=point.parameters,
                    num_done=reduction.num_done,
                    num_shards=point.num_shards,
                    samples_per_shard=point.samples_per_shard or point.num_samples,
                    seconds=reduction.seconds,
                    estimates=reduction.estimates,
                )
                for point, reduction in zip(self._experiment.points, self._reductions, strict=True)
            ),
            seconds=self._seconds_before + elapsed,
            num_workers=self._num_workers,
            executor=self._executor.description if self._executor else "",
            shards_per_second=self._num_finished_here / elapsed
            if self._num_finished_here
            else math.nan,
        )

    def _manifest(self, state: RunState) -> dict[str, Any]:
        sessions = [
            {**session, "started_at": when(session["started_at"])}
            for session in self._ledger.sessions()
        ]
        content = {
            **self._ledger.identity(),
            "status": state.status,
            "created_at": when(self._ledger.created_at()),
            "updated_at": when(time.time()),
            "command": command_line(),
            "machine": describe_machine(),
            "num_done": state.num_done,
            "num_shards": state.num_shards,
            "seconds": round(state.seconds, 3),
            "work_seconds": round(state.work_seconds, 3),
            "sessions": sessions,
        }
        if state.status == "complete":
            content["digest"] = self._result().digest
        return content

    def _result(self) -> RunResult:
        points = []
        for point, reduction in zip(self._experiment.points, self._reductions, strict=True):
            if reduction.statistics is None or reduction.num_done < point.num_shards:
                raise RunError(f"point {point.name!r} is not complete.")
            points.append(
                PointResult(
                    name=point.name,
                    parameters=point.parameters,
                    num_samples=point.num_samples,
                    statistics=reduction.statistics,
                    estimates=reduction.estimates,
                    seconds=reduction.seconds,
                )
            )
        return RunResult(
            experiment=self._experiment.name,
            seed=self._experiment.seed,
            points=tuple(points),
            folder=self._folder,
            seconds=sum(session["seconds"] for session in self._ledger.sessions()),
        )

    def _interrupted(self) -> RunInterrupted:
        return RunInterrupted(
            f"stopped by Ctrl-C; {self._num_done} of {self._experiment.num_shards} shards of "
            f"{self._experiment.name!r} are saved in {str(self._folder)!r}."
            if self._ledger.is_in_place()
            else f"stopped by Ctrl-C; {what_is_kept(self._ledger.path)}.",
            f"the same command goes on from here: {command_line()}",
        )
