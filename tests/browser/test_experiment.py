"""Experiments: the folder, and whole sessions by a scripted participant in a browser."""

import io
import json
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import cobayes as cb
from cobayes.browser import write_experiment
from cobayes.browser.bundle import read
from cobayes.cli.app import app
from tests import HANGS
from tests.browser.conftest import HERE, find_node, npm_file

GESTURES = cb.examples["gestures"].model
EVIL = '<img src=x onerror="window.evil=1"></script>'


def write(tmp_path, **options):
    return write_experiment({"gestures": GESTURES}, tmp_path / "study", **{"seed": 5, **options})


@contextmanager
def session(window, folder, query="?person=ann", width=1000, height=800):
    """Open an experiment; jsPsych comes from npm instead of its network."""
    # Only the version that the tests take from npm is answered.
    version = json.loads(npm_file("jspsych/package.json").read_text(encoding="utf-8"))["version"]
    scripts = {
        f"/jspsych@{version}/css/jspsych.css": npm_file("jspsych/css/jspsych.css"),
        f"/jspsych@{version}": npm_file("jspsych/dist/index.browser.min.js"),
    }
    complaints = []
    viewport = {"width": width, "height": height}
    page = window(accept_downloads=True, viewport=viewport)
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def answer(route):
        name = route.request.url.removeprefix("https://unpkg.com")
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        route.fulfill(path=scripts[name], content_type=kind)

    page.route("https://unpkg.com/**", answer)
    page.goto(folder.joinpath("index.html").as_uri() + query)
    yield page
    assert complaints == []


def take_part(window, folder, act):
    """Run a whole session and return the CSV that the person downloads."""
    with session(window, folder) as page:
        page.click("button:has-text('Continue')")
        act(page)
        with page.expect_download() as saved:
            page.click("button:has-text('Download')")
        text = saved.value.path().read_text(encoding="utf-8")
        for _ in range(2):  # the last page stays
            assert "Saved as responses-ann.csv." in page.inner_text(".cobayes-text")
            with page.expect_download() as saved:
                page.click("button:has-text('Download again')")
            assert saved.value.path().read_text(encoding="utf-8") == text
        return text


def test_without_jspsych_the_page_says_so(window, tmp_path):
    page = window()
    page.route("https://unpkg.com/**", lambda route: route.abort())
    page.goto(write(tmp_path).joinpath("index.html").as_uri())
    assert "jsPsych was not loaded" in page.inner_text("body")


def table(text):
    import pandas as pd

    return pd.read_csv(io.StringIO(text), dtype={"person": str, "datum": str})


