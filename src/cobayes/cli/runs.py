"""``cobayes runs``: the progress of the runs in a folder, also while they are running."""

from __future__ import annotations

from pathlib import Path

import click

from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.errors import CobayesError
from cobayes.runs import find_runs, read_state
from cobayes.runs.progress import duration, summary_line


@options.command("cobayes runs report", "watch cobayes runs report")
@options.argument(
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of a run, or one that has runs somewhere below it.",
)
@options.as_json
def runs(given: Given) -> None:
    """Show one line per run: shards done, computing time, time left; of a single run its points."""
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
    for path in found:
        text = errors[path] if path in errors else summary_line(states[path])
        terminal.show(f"{path}: {text}")
    if len(found) == 1 and states:
        (state,) = states.values()
        rows = [[p.name, f"{p.num_done}/{p.num_shards}", duration(p.seconds)] for p in state.points]
        terminal.show_table(None, [("point", "<"), ("shards", ">"), ("time", ">")], rows)
