"""Progress on stderr: one live line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, Self

import typer

# After so many seconds a command says that it is still at work.
PATIENCE = 2.0


@contextlib.contextmanager
def patience(doing: str) -> Iterator[None]:
    """Say on stderr what is being done if it takes longer than two seconds.

    A terminal shows a line with the time so far, which goes away at the end; elsewhere it is one
    plain line.

    Parameters
    ----------
    doing
        What is being done, such as "running 1,000 lessons".
    """
    is_done = threading.Event()

    def watch() -> None:
        start = time.monotonic()
        if is_done.wait(PATIENCE):
            return
        if not sys.stderr.isatty():
            typer.echo(f"{doing} ...", err=True)
            return
        while True:
            # Back to the start of the line, clear it, write, without a new line.
            sys.stderr.write(f"\r\x1b[2K{doing} ... {time.monotonic() - start:.0f} s")
            sys.stderr.flush()
            if is_done.wait(1.0):
                sys.stderr.write("\r\x1b[2K")
                sys.stderr.flush()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_done.set()
        watcher.join()


class ProgressLine:
    """Shows what is being done; use it as a context manager."""

    def __init__(self) -> None:
        self._status: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console

            console = Console(stderr=True, highlight=False)
            spinner = "dots" if console.encoding.startswith("utf") else "line"
            self._status = console.status("starting ...", spinner=spinner)
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the terminal to another display for a while: two would overwrite each other."""
        if self._status is None:
            yield
            return
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def tell(self, what: str, text: str) -> None:
        """Show a line: what is being made, and how far it is."""
        from rich.text import Text

        if self._status is None:
            typer.echo(f"{what}: {text}", err=True)
        elif text.startswith("done"):
            self._status.console.print(Text(f"{what}: {text}"))
        else:
            self._status.update(Text(f"{what}: {text}"))
