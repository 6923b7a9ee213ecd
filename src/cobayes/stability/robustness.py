"""A user's own question: how robust is teaching if one is wrong about the learner."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import counts_by, number_between, positive_number, whole_number
from cobayes.errors import CobayesError, import_optional
from cobayes.model import MatrixLike
from cobayes.stability.blocks import root_seed
from cobayes.stability.bounds import SuccessBounds, conjectured_success, success_bounds
from cobayes.stability.geometry import MOST_POINTS, plane_basis, random_directions
from cobayes.stability.results import SuccessRate, SuccessRates
from cobayes.stability.sequences import DOUBT, MAX_ROUNDS, TeachingSequences
from cobayes.stability.validation import (
    as_rule,
    at_least_one,
    require_affordable_lessons,
    small_probability,
)

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

# Beyond this many hypotheses, moving weight between every two of them is left out.
MOST_PAIRED = 12


@dataclass(frozen=True, eq=False, repr=False)
class Robustness:
    """How well teaching survives a wrong idea of the learner's prior.

    Attributes
    ----------
    rate : SuccessRate
        Success rate of the learner in question.
    bounds : SuccessBounds
        What is proved about it from the priors alone.
    directions : ndarray
        The ways in which the learner's prior was moved, of length one, (k, m).
    distances : ndarray
        How far: the radius, or less where the simplex ends, (k,).
    moved : SuccessRates
        The success rates there.
    worst : int
        The position of the direction that costs most success for its length.
    worst_rate : SuccessRate
        Its success rate, from sequences drawn after it was chosen.
    teacher_prior, learner_prior : ndarray
        The priors that directions start from and that were asked about, (m,).

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> found = cb.stability.robustness(model, hypothesis="summer", num_sequences=500, rng=1)
    >>> found.worst_prior.round(3)
    array([0.465, 0.535])
    """

    rate: SuccessRate
    bounds: SuccessBounds
    directions: Array
    distances: Array
    moved: SuccessRates
    worst: int
    worst_rate: SuccessRate
    teacher_prior: Array
    learner_prior: Array

    @property
    def worst_prior(self) -> Array:
        """The learner's prior at the end of the most dangerous direction, (m,)."""
        return self.moved.priors[self.worst]

    @property
    def worst_slope(self) -> float:
        """Success lost for each unit of distance in the most dangerous direction."""
        return float((1.0 - self.worst_rate.value) / self.distances[self.worst])

    def describe_direction(self, position: int | None = None) -> str:
        """Say in words where a direction leads; by default the most dangerous one."""
        step = self.directions[self.worst if position is None else position]
        names = self.rate.hypotheses
        most = np.abs(step).max()
        sides = []
        for sign, verb in ((-1.0, "less"), (1.0, "more")):
            chosen = [j for j in np.argsort(-sign * step) if sign * step[j] > 0.25 * most]
            sides.append(f"{verb} {', '.join(names[j] for j in chosen[:3])}")
        return "; ".join(sides)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per direction: distance, success rate and the learner's prior."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        table = pandas.DataFrame(
            {
                "direction": [self.describe_direction(k) for k in range(len(self.directions))],
                "distance": self.distances,
                "success_rate": self.moved.values,
                "stderr": self.moved.stderrs,
            }
        )
        for j, name in enumerate(self.rate.hypotheses):
            table[f"prior of {name}"] = self.moved.priors[:, j]
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        names = self.rate.hypotheses
        return {
            "success": self.rate.to_dict(),
            "interval": list(self.rate.interval()),
            "proved_bounds": {"lower": self.bounds.lower, "upper": self.bounds.upper},
            "conjectured_success": conjectured_success(
                self.teacher_prior, self.learner_prior, names.index(self.rate.hypothesis)
            ),
            "most_dangerous": {
                "direction": dict(zip(names, self.directions[self.worst].tolist(), strict=True)),
                "in_words": self.describe_direction(),
                "distance": float(self.distances[self.worst]),
                "learner_prior": dict(zip(names, self.worst_prior.tolist(), strict=True)),
                "success": self.worst_rate.to_dict(),
                "slope": self.worst_slope,
            },
        }

    def __repr__(self) -> str:
        return (
            f"Robustness({self.rate!r}; most dangerous: {self.describe_direction()}, success "
            f"{self.worst_rate.value:.4f} at distance {self.distances[self.worst]:.3g})"
        )


