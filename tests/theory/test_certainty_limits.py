"""Walks of the log-odds without variance, and rivals with equal columns."""

import math

import numpy as np
import pytest

import cobayes as cb
from cobayes.theory import predicted_rounds


def test_a_truth_that_shows_one_datum_only_needs_a_fixed_number_of_rounds():
    # The log-odds grow by log 2 in each round. Averaged over all levels, a walk on a lattice passes
    # a level by half a step.
    found = predicted_rounds(cb.BI([[1.0, 0.5], [0.0, 0.5]]), 0, level=0.999)
    assert found.mean == pytest.approx(math.log(999.0) / math.log(2.0) + 0.5, rel=1e-12)
    assert found.std == 0.0
    assert found.quantile(0.1) == found.quantile(0.9) == found.mean


def test_two_equal_rivals_take_as_long_as_one_of_them():
    columns = np.array([[0.8, 0.2], [0.2, 0.8]])
    one = predicted_rounds(cb.BI(columns), 0, prior=[2 / 3, 1 / 3])
    two = predicted_rounds(cb.BI(columns[:, [0, 1, 1]]), 0, prior=[0.5, 0.25, 0.25])
    assert two.mean == pytest.approx(one.mean, rel=1e-12)
    assert two.std == pytest.approx(one.std, rel=1e-12)
