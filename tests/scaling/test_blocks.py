"""Zeros: blocks and survivors against exact fractions, conditionals against sixty digits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from tests.reference import alternate
from tests.scaling.exact_zeros import exact_limit, random_fractions, random_pattern

seeds = st.integers(0, 2**32 - 1)


def zero_problem(seed, kind):
    """Return a matrix with zeros and exact sums that tie often ("uniform", "small") or never."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 8)), int(rng.integers(1, 7))
    matrix = random_pattern(rng, n, m)
    rows = [Fraction(1)] * n
    if kind == "uniform":
        columns = [Fraction(n, m)] * m
    elif kind == "small":
        columns = random_fractions(rng, m, n)
    else:
        parts = rng.dirichlet(np.ones(m))
        columns = [Fraction(float(part)) for part in parts]
        columns = [n * column / sum(columns) for column in columns]
    return matrix, rows, columns


@pytest.mark.parametrize("kind", ["uniform", "small", "random"])
def test_conditionals_agree_with_the_slow_twin_on_100_patterns_each(kind):
    seen = set()
    for seed in range(100):
        matrix, rows, columns = zero_problem(seed, kind)
        sums = np.array([float(column) for column in columns])
        found = cb.scale(matrix, column_sums=sums, on_failure="return")
        exact, blocks = exact_limit(matrix, rows, columns, np.maximum(found.factors, 1e-300))
        limit = np.array(exact, dtype=float)
        assert found.is_converged
        assert (found.status == "infeasible") == (len(blocks) > 1)
        if len(blocks) == 1:
            assert (found.status == "exact") == ((limit > 0.0) == (matrix > 0.0)).all()
        np.testing.assert_array_equal(found.matrix > 0.0, limit > 0.0)
        np.testing.assert_allclose(found.matrix, limit, rtol=1e-9)
        rule = cb.SCBI(matrix)
        np.testing.assert_allclose(rule.likelihood(sums / sums.sum()), limit / sums, rtol=1e-9)
        posteriors = limit / limit.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(rule.posteriors(sums / sums.sum()), posteriors, rtol=1e-9)
        seen.add(found.status)
    # Random sums never tie, so that the status is never "limit".
    assert seen == (
        {"exact", "infeasible"} if kind == "random" else {"exact", "limit", "infeasible"}
    )


@given(seeds, st.integers(1, 30), st.integers(1, 30), st.sampled_from(["uniform", "small", "any"]))
@settings(max_examples=150)
def test_blocks_carry_their_own_proof(seed, n, m, kind):
    """The three facts below determine blocks and survivors; see docs/numerics.md."""
    rng = np.random.default_rng(seed)
    matrix = random_pattern(rng, n, m)
    sums = {
        "uniform": np.full(m, n / m),
        "small": np.array([float(x) for x in random_fractions(rng, m, n)]),
        "any": n * rng.dirichlet(np.ones(m)),
    }[kind]
    found = cb.scaling_blocks(matrix, column_sums=sums)
    row_block = np.empty(n, dtype=int)
    column_block = np.empty(m, dtype=int)
    for k, (rows, columns, _) in enumerate(found.blocks):
        row_block[rows], column_block[columns] = k, k
    # Columns of a block have no entries in rows of a block with a lower ratio.
    assert not (matrix > 0.0)[row_block[:, None] > column_block].any()
    ratios = np.array([ratio for _, _, ratio in found.blocks])
    assert (np.diff(ratios) < 0.0).all()
    # The survivors carry a positive matrix with the block's sums.
    scaled = cb.scale(matrix, column_sums=sums, on_failure="return")
    np.testing.assert_array_equal(scaled.matrix > 0.0, found.support)
    np.testing.assert_allclose(scaled.matrix.sum(axis=0), sums, rtol=1e-9)
    np.testing.assert_allclose(scaled.matrix.sum(axis=1), ratios[row_block], rtol=1e-9)
    # Entries inside a block that vanish lead from component to component without a cycle.
    vanishing = (matrix > 0.0) & ~found.support & (row_block[:, None] == column_block)
    arcs = {
        (found.column_labels[j], found.row_labels[i]) for i, j in np.argwhere(vanishing).tolist()
    }
    left = set(found.column_labels.tolist())
    while left:
        sinks = {k for k in left if not any(a == k and b in left for a, b in arcs)}
        assert sinks
        left -= sinks


@given(seeds, st.sampled_from(["uniform", "small", "random"]))
@settings(max_examples=25)
def test_alternation_approaches_the_limit(seed, kind):
    matrix, _, columns = zero_problem(seed, kind)
    sums = np.array([float(column) for column in columns])
    belief = sums / sums.sum()
    rule = cb.SCBI(matrix)
    likelihood, posteriors = rule.likelihood(belief), rule.posteriors(belief)
    gaps = []
    for sweeps in (100, 1600):
        scaled, _ = alternate(matrix, np.ones(len(matrix)), sums, tolerance=0.0, max_sweeps=sweeps)
        teacher = scaled / scaled.sum(axis=0)
        learner = scaled / scaled.sum(axis=1, keepdims=True)
        gaps.append(max(np.abs(teacher - likelihood).max(), np.abs(learner - posteriors).max()))
    # Entries that vanish do so like one over the number of sweeps at worst.
    assert gaps[1] <= max(gaps[0] / 4.0, 1e-9)


