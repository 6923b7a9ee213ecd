"""Robustness: the loss of success if the teacher assumes a wrong prior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import Distribution, find, make_labels
from cobayes._input.validation import number_between, spawn_generators, whole_number
from cobayes._output import Result, freeze
from cobayes._parallel import require_affordable, short_number
from cobayes.errors import CobayesError, import_optional
from cobayes.model import MatrixLike
from cobayes.rules import Rule
from cobayes.rules.naming import as_agents
from cobayes.stability.bounds import success_bounds
from cobayes.stability.success import SuccessRate, success_rate, success_rates
from cobayes.stability.teaching import MAX_ROUNDS, common_law
from cobayes.theory.certainty import LEVEL

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

# With more hypotheses than this, `_directions` moves probability between one hypothesis and all
# others, not between pairs of hypotheses.
MOST_PAIRED = 12


@dataclass(frozen=True, eq=False, repr=False)
class Robustness(Result):
    """Success rates of learners whose priors differ from the prior that the teacher assumes.

    Attributes
    ----------
    rate : SuccessRate
        Success rate of the given learner.
    bounds : tuple of float or None
        The `success_bounds` of the teacher's and the learner's prior. None where they are not
        proved: on tables with zeros, with different data priors, and for other rules than SCBI.
    directions : ndarray
        Unit vectors: the directions in which the learner's prior was moved, (k, m).
    distances : ndarray
        Distances by which the prior was moved, (k,): the radius, or less near the border of the
        simplex.
    moved_priors : ndarray
        The learner's priors after the moves, (k, m).
    moved_rates : tuple of SuccessRate
        The success rates at these priors.
    worst : int
        The position of the most dangerous direction: the one with the largest
        ``(1 - success rate) / distance``.
    worst_rate : SuccessRate
        The success rate at `worst_prior`, estimated from new lessons.
    teacher_prior, learner_prior : ndarray
        The prior that the teacher assumes, where all moves start, and the given learner's prior,
        (m,) each.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> found = cb.stability.robustness(model, "summer", num_lessons=500, rng=1)
    >>> found.worst_prior.round(3)
    array([0.465, 0.535])
    """

    rate: SuccessRate
    bounds: tuple[float, float] | None
    directions: Array
    distances: Array
    moved_priors: Array
    moved_rates: tuple[SuccessRate, ...]
    worst: int
    worst_rate: SuccessRate
    teacher_prior: Array
    learner_prior: Array

    __post_init__ = freeze

    @property
    def worst_prior(self) -> Array:
        """The learner's prior after the move in the most dangerous direction, (m,)."""
        return self.moved_priors[self.worst]

    @property
    def worst_slope(self) -> float:
        """One minus the success rate, per unit of distance, in the most dangerous direction."""
        return float((1.0 - self.worst_rate.value) / self.distances[self.worst])

    def describe_direction(self, position: int | None = None) -> str:
        """Return a description of a direction; by default of the most dangerous direction."""
        numbers = make_labels(None, len(self.directions), "direction")
        position = self.worst if position is None else find(position, numbers, "direction")
        step, names = self.directions[position], self.rate.hypotheses
        most = np.abs(step).max()
        sides = []
        for sign, verb in ((-1.0, "less"), (1.0, "more")):
            chosen = [j for j in np.argsort(-sign * step) if sign * step[j] > 0.25 * most]
            sides.append(f"{verb} {', '.join(names[j] for j in chosen[:3])}")
        return "; ".join(sides)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per direction: its description, distance, rate, standard error, prior."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        table = pandas.DataFrame(
            {
                "direction": [self.describe_direction(k) for k in range(len(self.directions))],
                "distance": self.distances,
                "success_rate": [rate.value for rate in self.moved_rates],
                "stderr": [rate.stderr for rate in self.moved_rates],
            }
        )
        for j, name in enumerate(self.rate.hypotheses):
            table[f"prior of {name}"] = self.moved_priors[:, j]
        return table

    def __repr__(self) -> str:
        return (
            f"Robustness({self.rate!r}; most dangerous: {self.describe_direction()}, success "
            f"{self.worst_rate.value:.4f} at distance {self.distances[self.worst]:.3g})"
        )


