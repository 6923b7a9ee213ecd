"""A crowd: many agents with one rule, each with a belief of its own, moved by compiled code.

The compiled twin of `Learner` and `Teacher`: it answers the same questions for thousands of
beliefs at once. Ensembles, exact trees and couplings are built on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError, ConvergenceError
from cobayes.lessons.rounds import draw_crowd, observe_crowd
from cobayes.lessons.tallies import tally
from cobayes.rules import BI, SCBI, Rule
from cobayes.scaling import crowds, lanes, small
from cobayes.scaling.solver import MAX_NEWTON_STEPS

Array = NDArray[np.float64]

LOG_HUGE = 512.0 * np.log(2.0)
# Within one round no ratio of likelihoods, at most the square of this, may leap over a whole
# shift of 2**512.
WIDEST_SPREAD = 1e70


class Crowd:
    """Many beliefs under one rule.

    Parameters
    ----------
    rule
        `SCBI` or `BI`.
    log_beliefs
        Where they start: (m,) for all alike, or (size, m).
    size
        How many there are.
    """

    def __init__(self, rule: Rule, log_beliefs: Array, size: int) -> None:
        # A subclass that answers differently from its parent is not what is compiled here.
        answers = type(rule).respond
        if isinstance(rule, BI) and answers is BI.respond:
            matrix = rule.model.normalized()
        elif isinstance(rule, SCBI) and answers is SCBI.respond:
            matrix = rule.balanced
        else:
            raise CobayesError(
                f"there is no compiled form of {type(rule).__name__}, a rule of its own.",
                "use run_lesson, or cobayes.SCBI or cobayes.BI.",
            )
        if matrix.max() / matrix.min() > WIDEST_SPREAD:
            raise CobayesError(
                f"the entries of the matrix span a factor of {matrix.max() / matrix.min():.1g}; "
                f"compiled lessons take up to {WIDEST_SPREAD:g}.",
                "make the smallest entries larger, or use run_lesson.",
            )
        self.rule = rule
        self.size = size
        # Copies: a model's matrix is read-only and a normalised one is not, which to the compiler
        # are two types, and it would compile everything twice.
        self._matrix = np.array(matrix, order="C")
        self._transposed = np.array(matrix.T, order="C")
        n, m = matrix.shape
        groups = -(-size // lanes.LANES)
        self._shape = (groups, m, lanes.LANES)
        self._factors = np.ones(self._shape)
        self._row_scaling = np.ones((groups, n, lanes.LANES))
        self._stuck = np.zeros((groups, lanes.LANES), dtype=np.int64)
        slow_mode = rule.slow_mode if isinstance(rule, SCBI) else np.zeros(m)
        self._probe = np.tile(slow_mode[:, None], (groups, 1, lanes.LANES))
        self._rates = np.zeros((groups, 1, lanes.LANES))
        self._answered = isinstance(rule, BI)
        self.set_log_beliefs(log_beliefs)

    def set_log_beliefs(self, log_beliefs: Array) -> None:
        """Put the beliefs somewhere else, keeping the factors as a warm start."""
        padded = self._deal(np.broadcast_to(log_beliefs, (self.size, self._shape[1])))
        with np.errstate(invalid="ignore"):
            shifts = np.floor(-padded / LOG_HUGE)
        # A belief of zero stays zero whatever its shift.
        shifts = np.where(np.isfinite(shifts), np.maximum(shifts, 0.0), 0.0)
        self._shifts = shifts.astype(np.int64)
        self._mantissas = np.exp(padded + self._shifts * LOG_HUGE)
        self._answered = isinstance(self.rule, BI)

    def answer(self) -> None:
        """Scale the matrix to every belief, where the rule asks for it."""
        if self._answered:
            return
        rule = self.rule
        assert isinstance(rule, SCBI)  # for the type checker: BI is always answered
        left = self._solve(rule)
        if rule.is_nearly_blocks:
            self._stuck[:] = 1  # sweeps cannot be trusted here: verify every one
            left = self.size
        if left:
            lanes.rescue_crowd(
                self._matrix, *self._state(), rule.tolerance, MAX_NEWTON_STEPS, self._stuck
            )
            left = int(self._stuck.reshape(-1)[: self.size].sum())
        if left:
            raise ConvergenceError(
                f"{left} scalings did not converge to {rule.tolerance:g}.",
                "use SCBI(matrix, tolerance=...) with a larger tolerance, or make the "
                "smallest entries of the matrix larger.",
            )
        self._answered = True

    def _solve(self, rule: SCBI) -> int:
        """Scale the matrix to all beliefs; return how many are stuck."""
        if not small.SMALLEST <= self._matrix.shape[1] <= small.LARGEST:
            return crowds.solve_crowd(
                self._matrix,
                self._transposed,
                self.size,
                *self._state(),
                self._probe,
                self._rates[:, 0],
                rule.tolerance,
                not rule.is_nearly_blocks,
                self._stuck,
            )
        return small.solve_small_crowd(self._matrix, *self._state(), rule.tolerance, self._stuck)

    def _state(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Return what all solvers take and change: the beliefs, then w and u."""
        return self._mantissas, self._shifts, self._factors, self._row_scaling

    def draw(self, hypotheses: NDArray[np.intp], uniforms: Array) -> NDArray[np.intp]:
        """Draw a datum for everyone, as a teacher of these hypotheses would.

        Parameters
        ----------
        hypotheses
            The position each one teaches, (size,).
        uniforms
            One uniform number for each, (size,).
        """
        self.answer()
        data = np.empty((self._shape[0], lanes.LANES), dtype=np.int64)
        draw_crowd(
            self._matrix,
            self._factors,
            self._row_scaling,
            self._deal_one(hypotheses, np.int64),
            self._deal_one(uniforms, np.float64),
            data,
        )
        return data.reshape(-1)[: self.size]

    def observe(self, data: NDArray[np.intp]) -> None:
        """Update everyone's belief with a datum each, (size,)."""
        self.answer()
        observe_crowd(
            self._matrix,
            self._factors,
            self._row_scaling,
            self._deal_one(data, np.int64),
            self._mantissas,
            self._shifts,
        )
        self._answered = isinstance(self.rule, BI)

    def keep(self, chosen: NDArray[np.intp]) -> None:
        """Go on with some of them only, given by position; what they know is kept."""
        tables = {
            name: self._collect(getattr(self, name))[chosen]
            for name in (
                "_mantissas",
                "_shifts",
                "_factors",
                "_row_scaling",
                "_probe",
                "_rates",
            )
        }
        self.size = len(chosen)
        self._shape = (-(-self.size // lanes.LANES), *self._shape[1:])
        for name, values in tables.items():
            setattr(self, name, self._deal(values))
        self._stuck = np.zeros((self._shape[0], lanes.LANES), dtype=np.int64)

    def tally(
        self,
        hypothesis: int,
        level: float,
        round_: int,
        mean: Array,
        squares: Array,
        histogram: NDArray[np.integer],
        first_sure: NDArray[np.int64],
    ) -> None:
        """Add up statistics of the beliefs; see `cobayes.lessons.tallies.tally`."""
        tally(
            self._mantissas,
            self._shifts,
            self.size,
            hypothesis,
            level,
            round_,
            mean,
            squares,
            histogram,
            first_sure,
        )

    @property
    def beliefs(self) -> Array:
        """The beliefs, (size, m); below 1e-154 they read zero here and exactly in the logs."""
        return self._collect(np.where(self._shifts == 0, self._mantissas, 0.0))

    @property
    def log_beliefs(self) -> Array:
        """The logarithms of the beliefs, (size, m)."""
        with np.errstate(divide="ignore"):
            return self._collect(np.log(self._mantissas) - self._shifts * LOG_HUGE)

    @property
    def likelihood_factors(self) -> tuple[Array, Array]:
        """Row factors (size, n) and column factors (size, m) of the likelihood matrices."""
        self.answer()
        return self._collect(self._row_scaling), self._collect(self._factors)

    @property
    def likelihoods(self) -> Array:
        """The likelihood matrices at the current beliefs, (size, n, m)."""
        rows, columns = self.likelihood_factors
        return rows[:, :, None] * self._matrix * columns[:, None, :]

    def _deal(self, values: NDArray) -> NDArray:
        """Lay (size, k) out as (groups, k, lanes); spare lanes repeat the last one."""
        groups, _, width = self._shape
        padded = np.empty((groups * width, values.shape[1]), dtype=values.dtype)
        padded[: self.size] = values
        padded[self.size :] = values[-1]
        return np.ascontiguousarray(padded.reshape(groups, width, -1).swapaxes(1, 2))

    def _deal_one(self, values: NDArray, dtype: type[np.generic]) -> NDArray:
        """Lay (size,) out as (groups, lanes); spare lanes repeat the last one."""
        groups, _, width = self._shape
        if len(values) < groups * width:
            values = np.pad(values, (0, groups * width - len(values)), mode="edge")
        return np.ascontiguousarray(values, dtype=dtype).reshape(groups, width)

    def _collect(self, values: NDArray) -> NDArray:
        """Undo `_deal`."""
        groups, k, width = values.shape
        return values.swapaxes(1, 2).reshape(groups * width, k)[: self.size]
