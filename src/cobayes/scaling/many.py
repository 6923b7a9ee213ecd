"""Scaling one matrix to many column sums by sweeps, as many at a time as there are lanes.

Accelerated sweeps see how fast they converge from their own steps. A mode that hardly decays, as
between two parts of the matrix that share few data, does not show there while its share in the
steps is small, and yet the factors may be far off along it. So every problem carries a probe, a
vector to which the derivative of the sweep is applied once a solution: the power method, over the
rounds of a lesson. Where it tells of a slower mode than the sweeps had seen, they go on.
"""

from __future__ import annotations

import math

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes._runtime.eights import (
    EIGHT_ZEROS,
    add_products,
    differences,
    inverses,
    load_eight,
    products,
    store_eight,
)
from cobayes._runtime.vector_math import aligned_space
from cobayes.scaling.accelerated import (
    AGE,
    CHANGE,
    COLUMN_SUM,
    COLUMN_WORK,
    FACTOR,
    GIVES_UP,
    GOES_ON,
    LANE_WORK,
    PART,
    RATE,
    SLACK,
    SWEEPS,
    VERDICT,
    compare,
    judge_lanes,
    left_after,
    step_lanes,
)
from cobayes.scaling.lanes import LANES, LOOSEST, multiply


@compiled(inner=True)
def _space_for_rows(row_sums, num_rows):
    """Return space for the row sums of the problems at work, or None where all are one."""
    # The compiler drops the branch that does not apply: None is a type of its own.
    if row_sums is None:
        return None
    return np.zeros((num_rows, PART))


