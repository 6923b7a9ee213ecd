"""Running experiments: shards are computed in any order and joined in the plan's order."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import socket
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple

from cobayes._input.validation import instance
from cobayes.errors import CobayesError
from cobayes.runs.executors import Processes, ThisProcess, num_workers, one_thread, workers
from cobayes.runs.ledger import Key, Ledger, RunError, differences
from cobayes.runs.plan import Experiment, package_digest, shard_seed, versions
from cobayes.runs.progress import ProgressLine, RunState, joined, state_of
from cobayes.runs.statistics import PointResult, RunResult, Statistics, add, pack, unpack

_ATTEMPTS = 3
_SECONDS_BETWEEN_SAVES = 0.5


class RunInterrupted(KeyboardInterrupt):
    """A run was stopped by Ctrl-C; finished shards are saved.

    It is a `KeyboardInterrupt`, so that ``except Exception`` in a loop over experiments does not
    catch it.

    Parameters
    ----------
    message
        A sentence with the number of saved shards.
    hint
        How to continue.

    Examples
    --------
    >>> from cobayes.runs import RunInterrupted
    >>> print(RunInterrupted("3 of 8 shards are saved.", "run the same command again."))
    3 of 8 shards are saved.
      hint: run the same command again.
    """

    exit_code = 130

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}\n  hint: {hint}")
        self.message = message
        self.hint = hint


def run(
    experiment: Experiment,
    folder: str | Path,
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool | Callable[[RunState], None] = False,
) -> RunResult:
    """Run an experiment in a folder, or continue an earlier run there.

    On equal processors the result has the same bits for any executor and after any number of
    interruptions.

    Parameters
    ----------
    experiment
        The plan.
    folder
        The folder of the finished shards; made if it does not exist.
    executor
        Any `concurrent.futures.Executor` (default: processes of this machine). `workers` makes an
        executor for several runs, or connects to a Dask cluster.
    jobs
        Number of processes, if no executor is given; 1 computes in this process (default: one per
        core, or 1 if a shard function is defined in a notebook or at the prompt).
    fresh
        Whether to delete the shards that are in the folder.
    progress
        True shows progress on standard error; a function is called with a `RunState`.

    Returns
    -------
    RunResult
        The statistics and estimates of every point.

    Raises
    ------
    RunError
        The folder contains another run, is in use, or cannot be written; the workers or the
        scheduler fail; a worker has other versions or other code; a shard failed three times.
    RunInterrupted
        Ctrl-C was pressed. The message has the number of saved shards.

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
    options = {"executor": executor, "jobs": jobs, "fresh": fresh, "progress": progress}
    return run_all([(experiment, folder)], **options)[0]


def run_all(
    experiments: Sequence[tuple[Experiment, str | Path]],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool | Callable[[RunState], None] = False,
) -> list[RunResult]:
    """Run several experiments on the same workers at once, each in its own folder.

    Each result equals that of `run`. Use it for many small experiments: no worker is idle while any
    experiment has shards that are not started.

    Parameters
    ----------
    experiments
        Plans and their folders.
    executor, jobs, fresh, progress
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
    expected = "a concurrent.futures.Executor, or jobs=N for processes"
    instance(executor, (Executor, NoneType), "the executor", expected)
    if executor is not None and jobs is not None:
        raise CobayesError(
            "both executor and jobs are given; an executor has its own number of workers.",
            "leave out jobs to use the executor, or leave out executor to start `jobs` processes.",
        )
    are_importable = all(_is_importable(plan.shard) for plan, _ in experiments)
    if executor is None and jobs is None and not are_importable:
        jobs = 1  # other processes could not import a function of a notebook
    with contextlib.ExitStack() as stack:
        works = []
        for plan, place in experiments:
            ledger = contextlib.closing(Ledger(Path(place), plan.identity(), fresh=fresh))
            works.append(_Work(plan, stack.enter_context(ledger)))
        if any(work.todo for work in works):
            if executor is None:
                executor = stack.enter_context(workers(jobs=jobs))
            _compute(works, executor, progress if callable(progress) else ProgressLine(progress))
        return [work.result() for work in works]


class _Work:
    """A run in progress: its plan, its ledger and the shards to compute."""

    def __init__(self, experiment: Experiment, ledger: Ledger) -> None:
        self.experiment = experiment
        self.ledger = ledger
        sizes = enumerate(point.num_shards for point in experiment.points)
        keys = [(point, shard) for point, size in sizes for shard in range(size)]
        self.todo = [key for key in keys if key not in ledger.seconds]

    def submit(self, executor: Executor, key: Key) -> Future[_Outcome]:
        plan, point = self.experiment, self.experiment.points[key[0]]
        seeds = shard_seed(plan.seed, plan.name, point.name, key[1])
        size = point.samples_in(key[1])
        return executor.submit(perform, plan.shard, dict(point.parameters), seeds, size)

    def result(self) -> RunResult:
        """Return the result; each point's shards are joined in their order."""
        plan, points = self.experiment, []
        shards = itertools.groupby(self.ledger.shards(), key=lambda shard: shard[0][0])
        for point, state, (_, own) in zip(plan.points, self.ledger.points(), shards, strict=True):
            # If `plan.reduce` is None, every point has one shard, and `add` is not called.
            found = functools.reduce(plan.reduce or add, (unpack(packed) for _, packed in own))
            estimates = plan.estimate(found, dict(point.parameters)) if plan.estimate else {}
            numbers = (point.num_samples, found, estimates, state.seconds)
            points.append(PointResult(point.name, point.parameters, *numbers))
        return RunResult(plan.name, plan.seed, tuple(points), self.ledger.path.parent)


