"""The terminal: tables, JSON, messages and progress, for any width, encoding and label."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import shutil
import sys
import textwrap
import threading
import time
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import click

# Seconds after which a command shows that it is still working.
PATIENCE = 2.0

_CLEAR_LINE = "\r\x1b[2K"
_GAP = "   "
_SHORTEST = 6  # least width of a text column in a narrow terminal, in characters
_BARS = re.compile("[█▉▊▋▌▍▎▏]+")

# Pairs of signs; the second is used if a stream cannot encode the first.
_PLAIN_SIGNS = dict(zip("█▉▊▋▌▍▎▏±…–─·•", "#####   ~.--**", strict=True)) | {"±": "+-"}

# Control characters could move the cursor or rename the window; direction marks could reorder the
# text. Line breaks and tabs are harmless.
_CONTROLS = [c for c in (*range(0x20), *range(0x7F, 0xA0)) if c not in (0x09, 0x0A)]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE = dict.fromkeys((*_CONTROLS, *_DIRECTIONS), "�")
_ESCAPED = {code: f"\\u{code:04x}" for code in (*_CONTROLS, *_DIRECTIONS)}


def never_fail_to_encode() -> None:
    """Make stdout and stderr replace each character that they cannot encode."""
    codecs.register_error("cobayes.plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # missing in notebooks
        if reconfigure is not None:
            reconfigure(errors="cobayes.plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join(_PLAIN_SIGNS.get(sign, "?") for sign in found), error.end


def _is_unicode() -> bool:
    """Tell whether stdout can encode every character."""
    return "utf" in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()


def width() -> int | None:
    """Return the width of the terminal; None if stdout is not a terminal and COLUMNS is not set."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size().columns
    return None


def paint(text: str, *, err: bool = False, **style: Any) -> str:
    """Return a text in colour or bold if stdout shows colours; with `err`, stderr decides."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    is_plain = is_plain or not (sys.stderr if err else sys.stdout).isatty()
    return text if is_plain else click.style(text, **style)


def printable(text: str) -> str:
    """Return a text with a visible sign for each control character and direction mark."""
    text = text.translate(_VISIBLE)
    # "+-" is wider than "±", so it is inserted before column widths are measured.
    return text if _is_unicode() else text.replace("±", "+-")


def show(text: str = "", **style: Any) -> None:
    """Write a line of the result to stdout."""
    print(paint(printable(text), **style))


def show_text(text: str, start: str = "") -> None:
    """Write `start` and a paragraph to stdout; on a terminal, wrap and indent the paragraph."""
    limit, indent = width(), " " * len(click.unstyle(start))
    lines = textwrap.wrap(printable(text), max(limit - len(indent), 20)) if limit else [text]
    for number, line in enumerate(lines):
        print((indent if number else start) + printable(line))


def say(text: str, kind: str = "", color: str = "") -> None:
    """Write a message to stderr; it begins with its kind, such as "error", in colour."""
    start = paint(f"{kind}:", err=True, fg=color, bold=True) + " " if kind else ""
    print(start + printable(text), file=sys.stderr)


def show_json(content: Any) -> None:
    """Write valid JSON, and nothing else, to stdout; infinity and NaN become null."""
    finite = json.loads(json.dumps(content), parse_constant=lambda _: None)
    print(json.dumps(finite, indent=2, ensure_ascii=not _is_unicode()).translate(_ESCAPED))


def show_table(
    title: str | None,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[str]],
    *,
    least: Sequence[int] | None = None,
) -> None:
    """Print a table; numbers are never shortened, even in a narrow terminal.

    Parameters
    ----------
    title
        A line above the table.
    columns
        Heading of each column, and ">" for numbers (right-justified) or "<" for text. In a narrow
        terminal, headings and texts are wrapped; if that is not enough, the table is wider than the
        terminal. If all headings are empty, none is printed.
    rows
        The cells.
    least
        The least width of each column, in characters. If given, texts are cut instead of wrapped.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    heads = [printable(heading) for heading, _ in columns]
    is_number = [justify == ">" for _, justify in columns]
    bodies = [max((_width(row[j]) for row in cells), default=0) for j in range(len(columns))]
    widths = [max(body, _width(head)) for body, head in zip(bodies, heads, strict=True)]
    limit = width()
    if limit is not None and _total(widths) > limit:
        words = [max(map(_width, head.replace("-", "- ").split()), default=0) for head in heads]
        shortest = [
            max(size, body if number else min(body, _SHORTEST))
            for body, size, number in zip(bodies, least or words, is_number, strict=True)
        ]
        widths = _shrink(widths, list(map(min, shortest, widths)), limit)
    if title is not None:
        show(title, bold=True)
        show()
    if any(heads):
        lines = [_wrap(head, size) for head, size in zip(heads, widths, strict=True)]
        _show_row(lines, is_number, widths, bold=True)
        show(" " + "─" * (_total(widths) - 2))
    for row in cells:
        fit = _wrap if least is None else _cut
        _show_row([fit(c, size) for c, size in zip(row, widths, strict=True)], is_number, widths)
    show()


