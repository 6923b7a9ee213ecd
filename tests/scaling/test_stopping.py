"""What a matrix looks like, and what a probed rate makes of an error."""

import math

import numpy as np
import pytest

from cobayes.scaling import stopping
from tests.scaling.cases import blocks


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (70, 4), (200, 130)])
def test_the_spread_is_the_smaller_of_the_widest_row_and_the_widest_column(shape):
    matrix = np.random.default_rng(0).uniform(0.1, 1.0, size=shape)
    rows = (matrix.max(axis=1) / matrix.min(axis=1)).max()
    columns = (matrix.max(axis=0) / matrix.min(axis=0)).max()
    assert stopping.entry_spread(matrix) == pytest.approx(min(rows, columns), rel=1e-15)


def test_scaling_rows_alone_or_columns_alone_is_no_spread():
    matrix = np.outer(10.0 ** np.arange(-6, 6), np.ones(5))
    assert stopping.entry_spread(matrix) == 1.0
    assert stopping.entry_spread(np.ascontiguousarray(matrix.T)) == 1.0


def test_zeros_make_the_spread_infinite_and_a_wide_one_is_seen_early():
    assert stopping.entry_spread(np.eye(3)) == math.inf
    wide = 10.0 ** np.random.default_rng(0).uniform(-8, 0, size=(300, 20))
    assert stopping.entry_spread(wide) > stopping.WIDE_SPREAD


def test_two_blocks_are_nearly_blocks_and_even_matrices_are_not():
    rng = np.random.default_rng(0)
    assert stopping.is_nearly_blocks(blocks(rng, (3, 4), 1e-9))
    assert stopping.is_nearly_blocks(blocks(rng, (60, 70), 1e-9))
    assert not stopping.is_nearly_blocks(rng.uniform(0.1, 1.0, size=(7, 7)))


def test_the_weakest_coupling_of_two_hypotheses_is_one_minus_their_rate():
    # For two hypotheses the derivative of a sweep has this one rate; the belief is even here.
    matrix = np.array([[1.0, 1e-3], [1e-3, 1.0]])
    scaled = matrix / matrix.sum(axis=0)
    posterior = scaled[:, 0] / scaled.sum(axis=1)
    coupling = (posterior * (1.0 - posterior)).mean() / 0.25
    found = stopping.weakest_coupling(np.log(matrix.T.copy()))
    assert found == pytest.approx(coupling, rel=1e-9)


def test_a_slower_mode_raises_the_error_and_a_slow_one_is_not_accepted():
    error, tolerance = 1e-13, 1e-12
    assert stopping.probed_error(error, 0.2, 0.3, tolerance, 50.0) == error
    assert stopping.probed_error(error, 0.2, 0.999, tolerance, 50.0) == pytest.approx(999e-13)
    assert stopping.probed_error(error, 0.2, 0.95, tolerance, 1e9) == math.inf
    assert stopping.probed_error(error, 0.2, 0.5, tolerance, 1e9) == pytest.approx(2e-13)
