"""Random matrices and their rates: the compiled path against the plain definitions."""

import numpy as np
import pytest
from scipy import stats

from cobayes._runtime.vector_math import lane_states
from cobayes.errors import CobayesError
from cobayes.random_matrices import random_rates
from cobayes.random_matrices.column_pairs import WIDTH
from cobayes.random_matrices.random_rates import (
    add_statistics,
    sample_mean_rates,
    sample_rates_chunk,
)
from cobayes.random_matrices.rate_kernels import BLOCKS, LANES, fill_uniforms
from cobayes.random_matrices.two_column_kernels import WORK_SIZE, draw_rows
from cobayes.theory.rates import rate_of_convergence
from tests._runtime.test_vector_math import xoshiro256plus

SEED = np.random.SeedSequence(2020)


def uniforms(count):
    """Return the numbers that the lanes of a chunk draw, round after round."""
    out = np.empty(-(-count // LANES) * LANES)
    fill_uniforms(lane_states(SEED, LANES, BLOCKS), out)
    return out


def mean_rates(matrices):
    return tuple(rate_of_convergence(matrices, rule=rule).mean(axis=1) for rule in ("bi", "scbi"))


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (10, 5), (7, 12), (31, 20)])
def test_compiled_rates_are_those_of_the_matrices_drawn(shape):
    n, m = shape
    groups = 3
    size = -(-n * m * WIDTH // LANES) * LANES  # a group draws whole rounds of lanes
    drawn = uniforms(groups * size).reshape(groups, size)[:, : n * m * WIDTH]
    matrices = -np.log(drawn).reshape(groups, m, n, WIDTH).transpose(0, 3, 2, 1).reshape(-1, n, m)
    found = sample_mean_rates(n, m, groups * WIDTH - 2, SEED)
    for rates, expected in zip(found, mean_rates(matrices), strict=True):
        assert rates.shape == (groups * WIDTH - 2,)
        np.testing.assert_allclose(rates, expected[:-2], rtol=1e-12, atol=1e-14)


def rows_of_two(num_rows):
    """Return u and v1 v2 of as many rows, (num_rows, LANES) each, as a chunk draws them."""
    states = lane_states(SEED, LANES)
    work = np.empty(WORK_SIZE)
    drawn = []
    for start in range(0, num_rows, 8):
        count = min(8, num_rows - start)
        draw_rows(states, work, count)
        planes = work[6 * LANES :].reshape(5, 8, LANES)
        drawn.append(planes[:2, :count].copy())
    return np.concatenate(drawn, axis=1)


@pytest.mark.parametrize("n", [2, 3, 8, 10, 51])
def test_compiled_rates_of_two_columns_are_those_of_the_matrices_drawn(n):
    u, product = rows_of_two(n).transpose(0, 2, 1)
    total = -np.log(product)
    matrices = np.stack([total * u, total * (1 - u)], axis=2)
    for rates, expected in zip(
        sample_mean_rates(n, 2, LANES, SEED), mean_rates(matrices), strict=True
    ):
        np.testing.assert_allclose(rates, expected, rtol=1e-10, atol=1e-12)


def test_rows_of_two_are_made_of_the_generators_bits():
    u, product = rows_of_two(9)
    states = lane_states(SEED, LANES).reshape(4, LANES)
    for lane in (0, 1, 63):
        words = xoshiro256plus(states[:, lane])
        for row in range(9):
            first, second = next(words), next(words)
            assert u[row, lane] == ((first >> 12) + 0.5) / 2**52
            v1 = ((second >> 32) + 0.5) / 2**32
            v2 = ((second & 0xFFFFFFFF) + 0.5) / 2**32
            assert product[row, lane] == v1 * v2


def test_two_columns_are_independent_exponentials():
    # Gamma(2) times a uniform split; error rate 1e-6 for each of the three tests.
    u, product = rows_of_two(400).reshape(2, -1)
    total = -np.log(product)
    x, y = total * u, total * (1 - u)
    assert stats.kstest(x, "expon").pvalue > 1e-6
    assert stats.kstest(y, "expon").pvalue > 1e-6
    assert stats.spearmanr(x, y).pvalue > 1e-6


def test_uniform_numbers_are_uniform_and_lanes_do_not_share_them():
    # Error rate 1e-6 for each test.
    drawn = uniforms(2000 * LANES).reshape(2000, LANES)
    assert stats.kstest(drawn.ravel(), "uniform").pvalue > 1e-6
    assert np.unique(drawn).size == drawn.size
    correlation = np.corrcoef(drawn.T)[np.triu_indices(LANES, 1)]
    assert np.abs(correlation).max() < 6 / np.sqrt(2000)


@pytest.mark.parametrize("shape", [(5, 2), (4, 6)])
def test_statistics_are_sums_over_the_samples(shape):
    bi, scbi = sample_mean_rates(*shape, 1000, SEED)
    statistics = sample_rates_chunk(*shape, 1000, SEED)
    assert statistics["count"] == 1000
    assert statistics["count_not_slower"] == np.count_nonzero(scbi >= bi)
    for name, values in (("bi", bi), ("scbi", scbi), ("difference", scbi - bi)):
        assert statistics[f"sum_{name}"] == pytest.approx(values.sum(), rel=1e-12)
        assert statistics[f"sum_squared_{name}"] == pytest.approx((values**2).sum(), rel=1e-12)
    doubled = add_statistics(statistics, statistics)
    assert doubled == {name: 2 * value for name, value in statistics.items()}


@pytest.mark.parametrize("shape", [(5, 2), (4, 6)])
def test_a_chunk_does_not_depend_on_how_it_is_cut_in_memory(shape, monkeypatch):
    whole = sample_mean_rates(*shape, 1000, SEED)
    monkeypatch.setattr(random_rates, "_BLOCK_SAMPLES", 128)
    for cut, rates in zip(sample_mean_rates(*shape, 1000, SEED), whole, strict=True):
        np.testing.assert_array_equal(cut, rates)


def test_no_samples_are_no_samples():
    assert [rates.size for rates in sample_mean_rates(3, 3, 0, SEED)] == [0, 0]


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (2.5, 2), (2, "3")])
def test_bad_shapes_are_refused(shape):
    with pytest.raises(CobayesError, match="at least 2"):
        sample_rates_chunk(*shape, 10, SEED)
