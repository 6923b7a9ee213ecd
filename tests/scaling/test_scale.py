import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes._parallel import set_num_threads
from tests.reference import alternate


def random_problem(seed, n=None, m=None):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(1, 9))
    m = m or int(rng.integers(1, 9))
    return rng.exponential(size=(n, m)), n * rng.dirichlet(np.ones(m)), rng


problems = st.integers(0, 2**32 - 1)


@given(problems)
@settings(max_examples=60)
def test_sums_are_met(seed):
    matrix, columns, _ = random_problem(seed)
    result = cb.scale(matrix, column_sums=columns)
    np.testing.assert_allclose(result.matrix.sum(axis=1), 1.0, rtol=1e-11)
    np.testing.assert_allclose(result.matrix.sum(axis=0), columns, rtol=1e-11)


@given(problems)
@settings(max_examples=40)
def test_scaling_agrees_with_the_textbook_procedure(seed):
    matrix, columns, _ = random_problem(seed)
    expected, _ = alternate(matrix, np.ones(matrix.shape[0]), columns)
    found = cb.scale(matrix, column_sums=columns).matrix
    # The textbook procedure stops by its residual; where it converges slowly, it is less exact.
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@given(problems)
@settings(max_examples=40)
def test_scaling_preserves_cross_ratios(seed):
    matrix, columns, _ = random_problem(seed, 4, 4)
    scaled = cb.scale(matrix, column_sums=columns).matrix

    def cross_ratios(a):
        return a[:-1, :-1] * a[1:, 1:] / (a[:-1, 1:] * a[1:, :-1])

    np.testing.assert_allclose(cross_ratios(scaled), cross_ratios(matrix), rtol=1e-12)


@given(problems)
@settings(max_examples=40)
def test_scaling_rows_and_columns_of_the_input_changes_nothing(seed):
    matrix, columns, rng = random_problem(seed)
    left = 10.0 ** rng.uniform(-3, 3, size=matrix.shape[0])
    right = 10.0 ** rng.uniform(-3, 3, size=matrix.shape[1])
    np.testing.assert_allclose(
        cb.scale(left[:, None] * matrix * right, column_sums=columns).matrix,
        cb.scale(matrix, column_sums=columns).matrix,
        rtol=1e-10,
    )


@given(problems)
@settings(max_examples=40)
def test_permuting_the_input_permutes_the_result(seed):
    matrix, columns, rng = random_problem(seed)
    p, q = rng.permutation(matrix.shape[0]), rng.permutation(matrix.shape[1])
    np.testing.assert_allclose(
        cb.scale(matrix[p][:, q], column_sums=columns[q]).matrix,
        cb.scale(matrix, column_sums=columns).matrix[p][:, q],
        rtol=1e-10,
    )


def test_scalings_reproduce_the_matrix():
    matrix, columns, _ = random_problem(5, 6, 4)
    s = cb.scale(matrix, column_sums=columns)
    np.testing.assert_allclose(
        s.row_scaling[:, None] * matrix * s.column_scaling, s.matrix, rtol=1e-14
    )


def test_default_sums_are_ones_and_equal_columns():
    s = cb.scale(np.random.default_rng(0).exponential(size=(6, 4)))
    np.testing.assert_allclose(s.matrix.sum(axis=1), np.ones(6))
    np.testing.assert_allclose(s.matrix.sum(axis=0), np.full(4, 6 / 4))


def test_a_column_with_sum_zero_comes_out_as_zeros():
    s = cb.scale([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0]], column_sums=[1.5, 0.0, 0.5])
    assert (s.matrix[:, 1] == 0.0).all()
    without = cb.scale([[1.0, 3.0], [2.0, 1.0]], column_sums=[1.5, 0.5])
    np.testing.assert_allclose(s.matrix[:, [0, 2]], without.matrix, rtol=1e-12)


def test_a_batch_equals_its_matrices_one_by_one():
    rng = np.random.default_rng(3)
    batch = rng.exponential(size=(2, 300, 4, 3))
    columns = 4 * rng.dirichlet(np.ones(3), size=(2, 300))
    together = cb.scale(batch, column_sums=columns)
    assert together.matrix.shape == batch.shape
    assert together.residual.shape == together.is_converged.shape == (2, 300)
    assert together.is_converged.all()
    for item in [(0, 0), (1, 7), (1, 299)]:
        alone = cb.scale(batch[item], column_sums=columns[item])
        assert np.array_equal(alone.matrix, together.matrix[item])


