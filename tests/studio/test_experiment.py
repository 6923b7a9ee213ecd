"""Experiments: the folder, and whole sessions by a scripted participant in a browser."""

import io
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import cobayes as cb
from cobayes.cli.app import app
from cobayes.studio import write_experiment
from cobayes.studio.bundle import read
from tests.studio.conftest import HERE, find_node, npm_file

GESTURES = cb.examples["gestures"].model
EVIL = '<img src=x onerror="window.evil=1"></script>'


def write(tmp_path, **options):
    return write_experiment({"gestures": GESTURES}, tmp_path / "study", seed=5, **options)


def take_part(chromium, folder, act, *, query="?person=ann", end="button:has-text('Download')"):
    """Run a session; jsPsych comes from npm instead of its network. Returns the CSV."""
    # Only the version that the tests take from npm is answered.
    version = json.loads(npm_file("jspsych/package.json").read_text(encoding="utf-8"))["version"]
    scripts = {
        f"/jspsych@{version}/css/jspsych.css": npm_file("jspsych/css/jspsych.css"),
        f"/jspsych@{version}": npm_file("jspsych/dist/index.browser.min.js"),
    }
    complaints = []
    context = chromium.new_context(accept_downloads=True)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def answer(route):
        name = route.request.url.removeprefix("https://unpkg.com")
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        route.fulfill(path=scripts[name], content_type=kind)

    page.route("https://unpkg.com/**", answer)
    page.goto(folder.joinpath("index.html").as_uri() + query)
    page.click("button:has-text('Continue')")
    act(page)
    page.wait_for_selector(end)
    with page.expect_download() as saved:
        page.click(end)
    text = saved.value.path().read_text(encoding="utf-8")
    context.close()
    assert complaints == []
    return text


def test_without_jspsych_the_page_says_so(chromium, tmp_path):
    page = chromium.new_page()
    page.route("https://unpkg.com/**", lambda route: route.abort())
    page.goto(write(tmp_path).joinpath("index.html").as_uri())
    assert "jsPsych was not loaded" in page.inner_text("body")
    page.close()


def table(text):
    import pandas as pd

    return pd.read_csv(io.StringIO(text), dtype={"person": str, "datum": str})


