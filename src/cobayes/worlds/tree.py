"""The exact distribution of short walks: every sequence of moves with its probability."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import is_position
from cobayes._output import counted
from cobayes.errors import CobayesError
from cobayes.rules import Rule
from cobayes.rules.base import require_teachable
from cobayes.rules.response import log_posterior
from cobayes.tasks.task import State
from cobayes.worlds.agents import (
    Moves,
    RuleName,
    allowed_moves,
    require_moves,
    restricted,
    world_rule,
)
from cobayes.worlds.base import World
from cobayes.worlds.trajectory import require_same_places

Array = NDArray[np.float64]

MAX_WALKS = 1_000_000

Walk = tuple[float, tuple[int, ...], State, Array, Array]


@dataclass(frozen=True, eq=False, repr=False)
class WalkDistribution:
    """All walks of some length that a teacher may take, with their probabilities.

    Attributes
    ----------
    probabilities : ndarray
        Probabilities of the walks, shape (w,); they sum to one.
    actions : tuple of tuple of int
        The moves of every walk; a walk that reached its goal is shorter.
    states : tuple
        Where every walk ends.
    log_beliefs, teacher_log_beliefs : ndarray
        The watcher's beliefs after it and the walker's estimates, as logarithms, (w, m).
    goal : int
        The position of the walker's goal.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.worlds.walk_distribution(cb.GridWorld.paper(), "A", 2)
    >>> len(found.actions), round(float(found.probabilities.sum()), 6)
    (9, 1.0)
    """

    probabilities: Array
    actions: tuple[tuple[int, ...], ...]
    states: tuple[State, ...]
    log_beliefs: Array
    teacher_log_beliefs: Array
    goal: int

    @cached_property
    def belief_in_goal(self) -> Array:
        """The watcher's belief in the walker's goal after each walk, (w,)."""
        return np.exp(self.log_beliefs[:, self.goal])

    @cached_property
    def misjudgement(self) -> Array:
        """The watcher's belief in the goal less the walker's estimate of it, (w,)."""
        return self.belief_in_goal - np.exp(self.teacher_log_beliefs[:, self.goal])

    def mean(self, values: ArrayLike) -> float:
        """Return the mean of something that is known for every walk."""
        return float(self.probabilities @ np.asarray(values, dtype=np.float64))

    def __repr__(self) -> str:
        return (
            f"WalkDistribution({counted(len(self.probabilities), 'walk')}; mean belief in the goal "
            f"{self.mean(self.belief_in_goal):.4f})"
        )


def walk_distribution(
    world: World,
    goal: int | str,
    num_rounds: int,
    rule: RuleName | type[Rule] | Rule = "SCBI",
    *,
    learner_world: World | None = None,
    learner_rule: RuleName | type[Rule] | Rule | None = None,
    prior: ArrayLike | None = None,
    learner_prior: ArrayLike | None = None,
    moves: Moves = "any",
) -> WalkDistribution:
    """Return the exact distribution of a teacher's walks of some length.

    Parameters
    ----------
    world
        The walker's world; moves with several outcomes branch.
    goal
        The walker's goal, by position or label; a walk that reaches it ends.
    num_rounds
        The number of moves.
    rule
        The walker's rule.
    learner_world, learner_rule
        The watcher's, where they differ from the walker's.
    prior, learner_prior
        What the walker takes the watcher's prior to be, and the watcher's own where it differs.
    moves
        "any" or "forward", as for `WorldTeacher`.

    Returns
    -------
    WalkDistribution
        All walks with their probabilities and the watcher's beliefs.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> len(cb.worlds.walk_distribution(world, "A", 2).probabilities)
    9
    """
    if not is_position(num_rounds) or num_rounds < 0:
        raise CobayesError(f"num_rounds is {num_rounds!r}; expected an integer >= 0.")
    require_moves(moves)
    theirs = world if learner_world is None else learner_world
    require_same_places(world, theirs)
    teaching = world_rule(world, rule)
    watching = world_rule(theirs, rule if learner_rule is None else learner_rule)
    column = world.goal_index(goal)
    first = teaching.at(world.start)
    estimate = first.log_belief(prior, "prior")
    require_teachable(first.model, estimate, column, "prior")
    belief = first.log_belief(prior if learner_prior is None else learner_prior, "prior")

    open_walks: list[Walk] = [(1.0, (), world.start, belief, estimate)]
    finished: list[Walk] = []
    for _ in range(num_rounds):
        following: list[Walk] = []
        for probability, actions, state, belief, estimate in open_walks:
            likelihood = teaching.at(state).respond(estimate).likelihood
            allowed = allowed_moves(world, state, column, moves)
            chances = restricted(likelihood[:, column], allowed)
            estimates = log_posterior(estimate, likelihood)
            beliefs = log_posterior(belief, watching.at(state).respond(belief).likelihood)
            for action in np.flatnonzero(chances):
                for target, chance in world.next_states(state, int(action)):
                    walk = (
                        probability * float(chances[action]) * chance,
                        (*actions, int(action)),
                        target,
                        beliefs[action],
                        estimates[action],
                    )
                    (finished if world.is_goal(target, column) else following).append(walk)
        open_walks = following
        if len(open_walks) + len(finished) > MAX_WALKS:
            raise CobayesError(
                f"there are more than {MAX_WALKS} walks of {num_rounds} moves.",
                "use fewer rounds, or sample with cobayes.worlds.run_trajectory(...).",
            )
    walks = [*finished, *open_walks]
    columns = tuple(zip(*walks, strict=True))
    return WalkDistribution(
        np.array(columns[0]),
        columns[1],
        columns[2],
        np.array(columns[3]),
        np.array(columns[4]),
        column,
    )
