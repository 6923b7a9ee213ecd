"""Many learners that follow the same teaching sequences, on square matrices of three or four.

Maps of success rates ask for one number of each sequence, the belief in what was taught, for
hundreds of learners. `Marchers` answers any question for any matrix; these kernels answer this one
two to three times as fast. A round is a few Newton steps for the learner's scaling and the update,
sixty-four lanes side by side, without what only a teacher needs.

With ``c = n theta``, ``u_i = 1 / sum_j M_ij c_j w_j`` and ``g_j = w_j sum_i u_i M_ij - 1`` the
Jacobian of g in ``log w`` is the Laplacian of a reversible chain with rates ``e_jk c_k``,
``e_jk = w_j w_k sum_i u_i**2 M_ij M_ik``. On three columns its mean over the choices of a pinned
column, weighed by c, is a formula in which only the g can have different signs. On four the
last column is eliminated first, which keeps that form.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._runtime.compiled import compiled
from cobayes.rules import SCBI, BeliefState, Rule
from cobayes.rules.sequential import ScalingSolver
from cobayes.scaling.lanes import LANES
from cobayes.stability.blocks import Block
from cobayes.stability.sequences import TeachingSequences

Array = NDArray[np.float64]

# The last Newton step; what is left after it is of the order of its square.
LAST_STEP = 1e-6
_MAX_STEPS = 24
# Beliefs below this no longer change a success rate; products of two of them are still normal.
_FLOOR = 1e-100


def beliefs_of_many(
    sequences: TeachingSequences,
    matrices: Sequence[ArrayLike] | None,
    priors: ArrayLike,
) -> Array:
    """Return what learners believe in the taught hypothesis at the end of every sequence.

    Parameters
    ----------
    sequences
        Sequences of an SCBI teacher.
    matrices
        The learners' matrices; None where all have the teacher's.
    priors
        The learners' priors, (learners, m); one row where all have the same.

    Returns
    -------
    ndarray
        (learners, num_sequences), accurate to about 1e-9.
    """
    starts = np.atleast_2d(np.asarray(priors, dtype=np.float64))
    count = len(starts) if matrices is None else len(matrices)
    starts = np.broadcast_to(starts, (count, starts.shape[1]))
    own: Rule = sequences.rule
    rules = [own] * count if matrices is None else [SCBI(matrix) for matrix in matrices]
    found = np.empty((count, sequences.num_sequences))
    for position, (rule, prior) in enumerate(zip(rules, starts, strict=True)):
        is_done = _has_kernel(rule, prior) and _follow(
            sequences, rule.model.normalized(), prior / prior.sum(), found[position]
        )
        if not is_done:
            found[position] = sequences.beliefs_of(rule, prior)[:, sequences.hypothesis]
    return found


def _has_kernel(rule: Rule, prior: Array) -> bool:
    if rule.model.shape not in ((3, 3), (4, 4)) or not (prior > 1e10 * _FLOOR).all():
        return False
    start = rule.workspace(BeliefState.from_logs(np.log(prior)))
    return (
        start is not None
        and start.lanes.row_sums is None
        and isinstance(start.solver, ScalingSolver)
        and start.solver.trusted
    )


def _follow(sequences: TeachingSequences, matrix: Array, prior: Array, out: Array) -> bool:
    """Fill one learner's beliefs; return whether every scaling converged."""
    first = 0
    for block in sequences._blocks:
        size = block.size
        beliefs = np.empty((len(block.starts) - 1, LANES))
        is_converged = _follow_groups(
            np.ascontiguousarray(matrix),
            prior,
            block.packed,
            block.starts,
            _packed_lengths(block),
            sequences.hypothesis,
            LAST_STEP,
            beliefs,
        )
        if not is_converged:
            return False
        out[first : first + size][block.order] = beliefs.ravel()[:size]
        first += size
    return True


def _packed_lengths(block: Block) -> NDArray[np.int64]:
    lengths = np.zeros((len(block.starts) - 1) * LANES, dtype=np.int64)
    lengths[: block.size] = block.lengths[block.order]
    return lengths.reshape(-1, LANES)