def run_node(script):
    """Run a JavaScript module and return the JSON that it writes."""
    command = [find_node(), "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=True)
    return json.loads(done.stdout)


def test_no_answer_is_a_formula_and_both_readers_undo_the_guard(tmp_path):
    # The person's name comes from the address of the page.
    folder = (Path(cb.__file__).parent / "browser").as_uri()
    script = f"""
        import {{ responseRows }} from "{folder}/experiment/lesson.js";
        import {{ parseTable, toCsv }} from "{folder}/page/tables.js";
        const table = [["datum", "@a", "b"], ["'=x", 1, 2], ["-1", 3, 0.5]];
        process.stdout.write(JSON.stringify([
          toCsv(responseRows([{{ person: '=cmd("x")', datum: "-up", rt: -3 }}], "guess")),
          toCsv(table), parseTable(toCsv(table)).table]));"""
    answers, saved, read = run_node(script)
    assert answers.splitlines()[1] == '"\'=cmd(""x"")",,,,\'-up,,,-3'
    assert read == {"data": ["'=x", "-1"], "hypotheses": ["@a", "b"], "matrix": [[1, 2], [3, 0.5]]}
    (tmp_path / "m.csv").write_text(saved, encoding="utf-8")
    assert cb.read_model(tmp_path / "m.csv").data == ("'=x", "-1")


def test_an_error_in_a_pasted_table_names_the_line_and_the_column_of_the_text():
    folder = (Path(cb.__file__).parent / "browser").as_uri()
    script = f"""
        import {{ parseTable }} from "{folder}/page/tables.js";
        const texts = ["datum,A,B\\nx,1,z", "1,2\\n3", "1,2\\n3,z", "1,2\\n3,0x10/2",
          "d;A;B\\n\\nx;1;0,25\\n\\ny;1,200;1"];
        process.stdout.write(JSON.stringify(texts.map((text) => parseTable(text).message)));"""
    assert run_node(script) == [
        "“z” in line 2, column 3 is not a number.",
        "Line 2: found 1 of 2 numbers.",
        "“z” in line 2, column 2 is not a number.",
        "“0x10/2” in line 2, column 2 is not a number.",
        "“1,200” in line 5, column 2 is not a number.",
    ]


def test_a_table_that_a_link_could_not_keep_is_refused():
    folder = (Path(cb.__file__).parent / "browser").as_uri()
    script = f"""
        import {{ parseTable, problems }} from "{folder}/page/tables.js";
        const rows = (n, m) => Array(n).fill(Array(m).fill(1).join(",")).join("\\n");
        const names = {{ data: Array(201).fill("d"), hypotheses: ["a", "b"] }};
        const drawn = {{ ...names, matrix: Array(201).fill([1, 2]) }};
        const named = "h,".repeat(60) + "h\\n" + rows(200, 61);
        const texts = [rows(201, 2), rows(2, 61), named, rows(200, 60)];
        process.stdout.write(JSON.stringify(
          [...texts.map((text) => parseTable(text).message), problems(drawn)[0].message]));"""
    *refused, accepted, drawn = run_node(script)
    limit = "At most 200 data (rows) and 60 hypotheses (columns) are allowed here."
    assert set(refused) | {drawn} == {f"{limit} Use Python for larger tables."}
    assert "At most" not in accepted


def fit_by_command(folder, text):
    """Fit a CSV by the command that the folder's README names, with few depths to save time."""
    readme = (folder / "README.md").read_text(encoding="utf-8")
    command = re.search(r"^    cobayes (fit .*)$", readme, re.MULTILINE)[1].split()
    (folder / "responses.csv").write_text(text, encoding="utf-8")
    places = {"responses.csv": folder / "responses.csv", "problems": folder / "problems"}
    arguments = [str(places.get(part, part)) for part in command]
    extra = ["--depth", "0,1", "--no-loo", "--out", str(folder / "fitted")]
    found = CliRunner().invoke(app, [*arguments, *extra])
    assert found.exit_code == 0, found.output
    assert "ann" in "".join(
        path.read_text(encoding="utf-8") for path in (folder / "fitted").glob("*.csv")
    )


def start_lesson(page, number):
    """Leave the page that announces a lesson; the first lesson has none."""
    if number > 0:
        assert f"Lesson {number + 1} of" in page.inner_text(".cobayes-text")
        page.click("button:has-text('Continue')")


def guess_first(num_lessons, num_rounds):
    def act(page):
        for number in range(num_lessons):
            start_lesson(page, number)
            for k in range(num_rounds):
                page.wait_for_selector(f".cobayes-head:has-text('example {k + 1} of')")
                page.locator(".cobayes-choices button").first.click()

    return act


@pytest.mark.slow
def test_a_person_who_learns_by_guessing_gives_a_table_that_can_be_fitted(window, tmp_path):
    folder = write(tmp_path, num_rounds=3)
    text = take_part(window, folder, guess_first(4, 3))
    fit_by_command(folder, text)
    responses = table(text)
    assert len(responses) == 12
    assert list(responses["round"]) == [1, 2, 3] * 4
    assert set(responses["person"]) == {"ann"}
    assert set(responses["guess"]) <= set(GESTURES.hypotheses)
    assert sorted(responses["truth"].unique()) == sorted(GESTURES.hypotheses)
    family = cb.people.Family(depth=(0, 1), response="guess")
    fit = cb.people.fit(responses, str(folder / "problems"), family, intervals=None)
    assert len(fit.trials) == 12


@pytest.mark.slow
def test_a_person_who_learns_by_rating_is_followed_by_the_teacher(window, tmp_path):
    folder = write(tmp_path, num_rounds=2, response="rating")

    def act(page):
        for number in range(4):
            start_lesson(page, number)
            for k in range(2):
                page.wait_for_selector(f".cobayes-head:has-text('example {k + 1} of')")
                sliders = page.locator(".cobayes-rating input")
                for j in range(sliders.count()):
                    assert page.locator(".cobayes-rating button").is_disabled()
                    sliders.nth(j).fill(str(10 * (j + 1)))
                page.click(".cobayes-rating button")

    text = take_part(window, folder, act)
    fit_by_command(folder, text)
    responses = table(text)
    assert len(responses) == 8 * 4
    sums = responses.groupby(["lesson", "round"])["rating"].sum()
    np.testing.assert_allclose(sums, 1.0)
    family = cb.people.Family(depth=1, response="rating")
    trials = cb.people.fit(responses, str(folder / "problems"), family, intervals=None).trials
    assert len(trials) == 32


@pytest.mark.slow
def test_a_person_who_teaches_gives_choices_that_can_be_fitted(window, tmp_path):
    folder = write(tmp_path, num_rounds=3, role="teacher", repeats=False)

    def act(page):
        for number in range(4):
            start_lesson(page, number)
            for k in range(3):
                page.wait_for_selector(f".cobayes-head:has-text('example {k + 1} of')")
                assert page.locator(".cobayes-place:disabled").count() == k
                page.locator(".cobayes-place:enabled").first.click()
                page.wait_for_selector(".cobayes-answer")
                page.click("button:has-text('Continue')")

    text = take_part(window, folder, act)
    responses = table(text)
    assert len(responses) == 12
    assert not responses.duplicated(["lesson", "datum"]).any()
    fit = cb.people.fit(
        responses, str(folder / "problems"), cb.people.Family(depth=(0, 1)), intervals=None
    )
    assert np.isfinite(fit.log_likelihood)
    fit_by_command(folder, text)


@pytest.mark.slow
def test_a_seed_gives_every_person_the_same_lessons_in_the_same_order(window, tmp_path):
    write_experiment({"large": np.eye(9) + 1}, tmp_path / "study", seed=5)
    orders = []
    for _ in range(2):
        with session(window, tmp_path / "study") as page:
            script = "all.map((one) => [one.truth, one.hypothesisOrder])"
            orders.append(page.evaluate(script))
    assert orders[0] == orders[1]
    assert len({truth for truth, _ in orders[0]}) == 9


@pytest.mark.slow
def test_labels_are_never_read_as_html(window, tmp_path):
    model = cb.Model([[0.7, 0.2], [0.3, 0.8]], [EVIL, "b"], ["<b>x</b>", "y"])
    folder = write_experiment({"<p>": model}, tmp_path / "study", num_rounds=1, role="teacher")
    seen = []

    def act(page):
        for number in range(2):
            start_lesson(page, number)
            page.click(f"button:has-text({json.dumps(EVIL)})")
            page.wait_for_selector(".cobayes-answer")
            seen.append(page.locator(".cobayes img, .cobayes-card b").count())
            page.click("button:has-text('Continue')")
        seen.append(page.evaluate("window.evil === undefined"))

    responses = table(take_part(window, folder, act))
    assert seen == [0, 0, True]
    assert list(responses["datum"]) == [EVIL, EVIL]


@pytest.mark.slow
def test_the_demo_explains_itself_and_saves_nothing(window, tmp_path):
    folder = write(tmp_path, num_rounds=2)
    with session(window, folder, "?demo") as page:
        assert "nothing is saved" in page.inner_text(".cobayes-text")
        page.click("button:has-text('Continue')")
        assert "You are the learner" in page.inner_text(".cobayes-text")
        page.click("button:has-text('Continue')")
        for _ in range(2):
            assert "the teacher's estimate of your belief" in page.inner_text(".cobayes-inside")
            assert page.locator(".cobayes-inside meter").count() == 4
            assert "Lesson 1 of 1" in page.inner_text(".cobayes-head")
            page.locator(".cobayes-choices button").first.click()
        assert "The right answer was" in page.inner_text(".cobayes-text")
        assert page.evaluate("jsPsych.progressBar.progress") == 1
        assert page.locator(".cobayes-table tbody td").first.inner_text() == "demo"
        assert page.locator(".cobayes-table tbody tr").count() == 2
        page.click("button:has-text('Start again')")
        page.wait_for_selector(".cobayes-text:has-text('nothing is saved')")


@pytest.mark.slow
def test_the_demo_shows_a_teacher_the_belief_of_a_learner_that_says_nothing(window, tmp_path):
    config = write(tmp_path, num_rounds=2, role="teacher") / "config.js"
    text = config.read_text(encoding="utf-8").replace('feedback: "guess"', 'feedback: "nothing"')
    config.write_text(text, encoding="utf-8")
    with session(window, config.parent, "?demo") as page:
        for _ in range(2):
            page.click("button:has-text('Continue')")
        for _ in range(2):
            assert "the learner's belief" in page.inner_text(".cobayes-inside")
            page.locator(".cobayes-place").first.click()
        assert "You taught" in page.inner_text(".cobayes-text")


SQUARES = [f"r{row}c{column}" for row in (1, 2) for column in (1, 2, 3)]
BOARD = cb.Model([[1, 1], [1, 0], [1, 0], [0, 1], [1, 1], [0, 1]], SQUARES, ["A", "B"])
PIXEL = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/%3E"


def write_board(tmp_path, **options):
    """An experiment on a board of 2 x 3 squares with pictures for the hypotheses."""
    (tmp_path / "b.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    (tmp_path / "stimuli.csv").write_text(
        f'label,text,image,alt\nA,,"{PIXEL}",upper left corner\nB,<i>lower</i>,b.svg,\n'
        "r1c1,,,first square\n",
        encoding="utf-8",
    )
    problems = {"board": BOARD}
    options = {"stimuli": tmp_path / "stimuli.csv", "grid": (2, 3), "num_rounds": 2} | options
    return write_experiment(problems, tmp_path / "study", seed=5, repeats=False, **options)


@pytest.mark.slow
def test_a_teacher_sees_all_hypotheses_and_data_in_their_places(window, tmp_path):
    with session(window, write_board(tmp_path, role="teacher")) as page:
        page.click("button:has-text('Continue')")
        assert "You are the teacher" in page.inner_text(".cobayes-head")
        assert page.locator(".cobayes-candidates li").count() == 2
        assert page.locator(".cobayes-truth").count() == 1
        pictures = {image.get_attribute("alt") for image in page.locator(".cobayes img").all()}
        assert pictures == {"upper left corner", ""}
        assert page.get_by_text("<i>lower</i>").count() == 1  # text is never HTML
        # A picture from the folder is there, and shown.
        sources = [image.get_attribute("src") for image in page.locator(".cobayes img").all()]
        assert sorted(source[:4] for source in sources) == ["data", "imag"]
        labels = [one.get_attribute("aria-label") for one in page.locator(".cobayes-place").all()]
        assert labels == ["first square", *SQUARES[1:]]
        boxes = [one.bounding_box() for one in page.locator(".cobayes-place").all()]
        assert boxes[0]["y"] == boxes[2]["y"] < boxes[3]["y"]
        assert boxes[0]["x"] == boxes[3]["x"] < boxes[1]["x"]
        page.click("[aria-label=r2c2]")
        assert "The learner guesses" in page.inner_text(".cobayes-answer")
        page.click("button:has-text('Continue')")
        used = page.locator("[aria-label='r2c2, shown in round 1']")
        assert used.is_disabled()
        assert used.bounding_box()["x"] == boxes[4]["x"]


@pytest.mark.slow
def test_a_learner_sees_the_board_and_the_pictures(window, tmp_path):
    with session(window, write_board(tmp_path)) as page:
        page.click("button:has-text('Continue')")
        assert page.locator(".cobayes-grid .now").count() == 1
        assert page.locator(".cobayes-choices button img").count() == 2
        names = {
            one.get_attribute("aria-label") for one in page.locator(".cobayes-choices button").all()
        }
        assert names == {"upper left corner", "<i>lower</i>"}


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 390])
def test_a_few_words_fit_into_a_square(window, tmp_path, width):
    stimuli = [{"label": square, "text": "seen at the meadow"} for square in SQUARES]
    folder = write_board(tmp_path, role="teacher", stimuli=stimuli)
    with session(window, folder, width=width) as page:
        page.click("button:has-text('Continue')")
        page.locator(".cobayes-place").first.click()
        page.wait_for_selector(".cobayes-rounds")
        places = [one.bounding_box() for one in page.locator(".cobayes-place").all()]
        assert all(abs(box["width"] - box["height"]) < 1 for box in places)
        text = page.locator(".now .cobayes-card span").bounding_box()
        mark = page.locator(".now .cobayes-rounds").bounding_box()
        assert mark["y"] + mark["height"] <= text["y"] + 2  # the number is above the words
        assert text["height"] < 40  # two lines: no word is broken


