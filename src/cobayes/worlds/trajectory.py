"""A walk through a world, and what it told the watcher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import is_position
from cobayes._output import rounds_dataframe, rounds_dataset
from cobayes.errors import CobayesError
from cobayes.rules import Rule
from cobayes.worlds.agents import RuleName, WorldLearner, WorldTeacher
from cobayes.worlds.base import State, World
from cobayes.worlds.rounds import run_varying_lesson

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
        """Return one row a move: the move, where it led, and the watcher's belief."""
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
            f"{self.num_steps} moves; goal {self.goal_label!r} {end}; final belief in it "
            f"{self.belief_in_goal[-1]:.4f})"
        )


def run_trajectory(
    teacher: WorldTeacher,
    learner: WorldLearner,
    *,
    start: State | None = None,
    max_rounds: int = 100,
    rng: Any = None,
) -> Trajectory:
    """Let a walker walk until its goal or the last round, while a watcher watches.

    Parameters
    ----------
    teacher
        Chooses the moves; in every round its rule has the matrix of the state it is in.
    learner
        Watches; its world may differ from the walker's in discount and reward.
    start
        Where to start; the world's start by default.
    max_rounds
        Stop after so many moves even if the goal was not reached.
    rng
        For the outcomes of uncertain moves; a deterministic world draws nothing.
    """
    world = teacher.world
    require_same_places(world, learner.world)
    _require_rounds(max_rounds)
    states = [world.states[world.state_position(world.start if start is None else start)]]
    generator = np.random.default_rng(rng)

    def next_rules(actions: Sequence[int]) -> tuple[Rule, Rule] | None:
        if actions:
            states.append(step(world, states[-1], actions[-1], generator))
        if len(actions) == max_rounds or world.is_goal(states[-1], teacher.goal):
            return None
        return teacher.look(states[-1]), learner.rules.at(states[-1])

    lesson = run_varying_lesson(teacher.agent, learner.agent, next_rules)
    return Trajectory(
        world,
        teacher.goal,
        tuple(states),
        lesson.data,
        lesson.log_beliefs,
        lesson.teacher_log_beliefs,
        teacher.rules.kind.name,
        learner.rules.kind.name,
    )


def watch_actions(
    world: World,
    goal: int | str,
    actions: Sequence[int | str],
    rule: RuleName | type[Rule] = "SCBI",
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
    """
    require_deterministic(world, "watching given moves")
    learner = WorldLearner(world, rule, prior)
    states = [world.states[world.state_position(world.start if start is None else start)]]
    log_beliefs = [learner.log_belief]
    positions = [world.action_index(action) for action in actions]
    for action in positions:
        learner.watch(states[-1], action)
        states.append(world.next_states(states[-1], action)[0][0])
        log_beliefs.append(learner.log_belief)
    name = learner.rules.kind.name
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


def step(world: World, state: State, action: int, rng: np.random.Generator) -> State:
    """Return where a move leads, drawing one number only where that is uncertain."""
    found = world.next_states(state, action)
    if len(found) == 1:
        return found[0][0]
    chances = np.cumsum([chance for _, chance in found])
    drawn = int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))
    return found[min(drawn, len(found) - 1)][0]


def require_deterministic(world: World, what: str) -> None:
    """Raise an error where moves have uncertain outcomes."""
    if not world.is_deterministic:
        raise CobayesError(
            f"{what} needs a world in which every move has one outcome.",
            "use slip=0, or sample walks with cobayes.run_trajectory(...).",
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


def _require_rounds(value: Any) -> None:
    if not is_position(value) or value < 0:
        raise CobayesError(
            f"max_rounds is {value!r}; expected a whole number that is not negative."
        )
