"""A scaling in sixty digits, verified by the properties that define the scaled matrix."""

from __future__ import annotations

import mpmath as mp
import numpy as np

DIGITS = 60


def scaled_exactly(matrix, row_sums, column_sums, first_factors):
    """Return the scaled matrix as mpmath numbers.

    Newton's method in sixty digits; the start does not matter, because the result is checked:
    it is a diagonal scaling of the matrix by construction and its sums are right to forty
    digits, and there is only one such matrix.
    """
    n, m = matrix.shape
    with mp.workdps(DIGITS):
        entries = [[mp.mpf(float(x)) for x in row] for row in matrix]
        rows = [mp.mpf(x) for x in row_sums]
        columns = [mp.mpf(x) for x in column_sums]
        # Rounding in the last digit of the totals is put on the largest column.
        pinned = int(np.argmax([float(x) for x in column_sums]))
        columns[pinned] += mp.fsum(rows) - mp.fsum(columns)
        logs = [mp.log(mp.mpf(float(x))) for x in first_factors]
        for _ in range(200):
            w = [mp.e**y for y in logs]
            u = [
                rows[i] / mp.fsum(entries[i][j] * columns[j] * w[j] for j in range(m))
                for i in range(n)
            ]
            shares = [[u[i] * entries[i][j] * w[j] for j in range(m)] for i in range(n)]
            errors = [mp.fsum(shares[i][j] for i in range(n)) - 1 for j in range(m)]
            if max(abs(e) for e in errors) < mp.mpf(10) ** -45:
                break
            free = [j for j in range(m) if j != pinned]
            if not free:
                break
            jacobian = mp.matrix(len(free), len(free))
            right = mp.matrix(len(free), 1)
            for a, j in enumerate(free):
                right[a] = -errors[j]
                for b, k in enumerate(free):
                    product = mp.fsum(shares[i][j] * shares[i][k] / rows[i] for i in range(n))
                    jacobian[a, b] = ((errors[j] + 1) if j == k else 0) - product * columns[k]
            step = mp.lu_solve(jacobian, right)
            longest = max(abs(x) for x in step)
            share = min(mp.mpf(1), 5 / longest)
            for a, j in enumerate(free):
                logs[j] += share * step[a]
        scaled = [[shares[i][j] * columns[j] for j in range(m)] for i in range(n)]
        for i in range(n):
            assert abs(mp.fsum(scaled[i]) / rows[i] - 1) < mp.mpf(10) ** -40
        for j in range(m):
            total = mp.fsum(shares[i][j] for i in range(n))
            assert abs(total - 1) < mp.mpf(10) ** -40
        return scaled


def largest_relative_error(found, exact):
    """Return the largest relative error over all entries, tiny ones too."""
    with mp.workdps(DIGITS):
        return float(
            max(
                abs(mp.mpf(float(found[i, j])) / exact[i][j] - 1)
                for i in range(found.shape[0])
                for j in range(found.shape[1])
                if exact[i][j] != 0
            )
        )
