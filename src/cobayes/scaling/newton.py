"""Newton's method for the matrices on which plain sweeps are slow.

With ``y = log w`` the column equations are ``g_j = w_j sum_i u_i(w) M_ij - 1 = 0``. Their
Jacobian is ``diag(sum_k P_jk) - P`` where ``P_jk = sum_i A_ij A_ik c_k / r_i`` and
``A_ij = u_i M_ij w_j``: the Laplacian of a Markov chain on the columns, singular along
constants. Where the matrix nearly falls apart into blocks, two things keep every entry of the
result accurate. The errors ``c_j g_j`` are summed up from what flows between columns, in twice
the working precision, and not as the difference of two nearly equal sums. And the linear system
is solved by elimination without subtractions (Grassmann, Taksar and Heyman), which is accurate
for every entry however small the coupling between the blocks is.
"""

from __future__ import annotations

import math

import numpy as np

from cobayes._runtime.compiled import compiled

# A careful step changes no factor by more than exp(FARTHEST_STEP).
FARTHEST_STEP = 6.0
# How often a step is halved at most.
MOST_HALVINGS = 40
# Errors are summed up in double-double arithmetic, good to about 1e-32: below this coupling,
# blocks are balanced as wholes. From level to level the coupling falls by the second factor.
WEAKEST_COUPLING = 1e-18
NEXT_LEVEL = 1e-14
# Groups of columns coupled less than this are balanced as wholes, too, where their sums tie up to
# rounding (three columns with the sum 1/3 and a row with the sum 1): the tie is then taken for
# exact, or what flows between the groups would be the rounding error of 1/3.
TIED_COUPLING = 1e-4
TIED_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


@compiled(inline="always")
def _add(high, low, value):
    """Return a double-double plus a double."""
    total = high + value
    virtual = total - high
    error = (high - (total - virtual)) + (value - virtual) + low
    result = total + error
    return result, error - (result - total)


@compiled(inner=True)
def column_errors(state, errors):
    """Fill ``errors[j] = w_j sum_i u_i M_ij - 1`` with a small relative error each.

    Every row i gives most to one column, d(i). What it gives to the others flows out of d(i) and
    into them; with the row sums that d(i) starts from, less the column sums, this is the error.
    Flows enter twice, with opposite signs and the same rounding, so that they cancel exactly
    where they should, between blocks of any size.
    """
    matrix, row_sums, column_sums = state.matrix, state.row_sums, state.column_sums
    factors, row_scaling = state.factors, state.row_scaling
    num_rows, num_columns = matrix.shape
    flows = np.zeros((num_columns, 2))
    plain = np.zeros(num_columns)
    given = np.empty(num_columns)
    for j in range(num_columns):
        flows[j, 0] = -column_sums[j]
    for i in range(num_rows):
        total = 0.0
        most = 0
        for j in range(num_columns):
            given[j] = matrix[i, j] * (factors[j] * column_sums[j])
            total += given[j]
            if given[j] > given[most]:
                most = j
        row_scaling[i] = row_sums[i] / total
        flows[most, 0], flows[most, 1] = _add(flows[most, 0], flows[most, 1], row_sums[i])
        for j in range(num_columns):
            plain[j] += row_scaling[i] * matrix[i, j] * factors[j]
            if j != most:
                flow = row_scaling[i] * given[j]
                flows[j, 0], flows[j, 1] = _add(flows[j, 0], flows[j, 1], flow)
                flows[most, 0], flows[most, 1] = _add(flows[most, 0], flows[most, 1], -flow)
    for j in range(num_columns):
        # A column that nobody believes in has no flows, and takes no part in the others' errors.
        is_believed = column_sums[j] > 0.0
        errors[j] = (flows[j, 0] + flows[j, 1]) / column_sums[j] if is_believed else plain[j] - 1.0


@compiled(inner=True)
def _coupling(state, work):
    """Return P, the Markov chain on the columns; `work` has the matrix's shape."""
    row_sums = state.row_sums
    num_rows, num_columns = state.matrix.shape
    for i in range(num_rows):
        scaling = state.row_scaling[i] / math.sqrt(row_sums[i]) if row_sums[i] > 0.0 else 0.0
        for j in range(num_columns):
            work[i, j] = scaling * state.matrix[i, j] * state.factors[j]
    chain = np.dot(work.T, work)
    for j in range(num_columns):
        for k in range(num_columns):
            chain[j, k] *= state.column_sums[k]
    return chain


