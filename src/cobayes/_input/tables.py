"""Convert arrays, data frames and files to float64 values and labels."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.text import is_number, not_negative
from cobayes._parallel import require_affordable
from cobayes.errors import CobayesError

# Classes that contain tables but are not accepted as a matrix, and the hint of the error for each.
_NO_TABLES = {
    "builtins.dict": "give pandas.DataFrame(table, index=data) for a dict of columns.",
    "polars.LazyFrame": "give frame.collect().",
    "xarray.Dataset": "give one of its variables: dataset[name].",
}


def unpack(matrix: Any, *, empty_allowed: bool = False) -> tuple[Any, Any, Any]:
    """Separate the values of a table from its labels.

    Parameters
    ----------
    matrix
        An array, a DataFrame of pandas or polars, a DataArray, a sparse matrix, a model or an
        example, the path of a file, or ``"example:NAME"``.
    empty_allowed
        Whether rows of a file may consist of zeros.

    Returns
    -------
    values, data, hypotheses
        The labels are None if the table has no labels.
    """
    if isinstance(matrix, (np.ndarray, list)):
        return matrix, None, None
    if isinstance(matrix, (str, os.PathLike)):
        from cobayes import reading  # not at the top of the file: the import would be circular

        if empty_allowed and not str(matrix).startswith(reading.EXAMPLE_PREFIX):
            return reading.read_entries(matrix)
        matrix = reading.read_model(matrix)
    held = getattr(matrix, "model", matrix)  # an example has a model
    if hasattr(held, "matrix") and hasattr(held, "hypotheses"):
        return held.matrix, held.data, held.hypotheses
    if hasattr(matrix, "toarray") and hasattr(matrix, "nnz"):
        require_affordable(
            f"{matrix.shape[0]:,} rows and {matrix.shape[1]:,} columns of a sparse matrix",
            "take a part of its rows or columns.",
            num_bytes=8.0 * float(matrix.shape[0]) * float(matrix.shape[1]),
        )
        return matrix.toarray(), None, None
    kind = f"{type(matrix).__module__.partition('.')[0]}.{type(matrix).__name__}"
    if kind in _NO_TABLES:
        name = kind.removeprefix("builtins.")
        message = f"the matrix is a {name}; expected a table, data by hypotheses."
        raise CobayesError(message, _NO_TABLES[kind])
    if hasattr(matrix, "columns") and hasattr(matrix, "index"):
        return _unpack_pandas(matrix)
    if hasattr(matrix, "columns") and hasattr(matrix, "to_numpy"):
        return _unpack_polars(matrix)
    if hasattr(matrix, "dims") and hasattr(matrix, "coords"):
        if len(matrix.dims) != 2:
            raise CobayesError(
                f"the DataArray has dimensions {tuple(matrix.dims)}; expected two, "
                "data by hypotheses."
            )
        if tuple(matrix.dims) == ("hypothesis", "datum"):
            matrix = matrix.transpose()  # data are the rows of a matrix
        own = [
            list(matrix.coords[dim].values) if dim in matrix.coords else None for dim in matrix.dims
        ]
        return matrix.values, own[0], own[1]
    return matrix, None, None


def _unpack_pandas(frame: Any) -> tuple[Any, Any, Any]:
    """Return values, index and columns; refuse texts, times and an index read as a column."""
    if len(frame.columns) and frame.columns[0] == "Unnamed: 0":  # read_csv's name for an index
        raise CobayesError(
            "the first column of the DataFrame, 'Unnamed: 0', seems to hold the labels of data.",
            "give frame.set_index('Unnamed: 0'), or read the file with index_col=0.",
        )
    for number, (name, dtype) in enumerate(frame.dtypes.items()):
        kind = getattr(dtype, "kind", "O")
        if kind in "biufc":
            continue
        cells = list(frame.iloc[:, number].array)  # two columns may have the same name
        if cells and all(isinstance(cell, str) for cell in cells):
            hint = f"if it holds the labels of the data, give frame.set_index({name!r})."
            if all(map(is_number, cells)):
                hint = "turn text into numbers with frame.astype(float)."
            elif all(is_number(cell.replace(",", "").replace(" ", "")) for cell in cells):
                hint = (
                    "its numbers have commas or spaces: read the file with pandas.read_csv(..., "
                    "decimal=',') if they are decimal commas, with thousands=',' or thousands=' ' "
                    "if they separate thousands, or give the file itself to cobayes."
                )
            raise CobayesError(
                f"the column {name!r} of the DataFrame holds text; expected numbers.", hint
            )
        if kind in "mM":
            raise CobayesError(
                f"the column {name!r} of the DataFrame holds times; expected numbers.",
                f"if it holds the labels of the data, give frame.set_index({name!r}).",
            )
    # Missing values of pandas become NaN; a later check names their cells.
    is_plain = all(isinstance(dtype, np.dtype) and dtype.kind != "O" for dtype in frame.dtypes)
    values = frame if is_plain else frame.to_numpy(dtype=object, na_value=np.nan)
    return np.asarray(values), list(frame.index), list(frame.columns)


def _unpack_polars(frame: Any) -> tuple[Any, Any, Any]:
    """Return values and labels; if the first column holds text, it is the labels of the data."""
    names = list(frame.columns)
    texts = [name for name in names if all(isinstance(cell, str) for cell in frame[name].to_list())]
    if frame.height and texts:
        wrong = texts[1:] if texts[0] == names[0] else texts
        if wrong:
            raise CobayesError(
                f"the column {wrong[0]!r} of the DataFrame holds text; expected numbers.",
                "labels of the data go into the first column; all others hold numbers.",
            )
        return frame[names[1:]].to_numpy(), frame[names[0]].to_list(), names[1:]
    return frame.to_numpy(), None, names


def as_floats(values: Any, *, copy: bool, name: str = "matrix") -> NDArray[np.float64]:
    """Return values as float64 in C order; raise an error for an entry such as a text.

    Parameters
    ----------
    values
        Anything that NumPy can convert. Masked or complex entries, and texts, are errors.
    copy
        Whether the result must have its own memory.
    name
        The name of the values in error messages.
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise CobayesError(
            f"the {name} has masked entries, which are missing values.",
            "fill them in, or drop them.",
        )
    try:
        raw = np.asarray(values)
        is_mixed = raw.dtype.kind == "O" and any(isinstance(x, str | bytes) for x in raw.flat)
        if is_mixed or raw.dtype.kind not in "biufO":
            kind = "text" if is_mixed or raw.dtype.kind in "US" else f"of type {raw.dtype}"
            raise TypeError(f"entries are {kind}")
        if copy:
            return np.array(raw, dtype=np.float64, order="C")
        return np.ascontiguousarray(raw, dtype=np.float64)
    except OverflowError:
        raise CobayesError(
            f"the {name} has a number beyond 1.8e308, the largest that a float64 holds.",
            "rescale it.",
        ) from None
    except (TypeError, ValueError) as error:
        raise CobayesError(
            f"the {name} cannot be read as numbers: {_reason(values, error)}.",
            "every row needs the same number of entries, each of them a number.",
        ) from error


