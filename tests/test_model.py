import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import cobayes as cb

SMALL = [[0.6, 0.2], [0.3, 0.3], [0.1, 0.5]]


def test_a_model_from_an_array_numbers_its_labels():
    model = cb.Model(SMALL)
    assert model.shape == (3, 2)
    assert model.data == ("0", "1", "2")
    assert model.hypotheses == ("0", "1")
    assert model.matrix.dtype == np.float64


def test_labels_come_from_a_dataframe_a_dataarray_or_the_caller():
    frame = pd.DataFrame(SMALL, index=list("abc"), columns=["x", "y"])
    array = xr.DataArray(
        SMALL, dims=("signal", "goal"), coords={"signal": list("abc"), "goal": ["x", "y"]}
    )
    named = cb.Model(SMALL, list("abc"), ["x", "y"])
    assert cb.Model(frame) == cb.Model(array) == named == cb.Model(named)
    assert cb.Model(frame, hypotheses=["p", "q"]).hypotheses == ("p", "q")


def test_tables_give_the_labels_back():
    model = cb.Model(SMALL, list("abc"), ["x", "y"])
    assert cb.Model(model.to_dataframe()) == model
    assert cb.Model(model.to_xarray()) == model
    assert cb.Model.from_dict(model.to_dict()) == model
    assert repr(cb.Model([[0.5]])).startswith("Model(1 datum x 1 hypothesis;")
    with pytest.raises(cb.CobayesError, match="is text; expected a list of rows"):
        cb.Model.from_dict({"matrix": "example:M_3"})
    assert pickle.loads(pickle.dumps(model)) == model
    assert hash(cb.Model(model.to_dataframe())) == hash(model)


def test_equal_models_have_equal_hashes_whatever_the_sign_of_zero():
    plus, minus = (cb.Model([[zero, 1.0], [1.0, 1.0]]) for zero in (0.0, -0.0))
    assert plus == minus
    assert hash(plus) == hash(minus)


def test_the_matrix_is_a_copy_that_cannot_be_changed():
    source = np.array(SMALL)
    model = cb.Model(source)
    source[0, 0] = 99.0
    assert model.matrix[0, 0] == 0.6
    with pytest.raises(ValueError, match="read-only"):
        model.matrix[0, 0] = 1.0


def test_whole_number_labels_are_text_and_a_warning_says_so():
    with pytest.warns(cb.CobayesWarning, match="an integer means a position"):
        model = cb.Model(SMALL, data=[10, 20, 30])
    assert model.datum_index("20") == 1
    assert model.datum_index(2) == 2
    with pytest.raises(cb.CobayesError, match="no datum at position 20") as caught:
        model.datum_index(20)
    assert "write '20'" in caught.value.hint


def test_a_warning_names_the_users_code_also_beside_the_package():
    file = str(Path(cb.__file__).parent) + "_study/mine.py"
    with pytest.warns(cb.CobayesWarning, match="an integer means a position") as caught:
        exec(compile("cb.Model([[1.0], [2.0]], data=[10, 20])", file, "exec"), {"cb": cb})
    assert caught[0].filename == file


def test_positions_may_be_numpy_integers_but_not_truth_values():
    model = cb.Model(SMALL)
    assert model.datum_index(np.int64(2)) == 2
    with pytest.raises(cb.CobayesError, match="no datum called True"):
        model.datum_index(True)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.0, 0.0], [1.0, 1.0]], "the row of datum '0' is all zeros"),
        ([[1.0, 0.0], [1.0, 0.0]], "the column of hypothesis '1' is all zeros"),
        ([[1.0, 1.0], [-1.0, 1.0]], "at datum '1', hypothesis '0': -1.0 is negative"),
        ([[1.0, np.nan], [1.0, 1.0]], "at datum '0', hypothesis '1': NaN is a missing value"),
        ([[1.0, 1.0], [1.0, np.inf]], "at datum '1', hypothesis '1': inf is infinite"),
        ([], "dimension"),
        ([[]], "is empty"),
        ([1.0, 2.0], "1 dimension"),
        ([[1.0, 2.0], [3.0]], "cannot be read as numbers"),
        ([["a", "b"]], "cannot be read as numbers"),
        ([["0.5", 1], [1, 1]], "entries are text"),
        (np.array([["0.5", 1], [1, 1]], dtype=object), "entries are text"),
    ],
)
def test_bad_matrices_are_errors_that_name_the_cell(matrix, message):
    with pytest.raises(cb.CobayesError, match=message):
        cb.Model(matrix)


