"""Hierarchical fits: people of one group are alike, and each is estimated with the help of all.

On the whole line (`Likelihood.from_line`: logits of the places between the bounds) the parameters
of people are normal around the group's; depths have shares. Flat priors: the group's median lies
anywhere between the bounds, its standard deviation on the line anywhere in `SPREAD`, and all shares
of depths are equally likely (a Dirichlet distribution of ones).

Axes: draws of the group (g), people (u), candidates (n) for a person's parameters and depth, depths
(k), free parameters (p).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from cobayes._input.validation import generator, whole_number
from cobayes.errors import CobayesError, import_optional
from cobayes.people.family import Family, depth_name
from cobayes.people.fit import Progress, fit, maximise, silent
from cobayes.people.model import Evaluation, Likelihood, draw_many
from cobayes.people.posterior import DEGREES, log_logistic, log_student, sample
from cobayes.people.problems import Positions
from cobayes.people.result import Fit

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

# Standard deviations between people: below the first they are alike for every practical purpose;
# with the second most people are near one of the two bounds.
SPREAD = (0.1, 3.0)
# Steps of expectation maximisation: they only say where candidates are looked for.
NUM_STEPS = 10
# Candidates per person and depth, within limits: so many for all people and depths together that a
# draw of the group takes about a millisecond.
NUM_CANDIDATES, FEWEST, MOST = 60_000, 256, 2048
# Times that candidates are drawn anew around what the draws before have found.
NUM_ROUNDS = 2
# Ends of the line that modes are looked for on: parameters there are at their bounds.
LINE_END = 12.0
# Candidates come from normal approximations in groups whose spread is that many times the likeliest
# one's: draws of the group have other spreads.
FACTORS = (1.0 / 3.0, 1.0, 3.0)
# Of NUTS: draws that adapt it, chains, and blocks of draws between two reports of progress.
NUM_WARMUP, NUM_CHAINS, NUM_BLOCKS = 300, 4, 4
INTERVAL = (0.025, 0.975)


@dataclass(frozen=True, eq=False, repr=False)
class GroupFit:
    """A hierarchical fit.

    Attributes
    ----------
    fit : Fit
        The same people one by one, by maximum likelihood.
    draws : dict of ndarray
        Draws of the posterior, with leading axes chain and draw. Of the group: ``median`` (p) in
        the units of the parameters, ``spread`` (p), the standard deviation of logits, and ``share``
        (k). Of people: every free parameter (u), and ``depth`` (u).
    depth_probability : ndarray
        (u, k): the posterior of every person's depth.
    effective : ndarray
        (u,): the effective number of candidates behind the draws of every person (of draws with
        NUTS); values below 50 mean that the draws are poor.
    group_effective : float or ndarray
        The effective number of draws of the group; with NUTS of each quantity in `group`.
    r_hat : ndarray or None
        With NUTS: of each quantity in `group`.

    Examples
    --------
    >>> import cobayes as cb
    >>> family = cb.people.Family(depth=(0, 1), lapse=0.05)
    >>> cb.people.fit_group(*cb.people.example_study(), family, num_draws=100, rng=1)
    GroupFit(person: 3; responses: 15; depths: 0, 1; draws: 100)
    """

    fit: Fit
    draws: dict[str, Array]
    depth_probability: Array
    effective: Array
    group_effective: Array | float
    r_hat: Array | None = None

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """One row per person: likeliest depth, posterior means, 95 % intervals, depth posterior."""
        pandas = import_optional("pandas", "people", "a table of estimates")
        depths = self.fit.family.depth
        columns: dict[str, Any] = {"person": self.fit.units}
        columns["depth"] = np.array(depths, dtype=np.float64)[self.depth_probability.argmax(axis=1)]
        for name in self.fit.family.free_names():
            values = self.draws[name]
            columns[name] = values.mean(axis=(0, 1))
            ends = np.quantile(values, INTERVAL, axis=(0, 1))
            columns[f"{name}_low"], columns[f"{name}_high"] = ends
        for number, depth in enumerate(depths):
            columns[f"depth_{depth_name(depth)}"] = self.depth_probability[:, number]
        return pandas.DataFrame(columns | {"effective": self.effective})

    @cached_property
    def group(self) -> pd.DataFrame:
        """The group: medians and spreads of the parameters, shares of depths, 95 % intervals."""
        pandas = import_optional("pandas", "people", "a table of the group")
        names = self.fit.family.free_names()
        labels = {
            "median": [f"median {name}" for name in names],
            "spread": [f"spread {name}" for name in names],
            "share": [f"share of depth {depth_name(depth)}" for depth in self.fit.family.depth],
        }
        values = np.concatenate([self.draws[kind] for kind in labels], axis=2)
        low, high = np.quantile(values, INTERVAL, axis=(0, 1))
        columns = {"estimate": values.mean(axis=(0, 1)), "low": low, "high": high}
        columns["effective"] = self.group_effective
        if self.r_hat is not None:
            columns["r_hat"] = self.r_hat
        return pandas.DataFrame(columns, index=[text for own in labels.values() for text in own])

    def to_arviz(self) -> Any:
        """Return the draws for ArviZ, with the coordinates person, depth and parameter."""
        arviz = import_optional("arviz_base", "people", "to_arviz()")
        names, depths = self.fit.family.free_names(), self.fit.family.depth
        return arviz.from_dict(
            {
                "posterior": self.draws,
                "constant_data": {
                    "depth_probability": self.depth_probability,
                    "effective": self.effective,
                },
            },
            coords={
                "person": [str(unit) for unit in self.fit.units],
                "depth": [depth_name(depth) for depth in depths],
                "parameter": list(names),
            },
            dims={key: ["person"] for key in (*names, "person_depth", "effective")}
            | {"median": ["parameter"], "spread": ["parameter"], "share": ["depth"]}
            | {"depth_probability": ["person", "depth"]},
        )

    def draw_next(self, count: int, random: np.random.Generator) -> tuple[Positions, Array]:
        """Return depths (positions) and all parameters, (s, names), of the group's next people."""
        family, names = self.fit.family, self.fit.family.free_names()
        columns = [family.names.index(name) for name in names]
        low, high = family.low[columns], family.high[columns]
        median, spread, share = (
            self.draws[name].reshape(-1, self.draws[name].shape[-1])
            for name in ("median", "spread", "share")
        )
        drawn = random.integers(len(share), size=count)
        line = special.logit((median[drawn] - low) / (high - low))
        line += spread[drawn] * random.standard_normal(line.shape)
        values = np.tile(family.low, (count, 1))
        values[:, columns] = low + (high - low) * special.expit(line)
        return draw_many(share[drawn], random.random(count)), values

    def __repr__(self) -> str:
        count = self.draws["share"][..., 0].size
        return f"Group{repr(self.fit).rpartition(';')[0]}; draws: {count:,})"


