"""Models from files: CSV, TSV, JSON and Parquet, with errors that name the cell."""

from __future__ import annotations

import json
import os
import re
import reprlib
from pathlib import Path
from typing import Any

import numpy as np

from cobayes._input.delimited import Table, count_cells, parse_delimited
from cobayes.errors import CobayesError, import_optional
from cobayes.model import Model

# What spreadsheets and statistics programs write where a value is missing.
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})


# Shows what is in a cell, however long or deep it is.
_CELL = reprlib.Repr()
_CELL.maxstring = _CELL.maxother = 60

_LONGEST_NAME = 120


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a labelled matrix from a file; its suffix says the format.

    In a table (``.csv``, ``.tsv``) the first row holds the hypotheses and the first column the
    data; a table of numbers alone is a matrix without labels. Where a first column of numbers has
    a heading that does not say what it is (not empty, not "datum"), a warning tells how it is
    read. JSON (``.json``) holds
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
        The file is missing, empty, ragged, or a cell is not a finite number >= 0; the
        message names the file and the cell.
    """
    file = _existing_file(path)
    readers = {
        ".csv": lambda: parse_delimited(file, _read_text(file), ","),
        ".tsv": lambda: parse_delimited(file, _read_text(file), "\t"),
        ".tab": lambda: parse_delimited(file, _read_text(file), "\t"),
        ".json": lambda: _read_json(file),
        ".parquet": lambda: _read_parquet(file),
        ".pq": lambda: _read_parquet(file),
    }
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise CobayesError(
            f"{file} has the suffix {file.suffix!r}, which says no known format."
            if file.suffix
            else f"{file} has no suffix, so its format is unknown.",
            "rename it: .csv, .tsv, .json and .parquet are read.",
        )
    return _to_model(file, reader())


def _existing_file(path: object) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise CobayesError(
            f"the file to read is {_CELL.repr(path)}; expected a path.",
            "give text or a pathlib.Path; for a matrix in memory use cobayes.Model.",
        )
    if not os.fspath(path):
        raise CobayesError("the name of the file to read is empty.", "name a file.")
    file = Path(path)
    try:
        is_folder, exists = file.is_dir(), file.exists()
        hint = "" if exists else _nearby(file)
    except (OSError, ValueError) as error:
        name = str(file)
        shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
        reason = getattr(error, "strerror", None) or str(error)
        raise CobayesError(f"{shown} cannot be read: {reason}.", "check the path.") from None
    if is_folder:
        raise CobayesError(f"{file} is a folder, not a file.", "name the file inside it.")
    if not exists:
        raise CobayesError(f"there is no file {file}.", hint)
    return file


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


def _to_model(file: Path, table: Table) -> Model:
    """Turn cells into numbers, naming the first that is not finite or is negative."""
    if not table.rows or not table.rows[0]:
        raise CobayesError(
            f"{file} holds no numbers.",
            "give it at least one row and one column of numbers; in a table, commas, semicolons or "
            "tabs stand between them.",
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
                matrix[i, j] = _entry(cell)
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


def _entry(cell: Any) -> float:
    """Return the number in a cell or raise an error that says what it holds instead."""
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING):
        found = (
            "the cell is empty" if cell in (None, "") else f"{_CELL.repr(cell)} is a missing value"
        )
        raise CobayesError(
            f"{found}; a number that is not negative was expected.",
            "fill it in, or drop its row or column.",
        )
    # Python itself would read '1_0' as ten and True as one.
    text = cell if isinstance(cell, str) else None
    try:
        if isinstance(cell, (bool, np.bool_)) or (text is not None and "_" in text):
            raise ValueError
        value = float(cell)
    except OverflowError:  # a whole number of JSON has no limit
        value = np.inf
    except (TypeError, ValueError):
        hint = "write numbers such as 0.25 or 1e-6."
        if text is not None and "," in text:
            hint = "write the decimal point as '.', not as a comma."
        elif text is not None and text.strip().endswith("%"):
            hint = "write 25% as 0.25 (or as 25 everywhere: columns need not sum to one)."
        raise CobayesError(f"{_CELL.repr(cell)} is not a number.", hint) from None
    if np.isnan(value):
        raise CobayesError(
            "NaN is a missing value; a number that is not negative was expected.",
            "fill it in, or drop its row or column.",
        )
    if np.isinf(value):
        raise CobayesError(
            f"{_shown(cell)} is infinite in floating point; entries must be finite.",
            "rescale the matrix.",
        )
    if value < 0.0:
        raise CobayesError(
            f"{_shown(cell)} is negative; entries must not be negative.",
            "entries are likelihoods or weights: check the sign, or exponentiate log values.",
        )
    if value == 0.0 and text is not None and re.match(r"\s*[+-]?[0.]*[1-9]", text):
        raise CobayesError(
            f"{_shown(cell)} is too small for floating point.",
            "rescale the matrix, or write 0 for what is impossible.",
        )
    return value


def _shown(cell: object) -> str:
    return _CELL.repr(cell).strip("'")


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


def _read_json(file: Path) -> Table:
    text = _read_text(file)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise CobayesError(
            f"{file}, line {error.lineno}, column {error.colno}: not valid JSON ({error.msg}).",
            "a JSON editor or 'python -m json.tool' shows the place.",
        ) from None
    except RecursionError:
        raise CobayesError(
            f"{file} nests lists too deeply to be a matrix.", "write [[0.3, 0.3], [0.1, 0.3]]."
        ) from None
    except ValueError:
        # Python refuses to turn thousands of digits into an integer.
        raise CobayesError(
            f"{file} holds a whole number of thousands of digits.", "write it as, say, 1e6."
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
        if any(label is None or isinstance(label, (list, dict)) for label in labels or ()):
            raise CobayesError(
                f"{file}: one of the labels {name!r} is no text.", "write each as text in quotes."
            )
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise CobayesError(
            f"{file}: the matrix is not a list of rows.", "write [[0.3, 0.3], [0.1, 0.3]]."
        )
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise CobayesError(
                f"{file}, row {number} of the matrix: found {count_cells(len(row))}, expected "
                f"{len(rows[0])} (every row needs the same number).",
                "fill in what is missing.",
            )
    return Table(rows, data, hypotheses, lambda i, j: f"row {i + 1}, column {j + 1} of the matrix")


def _read_parquet(file: Path) -> Table:
    pandas = import_optional("pandas", "labels", "reading Parquet")
    import_optional("pyarrow", "labels", "reading Parquet")
    try:
        frame = pandas.read_parquet(file, engine="pyarrow")
    except Exception as error:  # pyarrow has many kinds, none of them public
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "unknown format"
        raise CobayesError(
            f"{file} cannot be read as Parquet: {reason}", "write it with DataFrame.to_parquet."
        ) from None
    if frame.index.nlevels > 1:
        names = ", ".join(str(name) for name in frame.index.names)
        raise CobayesError(
            f"{file} has an index of {frame.index.nlevels} levels ({names}); expected one.",
            "join the levels into one label for each row before writing.",
        )
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
    return Table(
        [list(row) for row in cells.itertuples(index=False, name=None)],
        list(frame.index),
        list(frame.columns),
        lambda i, j: f"row {i + 1}, column {j + 1}",
    )
