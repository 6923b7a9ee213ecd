"""Accelerated sweeps for many beliefs at once, on one matrix.

Sweeps with Anderson's acceleration (a memory of two), lane by lane: on random 20 x 20 matrices
five or six sweeps do what nine plain ones do, and the slowest beliefs gain most.
"""

from __future__ import annotations

import math

import numpy as np

from cobayes.compiled import compiled
from cobayes.scaling.lanes import LANES, multiply
from cobayes.scaling.sweeps import NOISE

# Below this change a lane is near its solution, and its steps are accelerated.
NEAR = 0.3
# No accelerated step changes a factor by more than about e.
LONGEST_STEP = 1.0
# Lanes that are not done after so many are left to Newton's method.
MAX_ACCELERATED_SWEEPS = 60

# What is kept for every column, and for every lane. Each kind lies in one flat array, at offsets
# that the compiler knows: it can then prove that lanes do not touch each other.
COLUMN_ROOM = 7
FACTOR, COLUMN_SUM, RESIDUAL, OLD_RESIDUAL, OLD_STEP, OLDER_STEP, OLDER_CHANGE = range(COLUMN_ROOM)
LANE_ROOM = 13
AGE, RATE, ERROR, NEWER, OLDER, CHANGE = range(6)
NEW_NEW, NEW_OLD, OLD_OLD, NEW_NOW, OLD_NOW, STEP_STEP, STEP_NEW = range(6, LANE_ROOM)
FIRST_SUM, NUM_SUMS = CHANGE, 8


@compiled(fastmath={"contract"})
def _compare(totals, room, lane_room):
    """Measure how far every lane is, and what Anderson's acceleration needs to know.

    The residual f is the logarithm of the plain step, as a series (any function with the same
    zero and slope would do). Sums over columns are weighted by the column sums: columns that
    nobody believes in follow the others and have no say.
    """
    for at in range(FIRST_SUM * LANES, (FIRST_SUM + NUM_SUMS) * LANES):
        lane_room[at] = 0.0
    for j in range(totals.shape[0]):
        base = j * COLUMN_ROOM * LANES
        for lane in range(LANES):
            at = base + lane
            gap = 1.0 - room[at + FACTOR * LANES] * totals[j, lane]
            size = abs(gap)
            largest = lane_room[CHANGE * LANES + lane]
            lane_room[CHANGE * LANES + lane] = largest if size <= largest else size
            residual = gap * (1.0 + gap * (0.5 + gap * (1.0 / 3.0)))
            room[at + RESIDUAL * LANES] = residual
            weight = room[at + COLUMN_SUM * LANES]
            newer = residual - room[at + OLD_RESIDUAL * LANES]
            older = room[at + OLDER_CHANGE * LANES]
            step = room[at + OLD_STEP * LANES]
            lane_room[NEW_NEW * LANES + lane] += weight * newer * newer
            lane_room[NEW_OLD * LANES + lane] += weight * newer * older
            lane_room[OLD_OLD * LANES + lane] += weight * older * older
            lane_room[NEW_NOW * LANES + lane] += weight * newer * residual
            lane_room[OLD_NOW * LANES + lane] += weight * older * residual
            lane_room[STEP_STEP * LANES + lane] += weight * step * step
            lane_room[STEP_NEW * LANES + lane] += weight * step * newer


