"""Progress on standard error: a live table in a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from cobayes.runs.state import PointState, RunState


class Reporter(Protocol):
    """Is told how a run goes."""

    def message(self, text: str) -> None:
        """Take something worth saying once."""
        ...

    def update(self, state: RunState) -> None:
        """Take the state, about once a second and at the end."""
        ...

    def close(self) -> None:
        """Stop showing."""
        ...


def choose_reporter(progress: bool | Callable[[RunState], None]) -> Reporter:
    """Return the reporter for the `progress` argument and the kind of standard error.

    Parameters
    ----------
    progress
        True for standard error, False for silence, or a function of the state.
    """
    if callable(progress):
        return FunctionReporter(progress)
    if not progress:
        return FunctionReporter(lambda _: None)
    if sys.stderr.isatty():
        return LiveReporter()
    return PlainReporter(sys.stderr)


class FunctionReporter:
    """Hands the state to a function, and keeps messages to itself.

    Parameters
    ----------
    function
        Is called with the state.
    """

    def __init__(self, function: Callable[[RunState], None]) -> None:
        self._function = function

    def message(self, text: str) -> None:
        """Drop it: a library does not print."""

    def update(self, state: RunState) -> None:
        """Pass it on."""
        self._function(state)

    def close(self) -> None:
        """Nothing to stop."""


class PlainReporter:
    """Writes a line now and then: for logs.

    Parameters
    ----------
    stream
        An open text file, such as standard error.
    seconds
        Between two lines at first; less often as the run goes on.
    """

    def __init__(self, stream: TextIO, seconds: float = 10.0) -> None:
        self._stream = stream
        self._seconds = seconds
        self._started = time.monotonic()
        self._written_at = float("-inf")
        self._num_written = 0

    def message(self, text: str) -> None:
        """Write it."""
        self._write(text)

    def update(self, state: RunState) -> None:
        """Write a line if the last was long ago or the run has ended."""
        now = time.monotonic()
        interval = max(self._seconds, 0.05 * (now - self._started))
        if state.status == "running" and now - self._written_at < interval:
            return
        self._written_at = now
        self._write(f"{summary_line(state)}{self._some_estimates(state)}")

    def close(self) -> None:
        """Nothing to stop."""

    def _some_estimates(self, state: RunState) -> str:
        """Return the estimates of one point, another one in every line."""
        points = [point for point in state.points if point.estimates]
        if not points:
            return ""
        point = points[self._num_written % len(points)]
        self._num_written += 1
        return f"; {point.name}: {estimates_text(point)}"

    def _write(self, text: str) -> None:
        try:
            self._stream.write(f"cobayes: {text}\n")
            self._stream.flush()
        except OSError:
            # A log that is full or closed is no reason to stop computing.
            pass


class LiveReporter:
    """Keeps a table up to date in a terminal.

    Parameters
    ----------
    console
        A rich console; standard error when left out.
    """

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = console or Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=False)
        self._is_started = False

    def message(self, text: str) -> None:
        """Print it above the table."""
        self._console.print(text, markup=False, highlight=False)

    def update(self, state: RunState) -> None:
        """Draw the table anew."""
        if not self._is_started:
            self._live.start()
            self._is_started = True
        num_rows = max(3, self._console.size.height - 8)
        self._live.update(state_table(state, num_rows), refresh=True)

    def close(self) -> None:
        """Leave the last table standing."""
        if self._is_started:
            self._live.stop()


def state_table(state: RunState, max_points: int | None = None) -> Any:
    """Return the state of a run as a rich table.

    Parameters
    ----------
    state
        The state of a run.
    max_points
        How many points to show; all when left out.
    """
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    shown, left_out = _points_to_show(state, max_points)
    names = list(dict.fromkeys(name for point in shown for name in point.estimates))
    # Where the height is limited, a row that wraps would push others out of sight.
    is_one_line = max_points is not None
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("point", no_wrap=is_one_line, overflow="ellipsis")
    table.add_column("", no_wrap=True)
    table.add_column("shards", justify="right", no_wrap=True)
    for name in names:
        table.add_column(Text(name), no_wrap=is_one_line, overflow="ellipsis")
    for point in shown:
        table.add_row(
            Text(point.name),
            ProgressBar(total=point.num_shards, completed=point.num_done, width=10),
            f"{point.num_done}/{point.num_shards}",
            *(Text(str(point.estimates.get(name, ""))) for name in names),
        )
    # A bar alone does not end its line; a cell does.
    overall = Table.grid()
    overall.add_row(ProgressBar(total=state.num_shards, completed=state.num_done, width=60))
    parts: list[Any] = [overall, Text(summary_line(state)), table]
    if left_out:
        parts.append(Text(f"and {left_out} more points", style="dim"))
    return Group(*parts)


def summary_line(state: RunState) -> str:
    """Return the state of a run in one line.

    Parameters
    ----------
    state
        The state of a run.
    """
    share = 100 * state.num_done / state.num_shards
    parts = [f"{state.num_done}/{state.num_shards} shards ({share:.1f} %)"]
    if not math.isnan(state.shards_per_second):
        parts.append(f"{state.shards_per_second:.3g} shards/s")
    parts.append(f"{duration(state.seconds)} spent")
    if state.status == "running" and state.num_workers == 0:
        parts.append("waiting for workers")
    elif state.status != "complete":
        left = state.seconds_left
        parts.append("time left unknown" if math.isnan(left) else f"{duration(left)} left")
    if state.status != "running":
        parts.append(state.status)
    return f"{state.experiment}: {', '.join(parts)}"


def estimates_text(point: PointState) -> str:
    """Return the estimates of a point in one line.

    Parameters
    ----------
    point
        The state of one point.
    """
    return ", ".join(f"{name} = {estimate}" for name, estimate in point.estimates.items())


def duration(seconds: float) -> str:
    """Return a time in words: seconds, minutes, hours or days.

    Parameters
    ----------
    seconds
        The time, in seconds.
    """
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 86_400:.3g} d"


def _points_to_show(state: RunState, most: int | None) -> tuple[list[PointState], int]:
    points = list(state.points)
    if most is None or len(points) <= most:
        return points, 0
    # Unfinished ones first: they are what is being waited for.
    points.sort(key=lambda point: point.num_done == point.num_shards)
    return points[:most], len(points) - most
