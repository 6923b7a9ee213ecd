"""A figure's numbers as files: CSV with a description beside it, and NetCDF."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._output import csv_text, write_text
from cobayes.errors import CobayesError

_LARGEST_INT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        A word that programs can use.
    values : ndarray
        Numbers or strings; NaN where there is none.
    description : str
        What the numbers are.
    unit : str
        "1" for what has none.
    is_key : bool
        Whether it says which row this is rather than what was found.
    """

    name: str
    values: NDArray[Any]
    description: str
    unit: str = "1"
    is_key: bool = False


@dataclass(frozen=True, eq=False)
class DataTable:
    """The numbers behind a figure, tidy: one row for every point of it.

    Attributes
    ----------
    name : str
        The files' name without suffix.
    title : str
        What the table holds.
    columns : tuple of Column
        All of one length.
    row : str
        What a row is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from cobayes.report import DataTable, column
    >>> columns = column("n", [2, 3], "rows"), column("p", [0.7, 0.8], "probability")
    >>> table = DataTable("p", "P by size", columns)
    >>> table.write_csv(Path(tempfile.mkdtemp()))
    'p.csv'
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    row: str = "point"

    def __post_init__(self) -> None:
        lengths = {column.name: len(column.values) for column in self.columns}
        if len(set(lengths.values())) != 1:
            raise CobayesError(f"the columns of {self.name} have different lengths: {lengths}.")

    def __getitem__(self, name: str) -> NDArray[Any]:
        for column in self.columns:
            if column.name == name:
                return column.values
        raise KeyError(name)

    def __len__(self) -> int:
        return len(self.columns[0].values)

    def write_csv(self, folder: Path) -> str:
        """Write ``name.csv`` and ``name.csv-metadata.json``; return the first name.

        Parameters
        ----------
        folder
            The folder to write to.

        Notes
        -----
        The description follows the W3C's "Metadata Vocabulary for Tabular Data".
        """
        path = folder / f"{self.name}.csv"
        columns = [map(_as_text, column.values.tolist()) for column in self.columns]
        header = [column.name for column in self.columns]
        write_text(path, csv_text([header, *zip(*columns, strict=True)]))
        described = {
            "@context": "http://www.w3.org/ns/csvw",
            "url": path.name,
            "dc:title": self.title,
            "tableSchema": {
                "columns": [
                    {
                        "name": column.name,
                        "datatype": _datatype(column.values),
                        "dc:description": column.description,
                        "unit": column.unit,
                    }
                    for column in self.columns
                ]
            },
        }
        (folder / f"{path.name}-metadata.json").write_text(
            json.dumps(described, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        return path.name

    def write_netcdf(self, folder: Path, history: str = "") -> str:
        """Write ``name.nc``, which ``xarray.open_dataset(path)`` reads; return its name.

        Parameters
        ----------
        folder
            The folder to write to.
        history
            How the numbers were made.

        Notes
        -----
        NetCDF 3 with 64-bit offsets: SciPy writes and reads it, no further package is needed.
        It has no 64-bit integers; larger counts become floats, exact up to 2**53.
        """
        from scipy.io import netcdf_file

        path = folder / f"{self.name}.nc"
        with netcdf_file(str(path), "w", version=2) as file:
            for name, text in (("title", self.title), ("history", history)):
                if text:
                    setattr(file, name, text.encode())
            file.createDimension(self.row, len(self))
            keys = " ".join(column.name for column in self.columns if column.is_key)
            for column in self.columns:
                variable = self._create_variable(file, column)
                variable.long_name = column.description.encode()
                if column.values.dtype.kind != "U":
                    variable.units = column.unit.encode()
                if keys and not column.is_key:
                    variable.coordinates = keys.encode()
        return path.name

    def _create_variable(self, file: Any, column: Column) -> Any:
        values = column.values
        if values.dtype.kind == "U":
            encoded = np.array([text.encode() for text in values.tolist()], dtype=np.bytes_)
            letters = encoded.view("S1").reshape(len(encoded), -1)
            dimension = f"{column.name}_letters"
            file.createDimension(dimension, letters.shape[1])
            variable = file.createVariable(column.name, "c", (self.row, dimension))
            variable[:] = letters
            variable._Encoding = b"utf-8"
            return variable
        kind = "f8"
        if values.dtype.kind in "iub" and (not values.size or abs(values).max() <= _LARGEST_INT):
            kind = "i4"
        variable = file.createVariable(column.name, kind, (self.row,))
        variable[:] = values.astype(kind)
        return variable


def column(
    name: str,
    values: ArrayLike | Sequence[str],
    description: str,
    unit: str = "1",
    *,
    is_key: bool = False,
) -> Column:
    """Make a column from anything like an array.

    Parameters
    ----------
    name, description, unit, is_key
        See `Column`.
    values
        Numbers or strings.

    Returns
    -------
    Column
        With values as an array of one dimension.

    Examples
    --------
    >>> from cobayes.report import column
    >>> column("rate", [0.1, 0.2], "rate of convergence", "nats per round").unit
    'nats per round'
    """
    return Column(name, np.asarray(values), description, unit, is_key)


def _as_text(value: Any) -> str:
    if isinstance(value, float):
        # The shortest text that gives the same number again; nothing where there is none.
        return "" if value != value else repr(value)
    return str(value)


def _datatype(values: NDArray[Any]) -> str:
    return {"U": "string", "i": "integer", "u": "integer", "b": "boolean"}.get(
        values.dtype.kind, "number"
    )
