"""Models from files: every format, and errors that name the file and the cell."""

import json
import os
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import cobayes as cb

MATRIX = [[0.3, 0.3], [0.1, 0.3]]
AS_DICT = {"matrix": MATRIX, "data": ["left", "up"], "hypotheses": ["A", "B"]}
LABELLED = "datum,A,B\nleft,0.3,0.3\nup,0.1,0.3\n"


def write(folder, name, content, encoding="utf-8"):
    path = folder / name
    path.write_text(content, encoding=encoding)
    return path


def assert_is_labelled(model):
    assert model.data == ("left", "up")
    assert model.hypotheses == ("A", "B")
    np.testing.assert_array_equal(model.matrix, MATRIX)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.csv", LABELLED),
        ("m.CSV", LABELLED),
        ("m.tsv", LABELLED.replace(",", "\t")),
        ("m.csv", LABELLED.replace(",", ";")),
        ("m.csv", LABELLED.replace("datum", "")),
        ("m.csv", LABELLED.replace("datum,", "")),
        ("m.csv", LABELLED.replace("\n", "\r\n") + "\r\n\r\n,,\r\n"),
        ("m.csv", "\n" + LABELLED.replace("\n", "\n\n")),
        ("m.csv", '"datum","A","B"\n"left","0.3", 0.3\n"up",1e-1,.3'),
        (
            "m.json",
            json.dumps(AS_DICT),
        ),
        ("m.json", json.dumps({"columns": ["A", "B"], "index": ["left", "up"], "data": MATRIX})),
    ],
)
def test_every_spelling_of_a_labelled_file_gives_the_same_model(tmp_path, name, content):
    assert_is_labelled(cb.read_model(write(tmp_path, name, content)))


def test_a_byte_order_mark_is_not_part_of_a_label(tmp_path):
    path = write(tmp_path, "m.csv", LABELLED.replace("datum,", ""), encoding="utf-8-sig")
    assert_is_labelled(cb.read_model(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.csv", "0.3,0.3\n0.1,0.3\n"),
        ("m.tsv", "0.3\t0.3\n0.1\t0.3\n"),
        ("m.json", "[[0.3, 0.3], [0.1, 0.3]]"),
        ("m.json", '{"matrix": [[0.3, 0.3], [0.1, 0.3]]}'),
    ],
)
def test_a_file_of_numbers_alone_is_a_matrix_without_labels(tmp_path, name, content):
    assert cb.read_model(write(tmp_path, name, content)) == cb.Model(MATRIX)


def test_parquet_with_an_index_of_several_levels_is_an_error(tmp_path):
    index = pd.MultiIndex.from_tuples([("a", "left"), ("a", "up")], names=["group", "move"])
    pd.DataFrame(MATRIX, index=index, columns=["A", "B"]).to_parquet(tmp_path / "m.parquet")
    with pytest.raises(cb.CobayesError, match=r"an index of 2 levels \(group, move\)"):
        cb.read_model(tmp_path / "m.parquet")


@pytest.mark.parametrize("path", [None, 3, b"m.csv", ["m.csv"]])
def test_what_is_no_path_is_an_error(path):
    with pytest.raises(cb.CobayesError, match="expected the path"):
        cb.read_model(path)


def test_an_empty_name_is_an_error_that_does_not_speak_of_a_folder():
    with pytest.raises(cb.CobayesError, match="the file to read is ''"):
        cb.read_model("")


@pytest.mark.parametrize("name", ["x" * 5000, "x" * 5000 + ".csv", "nul\0byte.csv"])
def test_a_name_that_no_file_can_have_is_an_error_of_readable_length(name):
    with pytest.raises(cb.CobayesError) as caught:
        cb.read_model(name)
    assert len(caught.value.message) < 250


def test_parquet_takes_the_index_as_data(tmp_path):
    frame = pd.DataFrame(MATRIX, index=["left", "up"], columns=["A", "B"])
    frame.to_parquet(tmp_path / "m.parquet")
    assert_is_labelled(cb.read_model(tmp_path / "m.parquet"))


