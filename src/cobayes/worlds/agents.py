"""Agents in a world: a walker who teaches by its moves, and a watcher who learns from them.

Both are a `Teacher` and a `Learner` whose rule is made from the world; lessons, saving and
resuming are those of any task.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.errors import CobayesError
from cobayes.lessons.agents import Learner, Teacher
from cobayes.rules import Rule, as_rule
from cobayes.tasks.task import State
from cobayes.worlds.base import World

Array = NDArray[np.float64]

RuleName = Literal["SCBI", "BI"]
Moves = Literal["any", "forward"]


def world_rule(world: World, rule: RuleName | type[Rule] | Rule = "SCBI") -> Rule:
    """Return the rule of a name or a class, made from a world."""
    if not isinstance(world, World):
        raise CobayesError(
            f"the world is a {type(world).__name__}; expected a world.",
            "make one with cobayes.GridWorld(...) or "
            "cobayes.worlds.world_from_gymnasium(env, ...).",
        )
    return as_rule(rule, world)


def world_of(agent: Learner) -> World:
    """Return the world of an agent whose rule is made from one."""
    if not isinstance(agent.task, World):
        raise CobayesError(
            f"the {agent.kind}'s rule is made from a {type(agent.task).__name__}; expected a world."
        )
    return agent.task


class WorldLearner(Learner):
    """A watcher: it sees moves and infers the goal.

    Parameters
    ----------
    world
        The world as the watcher knows it; its discount may differ from the walker's.
    rule
        How it reads the moves: "SCBI" (cooperatively), "BI" (literally), or a rule made from the
        world, as ``Pragmatic(world, 2)``.
    prior
        Its belief over the goals before the first move; uniform by default.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> learner = cb.worlds.WorldLearner(world)
    >>> learner
    WorldLearner(SCBI; most likely 'A' with 0.5000)
    """

    kind = "watcher"

    def __init__(
        self,
        world: World,
        rule: RuleName | type[Rule] | Rule = "SCBI",
        prior: ArrayLike | None = None,
    ) -> None:
        super().__init__(world_rule(world, rule), prior)
        self.world = world

    def watch(self, state: State, action: int | str) -> Array:
        """See one move made in a state, update the belief and return it."""
        self.arrive(state)
        return self.observe(action)

    def restart(self, prior: ArrayLike | None = None) -> None:
        """Forget all moves and begin with a prior again; the rules of all states are kept."""
        super().__init__(self.rule, prior)

    @classmethod
    def _rebuild(cls, rule: Rule, content: dict[str, Any]) -> Self:  # noqa: ARG003
        agent = cls.__new__(cls)
        Learner.__init__(agent, rule)
        agent.world = world_of(agent)
        return agent


class WorldTeacher(Teacher):
    """A walker who knows the goal and shows it by its moves.

    Parameters
    ----------
    world
        The world as the walker knows it.
    goal
        Its goal, by position or label.
    rule
        How it chooses its moves: "SCBI" thinks of the watcher, "BI" acts literally, each move
        as likely as what it leads to is worth.
    prior
        What it takes the watcher's prior to be; uniform by default.
    rng
        Anything that `numpy.random.default_rng` takes.
    moves
        "any": the rule's distribution over all moves, as in the paper. An SCBI walker whose
        watcher is convinced has nothing left to teach and wanders. "forward": the same
        distribution restricted to moves towards the goal (`World.moves_forward`); it arrives.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> teacher = cb.worlds.WorldTeacher(world, "A", rng=1)
    >>> teacher
    WorldTeacher(SCBI; goal 'A'; moves: any)
    """

    kind = "walker"

    def __init__(
        self,
        world: World,
        goal: int | str,
        rule: RuleName | type[Rule] | Rule = "SCBI",
        prior: ArrayLike | None = None,
        rng: Any = None,
        moves: Moves = "any",
    ) -> None:
        require_moves(moves)
        made = world_rule(world, rule)
        super().__init__(made, world.goal_index(goal), prior, rng)
        self.world = world
        self.moves: Moves = moves

    @property
    def goal(self) -> int:
        """The position of its goal."""
        return self.hypothesis

    @property
    def distribution(self) -> Array:
        """The distribution from which the next move is drawn, shape (n,)."""
        allowed = allowed_moves(self.world, self.state, self.goal, self.moves)
        return restricted(self._respond().likelihood[:, self.goal], allowed)

    def distribution_at(self, state: State) -> Array:
        """Return the distribution from which a move in this state would be drawn, (n,)."""
        self.arrive(state)
        return self.distribution

    def act(self, state: State) -> int:
        """Draw a move, follow its effect on the watcher, and return its position."""
        self.arrive(state)
        return self.choose()

    def restart(self, prior: ArrayLike | None = None) -> None:
        """Begin with a prior again; the random numbers go on."""
        super().__init__(self.rule, self.goal, prior, self.rng)

    def snapshot(self) -> dict[str, Any]:
        """Return the agent's state; see `Learner.snapshot`."""
        return {**super().snapshot(), "moves": self.moves}

    @classmethod
    def _rebuild(cls, rule: Rule, content: dict[str, Any]) -> Self:
        plain = Teacher._rebuild(rule, content)
        require_moves(content["moves"])
        agent = cls.__new__(cls)
        Teacher.__init__(agent, rule, plain.hypothesis, rng=plain.rng)
        agent.world, agent.moves = world_of(plain), content["moves"]
        return agent

    def __repr__(self) -> str:
        goal = self.world.goal_labels[self.goal]
        return f"WorldTeacher({self.rule.title}; goal {goal!r}; moves: {self.moves})"


def allowed_moves(world: World, state: State, goal: int, moves: Moves) -> NDArray[np.bool_] | None:
    """Return which moves a walker may make; None for all of them."""
    return world.moves_forward(state, goal) if moves == "forward" else None


def restricted(probabilities: Array, allowed: NDArray[np.bool_] | None) -> Array:
    """Return a distribution given that one of the allowed moves is made."""
    if allowed is None:
        return probabilities.copy()
    kept = np.where(allowed, probabilities, 0.0)
    return kept / kept.sum()


def require_moves(moves: str) -> None:
    """Raise an error where the kind of moves is unknown."""
    if moves not in ("any", "forward"):
        raise CobayesError(
            f"moves is {moves!r}; expected 'any' or 'forward'.",
            "'any' is the paper's walker, 'forward' one that arrives at its goal.",
        )
