"""Figure 2: the plan, the reduction, the verdicts, the section."""

import numpy as np
import pandas as pd
import pytest

from cobayes.paper import rare, rates
from cobayes.paper.rates import (
    SHAPES,
    judge_figure_2,
    judge_logistic,
    judge_no_exceptions,
    rates_experiment,
    rates_shard,
    rates_table,
)
from cobayes.random_matrices.sampling import expected_advantage
from cobayes.report.section import Context, Picture
from cobayes.runs import shard_seed


def context(folder, scale=1.0, **options):
    return Context("figure-2", scale, 2020, folder / "figure-2", **options)


def test_paper_scale_is_the_papers(tmp_path):
    sizes = {"n-by-2": (49, 10**10), "10-by-m": (9, 10**8), "n-by-n": (49, 10**8)}
    for name, (num_points, num_samples) in sizes.items():
        plan = rates_experiment(context(tmp_path), name)
        assert len(plan.points) == num_points
        assert {point.num_samples for point in plan.points} == {num_samples}
        shapes = [(p.parameters["num_data"], p.parameters["num_hypotheses"]) for p in plan.points]
        assert shapes == list(SHAPES[name])
    assert SHAPES["n-by-2"][-1] == (50, 2)
    assert SHAPES["10-by-m"] == tuple((10, m) for m in range(2, 11))
    assert SHAPES["n-by-n"][0] == (2, 2)


def test_a_factor_multiplies_the_papers_numbers_and_quick_has_its_own(tmp_path):
    tenth = rates_experiment(context(tmp_path, 0.1), "10-by-m")
    assert tenth.points[0].num_samples == 10**7
    quick = rates_experiment(context(tmp_path, 0.01, is_quick=True), "10-by-m")
    assert quick.points[0].num_samples == rates.QUICK_SAMPLES["10-by-m"]


def test_shards_are_about_a_second_or_two_whatever_the_shape(tmp_path):
    # Costs as measured: 22 ns for a 2 x 2 matrix, 0.28 us for 50 x 2, about 50 us for 50 x 50.
    for name, position, seconds in (
        ("n-by-2", 0, 22e-9),
        ("n-by-2", -1, 280e-9),
        ("n-by-n", -1, 5e-5),
    ):
        point = rates_experiment(context(tmp_path), name).points[position]
        assert 0.2 < point.samples_per_shard * seconds < 4.0


def test_a_table_is_made_of_the_sums_of_all_shards(tmp_path, monkeypatch):
    monkeypatch.setitem(SHAPES, "10-by-m", ((3, 3), (4, 2)))
    monkeypatch.setattr(rates, "_samples_per_shard", lambda *_: 1000)
    here = context(tmp_path, 0.01, is_quick=True, settings={"num_samples_10_by_m": 2500})
    plan = rates_experiment(here, "10-by-m")
    table = rates_table("10-by-m", here.run(plan))
    assert list(table.index) == ["3 × 3", "4 × 2"]
    for position, (n, m) in enumerate(((3, 3), (4, 2))):
        total: dict = {}
        for shard, size in enumerate((1000, 1000, 500)):
            given = {"num_data": n, "num_hypotheses": m}
            part = rates_shard(
                given, shard_seed(plan.seed, plan.name, plan.points[position].name, shard), size
            )
            total = {name: total.get(name, 0) + value for name, value in part.items()}
        row = table.iloc[position]
        exceptions = total["count"] - total["count_not_slower"]
        assert row.num_exceptions == exceptions
        assert row.probability == 1.0 - exceptions / 2500
        assert row.advantage == pytest.approx(total["sum_difference"] / 2500, rel=1e-12)
        assert row.exception_low < exceptions / 2500 < row.exception_high


def test_a_shard_depends_on_its_arguments_alone():
    seed = np.random.SeedSequence(5)
    parameters = {"num_data": 4, "num_hypotheses": 3}
    assert rates_shard(parameters, seed, 500) == rates_shard(
        parameters, np.random.SeedSequence(5), 500
    )


def family(name, sizes, probability, num_samples=10**6, advantage=None):
    sizes = np.asarray(sizes)
    count = len(sizes)
    n = np.full(count, 10) if name == "10-by-m" else sizes
    m = np.full(count, 2) if name == "n-by-2" else sizes
    exceptions = np.round((1.0 - np.asarray(probability)) * num_samples).astype(int)
    share = exceptions / num_samples
    with np.errstate(divide="ignore"):
        columns = {
            "size": sizes,
            "num_data": n,
            "num_hypotheses": m,
            "num_samples": num_samples,
            "num_exceptions": exceptions,
            "probability": 1.0 - share,
            "probability_stderr": np.sqrt((share + 1e-9) / num_samples),
            "minus_log": -np.log(share),
            "minus_log_stderr": np.sqrt((1.0 - share) / exceptions),
            "advantage": np.linspace(0.1, 0.5, count) if advantage is None else advantage,
            "advantage_stderr": 1e-4,
            "advantage_exact": [expected_advantage(int(k)) for k in n],
            "mean_bi": (n - 1) / n,
            "mean_bi_stderr": 1e-4,
        }
    return pd.DataFrame(columns, index=[f"{a} × {b}" for a, b in zip(n, m, strict=True)])