def fit_group(
    choices: Any,
    problems: Any,
    family: Family | None = None,
    method: Literal["laplace", "nuts"] = "laplace",
    rng: Any = None,
    *,
    priors: Any = None,
    num_draws: int = 1000,
    progress: Progress | None = None,
) -> GroupFit:
    """Fit a hierarchical model: people's parameters are normal around their group's.

    People about whom the responses say little are drawn towards the group. A person's depth is
    summed out.

    Parameters
    ----------
    choices, problems, priors
        As in `score`.
    family
        As in `fit`. The normal distributions are those of logits between its bounds.
    method
        "laplace": a normal approximation for every person at every depth, corrected by importance
        sampling. "nuts": four chains of NumPyro's sampler, which takes far longer
        (``pip install '.[people-groups]'``; the learner in mind must be fixed).
    rng
        Anything that `numpy.random.default_rng` takes.
    num_draws
        Draws of the posterior.
    progress
        Called with a text and the share done.

    Returns
    -------
    GroupFit
        Estimates of people and of the group, and draws.

    Examples
    --------
    >>> from cobayes import people
    >>> family = people.Family(depth=(0, 1), lapse=0.05)
    >>> found = people.fit_group(*people.example_study(), family, num_draws=100, rng=1)
    >>> found.group.index.tolist()
    ['median rationality', 'spread rationality', 'share of depth 0', 'share of depth 1']
    """
    if method not in ("laplace", "nuts"):
        raise CobayesError(f"method is {method!r}; expected 'laplace' or 'nuts'.")
    if method == "nuts":
        import_optional("numpyro", "people-groups", 'method="nuts"')
    whole_number(num_draws, "num_draws", 1)
    random, tell = generator(rng), progress or silent
    alone = fit(
        choices,
        problems,
        family,
        priors=priors,
        intervals=None,
        progress=lambda text, share: tell(f"one by one, {text}", 0.2 * share),
    )
    if len(alone.family.depth) == 1 and not alone.family.free_names():
        raise CobayesError(
            "the family has one depth and no free parameter.", "free one: rationality=(0.0, 20.0)."
        )
    tell("normal approximations", 0.2)
    mean, spread = _approximate_group(alone)
    candidates = _candidates(alone, mean, spread, random)
    for _ in range(NUM_ROUNDS):
        # Normal approximations of few responses are off: candidates go where the draws are.
        group = _Group.from_line(_sample_group(candidates, 100, random)[0], len(mean))
        mean, spread = group.mean.mean(axis=0), group.spread.mean(axis=0)
        candidates = _candidates(alone, mean, spread, random)
    if method == "nuts":
        found = _nuts(alone, candidates.start, num_draws, random, tell)
    else:
        tell("draws of the group", 0.6)
        lines, effective = _sample_group(candidates, num_draws, random)
        tell("draws of people", 0.8)
        found = _draw_people(alone, candidates, lines, effective, random)
    tell("done", 1.0)
    return found


