"""Many rounds in one compiled call.

`Crowd` moves everybody by one round a call. Success rates need millions of short lessons on
small matrices, where the calls would cost more than the inference: here a call takes a group of
beliefs through many rounds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled
from cobayes.errors import ConvergenceError
from cobayes.lessons.crowd import Crowd
from cobayes.lessons.rounds import SCRATCH, draw_group, observe_group
from cobayes.rules import SCBI
from cobayes.scaling import small
from cobayes.scaling.crowds import solve_group
from cobayes.scaling.lanes import LANES, rescue_group
from cobayes.scaling.solver import MAX_NEWTON_STEPS

Array = NDArray[np.float64]

# How a group's likelihoods are found.
FIXED, CLOSED_FORM, SWEEPS, VERIFIED = 0, 1, 2, 3


@compiled()
def _answer_group(
    method,
    matrix,
    transposed,
    mantissas,
    shifts,
    factors,
    rows,
    probe,
    rates,
    tolerance,
    stuck,
):
    """Do what `Crowd.answer` does, for one group; return how many lanes did not converge."""
    if method == FIXED:
        return 0
    if method == CLOSED_FORM:
        left = small.solve_small_group(matrix, mantissas, shifts, factors, rows, tolerance, stuck)
    else:
        left = solve_group(
            matrix,
            transposed,
            mantissas,
            shifts,
            factors,
            rows,
            probe,
            rates,
            tolerance,
            method != VERIFIED,
            stuck,
        )
    if method == VERIFIED:
        stuck[:] = 1
        left = LANES
    if left > 0:
        left = rescue_group(
            matrix, mantissas, shifts, factors, rows, tolerance, MAX_NEWTON_STEPS, stuck
        )
    return left


@compiled()
def _march_groups(
    method,
    matrix,
    transposed,
    mantissas,
    shifts,
    factors,
    rows,
    probe,
    rates,
    tolerance,
    stuck,
    hypothesis,
    level,
    uniforms,
    data,
    starts,
    lengths,
):
    """Take every lane through its own rounds.

    Teachers and learners share this one kernel, which takes long to compile: the teacher's part
    is a small one of it.

    Parameters
    ----------
    method, matrix, transposed, mantissas, shifts, factors, rows, probe, rates, tolerance, stuck
        The state of a `Crowd`, groups first.
    hypothesis, level
        What a teacher teaches, and the belief in it at which a lane stops; a learner has
        hypothesis -1.
    uniforms
        For a teacher: one number for each round and lane, in the shape of `data`.
    data
        The groups' data below each other, (rounds, lanes): for a teacher out, else in.
    starts
        Where each group's data start, and the end: (groups + 1,).
    lengths
        For a teacher out: after how many rounds a lane was sure, or -1. Else in: how many
        data a lane observes. (groups, lanes).

    Returns
    -------
    num_left
        How many scalings did not converge; the work stops at the first.
    """
    num_groups, num_columns, _ = mantissas.shape
    final_mantissas = np.empty((num_columns, LANES))
    final_shifts = np.empty((num_columns, LANES), dtype=np.int64)
    chosen = np.empty(LANES, dtype=np.int64)
    taught = np.full(LANES, hypothesis)
    scratch = np.empty(SCRATCH)
    teaches = hypothesis >= 0
    for g in range(num_groups):
        final_mantissas[:] = mantissas[g]
        final_shifts[:] = shifts[g]
        num_sure = 0
        if teaches:
            lengths[g] = -1
        for k in range(starts[g + 1] - starts[g]):
            row = starts[g] + k
            left = _answer_group(
                method,
                matrix,
                transposed,
                mantissas[g],
                shifts[g],
                factors[g],
                rows[g],
                probe[g],
                rates[g],
                tolerance,
                stuck[g],
            )
            if left > 0:
                return left
            if teaches:
                draw_group(matrix, factors[g], rows[g], taught, uniforms[row], chosen, scratch)
                for lane in range(LANES):
                    data[row, lane] = chosen[lane]
            else:
                for lane in range(LANES):
                    chosen[lane] = data[row, lane]
            observe_group(matrix, factors[g], rows[g], chosen, mantissas[g], shifts[g], scratch)
            for lane in range(LANES):
                if teaches:
                    ends = (
                        lengths[g, lane] < 0
                        and shifts[g, hypothesis, lane] == 0
                        and mantissas[g, hypothesis, lane] > level
                    )
                    if ends:
                        lengths[g, lane] = k + 1
                        num_sure += 1
                else:
                    ends = lengths[g, lane] == k + 1
                if ends:
                    for j in range(num_columns):
                        final_mantissas[j, lane] = mantissas[g, j, lane]
                        final_shifts[j, lane] = shifts[g, j, lane]
            if num_sure == LANES:
                break
        for lane in range(LANES):
            if lengths[g, lane] >= 0:
                for j in range(num_columns):
                    mantissas[g, j, lane] = final_mantissas[j, lane]
                    shifts[g, j, lane] = final_shifts[j, lane]
    return 0


def datum_type(num_data: int) -> type[np.unsignedinteger]:
    """Return the type in which data are stored and handed to the kernel."""
    return np.uint16 if num_data <= np.iinfo(np.uint16).max else np.uint32


class Marchers(Crowd):
    """A crowd that takes many rounds in one call.

    Parameters
    ----------
    rule
        `SCBI` or `BI`.
    log_beliefs
        Where they start: (m,) for all alike, or (size, m).
    size
        How many there are.
    """

    def follow(self, data: NDArray[np.unsignedinteger]) -> None:
        """Observe the same number of data each, (rounds, size)."""
        num_rounds = len(data)
        groups = self._shape[0]
        starts = np.arange(groups + 1) * num_rounds
        lengths = np.full((groups, LANES), num_rounds)
        self.follow_packed(self._below_each_other(data), starts, lengths)

    def follow_packed(
        self,
        data: NDArray[np.unsignedinteger],
        starts: NDArray[np.int64],
        lengths: NDArray[np.int64],
    ) -> None:
        """Observe data that lie packed in groups of similar length.

        Parameters
        ----------
        data
            The groups' data below each other, (rounds, lanes).
        starts
            Where each group's data start, and the end: (groups + 1,).
        lengths
            How many data each one observes, (groups, lanes).
        """
        self._march(-1, 0.0, np.empty((0, LANES)), data, starts, lengths)

    def teach(
        self, hypothesis: int, uniforms: Array, level: float
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
        """Teach until sure, for some rounds at most.

        Those who are sure before the last round keep the belief they had then.

        Parameters
        ----------
        hypothesis
            What everybody teaches.
        uniforms
            One uniform number for each round and each one, (rounds, size).
        level
            The belief in the hypothesis above which a teacher stops.

        Returns
        -------
        data, rounds
            What was taught, (rounds, size), and after how many of these rounds each one was
            sure (-1: not yet), (size,).
        """
        num_rounds = len(uniforms)
        groups = self._shape[0]
        chance = self._below_each_other(uniforms)
        # Zeros: rounds after everybody in a group was sure are not played, yet may be read.
        data = np.zeros(chance.shape, dtype=datum_type(self._matrix.shape[0]))
        starts = np.arange(groups + 1) * num_rounds
        rounds = np.empty((groups, LANES), dtype=np.int64)
        self._march(hypothesis, level, chance, data, starts, rounds)
        by_lane = self._collect(data.reshape(groups, num_rounds, LANES))
        return by_lane.T, rounds.ravel()[: self.size]

    def _below_each_other(self, values: NDArray) -> NDArray:
        """Lay (rounds, size) out as the kernel reads it, (groups * rounds, lanes)."""
        return self._deal(np.ascontiguousarray(values.T)).reshape(-1, LANES)

    def _march(self, hypothesis: int, level: float, *rounds: NDArray) -> None:
        tolerance = self.rule.tolerance if isinstance(self.rule, SCBI) else math.inf
        num_left = _march_groups(
            self._method(),
            self._matrix,
            self._transposed,
            self._mantissas,
            self._shifts,
            self._factors,
            self._row_scaling,
            self._probe,
            self._rates[:, 0],
            tolerance,
            self._stuck,
            hypothesis,
            level,
            *rounds,
        )
        if num_left:
            raise ConvergenceError(
                f"{num_left} scalings did not converge to {tolerance:g}.",
                "use SCBI(matrix, tolerance=...) with a larger tolerance, or make the "
                "smallest entries of the matrix larger.",
            )
        self._answered = self._method() == FIXED

    def _method(self) -> int:
        if not isinstance(self.rule, SCBI):
            return FIXED
        if self.rule.is_nearly_blocks:
            return VERIFIED
        is_small = small.SMALLEST <= self._shape[1] <= small.LARGEST
        return CLOSED_FORM if is_small else SWEEPS
