"""Rates of the best teacher, rates seen in lessons, and predicted numbers of rounds."""

import math

import numpy as np
import pytest
from scipy import stats

import cobayes as cb
from cobayes.theory.certainty import (
    choosing_rate,
    empirical_rate,
    mean_overshoot,
    predicted_rounds,
)


def test_with_two_hypotheses_the_most_telling_datum_is_shown_alone():
    matrix = np.array([[0.6, 0.3], [0.3, 0.2], [0.1, 0.5]])
    found = choosing_rate(cb.BI(matrix), 0)
    assert found.rate == pytest.approx(math.log(2.0))
    np.testing.assert_allclose(found.data_shares, [1.0, 0.0, 0.0], atol=1e-12)
    assert found.drawing_rate == pytest.approx(cb.rate_of_convergence(cb.BI(matrix), 0))


@pytest.mark.parametrize("kind", [cb.BI, cb.SCBI])
@pytest.mark.parametrize("name", ["M_1", "M_3", "M'_2"])
def test_lessons_with_these_shares_reach_the_rate_and_greedy_ones_do_not_exceed_it(kind, name):
    rule = kind(cb.examples[name].model)
    found = choosing_rate(rule, 0)
    assert found.rate > found.drawing_rate
    assert "nats per round" in repr(found)
    # Show data in these proportions, as evenly as possible, to a learner that is nearly sure: on
    # M'_2 they lead an SCBI learner with a uniform prior elsewhere.
    m = rule.model.num_hypotheses
    learner = cb.Learner(rule, np.where(np.arange(m) == 0, 0.999, 0.001 / (m - 1)))
    shown = np.zeros(len(found.data_shares))
    odds = []
    for k in range(1, 801):
        datum = int(np.argmax(k * found.data_shares - shown))
        shown[datum] += 1
        learner.observe(datum)
        logs = learner.log_belief
        odds.append(logs[0] - np.logaddexp.reduce(logs[1:]))
    assert (odds[799] - odds[399]) / 400 == pytest.approx(found.rate, rel=0.02)
    greedy = cb.plan_lesson(rule, 0, 200).log_beliefs
    gained = greedy[:, 0] - np.logaddexp.reduce(greedy[:, 1:], axis=1)
    assert (gained[200] - gained[100]) / 100 <= found.rate * 1.01


@pytest.mark.parametrize(
    "rule", [cb.SCBI([[1, 0], [1, 1]]), cb.Pragmatic([[2, 1], [1, 1]], 1, rationality=1e50)]
)
def test_a_datum_that_excludes_a_rival_is_refused(rule):
    with pytest.raises(cb.CobayesError, match="excludes a rival"):
        choosing_rate(rule, 0)


def test_the_best_teacher_shows_available_data_only():
    matrix = np.array([[0.6, 0.3], [0.3, 0.5], [0.1, 0.9]])
    limited = cb.limited_to(matrix, [0, 1])
    for rule, kind in (
        (cb.SCBI(matrix, data_prior=[0.5, 0.5, 0.0]), cb.SCBI),
        (cb.SCBI(limited), cb.SCBI),
        (cb.BI(limited), cb.BI),
    ):
        found, expected = choosing_rate(rule, 1), choosing_rate(kind(matrix[:2]), 1)
        assert found.rate == pytest.approx(expected.rate)
        np.testing.assert_allclose(found.data_shares, [*expected.data_shares, 0.0], atol=1e-12)


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
        value, stderr = empirical_rate(rule, h, num_rounds=3000, num_lessons=400, rng=seed)
        # Twelve comparisons at 4.5 standard errors: false alarm below 1e-4 in all. The last
        # term is the bias left when two hypotheses vanish at nearly the same rate.
        assert abs(value - expected) < 4.5 * stderr + 1e-3 * expected
        # 1 - belief is far below the resolution of float64, which is e^-36.7.
        assert expected * 3000 > 100


