"""Tables as users give them: files, data frames or mappings of columns, and their cells."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobayes._input.labels import suggest
from cobayes._input.text import advice, find_delimiter, with_decimal_point
from cobayes._input.validation import quoted
from cobayes._output import without_guard
from cobayes.errors import CobayesError, warn_user
from cobayes.people.problems import Array
from cobayes.reading import existing_file, read_parquet_frame, read_text

# Columns of labels are read as texts, so that the labels 01 and 1e3 do not become numbers.
_LABELS = ("person", "problem", "hypothesis", "datum", "guess", "lesson")


def read_frame(table: Any, names: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return a DataFrame from a table, a mapping of columns or a file.

    Parameters
    ----------
    table
        A DataFrame, a mapping of columns, or a CSV, TSV or Parquet file.
    names
        A mapping from the required name of a column to its name in this table.
    """
    names, source = dict(names or {}), "the table"
    if isinstance(table, (str, Path)):
        # Renamed columns are read as texts, too, because they may contain labels.
        source = str(table)
        frame = _from_file(existing_file(table), [*_LABELS, *names.values()])
    else:
        if hasattr(table, "to_pandas"):
            table = table.to_pandas()
        try:
            frame = pd.DataFrame(table).reset_index(drop=True)
        except (TypeError, ValueError) as error:
            raise CobayesError(f"{quoted(table)} cannot be read as a table: {error}.") from None
    for theirs in names.values():
        if theirs not in frame.columns:
            raise CobayesError(
                f"{source} has no column {theirs!r}.", suggest(theirs, [*map(str, frame.columns)])
            )
    return frame.rename(columns={theirs: ours for ours, theirs in names.items()})


def _from_file(file: Path, labels: Sequence[str]) -> pd.DataFrame:
    if file.suffix.lower() in (".parquet", ".pq"):
        return read_parquet_frame(file)
    text, sign, _ = find_delimiter(read_text(file), "\t" if file.suffix == ".tsv" else ",")
    known = sign if sign in text else None  # None: pandas finds the separator
    try:
        frame = pd.read_csv(
            io.StringIO(text), sep=known, engine="python", dtype=dict.fromkeys(labels, str)
        )
    except (ValueError, OSError, csv.Error) as error:
        raise CobayesError(f"{file} cannot be read as a table: {error}.") from None
    return frame.map(lambda cell: without_guard(cell) if isinstance(cell, str) else cell)


def row_of(frame: pd.DataFrame, row: int) -> str:
    """Return the number of a row of the user's table, as a text for a message."""
    return f"row {int(frame.index[row]) + 1} of the {frame.index.name or 'table'}"


def place_of(frame: pd.DataFrame, row: int, column: str) -> str:
    """Return the row and column of a cell as a text for a message."""
    return f"{row_of(frame, row)}, column {column!r}"


def require(
    frame: pd.DataFrame, good: Any, column: str, message: str, hint: str | None = None
) -> None:
    """Raise an error about the first bad cell; {} in `message` stands for the cell's content."""
    bad = np.flatnonzero(~np.asarray(good, dtype=bool))
    if len(bad):
        message = message.replace("{}", repr(frame[column].tolist()[bad[0]]))
        raise CobayesError(f"{place_of(frame, bad[0], column)}: {message}", hint)


def filled(frame: pd.DataFrame, column: str) -> Any:
    """Return a column of single values; raise an error for empty cells, lists or invalid text."""
    cells = frame[column]
    require(frame, cells.notna(), column, "the cell is empty.", "fill it in, or drop the row.")
    if cells.dtype.kind in "biuf":
        return cells
    message = "the cell holds {}; expected one value."
    hint = "write one row for each value: table.explode(...) does it."
    require(frame, cells.map(pd.api.types.is_hashable), column, message, hint)
    message = "the cell holds {}, which is not Unicode text."
    require(frame, cells.map(_is_unicode), column, message, "save the table as UTF-8.")
    return cells


def _is_unicode(cell: Any) -> bool:
    """Tell whether a cell has no lone surrogate; pandas cannot group texts that have one."""
    return not isinstance(cell, str) or cell.isascii() or not re.search("[\ud800-\udfff]", cell)


def read_column(frame: pd.DataFrame, column: str) -> Array:
    """Return a column of finite numbers; raise an error that names the first invalid cell.

    A text such as 0,25 is read as a number, with a warning.
    """
    cells = filled(frame, column).tolist()
    plain = [with_decimal_point(cell) if isinstance(cell, str) else cell for cell in cells]
    found = as_numbers(plain)
    good = np.isfinite(found)
    texts = [cell for cell, is_good in zip(cells, good, strict=True) if not is_good]
    hint = advice(texts[0]) if texts and isinstance(texts[0], str) else None
    require(frame, good, column, "{} is not a number.", hint)
    if plain != cells:
        warn_user(
            f"the column {column!r} has decimal commas; they are read as decimal points (0,25 is "
            "0.25). Write points to avoid this note."
        )
    return found


def as_numbers(cells: Iterable[Any]) -> Array:
    """Return the cells as numbers; NaN for a cell that is not a number."""

    def number(cell: Any) -> float:
        try:
            return float(cell)
        except (TypeError, ValueError, OverflowError):
            return math.nan

    return np.array([number(cell) for cell in cells])


def as_text(value: Any) -> str:
    """Return a label as text; 1.0 gives "1"."""
    # In a column with a missing value, pandas reads integers as floats.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
