"""`cobayes reproduce`: the report from the command line."""

import json
import signal
import sqlite3

import pytest

from cobayes.runs import run as execute
from tests import AFTER_CTRL_C, HANGS

# Figure 3 with a few matrices, 9 x 9.
SMALL = [
    f"--set={text}" for text in ("size=9", "num_matrices_exact=40", "num_matrices_simulated=5")
]


def test_reproduce_writes_the_page_and_names_it_on_stdout(run, tmp_path):
    folder = tmp_path / "deep" / "report"
    result = run("reproduce", "worked-example", "--out", folder, "--seed", 5)
    assert result.exit_code == 0
    assert result.stdout.replace("\n", "") == str(folder / "index.html")
    assert (folder / "index.html").is_file()
    assert "[1/1] worked-example: started" in result.stderr
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "cobayes reproduce worked-example --scale quick --seed 5" in page


def test_the_parts_are_listed(run):
    result = run("reproduce", "--list")
    assert result.exit_code == 0
    assert "worked-example" in result.stdout
    assert "lesson" in result.stdout


@pytest.mark.parametrize(("text", "shown"), [("paper", "1"), ("1e-3", "0.001")])
def test_the_scale_is_a_name_or_a_multiple_of_the_papers(run, tmp_path, text, shown):
    some = ("worked-example", "--format", "csv", "--out", tmp_path)
    result = run("reproduce", *some, "--scale", text)
    assert result.exit_code == 0
    assert f"--scale {shown} " in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fig99"], "no part of the report called 'fig99'"),
        (["--scale", "big"], "expected quick, paper or a positive number"),
        (["--scale", "-1"], "expected quick, paper or a positive number"),
        (["--scale", "nan"], "expected quick, paper or a positive number"),
        (["--format", "svg,tiff"], "a format is 'tiff'; expected 'svg', 'png', 'pdf' or 'csv'."),
        (["--set", "radius"], "--set: expected NAME=VALUE, found 'radius'"),
        (["--jobs", "2", "--scheduler", "tcp://nowhere:1"], "both jobs and scheduler"),
    ],
)
def test_bad_requests_are_errors(run, tmp_path, arguments, message):
    result = run("reproduce", *arguments, "--out", tmp_path)
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def num_finished(ledger):
    with sqlite3.connect(ledger) as connection:
        return connection.execute("SELECT count(*) FROM shards WHERE key >= 0").fetchone()[0]


# After three shards the run of figure 3 waits for Ctrl-C.
WAIT_AFTER_THREE = """
import itertools, signal
from cobayes.runs.ledger import Ledger
add, count = Ledger.add, itertools.count(1)
def add_and_wait(ledger, *arguments):
    add(ledger, *arguments)
    if ledger.path.parent.name == "beliefs-exact" and next(count) == 3:
        print("three", flush=True)
        signal.pause()
Ledger.add = add_and_wait
"""


@pytest.mark.slow
def test_ctrl_c_saves_the_shards_and_the_same_command_continues(command, run, tmp_path):
    arguments = (
        "reproduce",
        "figure-3",
        "--out",
        tmp_path,
        "--jobs",
        "1",
        "--format",
        "csv",
        *SMALL,
        "--set",
        "num_matrices_exact=40",
    )
    process = command(*arguments, before=WAIT_AFTER_THREE)
    assert process.stdout.readline() == "three\n"
    ledger = tmp_path / "runs" / "beliefs-exact" / "ledger.sqlite"
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=HANGS)[1]
    assert process.returncode in AFTER_CTRL_C
    assert "interrupted: stopped by Ctrl-C" in rest
    assert "the same command continues the run" in rest
    assert not (tmp_path / "index.html").exists()
    assert 3 <= num_finished(ledger) < 40
    done = sum(map(num_finished, (tmp_path / "runs").glob("*/ledger.sqlite")))
    shown = run("runs", tmp_path)
    assert "beliefs-exact" in shown.stdout
    assert "stopped" in shown.stdout

    again = run(*arguments)
    assert again.exit_code == 0
    assert f": {done}/" in again.stderr
    assert num_finished(ledger) == 40
    assert (tmp_path / "index.html").exists()
    assert "unchanged since it was built" in run(*arguments).stderr


def test_names_separated_by_commas_are_explained(run, tmp_path):
    result = run("reproduce", "4,5", "--out", tmp_path)
    assert result.exit_code == 2
    assert "hint: separate names by spaces: 4 5." in result.stderr


@pytest.mark.slow
def test_another_seed_in_the_same_folder_is_refused_and_fresh_starts_over(run, tmp_path):
    few = (*SMALL, "--set", "num_matrices_exact=2")
    arguments = ("reproduce", "figure-3", "--out", tmp_path, "--jobs", "1", "--format", "csv", *few)
    assert run(*arguments).exit_code == 0
    other = (*arguments, "--seed", "9")
    refused = run(*other)
    assert refused.exit_code == 1
    assert "holds another run: seed is 2020 there and 9 here" in refused.stderr
    assert "--fresh" in refused.stderr
    wider = run(*arguments[:-1], "num_matrices_exact=3")
    assert "holds another run (made with another --scale or --set?): point" in wider.stderr
    again = run(*other, "--fresh")
    assert again.exit_code == 0
    assert ": 0/" in again.stderr


def test_a_parameter_is_changed_shown_in_the_command_and_a_wrong_one_refused(run, tmp_path):
    few = ("--set", "num_rounds=3", "--set", "num_lessons=50")
    result = run("reproduce", "lesson", "--out", tmp_path, "--jobs", "1", "--format", "csv", *few)
    assert result.exit_code == 0
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "--seed 2020 --set num_rounds=3 --set num_lessons=50" in page
    assert "50 lessons of 3 rounds" in page
    wrong = run("reproduce", "lesson", "--out", tmp_path / "other", "--set", "num_round=3")
    assert wrong.exit_code == 2
    assert "lesson has no setting 'num_round'" in wrong.stderr
    assert "num_lessons=10000, num_rounds=12" in wrong.stderr


def test_runs_shows_every_run_though_one_is_damaged(run, tmp_path):
    from tests.runs.experiments import drawing

    for name in ("good", "bad"):
        execute(drawing(2), tmp_path / name, jobs=1)
    one = run("runs", tmp_path / "good")
    assert "scale 2" in one.stdout  # a single run is shown point by point
    (tmp_path / "bad" / "ledger.sqlite").write_text("no ledger")
    shown = run("runs", tmp_path)
    assert "4/4 shards" in shown.stdout
    assert str(tmp_path / "bad") in shown.stdout
    found = json.loads(run("runs", tmp_path, "--json").stdout)
    good, bad = sorted(found, key=lambda one: "error" in one)
    assert good["status"] == "complete"
    assert bad["folder"] == str(tmp_path / "bad")