@compiled(inner=True)
def solve_laplacian(chain, right_side, pinned, solution):
    """Solve ``(diag(row sums of P) - P) x = b`` with ``x[pinned] = 0``; destroys P and b.

    Only the off-diagonal entries of P count. The diagonal is summed up again at every
    elimination, so nothing is ever subtracted. Return the smallest pivot, zero for failure.
    """
    size = chain.shape[0]
    order = np.empty(size - 1, dtype=np.int64)
    diagonal = np.empty(size)
    smallest = math.inf
    position = 0
    for j in range(size):
        if j != pinned:
            order[position] = j
            position += 1
    for step in range(size - 1):
        q = order[step]
        total = chain[q, pinned]
        for later in range(step + 1, size - 1):
            total += chain[q, order[later]]
        diagonal[q] = total
        if not total > 0.0:
            return 0.0
        smallest = min(smallest, total)
        for later in range(step + 1, size - 1):
            j = order[later]
            share = chain[j, q] / total
            if share > 0.0:
                right_side[j] += share * right_side[q]
                for k in range(size):
                    chain[j, k] += share * chain[q, k]
    solution[pinned] = 0.0
    for step in range(size - 2, -1, -1):
        q = order[step]
        total = right_side[q]
        for later in range(step + 1, size - 1):
            k = order[later]
            total += chain[q, k] * solution[k]
        solution[q] = total / diagonal[q]
    return smallest


@compiled(inline="always")
def _sweep_once(state, errors):
    """Take one plain step, after which columns of next to no weight are right, and their errors.

    The line search weighs columns by their sums and does not see such columns.
    """
    num_rows, num_columns = state.matrix.shape
    for j in range(num_columns):
        total = 0.0
        for i in range(num_rows):
            total += state.row_scaling[i] * state.matrix[i, j]
        if total > 0.0 and total < math.inf:
            state.factors[j] = 1.0 / total
    column_errors(state, errors)


@compiled(inner=True)
def _find_groups(chain, coupling, group):
    """Fill in the group of every column; groups are coupled less than so strongly."""
    size = chain.shape[0]
    for j in range(size):
        group[j] = -1
    queue = np.empty(size, dtype=np.int64)
    count = 0
    for start in range(size):
        if group[start] >= 0:
            continue
        group[start] = count
        queue[0] = start
        length = 1
        position = 0
        while position < length:
            j = queue[position]
            position += 1
            for k in range(size):
                if group[k] < 0 and max(chain[j, k], chain[k, j]) > coupling:
                    group[k] = count
                    queue[length] = k
                    length += 1
        count += 1
    return count


@compiled(inner=True)
def _balance_groups(state, group, count, only_ties, tolerance, max_steps):
    """Multiply the factors of each group so that as much flows into it as out of it.

    Between groups next to nothing flows, and what flows inside of a group is left out of its
    balance: row sums less column sums, plus the flows across, in twice the working precision.
    Row sums less column sums count as zero where they are mere rounding; with `only_ties` nothing
    is done unless there is such a group. Returns the number of steps and the length of the last.
    """
    matrix, row_sums, column_sums = state.matrix, state.row_sums, state.column_sums
    factors, row_scaling = state.factors, state.row_scaling
    num_rows, num_columns = matrix.shape
    base = np.zeros((count, 2))
    total_gap = np.zeros(2)
    sizes = np.zeros(count)
    flows = np.empty((count, count))
    errors = np.empty(count)
    step = np.empty(count)
    for j in range(num_columns):
        b = group[j]
        base[b, 0], base[b, 1] = _add(base[b, 0], base[b, 1], -column_sums[j])
        total_gap[0], total_gap[1] = _add(total_gap[0], total_gap[1], -column_sums[j])
        sizes[b] += column_sums[j]
    row_group = np.empty(num_rows, dtype=np.int64)
    for i in range(num_rows):
        most = 0
        for j in range(num_columns):
            if matrix[i, j] * factors[j] * column_sums[j] > matrix[i, most] * (
                factors[most] * column_sums[most]
            ):
                most = j
        b = group[most]
        row_group[i] = b
        base[b, 0], base[b, 1] = _add(base[b, 0], base[b, 1], row_sums[i])
        total_gap[0], total_gap[1] = _add(total_gap[0], total_gap[1], row_sums[i])
    has_ties = False
    for b in range(count):
        # Sums are known no better than to rounding, and than their totals agree.
        noise = TIED_ROUNDING * sizes[b] + 2.0 * abs(total_gap[0])
        if base[b, 0] != 0.0 and abs(base[b, 0]) <= noise:
            base[b, 0], base[b, 1] = 0.0, 0.0
            has_ties = True
    if only_ties and not has_ties:
        return 0, 0.0
    length = np.inf
    for taken in range(1, max_steps + 1):
        for b in range(count):
            for d in range(count):
                flows[b, d] = 0.0
        for i in range(num_rows):
            total = 0.0
            for j in range(num_columns):
                total += matrix[i, j] * (factors[j] * column_sums[j])
            row_scaling[i] = row_sums[i] / total
            for j in range(num_columns):
                if group[j] != row_group[i]:
                    flow = row_scaling[i] * (matrix[i, j] * (factors[j] * column_sums[j]))
                    flows[row_group[i], group[j]] += flow
        for b in range(count):
            high, low = base[b, 0], base[b, 1]
            for d in range(count):
                high, low = _add(high, low, flows[d, b])
                high, low = _add(high, low, -flows[b, d])
            errors[b] = high + low
        for b in range(count):
            for d in range(b):
                flows[b, d] += flows[d, b]
                flows[d, b] = flows[b, d]
        if not solve_laplacian(flows, -errors, np.int64(0), step) > 0.0:
            return taken, np.inf
        length = 0.0
        for b in range(count):
            if not abs(step[b]) <= length:
                length = abs(step[b])
        if not length < np.inf:
            return taken, np.inf
        share = min(1.0, FARTHEST_STEP / length) if length > 0.0 else 1.0
        for j in range(num_columns):
            factors[j] *= math.exp(share * step[group[j]])
        if length <= tolerance:
            break
    for i in range(num_rows):
        total = 0.0
        for j in range(num_columns):
            total += matrix[i, j] * (factors[j] * column_sums[j])
        row_scaling[i] = row_sums[i] / total
    return taken, length