@pytest.mark.parametrize("spread", [1.0, 6.0])
def test_one_matrix_scaled_to_many_sums_equals_single_calls(spread):
    rng = np.random.default_rng(2)
    matrix = np.exp(spread * rng.normal(size=(9, 7)))
    columns = 9 * rng.dirichlet(np.full(7, 0.3), size=(2, 50))
    together = cb.scale(matrix, column_sums=columns)
    assert together.is_converged.all()
    assert (together.num_iterations > 0).all()
    for item in [(0, 0), (0, 49), (1, 7), (1, 49)]:
        alone = cb.scale(matrix, column_sums=columns[item])
        np.testing.assert_allclose(together.matrix[item], alone.matrix, rtol=1e-10, atol=1e-300)
        # The factors are unique up to a constant.
        ratios = together.factors[item] / alone.factors
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-10)
    totals = together.matrix.sum(axis=-1)
    assert np.abs(totals - 1.0).max() <= together.residual.max() + 1e-15 <= 1.1e-12


def test_the_residual_is_that_of_the_returned_matrix():
    matrix, columns, _ = random_problem(11, 5, 5)
    s = cb.scale(matrix, column_sums=columns, max_iterations=3, on_failure="return")
    rows = np.abs(s.matrix.sum(axis=1) - 1.0).max()
    cols = np.abs(s.matrix.sum(axis=0) / columns - 1.0).max()
    assert not s.is_converged
    assert s.residual == pytest.approx(max(rows, cols), rel=1e-6)


def test_not_converging_raises_with_the_result_attached():
    matrix, columns, _ = random_problem(11, 5, 5)
    with pytest.raises(cb.ConvergenceError, match="did not converge to 1e-12") as caught:
        cb.scale(matrix, column_sums=columns, max_iterations=3)
    assert caught.value.result.num_iterations == 3
    assert "max_iterations" in caught.value.hint


def test_an_impossible_tolerance_is_reported_and_does_not_hang():
    matrix, columns, _ = random_problem(11, 50, 50)
    with pytest.raises(cb.ConvergenceError, match="residual"):
        cb.scale(matrix, column_sums=columns, tolerance=1e-18)


def test_large_matrices_give_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    matrix = rng.exponential(size=(700, 700))
    columns = 700 * rng.dirichlet(np.ones(700))
    found = []
    try:
        for threads in (1, 2, 5):
            set_num_threads(threads)
            found.append(cb.scale(matrix, column_sums=columns).matrix)
    finally:
        set_num_threads(None)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    np.testing.assert_allclose(found[0].sum(axis=0), columns, rtol=1e-11)


def test_extra_memory_is_at_most_one_copy_of_the_matrix():
    matrix = np.random.default_rng(0).exponential(size=(2000, 2000))
    cb.scale(matrix)  # so that imports of the first call do not count
    tracemalloc.start()
    result = cb.scale(matrix)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.is_converged
    # The result is one copy, and 5 % are allowed for vectors of length n and m.
    assert peak <= 1.05 * matrix.nbytes


def test_the_result_has_the_labels_of_the_dataframe():
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 1.0]], index=["a", "b"], columns=["x", "y"])
    s = cb.scale(frame)
    assert list(s.to_dataframe().index) == ["a", "b"]
    assert list(s.to_dataframe().columns) == ["x", "y"]
    assert s.to_xarray().sel(datum="a", hypothesis="y").item() == s.matrix[0, 1]


@pytest.mark.parametrize("unit", [1e-300, 1e-150, 1e150, 1e300])
def test_units_of_entries_and_of_sums_do_not_matter(unit):
    matrix, columns, _ = random_problem(3, 4, 3)
    expected = cb.scale(matrix, column_sums=columns).matrix
    np.testing.assert_allclose(
        cb.scale(matrix * unit, column_sums=columns).matrix, expected, rtol=1e-11
    )
    in_units = cb.scale(matrix, np.full(4, unit), columns * unit)
    np.testing.assert_allclose(in_units.matrix / unit, expected, rtol=1e-11)
    mixed = matrix * np.array([[unit], [1.0], [1.0], [1.0 / unit]])
    np.testing.assert_allclose(cb.scale(mixed, column_sums=columns).matrix, expected, rtol=1e-11)


def test_one_matrix_and_many_sums_make_a_batch():
    matrix, _, rng = random_problem(3, 4, 3)
    columns = 4 * rng.dirichlet(np.ones(3), size=5)
    together = cb.scale(matrix, column_sums=columns)
    assert together.matrix.shape == (5, 4, 3)
    for k in range(5):
        alone = cb.scale(matrix, column_sums=columns[k])
        assert np.array_equal(together.matrix[k], alone.matrix)


def test_sums_with_labels_are_put_in_order():
    model = cb.Model([[1.0, 2.0], [3.0, 1.0]], ["a", "b"], ["x", "y"])
    expected = cb.scale(model, [0.5, 1.5], [1.2, 0.8]).matrix
    series = pd.Series({"y": 0.8, "x": 1.2})
    assert np.array_equal(cb.scale(model, {"b": 1.5, "a": 0.5}, series).matrix, expected)


