"""The page as a file."""

import base64
import hashlib
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import cobayes as cb
from cobayes.browser.page import live_figure

EVIL = "</script><img src=x onerror=alert(1)>"


def content_of(page):
    return json.loads(
        re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.S)[1]
    )


def test_the_page_is_one_file_below_400_kb(tmp_path):
    path = cb.studio().save(tmp_path / "page.html")
    assert path.stat().st_size < 400_000
    text = path.read_text(encoding="utf-8")
    assert re.search(r'(src|href)="(https?:)?//', text) is None
    assert "innerHTML" not in text


def test_the_policy_allows_the_script_and_the_style_and_nothing_else():
    page = cb.studio().to_html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag, name in (
        (r'<script type="module" id="program">(.*?)</script>', "script-src"),
        (r"<style>(.*?)</style>", "style-src"),
    ):
        text = re.search(tag, page, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy


def test_a_model_is_shown_with_its_labels():
    model = cb.Model([[1.0, 2.0], [3.0, 1.0]], ["a", "b"], ["x", "y"])
    start = content_of(cb.studio(model).to_html())["start"]
    assert start["table"] == model.to_dict()


def test_an_example_knows_what_it_teaches():
    start = content_of(cb.studio(cb.examples["diagnosis"]).to_html())["start"]
    assert start["example"] == "diagnosis"
    assert start["truth"] == 1


def test_every_example_is_on_the_page_once_with_its_own_table():
    shown = content_of(cb.studio().to_html())["examples"]
    assert sorted(example["name"] for example in shown) == sorted(cb.examples)
    for example in shown:
        assert example["matrix"] == cb.examples[example["name"]].model.matrix.tolist()


def test_labels_cannot_end_the_script():
    model = cb.Model([[1.0, 2.0], [3.0, 1.0]], [EVIL, "b"], ["x", "y"])
    page = cb.studio(model).to_html()
    assert EVIL not in page
    assert content_of(page)["start"]["table"]["data"][0] == EVIL
    assert EVIL not in cb.studio(model)._repr_html_()


def test_a_notebook_shows_the_page_in_a_frame():
    shown = cb.studio()._repr_html_()
    assert shown.startswith("<iframe")
    assert "srcdoc=" in shown
    assert "save" in repr(cb.studio())


def test_a_table_too_large_for_the_page_is_refused():
    with pytest.raises(cb.CobayesError, match="at most 200 by 60"):
        cb.studio(np.ones((201, 2)) + np.arange(402).reshape(201, 2))


def test_an_unknown_view_or_figure_is_refused():
    with pytest.raises(cb.CobayesError, match="view is 'lessons'; expected 'lesson', "):
        cb.studio(view="lessons")
    with pytest.raises(cb.CobayesError, match="kind is 'table'; expected 'round' or"):
        live_figure("table")


def test_a_lesson_without_repeats_is_shown_as_one_and_other_tasks_are_refused():
    model = cb.examples["M_2"].model
    task = cb.without_repeats(model)
    assert content_of(cb.studio(task).to_html())["start"]["repeats"] is False
    inner = (cb.GridWorld.paper(), cb.limited_to(model, [0]), cb.moving_costs(model, np.eye(3)))
    for task in inner:
        for other in (task, cb.without_repeats(task)):
            with pytest.raises(cb.CobayesError, match=f"cannot show a {type(task).__name__}"):
                cb.studio(other)


def test_a_page_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(cb.CobayesError, match="cannot be written"):
        cb.studio().save(tmp_path / "nowhere" / "page.html")


def test_a_page_that_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("precious")
    model = cb.Model([[1.0, 2.0], [3.0, 1.0]], ["a\ud800", "b"], ["x", "y"])
    with pytest.raises(cb.CobayesError, match="cannot be written"):
        cb.studio(model).save(path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("first", ["import cobayes as cb", "import cobayes.browser.page"])
def test_studio_is_a_function_whatever_was_imported_first(first):
    code = f"{first}; import cobayes; print(cobayes.studio())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Studio(example 'gestures'")
