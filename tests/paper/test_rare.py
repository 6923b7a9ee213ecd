"""1 - P by multilevel splitting."""

import math

import numpy as np
import pytest
from scipy import stats

import cobayes as cb
from cobayes.paper import rare
from cobayes.paper.rare import (
    PAPER_SQUARES,
    QUICK_SQUARES,
    Population,
    exception_probabilities,
    propose_exponentials,
    splitting_experiment,
    splitting_table,
)
from cobayes.random_matrices.sampling import compare_rates
from cobayes.report.section import Context
from cobayes.theory.rates import rate_of_convergence


def population(num_data, num_hypotheses, size=32, groups=1, seed=1):
    return Population(groups, size, num_data, num_hypotheses, np.random.default_rng(seed))


def scores_of(found):
    """Scores by their definition: BI's mean rate minus SCBI's."""
    bi, scbi = (
        np.array([rate_of_convergence(rule(one)).mean() for one in found.matrices])
        for rule in (cb.BI, cb.SCBI)
    )
    return (bi - scbi).reshape(found.scores.shape)


@pytest.mark.parametrize("step", [0.1, 0.5, 0.99])
def test_proposals_leave_exponentials_exponential_and_are_reversible(step):
    # Error rate 1e-6 for each test.
    rng = np.random.default_rng(1)
    old = rng.standard_exponential(100_000)
    new = propose_exponentials(old, step, rng)
    assert new.min() >= 0.0
    assert stats.kstest(new, "expon").pvalue > 1e-6
    # Reversible: (old, new) is distributed like (new, old).
    skew = (old - new) ** 3
    assert abs(skew.mean()) < 5 * skew.std() / np.sqrt(skew.size)
    mixed = old**2 * new - old * new**2
    assert abs(mixed.mean()) < 5 * mixed.std() / np.sqrt(mixed.size)
    # The correlation of squared lengths of complex normals.
    assert np.corrcoef(old, new)[0, 1] == pytest.approx(1 - step**2, abs=0.03)


@pytest.mark.parametrize("shape", [(2, 2), (6, 5), (5, 9)])
def test_scores_are_the_difference_of_mean_rates(shape):
    found = population(*shape)
    np.testing.assert_allclose(found.scores, scores_of(found), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 2), (6, 5), (5, 9)])
def test_incremental_scores_stay_true_and_above_the_level(shape):
    found = population(*shape)
    level = float(np.quantile(found.scores, 0.5))
    found.resample(level)
    before = found.lines[0].copy()
    acceptance = found.move(level, 0.6, num_sweeps=5)
    assert 0.0 < acceptance < 1.0
    assert np.mean(before == found.lines[0]) < 0.5
    assert found.scores.min() > level
    np.testing.assert_allclose(found.scores, scores_of(found), rtol=1e-10, atol=1e-12)


def test_moves_without_a_level_leave_the_distribution_of_scores():
    # Error rate 1e-6.
    still, moved = population(4, 3, 2000, seed=1), population(4, 3, 2000, seed=2)
    assert moved.move(-np.inf, 0.7, num_sweeps=3) == 1.0
    assert stats.ks_2samp(still.scores.ravel(), moved.scores.ravel()).pvalue > 1e-6


def test_groups_are_resampled_apart_and_survivors_copied_equally_often():
    found = population(3, 3, size=40, groups=2)
    level = float(np.quantile(found.scores, 0.7))
    survivors = [set(scores[scores > level].tolist()) for scores in found.scores]
    shares = found.resample(level)
    for scores, own, share in zip(found.scores, survivors, shares, strict=True):
        values, counts = np.unique(scores, return_counts=True)
        assert set(values.tolist()) == own
        assert counts.max() - counts.min() <= 1
        assert share == len(own) / 40


def test_a_group_without_survivors_counts_as_zero_and_is_kept():
    found = population(3, 3, size=40, groups=2)
    before = found.scores.copy()
    lost, other = np.argsort(before.max(axis=1))
    level = before[lost].max()
    shares = found.resample(level)
    assert shares[lost] == 0.0
    assert shares[other] == (before[other] > level).mean() > 0.0
    np.testing.assert_array_equal(found.scores[lost], before[lost])
    assert found.scores[other].min() > level


@pytest.mark.parametrize(("n", "m"), [(5, 3), (8, 8)])
def test_splitting_agrees_with_plain_sampling(n, m):
    # Four combined standard errors: fails for one seed in some thousands.
    effort = {"num_estimates": 8, "num_particles": 256, "num_sweeps": 4}
    estimates = exception_probabilities(n, m, rng=np.random.default_rng(1), **effort)
    plain = compare_rates(n, m, 1_000_000, rng=2)
    error = estimates.std(ddof=1) / np.sqrt(len(estimates))
    scatter = np.hypot(error, plain.probability_stderr)
    assert abs(estimates.mean() - (1.0 - plain.probability)) < 4 * scatter
    assert error < 0.2 * estimates.mean()


def context(folder, scale, **options):
    return Context("figure-2", scale, 2020, folder / "figure-2", **options)


def test_splitting_and_sampling_agree_where_both_see_exceptions(tmp_path, monkeypatch):
    # Fixed seeds; a tolerance of four standard errors errs once in 15,000.
    monkeypatch.setattr(rare, "QUICK_SPLITTING_SIZES", (4, 6))
    here = context(tmp_path, 0.01, is_quick=True)
    split = splitting_table(here.run(splitting_experiment(here)))
    for _, row in split.iterrows():
        plain = compare_rates(int(row["size"]), int(row["size"]), 200_000, rng=int(row["size"]))
        share = 1.0 - plain.probability
        error = math.hypot(row.minus_log_stderr, plain.probability_stderr / share)
        assert abs(row.minus_log + math.log(share)) < 4 * error
        assert row.low < row.minus_log < row.high


def test_scale_scales_multilevel_splitting_too(tmp_path):
    efforts = []
    for scale in (1e-5, 5e-4, 0.01, 0.5, 1.0, 2.0):
        points = splitting_experiment(context(tmp_path, scale)).points
        sizes = [point.parameters["num_data"] for point in points]
        efforts.append((points[0].num_samples, points[0].parameters["num_particles"], sizes))
    sizes, quick = list(rare.SPLITTING_SIZES), list(rare.QUICK_SPLITTING_SIZES)
    up_to_30, up_to_46 = sizes[:13], sizes[:-1]
    assert efforts == [
        (10, 128, quick),
        (10, 128, quick),
        (10, 128, up_to_30),
        (10, 128, up_to_46),
        (20, 256, sizes),
        (40, 512, sizes),
    ]


def test_a_factor_up_to_quicks_plans_the_splitting_of_quick(tmp_path):
    quick = splitting_experiment(context(tmp_path, 0.01, is_quick=True))
    for scale in (1e-6, QUICK_SQUARES / PAPER_SQUARES):
        assert splitting_experiment(context(tmp_path, scale)).points == quick.points
