"""How far a run is: the same picture for the one who runs it and for others who look on."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cobayes.errors import CobayesError
from cobayes.runs.failures import RunError
from cobayes.runs.ledger import Ledger
from cobayes.runs.ledger_file import LEDGER_NAME
from cobayes.runs.lock import FolderLock
from cobayes.runs.statistics import Estimate


@dataclass(frozen=True)
class PointState:
    """How far one point is.

    Parameters
    ----------
    name
        The point's name.
    parameters
        The point's parameters.
    num_done, num_shards
        Finished shards, and all of them.
    samples_per_shard
        How many samples each finished shard stands for.
    seconds
        Work that went into it, added up over workers.
    estimates
        From what has finished; all shards up to the first missing one.

    Examples
    --------
    >>> from cobayes.runs import PointState
    >>> point = PointState("one", {}, num_done=3, num_shards=8, samples_per_shard=500, seconds=4.2)
    >>> point.num_done, point.num_shards
    (3, 8)
    """

    name: str
    parameters: Mapping[str, Any]
    num_done: int
    num_shards: int
    samples_per_shard: int
    seconds: float
    estimates: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True)
class RunState:
    """How far a run is.

    Parameters
    ----------
    folder
        The run's folder.
    experiment
        The experiment's name.
    seed
        The experiment's seed.
    status
        "running", "complete", "interrupted", "failed", or "stopped" (killed, or never begun).
    points
        In the plan's order.
    seconds
        Time spent, added up over sessions.
    num_workers
        At work in the last session.
    executor
        Where the shards are computed.
    shards_per_second
        In the last session; NaN before the first shard.

    Examples
    --------
    >>> from pathlib import Path
    >>> from cobayes.runs import PointState, RunState
    >>> point = PointState("one", {}, num_done=3, num_shards=8, samples_per_shard=500, seconds=4.2)
    >>> state = RunState(Path("results"), "uniform", 1, "running", (point,), 2.1, 2, "local", 1.4)
    >>> state.num_done, state.num_shards
    (3, 8)
    """

    folder: Path
    experiment: str
    seed: int
    status: str
    points: tuple[PointState, ...]
    seconds: float
    num_workers: int
    executor: str
    shards_per_second: float

    @property
    def num_done(self) -> int:
        """Finished shards."""
        return sum(point.num_done for point in self.points)

    @property
    def num_shards(self) -> int:
        """All shards."""
        return sum(point.num_shards for point in self.points)

    @property
    def work_seconds(self) -> float:
        """Work done so far, added up over workers."""
        return sum(point.seconds for point in self.points)

    @property
    def seconds_left(self) -> float:
        """Time left, from what a shard of each point has cost; NaN while nothing is known.

        Points that have not begun are taken to cost what the others do on average.
        """
        if self.num_done == self.num_shards:
            return 0.0
        if self.num_done == 0 or self.num_workers == 0:
            return math.nan
        typical = self.work_seconds / self.num_done
        work = sum(
            (point.num_shards - point.num_done)
            * (point.seconds / point.num_done if point.num_done else typical)
            for point in self.points
        )
        return work / self.num_workers

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; unknown numbers are None."""
        content = asdict(self)
        content["folder"] = str(self.folder)
        for name in ("num_done", "num_shards", "work_seconds", "seconds_left"):
            content[name] = getattr(self, name)
        return _without_nan(content)


def read_state(folder: str | Path) -> RunState:
    """Return the state of a run, also while it is running.

    Parameters
    ----------
    folder
        The run's folder.

    Returns
    -------
    RunState
        Status, shards that are done, and times.

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
    >>> runs.read_state(result.folder).status
    'complete'
    """
    folder = Path(folder)
    if not (folder / LEDGER_NAME).exists():
        raise CobayesError(
            f"there is no run in {str(folder)!r}.",
            f"expected a file {LEDGER_NAME} in it; find_runs() looks into subfolders, too",
        )
    identity, progress, estimates, sessions, recent = _read(folder)
    last = sessions[-1] if sessions else None
    points = []
    for position, point in enumerate(identity["points"]):
        num_done, seconds = progress.get(position, (0, 0.0))
        num_shards = -(-point["num_samples"] // point["samples_per_shard"])
        points.append(
            PointState(
                name=point["name"],
                parameters=point["parameters"],
                num_done=num_done,
                num_shards=num_shards,
                samples_per_shard=point["samples_per_shard"],
                seconds=seconds,
                estimates=estimates.get(position, {}),
            )
        )
    if all(point.num_done == point.num_shards for point in points):
        status = "complete"
    elif FolderLock(folder).holder() is not None:
        status = "running"
    else:
        status = last["ending"] if last else "stopped"
    return RunState(
        folder=folder,
        experiment=identity["experiment"],
        seed=identity["seed"],
        status=status,
        points=tuple(points),
        seconds=sum(session["seconds"] for session in sessions),
        num_workers=last["num_workers"] if last else 0,
        executor=last["executor"] if last else "",
        shards_per_second=recent / last["seconds"] if last and last["seconds"] else math.nan,
    )


def _read(folder: Path) -> tuple[dict, dict, dict, list, int]:
    for attempts_left in (2, 1, 0):
        try:
            with contextlib.closing(Ledger.open(folder, only_read=True)) as ledger:
                sessions = ledger.sessions()
                recent = ledger.num_finished_since(sessions[-1]["started_at"]) if sessions else 0
                return (
                    ledger.identity(),
                    ledger.progress(),
                    ledger.estimates(),
                    sessions,
                    recent,
                )
        except RunError:
            # It may just have been replaced by a run that started over.
            if not attempts_left:
                raise
            time.sleep(0.1)
    raise RuntimeError("unreachable")


def find_runs(folder: str | Path) -> list[Path]:
    """Return the folders of all runs in a folder and below, sorted.

    Parameters
    ----------
    folder
        Where to look.

    Returns
    -------
    list of Path
        Empty where there is none.

    Examples
    --------
    >>> import tempfile
    >>> from cobayes.runs import find_runs
    >>> find_runs(tempfile.mkdtemp())
    []
    """
    return sorted(path.parent for path in Path(folder).rglob(LEDGER_NAME))


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value
