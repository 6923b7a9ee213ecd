"""The page in a real browser: every view, its numbers compared with Python's."""

import base64
import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import cobayes as cb
from tests.studio.conftest import npm_file

pytestmark = pytest.mark.slow

EVIL = '<img src=x onerror="window.evil=1">'
VIEWS = ("lesson", "table", "compare", "misjudge", "play", "grid")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(1)
    return {
        "gestures": cb.studio(cb.examples["gestures"]).save(folder / "gestures.html"),
        "three": cb.studio(cb.examples["M_2"]).save(folder / "three.html"),
        "large": cb.studio(rng.random((20, 10)) + 0.01).save(folder / "large.html"),
        "evil": cb.studio(
            cb.Model([[0.7, 0.2, 0.1], [0.3, 0.8, 0.9]], [EVIL, "b"], [EVIL + "x", "y", "z"])
        ).save(folder / "evil.html"),
    }


def link(**state):
    text = base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")
    return f"#{text}"


def show(page, view):
    page.click(f"nav [data-view={view}]")


def shares(page, selector):
    """Return percentages on the page as numbers between 0 and 1."""
    texts = page.locator(selector).all_inner_texts()
    return np.array([float(re.sub("[^0-9.]", "", text)) / 100 for text in texts])


def csv_of(page, click):
    with page.expect_download() as saved:
        click()
    return saved.value.path()


def lesson_table(page):
    import pandas as pd

    path = csv_of(page, lambda: page.click("[aria-label='download the lesson as CSV']"))
    return pd.read_csv(path, dtype={"datum": str}, keep_default_na=False)


def test_the_first_screen_is_moving(visit, pages):
    page = visit(pages["gestures"], motion="no-preference")
    page.wait_for_selector(".round b:text-matches('[1-9]')")
    assert page.locator("[aria-label=pause]").count() == 1
    page.click("[aria-label=pause]")
    assert page.locator("h1").inner_text() == "Watch a belief being taught"


def test_nothing_moves_by_itself_for_those_who_prefer_calm(visit, pages):
    page = visit(pages["gestures"])
    page.wait_for_timeout(1500)
    assert page.inner_text(".round b") == "0"


def test_beliefs_of_a_lesson_are_pythons(visit, pages):
    page = visit(pages["gestures"], hash=link(round=25))
    found = lesson_table(page)
    model = cb.examples["gestures"].model
    for kind in ("BI", "SCBI"):
        rows = found[found["rule"] == kind]
        assert len(rows) == 26
        learner = cb.Learner(getattr(cb, kind)(model))
        for datum, belief in zip(
            rows["datum"], rows[list(model.hypotheses)].to_numpy(), strict=True
        ):
            if datum:
                learner.observe(datum)
            np.testing.assert_allclose(belief.astype(float), learner.belief, rtol=0, atol=1e-10)


def test_the_cards_show_what_the_table_holds(visit, pages):
    page = visit(pages["gestures"], hash=link(round=7))
    found = lesson_table(page)
    last = found[found["round"] == 7]
    shown = shares(page, ".card .number b")
    np.testing.assert_allclose(shown, last["bowl"].to_numpy(dtype=float), atol=6e-4)


def test_steps_back_on_and_to_the_start(visit, pages):
    page = visit(pages["gestures"])
    for _ in range(3):
        page.click("[aria-label='one round on']")
    assert page.inner_text(".round b") == "3"
    page.click("[aria-label='one round back']")
    assert page.inner_text(".round b") == "2"
    page.locator("[aria-label=round]").fill("9")
    assert page.inner_text(".round b") == "9"
    page.click("[aria-label='to the start']")
    assert page.inner_text(".round b") == "0"


def test_the_keyboard_steps_through_a_lesson(visit, pages):
    page = visit(pages["gestures"])
    page.focus(".view.lesson")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text(".round b") == "1"


def test_you_can_be_the_teacher(visit, pages):
    page = visit(pages["gestures"])
    page.click("button:has-text('You pick')")
    page.click(".picker button:has-text('point left')")
    page.click(".picker button:has-text('look left')")
    found = lesson_table(page)
    for kind in ("BI", "SCBI"):
        rows = found[found["rule"] == kind]
        assert list(rows["datum"]) == ["", "point left", "look left"]
        learner = cb.Learner(getattr(cb, kind)(cb.examples["gestures"].model))
        learner.observe("point left")
        learner.observe("look left")
        assert float(rows["bowl"].iloc[-1]) == pytest.approx(learner.belief[1], abs=1e-10)


