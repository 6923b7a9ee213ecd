"""Hierarchical fits: people's parameters are estimated jointly with their distribution in a group.

On the logit scale (`Likelihood.from_line`) people's parameters are normally distributed around the
group's mean; every depth has a share of people. Priors are flat: the group's median is uniform
between the bounds, the standard deviation in logits (the spread) is uniform within `SPREAD`, and
the shares of depths have a Dirichlet distribution with all parameters one.

The posterior is drawn by Laplace's method with importance sampling. For every person and depth,
candidates for the parameters are drawn around the mode of the posterior. The candidates'
log-likelihoods are computed once; a draw of the group changes only the candidates' weights. The
group's own parameters are drawn by importance sampling.

Axes: draws of the group (g), people (u), candidates (n), depths (k), free parameters (p).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, special

from cobayes.errors import import_optional
from cobayes.people.likelihood import Evaluation, Likelihood
from cobayes.people.maximise import maximise
from cobayes.people.model import draw_many
from cobayes.people.posterior import log_logistic, propose, sample
from cobayes.people.problems import Array, Positions
from cobayes.people.result import Fit, Progress

INTERVAL = (0.025, 0.975)
# Bounds of the standard deviation between people, in logits. Below the lower one, people are
# practically equal; at the upper one, most people's parameters are near a bound.
SPREAD = (0.1, 3.0)
# The number of candidates of all people and depths together; a draw of the group then takes about a
# millisecond. The number per person and depth is between FEWEST and MOST.
NUM_CANDIDATES, FEWEST, MOST = 60_000, 256, 2048
# Before the final candidates there are NUM_ROUNDS rounds. A round draws candidates for the current
# estimate of the group, and estimates the group anew from NUM_TRIAL_DRAWS draws.
NUM_ROUNDS, NUM_TRIAL_DRAWS = 3, 100
# People's modes are searched between minus and plus this logit; at these logits a parameter is
# practically at its bound.
LINE_END = 12.0
# The spread varies between draws of the group. Candidates therefore come from normal approximations
# at several spreads: the estimate times each of these factors.
FACTORS = (1.0 / 3.0, 1.0, 3.0)
# Step of the finite differences for second derivatives of the group's log density: large enough
# that rounding in single precision does not matter, and small relative to standard deviations.
STEP = 0.05
# Lower bound on the curvatures of the group's negative log density. It is well below 1/2, the
# curvature of the prior at its mode.
LEAST_PRECISION = 0.1


class Group(NamedTuple):
    """A group's mean (..., p) and spread (..., p) in logits, and log shares of depths (..., k)."""

    mean: Array
    spread: Array
    log_share: Array

    @classmethod
    def from_line(cls, lines: Any, num_free: int, xp: Any = np) -> Group:
        """Return the group at points (..., 2 p + k - 1) on the logit scale.

        On the logit scale, flat priors are logistic distributions. The shares of the depths are
        computed by stick breaking.

        Parameters
        ----------
        lines, num_free
            The points, and the number p of free parameters.
        xp
            NumPy, or ``jax.numpy``.
        """
        mean, spread, sticks = xp.split(lines, [num_free, 2 * num_free], axis=-1)
        # The share broken off each stick, 1 - kept, has the prior Beta(1, number of later shares).
        log_kept = -xp.logaddexp(0.0, sticks) / xp.arange(sticks.shape[-1], 0, -1)
        edge = xp.zeros_like(lines[..., :1])
        log_left = xp.concatenate([edge, xp.cumsum(log_kept, axis=-1)], axis=-1)
        log_broken = xp.concatenate([xp.log(-xp.expm1(log_kept)), edge], axis=-1)
        low, high = SPREAD
        return cls(mean, low + (high - low) / (1.0 + xp.exp(-spread)), log_left + log_broken)


