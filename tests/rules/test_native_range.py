"""Likelihoods for one belief, for many and in lessons, at the limits of float64's range."""

from fractions import Fraction

import numpy as np
import pytest

import cobayes as cb
from cobayes import _core
from cobayes.rules.response import add_evidence

# Found by random search: products of entries and factors are below or above float64's range.
FAR = [
    [1.3e10, 8.3e164, 3.0e172, 6.0e196],
    [6.1e-127, 9.6e-158, 1.3e83, 2.1e16],
    [8.6e38, 5.9e-172, 1.5e-109, 1.7e151],
    [9.9e-86, 3.1e154, 9.7e-273, 3.3e270],
]


@pytest.mark.parametrize(
    "rule",
    [
        cb.SCBI(FAR),
        cb.BI([[1e80, 1e-250], [1e-250, 1e80]]),
        cb.Pragmatic([[1e80, 1e-250], [1e-250, 1e80]], 1),
        cb.Pragmatic([[1.0, 6e-6], [6e-6, 1.0]], 2, rationality=8.0),
    ],
    ids=["SCBI", "BI", "depth 1", "rationality 8"],
)
def test_lessons_keep_beliefs_that_float64_cannot_hold(rule):
    belief = [0.105, 0.441, 0.36, 0.094] if rule.model.num_hypotheses == 4 else [0.5, 0.5]
    before = np.log([belief] * 3)
    logs = rule.respond(before[0]).log_likelihood
    assert np.isfinite(logs).all()
    assert logs.min() < -740.0  # exp(-745) is float64's smallest number
    for datum in range(rule.model.num_data):
        after, _, _ = rule.core.update(before, np.full(3, datum), num_threads=1)
        np.testing.assert_allclose(after[1], add_evidence(before[1], logs[datum]), rtol=1e-12)
    options = {"num_rounds": 1, "num_lessons": 2, "prior": belief, "keep_paths": True, "rng": 1}
    ensemble = cb.simulate(rule, 0, **options)
    assert np.isfinite(ensemble.paths).all()


def test_plain_bayes_multiplies_ratios_that_float64_cannot_hold():
    learner = cb.Learner(cb.BI([[1e80, 1e-250], [1e-250, 1e80]]))
    learner.observe(0)
    np.testing.assert_allclose(learner.log_belief, [0.0, -330.0 * np.log(10.0)], rtol=1e-13)


def test_with_one_hypothesis_all_data_are_equally_likely():
    # The learner is certain, L(h | d) = 1, so that T(d | h) is the data prior.
    rule = cb.Pragmatic([[1e-56], [6e-87]], 3, rationality=8.0)
    np.testing.assert_allclose(rule.likelihood([1.0]), [[0.5], [0.5]])


@pytest.mark.parametrize("data_prior", [[1.0, 1e-200], None])
def test_factors_beyond_float64_are_an_error(data_prior):
    matrix = [[1.0, 1.0], [1e300, 1e-300]]
    if data_prior is None:
        matrix = [[1e297, 3e38], [2e-61, 5e68], [6e-271, 7e243], [2e-187, 6e-200], [3e-13, 2e-45]]
    rule = cb.SCBI(matrix, data_prior=data_prior)
    with pytest.raises(cb.ConvergenceError, match="float64 cannot hold these numbers"):
        rule.respond(np.log([0.00542, 0.99458]))


def test_a_component_is_scaled_as_the_table_of_its_own_rows():
    # Balancing the columns for the third row, too, would make factors of the other rows overflow.
    matrix = np.array([[1, 1, 0, 1, 0], [1, 1e-200, 1e-200, 1e200, 1], [1, 1, 1, 1, 1]])
    rule = cb.SCBI(cb.limited_to(matrix, [0, 1]))
    expected = cb.SCBI(matrix[:2]).likelihood(np.full(5, 0.2))
    np.testing.assert_allclose(rule.likelihood(np.full(5, 0.2))[:2], expected, rtol=1e-9)
    for datum in (0, 1):
        learner, other = cb.Learner(rule), cb.Learner(cb.SCBI(matrix[:2]))
        learner.observe(datum), other.observe(datum)
        np.testing.assert_allclose(learner.log_belief, other.log_belief, rtol=1e-9)


