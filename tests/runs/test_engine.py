"""The same bits for any executor and after any number of interruptions."""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import sys
import time
from concurrent.futures import Executor, ThreadPoolExecutor

import pytest

from cobayes.errors import CobayesError
from cobayes.runs import (
    Experiment,
    Point,
    RunError,
    read_state,
    run,
    run_all,
    workers,
)

from .conftest import drive, finish, wait_until
from .experiments import Gate, drawing, fail, fail_at_first, solve


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> str:
    """The digest from one process, without interruption."""
    return run(drawing(), tmp_path_factory.mktemp("one"), jobs=1).digest


@pytest.fixture(scope="module")
def pool():
    """Two processes that several tests share."""
    with workers(jobs=2) as executor:
        yield executor


def test_runs_that_share_two_processes_give_the_bits_of_one(tmp_path, expected, pool):
    for folder in (tmp_path / "a", tmp_path / "b"):
        assert run(drawing(), folder, executor=pool).digest == expected


def test_any_executor_of_the_standard_library_gives_the_same_bits(tmp_path, expected):
    with ThreadPoolExecutor(3) as executor:
        assert run(drawing(), tmp_path, executor=executor).digest == expected
        assert executor.submit(sum, [1, 2]).result() == 3  # the run has not shut it down


def test_another_seed_gives_other_bits(tmp_path, expected):
    assert run(drawing(seed=4), tmp_path, jobs=1).digest != expected


def test_a_second_run_reads_the_same_bits_from_the_ledger(tmp_path, expected):
    run(drawing(), tmp_path, jobs=1)
    assert run(drawing(), tmp_path).digest == expected


def test_a_complete_run_submits_no_shard(tmp_path, expected):
    run(drawing(), tmp_path, jobs=1)
    assert run(drawing(), tmp_path, executor=Executor()).digest == expected


def nested(left, right):
    """Neither commutative nor associative: the result depends on the order of the shards."""
    return {"total": 0.5 * left["total"] + right["total"]}


def test_shards_are_reduced_in_their_order_though_they_finish_in_another(tmp_path):
    experiment = dataclasses.replace(drawing(), reduce=nested, estimate=None)
    forward = run(experiment, tmp_path / "1", jobs=1)
    with ThreadPoolExecutor(8) as executor:
        pauses = dataclasses.replace(
            experiment,
            points=[
                dataclasses.replace(point, parameters={**point.parameters, "shuffle": True})
                for point in experiment.points
            ],
        )
        shuffled = run(pauses, tmp_path / "2", executor=executor)
    assert shuffled.digest == forward.digest


def num_done(folder) -> int:
    try:
        return read_state(folder).num_done
    except CobayesError:  # the run has not begun
        return 0


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(tmp_path, expected):
    moments, gate = random.Random(20), Gate(tmp_path / "gate")
    arguments = (tmp_path / "run", "--jobs", 2, "--gate", gate.folder)
    seen = [0]
    for kill in range(3):
        gate.open(5 * (kill + 1))
        process = drive(*arguments)
        if kill != 1:  # the second kill may come before the run continues
            wait_until(lambda: num_done(tmp_path / "run") > seen[-1], process)
        time.sleep(moments.uniform(0, 0.5))
        assert process.poll() is None, finish(process)
        process.send_signal(signal.SIGKILL)
        finish(process)
        seen.append(num_done(tmp_path / "run"))
    gate.open(20)
    result = run(drawing(gate=gate.folder), tmp_path / "run", jobs=1)
    assert result.digest == expected
    # The kills came in the middle of the run, and no recorded shard was lost.
    assert seen == sorted(seen)
    assert 2 <= seen[-1] <= 30


def test_large_linear_algebra_gives_the_same_bits_in_this_process_and_in_others(tmp_path, pool):
    """BLAS rounds differently on one thread and on several, from 100 x 100 on."""
    experiment = Experiment("solve", [Point("systems", {}, 4, 1)], solve)
    expected = run(experiment, tmp_path / "1", jobs=1).digest
    assert run(experiment, tmp_path / "2", executor=pool).digest == expected


def test_the_library_prints_nothing_without_progress(tmp_path, capsys):
    run(drawing(), tmp_path, jobs=1)
    run(drawing(), tmp_path, jobs=1, fresh=True)
    assert capsys.readouterr() == ("", "")


