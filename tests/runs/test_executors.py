"""Local processes and Dask: workers that die, threads, Ctrl-C, lost schedulers."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import pytest
import threadpoolctl

import cobayes
from cobayes.errors import CobayesError
from cobayes.runs import (
    Experiment,
    Point,
    RunError,
    RunInterrupted,
    executors,
    read_state,
    run,
    workers,
)
from cobayes.runs import run as run_module
from tests import AFTER_CTRL_C

from .conftest import drive, end, environment, finish, start, wait_until
from .experiments import Gate, die, drawing, fail
from .test_engine import num_done


def children_of(pid: int) -> list[int]:
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def workers_of(pid: int) -> list[int]:
    """Worker processes, without multiprocessing's own helper."""
    return [
        child
        for child in children_of(pid)
        if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_worker_that_dies_is_replaced_and_its_shard_tried_again(tmp_path):
    calm = Experiment("death", [Point("p", {"bad_shard": -1}, 8, 1)], die)
    expected = run(calm, tmp_path / "calm", jobs=1).digest
    (tmp_path / "marks").mkdir()
    parameters = {"bad_shard": 3, "folder": str(tmp_path / "marks")}
    deadly = Experiment("death", [Point("p", parameters, 8, 1)], die)
    assert run(deadly, tmp_path / "run", jobs=2).digest == expected
    assert len(list((tmp_path / "marks").iterdir())) == 1


def test_a_shard_that_kills_every_worker_stops_the_run(tmp_path):
    experiment = Experiment("death", [Point("p", {"bad_shard": 3}, 5, 1)], die)
    with pytest.raises(RunError, match="terminated abruptly"):
        run(experiment, tmp_path, jobs=2)
    assert 1 <= read_state(tmp_path).num_done <= 4


def test_a_pool_of_the_user_that_breaks_stops_the_run_with_one_error(tmp_path):
    experiment = Experiment("death", [Point("p", {"bad_shard": 3}, 8, 1)], die)
    with ProcessPoolExecutor(1) as pool, pytest.raises(RunError, match="the workers failed"):
        run(experiment, tmp_path, executor=pool)
    assert read_state(tmp_path).num_done >= 1


def test_workers_use_one_thread_each(tmp_path):
    experiment = Experiment("threads", [Point("p", {}, 4, 1)], count_threads)
    before = dict(os.environ)
    for jobs in (1, 2):
        found = run(experiment, tmp_path / str(jobs), jobs=jobs)["p"].statistics
        assert found == {"cobayes": 4, "blas": 4}
    # The calling process keeps its own settings.
    assert dict(os.environ) == before


def count_threads(parameters, seeds, num_samples):
    pools = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    return {"cobayes": cobayes.num_threads(), "blas": max(pools, default=1)}


def test_shards_in_several_threads_share_the_limit_to_one_thread():
    first, second = contextlib.ExitStack(), contextlib.ExitStack()
    before = cobayes.num_threads()
    with threadpoolctl.threadpool_limits(2):
        first.enter_context(executors.one_thread)
        second.enter_context(executors.one_thread)
        first.close()  # the second block is still active
        assert count_threads({}, None, 1) == {"cobayes": 1, "blas": 1}
        second.close()
        assert cobayes.num_threads() == before
        assert count_threads({}, None, 1)["blas"] > 1


@pytest.mark.slow
def test_ctrl_c_saves_says_how_to_resume_and_exits_130(tmp_path):
    gate = Gate(tmp_path / "gate")
    gate.open(3)
    folder, options = tmp_path / "run", ("--jobs", 2, "--gate", gate.folder)
    process = drive(folder, *options, start_new_session=True)
    wait_until(lambda: num_done(folder) == 6, process)
    mine = workers_of(process.pid)
    # A terminal sends Ctrl-C to the whole process group.
    os.killpg(process.pid, signal.SIGINT)
    code, out, err = finish(process)
    assert code in AFTER_CTRL_C
    assert out == ""
    assert "Traceback" not in err
    assert "shards of 'drawing' are saved" in err
    assert "the same command continues the run" in err
    assert len(mine) == 2
    assert not any(map(is_alive, mine))
    assert read_state(folder).status == "stopped"
    gate.open(20)
    code, out, err = finish(drive(folder, "--jobs", 1, *options[2:]))
    assert code == 0
    assert "drawing: 6/40 shards" in err


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_does_not_wait_for_a_long_shard(tmp_path, jobs):
    gate = Gate(tmp_path / "gate")
    process = drive(tmp_path / "run", "--jobs", jobs, "--gate", gate.folder)
    wait_until(lambda: gate.num_begun == jobs, process)
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code in AFTER_CTRL_C
    assert "0 of 40 shards" in err
    assert "Traceback" not in err


def test_workers_end_when_the_run_is_killed(tmp_path):
    gate = Gate(tmp_path / "gate")
    process = drive(tmp_path / "run", "--jobs", 2, "--gate", gate.folder)
    wait_until(lambda: gate.num_begun == 2, process)
    mine = workers_of(process.pid)
    assert len(mine) == 2
    process.kill()
    finish(process)
    wait_until(lambda: not any(map(is_alive, mine)))


class Interrupted(executors.Processes):
    """Ctrl-C comes while the third shard is submitted and two have not ended."""

    def __init__(self):
        super().__init__(2)
        self.futures = []
        self.cancelled_before_kill = None

    def submit(self, fn, /, *args, **kwargs):
        if len(self.futures) == 2:
            raise KeyboardInterrupt
        self.futures.append(Future())
        return self.futures[-1]

    def kill(self):
        self.cancelled_before_kill = [future.cancelled() for future in self.futures]
        super().kill()


def test_ctrl_c_ends_the_processes_before_any_shard_is_cancelled(tmp_path):
    """A pool whose processes end fails if another thread has cancelled one of its shards."""
    with Interrupted() as executor, pytest.raises(RunInterrupted, match="0 of 40 shards"):
        run(drawing(), tmp_path, executor=executor)
    assert executor.cancelled_before_kill == [False, False]


def test_ctrl_c_in_the_first_report_of_progress_says_how_to_resume(tmp_path):
    def interrupt(state):
        if state.status == "running":
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted, match="0 of 40 shards"):
        run(drawing(), tmp_path, jobs=1, progress=interrupt)


