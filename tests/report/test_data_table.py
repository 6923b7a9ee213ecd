"""Tables as files: one line to load, nothing lost, everything described."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from cobayes.errors import CobayesError
from cobayes.report.data_table import DataTable, column


@pytest.fixture
def table():
    return DataTable(
        "numbers",
        "Some numbers",
        (
            column("family", ["n × 2", "square"], "a family", is_key=True),
            column("size", [2, 3], "a size", "rows", is_key=True),
            column("samples", [10**10, 2], "how many", "matrices"),
            column("value", [0.1 + 0.2, np.nan], "a value", "nats per round"),
        ),
    )


def test_netcdf_loads_in_one_line_with_units_descriptions_and_every_bit(table, tmp_path):
    name = table.write_netcdf(tmp_path, "cobayes reproduce it")
    with xr.open_dataset(tmp_path / name) as data:
        assert data.attrs == {"title": "Some numbers", "history": "cobayes reproduce it"}
        assert data.family.values.tolist() == ["n × 2", "square"]
        assert set(data.coords) == {"family", "size"}
        assert data["size"].dtype == np.int32
        assert data.samples.values.tolist() == [1e10, 2.0]
        assert data.value.values[0] == 0.1 + 0.2
        assert np.isnan(data.value.values[1])
        assert data.value.attrs["units"] == "nats per round"
        assert data.value.attrs["long_name"] == "a value"
        frame = data.to_dataframe()
    assert len(frame) == 2


def test_csv_loads_in_one_line_and_its_columns_are_described(table, tmp_path):
    name = table.write_csv(tmp_path)
    frame = pd.read_csv(tmp_path / name)
    assert frame.family.tolist() == ["n × 2", "square"]
    assert frame.samples.tolist() == [10**10, 2]
    assert frame.value[0] == 0.1 + 0.2
    assert frame.value.isna().tolist() == [False, True]
    described = json.loads((tmp_path / f"{name}-metadata.json").read_text(encoding="utf-8"))
    columns = described["tableSchema"]["columns"]
    assert [entry["name"] for entry in columns] == frame.columns.tolist()
    assert [entry["unit"] for entry in columns] == ["1", "rows", "matrices", "nats per round"]
    assert [entry["datatype"] for entry in columns] == ["string", "integer", "integer", "number"]


def test_the_same_table_gives_the_same_bytes(table, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        table.write_netcdf(tmp_path / folder)
        table.write_csv(tmp_path / folder)
    for name in ("numbers.nc", "numbers.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_columns_of_different_lengths_are_an_error():
    with pytest.raises(CobayesError, match="different lengths"):
        DataTable("t", "t", (column("a", [1], "a"), column("b", [1, 2], "b")))


def test_columns_are_found_by_name(table):
    assert table["size"].tolist() == [2, 3]
    assert len(table) == 2
    with pytest.raises(KeyError):
        table["nothing"]