class _Group(NamedTuple):
    """Values of the group: mean (..., p) and spread (..., p) on the line, log share (..., k)."""

    mean: Array
    spread: Array
    log_share: Array

    @classmethod
    def from_line(cls, lines: Array, num_free: int) -> _Group:
        """Return the values of points (..., 2 p + k - 1) on the line.

        Flat priors are logistic distributions there: a share is broken off what is left of a stick.
        """
        mean, spread, sticks = np.split(lines, [num_free, 2 * num_free], axis=-1)
        # The part that is broken off, 1 - kept, is Beta(1, number of shares after it).
        log_kept = special.log_expit(-sticks) / np.arange(sticks.shape[-1], 0, -1)
        edge = np.zeros((*sticks.shape[:-1], 1))
        log_left = np.concatenate([edge, np.cumsum(log_kept, axis=-1)], axis=-1)
        log_broken = np.concatenate([np.log(-np.expm1(log_kept)), edge], axis=-1)
        low, high = SPREAD
        return cls(mean, low + (high - low) * special.expit(spread), log_left + log_broken)


class _Penalised:
    """The posterior of every unit on the line given a group, in the form that `maximise` takes."""

    def __init__(self, likelihood: Likelihood, mean: Array, spread: Array) -> None:
        self.likelihood, self.mean, self.spread = likelihood, mean, spread
        self.low, self.high = np.full((2, len(mean)), LINE_END) * [[-1.0], [1.0]]

    def take(self, units: Positions) -> _Penalised:
        return _Penalised(self.likelihood.take(units), self.mean, self.spread)

    def evaluate(self, points: Array) -> Evaluation:
        values = self.likelihood.from_line(points)
        value, gradient, information = self.likelihood.evaluate(values)
        width = self.likelihood.high - self.likelihood.low
        slope = width * special.expit(points) * special.expit(-points)
        z = (points - self.mean) / self.spread
        log_prior = (-0.5 * z**2 - np.log(self.spread) - 0.5 * np.log(2.0 * np.pi)).sum(axis=1)
        return Evaluation(
            value + log_prior,
            gradient * slope - z / self.spread,
            information * slope[:, :, None] * slope[:, None, :] + np.diag(self.spread**-2.0),
        )

    def approximate(self, start: Array) -> tuple[Array, Any, Array]:
        """Return modes (u, p), covariances (u, p, p) and log evidence (u,) of Laplace's method."""
        found = maximise(self, start, self.low, self.high)
        covariance = np.linalg.inv(found.information)
        volume = np.linalg.slogdet(2.0 * np.pi * covariance)[1]
        return found.parameters, covariance, found.value + 0.5 * volume


