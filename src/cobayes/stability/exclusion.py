"""Success enclosed on tables with zeros, where data exclude hypotheses.

Teacher and learner may expect different data there, so that no law makes both beliefs
martingales. What remains true: a learner that has excluded the taught hypothesis fails, and one
that has excluded all others succeeds. Where all that either of them still believes allows the
same data, nothing more is excluded, and the bounds for tables without zeros apply.

Whether an entry of the scaled table is zero must not hang on rounding. Numbers are read as the
simplest fractions that round to them, and beliefs stay fractions as long as they can: where the
surviving entries of a component form a tree, proportional rows and columns taken together, its
scaling is rational in the sums. Elsewhere a
belief is a vector of floats with a bound on its distance from the exact one, in Hilbert's metric,
and a structure counts as proved only where every belief within the bound has it. A node at which
nothing is proved is not expanded. docs/beyond.md has the proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes.scaling.blocks import scaling_blocks

Array = NDArray[np.float64]

EPSILON = float(np.finfo(np.float64).eps)
# Bounds on the growth of an error hold as long as the error stays below this.
SMALL_ERROR = 1e-3
# Beliefs that are not exact are rounded to so many decimals of their logarithms, so that equal
# ones can be recognised.
DECIMALS = 11
NEWTON_STEPS, SWEEPS = 30, 10


class Belief(NamedTuple):
    """A belief, exact or enclosed.

    Attributes
    ----------
    columns : tuple of int
        The hypotheses that are not excluded.
    exact : tuple of Fraction or None
        Their probabilities, up to a common factor.
    values : tuple of float
        The same in floating point.
    error : float
        How far these may be from the exact ones, in Hilbert's metric.
    """

    columns: tuple[int, ...]
    exact: tuple[Fraction, ...] | None
    values: tuple[float, ...]
    error: float


class Answer(NamedTuple):
    """What a learner makes of every datum that it expects.

    Attributes
    ----------
    posteriors : dict
        Belief by datum.
    chances : dict
        Lower bounds of the probability that the taught hypothesis is shown with a datum.
    """

    posteriors: dict[int, Belief]
    chances: dict[int, float]


class Exclusions:
    """SCBI on a table with zeros, with proofs.

    Parameters
    ----------
    matrix
        The table, (n, m).
    data_prior
        (n,).
    position
        The taught hypothesis.
    """

    def __init__(self, matrix: Array, data_prior: Array, position: int) -> None:
        self._matrix, self._position = matrix, position
        self._prior = [simplest_fraction(share) for share in data_prior.tolist()]
        self._known: dict[Belief, Answer | None] = {}

    @staticmethod
    def start(prior: Array) -> Belief:
        """Return a prior as an exact belief."""
        columns = tuple(np.flatnonzero(prior > 0.0).tolist())
        return _exact_belief(columns, [simplest_fraction(float(prior[j])) for j in columns])

    def respond(self, belief: Belief) -> Answer | None:
        """Return posteriors and chances; None where nothing is proved."""
        if belief not in self._known:
            self._known[belief] = self._answer(belief)
        return self._known[belief]

    def _answer(self, belief: Belief) -> Answer | None:
        columns = list(belief.columns)
        allowed = (self._matrix[:, columns] > 0.0).any(axis=1)
        rows = [i for i in np.flatnonzero(allowed).tolist() if self._prior[i] > 0]
        posteriors: dict[int, Belief] = {}
        chances: dict[int, float] = {}
        table = self._matrix[np.ix_(rows, columns)]
        if not (table > 0.0).any(axis=0).all():
            return None  # a hypothesis whose data are never shown
        parts = _components(table, [self._prior[i] for i in rows], belief)
        if parts is None:
            return None
        for part in parts:
            found = part.exact_answer() or part.enclosed_answer()
            if found is None:
                return None
            for i, posterior in zip(part.rows, found.posteriors, strict=True):
                # An entry that the table excludes is excluded in every row of its component.
                kept = tuple(belief.columns[j] for j in posterior.columns)
                posteriors[rows[i]] = posterior._replace(columns=kept)
            own = [k for k, j in enumerate(part.columns) if belief.columns[j] == self._position]
            for k in own:
                for i, chance in zip(part.rows, found.chances[:, k].tolist(), strict=True):
                    if chance > 0.0:
                        chances[rows[i]] = chance
        return Answer(posteriors, chances)


class _Found(NamedTuple):
    """Posteriors of a component's rows, and lower bounds of its likelihood, (rows, columns)."""

    posteriors: list[Belief]
    chances: Array