def test_the_likeliest_datum_is_pythons(visit, pages):
    page = visit(pages["gestures"], hash=link(choice="likeliest", round=4))
    found = lesson_table(page)
    rule = cb.SCBI(cb.examples["gestures"].model)
    belief = np.full(4, 0.25)
    for datum in found[found["rule"] == "SCBI"]["datum"].iloc[1:]:
        chances = rule.teach(belief, "bowl")
        assert rule.model.data[int(np.argmax(chances))] == datum
        belief = rule.update(belief, datum)


def test_why_this_datum_shows_the_teachers_distribution(visit, pages):
    page = visit(pages["gestures"], hash=link(round=1))
    rule = cb.SCBI(cb.examples["gestures"].model)
    expected = np.sort(rule.teach(np.full(4, 0.25), "bowl"))[::-1]
    np.testing.assert_allclose(shares(page, ".why .chance .value"), expected, atol=6e-4)
    assert page.locator(".why .chosen").count() == 1
    page.click(".why button:has-text('Literal')")
    literal = np.sort(cb.BI(rule.model).teach(np.full(4, 0.25), "bowl"))[::-1]
    np.testing.assert_allclose(shares(page, ".why .chance .value"), literal, atol=6e-4)


def test_one_round_ends_at_the_scaled_matrix(visit, pages):
    page = visit(pages["three"], hash=link(frame=13))
    assert "The limit: SCBI" in page.inner_text(".stage")
    model = cb.examples["M_2"].model
    expected = cb.SCBI(model).likelihood(np.full(3, 1 / 3))
    texts = page.locator(".heat .value").all_text_contents()
    np.testing.assert_allclose([float(text) for text in texts], expected.ravel(), rtol=6e-2)
    page.locator("[aria-label=normalisation]").fill("0")
    assert "The table M" in page.inner_text(".stage")


def test_blocks_are_outlined_where_zeros_bind(visit, pages):
    table = {"data": ["a", "b"], "hypotheses": ["x", "y"], "matrix": [[1, 1], [0, 1]]}
    page = visit(pages["three"], hash=link(table=table, frame=13, example=""))
    assert page.locator(".heat .block").count() > 0
    assert "1 positive entry vanishes" in page.inner_text(".one-round figcaption")


def test_the_triangle_has_a_path_for_each_rule(visit, pages):
    page = visit(pages["three"], hash=link(round=5))
    assert page.locator(".triangle .path").count() == 3
    page = visit(pages["evil"])
    assert page.locator(".triangle .path").count() == 3


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
    for wrong, words in (("-1", "negative"), ("abc", "missing"), ("", "missing")):
        cell.fill(wrong)
        assert cell.get_attribute("aria-invalid") == "true"
        assert words in page.inner_text("td:has([aria-label='d_2, h_1']) .cell-note")
        assert words in page.inner_text(".table-view > .message")
    cell.fill("0.5")
    assert cell.get_attribute("aria-invalid") == "false"


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
            cb.rate_of_convergence(model, 0, kind.lower()), rel=6e-3
        )


def test_a_comparison_can_be_cancelled(visit, pages):
    page = visit(pages["large"], hash=link(view="compare", rounds=200, lessons=5000))
    page.click(".compare button:has-text('Cancel')")
    assert page.inner_text(".compare [role=status]") == "cancelled"
    assert page.locator(".results [data-rule=SCBI]").count() == 0


def test_the_success_rate_is_pythons(visit, pages):
    prior = [0.2, 0.5, 0.3]
    page = visit(pages["three"], hash=link(view="misjudge", learnerPrior=prior))
    page.wait_for_selector(".misjudge .soft:has-text('from 2000 lessons')")
    value = float(page.get_attribute(".misjudge .number", "data-value"))
    model, even = cb.examples["M_2"].model, np.full(3, 1 / 3)
    expected = cb.success_rate(model, hypothesis=0, teacher_prior=even, learner_prior=prior, rng=1)
    spread = np.sqrt(expected.value * (1 - expected.value) / 2000)
    assert abs(value - expected.value) < 5 * np.hypot(spread, expected.stderr)
    bounds = cb.stability.success_bounds(even, prior, 0)
    assert f"between {bounds.lower:.3g} and {bounds.upper:.3g}" in page.inner_text(
        ".misjudge .panel"
    )


