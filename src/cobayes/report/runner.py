"""One set of workers for all experiments of a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Self

from cobayes.runs import Experiment, RunResult, run_all
from cobayes.runs.state import RunState
from cobayes.runs.workers import Executor, choose_executor


class Runner:
    """Runs experiments one after the other; use it as a context manager.

    Workers start with the first experiment that has something left to compute.

    Parameters
    ----------
    jobs
        Number of local processes; 1 is this process alone; all cores when left out.
    scheduler
        Address or scheduler file of a Dask cluster.
    fresh
        Delete what earlier runs left, once for each experiment.
    progress
        True shows progress on standard error; a function is called with the state instead.
    alone
        Gives the terminal to an experiment's progress for as long as it runs.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from cobayes import runs
    >>> from cobayes.report import Runner
    >>> def shard(parameters, seed_sequence, num_samples):
    ...     draws = np.random.default_rng(seed_sequence).random(num_samples)
    ...     return {"count": num_samples, "total": draws.sum()}
    >>> points = [runs.Point("one", {}, num_samples=1000, samples_per_shard=500)]
    >>> experiment = runs.Experiment("uniform", points, shard, seed=1)
    >>> with Runner(jobs=1) as runner:
    ...     result = runner.run(experiment, tempfile.mkdtemp())
    >>> result["one"].num_samples
    1000
    """

    def __init__(
        self,
        *,
        jobs: int | None = None,
        scheduler: str | None = None,
        fresh: bool = False,
        progress: bool | Callable[[RunState], None] = False,
        alone: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self.fresh = fresh
        self._options = {"jobs": jobs, "scheduler": scheduler}
        self._executor: Executor | None = None
        self._progress = progress
        self._alone = alone
        self._started: set[Path] = set()
        self.seconds_here = 0.0
        """Time that experiments took in this session."""
        self.seconds_in_all = 0.0
        """The same with the sessions before it."""

    def run_all(self, experiments: Sequence[tuple[Experiment, Path]]) -> list[RunResult]:
        """Run experiments in their folders, or go on where earlier runs there stopped.

        Parameters
        ----------
        experiments
            Plans, and where their ledgers are.

        Returns
        -------
        list of RunResult
            In the order of the experiments.
        """
        # Two sections may share an experiment: the second must not delete what the first made.
        new = [folder not in self._started for _, folder in experiments]
        self._started.update(folder for _, folder in experiments)
        found: dict[int, RunResult] = {}
        start = time.perf_counter()
        try:
            with self._alone():
                for fresh in {self.fresh and is_new for is_new in new}:
                    chosen = [k for k, is_new in enumerate(new) if (self.fresh and is_new) == fresh]
                    results = run_all(
                        [experiments[k] for k in chosen],
                        executor=self._workers,
                        fresh=fresh,
                        progress=self._progress,
                    )
                    found |= dict(zip(chosen, results, strict=True))
        finally:
            self.seconds_here += time.perf_counter() - start
        # They shared the workers, so that their times overlap.
        self.seconds_in_all += max(result.seconds for result in found.values())
        return [found[k] for k in range(len(experiments))]

    def run(self, experiment: Experiment, folder: Path) -> RunResult:
        """Run one experiment; see `run_all`.

        Parameters
        ----------
        experiment
            The plan.
        folder
            Where its ledger is.
        """
        (result,) = self.run_all([(experiment, folder)])
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.close()

    def _workers(self) -> Executor:
        """Return the workers, which start when there is something to compute."""
        if self._executor is None:
            self._executor = choose_executor(**self._options)
        return self._executor
