"""``cobayes runs``: how far the runs in a folder are, also while they are running."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cobayes.cli import options, output
from cobayes.errors import CobayesError

EPILOG = "Examples:\n\ncobayes runs report\n\nwatch cobayes runs report"


def runs(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder of a run, or one that has runs somewhere below it."
        ),
    ],
    as_json: options.AsJson = False,
) -> None:
    """Show what is done, what is left, the time, and the estimates so far."""
    from cobayes.runs import find_runs, read_state

    found = find_runs(folder)
    if not found:
        raise CobayesError(
            f"there is no run in {str(folder)!r} or below it."
            if folder.exists()
            else f"there is no folder {str(folder)!r}.",
            "give the folder that was --out of 'cobayes reproduce', or of your own run; parts that "
            "draw no samples, such as worked-example, leave no run.",
        )
    states = [read_state(path) for path in found]
    if as_json:
        output.print_json([state.to_dict() for state in states])
        return

    from cobayes.runs.progress import state_table

    console = output.console()
    for position, state in enumerate(states):
        if position:
            console.print()
        console.print(str(state.folder), markup=False, style="bold")
        console.print(state_table(state))
