"""Models from text with separators: labels, numbers, and errors that name the bad cell."""

import numpy as np
import pytest

import cobayes as cb
from tests.test_reading import LABELLED, MATRIX, assert_is_labelled, write


def test_quoted_labels_may_hold_separators_and_line_breaks(tmp_path):
    path = write(tmp_path, "m.csv", ',"A, or a","B ""b"""\n"left\nright",1,2\nup,3,4\n')
    model = cb.read_model(str(path))
    assert model.hypotheses == ("A, or a", 'B "b"')
    assert model.data == ("left\nright", "up")


def test_numbers_as_labels_stay_labels(tmp_path):
    for heading in ("", "datum", "Data"):
        path = write(tmp_path, "m.csv", f"{heading},even,odd\n2,0.9,0.1\n3,0.1,0.9\n")
        assert cb.read_model(path).data == ("2", "3")
    model = cb.read_model(write(tmp_path, "n.csv", ",2019,2020\na,0.9,0.1\nb,0.1,0.9\n"))
    assert model.hypotheses == ("2019", "2020")


def test_a_forgotten_line_of_hypotheses_is_warned_about(tmp_path):
    path = write(tmp_path, "m.csv", "left,0.3,0.4\nup,0.1,0.3\n")
    with pytest.warns(cb.CobayesWarning, match="read as the hypotheses' labels"):
        cb.read_model(path)


@pytest.mark.parametrize(
    ("content", "matrix"),
    [
        ("A,B\n1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("A,B\n0.3,0.3\n0.1,0.3\n", MATRIX),
        ("A,B\n2,0.3\n2,0.7\n", [[2, 0.3], [2, 0.7]]),
        ("A\n1\n3\n", [[1], [3]]),
        ("year,B\n2019,9\n2020,1\n", [[2019, 9], [2020, 1]]),
    ],
)
def test_a_header_over_numbers_alone_names_every_column_with_a_warning(tmp_path, content, matrix):
    path = write(tmp_path, "m.csv", content)
    with pytest.warns(
        cb.CobayesWarning, match="holds numbers and is read as a hypothesis"
    ) as caught:
        model = cb.read_model(path)
    assert caught[0].filename == __file__
    assert "leave its heading empty if it holds the data's labels" in str(caught[0].message)
    assert model == cb.Model(matrix, None, content.splitlines()[0].split(","))


def test_a_bad_cell_under_a_header_without_data_labels_is_named_by_its_column(tmp_path):
    path = write(tmp_path, "m.csv", "A,B\n0.3,0.3\n0.1,x\n")
    with (
        pytest.warns(cb.CobayesWarning),
        pytest.raises(cb.CobayesError, match=r"line 3, column 2 \(hypothesis 'B'\): 'x'"),
    ):
        cb.read_model(path)


@pytest.mark.parametrize(
    ("name", "delimiter"), [("m.csv", "\t"), ("m.tsv", ","), ("m.tsv", ";"), ("m.csv", ";")]
)
def test_a_separator_that_is_unusual_for_the_suffix_is_recognised(tmp_path, name, delimiter):
    assert_is_labelled(cb.read_model(write(tmp_path, name, LABELLED.replace(",", delimiter))))


def test_a_single_label_in_the_first_line_does_not_change_the_separator(tmp_path):
    model = cb.read_model(write(tmp_path, "m.tsv", "a; or b\nx\t1\ny\t2\n"))
    assert (model.data, model.hypotheses) == (("x", "y"), ("a; or b",))


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("d,A,\nx,1,2\n", "line 1, column 3: the hypothesis has no label"),
        ("d, ,B\nx,1,2\n", "line 1, column 2: the hypothesis has no label"),
        ("d,A,B,\nx,1,2,\n", "line 1, column 4: the hypothesis has no label"),
        ("A,\nx,1,2\n", "line 1, column 3: the hypothesis has no label"),
        ("d,A,B\nx,1,2\n\n,3,4\n", "line 4, column 1: the datum has no label"),
    ],
)
def test_a_blank_label_is_an_error_that_names_its_place(tmp_path, content, place):
    with pytest.raises(cb.CobayesError, match=place) as caught:
        cb.read_model(write(tmp_path, "m.csv", content))
    assert "name it" in str(caught.value.hint)


CELL = r"m\.csv, line 3, column 2 \(datum 'up', hypothesis 'A'\)"


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("much", "'much' is not a number"),
        ("", "the cell is empty"),
        ("NaN", "'NaN' is a missing value"),
        ("NA", "'NA' is a missing value"),
        ("1e-400", "too small for floating point"),
        ("-0.1", "-0.1 is negative"),
        ("inf", "inf is infinite"),
        ("1e400", "is infinite"),
        ("1_0", "is not a number"),
        ("10%", "is not a number"),
        ('"0,1"', "'0,1' is not a number"),
    ],
)
def test_a_bad_cell_is_named_by_line_column_and_labels(tmp_path, cell, found):
    path = write(tmp_path, "m.csv", f"datum,A,B\nleft,0.3,0.3\nup,{cell},0.3\n")
    with pytest.raises(cb.CobayesError, match=f"{CELL}: .*{found}") as caught:
        cb.read_model(path)
    assert caught.value.hint


