"""The same bits, whoever computes them and however often they are stopped."""

from __future__ import annotations

import contextlib
import dataclasses
import random
import signal
import sqlite3
import time

import pytest

from cobayes.runs import Experiment, Point, read_state, run, workers

from .conftest import drive, finish, wait_until
from .experiments import drawing, solve


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
    for kill in range(8):
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
    assert 6 <= seen[-1] < 40


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
        from cobayes.runs.tasks import perform

        self._random.shuffle(self._tasks)
        return [perform(self._tasks.pop())]

    def abandon(self) -> None:
        self._tasks.clear()

    close = abandon
