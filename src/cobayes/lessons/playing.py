"""The rounds of a block of lessons, compiled.

With two to four hypotheses a round takes a block less time than the calls from Python around it:
then many rounds are one call.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled
from cobayes.lessons.statistics import WIDEST, log_odds
from cobayes.lessons.tallies import tally
from cobayes.rules.beliefs import BeliefState
from cobayes.rules.kernels import draw_many, observe_many, scale_many
from cobayes.rules.responses import CompiledResponses
from cobayes.rules.sequential import ScalingSolver
from cobayes.scaling.lanes import LANES

Array = NDArray[np.float64]

# Rounds in one call: random numbers and, where paths are kept, beliefs are held for so many.
ROUNDS = 64


class Tallies:
    """The statistics of one block, filled in round by round.

    Parameters
    ----------
    hypothesis, level
        The true hypothesis, and the belief in it that counts as sure.
    num_rounds, num_hypotheses, size
        The size of the block.
    num_bins
        The number of bins of the histogram.
    """

    def __init__(
        self,
        hypothesis: int,
        level: float,
        num_rounds: int,
        num_hypotheses: int,
        size: int,
        num_bins: int,
    ) -> None:
        self.hypothesis = hypothesis
        self.level = level
        self.means = np.empty((num_rounds + 1, num_hypotheses))
        self.squares = np.empty_like(self.means)
        # A block is small enough for its counts to fit.
        self.histogram = np.zeros((num_rounds + 1, num_bins), dtype=np.uint16)
        self.first_sure = np.full(size, num_rounds + 1)

    def add(self, beliefs: BeliefState, k: int) -> None:
        """Add the beliefs after round k."""
        tally(
            beliefs,
            self.hypothesis,
            self.level,
            k,
            self.means[k],
            self.squares[k],
            self.histogram[k],
            self.first_sure,
        )

    def add_rounds(self, first: int, log_beliefs: Array) -> None:
        """Add the beliefs of a few lessons after some rounds, as logarithms, (rounds, size, m)."""
        beliefs = np.exp(log_beliefs)
        rounds = np.arange(first, first + len(beliefs))
        means = beliefs.mean(axis=1)
        self.means[rounds] = means
        self.squares[rounds] = ((beliefs - means[:, None]) ** 2).sum(axis=1)
        num_bins = self.histogram.shape[1]
        odds = log_odds(log_beliefs, self.hypothesis)
        place = np.clip((odds + WIDEST) * (num_bins / (2.0 * WIDEST)), 0.0, num_bins - 1.0)
        np.add.at(self.histogram, (rounds[:, None], place.astype(np.intp)), 1)
        is_sure = beliefs[:, :, self.hypothesis] >= self.level
        earliest = np.where(is_sure.any(axis=0), first + is_sure.argmax(axis=0), self.first_sure)
        self.first_sure = np.minimum(self.first_sure, earliest)


@compiled()
def _copy(source, target):
    """Copy an array of three axes; a plain assignment takes seconds to compile."""
    for g in range(source.shape[0]):
        for j in range(source.shape[1]):
            for lane in range(LANES):
                target[g, j, lane] = source[g, j, lane]


@compiled()
def _play(
    beliefs,
    lanes,
    tolerance,
    wide,
    is_answered,
    uniforms,
    hypothesis,
    level,
    first,
    means,
    squares,
    histogram,
    first_sure,
    kept_mantissas,
    kept_shifts,
):
    """Play rounds until a scaling does not converge; return how many were played.

    Parameters
    ----------
    beliefs, lanes, tolerance, wide
        As for `scale_many`; a tolerance of None means one likelihood for all beliefs.
    is_answered
        Whether the first round's scalings are there already.
    uniforms
        One number for each round and lane, (rounds, groups, LANES).
    hypothesis, level, means, squares, histogram, first_sure
        As for `tally`, with a row for each round.
    first
        The number of the first round.
    kept_mantissas, kept_shifts
        Out: the beliefs after every round, (rounds, groups, m, LANES); without rounds: not kept.
    """
    num_rounds, num_groups, _ = uniforms.shape
    taught = np.full((num_groups, LANES), hypothesis)
    data = np.empty((num_groups, LANES), dtype=np.int64)
    for k in range(num_rounds):
        # The compiler drops what does not apply: None is a type of its own.
        if tolerance is not None:
            is_ready = is_answered and k == 0
            if not is_ready and scale_many(beliefs, lanes, tolerance, True, wide) > 0:
                return k
        draw_many(lanes, taught, uniforms[k], data)
        observe_many(lanes, data, beliefs)
        tally(beliefs, hypothesis, level, first + k, means[k], squares[k], histogram[k], first_sure)
        if kept_mantissas.shape[0] > 0:
            _copy(beliefs.mantissas, kept_mantissas[k])
            _copy(beliefs.shifts, kept_shifts[k])
    return num_rounds


def play(
    responses: CompiledResponses,
    tallies: Tallies,
    num_rounds: int,
    rng: np.random.Generator,
    recorded: dict[int, int],
    paths: Array,
) -> None:
    """Play all rounds of a block whose teachers and learners share rule and prior.

    Many rounds are one call where the likelihood is always the same or has a closed form.

    Parameters
    ----------
    responses
        Where the answers start; its beliefs are moved on.
    tallies
        The statistics, to be filled in from round one on.
    num_rounds
        How many rounds to play.
    rng
        Random numbers, one for each lesson and round.
    recorded, paths
        Places in `paths`, (size, places, m), by round: log-beliefs that are kept.
    """
    beliefs, solver = responses.beliefs, responses.solver
    tolerance, wide, is_closed = None, None, False
    if isinstance(solver, ScalingSolver) and solver.probes is None and solver.trusted:
        tolerance, wide, is_closed = solver.tolerance, solver.wide, True
    size, groups = beliefs.size, len(beliefs.mantissas)
    longest = ROUNDS if is_closed or solver is None else 1
    done = 0
    while done < num_rounds:
        count = min(longest, num_rounds - done)
        uniforms = np.empty((count, groups * LANES))
        uniforms[:, :size] = rng.random((count, size))
        uniforms[:, size:] = uniforms[:, size - 1 : size]
        uniforms = uniforms.reshape(count, groups, LANES)
        shape = (count if recorded else 0, *beliefs.mantissas.shape)
        mantissas, shifts = np.empty(shape), np.empty(shape, dtype=np.int64)
        start, is_answered = 0, False
        if solver is not None and not is_closed:
            solver.solve(beliefs, responses.lanes)
        while start < count:
            first = done + 1 + start
            played = _play(
                beliefs,
                responses.lanes,
                tolerance,
                wide,
                is_answered,
                uniforms[start:],
                tallies.hypothesis,
                tallies.level,
                first,
                tallies.means[first:],
                tallies.squares[first:],
                tallies.histogram[first:],
                tallies.first_sure,
                mantissas[start:],
                shifts[start:],
            )
            start += played
            is_answered = start < count
            if is_answered and isinstance(solver, ScalingSolver):
                solver.finish(beliefs, responses.lanes)
        for k in range(len(mantissas)):
            if done + 1 + k in recorded:
                state = BeliefState(mantissas[k], shifts[k], size)
                paths[:, recorded[done + 1 + k]] = state.log_beliefs
        done += count
