"""The failure rate of teaching relative to its conjectured bound, as the prior's error vanishes.

Beliefs, derivatives and weights are stored as logarithms, so that errors of 1e-200 and beliefs of
1e-1000 do not underflow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import Distribution
from cobayes._input.tables import as_floats
from cobayes._input.validation import generator, number_between, whole_number
from cobayes._output import Result
from cobayes._parallel import require_affordable, short_number
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike
from cobayes.rules import SCBI

Array = NDArray[np.float64]

# While the ratio of the learner's belief to the teacher's differs from one by less than 1e-5, the
# teacher's belief and a derivative are stored instead of both beliefs.
NEARLY_EQUAL = math.log(1e-5)
# A sequence in which both beliefs are stored ends when the largest belief of the teacher and the
# largest belief of the learner are at least 1 - 1e-9.
SETTLED = math.log1p(-1e-9)


@dataclass(frozen=True)
class LimitSlope(Result):
    """The result of `limit_slope`.

    Parameters
    ----------
    value
        An estimated lower bound on (failure rate) / (bound of Conjecture 5.3, in L1).
    stderr
        The standard error of the estimate.

    Examples
    --------
    >>> from cobayes.conjecture import LimitSlope
    >>> slope = LimitSlope(1.2, 0.01)
    >>> slope.value - 3 * slope.stderr > 1.0
    True
    """

    value: float
    stderr: float


def limit_slope(
    matrix: MatrixLike,
    hypothesis: SupportsIndex | str,
    teacher_prior: Distribution,
    direction: ArrayLike,
    *,
    num_rounds: int,
    log10_size: float | None = None,
    num_lessons: int = 10_000,
    rng: Any = None,
) -> LimitSlope:
    """Estimate the failure rate divided by Conjecture 5.3's bound in L1, for tiny perturbations.

    The learner's prior is the teacher's plus a multiple of a direction. The result is an estimate
    of a lower bound on the ratio; a lower bound above one contradicts the conjecture. With more
    rounds the lower bound does not decrease. For a given `log10_size` it converges to the ratio.

    Parameters
    ----------
    matrix
        Data by hypotheses, without zeros; the same for teacher and learner.
    hypothesis
        The hypothesis that is taught, by position or label.
    teacher_prior
        The learner's prior as the teacher assumes it; positive.
    direction
        Direction of the error in the learner's prior, (m,); its entries sum to zero.
    num_rounds
        The number of rounds.
    log10_size
        The decimal logarithm of the L1 distance between the priors, for example -90. By default
        the limit of small distances is taken.
    num_lessons
        The number of sequences of data that are drawn.
    rng
        A seed or a numpy Generator.

    Returns
    -------
    LimitSlope
        ``.value`` and its standard error, ``.stderr``.

    Notes
    -----
    The value is ``(E|J(h)| - s(h)) / 2``, where s is the direction divided by its L1 norm, J is the
    derivative of the belief as the prior moves along s, and E is the mean over uniform data. If
    `log10_size` is given, J is the difference of the two beliefs divided by the L1 distance of the
    priors; see docs/conjecture.md. A datum is drawn with a probability proportional to the L1 norm
    of J after this datum; importance weights correct for this choice.

    Examples
    --------
    With two hypotheses the ratio is 1/2 if the learner's prior is too small at the taught one.

    >>> from cobayes.conjecture import limit_slope
    >>> matrix = [[0.8, 0.3], [0.2, 0.7]]
    >>> found = limit_slope(matrix, 0, [0.6, 0.4], [-1, 1], num_rounds=5, num_lessons=4, rng=1)
    >>> round(found.value, 9)
    0.5
    """
    rule = SCBI(matrix)
    position = rule.model.hypothesis_index(hypothesis)
    prior = rule.model.distribution(teacher_prior, name="teacher's prior")
    step = as_floats(direction, copy=False, name="direction")
    if step.shape != prior.shape or not np.abs(step).max() > 0.0 or abs(step.sum()) > 1e-12:
        raise CobayesError(
            f"the direction is {direction!r}; expected {len(prior)} numbers that sum to zero "
            "and are not all zero."
        )
    step = step / np.abs(step).sum()
    if (rule.model.matrix == 0.0).any() or (prior == 0.0).any():
        raise CobayesError("the matrix or the teacher's prior has a zero; both must be positive.")
    rounds = whole_number(num_rounds, "num_rounds", 0)
    count = whole_number(num_lessons, "num_lessons", 2)
    log_size = -math.inf
    if log10_size is not None:
        log_size = math.log(10.0) * number_between(log10_size, "log10_size", -math.inf, 0.0)
        if log_size > -300.0 and (prior + math.exp(log_size) * step <= 0.0).any():
            found = f"at the L1 distance 1e{log10_size:g} the learner's prior is not positive."
            raise CobayesError(found, "give a smaller log10_size.")
    num_data, num_hypotheses = rule.model.shape
    # A lower bound on the time per round of a sequence; 2 us were measured on a 3 x 3 matrix.
    seconds = 1e-6 * min(count, 10**200) * min(rounds, 10**100)
    num_bytes = 32.0 * min(count, 10**300) * num_hypotheses * (num_data + 1)
    size = f"{short_number(count)} sequences of {short_number(rounds)} rounds"
    hint = "take fewer sequences or rounds; 10,000 sequences give two digits."
    require_affordable(size, hint, seconds=seconds, num_bytes=num_bytes)
    values = _Sequences(rule, prior, step, log_size, count).follow(rounds, position, rng)
    values = (values - step[position]) / 2.0
    return LimitSlope(float(values.mean()), float(values.std(ddof=1) / np.sqrt(count)))


class _Sequences:
    """Sequences of data, and the beliefs of teacher and learner after each sequence.

    While the two beliefs are nearly equal, the learner's is represented as ``taught * (1 + size *
    exp(scale) * ratio)``: `taught` is the teacher's belief, `size` the L1 size of the perturbation,
    and `scale` makes the largest absolute value of `ratio` one. Afterwards both beliefs are stored.

    Parameters
    ----------
    rule, prior, step
        The rule of both agents, the teacher's prior, the direction of the perturbation.
    log_size
        Logarithm of the perturbation's L1 size; minus infinity for the limit.
    count
        The number of sequences.
    """

    def __init__(self, rule: SCBI, prior: Array, step: Array, log_size: float, count: int) -> None:
        self.rule, self.log_size = rule, log_size
        self.log_taught = np.tile(np.log(prior), (count, 1))
        ratio = step / prior
        self.ratios = np.tile(ratio / np.abs(ratio).max(), (count, 1))
        self.scales = np.full(count, math.log(np.abs(ratio).max()))
        self.log_believed = self.log_taught.copy()
        self.is_apart = np.zeros(count, dtype=np.bool_)
        # Logarithms of q = (L1 distance between the two beliefs) / (L1 size of the perturbation),
        # and of q times the importance weight.
        self.log_differences = np.zeros(count)
        self.log_weights = np.zeros(count)

    @np.errstate(divide="ignore", invalid="ignore")  # logarithms of zero
    def follow(self, num_rounds: int, position: int, rng: Any) -> Array:
        """Return the weighted absolute difference of the two beliefs in a hypothesis, (count,).

        The difference is divided by the L1 size of the perturbation.
        """
        stream = generator(rng)
        for _ in range(num_rounds):
            self._separate()
            together = np.flatnonzero(~self.is_apart)
            least = np.minimum(self.log_taught.max(axis=1), self.log_believed.max(axis=1))
            apart = np.flatnonzero(self.is_apart & (least < SETTLED))
            if len(together) + len(apart) == 0:
                break
            if len(together):
                self._step_together(together, stream)
            if len(apart):
                self._step_apart(apart, stream)
        apart = _log_differences(self.log_taught, self.log_believed) - self.log_size
        together = self.log_taught + self.scales[:, None] + np.log(np.abs(self.ratios))
        own = np.where(self.is_apart, apart[:, position], together[:, position])
        return np.exp(own - self.log_differences + self.log_weights)

    def _separate(self) -> None:
        """Store both beliefs of each sequence in which they are no longer nearly equal."""
        is_new = ~self.is_apart & (self.scales + self.log_size > NEARLY_EQUAL)
        if is_new.any():
            change = np.exp(self.scales[is_new] + self.log_size)[:, None] * self.ratios[is_new]
            logs = self.log_taught[is_new] + np.log1p(change)
            self.log_believed[is_new] = logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
            self.is_apart |= is_new

    def _step_together(self, which: NDArray[np.intp], stream: np.random.Generator) -> None:
        logs, ratios = children(self.rule, self.log_taught[which], self.ratios[which])
        sizes = np.logaddexp.reduce(logs + np.log(np.abs(ratios)), axis=2)
        sizes += self.scales[which, None]
        each, drawn = self._draw(which, sizes, stream)
        self.log_taught[which] = logs[each, drawn]
        chosen = ratios[each, drawn]
        largest = np.abs(chosen).max(axis=1)
        self.ratios[which] = chosen / largest[:, None]
        self.scales[which] += np.log(largest)

    def _step_apart(self, which: NDArray[np.intp], stream: np.random.Generator) -> None:
        taught, believed = (
            _log_posteriors(logs[which], self.rule.respond_many(logs[which]))
            for logs in (self.log_taught, self.log_believed)
        )
        sizes = np.logaddexp.reduce(_log_differences(taught, believed), axis=2) - self.log_size
        each, drawn = self._draw(which, sizes, stream)
        self.log_taught[which] = taught[each, drawn]
        self.log_believed[which] = believed[each, drawn]

    def _draw(
        self, which: NDArray[np.intp], log_sizes: Array, stream: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Draw data with probabilities proportional to exp(log_sizes), (k, n); update weights."""
        each = np.arange(len(which))
        total = np.logaddexp.reduce(log_sizes, axis=1)
        steps = np.cumsum(np.exp(log_sizes - total[:, None]), axis=1)
        shares = stream.random(len(which))[:, None] * steps[:, -1:]
        drawn = (shares >= steps[:, :-1]).sum(axis=1)
        mean = total - math.log(log_sizes.shape[1])
        self.log_weights[which] += mean - self.log_differences[which]
        self.log_differences[which] = log_sizes[each, drawn]
        return each, drawn