def test_parquet_without_an_index_takes_a_first_column_of_text(tmp_path):
    frame = pd.DataFrame({"datum": ["left", "up"], "A": [0.3, 0.1], "B": [0.3, 0.3]})
    frame.to_parquet(tmp_path / "m.parquet", index=False)
    assert_is_labelled(cb.read_model(tmp_path / "m.parquet"))


def test_parquet_with_numbers_alone_numbers_its_data(tmp_path):
    pd.DataFrame({"A": [0.3, 0.1], "B": [0.3, 0.3]}).to_parquet(tmp_path / "m.pq")
    assert cb.read_model(tmp_path / "m.pq").data == ("0", "1")


def test_parquet_errors_name_the_cell(tmp_path):
    frame = pd.DataFrame({"A": [0.3, 0.1], "B": [0.3, None]}, index=["left", "up"])
    frame.to_parquet(tmp_path / "m.parquet")
    with pytest.raises(cb.CobayesError, match=r"row 2, column 2 \(datum 'up', hypothesis 'B'\)"):
        cb.read_model(tmp_path / "m.parquet")


def test_a_file_that_is_not_parquet_is_an_error(tmp_path):
    with pytest.raises(cb.CobayesError, match="cannot be read as Parquet"):
        cb.read_model(write(tmp_path, "m.parquet", "not parquet"))


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ('"0.1"', None),
        ('"x"', "'x' is not a number"),
        ("null", "the cell is empty"),
        ("NaN", "NaN is a missing value"),
        ("Infinity", "is infinite"),
        ("-1", "is negative"),
        ("true", "True is not a number"),
        ("[1]", "is not a number"),
    ],
)
def test_a_bad_cell_of_json_is_named(tmp_path, cell, found):
    path = write(tmp_path, "m.json", f'{{"matrix": [[1, 2], [{cell}, 3]], "data": ["a", "b"]}}')
    if found is None:
        assert cb.read_model(path).matrix[1, 0] == 0.1
        return
    with pytest.raises(cb.CobayesError, match=rf"row 2, column 1 .*\(datum 'b'\): .*{found}"):
        cb.read_model(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.csv", "", "m.csv is empty"),
        ("m.csv", "\n \n", "m.csv is empty"),
        ("m.csv", ",,,\n,,,", "m.csv is empty"),
        ("m.csv", '""', "m.csv is empty"),
        ("m.csv", "0.1 0.2\n0.3 0.4\n", "holds no numbers"),
        ("m.json", "", "m.json is empty"),
        ("m.json", f"[[1, {'9' * 400}]]", "row 1, column 2 of the matrix: 99"),
        ("m.json", f"[[1, -{'9' * 400}]]", "row 1, column 2 of the matrix: -99"),
        ("m.json", f"[[1, {'9' * 5000}]]", "4300 digits"),
        ("m.json", "[" * 100_000, "is not valid JSON"),
        ("m.json", f"[[1, {'[' * 400}{']' * 400}]]", "is not a number"),
        ("m.json", '{"matrix": [[1, 2]], "hypotheses": ["A", null]}', "not a list of texts"),
        ("m.json", '{"matrix": [[1, 2]], "hypotheses": ["A", ["B"]]}', "not a list of texts"),
        ("m.json", "[]", "holds no numbers"),
        ("m.json", "[[], []]", "holds no numbers"),
        ("m.json", "3", "not a list of rows"),
        ("m.json", '{"rows": 1}', "no entry 'matrix'"),
        ("m.json", '{"matrix": [[1, 2]], "data": "ab"}', "not a list"),
        ("m.json", '{"matrix": [[1, 2]], "data": ["a", "b"]}', "a list of 2 labels; expected 1"),
        ("m.json", "[[1, 2],\n [3, }", "line 2 column 6"),
        ("m.json", "[[1, 2], [3]]", "row 2 of the matrix: found 1 cell, expected 2"),
        ("m.csv", "datum,A,B\n", "one line"),
        ("m.csv", "datum,A,B\nleft,1,2\nup,1\n", "line 3: found 2 cells, expected 3"),
        ("m.csv", "datum,A,B\nleft,1,2,3,4\n", "line 2: found 5 cells, expected 3"),
        ("m.csv", "1,2\n3\n", "line 2: found 1 cell, expected 2"),
        ("m.csv", "1,2\n3,4,5\n", "line 2: found 3 cells, expected 2"),
        ("m.csv", "d,A,A\nx,1,2\n", "m.csv: the hypothesis label 'A' occurs twice"),
        ("m.csv", 'd,A,B\nx,"1,2\n', "m.csv, line"),
        ("m.csv", "datum\nleft\n", "holds no numbers"),
        ("m.xls", LABELLED, "is a spreadsheet"),
        ("m.xlsx", LABELLED, "is a spreadsheet"),
        ("m.dat", LABELLED, "unknown file type '.dat'"),
        ("m", LABELLED, "no suffix"),
    ],
)
def test_a_bad_file_is_an_error_that_names_it(tmp_path, name, content, message):
    with pytest.raises(cb.CobayesError) as caught:
        cb.read_model(write(tmp_path, name, content))
    assert message in caught.value.message
    assert str(tmp_path / name) in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 250 + len(str(tmp_path))


