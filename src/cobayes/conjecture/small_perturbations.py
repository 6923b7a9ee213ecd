"""How often teaching fails in the limit of a small error in the prior."""

from __future__ import annotations

from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import whole_number
from cobayes._runtime.randomness import generator
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike
from cobayes.rules import SCBI
from cobayes.rules.beliefs import BeliefState

Array = NDArray[np.float64]

# A sequence ends where a belief falls below exp of this: its derivatives would soon underflow.
SMALLEST_LOG = -600.0


class LimitSlope(NamedTuple):
    """A lower bound on a limit, estimated: above one it contradicts Conjecture 5.3 in L1."""

    value: float
    stderr: float


def limit_slope(
    matrix: MatrixLike,
    hypothesis: SupportsIndex | str,
    teacher_prior: ArrayLike,
    direction: ArrayLike,
    *,
    num_rounds: int,
    num_sequences: int = 10_000,
    rng: Any = None,
) -> LimitSlope:
    """Estimate the failure rate over what Conjecture 5.3 allows in L1, for tiny perturbations.

    The learner's prior is the teacher's plus epsilon times a direction; as epsilon tends to zero,
    the ratio tends to at least the value that is estimated here. The value grows with the number
    of rounds.

    Parameters
    ----------
    matrix
        Data by hypotheses, without zeros: teacher and learner share it.
    hypothesis
        The one that is taught.
    teacher_prior
        What the teacher takes for the learner's prior; positive.
    direction
        Direction of the learner's error, (m,); it sums to zero.
    num_rounds
        How many rounds are followed.
    num_sequences
        How many sequences of data are drawn.
    rng
        A seed or a numpy Generator.

    Notes
    -----
    The value is ``(E|J(h)| - direction(h)) / (2 ||direction||_1)`` with J the derivative of the
    belief along the direction and E the mean over uniform data; see docs/conjecture.md. Data are
    drawn in proportion to the size of the derivative after them, and weighted accordingly. A
    sequence is stopped before a belief is too small for float64; that can only lower the value.

    Examples
    --------
    With two hypotheses the slope is 1/2: half of the L1 distance is lost, and no more.

    >>> from cobayes.conjecture import limit_slope
    >>> matrix = [[0.8, 0.3], [0.2, 0.7]]
    >>> found = limit_slope(matrix, 0, [0.6, 0.4], [-1, 1], num_rounds=5, num_sequences=4, rng=1)
    >>> round(found.value, 9)
    0.5
    """
    rule = SCBI(matrix)
    position = rule.model.hypothesis_index(hypothesis)
    prior = rule.model.distribution(teacher_prior, name="teacher's prior")
    step = np.asarray(direction, dtype=np.float64)
    if (rule.model.matrix == 0.0).any() or (prior == 0.0).any():
        raise CobayesError("the matrix and the teacher's prior must be positive.")
    if step.shape != prior.shape or not np.abs(step).max() > 0.0 or abs(step.sum()) > 1e-12:
        raise CobayesError(
            f"the direction is {direction!r}; expected {len(prior)} numbers, not all zero, that "
            "sum to zero."
        )
    rounds = whole_number(num_rounds, "num_rounds", 0)
    count = whole_number(num_sequences, "num_sequences", 2)
    stream = generator(rng)
    step = step / np.abs(step).sum()
    log_beliefs, tangents = np.tile(np.log(prior), (count, 1)), np.tile(step, (count, 1))
    log_weights = np.zeros(count)
    for _ in range(rounds):
        going = np.flatnonzero(log_beliefs.min(axis=1) > SMALLEST_LOG)
        if len(going) == 0:
            break
        log_posteriors, derivatives = children(rule, log_beliefs[going], tangents[going])
        sizes = np.abs(derivatives).sum(axis=2)
        steps = np.cumsum(sizes, axis=1)
        shares = stream.random(len(going))[:, None] * steps[:, -1:]
        drawn = (shares >= steps[:, :-1]).sum(axis=1)
        each = np.arange(len(going))
        # The tangent is kept at size one; its size and the odds of the draw go into the weight.
        log_weights[going] += np.log(steps[:, -1] / rule.model.num_data)
        tangents[going] = derivatives[each, drawn] / sizes[each, drawn, None]
        log_beliefs[going] = log_posteriors[each, drawn]
    values = (np.exp(log_weights) * np.abs(tangents[:, position]) - step[position]) / 2.0
    return LimitSlope(float(values.mean()), float(values.std(ddof=1) / np.sqrt(count)))


def children(rule: SCBI, log_beliefs: Array, tangents: Array) -> tuple[Array, Array]:
    """Return log-posteriors after every datum, and their derivatives along tangents: (k, n, m).

    With S the scaled matrix, whose rows sum to one, ``d log S_ij = a_i + b_j`` with ``a = -S b``,
    and b solves ``(diag(n theta) - S' S) b = n tangent``, the Laplacian of a weighted graph.
    """
    count, size = log_beliefs.shape
    responses = rule.respond_many(BeliefState.from_logs(log_beliefs))
    logs = log_beliefs[:, None, :] + responses.log_likelihoods
    logs = logs - np.logaddexp.reduce(logs, axis=2, keepdims=True)
    scaled = np.exp(logs)
    couplings = scaled.transpose(0, 2, 1) @ scaled
    index = np.arange(size)
    couplings[:, index, index] = 0.0
    degrees = couplings.sum(axis=2)
    # Factors are determined up to one: that of the hypothesis believed most stays. Every equation
    # is divided by its diagonal, which may be tiny.
    laplacian = np.eye(size) - couplings / degrees[:, :, None]
    targets = rule.model.num_data * tangents / degrees
    each, pinned = np.arange(count), log_beliefs.argmax(axis=1)
    laplacian[each, pinned] = np.eye(size)[pinned]
    targets[each, pinned] = 0.0
    columns = np.linalg.solve(laplacian, targets[:, :, None])
    changes = columns.transpose(0, 2, 1) - scaled @ columns
    return logs, scaled * changes