def _reason(values: Any, error: Exception) -> str:
    """Return why values are not numbers: the first wrong entry, or else the text of `error`."""
    if getattr(values, "dtype", None) == np.dtype(object) and values.ndim == 2:
        for (row, column), entry in np.ndenumerate(values):
            try:
                float(entry)
            except (TypeError, ValueError):
                return f"row {row + 1}, column {column + 1} holds {entry!r}"
    return str(error).rstrip(".")


def require_entries(
    array: NDArray[np.float64],
    data: tuple[str, ...],
    hypotheses: tuple[str, ...],
    *,
    empty_allowed: bool = False,
) -> None:
    """Raise an error unless entries are finite and >= 0, and no row or column has only zeros.

    Parameters
    ----------
    array, data, hypotheses
        The matrix and its labels, which the error names.
    empty_allowed
        Whether rows may consist of zeros.
    """
    bad = ~np.isfinite(array) | (array < 0.0)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        try:
            not_negative(float(array[row, column]))
        except CobayesError as problem:
            place = f"datum {data[row]!r}, hypothesis {hypotheses[column]!r}"
            raise CobayesError(f"the matrix at {place}: {problem.message}", problem.hint) from None
    for axis, kind, labels in ((1, "datum", data), (0, "hypothesis", hypotheses)):
        largest = array.max(axis=axis)
        if not largest.all() and not (kind == "datum" and empty_allowed):
            name = labels[int(np.argmin(largest))]
            line = "row" if axis == 1 else "column"
            raise CobayesError(
                f"the {line} of {kind} {name!r} is all zeros; expected a positive entry.",
                "drop the datum, or give it a small number in every column, as cobayes.smooth does."
                if kind == "datum"
                else "add a datum that the hypothesis allows, such as a null utterance.",
            )