def test_a_bad_cell_of_a_plain_matrix_is_named_by_line_and_column(tmp_path):
    path = write(tmp_path, "m.csv", "0.1,0.2,0.3\n\n0.4,,0.6\n")
    with pytest.raises(cb.CobayesError, match="line 3, column 2: the cell is empty"):
        cb.read_model(path)
    path = write(tmp_path, "m.csv", "0.1,x,0.3\n0.4,0.5,0.6\n")
    with pytest.raises(cb.CobayesError, match="line 1, column 2: 'x' is not a number"):
        cb.read_model(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.csv", "datum;A;B\nleft;0,3;0,3\nup;0,1;0,3\n"),
        ("m.csv", "sep=;\ndatum;A;B\nleft;0,3;0,3\nup;0,1;0,3\n"),
        ("m.tsv", "datum\tA\tB\nleft\t0,3\t0,3\nup\t0,1\t3,0e-1\n"),
    ],
)
def test_decimal_commas_are_read_where_the_separator_is_no_comma(tmp_path, name, content):
    assert_is_labelled(cb.read_model(write(tmp_path, name, content)))


def test_a_decimal_comma_between_commas_is_an_error(tmp_path):
    path = write(tmp_path, "m.csv", 'datum,A,B\nleft,"0,3","0,3"\n')
    with pytest.raises(cb.CobayesError, match="'0,3' is not a number") as caught:
        cb.read_model(path)
    assert caught.value.hint == "write the decimal point as '.', not as a comma."


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.csv", "sep=;\ndatum;A;B\nleft;0.3;0.3\nup;0.1;0.3\n"),
        ("m.csv", '"sep=,"\n' + LABELLED),
        ("m.csv", "sep=\t\ndatum\tA\tB\nleft\t0.3\t0.3\nup\t0.1\t0.3\n"),
        ("m.txt", "datum\tA\tB\nleft\t0.3\t0.3\nup\t0.1\t0.3\n"),
    ],
)
def test_a_line_that_names_the_separator_is_obeyed(tmp_path, name, content):
    assert_is_labelled(cb.read_model(write(tmp_path, name, content)))


def test_lines_are_counted_from_the_line_that_names_the_separator(tmp_path):
    path = write(tmp_path, "m.csv", "sep=;\ndatum;A;B\nleft;0.3;x\n")
    with pytest.raises(cb.CobayesError, match="line 3, column 3"):
        cb.read_model(path)


def test_numbers_with_decimal_commas_and_no_labels_are_a_matrix(tmp_path):
    path = write(tmp_path, "m.csv", "0,3;0,3\n0,1;0,3\n")
    np.testing.assert_array_equal(cb.read_model(path).matrix, MATRIX)


def test_semicolons_inside_labels_do_not_become_separators(tmp_path):
    path = write(tmp_path, "m.csv", "datum,A;a,B\nleft,0.3,0.3\nup,0.1,0.3\n")
    assert cb.read_model(path).hypotheses == ("A;a", "B")


@pytest.mark.parametrize(
    ("cell", "hint"),
    [
        ("1,200", "write 1200 if the comma separates thousands; if it is a decimal"),
        ("1,200,000", "separators of thousands"),
        ("1,200.5", "separators of thousands"),
        ("1.200,5", "separators of thousands"),
        ("1 200", "separators of thousands"),
        ("1'200", "separators of thousands"),
        ("1\u202f200,5", "separators of thousands"),
        ("25%", "as 0.25"),
    ],
)
def test_thousands_are_never_read_or_advised_as_decimals(tmp_path, cell, hint):
    path = write(tmp_path, "m.csv", f"datum;A;B\nleft;{cell};3\n")
    with pytest.raises(cb.CobayesError) as caught:
        cb.read_model(path)
    assert hint in caught.value.hint
    assert "1.2." not in caught.value.hint


def test_a_label_guarded_against_formulas_is_read_without_its_guard(tmp_path):
    path = write(tmp_path, "m.csv", "datum,'=A,B'\n'-up,0.3,0.3\n'quoted',0.1,0.3\n")
    model = cb.read_model(path)
    assert model.hypotheses == ("=A", "B'")
    assert model.data == ("-up", "'quoted'")
    model = cb.Model(MATRIX, ["'=x", "''-1"], ["'A'", "=B"])
    model.to_csv(path)
    assert cb.read_model(path) == model
