"""Candidates for a counter-example: families to draw from, and small changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.conjecture.separation import separated_matrix
from cobayes.stability.bounds import Distance, prior_distance
from cobayes.stability.geometry import plane_basis

Array = NDArray[np.float64]

# Entries of a column spread by this factor at most: beyond it nothing new happens, slowly.
WIDEST = 1e4
# The largest failure that the conjecture may allow a candidate; at one it would say nothing.
MOST_ALLOWED = 0.9


@dataclass(frozen=True, eq=False)
class Candidate:
    """A matrix and two priors; hypothesis 0 is taught.

    Attributes
    ----------
    matrix : ndarray
        Column-stochastic, (n, m).
    teacher_prior, learner_prior : ndarray
        Inside the simplex, (m,).
    family : str
        Where it comes from.
    """

    matrix: Array
    teacher_prior: Array
    learner_prior: Array
    family: str

    def allowed(self, distance: Distance) -> float:
        """Return the failure that the conjecture allows."""
        apart = prior_distance(self.teacher_prior, self.learner_prior, distance)
        return float(apart / self.teacher_prior[0])

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return {
            "matrix": self.matrix.tolist(),
            "teacher_prior": self.teacher_prior.tolist(),
            "learner_prior": self.learner_prior.tolist(),
            "family": self.family,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Candidate:
        """Undo `to_dict`."""
        return cls(
            np.array(content["matrix"]),
            np.array(content["teacher_prior"]),
            np.array(content["learner_prior"]),
            content["family"],
        )


def draw_candidate(rng: np.random.Generator, distance: Distance) -> Candidate:
    """Draw a new candidate from one of the families."""
    family = list(FAMILIES)[rng.integers(len(FAMILIES))]
    matrix = _tamed(FAMILIES[family](rng))
    m = matrix.shape[1]
    prior = rng.dirichlet(np.full(m, rng.choice([1.0, 3.0, 20.0])))
    if rng.random() < 0.5:
        weight = rng.uniform(0.2, 0.95)
        prior = np.concatenate([[weight], (1.0 - weight) * rng.dirichlet(np.full(m - 1, 3.0))])
    prior = _inner(prior)
    step = _direction(rng, m)
    return Candidate(matrix, prior, _moved(prior, step, rng.uniform(0.2, 0.9), distance), family)


def mutate(candidate: Candidate, rng: np.random.Generator, distance: Distance) -> Candidate:
    """Change a candidate a little: its matrix, its prior, its direction, or all of them."""
    size = float(rng.choice([0.03, 0.1, 0.3]))
    parts = rng.random(3) < 0.6
    parts[rng.integers(3)] = True
    matrix, prior = candidate.matrix, candidate.teacher_prior
    step = candidate.learner_prior - candidate.teacher_prior
    share = _share(prior, step, distance)
    m = len(prior)
    if parts[0]:
        matrix = _tamed(matrix * np.exp(size * rng.standard_normal(matrix.shape)))
    if parts[1]:
        prior = _inner(prior * np.exp(2.0 * size * rng.standard_normal(m)))
    if parts[2]:
        noise = rng.standard_normal(m - 1) @ plane_basis(m)
        step = step / np.linalg.norm(step) + 2.0 * size * noise
        share = float(np.clip(share + size * rng.standard_normal(), 0.05, 0.95))
        if rng.random() < 0.1:
            step = _direction(rng, m)
    return Candidate(matrix, prior, _moved(prior, step, share, distance), candidate.family)


def _random(rng: np.random.Generator) -> Array:
    n, m = rng.integers(2, 9), rng.integers(3, 9)
    return rng.dirichlet(np.full(n, rng.choice([1.0, 3.0])), m).T


def _line(rng: np.random.Generator) -> Array:
    """Columns on a curve of exponential tilts: hypotheses in an order."""
    n, m = rng.integers(2, 7), rng.integers(3, 9)
    places = rng.permutation(np.sort(rng.standard_normal(m)))
    tilts = rng.standard_normal(n)
    return np.exp(rng.uniform(0.5, 2.0) * places[None, :] * tilts[:, None])


def _weak(rng: np.random.Generator) -> Array:
    """Columns that differ little: beliefs move as in a diffusion."""
    n, m = rng.integers(2, 9), rng.integers(3, 9)
    return np.exp(rng.uniform(0.2, 0.5) * rng.standard_normal((n, m)))


def _separated(rng: np.random.Generator) -> Array:
    """Hypotheses that separate one after the other, each on a time scale of its own."""
    count = rng.integers(2, 6)
    ratio = rng.uniform(1.4, 2.5)
    strengths = rng.uniform(0.6, 0.95) * ratio ** -np.arange(count, dtype=np.float64)
    return separated_matrix(rng.permutation(np.maximum(strengths, 0.08)))


def _paper(rng: np.random.Generator) -> Array:
    from cobayes.example_library import examples

    names = [name for name in examples if name.startswith("M")]
    return examples[names[rng.integers(len(names))]].model.matrix


FAMILIES: dict[str, Callable[[np.random.Generator], Array]] = {
    "random": _random,
    "line": _line,
    "weak": _weak,
    "separated": _separated,
    "paper": _paper,
}


def _direction(rng: np.random.Generator, m: int) -> Array:
    """Draw a direction for the learner's prior: structured ones as often as random ones."""
    kind = rng.integers(5)
    step = np.zeros(m)
    if kind == 0:  # from the truth to one other
        step[0], step[rng.integers(1, m)] = -1.0, 1.0
    elif kind == 1:  # from the truth to all others
        step[1:] = rng.dirichlet(np.ones(m - 1))
        step[0] = -1.0
    elif kind == 2:  # between two others
        source, aim = 1 + rng.permutation(m - 1)[:2]
        step[source], step[aim] = -1.0, 1.0
    elif kind == 3:  # alternating
        step = np.where(rng.permutation(m) % 2 == 0, 1.0, -1.0)
        step -= step.mean()
    else:
        step = rng.standard_normal(m - 1) @ plane_basis(m)
    return step


def _longest(prior: Array, step: Array, distance: Distance) -> float:
    """Return how far a step may go: inside the simplex, and while the conjecture says something."""
    shrinking = step < 0.0
    border = float((-prior[shrinking] / step[shrinking]).min())
    apart = float(prior_distance(step, np.zeros_like(step), distance))
    return min(0.98 * border, MOST_ALLOWED * prior[0] / apart)


def _moved(prior: Array, step: Array, share: float, distance: Distance) -> Array:
    moved = prior + share * _longest(prior, step, distance) * step
    return moved / moved.sum()


def _share(prior: Array, step: Array, distance: Distance) -> float:
    return float(np.clip(1.0 / _longest(prior, step, distance), 0.05, 0.95))


def _inner(prior: Array) -> Array:
    kept = np.maximum(prior / prior.sum(), 0.005)
    return kept / kept.sum()


def _tamed(matrix: Array) -> Array:
    columns = matrix / matrix.sum(axis=0)
    columns = np.maximum(columns, columns.max(axis=0) / WIDEST)
    return columns / columns.sum(axis=0)
