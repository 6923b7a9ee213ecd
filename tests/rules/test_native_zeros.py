"""Matrices with zeros in compiled batches."""

from itertools import permutations

import numpy as np
import pytest

import cobayes as cb
from tests.rules.crowd import Crowd


def random_pattern(rng, n, m, share=0.4):
    """Return a matrix without empty rows or columns whose columns are distinguishable."""
    while True:
        matrix = rng.integers(1, 10, size=(n, m)) * (rng.random((n, m)) > share)
        if matrix.any(axis=0).all() and matrix.any(axis=1).all():
            shares = matrix / matrix.sum(axis=0)
            gaps = [np.abs(shares[:, j] - shares[:, k]).max() for j in range(m) for k in range(j)]
            if min(gaps, default=1.0) > 1e-9:
                return matrix.astype(float)


def settle(rule, prior, hypothesis, num_lessons, rng, max_rounds=20_000):
    """Teach until all are sure; return the beliefs, and all data that were shown."""
    crowd = Crowd(rule, np.log(prior), num_lessons)
    taught = np.full(num_lessons, hypothesis)
    shown = set()
    for _ in range(max_rounds):
        data = crowd.draw(taught, rng.random(num_lessons))
        shown.update(data.tolist())
        crowd.observe(data)
        if (crowd.beliefs[:, hypothesis] > 1.0 - 1e-6).all():
            break
    return crowd.beliefs, shown


@pytest.mark.parametrize("part", range(4))
def test_every_lesson_ends_at_the_truth_and_shows_only_data_that_it_allows(part):
    # Four parts of 500 patterns each; a rate of at least 0.01 makes the lessons short.
    rng = np.random.default_rng(part)
    num_done = 0
    while num_done < 500:
        n, m = rng.integers(2, 7), rng.integers(2, 5)
        matrix = random_pattern(rng, n, m)
        hypothesis = int(rng.integers(m))
        if cb.rate_of_convergence(matrix, hypothesis) < 0.01:
            continue
        num_done += 1
        prior = rng.dirichlet(np.ones(m)) if rng.random() < 0.5 else np.full(m, 1 / m)
        found, shown = settle(cb.SCBI(matrix), prior, hypothesis, 2, rng)
        assert (found[:, hypothesis] > 1.0 - 1e-6).all(), matrix.tolist()
        assert (matrix[list(shown), hypothesis] > 0.0).all()