@compiled()
def _follow_groups(matrix, prior, data, starts, lengths, hypothesis, last_step, out):
    """Take one learner through all groups of sequences; return whether all steps converged."""
    size = matrix.shape[0]
    work = np.empty(2 * size * LANES)
    for g in range(len(starts) - 1):
        for j in range(size):
            work[j * LANES : (j + 1) * LANES] = 1.0
            work[(size + j) * LANES : (size + j + 1) * LANES] = prior[j]
        for k in range(starts[g + 1] - starts[g]):
            num_left = LANES
            for _ in range(_MAX_STEPS):
                if size == 3:
                    num_left = _step_3(matrix, work, last_step)
                else:
                    num_left = _step_4(matrix, work, last_step)
                if num_left == 0:
                    break
            if num_left > 0:
                return False
            if size == 3:
                _observe_3(matrix, work, data, starts[g] + k)
            else:
                _observe_4(matrix, work, data, starts[g] + k)
            for at in range(LANES):
                if lengths[g, at] == k + 1:
                    out[g, at] = work[(size + hypothesis) * LANES + at]
    return True


@compiled(inline="always")
def _growth(step):
    """Return about exp(step), positive, for a step cut to at most one."""
    step = step if step < 1.0 else 1.0
    step = step if step > -1.0 else -1.0
    return 1.0 + step * (1.0 + 0.5 * step)


@compiled(fastmath={"contract"})
def _step_3(matrix, work, last_step):
    """Take a Newton step in every lane; return how many lanes took a long one."""
    m00, m01, m02 = matrix[0, 0], matrix[0, 1], matrix[0, 2]
    m10, m11, m12 = matrix[1, 0], matrix[1, 1], matrix[1, 2]
    m20, m21, m22 = matrix[2, 0], matrix[2, 1], matrix[2, 2]
    num_long = 0
    for at in range(LANES):
        w0, w1, w2 = work[at], work[LANES + at], work[2 * LANES + at]
        c0 = 3.0 * work[3 * LANES + at]
        c1 = 3.0 * work[4 * LANES + at]
        c2 = 3.0 * work[5 * LANES + at]
        v0, v1, v2 = w0 * c0, w1 * c1, w2 * c2
        r0 = m00 * v0 + m01 * v1 + m02 * v2
        r1 = m10 * v0 + m11 * v1 + m12 * v2
        r2 = m20 * v0 + m21 * v1 + m22 * v2
        # Three reciprocals for one division.
        inverse = 1.0 / (r0 * r1 * r2)
        u0, u1, u2 = r1 * r2 * inverse, r0 * r2 * inverse, r0 * r1 * inverse
        g0 = w0 * (u0 * m00 + u1 * m10 + u2 * m20) - 1.0
        g1 = w1 * (u0 * m01 + u1 * m11 + u2 * m21) - 1.0
        g2 = w2 * (u0 * m02 + u1 * m12 + u2 * m22) - 1.0
        u0, u1, u2 = u0 * u0, u1 * u1, u2 * u2
        e01 = w0 * w1 * (u0 * (m00 * m01) + u1 * (m10 * m11) + u2 * (m20 * m21))
        e02 = w0 * w2 * (u0 * (m00 * m02) + u1 * (m10 * m12) + u2 * (m20 * m22))
        e12 = w1 * w2 * (u0 * (m01 * m02) + u1 * (m11 * m12) + u2 * (m21 * m22))
        k = -1.0 / (3.0 * (e01 * (e02 * c0 + e12 * c1) + e02 * e12 * c2))
        x0 = k * ((e12 * (c1 + c2) + (e01 + e02) * c0) * g0 + e01 * c1 * g1 + e02 * c2 * g2)
        x1 = k * ((e02 * (c0 + c2) + (e01 + e12) * c1) * g1 + e01 * c0 * g0 + e12 * c2 * g2)
        x2 = k * ((e01 * (c0 + c1) + (e02 + e12) * c2) * g2 + e02 * c0 * g0 + e12 * c1 * g1)
        # Written so that a NaN counts as long.
        is_short = (abs(x0) <= last_step) & (abs(x1) <= last_step) & (abs(x2) <= last_step)
        num_long += 0 if is_short else 1
        work[at] = w0 * _growth(x0)
        work[LANES + at] = w1 * _growth(x1)
        work[2 * LANES + at] = w2 * _growth(x2)
    return num_long


