"""How many rounds a lesson will need, without simulation: the normal limit of the log-odds.

In the limit of certainty the log-odds against every rival are random walks. A lesson is over when
the last of them has passed the level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from cobayes._input.validation import number_between
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike
from cobayes.rules import Rule, as_rule
from cobayes.rules.base import in_every_round, require_teachable
from cobayes.theory.rates import rate_of_convergence, relevant_hypothesis

Array = NDArray[np.float64]

# Points of the grid on which a random walk is followed: this many for its typical step, and this
# many at most.
CELLS, MOST_CELLS = 12, 20_000


@dataclass(frozen=True)
class PredictedRounds:
    """The number of rounds until a learner is sure, in the limit of small doubt.

    Attributes
    ----------
    mean, std : float
        Mean and standard deviation of the number of rounds.
    rate, variance : float
        Mean and variance, per round, of what the log-odds against the hardest rival gain in the
        limit of certainty.
    overshoot : float
        By how much, on average, the log-odds against that rival exceed the level when they pass
        it, in nats: the renewal constant.
    doubt : float
        The learner is sure when its belief exceeds 1 - doubt.
    hypothesis, rival : str
        The labels of what is taught and of the hypothesis that is hardest to tell from it.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.theory.predicted_rounds(cb.SCBI(cb.examples["M_1"]), "h_1", doubt=0.01)
    >>> found.rival, round(found.mean, 1)
    ('h_2', 46.8)
    """

    mean: float
    std: float
    rate: float
    variance: float
    overshoot: float
    doubt: float
    hypothesis: str
    rival: str

    def quantile(self, share: float) -> float:
        """Return the number of rounds by which this share of the lessons is over.

        Parameters
        ----------
        share
            Strictly between 0 and 1.

        Notes
        -----
        Of the inverse Gaussian distribution, which a random walk with drift has for its first
        passage; it has the same normal limit.
        """
        share = number_between(share, "the share", 0.0, 1.0)
        if not self.std > 0.0:
            return self.mean
        shape = self.mean**3 / self.std**2
        return float(stats.invgauss.ppf(share, self.mean / shape, scale=shape))

    def __repr__(self) -> str:
        return (
            f"PredictedRounds({self.mean:.4g} ± {self.std:.3g} rounds until the doubt about "
            f"{self.hypothesis!r} is {self.doubt:g}; {self.rate:.4g} nats per round against "
            f"{self.rival!r})"
        )


def predicted_rounds(
    matrix: MatrixLike | Rule,
    hypothesis: SupportsIndex | str,
    *,
    rule: Any = "scbi",
    prior: ArrayLike | None = None,
    doubt: float = 1e-5,
) -> PredictedRounds:
    """Predict how many rounds a lesson needs until the learner is sure.

    Parameters
    ----------
    matrix
        Data by hypotheses, or a rule.
    hypothesis
        The one that is taught, by position or label.
    rule
        For a matrix: "scbi", "bi", or a class of rules.
    prior
        The common prior; uniform by default.
    doubt
        The learner is sure when its belief in the hypothesis exceeds ``1 - doubt``.

    Returns
    -------
    PredictedRounds
        ``.mean``, ``.std`` and ``.quantile(share)``.

    Notes
    -----
    In the limit of certainty the log-odds against a rival are a random walk with mean R and
    variance s per round. From log-odds of a below the level they pass it after about
    ``(a + overshoot) / R`` rounds, with variance ``a s / R**3``. Of several rivals the last one
    counts: mean and variance of the largest passage follow from Clark's formulas for correlated
    normal variables. What happens before the limit is reached shifts the mean by a number
    of rounds that does not grow as the doubt becomes smaller; it is left out. See docs/beyond.md.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.theory.predicted_rounds([[0.6, 0.3], [0.4, 0.7]], 0, doubt=1e-6).mean.__round__(1)
    76.8
    """
    found = in_every_round(matrix if isinstance(matrix, Rule) else as_rule(rule, matrix))
    model = found.model
    number_between(doubt, "doubt", 0.0, 0.5, hint="1e-5 is the default.")
    h = model.hypothesis_index(hypothesis)
    log_prior = found.log_belief(prior, "prior")
    require_teachable(model, log_prior, h, "prior")
    share = np.exp(log_prior)
    rate = float(rate_of_convergence(found, h, prior=share))
    name = model.hypotheses[h]
    if not math.isfinite(rate):
        raise CobayesError(
            f"one datum can exclude every rival of {name!r}: lessons end after finitely many "
            "rounds, and their number has no normal limit.",
            "use cobayes.simulate(...).rounds_needed, or exact_rounds.",
        )
    rival = int(relevant_hypothesis(found, h, prior=share))
    if rate == 0.0:
        return PredictedRounds(
            math.inf, math.inf, 0.0, 0.0, 0.0, doubt, name, model.hypotheses[rival]
        )
    walks = _walks(found, h, log_prior, math.log1p(-doubt) - math.log(doubt))
    hardest = walks.rivals.index(rival)
    mean, std = _last_passage(walks)
    return PredictedRounds(
        mean,
        std,
        rate,
        float(walks.covariance[hardest, hardest]),
        float(walks.overshoots[hardest]),
        doubt,
        name,
        model.hypotheses[rival],
    )


class _Walks(NamedTuple):
    """The log-odds against every rival that one datum does not exclude, as random walks.

    Attributes
    ----------
    rivals : list of int
        Their positions.
    climbs, means, overshoots : ndarray
        How far each is below its level, its mean per round, and its mean overshoot.
    covariance : ndarray
        Of the steps.
    """

    rivals: list[int]
    climbs: Array
    means: Array
    overshoots: Array
    covariance: Array


def _walks(rule: Rule, h: int, log_prior: Array, level: float) -> _Walks:
    limit = rule.at_certainty(h)
    shown = limit.column(h)
    logs = limit.log_likelihood[shown > 0.0]
    shown = shown[shown > 0.0] / shown.sum()
    steps = logs[:, h, None] - logs
    rivals = [
        j
        for j in range(steps.shape[1])
        if j != h and log_prior[j] > -math.inf and np.isfinite(steps[:, j]).all()
    ]
    steps = steps[:, rivals]
    means = shown @ steps
    covariance = (shown[:, None] * (steps - means)).T @ (steps - means)
    climbs = np.maximum(level - (log_prior[h] - log_prior[rivals]), 0.0)
    overshoots = np.array([mean_overshoot(shown, steps[:, j]) for j in range(len(rivals))])
    return _Walks(rivals, climbs, means, np.where(climbs > 0.0, overshoots, 0.0), covariance)


def _last_passage(walks: _Walks) -> tuple[float, float]:
    """Return mean and standard deviation of the last of the passages."""
    times = (walks.climbs + walks.overshoots) / walks.means
    # Passage j deviates from its mean by what its walk has deviated by then, over the mean step.
    shared = np.minimum(walks.climbs[:, None] / walks.means[:, None], walks.climbs / walks.means)
    covariance = shared * walks.covariance / np.outer(walks.means, walks.means)
    order = np.argsort(-times)
    mean, variance = float(times[order[0]]), float(covariance[order[0], order[0]])
    with_last = covariance[order[0]].copy()
    for j in order[1:]:
        # Clark (1961): the larger of two normal variables, and its covariance with a third.
        spread = math.sqrt(max(variance + covariance[j, j] - 2.0 * with_last[j], 0.0))
        if spread == 0.0:
            continue
        ahead = (mean - times[j]) / spread
        first, second = float(special.ndtr(ahead)), float(special.ndtr(-ahead))
        density = math.exp(-0.5 * ahead**2) / math.sqrt(2.0 * math.pi)
        larger = mean * first + times[j] * second + spread * density
        square = (
            (mean**2 + variance) * first
            + (times[j] ** 2 + covariance[j, j]) * second
            + (mean + times[j]) * spread * density
        )
        with_last = first * with_last + second * covariance[j]
        mean, variance = float(larger), max(float(square - larger**2), 0.0)
    return mean, math.sqrt(variance)


def mean_overshoot(shares: Array, steps: Array) -> float:
    """Return by how much a random walk exceeds a high level on average when it first passes it.

    With H the first positive value of the walk (its ladder height) this is
    ``E H**2 / (2 E H)``; for walks on a lattice it is the mean over all levels. The walk below
    zero is followed on a grid, each step split between two points so that its mean is kept.

    Parameters
    ----------
    shares, steps
        Probabilities and steps, (n,), with a positive mean.
    """
    mean = float(shares @ steps)
    square = float(shares @ steps**2)
    if not steps.min() < 0.0:
        return square / (2.0 * mean)
    width = math.sqrt(square) / CELLS
    # The walk gets this far below zero with a probability of about e^-20.
    size = math.ceil(max(20.0 * square / mean, -2.0 * steps.min()) / width) + 1
    if size > MOST_CELLS:
        return square / (2.0 * mean)
    whole = np.floor(steps / width)
    kernels = [
        (int(shift + more), float(share * weight))
        for share, shift, part in zip(shares, whole, steps / width - whole, strict=True)
        for more, weight in ((0, 1.0 - part), (1, part))
        if share * weight > 0.0
    ]
    # mass[i] is the probability to be at -i widths and never to have been above zero.
    mass = np.zeros(size)
    mass[0] = 1.0
    first = second = 0.0
    while mass.sum() > 1e-7:
        moved = np.zeros(size)
        for shift, weight in kernels:
            if shift <= 0:
                moved[-shift:] += weight * mass[: size + shift]
                continue
            moved[: size - shift] += weight * mass[shift:]
            heights = width * (shift - np.arange(min(shift, size)))
            passed = weight * mass[: len(heights)]
            first += float(passed @ heights)
            second += float(passed @ heights**2)
        mass = moved
    return second / (2.0 * first)
