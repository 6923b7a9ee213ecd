"""Accelerated sweeps for many beliefs at once, on one matrix.

Sweeps with Anderson's acceleration (a memory of two), lane by lane: on random 20 x 20 matrices
five or six sweeps do what nine plain ones do, and the slowest beliefs gain most.
"""

from __future__ import annotations

import math

from cobayes._runtime.compiled import compiled
from cobayes._runtime.wide_vectors import use_wide_vectors
from cobayes.scaling.stopping import LONGEST_STEP, NOISE, SLACK

# Below this change the series for logarithms hold, and steps are accelerated.
NEAR = 0.9
# Lanes that are not done after so many are left to Newton's method.
MAX_ACCELERATED_SWEEPS = 60

# So many problems are swept together: what is kept for them stays in the fastest cache.
PART = 16

# What is kept for every column, and for every lane. Each kind lies in one flat array, at offsets
# that the compiler knows: it can then prove that lanes do not touch each other.
COLUMN_WORK = 7
FACTOR, COLUMN_SUM, RESIDUAL, OLD_RESIDUAL, OLD_STEP, OLDER_STEP, OLDER_CHANGE = range(COLUMN_WORK)
LANE_WORK = 14
AGE, RATE, SWEEPS, VERDICT, NEWER, OLDER, CHANGE = range(7)
NEW_NEW, NEW_OLD, OLD_OLD, NEW_NOW, OLD_NOW, STEP_STEP, STEP_NEW = range(7, LANE_WORK)
FIRST_SUM, NUM_SUMS = CHANGE, 8
# What becomes of a lane.
GOES_ON, IS_DONE, GIVES_UP = 0.0, 1.0, 2.0
# What noise leaves of a lane may always be this large.
UNAVOIDABLE = 1e-12


@compiled(inner=True)
def left_after(rate):
    """Return how much of its last change a lane is still off, given the rate of its sweeps.

    The plain step that ends the iteration leaves the first in the factors, and at most the second
    in a row sum.
    """
    series = rate / (1.0 - rate)
    in_rows = math.sqrt(max(rate, 1e-4))
    return series if series > in_rows else in_rows


@compiled(fastmath={"contract"}, inner=True)
def _compare_column(work, at, total):
    """Return the change of one column and its shares in the sums, in their order.

    The residual f is the logarithm of the plain step, as a series (any function with the same
    zero and slope would do).
    """
    gap = 1.0 - work[at + FACTOR * PART] * total
    residual = gap * (1.0 + gap * (0.5 + gap * (1.0 / 3.0)))
    work[at + RESIDUAL * PART] = residual
    weight = work[at + COLUMN_SUM * PART]
    newer = residual - work[at + OLD_RESIDUAL * PART]
    older = work[at + OLDER_CHANGE * PART]
    step = work[at + OLD_STEP * PART]
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


@compiled(fastmath={"contract"}, inner=True)
def compare(totals, work, lane_work):
    """Measure how far every lane is, and what Anderson's acceleration needs to know.

    Sums over columns are weighted by the column sums: columns that nobody believes in follow the
    others and have no say.
    """
    use_wide_vectors()
    for at in range(FIRST_SUM * PART, (FIRST_SUM + NUM_SUMS) * PART):
        lane_work[at] = 0.0
    num_columns = totals.shape[0]
    j = 0
    # Two columns at a time: the sums are read and written half as often.
    while j + 2 <= num_columns:
        base = j * COLUMN_WORK * PART
        for lane in range(PART):
            at = base + lane
            c0, p0, q0, r0, s0, t0, u0, v0 = _compare_column(work, at, totals[j, lane])
            c1, p1, q1, r1, s1, t1, u1, v1 = _compare_column(
                work, at + COLUMN_WORK * PART, totals[j + 1, lane]
            )
            largest = lane_work[CHANGE * PART + lane]
            # Written so that a NaN is kept.
            largest = largest if c0 <= largest else c0
            lane_work[CHANGE * PART + lane] = largest if c1 <= largest else c1
            lane_work[NEW_NEW * PART + lane] += p0 + p1
            lane_work[NEW_OLD * PART + lane] += q0 + q1
            lane_work[OLD_OLD * PART + lane] += r0 + r1
            lane_work[NEW_NOW * PART + lane] += s0 + s1
            lane_work[OLD_NOW * PART + lane] += t0 + t1
            lane_work[STEP_STEP * PART + lane] += u0 + u1
            lane_work[STEP_NEW * PART + lane] += v0 + v1
        j += 2
    if j < num_columns:
        base = j * COLUMN_WORK * PART
        for lane in range(PART):
            at = base + lane
            c0, p0, q0, r0, s0, t0, u0, v0 = _compare_column(work, at, totals[j, lane])
            largest = lane_work[CHANGE * PART + lane]
            lane_work[CHANGE * PART + lane] = largest if c0 <= largest else c0
            lane_work[NEW_NEW * PART + lane] += p0
            lane_work[NEW_OLD * PART + lane] += q0
            lane_work[OLD_OLD * PART + lane] += r0
            lane_work[NEW_NOW * PART + lane] += s0
            lane_work[OLD_NOW * PART + lane] += t0
            lane_work[STEP_STEP * PART + lane] += u0
            lane_work[STEP_NEW * PART + lane] += v0


