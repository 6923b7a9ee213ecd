"""``cobayes studio``: the page to play with, as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from cobayes.cli import inputs, options, terminal
from cobayes.cli.app import command


@command("cobayes studio --out page.html", "cobayes studio world.csv --out world.html --no-open")
@options.argument(
    "matrix",
    required=False,
    help="A file (.csv, .tsv, .json or .parquet) or example:NAME to start with (default: "
    "example:gestures).",
)
@options.path("--out", "-o", default=Path("studio.html"), help="The file to write.")
@click.option(
    "--open/--no-open", "open_page", default=True, help="Whether to show the page in the browser."
)
@options.smooth
def studio(matrix: str | None, out: Path, open_page: bool, smooth: float | None) -> None:
    """Write a page on which lessons can be watched, changed and compared.

    The page is one file. It needs no server and no network, and sends nothing anywhere.
    """
    from cobayes.browser.page import Studio

    inputs.check_outputs({"--out": out}, [matrix])
    table = None
    if matrix is not None:
        model, example = inputs.load_matrix(matrix, smooth)
        table = model if example is None or smooth is not None else example
    path = Studio(table).save(out)
    terminal.say(f"wrote {path}")
    if open_page:
        import webbrowser

        if not webbrowser.open(path.resolve().as_uri()):
            terminal.say("no browser was found; open the file by hand.")