class _Outcome(NamedTuple):
    """The outcome of a shard: packed statistics, or the text of an error."""

    packed: bytes | None
    error: str
    seconds: float
    worker: str
    versions: dict[str, str]


def perform(
    function: Callable[..., Statistics], parameters: dict[str, Any], seeds: Any, num_samples: int
) -> _Outcome:
    """Compute a shard; an exception becomes part of the outcome.

    Parameters
    ----------
    function, parameters, seeds, num_samples
        The shard function and its arguments.
    """
    packed, error = None, ""
    with one_thread:
        start = time.perf_counter()
        try:
            packed = pack(function(parameters, seeds, num_samples))
        except Exception:
            error = traceback.format_exc()
        seconds = time.perf_counter() - start
    worker = f"{socket.gethostname()}:{os.getpid()}"
    return _Outcome(packed, error, seconds, worker, _versions_here())


@functools.cache
def _versions_here() -> dict[str, str]:
    """Return the versions that must be equal on every worker."""
    return {**versions(), "code of cobayes": package_digest(everything=True)}


def _compute(works: list[_Work], executor: Executor, tell: Callable[[RunState], object]) -> None:
    # Begin with one shard of every point, so that the time left is known early. Take the last point
    # first: it is often the most expensive, and no long shard should remain at the end.
    keys = [(work, key) for work in works for key in work.todo]
    keys.sort(key=lambda item: (item[1][1], len(item[0].experiment.points) - item[1][0]))
    waiting = deque(keys)
    in_flight: dict[Future[_Outcome], tuple[_Work, Key]] = {}
    saved_at = time.monotonic()
    count = num_workers(executor)
    ledgers = [work.ledger for work in works]
    failures: Counter[tuple[_Work, Key]] = Counter()

    def save() -> None:
        for ledger in ledgers:
            if ledger.is_changed:
                ledger.commit(count)

    def report(status: str) -> RunState:
        state = joined([state_of(ledger, status, count) for ledger in ledgers])
        tell(state)
        return state

    try:
        for ledger in ledgers:
            ledger.commit(count)  # other processes can read the number of workers
        report("running")
        while waiting or in_flight:
            # Few shards are submitted at a time: Ctrl-C loses little work, and schedulers need
            # little memory.
            limit = 1 if isinstance(executor, ThisProcess) else 2 * max(1, count)
            while waiting and len(in_flight) < limit:
                work, key = waiting.popleft()
                in_flight[work.submit(executor, key)] = (work, key)
            for future in wait(in_flight, 0.5, return_when=FIRST_COMPLETED).done:
                work, key = in_flight.pop(future)
                error = _finish(work, key, future)
                if error:
                    failures[work, key] += 1
                    if failures[work, key] == _ATTEMPTS:
                        raise _failure(work, key, error)
                    waiting.appendleft((work, key))
            now = time.monotonic()
            is_last = not waiting and not in_flight
            if now - saved_at >= _SECONDS_BETWEEN_SAVES or is_last:
                saved_at, count = now, num_workers(executor)
                save()
                report("running")
    except BaseException as error:
        if isinstance(executor, Processes):
            executor.kill()  # cancels its shards; the next submit starts new processes
        else:
            for future in in_flight:
                future.cancel()
        # On a full disk `save` fails, too; the first error is shown.
        with contextlib.suppress(RunError):
            save()
        state = report("stopped")
        if isinstance(error, KeyboardInterrupt):
            saved = f"{state.num_done} of {state.num_shards} shards of {state.experiment!r}"
            message = f"stopped by Ctrl-C; {saved} are saved in {str(state.folder)!r}."
            hint = "without --fresh (fresh=True) the same command continues the run."
            raise RunInterrupted(message, hint) from None
        if isinstance(error, RunError) or not isinstance(error, Exception):
            raise
        raise RunError(
            f"the workers failed: {error}; finished shards are kept.",
            "run the same command again; if too many files are open, use fewer jobs or raise the "
            "limit (ulimit -n).",
        ) from error


def _finish(work: _Work, key: Key, future: Future[_Outcome]) -> str:
    """Record a shard; return the text of its error if the shard failed, otherwise an empty text."""
    if future.cancelled():
        raise RunError(
            "the scheduler does not respond; finished shards are kept.",
            "start it and its workers again; without --fresh (fresh=True) the same command then "
            "continues the run.",
        )
    if error := future.exception():  # the worker or the connection failed
        text = "".join(traceback.format_exception(error)).strip()
        guard = 'if a script starts the run, the call must be under `if __name__ == "__main__":`'
        return f"{text} ({guard})" if isinstance(error, BrokenExecutor) else text
    outcome = future.result()
    if found := differences(outcome.versions, _versions_here()):
        raise RunError(
            f"the worker {outcome.worker} may compute other results: {'; '.join(found)}.",
            "install the same versions on every worker.",
        )
    if outcome.packed is not None:
        work.ledger.add(key, outcome.packed, outcome.seconds)
    return outcome.error


def _failure(work: _Work, key: Key, error: str) -> RunError:
    plan, point = work.experiment, work.experiment.points[key[0]]
    failure = RunError(
        f"shard {key[1]} of point {point.name!r} of {plan.name!r} failed {_ATTEMPTS} times, with "
        f"parameters {json.dumps(point.parameters)}, seed {plan.seed} and "
        f"{point.samples_in(key[1])} samples; the last error: {error.strip().splitlines()[-1]}",
        "finished shards are kept; remove the cause and run the same command again.",
    )
    failure.add_note(error)  # the worker's traceback; Python shows it below the message
    return failure


def _is_importable(function: Any) -> bool:
    """Return whether other processes can import a function."""
    main = sys.modules["__main__"]
    is_script = main.__spec__ is not None or os.path.exists(getattr(main, "__file__", ""))
    return function.__module__ != "__main__" or is_script
