"""Cases in which a formula of the theory is replaced by its limit, or a lesson ends early."""

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


def test_where_each_datum_excludes_every_rival_all_data_priors_are_best():
    found = cb.best_data_prior(np.eye(3))
    np.testing.assert_array_equal(found.data_prior, np.full(3, 1 / 3))
    assert found.rate == found.uniform_rate == math.inf


def test_exact_beliefs_stay_the_same_after_a_walk_has_ended():
    # Walks end after one to four moves. Four standard errors of 1,000 lessons: an error rate of
    # 6e-5 per round.
    rule = cb.SCBI(cb.GridWorld(3, 1, (0, 1), {"L": (0, 0), "R": (0, 2)}, discount=0.5))
    exact = cb.exact_rounds(rule, "L", 4)
    rng = np.random.default_rng(0)
    sums, count = np.zeros(5), 1000
    for _ in range(count):
        lesson = cb.run_lesson(cb.Teacher(rule, "L", rng=rng), cb.Learner(rule), num_rounds=4)
        beliefs = lesson.beliefs[:, 0]
        sums += np.pad(beliefs, (0, 5 - len(beliefs)), mode="edge")
    assert (np.abs(sums / count - exact.mean) <= 4.0 * exact.std / np.sqrt(count) + 1e-12).all()
