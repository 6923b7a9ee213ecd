"""Progress on stderr: one live line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any, Self

import typer


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