def test_the_measured_rate_is_infinite_if_data_exclude_every_rival():
    for matrix in ([[1, 0], [0, 1]], [[1.0, 0.5], [0.0, 0.5]]):
        rate, stderr = empirical_rate(matrix, 1, num_rounds=20, num_lessons=20, rng=1)
        assert rate == math.inf == cb.rate_of_convergence(matrix, 1)
        assert math.isnan(stderr)


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
    with pytest.raises(cb.CobayesError, match="no hypothesis"):
        empirical_rate(rule, "A")


def test_the_same_seed_sequence_gives_the_same_rate_twice():
    rule = cb.SCBI([[2.0, 1.0], [1.0, 2.0]])
    seed = np.random.SeedSequence(5)
    first = empirical_rate(rule, 0, num_rounds=10, num_lessons=5, rng=seed)
    assert empirical_rate(rule, 0, num_rounds=10, num_lessons=5, rng=seed) == first


def first_rounds(rule, level, num_rounds, num_lessons=600):
    """The round at which each lesson first has log-odds above a level."""
    odds = cb.simulate(rule, 0, num_rounds=num_rounds, num_lessons=num_lessons, rng=1).log_odds(0)
    assert (odds > level).any(axis=1).all()
    return (odds > level).argmax(axis=1)


@pytest.mark.parametrize("kind", [cb.SCBI, cb.BI])
@pytest.mark.parametrize("name", ["M_1", "M_2", "M_4", "M'_1", "grid-world"])
def test_lessons_take_as_long_as_predicted_when_doubt_is_small(kind, name):
    rule = kind(cb.examples[name].model)
    doubt = 1e-9
    found = predicted_rounds(rule, 0, level=1.0 - doubt)
    rounds = first_rounds(rule, math.log((1 - doubt) / doubt), int(found.mean + 12 * found.std))
    # 4 standard errors, and 3 % for the shift by the early rounds, which the prediction neglects.
    error = 4.0 * rounds.std() / math.sqrt(len(rounds)) + 0.03 * found.mean
    assert rounds.mean() == pytest.approx(found.mean, abs=error)
    # If several rivals are nearly equally hard (M'_1), the predicted spread is off by up to 25 %.
    assert rounds.std() == pytest.approx(found.std, rel=0.25)
    assert np.quantile(rounds, 0.9) == pytest.approx(found.quantile(0.9), rel=0.1)


@pytest.mark.parametrize("name", ["M_1", "M_4"])
def test_further_digits_of_certainty_cost_their_logarithm_over_the_rate(name):
    rule = cb.SCBI(cb.examples[name].model)
    near, far = (predicted_rounds(rule, 0, level=1.0 - doubt) for doubt in (1e-4, 1e-9))
    # A second rival takes its share of rounds: more on M_1, where it is nearly as hard.
    assert far.mean - near.mean == pytest.approx(
        math.log(1e5) / near.rate, rel=0.05 if name == "M_1" else 0.01
    )
    limit = int(far.mean + 10 * far.std)
    seen = first_rounds(rule, math.log(1e9), limit) - first_rounds(rule, math.log(1e4), limit)
    assert seen.mean() == pytest.approx(
        far.mean - near.mean, abs=4.0 * seen.std() / math.sqrt(len(seen)) + 2.0
    )


def test_the_overshoot_is_that_of_spitzers_identity():
    # E X^2 / (2 E X) less the sum over k of E max(-S_k, 0) / k, with binomial sums S_k.
    shares, steps = np.array([0.65, 0.35]), np.array([math.log(1.9), math.log(0.45)])
    mean = shares @ steps
    expected = shares @ steps**2 / (2.0 * mean)
    for k in range(1, 1500):
        ups = np.arange(k + 1)
        below = np.maximum(-(ups * steps[0] + (k - ups) * steps[1]), 0.0)
        expected -= float(stats.binom.pmf(ups, k, shares[0]) @ below) / k
    assert mean_overshoot(shares, steps) == pytest.approx(expected, rel=5e-3)
    # Steps of one width, up or down: the first value above zero is one step.
    assert mean_overshoot(np.array([0.6, 0.4]), np.array([1.0, -1.0])) == pytest.approx(0.5)


