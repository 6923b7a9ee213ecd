"""The best data prior where every rate is infinite."""

import math

import numpy as np

import cobayes as cb


def test_where_each_datum_excludes_every_rival_all_data_priors_are_best():
    found = cb.best_data_prior(np.eye(3))
    np.testing.assert_array_equal(found.data_prior, np.full(3, 1 / 3))
    assert found.rate == found.uniform_rate == math.inf
