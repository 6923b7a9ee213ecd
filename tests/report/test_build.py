"""The report is built section by section, keeps unchanged sections, and shows no other files."""

import errno
import json
import os

import pytest

import cobayes as cb
from cobayes import report
from cobayes.paper import RECIPES
from cobayes.report.build import build_report
from cobayes.report.page import load_section, save_section, write_page
from cobayes.report.section import Picture, Recipe, Section, data_frame
from tests.report.conftest import read
from tests.runs.conftest import mounted


def words(context):
    context.tell("working")
    return Section("Words", ("Some words.",), claims=(CLAIM,))


CLAIM = report.judge_interval("Mine is true", "here", 0.0, 0.0, below=1e-9)
WORDS = Recipe("words", "some words", words)


def drawn(_context=None):
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(2, 1))
    drawing.subplots().plot([0, 1])
    table = data_frame("title", ("x", [1.0], "an x"))
    return Section("t", (Picture("p", drawing, "c", "a"),), data={"t": table}, claims=(CLAIM,))


def test_a_part_is_added_without_building_the_others_again(tmp_path):
    drawing = Recipe("drawn", "a drawing", drawn)
    build_report(tmp_path, [WORDS, drawing], ["drawn"])
    before = (tmp_path / "drawn" / "section.json").read_text(encoding="utf-8")
    page = tmp_path / "index.html"
    assert 'id="words"' not in page.read_text(encoding="utf-8")
    build_report(tmp_path, [WORDS, drawing], ["words"])
    content = page.read_text(encoding="utf-8")
    assert content.index('id="words"') < content.index('id="drawn"')
    assert (tmp_path / "drawn" / "section.json").read_text(encoding="utf-8") == before


def test_a_section_that_fails_leaves_the_old_one(tmp_path):
    build_report(tmp_path, [WORDS])
    page = (tmp_path / "index.html").read_text(encoding="utf-8")

    def fail(_context):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_report(tmp_path, [Recipe("words", "", fail)], seed=7)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == page
    assert load_section(tmp_path / "words") is not None


def test_unknown_parts_bad_scales_and_bad_folders_are_errors(tmp_path):
    with pytest.raises(cb.CobayesError, match="no part of the report called 'fig99'") as caught:
        build_report(tmp_path, [WORDS], ["fig99"])
    assert "words" in caught.value.hint
    for scale in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(cb.CobayesError, match="scale"):
            build_report(tmp_path, [WORDS], scale=scale)
    with pytest.raises(cb.CobayesError, match="a format is 'tiff'"):
        build_report(tmp_path, [WORDS], formats=("tiff",))
    (tmp_path / "words").touch()
    for place in (tmp_path, tmp_path / "words"):  # the section's folder, the report's folder
        with pytest.raises(cb.CobayesError, match="words is a file; the report needs a folder"):
            build_report(place, [WORDS])


def test_an_error_of_a_builder_about_its_own_files_is_not_changed(tmp_path):
    recipe = Recipe("own", "", lambda context: context.folder.mkdir())
    with pytest.raises(FileExistsError, match="own"):
        build_report(tmp_path, [recipe])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_full_disk_and_a_folder_that_cannot_be_written_are_said_in_one_line(tmp_path, number):
    def fail(_context):
        raise OSError(number, os.strerror(number))

    with pytest.raises(cb.CobayesError) as caught:
        build_report(tmp_path, [Recipe("full", "", fail)])
    assert caught.value.message == f"cannot write {str(tmp_path)!r}: {os.strerror(number)}."
    assert "are kept" in caught.value.hint


def test_a_disk_that_is_full_while_pictures_are_written_is_said_in_one_line(tmp_path):
    with mounted(tmp_path, "size=16k"), pytest.raises(cb.CobayesError, match="No space left"):
        build_report(tmp_path, [Recipe("drawn", "a drawing", drawn)], formats=("pdf", "png"))


def test_sections_are_built_in_the_reports_order_whatever_the_users(tmp_path):
    built = []
    more = Recipe("more", "words, too", lambda context: built.append("more") or words(context))
    again = Recipe("again", "words", lambda context: built.append("again") or words(context))
    build_report(tmp_path, [WORDS, more, again], ["again", "more"])
    assert built == ["more", "again"]


def test_a_users_own_section_and_claims_join_the_papers(tmp_path):
    names = ["worked-example", "words"]
    page = build_report(tmp_path, (*RECIPES, WORDS), names, formats=("svg",))
    text = "".join(read(page).text)
    assert "Some words." in text
    assert "Mine is true" in text
    assert "The printed numbers of the example" in text


def test_a_report_of_ones_own_says_nothing_of_the_paper(tmp_path):
    page = build_report(tmp_path, [WORDS], title="My title", lead="My *lead*.")
    text = "".join(read(page).text)
    assert "My title" in text
    assert "My lead." in text
    for word in ("SCBI", "Wang", "reproduce", "the paper"):
        assert word not in text


