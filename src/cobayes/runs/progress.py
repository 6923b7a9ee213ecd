"""The progress of runs, for the running process and for other processes."""

from __future__ import annotations

import contextlib
import math
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cobayes._input.validation import instance
from cobayes._output import Result, counted
from cobayes._parallel import duration
from cobayes.errors import CobayesError
from cobayes.runs.ledger import LEDGER_NAME, Ledger, PointState

_SECONDS_BETWEEN_LINES = 10.0
# Moves the cursor to the start of the terminal's line and clears the line.
_CLEAR = "\r\x1b[2K"


@dataclass(frozen=True)
class RunState(Result):
    """The progress of a run.

    Parameters
    ----------
    folder
        The run's folder.
    experiment
        The experiment's name.
    status
        "running", "complete" or "stopped".
    points
        The progress of each point, in the plan's order.
    num_workers
        Number of workers when the run was last active.

    Examples
    --------
    >>> from pathlib import Path
    >>> from cobayes.runs import PointState, RunState
    >>> points = (PointState("one", 3, 8, 6.0), PointState("two", 1, 8, 4.0))
    >>> state = RunState(Path("results"), "uniform", "running", points, num_workers=2)
    >>> state.num_done, state.num_shards, state.seconds_left
    (4, 16, 21.0)
    """

    folder: Path
    experiment: str
    status: str
    points: tuple[PointState, ...]
    num_workers: int

    @property
    def num_done(self) -> int:
        """Number of finished shards."""
        return sum(point.num_done for point in self.points)

    @property
    def num_shards(self) -> int:
        """Number of all shards."""
        return sum(point.num_shards for point in self.points)

    @property
    def seconds(self) -> float:
        """Computing time so far, summed over workers."""
        return sum(point.seconds for point in self.points)

    @property
    def seconds_left(self) -> float:
        """Estimated time left; NaN without workers, or if a point has no finished shard.

        A missing shard is assumed to take the mean time of its point's finished shards. If the
        missing shards take w seconds in total and the longest takes c seconds, W workers need at
        most w / W + (1 - 1 / W) c seconds, in whatever order they compute them (Graham, 1966).
        """
        unfinished = [point for point in self.points if point.num_done < point.num_shards]
        if not unfinished or self.num_workers == 0:
            return math.nan if unfinished else 0.0
        work = sum((point.num_shards - point.num_done) * point.cost for point in unfinished)
        longest = max(point.cost for point in unfinished)
        return (work - longest) / self.num_workers + longest


def read_state(folder: str | Path) -> RunState:
    """Return the progress of a run, also while it is running.

    Parameters
    ----------
    folder
        The run's folder.

    Returns
    -------
    RunState
        Status, finished shards and times.

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
    place = Path(folder)
    if not (place / LEDGER_NAME).is_file():
        raise CobayesError(
            f"there is no run in {str(folder)!r}.",
            f"expected a file {LEDGER_NAME} in it; find_runs() looks into subfolders, too.",
        )
    with contextlib.closing(Ledger(place)) as ledger:
        return state_of(ledger, "running" if ledger.is_locked() else "stopped", ledger.num_workers)


def find_runs(folder: str | Path) -> list[Path]:
    """Return the folders of all runs in a folder and below, sorted.

    Parameters
    ----------
    folder
        The folder to search.

    Returns
    -------
    list of Path
        Empty if there are none.

    Examples
    --------
    >>> import tempfile
    >>> from cobayes.runs import find_runs
    >>> find_runs(tempfile.mkdtemp())
    []
    """
    root = Path(instance(folder, (str, Path), "folder", "a path"))
    return sorted(path.parent for path in root.rglob(LEDGER_NAME))


def state_of(ledger: Ledger, status: str, num_workers: int) -> RunState:
    """Return the progress of a run whose ledger is open."""
    points = tuple(ledger.points())
    if all(point.num_done == point.num_shards for point in points):
        status = "complete"
    return RunState(ledger.path.parent, ledger.plan["experiment"], status, points, num_workers)


def joined(states: Sequence[RunState]) -> RunState:
    """Return several states as one, whose folder is the parent of the first run's folder.

    A single state is returned as it is.
    """
    if len(states) == 1:
        return states[0]
    found = {state.status for state in states}
    status = next(name for name in ("running", "stopped", "complete") if name in found)
    names = dict.fromkeys(state.experiment for state in states)
    points = tuple(point for state in states for point in state.points)
    num_workers = max(state.num_workers for state in states)
    return RunState(states[0].folder.parent, ", ".join(names), status, points, num_workers)


def summary_line(state: RunState) -> str:
    """Return the progress of a run in one line.

    Parameters
    ----------
    state
        The progress.
    """
    # Rounded down: only a complete run is at 100 %.
    share = math.floor(1000 * state.num_done / state.num_shards) / 10
    parts = [f"{state.num_done}/{state.num_shards} shards ({share:.1f} %)"]
    parts.append(f"{duration(state.seconds)} of computing")
    if state.status == "running" and state.num_workers == 0:
        parts.append("waiting for workers")
    elif state.status == "running" and math.isnan(state.seconds_left):
        num_unknown = sum(point.num_done == 0 for point in state.points)
        points = counted(len(state.points), "point")
        parts.append(f"time left unknown ({num_unknown} of {points} without a finished shard)")
    elif state.status == "running":
        parts.append(f"about {duration(state.seconds_left)} left")
    else:
        parts.append(state.status)
    return f"{state.experiment}: {', '.join(parts)}"


class ProgressLine:
    """A function that writes the progress, a `RunState`, to standard error.

    On a terminal one line is updated. In a log a line is written every ten seconds at first, and
    less often later.

    Parameters
    ----------
    is_shown
        False if nothing is to be written.
    """

    def __init__(self, is_shown: bool) -> None:
        self._started, self._due, self._is_shown = time.monotonic(), -math.inf, is_shown

    def __call__(self, state: RunState) -> None:
        """Write the progress."""
        now, is_terminal, is_last = time.monotonic(), sys.stderr.isatty(), state.status != "running"
        if not self._is_shown or not (is_terminal or is_last or now >= self._due):
            return
        self._due = now + max(_SECONDS_BETWEEN_LINES, 0.05 * (now - self._started))
        line = f"cobayes: {summary_line(state)}"
        if is_terminal:
            _, name, rest = line.split(": ", 2)
            # The names of many experiments would leave no room for the time.
            room = shutil.get_terminal_size().columns - 1
            line = _CLEAR + f"{name[: max(8, room - len(rest) - 2)]}: {rest}"[:room]
        with contextlib.suppress(OSError):  # the run continues if the log cannot be written
            print(
                line, end="" if is_terminal and not is_last else "\n", file=sys.stderr, flush=True
            )
