"""Dask: workers that die, schedulers that go, clusters that differ."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
import time

import pytest

from cobayes.runs import Experiment, Point, RunError, ShardError, read_state, run
from cobayes.runs.workers import cluster as cluster_module

from ..conftest import drive, end, finish, start, wait_until
from ..experiments import drawing, fail

pytest.importorskip("distributed")


def test_a_worker_killed_in_the_middle_changes_no_bit(tmp_path, cluster):
    expected = run(drawing(), tmp_path / "calm", jobs=1).digest
    experiment = drawing(pause=0.1)
    killed = []

    def kill_one(state):
        if state.num_done >= 6 and not killed:
            killed.append(next(iter(cluster.workers.values())).process.pid)
            os.kill(killed[0], signal.SIGKILL)

    result = run(
        experiment, tmp_path / "run", scheduler=cluster.scheduler_address, progress=kill_one
    )
    assert killed
    assert result.digest == expected


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_named_and_the_run_can_go_on(tmp_path, processes):
    file = tmp_path / "scheduler.json"
    scheduler = start(
        *("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", 0),
        *("--scheduler-file", file, "--no-dashboard"),
    )
    processes.callback(end, scheduler)
    wait_until(file.exists)
    worker = start(
        *("-m", "distributed.cli.dask_worker", "--scheduler-file", file, "--nworkers", 2),
        *("--nthreads", 1, "--no-dashboard", "--host", "127.0.0.1", "--death-timeout", 60),
        cwd=tmp_path,
    )
    processes.callback(end, worker)
    driver = drive(tmp_path / "run", "--scheduler", file, "--pause", 0.25)
    processes.callback(end, driver)
    wait_until(lambda: (tmp_path / "run" / "ledger.sqlite").exists())
    wait_until(lambda: read_state(tmp_path / "run").num_done >= 5, timeout=240)
    scheduler.kill()
    code, out, err = finish(driver, timeout=240)
    assert (code, out) == (1, "")
    assert f"the Dask scheduler at {file} is gone" in err
    assert "the same command then goes on" in err
    assert "Traceback" not in err
    state = read_state(tmp_path / "run")
    assert state.status == "failed"
    assert 5 <= state.num_done < 40
    expected = run(drawing(), tmp_path / "calm", jobs=1).digest
    assert run(drawing(pause=0.25), tmp_path / "run", jobs=2).digest == expected


def test_no_scheduler_at_the_address_is_said_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "_SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(RunError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        run(drawing(), tmp_path, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(RunError, match="there is no scheduler file"):
        run(drawing(), tmp_path, scheduler=tmp_path / "scheduler.json")
    assert logging.getLogger("distributed.batched").level != logging.CRITICAL


def test_a_scheduler_file_is_as_good_as_an_address(tmp_path, cluster):
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": cluster.scheduler_address}))
    logs = [logging.getLogger(f"distributed.{name}") for name in ("client", "batched")]
    before, during = [log.level for log in logs], set()

    def watch(_state):
        during.update(log.level for log in logs)

    run(drawing(2), tmp_path / "run", scheduler=file, progress=watch)
    assert read_state(tmp_path / "run").executor == f"Dask at {file}"
    # A scheduler that goes away is told in one line: Dask's own tracebacks are kept back meanwhile.
    assert during == {logging.CRITICAL}
    assert [log.level for log in logs] == before


def test_a_client_of_the_user_is_used_and_left_open(tmp_path, cluster):
    import distributed

    with distributed.Client(cluster, set_as_default=False) as client:
        run(drawing(2), tmp_path, scheduler=client)
        assert client.status == "running"


def test_a_shard_that_fails_on_the_cluster_stops_the_run(tmp_path, cluster):
    experiment = Experiment("fails", [Point("p", {"bad_shard": 5}, 12, 1)], fail)
    with pytest.raises(ShardError, match=r"shard 5 of point 'p' .* failed 3 times"):
        run(experiment, tmp_path, scheduler=cluster.scheduler_address)
    assert read_state(tmp_path).num_done >= 5


def test_workers_with_other_versions_are_refused(tmp_path, cluster, monkeypatch):
    from cobayes.runs import work

    monkeypatch.setattr(work, "versions_here", lambda: (("numpy", "0.1"),))
    with pytest.raises(RunError, match=r"has .*numpy .* \(here 0\.1\)"):
        run(drawing(2), tmp_path, scheduler=cluster.scheduler_address)


def test_only_a_few_tasks_wait_at_the_scheduler(tmp_path, cluster):
    most = 0
    stop = threading.Event()

    def watch():
        nonlocal most
        while not stop.is_set():
            most = max(most, len(cluster.scheduler.tasks))
            time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        run(drawing(40), tmp_path, scheduler=cluster.scheduler_address)
    finally:
        stop.set()
        watcher.join()
    # Two for each of the two workers, and as many that are about to be forgotten.
    assert 1 <= most <= 8
