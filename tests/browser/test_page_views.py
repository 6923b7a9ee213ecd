"""The other views of the page, in a browser: their numbers are compared with Python's."""

import pytest

import cobayes as cb
from tests.browser.screen import link, screen_table, shares, show, typed

pytestmark = pytest.mark.slow


def test_a_pasted_table_is_used(visit, pages):
    page = visit(pages["gestures"])
    show(page, "table")
    page.fill("#paste", "datum\tA\tB\nleft\t1\t0,25\nup\t1\t1\nright\t0,25\t1\n")
    assert "Read 3 data and 2 hypotheses" in page.inner_text(".panel .message")
    assert page.input_value("[aria-label='left, B']") == "0.25"
    show(page, "lesson")
    assert "“A”" in page.inner_text(".card .number")


def test_a_wrong_cell_is_marked_with_its_reason(visit, pages):
    page = visit(pages["three"])
    show(page, "table")
    cell = page.locator("[aria-label='d_2, h_1']")
    for wrong, words in (("-1", "negative"), ("abc", "not a number"), ("", "empty")):
        cell.fill(wrong)
        assert cell.get_attribute("aria-invalid") == "true"
        assert words in page.inner_text("td:has([aria-label='d_2, h_1']) .cell-note")
        assert words in page.inner_text(".grid-holder + .message")
    cell.fill("0.5")
    assert cell.get_attribute("aria-invalid") == "false"
    for column in ("h_1", "h_2", "h_3"):
        page.fill(f"[aria-label='d_2, {column}']", "0")
    assert "all zeros" in page.inner_text("th:has([aria-label='name of datum 2']) .cell-note")
    page.fill("[aria-label='d_2, h_1']", "1/3")
    page.fill("[aria-label='name of hypothesis 3']", "h_1")
    note = page.inner_text("th:has([aria-label='name of hypothesis 3']) .cell-note")
    assert "names must differ" in note
    page.fill("[aria-label='name of hypothesis 3']", "other")
    assert page.locator(".cell-note").count() == 0
    assert screen_table(page)["h_1"].iloc[1] == pytest.approx(1 / 3)


def test_random_tables_repeat_themselves(visit, pages):
    page = visit(pages["three"])
    show(page, "table")
    found = []
    for _ in range(2):
        page.click("button:has-text('Draw the table')")
        found.append([box.input_value() for box in page.locator(".edit tbody input").all()])
    assert found[0] == found[1]
    assert len(found[0]) == 5 * 4


def test_priors_can_be_typed(visit, pages):
    page = visit(pages["three"])
    page.click(".settings .group summary >> nth=0")
    page.fill("[aria-label='h_1, typed']", "0.6")
    page.keyboard.press("Enter")
    assert shares(page, ".card .number b")[0] == pytest.approx(0.6)


def test_data_priors_can_be_set_and_change_the_lesson_as_in_python(visit, pages):
    page = visit(pages["three"], hash=link(round=4))
    show(page, "table")
    page.fill("[aria-label='d_1, typed']", "0")
    page.keyboard.press("Enter")
    show(page, "lesson")
    rows = screen_table(page)
    rows = rows[rows["rule"] == "SCBI"]
    assert "d_1" not in set(rows["datum"])
    learner = cb.Learner(cb.SCBI(cb.examples["M_2"].model, data_prior=[0.0, 0.5, 0.5]))
    for datum in rows["datum"].iloc[1:]:
        learner.observe(datum)
    assert float(rows["h_1"].iloc[-1]) == pytest.approx(learner.belief[0], abs=1e-10)


def test_compare_agrees_with_python_within_its_noise(visit, pages):
    page = visit(pages["three"], hash=link(view="compare", rounds=15, lessons=1000))
    page.wait_for_selector(".results [data-rule=SCBI] td")
    model = cb.examples["M_2"].model
    for kind in ("BI", "SCBI"):
        cells = page.locator(f".results [data-rule={kind}] td").all_inner_texts()
        expected = cb.simulate(getattr(cb, kind)(model), 0, num_rounds=15, num_lessons=4000, rng=1)
        noise = expected.std(0)[-1] / 1000**0.5
        assert abs(float(cells[2]) - expected.mean(0)[-1]) < 5 * noise
        assert float(cells[3]) == pytest.approx(
            cb.rate_of_convergence(getattr(cb, kind)(model), 0), rel=6e-3
        )