def test_a_section_that_would_come_out_the_same_is_not_built_again(tmp_path):
    told, recipes = [], [Recipe("drawn", "a drawing", drawn)]
    options = {"tell": lambda *line: told.append(line[1])}
    build_report(tmp_path, recipes, **options)
    build_report(tmp_path, recipes, **options)
    assert told[-1] == "unchanged since it was built"
    for changed in ({"seed": 3}, {"scale": 0.5}, {"formats": ("svg",)}, {"fresh": True}):
        told.clear()
        build_report(tmp_path, recipes, **changed, **options)
        assert told[-1].startswith("done in")


def test_an_edited_builder_is_run_again(tmp_path, monkeypatch):
    module = tmp_path / "own_section.py"
    source = (
        "from cobayes.report import Section\ndef build(context):\n    return Section('{}', ())\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for title in ("First", "Second"):
        module.write_text(source.format(title), encoding="utf-8")
        monkeypatch.delitem(__import__("sys").modules, "own_section", raising=False)
        __import__("importlib").invalidate_caches()
        build_report(tmp_path / "report", [Recipe("own", "", "own_section")])
        assert load_section(tmp_path / "report" / "own")["title"] == title


def test_a_builder_inside_a_function_is_run_every_time(tmp_path):
    for title in ("First", "Second"):
        build_report(tmp_path, [Recipe("own", "", lambda _, title=title: Section(title, ()))])
        assert load_section(tmp_path / "own")["title"] == title


class Titled:
    def __init__(self, title):
        self.title = title

    def build(self, _context):
        return Section(self.title, ())


def test_a_method_is_run_every_time_because_its_object_may_have_changed(tmp_path):
    for title in ("First", "Second"):
        build_report(tmp_path, [Recipe("own", "", Titled(title).build)])
        assert load_section(tmp_path / "own")["title"] == title


def test_only_the_wanted_formats_are_saved(tmp_path):
    for formats, files in (
        (("svg", "png", "pdf", "csv"), "p.pdf p.png p.svg t.csv"),
        (("png", "csv"), "p.png t.csv"),
        (("pdf",), "p.pdf p.svg"),
    ):
        folder = tmp_path / "-".join(formats)
        save_section(drawn(), folder, made={}, formats=formats)
        assert {file.name for file in folder.iterdir()} == {*files.split(), "section.json"}
        shown = load_section(folder)["blocks"][0]["files"][0]
        assert shown.endswith((".svg", ".png"))


def change_claim(folder):
    path = folder / "section.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["claims"][0]["verdict"] = "does not hold"
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        change_claim,
        lambda folder: (folder / "t.csv").unlink(),
        lambda folder: (folder / "t.csv").write_text("x\n2.0\n", encoding="utf-8"),
        lambda folder: (folder / "p.svg").write_bytes(b"<svg/>"),
        lambda folder: (folder / "section.json").write_text('{"title": ', encoding="utf-8"),
        lambda folder: (folder / "section.json").write_text("[]", encoding="utf-8"),
    ],
)
def test_a_section_whose_files_were_changed_is_left_out_and_built_again(tmp_path, change):
    recipes = [Recipe("drawn", "a drawing", drawn)]
    build_report(tmp_path, recipes)
    change(tmp_path / "drawn")
    assert load_section(tmp_path / "drawn") is None
    assert 'id="drawn"' not in write_page(tmp_path, recipes).read_text(encoding="utf-8")
    build_report(tmp_path, recipes)
    assert load_section(tmp_path / "drawn")["claims"][0]["verdict"] == "holds"


@pytest.mark.parametrize("name", ["../secret.svg", "link.svg"])
def test_a_page_shows_no_file_from_another_folder(tmp_path, name):
    secret = tmp_path / "secret.svg"
    secret.write_bytes(b"secret")
    save_section(drawn(), tmp_path / "s", made={})
    (tmp_path / "s" / "link.svg").symlink_to(secret)
    path = tmp_path / "s" / "section.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["blocks"][0]["files"] = [name]
    path.write_text(json.dumps(content), encoding="utf-8")
    assert load_section(tmp_path / "s") is None


def test_the_claims_of_all_sections_stand_in_one_table(tmp_path):
    claims = [
        report.Claim(f"s{k} < t", "Figure 9", verdict, "m", "u", "r")
        for k, verdict in enumerate(("holds", "holds except", "does not hold", "not decided"))
    ]
    recipes = [
        Recipe("first", "", lambda _: Section("One: a", (), claims=tuple(claims[:1])), True),
        Recipe("second", "", lambda _: Section("Two", (), claims=tuple(claims[1:]))),
    ]
    page = build_report(tmp_path, recipes)
    text = " ".join("".join(read(page).text).split())
    assert (
        "Of 4 claims, 1 holds, 1 holds with exceptions, 1 does not hold, 1 is not decided by these"
        in text
    )
    assert text.index("s0 < t") < text.index("s1 < t") < text.index("s3 < t")
    links = [attributes.get("href") for tag, attributes in read(page).tags if tag == "a"]
    assert links.count("#second") == 4  # three claims, and the contents
    # The opening sections stand before the claims.
    ids = [attributes["id"] for _, attributes in read(page).tags if "id" in attributes]
    assert ids == ["first", "claims", "second"]
    assert (tmp_path / "claims.csv").read_text(encoding="utf-8").count("Figure 9") == 4
