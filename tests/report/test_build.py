"""The report: complete, self-contained, repeatable, and built part by part."""

import json
import re
from html.parser import HTMLParser

import pytest

import cobayes as cb
from cobayes.paper import RECIPES
from cobayes.report import build as report_module
from cobayes.report.build import build_report, choose_recipes
from cobayes.report.page import FIVE_SENTENCES
from cobayes.report.saving import load_section, save_section
from cobayes.report.section import Context, Made, Picture, Recipe, Section

PARTS = ("lesson", "worked-example")


class Reader(HTMLParser):
    """Collects tags, and checks that they are closed in order."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    assert reader.open == []
    return reader


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


def test_a_part_is_added_without_building_the_others_again(tmp_path):
    build_report(tmp_path, ["worked-example"])
    before = (tmp_path / "worked-example" / "section.json").read_text(encoding="utf-8")
    page = tmp_path / "index.html"
    assert 'id="lesson"' not in page.read_text(encoding="utf-8")
    small = Recipe("lesson", "a small one", lambda context: Section("Small", ("Hi",)))
    known = (small, *(recipe for recipe in RECIPES if recipe.name != "lesson"))
    build_report(tmp_path, ["lesson"], recipes=known)
    content = page.read_text(encoding="utf-8")
    assert content.index('id="lesson"') < content.index('id="worked-example"')
    assert (tmp_path / "worked-example" / "section.json").read_text(encoding="utf-8") == before


def test_a_section_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    build_report(tmp_path, ["worked-example"])
    page = (tmp_path / "index.html").read_text(encoding="utf-8")

    def fail(_self, _context):
        raise KeyboardInterrupt

    monkeypatch.setattr(Recipe, "make", fail)
    with pytest.raises(KeyboardInterrupt):
        build_report(tmp_path, ["worked-example"], seed=7)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == page
    assert load_section(tmp_path / "worked-example") is not None


def test_unknown_parts_bad_scales_and_bad_folders_are_errors(tmp_path):
    with pytest.raises(cb.CobayesError, match="no part of the report called 'fig99'") as caught:
        build_report(tmp_path, ["fig99"])
    assert "worked-example" in caught.value.hint
    for scale in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(cb.CobayesError, match="scale"):
            build_report(tmp_path, scale=scale)
    (tmp_path / "file").touch()
    with pytest.raises(cb.CobayesError, match="is a file"):
        build_report(tmp_path / "file")


def test_recipes_come_in_the_reports_order_whatever_the_users():
    def chosen(*names):
        return tuple(recipe.name for recipe in choose_recipes(names, RECIPES))

    assert choose_recipes([], RECIPES) == RECIPES
    assert chosen("worked-example", "lesson") == PARTS
    for name in ("3", "Figure3", "fig. 3", "figure-3"):
        assert chosen(name) == ("figure-3",)
    assert chosen("S1", "2") == ("figure-2", "figure-s1")


def test_a_users_own_section_and_claims_join_the_papers(tmp_path):
    from cobayes import report

    def build(context):
        claim = report.judge_exact("Mine is true", "here", 0.0, 1e-9, "nothing")
        return report.Section("My section", ("Words.",), claims=report.about("Mine", claim))

    mine = report.Recipe("mine", "a section of my own", build)
    page = build_report(tmp_path, ["worked-example", "mine"], recipes=(*RECIPES, mine))
    text = "".join(read(page).text)
    assert "My section" in text
    assert "Mine is true" in text
    assert "The printed numbers of the example" in text
    with pytest.raises(cb.CobayesError, match="a section is named"):
        report.Recipe("../mine", "", build)


def test_a_section_that_would_come_out_the_same_is_not_built_again(tmp_path):
    told = []
    options = {"tell": lambda *line: told.append(line[1])}
    build_report(tmp_path, ["worked-example"], **options)
    build_report(tmp_path, ["worked-example"], **options)
    assert told[-1] == "done before; nothing has changed since"
    for changed in ({"seed": 3}, {"scale": 0.5}, {"formats": ("svg",)}):
        told.clear()
        build_report(tmp_path, ["worked-example"], **changed, **options)
        assert told[-1].startswith("done in")
    (tmp_path / "worked-example" / "numbers.csv").unlink()
    build_report(tmp_path, ["worked-example"], formats=("svg",), **options)
    assert told[-1].startswith("done in")


def test_only_the_wanted_formats_are_saved(tmp_path):
    from matplotlib.figure import Figure

    from cobayes.report.data_table import DataTable, column

    def section():
        drawing = Figure(figsize=(2, 1))
        drawing.subplots().plot([0, 1])
        table = DataTable("t", "title", (column("x", [1.0], "an x"),))
        return Section("t", (Picture("p", drawing, "c", "a"),), data=(table,))

    made = Made("c", 1, "quick", 1.0, "0")
    for formats, files in (
        (
            ("svg", "png", "pdf", "csv", "netcdf"),
            "p.pdf p.png p.svg t.csv t.csv-metadata.json t.nc",
        ),
        (("png", "csv"), "p.png t.csv t.csv-metadata.json"),
        (("pdf", "netcdf"), "p.pdf p.svg t.nc"),
    ):
        folder = tmp_path / "-".join(formats)
        save_section(section(), made, folder, formats=formats)
        assert {file.name for file in folder.iterdir()} == {*files.split(), "section.json"}
        shown = load_section(folder)["blocks"][0]["files"][0]
        assert shown.endswith((".svg", ".png"))
    with pytest.raises(cb.CobayesError, match="no format 'tiff'"):
        build_report(tmp_path, ["worked-example"], formats=("tiff",))


def test_the_claims_of_all_sections_stand_in_one_table(tmp_path):
    from cobayes.report.claims import Claim

    claims = [
        Claim(f"s{k} < t", "Figure 9", verdict, "m", "u", "r")
        for k, verdict in enumerate(("holds", "holds except", "does not hold", "not decided"))
    ]
    made = Made("c", 1, "quick", 1.0, "0")
    save_section(Section("One: a", (), claims=tuple(claims[:1])), made, tmp_path / "lesson")
    save_section(Section("Two", (), claims=tuple(claims[1:])), made, tmp_path / "figure-2")
    page = report_module.write_page(tmp_path)
    text = " ".join("".join(read(page).text).split())
    assert (
        "Of 4 claims, 1 holds, 1 holds with exceptions, 1 does not hold, 1 is not decided by these"
        in text
    )
    assert text.index("s0 < t") < text.index("s1 < t") < text.index("s3 < t")
    links = [attributes.get("href") for tag, attributes in read(page).tags if tag == "a"]
    assert links.count("#figure-2") == 4  # three claims, and the contents
    # The opening sections stand before the claims.
    ids = [attributes["id"] for _, attributes in read(page).tags if "id" in attributes]
    assert ids == ["lesson", "figure-2", "claims"]
    assert (tmp_path / "claims.csv").read_text(encoding="utf-8").count("Figure 9") == 4


def test_a_context_scales_counts_and_seeds_by_name(tmp_path):
    first, second = (Context(name, 0.01, 1, tmp_path) for name in ("a", "b"))
    assert first.count(10_000) == 100
    assert first.count(10_000, at_least=200) == 200
    assert first.count(10_000, quick=7) == 100
    assert Context("a", 0.01, 1, tmp_path, is_quick=True).count(10_000, quick=7) == 7
    assert first.rng().random() == Context("a", 1.0, 1, tmp_path).rng().random()
    assert first.rng().random() != second.rng().random()


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
