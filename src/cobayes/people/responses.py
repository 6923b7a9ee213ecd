"""Responses: from the utilities of options to probabilities, log-likelihoods and derivatives.

Rows are responses (t), options are what could have been answered (k), parameters are (p).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.people.family import Family
from cobayes.people.learner import Smooth, Tables, constant
from cobayes.people.problems import Problem

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Positions = NDArray[np.int64]
History = tuple[int, ...]

# Derivatives of smaller probabilities are cut: their squares must not overflow.
SMALLEST_PROBABILITY = 1e-100


class Evaluation(NamedTuple):
    """Log-likelihood (u,), gradient (u, p) and expected information (u, p, p) of units or rows."""

    value: Array
    gradient: Array
    information: Array


class Options(NamedTuple):
    """What could be answered to each of q questions.

    Attributes
    ----------
    log_base : ndarray
        (q, k): log weights before utilities; minus infinity where an option is not available.
    allowed : ndarray
        (q, k): options to choose from evenly where every utility is minus infinity.
    features : ndarray
        (q, k, f).
    """

    log_base: Array
    allowed: Flags
    features: Array

    def take(self, questions: Positions) -> Options:
        """Return some questions."""
        return Options(self.log_base[questions], self.allowed[questions], self.features[questions])

    @property
    def available(self) -> Flags:
        """Options that can be answered, by a lapse at least."""
        return np.isfinite(self.log_base)


class Scores(NamedTuple):
    """Utilities and options, ready for the softmax.

    Attributes
    ----------
    utility : ndarray
        (t, k), zero where it is minus infinity.
    tangents : ndarray
        (q, t, k): derivatives of the utilities along inner parameters, zero where impossible.
    log_base : ndarray
        (t, k): minus infinity for what only a lapse can bring.
    even : ndarray
        (t, k): probabilities of a lapse.
    features : ndarray
        (t, k, f).
    """

    utility: Array
    tangents: Array
    log_base: Array
    even: Array
    features: Array

    def take(self, rows: Positions) -> Scores:
        """Return some rows."""
        return Scores(
            self.utility[rows],
            self.tangents[:, rows],
            self.log_base[rows],
            self.even[rows],
            self.features[rows],
        )


def make_options(
    family: Family,
    depth: float,
    tables: Tables,
    index: Positions,
    truth: Positions,
    situations: Sequence[tuple[Problem, History]],
) -> Options:
    """Return the options of some situations.

    Parameters
    ----------
    family, depth
        The person's.
    tables, index
        The table of every situation.
    truth
        (q,): the hypothesis that is taught; it plays no part for learners.
    situations
        Problem and history.
    """
    if not family.is_teacher:
        counts = np.array([problem.model.num_hypotheses for problem, _ in situations])
        available = np.arange(tables.num_hypotheses) < counts[:, None]
        log_base = np.where(available, 0.0, -np.inf)
        return Options(log_base, available, np.zeros((*log_base.shape, 0)))
    log_base = tables.log_data_prior[index]
    available = np.isfinite(log_base)
    if depth == 0:
        # The literal teacher knows which data are available, not how likely they are.
        log_base = np.where(available, 0.0, -np.inf)
    allowed = np.isfinite(tables.log_matrix[index, :, truth]) & available
    allowed = np.where(allowed.any(axis=1, keepdims=True), allowed, available)
    features = np.zeros((*log_base.shape, len(family.features or {})))
    known: dict[tuple[str, str, History], Array] = {}
    for column, (name, feature) in enumerate((family.features or {}).items()):
        for row, (problem, history) in enumerate(situations):
            key = (name, problem.name, history if callable(feature) else ())
            if key not in known:
                known[key] = _feature_values(name, feature, problem, history)
            features[row, : len(known[key]), column] = known[key]
    return Options(log_base, allowed, features)


def _feature_values(name: str, feature: Any, problem: Problem, history: History) -> Array:
    """Return a feature's numbers, one per datum, or say what is wrong with them."""
    if callable(feature):
        found = feature(problem.model, history)
    else:
        found = feature.get(problem.name) if hasattr(feature, "get") else feature
    try:
        values = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape != (problem.model.num_data,) or not np.isfinite(values).all():
        raise CobayesError(
            f"the feature {name!r} gives {found!r} for problem {problem.name!r}; expected "
            f"{problem.model.num_data} finite numbers, one for each datum."
        )
    return values


