"""Many rounds in one compiled call.

`Rule.respond_many` moves everybody by one round per call. Success rates need millions of short
lessons on small matrices, where the calls would cost more than the inference: here a call takes a
group of beliefs through many rounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled
from cobayes.rules import BeliefState, Responses, Rule
from cobayes.rules.kernels import SCRATCH, draw_group, observe_group, scale_group
from cobayes.rules.responses import CompiledResponses
from cobayes.rules.sequential import ScalingSolver
from cobayes.scaling.lanes import LANES, Lanes, Probes
from cobayes.scaling.small import WORK, three_columns

Array = NDArray[np.float64]


class Schedule(NamedTuple):
    """The rounds that every lane takes; the data of the groups lie below each other.

    Attributes
    ----------
    hypothesis, level
        What a teacher teaches, and the belief in it at which a lane stops; a learner has
        hypothesis -1.
    uniforms : ndarray
        For a teacher: one number for each round and lane, in the shape of `data`.
    data : ndarray
        (rounds, lanes): for a teacher out, else in.
    starts : ndarray
        Where each group's data start, and the end: (groups + 1,).
    lengths : ndarray
        For a teacher in and out: after how many rounds a lane was sure, or -1. Else in: how many
        data a lane observes. (groups, lanes).
    """

    hypothesis: int
    level: float
    uniforms: Array
    data: NDArray[np.unsignedinteger]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def observing(
        cls,
        data: NDArray[np.unsignedinteger],
        starts: NDArray[np.int64],
        lengths: NDArray[np.int64],
    ) -> Schedule:
        """Return the schedule of learners."""
        return cls(-1, 0.0, np.empty((0, LANES)), data, starts, lengths)

    @property
    def longest(self) -> int:
        """The largest number of rounds of a group."""
        return int(np.diff(self.starts).max(initial=0))


@compiled()
def _march(beliefs, lanes, solver, schedule, place, first, last):
    """Take every lane through its own rounds; a lane that has come to its end stays as it is.

    Teachers and learners share this one kernel, which takes long to compile: the teacher's part
    is a small one of it.

    Parameters
    ----------
    beliefs, lanes, solver
        As for `cobayes.rules.kernels.scale_many`; a solver of None means that the likelihoods are
        there already.
    schedule
        A `Schedule`.
    place
        In and out: the group and its round to go on with, and whether its likelihoods are there.
        Where scalings do not converge the work stops at this place.
    first, last
        Every group takes the rounds from the first up to the last, which is not taken.
    """
    mantissas, shifts = beliefs.mantissas, beliefs.shifts
    hypothesis, starts, lengths = schedule.hypothesis, schedule.starts, schedule.lengths
    data = schedule.data
    num_groups, num_columns, _ = mantissas.shape
    before = np.empty((num_columns, LANES))
    shifts_before = np.empty((num_columns, LANES), dtype=np.int64)
    is_open = np.empty(LANES, dtype=np.int64)
    chosen = np.empty(LANES, dtype=np.int64)
    taught = np.full(LANES, hypothesis)
    scratch, room = np.empty(SCRATCH), np.empty(WORK)
    columns = three_columns(lanes.matrix)
    teaches = hypothesis >= 0
    first_group, first_round, is_ready = place[0], place[1], place[2] > 0
    for g in range(first_group, num_groups):
        for k in range(first_round, min(starts[g + 1] - starts[g], last)):
            row = starts[g] + k
            num_open = 0
            for lane in range(LANES):
                length = lengths[g, lane]
                is_open[lane] = 1 if (length < 0 if teaches else length > k) else 0
                num_open += is_open[lane]
            if num_open == 0:
                break
            # The compiler drops what does not apply: None is a type of its own.
            if solver is not None:
                if not is_ready and scale_group(beliefs, lanes, g, columns, solver, room) > 0:
                    place[0], place[1], place[2] = g, k, 1
                    return
                is_ready = False
            if num_open < LANES:
                # Loops, because an array assignment takes seconds to compile.
                for j in range(num_columns):
                    for lane in range(LANES):
                        before[j, lane] = mantissas[g, j, lane]
                        shifts_before[j, lane] = shifts[g, j, lane]
            if teaches:
                draw_group(lanes, g, taught, schedule.uniforms[row], chosen, scratch)
                for lane in range(LANES):
                    data[row, lane] = chosen[lane]
            else:
                for lane in range(LANES):
                    chosen[lane] = data[row, lane]
            observe_group(lanes, g, chosen, beliefs, scratch)
            if num_open < LANES:
                for j in range(num_columns):
                    for lane in range(LANES):
                        if is_open[lane] == 0:
                            mantissas[g, j, lane] = before[j, lane]
                            shifts[g, j, lane] = shifts_before[j, lane]
            if teaches:
                for lane in range(LANES):
                    is_sure = (
                        (is_open[lane] > 0)
                        & (shifts[g, hypothesis, lane] == 0)
                        & (mantissas[g, hypothesis, lane] > schedule.level)
                    )
                    lengths[g, lane] = k + 1 if is_sure else lengths[g, lane]
        first_round = first
    place[0] = num_groups


def datum_type(num_data: int) -> type[np.unsignedinteger]:
    """Return the type in which data are stored and handed to the kernel."""
    return np.uint16 if num_data <= np.iinfo(np.uint16).max else np.uint32


class Marchers:
    """Many beliefs under one rule, taken through many rounds in one call.

    Parameters
    ----------
    rule
        Any rule; those that scale, and those with one likelihood for all beliefs, are compiled.
    log_beliefs
        Where they start: (m,) for all alike, or (size, m).
    size
        How many there are.
    """

    def __init__(self, rule: Rule, log_beliefs: Array, size: int) -> None:
        self.rule = rule
        self._beliefs = BeliefState.from_logs(log_beliefs, size)
        self._responses: Responses | None = rule.workspace(self._beliefs)

    @property
    def size(self) -> int:
        """The number of beliefs."""
        return self._beliefs.size

    @property
    def beliefs(self) -> Array:
        """The beliefs, (size, m)."""
        return self._beliefs.beliefs

    @property
    def log_beliefs(self) -> Array:
        """The logarithms of the beliefs, (size, m)."""
        return self._beliefs.log_beliefs

    def keep(self, chosen: NDArray[np.intp]) -> None:
        """Go on with some of them only, given by position; what they know is kept."""
        if isinstance(self._responses, CompiledResponses):
            self._responses.beliefs = self._beliefs
            self._responses = self._responses.keep(chosen)
            self._beliefs = self._responses.beliefs
        else:
            self._beliefs = self._beliefs.keep(chosen)

    def follow(self, data: NDArray[np.unsignedinteger]) -> None:
        """Observe the same number of data each, (rounds, size)."""
        num_rounds = len(data)
        groups = len(self._beliefs.mantissas)
        starts = np.arange(groups + 1) * num_rounds
        lengths = np.full((groups, LANES), num_rounds)
        self.follow_packed(_below_each_other(data), starts, lengths)

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
        if not self._march(Schedule.observing(data, starts, lengths)):
            self._follow_slowly(data, starts, lengths.ravel()[: self.size])

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
        groups = len(self._beliefs.mantissas)
        chance = _below_each_other(uniforms)
        # Zeros: rounds after everybody in a group was sure are not played, yet may be read.
        data = np.zeros(chance.shape, dtype=datum_type(self.rule.model.num_data))
        starts = np.arange(groups + 1) * num_rounds
        rounds = np.full((groups, LANES), -1)
        rounds.reshape(-1)[self.size :] = 0  # spare lanes
        if not self._march(Schedule(hypothesis, level, chance, data, starts, rounds)):
            return self._teach_slowly(hypothesis, uniforms, level)
        by_round = data.reshape(groups, num_rounds, LANES).swapaxes(0, 1).reshape(num_rounds, -1)
        return by_round[:, : self.size], rounds.ravel()[: self.size]

    def _march(self, schedule: Schedule) -> bool:
        """Take the rounds in compiled code; return whether the rule has some."""
        responses = self._responses
        # With zeros a datum can contradict everything believed: a round at a time sees that.
        if not isinstance(responses, CompiledResponses) or responses.has_zeros:
            return False
        solver = responses.solver
        responses.beliefs = self._beliefs
        if solver is not None and not (isinstance(solver, ScalingSolver) and solver.is_short):
            self._march_by_rounds(responses, schedule)
            return True
        num_groups = len(self._beliefs.mantissas)
        place = np.zeros(3, dtype=np.int64)
        while place[0] < num_groups:
            _march(self._beliefs, responses.lanes, solver, schedule, place, 0, schedule.longest)
            if place[0] < num_groups and solver is not None:
                solver.finish(self._beliefs, responses.lanes)
        return True

    def _march_by_rounds(self, responses: CompiledResponses, schedule: Schedule) -> None:
        """Take the rounds one by one: a solver that is long to compile is compiled by itself."""
        starts, lengths = schedule.starts, schedule.lengths
        ends = np.diff(starts)
        for k in range(schedule.longest):
            # Groups are sorted by length: those that have come to their end lie at the start.
            first = int(np.argmax(ends > k))
            later = _later_groups(responses, first)
            later.answer(later.beliefs)
            rest = schedule._replace(starts=starts[first:], lengths=lengths[first:])
            _march(later.beliefs, later.lanes, None, rest, np.array([0, k, 0]), k, k + 1)
            if schedule.hypothesis >= 0 and lengths.ravel()[: self.size].min() >= 0:
                break

    def _step(self, data: NDArray[np.intp] | None, draw: tuple[int, Array]) -> NDArray[np.intp]:
        """Take one round: observe data, or draw them first, and return them."""
        responses = self.rule.respond_many(self._beliefs, self._responses)
        if data is None:
            hypothesis, uniforms = draw
            data = responses.draw(np.full(self.size, hypothesis), uniforms)
        # A learner that a datum contradicts stays as it was.
        self._beliefs = responses.observe(data, np.zeros(self.size, dtype=np.bool_))
        self._responses = responses
        return data

    def _follow_slowly(
        self, data: NDArray, starts: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> None:
        """Do what `follow_packed` does, round by round."""
        lane = np.arange(self.size) % LANES
        first = starts[np.arange(self.size) // LANES]
        final = self.log_beliefs
        for k in range(int(lengths.max(initial=0))):
            # Those that have come to their end observe anything: it does not count.
            rows = np.minimum(first + k, len(data) - 1)
            self._step(data[rows, lane].astype(np.intp), (0, np.empty(0)))
            ends = lengths == k + 1
            final[ends] = self.log_beliefs[ends]
        self._beliefs = BeliefState.from_logs(final)

    def _teach_slowly(
        self, hypothesis: int, uniforms: Array, level: float
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
        """Do what `teach` does, round by round."""
        taught = np.zeros(uniforms.shape, dtype=datum_type(self.rule.model.num_data))
        rounds = np.full(self.size, -1, dtype=np.int64)
        final = self.log_beliefs
        for k, chance in enumerate(uniforms):
            taught[k] = self._step(None, (hypothesis, chance))
            ends = (rounds < 0) & (self.beliefs[:, hypothesis] > level)
            rounds[ends] = k + 1
            final[rounds < 0] = self.log_beliefs[rounds < 0]
            final[ends] = self.log_beliefs[ends]
        self._beliefs = BeliefState.from_logs(final)
        return taught, rounds


def _later_groups(responses: CompiledResponses, first: int) -> CompiledResponses:
    """Return the answers from a group on, as views."""
    if first == 0:
        return responses
    beliefs, solver = responses.beliefs, responses.solver
    later = BeliefState(
        beliefs.mantissas[first:], beliefs.shifts[first:], beliefs.size - first * LANES
    )
    lanes = responses.lanes
    rows = lanes.row_sums
    part = Lanes(
        lanes.matrix,
        lanes.shares[first:],
        None if rows is None else rows[first:],
        lanes.factors[first:],
        lanes.row_scaling[first:],
        lanes.not_converged[first:],
    )
    if isinstance(solver, ScalingSolver) and solver.probes is not None:
        transposed, *others = solver.probes
        probes = Probes(transposed, *(values[first:] for values in others))
        solver = solver._replace(probes=probes)
    return CompiledResponses(later, part, solver)


def _below_each_other(values: NDArray) -> NDArray:
    """Lay (rounds, size) out as the kernel reads it, (groups * rounds, lanes)."""
    num_rounds, size = values.shape
    spare = -size % LANES
    if spare:
        values = np.concatenate([values, np.repeat(values[:, -1:], spare, axis=1)], axis=1)
    return values.reshape(num_rounds, -1, LANES).swapaxes(0, 1).reshape(-1, LANES)
