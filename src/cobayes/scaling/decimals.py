"""Scaling in decimals with as many digits as it takes, for small tables beyond float64.

Where entries lie hundreds of orders of magnitude apart, the factors of a scaling may leave the
range of float64, and what flows between parts of the table may be smaller than the rounding of
their sums. The decimals of the standard library know neither limit, but are thousands of times
slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = list[Decimal]

# Larger tables would take minutes.
MAX_ENTRIES = 400
DIGITS = (80, 400, 1600)
# Tables are raised to a small power first, in which they spread by this many nats.
FIRST_SPREAD = 20.0
MAX_STEPS = 100
LONGEST_STEP = Decimal(4)
# The sums are float64: a fraction this near, relatively, is what was meant (1/3, say), and sums
# of such fractions tie exactly.
NEAR = 4 * float(np.finfo(np.float64).eps)
LARGEST_DENOMINATOR = 2000


def scale_in_decimals(
    matrix: Array, row_sums: Array, column_sums: Array, tolerance: float
) -> Array | None:
    """Return the logarithms of the scaled matrix's columns, each with the sum one: (n, m).

    Parameters
    ----------
    matrix
        One component: no row or column of zeros.
    row_sums, column_sums
        Positive, and not negative; equal totals up to rounding.
    tolerance
        For the relative error.

    Returns
    -------
    ndarray or None
        Minus infinity at zeros; None where it did not converge or the table is too large.
    """
    if matrix.size > MAX_ENTRIES:
        return None
    for digits in DIGITS:
        with localcontext() as context:
            context.prec = digits
            context.Emax, context.Emin = 10**12, -(10**12)
            found = _Problem(matrix, row_sums, column_sums).solve(Decimal(tolerance), digits)
        if found is not None:
            return found
    return None


class _Problem:
    """One scaling problem; columns that nobody believes in take no part in the iteration."""

    def __init__(self, matrix: Array, row_sums: Array, column_sums: Array) -> None:
        self.believed = [int(j) for j in np.flatnonzero(column_sums)]
        self.columns = [_meant(column_sums[j]) for j in self.believed]
        rows = [_meant(value) for value in row_sums]
        ratio = sum(self.columns, Decimal(0)) / sum(rows, Decimal(0))
        self.rows = [value * ratio for value in rows]
        self.logs = [[Decimal(float(x)).ln() if x > 0.0 else None for x in row] for row in matrix]
        self.shape = matrix.shape

    def solve(self, tolerance: Decimal, digits: int) -> Array | None:
        """Return the logarithms of the columns, or None where more digits are needed."""
        known = [x for row in self.logs for x in row if x is not None]
        num_stages, spread = 0, float(max(known) - min(known))
        while spread > FIRST_SPREAD:
            num_stages, spread = num_stages + 1, 0.5 * spread
        factors = [Decimal(0)] * len(self.believed)
        for stage in range(num_stages, -1, -1):
            power = Decimal(1) / 2**stage
            wanted = Decimal("0.01") if stage else tolerance
            pivot = self._climb(power, factors, wanted)
            # Flows between parts are as accurate as the last digit beside their size.
            if pivot is None or pivot < Decimal(10) ** (30 - digits):
                return None
            if stage:
                factors = [2 * value for value in factors]
        return self._columns(factors)

    def _flows(self, power: Decimal, factors: Numbers) -> list[Numbers]:
        """Return the matrix whose rows have their sums, for logarithms of column factors."""
        flows = []
        for total, row in zip(self.rows, self.logs, strict=True):
            values = [_plus(row[j], power, y) for j, y in zip(self.believed, factors, strict=True)]
            peak = max(value for value in values if value is not None)
            weights = [
                Decimal(0) if value is None else c * (value - peak).exp()
                for c, value in zip(self.columns, values, strict=True)
            ]
            scale = total / sum(weights, Decimal(0))
            flows.append([scale * weight for weight in weights])
        return flows

    def _errors(self, flows: list[Numbers]) -> Numbers:
        sums = (sum(column, Decimal(0)) for column in zip(*flows, strict=True))
        return [found - wanted for found, wanted in zip(sums, self.columns, strict=True)]

    def _climb(self, power: Decimal, factors: Numbers, tolerance: Decimal) -> Decimal | None:
        """Take Newton steps until one is within the tolerance; return the smallest pivot."""
        flows = self._flows(power, factors)
        for _ in range(MAX_STEPS):
            errors = self._errors(flows)
            step, pivot = _solve_laplacian(self._coupling(flows), [-error for error in errors])
            if step is None:
                return None
            longest = max(map(abs, step))
            slope = sum((e * s for e, s in zip(errors, step, strict=True)), Decimal(0))
            share = min(Decimal(1), LONGEST_STEP / longest) if longest else Decimal(1)
            start = factors.copy()
            while True:
                factors[:] = [y + share * s for y, s in zip(start, step, strict=True)]
                flows = self._flows(power, factors)
                ahead = zip(self._errors(flows), step, strict=True)
                # The dual is convex: past its minimum along the step the slope turns positive.
                if longest <= tolerance or sum(e * s for e, s in ahead) <= abs(slope) / 2:
                    break
                share /= 2
            if longest <= tolerance:
                return pivot
        return None

    def _coupling(self, flows: list[Numbers]) -> list[Numbers]:
        size = len(self.believed)
        chain = [[Decimal(0)] * size for _ in range(size)]
        for total, row in zip(self.rows, flows, strict=True):
            for j in range(size):
                for k in range(j):
                    chain[j][k] += row[j] * row[k] / total
                    chain[k][j] = chain[j][k]
        return chain

    def _columns(self, factors: Numbers) -> Array:
        num_rows, num_columns = self.shape
        found = np.full(self.shape, -np.inf)
        row_factors = []
        for total, row in zip(self.rows, self.logs, strict=True):
            values = [
                _plus(row[j], Decimal(1), y) for j, y in zip(self.believed, factors, strict=True)
            ]
            peak = max(value for value in values if value is not None)
            weight = sum(
                (
                    c * (value - peak).exp()
                    for c, value in zip(self.columns, values, strict=True)
                    if value is not None
                ),
                Decimal(0),
            )
            row_factors.append((total / weight).ln() - peak)
        for j in range(num_columns):
            column = [_plus(self.logs[i][j], Decimal(1), row_factors[i]) for i in range(num_rows)]
            peak = max(value for value in column if value is not None)
            weight = (
                sum(((x - peak).exp() for x in column if x is not None), Decimal(0)).ln() + peak
            )
            for i, value in enumerate(column):
                if value is not None:
                    found[i, j] = float(value - weight)
        return found


def _meant(value: float) -> Decimal:
    """Return a sum as the fraction that its float64 stands for."""
    exact = Fraction(float(value))
    near = exact.limit_denominator(LARGEST_DENOMINATOR)
    chosen = near if near > 0 and abs(near - exact) <= NEAR * exact else exact
    return Decimal(chosen.numerator) / Decimal(chosen.denominator)


def _plus(log: Decimal | None, power: Decimal, other: Decimal) -> Decimal | None:
    return None if log is None else power * log + other


def _solve_laplacian(
    chain: list[Numbers], right: Sequence[Decimal]
) -> tuple[Numbers | None, Decimal]:
    """Solve as `newton.solve_laplacian` does, with the last unknown zero; return the pivot, too."""
    size = len(chain)
    right = list(right)
    diagonal: Numbers = []
    for q in range(size - 1):
        total = sum(chain[q][q + 1 :], Decimal(0))
        if not total > 0:
            return None, total
        diagonal.append(total)
        for j in range(q + 1, size):
            share = chain[j][q] / total
            right[j] += share * right[q]
            for k in range(q + 1, size):
                chain[j][k] += share * chain[q][k]
    solution = [Decimal(0)] * size
    for q in range(size - 2, -1, -1):
        later = (chain[q][k] * solution[k] for k in range(q + 1, size))
        solution[q] = sum(later, right[q]) / diagonal[q]
    return solution, min(diagonal, default=Decimal(1))