def utilities(
    family: Family,
    depth: float,
    tables: Tables,
    index: Positions,
    posterior: Smooth,
    places: Positions,
    about: Positions,
) -> Smooth:
    """Return the utilities of the options, (q, k); minus infinity for what only lapses bring.

    Parameters
    ----------
    family, depth
        The person's.
    tables, index
        The table of every question.
    posterior
        (b, n, m): of the learner in mind.
    places
        (q,): the situation, among b, of every question.
    about
        (q,): the truth for teachers, the datum for learners.
    """
    value, tangents = posterior
    if not family.is_teacher:
        return Smooth(value[places, about], tangents[:, places, about])
    if depth == 0:
        return constant(tables.log_likelihood[index, :, about], len(tangents))
    # Two advanced indices that stand together keep the order of the other axes.
    return Smooth(
        value.transpose(0, 2, 1)[places, about], tangents.transpose(0, 1, 3, 2)[:, places, about]
    )


def prepare(utility: Smooth, options: Options) -> Scores:
    """Return the scores of utilities (t, k), with tangents along inner parameters."""
    available = options.available
    is_finite = np.isfinite(utility.value)
    possible = is_finite & available
    # Where the learner in mind has ruled the truth out, all data that go with it are equally good.
    hopeless = ~possible.any(axis=1)
    possible[hopeless] = options.allowed[hopeless]
    return Scores(
        np.where(is_finite, utility.value, 0.0),
        np.where(possible, utility.tangents, 0.0),
        np.where(possible, options.log_base, -np.inf),
        available / available.sum(axis=1, keepdims=True),
        options.features,
    )


def choose(scores: Scores, exponent: Array, weights: Array) -> Array:
    """Return ``softmax(exponent * utility + weights * features)``, (t, k), without lapses.

    Parameters
    ----------
    scores
        Utilities and options.
    exponent, weights
        (t,) and (t, f).
    """
    choice = exponent[:, None] * scores.utility
    choice += scores.log_base
    if scores.features.shape[2]:
        choice += np.einsum("tkf,tf->tk", scores.features, weights)
    choice -= choice.max(axis=1, keepdims=True)
    np.exp(choice, out=choice)
    choice /= choice.sum(axis=1, keepdims=True)
    return choice


def draw_many(probability: Array, uniform: Array) -> Positions:
    """Return one option of every row; one with probability zero is never drawn."""
    sums = np.cumsum(probability, axis=1)
    drawn = (sums <= (uniform * sums[:, -1])[:, None]).sum(axis=1)
    last = probability.shape[1] - 1 - np.argmax(probability[:, ::-1] > 0.0, axis=1)
    return np.minimum(drawn, last)


def answered(probability: Array, derivative: Array, answer: Positions) -> Evaluation:
    """Return the rows of answers that are one of the options."""
    every = np.arange(len(answer))
    chosen = probability[every, answer]
    with np.errstate(divide="ignore"):
        value = np.log(chosen)
    gradient = (derivative[:, every, answer] / np.maximum(chosen, SMALLEST_PROBABILITY)).T
    relative = derivative / np.maximum(probability, SMALLEST_PROBABILITY)
    information = np.empty((len(answer), len(derivative), len(derivative)))
    for p in range(len(derivative)):
        for q in range(p + 1):
            # Pair by pair is several times faster than one product with three free indices.
            information[:, p, q] = np.einsum("tk,tk->t", relative[p], derivative[q])
            information[:, q, p] = information[:, p, q]
    return Evaluation(value, gradient, information)


def rated(
    rating: Array, believed: Array, slope: Array, noise: Array, noise_at: int | None
) -> Evaluation:
    """Return the rows of ratings: the belief plus a normal error, cut at 0 and at 1.

    Parameters
    ----------
    rating
        (t,), between 0 and 1.
    believed, slope
        (t,) and (t, p): the rating without an error, and its derivatives.
    noise
        (t,): standard deviation.
    noise_at
        Position of the noise among the free parameters; None if it is fixed.
    """
    from scipy.special import log_ndtr

    z = (rating - believed) / noise
    low, high = rating <= 0.0, rating >= 1.0
    log_density = -0.5 * z**2 - 0.5 * np.log(2.0 * np.pi)
    value = np.where(low, log_ndtr(z), np.where(high, log_ndtr(-z), log_density - np.log(noise)))
    hazard_low = np.exp(np.where(low, log_density - log_ndtr(z), 0.0))
    hazard_high = np.exp(np.where(high, log_density - log_ndtr(-z), 0.0))
    by_z = np.where(low, hazard_low, np.where(high, -hazard_high, -z))
    gradient = -(by_z / noise)[:, None] * slope
    information = np.einsum("tp,tq->tpq", slope, slope) / (noise**2)[:, None, None]
    if noise_at is not None:
        gradient[:, noise_at] = -by_z * z / noise - np.where(low | high, 0.0, 1.0 / noise)
        information[:, noise_at, noise_at] = 2.0 / noise**2
    return Evaluation(value, gradient, information)