def test_the_learners_prior_can_be_dragged(visit, pages):
    page = visit(pages["three"], hash=link(view="misjudge", learnerPrior=[0.2, 0.5, 0.3]))
    box = page.locator(".triangle .frame").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.6)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.3, steps=4)
    page.mouse.up()
    typed = float(page.input_value(".misjudge [aria-label='h_1, typed']"))
    assert typed == pytest.approx(0.7, abs=0.03)


def test_a_game_ends_with_what_the_rules_believed(visit, pages):
    page = visit(pages["three"], hash=link(view="play", playSeed=3))
    page.click("button:has-text('Show me another')")
    data = page.locator(".play .chips li").all_inner_texts()
    page.click(".guesses button >> nth=1")
    truth = page.inner_text(".outcome").split("“")[1].split("”")[0]
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
    page.click("button:has-text('Add or remove a goal')")
    page.click("[aria-label='row 1, column 4: free']")
    assert page.locator("[aria-label='row 1, column 4: goal C']").count() == 1
    page.click("button:has-text('Wall')")
    for row, column in ((1, 2), (2, 1)):
        page.click(f"[aria-label='row {row}, column {column}: free']")
    assert "could not be reached" in page.inner_text(".grid-view .message")
    page.focus("[aria-label='row 5, column 1: free']")
    page.keyboard.press("Enter")
    assert page.locator("[aria-label='row 5, column 1: wall']").count() == 1


def test_a_shared_link_gives_the_same_numbers(visit, pages):
    first = visit(pages["three"], hash=link(round=6, truth=1, depth=3, seed=9))
    first.click("button:has-text('Copy link')")
    address = first.evaluate("navigator.clipboard.readText()")
    again = visit(pages["three"], hash="#" + address.split("#")[1])
    assert lesson_table(first).equals(lesson_table(again))
    assert again.inner_text(".round b") == "6"


@pytest.mark.parametrize(
    "hash",
    ["#nonsense", "#" + "A" * 5000, link(round=-5, table=[1], view="x"), link(truth=99), "#W10"],
)
def test_a_damaged_link_shows_the_page_anyway(visit, pages, hash):
    page = visit(pages["three"], hash=hash)
    assert page.locator(".card").count() == 3


def run_python(page):
    """Run what "Copy as Python" shows and return what it prints, by the first word of a line."""
    page.click("button:has-text('Copy as Python')")
    code = page.inner_text("dialog pre")
    page.click("dialog button:has-text('Close')")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, code + done.stderr
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)


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
    ],
)
def test_the_python_code_gives_the_numbers_of_the_screen(visit, pages, state):
    page = visit(pages["gestures"], hash=link(**state))
    printed = run_python(page)
    found = lesson_table(page)
    last = found.groupby("rule").last()
    for title, kind in (("Literal", "BI"), ("Pragmatic", "Pragmatic"), ("Cooperative", "SCBI")):
        for name, value in json.loads(printed[title].replace("'", '"')).items():
            assert float(last.loc[kind, name]) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("view", "repeats"),
    [
        ("table", True),
        ("compare", True),
        ("compare", False),
        ("misjudge", True),
        ("play", True),
        ("grid", True),
    ],
)
def test_the_python_code_of_every_view_runs(visit, pages, view, repeats):
    state = {"view": view, "steps": 3, "rounds": 5, "lessons": 50, "repeats": repeats}
    page = visit(pages["three"], hash=link(**state))
    page.wait_for_timeout(200)
    printed = run_python(page)
    if view == "grid":
        shown = shares(page, ".grid-view .value")
        for title, value in zip(("Literal", "Pragmatic", "Cooperative"), shown, strict=True):
            belief = json.loads(printed[title].replace("'", '"'))
            assert belief["A"] == pytest.approx(value, abs=6e-4)


