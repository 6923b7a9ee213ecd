"""The report's page: complete, self-contained, repeatable, and fit for a desk and a phone."""

import json
import re

import pytest

import cobayes as cb
from cobayes.report.build import build_report
from cobayes.report.page import FIVE_SENTENCES
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
def test_the_page_fits_its_window_and_shows_every_picture(report, chromium, width):
    page, _ = report
    window = chromium.new_page(viewport={"width": width, "height": 800})
    window.goto(page.as_uri())
    found = window.evaluate(MEASURE)
    window.close()
    assert found["page_width"] <= width
    assert found["widest"] <= width
    assert found["images"] == found["shown"] >= 11
    assert found["small"] == 0


def test_the_page_starts_with_five_sentences_and_shows_every_section(report):
    page, _ = report
    reader = read(page)
    text = "".join(reader.text)
    assert len(FIVE_SENTENCES) == 5
    assert all(sentence in text for sentence in FIVE_SENTENCES)
    ids = [attributes["id"] for tag, attributes in reader.tags if "id" in attributes]
    # The lesson opens the page; then come the claims.
    assert ids == ["lesson", "claims", "worked-example"]
    links = [attributes["href"] for tag, attributes in reader.tags if tag == "a"]
    assert all(f"#{name}" in links for name in ids)


def test_the_page_needs_nothing_from_elsewhere_and_links_only_to_files_that_exist(report):
    page, _ = report
    content = page.read_text(encoding="utf-8")
    # The name of a drawing's language is no address that is asked.
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
        lines = [line for prefix, line in told if name in prefix]
        assert lines[0] == "started"
        assert lines[-1].startswith("done in")


def test_the_saved_lesson_can_be_loaded_and_extended(report):
    page, _ = report
    lesson = cb.Lesson.load(page.parent / "lesson" / "lesson-scbi.npz")
    assert lesson.extend(2).num_rounds == lesson.num_rounds + 2


def test_the_same_seed_gives_the_same_bytes_alone_or_with_others(report, tmp_path):
    page, _ = report
    build_report(tmp_path, ["lesson"], scale=0.01, seed=1)
    for file in sorted((page.parent / "lesson").iterdir()):
        if file.name == "section.json":  # it holds the time that it took
            continue
        if file.suffix == ".npz":  # so does an archive
            both = (cb.Lesson.load(path) for path in (file, tmp_path / "lesson" / file.name))
            assert len({lesson.beliefs.tobytes() for lesson in both}) == 1
            continue
        assert file.read_bytes() == (tmp_path / "lesson" / file.name).read_bytes(), file.name


def test_the_section_file_is_valid_json(report):
    page, _ = report
    for name in PARTS:
        json.loads((page.parent / name / "section.json").read_text(encoding="utf-8"))


def test_the_worked_example_and_the_lesson_have_figures_that_move(report):
    page, _ = report
    frames = [attributes for tag, attributes in read(page).tags if tag == "iframe"]
    titles = [attributes["title"] for attributes in frames]
    assert sorted(titles) == ["One lesson by three rules", "What one round does"]
    assert all("Content-Security-Policy" in attributes["srcdoc"] for attributes in frames)
