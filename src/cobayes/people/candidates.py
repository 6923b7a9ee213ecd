"""Draws of a group and of its people by Laplace's method with importance sampling.

For every person, candidates for parameters and depth are drawn around normal approximations. Their
log-likelihoods are computed once; a draw of the group changes only their weights. The group's own
parameters are drawn by importance sampling. Points are on the logit scale (`Likelihood.from_line`).

Axes: draws of the group (g), people (u), candidates (n), depths (k), free parameters (p).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from cobayes.people.groups import SPREAD, Group, GroupFit
from cobayes.people.likelihood import Evaluation, Likelihood
from cobayes.people.maximise import maximise
from cobayes.people.model import draw_many
from cobayes.people.posterior import log_logistic, propose, sample
from cobayes.people.problems import Array, Positions
from cobayes.people.result import Fit, Progress

# The number of candidates of all people and depths together (a draw of the group then takes about a
# millisecond), and the smallest and the largest number per person and depth.
NUM_CANDIDATES, FEWEST, MOST = 60_000, 256, 2048
# The number of times that candidates are drawn again around the previous draws, and the number of
# these draws.
NUM_ROUNDS, NUM_TRIAL_DRAWS = 3, 100
# Modes are searched between plus and minus this logit; at these logits a parameter is practically
# at its bound.
LINE_END = 12.0
# Candidates come from normal approximations for groups whose spread is the likeliest spread times
# these factors, because the spread varies between draws of the group.
FACTORS = (1.0 / 3.0, 1.0, 3.0)
# Step of the finite differences for second derivatives of the group's density: far above the
# rounding of single precision, and small relative to the standard deviations of a group.
STEP = 0.05
# Smallest second derivative of a group's log density (the prior's at its mode is 1/2).
LEAST_PRECISION = 0.1


def draw_group(alone: Fit, num_draws: int, random: np.random.Generator, tell: Progress) -> GroupFit:
    """Return one chain of draws: of the group, and of all people for each draw of the group."""
    median = np.median(alone.arrays.at_best[:, alone.family.columns], axis=0)
    mean = np.clip(alone.family.to_line(median), -4.0, 4.0)
    spread = np.ones(len(mean))
    for number in range(NUM_ROUNDS):
        # Normal approximations are inaccurate for few responses: candidates are drawn again around
        # the draws.
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


class _Penalised:
    """The posterior of every unit in logits, given a group, as an argument for `maximise`."""

    def __init__(self, likelihood: Likelihood, mean: Array, spread: Array) -> None:
        self.likelihood, self.mean, self.spread = likelihood, mean, spread
        self.low, self.high = np.full((2, len(mean)), LINE_END) * [[-1.0], [1.0]]

    def take(self, units: Positions) -> _Penalised:
        return _Penalised(self.likelihood.take(units), self.mean, self.spread)

    def evaluate(self, points: Array) -> Evaluation:
        value, gradient, information = self.likelihood.on_line(points)
        z = (points - self.mean) / self.spread
        return Evaluation(
            value - 0.5 * (z**2).sum(axis=1),
            gradient - z / self.spread,
            information + np.diag(self.spread**-2.0),
        )

    def approximate(self) -> tuple[Array, Any]:
        """Return modes (u, p) and covariances (u, p, p) of normal approximations."""
        start = np.tile(self.mean, (self.likelihood.num_units, 1))
        found = maximise(self, start)
        return found.parameters, np.linalg.inv(found.information)


class _Candidates(NamedTuple):
    """Points on the logit scale for every person, with weights that do not include the group.

    Attributes
    ----------
    points : ndarray
        (p, u, n); zero if the candidate's depth does not have the parameter.
    depth : ndarray
        (n,): the position of each candidate's depth.
    has : ndarray
        (k, p): whether a depth has a parameter.
    log_weight : ndarray
        (u, n): log-likelihoods minus the log density of the points, up to a constant for each
        person. In single precision, which is enough for weights and twice as fast.
    start : ndarray
        (d,): a group to start from, on the logit scale.
    """

    points: NDArray[np.float32]
    depth: Positions
    has: NDArray[np.bool_]
    log_weight: NDArray[np.float32]
    start: Array

    def weigh(self, group: Group) -> NDArray[np.float32]:
        """Return log weights (u, n) of all candidates in one group."""
        precision = group.spread**-2.0
        normaliser = -0.5 * (precision * group.mean**2 + np.log(2.0 * np.pi / precision))
        constant = group.log_share + self.has @ normaliser
        found = self.log_weight + constant.astype(np.float32)[self.depth]
        slopes, squares = (precision * group.mean).tolist(), (0.5 * precision).tolist()
        for points, slope, square in zip(self.points, slopes, squares, strict=True):
            found += points * (slope - square * points)
        return found


def _candidates(alone: Fit, mean: Array, spread: Array, random: np.random.Generator) -> _Candidates:
    """Return candidates around the modes of every person at every depth in a group."""
    names = alone.family.free_names()
    likelihoods = [alone.likelihood(depth) for depth in alone.family.depth]
    has = np.array([[name in own.names for name in names] for own in likelihoods], dtype=bool)
    num_units, num_depths = len(alone.groups), len(likelihoods)
    count = int(np.clip(NUM_CANDIDATES // (num_units * num_depths), FEWEST, MOST))
    points, log_weights = [], []
    for likelihood, own in zip(likelihoods, has, strict=True):
        normals = [
            _Penalised(likelihood, mean[own], np.clip(factor * spread[own], *SPREAD)).approximate()
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
        (log_weight - log_weight.max(axis=1, keepdims=True)).astype(np.float32),
        np.concatenate([mean, special.logit(place), np.zeros(num_depths - 1)]),
    )


def _sample_group(
    candidates: _Candidates, num_draws: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Return draws of the group on the logit scale (g, d), and their effective number (1,)."""

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
    """Return the fields of a `GroupFit` from `lines` on: a draw of all people for each line."""
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
    return lines[None], people[None], depth[None], probability, effective
