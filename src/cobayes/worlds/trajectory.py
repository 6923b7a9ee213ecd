"""A walk through a world, and what it told the watcher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import whole_number
from cobayes._output import counted, rounds_dataframe, rounds_dataset
from cobayes.errors import CobayesError
from cobayes.lessons.agents import Learner, Teacher
from cobayes.lessons.lesson import run_lesson
from cobayes.rules import Rule
from cobayes.tasks.task import State
from cobayes.worlds.agents import RuleName, WorldLearner, world_of
from cobayes.worlds.base import World

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A walk of k moves and the beliefs along it.

    Attributes
    ----------
    world : World
        The walker's world.
    goal : int
        The position of the walker's goal.
    states : tuple
        The k + 1 states, the start first.
    actions : ndarray
        The k moves, by position.
    log_beliefs, teacher_log_beliefs : ndarray
        Logarithms of the watcher's beliefs and of the walker's estimates, (k + 1, m).
    teacher_rule, learner_rule : str
        The names of the two rules.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> walk = cb.worlds.plan_trajectory(world, "A")
    >>> walk
    Trajectory(SCBI walker, SCBI watcher; 5 moves; goal 'A' reached; final belief in it 0.9984)
    """

    world: World
    goal: int
    states: tuple[State, ...]
    actions: NDArray[np.intp]
    log_beliefs: Array
    teacher_log_beliefs: Array
    teacher_rule: str
    learner_rule: str

    @property
    def beliefs(self) -> Array:
        """The watcher's beliefs, shape (k + 1, m); the first is the prior."""
        return np.exp(self.log_beliefs)

    @property
    def teacher_beliefs(self) -> Array:
        """The walker's estimates of the watcher's beliefs, shape (k + 1, m)."""
        return np.exp(self.teacher_log_beliefs)

    @property
    def belief_in_goal(self) -> Array:
        """The watcher's belief in the walker's goal, shape (k + 1,)."""
        return self.beliefs[:, self.goal]

    @property
    def goal_label(self) -> str:
        """The label of the walker's goal."""
        return self.world.goal_labels[self.goal]

    @property
    def action_labels(self) -> tuple[str, ...]:
        """The labels of the moves that were made."""
        return tuple(self.world.action_labels[action] for action in self.actions)

    @property
    def num_steps(self) -> int:
        """The number of moves, k."""
        return len(self.actions)

    @property
    def reached_goal(self) -> bool:
        """Whether the walk ended on the goal."""
        return self.world.is_goal(self.states[-1], self.goal)

    @property
    def extra_steps(self) -> int | None:
        """How many moves more than the fewest possible; None where the goal was not reached."""
        if not self.reached_goal:
            return None
        start = self.world.state_position(self.states[0])
        return self.num_steps - int(self.world.distances[start, self.goal])

    def rounds_until(self, certainty: float = 0.95) -> int | None:
        """Return after how many moves the watcher's belief in the goal first was this high.

        Parameters
        ----------
        certainty
            A probability. The result is None where the belief never got there.
        """
        if not 0.0 < certainty < 1.0:
            raise CobayesError(f"the certainty is {certainty!r}; it must lie between 0 and 1.")
        sure = np.flatnonzero(self.belief_in_goal >= certainty)
        return int(sure[0]) if len(sure) else None

    @property
    def legibility(self) -> float:
        """The watcher's belief in the goal, averaged over the moves; high where it rises soon."""
        return float(self.belief_in_goal[1:].mean()) if self.num_steps else 0.0

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per move: the move, where it led, and the watcher's belief."""
        table = rounds_dataframe(self.beliefs, self.world.goal_labels)
        table.insert(0, "state", list(self.states), allow_duplicates=True)
        table.insert(0, "action", [None, *self.action_labels], allow_duplicates=True)
        return table

    def to_xarray(self) -> xr.Dataset:
        """Return beliefs, moves and states as a Dataset with the labels."""
        return rounds_dataset(
            {
                "belief": self.beliefs,
                "log_belief": self.log_beliefs,
                "teacher_belief": self.teacher_beliefs,
            },
            "goal",
            self.world.goal_labels,
            {
                "teacher_rule": self.teacher_rule,
                "learner_rule": self.learner_rule,
                "true_goal": self.goal_label,
            },
            {
                "action": ["", *self.action_labels],
                "state": [str(state) for state in self.states],
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return {
            "teacher_rule": self.teacher_rule,
            "learner_rule": self.learner_rule,
            "goal": self.goal_label,
            "goals": list(self.world.goal_labels),
            "actions": list(self.action_labels),
            "states": [list(state) if isinstance(state, tuple) else state for state in self.states],
            "beliefs": self.beliefs.tolist(),
            "teacher_beliefs": self.teacher_beliefs.tolist(),
            "reached_goal": self.reached_goal,
            "extra_steps": self.extra_steps,
            "rounds_until_95_percent_sure": self.rounds_until(0.95),
            "legibility": self.legibility,
        }

    def __repr__(self) -> str:
        end = "reached" if self.reached_goal else "not reached"
        return (
            f"Trajectory({self.teacher_rule} walker, {self.learner_rule} watcher; "
            f"{counted(self.num_steps, 'move')}; goal {self.goal_label!r} {end}; final belief in "
            f"it {self.belief_in_goal[-1]:.4f})"
        )


def run_trajectory(
    teacher: Teacher,
    learner: Learner,
    *,
    start: State | None = None,
    max_rounds: int = 100,
    rng: Any = None,
) -> Trajectory:
    """Let a walker walk until its goal or the last round, while a watcher watches.

    This is `run_lesson` on a world; the result knows the walk besides the beliefs.

    Parameters
    ----------
    teacher
        Chooses the moves: a `WorldTeacher`, or a `Teacher` whose rule is made from a world.
    learner
        Watches; its world may differ from the walker's in discount and reward.
    start
        Where to start; where the teacher is by default.
    max_rounds
        Stop after so many moves even if the goal was not reached.
    rng
        For the outcomes of uncertain moves; the walker's own generator by default.

    Returns
    -------
    Trajectory
        The walk, and the beliefs of the watcher along it.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> teacher = cb.worlds.WorldTeacher(world, "A", rng=1)
    >>> cb.worlds.run_trajectory(teacher, cb.worlds.WorldLearner(world))
    Trajectory(SCBI walker, SCBI watcher; 19 moves; goal 'A' reached; final belief in it 1.0000)
    """
    world = world_of(teacher)
    require_same_places(world, world_of(learner))
    max_rounds = whole_number(max_rounds, "max_rounds", 0)
    for agent in (teacher, learner):
        agent.arrive(teacher.state if start is None else start)
    lesson = run_lesson(teacher, learner, max_rounds, rng=rng)
    return Trajectory(
        world,
        teacher.hypothesis,
        lesson.states,
        lesson.data,
        lesson.log_beliefs,
        lesson.teacher_log_beliefs,
        teacher.rule.title,
        learner.rule.title,
    )


def watch_actions(
    world: World,
    goal: int | str,
    actions: Sequence[int | str],
    rule: RuleName | type[Rule] | Rule = "SCBI",
    *,
    prior: ArrayLike | None = None,
    start: State | None = None,
) -> Trajectory:
    """Return what a watcher concludes from given moves in a deterministic world.

    Parameters
    ----------
    world
        A world without slips.
    goal
        The walker's goal: what the watcher's belief is measured against.
    actions
        The moves, by position or label.
    rule
        How the watcher reads them: "SCBI" or "BI".
    prior
        The watcher's prior; uniform by default.
    start
        Where the walk starts; the world's start by default.

    Returns
    -------
    Trajectory
        The walk, with the watcher's belief after every move.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> cb.worlds.watch_actions(world, "A", ["left", "up"]).beliefs[-1].round(3)
    array([0.852, 0.148])
    """
    require_deterministic(world, "watching given moves")
    learner = WorldLearner(world, rule, prior)
    learner.arrive(world.start if start is None else start)
    states, log_beliefs = [learner.state], [learner.log_belief]
    positions = [world.action_index(action) for action in actions]
    for action in positions:
        learner.observe(action)
        states.append(learner.state)
        log_beliefs.append(learner.log_belief)
    name = learner.rule.title
    return Trajectory(
        world,
        world.goal_index(goal),
        tuple(states),
        np.array(positions, dtype=np.intp),
        np.array(log_beliefs),
        np.array(log_beliefs),
        name,
        name,
    )


def require_deterministic(world: World, what: str) -> None:
    """Raise an error where moves have uncertain outcomes."""
    if not world.is_deterministic:
        raise CobayesError(
            f"{what} needs a world in which every move has one outcome.",
            "use slip=0, or sample walks with cobayes.worlds.run_trajectory(...).",
        )


def require_same_places(teacher: World, learner: World) -> None:
    """Raise an error where two worlds differ in more than worth."""
    for what, mine, theirs in (
        ("moves", teacher.action_labels, learner.action_labels),
        ("goals", teacher.goal_labels, learner.goal_labels),
        ("states", teacher.states, learner.states),
    ):
        if mine != theirs:
            raise CobayesError(
                f"walker and watcher live in worlds with different {what}.",
                "give both the same board; discount and reward may differ.",
            )