class _Candidates(NamedTuple):
    """Points on the line for every person, with what does not depend on the group.

    Attributes
    ----------
    points : ndarray
        (p, u, n); zero where a depth does not have the parameter.
    depth : ndarray
        (n,): the position of each candidate's depth.
    has : ndarray
        (k, p): whether a depth has a parameter.
    log_weight : ndarray
        (u, n): log-likelihoods less the log density that the points come from, up to a constant of
        each person. In single precision, which is enough for weights and twice as fast.
    start : ndarray
        (d,): a group to start from, on the line.
    """

    points: NDArray[np.float32]
    depth: Positions
    has: NDArray[np.bool_]
    log_weight: NDArray[np.float32]
    start: Array

    def weigh(self, group: _Group) -> NDArray[np.float32]:
        """Return log weights (u, n) of all candidates in one group."""
        precision = group.spread**-2.0
        normaliser = -0.5 * (precision * group.mean**2 + np.log(2.0 * np.pi / precision))
        constant = group.log_share + self.has @ normaliser
        found = self.log_weight + constant.astype(np.float32)[self.depth]
        slopes, squares = (precision * group.mean).tolist(), (0.5 * precision).tolist()
        for points, slope, square in zip(self.points, slopes, squares, strict=True):
            found += points * (slope - square * points)
        return found


def _approximate_group(alone: Fit) -> tuple[Array, Array]:
    """Return mean and spread (p,) by expectation maximisation with normal approximations."""
    family, names = alone.family, alone.family.free_names()
    likelihoods = [alone.likelihood(depth) for depth in family.depth]
    columns = [[names.index(name) for name in own.names] for own in likelihoods]
    has = np.array([[name in own.names for name in names] for own in likelihoods])
    shape = (len(alone.groups), *has.shape)
    mean, spread, share = np.zeros(shape[2]), np.ones(shape[2]), np.full(shape[1], 1.0 / shape[1])
    modes, variances, log_evidence = np.zeros(shape), np.ones(shape), np.empty(shape[:2])
    for _ in range(NUM_STEPS):
        for k, (likelihood, own) in enumerate(zip(likelihoods, columns, strict=True)):
            target = _Penalised(likelihood, mean[own], spread[own])
            modes[:, k, own], covariance, log_evidence[:, k] = target.approximate(modes[:, k, own])
            variances[:, k, own] = np.einsum("upp->up", covariance)
        weights = special.softmax(np.log(share) + log_evidence, axis=1)
        share = (weights.sum(axis=0) + 1.0) / (shape[0] + shape[1])
        weights = weights[:, :, None] * has
        # One person more, of the usual kind, keeps small groups from having no spread.
        total = weights.sum(axis=(0, 1)) + 1.0
        mean = (weights * modes).sum(axis=(0, 1)) / total
        squares = ((modes - mean) ** 2 + variances) * weights
        spread = np.sqrt((squares.sum(axis=(0, 1)) + 0.5) / total)
    return mean, spread