def test_the_overshoot_of_a_walk_with_a_very_long_step_is_an_upper_bound():
    # Almost all steps are 1, so the true overshoot is about 1/2. The step of -10,000 does not fit
    # on the grid; E X^2 / (2 E X) is then about 2 / 2.
    shares, steps = np.array([1.0 - 1e-8, 1e-8]), np.array([1.0, -1e4])
    bound = (shares @ steps**2) / (2.0 * (shares @ steps))
    assert bound == pytest.approx(1.0, abs=2e-4)
    assert mean_overshoot(shares, steps) == pytest.approx(bound, rel=1e-12)


def test_rounds_of_bi_with_two_hypotheses_are_those_of_a_random_walk():
    # Increments are independent from the first round on: the renewal theorem says it all.
    rule = cb.BI([[0.7, 0.4], [0.2, 0.35], [0.1, 0.25]])
    found = predicted_rounds(rule, 0, level=1.0 - 1e-6)
    limit = int(found.mean + 10 * found.std)
    rounds = first_rounds(rule, math.log((1 - 1e-6) / 1e-6), limit, num_lessons=8000)
    stderr = rounds.std() / math.sqrt(len(rounds))
    assert abs(rounds.mean() - found.mean) <= 4.0 * stderr
    # Without the overshoot it would be off by more.
    assert rounds.mean() - (found.mean - found.overshoot / found.rate) > 2.0 * stderr


def test_the_rate_and_the_rival_are_those_of_the_theorem():
    model = cb.examples["M_5"].model
    for rule in (cb.SCBI(model), cb.BI(model)):
        found = predicted_rounds(rule, 1)
        assert found.rate == pytest.approx(cb.rate_of_convergence(rule, 1))
        assert found.rival == model.hypotheses[cb.theory.relevant_hypothesis(rule, 1)]
    assert "nats per round" in repr(found)


def test_a_pragmatic_rule_is_predicted_too():
    matrix = np.random.default_rng(3).dirichlet(np.ones(4), 3).T
    deep = predicted_rounds(cb.Pragmatic(matrix, 40), 0)
    assert deep.mean == pytest.approx(predicted_rounds(matrix, 0).mean, rel=1e-3)


def test_equal_columns_take_for_ever_and_exclusion_has_no_normal_limit():
    found = predicted_rounds([[0.5, 0.5], [0.5, 0.5]], 0)
    assert found.mean == found.quantile(0.5) == math.inf
    with pytest.raises(cb.CobayesError, match="every rival is excluded"):
        predicted_rounds([[1.0, 0.0], [1.0, 1.0]], 0)
    with pytest.raises(cb.CobayesError, match="level"):
        predicted_rounds([[0.6, 0.3], [0.4, 0.7]], 0, level=0.3)


def test_a_learner_who_is_sure_already_needs_no_round():
    assert (
        predicted_rounds([[0.6, 0.3], [0.4, 0.7]], 0, prior=[0.999, 0.001], level=0.9).mean == 0.0
    )


def test_a_learner_that_is_led_astray_is_never_sure():
    rule = cb.Pragmatic([[3, 1], [1, 1]], 0, literal="truth")
    found = predicted_rounds(rule, 1)
    assert found.rate == pytest.approx(-0.5 * math.log(3.0))
    assert found.mean == math.inf
    assert choosing_rate(rule, 1).drawing_rate == found.rate


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


def test_the_overshoot_of_nearly_equal_columns_is_a_share_of_a_step():
    # 2,000 lessons took 58,099 rounds on average, with a standard error of 543.
    found = predicted_rounds(cb.BI([[0.5, 0.49], [0.5, 0.51]]), 0)
    assert abs(found.mean - 58_099) < 4 * 543
    wider = predicted_rounds(cb.BI([[0.5, 0.45], [0.5, 0.55]]), 0)
    shares = [own.overshoot / np.sqrt(own.variance) for own in (found, wider)]
    assert shares[0] == pytest.approx(shares[1], rel=0.01)
