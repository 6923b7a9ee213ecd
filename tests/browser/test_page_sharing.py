"""Links, Python code and files: what leaves the page gives the numbers of the screen."""

import contextlib
import io
from ast import literal_eval
from xml.etree import ElementTree

import pytest

import cobayes as cb
from tests.browser.screen import (
    KINDS,
    VIEWS,
    download,
    every_view,
    link,
    screen_table,
    wait_for_numbers,
)

pytestmark = pytest.mark.slow

# Lessons about it are short.
CLEAR = {
    "data": ["red", "green", "blue"],
    "hypotheses": ["cherry", "leaf", "sky"],
    "matrix": [[8, 1, 1], [1, 7, 2], [2, 1, 6]],
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_shared_link_gives_the_same_numbers(visit, pages, view):
    state = {
        "round": 6,
        "truth": 1,
        "depth": 3,
        "seed": 9,
        "lessons": 50,
        "steps": 5,
        "playShown": 4,
        "example": "",
        "table": CLEAR,
    }
    first = visit(pages["three"], hash=link(view=view, **state))
    wait_for_numbers(first, view)
    first.click("button:has-text('Copy link')")
    address = first.evaluate("navigator.clipboard.readText()")
    numbers = screen_table(first)
    again = visit(pages["three"], hash="#" + address.split("#")[1])
    wait_for_numbers(again, view)
    assert again.get_attribute("nav [aria-current]", "data-view") == view
    assert screen_table(again).equals(numbers)


def test_a_button_that_copies_shows_for_two_seconds_that_it_has_copied(visit, pages):
    page = visit(pages["three"], stops_clock=True)
    page.click("#copy-link")
    page.wait_for_selector("#copy-link.copied")
    page.clock.run_for(2000)
    page.wait_for_selector("#copy-link:not(.copied)")


GOALS = {"A": [0, 0], "B": [0, 6]}
BOARD = {"width": 7, "height": 5, "start": [4, 3], "goals": GOALS, "discount": 0.3}


@pytest.mark.parametrize(
    "hash",
    [
        *("#nonsense", "#" + "A" * 5000, "#W10"),
        *(link(round=-5, table=[1], view="x"), link(truth=99)),
        link(board={**BOARD, "walls": [[0, 1], [1, 0]]}),  # around goal A
        link(board={**BOARD, "walls": [[0, 14]]}),  # outside of the board
        link(board={**BOARD, "walls": [], "actions": ["fly"]}),
    ],
)
def test_a_damaged_link_shows_the_page_anyway(visit, pages, hash):
    page = visit(pages["three"], hash=hash)
    assert page.locator(".card").count() == 3
    page.click("nav [data-view=grid]")
    assert page.locator(".board [aria-label$=wall]").count() == 0


def run_python(page):
    """Run what "Copy as Python" shows and return what it prints, by the first word of a line."""
    page.click("button:has-text('Copy as Python')")
    code = page.inner_text("dialog pre")
    page.click("dialog button:has-text('Close')")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {"__name__": "__main__"})
    return dict(line.split(" ", 1) for line in printed.getvalue().splitlines() if " " in line)


ZEROS = {
    "data": ["blue", "green", "square", "circle"],
    "hypotheses": ["blue square", "blue circle", "green square"],
    "matrix": [[1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0]],
}


@pytest.mark.parametrize(
    "state",
    [
        {"round": 5, "depth": 3, "rationality": 2.5, "prior": [0.4, 0.3, 0.2, 0.1]},
        {"round": 6, "repeats": False, "dataPrior": [1, 2, 3, 4, 4, 3, 2, 1]},
        {"round": 3, "example": "", "table": ZEROS, "literal": "truth"},
        {"round": 4, "choice": "likeliest"},
        {"round": 3, "choice": "you", "picks": [4, 0, 2]},
        {"round": 6, "dataPrior": [1, 0, 3, 4, 4, 3, 2, 0]},
        {"round": 6, "dataPrior": [1, 0, 3, 4, 4, 3, 2, 0], "repeats": False},
    ],
)
def test_the_python_code_gives_the_numbers_of_the_screen(visit, pages, state):
    page = visit(pages["gestures"], hash=link(**state))
    printed = run_python(page)
    found = screen_table(page)
    last = found.groupby("rule").last()
    for title, kind in KINDS:
        for name, value in literal_eval(printed[title]).items():
            assert float(last.loc[kind, name]) == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("view", ["play", "grid"])
