"""``cobayes reproduce``: compute the paper's results afresh and write the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cobayes.cli import options, output
from cobayes.errors import CobayesError

EPILOG = (
    "Examples:\n\n"
    "cobayes reproduce\n\n"
    "cobayes reproduce figure-3 --scale paper --out results\n\n"
    "cobayes reproduce 2 S1 --scale 0.01 --jobs 2 --format svg,csv\n\n"
    "cobayes runs results"
)


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="FIGURE", help="Parts of the report to compute (default: all)."),
    ] = None,
    scale: Annotated[
        str,
        typer.Option(
            "--scale",
            metavar="quick|paper|FACTOR",
            help="The effort: 'quick' takes minutes, 'paper' repeats the paper's numbers of "
            "samples, a number is a multiple of the paper's.",
        ),
    ] = "quick",
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder of the report.")
    ] = Path("report"),
    seed: Annotated[
        int, options.count_option("--seed", least=0, help="The same seed gives the same numbers.")
    ] = 2020,
    jobs: Annotated[
        int | None,
        options.count_option(
            "--jobs", least=1, help="Number of local processes (default: one per core)."
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS|FILE",
            help="Address or scheduler file of a Dask cluster (default: this machine).",
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Delete what earlier runs computed, and start over."),
    ] = False,
    formats: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="LIST",
            help="What to save beside the page: some of svg,png,pdf,csv,netcdf.",
        ),
    ] = "svg,png,pdf,csv,netcdf",
    show_list: Annotated[
        bool, typer.Option("--list", help="List the parts of the report and exit.")
    ] = False,
) -> None:
    """Compute the paper's results and write DIR/index.html, a page that needs no network.

    Parts computed earlier stay in the report, so that one can be added or repeated by itself. A
    run that was stopped, by Ctrl-C or by a power cut, goes on when the same command is given again.
    """
    from cobayes.paper import RECIPES
    from cobayes.report.build import choose_recipes

    if show_list:
        _print_recipes(RECIPES)
        return
    factor = read_scale(scale)
    names = [recipe.name for recipe in choose_recipes(figures or [], RECIPES)]

    chosen_formats = read_formats(formats)
    if jobs is not None and scheduler is not None:
        raise CobayesError(
            "both --jobs and --scheduler are given; the scheduler knows its own workers.",
            "leave out one of them.",
        )

    from cobayes.cli.progress import ProgressLine
    from cobayes.report.build import build_report
    from cobayes.report.runner import Runner

    with (
        ProgressLine() as progress,
        Runner(
            jobs=jobs, scheduler=scheduler, fresh=fresh, progress=True, alone=progress.paused
        ) as runner,
    ):
        page = build_report(
            out,
            names,
            scale=factor,
            seed=seed,
            formats=chosen_formats,
            runner=runner,
            tell=progress.tell,
        )
    output.say("the report is ready; open it in a browser:")
    typer.echo(str(page))


def read_scale(text: str) -> float | None:
    """Return the multiple of the paper's effort that is meant; None for ``quick``."""
    named = {"quick": None, "paper": 1.0}
    if text.lower() in named:
        return named[text.lower()]
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0.0 < value < float("inf"):
        raise CobayesError(
            f"--scale is {text!r}; expected quick, paper or a positive number.",
            "0.1 is a tenth of the paper's effort.",
        )
    return value


def read_formats(text: str) -> tuple[str, ...]:
    """Return the formats of a list with commas; ``nc`` means ``netcdf``."""
    from cobayes.report.section import FORMATS

    names = [part.strip().lower().lstrip(".") for part in text.split(",") if part.strip()]
    found = ["netcdf" if name == "nc" else name for name in names]
    for name in found:
        if name not in FORMATS:
            raise CobayesError(
                f"--format: {name!r} is not a format.", f"choose from {', '.join(FORMATS)}."
            )
    return tuple(found)


def _print_recipes(recipes: tuple) -> None:
    from rich.text import Text

    table = output.table(None, [("name", "left"), ("what it shows", "left")])
    for recipe in recipes:
        table.add_row(Text(recipe.name, style="bold"), Text(recipe.summary))
    output.console().print(table)
