"""``cobayes reproduce`` and ``cobayes runs``: the paper's results, and the progress of runs."""

from __future__ import annotations

from pathlib import Path

import click

from cobayes._parallel import duration
from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.errors import CobayesError
from cobayes.paper import RECIPES, build_paper
from cobayes.report.page import FORMATS
from cobayes.runs import RunState, find_runs, read_state, workers
from cobayes.runs.progress import joined, summary_line


def _read_scale(name: str, text: str) -> float | None:
    """Return --scale as a multiple of the paper's numbers of samples; None for ``quick``."""
    named = {"quick": None, "paper": 1.0}
    value = named.get(text.lower(), options.as_number(text))
    if text.lower() not in named and not (value and 0.0 < value < float("inf")):
        raise CobayesError(
            f"{name} is {text!r}; expected quick, paper or a positive number.",
            "give 0.1, for instance, for a tenth of the paper's effort.",
        )
    return value


@options.command(
    "cobayes reproduce",
    "cobayes reproduce figure-3 --scale paper --out results",
    "cobayes reproduce 2 S1 --scale 0.01 --jobs 2 --format svg,csv",
    "cobayes reproduce figure-s2 --set radius=0.15 --out wider",
    "cobayes runs results",
)
@options.argument(
    "figures",
    metavar="[FIGURE]...",
    nargs=-1,
    help="Parts of the report to compute, such as 3 or figure-3; see --list (default: all).",
)
@options.option(
    "--scale",
    read=_read_scale,
    metavar="quick|paper|FACTOR",
    default="quick",
    help="The numbers of samples: few, for minutes of work (quick), the paper's (paper), or FACTOR "
    "times the paper's.",
)
@options.path("--out", metavar="DIR", default=Path("report"), help="The folder of the report.")
@options.seed(2020)
@options.jobs
@options.option(
    "--scheduler",
    metavar="ADDRESS|FILE",
    help="Address or scheduler file of a Dask cluster (default: this machine).",
)
@options.flag("--fresh", help="Delete the results of earlier runs, and start again.")
@options.pairs(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    help="Change a parameter of a figure; the error about an unknown NAME lists all names.",
)
@options.names(
    "--format",
    "formats",
    metavar="LIST",
    default=",".join(FORMATS),
    help="Formats of the pictures and numbers that are saved beside the page.",
)
@options.flag("--list", "show_list", help="List the parts of the report and exit.")
def reproduce(given: Given) -> None:
    """Compute the paper's results and write DIR/index.html, a page that needs no network.

    The report keeps the parts that were computed before, so that you can add or repeat a single
    part. After Ctrl-C or a power cut, the same command without --fresh continues where it stopped.
    """
    if given.show_list:
        rows = [[recipe.name, recipe.summary] for recipe in RECIPES]
        terminal.show_table(None, [("name", "<"), ("what it shows", "<")], rows)
        return
    if several := [name for name in given.figures if "," in name]:
        raise CobayesError(
            f"there is no part of the report called {several[0]!r}.",
            f"separate names by spaces: {' '.join(several[0].replace(',', ' ').split())}.",
        )
    settings = {name: getattr(given, name) for name in ("scale", "formats", "seed", "fresh")}
    changed = {name: value for pairs in given.settings for name, value in pairs.items()}
    with (
        workers(jobs=given.jobs, scheduler=given.scheduler) as executor,
        terminal.ProgressLine() as line,
    ):
        page = build_paper(
            given.out,
            given.figures,
            tell=line.tell,
            executor=executor,
            progress=True,
            settings=changed,
            **settings,
        )
    terminal.say("the report is ready; open it in a browser:")
    print(page)


@options.command("cobayes runs report", "watch cobayes runs report")
@options.argument(
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, path_type=Path),
    help="Folder of a run, or a folder with runs in its subfolders.",
)
@options.as_json
def runs(given: Given) -> None:
    """Show one line per experiment: finished shards, computing time and time left.

    A shard is the part of a run that one process computes at a time. Runs of the same experiment
    in one folder share a line; give that folder to see each run. A single run is shown with its
    points (sets of parameters).
    """
    folder, found = given.folder, find_runs(given.folder)
    if not found:
        raise CobayesError(
            f"there is no run in {str(folder)!r} or below it.",
            "give the --out folder of 'cobayes reproduce', or the folder of your own run; parts of "
            "the report that draw no samples, such as worked-example, leave no run.",
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
    for (parent, _), group in groups.items():
        for part in [[state] for state in group] if parent == folder else [group]:
            several = f" ({len(part)} runs)" if len(part) > 1 else ""
            state = joined(part)
            terminal.show(f"{state.folder}{several}: {summary_line(state)}")
    for path, text in errors.items():
        terminal.show(f"{path}: {text}")
    if len(found) == 1 and states:
        (state,) = states.values()
        rows = [[p.name, f"{p.num_done}/{p.num_shards}", duration(p.seconds)] for p in state.points]
        terminal.show_table(None, [("point", "<"), ("shards", ">"), ("time", ">")], rows)