def test_bad_labels_are_errors():
    with pytest.raises(cb.CobayesError, match="found 2 labels for 3 data"):
        cb.Model(SMALL, data=["a", "b"])
    with pytest.raises(cb.CobayesError, match="'x' occurs twice"):
        cb.Model(SMALL, hypotheses=["x", "x"])
    with pytest.raises(cb.CobayesError, match="expected two, data by hypotheses"):
        cb.Model(xr.DataArray(np.ones((2, 2, 2))))


def test_smoothing_makes_zeros_positive_and_keeps_columns_stochastic():
    model = cb.smooth(pd.DataFrame([[1.0, 0.0], [3.0, 2.0]], index=["a", "b"]), 0.1)
    np.testing.assert_allclose(model.matrix, [[0.9 * 0.25 + 0.05, 0.05], [0.725, 0.95]])
    assert model.data == ("a", "b")
    with pytest.raises(cb.CobayesError, match="epsilon"):
        cb.smooth(SMALL, 0.0)
    with pytest.raises(cb.CobayesError, match="all zeros"):
        cb.smooth([[0.0, 1.0], [0.0, 1.0]], 0.1)
    with pytest.raises(cb.CobayesError, match="negative"):
        cb.smooth([[-1.0, 1.0], [0.0, 1.0]], 0.1)


def test_smoothing_reads_files_in_which_a_datum_goes_with_no_hypothesis(tmp_path):
    file = tmp_path / "board.csv"
    file.write_text(",A,B\nx,1,0\ny,1,1\nz,0,0\n", encoding="utf-8")
    with pytest.raises(cb.CobayesError, match=r"board\.csv: the row of datum 'z' is all zeros"):
        cb.read_model(file)
    model = cb.smooth(file, 0.3)
    np.testing.assert_allclose(model.matrix, [[0.45, 0.1], [0.45, 0.8], [0.1, 0.1]])
    assert model.data == ("x", "y", "z")


def test_a_dataarray_with_our_names_may_be_transposed():
    model = cb.Model(SMALL, list("abc"), ["x", "y"])
    assert cb.Model(model.to_xarray().T) == model


