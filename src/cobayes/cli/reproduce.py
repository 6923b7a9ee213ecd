"""``cobayes reproduce``: compute the paper's results afresh and write the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cobayes.cli import output
from cobayes.errors import CobayesError

EPILOG = (
    "Examples:\n\ncobayes reproduce\n\ncobayes reproduce lesson --scale 0.1 --out myreport --seed 7"
)


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="FIGURE", help="Parts of the report to compute; none means all."),
    ] = None,
    scale: Annotated[
        str,
        typer.Option(
            metavar="quick|paper|FACTOR",
            help="The effort: 'quick' takes minutes, 'paper' repeats the paper's numbers of "
            "samples, a number is a share of the paper's.",
        ),
    ] = "quick",
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the report goes.")
    ] = Path("report"),
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="The same seed gives the same numbers.")
    ] = 2020,
    show_list: Annotated[
        bool, typer.Option("--list", help="List the parts of the report and exit.")
    ] = False,
) -> None:
    """Compute the paper's results and write DIR/index.html, a page that needs no network.

    Parts computed earlier stay in the report, so that one can be added or repeated by itself.
    """
    from cobayes.figures.registry import RECIPES, choose_recipes

    if show_list:
        _print_recipes(RECIPES)
        return
    factor = read_scale(scale)
    names = [recipe.name for recipe in choose_recipes(figures or [])]

    from cobayes.cli.progress import ProgressLine
    from cobayes.figures.report import build_report

    with ProgressLine() as progress:
        page = build_report(out, names, scale=factor, seed=seed, tell=progress.tell)
    output.say("the report is ready; open it in a browser:")
    typer.echo(str(page))


def read_scale(text: str) -> float:
    """Return the share of the paper's effort that ``quick``, ``paper`` or a number means."""
    from cobayes.figures.report import PAPER_SCALE, QUICK_SCALE

    named = {"quick": QUICK_SCALE, "paper": PAPER_SCALE}
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


def _print_recipes(recipes: tuple) -> None:
    from rich.text import Text

    table = output.table(None, [("name", "left"), ("what it shows", "left")])
    for recipe in recipes:
        table.add_row(Text(recipe.name, style="bold"), Text(recipe.summary))
    output.console().print(table)