def test_an_empty_batch_has_an_empty_result():
    empty = cb.scale(np.ones((0, 3, 3)))
    assert "empty batch" in repr(empty)
    assert empty.matrix.shape == (0, 3, 3)
    for sums in ({"row_sums": np.ones((0, 3))}, {"column_sums": np.ones((0, 3))}):
        assert cb.scale(np.ones((3, 3)), **sums).matrix.shape == (0, 3, 3)


def test_a_result_cannot_be_changed_by_accident():
    s = cb.scale(np.ones((2, 2)))
    with pytest.raises(ValueError, match="read-only"):
        s.matrix[0, 0] = 1.0
    table = s.to_dataframe()
    table.iloc[0, 0] = 5.0
    assert s.matrix[0, 0] == 0.5


def test_rounded_totals_are_rescaled():
    # The paper prints priors that sum to 0.9999.
    s = cb.scale(np.eye(3) + 1.0, column_sums=3 * np.array([0.3333, 0.3333, 0.3333]))
    np.testing.assert_allclose(s.matrix.sum(axis=0), 1.0, rtol=1e-11)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": [[0.0, 0.0], [1.0, 1.0]]}, "row of datum '0' is all zeros"),
        ({"matrix": [[1.0, 0.0], [1.0, 0.0]]}, "column of hypothesis '1' is all zeros"),
        ({"matrix": [[1.0, -2.0], [1.0, 1.0]]}, "-2.0 is negative"),
        ({"matrix": [[1.0, np.nan], [1.0, 1.0]]}, "NaN"),
        ({"matrix": [[1.0, np.inf], [1.0, 1.0]]}, "inf is infinite"),
        ({"matrix": [1.0, 2.0]}, r"expected \(..., n, m\)"),
        ({"matrix": [[1.0, 2.0], [1.0]]}, "cannot be read as numbers"),
        ({"matrix": np.ones((2, 2)), "column_sums": [1.5, 0.6]}, "no matrix has both"),
        ({"matrix": np.ones((2, 2)), "column_sums": [1.0]}, "expected 2 numbers"),
        ({"matrix": np.ones((2, 2)), "column_sums": [3.0, -1.0]}, "expected finite numbers >= 0"),
        ({"matrix": np.ones((2, 2)), "row_sums": [2.0, -1.0]}, "expected finite numbers >= 0"),
        ({"matrix": np.ones((2, 2)), "row_sums": [0.0, 0.0]}, "all zero"),
        ({"matrix": np.ones((2, 2)), "tolerance": 0.0}, "tolerance"),
        ({"matrix": np.ones((2, 2)), "max_iterations": 0}, "max_iterations"),
        ({"matrix": np.ones((2, 2)), "on_failure": "ignore"}, "on_failure"),
    ],
)
def test_bad_input_gets_one_clear_error(arguments, message):
    with pytest.raises(cb.CobayesError, match=message):
        cb.scale(**arguments)


@pytest.mark.parametrize(
    "matrix",
    [
        [[1e195, 1e-57], [1e-186, 1e173], [1e115, 1e-152]],
        [[1e-310, 1e-310]],
        [[5e-324, 1.0], [1.0, 5e-324]],
        [[1e308, 1e-308], [1e-308, 1e308]],
        [[1e308, 0.0], [5e-324, 1e308]],
    ],
)
def test_extreme_entries_give_numbers_or_a_clear_error(matrix):
    belief = np.full(2, 0.5)
    for call in (
        lambda: cb.scale(matrix).matrix,
        lambda: cb.SCBI(matrix).posteriors(belief),
        lambda: cb.SCBI(matrix).likelihood(belief),
        lambda: cb.BI(matrix).posteriors(belief),
        lambda: cb.cooperative_inference(matrix).teacher,
        lambda: cb.cooperative_inference(matrix).learner,
    ):
        try:
            found = call()
        except cb.CobayesError as error:
            assert error.hint  # noqa: PT017
        else:
            assert np.isfinite(found).all()


