"""The rounds of a block of lessons, compiled.

With two to four hypotheses a round takes a block less time than the calls from Python around it:
then many rounds are one call. With more, the rounds in which no belief moves any more are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled
from cobayes.lessons.tallies import Tallies, tally
from cobayes.rules.beliefs import BeliefState
from cobayes.rules.kernels import draw_many, fill_all_shares, observe_many, scale_many
from cobayes.rules.responses import CompiledResponses
from cobayes.rules.sequential import ScalingSolver
from cobayes.scaling.lanes import LANES

Array = NDArray[np.float64]

# Rounds in one call: random numbers and, where paths are kept, beliefs are held for so many.
ROUNDS = 64
# Numbers of beliefs that are held for the paths, at most.
HELD = 2**18


class Rounds(NamedTuple):
    """Successive rounds of a block of lessons.

    Attributes
    ----------
    first
        The number of the first round.
    is_answered
        Whether the first round's scalings are there already.
    uniforms : ndarray
        One number for each round and lane, (rounds, groups, LANES).
    mantissas, shifts : ndarray
        Out: the beliefs after every round, (rounds, groups, m, LANES); without rounds: not kept.
    """

    first: int
    is_answered: bool
    uniforms: Array
    mantissas: Array
    shifts: NDArray[np.int64]


class Course(NamedTuple):
    """The rounds of a block of lessons, and what is kept of them.

    Attributes
    ----------
    num_rounds : int
        How many rounds are played.
    rng : Generator
        Random numbers, one for each lesson and round.
    tallies : Tallies
        The statistics, filled in from round one on.
    recorded, paths : dict, ndarray
        Places in `paths`, (size, places, m), by round: log-beliefs that are kept.
    """

    num_rounds: int
    rng: np.random.Generator
    tallies: Tallies
    recorded: dict[int, int]
    paths: Array

    def keep(self, number: int, log_beliefs: Array) -> None:
        """Keep the log-beliefs after a round, (size, m), where they are wanted."""
        if number in self.recorded:
            self.paths[:, self.recorded[number]] = log_beliefs


@compiled(inner=True)
def _copy(source, target):
    """Copy an array of three axes; a plain assignment takes seconds to compile."""
    for g in range(source.shape[0]):
        for j in range(source.shape[1]):
            for lane in range(LANES):
                target[g, j, lane] = source[g, j, lane]


@compiled()
def _play(beliefs, lanes, closed, swept, rounds, tallies):
    """Play `Rounds` until some scalings are left to the solver; return how many were played.

    Parameters
    ----------
    beliefs, lanes
        As for `scale_many`.
    closed, swept
        A solver in closed form, or one by sweeps, for which beliefs that move are only marked. Both
        None: the likelihoods are there already.
    rounds, tallies
        What is played, and the statistics to be filled in.
    """
    num_rounds, num_groups, _ = rounds.uniforms.shape
    taught = np.full((num_groups, LANES), tallies.hypothesis)
    data = np.empty((num_groups, LANES), dtype=np.int64)
    for k in range(num_rounds):
        # The compiler drops what does not apply: None is a type of its own.
        num_left = 0
        is_ready = rounds.is_answered and k == 0
        if closed is not None:
            num_left = 0 if is_ready else scale_many(beliefs, lanes, closed)
        if swept is not None:
            num_left = 0 if is_ready else fill_all_shares(beliefs, lanes, swept)
        if num_left > 0:
            return k
        draw_many(lanes, taught, rounds.uniforms[k], data)
        observe_many(lanes, data, beliefs)
        tally(beliefs, tallies, rounds.first + k)
        if rounds.mantissas.shape[0] > 0:
            _copy(beliefs.mantissas, rounds.mantissas[k])
            _copy(beliefs.shifts, rounds.shifts[k])
    return num_rounds


def play(responses: CompiledResponses, course: Course) -> None:
    """Play all rounds of a block whose teachers and learners share rule and prior.

    Parameters
    ----------
    responses
        Where the answers start; its beliefs are moved on.
    course
        What is played and kept.
    """
    num_rounds, rng, tallies, recorded, _ = course
    beliefs, solver = responses.beliefs, responses.solver
    scaling = solver if isinstance(solver, ScalingSolver) else None
    closed = scaling if scaling is not None and scaling.is_short else None
    swept = scaling if scaling is not None and scaling.probes is not None else None
    is_played = solver is None or closed is not None or swept is not None
    size, groups = beliefs.size, len(beliefs.mantissas)
    longest = ROUNDS if is_played else 1
    if recorded:
        longest = min(longest, max(1, HELD // beliefs.mantissas.size))
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
        if solver is not None and not is_played:
            solver.solve(beliefs, responses.lanes)
        while start < count:
            rounds = Rounds(
                done + 1 + start, is_answered, uniforms[start:], mantissas[start:], shifts[start:]
            )
            start += _play(beliefs, responses.lanes, closed, swept, rounds, tallies)
            is_answered = start < count
            if is_answered and scaling is not None:
                scaling.finish(beliefs, responses.lanes)
        for k in range(len(mantissas)):
            if done + 1 + k in recorded:
                course.keep(done + 1 + k, BeliefState(mantissas[k], shifts[k], size).log_beliefs)
        done += count
