"""One set of workers for a report: lazy, shared, and fresh only once."""

import pytest

from cobayes.errors import CobayesError
from cobayes.report.runner import Runner
from cobayes.runs import Experiment, Point


def shard(parameters, seed_sequence, num_samples):
    return {"count": num_samples, "word": int(seed_sequence.generate_state(1)[0])}


def experiment(name="count"):
    return Experiment(name, (Point("p", {}, 4, 2),), shard)


def test_workers_start_only_when_there_is_something_to_do(tmp_path, monkeypatch):
    started = []
    from cobayes.report import runner as module

    choose = module.choose_executor
    monkeypatch.setattr(
        module, "choose_executor", lambda **given: (started.append(given), choose(**given))[1]
    )
    with Runner(jobs=1) as runner:
        first = runner.run(experiment(), tmp_path / "a")
        runner.run(experiment("other"), tmp_path / "b")
    assert len(started) == 1
    with Runner(jobs=1) as runner:
        again = runner.run(experiment(), tmp_path / "a")
    assert len(started) == 1
    assert again.digest == first.digest


def test_fresh_deletes_a_shared_experiment_once(tmp_path):
    with Runner(jobs=1) as runner:
        runner.run(experiment(), tmp_path / "a")
    states = []
    with Runner(jobs=1, fresh=True, progress=states.append) as runner:
        runner.run(experiment(), tmp_path / "a")
        count = len(states)
        runner.run(experiment(), tmp_path / "a")
    assert count > 0
    assert len(states) == count  # the second found the run complete


def test_time_counts_earlier_sessions(tmp_path):
    with Runner(jobs=1) as runner:
        runner.run(experiment(), tmp_path / "a")
        spent = runner.seconds_in_all
    with Runner(jobs=1) as runner:
        runner.run(experiment(), tmp_path / "a")
        assert runner.seconds_in_all == pytest.approx(spent)
        assert runner.seconds_here > 0.0


def test_a_scheduler_that_is_not_there_is_an_error(tmp_path):
    with Runner(scheduler="/nowhere/scheduler.json") as runner, pytest.raises(CobayesError):
        runner.run(experiment(), tmp_path / "a")


@pytest.mark.slow
def test_processes_and_a_cluster_give_the_bits_of_one_process(tmp_path, monkeypatch):
    from distributed import LocalCluster

    from cobayes.paper import rate_experiments
    from cobayes.report.section import Context

    monkeypatch.setitem(rate_experiments.QUICK_SAMPLES, "10-by-m", 4000)
    monkeypatch.setattr(rate_experiments, "_samples_per_shard", lambda *_: 1500)
    plan = rate_experiments.rates_experiment(
        Context("figure-2", 0.01, 1, tmp_path, is_quick=True), "10-by-m"
    )
    digests = []
    for jobs in (1, 2):
        with Runner(jobs=jobs) as runner:
            digests.append(runner.run(plan, tmp_path / str(jobs)).digest)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Runner(scheduler=cluster.scheduler_address) as runner,
    ):
        digests.append(runner.run(plan, tmp_path / "cluster").digest)
    assert len(set(digests)) == 1