@dataclass(frozen=True, eq=False)
class _Component:
    """Rows and columns that are scaled together, all of whose possible entries survive.

    Attributes
    ----------
    rows, columns : list of int
        Positions in the table of the believed hypotheses.
    table : ndarray
        Their entries.
    prior : list of Fraction
        The data prior of the rows.
    belief : Belief
        In the columns.
    """

    rows: list[int]
    columns: list[int]
    table: Array
    prior: list[Fraction]
    belief: Belief

    @cached_property
    def ratio(self) -> Fraction | float:
        """Column sums over row sums; exact where the belief is."""
        if self.belief.exact is not None:
            return Fraction(sum(self.belief.exact)) / sum(self.prior)
        return sum(self.belief.values) / float(sum(self.prior))

    def exact_answer(self) -> _Found | None:
        """Return the exact answer where the kinds of rows and columns form a tree, else None.

        Proportional rows are shown in the proportion of their priors, and proportional columns
        believed in the proportion of their beliefs: one of each kind is enough.
        """
        exact = self.belief.exact
        if exact is None:
            return None
        entries = [[Fraction(value) for value in row] for row in self.table.tolist()]
        row_kinds = _kinds(entries)
        column_kinds = _kinds([list(column) for column in zip(*entries, strict=True)])
        ratio = Fraction(self.ratio)
        rows = [sum((self.prior[i] for i in kind), Fraction(0)) for kind in row_kinds]
        columns = [sum((exact[j] for j in kind), Fraction(0)) for kind in column_kinds]
        pattern = self.table[np.ix_([k[0] for k in row_kinds], [k[0] for k in column_kinds])] > 0.0
        flows = _tree_flows(pattern, [ratio * share for share in rows], columns)
        if flows is None:
            return None
        posteriors: list[Belief] = [self.belief] * len(self.rows)
        chances = np.zeros(self.table.shape)
        for kind, row, share in zip(row_kinds, flows, rows, strict=True):
            kept: dict[int, Fraction] = {}
            for members, flow, mass in zip(column_kinds, row, columns, strict=True):
                for j in members:
                    if flow:
                        kept[j] = flow * exact[j] / mass
                        for i in kind:
                            # The flow of one row over the mass of one column, rounded down.
                            chance = flow * self.prior[i] / (share * mass)
                            chances[i, j] = float(chance) * (1.0 - EPSILON)
            order = sorted(kept)
            posterior = _exact_belief(
                tuple(self.columns[j] for j in order), [kept[j] for j in order]
            )
            for i in kind:
                posteriors[i] = posterior
        return _Found(posteriors, chances)

    def enclosed_answer(self) -> _Found | None:
        """Return the answer in floating point with its error, or None where none is proved."""
        values, share = np.array(self.belief.values), np.array([float(x) for x in self.prior])
        share /= share.sum()
        values /= values.sum()
        num_rows, num_columns = self.table.shape
        if num_columns == 1:
            single = _exact_belief((self.columns[0],), [Fraction(1)])
            chances = share[:, None] * (1.0 - 2.0 * (num_rows + 4) * EPSILON)
            return _Found([single] * num_rows, chances)
        rows, columns, chain = _scaled(self.table, share, values)
        # Every number above is a sum of positive terms: relative errors add up to this at most.
        rounding = 2.0 * (num_rows + num_columns + 8) * EPSILON
        apart = np.log(columns / values)
        residual = float(np.ptp(apart)) + 2.0 * rounding
        error = _growth(chain, rounding) * (self.belief.error + residual)
        if not (error <= SMALL_ERROR and np.isfinite(rows).all()):
            return None
        error += 2.0 * rounding
        posteriors = []
        for row in rows:
            kept = np.flatnonzero(row > 0.0)
            posteriors.append(
                _enclosed_belief(tuple(self.columns[j] for j in kept), row[kept], error)
            )
        chances = share[:, None] * rows / columns * math.exp(-error - 2.0 * rounding)
        return _Found(posteriors, chances)


def _components(table: Array, prior: list[Fraction], belief: Belief) -> list[_Component] | None:
    """Split rows and believed hypotheses into components, or return None where that is not proved.

    Proposition 10: it is right if no column allows a row of a component with a smaller ratio, if
    components of equal ratios are not connected in a cycle, and if each has a scaling in which
    all its possible entries are positive. The last is seen when it is scaled.
    """
    sums = np.array([float(share) for share in prior])
    values = np.array(belief.values)
    blocks = scaling_blocks(table, sums / sums.sum(), values / values.sum())
    parts = []
    for label in range(int(blocks.column_labels.max()) + 1):
        rows = np.flatnonzero(blocks.row_labels == label).tolist()
        columns = np.flatnonzero(blocks.column_labels == label).tolist()
        exact = None if belief.exact is None else tuple(belief.exact[j] for j in columns)
        own = Belief(tuple(columns), exact, tuple(belief.values[j] for j in columns), belief.error)
        parts.append(
            _Component(rows, columns, table[np.ix_(rows, columns)], [prior[i] for i in rows], own)
        )
    ties: set[tuple[int, int]] = set()
    for i, j in np.argwhere(table > 0.0).tolist():
        target, source = int(blocks.row_labels[i]), int(blocks.column_labels[j])
        if target == source:
            continue
        if min(target, source) < 0 or not parts[target].rows:
            return None
        small, large = parts[source].ratio, parts[target].ratio
        if belief.exact is not None:
            if small > large:
                return None
            if small == large:
                ties.add((source, target))
        elif not float(small) * math.exp(2.0 * belief.error + 100.0 * EPSILON) < float(large):
            return None
    return None if _has_cycle(ties) else [part for part in parts if part.rows]


