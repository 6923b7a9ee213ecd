"""Response models as array functions: from utilities to probabilities, with derivatives.

Rows are responses (t), options are what could have been answered (k), parameters are (p).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes.people._learners import Smooth

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Positions = NDArray[np.int64]


Role = str | tuple[str, int] | None
"""What a free parameter does; see `choose`."""


class Options(NamedTuple):
    """What could have been answered.

    Attributes
    ----------
    log_base : ndarray
        (t, k): log weights before utilities; minus infinity where an option is not available.
    allowed : ndarray
        (t, k): options to choose from evenly where every utility is minus infinity.
    features : ndarray
        (t, k, f).
    """

    log_base: Array
    allowed: Flags
    features: Array

    def take(self, rows: Positions) -> Options:
        """Return some rows."""
        return Options(self.log_base[rows], self.allowed[rows], self.features[rows])


class Responses(NamedTuple):
    """Per row: probabilities of the options (t, k) and their derivatives (p, t, k)."""

    probability: Array
    derivative: Array


class Rows(NamedTuple):
    """Per row: log-likelihood (t,), gradient (t, p) and expected information (t, p, p)."""

    value: Array
    gradient: Array
    information: Array


class Scores(NamedTuple):
    """What `choose` needs of utilities and options, worked out once where neither changes.

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


def prepare(utility: Smooth, options: Options) -> Scores:
    """Return the scores of utilities (t, k), which are minus infinity for what only lapses bring.

    Parameters
    ----------
    utility
        With tangents along inner parameters.
    options
        What could have been answered.
    """
    available = np.isfinite(options.log_base)
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


def choose(
    scores: Scores, rationality: Array, lapse: Array, weights: Array, free: Sequence[Role]
) -> Responses:
    """Return ``(1 - lapse) softmax(rationality * utility + features) + lapse / available``.

    Parameters
    ----------
    scores
        Utilities and options.
    rationality, lapse, weights
        (t,), (t,) and (t, f).
    free
        What to differentiate by: "rationality", "lapse", ("weight", i), ("inner", i), or None for
        a parameter that plays no part here.
    """
    choice = rationality[:, None] * scores.utility
    choice += scores.log_base
    if scores.features.shape[2]:
        choice += np.einsum("tkf,tf->tk", scores.features, weights)
    choice -= choice.max(axis=1, keepdims=True)
    np.exp(choice, out=choice)
    choice /= choice.sum(axis=1, keepdims=True)
    attentive = (1.0 - lapse[:, None]) * choice
    probability = attentive + lapse[:, None] * scores.even
    derivative = np.zeros((len(free), *probability.shape))
    for position, name in enumerate(free):
        if name == "lapse":
            np.subtract(scores.even, choice, out=derivative[position])
        elif name is not None:
            slope = _slope(name, scores, rationality)
            np.subtract(
                slope, (choice * slope).sum(axis=1, keepdims=True), out=derivative[position]
            )
            derivative[position] *= attentive
    return Responses(probability, derivative)


def _slope(name: str | tuple[str, int], scores: Scores, rationality: Array) -> Array:
    """Return the derivative of the scores inside the softmax by one parameter."""
    if isinstance(name, str):
        return scores.utility  # the rationality's; the lapse is outside of the softmax
    kind, position = name
    if kind == "weight":
        return scores.features[..., position]
    return rationality[:, None] * scores.tangents[position]


def draw_many(probability: Array, uniform: Array) -> Positions:
    """Return one option of every row; one with probability zero is never drawn."""
    sums = np.cumsum(probability, axis=1)
    drawn = (sums <= (uniform * sums[:, -1])[:, None]).sum(axis=1)
    last = probability.shape[1] - 1 - np.argmax(probability[:, ::-1] > 0.0, axis=1)
    return np.minimum(drawn, last)


def answered(responses: Responses, answer: Positions) -> Rows:
    """Return the rows of answers that are one of the options."""
    every = np.arange(len(answer))
    probability, derivative = responses
    chosen = probability[every, answer]
    with np.errstate(divide="ignore"):
        value = np.log(chosen)
    gradient = (derivative[:, every, answer] / np.where(chosen > 0.0, chosen, 1.0)).T
    relative = derivative / np.where(probability > 0.0, probability, np.inf)
    information = np.empty((len(answer), len(derivative), len(derivative)))
    for p in range(len(derivative)):
        for q in range(p + 1):
            # Pair by pair is several times faster than one product with three free indices.
            information[:, p, q] = np.einsum("tk,tk->t", relative[p], derivative[q])
            information[:, q, p] = information[:, p, q]
    return Rows(value, gradient, information)


def rated(
    responses: Responses, hypothesis: Positions, rating: Array, noise: Array, noise_at: int | None
) -> Rows:
    """Return the rows of ratings: the belief plus a normal error, cut at 0 and at 1.

    Parameters
    ----------
    responses
        What the probability of a guess would be.
    hypothesis, rating
        What was rated, and how, between 0 and 1.
    noise
        (t,): standard deviation.
    noise_at
        Position of the noise among the free parameters; None if it is fixed.
    """
    from scipy.special import log_ndtr

    every = np.arange(len(rating))
    slope = responses.derivative[:, every, hypothesis].T
    z = (rating - responses.probability[every, hypothesis]) / noise
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
    return Rows(value, gradient, information)
