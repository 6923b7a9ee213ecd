"""1 - P by multilevel splitting."""

import json

import numpy as np
import pytest
from scipy import stats

from cobayes._runtime.threads import set_num_threads
from cobayes._runtime.vector_math import aligned_array
from cobayes.errors import CobayesError
from cobayes.random_matrices.compare import compare_rates
from cobayes.random_matrices.rare import _Population, rare_probability
from cobayes.random_matrices.rare_kernels import propose_exponentials
from cobayes.theory.rates import rate_of_convergence

ROOT = ([1, 2, 3], 0)


@pytest.fixture(autouse=True)
def _default_threads():
    yield
    set_num_threads(None)


def scores_of(population):
    """Scores by the plain definition: BI's mean rate minus SCBI's."""
    groups, width, m, n = population.matrices.shape
    matrices = population.matrices.reshape(groups * width, m, n).transpose(0, 2, 1)
    bi, scbi = (rate_of_convergence(matrices, rule=rule).mean(axis=1) for rule in ("bi", "scbi"))
    return (bi - scbi).reshape(groups, width)


@pytest.mark.parametrize("step", [0.1, 0.5, 0.99])
def test_proposals_leave_exponentials_exponential_and_are_reversible(step):
    # Error rate 1e-6 for each test.
    rng = np.random.default_rng(1)
    old, new = rng.standard_exponential(100_000), np.empty(100_000)
    propose_exponentials(old, *rng.uniform(size=(2, 100_000)), step, new)
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
    population = _Population(*shape, groups=2, num_sweeps=1, seed=ROOT)
    np.testing.assert_allclose(population.scores, scores_of(population), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 2), (6, 5), (5, 9)])
def test_incremental_scores_stay_true_and_above_the_level(shape):
    population = _Population(*shape, groups=4, num_sweeps=5, seed=ROOT)
    level = float(np.quantile(population.scores, 0.5))
    population.resample(level)
    before = population.matrices.copy()
    acceptance = population.move(level, 0.6)
    assert 0.0 < acceptance < 1.0
    assert np.mean(before == population.matrices) < 0.5
    assert population.scores.min() > level
    np.testing.assert_allclose(population.scores, scores_of(population), rtol=1e-10, atol=1e-12)


def test_moves_without_a_level_leave_the_distribution_of_scores():
    # Error rate 1e-6.
    still = _Population(4, 3, groups=250, num_sweeps=1, seed=([1], 0))
    moved = _Population(4, 3, groups=250, num_sweeps=3, seed=([2], 0))
    assert moved.move(-np.inf, 0.7) == 1.0
    assert stats.ks_2samp(still.scores.ravel(), moved.scores.ravel()).pvalue > 1e-6


def test_resampling_keeps_only_survivors_and_each_about_equally_often():
    population = _Population(3, 3, groups=5, num_sweeps=1, seed=ROOT)
    level = float(np.quantile(population.scores, 0.7))
    survivors = set(population.scores[population.scores > level].tolist())
    population.resample(level)
    values, counts = np.unique(population.scores, return_counts=True)
    assert set(values.tolist()) == survivors
    assert counts.max() - counts.min() <= 1
    np.testing.assert_allclose(population.scores, scores_of(population), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("n", "m"), [(5, 3), (8, 8), (10, 10)])
def test_splitting_agrees_with_plain_sampling(n, m):
    # Four combined standard errors: fails for one seed in some thousands.
    rare = rare_probability(n, m, num_particles=512, num_replicates=8, rng=1)
    plain = compare_rates(n, m, 1_000_000, rng=2)
    scatter = np.hypot(rare.stderr, plain.probability_stderr)
    assert abs(rare.probability - plain.exception_probability) < 4 * scatter
    assert rare.stderr < 0.2 * rare.probability


@pytest.mark.slow
def test_splitting_agrees_with_plain_sampling_of_rare_exceptions():
    rare = rare_probability(12, 12, num_particles=512, num_replicates=8, rng=1)
    plain = compare_rates(12, 12, 4_000_000, rng=2)
    scatter = np.hypot(rare.stderr, plain.probability_stderr)
    assert abs(rare.probability - plain.exception_probability) < 4 * scatter
    assert rare.minus_log_stderr < 0.2


def test_same_seed_gives_same_bits_for_any_number_of_threads():
    results = []
    for threads in (1, 3):
        set_num_threads(threads)
        results.append(rare_probability(6, 6, num_particles=64, num_replicates=2, rng=3))
    np.testing.assert_array_equal(results[0].estimates, results[1].estimates)
    np.testing.assert_array_equal(results[0].levels, results[1].levels)


def test_levels_rise_to_zero_and_result_is_consistent():
    result = rare_probability(7, 7, num_particles=60, num_replicates=4, rng=3)
    assert result.num_particles == 64
    assert np.all(np.diff(result.levels) > 0)
    assert result.levels[-1] == 0.0
    assert result.probability == pytest.approx(result.estimates.mean())
    low, high = result.minus_log_interval
    assert low < result.minus_log < high
    assert result.interval[0] == pytest.approx(np.exp(-high))
    assert json.loads(json.dumps(result.to_dict()))["minus_log"] == result.minus_log
    assert "7 x 7" in repr(result)
    row = result.to_dataframe().loc[0]
    assert row["minus_log"] == result.minus_log
    assert (row["low"], row["high"]) == result.interval
    dataset = result.to_xarray().sel(num_data=7, num_hypotheses=7)
    np.testing.assert_array_equal(dataset["estimate"], result.estimates)
    np.testing.assert_array_equal(dataset["level"], result.levels)
    assert dataset["acceptance"][0] == result.acceptance[0]
    assert dataset["interval"].sel(bound="low") == result.interval[0]


def test_buffers_start_on_cache_lines():
    assert {aligned_array((k, 3)).ctypes.data % 64 for k in range(1, 20)} == {0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_particles": 4}, "number of particles is 4"),
        ({"num_replicates": 1}, "number of replicates is 1"),
        ({"num_sweeps": 0}, "number of sweeps is 0"),
        ({"survival": 1.0}, "survival is 1.0"),
        ({"confidence": 0.0}, "confidence is 0.0"),
        ({"confidence": None}, "confidence is None"),
        ({"survival": "a"}, "survival is 'a'"),
        ({"num_particles": 16.0}, "number of particles is 16.0"),
        ({"num_sweeps": "a"}, "number of sweeps is 'a'"),
        ({"rng": -1}, "rng is -1"),
        ({"rng": "x"}, "rng is 'x'"),
    ],
)
def test_bad_effort_is_refused(options, message):
    with pytest.raises(CobayesError, match=message):
        rare_probability(3, 3, **options)