@pytest.mark.slow
def test_sliders_must_be_touched_and_not_all_be_zero(window, tmp_path):
    with session(window, write(tmp_path, num_rounds=1, response="rating")) as page:
        page.click("button:has-text('Continue')")
        submit, hint = page.locator(".cobayes-rating button"), page.locator(".cobayes-hint")
        sliders = page.locator(".cobayes-rating input")
        assert "Still to do: 4" in hint.inner_text()
        sliders.nth(0).click()  # a click leaves it in the middle
        assert "Still to do: 3" in hint.inner_text()
        for k in range(4):
            sliders.nth(k).fill("0")
        assert submit.is_disabled()
        assert "away from the left end" in hint.inner_text()
        sliders.nth(2).fill("40")
        assert submit.is_enabled()
        assert hint.inner_text() == ""


SIX_BY_SIX = cb.Model(np.ones((36, 2)) + np.eye(36, 2), hypotheses=["A", "B"])


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
@pytest.mark.parametrize("options", [{"role": "teacher"}, {"response": "rating"}])
def test_the_feedback_and_the_button_are_seen_without_scrolling(
    window, tmp_path, options, width, height
):
    picture = (
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='90' height='90'/%3E"
    )
    stimuli = [{"label": label, "image": picture} for label in "AB"]
    options = {"stimuli": stimuli, "grid": (6, 6), "num_rounds": 1, **options}
    folder = write_experiment({"board": SIX_BY_SIX}, tmp_path / "study", seed=5, **options)
    with session(window, folder, width=width, height=height) as page:
        page.click("button:has-text('Continue')")
        seen = [".jspsych-btn"]
        if "role" in options:
            page.locator(".cobayes-place").first.click()
            seen = [".jspsych-btn", ".cobayes-answer"]
        else:
            card = page.locator(".cobayes-slider .cobayes-card").first
            assert card.evaluate("card => getComputedStyle(card).borderStyle") == "solid"
        for selector in seen:
            box = page.locator(selector).bounding_box()
            assert box["y"] + box["height"] <= height
        if width == 1400:
            board = page.locator(".cobayes-grid").bounding_box()
            other = page.locator(".cobayes-answer, .cobayes-rating").bounding_box()
            assert other["x"] >= board["x"] + board["width"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("options", [{"role": "teacher"}, {}, {"response": "rating"}])
def test_every_screen_fits_its_window_and_axe_finds_nothing_serious(
    window, tmp_path, options, width
):
    axe = npm_file("axe-core/axe.min.js").read_text(encoding="utf-8")
    with session(window, write_board(tmp_path, **options), "?demo", width=width) as page:
        page.evaluate(axe)
        for _ in range(20):
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            found = page.evaluate("axe.run('.cobayes', { resultTypes: ['violations'] })")
            serious = [
                (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
                for one in found["violations"]
                if one["impact"] in ("serious", "critical")
            ]
            assert serious == []
            if page.locator("button:has-text('Start again')").count():
                ending = "You taught" if "role" in options else "The right answer was"
                assert ending in page.inner_text(".cobayes-text")
                return
            for slider in page.locator(".cobayes-rating input").all():
                slider.fill("70")
            page.locator(".cobayes button:enabled").first.click()
    pytest.fail("the demonstration did not end")


def test_the_folder_says_what_it_is(tmp_path):
    options = {"rule": "pragmatic", "depth": 2, "rationality": 3.0, "seed": np.int64(7)}
    folder = write(tmp_path, role="teacher", **options)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "pragmatic rule of depth 2 and rationality 3" in readme
    assert "cobayes fit responses.csv --problems problems --response choice\n" in readme
    config = (folder / "config.js").read_text(encoding="utf-8")
    assert '"kind": "Pragmatic", "depth": 2, "rationality": 3.0' in config
    assert "  seed: 7,\n" in config
    assert cb.read_model(folder / "problems" / "gestures.csv") == GESTURES


def test_a_partner_of_infinite_depth_follows_scbi(tmp_path):
    folder = write(tmp_path, rule="pragmatic", depth=np.inf)
    assert 'rule: {"kind": "SCBI"}' in (folder / "config.js").read_text(encoding="utf-8")


def problems_of(folder):
    """Return the problems of an experiment by name."""
    config = (folder / "config.js").read_text(encoding="utf-8")
    problems = json.loads(config.split("problems: ")[1].rpartition(",")[0])
    return {problem["name"]: problem for problem in problems}


def test_tasks_are_kept_or_refused(tmp_path):
    """A constraint on what may be shown next reaches the page; nothing is dropped in silence."""
    costs = [[0.0, 1.0, np.inf], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    model = cb.examples["M_2"].model
    problems = {
        "new": cb.without_repeats(model),
        "near": cb.moving_costs(model, costs, weight=2.0),
        "free": cb.moving_costs(model, costs, weight=0.0),
        "pairs": cb.sets_of(model, 2),
    }
    folder = write_experiment(problems, tmp_path / "study")
    found = problems_of(folder)
    assert found["new"]["no_repeats"] is True
    assert found["near"]["costs"] == [[0, 2, None], [2, 0, 2], [4, 2, 0]]
    assert "costs" not in found["free"]
    assert found["pairs"]["data"][0] == "d_1 + d_2"
    with pytest.raises(cb.CobayesError, match="whose table changes"):
        write_experiment({"board": cb.GridWorld.paper()}, tmp_path / "other")


def test_the_readme_tells_the_fit_that_nothing_was_repeated(tmp_path):
    for name, problem, repeats in (
        ("a", GESTURES, False),
        ("b", cb.without_repeats(GESTURES), True),
    ):
        folder = write_experiment({"x": problem}, tmp_path / name, repeats=repeats)
        readme = (folder / "README.md").read_text(encoding="utf-8")
        assert "--problems problems --response guess --no-repeats" in readme
        assert "import cobayes" not in readme


@pytest.mark.parametrize("task", [cb.without_repeats, lambda m: cb.moving_costs(m, np.eye(8))])
def test_the_readme_tells_how_to_fit_constraints_of_some_problems(tmp_path, task):
    folder = write_experiment({"a": GESTURES, "b": task(GESTURES)}, tmp_path / "study")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "--no-repeats" not in readme
    assert 'cb.people.fit("responses.csv", problems, cb.people.Family(response="guess"))' in readme


def test_nothing_is_sent_anywhere_by_default(tmp_path):
    folder = write(tmp_path)
    for name in ("experiment.js", "plugin-cobayes.js"):
        text = (folder / name).read_text(encoding="utf-8")
        assert re.search(r"\bfetch\(|XMLHttpRequest|sendBeacon|WebSocket|innerHTML", text) is None
    assert "save: null" in (folder / "config.js").read_text(encoding="utf-8")


def test_what_is_there_is_not_overwritten(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "data.csv").write_text("precious")
    with pytest.raises(cb.CobayesError, match="not empty"):
        write(tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"role": "watcher"}, "role is 'watcher'"),
        ({"rule": "rsa"}, "rule is 'rsa'"),
        ({"response": "shrug"}, "response is 'shrug'"),
        ({"num_rounds": 0}, "num_rounds is 0; expected an integer >= 1"),
        ({"rule": "pragmatic", "rationality": 0.0}, "rationality is 0.0; expected a number"),
        ({"rule": "pragmatic", "depth": np.inf, "rationality": 2.0}, "rationality"),
        ({"literal": "words"}, "literal is 'words'"),
        ({"prior": [0.5, 0.5]}, "the prior of problem 'gestures' has shape"),
        ({"prior": {"gesture": [0.25] * 4}}, "the priors name problem 'gesture', but no table"),
        ({"data_prior": {"gesture": None}}, "the data priors name problem 'gesture'"),
        ({"seed": -1}, "seed is -1; expected an integer >= 0"),
        ({"seed": 2**52 + 1}, f"seed is {2**52 + 1}; expected an integer from 0 to"),
        ({"seed": 1.5}, "seed is 1.5; expected an integer"),
        ({"seed": "abc"}, "seed is 'abc'; expected an integer"),
    ],
)
def test_settings_that_make_no_sense_are_refused(tmp_path, options, words):
    with pytest.raises(cb.CobayesError, match=words):
        write(tmp_path, **options)


