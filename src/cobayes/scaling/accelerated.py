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
from cobayes.vector_math import aligned_space
from cobayes.wide_vectors import use_wide_vectors

# Below this change the series for logarithms hold, and steps are accelerated.
NEAR = 0.9
# No accelerated step changes a factor by more than about e.
LONGEST_STEP = 1.0
# Lanes that are not done after so many are left to Newton's method.
MAX_ACCELERATED_SWEEPS = 60

# Between two products so many lanes are looked after together: what is kept for them stays in the
# fastest cache from the comparison to the step.
PART = LANES // 4

# What is kept for every column, and for every lane. Each kind lies in one flat array, at offsets
# that the compiler knows: it can then prove that lanes do not touch each other.
COLUMN_ROOM = 7
FACTOR, COLUMN_SUM, RESIDUAL, OLD_RESIDUAL, OLD_STEP, OLDER_STEP, OLDER_CHANGE = range(COLUMN_ROOM)
LANE_ROOM = 14
AGE, RATE, SWEEPS, VERDICT, NEWER, OLDER, CHANGE = range(7)
NEW_NEW, NEW_OLD, OLD_OLD, NEW_NOW, OLD_NOW, STEP_STEP, STEP_NEW = range(7, LANE_ROOM)
FIRST_SUM, NUM_SUMS = CHANGE, 8
# What becomes of a lane.
GOES_ON, IS_DONE, GIVES_UP = 0.0, 1.0, 2.0


@compiled(fastmath={"contract"})
def _compare_column(room, at, total):
    """Return the change of one column and its shares in the sums, in their order.

    The residual f is the logarithm of the plain step, as a series (any function with the same
    zero and slope would do).
    """
    gap = 1.0 - room[at + FACTOR * PART] * total
    residual = gap * (1.0 + gap * (0.5 + gap * (1.0 / 3.0)))
    room[at + RESIDUAL * PART] = residual
    weight = room[at + COLUMN_SUM * PART]
    newer = residual - room[at + OLD_RESIDUAL * PART]
    older = room[at + OLDER_CHANGE * PART]
    step = room[at + OLD_STEP * PART]
    by_newer, by_older, by_step = weight * newer, weight * older, weight * step
    return (
        abs(gap),
        by_newer * newer,
        by_newer * older,
        by_older * older,
        by_newer * residual,
        by_older * residual,
        by_step * step,
        by_step * newer,
    )


@compiled(fastmath={"contract"})
def _compare(totals, first, room, lane_room):
    """Measure how far every lane of a part is, and what Anderson's acceleration needs to know.

    Sums over columns are weighted by the column sums: columns that nobody believes in follow the
    others and have no say.
    """
    use_wide_vectors()
    for at in range(FIRST_SUM * PART, (FIRST_SUM + NUM_SUMS) * PART):
        lane_room[at] = 0.0
    num_columns = totals.shape[0]
    j = 0
    # Two columns at a time: the sums are read and written half as often.
    while j + 2 <= num_columns:
        base = j * COLUMN_ROOM * PART
        for lane in range(PART):
            at = base + lane
            c0, p0, q0, r0, s0, t0, u0, v0 = _compare_column(room, at, totals[j, first + lane])
            c1, p1, q1, r1, s1, t1, u1, v1 = _compare_column(
                room, at + COLUMN_ROOM * PART, totals[j + 1, first + lane]
            )
            largest = lane_room[CHANGE * PART + lane]
            # Written so that a NaN is kept.
            largest = largest if c0 <= largest else c0
            lane_room[CHANGE * PART + lane] = largest if c1 <= largest else c1
            lane_room[NEW_NEW * PART + lane] += p0 + p1
            lane_room[NEW_OLD * PART + lane] += q0 + q1
            lane_room[OLD_OLD * PART + lane] += r0 + r1
            lane_room[NEW_NOW * PART + lane] += s0 + s1
            lane_room[OLD_NOW * PART + lane] += t0 + t1
            lane_room[STEP_STEP * PART + lane] += u0 + u1
            lane_room[STEP_NEW * PART + lane] += v0 + v1
        j += 2
    if j < num_columns:
        base = j * COLUMN_ROOM * PART
        for lane in range(PART):
            at = base + lane
            c0, p0, q0, r0, s0, t0, u0, v0 = _compare_column(room, at, totals[j, first + lane])
            largest = lane_room[CHANGE * PART + lane]
            lane_room[CHANGE * PART + lane] = largest if c0 <= largest else c0
            lane_room[NEW_NEW * PART + lane] += p0
            lane_room[NEW_OLD * PART + lane] += q0
            lane_room[OLD_OLD * PART + lane] += r0
            lane_room[NEW_NOW * PART + lane] += s0
            lane_room[OLD_NOW * PART + lane] += t0
            lane_room[STEP_STEP * PART + lane] += u0
            lane_room[STEP_NEW * PART + lane] += v0


