"""Models from files: CSV, TSV, JSON and Parquet, with errors that name the cell."""

from __future__ import annotations

import codecs
import importlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.text import Cells, not_negative, parse_table, require_rectangle
from cobayes._output import as_path
from cobayes.errors import CobayesError, import_optional
from cobayes.example_library import examples
from cobayes.model import Model

if TYPE_CHECKING:
    import pandas as pd

EXAMPLE_PREFIX = "example:"

Entries = tuple[NDArray[np.float64], list[str] | None, list[str] | None]
"""A matrix, the labels of data and those of hypotheses; labels missing in the file are None."""

_LONGEST_NAME = 120

# Limits on the size of a file; no matrix of a teaching problem reaches them. A small Parquet file
# can decompress to gigabytes, and checking takes about 100 bytes of memory per cell.
_MOST_CELLS = 10**7
_MOST_BYTES = 2**28
_TEXT_TYPES = ("string", "large_string", "binary", "large_binary")

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a labelled matrix from a file; the suffix of its name determines the format.

    In a table (``.csv``, ``.tsv``) the first row contains the hypotheses and the first column the
    data. A table of only numbers is a matrix without labels. A first column of numbers is read as a
    hypothesis, not as labels, unless its heading is missing, empty, "datum" or "data". Semicolons
    and a first line ``sep=;`` are recognised. Spaces around a cell are removed. If the separator is
    not a comma, 0,25 is read as 0.25. JSON (``.json``) contains
    ``{"matrix": [[...]], "data": [...], "hypotheses": [...]}`` (the labels may be missing), a list
    of rows, or the output of pandas with ``orient="split"``. In Parquet (``.parquet``) the index,
    or else a first column of text, contains the labels of the data.

    Parameters
    ----------
    path
        The file, or ``"example:NAME"`` for a built-in example.

    Returns
    -------
    Model
        The validated matrix with its labels.

    Raises
    ------
    CobayesError
        The file is missing, empty or ragged, or a cell is not a finite number >= 0; the
        message names the file and the cell.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.read_model("example:gestures").hypotheses
    ('cup', 'bowl', 'book', 'lamp')
    """
    if isinstance(path, str) and path.startswith(EXAMPLE_PREFIX):
        return examples[path.removeprefix(EXAMPLE_PREFIX)].model
    entries = read_entries(path)
    try:
        return Model(*entries)
    except CobayesError as error:
        raise CobayesError(f"{Path(path)}: {error.message}", error.hint) from None


def read_entries(path: str | os.PathLike[str]) -> Entries:
    """Return the matrix in a file with its labels; rows and columns may be all zeros."""
    file = existing_file(path)
    suffix = file.suffix.lower()
    if suffix in _SEPARATORS:
        table = parse_table(file, read_text(file), _SEPARATORS[suffix])
    elif suffix == ".json":
        table = _read_json(file)
    elif suffix in (".parquet", ".pq"):
        table = _read_parquet(file)
    elif suffix in _SPREADSHEETS:
        raise CobayesError(
            f"{file} is a spreadsheet, which cobayes cannot read.",
            "save it as 'CSV UTF-8', or read it with pandas.read_excel(file, index_col=0) and give "
            "the DataFrame.",
        )
    else:
        raise CobayesError(
            f"{file}: unknown file type {file.suffix!r}."
            if file.suffix
            else f"{file} has no suffix, so its file type is unknown.",
            "use .csv, .tsv, .json or .parquet.",
        )
    return _to_entries(file, table)


def existing_file(path: object) -> Path:
    """Return the path of a file to read, or raise an error with the reason."""
    file = as_path(path, "read")
    try:
        is_folder, exists = file.is_dir(), file.exists()
        hint = "" if exists else nearby(file)
    except OSError as error:
        name = str(file)[:_LONGEST_NAME]
        raise CobayesError(f"{name} cannot be read: {error.strerror}.", "check the path.") from None
    if is_folder:
        raise CobayesError(f"{file} is a folder, not a file.", "name the file inside it.")
    if not exists:
        raise CobayesError(f"there is no file {file}.", hint)
    if not file.is_file():  # reading a device or a pipe may never end
        raise CobayesError(
            f"{file} is a device or a pipe, not a file.", "write its content to a file first."
        )
    return file


def nearby(file: Path) -> str:
    """Return a hint about a file that was not found."""
    if not file.parent.is_dir():
        return f"the folder {file.parent} does not exist either; check the path."
    twins = sorted(
        other.name
        for other in file.parent.glob("*")
        if other.is_file()
        and (other.stem.lower() == file.stem.lower() or other.name.lower() == file.name.lower())
    )
    if twins:
        return f"did you mean {twins[0]}?"
    if str(file) in examples:
        return f"did you mean '{EXAMPLE_PREFIX}{file}'?"
    return "check the spelling and the folder."


def _to_entries(file: Path, table: Cells) -> Entries:
    """Turn cells into numbers; the error names the first cell without a finite number >= 0."""
    if not table.rows or not table.rows[0]:
        raise CobayesError(
            f"{file} holds no numbers.",
            "write at least one row and one column of numbers; separate the columns of a table by "
            "commas, semicolons or tabs.",
        )
    # Labels such as years become text, because `make_labels` warns about labels that are integers.
    data = None if table.data is None else [str(label) for label in table.data]
    hypotheses = None if table.hypotheses is None else [str(label) for label in table.hypotheses]
    matrix = np.empty((len(table.rows), len(table.rows[0])))
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row):
            try:
                matrix[i, j] = not_negative(cell)
            except CobayesError as problem:
                own = (("datum", data, i), ("hypothesis", hypotheses, j))
                named = [f"{kind} {labels[k]!r}" for kind, labels, k in own if labels is not None]
                place = table.place(i, j) + (f" ({', '.join(named)})" if named else "")
                raise CobayesError(f"{file}, {place}: {problem.message}", problem.hint) from None
    return matrix, data, hypotheses


def read_text(file: Path) -> str:
    """Return the text of a file without its byte order mark; an empty file is an error."""
    try:
        _require_few_bytes(file, file.stat().st_size)
        content = file.read_bytes()
        # Spreadsheets write "Unicode text" as UTF-16, with a byte order mark.
        is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
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


def parse_json(file: Path, text: str | bytes) -> Any:
    """Return the content of JSON text; the error names the file and the place."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CobayesError(
            f"{file} is not valid JSON: {error}.",
            "correct the file or save it again; 'python -m json.tool' shows the place.",
        ) from None


