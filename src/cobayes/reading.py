"""Models from files: CSV, TSV, JSON and Parquet, with errors that name the cell."""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cobayes.errors import CobayesError, CobayesWarning, import_optional
from cobayes.model import Model

# What spreadsheets and statistics programs write where a value is missing.
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})


@dataclass(frozen=True)
class _Table:
    """Cells as they were found, their labels, and how to say where a cell is.

    ``place`` takes the position of a cell in ``rows`` and returns, say, "line 3, column 2".
    """

    rows: Sequence[Sequence[object]]
    data: Sequence[object] | None
    hypotheses: Sequence[object] | None
    place: Callable[[int, int], str]


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a labelled matrix from a file; its suffix says the format.

    In a table (``.csv``, ``.tsv``) the first row holds the hypotheses and the first column the
    data; a table of numbers alone is a matrix without labels. JSON (``.json``) holds
    ``{"matrix": [[...]], "data": [...], "hypotheses": [...]}`` (the labels may be missing), a
    bare list of rows, or what pandas writes with ``orient="split"``. In Parquet (``.parquet``)
    the index holds the data.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    CobayesError
        The file is missing, empty, ragged, or a cell is not a positive finite number; the
        message names the file and the cell.
    """
    file = Path(path)
    readers = {
        ".csv": lambda: _read_delimited(file, ","),
        ".tsv": lambda: _read_delimited(file, "\t"),
        ".tab": lambda: _read_delimited(file, "\t"),
        ".json": lambda: _read_json(file),
        ".parquet": lambda: _read_parquet(file),
        ".pq": lambda: _read_parquet(file),
    }
    if file.is_dir():
        raise CobayesError(f"{file} is a folder, not a file.", "name the file inside it.")
    if not file.exists():
        raise CobayesError(f"there is no file {file}.", _nearby(file))
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise CobayesError(
            f"{file} has the suffix {file.suffix!r}, which says no known format."
            if file.suffix
            else f"{file} has no suffix, so its format is unknown.",
            "rename it: .csv, .tsv, .json and .parquet are read.",
        )
    return _to_model(file, reader())


def _nearby(file: Path) -> str:
    """Return a hint about a file that was not found."""
    if not file.parent.is_dir():
        return f"the folder {file.parent} does not exist either; check the path."
    twins = sorted(
        other.name
        for other in file.parent.glob("*")
        if other.is_file()
        and (other.stem.lower() == file.stem.lower() or other.name.lower() == file.name.lower())
    )
    return f"did you mean {twins[0]}?" if twins else "check the spelling and the folder."


def _to_model(file: Path, table: _Table) -> Model:
    """Turn cells into numbers, naming the first that is not a positive finite one."""
    if not table.rows or not table.rows[0]:
        raise CobayesError(
            f"{file} holds no numbers.", "give it at least one row and one column of numbers."
        )
    # A label file of numbers (say, years) still means labels: text never counts as a position.
    data = None if table.data is None else [str(label) for label in table.data]
    hypotheses = None if table.hypotheses is None else [str(label) for label in table.hypotheses]
    for labels, count, kind in (
        (data, len(table.rows), "data"),
        (hypotheses, len(table.rows[0]), "hypotheses"),
    ):
        if labels is not None and len(labels) != count:
            raise CobayesError(
                f"{file} has {len(labels)} labels for {count} {kind}.",
                f"give exactly {count}, or none at all.",
            )
    matrix = np.empty((len(table.rows), len(table.rows[0])))
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row):
            try:
                matrix[i, j] = _positive(cell)
            except CobayesError as problem:
                named = [
                    f"{kind} {labels[position]!r}"
                    for kind, labels, position in (
                        ("datum", data, i),
                        ("hypothesis", hypotheses, j),
                    )
                    if labels is not None
                ]
                place = table.place(i, j) + (f" ({', '.join(named)})" if named else "")
                raise CobayesError(f"{file}, {place}: {problem.message}", problem.hint) from None
    try:
        return Model(matrix, data, hypotheses)
    except CobayesError as error:
        raise CobayesError(f"{file}: {error.message}", error.hint) from None


def _positive(cell: object) -> float:
    """Return the number in a cell or raise an error that says what it holds instead."""
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING):
        found = "the cell is empty" if cell in (None, "") else f"{cell!r} is a missing value"
        raise CobayesError(
            f"{found}; a positive number was expected.", "fill it in, or drop its row or column."
        )
    # Python itself would read '1_0' as ten and True as one.
    text = cell if isinstance(cell, str) else None
    try:
        if isinstance(cell, (bool, np.bool_)) or (text is not None and "_" in text):
            raise ValueError
        value = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        hint = "write numbers such as 0.25 or 1e-6."
        if text is not None and "," in text:
            hint = "write the decimal point as '.', not as a comma."
        elif text is not None and text.strip().endswith("%"):
            hint = "write 25% as 0.25 (or as 25 everywhere: columns need not sum to one)."
        raise CobayesError(f"{cell!r} is not a number.", hint) from None
    if np.isnan(value):
        raise CobayesError(
            "NaN is a missing value; a positive number was expected.",
            "fill it in, or drop its row or column.",
        )
    if np.isinf(value):
        raise CobayesError(f"{cell} is infinite; entries must be finite.", "rescale the matrix.")
    if value < 0.0:
        raise CobayesError(
            f"{cell} is negative; entries must be positive.",
            "entries are likelihoods or weights: check the sign, or exponentiate log values.",
        )
    if value == 0.0:
        raise CobayesError(
            f"{cell} is zero; SCBI needs positive entries.",
            "replace zeros by a small number (cobayes.smooth does it for a matrix in memory), "
            "or drop the hypothesis.",
        )
    return value


def _read_text(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CobayesError(
            f"{file} is not UTF-8 text (byte {error.start} cannot be read).",
            "save it again as UTF-8 (spreadsheets call it 'CSV UTF-8').",
        ) from None
    except OSError as error:
        raise CobayesError(f"{file} cannot be read: {error.strerror}.") from None
    if not text.strip():
        raise CobayesError(f"{file} is empty.", "give it at least one row and one column.")
    return text


def _read_delimited(file: Path, delimiter: str) -> _Table:
    text = _read_text(file)
    first_line = text.lstrip("\r\n").splitlines()[0]
    if delimiter == "," and "," not in first_line and ";" in first_line:
        delimiter = ";"  # what spreadsheets write where the comma is the decimal point
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise CobayesError(
            f"{file}, line {reader.line_num}: {error}.", "check the quotation marks on that line."
        ) from None
    return _split_labels(file, [(line, cells) for line, cells in lines if any(cells)])


def _split_labels(file: Path, lines: list[tuple[int, list[str]]]) -> _Table:
    """Separate the first row and the first column from the numbers, if they are labels."""
    numbers = [line for line, _ in lines]
    rows = [cells for _, cells in lines]
    # Some programs leave the corner above the data's labels out.
    has_corner = not (len(rows) > 1 and len(rows[1]) == len(rows[0]) + 1)
    if _looks_numeric(rows[0][0]) and (has_corner or _looks_numeric(rows[1][0])):
        _require_rectangle(file, rows, numbers)
        return _Table(rows, None, None, lambda i, j: f"line {numbers[i]}, column {j + 1}")
    header, body = rows[0], rows[1:]
    if not body:
        raise CobayesError(
            f"{file} has one line and it is not all numbers; the first line holds the hypotheses.",
            "add a line for each datum: its label, then one number for each hypothesis.",
        )
    _require_rectangle(file, rows if has_corner else body, numbers if has_corner else numbers[1:])
    hypotheses = header[1:] if has_corner else header
    data = [cells[0] for cells in body]
    if _all_fractions(hypotheses) and has_corner and (header[0] or _all_fractions(data)):
        warnings.warn(
            f"the first line of {file} is read as the hypotheses' labels, though it holds numbers: "
            f"{', '.join(hypotheses[:4])}; add a line of labels if it is the first datum.",
            CobayesWarning,
            stacklevel=5,
        )
    return _Table(
        [cells[1:] for cells in body],
        data,
        hypotheses,
        lambda i, j: f"line {numbers[i + 1]}, column {j + 2}",
    )


def _all_fractions(labels: Sequence[str]) -> bool:
    return bool(labels) and all(_looks_numeric(label) and not label.isdigit() for label in labels)


def _looks_numeric(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _require_rectangle(file: Path, rows: Sequence[Sequence[object]], lines: Sequence[int]) -> None:
    width = len(rows[0])
    for line, cells in zip(lines, rows, strict=True):
        if len(cells) != width:
            raise CobayesError(
                f"{file}, line {line}: found {_cells(len(cells))}, expected {width} "
                "(every line needs the same number).",
                "fill in what is missing; a label that holds the separator needs quotation marks.",
            )


def _cells(count: int) -> str:
    return f"{count} cell" if count == 1 else f"{count} cells"


def _read_json(file: Path) -> _Table:
    try:
        content = json.loads(_read_text(file))
    except json.JSONDecodeError as error:
        raise CobayesError(
            f"{file}, line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}).",
            "a JSON editor or 'python -m json.tool' shows the place.",
        ) from None
    data = hypotheses = None
    rows: Any = content
    if isinstance(content, dict):
        if "matrix" in content:
            rows = content["matrix"]
            data, hypotheses = content.get("data"), content.get("hypotheses")
        elif "columns" in content and "data" in content:  # pandas' orient="split"
            rows = content["data"]
            data, hypotheses = content.get("index"), content["columns"]
        else:
            raise CobayesError(
                f"{file} has no entry 'matrix'; found {', '.join(content) or 'nothing'}.",
                'write {"matrix": [[...], ...], "data": [...], "hypotheses": [...]}.',
            )
    for name, labels in (("data", data), ("hypotheses", hypotheses)):
        if labels is not None and not isinstance(labels, list):
            raise CobayesError(
                f"{file}: the labels {name!r} are {type(labels).__name__}, not a list."
            )
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise CobayesError(
            f"{file}: the matrix is not a list of rows.", "write [[0.3, 0.3], [0.1, 0.3]]."
        )
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise CobayesError(
                f"{file}, row {number} of the matrix: found {_cells(len(row))}, expected "
                f"{len(rows[0])} (every row needs the same number).",
                "fill in what is missing.",
            )
    return _Table(rows, data, hypotheses, lambda i, j: f"row {i + 1}, column {j + 1} of the matrix")


def _read_parquet(file: Path) -> _Table:
    pandas = import_optional("pandas", "labels", "reading Parquet")
    import_optional("pyarrow", "labels", "reading Parquet")
    try:
        frame = pandas.read_parquet(file, engine="pyarrow")
    except Exception as error:  # pyarrow has many kinds, none of them public
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "unknown format"
        raise CobayesError(
            f"{file} cannot be read as Parquet: {reason}", "write it with DataFrame.to_parquet."
        ) from None
    first = frame.columns[0] if len(frame.columns) else None
    if first is not None and isinstance(frame.index, pandas.RangeIndex):
        # Written without the index: a first column of text holds the data's labels.
        if frame[first].map(lambda value: isinstance(value, str)).all():
            frame = frame.set_index(first)
        else:
            frame = frame.set_axis([str(i) for i in range(len(frame))], axis=0)
    if frame.index.isna().any():
        raise CobayesError(
            f"{file} has a missing label in its index.", "give every row a label of its own."
        )
    cells = frame.astype(object).where(frame.notna(), None)
    return _Table(
        [list(row) for row in cells.itertuples(index=False, name=None)],
        list(frame.index),
        list(frame.columns),
        lambda i, j: f"row {i + 1}, column {j + 1}",
    )
