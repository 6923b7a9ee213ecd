"""Which model is the most frequent one among people: exceedance probabilities, by integration.

The population is a Dirichlet distribution over models (Stephan et al. 2009, NeuroImage 46:1004);
protection against chance is that of Rigoux et al. (2014, NeuroImage 84:971). Exceedance
probabilities are integrals, not counts of samples, so they have no noise floor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.tables import as_floats
from cobayes._output import freeze
from cobayes.errors import CobayesError

Array = NDArray[np.float64]

MAX_ITERATIONS = 10_000
TOLERANCE = 1e-12
# The integrand is followed until it has fallen by this many powers of e.
DEPTH_OF_TAILS = 60.0
NUM_NODES = 801


@dataclass(frozen=True, eq=False)
class Exceedance:
    """How frequent each model is in the population.

    Attributes
    ----------
    frequencies : ndarray
        (models,): expected shares of people.
    exceedance : ndarray
        (models,): probability that a model is more frequent than every other.
    log_exceedance : ndarray
        Their logarithms, exact where the probabilities underflow.
    protected : ndarray
        (models,): the same, mixed with chance by the omnibus risk.
    omnibus_risk : float
        Probability that all models are equally frequent and differences are chance.
    counts : ndarray
        (models,): the Dirichlet distribution's parameters.
    attributions : ndarray
        (people, models): probability that each model is a person's own.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.people.exceedance([[-10.0, -12.0], [-9.0, -13.0]]).frequencies.round(2)
    array([0.74, 0.26])
    """

    frequencies: Array
    exceedance: Array
    log_exceedance: Array
    protected: Array
    omnibus_risk: float
    counts: Array
    attributions: Array

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        shares = ", ".join(f"{value:.3g}" for value in self.protected)
        return f"Exceedance(protected: {shares}; omnibus risk {self.omnibus_risk:.3g})"


def exceedance(log_evidence: Any) -> Exceedance:
    """Return how frequent models are among people, from the evidence of each for each person.

    Parameters
    ----------
    log_evidence
        (people, models): log evidences, or approximations such as -BIC / 2.

    Returns
    -------
    Exceedance
        Frequencies of the models and the probabilities that each is the most frequent, (models,).

    Examples
    --------
    >>> from cobayes import people
    >>> people.exceedance([[-10.0, -14.0], [-11.0, -15.0], [-9.0, -12.0]]).exceedance.round(3)
    array([0.935, 0.065])
    """
    evidence = as_floats(log_evidence, copy=False, name="log evidence")
    if evidence.ndim != 2 or min(evidence.shape) < 1 or not np.isfinite(evidence).all():
        raise CobayesError(
            f"the log evidence has shape {evidence.shape} or entries that are not finite; expected "
            "one finite number for each person (row) and model (column)."
        )
    counts, attributions, free_energy = _variational(evidence)
    num_people, num_models = evidence.shape
    null = float(_log_sum(evidence).sum() - num_people * np.log(num_models))
    risk = float(np.exp(-np.logaddexp(0.0, free_energy - null)))
    logs = log_exceedance(counts)
    chances = np.exp(logs)
    return Exceedance(
        frequencies=counts / counts.sum(),
        exceedance=chances,
        log_exceedance=logs,
        protected=(1.0 - risk) * chances + risk / num_models,
        omnibus_risk=risk,
        counts=counts,
        attributions=attributions,
    )


def _log_sum(logs: Array) -> Array:
    peak = logs.max(axis=1, keepdims=True)
    return (peak + np.log(np.exp(logs - peak).sum(axis=1, keepdims=True)))[:, 0]


def _variational(evidence: Array) -> tuple[Array, Array, float]:
    """Return Dirichlet counts, attributions and the free energy of the random-effects model."""
    from scipy.special import digamma, gammaln, xlogy

    num_models = evidence.shape[1]
    counts = np.ones(num_models) + len(evidence) / num_models
    for _ in range(MAX_ITERATIONS):
        expected = digamma(counts) - digamma(counts.sum())
        scores = evidence + expected
        attributions = np.exp(scores - _log_sum(scores)[:, None])
        new = 1.0 + attributions.sum(axis=0)
        change = np.abs(new - counts).max()
        counts = new
        if change < TOLERANCE * counts.sum():
            break
    expected = digamma(counts) - digamma(counts.sum())
    # The prior is flat: all its counts are one.
    joint = gammaln(num_models) + (attributions * (expected + evidence)).sum()
    entropy_shares = gammaln(counts).sum() - gammaln(counts.sum()) - ((counts - 1) * expected).sum()
    entropy_models = -xlogy(attributions, attributions).sum()
    return counts, attributions, float(joint + entropy_shares + entropy_models)


def log_exceedance(counts: Array) -> Array:
    """Return log P(share k exceeds all others) under a Dirichlet distribution, for every k.

    Shares are independent gamma variables divided by their sum, so the probability is the integral
    of one gamma density times the distribution functions of the others. In the logarithm of the
    variable the integrand is log-concave; the trapezoidal rule is exact to rounding on it.

    Parameters
    ----------
    counts
        (models,): the Dirichlet distribution's parameters, positive.
    """
    from scipy.special import gammaln

    logs = np.empty(len(counts))
    for k, own in enumerate(counts):
        others = np.delete(counts, k)

        def integrand(t: Array, own: float = own, others: Array = others) -> Array:
            x = np.exp(t)
            value = own * t - x - gammaln(own)
            for other in others:
                value = value + log_gamma_cdf(other, x)
            return value

        logs[k] = _log_integral(integrand, np.log(max(own, 1e-3)))
    # Each is right to rounding; together they are one.
    return logs - np.log(np.exp(logs).sum())


def _log_integral(integrand: Callable[[Array], Array], start: float) -> float:
    """Return the logarithm of the integral of exp(a concave function) over the line."""
    low, high = _support(integrand, start)
    nodes = np.linspace(low, high, NUM_NODES)
    values = integrand(nodes)
    peak = values.max()
    return float(peak + np.log(np.exp(values - peak).sum() * (nodes[1] - nodes[0])))


def _support(integrand: Callable[[Array], Array], start: float) -> tuple[float, float]:
    """Return an interval outside of which a concave function is far below its peak."""
    grid = start + np.linspace(-12.0, 12.0, 481)
    values = integrand(grid)
    middle, peak = float(grid[np.argmax(values)]), float(values.max())
    ends = []
    for sign in (-1.0, 1.0):
        step = 0.05
        while peak - float(integrand(np.array([middle + sign * step]))[0]) < DEPTH_OF_TAILS:
            step *= 1.3
        ends.append(middle + sign * step)
    return ends[0], ends[1]


def log_gamma_cdf(shape: float, x: Array) -> Array:
    """Return the logarithm of the gamma distribution function, accurate in both tails."""
    from scipy.special import gammainc, gammaincc, gammaln

    lower = gammainc(shape, x)
    upper = gammaincc(shape, x)
    with np.errstate(divide="ignore"):
        logs = np.where(lower > 0.5, np.log1p(-upper), np.log(lower))
    tiny = lower < 1e-280
    if tiny.any():
        small = x[tiny]
        term, total = np.ones_like(small), np.ones_like(small)
        for k in range(1, 500):
            term = term * small / (shape + k)
            total = total + term
            if (term < 1e-17 * total).all():
                break
        logs[tiny] = shape * np.log(small) - small - gammaln(shape + 1.0) + np.log(total)
    return logs