def _candidates(alone: Fit, mean: Array, spread: Array, random: np.random.Generator) -> _Candidates:
    """Return candidates around the modes of every person at every depth in a group."""
    names = alone.family.free_names()
    likelihoods = [alone.likelihood(depth) for depth in alone.family.depth]
    columns = [[names.index(name) for name in own.names] for own in likelihoods]
    has = np.array([[name in own.names for name in names] for own in likelihoods])
    shape = (len(alone.groups), *has.shape)
    count = int(np.clip(NUM_CANDIDATES // (shape[0] * shape[1]), FEWEST, MOST))
    points, log_weights = [], []
    for likelihood, own in zip(likelihoods, columns, strict=True):
        normals = [
            _Penalised(likelihood, mean[own], np.clip(factor * spread[own], *SPREAD)).approximate(
                np.tile(mean[own], (shape[0], 1))
            )
            for factor in FACTORS
        ]
        found, log_density = _propose([normal[:2] for normal in normals], count, random)
        log_likelihoods = likelihood.log_likelihoods(likelihood.from_line(found))
        log_weights.append((log_likelihoods - log_density - np.log(len(found))).T)
        points.append(np.zeros((shape[2], shape[0], len(found))))
        points[-1][own] = found.transpose(2, 1, 0)
    log_weight = np.concatenate(log_weights, axis=1)
    start = [
        mean,
        special.logit((np.clip(spread, 0.11, 2.9) - SPREAD[0]) / (SPREAD[1] - SPREAD[0])),
    ]
    return _Candidates(
        np.concatenate(points, axis=2).astype(np.float32),
        np.repeat(np.arange(shape[1]), [own.shape[2] for own in points]),
        has,
        (log_weight - log_weight.max(axis=1, keepdims=True)).astype(np.float32),
        np.concatenate([*start, np.zeros(shape[1] - 1)]),
    )


def _propose(
    normals: list[tuple[Array, Array]], count: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return candidates (s, u, p) from a mixture of t distributions, and their log density (s, u).

    They are spread more evenly than random ones: each part of the mixture has a Halton sequence,
    shifted at random for each unit.

    Parameters
    ----------
    normals
        Centres (u, p) and covariances (u, p, p) of all parts, which have equal weight.
    count, random
        The number of candidates, about, and the generator.
    """
    from scipy.stats import qmc

    num_units, num_free = normals[0][0].shape
    if not num_free:
        return np.empty((1, num_units, 0)), np.zeros((1, num_units))
    parts, roots = [], [np.linalg.cholesky(covariance) for _, covariance in normals]
    for (centre, _), root in zip(normals, roots, strict=True):
        halton = qmc.Halton(num_free + 1, rng=random).random(-(-count // len(normals)))
        uniform = (halton[:, None, :] + random.random((num_units, num_free + 1))) % 1.0
        scale = np.sqrt(special.chdtri(DEGREES, uniform[..., :1]) / DEGREES)
        z = special.ndtri(uniform[..., 1:]) / scale
        parts.append(centre + np.einsum("upq,suq->sup", root, z))
    points = np.concatenate(parts)
    densities = [
        log_student(points, centre, root) for (centre, _), root in zip(normals, roots, strict=True)
    ]
    return points, special.logsumexp(densities, axis=0) - np.log(len(normals))


def _sample_group(
    candidates: _Candidates, num_draws: int, random: np.random.Generator
) -> tuple[Array, float]:
    """Return draws of the group on the line (g, d), and how many they are worth."""
    num_free = candidates.has.shape[1]

    def log_density(line: Array) -> float:
        weights = candidates.weigh(_Group.from_line(line, num_free))
        peak = weights.max(axis=1, keepdims=True)
        total = np.exp(weights - peak, out=weights).sum(axis=1, dtype=np.float64)
        return float((np.log(total) + peak[:, 0]).sum() + log_logistic(line))

    # Steps of the derivatives are far above the rounding of single precision.
    found = optimize.minimize(
        lambda line: -log_density(line), candidates.start, options={"eps": 1e-2, "gtol": 1e-2}
    )

    def log_densities(lines: Array) -> Array:
        return np.array([[log_density(line) for line in own] for own in lines])

    draws, effective = sample(log_densities, found.x[None], found.hess_inv[None], num_draws, random)
    return draws[:, 0], float(effective[0])


def _draw_people(
    alone: Fit,
    candidates: _Candidates,
    lines: Array,
    group_effective: float,
    random: np.random.Generator,
) -> GroupFit:
    """Return the fit with draws of all people, one for each draw of the group."""
    family, names = alone.family, alone.family.free_names()
    every, num_units = np.arange(len(alone.groups)), len(alone.groups)
    people = np.empty((len(lines), num_units, len(names)))
    depth = np.empty((len(lines), num_units), dtype=np.int64)
    probability, effective = np.zeros((num_units, len(family.depth))), np.zeros(num_units)
    starts = np.searchsorted(candidates.depth, np.arange(len(family.depth)))
    for number, line in enumerate(lines):
        group = _Group.from_line(line, len(names))
        weights = candidates.weigh(group)
        np.exp(weights - weights.max(axis=1, keepdims=True), out=weights)
        weights /= weights.sum(axis=1, keepdims=True)
        probability += np.add.reduceat(weights, starts, axis=1) / len(lines)
        effective += 1.0 / np.einsum("un,un->u", weights, weights) / len(lines)
        chosen = draw_many(weights, random.random(num_units))
        depth[number] = candidates.depth[chosen]
        # A parameter that a depth does not have is as in the group.
        other = group.mean + group.spread * random.standard_normal((num_units, len(names)))
        own = candidates.points[:, every, chosen].T
        people[number] = np.where(candidates.has[depth[number]], own, other)
    group = _Group.from_line(lines, len(names))
    drawn = (group.mean, group.spread, np.exp(group.log_share), people, depth)
    draws = {name: own[None] for name, own in _named(family, *drawn).items()}
    return GroupFit(alone, draws, probability, effective, group_effective)


def _named(
    family: Family, mean: Array, spread: Array, share: Array, people: Array, depth: Positions
) -> dict[str, Array]:
    """Return draws by name, in the units of the parameters; `mean` and `people` are on the line."""
    names = family.free_names()
    columns = [family.names.index(name) for name in names]
    low, width = family.low[columns], (family.high - family.low)[columns]
    median, people = (low + width * special.expit(points) for points in (mean, people))
    depths = np.array(family.depth, dtype=np.float64)[depth]
    draws = {"median": median, "spread": spread, "share": share, "person_depth": depths}
    return draws | dict(zip(names, np.moveaxis(people, -1, 0), strict=True))


def _nuts(
    alone: Fit, start: Array, num_draws: int, random: np.random.Generator, tell: Progress
) -> GroupFit:
    """Return the fit with draws by NumPyro's NUTS; depths are summed out."""
    import jax
    from jax import numpy as jnp

    numpyro = import_optional("numpyro", "people-groups", 'method="nuts"')
    dist, infer = numpyro.distributions, numpyro.infer
    family, names = alone.family, alone.family.free_names()
    densities = [_density(alone.likelihood(depth), names) for depth in family.depth]
    shape = (len(alone.groups), len(names))

    def model() -> None:
        mean = numpyro.sample("mean", dist.Logistic(jnp.zeros(len(names)), 1.0).to_event())
        spread = numpyro.sample("spread", dist.Uniform(*SPREAD).expand([len(names)]).to_event())
        share = numpyro.sample("share", dist.Dirichlet(jnp.ones(len(family.depth))))
        z = numpyro.sample("z", dist.Normal(jnp.zeros(shape), 1.0).to_event())
        people = numpyro.deterministic("people", mean + spread * z)
        logs = jnp.stack([density(people) for density in densities], axis=1) + jnp.log(share)
        logs = numpyro.deterministic("log_depth", logs)
        numpyro.factor("responses", jax.nn.logsumexp(logs, axis=1).sum())

    first = _Group.from_line(start, len(names))
    values = {"mean": first.mean, "spread": first.spread, "z": np.zeros(shape)}
    per_block = -(-num_draws // (NUM_CHAINS * NUM_BLOCKS))
    sampler = infer.MCMC(
        infer.NUTS(model, init_strategy=infer.init_to_value(values=values), target_accept_prob=0.9),
        num_warmup=NUM_WARMUP,
        num_samples=per_block,
        num_chains=NUM_CHAINS,
        chain_method="vectorized",
        progress_bar=False,
    )
    blocks = []
    for number in range(NUM_BLOCKS):
        tell("warm-up" if not number else "draws", 0.3 + 0.7 * number / NUM_BLOCKS)
        sampler.run(jax.random.key(int(random.integers(2**31))))
        sampler.post_warmup_state = sampler.last_state
        # JAX works in the background: conversion waits for the draws, so that progress is true.
        samples = sampler.get_samples(group_by_chain=True)
        blocks.append({name: np.asarray(own, np.float64) for name, own in samples.items()})
    found = {name: np.concatenate([own[name] for own in blocks], axis=1) for name in blocks[0]}
    weights = special.softmax(found["log_depth"], axis=-1)
    flat = weights.reshape(-1, weights.shape[-1])
    depth = draw_many(flat, random.random(len(flat))).reshape(weights.shape[:-1])
    group = (found["mean"], found["spread"], found["share"])
    draws = _named(family, *group, found["people"], depth)
    stats = import_optional("arviz_stats.base", "people", "R-hat").array_stats
    axes = {"chain_axis": 0, "draw_axis": 1}
    values = np.concatenate(group, axis=2)
    return GroupFit(
        alone,
        draws,
        weights.mean(axis=(0, 1)),
        stats.ess(found["people"], **axes).min(axis=-1),
        stats.ess(values, **axes),
        stats.rhat(values, **axes),
    )


def _density(likelihood: Likelihood, names: tuple[str, ...]) -> Any:
    """Return the log-likelihoods (u,) of points (u, p) on the line as a function of JAX."""
    import jax
    from jax import numpy as jnp

    family, every = likelihood.family, np.arange(len(likelihood.rows))
    if family.response == "rating" or set(likelihood.names) & set(family.inner):
        raise CobayesError(
            'method="nuts" needs choices or guesses and a learner in mind without free parameters.',
            f'fix {" and ".join(family.inner)}, or use method="laplace".',
        )
    utility, log_base, even = likelihood.scores(likelihood.low[None])
    # Derivatives of minus infinity are no numbers.
    base, utility = jnp.asarray(np.maximum(log_base, -1e9)), jnp.asarray(utility[0])
    lapsed = jnp.asarray(even[every, likelihood.answer])
    features = dict(zip(family.features or {}, jnp.asarray(likelihood.features), strict=True))
    columns = {name: names.index(name) for name in likelihood.names}

    def log_likelihoods(points: Any) -> Any:
        at = {
            name: jnp.full(len(every), low)
            for name, low in zip(family.names, family.low, strict=True)
        }
        for name, column in columns.items():
            low, high = family.bounds[name]
            value = low + (high - low) * jax.nn.sigmoid(points[:, column])
            at[name] = value[likelihood.units]
        logs = base + at[family.exponent][:, None] * utility
        for name, feature in features.items():
            logs += at[name][:, None] * feature
        chosen = jnp.exp(logs[every, likelihood.answer] - jax.nn.logsumexp(logs, axis=1))
        probability = (1.0 - at["lapse"]) * chosen + at["lapse"] * lapsed
        return jax.ops.segment_sum(
            jnp.log(jnp.maximum(probability, 1e-37)),
            likelihood.units,
            num_segments=likelihood.num_units,
            indices_are_sorted=True,
        )

    return log_likelihoods
