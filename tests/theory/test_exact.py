"""Exact moments round by round, against plain enumeration."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.rules import Response
from cobayes.theory import sequences
from cobayes.theory.exact import exact_rounds, exact_rounds_all
from cobayes.theory.measures import AtomicMeasure

seeds = st.integers(0, 2**32 - 1)
RULES = [cb.BI, cb.SCBI]


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
    together = exact_rounds_all(rule, 6, prior)
    for k, (beliefs, chances) in enumerate(enumerate_rounds(rule, prior, 6)):
        for h, result in enumerate(results):
            mean = chances[:, h] @ beliefs
            std = np.sqrt(chances[:, h] @ (beliefs - mean) ** 2)
            np.testing.assert_allclose(result.means[k], mean, rtol=1e-9)
            np.testing.assert_allclose(result.stds[k], std, rtol=1e-8, atol=1e-14)
            assert result.mean[k] == result.means[k, h]
            assert result.std[k] == result.stds[k, h]
            np.testing.assert_allclose(together.means[k, h], mean, rtol=1e-9)
            np.testing.assert_allclose(together.stds[k, h], std, rtol=1e-8, atol=1e-14)


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
def test_bi_by_counts_equals_bi_by_tree(seed):
    rng = np.random.default_rng(seed)
    matrix, prior = random_case(seed, int(rng.integers(2, 5)), int(rng.integers(2, 5)))
    counts = exact_rounds_all(cb.BI(matrix), 4, prior, method="counts")
    tree = exact_rounds_all(cb.BI(matrix), 4, prior, method="tree")
    np.testing.assert_allclose(counts.means, tree.means, rtol=1e-11)
    np.testing.assert_allclose(counts.stds, tree.stds, rtol=1e-8, atol=1e-14)
    assert counts.num_atoms == math.comb(len(matrix) + 3, 4)
    assert tree.num_atoms == len(matrix) ** 4


@pytest.mark.parametrize("kind", RULES)
def test_one_pass_serves_every_hypothesis(kind):
    matrix, prior = random_case(5, 4, 3)
    together = exact_rounds_all(kind(matrix), 5, prior)
    for h in range(3):
        alone = exact_rounds(kind(matrix), h, 5, prior)
        part = together.for_hypothesis(h)
        np.testing.assert_allclose(part.means, alone.means, rtol=1e-13)
        np.testing.assert_allclose(part.stds, alone.stds, rtol=1e-10)
        np.testing.assert_array_equal(together.mean[:, h], part.mean)
        np.testing.assert_array_equal(together.std[:, h], part.std)


@pytest.mark.parametrize("kind", RULES)
def test_averaged_over_the_prior_the_mean_belief_never_moves(kind):
    # Bayes: who draws the hypothesis from the prior expects the learner to stay put.
    matrix, prior = random_case(6, 4, 4)
    together = exact_rounds_all(kind(matrix), 5, prior)
    average = np.einsum("h,khj->kj", prior, together.means)
    np.testing.assert_allclose(average, np.broadcast_to(prior, average.shape), rtol=1e-9)


@pytest.mark.parametrize("kind", RULES)
def test_permuting_data_changes_nothing_and_permuting_hypotheses_permutes(kind):
    matrix, prior = random_case(8, 4, 3)
    original = exact_rounds_all(kind(matrix), 4, prior)
    by_data = exact_rounds_all(kind(matrix[[2, 0, 3, 1]]), 4, prior)
    np.testing.assert_allclose(by_data.means, original.means, rtol=1e-10)
    np.testing.assert_allclose(by_data.stds, original.stds, rtol=1e-9, atol=1e-15)
    order = [1, 2, 0]
    permuted = exact_rounds_all(kind(matrix[:, order]), 4, prior[order])
    np.testing.assert_allclose(permuted.means, original.means[:, order][:, :, order], rtol=1e-10)


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
    result = exact_rounds_all(kind(matrix), 4, prior)
    assert result.num_atoms == (math.comb(3 + 3, 4) if kind is cb.BI else 3**4)
    for h in range(3):
        measure = AtomicMeasure.at(prior)
        for _ in range(4):
            measure = measure.push(kind(matrix), h)
        np.testing.assert_allclose(result.means[4, h], measure.mean(), rtol=1e-10)
        np.testing.assert_allclose(result.stds[4, h], measure.std(), rtol=1e-8)


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
    by_tree = exact_rounds(rule, 0, 3, prior, method="tree")
    np.testing.assert_allclose(exact_rounds(rule, 0, 3, prior).means[3], measure.mean(), rtol=1e-12)
    np.testing.assert_allclose(by_tree.means[3], measure.mean(), rtol=1e-12)
    np.testing.assert_allclose(by_tree.stds[3], measure.std(), rtol=1e-10)


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


@pytest.mark.parametrize("kind", RULES)
def test_how_the_tree_is_cut_up_and_the_threads_do_not_matter(kind, monkeypatch):
    from cobayes._runtime.threads import set_num_threads

    matrix, prior = random_case(12, 5, 3)
    rule = kind(matrix)
    level_by_level = exact_rounds_all(rule, 6, prior, method="tree")
    monkeypatch.setattr(sequences, "FRONTIER", 200)
    depth_first = []
    for threads in (1, 3):
        set_num_threads(threads)
        try:
            depth_first.append(exact_rounds_all(rule, 6, prior, method="tree"))
        finally:
            set_num_threads(None)
    np.testing.assert_array_equal(depth_first[0].means, depth_first[1].means)
    np.testing.assert_array_equal(depth_first[0].stds, depth_first[1].stds)
    np.testing.assert_allclose(depth_first[0].means, level_by_level.means, rtol=1e-12)
    np.testing.assert_allclose(depth_first[0].stds, level_by_level.stds, rtol=1e-11, atol=1e-15)


def test_every_count_vector_occurs_once_and_any_place_can_be_entered():
    from cobayes.theory.tree_kernels import fill_counts

    total, num_data = 5, 4
    size = math.comb(total + num_data - 1, total)
    every = np.empty((size, num_data), dtype=np.int64)
    fill_counts(sequences.counts_at(0, total, num_data), every)
    assert (every.sum(axis=1) == total).all()
    assert len(np.unique(every, axis=0)) == size
    for rank in range(size):
        np.testing.assert_array_equal(sequences.counts_at(rank, total, num_data), every[rank])


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

        def respond(self, log_belief, memory=None):
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
    together = exact_rounds_all(rule, 2, [0.5, 0.0, 0.5])
    assert np.isnan(together.mean[:, 1]).all()
    assert (together.means[:, 0, 1] == 0.0).all()
    assert np.isfinite(together.mean[:, [0, 2]]).all()
    with pytest.raises(cb.CobayesError, match="teaching is impossible"):
        together.for_hypothesis("B")


def test_a_tree_too_large_is_refused_and_simulation_recommended():
    rule = cb.SCBI(np.random.default_rng(0).exponential(size=(20, 20)))
    with pytest.raises(cb.CobayesError, match=r"1\.28e\+09 beliefs(.|\n)*cobayes\.simulate"):
        exact_rounds(rule, 0, 7)
    with pytest.raises(cb.CobayesError, match="8000 beliefs"):
        exact_rounds(rule, 0, 3, max_atoms=1000)
    with pytest.raises(cb.CobayesError, match=r"10\^13010"):
        exact_rounds(rule, 0, 10_000)


def test_bad_input_is_refused_with_a_reason():
    rule = cb.SCBI(np.ones((2, 2)))
    for bad in (-1, 1.5, True):
        with pytest.raises(cb.CobayesError, match="num_rounds"):
            exact_rounds(rule, 0, bad)
    with pytest.raises(cb.CobayesError, match="no hypothesis called 'C'"):
        exact_rounds(rule, "C", 1)
    with pytest.raises(cb.CobayesError, match="method is 'forest'"):
        exact_rounds(rule, 0, 1, method="forest")
    with pytest.raises(cb.CobayesError, match="order of the data matters"):
        exact_rounds(rule, 0, 1, method="counts")


def test_results_show_labels_and_numbers():
    rule = cb.BI(cb.Model([[1.0, 2.0], [3.0, 1.0]], ["up", "down"], ["A", "B"]))
    one, together = exact_rounds(rule, "B", 3), exact_rounds_all(rule, 3)
    assert "taught 'B'" in repr(one)
    assert one.to_xarray().attrs["true_hypothesis"] == "B"
    table = one.to_dataframe()
    assert list(table.columns) == ["round", "hypothesis", "mean", "std"]
    assert len(table) == 4 * 2
    cell = together.to_xarray()["mean"].sel(round=2, taught="B", hypothesis="A")
    assert float(cell) == together.means[2, 1, 0]
    assert len(together.to_dataframe()) == 4 * 2 * 2
    assert "2 hypotheses" in repr(together)


@pytest.mark.slow
def test_twenty_by_twenty_to_round_five_conserves_what_must_be_conserved():
    # The size of Figure 3: 3.2 million atoms, every hypothesis at once.
    matrix = np.random.default_rng(20).dirichlet(np.ones(20), size=20).T
    result = exact_rounds_all(cb.SCBI(matrix), 5)
    assert result.num_atoms == 20**5
    np.testing.assert_allclose(result.means.sum(axis=2), 1.0, rtol=1e-10)
    np.testing.assert_allclose(result.means.mean(axis=1), 0.05, rtol=1e-9)
    assert (np.diff(result.mean, axis=0) > 0.0).all()
    # E_h[theta(j)] theta_0(h) = E_U[theta(j) theta(h)] is symmetric in h and j.
    np.testing.assert_allclose(result.means[5], result.means[5].T, rtol=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda given: cb.exact_rounds(given, 0, 2),
        lambda given: cb.theory.exact_rounds_all(given, 2),
        lambda given: cb.theory.inverse_update(given, [0.5, 0.5], 0),
    ],
)
def test_a_matrix_instead_of_a_rule_is_told_how_to_become_one(call):
    for something in (np.ones((2, 2)), cb.Model(np.ones((2, 2)))):
        with pytest.raises(cb.CobayesError, match=r"wrap the matrix: cobayes\.SCBI\(matrix\)"):
            call(something)


@pytest.mark.parametrize("options", [{"max_atoms": "a"}, {"max_atoms": 0}, {"method": ["tree"]}])
def test_options_of_a_wrong_kind_are_refused(options):
    with pytest.raises(cb.CobayesError, match=next(iter(options))):
        cb.exact_rounds(cb.SCBI(np.ones((2, 2))), 0, 2, **options)


@pytest.mark.parametrize("num_rounds", [10**5, 10**12])
def test_work_over_all_rounds_is_estimated_before_it_starts(num_rounds):
    # 10^5 rounds end at 100,001 counts, and lead through five thousand million.
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
