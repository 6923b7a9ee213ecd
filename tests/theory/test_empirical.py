import numpy as np
import pytest

import cobayes as cb
from cobayes.theory.empirical import empirical_rate


def divergences(columns, h):
    p = columns[:, h]
    others = np.delete(columns, h, axis=1)
    return (p[:, None] * np.log(p[:, None] / others)).sum(axis=0)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("h", [0, 2])
def test_slope_of_the_log_odds_is_the_rate_of_theorems_3_2_and_3_6(seed, h):
    matrix = np.random.default_rng(seed).dirichlet(np.ones(5), size=3).T
    sharp = matrix / matrix[:, [h]]
    sharp /= sharp.sum(axis=0)
    for rule, expected in (
        (cb.BI(matrix), divergences(matrix, h).min()),
        (cb.SCBI(matrix), divergences(sharp, h).min()),
    ):
        found = empirical_rate(rule, h, num_rounds=3000, num_lessons=400, rng=seed)
        # Twelve comparisons at 4.5 standard errors: false alarm below 1e-4 in all. The last
        # term is the bias left when two hypotheses vanish at nearly the same rate.
        assert abs(found.value - expected) < 4.5 * found.stderr + 1e-3 * expected
        # These beliefs are far below what float64 holds.
        assert expected * 3000 > 100


def test_bad_input_gets_one_clear_error():
    rule = cb.SCBI([[2.0, 1.0], [1.0, 2.0]])
    with pytest.raises(cb.CobayesError, match="burn-in"):
        empirical_rate(rule, 0, num_rounds=10, burn_in=10)
    with pytest.raises(cb.CobayesError, match="two or more"):
        empirical_rate(rule, 0, num_rounds=10, num_lessons=1)