@compiled()
def _judge_lanes(lane_room, tolerance, trusted):
    """Estimate rate and error of every lane and choose its next step; tell if any is far.

    The rate is the largest eigenvalue (other than one) of the plain sweep, seen as a Rayleigh
    quotient: a sweep maps the last step to that step plus the change of the residual.
    """
    use_wide_vectors()
    num_far = 0
    for lane in range(PART):
        change = lane_room[CHANGE * PART + lane]
        age = lane_room[AGE * PART + lane]
        step_step = lane_room[STEP_STEP * PART + lane]
        rate = lane_room[RATE * PART + lane]
        seen = 1.0 + lane_room[STEP_NEW * PART + lane] / step_step
        can_see = age >= 1.0 and change > NOISE and step_step > 0.0
        rate = seen if can_see and not seen <= rate else rate
        lane_room[RATE * PART + lane] = rate
        # The plain step that ends the iteration leaves this much of the error in the factors,
        # and at most that much in a row sum.
        series = rate / (1.0 - rate)
        in_rows = math.sqrt(max(rate, 1e-4))
        left = series if series > in_rows else in_rows
        error = change * left if rate < 1.0 else math.inf
        sweeps = lane_room[SWEEPS * PART + lane] + 1.0
        lane_room[SWEEPS * PART + lane] = sweeps
        # The change is known for the factors in this lane, its rate from the second sweep on.
        is_done = (age >= 1.0) & (change < NEAR) & (error <= tolerance)
        is_done |= trusted & (change <= NOISE) & (sweeps >= 2.0)
        verdict = GIVES_UP if sweeps >= MAX_ACCELERATED_SWEEPS else GOES_ON
        lane_room[VERDICT * PART + lane] = IS_DONE if is_done else verdict
        # Least squares for one or two differences of residuals.
        new_new = lane_room[NEW_NEW * PART + lane]
        new_old = lane_room[NEW_OLD * PART + lane]
        old_old = lane_room[OLD_OLD * PART + lane]
        new_now = lane_room[NEW_NOW * PART + lane]
        old_now = lane_room[OLD_NOW * PART + lane]
        determinant = new_new * old_old - new_old * new_old
        use_two = age >= 2.0 and determinant > 1e-9 * new_new * old_old
        use_one = age >= 1.0 and new_new > 0.0
        both_newer = (new_now * old_old - old_now * new_old) / determinant
        both_older = (old_now * new_new - new_now * new_old) / determinant
        one_newer = new_now / new_new
        newer = both_newer if use_two else (one_newer if use_one else 0.0)
        older = both_older if use_two else 0.0
        is_near = change < NEAR
        lane_room[NEWER * PART + lane] = newer if is_near else 0.0
        lane_room[OLDER * PART + lane] = older if is_near else 0.0
        lane_room[AGE * PART + lane] = age + 1.0 if is_near else 0.0
        num_far += 0 if is_near else 1
    return num_far > 0


@compiled(fastmath={"contract"})
def _step(totals, weights, first, room, lane_room, any_far):
    """Change the factors: plainly where a lane is far, accelerated where it is near."""
    use_wide_vectors()
    for j in range(totals.shape[0]):
        base = j * COLUMN_ROOM * PART
        for lane in range(PART):
            at = base + lane
            newer_weight = lane_room[NEWER * PART + lane]
            older_weight = lane_room[OLDER * PART + lane]
            residual = room[at + RESIDUAL * PART]
            newer = residual - room[at + OLD_RESIDUAL * PART]
            old_step = room[at + OLD_STEP * PART]
            step = (
                residual
                - newer_weight * (old_step + newer)
                - older_weight * (room[at + OLDER_STEP * PART] + room[at + OLDER_CHANGE * PART])
            )
            step = step if step < LONGEST_STEP else LONGEST_STEP
            step = step if step > -LONGEST_STEP else -LONGEST_STEP
            room[at + OLDER_STEP * PART] = old_step
            room[at + OLDER_CHANGE * PART] = newer
            room[at + OLD_STEP * PART] = step
            room[at + OLD_RESIDUAL * PART] = residual
            growth = 1.0 + step * (1.0 + step * (0.5 + step * (1.0 / 6.0 + step * (1.0 / 24.0))))
            near = room[at + FACTOR * PART] * growth
            is_near = lane_room[AGE * PART + lane] > 0.0
            # Where a lane is far, its total waits here for the division below.
            factor = near if is_near else totals[j, first + lane]
            room[at + FACTOR * PART] = factor
            weights[j, first + lane] = factor * room[at + COLUMN_SUM * PART]
        if any_far:
            for lane in range(PART):
                at = base + lane
                factor = room[at + FACTOR * PART]
                is_near = lane_room[AGE * PART + lane] > 0.0
                factor = factor if is_near else 1.0 / factor
                room[at + FACTOR * PART] = factor
                weights[j, first + lane] = factor * room[at + COLUMN_SUM * PART]


@compiled()
def _pack(mantissas, shifts, factors, num_rows, table):
    """Write every belief's problem in a row: factors and column sums. Lanes take them in turn."""
    num_groups, num_columns, _ = mantissas.shape
    for group in range(num_groups):
        for j in range(num_columns):
            for place in range(LANES):
                is_believed = shifts[group, j, place] == 0
                believed = num_rows * mantissas[group, j, place] if is_believed else 0.0
                table[group * LANES + place, j] = factors[group, j, place]
                table[group * LANES + place, num_columns + j] = believed