def test_a_script_without_main_guard_gets_an_error_that_names_the_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from cobayes.runs import run\n"
        "from runs.experiments import drawing\n"
        f"run(drawing(1, num_points=1), {str(tmp_path / 'run')!r}, jobs=2)\n"
    )
    code, _, err = finish(start(script))
    assert code == 1
    assert 'the call must be under `if __name__ == "__main__":`' in err


def test_a_function_defined_interactively_runs_in_this_process(tmp_path):
    program = (
        "from cobayes.runs import *\n"
        "def f(parameters, seeds, num_samples): return {'n': num_samples}\n"
        "e = Experiment('e', [Point('p', {}, 5, 1)], f)\n"
        f"print(run(e, {str(tmp_path / 'a')!r})['p'].statistics['n'])\n"
    )
    done = subprocess.run(
        [sys.executable], input=program, env=environment(), capture_output=True, text=True
    )
    assert done.stdout == "5\n", done.stderr


def test_a_script_runs_its_own_functions_in_other_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "from cobayes.runs import *\n"
        "def f(parameters, seeds, num_samples):\n"
        "    return {'other': os.getpid() != parameters['pid']}\n"
        "if __name__ == '__main__':\n"
        "    e = Experiment('e', [Point('p', {'pid': os.getpid()}, 5, 1)], f)\n"
        f"    print(run(e, {str(tmp_path / 'a')!r}, jobs=2)['p'].statistics['other'])\n"
    )
    code, out, err = finish(start(script))
    assert (code, out) == (0, "5\n"), err


@pytest.mark.parametrize("jobs", [1, 2])
def test_submitted_calls_end_before_the_workers_and_keep_their_exceptions(jobs):
    with workers(jobs=jobs) as executor:
        calls = [executor.submit(divmod, 1, number) for number in range(3)]
    assert isinstance(calls[0].exception(), ZeroDivisionError)
    assert [call.result() for call in calls[1:]] == [(1, 0), (0, 1)]


@pytest.mark.parametrize("jobs", [0, -1, 1.5])
def test_number_of_jobs_must_be_whole_and_positive(jobs):
    with pytest.raises(CobayesError, match="jobs is"), workers(jobs=jobs):
        pass


def test_more_processes_than_memory_holds_are_refused_with_an_estimate():
    message = r"100000 processes would take about 1e\+04 GB"
    with pytest.raises(CobayesError, match=message), workers(jobs=100_000):
        pass


def test_jobs_and_scheduler_exclude_each_other():
    with pytest.raises(CobayesError, match="both jobs and scheduler"):  # noqa: SIM117
        with workers(jobs=2, scheduler="tcp://127.0.0.1:1"):
            pass


def test_too_few_file_descriptors_are_named(tmp_path):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))

    process = drive(tmp_path, "--jobs", 8, preexec_fn=limit)
    code, _, err = finish(process)
    assert code == 1, err
    assert "Traceback" not in err
    assert "ulimit -n" in err


# Dask.


def run_on(cluster, experiment, folder, **options):
    with workers(scheduler=cluster.scheduler_address) as executor:
        return run(experiment, folder, executor=executor, **options)


