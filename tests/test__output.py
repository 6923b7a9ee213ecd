import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cobayes as cb
from cobayes._output import frame_csv, html_table, percent, probability_text, write_text


def test_a_written_file_is_as_readable_as_any_other(tmp_path):
    ordinary = tmp_path / "ordinary"
    ordinary.write_text("x")
    path = tmp_path / "written"
    write_text(path, "é\n")
    assert path.read_text(encoding="utf-8") == "é\n"
    assert path.stat().st_mode == ordinary.stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["ordinary", "written"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")
    with pytest.raises(cb.CobayesError):
        write_text(path, "half \udc80")
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_results_show_small_escaped_tables_in_a_notebook():
    model = cb.Model([[0.7, 0.2], [0.3, 0.8]], hypotheses=["<a>", "b"])
    rule = cb.SCBI(model)
    ensemble = cb.simulate(rule, 0, num_rounds=50, num_lessons=20, rng=1)
    rate = cb.success_rate(model, 0, num_lessons=20, rng=1)
    coupled = cb.coupling(model, num_lessons=20, rng=1)
    for result in (ensemble, rate, coupled):
        html = result._repr_html_()
        assert "&lt;a&gt;" in html
        assert "<a>" not in html
        assert 2 < html.count("<tr>") + html.count("<th>") < 40
    assert f"{ensemble.mean()[-1]:.4f}" in ensemble._repr_html_()
    assert f"{rate.value:.4f}" in rate._repr_html_()


RESULTS = {
    "ensemble": lambda: cb.simulate("example:M_3", 0, num_rounds=3, num_lessons=20, rng=1),
    "teachers": lambda: cb.lessons.compare_teachers(
        cb.without_repeats("example:M_3"), 0, num_lessons=9, rng=1
    ),
    "rates": lambda: cb.compare_rates(3, 2, 100, rng=1),
    # One lesson has no standard error: NaN.
    "success": lambda: cb.success_rate("example:M_1", 0, num_lessons=1, rng=1),
    "enclosure": lambda: cb.success_enclosure("example:M_3", 0, num_rounds=4),
    "robustness": lambda: cb.stability.robustness("example:M_3", 0, num_lessons=20, rng=1),
    "run": lambda: cb.runs.RunState(
        Path("here"), "mine", "running", (cb.runs.PointState("p", 0, 8, 0.0),), 2
    ),
    "certificate": lambda: cb.conjecture.load_certificate("tv-paper-matrix"),
    "check": lambda: cb.conjecture.load_certificate("tv-paper-matrix").check(50, rng=1),
    "limit": lambda: cb.conjecture.load_certificate("l1-small-perturbations").check(2, rng=1),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_goes_through_json_and_back(name):
    result = RESULTS[name]()
    text = json.dumps(result.to_dict())
    again = type(result).from_dict(json.loads(text))
    assert type(again) is type(result)
    assert json.dumps(again.to_dict()) == text
    for attribute, value in vars(result).items():
        if isinstance(value, np.ndarray) and attribute not in ("paths", "path_rounds"):
            assert np.array_equal(getattr(again, attribute), value, equal_nan=True)
            assert getattr(again, attribute).dtype == value.dtype
    assert repr(again) == repr(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lower": "low"}, "'low' is not of type float"),
        ({"num_lessons": 2.5}, "2.5 is not of type int"),
        ({"outcomes": [[1.0], 2.0]}, "SuccessRate.from_dict cannot read this content"),
        ({"hypotheses": 3}, "SuccessRate.from_dict cannot read this content"),
    ],
)
def test_content_that_is_not_that_of_the_result_is_refused(change, message):
    content = RESULTS["success"]().to_dict()
    with pytest.raises(cb.CobayesError, match=message):
        cb.stability.SuccessRate.from_dict(content | change)


def test_the_error_about_incomplete_content_names_the_missing_entry():
    with pytest.raises(cb.CobayesError, match=r"Ensemble.from_dict has no entry 'model'"):
        cb.lessons.Ensemble.from_dict({})
    with pytest.raises(cb.CobayesError, match="the saved lesson has no entry 'objects'"):
        cb.Lesson.from_dict({})


@pytest.mark.parametrize("name", ["m.parquet", "m.JSON", "m.tsv"])
def test_a_csv_file_never_has_the_name_of_another_kind(tmp_path, name):
    with pytest.raises(cb.CobayesError, match="is not the name of a CSV file"):
        cb.Model([[1.0]]).to_csv(tmp_path / name)
    assert not os.listdir(tmp_path)


def test_a_long_table_is_cut():
    html = html_table("title", ("label", "value"), [(str(k), "x") for k in range(50)])
    assert "and 29 more" in html
    assert html.count("<tr>") == 22


def test_a_frame_has_no_formula_in_its_csv():
    frame = pd.DataFrame({"=a": ["@sum", "-1", "plain"], "b": [1.5, -2.0, 3.0]})
    assert frame_csv(frame) == "'=a,b\n'@sum,1.5\n-1,-2.0\nplain,3.0\n"


@pytest.mark.parametrize("path", [None, 3, b"page.html", "", "\0"])
def test_what_is_no_path_is_refused_by_everything_that_writes(path):
    for write in (cb.Model([[1.0]]).to_csv, cb.studio().save, cb.Learner([[1.0]]).save):
        with pytest.raises(cb.CobayesError, match="expected the path"):
            write(path)


def test_a_link_stays_a_link_and_a_file_keeps_its_permissions(tmp_path):
    file, link = tmp_path / "table.csv", tmp_path / "link.csv"
    file.touch(0o600)
    link.symlink_to(file)
    cb.Model([[1.0]]).to_csv(link)
    assert link.is_symlink()
    assert file.read_text() == "datum,0\n0,1.0\n"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_device_or_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        cb.Model([[1.0]]).to_csv(pipe)
        assert os.read(reader, 100) == b"datum,0\n0,1.0\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize("data", [["", "y"], ["x", " x"], ["x;y"]])
def test_labels_that_a_csv_file_would_change_are_refused(tmp_path, data):
    matrix = np.ones((len(data), 2))
    with pytest.raises(cb.CobayesError, match="would change the labels"):
        cb.Model(matrix, data, ["a;b", "prior"]).to_csv(tmp_path / "table.csv")
    assert not os.listdir(tmp_path)


def test_a_label_that_is_no_text_is_refused_and_the_old_file_stays(tmp_path):
    file = tmp_path / "table.csv"
    cb.Model([[1.0]]).to_csv(file)
    before = file.read_bytes()
    with pytest.raises(cb.CobayesError, match="not a character of Unicode"):
        cb.Model([[1.0]], ["\ud800"]).to_csv(file)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.9997, 1, "99.97 %"),
        (0.9994, 1, "99.9 %"),
        (0.0003, 1, "0.03 %"),
        (1e-12, 1, "<0.0001 %"),
        (1.0 - 1e-12, 1, ">99.9999 %"),
        (1.0, 1, "100.0 %"),
        (0.0, 0, "0 %"),
        (1, 1, "100.0 %"),
        (0.25, 1, "25.0 %"),
        (1e-5, 1, "0.001 %"),
        (0.996, 0, "99.6 %"),
        (0.42, 0, "42 %"),
    ],
)
def test_a_percentage_never_claims_certainty_that_is_not_there(share, digits, text):
    assert percent(share, digits) == text


def test_probabilities_between_0_and_1_are_never_shown_as_0_or_1():
    shown = [probability_text(value) for value in (0.0, 1e-9, 0.995, 0.9999, 1.0)]
    assert shown == ["0.000", "< 0.001", "0.995", "> 0.999", "1.000"]
    assert probability_text(0.99998, 4) == "> 0.9999"


def test_results_do_not_claim_certainty_by_rounding():
    rule = cb.SCBI([[3, 1], [1, 2]])
    lesson = cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 100)
    assert "final belief in it > 0.9999)" in repr(lesson)
    many = cb.simulate(rule, 0, num_rounds=100, num_lessons=20, rng=1)
    assert "final mean belief in it > 0.9999)" in repr(many)