def test_no_answer_is_a_formula_and_both_readers_undo_the_guard(tmp_path):
    # The person's name comes from the address of the page.
    folder = (Path(cb.__file__).parent / "studio").as_uri()
    script = f"""
        import {{ responseTable }} from "{folder}/experiment/lesson.js";
        import {{ parseTable, toCsv }} from "{folder}/page/tables.js";
        const table = [["datum", "@a", "b"], ["=x", 1, 2], ["-1", 3, 0.5]];
        process.stdout.write(JSON.stringify([
          responseTable([{{ person: '=cmd("x")', datum: "-up", rt: -3 }}], "guess"),
          toCsv(table), parseTable(toCsv(table)).table]));"""
    done = subprocess.run(
        [find_node(), "--input-type=module", "-e", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers, saved, read = json.loads(done.stdout)
    assert answers.splitlines()[1] == '"\'=cmd(""x"")",,,,\'-up,,,-3'
    assert read == {"data": ["=x", "-1"], "hypotheses": ["@a", "b"], "matrix": [[1, 2], [3, 0.5]]}
    (tmp_path / "m.csv").write_text(saved, encoding="utf-8")
    assert cb.read_model(tmp_path / "m.csv").data == ("=x", "-1")


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


def guess_first(num_trials):
    def act(page):
        for _ in range(num_trials):
            page.wait_for_selector(".cobayes-datum")
            page.locator(".cobayes-buttons button").first.click()

    return act


@pytest.mark.slow
def test_a_person_who_learns_by_guessing_gives_a_table_that_can_be_fitted(chromium, tmp_path):
    folder = write(tmp_path, num_rounds=3)
    text = take_part(chromium, folder, guess_first(12))
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
def test_a_person_who_learns_by_rating_is_followed_by_the_teacher(chromium, tmp_path):
    folder = write(tmp_path, num_rounds=2, response="rating")

    def act(page):
        for _ in range(8):
            sliders = page.locator(".cobayes-rating input")
            for k in range(sliders.count()):
                sliders.nth(k).fill(str(10 * (k + 1)))
            page.click(".cobayes-rating button")

    text = take_part(chromium, folder, act)
    fit_by_command(folder, text)
    responses = table(text)
    assert len(responses) == 8 * 4
    sums = responses.groupby(["lesson", "round"])["rating"].sum()
    np.testing.assert_allclose(sums, 1.0)
    family = cb.people.Family(depth=1, response="rating")
    trials = cb.people.fit(responses, str(folder / "problems"), family, intervals=None).trials
    assert len(trials) == 32


@pytest.mark.slow
def test_a_person_who_teaches_gives_choices_that_can_be_fitted(chromium, tmp_path):
    folder = write(tmp_path, num_rounds=3, role="teacher", repeats=False)

    def act(page):
        for _ in range(12):
            page.wait_for_selector(".cobayes-truth")
            page.locator(".cobayes-buttons button").first.click()
            page.wait_for_selector(".cobayes-answer")
            page.click("button:has-text('Continue')")

    text = take_part(chromium, folder, act)
    responses = table(text)
    assert len(responses) == 12
    assert not responses.duplicated(["lesson", "datum"]).any()
    fit = cb.people.fit(
        responses, str(folder / "problems"), cb.people.Family(depth=(0, 1)), intervals=None
    )
    assert np.isfinite(fit.log_likelihood)
    fit_by_command(folder, text)


@pytest.mark.slow
def test_labels_are_never_read_as_html(chromium, tmp_path):
    model = cb.Model([[0.7, 0.2], [0.3, 0.8]], [EVIL, "b"], ["<b>x</b>", "y"])
    folder = write_experiment({"<p>": model}, tmp_path / "study", num_rounds=1, role="teacher")
    seen = []

    def act(page):
        for _ in range(2):
            page.wait_for_selector(".cobayes-truth")
            page.click(f"button:has-text({json.dumps(EVIL)})")
            page.wait_for_selector(".cobayes-answer")
            seen.append(page.locator(".cobayes img, .cobayes b").count())
            page.click("button:has-text('Continue')")
        seen.append(page.evaluate("window.evil === undefined"))

    responses = table(take_part(chromium, folder, act))
    assert seen == [0, 0, True]
    assert list(responses["datum"]) == [EVIL, EVIL]


@pytest.mark.slow
def test_the_demo_shows_what_the_teacher_thinks(chromium, tmp_path):
    folder = write(tmp_path, num_rounds=2)

    def act(page):
        for _ in range(2):
            page.wait_for_selector(".cobayes-bars meter")
            page.locator(".cobayes-buttons button").first.click()
        page.wait_for_selector("button:has-text('Start again')")
        # Nothing is saved in a demonstration: the file is asked for by hand.
        page.evaluate(
            "document.querySelector('button').insertAdjacentHTML('afterend', "
            "'<a download=x.csv href=\"data:text/csv,done\">Download</a>')"
        )

    assert take_part(chromium, folder, act, query="?demo", end="a:has-text('Download')") == "done"


def test_the_folder_says_what_it_is(tmp_path):
    folder = write(tmp_path, role="teacher", rule="pragmatic", depth=2, rationality=3.0)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "pragmatic rule of depth 2 and rationality 3" in readme
    assert "cobayes fit responses.csv --problems problems\n" in readme
    config = (folder / "config.js").read_text(encoding="utf-8")
    assert '"kind": "Pragmatic", "depth": 2, "rationality": 3.0' in config
    assert cb.read_model(folder / "problems" / "gestures.csv") == GESTURES


def test_tasks_are_kept_or_refused(tmp_path):
    """A constraint on what may be shown next reaches the page; nothing is dropped in silence."""
    costs = [[0.0, 1.0, np.inf], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    model = cb.examples["M_2"].model
    problems = {
        "new": cb.without_repeats(model),
        "near": cb.moving_costs(model, costs, weight=2.0),
        "pairs": cb.sets_of(model, 2),
    }
    folder = write_experiment(problems, tmp_path / "study")
    config = (folder / "config.js").read_text(encoding="utf-8")
    found = {
        one["name"]: one for one in json.loads(config.split("problems: ")[1].rpartition(",")[0])
    }
    assert found["new"]["no_repeats"] is True
    assert found["near"]["costs"] == [[0, 2, None], [2, 0, 2], [4, 2, 0]]
    assert found["pairs"]["data"][0] == "d_1 + d_2"
    assert "moving_costs" in (folder / "README.md").read_text(encoding="utf-8")
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
        ({"role": "watcher"}, "no role 'watcher'"),
        ({"rule": "rsa"}, "no rule 'rsa'"),
        ({"response": "shrug"}, "no response 'shrug'"),
        ({"num_rounds": 0}, "at least one"),
        ({"rule": "pragmatic", "rationality": 0.0}, "positive rationality"),
        ({"literal": "words"}, "no literal learner 'words'"),
        ({"prior": [0.5, 0.5]}, "the prior has shape"),
    ],
)
def test_settings_that_make_no_sense_are_refused(tmp_path, options, words):
    with pytest.raises(cb.CobayesError, match=words):
        write(tmp_path, **options)


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
        "prior": [0.5, 0.25, 0.25, 0.0],
        "data_prior": [0.5, *[0.125] * 4, 0.0, 0.0, 0.0],
    }.items():
        assert f"  {name}: {json.dumps(value)},\n" in config
    for words in ("--depth 2", "--rule bi --rationality 2", "--rule bi --data-prior uniform"):
        refused = CliRunner().invoke(app, [*arguments[:3], str(target / "new"), *words.split()])
        assert refused.exit_code != 0
    assert not (target / "new").exists()


def test_the_page_loads_the_jspsych_of_the_tests():
    """One exact version, so that a study that runs today runs tomorrow."""
    page = read("experiment/index.html")
    wanted = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert re.findall(r"jspsych@([\d.]+)", page) == [wanted["jspsych"]] * 2
