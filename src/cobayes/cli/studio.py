"""``cobayes studio``: the page to play with, as one HTML file."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from cobayes.browser.page import Studio
from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given


@options.command(
    "cobayes studio --out page.html", "cobayes studio world.csv --out world.html --no-open"
)
@options.argument(
    "matrix",
    required=False,
    help="A file (.csv, .tsv, .json or .parquet) or example:NAME to start with (default: "
    "example:gestures).",
)
@options.output("--out", "-o", default=Path("studio.html"), help="The file to write.")
@click.option(
    "--open/--no-open", "open_page", default=True, help="Whether to show the page in the browser."
)
@options.smooth
def studio(given: Given) -> None:
    """Write a page on which lessons can be watched, changed and compared.

    The page is one file. It needs no server and no network, and sends nothing anywhere.
    """
    table = None
    if given.matrix is not None:
        is_example = given.example is not None and given.smooth is None
        table = given.example if is_example else given.model
    path = Studio(table).save(given.out)
    terminal.say(f"wrote {path}")
    if given.open_page and not webbrowser.open(path.resolve().as_uri()):
        terminal.say("no browser was found; open the file by hand.")