@dataclass(frozen=True, eq=False, repr=False)
class GroupFit:
    """A hierarchical fit.

    Attributes
    ----------
    fit : Fit
        The separate maximum-likelihood fits of the same people.
    lines, people, depth : ndarray
        Draws of the posterior, with the axes chain (c) and draw (g): the group as points for
        `Group.from_line`, (c, g, 2 p + k - 1); people's parameters in logits, (c, g, u, p); the
        positions of their depths, (c, g, u).
    depth_probability : ndarray
        (u, k): the posterior of every person's depth.
    effective : ndarray
        (u,): the effective number of each person's candidates, a mean over draws of the group. With
        NUTS: the effective number of draws, the smallest over the person's parameters, at most the
        number of draws. Below 50, the draws do not represent the person's posterior well.
    group_effective : ndarray
        (1,): the effective number of candidates for the group's parameters; with NUTS, the
        effective number of draws of each quantity in `group`.
    r_hat : ndarray or None
        With NUTS: R-hat of each quantity in `group`.

    Examples
    --------
    >>> import cobayes as cb
    >>> family = cb.people.Family(depth=(0, 1), lapse=0.05)
    >>> cb.people.fit_group(*cb.people.example_study(), family, num_draws=100, rng=1)
    GroupFit(person: 3; responses: 15; depths: 0, 1; draws: 100)
    """

    fit: Fit
    lines: Array
    people: Array
    depth: Positions
    depth_probability: Array
    effective: Array
    group_effective: Array
    r_hat: Array | None = None

    @cached_property
    def draws(self) -> dict[str, Array]:
        """Draws of the posterior, with leading axes chain and draw.

        For the group: ``median`` (p), in the units of the parameters; ``spread`` (p), the standard
        deviation of logits; ``share`` (k), the shares of depths. For people: every free parameter
        (u), and ``person_depth`` (u).
        """
        family = self.fit.family
        group = Group.from_line(self.lines, len(family.columns))
        of_people = np.moveaxis(family.from_line(self.people), -1, 0)
        return {
            "median": family.from_line(group.mean),
            "spread": group.spread,
            "share": np.exp(group.log_share),
            "person_depth": np.array(family.depth, dtype=np.float64)[self.depth],
        } | dict(zip(family.free_names(), of_people, strict=True))

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """One row per person: likeliest depth, means with 95 % intervals, depth probabilities."""
        depths = self.fit.family.depth
        table = pd.DataFrame({"person": self.fit.units})
        table["depth"] = np.array(depths, dtype=np.float64)[self.depth_probability.argmax(axis=1)]
        for name in self.fit.family.free_names():
            table[[name, f"{name}_low", f"{name}_high"]] = _summary(self.draws[name])
        table[[f"depth_{depth:g}" for depth in depths]] = self.depth_probability
        return table.assign(effective=self.effective)

    @cached_property
    def group(self) -> pd.DataFrame:
        """The group's medians, spreads and shares of depths, one per row, with 95 % intervals."""
        names = self.fit.family.free_names()
        labels = {
            "median": [f"median {name}" for name in names],
            "spread": [f"spread {name}" for name in names],
            "share": [f"share of depth {depth:g}" for depth in self.fit.family.depth],
        }
        values = np.concatenate([self.draws[kind] for kind in labels], axis=2)
        index = [text for own in labels.values() for text in own]
        table = pd.DataFrame(_summary(values), index, ["estimate", "low", "high"])
        table["effective"] = np.broadcast_to(self.group_effective, len(table))
        return table if self.r_hat is None else table.assign(r_hat=self.r_hat)

    def to_arviz(self) -> Any:
        """Return the draws for ArviZ, with the coordinates person, depth and parameter."""
        arviz = import_optional("arviz_base", "people", "to_arviz()")
        names = self.fit.family.free_names()
        fixed = {"depth_probability": self.depth_probability, "effective": self.effective}
        coords = {
            "person": [str(unit) for unit in self.fit.units],
            "depth": [f"{depth:g}" for depth in self.fit.family.depth],
            "parameter": list(names),
        }
        dims = {key: ["person"] for key in (*names, "person_depth", "effective")}
        dims |= {"median": ["parameter"], "spread": ["parameter"], "share": ["depth"]}
        dims |= {"depth_probability": ["person", "depth"]}
        content = {"posterior": self.draws, "constant_data": fixed}
        return arviz.from_dict(content, coords=coords, dims=dims)

    def plot(self, parameter: str = "rationality", *, ax: Any = None) -> Any:
        """Draw the shrinkage of a parameter; see `cobayes.plots.plot_shrinkage`."""
        from cobayes.plots import plot_shrinkage

        return plot_shrinkage(self, parameter, ax=ax)

    def draw_next(self, count: int, random: np.random.Generator) -> tuple[Positions, Array]:
        """Draw new people; return positions of depths, (s,), and all parameters, (s, names)."""
        family, lines = self.fit.family, np.concatenate(self.lines)
        drawn = lines[random.integers(len(lines), size=count)]
        group = Group.from_line(drawn, len(family.columns))
        values = np.tile(family.low, (count, 1))
        z = random.standard_normal(group.mean.shape)
        values[:, family.columns] = family.from_line(group.mean + group.spread * z)
        return draw_many(np.exp(group.log_share), random.random(count)), values

    def __repr__(self) -> str:
        count = self.lines[..., 0].size
        return f"Group{repr(self.fit).rpartition(';')[0]}; draws: {count:,})"