def test_stimuli_and_grids_reach_the_page(tmp_path):
    folder = write_board(tmp_path)
    [problem] = problems_of(folder).values()
    assert problem["grid"] == [2, 3]
    assert problem["stimuli"] == {
        "A": {"text": "", "alt": "upper left corner", "image": PIXEL},
        "B": {"text": "<i>lower</i>", "alt": "B", "image": "images/1.svg"},
        "r1c1": {"text": "", "alt": "first square"},
    }
    assert (folder / "images" / "1.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_labels_that_are_names_of_javascript_are_shown_as_they_are():
    folder = (Path(cb.__file__).parent / "browser").as_uri()
    script = f"""
        globalThis.document = {{ createElement: () => ({{ append(...all) {{ this.text = all; }},
          setAttribute() {{}} }}) }};
        const {{ card }} = await import("{folder}/experiment/screen.js");
        const shown = ["constructor", "toString"].map(
          (label) => card({{ stimuli: {{}} }}, label).text[0].text[0]);
        process.stdout.write(JSON.stringify(shown));"""
    assert run_node(script) == ["constructor", "toString"]


def test_stimuli_with_semicolons_are_read(tmp_path):
    (tmp_path / "s.csv").write_text("label;text\nA;all, or none\n", encoding="utf-8")
    folder = write_experiment({"one": BOARD}, tmp_path / "study", stimuli=tmp_path / "s.csv")
    [problem] = problems_of(folder).values()
    assert problem["stimuli"] == {"A": {"text": "all, or none", "alt": "A"}}


def test_stimuli_can_differ_between_problems(tmp_path):
    rows = [{"label": "A", "text": "all"}, {"label": "A", "text": "second", "problem": "two"}]
    folder = write_experiment({"one": BOARD, "two": BOARD}, tmp_path / "study", stimuli=rows)
    texts = [problem["stimuli"]["A"]["text"] for problem in problems_of(folder).values()]
    assert texts == ["all", "second"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stimuli": [{"label": "C", "text": "x"}]}, "the stimuli contain 'C'"),
        (
            {"stimuli": [{"label": "A", "problem": "x"}]},
            "name problem 'x', but no table",
        ),
        ({"stimuli": [{"text": "x"}]}, "no label"),
        ({"stimuli": [{"label": "A", "picture": "x.png"}]}, "the unknown column 'picture'"),
        ({"stimuli": [{"label": "A", "image": "https://x.test/a.png"}]}, "is not an image file in"),
        ({"stimuli": [{"label": "A", "image": "nowhere.png"}]}, "is not an image file in"),
        ({"stimuli": "nowhere.csv"}, "there is no file"),
        ({"grid": (2, 2)}, "2 x 2 does not fit problem 'board', which has 6 data"),
    ],
)
def test_stimuli_and_grids_that_do_not_fit_are_refused(tmp_path, options, words):
    with pytest.raises(cb.CobayesError, match=words):
        write_experiment({"board": BOARD}, tmp_path / "study", **options)
    assert not (tmp_path / "study").exists()