@pytest.mark.parametrize("prior", ["uniform", "random"])
@pytest.mark.parametrize(("n", "m"), [(3, 3), (6, 4), (7, 5), (36, 4), (8, 10)])
def test_batches_of_beliefs_equal_single_beliefs(n, m, prior):
    rng = np.random.default_rng(n)
    for _ in range(8):
        rule = cb.SCBI(random_pattern(rng, n, m))
        beliefs = rng.dirichlet(np.ones(m), size=4)
        if prior == "uniform":
            beliefs[:] = 1.0 / m
        else:
            beliefs[0] = np.eye(m)[1]
            beliefs[1, :2] *= 1e-200
            beliefs[1] /= beliefs[1].sum()
        each = np.array([rule.likelihood(one) for one in beliefs])
        np.testing.assert_allclose(rule.likelihood(beliefs), each, rtol=1e-10, atol=1e-15)
        expected = np.array([rule.posteriors(one) for one in beliefs])
        np.testing.assert_allclose(rule.posteriors(beliefs), expected, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize(("n", "m"), [(4, 3), (9, 4), (10, 9)])
def test_compiled_lessons_match_stepwise_lessons(n, m):
    rng = np.random.default_rng(m)
    for _ in range(5):
        rule = cb.SCBI(random_pattern(rng, n, m))
        prior = rng.dirichlet(np.ones(m))
        crowd = Crowd(rule, np.log(prior), 6)
        learners = [cb.Learner(rule, prior) for _ in range(6)]
        for _ in range(6):
            data = crowd.draw(np.arange(6) % m, rng.random(6))
            crowd.observe(data)
            for learner, datum in zip(learners, data, strict=True):
                learner.observe(int(datum))
        expected = np.array([learner.belief for learner in learners])
        np.testing.assert_allclose(crowd.beliefs, expected, rtol=1e-8, atol=1e-12)


def test_a_teacher_is_the_chain_of_its_row_sums_conditioned_on_the_truth():
    # P_h(d_1 .. d_k) = prod(r' / n) theta_k(h) / theta_0(h), with r' the row sums of the
    # limit: for every row the ratio of its block.
    rng = np.random.default_rng(11)
    for _ in range(60):
        n, m = int(rng.integers(2, 7)), int(rng.integers(2, 5))
        matrix = random_pattern(rng, n, m)
        rule = cb.SCBI(matrix, tolerance=1e-15 * 10)
        prior = rng.dirichlet(np.ones(m))
        belief, chance, free = prior, 1.0, 1.0
        h = int(rng.integers(m))
        for _ in range(4):
            ratios = np.empty(n)
            for rows, _, ratio in cb.scaling_blocks(matrix, column_sums=n * belief).blocks:
                ratios[rows] = ratio
            column = rule.teach(belief[None], h)[0]
            datum = int(rng.choice(n, p=column / column.sum()))
            chance *= column[datum]
            free *= ratios[datum] / n
            belief = rule.update(belief[None], datum)[0]
        assert chance == pytest.approx(free * belief[h] / prior[h], rel=1e-12)


def test_belief_is_a_martingale_under_the_row_sums_of_the_blocks():
    rng = np.random.default_rng(12)
    for _ in range(40):
        n, m = int(rng.integers(2, 7)), int(rng.integers(2, 5))
        matrix = random_pattern(rng, n, m)
        belief = rng.dirichlet(np.ones(m))
        weights = np.empty(n)
        for rows, _, ratio in cb.scaling_blocks(matrix, column_sums=n * belief).blocks:
            weights[rows] = ratio / n
        posteriors = cb.SCBI(matrix).posteriors(belief)
        np.testing.assert_allclose(weights @ posteriors, belief, rtol=1e-11)


def test_lessons_with_an_impossible_datum_are_counted_and_keep_the_belief():
    # In the learner's matrix only a hypothesis with the prior zero allows datum 2.
    teacher = cb.BI([[1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    learner = cb.BI([[1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [0.0, 0.0, 1.0]])
    ensemble = cb.simulate(
        teacher,
        0,
        num_rounds=6,
        num_lessons=300,
        learner_rule=learner,
        learner_prior=[0.5, 0.5, 0.0],
        rng=1,
    )
    # Six uniform draws are all different from datum 2 in (2/3)^6 of the lessons.
    expected = 1.0 - (2 / 3) ** 6
    assert abs(ensemble.num_contradicted / 300 - expected) < 4 * np.sqrt(expected / 300)
    assert np.isfinite(ensemble.means).all()
    np.testing.assert_allclose(ensemble.means.sum(axis=1), 1.0)
    for rule in (learner, cb.SCBI(learner.model)):
        many = np.array([[0.5, 0.5, 0.0]] * 3)
        assert np.isnan(rule.posteriors(many)[:, 2]).all()
        with pytest.raises(cb.CobayesError, match="datum '2' is impossible"):
            rule.update(many, 2)


def test_a_tiny_belief_can_become_certain():
    rule = cb.BI([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    logs = np.array([0.0, -5000.0, np.log(0.5)])
    logs -= np.logaddexp.reduce(logs)
    found = Crowd(rule, logs, 2)
    found.observe([0, 1])
    np.testing.assert_allclose(found.log_beliefs[0, :2], [0.0, -5000.0], atol=1e-9)
    only_last = cb.BI([[0.0, 1.0], [1.0, 1.0]])
    found = Crowd(only_last, np.array([0.0, -5000.0]), 1)
    found.observe([0])
    np.testing.assert_allclose(found.beliefs, [[0.0, 1.0]])


def test_draws_stay_possible_when_sums_round_down():
    rule = cb.SCBI([[1.0, 1.0], [1.0, 2.0], [0.0, 1.0]])
    data = Crowd(rule, np.log([0.5, 0.5]), 3).draw(
        np.zeros(3, dtype=int), np.array([0.0, 0.5, np.nextafter(1.0, 2.0)])
    )
    assert data.max() <= 1


@pytest.mark.parametrize("zeros", ["matrix", "prior", "both"])
def test_batches_equal_single_beliefs_with_data_priors_and_zeros(zeros):
    rng = np.random.default_rng(3)
    matrix = random_pattern(rng, 6, 4) if zeros != "prior" else rng.gamma(1.0, size=(6, 4)) + 0.1
    prior = rng.dirichlet(np.ones(6))
    if zeros != "matrix":
        prior[4] = 0.0
    rule = cb.SCBI(matrix, data_prior=prior / prior.sum())
    beliefs = rng.dirichlet(np.ones(4), size=5)
    each = np.array([rule.likelihood(one) for one in beliefs])
    np.testing.assert_allclose(rule.likelihood(beliefs), each, rtol=1e-10, atol=1e-15)
    assert (each[:, prior == 0.0] == 0.0).all()


@pytest.mark.parametrize("tiny", [1e-12, 1e-15, 1e-40, 1e-100, 1e-153])
def test_a_tiny_belief_does_not_connect_ties_in_any_order_of_the_hypotheses(tiny):
    # The other two hypotheses have exactly the beliefs that their own data need. Newton's method in
    # 500 digits gives these limits.
    first = [[1, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1]]
    limit = np.array([[1, 0, 0], [0, 0, 1], [0, 0, 1], [1, 3, 0], [1, 0, 0], [0, 0, 1]]) / 3
    for table, expected in ((first, limit), ([[1, 1, 0], [1, 1, 1]], [[1, 1, 0], [0, 0, 1]])):
        for order in map(list, permutations(range(3))):
            rule = cb.SCBI(np.array(table)[:, order])
            found = rule.likelihood(np.array([0.5, tiny, 0.5])[order])
            np.testing.assert_allclose(found, np.array(expected)[:, order], atol=2e-11)


@pytest.mark.parametrize("rare", [1e-10, 1e-13, 1e-20])
def test_a_rare_datum_that_only_a_tiny_belief_allows_gets_all_of_its_lessons(rare):
    rule = cb.SCBI([[0, 1], [1, 2]], data_prior=[rare, 1.0])
    np.testing.assert_allclose(rule.likelihood([1.0, 1e-29]), [[0, 1], [1, 0]], atol=1e-8)


@pytest.mark.parametrize("rare", [5e-6, 5e-13, 5e-15])
def test_a_tiny_belief_shows_a_rare_datum_as_often_as_its_prior(rare):
    # Only the second hypothesis allows the second datum, which has 1 / 2000 of its belief.
    rule = cb.SCBI([[1, 1], [0, 1]], data_prior=[1.0 - rare, rare])
    found = rule.likelihood([1.0 - 2e3 * rare, 2e3 * rare])
    np.testing.assert_allclose(found, [[1, 0.9995], [0, 0.0005]], rtol=1e-9)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("rationality", [1e-8, 1e-3, 0.3, 1.0, 40.0])
def test_certainty_excludes_the_same_data_at_a_low_rationality_too(rationality, depth):
    table = [[1, 0.5, 0], [1, 1, 0.3], [0, 0.2, 1]]
    rule = cb.Pragmatic(table, depth, rationality=rationality)
    first, second = (np.isfinite(rule.at_certainty(h).log_likelihood) for h in (0, 1))
    # The third datum excludes the first hypothesis; no datum is excluded by the second one.
    np.testing.assert_array_equal(first, [[1, 0, 0], [1, 0, 0], [0, 1, 1]])
    np.testing.assert_array_equal(second, np.array(table) > 0.0)