@compiled(inner=True)
def _balance_levels(state, work, tolerance, max_steps):
    """Balance blocks that are coupled too weakly for Newton's method, the strongest first."""
    group = np.empty(state.matrix.shape[1], dtype=np.int64)
    chain = _coupling(state, work)
    coupling = TIED_COUPLING
    num_steps, error = 0, 0.0
    while coupling > 0.0:
        count = _find_groups(chain, coupling, group)
        if count == 1:
            break
        steps, length = _balance_groups(
            state, group, count, coupling == TIED_COUPLING, tolerance, max_steps
        )
        num_steps += steps
        error = max(error, length)
        coupling = WEAKEST_COUPLING if coupling == TIED_COUPLING else coupling * NEXT_LEVEL
    return num_steps, error


@compiled()
def newton_until_converged(state, work, tolerance, max_steps):
    """Take Newton steps until one is within the tolerance.

    Parameters
    ----------
    state
        A `cobayes.scaling.sweeps.ScalingState`, whose factors (in: where to start; out: the last
        ones) and row factors are filled in; `totals` and `weights` are not used.
    work
        Memory of the matrix's shape.
    tolerance
        The last step, which is the error before it, must be at most this.
    max_steps
        Never take more than this.

    Returns
    -------
    num_steps, error
        The error is the length of the last step, or infinity where no step could be taken.
    """
    factors, column_sums = state.factors, state.column_sums
    num_columns = len(factors)
    errors = np.empty(num_columns)
    step = np.empty(num_columns)
    start = np.empty(num_columns)
    pinned = np.argmax(column_sums)
    column_errors(state, errors)
    _sweep_once(state, errors)
    length = np.inf
    for count in range(max_steps):
        chain = _coupling(state, work)
        if not solve_laplacian(chain, -errors, pinned, step) > 0.0:
            return count, np.inf
        length = 0.0
        slope = 0.0
        for j in range(num_columns):
            if not abs(step[j]) <= length:
                length = abs(step[j])
            slope += column_sums[j] * errors[j] * step[j]
        if not length < np.inf:
            return count, np.inf
        share = min(1.0, FARTHEST_STEP / length) if length > 0.0 else 1.0
        for j in range(num_columns):  # an array assignment takes seconds to compile
            start[j] = factors[j]
        is_taken = False
        for _ in range(MOST_HALVINGS):
            for j in range(num_columns):
                factors[j] = start[j] * math.exp(share * step[j])
            column_errors(state, errors)
            new_slope = 0.0
            for j in range(num_columns):
                new_slope += column_sums[j] * errors[j] * step[j]
            # The dual is convex: past its minimum along the step the slope turns positive.
            is_taken = new_slope <= 0.5 * abs(slope) or length <= tolerance
            if is_taken:
                break
            share *= 0.5
        if not is_taken:
            # The slope is rounding error: only columns with tiny sums are left to correct.
            _sweep_once(state, errors)
        if length <= tolerance:
            steps, error = _balance_levels(state, work, tolerance, max_steps)
            return count + 1 + steps, max(length, error)
    return max_steps, length
