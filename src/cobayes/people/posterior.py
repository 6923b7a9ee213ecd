"""Draws from the posterior of the parameters under flat priors, for ArviZ and predictive checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from cobayes._input.tables import as_floats
from cobayes._input.validation import generator, instance, whole_number
from cobayes.errors import CobayesError
from cobayes.people.choices import read_choices, read_problems
from cobayes.people.family import Family, as_family
from cobayes.people.likelihood import Likelihood
from cobayes.people.model import draw_many
from cobayes.people.problems import Array, Positions

if TYPE_CHECKING:
    from cobayes.people.result import Fit

# Degrees of freedom of the candidates' t distribution, whose tails are heavier than normal ones.
DEGREES = 5
# Share of the candidates that come from the prior; they cover the whole range between the bounds.
PRIOR_SHARE = 0.25
# Candidates per draw, and the exponent of their weights, for each round of sampling. The first
# three rounds adapt the distribution of the candidates; with an exponent below one, more candidates
# have a notable weight.
STAGES = ((1, 0.25), (1, 0.5), (1, 1.0), (3, 1.0))
# Added to the variances of candidates on the logit scale, so that none is zero.
SMALLEST_VARIANCE = 1e-12
# The number of draws of the parameters in a predictive check, and of simulated studies per draw.
NUM_DRAWS, NUM_REPLICATES = 100, 4
BAND = (0.025, 0.975)


class LogLikelihood:
    """The log-likelihood of pooled responses at one depth, with its exact gradient.

    Calling the object with the free parameters, in the order of `names`, returns value and
    gradient. Samplers and optimisers that accept a user's function can call it (PyMC, NumPyro,
    emcee, `scipy.optimize`).

    Parameters
    ----------
    choices, problems, priors
        As in `score`.
    family
        A family with one depth.

    Attributes
    ----------
    names : tuple of str
        The free parameters.
    low, high : ndarray
        The bounds of the free parameters.

    Examples
    --------
    >>> from cobayes import people
    >>> choices = {"person": ["a"], "round": [1], "hypothesis": [0], "datum": [0]}
    >>> family = people.Family(depth=1, lapse=0.0)
    >>> density = people.LogLikelihood(choices, [[0.9, 0.5], [0.1, 0.5]], family)
    >>> density.names
    ('rationality',)
    >>> value, gradient = density([2.0])
    """

    def __init__(self, choices: Any, problems: Any, family: Family, *, priors: Any = None) -> None:
        family = as_family(family)
        if len(family.depth) != 1:
            raise CobayesError(
                f"the family has {len(family.depth)} depths; a differentiable function needs one.",
                "choose one, such as family.at(depth=1).",
            )
        table = read_choices(choices, read_problems(problems, priors), family.response)
        self._likelihood = Likelihood(table, family, family.depth[0], [np.arange(len(table))])
        self.names = self._likelihood.names
        self.low, self.high = self._likelihood.low, self._likelihood.high

    def __call__(self, parameters: ArrayLike) -> tuple[float, Array]:
        """Return log-likelihood and gradient; minus infinity and zeros outside of the bounds."""
        values = as_floats(parameters, copy=False, name="parameters")
        if values.shape != self.low.shape:
            raise CobayesError(
                f"the parameters have shape {values.shape}; expected {len(self.names)} numbers: "
                f"{', '.join(self.names)}."
            )
        if not ((values >= self.low) & (values <= self.high)).all():
            return -np.inf, np.zeros(len(values))
        found = self._likelihood.evaluate(values[None])
        return float(found.value[0]), found.gradient[0]


def draw_parameters(
    likelihood: Likelihood, start: Array, num_draws: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Draw parameters from the posterior under flat priors within the bounds.

    The method is adaptive importance sampling on the logit scale (`Likelihood.from_line`), where a
    flat prior is a logistic distribution. The first candidates come from the prior and from a t
    distribution: its centre is `start`, its scale matrix the inverse of the sum of the expected
    information and the prior's precision.

    Parameters
    ----------
    likelihood
        The likelihood at one depth of some units, such as people.
    start
        (u, p): the parameters of each unit at which its likelihood is largest.
    num_draws
        The number of draws per unit.
    random
        The random generator.

    Returns
    -------
    draws, effective : ndarray
        (num_draws, u, p), and (u,): the effective number of candidates, 1 / sum(weights ** 2). If
        it is far below `num_draws`, the draws do not represent the posterior well.
    """
    if not len(likelihood.names):
        return np.repeat(start[None], num_draws, axis=0), np.full(len(start), float(num_draws))
    # The centre keeps a distance of at least a fiftieth of the range from the bounds.
    places = (start - likelihood.low) / (likelihood.high - likelihood.low)
    centre = special.logit(np.clip(places, 0.02, 0.98))
    information = likelihood.on_line(centre).information
    # The logistic distribution has variance pi^2 / 3.
    covariance = np.linalg.inv(information + np.eye(len(likelihood.names)) * 3.0 / np.pi**2)

    def log_density(points: Array) -> Array:
        return likelihood.log_likelihoods(likelihood.from_line(points)) + log_logistic(points)

    draws, effective = sample(log_density, centre, covariance, num_draws, random)
    return likelihood.from_line(draws), effective


