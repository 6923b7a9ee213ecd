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
from cobayes._runtime.vector_math import aligned_space
from cobayes._runtime.wide_vectors import use_wide_vectors
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


@compiled()
def _pack(shares, factors, num_rows, table):
    """Write every problem in a row: factors and column sums. Lanes take them in turn."""
    num_groups, num_columns, _ = shares.shape
    for group in range(num_groups):
        for j in range(num_columns):
            for place in range(LANES):
                table[group * LANES + place, j] = factors[group, j, place]
                table[group * LANES + place, num_columns + j] = num_rows * shares[group, j, place]


@compiled()
def _unpack(table, size, factors, row_scaling):
    """Put the solutions, column and row factors, into their lanes."""
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
def _unpack_some(table, order, factors, row_scaling):
    """Do what `_unpack` does for some problems."""
    num_columns, num_rows = factors.shape[1], row_scaling.shape[1]
    for task in order:
        group, place = task // LANES, task % LANES
        for j in range(num_columns):
            factors[group, j, place] = table[task, j]
        for i in range(num_rows):
            row_scaling[group, i, place] = table[task, num_columns + i]


@compiled()
def _space_for_rows(row_sums, num_rows):
    """Return space for the row sums of the problems at work, or None where all are one."""
    # The compiler drops the branch that does not apply: None is a type of its own.
    if row_sums is None:
        return None
    return np.zeros((num_rows, PART))


