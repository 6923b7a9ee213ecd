"""A few lessons, each scaled by itself: side by side they would cost what sixteen cost."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled
from cobayes.lessons.drawing import draw
from cobayes.lessons.playing import ROUNDS, Course
from cobayes.rules import Rule
from cobayes.rules.beliefs import join_logs, replace_belief, split_logs
from cobayes.scaling.plain import PlainProblem
from cobayes.scaling.stopping import MAX_SWEEPS, PARALLEL_SIZE, TINY
from cobayes.scaling.sweeps import make_state, solve_by_sweeps

Array = NDArray[np.float64]


class Lessons(NamedTuple):
    """A few lessons under way.

    Attributes
    ----------
    mantissas, shifts : ndarray
        The beliefs, (m, size); see `cobayes.rules.beliefs`.
    factors, rates : ndarray
        Column factors and rates of convergence of the last scalings, (size, m) and (size,).
    kept, kept_shifts : ndarray
        The beliefs after every round, (rounds, m, size).
    """

    mantissas: Array
    shifts: NDArray[np.int64]
    factors: Array
    rates: Array
    kept: Array
    kept_shifts: NDArray[np.int64]


@compiled()
def _play_few(problem, lessons, hypothesis, uniforms, first):
    """Play lesson after lesson, round after round, until a scaling does not converge.

    Parameters
    ----------
    problem, lessons
        A `PlainProblem`, and the `Lessons`, which are moved on.
    hypothesis
        The true hypothesis.
    uniforms
        One number for each round and lesson, (rounds, size).
    first
        How many pairs of round and lesson have been played.

    Returns
    -------
    count
        How many pairs have been played now.
    """
    matrix, mantissas, shifts = problem.matrix, lessons.mantissas, lessons.shifts
    num_rows, num_columns = matrix.shape
    num_rounds, size = uniforms.shape
    column_sums, values = np.empty(num_columns), np.empty(num_columns)
    row_scaling, chances = np.empty(num_rows), np.empty(num_rows)
    for pair in range(first, num_rounds * size):
        k, lesson = pair // size, pair % size
        for j in range(num_columns):
            share = mantissas[j, lesson] if shifts[j, lesson] == 0 else 0.0
            column_sums[j] = num_rows * share
        own = lessons.factors[lesson]
        state = make_state(matrix, problem.row_sums, column_sums, own, row_scaling)
        _, error, rate = solve_by_sweeps(
            state, lessons.rates[lesson], problem.tolerance, MAX_SWEEPS, problem.spread
        )
        is_done = error <= problem.tolerance
        for j in range(num_columns):
            is_done &= (own[j] >= TINY) & (own[j] < math.inf)
        for i in range(num_rows):
            is_done &= (row_scaling[i] >= TINY) & (row_scaling[i] < math.inf)
            chances[i] = row_scaling[i] * matrix[i, hypothesis] * own[hypothesis]
        if not is_done:
            return pair
        lessons.rates[lesson] = rate
        datum = draw(chances, uniforms[k, lesson])
        for j in range(num_columns):
            entry = num_rows * row_scaling[datum] * matrix[datum, j]
            values[j] = mantissas[j, lesson] * (entry * own[j])
        replace_belief(mantissas, shifts, lesson, values)
        for j in range(num_columns):
            lessons.kept[k, j, lesson] = mantissas[j, lesson]
            lessons.kept_shifts[k, j, lesson] = shifts[j, lesson]
    return num_rounds * size


def play_few(
    rule: Rule, problem: PlainProblem, log_prior: Array, size: int, course: Course
) -> None:
    """Play all rounds of a few lessons whose teachers and learners share rule and prior.

    Parameters
    ----------
    rule, problem
        The rule, and what it scales.
    log_prior, size
        The belief from which all start, (m,), and the number of lessons.
    course
        What is played and kept.
    """
    num_rounds, rng, tallies, *_ = course
    hypothesis = tallies.hypothesis
    mantissas, shifts = split_logs(np.repeat(log_prior[:, None], size, axis=1))
    factors, rates = np.ones((size, len(log_prior))), np.full(size, np.nan)
    is_compiled = problem.matrix.size < PARALLEL_SIZE
    for done in range(0, num_rounds, ROUNDS):
        uniforms = rng.random((min(ROUNDS, num_rounds - done), size))
        kept = np.empty((len(uniforms), *mantissas.shape))
        kept_shifts = np.empty(kept.shape, dtype=np.int64)
        lessons = Lessons(mantissas, shifts, factors, rates, kept, kept_shifts)
        pair = 0
        while pair < uniforms.size:
            if is_compiled:
                pair = _play_few(problem, lessons, hypothesis, uniforms, pair)
                if pair == uniforms.size:
                    break
            # The rule by itself: on several threads, or by Newton's method.
            k, lesson = divmod(pair, size)
            logs = join_logs(mantissas[:, lesson], shifts[:, lesson])
            response = rule.respond(logs, np.append(factors[lesson], rates[lesson]))
            if response.memory is not None:
                factors[lesson], rates[lesson] = response.memory[:-1], response.memory[-1]
            datum = int(draw(response.column(hypothesis), uniforms[k, lesson]))
            logs = rule.observe(logs, response, datum)
            mantissas[:, lesson], shifts[:, lesson] = split_logs(logs)
            kept[k, :, lesson], kept_shifts[k, :, lesson] = mantissas[:, lesson], shifts[:, lesson]
            pair += 1
        log_beliefs = join_logs(kept, kept_shifts).swapaxes(1, 2)
        tallies.add_rounds(done + 1, log_beliefs)
        for k, beliefs in enumerate(log_beliefs):
            course.keep(done + 1 + k, beliefs)
