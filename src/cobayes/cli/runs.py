"""``cobayes runs``: the progress of the runs in a folder, also while they are running."""

from __future__ import annotations

from pathlib import Path

import click

from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.errors import CobayesError
from cobayes.runs import RunState, find_runs, read_state
from cobayes.runs.progress import duration, joined, summary_line


@options.command("cobayes runs report", "watch cobayes runs report")
@options.argument(
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of a run, or one that has runs somewhere below it.",
)
@options.as_json
def runs(given: Given) -> None:
    """Show shards done, computing time and time left by experiment; of a single run its points.

    Runs of one experiment in one folder share a line; give their folder to see each of them.
    """
    folder, found = given.folder, find_runs(given.folder)
    if not found:
        raise CobayesError(
            f"there is no run in {str(folder)!r} or below it."
            if folder.exists()
            else f"there is no folder {str(folder)!r}.",
            "give the folder that was --out of 'cobayes reproduce', or of your own run; parts that "
            "draw no samples, such as worked-example, leave no run.",
        )
    states, errors = {}, {}
    for path in found:
        try:
            states[path] = read_state(path)
        except CobayesError as error:  # the other runs are still shown
            errors[path] = error.message
    if given.as_json:
        unreadable = [{"folder": str(path), "error": text} for path, text in errors.items()]
        terminal.show_json([*(state.to_dict() for state in states.values()), *unreadable])
        return
    groups: dict[tuple[Path, str], list[RunState]] = {}
    for state in states.values():
        groups.setdefault((state.folder.parent, state.experiment), []).append(state)
    for group in groups.values() if len(groups) > 1 else [[state] for state in states.values()]:
        several = f" ({len(group)} runs)" if len(group) > 1 else ""
        state = joined(group)
        terminal.show(f"{state.folder}{several}: {summary_line(state)}")
    for path, text in errors.items():
        terminal.show(f"{path}: {text}")
    if len(found) == 1 and states:
        (state,) = states.values()
        rows = [[p.name, f"{p.num_done}/{p.num_shards}", duration(p.seconds)] for p in state.points]
        terminal.show_table(None, [("point", "<"), ("shards", ">"), ("time", ">")], rows)