def by_definition(matrix, logs, rationality):
    """Return log T(d | h) of depth 1, with T(d | h) proportional to posterior ** rationality."""
    with np.errstate(divide="ignore"):
        literal = np.log(matrix) - np.log(np.sum(matrix, axis=0))
    joint = literal + logs
    found = rationality * (literal - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    return found - np.logaddexp.reduce(found, axis=0)


@pytest.mark.parametrize("rationality", [1.0, 3.0])
@pytest.mark.parametrize(
    ("matrix", "log_belief"),
    [
        ([[1.0, 0.5], [0.0, 0.5]], [0.0, -5000.0]),
        ([[1.0, 1e89, 1.0], [0.0, 1e-130, 1.0]], [0.0, -345.0, -np.inf]),
    ],
    ids=["tiny belief", "tiny product"],
)
def test_a_datum_that_only_a_tiny_belief_allows_is_exact(matrix, log_belief, rationality):
    matrix, logs = np.array(matrix), np.array(log_belief)
    found = cb.Pragmatic(matrix, 1, rationality=rationality).respond(logs).log_likelihood
    expected = by_definition(matrix, logs, rationality)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_beliefs_that_differ_by_a_power_of_two_have_different_likelihoods():
    # 2**-100 and 2**-612 have the same mantissa in the core.
    rule = cb.Pragmatic([[1.0, 0.5], [0.0, 0.5]], 1)
    logs = np.array([[0.0, -100 * np.log(2.0)], [0.0, -612 * np.log(2.0)]])
    together = rule.respond_many(logs)
    for own, log_belief in zip(together, logs, strict=True):
        np.testing.assert_array_equal(own, rule.respond(log_belief).log_likelihood)
    assert together[0, 0, 1] - together[1, 0, 1] > 300.0


def test_data_of_a_literal_teacher_have_the_shares_of_its_column():
    # Entries 330 orders of magnitude apart need logarithms; the columns are not normalised.
    rule = cb.Pragmatic([[3e80, 1e-250], [1e80, 1e-250]], 0, literal="truth")
    ensemble = _core.simulate(
        rule.core,
        None,
        teacher_logs=np.log([0.5, 0.5]),
        hypothesis=0,
        num_rounds=1,
        num_lessons=4000,
        seed=1,
        keep_data=True,
    )
    share = (ensemble["data"][:, 0] == 0).mean()
    assert abs(share - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 4000)


def test_rounding_at_the_smallest_number_does_not_draw_an_impossible_datum():
    # The total of the probabilities is the smallest positive number; u times it is rounded to it.
    rule = cb.Pragmatic([[5e-324, 5e-324], [0.0, 1.0]], 0, literal="truth")
    options = {"hypothesis": 0, "num_rounds": 1, "num_lessons": 50, "keep_data": True, "seed": 1}
    found = _core.simulate(rule.core, None, teacher_logs=np.log([0.5, 0.5]), **options)
    assert (found["data"] == 0).all()


@pytest.mark.parametrize(
    "table",
    [
        [[5e-324, 1.0], [1e-323, 1.0]],
        [[1e-310, 2e-310], [1e-309, 1e-310]],
        [[1e308, 1.0], [1.7e308, 1.0]],
        [[1e-200, 1.0], [1e-250, 1e300]],
    ],
)
def test_a_truth_table_may_have_the_smallest_and_largest_numbers(table):
    rule = cb.Pragmatic(table, 0, literal="truth")
    exact = [[Fraction(entry) for entry in row] for row in table]
    totals = [sum(column) for column in zip(*exact, strict=True)]
    shares = np.array([[float(x / t) for x, t in zip(row, totals, strict=True)] for row in exact])
    expected = [[float(x / sum(row)) for x in row] for row in exact]
    even = [0.5, 0.5]
    for found in (rule.likelihood(even), rule.respond(np.log(even)).likelihood):
        np.testing.assert_allclose(found, shares, rtol=1e-12)
    # The exponential function of the core is zero below 1e-307.
    np.testing.assert_allclose(rule.posteriors(even), expected, rtol=1e-12, atol=1e-307)
    after = cb.exact_rounds(rule, 0, 1).mean[1]
    mean = float(shares[:, 0] @ np.array(expected)[:, 0])
    np.testing.assert_allclose(after, mean, rtol=1e-12, atol=1e-307)
    drawn = cb.simulate(rule, 0, num_rounds=1, num_lessons=400, rng=1)
    # The means over lessons omit beliefs below 2**-512.
    error = np.std(np.array(expected)[:, 0]) / np.sqrt(400)
    np.testing.assert_allclose(drawn.mean()[1], mean, rtol=1e-12, atol=5 * error + 1e-150)
    assert cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 1).data.shape == (1,)


def test_a_tiny_belief_in_the_only_hypothesis_that_shows_a_rare_datum_becomes_certain():
    """The belief is below 2**-512, and the factor of its column above 2**900.

    The first hypothesis can send its mass only to the first datum, whose share is far smaller, so
    that the second hypothesis sends nothing there: in 500 digits, alternating normalisation
    multiplies its posterior by 1e-111 each time.
    """
    rule = cb.SCBI([[1.0, 4.0], [0.0, 1.0]], data_prior=[1e-285, 1.0])
    belief = np.array([1e-174, 1.0])
    for found in (rule.update(belief, 0), rule.posteriors(belief)[0]):
        np.testing.assert_array_equal(found, [1.0, 0.0])


@pytest.mark.parametrize("tiny", [-46.0, -354.0, -355.0, -460.0, -667.0, -668.5, -709.0, -5000.0])
def test_the_ratio_of_tiny_beliefs_decides_about_data_that_only_they_allow(tiny):
    # log-beliefs; 2**-512 is e^-354.9 and 1e-290 is e^-667.7
    rule = cb.SCBI([[1, 0.5, 0.3], [1, 0.2, 0.6], [0, 1, 0.2], [0, 0.3, 1]])
    logs = np.array([0.0, tiny, tiny + np.log(2.0)])
    # The last two data and hypotheses are a table of their own, scaled to beliefs of 1/3 and 2/3.
    alone = cb.SCBI([[1, 0.2], [0.3, 1]]).posteriors([1 / 3, 2 / 3])
    found = np.exp(add_evidence(logs, rule.respond_many(logs[None])[0]))
    np.testing.assert_allclose(found[2:, 1:], alone, rtol=1e-11)
    np.testing.assert_array_equal(found[2:, 0], 0.0)


