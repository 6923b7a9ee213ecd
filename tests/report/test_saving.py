"""Sections on disk: complete, and no way to show what is not theirs."""

import html
import json

import pytest

from cobayes.report.page import PageSection, render_page
from cobayes.report.saving import load_section, save_section
from cobayes.report.section import Cell, Download, Made, Picture, Section, Table


def test_a_saved_section_holds_its_words_pictures_tables_and_files(tmp_path):
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(2, 1))
    drawing.subplots().plot([0, 1])
    section = Section(
        "Title",
        (
            "First.",
            Picture("p", drawing, "caption", 'alt with "quotes"'),
            Table("t", ("a", "b"), (("1", Cell("fine", "good")),)),
            "Last.",
        ),
        (Download("d.csv", "data", "x\n"), Download("p.png", "the picture again")),
    )
    save_section(section, Made("cobayes x", 1, "0.5", 61.0, "0", "3 of it."), tmp_path / "s")
    content = load_section(tmp_path / "s")
    assert [block["kind"] for block in content["blocks"]] == ["text", "picture", "table", "text"]
    assert (tmp_path / "s" / "d.csv").read_text(encoding="utf-8") == "x\n"
    page = render_page([PageSection("s", tmp_path / "s", content)], "0")
    assert page.index("First.") < page.index("<figure") < page.index("<table") < page.index("Last.")
    assert f'alt="{html.escape("alt with")}' in page
    assert "0.5 of the paper’s sizes, 1.0\u00a0min, cobayes 0. Sizes: 3 of it." in page
    assert '<td class="good">✓\u00a0fine</td>' in page


def test_a_drawing_with_very_many_points_is_shown_as_png(tmp_path):
    import numpy as np
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(3, 3))
    drawing.subplots().scatter(*np.random.default_rng(0).random((2, 6000)))
    section = Section("t", (Picture("p", drawing, "c", "a"),))
    save_section(section, Made("c", 1, "quick", 1.0, "0"), tmp_path)
    assert load_section(tmp_path)["blocks"][0]["files"][0] == "p.png"


def test_an_incomplete_section_is_left_out(tmp_path):
    assert load_section(tmp_path / "nothing") is None
    (tmp_path / "section.json").write_text('{"title": ', encoding="utf-8")
    assert load_section(tmp_path) is None


def _saved(folder):
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(2, 1))
    drawing.subplots().plot([0, 1])
    section = Section("Title", ("Words.", Picture("p", drawing, "caption", "alt")))
    save_section(section, Made("cobayes x", 1, "quick", 1.0, "0"), folder, formats=("png",))
    return json.loads((folder / "section.json").read_text(encoding="utf-8"))


def _set(content, path, value):
    *way, last = path
    for key in way:
        content = content[key]
    content[last] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("blocks", 1, "files"), ["../secret.png"]),
        (("blocks", 1, "files"), ["/etc/hostname"]),
        (("blocks", 1, "files"), ["link.png"]),
        (("blocks", 1, "files"), []),
        (("blocks", 1, "kind"), "script"),
        (("blocks", 0, "text"), None),
        (("downloads",), [{"name": "../secret.png", "label": "x"}]),
        (("made", "seed"), "<script>alert(1)</script>"),
        (("made", "seconds"), "long"),
        (("claims",), [{"statement": "s"}]),
        (("title",), 7),
        (("title",), "half a character: \ud800"),
    ],
)
def test_a_crafted_section_is_left_out(tmp_path, path, value):
    content = _saved(tmp_path / "s")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (tmp_path / "s" / "link.png").symlink_to(tmp_path / "secret.png")
    assert load_section(tmp_path / "s") is not None
    _set(content, path, value)
    (tmp_path / "s" / "section.json").write_text(json.dumps(content), encoding="utf-8")
    assert load_section(tmp_path / "s") is None


def test_every_field_of_a_section_is_escaped(tmp_path):
    bad = "<script>alert(1)</script>"
    content = _saved(tmp_path / "s")
    for path in (
        ("title",),
        ("blocks", 0, "text"),
        ("blocks", 1, "caption"),
        ("blocks", 1, "alt"),
        ("made", "command"),
        ("made", "scale"),
        ("made", "version"),
        ("made", "sizes"),
    ):
        _set(content, path, bad)
    content["blocks"].append(
        {
            "kind": "table",
            "caption": bad,
            "header": [bad],
            "rows": [[{"text": f"[x](javascript:alert(1)) {bad}", "tone": "plain"}]],
        }
    )
    names = ("statement", "source", "measured", "uncertainty", "rule", "topic")
    content["claims"] = [{"verdict": "holds", **dict.fromkeys(names, bad)}]
    (tmp_path / "s" / "section.json").write_text(json.dumps(content), encoding="utf-8")
    loaded = load_section(tmp_path / "s")
    assert loaded is not None
    page = render_page([PageSection("s", tmp_path / "s", loaded)], bad)
    assert page.count("<script>") == 1  # the page's own
    assert "alert(1)" in page
    assert 'href="javascript' not in page
