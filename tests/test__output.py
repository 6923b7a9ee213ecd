import os

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
        with pytest.raises(cb.CobayesError, match="expected a path"):
            write(path)


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
