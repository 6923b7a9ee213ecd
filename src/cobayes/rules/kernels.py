"""Compiled rounds under a rule: likelihoods for every belief, data drawn from them, posteriors.

Loops over lanes touch few arrays each: the compiler then checks at run time that these do not
overlap, and uses vector instructions.
"""

from __future__ import annotations

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes.rules.beliefs import fill_shares, renormalise, replace_belief
from cobayes.scaling.lanes import LANES
from cobayes.scaling.small import WORK, solve_in_closed_form, three_columns
from cobayes.scaling.stopping import HARMLESS_RATE, WEAK_COUPLING

# What a group needs for itself, in units of LANES.
SCRATCH = 3 * LANES


@compiled(inner=True)
def _is_quick(probes, g, lane):
    """Tell whether the last probe of a problem saw no slow mode; without probes there is none."""
    # The compiler drops the branch that does not apply: None is a type of its own.
    if probes is None:
        return True
    return probes.rates[g, lane] <= HARMLESS_RATE


@compiled(inner=True)
def _fill_group(beliefs, lanes, g, solver, room):
    """Do what `fill_all_shares` does, for one group; room: ((m + 1) * LANES,)."""
    num_rows, num_columns = lanes.matrix.shape
    most = WEAK_COUPLING * solver.tolerance if solver.trusted else -1.0
    shares = lanes.shares[g]
    moves, fresh = room[:LANES], room[LANES : (1 + num_columns) * LANES]
    fresh = fresh.reshape((num_columns, LANES))
    fill_shares(beliefs.mantissas[g], beliefs.shifts[g], fresh)
    for lane in range(LANES):
        moves[lane] = 0.0
    for j in range(num_columns):
        for lane in range(LANES):
            share = fresh[j, lane]
            moves[lane] += abs(share - shares[j, lane]) * (2.0 if share > 0.5 else num_rows)
    num_moved = 0
    num_marked = 0
    for lane in range(LANES):
        # Written so that a NaN, where nothing was scaled before, counts as a move.
        has_moved = not (moves[lane] <= most and _is_quick(solver.probes, g, lane))
        moves[lane] = 1.0 if has_moved else 0.0
        is_spare = g * LANES + lane >= beliefs.size
        is_marked = 1 if has_moved and not is_spare else 0
        lanes.not_converged[g, lane] = is_marked
        num_marked += is_marked
        num_moved += 1 if has_moved else 0
    if num_moved > 0:
        for j in range(num_columns):
            for lane in range(LANES):
                shares[j, lane] = fresh[j, lane] if moves[lane] > 0.0 else shares[j, lane]
    return num_marked


@compiled()
def fill_all_shares(beliefs, lanes, solver):
    """Hand to the scaling, as plain numbers, the beliefs that moved since they were last scaled.

    Marks these in `lanes.not_converged`, and those whose slow modes are still being looked for, and
    returns how many they are. A sweep from the factors at hand would change the row factor u_i
    relatively by at most the sum of ``n u_i M_ij w_j |change of theta_j|``, where
    ``n u_i M_ij w_j`` is at most n and at most ``1 / theta_j``. While that is below the tolerance
    times the weakest coupling of a matrix that is trusted, the factors are right as they are.
    """
    room = np.empty((lanes.shares.shape[1] + 1) * LANES)
    num_marked = 0
    for g in range(lanes.shares.shape[0]):
        num_marked += _fill_group(beliefs, lanes, g, solver, room)
    return num_marked


@compiled(inline="always")
def scale_group(beliefs, lanes, g, columns, solver, room):
    """Do what `scale_many` does, for one group.

    Parameters
    ----------
    beliefs, lanes, solver
        See `scale_many`.
    g, columns, room
        See `cobayes.scaling.small.solve_in_closed_form`.
    """
    _fill_group(beliefs, lanes, g, solver, room)
    three, four = solver.three, solver.four
    return solve_in_closed_form(lanes, g, columns, solver.tolerance, three, four, room)


@compiled(inline="always")
def scale_many(beliefs, lanes, solver):
    """Scale a matrix of two to four columns to every belief; return how many did not converge.

    Parameters
    ----------
    beliefs, lanes
        A `BeliefState` and the `Lanes` to be filled in.
    solver
        A `cobayes.rules.sequential.ScalingSolver` without probes.
    """
    room = np.empty(WORK)
    columns = three_columns(lanes.matrix)
    num_left = 0
    for g in range(lanes.factors.shape[0]):
        num_left += scale_group(beliefs, lanes, g, columns, solver, room)
    return num_left


@compiled(inner=True)
def draw_group(lanes, g, hypotheses, uniforms, data, scratch):
    """Draw a datum for every lane from the column of its hypothesis.

    Parameters
    ----------
    lanes, g
        A group; a lane's likelihoods are ``row_scaling[i] * matrix[i, j] * factors[j]``.
    hypotheses, uniforms
        What each lane teaches and its random number, (lanes,).
    data
        Out: the data drawn, (lanes,).
    scratch
        (SCRATCH,).
    """
    matrix, factors, row_scaling = lanes.matrix, lanes.factors[g], lanes.row_scaling[g]
    num_rows = matrix.shape[0]
    num_alike = 0
    for lane in range(LANES):
        num_alike += 1 if hypotheses[lane] == hypotheses[0] else 0
    if num_alike == LANES:
        _draw_column(matrix, factors, row_scaling, hypotheses[0], uniforms, data, scratch)
        return
    for lane in range(LANES):
        h = hypotheses[lane]
        total = 0.0
        datum = num_rows - 1
        for i in range(num_rows):
            total += row_scaling[i, lane] * matrix[i, h] * factors[h, lane]
            if uniforms[lane] < total:
                datum = i
                break
        data[lane] = datum


