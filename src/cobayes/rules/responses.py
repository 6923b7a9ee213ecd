"""A rule's answers to many beliefs at once."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.rules.beliefs import BeliefState, keep_lanes
from cobayes.rules.kernels import (
    draw_many,
    draw_possible,
    fill_likelihoods,
    fill_posteriors,
    observe_many,
    observe_possible,
)
from cobayes.rules.response import add_evidence
from cobayes.scaling.lanes import LANES, Lanes, from_lanes, row_to_lanes
from cobayes.scaling.stopping import LARGEST, SMALLEST

Array = NDArray[np.float64]


class Responses:
    """Likelihood matrices for many beliefs, kept one by one: what any rule can give.

    Parameters
    ----------
    beliefs
        The beliefs that were answered.
    log_likelihoods
        The logarithms of the likelihood matrices, (size, n, m).

    Examples
    --------
    >>> import numpy as np
    >>> import cobayes as cb
    >>> from cobayes.rules import BeliefState
    >>> rule = cb.BI([[0.6, 0.2], [0.4, 0.8]])
    >>> beliefs = BeliefState.from_logs(np.log([[0.5, 0.5], [0.9, 0.1]]))
    >>> rule.respond_many(beliefs).likelihoods.shape
    (2, 2, 2)
    """

    def __init__(self, beliefs: BeliefState, log_likelihoods: Array) -> None:
        self.beliefs = beliefs
        self._logs = log_likelihoods

    @property
    def likelihoods(self) -> Array:
        """The likelihood matrices, (size, n, m); columns sum to one."""
        return _with_sum_one(np.exp(self._logs))

    @property
    def log_likelihoods(self) -> Array:
        """Logarithms of the likelihood matrices, (size, n, m)."""
        return self._logs

    def posteriors(self, log_beliefs: Array) -> Array:
        """Return the beliefs after every datum, (size, n, m); NaN where it is impossible."""
        return np.exp(add_evidence(log_beliefs[:, None, :], self.log_likelihoods))

    def teach(self, hypotheses: NDArray[np.intp]) -> Array:
        """Return the distribution over data under one hypothesis for each belief, (size, n)."""
        return _with_sum_one(np.exp(self._logs[np.arange(self.beliefs.size), :, hypotheses]))

    def draw(self, hypotheses: NDArray[np.intp], uniforms: Array) -> NDArray[np.intp]:
        """Draw a datum for every belief, as a teacher of these hypotheses would.

        Parameters
        ----------
        hypotheses
            The position that each one teaches, (size,).
        uniforms
            One uniform number for each, (size,).

        Returns
        -------
        ndarray
            Positions of the data, (size,).
        """
        shares = self.teach(hypotheses)
        sums = np.cumsum(shares, axis=1)
        # Where the sums round down to less than one: the last datum of positive probability.
        last = shares.shape[1] - 1 - np.argmax(shares[:, ::-1] > 0.0, axis=1)
        return np.minimum((uniforms[:, None] >= sums).sum(axis=1), last)

    def observe(
        self, data: NDArray[np.intp], contradicted: NDArray[np.bool_] | None = None
    ) -> BeliefState:
        """Move the beliefs on by a datum each and return them.

        The answers belong to the beliefs before: ask the rule for new ones.

        Parameters
        ----------
        data
            The position of each one's datum, (size,).
        contradicted
            Where given, beliefs that a datum contradicts, because it is impossible under every
            hypothesis believed, are marked in it and stay as they are; else this is an error.
        """
        joint = self.beliefs.log_beliefs + self._logs[np.arange(self.beliefs.size), data]
        impossible = joint.max(axis=1) == -np.inf
        mark_contradicted(impossible, data, contradicted)
        joint[impossible] = self.beliefs.log_beliefs[impossible]
        peak = joint.max(axis=1, keepdims=True)
        joint -= peak + np.log(np.exp(joint - peak).sum(axis=1, keepdims=True))
        self.beliefs = BeliefState.from_logs(joint, data_priors=self.beliefs.data_priors)
        return self.beliefs

    def keep(self, chosen: NDArray[np.intp]) -> Responses:
        """Return the answers to some of the beliefs, given by position."""
        return Responses(self.beliefs.keep(chosen), self._logs[chosen])


class Solver(Protocol):
    """What finds the factors of many likelihood matrices, and remembers what helps next time."""

    def solve(self, beliefs: BeliefState, lanes: Lanes) -> None:
        """Fill in the factors that belong to the beliefs."""

    def keep(self, size: int, chosen: NDArray[np.intp]) -> Solver:
        """Return the solver for some of `size` beliefs, given by position."""
        ...


class CompiledResponses(Responses):
    """Likelihood matrices for many beliefs in factored form, in lanes.

    The arrays are used again: an answer holds until the next one is made from it.

    Parameters
    ----------
    beliefs
        The beliefs that were answered.
    lanes
        The matrix and, for each belief, its factors.
    solver
        What finds the factors; None where they are the same for every belief.
    """

    def __init__(self, beliefs: BeliefState, lanes: Lanes, solver: Solver | None) -> None:
        self.beliefs = beliefs
        self.lanes = lanes
        self.solver = solver
        rows = lanes.row_sums
        self.has_zeros = bool(lanes.matrix.min() == 0.0 or (rows is not None and rows.min() == 0.0))

    @classmethod
    def starting(
        cls,
        beliefs: BeliefState,
        matrix: Array,
        solver: Solver | None = None,
        row_sums: Array | None = None,
        *,
        has_labels: bool = False,
    ) -> CompiledResponses:
        """Return answers that are still to be found, with factors of one.

        Parameters
        ----------
        beliefs
            The beliefs; a data prior of their own overrides `row_sums`.
        matrix
            (n, m).
        solver
            What finds the factors.
        row_sums
            The rule's data prior, times n, (n,); None: uniform.
        has_labels
            Whether entries may vanish; see `Lanes`.
        """
        groups, m, _ = beliefs.mantissas.shape
        n = len(matrix)
        rows = beliefs.row_sums
        if rows is None and row_sums is not None:
            rows = np.tile(row_sums[:, None], (groups, 1, LANES))
        lanes = Lanes(
            # A copy: a model's matrix is read-only and a normalised one is not, which to the
            # compiler are two types, and it would compile everything twice.
            np.array(matrix, order="C"),
            np.full((groups, m, LANES), np.nan),
            rows,
            np.ones((groups, m, LANES)),
            np.ones((groups, n, LANES)),
            np.zeros((groups, LANES), dtype=np.int64),
            np.zeros((groups, n, LANES), dtype=np.int64) if has_labels else None,
            np.zeros((groups, m, LANES), dtype=np.int64) if has_labels else None,
        )
        return cls(beliefs, lanes, solver)

    def answer(self, beliefs: BeliefState) -> CompiledResponses:
        """Find the answers to beliefs, from those to the last ones, and return them."""
        self.beliefs = beliefs
        if self.solver is not None:
            self.solver.solve(beliefs, self.lanes)
        return self

    @property
    def factors(self) -> tuple[Array, Array]:
        """Row factors (size, n) and column factors (size, m) of the likelihood matrices."""
        size = self.beliefs.size
        return from_lanes(self.lanes.row_scaling, size), from_lanes(self.lanes.factors, size)

    @property
    def likelihoods(self) -> Array:
        """The likelihood matrices, (size, n, m); columns sum to one."""
        if self.solver is None:
            return np.broadcast_to(self.lanes.matrix, (self.beliefs.size, *self.lanes.matrix.shape))
        rows, columns = self.factors
        if self.lanes.row_labels is not None:
            return rows[:, :, None] * self.matrices * columns[:, None, :]
        found = np.empty((len(rows), *self.lanes.matrix.shape))
        fill_likelihoods(rows, self.lanes.matrix, columns, found)
        return found

    @property
    def matrices(self) -> Array:
        """What the factors multiply: (1, n, m), or (size, n, m) where entries may vanish."""
        lanes, size = self.lanes, self.beliefs.size
        if lanes.row_labels is None or lanes.column_labels is None:
            return lanes.matrix[None]
        rows, columns = from_lanes(lanes.row_labels, size), from_lanes(lanes.column_labels, size)
        return np.where(rows[:, :, None] == columns[:, None, :], lanes.matrix, 0.0)

    @property
    def log_likelihoods(self) -> Array:
        """Logarithms of the likelihood matrices, (size, n, m)."""
        rows, columns = self.factors
        with np.errstate(divide="ignore"):
            logs = np.log(self.matrices)
            return np.log(rows)[:, :, None] + logs + np.log(columns)[:, None, :]

    def posteriors(self, log_beliefs: Array) -> Array:
        """Return the beliefs after every datum, (size, n, m); see `Responses.posteriors`."""
        if not self.has_zeros:
            if self.beliefs.shifts.any():
                weights = np.exp(log_beliefs) * from_lanes(self.lanes.factors, self.beliefs.size)
            else:
                weights = from_lanes(self.beliefs.mantissas * self.lanes.factors, len(log_beliefs))
            totals = weights @ self.lanes.matrix.T
            if totals.min() > SMALLEST and totals.max() < LARGEST:
                found = np.empty((len(weights), *self.lanes.matrix.shape))
                fill_posteriors(weights, self.lanes.matrix, totals, found)
                return found
        return super().posteriors(log_beliefs)

    def teach(self, hypotheses: NDArray[np.intp]) -> Array:
        """Return the distribution over data under one hypothesis for each belief, (size, n)."""
        rows, columns = self.factors
        each = np.arange(self.beliefs.size)
        matrices = np.broadcast_to(self.matrices, (len(each), *self.lanes.matrix.shape))
        return rows * matrices[each, :, hypotheses] * columns[each, hypotheses, None]

    def draw(self, hypotheses: NDArray[np.intp], uniforms: Array) -> NDArray[np.intp]:
        """Draw a datum for every belief; see `Responses.draw`."""
        data = np.empty((len(self.lanes.factors), LANES), dtype=np.int64)
        draw = draw_possible if self.has_zeros else draw_many
        draw(
            self.lanes,
            row_to_lanes(hypotheses, np.int64),
            row_to_lanes(uniforms, np.float64),
            data,
        )
        return data.reshape(-1)[: self.beliefs.size]

    def observe(
        self, data: NDArray[np.intp], contradicted: NDArray[np.bool_] | None = None
    ) -> BeliefState:
        """Move the beliefs on by a datum each, in place; see `Responses.observe`."""
        packed = row_to_lanes(data, np.int64)
        state = self.beliefs._replace(row_sums=None)  # else the code would be compiled twice
        if not self.has_zeros:
            observe_many(self.lanes, packed, state)
            return self.beliefs
        marks = np.zeros(packed.shape, dtype=np.int64)
        observe_possible(self.lanes, packed, state, marks)
        mark_contradicted(marks.reshape(-1)[: self.beliefs.size] > 0, data, contradicted)
        return self.beliefs

    def keep(self, chosen: NDArray[np.intp]) -> CompiledResponses:
        """Return the answers to some of the beliefs, given by position."""
        size, lanes = self.beliefs.size, self.lanes
        shares = keep_lanes(lanes.shares, size, chosen)
        rows = lanes.row_sums
        kept = Lanes(
            lanes.matrix,
            shares,
            None if rows is None else keep_lanes(rows, size, chosen),
            keep_lanes(lanes.factors, size, chosen),
            keep_lanes(lanes.row_scaling, size, chosen),
            np.zeros((len(shares), LANES), dtype=np.int64),
            None if lanes.row_labels is None else keep_lanes(lanes.row_labels, size, chosen),
            None if lanes.column_labels is None else keep_lanes(lanes.column_labels, size, chosen),
        )
        solver = None if self.solver is None else self.solver.keep(size, chosen)
        return CompiledResponses(self.beliefs.keep(chosen), kept, solver)


def _with_sum_one(likelihoods: Array) -> Array:
    """Normalise over data, the second axis, what a literal learner may take as it is."""
    totals = likelihoods.sum(axis=1, keepdims=True)
    is_far = (np.abs(totals - 1.0) > 1e-9) & (totals > 0.0)
    return likelihoods / np.where(is_far, totals, 1.0)


def mark_contradicted(
    impossible: NDArray[np.bool_],
    data: NDArray[np.intp],
    contradicted: NDArray[np.bool_] | None,
) -> None:
    """Mark beliefs whose datum is impossible, or raise an error about the first one."""
    if contradicted is not None:
        contradicted |= impossible
    elif impossible.any():
        first = int(np.argmax(impossible))
        raise CobayesError(
            f"datum {int(data[first])} is impossible under every hypothesis that belief {first} "
            "holds possible, so the belief cannot be updated."
        )