def test_a_prior_by_label_is_resolved_in_every_table(tmp_path):
    """Columns in another order get the same belief in the same hypothesis."""
    (tmp_path / "ab.csv").write_text("datum,A,B\nx,1,2\ny,3,1\n", encoding="utf-8")
    (tmp_path / "ba.csv").write_text("datum,B,A\ny,1,3\nx,2,1\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("ab.csv", "ba.csv")]
    words = ["--prior", "A=0.2,B=0.8", "--data-prior", "x=0.3,y=0.7", "--out"]
    done = CliRunner().invoke(app, ["experiment", *files, *words, str(tmp_path / "study")])
    assert done.exit_code == 0, done.output
    found = problems_of(tmp_path / "study")
    assert [found[name]["prior"] for name in ("ab", "ba")] == [[0.2, 0.8], [0.8, 0.2]]
    assert [found[name]["data_prior"] for name in ("ab", "ba")] == [[0.3, 0.7], [0.7, 0.3]]
    models = {name: cb.read_model(file) for name, file in zip(("ab", "ba"), files, strict=True)}
    folder = write_experiment(models, tmp_path / "other", prior={"A": 0.2, "B": 0.8})
    assert [one["prior"] for one in problems_of(folder).values()] == [[0.2, 0.8], [0.8, 0.2]]


def test_the_command_takes_stimuli_and_a_grid(tmp_path):
    (tmp_path / "m.csv").write_text("datum,A,B\nx,1,2\ny,3,1\n", encoding="utf-8")
    (tmp_path / "s.csv").write_text("label,text\nA,the first\n", encoding="utf-8")
    files = [str(tmp_path / "m.csv"), "--stimuli", str(tmp_path / "s.csv")]
    for grid, code in (("1x2", 0), ("1", 2), ("2x2", 2)):
        target = ["--grid", grid, "--out", str(tmp_path / f"study-{grid}")]
        assert CliRunner().invoke(app, ["experiment", *files, *target]).exit_code == code
    [problem] = problems_of(tmp_path / "study-1x2").values()
    assert problem["grid"] == [1, 2]
    assert problem["stimuli"]["A"]["text"] == "the first"


def test_the_command_writes_the_folder(tmp_path):
    target = tmp_path / "study"
    words = (
        "--role teacher --rule pragmatic --depth 2 --rationality 3 --literal truth --no-repeats "
        "--prior cup=0.5,bowl=0.25,book=0.25,lamp=0 --data-prior 0.5,0.125,0.125,0.125,0.125,0,0,0"
    )
    arguments = ["experiment", "example:gestures", "--out", str(target), *words.split()]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    config = (target / "config.js").read_text(encoding="utf-8")
    rule = {"kind": "Pragmatic", "depth": 2, "rationality": 3.0, "literal": "truth"}
    for name, value in {
        "role": "teacher",
        "rule": rule,
        "no_repeats": True,
    }.items():
        assert f"  {name}: {json.dumps(value)},\n" in config
    [problem] = problems_of(target).values()
    assert problem["prior"] == [0.5, 0.25, 0.25, 0.0]
    assert problem["data_prior"] == [0.5, *[0.125] * 4, 0.0, 0.0, 0.0]
    for words in ("--depth 2", "--rule bi --rationality 2", "--rule bi --data-prior uniform"):
        refused = CliRunner().invoke(app, [*arguments[:3], str(target / "new"), *words.split()])
        assert refused.exit_code != 0
    assert not (target / "new").exists()


def test_the_page_loads_the_jspsych_of_the_tests():
    """One exact version, so that a study that runs today runs tomorrow."""
    page = read("experiment/index.html")
    wanted = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert re.findall(r"jspsych@([\d.]+)", page) == [wanted["jspsych"]] * 2
