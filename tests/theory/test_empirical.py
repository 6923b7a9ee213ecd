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
    for name, value in (
        ("num_lessons", 1),
        ("num_lessons", 2.5),
        ("num_rounds", 0),
        ("num_rounds", "a"),
        ("burn_in", -1),
        ("burn_in", 0.5),
        ("rng", -1),
        ("rng", "x"),
    ):
        with pytest.raises(cb.CobayesError, match=repr(value)):
            empirical_rate(rule, 0, **{"num_rounds": 10, "num_lessons": 4, name: value})
    with pytest.raises(cb.CobayesError, match=r"wrap the matrix: cobayes\.SCBI\(matrix\)"):
        empirical_rate(np.ones((2, 2)), 0)
    with pytest.raises(cb.CobayesError, match="no hypothesis"):
        empirical_rate(rule, "A")


def test_a_measured_rate_travels_to_tables_with_its_labels():
    rule = cb.BI(cb.Model([[2.0, 1.0], [1.0, 2.0]], ["up", "down"], ["A", "B"]))
    rate = empirical_rate(rule, "B", num_rounds=10, num_lessons=5, rng=0)
    row = rate.to_dataframe().loc[0]
    assert (row["rule"], row["hypothesis"], row["value"]) == ("BI", "B", rate.value)
    dataset = rate.to_xarray()
    assert dataset["value"].sel(rule="BI", hypothesis="B") == rate.value
    assert dataset.attrs["last_round"] == 10


def test_the_same_seed_sequence_gives_the_same_rate_twice():
    rule = cb.SCBI([[2.0, 1.0], [1.0, 2.0]])
    seed = np.random.SeedSequence(5)
    first = empirical_rate(rule, 0, num_rounds=10, num_lessons=5, rng=seed)
    assert empirical_rate(rule, 0, num_rounds=10, num_lessons=5, rng=seed) == first


def test_it_prints_rate_and_uncertainty():
    rate = cb.theory.empirical_rate(
        cb.BI("example:M_1"), "h_1", num_rounds=20, num_lessons=9, rng=1
    )
    assert f"{rate.value:.4g} ± {rate.stderr:.2g} nats per round for 'h_1'" in repr(rate)