def splitting(sizes, minus_log):
    values = np.asarray(minus_log, dtype=float)
    columns = {"size": sizes, "minus_log": values, "minus_log_stderr": 0.05}
    return pd.DataFrame(columns, index=[f"{n} × {n}" for n in sizes])


QUADRATIC = splitting(range(6, 31, 4), [0.05 * n * n + 2 for n in range(6, 31, 4)])


def families(dip=False):
    sizes = np.arange(2, 51)
    two = 1.0 - np.exp(-0.1 * sizes - 1.0)
    if dip:
        two[1] = two[0] - 0.02
    exact = [expected_advantage(int(n)) for n in sizes]
    ms = np.arange(2, 11)
    square = 1.0 - np.exp(-0.05 * sizes**2 - 1.0)
    return {
        "n-by-2": family("n-by-2", sizes, two, 10**7, exact),
        "10-by-m": family("10-by-m", ms, 1 - np.exp(-0.6 * ms), 10**7, 0.4 - 0.01 * ms),
        "n-by-n": family("n-by-n", sizes, square, 10**6),
    }


def verdicts(claims):
    return {claim.statement: claim for claim in claims}


def test_claims_hold_for_data_that_fulfil_them():
    found = verdicts(judge_figure_2(families(), QUADRATIC))
    assert len(found) == 13
    excepted = {s for s, claim in found.items() if claim.verdict != "holds"}
    assert excepted == {"P grows to 1 logistically in all situations"}


def test_a_fall_from_two_rows_to_three_is_named_as_the_exception():
    claim = verdicts(judge_figure_2(families(dip=True), QUADRATIC))[
        "P grows with n for n × 2 matrices"
    ]
    assert claim.verdict == "holds except"
    assert "it falls from 2 × 2 to 3 × 2" in claim.measured


def test_a_mean_rate_of_bi_that_is_not_the_papers_does_not_hold():
    wrong = families()
    wrong["n-by-2"]["mean_bi"] += 5e-4
    claim = verdicts(judge_figure_2(wrong, QUADRATIC))[
        "The mean rate of BI on n × 2 matrices is (n − 1)/n"
    ]
    assert claim.verdict == "does not hold"


def test_exceptions_beyond_seventeen_rows_refute_the_claim_by_count_or_by_chance():
    square = families()["n-by-n"]
    assert judge_no_exceptions(square, QUADRATIC).verdict == "holds"
    # 10^8 matrices would show thousands of exceptions at n = 18, had 1 - P fallen more slowly.
    slow = splitting(range(6, 51, 4), [0.5 * n for n in range(6, 51, 4)])
    assert judge_no_exceptions(square, slow).verdict == "does not hold"
    square.loc["22 × 22", "num_exceptions"] = 1
    claim = judge_no_exceptions(square, QUADRATIC)
    assert claim.verdict == "does not hold"
    assert claim.measured.startswith("1 exceptions")


def test_logistic_growth_means_a_straight_line():
    data = families()
    straight = splitting(range(6, 31, 4), [1.2 * n for n in range(6, 31, 4)])
    assert judge_logistic(data["n-by-2"], data["10-by-m"], straight).verdict == "holds"
    claim = judge_logistic(data["n-by-2"], data["10-by-m"], QUADRATIC)
    assert claim.verdict == "holds except"
    assert "n × n 1.200 and 2.400" in claim.measured
    unseen = family("10-by-m", np.arange(2, 11), np.ones(9))
    assert judge_logistic(data["n-by-2"], unseen, straight).verdict == "not decided"


def test_the_claim_on_squares_names_the_sizes_at_which_it_was_judged():
    claim = verdicts(judge_figure_2(families(), QUADRATIC))["P grows with n for n × n matrices"]
    assert "Judged at 12 of the 49 sizes: n = 2, 3, 4, 5, 6, 7 by sampling" in claim.measured


def test_a_fall_by_more_than_half_is_not_slow():
    fast = families()
    fast["10-by-m"]["advantage"] = np.linspace(0.4, 0.1, 9)
    statement = "E decays slowly with m for 10 × m matrices"
    assert verdicts(judge_figure_2(fast, QUADRATIC))[statement].verdict == "does not hold"


@pytest.mark.slow
def test_the_section_has_six_panels_the_extension_and_its_data(tmp_path, monkeypatch):
    few = {f"num_samples_{name.replace('-', '_')}": 3000 for name in SHAPES}
    monkeypatch.setattr(rare, "QUICK_SPLITTING_SIZES", (4, 6, 8))
    section = rates.build(context(tmp_path, 0.01, is_quick=True, settings=few))
    pictures = [block for block in section.blocks if isinstance(block, Picture)]
    assert [p.name[-1] for p in pictures[:6]] == list("ABCDEF")
    assert pictures[6].name == "figure-2F-extended"
    table = section.data["figure-2"]
    assert len(table) == 49 + 9 + 49
    exact = table["advantage_exact"]
    is_two = table["num_hypotheses"] == 2
    assert np.isnan(exact[~is_two]).all()
    # Four standard errors each over 51 points err together once in 300.
    off = np.abs(table["advantage"] - exact)[is_two] / table["advantage_stderr"][is_two]
    assert off.max() < 4.0
    sizes = table["num_data"][np.isfinite(table["splitting_minus_log"])]
    assert sizes.tolist() == [4, 6, 8]
    assert len(section.claims) == 13
    assert "3,000 matrices for each n × 2" in section.sizes