def _summary(draws: Array) -> Array:
    """Return mean and 95 % interval, (..., 3), of draws with leading axes chain and draw."""
    ends = np.quantile(draws, INTERVAL, axis=(0, 1))
    return np.stack([draws.mean(axis=(0, 1)), *ends], axis=-1)


def draw_group(alone: Fit, num_draws: int, random: np.random.Generator, tell: Progress) -> GroupFit:
    """Return a group fit with one chain of draws of the group and of all people."""
    own = alone.family.columns
    low, high = alone.family.low[own], alone.family.high[own]
    places = (np.median(alone.arrays.at_best[:, own], axis=0) - low) / (high - low)
    mean = np.clip(special.logit(places), -4.0, 4.0)
    spread = np.ones(len(mean))
    for number in range(NUM_ROUNDS):
        # The first group (medians of the separate fits, spread 1) is a rough guess. Later rounds
        # draw candidates for the group that the preceding round has estimated.
        tell("candidates", number / (NUM_ROUNDS + 2))
        candidates = _candidates(alone, mean, spread, random)
        lines, _ = _sample_group(candidates, NUM_TRIAL_DRAWS, random)
        group = Group.from_line(lines, len(mean))
        mean, spread = group.mean.mean(axis=0), group.spread.mean(axis=0)
    tell("draws of the group", NUM_ROUNDS / (NUM_ROUNDS + 2))
    candidates = _candidates(alone, mean, spread, random)
    lines, effective = _sample_group(candidates, num_draws, random)
    tell("draws of people", (NUM_ROUNDS + 1) / (NUM_ROUNDS + 2))
    return GroupFit(alone, *_draw_people(candidates, lines, random), effective)


def _approximate(likelihood: Likelihood, mean: Array, spread: Array) -> tuple[Array, Any]:
    """Return modes (u, p) and covariances (u, p, p) of people's posteriors in a group, in logits.

    The covariance is the inverse of the sum of the expected information and the group's precision.
    """

    def evaluate(points: Array, units: Positions | None = None) -> Evaluation:
        value, gradient, information = likelihood.on_line(points, units)
        z = (points - mean) / spread
        return Evaluation(
            value - 0.5 * (z**2).sum(axis=1),
            gradient - z / spread,
            information + np.diag(spread**-2.0),
        )

    start, end = np.tile(mean, (likelihood.num_units, 1)), np.full(len(mean), LINE_END)
    found = maximise(evaluate, start, -end, end)
    return found.parameters, np.linalg.inv(found.information)


class _Candidates(NamedTuple):
    """Candidates for the parameters and the depth of every person, drawn for one group.

    Attributes
    ----------
    points : ndarray
        (p, u, n): parameters in logits; zero if the candidate's depth does not have the parameter.
    depth : ndarray
        (n,): the position of each candidate's depth.
    has : ndarray
        (k, p): whether a depth has a parameter.
    log_weight : ndarray
        (u, n): log-likelihood minus log proposal density of each candidate, without the group's
        density, up to a constant for each person. Single precision is enough for weights and twice
        as fast.
    start : ndarray
        (d,), d = 2 p + k - 1: the point on the logit scale at which the search for the group's mode
        starts.
    """

    points: NDArray[np.float32]
    depth: Positions
    has: NDArray[np.bool_]
    log_weight: NDArray[np.float32]
    start: Array

    def weigh(self, group: Group) -> NDArray[np.float32]:
        """Return log weights (u, n) of all candidates, including their log density in a group."""
        precision = group.spread**-2.0
        normaliser = -0.5 * (precision * group.mean**2 + np.log(2.0 * np.pi / precision))
        constant = group.log_share + self.has @ normaliser
        found = self.log_weight + constant.astype(np.float32)[self.depth]
        slopes, squares = (precision * group.mean).tolist(), (0.5 * precision).tolist()
        for points, slope, square in zip(self.points, slopes, squares, strict=True):
            found += points * (slope - square * points)
        return found


