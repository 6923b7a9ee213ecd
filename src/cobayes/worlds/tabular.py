"""Worlds given by a table of transitions, Gymnasium's tabular environments among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import is_position, make_labels
from cobayes.errors import CobayesError, import_optional
from cobayes.tasks.task import State, as_state
from cobayes.worlds.world import World, require_discount, require_reward

Array = NDArray[np.float64]
Transitions = Mapping[Any, Mapping[Any, Iterable[tuple[float, Any]]]]
"""State -> move -> pairs of a probability and the next state."""

ACTIONS = {
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "CliffWalkingEnv": ("up", "right", "down", "left"),
    "TaxiEnv": ("south", "north", "east", "west", "pick up", "drop off"),
}
"""Names of the moves of Gymnasium's own tabular environments, in their order."""


@dataclass(frozen=True, eq=False, repr=False)
class TabularWorld(World):
    """A world given by a table of transitions.

    Parameters
    ----------
    table
        From state to move to pairs (probability, next state). Moves are 0, 1, ..., or names, the
        same in every state.
    start
        The state in which a walk starts.
    goals
        From label to the state, or the states, that count as that goal.
    discount
        What a move costs: see `World`.
    actions
        Labels of the moves; by default their names or numbers in the table.
    reward
        What a goal is worth.

    Examples
    --------
    >>> from cobayes.worlds import TabularWorld
    >>> table = {s: {0: [(1.0, max(s - 1, 0))], 1: [(1.0, min(s + 1, 4))]} for s in range(5)}
    >>> world = TabularWorld(table, 2, {"left": 0, "right": 4}, 0.5, ("back", "on"))
    >>> world.matrix_at(2).matrix.round(3)
    array([[0.5  , 0.125],
           [0.125, 0.5  ]])
    """

    table: Transitions
    start: State = field()  # and not the default of `Task`
    goals: Mapping[str, Any]
    discount: float
    actions: Sequence[str] | None = None
    reward: float = 1.0

    if TYPE_CHECKING:  # made from the others, and no fields of the dataclass
        _outcomes: tuple[NDArray[np.intp], Array] = field(init=False)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "discount", require_discount(self.discount))
        set_field(self, "reward", require_reward(self.reward))
        set_field(self, "start", as_state(self.start))
        first = next(iter(self.table.values()), None)
        if not first:
            raise CobayesError("the table of transitions is empty.")
        names = sorted(first) if all(map(is_position, first)) else list(first)
        labels = names if self.actions is None else self.actions
        set_field(self, "actions", make_labels(map(str, labels), len(names), "datum"))
        set_field(self, "table", self._numbered(names))
        set_field(self, "goals", self._read_goals())
        set_field(self, "_outcomes", self._read_outcomes())
        self.require_goals()

    @cached_property
    def states(self) -> tuple[State, ...]:
        """All states, in the order of the table."""
        return tuple(self.table)

    @property
    def action_labels(self) -> tuple[str, ...]:
        """The labels of the moves: the data."""
        return tuple(self.actions or ())

    @property
    def goal_labels(self) -> tuple[str, ...]:
        """The labels of the candidate goals: the hypotheses."""
        return tuple(self.goals)

    @property
    def outcomes(self) -> tuple[NDArray[np.intp], Array]:
        """Positions of next states and their probabilities, (states, actions, outcomes)."""
        return self._outcomes

    def goal_states(self, goal: int | str) -> tuple[State, ...]:
        """Return the states that count as a goal, given by position or label."""
        return self.goals[self.goal_labels[self.goal_index(goal)]]

    def with_discount(self, discount: float) -> TabularWorld:
        """Return the same world with another discount."""
        return self.from_settings({**self.settings(), "discount": discount})

    def settings(self) -> dict[str, Any]:
        """Return the table and what else makes the same world again."""
        return {
            "table": [[state, list(moves.values())] for state, moves in self.table.items()],
            "start": self.start,
            "goals": {label: list(states) for label, states in self.goals.items()},
            "discount": self.discount,
            "actions": list(self.action_labels),
            "reward": self.reward,
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> TabularWorld:
        """Undo `settings`."""
        table = {as_state(state): dict(enumerate(moves)) for state, moves in settings["table"]}
        return cls(**{**settings, "table": table})

    def _numbered(self, names: list[Any]) -> dict[State, dict[int, list[tuple[float, State]]]]:
        """Return the table with positions of moves instead of their names."""
        for state, moves in self.table.items():
            if set(moves) != set(names):
                raise CobayesError(
                    f"state {state!r} has the moves {list(moves)}; expected {names}, those of the "
                    "first state.",
                    "where a move does nothing, let it lead back to the state.",
                )
        return {
            state: {
                k: [(chance, as_state(target)) for chance, target in moves[name]]
                for k, name in enumerate(names)
            }
            for state, moves in self.table.items()
        }

    def _read_goals(self) -> dict[str, tuple[State, ...]]:
        found: dict[str, tuple[State, ...]] = {}
        for label, given in self.goals.items():
            is_many = isinstance(given, list | set | frozenset)
            states = tuple(as_state(state) for state in (given if is_many else [given]))
            if not states:
                raise CobayesError(f"goal {label!r} has no states.")
            for state in states:
                self.state_position(state)
            found[str(label)] = states
        return found

    def _read_outcomes(self) -> tuple[NDArray[np.intp], Array]:
        rows = [
            [self._merged(state, move, pairs) for move, pairs in moves.items()]
            for state, moves in self.table.items()
        ]
        width = max(len(found) for row in rows for found in row)
        next_states = np.zeros((len(rows), len(rows[0]), width), dtype=np.intp)
        probabilities = np.zeros(next_states.shape)
        for s, row in enumerate(rows):
            for a, found in enumerate(row):
                next_states[s, a, : len(found)] = list(found)
                # Padding has probability zero; its state must be one that is reached anyway.
                next_states[s, a, len(found) :] = next(iter(found))
                probabilities[s, a, : len(found)] = list(found.values())
        return next_states, probabilities

    def _merged(
        self, state: State, move: int, pairs: Iterable[tuple[float, State]]
    ) -> dict[int, float]:
        """Return the outcomes of a move by position; a state that is listed twice counts once."""
        found: dict[int, float] = {}
        for probability, target in pairs:
            if not probability >= 0.0:
                raise CobayesError(
                    f"move {move} in state {state!r} has the probability {probability}."
                )
            if probability > 0.0:
                position = self.state_position(target)
                found[position] = found.get(position, 0.0) + float(probability)
        if not np.isclose(sum(found.values()), 1.0, atol=1e-9):
            raise CobayesError(
                f"the outcomes of move {move} in state {state!r} have probabilities that sum to "
                f"{sum(found.values()):.6g}, not to 1."
            )
        return found

    def __repr__(self) -> str:
        return (
            f"TabularWorld({len(self.states)} states; moves {', '.join(self.action_labels)}; "
            f"goals {', '.join(self.goal_labels)}; discount {self.discount:g})"
        )


def world_from_gymnasium(
    env: Any,
    goals: Mapping[str, Any] | Sequence[State],
    discount: float = 0.9,
    *,
    start: State | None = None,
    actions: Sequence[str] | None = None,
) -> TabularWorld:
    """Return the world of a tabular Gymnasium environment.

    Parameters
    ----------
    env
        An environment with a table ``env.unwrapped.P`` (state -> move -> list of probability, next
        state, reward, is over), or the name of a registered one.
    goals
        From label to the state or the list of states that count as that goal. A list of states,
        each a goal labelled by itself, will do.
    discount
        What a move costs.
    start
        Where walks start; the environment's most likely first state by default.
    actions
        Labels of the moves; known for Gymnasium's own environments.

    Returns
    -------
    TabularWorld
        With the environment's states and moves.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.worlds.world_from_gymnasium("FrozenLake-v1", [15, 3])
    >>> world.goal_labels
    ('15', '3')

    Notes
    -----
    Rewards of the environment are not used: a goal is worth one and every other state what its
    distance leaves of that, as in the paper. A state that ends an episode without being a goal,
    such as a hole in the ice, is worth next to nothing; see `World`.
    """
    if isinstance(env, str):
        gymnasium = import_optional("gymnasium", "worlds", "an environment")
        try:
            env = gymnasium.make(env)
        except gymnasium.error.Error as error:
            raise CobayesError(
                f"gymnasium does not make the environment {env!r}: {error}",
                "first import the package that registers it, or write 'package.module:Name-v0'; "
                "gymnasium.pprint_registry() lists the names that it knows.",
            ) from error
    inner = getattr(env, "unwrapped", env)
    source = getattr(inner, "P", None)
    if not isinstance(source, Mapping):
        raise CobayesError(
            f"the environment {type(inner).__name__} has no table of transitions 'P'.",
            "use one of the tabular environments (FrozenLake, Taxi, CliffWalking), or make a "
            "TabularWorld from a table of your own.",
        )
    table = {
        _plain(state): {
            int(action): [(float(chance), _plain(target)) for chance, target, *_ in found]
            for action, found in moves.items()
        }
        for state, moves in source.items()
    }
    if not isinstance(goals, Mapping):
        if isinstance(goals, str) or not isinstance(goals, Sequence | np.ndarray):
            raise CobayesError(
                f"the goals are {goals!r}; expected a list of states, or a dict from label to "
                "state.",
                'world_from_gymnasium(env, {"home": 15, "shop": 3}).',
            )
        goals = {str(state): _plain(state) for state in goals}
    if start is None:
        chances: Any = getattr(inner, "initial_state_distrib", None)
        if chances is None:
            raise CobayesError("the environment does not say where it starts.", "give start=...")
        start = int(np.argmax(chances))
    names = ACTIONS.get(type(inner).__name__) if actions is None else actions
    return TabularWorld(table, start, goals, discount, names)


def _plain(state: Any) -> Any:
    """Return a NumPy integer as a plain one, so that states print as users write them."""
    return int(state) if isinstance(state, np.integer) else state
