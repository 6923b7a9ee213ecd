"""Tables of text with separators: which separator, which cells are labels, which are numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cobayes._input import cells as cell_rules
from cobayes._output import without_guard
from cobayes.errors import CobayesError, warn_user

# Headings above a first column that say that it holds the data's labels, whatever they are.
_LABEL_HEADINGS = frozenset({"", "datum", "data"})


@dataclass(frozen=True)
class Table:
    """Cells as they were found, their labels, and how to say where a cell is.

    ``place`` takes the position of a cell in ``rows`` and returns, say, "line 3, column 2".
    """

    rows: Sequence[Sequence[object]]
    data: Sequence[object] | None
    hypotheses: Sequence[object] | None
    place: Callable[[int, int], str]


def parse_delimited(file: Path, text: str, delimiter: str) -> Table:
    """Split the text of a file into labels and cells.

    Parameters
    ----------
    file
        Named in messages.
    text
        What the file holds.
    delimiter
        The separator that the file's suffix promises; another one is recognised, and so is a
        first line ``sep=;``.
    """
    text, delimiter, skipped = find_delimiter(text, delimiter)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [(reader.line_num, [_clean(cell) for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise CobayesError(
            f"{file}, line {reader.line_num + skipped}: {error}.",
            "check the quotation marks on that line.",
        ) from None
    filled = [(line + skipped, cells) for line, cells in lines if any(cells)]
    if not filled:
        raise CobayesError(
            f"{file} is empty: it has separators and nothing between them.",
            "give it at least one row and one column.",
        )
    rows = [cells for _, cells in filled]
    if cell_rules.has_decimal_commas(rows):
        rows = [[cell_rules.with_decimal_point(cell) for cell in cells] for cells in rows]
        warn_user(
            f"{file} has decimal commas; they are read as decimal points (0,25 is 0.25). "
            "Write points to avoid this note."
        )
    elif delimiter == ";" and (number := cell_rules.possible_thousands(rows)) is not None:
        warn_user(
            f"{number} in {file} is read as {float(number):g}, with a decimal point; "
            f"write {number.replace('.', '')} if the point separates thousands."
        )
    return _split_labels(file, rows, [line for line, _ in filled])


def _clean(cell: str) -> str:
    """Return a cell without white space around it and without our guard against formulas."""
    return without_guard(cell.strip())


def find_delimiter(text: str, promised: str) -> tuple[str, str, int]:
    """Return the text to read, its separator, and how many lines were taken off."""
    first_line, _, rest = text.partition("\n")
    declared = first_line.strip().strip('"').lower()
    if declared.startswith("sep=") and len(declared) == len("sep=") + 1:
        return rest, declared[-1], 1
    if first_line.lower().startswith("sep=\t"):
        return rest, "\t", 1
    first_line = next((line for line in text.splitlines() if line.strip()), "")
    if promised in first_line and not (promised == "," and first_line.count(";") > 0):
        return text, promised, 0
    # Spreadsheets write semicolons where the comma is the decimal point, and tabs if asked to.
    others = (";", "\t") if promised == "," else (",", ";")
    if promised == "\t" and promised in text:
        return text, promised, 0  # the first line is a single label
    found = next((sign for sign in others if sign in first_line), promised)
    if found == ";" and promised in first_line and not _is_regular(text, ";"):
        return text, promised, 0  # the semicolons are part of labels
    return text, found, 0


def _is_regular(text: str, delimiter: str) -> bool:
    """Tell whether every line has as many separators as the first, or one more."""
    counts = [line.count(delimiter) for line in text.splitlines() if line.strip()]
    return len(counts) > 1 and all(0 <= count - counts[0] <= 1 for count in counts)


def _split_labels(file: Path, rows: list[list[str]], lines: list[int]) -> Table:
    """Separate the first row and the first column from the numbers, if they are labels."""
    # Some programs leave the corner above the data's labels out.
    has_corner = not (len(rows) > 1 and len(rows[1]) == len(rows[0]) + 1)
    if _is_number(rows[0][0]) and (has_corner or _is_number(rows[1][0])):
        require_rectangle(file, rows, lines)
        return Table(rows, None, None, lambda i, j: f"line {lines[i]}, column {j + 1}")
    header, body = rows[0], rows[1:]
    if not body:
        raise CobayesError(
            f"{file} has one line and it is not all numbers; the first line holds the hypotheses.",
            "add a line for each datum: its label, then one number for each hypothesis.",
        )
    require_rectangle(file, rows if has_corner else body, lines if has_corner else lines[1:])
    has_data_labels = not has_corner or not _is_first_column_numbers(file, header, body)
    skipped = 1 if has_data_labels else 0
    hypotheses = header[1:] if has_corner and has_data_labels else header
    data = [cells[0] for cells in body] if has_data_labels else None
    offset = len(body[0]) - len(header)  # the columns that a missing corner shifts
    for position, label in enumerate(hypotheses, start=len(header) - len(hypotheses) + offset):
        if not label:
            raise CobayesError(
                f"{file}, line {lines[0]}, column {position + 1}: the hypothesis has no label.",
                "name it, or delete the column (a separator at the end of lines makes one).",
            )
    for line, label in zip(lines[1:], data or (), strict=False):
        if not label:
            raise CobayesError(
                f"{file}, line {line}, column 1: the datum has no label.",
                "name it, or delete the line.",
            )
    has_named_corner = has_corner and (header[0] or (data is not None and _all_fractions(data)))
    if has_named_corner and _all_fractions(hypotheses):
        warn_user(
            f"the first line of {file} is read as the hypotheses' labels, though it holds numbers: "
            f"{', '.join(hypotheses[:4])}; add a line of labels if it is the first datum."
        )
    return Table(
        [cells[skipped:] for cells in body],
        data,
        hypotheses,
        lambda i, j: f"line {lines[i + 1]}, column {j + 1 + skipped}",
    )


def _is_first_column_numbers(file: Path, header: list[str], body: list[list[str]]) -> bool:
    """Decide whether the first column holds numbers of the matrix, and warn if that is a guess.

    A first column of distinct integers, beside columns that are not of that kind, is taken for
    labels (years, numbers of rows); one that looks like the others for numbers.
    """
    first = [cells[0] for cells in body]
    if header[0].lower() in _LABEL_HEADINGS or any(_is_number(name) for name in header):
        return False
    if not all(_is_number(cell) for cell in first):
        return False
    others = [cell for cells in body for cell in cells[1:]]
    is_distinct = all(map(_is_whole, first)) and len(set(first)) == len(first)
    is_counted = is_distinct and len(first) > 2 and _is_consecutive([int(c) for c in first])
    if is_distinct and others and (is_counted or not all(map(_is_whole, others))):
        warn_user(
            f"the first column of {file}, {header[0]!r}, is read as the data's labels "
            f"({', '.join(first[:3])}); add a column of labels before it if it is a hypothesis, "
            "or leave its heading empty to say that it holds labels."
        )
        return False
    warn_user(
        f"the first column of {file}, {header[0]!r}, is read as a hypothesis and the data have no "
        "labels, since it holds numbers like the others; leave its heading empty if it holds the "
        "data's labels."
    )
    return True


def _is_whole(cell: str) -> bool:
    # Longer ones are no labels that anybody would count with, and slow to turn into integers.
    return cell.isascii() and cell.isdigit() and len(cell) <= 18


def _is_consecutive(numbers: list[int]) -> bool:
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _all_fractions(labels: Sequence[str]) -> bool:
    return bool(labels) and all(_is_number(label) and not label.isdigit() for label in labels)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def require_rectangle(file: Path, rows: Sequence[Sequence[object]], lines: Sequence[int]) -> None:
    """Raise an error that names the first line with another number of cells than the first."""
    width = len(rows[0])
    for line, cells in zip(lines, rows, strict=True):
        if len(cells) != width:
            raise CobayesError(
                f"{file}, line {line}: found {count_cells(len(cells))}, expected {width} "
                "(every line needs the same number).",
                "delete the first line if it is a comment."
                if width == 1
                else "fill in what is missing; a label that holds the separator needs quotation "
                "marks.",
            )


def count_cells(count: int) -> str:
    """Return "1 cell" or, say, "3 cells"."""
    return f"{count} cell" if count == 1 else f"{count} cells"
