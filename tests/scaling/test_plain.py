"""The quick way gives the numbers of the general one."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.scaling.plain import scale_plain_array, sum_unit


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


@pytest.mark.parametrize(
    ("matrix", "column_sums"),
    [
        ([[1.0, 0.0], [1.0, 1.0]], None),
        ([[1e-80, 1.0], [1.0, 1.0]], None),
        ([[1.0, 1e-13], [9e-13, 1.0]], None),
        ([[1.0, 1.0], [1.0, np.nan]], None),
        ([[1.0, 2.0], [3.0, 1.0]], [1.0, 1.001]),
        ([["1", "2"], ["3", "1"]], None),
        ([[1.0, 2.0], [3.0]], None),
        ([[1.0, 2.0 + 0j], [3.0, 1.0]], None),
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_the_general_procedure(matrix, column_sums):
    assert scale_plain_array(matrix, None, column_sums, 1e-12, 1000) is None


def test_results_do_not_share_memory_with_what_was_given():
    matrix, rows, columns = np.ones((2, 2)), np.ones(2), np.ones(2)
    found = cb.scale(matrix, rows, columns)
    rows[0] = columns[0] = 5.0
    assert found.row_sums[0] == found.column_sums[0] == 1.0


@pytest.mark.parametrize("total", [1.0, 3.0, 5e-324, 1e300, 0.7, 1.5])
def test_the_unit_of_sums_is_a_power_of_two_near_their_total(total):
    mantissa, _ = np.frexp(sum_unit(total))
    assert mantissa == 0.5
    assert 0.5 <= total / sum_unit(total) <= 1.5


def test_one_compiled_update_agrees_with_bayes_formula_on_the_likelihood():
    rng = np.random.default_rng(3)
    for n, m in [(2, 2), (5, 3), (20, 20)]:
        rule = cb.SCBI(rng.exponential(size=(n, m)))
        belief = rng.dirichlet(np.ones(m))
        for datum in range(n):
            np.testing.assert_allclose(
                rule.update(belief, datum), rule.update(belief.tolist(), datum), rtol=1e-11
            )
    with pytest.raises(cb.CobayesError, match="not negative"):
        rule.update(np.append(np.full(19, 0.1), -0.9), 0)


def test_a_rule_derived_from_scbi_updates_by_its_own_answer():
    class Literal(cb.SCBI):
        name = "literal"

        def respond(self, log_belief, memory=None):
            return cb.BI(self.model).respond(log_belief, memory)

    matrix = np.array([[0.8, 0.3], [0.2, 0.7]])
    belief = np.array([0.4, 0.6])
    np.testing.assert_allclose(
        Literal(matrix).update(belief, 0), cb.BI(matrix).update(belief, 0), rtol=1e-12
    )
