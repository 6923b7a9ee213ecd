"""The report is built part by part, and keeps what it has."""

import pytest

import cobayes as cb
from cobayes.paper import RECIPES
from cobayes.report import build as report_module
from cobayes.report.build import build_report, choose_recipes
from cobayes.report.saving import load_section, save_section
from cobayes.report.section import Context, Made, Picture, Recipe, Section
from tests.report.conftest import read


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
    assert chosen("worked-example", "lesson") == ("lesson", "worked-example")
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