def test_dask_workers_give_the_bits_of_one_process(tmp_path, cluster):
    expected = run(drawing(), tmp_path / "one", jobs=1).digest
    assert run_on(cluster, drawing(), tmp_path / "dask").digest == expected
    assert read_state(tmp_path / "dask").num_workers == 2


def test_an_executor_of_a_client_is_used_and_left_open(tmp_path, cluster):
    import distributed

    with distributed.Client(cluster, set_as_default=False) as client:
        run(drawing(2), tmp_path, executor=client.get_executor(pure=False))
        assert client.status == "running"
    assert read_state(tmp_path).num_workers == 2


def test_a_dask_worker_killed_in_the_middle_changes_no_bit(tmp_path, cluster):
    expected = run(drawing(), tmp_path / "calm", jobs=1).digest
    gate, killed = Gate(tmp_path / "gate"), []
    gate.open(4)

    def kill_one(state):
        if state.num_done >= 6 and not killed:
            killed.append(next(iter(cluster.workers.values())).process.pid)
            os.kill(killed[0], signal.SIGKILL)
            gate.open(20)

    result = run_on(cluster, drawing(gate=gate.folder), tmp_path / "run", progress=kill_one)
    assert killed
    assert result.digest == expected


# A scheduler with its worker in one process.
SCHEDULER = """
import signal, distributed
options = {"host": "tcp://127.0.0.1", "dashboard_address": None}
cluster = distributed.LocalCluster(1, threads_per_worker=1, processes=False, **options)
print(cluster.scheduler_address, flush=True)
signal.pause()
"""


@pytest.mark.slow
def test_a_lost_scheduler_is_one_error_and_the_run_can_be_continued(tmp_path, processes):
    pytest.importorskip("distributed")
    scheduler = start("-c", SCHEDULER)
    processes.callback(end, scheduler)
    address = scheduler.stdout.readline().strip()
    gate = Gate(tmp_path / "gate")
    gate.open(3)
    driver = drive(tmp_path / "run", "--scheduler", address, "--gate", gate.folder)
    processes.callback(end, driver)
    wait_until(lambda: num_done(tmp_path / "run") == 6, driver)
    scheduler.kill()
    code, out, err = finish(driver)
    assert (code, out) == (1, "")
    assert "the scheduler does not respond" in err
    assert "the same command then continues the run" in err
    assert "Traceback" not in err
    state = read_state(tmp_path / "run")
    assert state.status == "stopped"
    assert state.num_done == 6
    expected = run(drawing(), tmp_path / "calm", jobs=1).digest
    gate.open(20)
    assert run(drawing(gate=gate.folder), tmp_path / "run", jobs=1).digest == expected


def test_an_address_without_a_scheduler_is_an_error_at_once(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "_SECONDS_TO_CONNECT", 0.5)
    for where, message in (
        ("tcp://127.0.0.1:9", r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"),
        (tmp_path / "scheduler.json", r"no Dask scheduler answers at '.*scheduler\.json'"),
    ):
        with pytest.raises(RunError, match=message), workers(scheduler=where):
            pass
    assert logging.getLogger("distributed.batched").level != logging.CRITICAL


def test_a_scheduler_file_stands_for_its_address(tmp_path, cluster):
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": cluster.scheduler_address}))
    logs = [logging.getLogger(f"distributed.{name}") for name in ("client", "batched")]
    before = [log.level for log in logs]
    with workers(scheduler=file) as executor:
        run(drawing(2), tmp_path / "run", executor=executor)
        # Dask's tracebacks about a lost scheduler are not logged.
        assert {log.level for log in logs} == {logging.CRITICAL}
    assert [log.level for log in logs] == before


def test_a_shard_that_fails_on_the_cluster_stops_the_run(tmp_path, cluster):
    experiment = Experiment("fails", [Point("p", {"bad_shard": 5}, 12, 1)], fail)
    with pytest.raises(RunError, match=r"shard 5 of point 'p' .* failed 3 times"):
        run_on(cluster, experiment, tmp_path)
    # Two workers have at most four shards in flight: shard 5 starts after two others have ended.
    assert read_state(tmp_path).num_done >= 2


def test_workers_with_other_versions_are_refused(tmp_path, cluster, monkeypatch):
    module = sys.modules[run_module.__module__]
    monkeypatch.setattr(module, "_versions_here", lambda: {"numpy": "0.1"})
    with pytest.raises(RunError, match=r"other results: .*numpy is .* there and '0\.1' here"):
        run_on(cluster, drawing(2), tmp_path)


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
        run_on(cluster, drawing(40), tmp_path)
    finally:
        stop.set()
        watcher.join()
    # Two tasks per worker, and as many finished tasks that the scheduler has not yet released.
    assert 1 <= most <= 8