def test_the_python_code_of_play_and_grid_gives_their_numbers(visit, pages, view):
    state = {"view": view, "steps": 3, "playShown": 3, "example": "", "table": CLEAR}
    page = visit(pages["three"], hash=link(**state))
    printed = run_python(page)
    last = screen_table(page).groupby("rule").last()
    for title, kind in KINDS:
        for name, value in literal_eval(printed[title]).items():
            assert float(last.loc[kind, name]) == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("repeats", [True, False])
def test_the_python_code_of_compare_gives_its_means_up_to_chance(visit, pages, repeats):
    """Five standard errors of two independent means; the rules differ by more."""
    lessons = 2000
    state = {"view": "compare", "rounds": 3, "lessons": lessons, "repeats": repeats}
    page = visit(pages["three"], hash=link(**state, example="", table=CLEAR))
    wait_for_numbers(page, "compare")
    printed = run_python(page)
    last = screen_table(page).groupby("rule").last()
    for title, kind in KINDS:
        found = literal_eval(printed[title])
        noise = found["std"] * (2 / lessons) ** 0.5
        assert abs(float(last.loc[kind, "mean"]) - found["mean"]) < 5 * noise
        assert float(last.loc[kind, "std"]) == pytest.approx(found["std"], rel=0.2)


def test_the_python_code_of_a_table_makes_the_table(visit, pages):
    page = visit(pages["three"], hash=link(view="table", example="", table=ZEROS))
    page.click("button:has-text('Copy as Python')")
    scope = {}
    exec(page.inner_text("dialog pre"), scope)
    assert scope["model"].to_dict() == cb.Model(**ZEROS).to_dict()


def test_every_figure_can_be_taken_away(visit, pages):
    """As SVG without style sheet, and as PNG of twice the size, from every view."""
    from PIL import Image

    state = {"round": 5, "steps": 3, "lessons": 20, "rounds": 5, "example": "", "table": CLEAR}
    page = visit(pages["three"], hash=link(**state))
    for view in every_view(page):
        assert page.locator("figure:visible").count() > 0 or view == "table"
        for button in page.locator("figure:visible .tools button").all():
            path = download(page, button.click)
            if button.inner_text() == "PNG":
                assert Image.open(io.BytesIO(path.read_bytes())).width > 400
                continue
            text = path.read_text(encoding="utf-8")
            root = ElementTree.fromstring(text)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert "var(" not in text
            assert "class=" not in text


def test_a_notebook_frame_shows_the_page(window, tmp_path):
    file = tmp_path / "notebook.html"
    file.write_text(cb.studio(cb.examples["M_2"])._repr_html_(), encoding="utf-8")
    page = window()
    page.goto(file.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".card").first.wait_for()
    frame.locator("nav [data-view=compare]").click()
    frame.locator(".results [data-rule=SCBI]").wait_for()


@pytest.mark.parametrize("kind", ["round", "lesson"])
def test_live_figures_move_inside_another_page(window, tmp_path, kind):
    from cobayes.browser import live_figure

    file = tmp_path / "report.html"
    file.write_text(f"<h1>Report</h1>{live_figure(kind, cb.examples['M_1'])}", encoding="utf-8")
    page = window()
    page.goto(file.as_uri())
    frame = page.frame_locator("iframe")
    if kind == "round":
        frame.locator(".stage:has-text('Rows to one')").wait_for()
        assert frame.locator(".card").first.is_hidden()
    else:
        frame.locator(".round b:not(:text-is('0'))").wait_for()
        assert frame.locator(".one-round").is_hidden()
    shown = frame.locator("#app").inner_text()
    assert "h₁" in shown
    assert "h_1" not in shown
