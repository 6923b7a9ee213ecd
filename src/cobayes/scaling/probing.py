"""Finding out how fast sweeps really converge at a solution."""

from __future__ import annotations

import math

import numpy as np

from cobayes._runtime.compiled import REASSOCIATE, compiled

NUM_ITERATIONS = 10


@compiled(fastmath=REASSOCIATE)
def probed_rate(matrix, row_sums, column_sums, factors, row_scaling):
    """Return about the rate of convergence of plain sweeps at a solution.

    The derivative of a sweep is a Markov chain on the columns (see `newton`). A few steps of the
    power method, with constants taken out, show its second eigenvalue. A mode that hardly decays
    stands out after a few steps, however little of it the sweeps had to correct: it is in the
    start, which is the same arbitrary vector every time.
    """
    num_rows, num_columns = matrix.shape
    total = 0.0
    for j in range(num_columns):
        total += column_sums[j]
    vector = np.empty(num_columns)
    weights = np.empty(num_columns)
    image = np.empty(num_columns)
    for j in range(num_columns):
        vector[j] = math.cos(1.0 + 1.7 * j)
    quotient = 0.0
    for _ in range(NUM_ITERATIONS):
        mean = 0.0
        for j in range(num_columns):
            mean += column_sums[j] * vector[j]
        mean /= total
        square = 0.0
        for j in range(num_columns):
            vector[j] -= mean
            square += column_sums[j] * vector[j] * vector[j]
        if not square > 0.0:
            return quotient
        length = math.sqrt(square / total)
        for j in range(num_columns):
            vector[j] /= length
            weights[j] = factors[j] * column_sums[j] * vector[j]
            image[j] = 0.0
        for i in range(num_rows):
            average = 0.0
            for j in range(num_columns):
                average += matrix[i, j] * weights[j]
            share = row_scaling[i] * row_scaling[i] * average / row_sums[i]
            for j in range(num_columns):
                image[j] += share * matrix[i, j]
        product = 0.0
        for j in range(num_columns):
            image[j] *= factors[j]
            product += column_sums[j] * vector[j] * image[j]
            vector[j] = image[j]
        quotient = max(quotient, product / total)
    return quotient