def test_ratios_that_are_equal_up_to_rounding_make_one_block():
    # Thirds and sevenths are rounded; the rounding errors must not split the block.
    for m in (3, 5, 6, 7, 9, 11, 49):
        matrix = np.tril(np.ones((m, m)))
        belief = np.full(m, 1.0 / m)
        belief /= belief.sum()
        found = cb.scaling_blocks(matrix, column_sums=m * belief)
        assert found.status == "limit"
        np.testing.assert_array_equal(found.support, np.eye(m, dtype=bool))


def test_tiny_entries_survive_and_tiny_beliefs_are_exact():
    matrix = np.array([[1.0, 1e-300, 0.0], [1e-12, 1.0, 1.0], [0.0, 2.0, 1.0]])
    found = cb.scale(matrix)
    assert found.status == "exact"
    assert found.is_converged
    assert found.matrix[0, 1] > 0.0
    rule = cb.SCBI(np.array([[1.0, 0.0, 2.0], [1.0, 1.0, 0.0], [2.0, 1.0, 1.0]]))
    small = rule.likelihood([1.0 - 2e-20, 1e-20, 1e-20])
    smaller = rule.likelihood([1.0, 1e-280, 1e-280])
    np.testing.assert_allclose(small, smaller, rtol=1e-12)
    np.testing.assert_allclose(small, rule.likelihood([1.0, 0.0, 0.0]), rtol=1e-12)


def test_a_hypothesis_that_is_not_believed_gets_the_limit_of_small_beliefs():
    rng = np.random.default_rng(4)
    for _ in range(50):
        matrix = random_pattern(rng, 6, 4)
        belief = rng.dirichlet(np.ones(4))
        belief[2] = 0.0
        belief /= belief.sum()
        rule = cb.SCBI(matrix)
        nearly = belief + np.array([0.0, 0.0, 1e-9, 0.0])
        np.testing.assert_allclose(
            rule.likelihood(belief), rule.likelihood(nearly / nearly.sum()), atol=1e-6
        )


@pytest.mark.parametrize("seed", range(300))
def test_sums_of_any_size_leave_no_row_or_column_without_a_block(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    matrix = random_pattern(rng, n, m)
    sums = [10.0 ** rng.choice([0, -3, -12, -20, -40, -161], k) for k in (n, m)]
    rows, columns = (own / own.sum() for own in sums)
    found = cb.scaling_blocks(matrix, rows, columns)
    assert sorted(np.concatenate([block.rows for block in found.blocks])) == list(range(n))
    assert sorted(np.concatenate([block.columns for block in found.blocks])) == list(range(m))
    ratios = [block.ratio for block in found.blocks]
    assert ratios == sorted(ratios, reverse=True)
    assert found.support.any(axis=0).all()  # every column has a datum


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_the_unit_of_the_sums_does_not_matter_for_ratios_far_apart(unit):
    matrix = [[0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 0, 0]]
    found = cb.scaling_blocks(matrix, np.full(4, unit), np.multiply([4, 1e-100, 5e-100], unit))
    ratios = [block.ratio for block in found.blocks]
    np.testing.assert_allclose(ratios, [2.0, 5e-100, 1e-100], rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-20, 1e-100, 1e-200, 1e-280])