def test_masked_and_foreign_entries_are_refused():
    with pytest.raises(cb.CobayesError, match="masked"):
        cb.Model(np.ma.masked_less(np.array(SMALL), 0.25))
    with pytest.raises(cb.CobayesError, match="cannot be read as numbers"):
        cb.Model(np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"))
    with pytest.raises(cb.CobayesError, match=r"a number beyond 1\.8e308"):
        cb.Model([[10**400, 1]])
    with pytest.raises(cb.CobayesError, match="no entry 'matrix'"):
        cb.Model.from_dict({})


def test_huge_entries_do_not_overflow():
    np.testing.assert_allclose(cb.Model(np.full((3, 2), 1e308)).normalized(), 1 / 3)
    np.testing.assert_allclose(cb.smooth([[1e308, 1.0], [1e308, 0.0]], 0.1).matrix[:, 0], 0.5)


def test_check_reports_on_the_four_assumptions():
    report = cb.Model(SMALL).check()
    assert report.holds
    assert [finding.assumption for finding in report.findings] == ["i", "ii", "iii", "iv"]
    assert "(ii) holds" in str(report)


def test_check_warns_and_names_the_hypotheses():
    few = cb.Model([[1.0, 2.0, 3.0]], ["d"], ["x", "y", "z"])
    warned = {finding.assumption: finding.text for finding in few.check().warnings}
    assert "fewer data (1) than hypotheses (3)" in warned["i"]
    assert "'x'" in warned["i"]
    # With one datum all columns are proportional.
    assert "'x', 'y', 'z';" in warned["ii"]
    twins = cb.Model([[1.0, 2.0, 5.0], [2.0, 4.0, 1.0], [1.0, 2.0, 1.0]], hypotheses=list("pqr"))
    (warning,) = twins.check().warnings
    assert "'p', 'q';" in warning.text
    assert "'r'" not in warning.text


def test_check_compares_teacher_and_learner():
    model = cb.Model(SMALL)
    scaled = np.array([[2.0], [3.0], [5.0]]) * np.array(SMALL) * np.array([7.0, 0.1])
    assert model.check(learner=scaled).holds
    other = np.array(SMALL)
    other[0, 1] += 0.1
    (warning,) = model.check(learner=other).warnings
    assert warning.assumption == "iii"
    (warning,) = model.check(learner=np.ones((2, 2)) + np.eye(2)).warnings
    assert "shape" in warning.text
    (warning,) = model.check(learner_prior=[0.4, 0.6]).warnings
    assert warning.assumption == "iv"
    assert model.check([0.4, 0.6], learner_prior=[0.4, 0.6]).holds


def test_text_and_html_show_the_labels():
    model = cb.Model(SMALL, ["<a>", "b", "c"], ["x", "y"])
    assert "3 data x 2 hypotheses" in repr(model)
    assert "&lt;a&gt;" in model._repr_html_()
    assert "<table>" in model.check()._repr_html_()


def test_a_large_matrix_shows_its_corners_in_a_notebook():
    model = cb.Model(np.arange(1.0, 30_001.0).reshape(300, 100))
    html = model._repr_html_()
    assert len(html) < 30_000
    assert "300 data × 100 hypotheses" in html
    assert "<td>1</td>" in html
    assert "<td>3e+04</td>" in html
    assert "…" not in cb.Model(SMALL)._repr_html_()


def test_a_sparse_matrix_is_taken_as_a_full_one():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    for kind in (scipy_sparse.csr_matrix, scipy_sparse.dok_matrix):
        np.testing.assert_array_equal(cb.Model(kind(SMALL)).matrix, SMALL)
    with pytest.raises(cb.CobayesError, match="would take about"):
        cb.Model(scipy_sparse.coo_matrix((10**8, 10**8)))


def test_a_column_of_labels_in_a_dataframe_gets_a_hint_about_the_index():
    frame = pd.DataFrame({"datum": ["a", "b"], "x": [0.1, 0.2], "y": [0.3, 0.4]})
    with pytest.raises(cb.CobayesError, match=r"frame\.set_index\('datum'\)"):
        cb.Model(frame)
    assert cb.Model(frame.set_index("datum")).data == ("a", "b")
    # What pandas.read_csv makes of a written index.
    with pytest.raises(cb.CobayesError, match="'Unnamed: 0', seems to hold the labels of data"):
        cb.Model(frame.drop(columns="datum").reset_index(names="Unnamed: 0"))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["0,5", "1,200"], r"its numbers have commas.*decimal=','.*thousands=','"),
        (["0.5", "1.2"], r"frame\.astype\(float\)"),
        (pd.array([1, None], dtype="Int64"), "datum '1', hypothesis 'x': NaN is a missing value"),
        ([1, "a"], "row 2, column 1 holds 'a'"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), r"holds times[\s\S]*set_index\('x'\)"),
    ],
)
def test_a_column_that_holds_no_numbers_is_told_how_to_get_them(column, message):
    with pytest.raises(cb.CobayesError, match=message):
        cb.Model(pd.DataFrame({"x": column, "y": [0.3, 0.4]}))
    twice = pd.DataFrame([["a", "b"]], columns=["x", "x"])
    with pytest.raises(cb.CobayesError, match="the column 'x' of the DataFrame holds text"):
        cb.Model(twice)


def test_polars_keeps_its_column_names_and_a_first_column_of_labels():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"datum": ["a", "b"], "x": [0.1, 0.2], "y": [0.3, 0.4]})
    model = cb.Model(frame)
    assert (model.data, model.hypotheses) == (("a", "b"), ("x", "y"))
    assert cb.Model(frame.drop("datum")).hypotheses == ("x", "y")


@pytest.mark.parametrize(
    ("matrix", "found"), [(None, "is None"), (3, "has 0 dimensions"), ([1, 2], "has 1 dimension;")]
)
def test_what_is_no_table_is_told_what_a_table_is(matrix, found):
    with pytest.raises(cb.CobayesError, match=rf"the matrix {found}[\s\S]*give a list of rows"):
        cb.SCBI(matrix)


def test_a_dataframe_without_rows_is_called_empty():
    with pytest.raises(cb.CobayesError, match="the matrix is empty"):
        cb.Model(pd.DataFrame(columns=["a", "b"]))