def test_500_damaged_pastes_give_a_message_and_never_a_blank_page(visit, pages):
    rng = np.random.default_rng(3)
    good = "datum\tcup\tbowl\nlook left\t0.2\t0.1\nlook right\t0.1\t0.3\n"
    signs = [
        *list("\t\n,;\"'<>&%/\\-+.eE0123456789\x00\ufeff\u2028é漢🎲 ="),
        "NaN",
        "1e999",
        "</script>",
    ]
    texts = [
        "",
        " ",
        "\n" * 50,
        "a",
        "1",
        "1\t2",
        "x\ty\n",
        "=1+1\t2\n3\t4",
        good * 200,
        "\t" * 500,
    ]
    while len(texts) < 500:
        text = list(good) if rng.random() < 0.7 else []
        for _ in range(int(rng.integers(1, 12))):
            place = int(rng.integers(len(text) + 1))
            if text and rng.random() < 0.4:
                del text[place : place + int(rng.integers(1, 6))]
            else:
                text.insert(place, str(rng.choice(signs)))
        texts.append("".join(text))
    page = visit(pages["three"], hash=link(view="table"))
    answers = page.evaluate(
        """(texts) => texts.map((text) => {
            const area = document.getElementById("paste");
            area.value = text;
            area.dispatchEvent(new Event("input"));
            const message = document.querySelector(".panel .message");
            return {
                message: message.textContent,
                isBad: message.classList.contains("bad"),
                rows: document.querySelectorAll(".edit tbody tr").length,
            };
        })""",
        texts,
    )
    assert all(answer["message"] and answer["rows"] >= 2 for answer in answers)
    refused = sum(answer["isBad"] for answer in answers)
    assert 100 < refused < 500
    for view in VIEWS:
        show(page, view)
        assert page.locator(".view").count() == 1


def test_figures_can_be_taken_away(visit, pages):
    from PIL import Image

    page = visit(pages["three"], hash=link(round=5))
    drawing = csv_of(page, lambda: page.click("[aria-label='download Belief in the truth as SVG']"))
    text = drawing.read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "var(" not in text
    assert "Cooperative" in text
    picture = csv_of(page, lambda: page.click("[aria-label='download Path of belief as PNG']"))
    assert Image.open(io.BytesIO(picture.read_bytes())).width > 400


def test_labels_are_never_read_as_html(visit, pages):
    page = visit(pages["evil"], hash=link(round=2))
    for view in VIEWS:
        show(page, view)
        page.wait_for_timeout(100)
        assert page.locator("#app img").count() == 0
    assert page.evaluate("window.evil === undefined")
    show(page, "lesson")
    assert EVIL in page.inner_text(".shown >> nth=0")


def test_nothing_is_asked_of_the_network(chromium, pages):
    context = chromium.new_context()
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages["gestures"].as_uri())
    page.wait_for_selector("html[data-ready=true]")
    for view in VIEWS:
        show(page, view)
    page.wait_for_timeout(500)
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_nothing_serious(visit, pages, scheme, width):
    axe = npm_file("axe-core/axe.min.js").read_text(encoding="utf-8")
    page = visit(pages["three"], width=width, scheme=scheme, hash=link(round=4))
    page.evaluate(axe)
    for view in VIEWS:
        show(page, view)
        page.wait_for_timeout(150)
        found = page.evaluate("axe.run({ resultTypes: ['violations'] })")
        serious = [
            (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], view


@pytest.mark.parametrize("width", [1400, 900, 390])
def test_every_view_fits_its_window(visit, pages, width):
    page = visit(pages["gestures"], width=width, hash=link(round=3))
    for view in VIEWS:
        show(page, view)
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view


def test_a_notebook_frame_shows_the_page(chromium, tmp_path):
    file = tmp_path / "notebook.html"
    file.write_text(cb.studio()._repr_html_(), encoding="utf-8")
    context = chromium.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".card").first.wait_for()
    frame.locator("nav [data-view=compare]").click()
    frame.locator(".results [data-rule=SCBI]").wait_for(timeout=60_000)
    context.close()


@pytest.mark.parametrize("kind", ["round", "lesson"])
def test_live_figures_move_inside_another_page(chromium, tmp_path, kind):
    from cobayes.studio import live_figure

    file = tmp_path / "report.html"
    file.write_text(f"<h1>Report</h1>{live_figure(kind, cb.examples['M_1'])}", encoding="utf-8")
    context = chromium.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    frame = page.frame_locator("iframe")
    if kind == "round":
        frame.locator(".stage:has-text('Rows to one')").wait_for(timeout=30_000)
        assert frame.locator(".card").first.is_hidden()
    else:
        frame.locator(".round b:text-is('1')").wait_for(timeout=30_000)
        assert frame.locator(".one-round").is_hidden()
    context.close()