@compiled(fastmath={"contract"})
def _observe_3(matrix, work, data, row):
    """Multiply every lane's belief by the likelihood of its datum and normalise it."""
    m00, m01, m02 = matrix[0, 0], matrix[0, 1], matrix[0, 2]
    m10, m11, m12 = matrix[1, 0], matrix[1, 1], matrix[1, 2]
    m20, m21, m22 = matrix[2, 0], matrix[2, 1], matrix[2, 2]
    for at in range(LANES):
        d = data[row, at]
        x0 = work[3 * LANES + at] * work[at]
        x1 = work[4 * LANES + at] * work[LANES + at]
        x2 = work[5 * LANES + at] * work[2 * LANES + at]
        x0 *= m00 if d == 0 else (m10 if d == 1 else m20)
        x1 *= m01 if d == 0 else (m11 if d == 1 else m21)
        x2 *= m02 if d == 0 else (m12 if d == 1 else m22)
        inverse = 1.0 / (x0 + x1 + x2)
        x0, x1, x2 = x0 * inverse, x1 * inverse, x2 * inverse
        work[3 * LANES + at] = x0 if x0 > _FLOOR else _FLOOR
        work[4 * LANES + at] = x1 if x1 > _FLOOR else _FLOOR
        work[5 * LANES + at] = x2 if x2 > _FLOOR else _FLOOR


@compiled(fastmath={"contract"})
def _step_4(matrix, work, last_step):
    """Do what `_step_3` does, for four columns."""
    m00, m01, m02, m03 = matrix[0, 0], matrix[0, 1], matrix[0, 2], matrix[0, 3]
    m10, m11, m12, m13 = matrix[1, 0], matrix[1, 1], matrix[1, 2], matrix[1, 3]
    m20, m21, m22, m23 = matrix[2, 0], matrix[2, 1], matrix[2, 2], matrix[2, 3]
    m30, m31, m32, m33 = matrix[3, 0], matrix[3, 1], matrix[3, 2], matrix[3, 3]
    num_long = 0
    for at in range(LANES):
        w0, w1 = work[at], work[LANES + at]
        w2, w3 = work[2 * LANES + at], work[3 * LANES + at]
        c0, c1 = 4.0 * work[4 * LANES + at], 4.0 * work[5 * LANES + at]
        c2, c3 = 4.0 * work[6 * LANES + at], 4.0 * work[7 * LANES + at]
        v0, v1, v2, v3 = w0 * c0, w1 * c1, w2 * c2, w3 * c3
        r0 = m00 * v0 + m01 * v1 + m02 * v2 + m03 * v3
        r1 = m10 * v0 + m11 * v1 + m12 * v2 + m13 * v3
        r2 = m20 * v0 + m21 * v1 + m22 * v2 + m23 * v3
        r3 = m30 * v0 + m31 * v1 + m32 * v2 + m33 * v3
        r01, r23 = r0 * r1, r2 * r3
        inverse = 1.0 / (r01 * r23)
        r01, r23 = r01 * inverse, r23 * inverse
        u0, u1, u2, u3 = r1 * r23, r0 * r23, r3 * r01, r2 * r01
        g0 = w0 * (u0 * m00 + u1 * m10 + u2 * m20 + u3 * m30) - 1.0
        g1 = w1 * (u0 * m01 + u1 * m11 + u2 * m21 + u3 * m31) - 1.0
        g2 = w2 * (u0 * m02 + u1 * m12 + u2 * m22 + u3 * m32) - 1.0
        g3 = w3 * (u0 * m03 + u1 * m13 + u2 * m23 + u3 * m33) - 1.0
        # sum_j c_j g_j is zero. Where the last column holds most of the belief its own sum is
        # rounded too coarsely for the others.
        from_others = -(c0 * g0 + c1 * g1 + c2 * g2) / c3
        g3 = from_others if c3 > 2.0 else g3
        u0, u1, u2, u3 = u0 * u0, u1 * u1, u2 * u2, u3 * u3
        e01 = u0 * (m00 * m01) + u1 * (m10 * m11) + u2 * (m20 * m21) + u3 * (m30 * m31)
        e02 = u0 * (m00 * m02) + u1 * (m10 * m12) + u2 * (m20 * m22) + u3 * (m30 * m32)
        e03 = u0 * (m00 * m03) + u1 * (m10 * m13) + u2 * (m20 * m23) + u3 * (m30 * m33)
        e12 = u0 * (m01 * m02) + u1 * (m11 * m12) + u2 * (m21 * m22) + u3 * (m31 * m32)
        e13 = u0 * (m01 * m03) + u1 * (m11 * m13) + u2 * (m21 * m23) + u3 * (m31 * m33)
        e23 = u0 * (m02 * m03) + u1 * (m12 * m13) + u2 * (m22 * m23) + u3 * (m32 * m33)
        e01, e02, e03 = w0 * w1 * e01, w0 * w2 * e02, w0 * w3 * e03
        e12, e13, e23 = w1 * w2 * e12, w1 * w3 * e13, w2 * w3 * e23
        outflow = 1.0 / (e03 * c0 + e13 * c1 + e23 * c2)
        share = c3 * outflow
        e01, e02, e12 = e01 + e03 * e13 * share, e02 + e03 * e23 * share, e12 + e13 * e23 * share
        share = share * g3
        g0, g1, g2 = g0 + e03 * share, g1 + e13 * share, g2 + e23 * share
        k = -1.0 / ((c0 + c1 + c2) * (e01 * (e02 * c0 + e12 * c1) + e02 * e12 * c2))
        x0 = k * ((e12 * (c1 + c2) + (e01 + e02) * c0) * g0 + e01 * c1 * g1 + e02 * c2 * g2)
        x1 = k * ((e02 * (c0 + c2) + (e01 + e12) * c1) * g1 + e01 * c0 * g0 + e12 * c2 * g2)
        x2 = k * ((e01 * (c0 + c1) + (e02 + e12) * c2) * g2 + e02 * c0 * g0 + e12 * c1 * g1)
        x3 = outflow * (e03 * c0 * x0 + e13 * c1 * x1 + e23 * c2 * x2 - g3)
        is_short = (abs(x0) <= last_step) & (abs(x1) <= last_step)
        is_short &= (abs(x2) <= last_step) & (abs(x3) <= last_step)
        num_long += 0 if is_short else 1
        work[at] = w0 * _growth(x0)
        work[LANES + at] = w1 * _growth(x1)
        work[2 * LANES + at] = w2 * _growth(x2)
        work[3 * LANES + at] = w3 * _growth(x3)
    return num_long