@compiled()
def _load_row_sums(row_sums, task, lane, targets):
    """Put the row sums of one problem into a lane."""
    if row_sums is not None:
        for i in range(targets.shape[0]):
            targets[i, lane] = row_sums[task // LANES, i, task % LANES]


@compiled()
def _times_row_sums(rows, targets):
    """Multiply the inverse row totals by the row sums, in place."""
    if targets is not None:
        for i in range(rows.shape[0]):
            for lane in range(PART):
                rows[i, lane] *= targets[i, lane]


@compiled()
def _load(problem, rate, lane, weights, work, lane_work):
    """Put one problem into a lane, with what is known of its rate."""
    num_columns = weights.shape[0]
    for j in range(num_columns):
        at = j * COLUMN_WORK * PART + lane
        factor, column_sum = problem[j], problem[num_columns + j]
        work[at + FACTOR * PART] = factor
        work[at + COLUMN_SUM * PART] = column_sum
        weights[j, lane] = factor * column_sum
    lane_work[AGE * PART + lane] = 0.0
    lane_work[SWEEPS * PART + lane] = 0.0
    lane_work[RATE * PART + lane] = rate


@compiled()
def _unload(lane, gives_up, rows, totals, work, solution):
    """Write down what a lane has found; one that gives up leaves its factors as a start."""
    num_columns = totals.shape[0]
    for j in range(num_columns):
        factor = work[(j * COLUMN_WORK + FACTOR) * PART + lane]
        if not gives_up:
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
        for lane in range(PART):
            one, two = rows[i, lane], rows[i + 1, lane]
            inverse = 1.0 / (one * two)
            rows[i, lane] = two * inverse
            rows[i + 1, lane] = one * inverse
    if num_rows % 2 == 1:
        for lane in range(PART):
            rows[num_rows - 1, lane] = 1.0 / rows[num_rows - 1, lane]


@compiled()
def _solve_tasks(lanes, probes, order, table, tolerance, trusted, changes):
    """Solve the problems of the table whose numbers stand in `order`; return how many give up.

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
        _load(table[task], rate, lane, weights, work, lane_work)
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
                _unload(lane, gives_up, rows, totals, work, table[task])
                changes[task] = lane_work[CHANGE * PART + lane]
                lanes.not_converged[task // LANES, task % LANES] = 1 if gives_up else 0
                num_left += 1 if gives_up else 0
                tasks[lane] = -1
                num_busy -= 1
        step_lanes(totals, weights, work, lane_work, any_far)
        for lane in range(PART):
            if tasks[lane] < 0 and next_one < size:
                task = order[next_one]
                rate = rates[task // LANES, task % LANES]
                _load(table[task], rate, lane, weights, work, lane_work)
                _load_row_sums(lanes.row_sums, task, lane, targets)
                tasks[lane] = task
                next_one += 1
                num_busy += 1
    return num_left


@compiled(fastmath={"contract"})
def _average_rows(row_scaling, row_sums, g, rows, squares):
    """Turn sums over the columns into averages of a row, times its factor, and add the squares."""
    num_rows = rows.shape[0]
    if row_sums is None:
        for i in range(num_rows):
            for lane in range(LANES):
                average = row_scaling[i, lane] * rows[i, lane]
                rows[i, lane] = row_scaling[i, lane] * average
                squares[LANES + lane] += average * average
    else:
        for i in range(num_rows):
            for lane in range(LANES):
                total = row_sums[g, i, lane]
                share = row_scaling[i, lane] * rows[i, lane]
                average = share / total if total > 0.0 else 0.0
                rows[i, lane] = row_scaling[i, lane] * average
                squares[LANES + lane] += share * average


@compiled(fastmath={"contract"})
def _probe_group(
    matrix, transposed, shares, row_sums, g, factors, row_scaling, probe, rates, field, rows, work
):
    """Apply the derivative of the sweep to the probes of a group, and take their rates from it.

    In the product ``sum_j c_j x_j y_j`` the derivative J is symmetric. With v the probe less its
    mean, the rate is ``|J v|**2 / <v, J v>``, at most the second eigenvalue.
    """
    use_wide_vectors()
    num_rows, num_columns = matrix.shape
    for at in range(3 * LANES):
        work[at] = 0.0
    for j in range(num_columns):
        for lane in range(LANES):
            field[j, lane] = shares[j, lane]
        for lane in range(LANES):
            work[lane] += field[j, lane] * probe[j, lane]
    for j in range(num_columns):
        for lane in range(LANES):
            field[j, lane] *= num_rows * (probe[j, lane] - work[lane])
        for lane in range(LANES):
            field[j, lane] *= factors[j, lane]
    multiply(matrix, field, rows)
    _average_rows(row_scaling, row_sums, g, rows, work)
    multiply(transposed, rows, field)
    for j in range(num_columns):
        for lane in range(LANES):
            probe[j, lane] = factors[j, lane] * field[j, lane]
        for lane in range(LANES):
            field[j, lane] = num_rows * shares[j, lane]
        for lane in range(LANES):
            work[2 * LANES + lane] += field[j, lane] * probe[j, lane] * probe[j, lane]
    for lane in range(LANES):
        product, square = work[LANES + lane], work[2 * LANES + lane]
        is_seen = (product > 0.0) & (square > 0.0) & (square < math.inf)
        rate = square / product if is_seen else 0.0
        rates[lane] = rate if rate < 1.0 else 1.0
        work[lane] = 1.0 / math.sqrt(square) if is_seen else 1.0
    for j in range(num_columns):
        for lane in range(LANES):
            probe[j, lane] *= work[lane]
    for lane in range(LANES):
        # Where somebody is certain nothing can be seen: begin afresh, as in `probing`.
        if not (work[LANES + lane] > 0.0 and work[2 * LANES + lane] > 0.0):
            for j in range(num_columns):
                probe[j, lane] = math.cos(1.0 + 1.7 * j)


@compiled()
def _find_doubtful(rates, changes, not_converged, tolerance, order):
    """Fill in the numbers of those whose rate leaves more of their error than was thought."""
    count = 0
    for task in range(order.shape[0]):
        group, place = task // LANES, task % LANES
        rate = rates[group, place]
        error = changes[task] * left_after(rate) if rate < 1.0 else math.inf
        if not_converged[group, place] == 0 and not error <= SLACK * tolerance:
            order[count] = task
            count += 1
    return count


@compiled()
def solve_by_sweeps(lanes, probes, size, tolerance, trusted):
    """Scale the matrix to many column sums by accelerated sweeps.

    Parameters
    ----------
    lanes, probes
        The problems; their factors, row scalings, probes and rates are filled in.
    size
        How many of the problems count.
    tolerance
        For the estimated relative error.
    trusted
        Whether a change that is mere noise counts as converged; see `solver.is_nearly_blocks`.

    Returns
    -------
    num_left
        How many problems sweeps do not finish; `lanes.not_converged` marks them.
    """
    num_groups, num_columns, _ = lanes.shares.shape
    num_rows = lanes.matrix.shape[0]
    tolerance = min(tolerance, LOOSEST)
    # A problem, and later its solution.
    table = np.empty((num_groups * LANES, num_columns + max(num_rows, num_columns)))
    changes = np.zeros(num_groups * LANES)
    order = np.arange(size)
    field = aligned_space(num_columns * LANES).reshape(num_columns, LANES)
    rows = aligned_space(num_rows * LANES).reshape(num_rows, LANES)
    work = aligned_space(3 * LANES)
    num_left = 0
    num_pending = size
    # One place in the code for both passes: the compiler would copy the solver into each.
    for attempt in range(2):
        _pack(lanes.shares, lanes.factors, num_rows, table)
        pending = order[:num_pending]
        num_left += _solve_tasks(lanes, probes, pending, table, tolerance, trusted, changes)
        if attempt == 1:
            _unpack_some(table, pending, lanes.factors, lanes.row_scaling)
            break
        _unpack(table, size, lanes.factors, lanes.row_scaling)
        for g in range(num_groups):
            _probe_group(
                lanes.matrix,
                probes.transposed,
                lanes.shares[g],
                lanes.row_sums,
                g,
                lanes.factors[g],
                lanes.row_scaling[g],
                probes.vectors[g],
                probes.rates[g],
                field,
                rows,
                work,
            )
        num_pending = _find_doubtful(probes.rates, changes, lanes.not_converged, tolerance, order)
        if num_pending == 0 or not trusted:
            break
    return num_left
