"""Tables for people on the terminal, JSON for programs, CSV for spreadsheets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import typer

from cobayes.cli import streams
from cobayes.errors import CobayesError

Justification = Literal["left", "right"]


def print_json(content: Any) -> None:
    """Write valid JSON, and nothing else, to stdout; what is not finite becomes null."""
    text = json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False)
    if not streams.can_write(text):
        text = json.dumps(_finite(content), indent=2, ensure_ascii=True, allow_nan=False)
    typer.echo(streams.printable_json(text))


def _finite(item: Any) -> Any:
    if isinstance(item, dict):
        return {str(key): _finite(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)):
        return [_finite(value) for value in item]
    if isinstance(item, float) and item - item != 0.0:
        return None
    return item


def write_csv(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], *, raw: bool = False
) -> None:
    """Write a table to a file, whole or not at all.

    Parameters
    ----------
    path
        The file.
    header, rows
        The cells.
    raw
        Whether to write labels as they are; by default a label that a spreadsheet would take for
        a formula gets an apostrophe in front, which `cobayes.read_model` removes again.
    """
    from cobayes._output import csv_text, write_text

    try:
        write_text(path, csv_text((header, *rows), raw=raw))
    except OSError as error:
        raise CobayesError(f"{path} cannot be written: {error.strerror}.") from None


def say(text: str) -> None:
    """Tell the user something that is not the result: it goes to stderr."""
    typer.echo(streams.printable(text), err=True)


def say_seed(seed: int, to_do: str) -> None:
    """Tell the user the seed that was chosen, and what it is good for.

    Parameters
    ----------
    seed
        What was used.
    to_do
        What the same seed lets the user do again, such as "see the same walk".
    """
    say(f"seed {seed} (add --seed {seed} to {to_do} again)")


def console() -> Any:
    """Return rich's console for stdout; output to a pipe is not cut and has no colours."""
    from cobayes.cli.tables import WideConsole

    return WideConsole()


def table(title: str | None, columns: Sequence[tuple[str, Justification]]) -> Any:
    """Return an empty rich table.

    Parameters
    ----------
    title
        Shown above it.
    columns
        Heading and justification of every column: "left" for text, which may be shortened where
        there is no room, and "right" for numbers, which may not.
    """
    from rich import box
    from rich.text import Text

    from cobayes.cli.tables import NumberTable

    made = NumberTable(title, box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, justify in columns:
        made.add_column(Text(heading), justify=justify)
    return made


def facts(title: str, justify: Justification = "left") -> Any:
    """Return an empty rich table of two columns without headings: a name and what it is.

    Parameters
    ----------
    title
        Shown above it.
    justify
        Alignment of the second column; see `table`.
    """
    made = table(title, [("", "left"), ("", justify)])
    made.show_header = False
    return made


def plus_minus() -> str:
    """Return the sign before a standard error; it is chosen early, as it changes widths."""
    return "±" if streams.can_write("±") else "+-"


def bar(value: float, width: int = 12) -> str:
    """Draw a probability as a bar of block characters."""
    eighths = round(max(0.0, min(1.0, value)) * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