@compiled(fastmath={"contract"})
def _observe_4(matrix, work, data, row):
    """Do what `_observe_3` does, for four columns."""
    m00, m01, m02, m03 = matrix[0, 0], matrix[0, 1], matrix[0, 2], matrix[0, 3]
    m10, m11, m12, m13 = matrix[1, 0], matrix[1, 1], matrix[1, 2], matrix[1, 3]
    m20, m21, m22, m23 = matrix[2, 0], matrix[2, 1], matrix[2, 2], matrix[2, 3]
    m30, m31, m32, m33 = matrix[3, 0], matrix[3, 1], matrix[3, 2], matrix[3, 3]
    for at in range(LANES):
        d = data[row, at]
        x0 = work[4 * LANES + at] * work[at]
        x1 = work[5 * LANES + at] * work[LANES + at]
        x2 = work[6 * LANES + at] * work[2 * LANES + at]
        x3 = work[7 * LANES + at] * work[3 * LANES + at]
        x0 *= m00 if d == 0 else (m10 if d == 1 else (m20 if d == 2 else m30))
        x1 *= m01 if d == 0 else (m11 if d == 1 else (m21 if d == 2 else m31))
        x2 *= m02 if d == 0 else (m12 if d == 1 else (m22 if d == 2 else m32))
        x3 *= m03 if d == 0 else (m13 if d == 1 else (m23 if d == 2 else m33))
        inverse = 1.0 / (x0 + x1 + x2 + x3)
        x0, x1, x2, x3 = x0 * inverse, x1 * inverse, x2 * inverse, x3 * inverse
        work[4 * LANES + at] = x0 if x0 > _FLOOR else _FLOOR
        work[5 * LANES + at] = x1 if x1 > _FLOOR else _FLOOR
        work[6 * LANES + at] = x2 if x2 > _FLOOR else _FLOOR
        work[7 * LANES + at] = x3 if x3 > _FLOOR else _FLOOR
