"""Sweeps on one thread and on several are one procedure."""

import numpy as np
import pytest

from cobayes.scaling.stopping import WIDE_SPREAD
from cobayes.scaling.sweeps import make_state, solve_by_sweeps, solve_on_threads
from tests.scaling.cases import blocks


def solved(solve, matrix, spread):
    n, m = matrix.shape
    factors, row_scaling = np.ones(m), np.empty(n)
    state = make_state(matrix, np.ones(n), np.full(m, n / m), factors, row_scaling)
    return solve(state, np.nan, 1e-12, 200, spread), factors


@pytest.mark.parametrize("spread", [1.0, 1e3, 1e9])
def test_threads_give_what_one_thread_gives(spread):
    matrix = np.random.default_rng(0).exponential(size=(900, 300))
    (count, error, rate), factors = solved(solve_by_sweeps, matrix, spread)
    (other_count, other_error, other_rate), others = solved(solve_on_threads, matrix, spread)
    assert count == other_count
    assert max(error, other_error) <= 1e-12
    assert rate == pytest.approx(other_rate, rel=1e-2)
    np.testing.assert_allclose(factors, others, rtol=1e-12)


@pytest.mark.parametrize("solve", [solve_by_sweeps, solve_on_threads])
@pytest.mark.parametrize("half", [2, 10, 150])
def test_the_probe_finds_a_mode_that_sweeps_do_not_see(solve, half):
    # Two blocks of equal totals that exchange 1e-13: sweeps settle inside the blocks and stop.
    matrix = blocks(np.random.default_rng(half), (half, half), 1e-13)
    (_, unseen, _), _ = solved(solve, matrix, 1.0)
    (_, error, _), _ = solved(solve, matrix, 2.0 * WIDE_SPREAD)
    assert unseen <= 1e-12
    assert error > 1e-12


def test_negligible_column_sums_are_left_out():
    state = make_state(np.ones((2, 2)), np.ones(2), np.array([2.0, 1e-300]), np.ones(2), np.ones(2))
    np.testing.assert_array_equal(state.column_sums, [2.0, 0.0])