@compiled()
def _judge_lanes(lane_room):
    """Estimate rate and error of every lane and choose its next step; tell if any is far.

    The rate is the largest eigenvalue (other than one) of the plain sweep, seen as a Rayleigh
    quotient: a sweep maps the last step to that step plus the change of the residual.
    """
    num_far = 0
    for lane in range(LANES):
        change = lane_room[CHANGE * LANES + lane]
        age = lane_room[AGE * LANES + lane]
        step_step = lane_room[STEP_STEP * LANES + lane]
        rate = lane_room[RATE * LANES + lane]
        seen = 1.0 + lane_room[STEP_NEW * LANES + lane] / step_step
        can_see = age >= 1.0 and change > NOISE and step_step > 0.0
        rate = seen if can_see and not seen <= rate else rate
        lane_room[RATE * LANES + lane] = rate
        # The plain step that ends the iteration leaves this much of the error in the factors,
        # and at most that much in a row sum.
        series = rate / (1.0 - rate)
        in_rows = math.sqrt(max(rate, 1e-4))
        left = series if series > in_rows else in_rows
        lane_room[ERROR * LANES + lane] = change * left if rate < 1.0 else math.inf
        # Least squares for one or two differences of residuals.
        new_new = lane_room[NEW_NEW * LANES + lane]
        new_old = lane_room[NEW_OLD * LANES + lane]
        old_old = lane_room[OLD_OLD * LANES + lane]
        new_now = lane_room[NEW_NOW * LANES + lane]
        old_now = lane_room[OLD_NOW * LANES + lane]
        determinant = new_new * old_old - new_old * new_old
        use_two = age >= 2.0 and determinant > 1e-9 * new_new * old_old
        use_one = age >= 1.0 and new_new > 0.0
        both_newer = (new_now * old_old - old_now * new_old) / determinant
        both_older = (old_now * new_new - new_now * new_old) / determinant
        one_newer = new_now / new_new
        newer = both_newer if use_two else (one_newer if use_one else 0.0)
        older = both_older if use_two else 0.0
        is_near = change < NEAR
        lane_room[NEWER * LANES + lane] = newer if is_near else 0.0
        lane_room[OLDER * LANES + lane] = older if is_near else 0.0
        lane_room[AGE * LANES + lane] = age + 1.0 if is_near else 0.0
        num_far += 0 if is_near else 1
    return num_far > 0


@compiled(fastmath={"contract"})
def _step(totals, weights, room, lane_room, any_far):
    """Change the factors: plainly where a lane is far, accelerated where it is near."""
    for j in range(totals.shape[0]):
        base = j * COLUMN_ROOM * LANES
        for lane in range(LANES):
            at = base + lane
            newer_weight = lane_room[NEWER * LANES + lane]
            older_weight = lane_room[OLDER * LANES + lane]
            residual = room[at + RESIDUAL * LANES]
            newer = residual - room[at + OLD_RESIDUAL * LANES]
            old_step = room[at + OLD_STEP * LANES]
            step = (
                residual
                - newer_weight * (old_step + newer)
                - older_weight * (room[at + OLDER_STEP * LANES] + room[at + OLDER_CHANGE * LANES])
            )
            step = step if step < LONGEST_STEP else LONGEST_STEP
            step = step if step > -LONGEST_STEP else -LONGEST_STEP
            room[at + OLDER_STEP * LANES] = old_step
            room[at + OLDER_CHANGE * LANES] = newer
            room[at + OLD_STEP * LANES] = step
            room[at + OLD_RESIDUAL * LANES] = residual
            growth = 1.0 + step * (1.0 + step * (0.5 + step * (1.0 / 6.0 + step * (1.0 / 24.0))))
            near = room[at + FACTOR * LANES] * growth
            is_near = lane_room[AGE * LANES + lane] > 0.0
            # Where a lane is far, its total waits here for the division below.
            factor = near if is_near else totals[j, lane]
            room[at + FACTOR * LANES] = factor
            weights[j, lane] = factor * room[at + COLUMN_SUM * LANES]
        if any_far:
            for lane in range(LANES):
                at = base + lane
                factor = room[at + FACTOR * LANES]
                is_near = lane_room[AGE * LANES + lane] > 0.0
                factor = factor if is_near else 1.0 / factor
                room[at + FACTOR * LANES] = factor
                weights[j, lane] = factor * room[at + COLUMN_SUM * LANES]


@compiled()
def _load(task, lane, num_rows, mantissas, shifts, factors, weights, room, lane_room):
    """Put the problem of one belief into a lane."""
    group, place = task // LANES, task % LANES
    for j in range(mantissas.shape[1]):
        at = j * COLUMN_ROOM * LANES + lane
        believed = mantissas[group, j, place] if shifts[group, j, place] == 0 else 0.0
        room[at + COLUMN_SUM * LANES] = num_rows * believed
        room[at + FACTOR * LANES] = factors[group, j, place]
        weights[j, lane] = factors[group, j, place] * num_rows * believed
    lane_room[AGE * LANES + lane] = 0.0
    lane_room[RATE * LANES + lane] = 0.0


@compiled()
def _unload(task, lane, is_done, rows, totals, room, factors, row_scaling):
    """Write down what a lane has found; an unfinished one leaves its factors as a start."""
    group, place = task // LANES, task % LANES
    for j in range(totals.shape[0]):
        if is_done:
            factors[group, j, place] = 1.0 / totals[j, lane]
        else:
            factors[group, j, place] = room[(j * COLUMN_ROOM + FACTOR) * LANES + lane]
    for i in range(rows.shape[0]):
        row_scaling[group, i, place] = rows[i, lane]