def children(rule: SCBI, log_beliefs: Array, ratios: Array) -> tuple[Array, Array]:
    """Return the log-posteriors after every datum, and their derivatives, (k, n, m) each.

    Let x be the derivative of the belief's logarithm as the prior changes, S the scaled matrix, and
    b the derivative of the logarithm of the column factors. Since the rows of S sum to one,
    ``d log S_ij = b_j - (S b)_i``. The column sums give ``b - A' S b = x``, where A is the
    likelihood at the belief and A' its transpose. Nothing is divided by a belief, which may be
    tiny.

    Parameters
    ----------
    rule
        SCBI with a matrix without zeros.
    log_beliefs, ratios
        Logarithms of beliefs, and their derivatives x, (k, m).
    """
    count, size = log_beliefs.shape
    log_likelihoods = rule.respond_many(log_beliefs)
    logs = _log_posteriors(log_beliefs, log_likelihoods)
    scaled = np.exp(logs)
    likelihoods = np.exp(log_likelihoods)
    likelihoods /= likelihoods.sum(axis=1, keepdims=True)
    system = np.eye(size) - likelihoods.transpose(0, 2, 1) @ scaled
    # b is determined up to a constant, chosen so that b is zero at the hypothesis with the largest
    # belief.
    each, pinned = np.arange(count), log_beliefs.argmax(axis=1)
    targets = ratios.copy()
    system[each, pinned] = np.eye(size)[pinned]
    targets[each, pinned] = 0.0
    columns = np.linalg.solve(system, targets[:, :, None])
    return logs, columns.transpose(0, 2, 1) - scaled @ columns


def _log_posteriors(log_beliefs: Array, log_likelihoods: Array) -> Array:
    """Return log-posteriors after every datum, (k, n, m), accurate also near certainty."""
    logs = log_beliefs[:, None, :] + log_likelihoods
    return logs - np.logaddexp.reduce(logs, axis=2, keepdims=True)


def _log_differences(taught: Array, believed: Array) -> Array:
    """Return log |exp(taught) - exp(believed)|; both arguments are logarithms of beliefs."""
    low, high = np.minimum(taught, believed), np.maximum(taught, believed)
    return high + np.log(-np.expm1(low - high))
