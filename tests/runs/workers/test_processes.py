"""Local processes and the engine around them: failures, deaths, threads, Ctrl-C."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cobayes.errors import CobayesError
from cobayes.runs import Experiment, Point, ShardError, read_state, run
from cobayes.runs.workers import InProcess, choose_executor

from ..conftest import drive, environment, finish, start, wait_until
from ..experiments import die, draw, drawing, fail, fail_at_first


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


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_shard_that_always_fails_stops_the_run_and_the_rest_is_kept(tmp_path, jobs):
    experiment = Experiment("fails", [Point("p", {"bad_shard": 5, "tag": "xyz"}, 12, 1)], fail)
    with pytest.raises(ShardError) as caught:
        run(experiment, tmp_path, jobs=jobs)
    message = str(caught.value)
    assert "shard 5 of point 'p'" in message
    assert "failed 3 times" in message
    assert '"tag": "xyz"' in message
    assert "ZeroDivisionError: as the test asked" in message
    state = read_state(tmp_path)
    assert state.status == "failed"
    assert state.num_done >= 5


def test_a_shard_that_fails_twice_is_tried_a_third_time(tmp_path):
    (tmp_path / "marks").mkdir()
    parameters = {"folder": str(tmp_path / "marks"), "num_failures": 2}
    experiment = Experiment("fickle", [Point("p", parameters, 3, 1)], fail_at_first)
    run(experiment, tmp_path / "run", jobs=2)
    assert len(list((tmp_path / "marks").iterdir())) == 9


def test_a_worker_that_dies_is_replaced_and_its_shard_tried_again(tmp_path):
    calm = Experiment("death", [Point("p", {"bad_shard": -1}, 8, 1)], die)
    expected = run(calm, tmp_path / "calm", jobs=1).digest
    (tmp_path / "marks").mkdir()
    parameters = {"bad_shard": 3, "folder": str(tmp_path / "marks")}
    deadly = Experiment("death", [Point("p", parameters, 8, 1)], die)
    assert run(deadly, tmp_path / "run", jobs=2).digest == expected
    assert len(list((tmp_path / "marks").iterdir())) == 1


def test_a_shard_that_kills_every_worker_stops_the_run(tmp_path):
    experiment = Experiment("death", [Point("p", {"bad_shard": 3}, 8, 1)], die)
    with pytest.raises(ShardError, match="killed by SIGKILL"):
        run(experiment, tmp_path, jobs=2)
    assert 1 <= read_state(tmp_path).num_done <= 7


def test_workers_use_one_thread_each(tmp_path):
    experiment = Experiment("threads", [Point("p", {}, 4, 1)], count_threads)
    before = dict(os.environ)
    for name, value in run(experiment, tmp_path, jobs=2)["p"].statistics.items():
        assert value == 4, name
    # The calling process keeps its own settings.
    assert dict(os.environ) == before


def count_threads(parameters, seeds, num_samples):
    import threadpoolctl

    from cobayes._runtime import threads

    pools = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    return {
        "cobayes": threads.num_threads(),
        "variable": int(os.environ["COBAYES_NUM_THREADS"]),
        "numba": int(os.environ["NUMBA_NUM_THREADS"]),
        "blas": max(pools, default=1),
    }


def test_only_a_few_tasks_are_in_flight(tmp_path):
    most = 0

    class Watched(InProcess):
        capacity = 3

        def submit(self, task):
            nonlocal most
            super().submit(task)
            most = max(most, len(self._tasks))

    run(drawing(50), tmp_path, executor=Watched())
    assert most == 3


@pytest.mark.slow
def test_ctrl_c_saves_says_how_to_resume_and_exits_130(tmp_path):
    process = drive(tmp_path, "--jobs", 2, "--pause", 0.25, start_new_session=True)
    wait_until(lambda: (tmp_path / "ledger.sqlite").exists())
    wait_until(lambda: read_state(tmp_path).num_done >= 4)
    mine = workers_of(process.pid)
    # The whole group, as a terminal does.
    os.killpg(process.pid, signal.SIGINT)
    code, out, err = finish(process)
    assert code == 130
    assert out == ""
    assert "Traceback" not in err
    assert "shards of 'drawing' are saved" in err
    assert "goes on from here: python " in err
    assert f"drive.py {tmp_path} --jobs 2" in err
    assert len(mine) == 2
    assert not any(map(is_alive, mine))
    state = read_state(tmp_path)
    assert state.status == "interrupted"
    assert 4 <= state.num_done < 40
    assert json.loads((tmp_path / "manifest.json").read_text())["status"] == "interrupted"
    code, out, err = finish(drive(tmp_path, "--jobs", 2, "--pause", 0.25))
    assert code == 0
    assert f"going on in {tmp_path}: {state.num_done} of 40 shards are done" in err


def test_ctrl_c_does_not_wait_for_a_long_shard_in_this_process(tmp_path):
    process = drive(tmp_path, "--jobs", 1, "--pause", 3600)
    wait_until(lambda: (tmp_path / "manifest.json").exists())
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert "0 of 40 shards" in err


def test_workers_end_when_the_run_is_killed(tmp_path):
    process = drive(tmp_path, "--jobs", 2, "--pause", 3600)
    wait_until(lambda: len(workers_of(process.pid)) == 2)
    mine = workers_of(process.pid)
    time.sleep(0.5)
    process.kill()
    finish(process)
    wait_until(lambda: not any(map(is_alive, mine)))


def test_a_script_without_main_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from cobayes.runs import run\n"
        "from runs.experiments import drawing\n"
        f"run(drawing(), {str(tmp_path / 'run')!r}, jobs=2)\n"
    )
    code, _, err = finish(start(script))
    assert code == 1
    assert 'the call must stand under `if __name__ == "__main__":`' in err


def test_a_function_defined_interactively_runs_in_this_process_unless_told_otherwise(tmp_path):
    program = (
        "from cobayes.runs import *\n"
        "def f(parameters, seeds, num_samples): return {'n': num_samples}\n"
        "e = Experiment('e', [Point('p', {}, 5, 1)], f)\n"
        f"print(run(e, {str(tmp_path / 'a')!r})['p'].statistics['n'])\n"
        "try:\n"
        f"    run(e, {str(tmp_path / 'b')!r}, jobs=2)\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable], input=program, env=environment(), capture_output=True, text=True
    )
    assert done.stdout.startswith("5\nother processes cannot import"), done.stderr
    assert "jobs=1" in done.stdout


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


@pytest.mark.parametrize("jobs", [0, -1, 1.5])
def test_number_of_jobs_must_be_whole_and_positive(jobs):
    with pytest.raises(CobayesError, match="jobs is"):
        choose_executor(draw, jobs=jobs)


def test_jobs_and_scheduler_exclude_each_other():
    with pytest.raises(CobayesError, match="both jobs and scheduler"):
        choose_executor(draw, jobs=2, scheduler="tcp://127.0.0.1:1")


def test_too_few_file_descriptors_are_named(tmp_path):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))

    process = drive(tmp_path, "--jobs", 8, "--pause", 0.01, preexec_fn=limit)
    code, _, err = finish(process)
    assert code == 1, err
    assert "Traceback" not in err
    assert "too many open files" in err
    assert "ulimit -n" in err