def test_the_factors_of_a_converged_scaling_are_numbers_that_give_its_matrix():
    # 400 random tables whose entries may be denormal; 63 of them are too extreme for float64.
    rng = np.random.default_rng(7)
    powers = [0.0] * 6 + [-150.0, 150.0, -290.0, -310.0, -320.0]
    num_converged = 0
    for _ in range(400):
        matrix = (rng.random((4, 3)) < 0.6) * rng.exponential(size=(4, 3)) + np.eye(4, 3)
        matrix[3, 0] += 1.0
        matrix *= 10.0 ** rng.choice(powers, size=(4, 3))
        column_sums = np.array([1.0, 0.0, 3.0]) if rng.random() < 0.5 else None
        found = cb.scale(matrix, column_sums=column_sums, on_failure="return")
        for numbers in (found.matrix, found.row_scaling, found.column_scaling):
            assert not np.isnan(numbers).any()
        if not found.is_converged:
            continue
        num_converged += 1
        exact = np.longdouble(found.row_scaling)[:, None] * matrix * found.column_scaling
        is_kept = found.matrix > 1e-290
        np.testing.assert_allclose(exact[is_kept], found.matrix[is_kept], rtol=1e-9)
        for factors in (found.row_scaling, found.factors):
            assert np.isfinite(factors).all()
    assert num_converged > 300


@pytest.mark.parametrize("name", ["matrix", "row_sums", "column_sums"])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda a: a + 1j, "complex"),
        (lambda a: np.ma.masked_equal(a, 1.0), "masked"),
        (lambda a: [10**400 for _ in a] if a.ndim == 1 else [[10**400] * 2] * 2, "beyond"),
    ],
)
def test_input_that_is_not_made_of_real_numbers_is_refused(name, damage, message):
    arguments = {"matrix": np.ones((2, 2)), "row_sums": np.ones(2), "column_sums": np.ones(2)}
    arguments[name] = damage(arguments[name])
    with pytest.raises(cb.CobayesError, match=message):
        cb.scale(**arguments)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (20, 20), (60, 7)])
def test_arrays_lists_models_and_batches_give_the_same_bits(shape):
    rng = np.random.default_rng(1)
    matrix = rng.exponential(size=shape)
    columns = shape[0] * rng.dirichlet(np.ones(shape[1]))
    expected = cb.scale(matrix, column_sums=columns)
    for found in (
        cb.scale(matrix.tolist(), column_sums=columns.tolist()),
        cb.scale(cb.Model(matrix), column_sums=columns),
        cb.scale(matrix[None], column_sums=columns),
    ):
        assert np.array_equal(found.matrix.reshape(shape), expected.matrix)
        assert np.array_equal(found.row_scaling.reshape(-1), expected.row_scaling)
        assert found.num_iterations == expected.num_iterations


def test_results_do_not_share_memory_with_what_was_given():
    matrix, rows, columns = np.ones((2, 2)), np.ones(2), np.ones(2)
    found = cb.scale(matrix, rows, columns)
    rows[0] = columns[0] = 5.0
    assert found.row_sums[0] == found.column_sums[0] == 1.0


def test_a_column_without_belief_follows_its_component():
    # The third column has no belief and entries 1e-300 beside 1e60 (found by fuzzing the core).
    matrix = [[3, 3, 3, 0, 0, 1, 1e-300], [0, 1.5e-8, 1e-300, 1, 1e60, 1e60, 1e60]]
    logs = np.array([0.0, -172.0, -np.inf, -171.5, -171.5, -171.5, -172.6])
    expected = [[1, 0, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1, 1]]
    np.testing.assert_allclose(cb.SCBI(matrix).respond(logs).likelihood, expected, rtol=1e-9)


def test_a_column_without_belief_and_beyond_float64_is_an_error():
    matrix = [[0.0, 1e-300, 1e200], [1e200, 1.0, 1e-200]]
    with pytest.raises(cb.ConvergenceError, match="float64 cannot hold these numbers"):
        cb.SCBI(matrix).respond(np.array([np.log(0.5), np.log(0.5), -np.inf]))


def test_columns_may_depend_on_one_row_with_a_tiny_sum():
    # Six hypotheses allow only the first datum, whose data prior is 2e-161 (found by fuzzing).
    rule = cb.SCBI([[4] * 8, [4, 4] + [0] * 6], data_prior=[1.9e-161, 1.0])
    found = rule.respond(np.array([0.0] + [-81.0] * 7)).likelihood
    np.testing.assert_allclose(found, [[0, 0] + [1] * 6, [1, 1] + [0] * 6])


@pytest.mark.parametrize("row_sums", [None, [2.0, 1.0], [[2.0, 1.0], [1.0, 2.0]]])
@pytest.mark.parametrize("column_sums", [[2.9, 0.1], [[0.1, 2.9], [2.9, 0.1]]])
def test_infeasible_sums_of_one_problem_or_of_many_are_explained(row_sums, column_sums):
    columns = np.array(column_sums) * (2.0 / 3.0 if row_sums is None else 1.0)
    expected = r"no matrix with these zeros has these sums: .* (is|are) possible under"
    with pytest.raises(cb.InfeasibleError, match=expected):
        cb.scale(np.eye(2), row_sums, columns)