def _kinds(lines: list[list[Fraction]]) -> list[list[int]]:
    """Return the positions of proportional lines together."""
    found: dict[tuple[Fraction, ...], list[int]] = {}
    for position, line in enumerate(lines):
        first = next(value for value in line if value)
        found.setdefault(tuple(value / first for value in line), []).append(position)
    return list(found.values())


def _tree_flows(
    pattern: NDArray[np.bool_], rows: list[Fraction], columns: list[Fraction]
) -> list[list[Fraction]] | None:
    """Return the positive matrix with these sums on a pattern that is a tree, else None."""
    if pattern.sum() != len(rows) + len(columns) - 1:
        return None
    rows, columns = list(rows), list(columns)
    flows = [[Fraction(0)] * len(columns) for _ in rows]
    is_left = pattern.copy()
    while is_left.any():
        # A leaf of the tree: a row or a column with one entry left.
        ends = np.argwhere(is_left & (is_left.sum(axis=1) == 1)[:, None])
        is_row = len(ends) > 0
        if not is_row:
            ends = np.argwhere(is_left & (is_left.sum(axis=0) == 1))
        if not len(ends):
            return None  # a cycle
        i, j = ends[0]
        flows[i][j] = flow = rows[i] if is_row else columns[j]
        rows[i] -= flow
        columns[j] -= flow
        is_left[i, j] = False
    if any(rows) or any(columns) or any(flows[i][j] <= 0 for i, j in np.argwhere(pattern)):
        return None  # not all entries survive
    return flows


def _has_cycle(edges: set[tuple[int, int]]) -> bool:
    """Tell whether directed edges contain a cycle."""
    while edges:
        targets = {target for _, target in edges}
        rest = {edge for edge in edges if edge[0] in targets}
        if len(rest) == len(edges):
            return True
        edges = rest
    return False


def _scaled(table: Array, share: Array, values: Array) -> tuple[Array, Array, Array]:
    """Return rows that sum to one, their columns' sums (about `values`), and the chain A'S."""
    size = len(values)
    logs = np.log(values)
    for step in range(SWEEPS + NEWTON_STEPS):
        rows = table * np.exp(logs - logs.max())
        rows /= rows.sum(axis=1, keepdims=True)
        columns = share @ rows
        chain = (share[:, None] * rows / columns).T @ rows
        gaps = np.log(values / columns)
        if not np.isfinite(gaps).all() or np.ptp(gaps) <= 4.0 * EPSILON:
            break
        if step >= SWEEPS:
            # I - K has the constants for its kernel; adding their projection makes it regular.
            gaps = np.linalg.solve(np.eye(size) - chain + 1.0 / size, gaps - gaps.mean())
        logs = logs + np.clip(gaps, -3.0, 3.0)
    return rows, columns, chain


def _growth(chain: Array, rounding: float) -> float:
    """Return how much a distance of column sums may grow to in the factors, near the node.

    With K the chain, (I - K^s) d log v = (I + ... + K^(s-1)) d log c. Powers of K mix where K
    itself has rows without overlap.
    """
    best = math.inf
    power = chain
    for steps in (1, 2, 4, 8):
        overlap = min(
            float(np.minimum(power[j], power[j + 1 :]).sum(axis=1).min(initial=1.0))
            for j in range(len(power))
        )
        if overlap > 0.0:
            slack = math.exp(4.0 * steps * SMALL_ERROR) * (1.0 + 200.0 * steps * rounding)
            best = min(best, steps * slack / overlap)
        power = power @ power
    return best


def _exact_belief(columns: tuple[int, ...], numbers: list[Fraction]) -> Belief:
    total = sum(numbers)
    exact = tuple(number / total for number in numbers)
    return Belief(columns, exact, tuple(float(x) for x in exact), 4.0 * EPSILON)


def _enclosed_belief(columns: tuple[int, ...], values: Array, error: float) -> Belief:
    if len(columns) == 1:
        return _exact_belief(columns, [Fraction(1)])
    rounded = np.exp(np.round(np.log(values), DECIMALS))
    # Errors are rounded up to a few values, so that equal beliefs are equal here, too.
    wide = 2.0 ** math.ceil(math.log2(error + 2.0 * 10.0**-DECIMALS))
    return Belief(columns, None, tuple(rounded.tolist()), wide)


def simplest_fraction(value: float) -> Fraction:
    """Return a simple fraction that rounds to a float: 1/3 for 0.3333333333333333."""
    for largest in (10**3, 10**6, 10**9):
        found = Fraction(value).limit_denominator(largest)
        if float(found) == value:
            return found
    return Fraction(value)
