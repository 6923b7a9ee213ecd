"""One run at work: what is left of its plan, its ledger, its results."""

from __future__ import annotations

import json
import math
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any

from cobayes.runs.failures import RunError, ShardError, damaged, what_is_kept
from cobayes.runs.folder import command_line, describe_machine, open_ledger, when, write_manifest
from cobayes.runs.plan import Experiment
from cobayes.runs.results import PointReduction, PointResult, RunResult
from cobayes.runs.state import PointState, RunState
from cobayes.runs.workers import Executor
from cobayes.runs.workers.tasks import Key, Outcome, Task, versions_here

_ATTEMPTS = 3
_SECONDS_BETWEEN_MANIFESTS = 10.0


class Work:
    """One session of work on a run, whose folder is locked.

    Parameters
    ----------
    experiment
        The plan.
    folder
        The run's folder.
    position
        Among the runs of the session, which share workers.
    """

    def __init__(self, experiment: Experiment, folder: Path, position: int) -> None:
        self.experiment = experiment
        self.folder = folder
        self.position = position
        self.ledger = open_ledger(folder, experiment)
        self._reductions = [PointReduction(experiment, k) for k in range(len(experiment.points))]
        self.todo: deque[Key] = deque()
        self._failures: Counter[Key] = Counter()
        self._session: int | None = None
        self._started = time.monotonic()
        self._elapsed = 0.0
        self._num_finished_here = 0
        self._executor = ""
        self._num_workers = 0
        self._manifest_at = float("-inf")
        self.ending: str | None = None
        try:
            self._seconds_before = sum(session["seconds"] for session in self.ledger.sessions())
            self._load()
        except BaseException:
            self.ledger.close()
            raise

    @property
    def num_done(self) -> int:
        """Finished shards."""
        return sum(reduction.num_done for reduction in self._reductions)

    @property
    def is_done(self) -> bool:
        """Whether every shard has finished."""
        return self.num_done == self.experiment.num_shards

    def start(self, executor: Executor) -> None:
        """Record that work begins; runs that are complete have no such session."""
        if not self.is_done:
            self._started = time.monotonic()
            self._executor, self._num_workers = executor.description, executor.num_workers
            self._session = self.ledger.start_session(self._executor, self._num_workers)

    def _load(self) -> None:
        """Reduce what is finished and queue what is not."""
        done: set[Key] = set()
        planned = set(self.experiment.shards())
        for (point, shard), packed, seconds in self.ledger.finished():
            if (point, shard) not in planned:
                raise damaged(
                    self.ledger.path, f"it has a shard {shard} of point {point}, outside the plan"
                )
            self._reductions[point].put(shard, packed, seconds)
            done.add((point, shard))
        self.todo.extend(key for key in self.experiment.shards() if key not in done)
        self.was_begun = bool(done)
        if not self.todo:
            for reduction in self._reductions:
                reduction.refresh()

    @property
    def news(self) -> str:
        """What a reader of the log should know about a run that was begun earlier."""
        if self.is_done:
            return f"{self.experiment.name}: complete in {self.folder} already"
        return (
            f"going on in {self.folder}: {self.num_done} of {self.experiment.num_shards} shards "
            "are done"
        )

    def next_task(self) -> Task:
        """Return the next shard as a message to a worker."""
        key = self.todo.popleft()
        point = self.experiment.points[key[0]]
        return Task(
            run=self.position,
            key=key,
            function=self.experiment.shard,
            parameters=dict(point.parameters),
            num_samples=point.samples_in(key[1]),
            seed=self.experiment.seed,
            experiment=self.experiment.name,
            point=point.name,
        )

    def record(self, outcomes: list[Outcome]) -> None:
        """Take what workers return: finished shards into the ledger, failed ones again.

        Parameters
        ----------
        outcomes
            Of this run.
        """
        finished = [outcome for outcome in outcomes if outcome.packed is not None]
        for outcome in finished:
            _check_versions(outcome)
        if finished:
            self.ledger.add(finished)
        for outcome in finished:
            point, shard = outcome.key
            self._reductions[point].put(shard, outcome.packed or b"", outcome.seconds)
            self._num_finished_here += 1
        for outcome in outcomes:
            if outcome.packed is None:
                self._retry(outcome)

    def _retry(self, outcome: Outcome) -> None:
        self._failures[outcome.key] += 1
        if self._failures[outcome.key] < _ATTEMPTS:
            self.todo.appendleft(outcome.key)
            return
        position, shard = outcome.key
        point = self.experiment.points[position]
        error = (outcome.error or "").strip()
        failure = ShardError(
            f"shard {shard} of point {point.name!r} of {self.experiment.name!r} failed "
            f"{_ATTEMPTS} times, with parameters {json.dumps(point.parameters)}, seed "
            f"{self.experiment.seed} and {point.samples_in(shard)} samples; the last time: "
            f"{error.splitlines()[-1] if error else 'for no known reason'}",
            f"{self.num_done} of {self.experiment.num_shards} shards were recorded in "
            f"{str(self.folder)!r}, and {what_is_kept(self.ledger.path)}; remove the cause and "
            "run the same command again",
        )
        # The worker's traceback, which Python shows below ours.
        failure.add_note(error)
        raise failure

    def report(self, executor: Executor | None, ending: str | None = None) -> RunState:
        """Bring ledger and manifest up to date; return the state.

        Parameters
        ----------
        executor
            Where shards are computed now.
        ending
            How the session ends, if it does.
        """
        if self._session is None or self.ending is not None:
            return self.state()
        if not self.ledger.is_in_place():
            raise RunError(
                f"{str(self.ledger.path)!r} was removed or replaced while the run wrote to it; "
                "the shards of this run are lost.",
                "keep the folder of a run in place, then run the same command again",
            )
        if executor is not None:
            self._num_workers = executor.num_workers
        news = {}
        for position, reduction in enumerate(self._reductions):
            if reduction.has_news:
                reduction.refresh()
                news[position] = reduction.estimates
        self._elapsed = time.monotonic() - self._started
        self.ending = ending
        state = self.state()
        self.ledger.update(
            self._session, self._elapsed, state.num_workers, ending or "stopped", news
        )
        now = time.monotonic()
        if ending or now - self._manifest_at > _SECONDS_BETWEEN_MANIFESTS:
            self._manifest_at = now
            write_manifest(self.folder, self._manifest(state))
        return state

    def state(self) -> RunState:
        """Return how far the run was at the last report."""
        return RunState(
            folder=self.folder,
            experiment=self.experiment.name,
            seed=self.experiment.seed,
            status=self.ending or ("running" if self._session is not None else "complete"),
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
                for point, reduction in zip(self.experiment.points, self._reductions, strict=True)
            ),
            seconds=self._seconds_before + self._elapsed,
            num_workers=self._num_workers,
            executor=self._executor,
            shards_per_second=self._num_finished_here / self._elapsed
            if self._num_finished_here and self._elapsed
            else math.nan,
        )

    def _manifest(self, state: RunState) -> dict[str, Any]:
        sessions = [
            {**session, "started_at": when(session["started_at"])}
            for session in self.ledger.sessions()
        ]
        content = {
            **self.ledger.identity(),
            "status": state.status,
            "created_at": when(self.ledger.created_at()),
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
            content["digest"] = self.result().digest
        return content

    def result(self) -> RunResult:
        """Return the result of a run that is done."""
        points = []
        for point, reduction in zip(self.experiment.points, self._reductions, strict=True):
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
            experiment=self.experiment.name,
            seed=self.experiment.seed,
            points=tuple(points),
            folder=self.folder,
            seconds=sum(session["seconds"] for session in self.ledger.sessions()),
        )


def _check_versions(outcome: Outcome) -> None:
    if outcome.versions == versions_here():
        return
    here = dict(versions_here())
    other = [f"{n} {v} (here {here.get(n)})" for n, v in outcome.versions if here.get(n) != v]
    raise RunError(
        f"the worker {outcome.worker} has {', '.join(other)}; results could differ in bits.",
        "install the same versions on every worker",
    )
