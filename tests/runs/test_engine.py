"""The same bits, whoever computes them and however often they are stopped."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import time

import pytest

from cobayes.runs import (
    Experiment,
    Point,
    RunError,
    ShardError,
    read_state,
    run,
    run_all,
    workers,
)
from cobayes.runs.workers import InProcess

from .conftest import drive, finish, wait_until
from .experiments import drawing, fail, solve


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> str:
    """The digest from one process, without interruption."""
    return run(drawing(), tmp_path_factory.mktemp("one"), jobs=1).digest


def test_two_processes_give_the_bits_of_one(tmp_path, expected):
    assert run(drawing(), tmp_path, jobs=2).digest == expected


def test_dask_workers_give_the_bits_of_one_process(tmp_path, expected, cluster):
    assert run(drawing(), tmp_path, scheduler=cluster.scheduler_address).digest == expected


def test_another_seed_gives_other_bits(tmp_path, expected):
    assert run(drawing(seed=4), tmp_path, jobs=1).digest != expected


def test_a_second_run_reads_the_same_bits_from_the_ledger(tmp_path, expected):
    run(drawing(), tmp_path, jobs=1)
    assert run(drawing(), tmp_path).digest == expected


def test_shards_are_reduced_in_their_order_though_they_finish_in_another(tmp_path):
    experiment = dataclasses.replace(drawing(), reduce=nested, estimate=None)
    forward = run(experiment, tmp_path / "1", jobs=1)
    shuffled = run(experiment, tmp_path / "2", executor=Shuffled())
    assert shuffled.digest == forward.digest


def num_done(folder) -> int:
    return read_state(folder).num_done if (folder / "ledger.sqlite").exists() else 0


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(tmp_path, expected):
    moments = random.Random(20)
    arguments = (tmp_path, "--jobs", 2, "--pause", 0.3)
    seen = [0]
    for kill in range(5):
        process = drive(*arguments)
        if kill % 4 != 3:  # else while it still prepares
            wait_until(lambda: num_done(tmp_path) > seen[-1])
        time.sleep(moments.uniform(0, 0.5))
        assert process.poll() is None, finish(process)
        process.send_signal(signal.SIGKILL)
        finish(process)
        seen.append(num_done(tmp_path))
    code, out, err = finish(drive(*arguments))
    assert (code, out.strip()) == (0, expected), err
    # The kills came in the middle of it, and nothing recorded was lost.
    assert seen == sorted(seen)
    assert 4 <= seen[-1] < 40


def test_large_linear_algebra_gives_the_same_bits_in_this_process_and_in_others(tmp_path):
    """BLAS rounds differently on one thread and on several, from 100 x 100 on."""
    experiment = Experiment("solve", [Point("systems", {}, 4, 1)], solve)
    assert (
        run(experiment, tmp_path / "1", jobs=1).digest
        == run(experiment, tmp_path / "2", jobs=2).digest
    )


def test_several_runs_share_workers(tmp_path, expected):
    names: set[str] = set()
    with workers(jobs=2) as executor:
        for folder in (tmp_path / "a", tmp_path / "b"):
            assert run(drawing(), folder, executor=executor).digest == expected
            with contextlib.closing(sqlite3.connect(folder / "ledger.sqlite")) as ledger:
                names.update(name for (name,) in ledger.execute("SELECT worker FROM shards"))
    assert 1 <= len(names) <= 2


class Closable(InProcess):
    """An executor that, like a client of Dask, knows nothing once it is closed."""

    is_closed = False

    @property
    def num_workers(self):
        assert not self.is_closed
        return 1

    def close(self):
        self.is_closed = True


def test_workers_are_not_asked_after_they_are_closed(tmp_path, monkeypatch):
    executor = Closable()
    monkeypatch.setattr("cobayes.runs.engine.choose_executor", lambda *_, **__: executor)
    run(drawing(2), tmp_path)
    assert executor.is_closed
    assert read_state(tmp_path).num_workers == 1


def test_workers_are_not_started_where_nothing_is_to_do(tmp_path, expected):
    run(drawing(), tmp_path, jobs=1)
    assert run(drawing(), tmp_path, executor=lambda: pytest.fail("started")).digest == expected


@pytest.mark.parametrize("again", [False, True])
def test_a_folder_removed_during_the_run_is_said_to_be_gone(tmp_path, again):
    def remove(state):
        if state.status == "running":
            shutil.rmtree(tmp_path / "run")
            if again:
                (tmp_path / "run").mkdir()

    with pytest.raises(RunError) as caught:
        run(drawing(3), tmp_path / "run", jobs=1, progress=remove)
    assert "removed or replaced" in str(caught.value)
    assert "are lost" in str(caught.value)
    assert "kept" not in str(caught.value)


def test_a_folder_whose_name_is_not_utf8_is_as_good_as_any(tmp_path, expected, monkeypatch):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    monkeypatch.setattr(sys, "argv", ["cobayes", "reproduce", str(folder)])
    assert run(drawing(), folder, jobs=1, progress=True).digest == expected
    assert run(drawing(), folder, jobs=1).digest == expected
    assert read_state(folder).status == "complete"
    assert (
        "udce9"
        in json.loads((folder / "manifest.json").read_text())["command"]
        .encode("ascii", "backslashreplace")
        .decode()
    )
    with pytest.raises(RunError, match="holds another run"):
        run(drawing(seed=4), folder, jobs=1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_runs_that_share_workers_give_what_each_gives_alone(tmp_path, jobs):
    plans = [(drawing(2, seed=seed), tmp_path / str(seed)) for seed in range(5)]
    run(*plans[3], jobs=1)
    states = []
    together = run_all(plans, jobs=jobs, progress=states.append)
    alone = [run(plan, tmp_path / "alone", jobs=1, fresh=True) for plan, _ in plans]
    assert [result.digest for result in together] == [result.digest for result in alone]
    assert states[-1].status == "complete"
    assert (states[-1].num_done, states[-1].num_shards) == (20, 20)
    assert all(read_state(folder).status == "complete" for _, folder in plans)
    assert run_all(plans)[1].digest == together[1].digest


def test_a_failure_in_one_run_keeps_what_the_others_have(tmp_path):
    bad = Experiment("fails", [Point("p", {"bad_shard": 1}, 3, 1)], fail)
    with pytest.raises(ShardError):
        run_all([(drawing(2), tmp_path / "good"), (bad, tmp_path / "bad")], jobs=1)
    assert read_state(tmp_path / "good").status == "complete"
    assert read_state(tmp_path / "bad").status == "failed"


def nested(left, right):
    """Neither commutative nor associative, so that the order shows."""
    return {"total": 0.5 * left["total"] + right["total"]}


class Shuffled:
    """An executor that finishes what it has in random order."""

    description = "in random order"
    num_workers = 1
    capacity = 9

    def __init__(self) -> None:
        self._tasks = []
        self._random = random.Random(5)

    def submit(self, task) -> None:
        self._tasks.append(task)

    def wait(self, timeout):
        from cobayes.runs.workers.tasks import perform

        self._random.shuffle(self._tasks)
        return [perform(self._tasks.pop())]

    def abandon(self) -> None:
        self._tasks.clear()

    close = abandon