def show_facts(title: str, facts: Sequence[tuple[str, str]], justify: str = "<") -> None:
    """Print a table of two columns without headings: names and descriptions."""
    show_table(title, [("", "<"), ("", justify)], facts)


def _wrap(text: str, size: int) -> list[str]:
    if _width(text) <= size:
        return [text]
    # textwrap counts characters, and a character may be two columns wide.
    return textwrap.wrap(text, max(size // max(map(_width, text)), 1))


def _cut(text: str, size: int) -> list[str]:
    while _width(text) > size:
        text = f"{text.removesuffix('…')[:-1]}…"
    return [text]


def _width(text: str) -> int:
    """Return the width of a text in terminal columns: Chinese characters two, accents zero."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) > 0 for sign in text)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1) + 2


def _shrink(widths: list[int], least: list[int], limit: int) -> list[int]:
    """Narrow the widest columns, one character at a time, until the table fits, if possible."""
    found = list(widths)
    while _total(found) > limit:
        spare = [i for i in range(len(found)) if found[i] > least[i]]
        if not spare:
            break
        found[max(spare, key=lambda i: found[i])] -= 1
    return found


def _show_row(
    cells: Sequence[Sequence[str]], is_number: Sequence[bool], widths: Sequence[int], **style: Any
) -> None:
    """Print one row whose cells may have several lines."""
    for number in range(max(map(len, cells))):
        parts = []
        for lines, right, size in zip(cells, is_number, widths, strict=True):
            text = lines[number] if number < len(lines) else ""
            space = " " * (size - _width(text))
            parts.append(space + text if right else text + space)
        line = _BARS.sub(lambda found: paint(found[0], fg="blue"), f" {_GAP.join(parts)}".rstrip())
        print(paint(line, **style))


def bar(value: float, size: int = 12) -> str:
    """Draw a probability as a bar of block characters."""
    full, rest = divmod(round(max(0.0, min(1.0, value)) * size * 8), 8)
    return "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")


@contextlib.contextmanager
def patience(doing: str) -> Iterator[None]:
    """Show on stderr the work in progress, such as "running 9 lessons".

    On a terminal the line appears after three seconds, shows the time so far and is removed at the
    end. Otherwise one plain line is written after two seconds.
    """
    is_done = threading.Event()

    def watch() -> None:
        start = time.monotonic()
        if is_done.wait(PATIENCE):
            return
        if not sys.stderr.isatty():
            say(f"{doing} ...")
            return
        with ProgressLine() as line:
            while not is_done.wait(1.0):
                line.tell(doing, f"{time.monotonic() - start:.0f} s")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_done.set()
        watcher.join()


class ProgressLine(contextlib.AbstractContextManager):
    """One line on stderr, overwritten on a terminal; use it as a context manager."""

    def __exit__(self, *_: object) -> None:
        if sys.stderr.isatty():
            print(_CLEAR_LINE, end="", file=sys.stderr, flush=True)

    def tell(self, what: str, text: str) -> None:
        """Show the current part and its progress; the line of a finished part is kept."""
        line = printable(f"{what}: {text}")
        if not sys.stderr.isatty():
            print(line, file=sys.stderr, flush=True)
            return
        is_done = text.startswith("done")
        line = line if is_done else _cut(line, shutil.get_terminal_size().columns - 1)[0]
        print(_CLEAR_LINE + line, end="\n" if is_done else "", file=sys.stderr, flush=True)