def test_columns_that_have_a_datum_to_themselves_keep_their_tiny_sums(unit):
    # The first two data are possible under the two tiny columns only.
    matrix = [[0.0, 1.0, 1.0], [0.0, 1.0, 3.0], [1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    found = cb.scale(matrix, column_sums=[4.0, unit, 2.0 * unit], on_failure="return")
    np.testing.assert_allclose(found.row_sums, [1.5 * unit, 1.5 * unit, 2.0, 2.0], rtol=1e-12)
    # Divided by `unit` their rows have the sum 3/2 and their columns 1 and 2. The cross ratio of
    # the four entries stays 3, so the first, x, solves x (1/2 + x) = 3 (3/2 - x) (1 - x).
    x = 2.0 - np.sqrt(7.0) / 2.0
    np.testing.assert_allclose(
        found.matrix[:2, 1:] / unit, [[x, 1.5 - x], [1.0 - x, 0.5 + x]], rtol=1e-9
    )


def test_a_column_with_sum_zero_goes_to_the_first_of_equal_components():
    # Its limit depends on how the sums tend to theirs. `attach` in zeros.hpp chooses the component
    # with the first row.
    matrix = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    found = cb.scaling_blocks(matrix, column_sums=[1.0, 1.0, 0.0])
    assert found.row_labels[0] != found.row_labels[1]
    np.testing.assert_array_equal(found.column_labels, found.row_labels[[0, 1, 0]])
    assert cb.SCBI(matrix).likelihood([0.5, 0.5, 0.0])[:, 2].tolist() == [1.0, 0.0]


def test_rows_with_sum_zero_are_not_available():
    matrix = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    found = cb.scale(matrix, row_sums=[1.0, 0.0, 2.0], column_sums=[1.0, 2.0])
    np.testing.assert_allclose(found.matrix, [[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
    assert found.status == "exact"
    lost = cb.scaling_blocks(matrix, row_sums=[0.0, 0.0, 1.0])
    assert lost.status == "infeasible"
    assert lost.column_labels.tolist() == [-1, 0]


def test_a_row_and_a_column_outside_of_all_blocks_keep_no_entry():
    found = cb.scaling_blocks([[1, 1, 0], [1, 1, 0], [0, 0, 1]], [1, 1, 0], [1, 1, 0])
    assert found.row_labels[2] == found.column_labels[2] == -1
    assert not found.support[2].any()


def test_infeasible_sums_are_explained_in_words():
    model = cb.Model(
        [[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 1.0]],
        ["acorns", "lobed leaf", "bark", "a", "b", "c", "d"],
        ["oak", "elm"],
    )
    with pytest.raises(cb.InfeasibleError) as caught:
        cb.scale(model, column_sums=[0.7, 6.3])
    assert (
        "'acorns', 'lobed leaf' are possible under 'oak' only; its share of the column "
        "sums is 0.1, but 0.286 is needed" in caught.value.message
    )
    result = caught.value.result
    assert result.status == "infeasible"
    np.testing.assert_allclose(result.matrix.sum(axis=0), [0.7, 6.3])
    np.testing.assert_allclose(result.matrix.sum(axis=1), result.row_sums)
    np.testing.assert_allclose(result.row_sums[:2], 0.35)


def test_an_impossible_datum_is_named_and_the_belief_kept():
    rule = cb.SCBI(cb.Model([[1.0, 0.0], [1.0, 1.0]], ["left", "right"], ["A", "B"]))
    learner = cb.Learner(rule, [0.0, 1.0])
    for call in (lambda: rule.update([0.0, 1.0], "left"), lambda: learner.observe("left")):
        with pytest.raises(cb.CobayesError, match="datum 'left' is impossible"):
            call()
    np.testing.assert_array_equal(learner.belief, [0.0, 1.0])
    assert np.isnan(rule.posteriors([0.0, 1.0])[0]).all()


def test_ratios_that_differ_by_more_than_rounding_make_two_blocks():
    matrix = [[1.0, 1.0], [0.0, 1.0]]
    found = cb.scaling_blocks(matrix, column_sums=[1.0 + 1e-8, 1.0 - 1e-8])
    assert found.status == "infeasible"
    assert [block.ratio for block in found.blocks] == [1.0 + 1e-8, 1.0 - 1e-8]
    assert cb.scaling_blocks(matrix, column_sums=[1.0 + 1e-13, 1.0 - 1e-13]).status == "limit"


def test_blocks_show_their_ratios_from_high_to_low():
    # Rows 0 and 1 take 2.7 from the first column, the last row 0.3 from the second.
    found = cb.scaling_blocks([[1, 0], [1, 1], [0, 1]], column_sums=[2.7, 0.3])
    assert repr(found) == "ScalingBlocks(3 x 2; infeasible; ratios of blocks: 1.35, 0.3)"


@pytest.mark.parametrize("faint", [1e-6, 1e-9, 1e-12])
def test_tiny_columns_of_a_component_take_no_more_than_their_sum(faint):
    matrix = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    belief = np.array([0.5, faint, 0.5 - faint])
    likelihood = cb.SCBI(matrix).likelihood(belief)
    # Rows 0 and 1 share the belief in hypotheses 0 and 1 evenly.
    np.testing.assert_allclose(likelihood[:2, :2] @ belief[:2], (0.5 + faint) / 2, rtol=1e-12)


def test_column_sums_of_rounded_digits_are_rescaled_to_the_total_of_the_rows():
    (block,) = cb.scaling_blocks(np.ones((2, 2)), column_sums=[1.0005, 1.0]).blocks
    assert block.ratio == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_blocks_of_a_batch_of_sums_are_refused(count):
    with pytest.raises(cb.CobayesError, match="the sums are a batch of shape"):
        cb.scaling_blocks(np.ones((2, 2)), np.ones((count, 2)))


def test_a_column_without_an_available_row_is_named():
    expected = "no datum that '0' allows has a positive row sum"
    with pytest.raises(cb.InfeasibleError, match=expected):
        cb.scale(np.eye(2), row_sums=[0.0, 1.0])