@compiled()
def solve_crowd(
    matrix, transposed, size, mantissas, shifts, factors, row_scaling, tolerance, trusted, stuck
):
    """Scale the matrix to many beliefs, as many at a time as there are lanes.

    Sweeps, accelerated by Anderson's method with a memory of two, which halves their number. A
    lane that is done takes the next belief: none waits for its neighbours.

    Parameters
    ----------
    matrix, transposed
        The matrix, and its transpose in memory order.
    size
        How many beliefs there are.
    mantissas, shifts
        The beliefs, (groups, m, lanes).
    factors
        In: where to start, (groups, m, lanes). Out: w.
    row_scaling
        Out: u, (groups, n, lanes).
    tolerance
        For the estimated relative error.
    trusted
        Whether a change that is mere noise counts as converged; see `solver.is_nearly_blocks`.
    stuck
        Out: which beliefs, as 1 or 0, sweeps do not finish, (groups, lanes).

    Returns
    -------
    num_stuck
        How many these are.
    """
    num_rows, num_columns = matrix.shape
    room = np.zeros(num_columns * COLUMN_ROOM * LANES)
    lane_room = np.zeros(LANE_ROOM * LANES)
    weights = np.ones((num_columns, LANES))
    totals = np.empty((num_columns, LANES))
    rows = np.empty((num_rows, LANES))
    tasks = np.full(LANES, -1)
    sweeps = np.zeros(LANES, dtype=np.int64)
    next_task = 0
    num_busy = 0
    num_stuck = 0
    for lane in range(LANES):
        # Spare lanes, where there are fewer beliefs, work on copies of the first.
        if next_task < size:
            tasks[lane] = next_task
            next_task += 1
            num_busy += 1
        task = max(tasks[lane], 0)
        _load(task, lane, num_rows, mantissas, shifts, factors, weights, room, lane_room)
    while num_busy > 0:
        multiply(matrix, weights, rows)
        for i in range(num_rows):
            for lane in range(LANES):
                rows[i, lane] = 1.0 / rows[i, lane]
        multiply(transposed, rows, totals)
        _compare(totals, room, lane_room)
        any_far = _judge_lanes(lane_room)
        for lane in range(LANES):
            sweeps[lane] += 1
            # The change is known for the factors in this lane, its rate from the second on.
            is_seen = lane_room[AGE * LANES + lane] >= 2.0
            is_noise = lane_room[CHANGE * LANES + lane] <= NOISE
            is_done = is_seen and lane_room[ERROR * LANES + lane] <= tolerance
            is_done = is_done or (trusted and is_noise and sweeps[lane] >= 2)
            ends = is_done or sweeps[lane] >= MAX_ACCELERATED_SWEEPS
            if ends and tasks[lane] >= 0:
                _unload(tasks[lane], lane, is_done, rows, totals, room, factors, row_scaling)
                stuck[tasks[lane] // LANES, tasks[lane] % LANES] = 0 if is_done else 1
                num_stuck += 0 if is_done else 1
                tasks[lane] = -1
                num_busy -= 1
        if num_busy == 0 and next_task == size:
            break
        _step(totals, weights, room, lane_room, any_far)
        if next_task < size:
            for lane in range(LANES):
                if tasks[lane] < 0 and next_task < size:
                    _load(
                        next_task,
                        lane,
                        num_rows,
                        mantissas,
                        shifts,
                        factors,
                        weights,
                        room,
                        lane_room,
                    )
                    tasks[lane] = next_task
                    sweeps[lane] = 0
                    next_task += 1
                    num_busy += 1
    return num_stuck


@compiled()
def solve_group(
    matrix, transposed, mantissas, shifts, factors, row_scaling, tolerance, trusted, stuck
):
    """Scale the matrix to the beliefs of one group; see `solve_crowd`."""
    num_rows, num_columns = matrix.shape
    by_column = (1, num_columns, LANES)
    return solve_crowd(
        matrix,
        transposed,
        LANES,
        mantissas.reshape(by_column),
        shifts.reshape(by_column),
        factors.reshape(by_column),
        row_scaling.reshape((1, num_rows, LANES)),
        tolerance,
        trusted,
        stuck.reshape((1, LANES)),
    )
