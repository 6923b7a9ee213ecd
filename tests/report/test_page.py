"""The report's page: complete, self-contained, repeatable, and fit for a desk and a phone."""

import re

import pytest

import cobayes as cb
from cobayes import _core
from cobayes.paper import build_paper
from cobayes.report.claims import Claim
from cobayes.report.page import load_section, save_section, write_page
from cobayes.report.section import Picture, Recipe, Section, Table, data_frame, prose
from tests.report.conftest import read

PARTS = ("lesson", "worked-example")
MEASURE = """() => {
  const images = [...document.images];
  return {
    page_width: document.documentElement.scrollWidth,
    images: images.length,
    shown: images.filter(i => i.complete && i.naturalWidth > 0).length,
    widest: Math.max(...images.map(i => i.getBoundingClientRect().right)),
    small: [...document.querySelectorAll("p, li, td, figcaption")]
      .filter(e => parseFloat(getComputedStyle(e).fontSize) < 12).length,
  };
}"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 400])
def test_the_page_fits_its_window_and_shows_every_picture(report, window, width):
    page, _ = report
    shown = window(viewport={"width": width, "height": 800})
    shown.goto(page.as_uri())
    found = shown.evaluate(MEASURE)
    assert found["page_width"] <= width
    assert found["widest"] <= width
    assert found["images"] == found["shown"] >= 11
    assert found["small"] == 0


def test_the_page_starts_with_its_lead_and_shows_every_section(report):
    page, _ = report
    reader = read(page)
    text = " ".join("".join(reader.text).split())
    words = prose("cobayes.paper").get_template("lead.md").render()
    lead = [" ".join(line.split()) for line in words.split("\n")]
    assert len(lead) > 10
    assert all(line.lstrip("# 12345.") in text for line in lead)
    ids = [attributes["id"] for tag, attributes in reader.tags if "id" in attributes]
    # The lesson opens the page; then come the claims.
    assert ids == ["lesson", "claims", "worked-example"]
    links = [attributes["href"] for tag, attributes in reader.tags if tag == "a"]
    assert all(f"#{name}" in links for name in ids)


def test_the_page_needs_nothing_from_elsewhere_and_links_only_to_files_that_exist(report):
    page, _ = report
    content = page.read_text(encoding="utf-8")
    # The name space of SVG is not an address that a browser requests.
    content = content.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|<link|<script src|@import|url\(", content)
    for tag, attributes in read(page).tags:
        if tag == "img":
            assert attributes["src"].startswith("data:image/")
        if tag == "a" and not attributes["href"].startswith("#"):
            assert (page.parent / attributes["href"]).is_file()


def test_every_picture_says_what_it_shows(report):
    page, _ = report
    pictures = [attributes for tag, attributes in read(page).tags if tag == "img"]
    assert len(pictures) >= 11
    assert all(len(attributes["alt"]) > 40 for attributes in pictures)


def test_the_worked_example_is_judged_number_by_number(report):
    page, _ = report
    text = " ".join("".join(read(page).text).split())
    assert text.count("misprint: 0.643 should read 0.634") == 2
    assert text.count("✓ agrees") == 9
    assert "differs" not in text


def test_every_section_says_how_it_was_made(report):
    page, told = report
    text = "".join(read(page).text)
    for name in PARTS:
        assert f"cobayes reproduce {name} --scale 0.01 --seed 1" in text
        made = load_section(page.parent / name)["made"]
        assert made["versions"]["cobayes"] == cb.__version__
        assert set(made["versions"]) == {"cobayes", "python", "numpy", "scipy"}
        assert made["instruction_set"] == _core.instruction_set()
        lines = [line for prefix, line in told if name in prefix]
        assert lines[0] == "started"
        assert lines[-1].startswith("done in")


def test_the_saved_lesson_can_be_loaded_and_extended(report):
    page, _ = report
    lesson = cb.Lesson.load(page.parent / "lesson" / "lesson-scbi.json")
    assert lesson.extend(2).num_rounds == lesson.num_rounds + 2


def test_the_same_seed_gives_the_same_bytes_alone_or_with_others(report, tmp_path):
    page, _ = report
    build_paper(tmp_path, ["lesson"], scale=0.01, seed=1)
    for file in sorted((page.parent / "lesson").iterdir()):
        if file.name == "section.json":  # it holds the time that it took
            continue
        assert file.read_bytes() == (tmp_path / "lesson" / file.name).read_bytes(), file.name


def test_the_worked_example_and_the_lesson_have_figures_that_move(report):
    page, _ = report
    frames = [attributes for tag, attributes in read(page).tags if tag == "iframe"]
    titles = [attributes["title"] for attributes in frames]
    assert sorted(titles) == ["One lesson by three rules", "The normalisations of one round"]
    assert all("Content-Security-Policy" in attributes["srcdoc"] for attributes in frames)


BAD = "<script>alert(1)</script>"
MADE = {"command": BAD, "seed": 1, "scale": BAD, "seconds": 61.0, "versions": {BAD: BAD}}
MADE |= {"instruction_set": BAD}


def page_of(section, folder):
    save_section(section, folder / "s", made=MADE)
    page = write_page(folder, [Recipe("s", "", lambda _: section)], title="My title", lead=BAD)
    return page.read_text(encoding="utf-8")


def test_a_section_shows_its_words_pictures_tables_and_files_in_order(tmp_path):
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(2, 1))
    drawing.subplots().plot([0, 1])
    section = Section(
        "Title",
        (
            "First.",
            Picture("p", drawing, "caption", 'alt with "quotes"'),
            Table("t", ("a", "b"), (("1", "✓ fine"),)),
            Picture("live", "<b>moves</b>", "live caption"),
            "Last.",
        ),
        data={"d": data_frame("Some numbers", ("x", [1.0], "an x, in nats"))},
        sizes="3 of it.",
    )
    page = page_of(section, tmp_path)
    order = ["First.", "<figure", "<table", "<b>moves</b>", "Last.", "Some numbers (CSV)"]
    assert sorted(map(page.index, order)) == list(map(page.index, order))
    assert 'alt="alt with &#34;quotes&#34;"' in page
    assert '<td class="good">✓ fine</td>' in page
    assert "<dt><code>x</code></dt><dd>an x, in nats</dd>" in page
    assert "1.0&nbsp;min" in page
    assert "Sizes: 3 of it." in page


def test_every_text_of_a_section_is_escaped(tmp_path):
    section = Section(
        BAD,
        (BAD, Table(BAD, (BAD,), ((f"[x](javascript:alert(1)) {BAD}",),))),
        data={"d": data_frame(BAD, (BAD, [1.0], BAD))},
        claims=(Claim(BAD, BAD, "holds", BAD, BAD, BAD, BAD),),
        sizes=BAD,
    )
    page = page_of(section, tmp_path)
    assert page.count("<script>") == 1  # the page's own
    assert "alert(1)" in page
    assert 'href="javascript' not in page


def test_a_drawing_with_very_many_points_is_shown_as_png(tmp_path):
    import numpy as np
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(3, 3))
    drawing.subplots().scatter(*np.random.default_rng(0).random((2, 6000)))
    save_section(Section("t", (Picture("p", drawing, "c", "a"),)), tmp_path, made=MADE)
    assert load_section(tmp_path)["blocks"][0]["files"][0] == "p.png"