def test_the_name_of_a_folder_need_not_be_utf8(tmp_path, expected, monkeypatch):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    monkeypatch.setattr(sys, "argv", ["cobayes", "reproduce", str(folder)])
    assert run(drawing(), folder, jobs=1, progress=True).digest == expected
    assert run(drawing(), folder, jobs=1).digest == expected
    assert read_state(folder).status == "complete"
    with pytest.raises(RunError, match="holds another run"):
        run(drawing(seed=4), folder, jobs=1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_runs_that_share_workers_have_the_results_of_separate_runs(tmp_path, jobs, pool):
    plans = [(drawing(2, seed=seed), tmp_path / str(seed)) for seed in range(5)]
    run(*plans[3], jobs=1)
    states = []
    workers = {"jobs": 1} if jobs == 1 else {"executor": pool}
    together = run_all(plans, **workers, progress=states.append)
    alone = [run(plan, tmp_path / "alone", jobs=1, fresh=True) for plan, _ in plans]
    assert [result.digest for result in together] == [result.digest for result in alone]
    assert states[-1].status == "complete"
    assert (states[-1].num_done, states[-1].num_shards) == (20, 20)
    assert all(read_state(folder).status == "complete" for _, folder in plans)
    assert run_all(plans)[1].digest == together[1].digest


def test_no_experiments_have_no_results():
    assert run_all([]) == run_all([], jobs=2) == []


def test_a_failure_in_one_run_keeps_the_shards_of_the_others(tmp_path):
    bad = Experiment("fails", [Point("p", {"bad_shard": 1}, 3, 1)], fail)
    with pytest.raises(RunError):
        run_all([(drawing(2), tmp_path / "good"), (bad, tmp_path / "bad")], jobs=1)
    assert read_state(tmp_path / "good").num_done >= 2
    assert read_state(tmp_path / "bad").status == "stopped"
    assert read_state(tmp_path / "bad").num_done >= 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_shard_that_always_fails_stops_the_run_and_finished_shards_are_kept(tmp_path, jobs):
    experiment = Experiment("fails", [Point("p", {"bad_shard": 5, "tag": "xyz"}, 12, 1)], fail)
    with pytest.raises(RunError) as caught:
        run(experiment, tmp_path, jobs=jobs)
    message = str(caught.value)
    assert "shard 5 of point 'p'" in message
    assert "failed 3 times" in message
    assert '"tag": "xyz"' in message
    assert "ZeroDivisionError: as the test asked" in message
    assert read_state(tmp_path).status == "stopped"
    # Two workers have at most four shards in flight: shard 5 starts after two others have ended.
    assert read_state(tmp_path).num_done >= (5 if jobs == 1 else 2)


def test_a_shard_that_fails_twice_is_tried_a_third_time(tmp_path, pool):
    (tmp_path / "marks").mkdir()
    parameters = {"folder": str(tmp_path / "marks"), "num_failures": 2}
    experiment = Experiment("fickle", [Point("p", parameters, 3, 1)], fail_at_first)
    run(experiment, tmp_path / "run", executor=pool)
    assert len(list((tmp_path / "marks").iterdir())) == 9


def test_an_error_in_reducing_or_estimating_keeps_the_shards(tmp_path):
    def refuse(*_):
        raise ZeroDivisionError("no")

    for options in ({"reduce": refuse}, {"estimate": refuse}):
        with pytest.raises(ZeroDivisionError):
            run(dataclasses.replace(drawing(2), **options), tmp_path, jobs=1)
        assert read_state(tmp_path).status == "complete"
    run(drawing(2), tmp_path, executor=Executor())


def test_only_a_few_shards_are_in_flight(tmp_path):
    class Watched(ThreadPoolExecutor):
        most = 0
        futures = ()

        def submit(self, *arguments):
            future = super().submit(*arguments)
            self.futures = [f for f in (*self.futures, future) if not f.done()]
            self.most = max(self.most, len(self.futures))
            return future

    with Watched(2) as executor:
        run(drawing(50), tmp_path, executor=executor)
    assert executor.most <= 4


def test_the_first_shard_of_every_point_of_every_run_comes_first(tmp_path):
    class Noting(ThreadPoolExecutor):
        order = ()

        def submit(self, fn, function, parameters, seeds, num_samples):
            self.order = (*self.order, (seeds.spawn_key[-1], parameters["scale"]))
            return super().submit(fn, function, parameters, seeds, num_samples)

    plans = [(drawing(3, seed=seed), tmp_path / str(seed)) for seed in range(2)]
    with Noting(1) as executor:
        run_all(plans, executor=executor)
    # The last point, often the most expensive, comes before the others.
    assert executor.order == tuple((k, s) for k in range(3) for s in (0.2, 0.2, 0.1, 0.1))


def test_an_executor_that_is_shut_down_stops_the_run_with_one_error(tmp_path):
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RunError, match="the workers failed: cannot schedule new futures"):
        run(drawing(2), tmp_path, executor=executor)


def test_an_executor_of_another_kind_is_refused_before_a_folder_is_made(tmp_path):
    with pytest.raises(CobayesError, match="the executor is 'threads'; expected"):
        run(drawing(), tmp_path / "run", executor="threads")  # pyright: ignore[reportArgumentType]
    assert not (tmp_path / "run").exists()


def test_an_executor_and_a_number_of_jobs_exclude_each_other(tmp_path):
    with (
        ThreadPoolExecutor(2) as executor,
        pytest.raises(CobayesError, match="both executor and jobs are given"),
    ):
        run(drawing(), tmp_path / "run", executor=executor, jobs=2)
    assert not (tmp_path / "run").exists()