@compiled()
def _unpack(table, size, factors, row_scaling):
    """Put the solutions, column and row factors, where the groups expect them."""
    num_groups, num_columns, _ = factors.shape
    num_rows = row_scaling.shape[1]
    for group in range(num_groups):
        start = group * LANES
        count = min(LANES, size - start)
        for j in range(num_columns):
            for place in range(count):
                factors[group, j, place] = table[start + place, j]
        for i in range(num_rows):
            for place in range(count):
                row_scaling[group, i, place] = table[start + place, num_columns + i]


@compiled()
def _load(problem, lane, weights, room, lane_room):
    """Put the problem of one belief into a lane."""
    num_columns = weights.shape[0]
    for j in range(num_columns):
        at = j * COLUMN_ROOM * PART + lane % PART
        factor, column_sum = problem[j], problem[num_columns + j]
        room[at + FACTOR * PART] = factor
        room[at + COLUMN_SUM * PART] = column_sum
        weights[j, lane] = factor * column_sum
    for kind in (AGE, RATE, SWEEPS):
        lane_room[kind * PART + lane % PART] = 0.0


@compiled()
def _unload(lane, is_stuck, rows, totals, room, solution):
    """Write down what a lane has found; a stuck one leaves its factors as a start."""
    num_columns = totals.shape[0]
    for j in range(num_columns):
        factor = room[(j * COLUMN_ROOM + FACTOR) * PART + lane % PART]
        if not is_stuck:
            # One more plain step, 1 / total; a division only where the change is not tiny.
            gap = 1.0 - factor * totals[j, lane]
            factor = factor + factor * gap if abs(gap) < 1e-8 else 1.0 / totals[j, lane]
        solution[j] = factor
    for i in range(rows.shape[0]):
        solution[num_columns + i] = rows[i, lane]


@compiled()
def _invert(rows):
    """Replace all numbers by their inverses, in place; one division serves two."""
    use_wide_vectors()
    num_rows = rows.shape[0]
    for i in range(0, num_rows - 1, 2):
        for lane in range(LANES):
            one, two = rows[i, lane], rows[i + 1, lane]
            inverse = 1.0 / (one * two)
            rows[i, lane] = two * inverse
            rows[i + 1, lane] = one * inverse
    if num_rows % 2 == 1:
        for lane in range(LANES):
            rows[num_rows - 1, lane] = 1.0 / rows[num_rows - 1, lane]


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
    num_parts = LANES // PART
    room = aligned_space(num_columns * COLUMN_ROOM * LANES).reshape(num_parts, -1)
    lane_room = aligned_space(LANE_ROOM * LANES).reshape(num_parts, -1)
    weights = aligned_space(num_columns * LANES).reshape(num_columns, LANES)
    totals = aligned_space(num_columns * LANES).reshape(num_columns, LANES)
    rows = aligned_space(num_rows * LANES).reshape(num_rows, LANES)
    room[:] = 0.0
    lane_room[:] = 0.0
    # A belief's problem, and later its solution.
    table = np.empty((mantissas.shape[0] * LANES, num_columns + max(num_rows, num_columns)))
    _pack(mantissas, shifts, factors, num_rows, table)
    tasks = np.full(LANES, -1)
    next_task = 0
    num_busy = 0
    num_stuck = 0
    for lane in range(LANES):
        # Spare lanes, where there are fewer beliefs, work on copies of the first.
        if next_task < size:
            tasks[lane] = next_task
            next_task += 1
            num_busy += 1
        part = lane // PART
        _load(table[max(tasks[lane], 0)], lane, weights, room[part], lane_room[part])
    while num_busy > 0:
        multiply(matrix, weights, rows)
        _invert(rows)
        multiply(transposed, rows, totals)
        for part in range(num_parts):
            first = part * PART
            _compare(totals, first, room[part], lane_room[part])
            any_far = _judge_lanes(lane_room[part], tolerance, trusted)
            for lane in range(first, first + PART):
                verdict = lane_room[part, VERDICT * PART + lane - first]
                if verdict != GOES_ON and tasks[lane] >= 0:
                    task = tasks[lane]
                    is_stuck = verdict == GIVES_UP
                    _unload(lane, is_stuck, rows, totals, room[part], table[task])
                    stuck[task // LANES, task % LANES] = 1 if is_stuck else 0
                    num_stuck += 1 if is_stuck else 0
                    tasks[lane] = -1
                    num_busy -= 1
            _step(totals, weights, first, room[part], lane_room[part], any_far)
            for lane in range(first, first + PART):
                if tasks[lane] < 0 and next_task < size:
                    _load(table[next_task], lane, weights, room[part], lane_room[part])
                    tasks[lane] = next_task
                    next_task += 1
                    num_busy += 1
    _unpack(table, size, factors, row_scaling)
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