def test_tiny_beliefs_are_scaled_from_larger_to_smaller_ones():
    # Hypothesis k allows the data 0, ..., k. The data that no likelier hypothesis allows are shown
    # by the likeliest of the remaining hypotheses, and so on.
    rule = cb.SCBI(np.triu(np.ones((4, 4))))
    falling, rising = np.array([[0.0, -1e3, -2e3, -3e3], [0.0, -3e3, -2e3, -1e3]])
    shares = np.exp(rule.respond_many(np.array([falling, rising])))
    np.testing.assert_allclose(shares[0], np.eye(4), atol=1e-12)
    third = 1 / 3
    expected = [[1, 0, 0, 0], [0, 1, 0.5, third], [0, 0, 0.5, third], [0, 0, 0, third]]
    np.testing.assert_allclose(shares[1], expected, atol=1e-12)
    # The same with beliefs that are numbers of float64.
    np.testing.assert_allclose(
        rule.likelihood(np.exp(rising / 40) / np.exp(rising / 40).sum()), expected, atol=1e-12
    )


@pytest.mark.parametrize("tiny", [1e-160, 1e-180, 1e-289, 1e-300])
def test_a_tiny_belief_does_not_connect_components_with_equal_ratios(tiny):
    rule = cb.SCBI([[1, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1]])
    found = rule.likelihood([0.5, tiny, 0.5])
    expected = np.array([[1, 0, 0], [0, 0, 1], [0, 0, 1], [1, 3, 0], [1, 0, 0], [0, 0, 1]]) / 3
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("shifts", [(1000, 1535.5), (1400, 2047.5), (5000, 5631.5)])
def test_beliefs_on_one_level_may_lie_on_both_sides_of_a_shift(shifts):
    # Powers of two: the last two beliefs have the ratio 2, and together two data of their own.
    rule = cb.SCBI([[1, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0.2], [0, 0, 0.3, 1]])
    middle, last = shifts
    logs = np.array([[0.0, -middle, -last, -last - 1.0]]) * np.log(2.0)
    found = np.exp(rule.respond_many(logs)[0])[2:, 2:]
    alone = cb.SCBI([[1, 0.2], [0.3, 1]]).likelihood([2 / 3, 1 / 3])
    np.testing.assert_allclose(found, alone, rtol=1e-11)


def test_a_belief_as_small_as_a_data_prior_counts_beside_it():
    # The second datum is shown by the hypotheses 0 and 1 alone; both sums are near 1e-175.
    tiny = 1e-90
    rule = cb.SCBI([[1, tiny, 1], [tiny, 1, 0]], data_prior=[1, 1e-175])
    logs = np.log([0.5, 1e-175, 0.5])
    found = np.exp(add_evidence(logs, rule.respond_many(logs[None])[0]))
    # Alternating normalisation in 60 digits gives these posteriors.
    np.testing.assert_allclose(found[1], [0.002233569, 0.997766431, 0.0], atol=1e-8)


def test_a_datum_with_a_tiny_prior_goes_to_a_tiny_belief_of_a_later_level():
    rule = cb.SCBI([[1, 1, 1], [0, 1, 0], [0, 0, 1]], data_prior=[0.5, 0.5, 1e-40])
    found = np.exp(rule.respond_many(np.array([[0.0, -400.0, -420.0]]) * np.log(10.0))[0])
    np.testing.assert_allclose(found, np.eye(3), atol=1e-12)


def test_answers_do_not_depend_on_how_far_tiny_beliefs_lie_below_the_others():
    # 300 random tables with zeros, whose hypotheses have beliefs near 1, 10^-K and 10^-2K.
    rng = np.random.default_rng(5)
    for _ in range(300):
        n, m = rng.integers(2, 7, 2)
        table = (rng.random((n, m)) < 0.55) * (rng.exponential(size=(n, m)) + 0.05)
        if not (table.sum(0).all() and table.sum(1).all()):
            continue
        level, shares = rng.integers(0, 3, m) * np.log(10.0), np.log(rng.dirichlet(np.ones(m) * 2))
        level -= level.min()
        logs = np.array([shares - level * k for k in (30, 100, 155, 200, 330, 2000)])
        logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
        first, *others = np.exp(cb.SCBI(table).respond_many(logs))
        for other in others:
            np.testing.assert_allclose(other, first, atol=1e-9)


def test_factors_that_overflow_draw_no_impossible_datum():
    matrix = [[0.0, 1.0], [1.0, 1.0], [0.0, 1e308]]
    found = cb.simulate(cb.Pragmatic(matrix, 1), 0, num_rounds=1, num_lessons=9, rng=1)
    np.testing.assert_allclose(found.means[1], [1.0, 0.0], atol=1e-300)