@compiled(inner=True)
def judge_lanes(lane_work, tolerance, trusted):
    """Estimate rate and error of every lane and choose its next step; tell if any is far.

    The rate is the largest eigenvalue (other than one) of the plain sweep, seen as a Rayleigh
    quotient: a sweep maps the last step to that step plus the change of the residual.
    """
    use_wide_vectors()
    num_far = 0
    for lane in range(PART):
        change = lane_work[CHANGE * PART + lane]
        age = lane_work[AGE * PART + lane]
        step_step = lane_work[STEP_STEP * PART + lane]
        rate = lane_work[RATE * PART + lane]
        seen = 1.0 + lane_work[STEP_NEW * PART + lane] / step_step
        can_see = age >= 1.0 and change > NOISE and step_step > 0.0
        rate = seen if can_see and not seen <= rate else rate
        lane_work[RATE * PART + lane] = rate
        left = left_after(rate)
        error = change * left if rate < 1.0 else math.inf
        sweeps = lane_work[SWEEPS * PART + lane] + 1.0
        lane_work[SWEEPS * PART + lane] = sweeps
        # The change is known for the factors in this lane, its rate from the second sweep on.
        is_done = (age >= 1.0) & (change < NEAR) & (error <= tolerance)
        # No sweep gets beyond noise; if that is not enough, Newton's method does.
        is_noise = (change <= NOISE) & (sweeps >= 2.0)
        is_enough = (rate < 1.0) & (NOISE * left <= max(SLACK * tolerance, UNAVOIDABLE))
        is_done |= trusted & is_noise & is_enough
        gives_up = is_noise | (sweeps >= MAX_ACCELERATED_SWEEPS)
        verdict = GIVES_UP if gives_up else GOES_ON
        lane_work[VERDICT * PART + lane] = IS_DONE if is_done else verdict
        # Least squares for one or two differences of residuals.
        new_new = lane_work[NEW_NEW * PART + lane]
        new_old = lane_work[NEW_OLD * PART + lane]
        old_old = lane_work[OLD_OLD * PART + lane]
        new_now = lane_work[NEW_NOW * PART + lane]
        old_now = lane_work[OLD_NOW * PART + lane]
        determinant = new_new * old_old - new_old * new_old
        use_two = age >= 2.0 and determinant > 1e-9 * new_new * old_old
        use_one = age >= 1.0 and new_new > 0.0
        both_newer = (new_now * old_old - old_now * new_old) / determinant
        both_older = (old_now * new_new - new_now * new_old) / determinant
        one_newer = new_now / new_new
        newer = both_newer if use_two else (one_newer if use_one else 0.0)
        older = both_older if use_two else 0.0
        is_near = change < NEAR
        lane_work[NEWER * PART + lane] = newer if is_near else 0.0
        lane_work[OLDER * PART + lane] = older if is_near else 0.0
        lane_work[AGE * PART + lane] = age + 1.0 if is_near else 0.0
        num_far += 0 if is_near else 1
    return num_far > 0


@compiled(fastmath={"contract"}, inner=True)
def step_lanes(totals, weights, work, lane_work, any_far):
    """Change the factors: plainly where a lane is far, accelerated where it is near."""
    use_wide_vectors()
    for j in range(totals.shape[0]):
        base = j * COLUMN_WORK * PART
        for lane in range(PART):
            at = base + lane
            newer_weight = lane_work[NEWER * PART + lane]
            older_weight = lane_work[OLDER * PART + lane]
            residual = work[at + RESIDUAL * PART]
            newer = residual - work[at + OLD_RESIDUAL * PART]
            old_step = work[at + OLD_STEP * PART]
            step = (
                residual
                - newer_weight * (old_step + newer)
                - older_weight * (work[at + OLDER_STEP * PART] + work[at + OLDER_CHANGE * PART])
            )
            step = step if step < LONGEST_STEP else LONGEST_STEP
            step = step if step > -LONGEST_STEP else -LONGEST_STEP
            work[at + OLDER_STEP * PART] = old_step
            work[at + OLDER_CHANGE * PART] = newer
            work[at + OLD_STEP * PART] = step
            work[at + OLD_RESIDUAL * PART] = residual
            growth = 1.0 + step * (1.0 + step * (0.5 + step * (1.0 / 6.0 + step * (1.0 / 24.0))))
            near = work[at + FACTOR * PART] * growth
            is_near = lane_work[AGE * PART + lane] > 0.0
            # Where a lane is far, its total waits here for the division below.
            factor = near if is_near else totals[j, lane]
            work[at + FACTOR * PART] = factor
            weights[j, lane] = factor * work[at + COLUMN_SUM * PART]
        if any_far:
            for lane in range(PART):
                at = base + lane
                factor = work[at + FACTOR * PART]
                is_near = lane_work[AGE * PART + lane] > 0.0
                factor = factor if is_near else 1.0 / factor
                work[at + FACTOR * PART] = factor
                weights[j, lane] = factor * work[at + COLUMN_SUM * PART]
