"""Tables that never shorten a number, however narrow the terminal is.

This module imports rich; `cobayes.cli.output` imports it when a table is made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from cobayes.cli.streams import printable

_FEWEST_LETTERS, _FEWEST_LETTERS_OF_HEADING = 6, 4
_GAP = 3
_NO_LIMIT = 10_000


class WideConsole(Console):
    """A console that cuts nothing off where nobody looks at a terminal.

    On a terminal, or where COLUMNS is set, tables fit its width and long lines run on. Elsewhere
    a table is as wide as it needs to be. No control character of a label reaches the terminal.
    """

    def __init__(self) -> None:
        has_width = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
        super().__init__(highlight=False, width=None if has_width else _NO_LIMIT)

    def print(self, *objects: Any, crop: bool = False, **options: Any) -> None:
        """Print without cropping."""
        super().print(*objects, crop=crop, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield what is shown, with a sign for each control character."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)


class NumberTable(Table):
    """A table whose right-justified columns hold numbers and keep their width.

    Where there is little room, headings of numbers are broken into lines and text is shortened, to
    a few letters or to the column's ``min_width``; where even that is not enough, the table is
    wider than the terminal. rich itself would shorten all columns alike, down to nothing. The
    heading above is not broken to the table's width.
    """

    def __init__(self, heading: str | None, **options: Any) -> None:
        super().__init__(**options)
        self.heading = heading

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Share the width among the columns and yield the table."""
        if self.heading is not None:
            yield Text(self.heading, style="bold")
        # As wide as they like: the terminal's own width must not cut the measures off.
        free = options.update(max_width=_NO_LIMIT)
        gaps = _GAP * len(self.columns) - 1
        if Measurement.get(console, free, self).maximum > options.max_width:
            for column in self.columns:
                if column.justify == "right" and isinstance(column.header, Text):
                    column.header = Text("\n".join(column.header.plain.split()))
            widths = [self._natural_width(column, console, free) for column in self.columns]
            least = [self._least_width(column, console, free) for column in self.columns]
            widths = _shrink(widths, least, options.max_width - gaps)
            for column, width in zip(self.columns, widths, strict=True):
                column.width, column.min_width = width, None
            options = options.update(max_width=max(options.max_width, sum(widths) + gaps))
        yield from super().__rich_console__(console, options)

    def _natural_width(self, column: Column, console: Console, free: ConsoleOptions) -> int:
        heading = Measurement.get(console, free, column.header).maximum if self.show_header else 0
        return max(heading, _width_of_cells(column, console, free))

    def _least_width(self, column: Column, console: Console, free: ConsoleOptions) -> int:
        cells = _width_of_cells(column, console, free)
        if column.min_width is not None:
            return min(column.min_width, self._natural_width(column, console, free))
        if column.justify == "right":
            return cells
        heading = Measurement.get(console, free, column.header).minimum if self.show_header else 0
        return max(min(cells, _FEWEST_LETTERS), min(heading, _FEWEST_LETTERS_OF_HEADING))


def _width_of_cells(column: Column, console: Console, free: ConsoleOptions) -> int:
    return max((Measurement.get(console, free, cell).maximum for cell in column.cells), default=0)


def _shrink(widths: list[int], least: list[int], width: int) -> list[int]:
    """Take letters from the widest columns, one by one, as long as that is needed and possible."""
    found = list(widths)
    while sum(found) > width:
        spare = [i for i in range(len(found)) if found[i] > least[i]]
        if not spare:
            break
        found[max(spare, key=lambda i: found[i])] -= 1
    return found
