"""Tables of text: the separator, the cells that are labels, and the number in a cell."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cobayes._input.validation import quoted
from cobayes._output import counted, without_guard
from cobayes.errors import CobayesError, warn_user

# A first column with one of these headings holds the data's labels, even if they are numbers.
_LABEL_HEADINGS = frozenset({"", "datum", "data"})

# How spreadsheets and statistics programs write a missing value.
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
# 1,200 is ambiguous (1200 or 1.2) and therefore an error.
_AMBIGUOUS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
# 1,200,000 or 1,200.5 or 1 200 or 1'200 or 1.200,5
_GROUPED = re.compile(
    r"[+-]?\d{1,3}(?:(?:,\d{3}){2,}|(?:,\d{3})+\.\d*|(?:[ '\u2019\u00a0\u2009\u202f]\d{3})+"
    r"(?:[.,]\d*)?|(?:\.\d{3})+,\d*|(?:\.\d{3}){2,})"
)


@dataclass(frozen=True)
class Cells:
    """The cells of a file, their labels, and a function that names the place of a cell.

    ``place`` maps the position of a cell in ``rows`` to a text such as "line 3, column 2".
    """

    rows: Sequence[Sequence[object]]
    data: Sequence[object] | None
    hypotheses: Sequence[object] | None
    place: Callable[[int, int], str]


def parse_table(file: Path, text: str, expected: str) -> Cells:
    """Split the text of a file into labels and cells.

    Parameters
    ----------
    file
        Named in messages.
    text
        The content of the file.
    expected
        The usual separator of files with this suffix; see `find_delimiter`.
    """
    text, delimiter, skipped = find_delimiter(text, expected)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [(reader.line_num, [without_guard(c.strip()) for c in cells]) for cells in reader]
    except csv.Error as error:
        raise CobayesError(
            f"{file}, line {reader.line_num + skipped}: {error}.",
            "check the quotation marks on that line.",
        ) from None
    filled = [(line + skipped, cells) for line, cells in lines if any(cells)]
    if not filled:
        raise CobayesError(
            f"{file} is empty: it has separators, but no cell between them has content.",
            "give it at least one row and one column.",
        )
    rows = [cells for _, cells in filled]
    if delimiter != ",":
        rows = [[with_decimal_point(cell) for cell in cells] for cells in rows]
    return _split_labels(file, rows, [f"line {line}" for line, _ in filled])


def find_delimiter(text: str, expected: str) -> tuple[str, str, int]:
    """Return the text to read, its separator, and the number of lines that were removed.

    A first line ``sep=;`` names the separator and is removed. Otherwise the separator is the first
    of these that applies:

    - a tab, if a tab is expected and the text has one;
    - a semicolon, if the first line has k > 0 semicolons and every other line has k or k + 1
      (k + 1: the first line has no cell above the labels of the data);
    - a comma, a tab or a semicolon, tried in this order, if the first line has one;
    - the expected separator.
    """
    declared, _, rest = text.partition("\n")
    if found := re.fullmatch(r'"?sep=(.)"?\r?', declared, re.IGNORECASE):
        return rest, found[1], 1
    if expected == "\t" and expected in text:
        return text, expected, 0
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    counts = [line.count(";") for line in lines]
    if counts[0] and all(0 <= count - counts[0] <= 1 for count in counts):
        return text, ";", 0
    return text, next((sign for sign in ",\t;" if sign in lines[0]), expected), 0


def with_decimal_point(cell: str) -> str:
    """Return a number with its decimal comma replaced by a point, and any other text unchanged."""
    is_decimal = _DECIMAL_COMMA.fullmatch(cell) and not _AMBIGUOUS.fullmatch(cell)
    return cell.replace(",", ".") if is_decimal else cell


def _split_labels(file: Path, rows: list[list[str]], lines: list[str]) -> Cells:
    """Separate the first row and the first column, if they contain labels, from the numbers.

    A table whose first cell is a number has no labels, unless its first row is one cell shorter
    than the second, and the second starts with text. In a table with labels, the first row contains
    those of the hypotheses, and the first column those of the data. A first column of numbers is a
    hypothesis, unless its heading is missing or one of `_LABEL_HEADINGS`.
    """
    # Some programs omit the cell above the data's labels: the first row is one cell short.
    has_corner = not (len(rows) > 1 and len(rows[1]) == len(rows[0]) + 1)
    if is_number(rows[0][0]) and (has_corner or is_number(rows[1][0])):
        require_rectangle(file, rows, lines)
        return Cells(rows, None, None, lambda i, j: f"{lines[i]}, column {j + 1}")
    header, body = rows[0], rows[1:]
    if not body:
        raise CobayesError(
            f"{file} has only one line, the labels of the hypotheses.",
            "add a line for each datum: its label, then one number for each hypothesis.",
        )
    require_rectangle(file, rows if has_corner else body, lines if has_corner else lines[1:])
    is_sure = not has_corner or header[0].lower() in _LABEL_HEADINGS
    has_data_labels = is_sure or not all(is_number(cells[0]) for cells in body)
    skipped = 1 if has_data_labels else 0
    hypotheses = header[1:] if has_corner and has_data_labels else header
    data = [cells[0] for cells in body] if has_data_labels else None
    are_numbers = all(is_number(name) and not name.isdigit() for name in hypotheses)
    if not has_data_labels:
        warn_user(
            f"the first column of {file}, {header[0]!r}, holds numbers and is read as a "
            "hypothesis; leave its heading empty if it holds the data's labels."
        )
    elif hypotheses and are_numbers and not is_sure:
        warn_user(
            f"the first line of {file} is read as the hypotheses' labels, though it holds numbers: "
            f"{', '.join(hypotheses[:4])}; add a line of labels if it is the first datum."
        )
    named = [("hypothesis", label, lines[0], skipped + j) for j, label in enumerate(hypotheses, 1)]
    named += [("datum", label, line, 1) for line, label in zip(lines[1:], data or (), strict=False)]
    for kind, label, line, column in named:
        if not label:
            raise CobayesError(
                f"{file}, {line}, column {column}: the {kind} has no label.",
                "name it, or delete it (a separator at the end of all lines adds a column).",
            )
    return Cells(
        [cells[skipped:] for cells in body],
        data,
        hypotheses,
        lambda i, j: f"{lines[i + 1]}, column {j + 1 + skipped}",
    )


def require_rectangle(file: Path, rows: Sequence[Sequence[object]], places: Sequence[str]) -> None:
    """Raise an error unless all rows have the same number of cells."""
    width = len(rows[0])
    for place, cells in zip(places, rows, strict=True):
        if len(cells) != width:
            raise CobayesError(
                f"{file}, {place}: found {counted(len(cells), 'cell')}, expected {width} "
                "(every row needs the same number).",
                "delete the first line if it is a comment."
                if width == 1
                else "fill in what is missing; a label that contains the separator needs quotation "
                "marks.",
            )


def is_number(text: str) -> bool:
    """Tell whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def not_negative(cell: Any) -> float:
    """Return the number in a cell; raise an error unless it is a finite number >= 0.

    A positive number that float64 rounds to zero is also an error.
    """
    text = cell.strip() if isinstance(cell, str) else None
    value = np.nan
    if cell is not None and (text is None or text.lower() not in _MISSING):
        try:
            # Python itself would read '1_0' as ten and True as one.
            if isinstance(cell, (bool, np.bool_)) or (text is not None and "_" in text):
                raise ValueError
            value = float(cell)
        except OverflowError:  # JSON has integers of any size
            value = np.inf
        except (TypeError, ValueError):
            raise CobayesError(f"{quoted(cell)} is not a number.", advice(text)) from None
    is_rounded = value == 0.0 and text is not None and re.match(r"[+-]?[0.]*[1-9]", text)
    if 0.0 <= value < np.inf and not is_rounded:
        return value
    plain = quoted(cell).strip("'")
    if np.isnan(value):
        found = f"{'NaN' if text is None else quoted(cell)} is a missing value"
        found = "the cell is empty" if cell is None or text == "" else found
        found += "; expected a number >= 0."
        hint = "fill it in, or drop its row or column."
    elif np.isinf(value):
        found = f"{plain} is infinite, or too large for floating point; entries must be finite."
        hint = "rescale the matrix."
    elif value < 0.0:
        found = f"{plain} is negative; entries must not be negative."
        hint = "entries are likelihoods or weights: check the sign, or exponentiate log values."
    else:
        found = f"{plain} is too small for floating point."
        hint = "rescale the matrix, or write 0 for impossible data."
    raise CobayesError(found, hint)


def advice(text: str | None) -> str:
    """Return a hint for a cell that cannot be read: how to write its number."""
    plain = "" if text is None else text.strip()
    if _AMBIGUOUS.fullmatch(plain):
        return (
            f"write {plain.replace(',', '')} if the comma separates thousands; if it is a decimal "
            "comma, write a point."
        )
    if _GROUPED.fullmatch(plain):
        return "remove the separators of thousands: write 1200, not 1,200 or 1 200."
    if _DECIMAL_COMMA.fullmatch(plain):
        return "write the decimal point as '.', not as a comma."
    if plain.endswith("%"):
        return "write 25% as 0.25, or leave out all % signs (columns need not sum to one)."
    return "write numbers such as 0.25 or 1e-6."
