"""Agents in a world: a walker who teaches by its moves, and a watcher who learns from them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.errors import CobayesError
from cobayes.lessons import Learner, Teacher
from cobayes.rules import BI, SCBI, Rule
from cobayes.worlds.base import State, World

Array = NDArray[np.float64]

RuleName = Literal["SCBI", "BI"]
Moves = Literal["any", "forward"]

RULES: dict[str, type[Rule]] = {"SCBI": SCBI, "BI": BI}


class RuleTable:
    """The rule in every state of a world, made when it is first asked for.

    Parameters
    ----------
    world
        Gives the matrices.
    rule
        "SCBI" or "BI", or a class that makes a rule from a matrix.
    """

    def __init__(self, world: World, rule: RuleName | type[Rule] = "SCBI") -> None:
        if not isinstance(world, World):
            raise CobayesError(
                f"the world is a {type(world).__name__}; expected a world.",
                "make one with cobayes.GridWorld(...) or cobayes.world_from_gymnasium(env, ...).",
            )
        self.world = world
        self.kind = rule_class(rule)
        self._rules: dict[int, Rule] = {}

    def at(self, state: State) -> Rule:
        """Return the rule with the matrix of a state."""
        position = self.world.state_position(state)
        if position not in self._rules:
            self._rules[position] = self.kind(self.world.matrix_at(state))
        return self._rules[position]


def rule_class(rule: str | type[Rule]) -> type[Rule]:
    """Return the class of a rule given by name or as the class itself."""
    if isinstance(rule, type) and issubclass(rule, Rule):
        return rule
    found = RULES.get(str(rule).upper())
    if found is None:
        raise CobayesError(f"there is no rule called {rule!r}.", "choose 'SCBI' or 'BI'.")
    return found


class WorldLearner:
    """A watcher: it sees moves and infers the goal.

    Parameters
    ----------
    world
        The world as the watcher knows it; its discount may differ from the walker's.
    rule
        How it reads the moves: "SCBI" (cooperatively) or "BI" (literally).
    prior
        Its belief over the goals before the first move; uniform by default.
    """

    def __init__(
        self,
        world: World,
        rule: RuleName | type[Rule] = "SCBI",
        prior: ArrayLike | None = None,
    ) -> None:
        self.rules = RuleTable(world, rule)
        self.world = world
        self.agent = Learner(self.rules.at(world.start), prior)

    @property
    def belief(self) -> Array:
        """The current belief over the goals, shape (m,)."""
        return self.agent.belief

    @property
    def log_belief(self) -> Array:
        """The logarithms of the belief."""
        return self.agent.log_belief

    def watch(self, state: State, action: int | str) -> Array:
        """See one move made in a state, update the belief and return it."""
        self.agent.adopt(self.rules.at(state))
        return self.agent.observe(action)

    def restart(self, prior: ArrayLike | None = None) -> None:
        """Forget all moves and begin with a prior again; what was computed is kept."""
        self.agent = Learner(self.rules.at(self.world.start), prior)

    def __repr__(self) -> str:
        best = int(np.argmax(self.belief))
        return (
            f"WorldLearner({self.rules.kind.name}; most likely goal "
            f"{self.world.goal_labels[best]!r} with {self.belief[best]:.4f})"
        )


class WorldTeacher:
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
    """

    def __init__(
        self,
        world: World,
        goal: int | str,
        rule: RuleName | type[Rule] = "SCBI",
        prior: ArrayLike | None = None,
        rng: Any = None,
        moves: Moves = "any",
    ) -> None:
        require_moves(moves)
        self.rules = RuleTable(world, rule)
        self.world = world
        self.moves: Moves = moves
        self.goal = world.goal_index(goal)
        self.agent = Walker(self.rules.at(world.start), self.goal, prior, rng)

    @property
    def belief(self) -> Array:
        """The walker's estimate of the watcher's belief, shape (m,)."""
        return self.agent.belief

    @property
    def log_belief(self) -> Array:
        """The logarithms of the estimate."""
        return self.agent.log_belief

    def look(self, state: State) -> Rule:
        """Take in the state and return the rule for the next move there."""
        rule = self.rules.at(state)
        self.agent.adopt(rule)
        self.agent.allowed = allowed_moves(self.world, state, self.goal, self.moves)
        return rule

    def distribution_at(self, state: State) -> Array:
        """Return the distribution from which a move in this state would be drawn, (n,)."""
        self.look(state)
        return self.agent.distribution

    def act(self, state: State) -> int:
        """Draw a move, follow its effect on the watcher, and return its position."""
        self.look(state)
        return self.agent.choose()

    def restart(self, prior: ArrayLike | None = None) -> None:
        """Begin with a prior again; the random numbers go on and what was computed is kept."""
        rng = self.agent.rng
        self.agent = Walker(self.rules.at(self.world.start), self.goal, prior, rng)

    def __repr__(self) -> str:
        return (
            f"WorldTeacher({self.rules.kind.name}; goal {self.world.goal_labels[self.goal]!r}; "
            f"moves: {self.moves})"
        )


class Walker(Teacher):
    """A teacher whose data may be restricted to some moves for the next round."""

    allowed: NDArray[np.bool_] | None = None

    @property
    def rng(self) -> np.random.Generator:
        """The generator of its random numbers."""
        return self._rng

    @property
    def distribution(self) -> Array:
        """The distribution from which the next move is drawn, shape (n,)."""
        return restricted(self.likelihood[:, self.hypothesis], self.allowed)


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