@compiled(inline="always")
def _draw_column(matrix, factors, row_scaling, h, uniforms, data, scratch):
    """Do what `draw_group` does where everybody teaches the same."""
    for lane in range(LANES):
        data[lane] = 0
        scratch[lane] = 0.0
        scratch[LANES + lane] = factors[h, lane]
    # A datum is the number of sums that do not exceed the random number.
    for i in range(matrix.shape[0] - 1):
        entry = matrix[i, h]
        for lane in range(LANES):
            scratch[lane] += row_scaling[i, lane] * entry * scratch[LANES + lane]
        for lane in range(LANES):
            data[lane] += 1 if uniforms[lane] >= scratch[lane] else 0


@compiled(inner=True)
def observe_group(lanes, g, data, beliefs, scratch):
    """Multiply every lane's belief by the likelihood of its datum and normalise it.

    Parameters
    ----------
    lanes, g
        As for `draw_group`.
    data
        What each lane observes, (LANES,).
    beliefs
        In and out: the `BeliefState` of all groups.
    scratch
        (SCRATCH,).
    """
    matrix, factors, row_scaling = lanes.matrix, lanes.factors[g], lanes.row_scaling[g]
    mantissas, shifts = beliefs.mantissas[g], beliefs.shifts[g]
    num_rows, num_columns = matrix.shape
    for lane in range(LANES):
        scratch[lane] = 0.0
        scratch[LANES + lane] = num_rows * row_scaling[np.uint64(data[lane]), lane]
    for j in range(num_columns):
        for lane in range(LANES):
            scratch[2 * LANES + lane] = matrix[np.uint64(data[lane]), j]
        for lane in range(LANES):
            entry = scratch[LANES + lane] * scratch[2 * LANES + lane]
            mantissas[j, lane] *= entry * factors[j, lane]
        for lane in range(LANES):
            scratch[lane] += mantissas[j, lane] if shifts[j, lane] == 0 else 0.0
    renormalise(mantissas, shifts, scratch)


@compiled()
def draw_many(lanes, hypotheses, uniforms, data):
    """Draw for every group; see `draw_group`."""
    scratch = np.empty(SCRATCH)
    for g in range(lanes.factors.shape[0]):
        draw_group(lanes, g, hypotheses[g], uniforms[g], data[g], scratch)


@compiled()
def observe_many(lanes, data, beliefs):
    """Let every group observe its data; see `observe_group`."""
    scratch = np.empty(SCRATCH)
    for g in range(lanes.factors.shape[0]):
        observe_group(lanes, g, data[g], beliefs, scratch)


@compiled()
def fill_likelihoods(row_scaling, matrix, factors, out):
    """Fill in ``row_scaling[k, i] * matrix[i, j] * factors[k, j]``, (k, n, m)."""
    for k in range(out.shape[0]):
        for i in range(matrix.shape[0]):
            factor = row_scaling[k, i]
            for j in range(matrix.shape[1]):
                out[k, i, j] = factor * matrix[i, j] * factors[k, j]


@compiled()
def fill_posteriors(weights, matrix, totals, out):
    """Fill in ``matrix[i, j] * weights[k, j] / totals[k, i]``, (k, n, m)."""
    for k in range(out.shape[0]):
        for i in range(matrix.shape[0]):
            total = totals[k, i]
            for j in range(matrix.shape[1]):
                out[k, i, j] = matrix[i, j] * weights[k, j] / total


@compiled(inner=True)
def _entry(matrix, row_labels, column_labels, g, i, j, lane):
    """Return an entry of the matrix, zero where it vanishes."""
    # The compiler drops the branch that does not apply: None is a type of its own.
    if row_labels is None:
        return matrix[i, j]
    return matrix[i, j] if row_labels[g, i, lane] == column_labels[g, j, lane] else 0.0


@compiled()
def draw_possible(lanes, hypotheses, uniforms, data):
    """Do what `draw_many` does for matrices with zeros: no impossible datum is ever drawn."""
    matrix = lanes.matrix
    for g in range(lanes.factors.shape[0]):
        for lane in range(LANES):
            h = hypotheses[g, lane]
            factor = lanes.factors[g, h, lane]
            total = 0.0
            datum = 0
            for i in range(matrix.shape[0]):
                entry = _entry(matrix, lanes.row_labels, lanes.column_labels, g, i, h, lane)
                chance = lanes.row_scaling[g, i, lane] * entry * factor
                if chance > 0.0:
                    total += chance
                    datum = i
                    if uniforms[g, lane] < total:
                        break
            data[g, lane] = datum


@compiled()
def observe_possible(lanes, data, beliefs, contradicted):
    """Do what `observe_many` does for matrices with zeros.

    A datum that rules out everything believed leaves the belief as it was and is marked in
    `contradicted`, (groups, LANES).
    """
    num_rows, num_columns = lanes.matrix.shape
    values = np.empty(num_columns)
    for g in range(lanes.factors.shape[0]):
        mantissas, shifts = beliefs.mantissas[g], beliefs.shifts[g]
        for lane in range(LANES):
            i = data[g, lane]
            scaling = num_rows * lanes.row_scaling[g, i, lane]
            for j in range(num_columns):
                entry = _entry(lanes.matrix, lanes.row_labels, lanes.column_labels, g, i, j, lane)
                values[j] = mantissas[j, lane] * (scaling * entry * lanes.factors[g, j, lane])
            if not replace_belief(mantissas, shifts, lane, values):
                contradicted[g, lane] = 1
