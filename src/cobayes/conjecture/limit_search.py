"""A search for the steepest slope in the limit of small perturbations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np

from cobayes._input.validation import whole_number
from cobayes._runtime.limits import require_affordable, short_number
from cobayes._runtime.randomness import generator
from cobayes.conjecture.candidates import Candidate, draw_candidate, mutate
from cobayes.conjecture.small_perturbations import LimitSlope, limit_slope
from cobayes.errors import CobayesError
from cobayes.stability.bounds import Distance, prior_distance

# Rounds and sequences of a first look, of a second one, and of the final measurement.
FIRST, SECOND, FINAL = (100, 200), (500, 800), (1000, 10_000)
ELITE = 10
FRESH = 0.2


@dataclass(frozen=True, eq=False)
class SteepestLimit:
    """The steepest slope that a search found.

    Attributes
    ----------
    candidate : Candidate
        Matrix, teacher's prior, and a learner's prior in the direction of the error.
    slope : LimitSlope
        Its slope, from sequences drawn after it was chosen.
    num_candidates : int
        How many were looked at.

    Examples
    --------
    >>> from cobayes.conjecture import steepest_limit
    >>> found = steepest_limit(3, num_candidates=1, final=(10, 50), rng=1)
    >>> found.num_candidates, found.slope.stderr > 0.0
    (1, True)
    """

    candidate: Candidate
    slope: LimitSlope
    num_candidates: int


def steepest_limit(
    num_hypotheses: SupportsIndex,
    *,
    num_candidates: SupportsIndex,
    start: Candidate | None = None,
    final: tuple[int, int] = FINAL,
    rng: Any = None,
) -> SteepestLimit:
    """Search for the steepest slope in L1 in the limit of small perturbations.

    Candidates are drawn from the families of `Falsifier`, and the best ones are varied. A first
    look at 100 rounds decides which are measured over 500.

    Parameters
    ----------
    num_hypotheses
        At least 3; with two the slope is at most 1/2.
    num_candidates
        How many to look at.
    start
        A case to begin with.
    final
        Rounds and sequences of the final measurement.
    rng
        A seed or a numpy Generator.

    Returns
    -------
    SteepestLimit
        The slope is a lower bound on that of the case, since it grows with the number of rounds.
        It says nothing about cases that were not found.

    Examples
    --------
    >>> from cobayes.conjecture import steepest_limit
    >>> found = steepest_limit(3, num_candidates=1, final=(10, 50), rng=1)
    >>> found.candidate.matrix.shape[1]
    3
    """
    size = whole_number(num_hypotheses, "num_hypotheses", 3)
    count = whole_number(num_candidates, "num_candidates", 1)
    if start is not None and len(start.teacher_prior) != size:
        raise CobayesError(
            f"the first case has {len(start.teacher_prior)} hypotheses; expected {size}."
        )
    require_affordable(
        f"a search of {short_number(count)} candidates",
        "look at fewer candidates; some hundred take minutes.",
        seconds=1e-6 * FIRST[0] * FIRST[1] * min(count, 10**300),
        num_bytes=0.0,
    )
    stream = generator(rng)
    elite: list[tuple[float, Candidate]] = []
    for number in range(count):
        if number == 0 and start is not None:
            candidate = start
        elif len(elite) < ELITE or stream.random() < FRESH:
            candidate = _draw(size, stream)
        else:
            position = int(len(elite) * stream.random() ** 2)
            candidate = mutate(elite[position][1], stream, "l1")
        first = candidate_slope(candidate, "l1", *FIRST, stream)
        # A slope grows with the number of rounds: a first look is compared with first looks.
        if len(elite) == ELITE and first.value + 2.0 * first.stderr < 0.8 * elite[-1][0]:
            continue
        second = candidate_slope(candidate, "l1", *SECOND, stream)
        elite.append((second.value - second.stderr, candidate))
        elite.sort(key=lambda entry: -entry[0])
        del elite[ELITE:]
    best = elite[0][1]
    return SteepestLimit(best, candidate_slope(best, "l1", *final, stream), count)


def candidate_slope(
    candidate: Candidate,
    distance: Distance,
    num_rounds: int,
    num_sequences: int,
    rng: np.random.Generator,
) -> LimitSlope:
    """Return a candidate's slope in the limit of small perturbations, in a distance."""
    step = candidate.learner_prior - candidate.teacher_prior
    step -= step.mean()
    found = limit_slope(
        candidate.matrix,
        0,
        candidate.teacher_prior,
        step,
        num_rounds=num_rounds,
        num_sequences=num_sequences,
        rng=rng,
    )
    zero = np.zeros_like(step)
    factor = float(prior_distance(step, zero, "l1") / prior_distance(step, zero, distance))
    return LimitSlope(factor * found.value, factor * found.stderr)


def _draw(size: int, stream: np.random.Generator) -> Candidate:
    """Draw a candidate with a given number of hypotheses."""
    while True:
        candidate = draw_candidate(stream, "l1")
        if len(candidate.teacher_prior) == size:
            return candidate