def sample(
    log_density: Callable[[Array], Array],
    centre: Array,
    covariance: Any,
    num_draws: int,
    random: np.random.Generator,
) -> tuple[Array, Array]:
    """Draw by adaptive importance sampling, for all units (u) at once.

    Candidates come from the prior and from a multivariate t distribution (`propose`), whose centre
    and scale matrix are the weighted mean and covariance of the preceding candidates. The draws are
    resampled from the last candidates, systematically by weight, and put in random order. A
    candidate may be drawn several times.

    Parameters
    ----------
    log_density
        A function from points (s, u, p) to log densities (s, u), which need not be normalised.
    centre, covariance
        (u, p) and (u, p, p): centre and scale matrix of the first t distribution.
    num_draws, random
        The number of draws per unit, and the random generator.

    Returns
    -------
    draws, effective : ndarray
        As in `draw_parameters`, but the draws are points for `log_density`.
    """
    for per_draw, power in STAGES:
        count = max(100, per_draw * num_draws)
        points, log_proposal = propose([(centre, covariance)], count, random)
        weights = special.softmax(power * (log_density(points) - log_proposal), axis=0)
        centre = np.einsum("su,sup->up", weights, points)
        covariance = np.einsum("su,sup,suq->upq", weights, points - centre, points - centre)
    ranks = (np.arange(num_draws) + random.random((len(centre), 1))) / num_draws
    draws = np.empty((num_draws, *centre.shape))
    for unit, rank in enumerate(ranks):
        chosen = np.searchsorted(np.cumsum(weights[:, unit]), rank * (1.0 - 1e-12))
        draws[:, unit] = points[random.permutation(chosen), unit]
    return draws, 1.0 / (weights**2).sum(axis=0)


def log_logistic(points: Array) -> Array:
    """Return the log density, in logits, of parameters with flat priors: (..., p) gives (...)."""
    return (special.log_expit(points) + special.log_expit(-points)).sum(axis=-1)