def test_a_missing_file_is_an_error_that_knows_its_neighbours(tmp_path):
    write(tmp_path, "world.csv", LABELLED)
    with pytest.raises(cb.CobayesError, match="there is no file") as caught:
        cb.read_model(tmp_path / "world.tsv")
    assert caught.value.hint == "did you mean world.csv?"
    with pytest.raises(cb.CobayesError, match="did you mean 'example:M_1'"):
        cb.SCBI("M_1")
    with pytest.raises(cb.CobayesError, match="is a folder"):
        cb.read_model(tmp_path)


def test_text_in_another_encoding_is_an_error(tmp_path):
    (tmp_path / "m.csv").write_bytes("daté,A\nx,1\n".encode("latin-1"))
    with pytest.raises(cb.CobayesError, match="not UTF-8 text"):
        cb.read_model(tmp_path / "m.csv")


labels = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"]), min_size=1
).filter(lambda text: not text.replace(".", "").isdigit())


@settings(max_examples=30)
@given(
    matrix=arrays(np.float64, (3, 2), elements=st.floats(1e-300, 1e300)),
    data=st.lists(labels, min_size=3, max_size=3, unique=True),
    hypotheses=st.lists(labels, min_size=2, max_size=2, unique=True),
)
def test_what_pandas_writes_is_read_back_bit_for_bit(tmp_path_factory, matrix, data, hypotheses):
    model = cb.Model(matrix, data, hypotheses)
    folder = tmp_path_factory.mktemp("written")
    model.to_dataframe().to_csv(folder / "m.csv")
    model.to_dataframe().to_parquet(folder / "m.parquet")
    (folder / "m.json").write_text(json.dumps(model.to_dict()), encoding="utf-8")
    for name in ("m.csv", "m.parquet", "m.json"):
        assert cb.read_model(folder / name) == model


def test_text_of_spreadsheets_in_utf16_is_read(tmp_path):
    assert_is_labelled(cb.read_model(write(tmp_path, "m.csv", LABELLED, encoding="utf-16")))


def test_examples_and_paths_are_taken_wherever_a_matrix_is(tmp_path):
    path = write(tmp_path, "m.csv", LABELLED)
    assert cb.read_model("example:gestures") == cb.examples["gestures"].model
    assert_is_labelled(cb.Model(path))
    assert_is_labelled(cb.SCBI(str(path)).model)
    assert cb.BI("example:M1").model == cb.examples["M_1"].model
    assert cb.rate_of_convergence(path, "A") == cb.rate_of_convergence(cb.Model(path), "A")
    with pytest.raises(cb.CobayesError, match="did you mean 'gestures'"):
        cb.SCBI("example:gesture")