@compiled(inner=True)
def _load_row_sums(row_sums, task, lane, targets):
    """Put the row sums of one problem into a lane."""
    if row_sums is not None:
        for i in range(targets.shape[0]):
            targets[i, lane] = row_sums[task // LANES, i, task % LANES]


@compiled(inner=True)
def _times_row_sums(rows, targets):
    """Multiply the inverse row totals by the row sums, in place."""
    if targets is not None:
        for i in range(rows.shape[0]):
            for lane in range(PART):
                rows[i, lane] *= targets[i, lane]


@compiled(inner=True)
def _load(lanes, task, rate, lane, weights, work, lane_work):
    """Put one problem into a lane, with what is known of its rate."""
    num_rows, num_columns = lanes.matrix.shape
    group, place = task // LANES, task % LANES
    for j in range(num_columns):
        at = j * COLUMN_WORK * PART + lane
        factor = lanes.factors[group, j, place]
        column_sum = num_rows * lanes.shares[group, j, place]
        work[at + FACTOR * PART] = factor
        work[at + COLUMN_SUM * PART] = column_sum
        weights[j, lane] = factor * column_sum
    lane_work[AGE * PART + lane] = 0.0
    lane_work[SWEEPS * PART + lane] = 0.0
    lane_work[RATE * PART + lane] = rate


@compiled(inner=True)
def _unload(lane, gives_up, rows, totals, work, lanes, task):
    """Write down what a lane has found; one that gives up leaves its factors as a start."""
    group, place = task // LANES, task % LANES
    for j in range(totals.shape[0]):
        factor = work[(j * COLUMN_WORK + FACTOR) * PART + lane]
        if not gives_up:
            # One more plain step, 1 / total; a division only where the change is not tiny.
            gap = 1.0 - factor * totals[j, lane]
            factor = factor + factor * gap if abs(gap) < 1e-8 else 1.0 / totals[j, lane]
        lanes.factors[group, j, place] = factor
    for i in range(rows.shape[0]):
        lanes.row_scaling[group, i, place] = rows[i, lane]


@compiled(in_registers=True, inner=True)
def _invert(rows):
    """Replace all numbers by their inverses, in place; one division serves two."""
    num_rows = rows.shape[0]
    for lane in range(0, PART, 8):
        for i in range(0, num_rows - 1, 2):
            one, two = load_eight(rows, i, lane), load_eight(rows, i + 1, lane)
            inverse = inverses(products(one, two))
            store_eight(rows, i, lane, products(two, inverse))
            store_eight(rows, i + 1, lane, products(one, inverse))
        if num_rows % 2 == 1:
            store_eight(rows, num_rows - 1, lane, inverses(load_eight(rows, num_rows - 1, lane)))


@compiled(inline="always")
def _solve_tasks(lanes, probes, order, tolerance, trusted):
    """Solve the problems whose numbers stand in `order`; return how many give up.

    A lane that is done takes the next problem: none waits for its neighbours.
    """
    matrix, transposed, rates = lanes.matrix, probes.transposed, probes.rates
    num_rows, num_columns = matrix.shape
    size = order.shape[0]
    work = aligned_space(num_columns * COLUMN_WORK * PART)
    lane_work = aligned_space(LANE_WORK * PART)
    weights = aligned_space(num_columns * PART).reshape(num_columns, PART)
    totals = aligned_space(num_columns * PART).reshape(num_columns, PART)
    rows = aligned_space(num_rows * PART).reshape(num_rows, PART)
    targets = _space_for_rows(lanes.row_sums, num_rows)
    work[:] = 0.0
    lane_work[:] = 0.0
    tasks = np.full(PART, -1)
    next_one = 0
    num_busy = 0
    num_left = 0
    for lane in range(PART):
        # Spare lanes, where there are fewer problems, work on copies of the first.
        task = order[0]
        if next_one < size:
            task = order[next_one]
            tasks[lane] = task
            next_one += 1
            num_busy += 1
        rate = rates[task // LANES, task % LANES]
        _load(lanes, task, rate, lane, weights, work, lane_work)
        _load_row_sums(lanes.row_sums, task, lane, targets)
    while num_busy > 0:
        multiply(matrix, weights, rows)
        _invert(rows)
        _times_row_sums(rows, targets)
        multiply(transposed, rows, totals)
        compare(totals, work, lane_work)
        any_far = judge_lanes(lane_work, tolerance, trusted)
        for lane in range(PART):
            verdict = lane_work[VERDICT * PART + lane]
            if verdict != GOES_ON and tasks[lane] >= 0:
                task = tasks[lane]
                gives_up = verdict == GIVES_UP
                _unload(lane, gives_up, rows, totals, work, lanes, task)
                group, place = task // LANES, task % LANES
                probes.changes[group, place] = lane_work[CHANGE * PART + lane]
                probes.sweeps[group, place] += lane_work[SWEEPS * PART + lane]
                lanes.not_converged[group, place] = 1 if gives_up else 0
                num_left += 1 if gives_up else 0
                tasks[lane] = -1
                num_busy -= 1
        step_lanes(totals, weights, work, lane_work, any_far)
        for lane in range(PART):
            if tasks[lane] < 0 and next_one < size:
                task = order[next_one]
                rate = rates[task // LANES, task % LANES]
                _load(lanes, task, rate, lane, weights, work, lane_work)
                _load_row_sums(lanes.row_sums, task, lane, targets)
                tasks[lane] = task
                next_one += 1
                num_busy += 1
    return num_left


@compiled(fastmath={"contract"}, in_registers=True, inner=True)
def _aim_probes(shares, factors, probe, first, field):
    """Fill in the probes less their means, times factors and beliefs."""
    for lane in range(0, PART, 8):
        at = first + lane
        means = EIGHT_ZEROS
        for j in range(field.shape[0]):
            means = add_products(means, load_eight(shares, j, at), load_eight(probe, j, at))
        for j in range(field.shape[0]):
            gaps = differences(load_eight(probe, j, at), means)
            weights = products(load_eight(shares, j, at), load_eight(factors, j, at))
            store_eight(field, j, lane, products(weights, gaps))


@compiled(fastmath={"contract"}, in_registers=True, inner=True)
def _average_rows(row_scaling, first, rows, work):
    """Turn sums over the columns into averages of a row, times its factor, and add the squares."""
    for lane in range(0, PART, 8):
        squares = EIGHT_ZEROS
        for i in range(rows.shape[0]):
            scaling = load_eight(row_scaling, i, first + lane)
            averages = products(scaling, load_eight(rows, i, lane))
            store_eight(rows, i, lane, products(scaling, averages))
            squares = add_products(squares, averages, averages)
        store_eight(work, 0, lane, squares)


@compiled(fastmath={"contract"}, inner=True)
def _average_weighted_rows(row_scaling, row_sums, first, rows, work):
    """Do what `_average_rows` does where row sums differ."""
    for lane in range(PART):
        work[0, lane] = 0.0
    for i in range(rows.shape[0]):
        for lane in range(PART):
            total = row_sums[i, first + lane]
            share = row_scaling[i, first + lane] * rows[i, lane]
            average = share / total if total > 0.0 else 0.0
            rows[i, lane] = row_scaling[i, first + lane] * average
            work[0, lane] += share * average


@compiled(inner=True)
def _average(row_scaling, row_sums, g, first, rows, work):
    """Average over rows, whose sums are one where None are given."""
    # The compiler drops the branch that does not apply: None is a type of its own.
    if row_sums is None:
        _average_rows(row_scaling, first, rows, work)
    else:
        _average_weighted_rows(row_scaling, row_sums[g], first, rows, work)


@compiled(fastmath={"contract"}, in_registers=True, inner=True)
def _read_probes(shares, factors, first, field, work):
    """Turn column totals into the images of the probes, and add their squares."""
    for lane in range(0, PART, 8):
        at = first + lane
        squares = EIGHT_ZEROS
        for j in range(field.shape[0]):
            images = products(load_eight(factors, j, at), load_eight(field, j, lane))
            store_eight(field, j, lane, images)
            squares = add_products(squares, products(load_eight(shares, j, at), images), images)
        store_eight(work, 1, lane, squares)


@compiled(inline="always")
def _probe(lanes, probes, g, first, is_asked, field, rows, work):
    """Apply the derivative of the sweep to some probes of a group, and take their rates from it.

    In the product ``sum_j c_j x_j y_j`` the derivative J is symmetric. With v the probe less its
    mean, the rate is ``|J v|**2 / <v, J v>``, at most the second eigenvalue.

    Parameters
    ----------
    lanes, probes, g, first
        The problems, their probes, the group and the first of sixteen lanes.
    is_asked
        One where a lane's probe is to be moved on, (PART,).
    field, rows, work
        Scratch: (m, PART), (n, PART), (3, PART).
    """
    num_rows, num_columns = lanes.matrix.shape
    shares, factors, probe = lanes.shares[g], lanes.factors[g], probes.vectors[g]
    _aim_probes(shares, factors, probe, first, field)
    multiply(lanes.matrix, field, rows)
    _average(lanes.row_scaling[g], lanes.row_sums, g, first, rows, work)
    multiply(probes.transposed, rows, field)
    _read_probes(shares, factors, first, field, work)
    for lane in range(PART):
        # The beliefs are the column sums over n: what was left out on the way is n.
        product, square = work[0, lane], num_rows * work[1, lane]
        is_seen = product > 0.0 and square > 0.0 and square < math.inf
        work[2, lane] = 1.0 / math.sqrt(square) if is_seen else 0.0
        if is_asked[lane] > 0.0:
            probes.rates[g, first + lane] = min(square / product, 1.0) if is_seen else 0.0
    for j in range(num_columns):
        for lane in range(PART):
            old = probe[j, first + lane]
            image = field[j, lane] * work[2, lane]
            probe[j, first + lane] = image if is_asked[lane] > 0.0 else old
    for lane in range(PART):
        # Where somebody is certain nothing can be seen: begin afresh, as in `sweeps`.
        if is_asked[lane] > 0.0 and work[2, lane] == 0.0:
            for j in range(num_columns):
                probe[j, first + lane] = math.cos(1.0 + 1.7 * j)


@compiled(inline="always")
def _probe_some(lanes, probes, is_asked):
    """Move the probes of some problems on, sixteen side by side; see `_probe`."""
    num_rows, num_columns = lanes.matrix.shape
    field = aligned_space(num_columns * PART).reshape(num_columns, PART)
    rows = aligned_space(num_rows * PART).reshape(num_rows, PART)
    work = aligned_space(3 * PART).reshape(3, PART)
    for start in range(0, is_asked.shape[0], PART):
        part = is_asked[start : start + PART]
        num_asked = 0.0
        for lane in range(PART):
            num_asked += part[lane]
        if num_asked > 0.0:
            _probe(lanes, probes, start // LANES, start % LANES, part, field, rows, work)


@compiled(inline="always")
def _find_doubtful(rates, changes, not_converged, tolerance, order):
    """Put first those whose rate leaves more of their error than was thought; return how many."""
    count = 0
    for k in range(order.shape[0]):
        task = order[k]
        group, place = task // LANES, task % LANES
        rate = rates[group, place]
        error = changes[group, place] * left_after(rate) if rate < 1.0 else math.inf
        if not_converged[group, place] == 0 and not error <= SLACK * tolerance:
            order[count] = task
            count += 1
    return count


@compiled()
def solve_by_sweeps(lanes, probes, tolerance, trusted):
    """Scale the matrix to many column sums by accelerated sweeps.

    Parameters
    ----------
    lanes, probes
        The problems; factors, row scalings, probes and rates of those that `lanes.not_converged`
        marks are filled in.
    tolerance
        For the estimated relative error.
    trusted
        Whether a change that is mere noise counts as converged; see `stopping.is_nearly_blocks`.

    Returns
    -------
    num_left
        How many problems sweeps do not finish; `lanes.not_converged` marks them.
    """
    num_groups = lanes.shares.shape[0]
    tolerance = min(tolerance, LOOSEST)
    is_asked = np.zeros(num_groups * LANES)
    order = np.empty(num_groups * LANES, dtype=np.int64)
    num_pending = 0
    for task in range(num_groups * LANES):
        if lanes.not_converged[task // LANES, task % LANES] != 0:
            is_asked[task] = 1.0
            probes.sweeps[task // LANES, task % LANES] = 0.0
            order[num_pending] = task
            num_pending += 1
    num_left = 0
    # One place in the code for both passes: the compiler would copy the solver into each.
    for attempt in range(2):
        if num_pending == 0:
            break
        pending = order[:num_pending]
        num_left += _solve_tasks(lanes, probes, pending, tolerance, trusted)
        if attempt == 0:
            _probe_some(lanes, probes, is_asked)
            num_pending = _find_doubtful(
                probes.rates, probes.changes, lanes.not_converged, tolerance, pending
            )
            if not trusted:
                break
    return num_left
