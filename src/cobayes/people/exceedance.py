"""Exceedance: the probability that a model is the most frequent one among people.

The posterior of the models' shares in the population is approximated by a Dirichlet distribution
(Stephan et al. 2009, NeuroImage 46:1004). Protected exceedance probabilities take into account that
all shares may be equal (Rigoux et al. 2014, NeuroImage 84:971). The probabilities are computed by
numerical integration, not by sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from cobayes._input.tables import as_floats
from cobayes._output import freeze
from cobayes.errors import CobayesError
from cobayes.people.problems import Array

# The variational fit stops when every Dirichlet parameter changes by less than TOLERANCE times the
# sum of the parameters.
MAX_ITERATIONS, TOLERANCE = 10_000, 1e-12
# The number of nodes of the trapezoidal rule in `exceedance_probabilities`. For Dirichlet
# parameters of 1 to 10,000 there are at least 45 nodes per standard deviation of log x, the
# variable of integration.
NUM_NODES = 2001


@dataclass(frozen=True, eq=False)
class Exceedance:
    """The frequencies of models in the population.

    Attributes
    ----------
    frequencies : ndarray
        (models,): expected share of people who follow each model.
    exceedance : ndarray
        (models,): probability that a model is more frequent than every other.
    protected : ndarray
        (models,): ``(1 - omnibus_risk) * exceedance + omnibus_risk / models``.
    omnibus_risk : float
        Probability that all models are equally frequent and the differences are due to chance.
    counts : ndarray
        (models,): parameters of the Dirichlet distribution of the models' shares.
    attributions : ndarray
        (people, models): probability that a person follows each model.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.people.exceedance([[-10.0, -12.0], [-9.0, -13.0]]).frequencies.round(2)
    array([0.74, 0.26])
    """

    frequencies: Array
    exceedance: Array
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
    """Return the frequencies of models among people, from the log evidence for each person.

    Parameters
    ----------
    log_evidence
        (people, models): log evidences, or approximations such as -BIC / 2.

    Returns
    -------
    Exceedance
        Frequencies of the models, and the probability that each is the most frequent, (models,).

    Examples
    --------
    >>> from cobayes import people
    >>> people.exceedance([[-10.0, -14.0], [-11.0, -15.0], [-9.0, -12.0]]).exceedance.round(3)
    array([0.935, 0.065])
    """
    evidence = as_floats(log_evidence, copy=False, name="log evidence")
    if evidence.ndim != 2 or min(evidence.shape) < 1 or not np.isfinite(evidence).all():
        raise CobayesError(
            f"the log evidence, of shape {evidence.shape}, is not a table of finite numbers; "
            "expected one finite number for each person (row) and model (column)."
        )
    # Only differences between models matter. Subtracting the maximum keeps more of their digits.
    evidence = evidence - evidence.max(axis=1, keepdims=True)
    counts, attributions, free_energy = _variational(evidence)
    num_people, num_models = evidence.shape
    null = float(np.logaddexp.reduce(evidence, axis=1).sum() - num_people * np.log(num_models))
    risk = float(np.exp(-np.logaddexp(0.0, free_energy - null)))
    chances = exceedance_probabilities(counts)
    protected = (1.0 - risk) * chances + risk / num_models
    return Exceedance(counts / counts.sum(), chances, protected, risk, counts, attributions)


def _variational(evidence: Array) -> tuple[Array, Array, float]:
    """Return Dirichlet counts, attributions and the free energy of the random-effects model."""
    from scipy.stats import dirichlet

    num_models = evidence.shape[1]
    counts = np.ones(num_models) + len(evidence) / num_models
    for _ in range(MAX_ITERATIONS):
        expected = special.digamma(counts) - special.digamma(counts.sum())
        attributions = special.softmax(evidence + expected, axis=1)
        old, counts = counts, 1.0 + attributions.sum(axis=0)
        if np.abs(counts - old).max() < TOLERANCE * counts.sum():
            break
    expected = special.digamma(counts) - special.digamma(counts.sum())
    # All parameters of the Dirichlet prior are one.
    joint = special.gammaln(num_models) + (attributions * (expected + evidence)).sum()
    entropy = dirichlet(counts).entropy() + special.entr(attributions).sum()
    return counts, attributions, float(joint + entropy)


def exceedance_probabilities(counts: Array) -> Array:
    """Return P(share k exceeds all other shares) under a Dirichlet distribution, for every k.

    Shares are independent gamma variables divided by their sum, so P is the integral over x of the
    density of gamma variable k times the distribution functions of the other variables. The
    trapezoidal rule in log x converges exponentially.

    Parameters
    ----------
    counts
        (models,): the Dirichlet distribution's parameters, positive.
    """
    found = np.empty(len(counts))
    for k, own in enumerate(counts):
        # The grid goes from the quantile 1e-20 to the quantile 1 - 1e-300 of gamma variable k.
        low, high = np.log([special.gammaincinv(own, 1e-20), special.gammainccinv(own, 1e-300)])
        t, step = np.linspace(low, high, NUM_NODES, retstep=True)
        x = np.exp(t)
        density = np.exp(own * t - x - special.gammaln(own))
        others = special.gammainc(np.delete(counts, k)[:, None], x).prod(axis=0)
        found[k] = step * (density * others).sum()
    return found / found.sum()