def _read_json(file: Path) -> Cells:
    content = parse_json(file, read_text(file))
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
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise CobayesError(
            f"{file}: the matrix is not a list of rows.", "write [[0.3, 0.3], [0.1, 0.3]]."
        )
    if rows:
        places = [f"row {number} of the matrix" for number in range(1, len(rows) + 1)]
        require_rectangle(file, rows, places)
        _require_labels(file, "data", data, len(rows))
        _require_labels(file, "hypotheses", hypotheses, len(rows[0]))
    return Cells(rows, data, hypotheses, lambda i, j: f"row {i + 1}, column {j + 1} of the matrix")


def _require_labels(file: Path, name: str, labels: Any, count: int) -> None:
    if labels is None:
        return
    if not isinstance(labels, list) or any(x is None or isinstance(x, list | dict) for x in labels):
        found = "not a list of texts"
    elif len(labels) != count:
        found = f"a list of {len(labels)} labels; expected {count}"
    else:
        return
    raise CobayesError(
        f"{file}: {name!r} is {found}.",
        f"write one text in quotes for each of the {name}, or leave {name!r} out.",
    )


def read_parquet_frame(file: Path) -> pd.DataFrame:
    """Return a Parquet file as a DataFrame; raise an error if it would need too much memory."""
    import_optional("pandas", "labels", "reading Parquet")
    import_optional("pyarrow", "labels", "reading Parquet")
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as opened:
            _require_small(file, opened)
            names = opened.schema_arrow.names
        # Repeated texts are stored once (dictionary encoding); columns of numbers stay as they are.
        table = parquet.read_table(file, read_dictionary=names)
        _require_few_bytes(file, sum(map(_bytes_of_text, table.columns)))
        return table.to_pandas()
    except CobayesError:
        raise
    except Exception as error:  # pyarrow raises many types of exceptions, not all of them public
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "unknown format"
        raise CobayesError(
            f"{file} cannot be read as Parquet: {reason}", "write it with DataFrame.to_parquet."
        ) from None


def _read_parquet(file: Path) -> Cells:
    frame = read_parquet_frame(file)
    import pandas

    if frame.index.nlevels > 1:
        names = ", ".join(str(name) for name in frame.index.names)
        raise CobayesError(
            f"{file} has an index of {frame.index.nlevels} levels ({names}); expected one.",
            "join the levels into one label for each row before writing.",
        )
    first = frame.columns[0] if len(frame.columns) else None
    if first is not None and isinstance(frame.index, pandas.RangeIndex):
        # The file was written without an index: a first column of text contains the data's labels.
        if all(isinstance(value, str) for value in frame[first].array):
            frame = frame.set_index(first)
        else:
            frame = frame.set_axis([str(i) for i in range(len(frame))], axis=0)
    if frame.index.isna().any():
        raise CobayesError(
            f"{file} has a missing label in its index.", "give every row a different label."
        )
    cells = frame.astype(object).where(frame.notna(), None)
    return Cells(
        [list(row) for row in cells.itertuples(index=False, name=None)],
        list(frame.index),
        list(frame.columns),
        lambda i, j: f"row {i + 1}, column {j + 1}",
    )


def _require_small(file: Path, opened: Any) -> None:
    """Raise an error if a Parquet file has nested columns or would need too much memory.

    The sizes come from the file's metadata; the size of the texts is checked again after reading.
    """
    from pyarrow import types

    metadata = opened.metadata
    if metadata.num_rows * metadata.num_columns > _MOST_CELLS:
        raise CobayesError(
            f"{file} holds {metadata.num_rows:,} rows of {metadata.num_columns:,} columns, more "
            f"than the limit of {_MOST_CELLS:,} cells.",
            "take a part of its rows or columns.",
        )
    for field in opened.schema_arrow:
        if types.is_nested(field.type):
            raise CobayesError(
                f"{file}: the column {field.name!r} holds {field.type}, not numbers.",
                "write one number per cell.",
            )
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    _require_few_bytes(file, sum(group.total_byte_size for group in groups))


def _require_few_bytes(file: Path, num_bytes: int) -> None:
    if num_bytes > _MOST_BYTES:
        raise CobayesError(
            f"{file} holds {num_bytes:,} bytes, more than the limit of {_MOST_BYTES:,} bytes.",
            "take a part of its rows or columns, or shorten its labels.",
        )


def _bytes_of_text(column: Any) -> int:
    """Return the number of bytes of text in a dictionary-encoded column, counting repetitions.

    Columns without texts have 0 bytes.
    """
    from pyarrow import types

    # pyarrow.compute makes its functions at import time, so type checkers do not know them.
    compute: Any = importlib.import_module("pyarrow.compute")
    total = 0
    for chunk in column.chunks:
        if types.is_dictionary(chunk.type) and str(chunk.dictionary.type) in _TEXT_TYPES:
            lengths = compute.binary_length(chunk.dictionary).cast("int64")
            total += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    return total
