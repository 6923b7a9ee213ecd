"""Exact moments round by round, against plain enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.rules import Response
from cobayes.theory.exact import distinct_data, exact_rounds, moments_by_counts, moments_on_task
from cobayes.theory.measures import AtomicMeasure

seeds = st.integers(0, 2**32 - 1)
RULES = [cb.BI, cb.SCBI]


def every_hypothesis(rule, num_rounds, prior):
    """Return the means and deviations while each hypothesis is taught, (k + 1, m, m)."""
    found = [exact_rounds(rule, h, num_rounds, prior) for h in range(len(prior))]
    return [np.stack([getattr(one, name) for one in found], axis=1) for name in ("means", "stds")]


def random_case(seed, n, m):
    rng = np.random.default_rng(seed)
    return rng.exponential(size=(n, m)) + 0.01, rng.dirichlet(np.ones(m))


def enumerate_rounds(rule, prior, num_rounds):
    """Go through all sequences of data, plainly.

    Returns lists by round of beliefs (a, m) and of their probabilities (a, m) when each of the
    hypotheses is taught.
    """
    levels = [(np.array([prior]), np.ones((1, len(prior))))]
    for _ in range(num_rounds):
        beliefs, chances = [], []
        for belief, chance in zip(*levels[-1], strict=True):
            likelihood = rule.likelihood(belief)
            for row, posterior in zip(likelihood, rule.posteriors(belief), strict=True):
                beliefs.append(posterior)
                chances.append(chance * row)
        levels.append((np.array(beliefs), np.array(chances)))
    return levels


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("size", [3, 4])
def test_equals_enumeration_to_round_six_for_every_hypothesis(kind, size):
    matrix, prior = random_case(size, size, size)
    rule = kind(matrix)
    results = [exact_rounds(rule, h, 6, prior) for h in range(size)]
    for k, (beliefs, chances) in enumerate(enumerate_rounds(rule, prior, 6)):
        for h, result in enumerate(results):
            mean = chances[:, h] @ beliefs
            std = np.sqrt(chances[:, h] @ (beliefs - mean) ** 2)
            np.testing.assert_allclose(result.means[k], mean, rtol=1e-9)
            np.testing.assert_allclose(result.stds[k], std, rtol=1e-8, atol=1e-14)
            assert result.mean[k] == result.means[k, h]
            assert result.std[k] == result.stds[k, h]


@pytest.mark.parametrize("kind", RULES)
@given(seed=seeds)
@settings(max_examples=15)
def test_equals_pushing_the_measure_round_by_round(kind, seed):
    rng = np.random.default_rng(seed)
    n, m = (int(k) for k in rng.integers(1, 6, size=2))
    matrix, prior = random_case(seed, n, m)
    rule = kind(matrix)
    h = int(rng.integers(m))
    result = exact_rounds(rule, h, 3, prior)
    measure = AtomicMeasure.at(prior)
    for k in range(4):
        np.testing.assert_allclose(result.means[k], measure.mean(), rtol=1e-9)
        np.testing.assert_allclose(result.stds[k], measure.std(), rtol=1e-7, atol=1e-10)
        measure = measure.push(rule, h)


@given(seed=seeds)
@settings(max_examples=15)
def test_counts_atoms_one_by_one_and_the_native_tree_agree(seed):
    rng = np.random.default_rng(seed)
    matrix, prior = random_case(seed, int(rng.integers(2, 5)), int(rng.integers(2, 5)))
    for rule, own in ((cb.BI(matrix), moments_by_counts), (cb.SCBI(matrix), None)):
        arguments = (rule, np.log(prior), 0, 4, *distinct_data(rule))
        (means, variances), _ = moments_on_task(rule, np.log(prior), 0, 4, 10**6)
        found = exact_rounds(rule, 0, 4, prior)
        np.testing.assert_allclose(found.means[1:], means, rtol=1e-11)
        np.testing.assert_allclose(found.stds[1:], np.sqrt(variances), rtol=1e-8, atol=1e-14)
        if own is not None:
            np.testing.assert_allclose(own(*arguments)[0], found.means[1:], rtol=1e-13)
            assert found.num_atoms == math.comb(len(matrix) + 3, 4)
        else:
            assert found.num_atoms == len(matrix) ** 4


@pytest.mark.parametrize("kind", RULES)
def test_averaged_over_the_prior_the_mean_belief_never_moves(kind):
    # Bayes: who draws the hypothesis from the prior expects the learner to stay put.
    matrix, prior = random_case(6, 4, 4)
    means, _ = every_hypothesis(kind(matrix), 5, prior)
    average = np.einsum("h,khj->kj", prior, means)
    np.testing.assert_allclose(average, np.broadcast_to(prior, average.shape), rtol=1e-9)


@pytest.mark.parametrize("kind", RULES)
def test_permuting_data_changes_nothing_and_permuting_hypotheses_permutes(kind):
    matrix, prior = random_case(8, 4, 3)
    means, stds = every_hypothesis(kind(matrix), 4, prior)
    by_data, stds_by_data = every_hypothesis(kind(matrix[[2, 0, 3, 1]]), 4, prior)
    np.testing.assert_allclose(by_data, means, rtol=1e-10)
    np.testing.assert_allclose(stds_by_data, stds, rtol=1e-9, atol=1e-15)
    order = [1, 2, 0]
    permuted, _ = every_hypothesis(kind(matrix[:, order]), 4, prior[order])
    np.testing.assert_allclose(permuted, means[:, order][:, :, order], rtol=1e-10)


@pytest.mark.parametrize("kind", RULES)
def test_agrees_with_simulation(kind):
    # 60 comparisons, each beyond 4 standard errors with probability 6e-5: 0.4 % in all.
    matrix, prior = random_case(9, 4, 4)
    num_lessons = 20_000
    for h in range(3):
        exact = exact_rounds(kind(matrix), h, 5, prior)
        drawn = cb.simulate(
            kind(matrix), h, num_rounds=5, num_lessons=num_lessons, prior=prior, rng=h
        )
        for j in range(4):
            stderr = np.maximum(exact.stds[:, j], 1e-12) / math.sqrt(num_lessons)
            assert (np.abs(drawn.mean(j) - exact.means[:, j]) <= 4.0 * stderr).all()


@pytest.mark.parametrize("kind", RULES)
def test_data_with_proportional_rows_are_counted_once_and_weigh_what_they_should(kind):
    base, prior = random_case(10, 3, 3)
    matrix = np.vstack([base, 2.5 * base[1], base[0]])
    for h in range(3):
        result = exact_rounds(kind(matrix), h, 4, prior)
        assert result.num_atoms == (math.comb(3 + 3, 4) if kind is cb.BI else 3**4)
        measure = AtomicMeasure.at(prior)
        for _ in range(4):
            measure = measure.push(kind(matrix), h)
        np.testing.assert_allclose(result.means[4], measure.mean(), rtol=1e-10)
        np.testing.assert_allclose(result.stds[4], measure.std(), rtol=1e-8)


@pytest.mark.parametrize("literal", ["likelihood", "truth"])
@pytest.mark.parametrize("depth", [0, 1])
def test_proportional_rows_weigh_what_they_should_at_any_depth(depth, literal):
    matrix, prior = random_case(7, 4, 3)
    matrix[2] = 2.5 * matrix[0]
    rule = cb.Pragmatic(matrix, depth, data_prior=[0.1, 0.2, 0.3, 0.4], literal=literal)
    assert rule.depends_on_belief == (depth > 0)
    measure = AtomicMeasure.at(prior)
    for _ in range(3):
        measure = measure.push(rule, 0)
    found = exact_rounds(rule, 0, 3, prior)
    np.testing.assert_allclose(found.means[3], measure.mean(), rtol=1e-12)
    np.testing.assert_allclose(found.stds[3], measure.std(), rtol=1e-10)


def test_data_that_say_nothing_leave_no_spread_behind():
    # The naive E[x^2] - E[x]^2 would leave the square root of a rounding error, 1e-8.
    for rule in (cb.BI(np.ones((3, 4))), cb.SCBI(np.ones((3, 4)))):
        result = exact_rounds(rule, 0, 4, [0.4, 0.3, 0.2, 0.1])
        assert result.std.max() < 1e-14
        np.testing.assert_allclose(result.mean, 0.4, rtol=1e-13)


def test_small_deviations_near_certainty_are_accurate():
    # Two hypotheses, prior 1 - 1e-9: theta(0) is 1 - q with q of order 1e-9 of either datum.
    matrix, q = np.array([[0.75, 0.25], [0.25, 0.75]]), 1e-9
    result = exact_rounds(cb.BI(matrix), 0, 1, [1.0 - q, q])
    posterior = q * matrix[:, 1] / (q * matrix[:, 1] + (1.0 - q) * matrix[:, 0])
    mean = matrix[:, 0] @ posterior
    std = math.sqrt(matrix[:, 0] @ (posterior - mean) ** 2)
    assert result.std[1] == pytest.approx(std, rel=1e-6)
    assert result.stds[1, 1] == pytest.approx(std, rel=1e-12)


def test_the_number_of_threads_changes_no_bit():
    from cobayes._parallel import set_num_threads

    # Seven rounds of five data: level by level at first, depth first below 16,384 beliefs.
    matrix, prior = random_case(12, 5, 3)
    found = []
    for threads in (1, 3):
        set_num_threads(threads)
        try:
            found.append(exact_rounds(cb.SCBI(matrix), 1, 7, prior))
        finally:
            set_num_threads(None)
    np.testing.assert_array_equal(found[0].means, found[1].means)
    np.testing.assert_array_equal(found[0].stds, found[1].stds)
    measure = cb.AtomicMeasure.at(prior)
    for expected in found[0].means:
        np.testing.assert_allclose(measure.mean(), expected, rtol=1e-12)
        measure = measure.push(cb.SCBI(matrix), 1) if len(measure) < 5**7 else measure


def test_hundreds_of_rounds_of_bi_are_exact_too():
    # Two data: the count is binomial, summed here in exact order by scipy's distribution.
    from scipy.stats import binom

    matrix, rounds = np.array([[0.6, 0.5], [0.4, 0.5]]), 300
    result = exact_rounds(cb.BI(matrix), 0, rounds)
    count = np.arange(rounds + 1)
    odds = np.exp(count * np.log(0.5 / 0.6) + (rounds - count) * np.log(0.5 / 0.4))
    belief = 1.0 / (1.0 + odds)
    chance = binom.pmf(count, rounds, 0.6)
    mean = chance @ belief
    assert result.mean[-1] == pytest.approx(mean, rel=1e-11)
    assert result.std[-1] == pytest.approx(math.sqrt(chance @ (belief - mean) ** 2), rel=1e-9)


def test_a_rule_of_ones_own_is_asked_and_not_its_parent():
    class Halfway(cb.SCBI):
        """SCBI that believes half of what it is taught."""

        def respond(self, log_belief):
            likelihood = super().respond(log_belief).likelihood
            return Response((likelihood + 1.0 / 3.0) / 2.0)

    matrix, prior = random_case(14, 3, 3)
    rule = Halfway(matrix)
    result = exact_rounds(rule, 1, 3, prior)
    beliefs, chances = enumerate_rounds(rule, prior, 3)[-1]
    np.testing.assert_allclose(result.means[-1], chances[:, 1] @ beliefs, rtol=1e-10)
    assert result.mean[-1] < exact_rounds(cb.SCBI(matrix), 1, 3, prior).mean[-1]


def test_zero_rounds_are_the_prior():
    result = exact_rounds(cb.SCBI(np.ones((2, 2))), 0, 0, [0.25, 0.75])
    assert result.mean.tolist() == [0.25]
    assert result.std.tolist() == [0.0]
    assert result.num_rounds == 0


def test_a_hypothesis_of_prior_zero_cannot_be_taught():
    rule = cb.SCBI(cb.Model([[1.0, 2.0, 1.0], [3.0, 1.0, 1.0]], hypotheses=["A", "B", "C"]))
    with pytest.raises(cb.CobayesError, match=r"'B', is zero.*teaching is impossible"):
        exact_rounds(rule, "B", 2, [0.5, 0.0, 0.5])
    found = exact_rounds(rule, "A", 2, [0.5, 0.0, 0.5])
    assert (found.means[:, 1] == 0.0).all()


def test_a_tree_too_large_is_refused_and_simulation_recommended():
    rule = cb.SCBI(np.random.default_rng(0).exponential(size=(20, 20)))
    with pytest.raises(cb.CobayesError, match=r"10\^9 beliefs(.|\n)*cobayes\.simulate"):
        exact_rounds(rule, 0, 7)
    with pytest.raises(cb.CobayesError, match="more than 1000 beliefs"):
        exact_rounds(rule, 0, 3, max_atoms=1000)
    with pytest.raises(cb.CobayesError, match=r"10\^13010"):
        exact_rounds(rule, 0, 10_000)
    # BI: comb(8 + 30, 30) = 4.9e7 vectors of counts in 30 rounds.
    rule = cb.BI(np.random.default_rng(0).exponential(size=(8, 3)))
    with pytest.raises(cb.CobayesError, match=r"about 10\^8 beliefs"):
        exact_rounds(rule, 0, 30, max_atoms=10**6)


def test_a_round_on_a_task_that_cannot_be_afforded_is_refused_before_it_begins(monkeypatch):
    rule = cb.SCBI(cb.without_repeats(np.random.default_rng(0).exponential(size=(6, 3))))
    assert exact_rounds(rule, 0, 4).num_atoms == 6 * 5 * 4 * 3
    monkeypatch.setattr("cobayes._parallel.LARGEST_BYTES", 1e5)
    with pytest.raises(cb.CobayesError, match=r"round 4 of 4 with about 480 beliefs .* GB of mem"):
        exact_rounds(rule, 0, 4)
    monkeypatch.setattr("cobayes._parallel.LARGEST_BYTES", 1e9)
    monkeypatch.setattr("cobayes._parallel.LONGEST_SECONDS", 2e-3)
    with pytest.raises(cb.CobayesError, match=r"round 4 of 4 with about 480 beliefs .* 0.002 s"):
        exact_rounds(rule, 0, 4)


def test_a_tree_that_would_take_years_is_refused_whatever_max_atoms_is():
    rule = cb.SCBI(np.random.default_rng(0).exponential(size=(20, 20)))
    with pytest.raises(cb.CobayesError, match="years"):
        exact_rounds(rule, 0, 15, max_atoms=10**400)


def test_bad_input_is_refused_with_a_reason():
    rule = cb.SCBI(np.ones((2, 2)))
    for bad in (-1, 1.5, True):
        with pytest.raises(cb.CobayesError, match="num_rounds"):
            exact_rounds(rule, 0, bad)
    with pytest.raises(cb.CobayesError, match="no hypothesis called 'C'"):
        exact_rounds(rule, "C", 1)
    with pytest.raises(cb.CobayesError, match="allows none of the data"):
        exact_rounds(cb.SCBI([[1, 0], [0, 1], [1, 1]], data_prior=[1, 0, 0]), 1, 1)


def test_results_show_labels_and_numbers():
    rule = cb.BI(cb.Model([[1.0, 2.0], [3.0, 1.0]], ["up", "down"], ["A", "B"]))
    one = exact_rounds(rule, "B", 3)
    assert "taught 'B'" in repr(one)
    assert one.to_xarray().attrs["true_hypothesis"] == "B"
    table = one.to_dataframe()
    assert list(table.columns) == ["round", "hypothesis", "mean", "std"]
    assert len(table) == 4 * 2
    with pytest.raises(ValueError, match="read-only"):
        one.means[0] = 1.0


@pytest.mark.slow
def test_twenty_by_twenty_to_round_five_conserves_what_must_be_conserved():
    # The size of Figure 3: 3.2 million atoms for each hypothesis.
    matrix = np.random.default_rng(20).dirichlet(np.ones(20), size=20).T
    one, other = (exact_rounds(cb.SCBI(matrix), h, 5) for h in (0, 7))
    assert one.num_atoms == 20**5
    np.testing.assert_allclose(one.means.sum(axis=1), 1.0, rtol=1e-10)
    assert (np.diff(one.mean) > 0.0).all()
    # E_h[theta(j)] theta_0(h) = E_U[theta(j) theta(h)] is symmetric in h and j.
    assert one.means[5, 7] == pytest.approx(other.means[5, 0], rel=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda given: cb.exact_rounds(given, 0, 2),
        lambda given: cb.theory.inverse_update(given, [0.5, 0.5], 0),
    ],
)
def test_a_matrix_instead_of_a_rule_means_scbi_of_it(call):
    matrix = np.array([[0.8, 0.3], [0.2, 0.7]])
    expected = call(cb.SCBI(matrix))
    for found in (call(matrix), call(cb.Model(matrix))):
        np.testing.assert_array_equal(
            getattr(found, "means", found), getattr(expected, "means", expected)
        )


@pytest.mark.parametrize("options", [{"max_atoms": "a"}, {"max_atoms": 0}])
def test_options_of_a_wrong_kind_are_refused(options):
    with pytest.raises(cb.CobayesError, match=next(iter(options))):
        cb.exact_rounds(cb.SCBI(np.ones((2, 2))), 0, 2, **options)


@pytest.mark.parametrize("num_rounds", [10**5, 10**12])
def test_work_over_all_rounds_is_estimated_before_it_starts(num_rounds):
    # With two data, 10^5 rounds end at 100,001 vectors of counts, after 5 * 10^9 in all rounds.
    with pytest.raises(cb.CobayesError, match="beliefs; exact_rounds goes up to 1e"):
        exact_rounds(cb.BI([[0.6, 0.3], [0.4, 0.7]]), 0, num_rounds)
    with pytest.raises(cb.CobayesError, match="beliefs; exact_rounds goes up to 1e"):
        exact_rounds(cb.SCBI([[0.6, 0.3], [0.4, 0.7]]), 0, num_rounds)


def test_proportional_rows_lead_to_fewer_beliefs_than_sequences():
    # The paper's n^k counts sequences; two proportional rows lead to the same posterior.
    rule = cb.SCBI([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0]])
    found = exact_rounds(rule, 0, 4)
    assert found.num_atoms == 2**4
    measure = cb.AtomicMeasure.at([0.5, 0.5])
    for _ in range(4):
        measure = measure.push(rule, 0)
    assert len(measure) == 3**4
    assert len(measure.merged()) <= 2**4
    np.testing.assert_allclose(found.mean[-1], measure.mean()[0], rtol=1e-12)


@pytest.mark.parametrize("kind", [cb.SCBI, cb.BI])
def test_tasks_with_states_agree_with_simulated_lessons(kind):
    # 20,000 lessons; 5 standard errors: error rate below 1e-5 per round.
    matrix = np.random.default_rng(3).exponential(size=(5, 3))
    rule = kind(cb.without_repeats(matrix))
    exact = cb.exact_rounds(rule, 1, 4)
    sampled = cb.simulate(rule, 1, num_rounds=4, num_lessons=20_000, rng=1)
    gaps = np.abs(exact.mean - sampled.mean())
    assert (gaps <= 5.0 * sampled.stderr() + 1e-12).all()
    np.testing.assert_allclose(exact.std, sampled.std(), rtol=0.05, atol=1e-9)


def test_a_world_is_walked_exactly():
    rule = cb.SCBI(cb.GridWorld.paper())
    exact = cb.exact_rounds(rule, 0, 3)
    sampled = cb.simulate(rule, 0, num_rounds=3, num_lessons=400, rng=1)
    assert (np.abs(exact.mean - sampled.mean()) <= 5.0 * sampled.stderr() + 1e-12).all()
    with pytest.raises(cb.CobayesError, match="more than 5 beliefs"):
        cb.exact_rounds(rule, 0, 3, max_atoms=5)


def test_moments_of_many_blocks_of_beliefs_are_those_of_all_sequences():
    # Two data and ten rounds: 1,024 beliefs, which the core merges from blocks of 256.
    rule, prior = cb.SCBI([[0.7, 0.4], [0.3, 0.6]]), np.log([0.3, 0.7])
    logs, weights = prior[None], np.ones(1)
    found = cb.exact_rounds(rule, 0, 10, np.exp(prior))
    for k in range(1, 11):
        chances = np.exp(rule.respond_many(logs)[:, :, 0])
        weights = np.concatenate([weights * chances[:, d] for d in (0, 1)])
        logs = np.vstack([rule.core.update(logs, np.full(len(logs), d))[0] for d in (0, 1)])
        belief = np.exp(logs[:, 0])
        mean = weights @ belief
        np.testing.assert_allclose(found.mean[k], mean, rtol=1e-12)
        np.testing.assert_allclose(found.std[k] ** 2, weights @ (belief - mean) ** 2, rtol=1e-10)


@pytest.mark.parametrize("matrix", [[[1.0, 2.0]], [[0.6, 0.2], [0.4, 0.8]]])
@pytest.mark.parametrize("max_atoms", [100, 10**400])
def test_rounds_beyond_float64_are_refused(matrix, max_atoms):
    with pytest.raises(cb.CobayesError, match="rounds"):
        cb.exact_rounds(matrix, 0, 10**400, max_atoms=max_atoms)


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
