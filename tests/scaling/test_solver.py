import pytest

import cobayes as cb
from tests.scaling.cases import all_cases
from tests.scaling.high_precision import largest_relative_error, scaled_exactly

CASES = all_cases()


def test_there_are_at_least_fifty_varied_cases():
    assert len(CASES) >= 50


@pytest.mark.parametrize(("name", "matrix", "rows", "columns"), CASES, ids=[c[0] for c in CASES])
def test_every_entry_is_accurate_to_1e_10(name, matrix, rows, columns):
    result = cb.scale(matrix, rows, columns)
    exact = scaled_exactly(matrix, result.row_sums, result.column_sums, result.factors)
    assert result.is_converged
    assert largest_relative_error(result.matrix, exact) < 1e-10
