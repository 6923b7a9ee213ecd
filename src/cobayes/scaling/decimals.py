"""Blocks in fractions, scaling in decimals: for small tables beyond float64.

Where entries lie hundreds of orders of magnitude apart, the factors of a scaling may leave the
range of float64, and what flows between parts of the table may be smaller than the rounding of
their sums. So may the sums of data with tiny data priors. The fractions and decimals of the
standard library know no such limit, but are thousands of times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cobayes.scaling.block_subsets import MAX_COLUMNS
from cobayes.scaling.block_workspace import LEFT_OVER, UNSEEN, BlockWorkspace, attach
from cobayes.scaling.blocks import find_blocks, pattern_workspace
from cobayes.scaling.stopping import NEGLIGIBLE

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
# Ratios of sums that differ by less than this, relatively, may tie or not.
NEAR_TIE = 1e-8


def likelihood_in_decimals(
    matrix: Array, row_sums: Array, belief: Array, tolerance: float
) -> Array | None:
    """Return the logarithms of SCBI's likelihood matrix, (n, m); None where that failed.

    Parameters
    ----------
    matrix, row_sums
        The table and the data prior times n; zeros are allowed in both.
    belief
        (m,).
    tolerance
        For the relative error.
    """
    if matrix.size > MAX_ENTRIES:
        return None
    rows = [as_fraction(value) for value in row_sums]
    columns = [as_fraction(x) * len(matrix) if x > NEGLIGIBLE else Fraction(0) for x in belief]
    work = pattern_workspace(matrix > 0.0)
    if len(columns) <= MAX_COLUMNS:
        count = find_blocks_exactly(work, rows, columns)
    else:
        count = find_blocks(work, row_sums, len(matrix) * belief)
    logs = np.full(matrix.shape, -np.inf)
    available = np.where(row_sums > 0.0, work.row_labels, UNSEEN)
    for label in range(count):
        own = np.flatnonzero(available == label)
        members = np.flatnonzero(work.column_labels == label)
        is_even = not any(columns[j] for j in members)
        part = scale_in_decimals(
            matrix[np.ix_(own, members)],
            [rows[i] for i in own],
            [as_fraction(work.masses[j]) if is_even else columns[j] for j in members],
            tolerance,
        )
        if part is None:
            return None
        logs[np.ix_(own, members)] = part
    return logs


def has_near_tie(pattern: NDArray[np.bool_], row_sums: Array, column_sums: Array) -> bool:
    """Tell whether two sets of columns have nearly the same ratio of sums within a block.

    Parameters
    ----------
    pattern
        (n, m), with few columns: all sets of them are looked at.
    row_sums, column_sums
        Not negative.
    """
    pattern, column_sums = pattern[:, column_sums > 0.0], column_sums[column_sums > 0.0]
    sets = np.arange(1, 1 << len(column_sums))
    members = (sets[:, None] >> np.arange(len(column_sums)) & 1).astype(bool)
    touched = (members @ pattern.T).astype(np.float64)
    mass = members @ column_sums
    left = members.any(axis=1)
    rows = row_sums.copy()
    while left.any():
        sums = touched @ rows
        ratio = np.where(left, mass / np.where(sums > 0.0, sums, np.inf), 0.0)
        near = ratio >= ratio.max() * (1.0 - NEAR_TIE)
        if near.sum() > 1 or not ratio.max() > 0.0:
            return bool(near.sum() > 1 and ratio.max() > 0.0)
        block = members[near][0]
        rows[pattern[:, block].any(axis=1)] = 0.0
        left &= ~members[:, block].any(axis=1)
    return False


def find_blocks_exactly(work: BlockWorkspace, rows: list[Fraction], columns: list[Fraction]) -> int:
    """Do what `block_subsets.subset_blocks` does, in fractions: ties are exact, none is near."""
    masks = [int(words[0]) for words in work.row_masks]
    size = len(columns)
    available = 0
    for mask, value in zip(masks, rows, strict=True):
        available |= mask if value else 0
    work.row_labels[:] = UNSEEN
    work.column_labels[:] = UNSEEN
    work.masses[:] = [float(value) for value in columns]
    believed = sum(1 << j for j in range(size) if columns[j] and available >> j & 1)
    count = num_blocks = 0
    masses, left = list(columns), believed
    for attempt in range(2):
        if attempt == 1:
            # Rows that nothing believed allows: shared out evenly among the other columns.
            left = 0
            for mask, value in zip(masks, rows, strict=True):
                left |= mask if value and not mask & believed else 0
            for j in range(size):
                if left >> j & 1:
                    masses[j], work.masses[j] = Fraction(1), 1.0
        while left:
            free = [i for i in range(len(rows)) if work.row_labels[i] == UNSEEN and rows[i]]
            sums = {}
            for k in range(1, 1 << size):
                if not k & ~left:
                    touched = sum((rows[i] for i in free if masks[i] & k), Fraction(0))
                    sums[k] = (sum(masses[j] for j in range(size) if k >> j & 1), touched)
            best = max(mass / touched for mass, touched in sums.values() if touched)
            tight = [k for k, (mass, touched) in sums.items() if mass == best * touched]
            block = 0
            for k in tight:
                block |= k
            reach = [block if block >> j & 1 else 0 for j in range(size)]
            for k in tight:
                reach = [own & k if k >> j & 1 else own for j, own in enumerate(reach)]
            first = count
            for i in free:
                allowed = [j for j in range(size) if masks[i] & block & 1 << j]
                common = block
                for j in allowed:
                    common &= reach[j]
                home = next((j for j in allowed if reach[j] == common), None)
                if home is None:
                    continue
                if work.column_labels[home] < 0:
                    for other in range(size):
                        if block >> other & 1 and reach[other] == common:
                            work.column_labels[other] = count
                    count += 1
                work.row_labels[i] = work.column_labels[home]
            for j in range(size):
                if block >> j & 1 and work.column_labels[j] >= first:
                    work.num_reached[work.column_labels[j]] = reach[j].bit_count()
            work.block_of[first:count] = num_blocks
            for i in free:
                if work.row_labels[i] == UNSEEN and masks[i] & block:
                    work.row_labels[i] = LEFT_OVER
            left &= ~block
            num_blocks += 1
    attach(work, np.array([float(value) for value in rows]), count)
    return count


def scale_in_decimals(
    matrix: Array, row_sums: Sequence[Fraction], column_sums: Sequence[Fraction], tolerance: float
) -> Array | None:
    """Return the logarithms of the scaled matrix's columns, each with the sum one: (n, m).

    Parameters
    ----------
    matrix
        One component: no row or column of zeros.
    row_sums, column_sums
        Positive, and not negative; rows are scaled to the columns' total.
    tolerance
        For the relative error.

    Returns
    -------
    ndarray or None
        Minus infinity at zeros; None where it did not converge.
    """
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

    def __init__(
        self, matrix: Array, row_sums: Sequence[Fraction], column_sums: Sequence[Fraction]
    ) -> None:
        self.believed = [j for j, value in enumerate(column_sums) if value]
        self.columns = [_as_decimal(column_sums[j]) for j in self.believed]
        ratio = sum(column_sums, Fraction(0)) / sum(row_sums, Fraction(0))
        self.rows = [_as_decimal(value * ratio) for value in row_sums]
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


def as_fraction(value: float) -> Fraction:
    """Return the fraction that a float64 stands for: a near one with a small denominator, or it."""
    exact = Fraction(float(value))
    near = exact.limit_denominator(LARGEST_DENOMINATOR)
    return near if near > 0 and abs(near - exact) <= NEAR * exact else exact


def _as_decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


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