def test_a_comparison_can_be_cancelled(visit, pages):
    # Chromium lets a cancelled computation run for two seconds, unless its page is closed.
    state = {"view": "compare", "rounds": 200, "lessons": 5000}
    page = visit(pages["large"], hash=link(**state), is_new=True)
    page.click(".compare button:has-text('Cancel')")
    assert page.inner_text(".compare [role=status]") == "cancelled"
    assert page.locator(".results [data-rule=SCBI]").count() == 0


def test_a_game_ends_with_what_the_rules_believed(visit, pages):
    page = visit(pages["three"], hash=link(view="play", playSeed=3))
    page.click("button:has-text('Show me another')")
    data = map(typed, page.locator(".play .chips li").all_inner_texts())
    page.click(".guesses button >> nth=1")
    truth = typed(page.inner_text(".outcome").split("“")[1].split("”")[0])
    model = cb.examples["M_2"].model
    learner = cb.Learner(cb.SCBI(model))
    for datum in data:
        learner.observe(datum)
    shown = shares(page, ".verdict .value")
    assert shown[2] == pytest.approx(learner.belief[model.hypothesis_index(truth)], abs=6e-4)
    page.click("button:has-text('New game')")
    assert page.locator(".outcome").count() == 0


def test_the_walk_has_pythons_beliefs(visit, pages):
    page = visit(pages["three"], hash=link(view="grid", steps=4, seed=2))
    arrows = page.inner_text(".moves").removeprefix("Moves: ").split()
    names = {"←": "left", "↑": "up", "→": "right", "↓": "down"}
    world = cb.GridWorld(7, 5, (4, 3), {"A": (0, 0), "B": (0, 6)}, 0.3)
    for kind in ("BI", "SCBI"):
        learner = cb.Learner(getattr(cb, kind)(world))
        for arrow in arrows:
            learner.observe(names[arrow])
        shown = shares(page, f".grid-view [data-rule={kind}] .value")
        assert shown[0] == pytest.approx(learner.belief[0], abs=6e-4)


def test_walls_and_goals_can_be_drawn(visit, pages):
    page = visit(pages["three"], hash=link(view="grid"))
    page.click("[aria-label='row 3, column 4: free']")
    assert page.locator("[aria-label='row 3, column 4: wall']").count() == 1
    page.click(".tools-row button:has-text('Goal')")
    page.click("[aria-label='row 1, column 4: free']")
    assert page.locator("[aria-label='row 1, column 4: goal C']").count() == 1
    page.click(".tools-row button:has-text('Wall')")
    for row, column in ((1, 2), (2, 1)):
        page.click(f"[aria-label='row {row}, column {column}: free']")
    assert "would be unreachable" in page.inner_text(".grid-view .message")
    page.focus("[aria-label='row 5, column 1: free']")
    page.keyboard.press("Enter")
    assert page.locator("[aria-label='row 5, column 1: wall']").count() == 1
    # The focus stays on the square, and arrow keys lead to its neighbours.
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label == "row 4, column 2: free"
    page.keyboard.press("Enter")
    assert page.locator("[aria-label='row 4, column 2: wall']").count() == 1
    page.locator("label:has-text('Columns') ~ input").fill("9")
    page.keyboard.press("Tab")
    assert page.locator(".board .square").count() == 45
    page.locator("label:has-text('Columns') ~ input").fill("3")
    page.keyboard.press("Tab")
    assert "outside of the board" in page.inner_text(".grid-view .message")
    # What is drawn is what Python computes with.
    page.click("[aria-label='one step on']")
    walls = [(2, 3), (4, 0), (3, 1)]
    goals = {"A": (0, 0), "B": (0, 6), "C": (0, 3)}
    world = cb.GridWorld(9, 5, (4, 3), goals, 0.3, walls=walls)
    learner = cb.Learner(cb.SCBI(world))
    learner.observe(str(screen_table(page).iloc[-1]["move"]))
    assert float(screen_table(page).iloc[-1]["A"]) == pytest.approx(learner.belief[0], abs=1e-10)
