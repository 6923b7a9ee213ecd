"""The closed-form Newton steps for two to four columns against the general solver."""

import numpy as np
import pytest

from cobayes.rules import SCBI
from cobayes.scaling import lanes
from cobayes.scaling.many import solve_by_sweeps
from cobayes.scaling.small import WORK, solve_in_closed_form, three_columns


def _group(rng, num_rows, num_columns, smallest=1.0):
    matrix = rng.dirichlet(np.ones(num_rows), num_columns).T + 1e-4
    beliefs = rng.dirichlet(np.full(num_columns, 0.3), lanes.LANES).T * smallest
    beliefs[0] += 1.0 - beliefs.sum(axis=0)
    return np.ascontiguousarray(matrix), np.ascontiguousarray(beliefs)


def _by_newton(matrix, beliefs, factors=None, tolerance=1e-13):
    problems = _lanes(matrix, beliefs, factors)
    three, four = (True, None) if matrix.shape[1] < 4 else (None, True)
    columns = three_columns(matrix)
    left = solve_in_closed_form(problems, 0, columns, tolerance, three, four, np.empty(WORK))
    return problems.factors[0], problems.row_scaling[0], left, problems.not_converged[0]


def _lanes(matrix, beliefs, factors=None):
    factors = np.ones(beliefs.shape) if factors is None else factors.copy()
    rows = np.empty((1, matrix.shape[0], lanes.LANES))
    left = np.ones((1, lanes.LANES), dtype=np.int64)
    return lanes.Lanes(matrix, beliefs[None].copy(), None, factors[None], rows, left)


def _likelihoods(matrix, factors, rows):
    return rows[:, None, :] * matrix[:, :, None] * factors[None, :, :]


@pytest.mark.parametrize("num_columns", [2, 3, 4])
@pytest.mark.parametrize("num_rows", [2, 3, 4, 7])
def test_closed_form_newton_equals_the_general_solver(num_rows, num_columns):
    rng = np.random.default_rng(num_rows * 10 + num_columns)
    matrix, beliefs = _group(rng, num_rows, num_columns)
    factors, rows, left, _ = _by_newton(matrix, beliefs)
    assert left == 0
    found = _likelihoods(matrix, factors, rows)
    rule = SCBI(matrix, tolerance=1e-14)
    for lane in range(0, lanes.LANES, 5):
        expected = rule.likelihood(beliefs[:, lane])
        np.testing.assert_allclose(found[:, :, lane], expected, rtol=1e-11)


@pytest.mark.parametrize("num_columns", [2, 3, 4])
def test_closed_form_newton_equals_group_sweeps(num_columns):
    rng = np.random.default_rng(num_columns)
    matrix, beliefs = _group(rng, 4, num_columns)
    factors, rows, _, _ = _by_newton(matrix, beliefs)
    swept = _lanes(matrix, beliefs)
    probes = lanes.Probes.starting(matrix, np.cos(np.arange(num_columns)), 1)
    solve_by_sweeps(swept, probes, 1e-13, True)
    done = swept.not_converged[0] == 0
    assert done.sum() > lanes.LANES // 2
    np.testing.assert_allclose(
        _likelihoods(matrix, factors, rows)[:, :, done],
        _likelihoods(matrix, swept.factors[0], swept.row_scaling[0])[:, :, done],
        rtol=1e-11,
    )


@pytest.mark.parametrize("num_columns", [2, 3, 4])
def test_tiny_and_vanished_beliefs_keep_exact_factors(num_columns):
    rng = np.random.default_rng(7)
    matrix, beliefs = _group(rng, 5, num_columns, smallest=1e-60)
    beliefs[1, ::2] = 0.0
    factors, rows, left, _ = _by_newton(matrix, beliefs)
    assert left == 0
    columns = _likelihoods(matrix, factors, rows).sum(axis=0)
    np.testing.assert_allclose(columns, 1.0, rtol=1e-12)


@pytest.mark.parametrize("num_columns", [2, 3, 4])
def test_a_lane_does_not_depend_on_its_neighbours(num_columns):
    rng = np.random.default_rng(11)
    matrix, beliefs = _group(rng, 3, num_columns)
    together, _, _, _ = _by_newton(matrix, beliefs)
    alone = np.ascontiguousarray(np.repeat(beliefs[:, 5:6], lanes.LANES, axis=1))
    single, _, _, _ = _by_newton(matrix, alone)
    assert np.array_equal(together[:, 5], single[:, 0])


def test_lanes_that_start_with_nonsense_are_reported_stuck():
    matrix, beliefs = _group(np.random.default_rng(3), 3, 3)
    start = np.ones(beliefs.shape)
    start[:, 9] = np.nan
    _, _, left, stuck = _by_newton(matrix, beliefs, factors=start)
    assert left == 1
    assert np.flatnonzero(stuck).tolist() == [9]
