"""Progress of a run: a line in a terminal, lines in a log, `cobayes runs` elsewhere."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cobayes.cli.app import app
from cobayes.runs import PointState, RunState, find_runs, read_state, run
from cobayes.runs.progress import ProgressLine, summary_line

from .experiments import drawing


def state(*points: tuple[int, int, float], status="running", num_workers=2) -> RunState:
    states = tuple(PointState(f"p{k}", *numbers) for k, numbers in enumerate(points))
    return RunState(Path("here"), "drawing", status, states, num_workers)


def test_time_left_counts_each_point_at_its_own_cost():
    # 8 shards of 1 s and 5 of 10 s on two workers; the last shard may leave one worker idle.
    known = state((2, 10, 2.0), (5, 10, 50.0))
    assert known.seconds_left == pytest.approx((8 + 50 - 10) / 2 + 10)
    assert summary_line(known).endswith(", about 34 s left")


@given(
    st.lists(st.tuples(st.integers(1, 9), st.floats(0.1, 1e3)), min_size=1, max_size=5),
    st.integers(1, 6),
    st.randoms(use_true_random=False),
)
def test_shards_of_the_measured_costs_are_done_within_the_time_left(points, num_workers, order):
    shards = [cost for missing, cost in points for _ in range(missing)]
    order.shuffle(shards)
    busy = [0.0] * num_workers
    for cost in shards:
        busy[busy.index(min(busy))] += cost
    found = state(*((1, 1 + k, cost) for k, cost in points), num_workers=num_workers)
    assert max(busy) <= found.seconds_left * (1 + 1e-9)


def test_time_left_is_unknown_until_every_point_has_a_finished_shard():
    # Points that were measured say nothing about the cost of another one, in any experiment.
    cheap, waiting = (1, 2, 0.1), (0, 1000, 0.0)
    assert math.isnan(state(cheap, waiting, cheap).seconds_left)
    line = summary_line(state(cheap, waiting, cheap))
    assert line.endswith("time left unknown (1 of 3 points without a finished shard)")
    assert state(cheap, (1, 1000, 2.0), num_workers=1).seconds_left == pytest.approx(1998.1)


def test_time_left_is_at_least_that_of_the_longest_shard():
    assert state((1, 2, 30.0), num_workers=8).seconds_left == 30.0


def test_time_left_is_unknown_without_shards_or_workers_and_nothing_at_the_end():
    assert math.isnan(state((0, 10, 0.0)).seconds_left)
    assert math.isnan(state((5, 10, 5.0), num_workers=0).seconds_left)
    assert state((10, 10, 5.0)).seconds_left == 0


def test_summary_says_shards_computing_time_and_time_left():
    assert (
        summary_line(state((50, 200, 100.0)))
        == "drawing: 50/200 shards (25.0 %), 100 s of computing, about 2.52 minutes left"
    )
    assert "9999/10000 shards (99.9 %)" in summary_line(state((9999, 10_000, 1.0)))
    assert "waiting for workers" in summary_line(state((0, 2, 0.0), num_workers=0))
    assert summary_line(state((2, 2, 2.0), status="complete")).endswith("computing, complete")


def test_logs_get_plain_lines_and_not_too_many(capsys):
    show = ProgressLine(True)
    for done in range(100):
        show(state((done, 100, 1.0)))
    show(state((100, 100, 1.0), status="complete"))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("cobayes: drawing: ") for line in lines)


def test_a_log_that_cannot_be_written_does_not_stop_the_run(monkeypatch):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stderr", Full())
    ProgressLine(True)(state((1, 2, 1.0)))


def test_a_terminal_gets_one_line_that_is_updated(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stderr", stream := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    show = ProgressLine(True)
    show(state((15, 30, 1.0)))
    show(state((16, 30, 1.0)))
    show(state((30, 30, 1.0), status="complete"))
    first, second, last = stream.getvalue().split("\r\x1b[2K")[1:]
    assert "15/30 shards" in first
    assert not second.endswith("\n")
    assert last.startswith("drawing: 30/30 shards")
    assert last.endswith("complete\n")


def test_a_narrow_terminal_shows_the_time_left_rather_than_all_names(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stderr", stream := Terminal())
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((80, 24)))
    points = (PointState("p", 50, 200, 100.0),)
    ProgressLine(True)(RunState(Path(), "first, " * 20 + "last", "running", points, 2))
    line = stream.getvalue().removeprefix("\r\x1b[2K")
    assert len(line) == 79
    assert line.endswith(": 50/200 shards (25.0 %), 100 s of computing, about 2.52 minutes left")


def test_a_function_is_told_the_state_of_the_run(tmp_path):
    states: list[RunState] = []
    run(drawing(), tmp_path, jobs=1, progress=states.append)
    assert states[0].num_done == 0
    assert states[-1].num_done == 40
    assert states[-1].status == "complete"


def test_the_state_read_from_disk_is_the_one_the_run_reported(tmp_path):
    states: list[RunState] = []
    run(drawing(), tmp_path, jobs=1, progress=states.append)
    read = read_state(tmp_path)
    assert read == states[-1]


def test_others_can_read_the_number_of_workers_before_a_shard_is_finished(tmp_path):
    def read(state):
        seen.append((state.num_done, read_state(tmp_path).num_workers))

    seen = []
    run(drawing(3), tmp_path, jobs=1, progress=read)
    assert seen[0] == (0, 1)


@pytest.fixture
def command():
    return lambda *arguments: CliRunner().invoke(app, ["runs", *map(str, arguments)])


def test_the_command_shows_every_run_below_a_folder(tmp_path, command):
    run(drawing(), tmp_path / "a", jobs=1)
    run(drawing(3), tmp_path / "b" / "c", jobs=1)
    assert find_runs(tmp_path) == [tmp_path / "a", tmp_path / "b" / "c"]
    shown = command(tmp_path)
    assert shown.exit_code == 0, shown.exception
    assert "40/40 shards (100.0 %)" in shown.stdout
    assert "6/6 shards" in shown.stdout
    assert "complete" in shown.stdout
    assert len(shown.stdout.splitlines()) == 2
    assert "scale 2" in command(tmp_path / "a").stdout


def test_the_command_has_one_line_for_runs_of_one_experiment_in_one_folder(tmp_path, command):
    for seed in range(3):
        run(drawing(2, seed=seed), tmp_path / "cases" / str(seed), jobs=1)
    whole = f"{tmp_path / 'cases'} (3 runs): drawing: 12/12 shards (100.0 %)"
    (alone,) = command(tmp_path).stdout.splitlines()
    assert alone.startswith(whole)
    run(drawing(3), tmp_path / "other", jobs=1)
    first, second = command(tmp_path).stdout.splitlines()
    assert first.startswith(whole)
    assert "6/6 shards" in second
    assert len(command(tmp_path / "cases").stdout.splitlines()) == 3


def test_the_command_shows_the_other_runs_beside_a_ledger_that_cannot_be_read(tmp_path, command):
    run(drawing(3), tmp_path / "a", jobs=1)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    (tmp_path / "b" / "ledger.sqlite").write_bytes(b"SQLite format 3\x00" + b"x" * 5000)
    shown = command(tmp_path)
    assert shown.exit_code == 0
    assert "6/6 shards" in shown.stdout
    assert "is not a ledger of cobayes" in shown.stdout
    first, second = json.loads(command(tmp_path, "--json").stdout)
    assert first["status"] == "complete"
    assert "is not a ledger of cobayes" in second["error"]


def test_the_command_writes_json_without_nan(tmp_path, command):
    run(drawing(1), tmp_path, jobs=1)
    shown = command(tmp_path, "--json")
    (content,) = json.loads(shown.stdout, parse_constant=pytest.fail)
    assert content["status"] == "complete"
    assert content["seconds_left"] == 0
    assert content["points"][0]["num_done"] == content["points"][0]["num_shards"] == 1


def test_the_command_says_where_there_is_no_run(tmp_path, command):
    shown = command(tmp_path)
    assert shown.exit_code == 2
    assert "there is no run in" in shown.stderr
    assert "nowhere' does not exist" in command(tmp_path / "nowhere").stderr
