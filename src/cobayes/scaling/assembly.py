"""Putting the scaled matrix together and measuring its residual."""

from __future__ import annotations

from cobayes._runtime.compiled import compiled


@compiled()
def assemble(matrix, row_scaling, factors, row_sums, column_sums, out, column_totals):
    """Fill the scaled matrix and return its residual, measured on the entries written.

    The residual is the largest relative error of a row sum or of a column sum. Column sums are
    measured before they are multiplied by their target, so that a target of 1e-308 is measured
    as well as any other.
    """
    num_rows, num_columns = matrix.shape
    residual = 0.0
    for j in range(num_columns):
        column_totals[j] = 0.0
    for i in range(num_rows):
        total = 0.0
        for j in range(num_columns):
            share = row_scaling[i] * matrix[i, j] * factors[j]
            column_totals[j] += share
            entry = share * column_sums[j]
            out[i, j] = entry
            total += entry
        target = row_sums[i]
        deviation = abs(total / target - 1.0) if target > 0.0 else total
        if not deviation <= residual:
            residual = deviation
    for j in range(num_columns):
        # A column that no row with a positive sum allows has no factor, and is left out.
        deviation = abs(column_totals[j] - 1.0) if factors[j] != 0.0 else 0.0
        if not deviation <= residual:
            residual = deviation
    return residual
