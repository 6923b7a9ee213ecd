"""What is shown of a run: lines in a log, a table in a terminal, `cobayes runs` elsewhere."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from cobayes.cli.runs import runs
from cobayes.errors import CobayesError
from cobayes.runs import Estimate, PointState, RunState, find_runs, read_state, run
from cobayes.runs.progress import LiveReporter, PlainReporter, duration, summary_line

from .experiments import drawing


def state(*points: tuple[int, int, float], status="running", num_workers=2) -> RunState:
    return RunState(
        folder=Path("here"),
        experiment="drawing",
        seed=0,
        status=status,
        points=tuple(
            PointState(f"p{k}", {}, done, total, 1, seconds, {"mean": Estimate(0.5, 0.01)})
            for k, (done, total, seconds) in enumerate(points)
        ),
        seconds=10.0,
        num_workers=num_workers,
        executor="2 local processes",
        shards_per_second=1.5,
    )


def test_time_left_counts_each_point_at_its_own_cost():
    # 8 shards of 1 s and 5 of 10 s on two workers.
    assert state((2, 10, 2.0), (5, 10, 50.0)).seconds_left == pytest.approx((8 + 50) / 2)


def test_time_left_takes_points_that_have_not_begun_at_the_average_cost():
    assert state((2, 4, 6.0), (0, 10, 0.0)).seconds_left == pytest.approx((2 + 10) * 3 / 2)


def test_time_left_is_unknown_without_shards_or_workers_and_nothing_at_the_end():
    assert math.isnan(state((0, 10, 0.0)).seconds_left)
    assert math.isnan(state((5, 10, 5.0), num_workers=0).seconds_left)
    assert state((10, 10, 5.0)).seconds_left == 0


def test_summary_says_done_rate_time_spent_and_time_left():
    assert (
        summary_line(state((50, 200, 100.0)))
        == "drawing: 50/200 shards (25.0 %), 1.5 shards/s, 10 s spent, 2.5 min left"
    )
    assert "waiting for workers" in summary_line(state((0, 2, 0.0), num_workers=0))
    assert summary_line(state((2, 2, 2.0), status="complete")).endswith("spent, complete")


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.5, "1.5 s"), (600, "10 min"), (9000, "2.5 h"), (864_000, "10 d")]
)
def test_durations_are_in_fitting_units(seconds, text):
    assert duration(seconds) == text


def test_logs_get_plain_lines_and_not_too_many():
    stream = io.StringIO()
    reporter = PlainReporter(stream, seconds=1000)
    for done in range(100):
        reporter.update(state((done, 100, 1.0)))
    reporter.update(state((100, 100, 1.0), status="complete"))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("cobayes: drawing: ") for line in lines)
    assert lines[1].endswith("p0: mean = 0.500 ± 0.010")


def test_a_log_that_cannot_be_written_does_not_stop_the_run():
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    PlainReporter(Full()).update(state((1, 2, 1.0)))


def test_a_terminal_gets_a_table_that_fits():
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100, height=20)
    reporter = LiveReporter(console)
    reporter.update(state(*[(k, 30, 1.0 * k) for k in range(30)]))
    reporter.message("[not markup]")
    reporter.close()
    text = stream.getvalue()
    assert "435/900 shards" in text
    assert "0.500 ± 0.010" in text
    assert "and 18 more points" in text
    assert "[not markup]" in text


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
    assert read.points == states[-1].points
    assert read.seconds == states[-1].seconds


@pytest.fixture
def command():
    app = typer.Typer()
    app.command()(runs)
    return lambda *arguments: CliRunner().invoke(app, [str(word) for word in arguments])


def test_the_command_shows_every_run_below_a_folder(tmp_path, command):
    run(drawing(), tmp_path / "a", jobs=1)
    run(drawing(3), tmp_path / "b" / "c", jobs=1)
    assert find_runs(tmp_path) == [tmp_path / "a", tmp_path / "b" / "c"]
    shown = command(tmp_path)
    assert shown.exit_code == 0, shown.exception
    assert "40/40 shards (100.0 %)" in shown.stdout
    assert "6/6 shards" in shown.stdout
    assert "complete" in shown.stdout


def test_the_command_writes_json_without_nan(tmp_path, command):
    run(drawing(1), tmp_path, jobs=1)
    shown = command(tmp_path, "--json")
    (content,) = json.loads(shown.stdout, parse_constant=pytest.fail)
    assert content["status"] == "complete"
    assert content["seconds_left"] == 0
    assert content["points"][0]["estimates"]["mean"]["value"] > 0


def test_the_command_says_where_there_is_no_run(tmp_path, command):
    shown = command(tmp_path)
    assert isinstance(shown.exception, CobayesError)
    assert "there is no run in" in str(shown.exception)
    missing = command(tmp_path / "nowhere")
    assert "there is no folder" in str(missing.exception)


def test_results_come_as_tables_with_parameters_and_uncertainty(tmp_path):
    result = run(drawing(), tmp_path, jobs=1)
    table = result.to_dataframe()
    assert list(table.index) == ["scale 1", "scale 2"]
    assert list(table["scale"]) == [0.1, 0.2]
    estimate = result["scale 2"].estimates["mean"]
    assert table.loc["scale 2", "mean"] == estimate.value
    assert table.loc["scale 2", "mean_stderr"] == estimate.stderr
    data = result.to_xarray()
    assert data["mean"].sel(point="scale 2") == estimate.value
    assert "scale" in data.coords
    with pytest.raises(CobayesError, match="no point named 'scale 9'"):
        result["scale 9"]
    # The mean of a lognormal is exp(s^2/2); 5 standard errors, one chance in a million.
    assert abs(estimate.value - math.exp(0.02)) < 5 * estimate.stderr