def propose(
    normals: Sequence[tuple[Array, Any]], count: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return candidates (s, u, p) from a mixture, in logits, and the mixture's log density (s, u).

    The share `PRIOR_SHARE` comes from the prior, the rest in equal parts from the t distributions.
    Each part is a Halton sequence, which is more uniform than independent draws, with a random
    shift for each unit.

    Parameters
    ----------
    normals
        Centres (u, p) and scale matrices (u, p, p) of the t distributions.
    count, random
        The approximate number of candidates, and the random generator.
    """
    from scipy.stats import qmc

    num_units, num_free = normals[0][0].shape

    def uniform(share: float) -> Array:
        halton = qmc.Halton(num_free + 1, rng=random).random(round(share * count))
        return (halton[:, None, :] + random.random((num_units, num_free + 1))) % 1.0

    points = [special.logit(np.maximum(uniform(PRIOR_SHARE)[..., 1:], 1e-300))]
    share, parts = (1.0 - PRIOR_SHARE) / len(normals), []
    for centre, covariance in normals:
        root = np.linalg.cholesky(covariance + SMALLEST_VARIANCE * np.eye(num_free))
        places = np.clip(uniform(share), 1e-300, 1.0 - 1e-16)
        scale = np.sqrt(special.chdtri(DEGREES, places[..., :1]) / DEGREES)
        z = special.ndtri(places[..., 1:]) / scale
        points.append(centre + np.einsum("upq,suq->sup", root, z))
        parts.append((centre, root))
    found = np.concatenate(points)
    densities = [np.log(share) + _log_student(found, *part) for part in parts]
    densities.append(np.log(PRIOR_SHARE) + log_logistic(found))
    return found, np.asarray(special.logsumexp(densities, axis=0))


def _log_student(points: Array, centre: Array, root: NDArray[Any]) -> Array:
    """Return log densities (s, u) of t distributions with these centres and Cholesky factors."""
    num_free = centre.shape[1]
    z = np.linalg.solve(root, (points - centre)[..., None])[..., 0]
    half = 0.5 * (DEGREES + num_free)
    log_t = special.gammaln(half) - special.gammaln(0.5 * DEGREES)
    log_t -= 0.5 * num_free * np.log(DEGREES * np.pi) + np.log(np.einsum("upp->up", root)).sum(1)
    return log_t - half * np.log1p((z**2).sum(axis=2) / DEGREES)


def calibration(
    fit: Fit, num_bins: int = 10, *, num_draws: int = NUM_DRAWS, rng: Any = 0
) -> pd.DataFrame:
    """Return predicted and observed frequencies of options, binned by predicted probability.

    This is a posterior predictive check. Parameters are drawn from the posterior under flat priors,
    as in ``fit.to_arviz``; every unit (such as a person) keeps its best depth. Every response is
    simulated with these parameters, given the data shown before it. If the fitted model is right,
    few observed frequencies are outside of their bands.

    Parameters
    ----------
    fit
        A fit of choices or guesses.
    num_bins
        The number of bins; the expected number of responses is about the same in every bin.
    num_draws, rng
        The number of draws of the parameters (four simulated sets of responses each), and a seed.

    Returns
    -------
    DataFrame
        One row per nonempty bin: the frequency ``predicted`` with the 95 % band from
        ``predicted_low`` to ``predicted_high``, the frequency ``observed``, and the number of
        options, ``num_options``.

    Examples
    --------
    >>> from cobayes import people
    >>> fit = people.fit(*people.example_study(), people.Family(depth=(0, 1)))
    >>> people.calibration(fit, num_bins=4).shape
    (4, 5)
    """
    whole_number(num_bins, "num_bins", 1)
    fitted, mean, available, drawn = replicate(fit, num_draws, rng)
    row, option = np.nonzero(available)
    order = np.argsort(fitted[row, option], kind="stable")
    row, option = row[order], option[order]
    # Every bin has about the same expected number of responses, so that rare options share a bin.
    share = np.cumsum(fitted[row, option])
    bins = np.zeros(fitted.shape, dtype=np.int64)
    bins[row, option] = np.minimum((share / share[-1] * num_bins).astype(int), num_bins - 1)
    every = np.arange(len(bins))
    chosen = (fit.choices.response, *drawn)
    counts = np.array([np.bincount(bins[every, own], minlength=num_bins) for own in chosen])
    sizes = np.bincount(bins[row, option], minlength=num_bins)
    expected = np.bincount(bins[row, option], weights=mean[row, option], minlength=num_bins)
    low, high = np.quantile(counts[1:], BAND, axis=0)
    names, used = ["predicted", "predicted_low", "predicted_high", "observed"], sizes > 0
    shares = np.stack([expected, low, high, counts[0]], axis=1)[used] / sizes[used, None]
    return pd.DataFrame(shares, columns=names).assign(num_options=sizes[used])


def replicate(
    fit: Fit, num_draws: int, rng: Any
) -> tuple[Array, Array, NDArray[np.bool_], Positions]:
    """Simulate t responses among k options, s = num_draws * NUM_REPLICATES times.

    Returns
    -------
    fitted, mean : ndarray
        (t, k): probabilities of all options at the estimates, and their means over the posterior.
    available : ndarray
        (t, k): whether the option is available.
    drawn : ndarray
        (s, t): positions of the options chosen in each replicate.
    """
    from cobayes.people.result import Fit  # at the top of the file the import would be circular

    if instance(fit, Fit, "fit", "what people.fit returns").family.response == "rating":
        raise CobayesError(
            "ratings have no options to count.",
            "compare the columns 'probability' and 'rating' of fit.trials.",
        )
    whole_number(num_draws, "num_draws", 1)
    random = generator(rng)
    num_options = fit.choices.situations.tables.log_matrix.shape[1 if fit.family.is_teacher else 2]
    fitted, mean, even = np.zeros((3, len(fit.choices), num_options))
    drawn = np.empty((num_draws, NUM_REPLICATES, len(fit.choices)), dtype=np.int64)
    for likelihood, _, parameters in fit.at_best():
        own = likelihood.rows
        even[own] = likelihood.scores(parameters).even
        fitted[own], _ = likelihood.responses(parameters)
        draws, _ = draw_parameters(likelihood, parameters, num_draws, random)
        for number, values in enumerate(draws):
            found, _ = likelihood.responses(values)
            mean[own] += found / num_draws
            for place in range(NUM_REPLICATES):
                drawn[number, place, own] = draw_many(found, random.random(len(own)))
    return fitted, mean, even > 0.0, drawn.reshape(-1, len(fit.choices))
