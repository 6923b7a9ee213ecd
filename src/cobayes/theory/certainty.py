"""Time to certainty: the highest rate of any teacher, measured rates, predicted rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import Distribution
from cobayes._input.validation import number_between, whole_number
from cobayes._output import freeze
from cobayes.errors import CobayesError
from cobayes.lessons import simulate
from cobayes.model import MatrixLike
from cobayes.rules import Rule, as_rule
from cobayes.rules.naming import as_agents, in_every_round
from cobayes.theory.rates import rate_of_convergence, relevant_hypothesis

Array = NDArray[np.float64]

# An agent is sure when its belief exceeds this.
LEVEL = 1.0 - 1e-5
# Grid of `mean_overshoot`: points per root-mean-square step, and the largest number of points. With
# 12 points per step the overshoot was within 0.5 % of that with 100, on eight random tables.
CELLS, MOST_CELLS = 12, 20_000
# The least quotient of mean step and root-mean-square step; a smaller quotient is raised to it. On
# three tables with quotients of 0.0075 to 0.015, this changed the overshoot by less than 1 %.
LEAST_DRIFT = 0.02


@dataclass(frozen=True, eq=False, repr=False)
class ChoosingRate:
    """The highest rate at which any sequence of data can teach a hypothesis.

    Attributes
    ----------
    rate : float
        The rate, in nats per round.
    drawing_rate : float
        The rate of a teacher that draws its data from the likelihood of the learner's rule.
    data_shares : ndarray
        The share of rounds in which the best teacher shows each datum in the long run, (n,).
    hypothesis : str
        The label of the taught hypothesis.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.theory.choosing_rate("example:M_1", "h_1")
    >>> found.rate >= found.drawing_rate
    True
    """

    rate: float
    drawing_rate: float
    data_shares: Array
    hypothesis: str

    __post_init__ = freeze

    def __repr__(self) -> str:
        return (
            f"ChoosingRate({self.rate:.4g} nats per round for {self.hypothesis!r}; drawing has "
            f"{self.drawing_rate:.4g})"
        )


def choosing_rate(rule: Rule | MatrixLike, hypothesis: SupportsIndex | str) -> ChoosingRate:
    """Return the highest rate at which any sequence of data can teach a learner.

    Parameters
    ----------
    rule
        The learner's rule; a matrix means `SCBI(matrix)`. An error is raised if a datum that may be
        shown excludes a rival, as on most tables with zeros.
    hypothesis
        The hypothesis that is taught, by position or label.

    Returns
    -------
    ChoosingRate
        ``.rate``, ``.drawing_rate``, and the share of rounds in which each datum is shown.

    Notes
    -----
    The value of the linear programme ``max_p min_j sum_d p_d log(A_dh / A_dj)`` with A the
    likelihood in the limit of certainty; see docs/beyond.md. If the teacher draws its data, p is
    column h of A.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.theory.choosing_rate(cb.BI([[0.6, 0.3], [0.4, 0.7]]), 0)
    ChoosingRate(0.6931 nats per round for '0'; drawing has 0.192)
    """
    from cobayes.theory.best_prior import solve_programme  # needs SciPy, which takes long to import

    own = in_every_round(as_rule(rule))
    model = own.model
    h = model.hypothesis_index(hypothesis)
    logs = own.at_certainty(h).log_likelihood
    shown = logs[:, h] > -np.inf
    gains = np.delete(logs[shown, h, None] - logs[shown], h, axis=1)
    if np.isinf(gains).any():
        raise CobayesError(
            "in the limit of certainty a datum excludes a rival, so the rate may be infinite.",
            "use cobayes.plan_lesson or cobayes.lessons.compare_teachers.",
        )
    drawn = rate_of_convergence(own, h)
    solution = solve_programme(gains.T, [0] * gains.shape[1], 0.0)
    shares = np.zeros(model.num_data)
    shares[shown] = np.maximum(solution.x[:-1], 0.0)
    shares /= shares.sum()
    return ChoosingRate(float((shares[shown] @ gains).min()), drawn, shares, model.hypotheses[h])


def empirical_rate(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    *,
    num_rounds: int = 2000,
    num_lessons: int = 2000,
    burn_in: int | None = None,
    prior: Distribution | None = None,
    rng: Any = None,
) -> tuple[float, float]:
    """Measure the asymptotic rate of convergence in simulated lessons.

    Parameters
    ----------
    rule
        The rule of teacher and learner; a matrix means `SCBI(matrix)`.
    hypothesis
        The true hypothesis, by position or label.
    num_rounds, num_lessons
        The numbers of rounds and of lessons. Long lessons are safe: log-beliefs do not underflow.
    burn_in
        The round from which the slope of the log-odds is measured (default: half of the rounds).
    prior
        The common prior (default: uniform).
    rng
        Anything that `numpy.random.default_rng` accepts.

    Returns
    -------
    tuple of float
        The rate in nats per round, and its standard error; infinity and NaN if the data of a lesson
        exclude every rival (only with zeros).

    Notes
    -----
    Theorems 3.2 (BI) and 3.6 (SCBI): log(theta(h) / (1 - theta(h))) / k tends to the rate. The rate
    is estimated by the slope between two late rounds, so that early rounds have no influence.

    The log-odds are determined by the rival that is hardest to tell from the truth. If two rivals
    are nearly equally hard, either may be the harder one for thousands of rounds. The slope is then
    too small, by a fraction of the standard deviation of the difference between the two log-odds,
    divided by the number of rounds. The standard error does not include this bias; more rounds
    reduce it.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.BI("example:M_1")
    >>> rate, stderr = cb.theory.empirical_rate(rule, "h_1", num_rounds=100, num_lessons=50, rng=1)
    >>> abs(rate - cb.rate_of_convergence(rule, "h_1")) < 5 * stderr
    True
    """
    num_rounds = whole_number(num_rounds, "num_rounds", 1)
    num_lessons = whole_number(num_lessons, "num_lessons", 2)
    first = num_rounds // 2 if burn_in is None else whole_number(burn_in, "the burn-in", 0)
    if first >= num_rounds:
        raise CobayesError(
            f"the burn-in is {first} rounds; expected fewer than the {num_rounds} of a lesson."
        )
    odds = simulate(
        rule, hypothesis, num_rounds=num_rounds, num_lessons=num_lessons, prior=prior, rng=rng,
        keep_paths=[first, num_rounds],
    ).log_odds()  # fmt: skip
    if odds.max() == math.inf:
        return math.inf, math.nan
    slopes = (odds[:, 1] - odds[:, 0]) / (num_rounds - first)
    return float(slopes.mean()), float(slopes.std(ddof=1) / np.sqrt(num_lessons))


@dataclass(frozen=True)
class PredictedRounds:
    """The predicted number of rounds until a learner is sure, for levels close to one.

    Attributes
    ----------
    mean, std : float
        Mean and standard deviation of the number of rounds. If the rate is not positive, both are
        infinite, and `variance` and `overshoot` are set to zero.
    rate, variance : float
        Mean (in nats) and variance of the change per round in the log-odds against the hardest
        rival, in the limit of certainty.
    overshoot : float
        The mean excess, in nats, of these log-odds over the log-odds of the level when they first
        pass the level.
    level : float
        The learner is sure when its belief exceeds this.
    hypothesis, rival : str
        The labels of the taught hypothesis and of its hardest rival.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.theory.predicted_rounds("example:M_1", "h_1", level=0.99)
    >>> found.rival, round(found.mean, 1)
    ('h_2', 46.8)
    """

    mean: float
    std: float
    rate: float
    variance: float
    overshoot: float
    level: float
    hypothesis: str
    rival: str

    def quantile(self, share: float) -> float:
        """Return the number of rounds after which this share of the learners is sure.

        Parameters
        ----------
        share
            The share of the learners, strictly between 0 and 1.

        Notes
        -----
        The quantile of the inverse Gaussian distribution with this mean and standard deviation: the
        distribution of the time at which a Brownian motion with drift first passes a level.
        """
        share = number_between(share, "the share", 0.0, 1.0)
        if not 0.0 < self.std < np.inf:
            return self.mean
        shape = self.mean**3 / self.std**2
        from scipy.stats import invgauss

        return float(invgauss.ppf(share, self.mean / shape, scale=shape))

    def __repr__(self) -> str:
        return (
            f"PredictedRounds({self.mean:.4g} ± {self.std:.3g} rounds until the belief in "
            f"{self.hypothesis!r} is {self.level:.9g}; {self.rate:.4g} nats per round against "
            f"{self.rival!r})"
        )


def predicted_rounds(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    *,
    prior: Distribution | None = None,
    level: float = LEVEL,
) -> PredictedRounds:
    """Predict how many rounds a lesson needs, from the random walks of the log-odds.

    Parameters
    ----------
    rule
        The rule of teacher and learner; a matrix means `SCBI(matrix)`.
    hypothesis
        The hypothesis that is taught, by position or label.
    prior
        The common prior (default: uniform).
    level
        The learner is sure when its belief in the hypothesis exceeds this (default: 1 - 1e-5).

    Returns
    -------
    PredictedRounds
        ``.mean``, ``.std`` and ``.quantile(share)``.

    Notes
    -----
    In the limit of certainty the log-odds against a rival are a random walk with mean ``R`` and
    variance ``s`` per round. Let the walk start ``a`` nats below ``log(level / (1 - level))``. It
    passes this value after about ``(a + overshoot) / R`` rounds, with variance ``a s / R**3``. With
    several rivals the learner is sure in the round in which the last walk passes. The mean and
    variance of this round follow from Clark's formulas for the largest of correlated normal
    variables. The first rounds, far from certainty, shift the mean by a number of rounds that does
    not grow as the level tends to one; this shift is neglected. See docs/beyond.md.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.theory.predicted_rounds([[0.6, 0.3], [0.4, 0.7]], 0, level=1 - 1e-6)
    >>> round(found.mean, 1)
    76.8
    """
    number_between(level, "level", 0.5, 1.0, hint=f"{LEVEL} is the default.")
    agents = as_agents(rule, hypothesis, prior, every_round=True)
    found, h, log_prior = agents.teacher, agents.hypothesis, agents.teacher_prior
    model = found.model
    share = np.exp(log_prior)
    rate = rate_of_convergence(found, h, prior=share)
    name = model.hypotheses[h]
    rival = relevant_hypothesis(found, h, prior=share)
    if rate <= 0.0:
        return PredictedRounds(
            math.inf, math.inf, rate, 0.0, 0.0, level, name, model.hypotheses[rival]
        )
    walks = _walks(found, h, log_prior, math.log(level) - math.log1p(-level))
    hardest = walks.rivals.index(rival)
    mean, std = _last_passage(walks)
    return PredictedRounds(
        mean,
        std,
        rate,
        float(walks.covariance[hardest, hardest]),
        float(walks.overshoots[hardest]),
        level,
        name,
        model.hypotheses[rival],
    )


class _Walks(NamedTuple):
    """The log-odds against every rival that no single datum excludes, as random walks.

    Attributes
    ----------
    rivals : list of int
        The positions of these rivals.
    climbs, means, overshoots : ndarray
        Each walk's distance from the level at the start, mean step, and mean overshoot, in nats.
    covariance : ndarray
        The covariance matrix of the steps.
    """

    rivals: list[int]
    climbs: Array
    means: Array
    overshoots: Array
    covariance: Array


def _walks(rule: Rule, h: int, log_prior: Array, level: float) -> _Walks:
    limit = rule.at_certainty(h)
    shown = limit.likelihood[:, h]
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
    """Return mean and standard deviation of the round by which all walks have passed the level."""
    from scipy.special import ndtr

    times = (walks.climbs + walks.overshoots) / walks.means
    # The standard deviation of a passage time is about that of the walk at this time, divided by
    # the mean step.
    common = np.minimum(walks.climbs[:, None] / walks.means[:, None], walks.climbs / walks.means)
    covariance = common * walks.covariance / np.outer(walks.means, walks.means)
    order = np.argsort(-times)
    mean, variance = float(times[order[0]]), float(covariance[order[0], order[0]])
    with_last = covariance[order[0]].copy()
    for j in order[1:]:
        # Clark (1961): the larger of two normal variables, and its covariance with a third.
        spread = math.sqrt(max(variance + covariance[j, j] - 2.0 * with_last[j], 0.0))
        if spread == 0.0:
            continue
        ahead = (mean - times[j]) / spread
        first, second = float(ndtr(ahead)), float(ndtr(-ahead))
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
    """Return the mean excess of a random walk over a high level when it first passes the level.

    With H the first positive value of the walk (its ladder height), the result is
    ``E H**2 / (2 E H)``. On a lattice the excess varies with the level; the result is its mean over
    all levels. The distribution of the walk before H is computed on a grid; the probability of each
    step is divided between two grid points so that the mean step is kept.
    If the grid would need more than MOST_CELLS cells, the result is an upper bound, the mean square
    of a step divided by twice its mean. The smallest mean step used is LEAST_DRIFT times the
    root-mean-square step: the overshoot hardly depends on the mean step, and a smaller mean step
    needs a larger grid.

    Parameters
    ----------
    shares, steps
        The probabilities of the possible steps, and these steps in nats, (n,) each; the mean step
        is positive.
    """
    mean = float(shares @ steps)
    square = float(shares @ steps**2)
    if not steps.min() < 0.0:
        return square / (2.0 * mean)
    steps = steps + max(LEAST_DRIFT * math.sqrt(square) - mean, 0.0)
    mean, square = float(shares @ steps), float(shares @ steps**2)
    width = math.sqrt(square) / CELLS
    # The grid ends at a depth that the walk reaches with a probability of at most about e^-40.
    size = math.ceil(max(20.0 * square / mean, -2.0 * steps.min()) / width) + 1
    if size > MOST_CELLS:  # the first term of Spitzer's identity
        return square / (2.0 * mean)
    whole = np.floor(steps / width)
    kernels = [
        (int(shift + more), float(share * weight))
        for share, shift, part in zip(shares, whole, steps / width - whole, strict=True)
        for more, weight in ((0, 1.0 - part), (1, part))
        if share * weight > 0.0
    ]
    # mass[i]: the probability that the walk is at -i * width and has not been above zero.
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
