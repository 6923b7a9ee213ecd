"""How soon a watcher understands, and what the walk costs."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cobayes._input.labels import is_position
from cobayes._input.validation import counts_by
from cobayes._output import counted
from cobayes.errors import CobayesError
from cobayes.rules import Rule
from cobayes.worlds.agents import Moves, RuleName, WorldLearner, WorldTeacher
from cobayes.worlds.base import World
from cobayes.worlds.trajectory import run_trajectory


@dataclass(frozen=True, repr=False)
class Legibility:
    """How legible many walks of one teacher were.

    Attributes
    ----------
    teacher_rule, learner_rule : str
        Who walked and who watched.
    certainty : float
        How sure counts as sure.
    rounds, rounds_stderr : float
        Mean number of moves until the watcher was that sure, over the walks in which it was,
        and the standard error.
    num_unsure : int
        Walks in which it never was.
    steps, steps_stderr : float
        Mean number of moves to the goal, over the walks that reached it.
    num_unfinished : int
        Walks that did not reach it.
    legibility : float
        The watcher's belief in the goal, averaged over the moves of a walk, and over walks.
    num_walks : int
        How many walks.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.worlds.measure_legibility(cb.GridWorld.paper(), "A", num_walks=20, rng=1)
    >>> found.num_walks, 0.0 < found.legibility < 1.0
    (20, True)
    """

    teacher_rule: str
    learner_rule: str
    certainty: float
    rounds: float
    rounds_stderr: float
    num_unsure: int
    steps: float
    steps_stderr: float
    num_unfinished: int
    legibility: float
    num_walks: int

    def __repr__(self) -> str:
        sure = _in_words(self.rounds, self.rounds_stderr, self.num_unsure, self.num_walks)
        there = _in_words(self.steps, self.steps_stderr, self.num_unfinished, self.num_walks)
        return (
            f"Legibility({self.teacher_rule} walker, {self.learner_rule} watcher; "
            f"{100 * self.certainty:g} % sure {sure}, at the goal {there}; "
            f"{counted(self.num_walks, 'walk')})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return asdict(self)


def _in_words(mean: float, stderr: float, num_never: int, num_walks: int) -> str:
    if num_never == num_walks:
        return "never"
    spread = "" if math.isnan(stderr) else f" ± {stderr:.1g}"
    return f"after {mean:.3g}{spread} moves ({num_never} never)"


@counts_by("num_walks")
def measure_legibility(
    world: World,
    goal: int | str,
    rule: RuleName | type[Rule] | Rule = "SCBI",
    *,
    learner_rule: RuleName | type[Rule] | Rule | None = None,
    learner_world: World | None = None,
    prior: ArrayLike | None = None,
    moves: Moves = "forward",
    certainty: float = 0.95,
    num_walks: int = 200,
    max_rounds: int = 100,
    rng: Any = None,
) -> Legibility:
    """Walk many times and measure how soon the watcher is sure and what the walks cost.

    Parameters
    ----------
    world, goal, rule, prior, moves
        The walker's; see `WorldTeacher`.
    learner_rule, learner_world
        The watcher's, where they differ.
    certainty
        How sure counts as sure.
    num_walks
        How many walks to average over.
    max_rounds
        A walk is cut off after so many moves.
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    Legibility
        Rounds and steps with their errors, and how many walks left the watcher unsure.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> round(cb.worlds.measure_legibility(world, "A", num_walks=50, rng=1).rounds, 2)
    2.94
    """
    if not is_position(num_walks) or num_walks < 2:
        raise CobayesError(f"num_walks is {num_walks!r}; expected an integer >= 2.")
    generator = np.random.default_rng(rng)
    # The tables of rules are filled once and serve all walks.
    teacher = WorldTeacher(world, goal, rule, prior, generator, moves)
    learner = WorldLearner(learner_world or world, learner_rule or rule, prior)
    rounds: list[int] = []
    steps: list[int] = []
    scores: list[float] = []
    for _ in range(num_walks):
        teacher.restart(prior)
        learner.restart(prior)
        walk = run_trajectory(teacher, learner, max_rounds=max_rounds, rng=generator)
        sure = walk.rounds_until(certainty)
        if sure is not None:
            rounds.append(sure)
        if walk.reached_goal:
            steps.append(walk.num_steps)
        scores.append(walk.legibility)
    return Legibility(
        teacher.rule.title,
        learner.rule.title,
        certainty,
        *_mean(rounds),
        num_walks - len(rounds),
        *_mean(steps),
        num_walks - len(steps),
        float(np.mean(scores)),
        num_walks,
    )


def _mean(values: list[int]) -> tuple[float, float]:
    """Return the mean and its standard error; NaN where there are too few values."""
    if len(values) < 2:
        return (float(values[0]) if values else np.nan), np.nan
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))