def robustness(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    *,
    num_lessons: SupportsIndex = 10_000,
    prior: Distribution | None = None,
    learner_rule: Rule | MatrixLike | None = None,
    learner_prior: Distribution | None = None,
    radius: float = 0.05,
    num_random: int = 24,
    level: float = LEVEL,
    max_rounds: SupportsIndex = MAX_ROUNDS,
    rng: Any = None,
) -> Robustness:
    """Estimate a learner's success rate; find the most dangerous error about the learner's prior.

    Parameters
    ----------
    rule, hypothesis, num_lessons, prior, learner_rule, learner_prior, level, max_rounds, rng
        See `success_rate`.
    radius
        The Euclidean distance by which the learner's prior is moved, in every direction, from the
        prior that the teacher assumes; less near the border of the simplex.
    num_random
        The number of random directions, in addition to directions that move probability from one
        hypothesis to another.

    Returns
    -------
    Robustness
        The success rate and its bounds, and the direction in which it falls fastest.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> found = cb.stability.robustness(model, "summer", num_lessons=500, rng=1)
    >>> print(found.describe_direction())
    less summer; more autumn
    """
    radius = number_between(radius, "radius", 0.0, math.inf)
    num_random = whole_number(num_random, "num_random", 0)
    pair = as_agents(rule, hypothesis, prior, learner_rule, learner_prior, every_round=True)
    teacher, learner, position = pair.teacher, pair.learner, pair.hypothesis
    model = teacher.model
    if model.num_hypotheses < 2:
        raise CobayesError(
            "the table has one hypothesis, which cannot be confused with another.",
            "give at least two hypotheses.",
        )
    if model.num_data < 2:
        raise CobayesError(
            "the table has one datum, so that a teacher has no choice.",
            "give at least two data.",
        )
    require_affordable(
        f"{short_number(num_random)} random directions",
        "take a smaller num_random.",
        num_bytes=32.0 * min(num_random, 10**300) * model.num_hypotheses,
    )
    first, second, third = spawn_generators(rng, 3)
    own, theirs = np.exp(pair.teacher_prior), np.exp(pair.learner_prior)
    directions = _directions(len(own), position, num_random, second)
    steps, distances = _steps(own, directions, radius)
    # A direction that takes probability from a hypothesis with prior zero has distance zero.
    # Division by a distance below the normal range of float64 would overflow.
    kept = distances >= np.finfo(np.float64).tiny
    directions, distances, priors = directions[kept], distances[kept], own + steps[kept]
    options: Any = dict(num_lessons=num_lessons, prior=own, level=level, max_rounds=max_rounds)
    rate, *moved = success_rates(
        teacher, position, learner_rules=[learner], learner_priors=[theirs, *priors],
        rng=first, **options,
    )  # fmt: skip
    worst = int(np.argmax((1.0 - np.array([one.value for one in moved])) / distances))
    # The lowest of many estimates is biased, so new lessons measure success in the worst direction.
    worst_rate = success_rate(
        teacher, position, learner_rule=learner, learner_prior=priors[worst], rng=third,
        **options,
    )  # fmt: skip
    law = common_law(teacher, learner)
    return Robustness(
        rate=rate,
        bounds=None if law is None else success_bounds(own, theirs, position),
        directions=directions,
        distances=distances,
        moved_priors=priors,
        moved_rates=tuple(moved),
        worst=worst,
        worst_rate=worst_rate,
        teacher_prior=own,
        learner_prior=theirs,
    )


def simplex_grid(num_hypotheses: int = 3, divisions: int = 20, margin: float = 0.01) -> Array:
    """Return a regular grid of inner points of the simplex, (k, m).

    Parameters
    ----------
    num_hypotheses
        The number of hypotheses, m.
    divisions
        The number of steps along an edge.
    margin
        The share by which the grid is contracted towards the centre, so that its border lies
        inside the simplex.

    Returns
    -------
    ndarray
        Positive rows that sum to one, (k, m).

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.stability.simplex_grid(3, 4).shape
    (15, 3)
    """
    m = min(whole_number(num_hypotheses, "num_hypotheses", 2), 10**100)
    cuts = whole_number(divisions, "divisions", 1)
    # The number of points of `meshgrid`, inside and outside the simplex, capped at about 10^300.
    num_points = math.exp(min((m - 1) * math.log(cuts + 1), 690.0))
    require_affordable(
        f"a grid of up to {num_points:.3g} points",
        "take fewer hypotheses or divisions.",
        num_bytes=32.0 * m * num_points,
    )
    number_between(margin, "margin", 0.0, 1.0)
    axes = np.meshgrid(*[np.arange(cuts + 1)] * (m - 1), indexing="ij")
    counts = np.stack([axis.ravel() for axis in axes], axis=-1)
    last = cuts - counts.sum(axis=1)
    inner = last >= 0
    return (1.0 - margin) * np.column_stack([counts[inner], last[inner]]) / cuts + margin / m


def _directions(m: int, hypothesis: int, num_random: int, rng: np.random.Generator) -> Array:
    """Return directions of length one, (k, m).

    The first two move probability from the taught hypothesis to all others, and back. The next ones
    move probability from one hypothesis to another or, with more than `MOST_PAIRED` hypotheses,
    between each hypothesis and all others. The last `num_random` are random.
    """
    away = np.full(m, 1.0 / (m - 1))
    away[hypothesis] = -1.0
    away /= np.linalg.norm(away)
    found = [away, -away]
    if m <= MOST_PAIRED:
        for source, aim in permutations(range(m), 2):
            step = np.zeros(m)
            step[source], step[aim] = -np.sqrt(0.5), np.sqrt(0.5)
            found.append(step)
    else:
        centred = np.eye(m) - 1.0 / m
        centred /= np.linalg.norm(centred, axis=1, keepdims=True)
        found.extend(sign * step for step in centred for sign in (1.0, -1.0))
    # Vectors of normal variables, each vector minus the mean of its entries, have uniformly
    # distributed directions.
    steps = rng.standard_normal((num_random, m))
    steps -= steps.mean(axis=1, keepdims=True)
    found.extend(steps / np.linalg.norm(steps, axis=1, keepdims=True))
    return np.array(found)


def _steps(prior: Array, directions: Array, radius: float) -> tuple[Array, Array]:
    """Return steps and their lengths: `radius`, but at most 0.9 of the distance to the border."""
    with np.errstate(divide="ignore", invalid="ignore"):
        longest = np.where(directions < 0.0, -prior / directions, np.inf).min(axis=1)
    distances = np.minimum(radius, 0.9 * longest)
    return distances[:, None] * directions, distances
