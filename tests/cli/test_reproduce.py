"""`cobayes reproduce`: the report from the command line."""

import signal
import sqlite3
import time

import pytest

from cobayes.paper import belief_experiments

# Figure 3 in small: a few matrices, 9 x 9. The plan is made in the command's own process.
SMALL = """
import cobayes.paper.belief_experiments as experiments
experiments.SIZE = 9
experiments.QUICK_EXACT, experiments.QUICK_SIMULATED = 40, 5
"""


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


@pytest.mark.parametrize(("text", "shown"), [("paper", "paper"), ("1e-3", "0.001")])
def test_the_scale_is_a_name_or_a_share_of_the_papers(run, tmp_path, text, shown):
    result = run("reproduce", "worked-example", "--scale", text, "--out", tmp_path)
    assert result.exit_code == 0
    assert f"--scale {shown} " in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fig99"], "no part of the report called 'fig99'"),
        (["--scale", "big"], "expected quick, paper or a positive number"),
        (["--scale", "-1"], "expected quick, paper or a positive number"),
        (["--scale", "nan"], "expected quick, paper or a positive number"),
        (["--format", "svg,tiff"], "'tiff' is not a format"),
        (["--jobs", "2", "--scheduler", "tcp://nowhere:1"], "both --jobs and --scheduler"),
    ],
)
def test_bad_requests_are_errors(run, tmp_path, arguments, message):
    result = run("reproduce", *arguments, "--out", tmp_path)
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def num_finished(ledger):
    with sqlite3.connect(ledger) as connection:
        return connection.execute("SELECT count(*) FROM shards").fetchone()[0]


@pytest.mark.slow
def test_ctrl_c_saves_says_how_to_go_on_and_the_same_command_does(command, run, tmp_path):
    arguments = ("reproduce", "figure-3", "--out", tmp_path, "--jobs", "1", "--format", "csv")
    process = command(*arguments, before=SMALL)
    for line in process.stderr:
        if "shards" in line and "0/40" not in line:
            break
        if "beliefs-round-5-exact" in line:
            break
    ledger = tmp_path / "runs" / "beliefs-round-5-exact" / "ledger.sqlite"
    while process.poll() is None and not (ledger.exists() and num_finished(ledger) >= 3):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "interrupted: stopped by Ctrl-C" in rest
    assert "the same command goes on from here" in rest
    assert not (tmp_path / "index.html").exists()
    done = num_finished(ledger)
    assert 3 <= done < 40
    shown = run("runs", tmp_path)
    assert "beliefs-round-5-exact" in shown.stdout
    assert "interrupted" in shown.stdout

    process = command(*arguments, before=SMALL)
    rest = process.communicate(timeout=120)[1]
    assert process.returncode == 0
    assert f"{done} of 40 shards are done" in rest
    assert num_finished(ledger) == 40
    assert (tmp_path / "index.html").exists()

    process = command(*arguments, before=SMALL)
    rest = process.communicate(timeout=60)[1]
    assert "done before; nothing has changed since" in rest


@pytest.mark.slow
def test_another_scale_in_the_same_folder_is_refused_and_fresh_starts_over(
    run, tmp_path, monkeypatch
):
    monkeypatch.setattr(belief_experiments, "SIZE", 9)
    monkeypatch.setattr(belief_experiments, "QUICK_EXACT", 2)
    monkeypatch.setattr(belief_experiments, "QUICK_SIMULATED", 5)
    arguments = ("reproduce", "figure-3", "--out", tmp_path, "--jobs", "1", "--format", "csv")
    assert run(*arguments).exit_code == 0
    other = (*arguments, "--seed", "9")
    refused = run(*other)
    assert refused.exit_code == 1
    assert "holds another run: the seed is 2020 there and 9 here" in refused.stderr
    assert "--fresh" in refused.stderr
    again = run(*other, "--fresh")
    assert again.exit_code == 0
    assert "starting over in" in again.stderr
