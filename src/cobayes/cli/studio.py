"""``cobayes studio``: the page to play with, as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cobayes.cli import inputs, options, output

EPILOG = (
    "Examples:\n\n"
    "cobayes studio --out page.html\n\n"
    "cobayes studio world.csv --out world.html --no-open"
)


def studio(
    matrix: Annotated[
        str | None,
        typer.Argument(
            metavar="MATRIX",
            help="A file (.csv, .tsv, .json or .parquet) or example:NAME to start with (default: "
            "example:gestures).",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")] = (
        Path("studio.html")
    ),
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Whether to show the page in the browser.")
    ] = True,
    smooth: options.Smooth = None,
) -> None:
    """Write a page on which lessons can be watched, changed and compared.

    The page is one file. It needs no server and no network, and sends nothing anywhere.
    """
    from cobayes.studio.page import Studio

    inputs.check_outputs({"--out": out}, [matrix])
    table = None
    if matrix is not None:
        model, example = inputs.load_matrix(matrix, smooth)
        table = model if example is None or smooth is not None else example
    path = Studio(table).save(out)
    output.say(f"wrote {path}")
    if open_page:
        import webbrowser

        if not webbrowser.open(path.resolve().as_uri()):
            output.say("no browser was found; open the file by hand.")