@counts_by("num_sequences")
def robustness(
    teacher_matrix: MatrixLike,
    learner_matrix: MatrixLike | None = None,
    *,
    hypothesis: SupportsIndex | str,
    teacher_prior: ArrayLike | None = None,
    learner_prior: ArrayLike | None = None,
    radius: float = 0.05,
    num_random: int = 24,
    num_sequences: SupportsIndex = 10_000,
    doubt: float = DOUBT,
    max_rounds: SupportsIndex = MAX_ROUNDS,
    rng: Any = None,
) -> Robustness:
    """Estimate the success rate of a learner and find the most dangerous error about its prior.

    Parameters
    ----------
    teacher_matrix, learner_matrix, hypothesis, teacher_prior, learner_prior
        As in `success_rate`.
    radius
        How far, in Euclidean distance, the learner's prior is moved in every direction; less
        where the simplex ends.
    num_random
        Random directions, besides moving weight from every hypothesis to every other one.
    num_sequences, doubt, max_rounds, rng
        As in `success_rate`.

    Returns
    -------
    Robustness
        The success rate and its bounds, and the prior nearby at which it is lowest.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> found = cb.stability.robustness(model, hypothesis="summer", num_sequences=500, rng=1)
    >>> print(found.describe_direction())
    less summer; more autumn
    """
    radius = positive_number(radius, "radius")
    num_random = whole_number(num_random, "num_random", 0)
    at_least_one(num_random + 1, "the number of random directions", MOST_POINTS)
    teacher = as_rule(teacher_matrix)
    learner = teacher if learner_matrix is None else as_rule(learner_matrix)
    if teacher.model.num_hypotheses < 2:
        raise CobayesError("there is one hypothesis only; it cannot be confused with anything.")
    if teacher.model.num_data < 2:
        raise CobayesError(
            "the table has one datum, which tells the hypotheses apart under no rule: no belief "
            "ever changes, and no lesson ends.",
            "give at least two data.",
        )
    seed = root_seed(rng)
    streams = [np.random.default_rng(child) for child in seed.spawn(3)]
    options = {
        "prior": teacher_prior,
        "num_sequences": num_sequences,
        "doubt": doubt,
        "max_rounds": max_rounds,
    }
    m = teacher.model.num_hypotheses
    num_directions = 2 + num_random + (m * (m - 1) if m <= MOST_PAIRED else 2 * m - 2)
    require_affordable_lessons(
        teacher,
        at_least_one(num_sequences, "num_sequences"),
        at_least_one(max_rounds, "max_rounds"),
        small_probability(doubt, "doubt"),
        num_agents=3 + num_directions,
        is_stored=True,
    )
    sequences = TeachingSequences.draw(teacher, hypothesis, **options, rng=streams[0])
    rate = sequences.success_of(learner, learner_prior)
    own = sequences.prior
    theirs = own if learner_prior is None else learner.model.distribution(learner_prior)
    directions = _directions(len(own), sequences.hypothesis, num_random, streams[1])
    steps, distances = _steps(own, directions, radius)
    # Weight can always be taken from what is taught; from a hypothesis without any it cannot.
    kept = distances > 0.0
    directions, steps, distances = directions[kept], steps[kept], distances[kept]
    moved = sequences.success_of_many([learner] * len(steps), own + steps)
    worst = int(np.argmax((1.0 - moved.values) / distances))
    # What was selected as the worst looks worse than it is: measure it with new sequences.
    again = TeachingSequences.draw(teacher, hypothesis, **options, rng=streams[2])
    return Robustness(
        rate=rate,
        bounds=success_bounds(own, theirs, sequences.hypothesis),
        directions=directions,
        distances=distances,
        moved=moved,
        worst=worst,
        worst_rate=again.success_of(learner, own + steps[worst]),
        teacher_prior=own,
        learner_prior=theirs,
    )


def simplex_grid(num_hypotheses: int = 3, divisions: int = 20, margin: float = 0.01) -> Array:
    """Return an even grid of inner points of the simplex, (k, m).

    Parameters
    ----------
    num_hypotheses
        m; three give a triangle for a map.
    divisions
        Into how many steps an edge is cut.
    margin
        By what share the grid is drawn together towards the middle: its border must stay
        inside.

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
    m = at_least_one(num_hypotheses, "num_hypotheses", 1000)
    cuts = at_least_one(divisions, "divisions", MOST_POINTS)
    if (cuts + 1) ** (m - 1) > 10 * MOST_POINTS:
        raise CobayesError(
            f"a grid of {cuts} divisions for {m} hypotheses has about "
            f"{float(min((cuts + 1) ** (m - 1), 10**300)):.3g} points.",
            "take fewer divisions, or uniform_points(...).",
        )
    number_between(margin, "margin", 0.0, 1.0)
    axes = np.meshgrid(*[np.arange(cuts + 1)] * (m - 1), indexing="ij")
    counts = np.stack([axis.ravel() for axis in axes], axis=-1)
    last = cuts - counts.sum(axis=1)
    inner = last >= 0
    return (1.0 - margin) * np.column_stack([counts[inner], last[inner]]) / cuts + margin / m


def _directions(m: int, hypothesis: int, num_random: int, rng: np.random.Generator) -> Array:
    """Return directions of length one.

    From the taught hypothesis to all others and back, from each to each other one, and random.
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
        found.extend(sign * step for step in plane_basis(m) for sign in (1.0, -1.0))
    if num_random:
        found.extend(random_directions(num_random, m, rng))
    return np.array(found)


def _steps(prior: Array, directions: Array, radius: float) -> tuple[Array, Array]:
    """Return steps of the given length, or shorter ones that stay inside the simplex."""
    with np.errstate(divide="ignore", invalid="ignore"):
        longest = np.where(directions < 0.0, -prior / directions, np.inf).min(axis=1)
    distances = np.minimum(radius, 0.9 * longest)
    return distances[:, None] * directions, distances