def test_a_warning_points_at_the_line_that_called(tmp_path):
    path = write(tmp_path, "m.csv", "year,A\n2001,0.5\n2002,0.25\n")
    with pytest.warns(cb.CobayesWarning) as caught:
        cb.read_model(path)
    with pytest.warns(cb.CobayesWarning) as deeper:
        cb.SCBI(path)
    assert caught[0].filename == deeper[0].filename == __file__


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_what_may_never_end_is_refused_instead_of_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "endless.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "endless.csv"):
        with pytest.raises(cb.CobayesError, match="is a device or a pipe, not a file"):
            cb.read_model(tmp_path / name)


def test_a_text_file_of_gigabytes_is_refused_unread(tmp_path):
    with open(tmp_path / "sparse.csv", "wb") as file:
        file.truncate(10**10)  # takes no room on disk
    with pytest.raises(cb.CobayesError, match="10,000,000,000 bytes, more"):
        cb.read_model(tmp_path / "sparse.csv")


def test_a_parquet_file_of_100_million_equal_cells_is_refused_unread(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    column = pa.array(np.zeros(10**6))
    pq.write_table(pa.table({str(j): column for j in range(100)}), tmp_path / "m.parquet")
    assert (tmp_path / "m.parquet").stat().st_size < 10**6
    with pytest.raises(cb.CobayesError, match="1,000,000 rows of 100 columns"):
        cb.read_model(tmp_path / "m.parquet")


def test_a_parquet_file_that_unfolds_to_too_many_cells_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr("cobayes.reading._MOST_CELLS", 5)
    path = tmp_path / "m.parquet"
    pd.DataFrame(np.ones((3, 2)), columns=["A", "B"]).to_parquet(path)
    with pytest.raises(cb.CobayesError, match=r"3 rows of 2 columns, more than the limit"):
        cb.read_model(path)


def test_parquet_labels_that_unfold_are_refused_unread_and_repeated_ones_are_held_once(
    tmp_path, monkeypatch
):
    path = tmp_path / "m.parquet"
    label = "x" * 1_000_000
    pd.DataFrame({"label": [label] * 200, "A": 1.0}).to_parquet(path)
    assert path.stat().st_size < 300_000
    with pytest.raises(cb.CobayesError, match="occurs twice"):
        cb.read_model(path)
    monkeypatch.setattr("cobayes.reading._MOST_BYTES", 500_000)
    with pytest.raises(cb.CobayesError, match="bytes, more than the limit"):
        cb.read_model(path)


def test_parquet_with_lists_is_refused(tmp_path):
    path = tmp_path / "m.parquet"
    pd.DataFrame({"A": [[1.0, 2.0]]}).to_parquet(path)
    with pytest.raises(cb.CobayesError, match="the column 'A' holds list"):
        cb.read_model(path)


def test_long_labels_that_are_stored_once_and_unfold_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    labels = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(2000, np.int32)), pa.array(["a" * 2_000_000])
    )
    columns = ("person", "problem", "hypothesis", "datum")
    table = pa.table({**dict.fromkeys(columns, labels), "round": np.zeros(2000, int)})
    pq.write_table(table, tmp_path / "bomb.parquet", compression="zstd")
    assert (tmp_path / "bomb.parquet").stat().st_size < 10_000
    with pytest.raises(cb.CobayesError, match="16,000,000,000 bytes, more"):
        cb.read_model(tmp_path / "bomb.parquet")
    with pytest.raises(cb.CobayesError, match="16,000,000,000 bytes, more"):
        cb.people.fit(tmp_path / "bomb.parquet", cb.Model([[1.0, 2.0], [2.0, 1.0]]))
