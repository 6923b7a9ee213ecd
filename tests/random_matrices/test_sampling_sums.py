"""Random matrices and their rates: the native core against the plain definitions."""

import numpy as np
import pytest

from cobayes import _core
from cobayes.errors import CobayesError
from cobayes.random_matrices.sampling import add_statistics, sample_rates_chunk
from cobayes.theory.rates import pairwise_divergences
from tests.random_matrices.streams import xoshiro_streams

SEED = np.random.SeedSequence(2020)


def mean_rates(matrix):
    """Return the mean rates of BI and SCBI, by the formulas for one matrix."""
    return [pairwise_divergences(matrix, kind).min(axis=1).mean() for kind in ("bi", "scbi")]


def rates(shape, count, seed=7):
    """Return the rates of BI and SCBI of the native core, (count,) each."""
    return _core.random_rates(*shape, num_samples=count, seed=seed, keep=True)[3:]


def uniform(word):
    return ((int(word) >> 12) + 0.5) / 2**52


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (10, 5), (7, 12), (31, 20)])
def test_rates_are_those_of_the_matrices_drawn(shape):
    n, m = shape
    found = rates(shape, 19)
    # Numbers are drawn in tiles of sixteen; the rest of the last tile is not used.
    per_matrix = -(-n * m // 16) * 16
    for number in (0, 5, 8, 18):
        words = xoshiro_streams(7, number % 8, (number // 8 + 1) * per_matrix)[-per_matrix:]
        matrix = -np.log([uniform(word) for word in words[: n * m]]).reshape(m, n).T
        expected = mean_rates(matrix)
        assert [one[number] for one in found] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("n", [2, 3, 8, 16, 51])
def test_rates_of_two_columns_are_those_of_the_matrices_drawn(n):
    found = rates((n, 2), 17)
    for number in (0, 7, 16):
        words = xoshiro_streams(7, number % 8, (number // 8 + 1) * 2 * n)[-2 * n :]
        # Of every tile of sixteen rows u and the two halves of another word take turns.
        u = np.array([uniform(word) for word in words[::2]])
        halves = [((int(w) >> 32) + 0.5, (int(w) & 0xFFFFFFFF) + 0.5) for w in words[1::2]]
        total = -np.log([one * two / 2.0**64 for one, two in halves])
        matrix = np.stack([total * u, total * (1 - u)], axis=1)
        assert [one[number] for one in found] == pytest.approx(mean_rates(matrix), rel=1e-10)


@pytest.mark.parametrize("shape", [(5, 2), (4, 6)])
def test_statistics_are_sums_over_the_samples(shape):
    seed = int(SEED.generate_state(1, np.uint64)[0])
    bi, scbi = rates(shape, 1000, seed)
    statistics = sample_rates_chunk(*shape, 1000, SEED)
    assert statistics["count"] == 1000
    assert statistics["count_not_slower"] == np.count_nonzero(scbi >= bi)
    for name, values in (("bi", bi), ("scbi", scbi), ("difference", scbi - bi)):
        assert statistics[f"sum_{name}"] == pytest.approx(values.sum(), rel=1e-12)
        assert statistics[f"sum_squared_{name}"] == pytest.approx((values**2).sum(), rel=1e-12)
    doubled = add_statistics(statistics, statistics)
    assert doubled == {name: 2 * value for name, value in statistics.items()}


@pytest.mark.parametrize("shape", [(5, 2), (4, 6)])
def test_fewer_samples_are_the_first_of_more(shape):
    for few, many in zip(rates(shape, 700), rates(shape, 2000), strict=True):
        np.testing.assert_array_equal(few, many[:700])


def test_no_samples_are_no_samples():
    assert [one.size for one in rates((3, 3), 0)] == [0, 0]


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (2.5, 2), (2, "3")])
def test_bad_shapes_are_refused(shape):
    with pytest.raises(CobayesError, match="integer >= 2"):
        sample_rates_chunk(*shape, 10, SEED)
