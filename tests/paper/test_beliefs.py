"""Figure 3: the shards, the verdicts, the section."""

import numpy as np
import pandas as pd
import pytest

import cobayes as cb
from cobayes.paper.beliefs import (
    _noise,
    beliefs_experiment,
    beliefs_shard,
    build,
    judge_figure_3,
    random_matrix,
)
from cobayes.report.section import Context, Picture
from cobayes.theory.measures import AtomicMeasure


def test_paper_scale_is_the_papers(tmp_path):
    context = Context("figure-3", 1.0, 1, tmp_path)
    (exact,) = beliefs_experiment(context, "exact").points
    (simulated,) = beliefs_experiment(context, "simulated").points
    assert exact.num_samples == 300
    assert exact.parameters == {"part": "exact", "size": 20, "num_rounds": 5}
    assert simulated.num_samples == 500
    assert simulated.parameters["num_rounds"] == 30
    assert simulated.parameters["num_lessons"] == 2000


def test_columns_of_random_matrices_are_uniform_on_the_simplex():
    matrices = np.array([random_matrix(np.random.default_rng(k), 4) for k in range(2000)])
    assert matrices.sum(axis=1) == pytest.approx(1.0)
    # An entry has mean 1/4 and second moment 2/(4*5); four standard errors at a fixed seed.
    for power, expected in ((1, 1 / 4), (2, 1 / 10)):
        entries = matrices[:, 0, 0] ** power
        assert abs(entries.mean() - expected) < 4 * entries.std() / np.sqrt(len(entries))


def test_an_exact_shard_follows_the_measure_stepwise():
    seed = np.random.SeedSequence(8)
    found = beliefs_shard({"part": "exact", "size": 3, "num_rounds": 3}, seed, 2)
    for position, child in enumerate(np.random.SeedSequence(8).spawn(2)):
        matrix = random_matrix(np.random.default_rng(child.spawn(3)[0]), 3)
        for rule, name in ((cb.BI, "bi"), (cb.SCBI, "scbi")):
            measure = AtomicMeasure.at(np.full(3, 1 / 3))
            for _ in range(3):
                measure = measure.push(rule(matrix), 0)
            assert found[f"mean_{name}"][position] == pytest.approx(measure.mean()[0], abs=1e-12)
            assert found[f"std_{name}"][position] == pytest.approx(measure.std()[0], abs=1e-9)


def test_a_simulated_shard_agrees_with_the_exact_one():
    # Fixed seeds; four standard errors on eight numbers err together once in 2000.
    parameters = {"part": "simulated", "size": 3, "num_rounds": 3, "num_lessons": 4000}
    seed = np.random.SeedSequence(9)
    found = beliefs_shard(parameters, seed, 4)
    for position, child in enumerate(np.random.SeedSequence(9).spawn(4)):
        matrix = random_matrix(np.random.default_rng(child.spawn(3)[0]), 3)
        for rule, name in ((cb.BI, "bi"), (cb.SCBI, "scbi")):
            from cobayes.theory.exact import exact_rounds

            exact = exact_rounds(rule(matrix), 0, 3)
            error = exact.std[-1] / np.sqrt(4000)
            assert abs(found[f"mean_{name}"][position] - exact.mean[-1]) < 4 * error
            assert found[f"std_{name}"][position] == pytest.approx(exact.std[-1], rel=0.1)


def beliefs(num_lessons, ahead, spread, count=100):
    rng = np.random.default_rng(1)
    base = rng.uniform(0.4, 0.6, count)
    noise = rng.normal(0.0, 0.01, count)
    return pd.DataFrame(
        {
            "num_rounds": 5,
            "num_lessons": num_lessons,
            "mean_bi": base,
            "mean_scbi": base + ahead + noise,
            "std_bi": 0.3,
            "std_scbi": 0.3 + spread + noise,
        }
    )


def test_claims_hold_for_data_that_fulfil_them():
    claims = judge_figure_3(beliefs(0, 0.1, -0.1), beliefs(2000, 0.1, -0.1))
    assert [claim.verdict for claim in claims] == ["holds"] * 4
    # A larger variance after 5 rounds refutes the paper's claim.
    claims = judge_figure_3(beliefs(0, 0.1, 0.1), beliefs(2000, 0.1, -0.1))
    assert claims[2].verdict == "does not hold"


def test_opposite_differences_are_exceptions_only_if_significant():
    exact, simulated = beliefs(0, 0.005, -0.005), beliefs(2000, 0.005, -0.005)
    claims = judge_figure_3(exact, simulated)
    assert [claim.verdict for claim in claims] == ["holds except", "holds"] * 2


def test_claims_do_not_hold_for_the_opposite_data():
    claims = judge_figure_3(beliefs(0, -0.1, 0.1), beliefs(2000, -0.1, 0.1))
    assert [claim.verdict for claim in claims] == ["does not hold"] * 4


def test_the_bound_on_the_error_of_an_sd_exceeds_its_scatter():
    # 400 repetitions of 200 lessons: the scatter of their sds is at most the bound.
    matrix = random_matrix(np.random.default_rng(5), 6)
    stds, means = [], []
    for k in range(400):
        lessons = cb.simulate(cb.SCBI(matrix), 0, num_rounds=10, num_lessons=200, rng=k)
        stds.append(lessons.std()[-1])
        means.append(lessons.mean()[-1])
    columns = {"mean_bi": means, "mean_scbi": means, "std_bi": stds, "std_scbi": stds}
    one = pd.DataFrame({name: [np.mean(values)] for name, values in columns.items()})
    (bound,) = _noise(one.assign(num_lessons=200), "std")
    assert np.std(stds) * np.sqrt(2) < bound * 1.1


def test_the_section_has_four_panels_and_a_row_for_each_matrix(tmp_path):
    few = {"size": 4, "num_matrices_exact": 6, "num_matrices_simulated": 7}
    folder = tmp_path / "figure-3"
    section = build(Context("figure-3", 0.01, 2, folder, is_quick=True, settings=few))
    pictures = [block for block in section.blocks if isinstance(block, Picture)]
    assert len(pictures) == 4
    table = section.data["figure-3"]
    assert len(table) == 13
    assert table["num_rounds"].tolist() == [5] * 6 + [30] * 7
    above = int((table["mean_scbi"][:6] > table["mean_bi"][:6]).sum())
    assert f"{above} of them above the diagonal" in pictures[0].alt
    assert len(section.claims) == 4