def _candidates(alone: Fit, mean: Array, spread: Array, random: np.random.Generator) -> _Candidates:
    """Return candidates for people in a group, around each person's modes at every depth."""
    names = alone.family.free_names()
    likelihoods = [alone.likelihood(depth) for depth in alone.family.depth]
    has = np.array([[name in own.names for name in names] for own in likelihoods], dtype=bool)
    num_units, num_depths = len(alone.groups), len(likelihoods)
    count = int(np.clip(NUM_CANDIDATES // (num_units * num_depths), FEWEST, MOST))
    points, log_weights = [], []
    for likelihood, own in zip(likelihoods, has, strict=True):
        normals = [
            _approximate(likelihood, mean[own], np.clip(factor * spread[own], *SPREAD))
            for factor in FACTORS
        ]
        found, log_density = propose(normals, count, random)
        log_likelihoods = likelihood.log_likelihoods(likelihood.from_line(found))
        log_weights.append((log_likelihoods - log_density - np.log(len(found))).T)
        points.append(np.zeros((len(names), num_units, len(found))))
        points[-1][own] = found.transpose(2, 1, 0)
    log_weight = np.concatenate(log_weights, axis=1)
    place = (np.clip(spread, 0.11, 2.9) - SPREAD[0]) / (SPREAD[1] - SPREAD[0])
    return _Candidates(
        np.concatenate(points, axis=2).astype(np.float32),
        np.repeat(np.arange(num_depths), [own.shape[2] for own in points]),
        has,
        (log_weight - log_weight.max(axis=1, keepdims=True)).astype(np.float32, order="C"),
        np.concatenate([mean, special.logit(place), np.zeros(num_depths - 1)]),
    )


def _sample_group(
    candidates: _Candidates, num_draws: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return points for `Group.from_line` (g, d), and the effective number of candidates (1,)."""

    def log_density(line: Array) -> float:
        weights = candidates.weigh(Group.from_line(line, candidates.has.shape[1]))
        peak = weights.max(axis=1, keepdims=True)
        total = np.exp(weights - peak, out=weights).sum(axis=1, dtype=np.float64)
        return float((np.log(total) + peak[:, 0]).sum() + log_logistic(line))

    def beside(step: Array) -> float:
        return log_density(mode + step) + log_density(mode - step)

    mode = optimize.minimize(
        lambda line: -log_density(line), candidates.start, options={"eps": 1e-2, "gtol": 1e-2}
    ).x
    steps = STEP * np.eye(len(mode))
    precision = [[beside(one - other) - beside(one + other) for one in steps] for other in steps]
    sizes, directions = np.linalg.eigh(np.array(precision) / (4.0 * STEP**2))
    covariance = directions / np.maximum(sizes, LEAST_PRECISION) @ directions.T

    def log_densities(lines: Array) -> Array:
        return np.array([[log_density(line) for line in own] for own in lines])

    draws, effective = sample(log_densities, mode[None], covariance[None], num_draws, random)
    return draws[:, 0], effective


def _draw_people(
    candidates: _Candidates, lines: Array, random: np.random.Generator
) -> tuple[Array, Array, Positions, Array, Array]:
    """Draw all people once for each draw of the group.

    The results are the fields `lines` to `effective` of a `GroupFit`.
    """
    num_free, num_units, _ = candidates.points.shape
    every, num_depths = np.arange(num_units), len(candidates.has)
    people = np.empty((len(lines), num_units, num_free))
    depth = np.empty((len(lines), num_units), dtype=np.int64)
    probability, effective = np.zeros((num_units, num_depths)), np.zeros(num_units)
    starts = np.searchsorted(candidates.depth, np.arange(num_depths))
    for number, line in enumerate(lines):
        group = Group.from_line(line, num_free)
        weights = special.softmax(candidates.weigh(group), axis=1)
        probability += np.add.reduceat(weights, starts, axis=1) / len(lines)
        effective += 1.0 / np.einsum("un,un->u", weights, weights) / len(lines)
        chosen = draw_many(weights, random.random(num_units))
        depth[number] = candidates.depth[chosen]
        # A parameter that a depth does not have is drawn from the group's distribution.
        other = group.mean + group.spread * random.standard_normal((num_units, num_free))
        own = candidates.points[:, every, chosen].T
        people[number] = np.where(candidates.has[depth[number]], own, other)
    # Correct the rounding errors of single precision.
    probability /= probability.sum(axis=1, keepdims=True)
    return lines[None], people[None], depth[None], probability, effective
