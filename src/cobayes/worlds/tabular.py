"""Worlds given by a table of transitions, such as Gymnasium's tabular environments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import make_labels, shorten
from cobayes._input.validation import as_integer, instance, items, quoted
from cobayes.errors import CobayesError, import_optional
from cobayes.tasks.task import State, as_state
from cobayes.worlds.world import World

Array = NDArray[np.float64]
Transitions = Mapping[Any, Mapping[Any, Iterable[tuple[float, Any]]]]
"""State -> move -> pairs of a probability and the next state."""

ACTIONS = {
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "CliffWalkingEnv": ("up", "right", "down", "left"),
    "TaxiEnv": ("south", "north", "east", "west", "pick up", "drop off"),
}
"""Names of the moves of Gymnasium's own tabular environments, in the order of their numbers."""


class TabularWorld(World):
    """A world given by a table of transitions.

    Parameters
    ----------
    table
        A nested mapping: ``table[state][move]`` is a list of pairs (probability, next state). Moves
        are 0, 1, ..., or names, the same in every state.
    start
        The state in which a walk starts.
    goals
        A mapping from the label of a goal to its state or list of states; or a list of states, one
        for each goal: state 15 gets the label "15".
    discount
        Between 0 and 1; see `World`.
    actions
        Labels of the moves; by default their names or numbers in the table.
    reward
        The value of a goal, positive.

    Examples
    --------
    >>> from cobayes.worlds import TabularWorld
    >>> table = {s: {0: [(1.0, max(s - 1, 0))], 1: [(1.0, min(s + 1, 4))]} for s in range(5)}
    >>> world = TabularWorld(table, 2, {"left": 0, "right": 4}, 0.5, ("back", "on"))
    >>> world.matrix_at(2).matrix.round(3)
    array([[0.5  , 0.125],
           [0.125, 0.5  ]])
    """

    goals: dict[str, tuple[State, ...]]

    def __init__(
        self,
        table: Transitions,
        start: State,
        goals: Mapping[str, Any] | Sequence[State],
        discount: float,
        actions: Sequence[str] | None = None,
        reward: float = 1.0,
    ) -> None:
        instance(table, Mapping, "table", "a mapping from state to a mapping from move to outcomes")
        first = next(iter(table.values()), None)
        if not first:
            raise CobayesError(
                "the table of transitions is empty, or its first state has no moves."
            )
        instance(first, Mapping, "an entry of the table", "a mapping from move to outcomes")
        names = list(first) if None in map(as_integer, first) else sorted(first)
        given = names if actions is None else items(actions, "actions", "labels")
        labels = make_labels(map(str, given), len(names), "datum")
        if not isinstance(goals, Mapping):
            if isinstance(goals, str) or not isinstance(goals, Sequence | np.ndarray):
                raise CobayesError(
                    f"the goals are {goals!r}; expected a list of states, or a dict from label to "
                    "state.",
                    'give each state a label of your own, such as {"home": 15, "shop": 3}.',
                )
            goals = {str(state): state for state in goals}
        places = {}
        for label, given in goals.items():
            is_many = isinstance(given, list | set | frozenset)
            places[str(label)] = tuple(map(as_state, given if is_many else [given]))
            if not places[str(label)]:
                raise CobayesError(f"goal {label!r} has no states.")
        vars(self)["goals"] = places
        states = [as_state(state) for state in table]
        outcomes = _read_outcomes(table, states, names)
        super().__init__(states, as_state(start), labels, places, outcomes, discount, reward)

    def settings(self) -> dict[str, Any]:
        """Return the constructor's arguments by name, the table as lists; see `from_settings`."""
        moves = range(len(self.action_labels))
        return {
            "table": [
                [state, [[(p, target) for target, p in self.next_states(state, a)] for a in moves]]
                for state in self.states
            ],
            "start": self.start,
            "goals": {label: list(states) for label, states in self.goals.items()},
            "discount": self.discount,
            "actions": list(self.action_labels),
            "reward": self.reward,
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Self:
        """Make the world again from the result of `settings`."""
        table = {as_state(state): dict(enumerate(moves)) for state, moves in settings["table"]}
        return cls(**{**settings, "table": table})

    def __repr__(self) -> str:
        return (
            f"TabularWorld({len(self.states)} states; moves {', '.join(self.action_labels)}; "
            f"goals {', '.join(self.goal_labels)}; discount {self.discount:g})"
        )


def _read_outcomes(
    table: Transitions, states: list[State], names: list[Any]
) -> tuple[NDArray[np.intp], Array]:
    """Return positions of next states and their probabilities, (states, actions, outcomes)."""
    positions = {state: position for position, state in enumerate(states)}
    rows: list[list[tuple[int, float]]] = []
    for state, moves in table.items():
        if set(moves) != set(names):
            raise CobayesError(
                f"state {state!r} has the moves {list(moves)}; expected {names}, those of the "
                "first state.",
                "let a move without effect lead back to the same state.",
            )
        for name in names:
            move, found = f"move {name!r} in state {state!r}", []
            try:
                pairs = [(float(chance), as_state(target)) for chance, target in moves[name]]
            except (TypeError, ValueError):
                raise CobayesError(
                    f"the outcomes of {move} are {quoted(moves[name])}; expected a list of pairs "
                    "(probability, next state).",
                    f"write, for example, [(0.9, {states[0]!r}), (0.1, {states[-1]!r})].",
                ) from None
            for chance, target in pairs:
                if target not in positions:
                    raise CobayesError(
                        f"{move} leads to {target!r}; the table has no such state.",
                        "an outcome is a pair (probability, next state); the states are: "
                        f"{shorten([str(one) for one in states], 6)}.",
                    )
                if not chance >= 0.0:
                    what = f"{move} leads to {target!r} with probability {chance:g}"
                    raise CobayesError(f"{what}; expected a number >= 0.")
                if chance > 0.0:
                    found.append((positions[target], chance))
            total = sum(chance for _, chance in found)
            if not np.isclose(total, 1.0, atol=1e-9):
                raise CobayesError(
                    f"the outcomes of {move} have probabilities that sum to {total:.6g}, not to 1."
                )
            rows.append(found)
    width = max(map(len, rows))
    # Shorter lists of outcomes are padded with their first state, at probability 0.
    padded = np.array([[*row, *[(row[0][0], 0.0)] * (width - len(row))] for row in rows])
    padded = padded.reshape(len(states), len(names), width, 2)
    return padded[..., 0].astype(np.intp), padded[..., 1].copy()


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
        An environment with a table ``env.unwrapped.P`` (state -> move -> list of (probability,
        next state, reward, terminated)), or the name of a registered environment.
    goals
        A mapping from the label of a goal to its state or list of states; or a list of states, one
        for each goal: state 15 gets the label "15".
    discount
        Between 0 and 1; see `World`.
    start
        The state in which a walk starts; by default the environment's most likely first state.
    actions
        Labels of the moves; by default numbers, or the names of the moves in FrozenLake,
        CliffWalking and Taxi.

    Returns
    -------
    TabularWorld
        The world, with the environment's states and moves.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.worlds.world_from_gymnasium("FrozenLake-v1", [15, 3])
    >>> world.goal_labels
    ('15', '3')

    Notes
    -----
    The environment's rewards and ends of episodes are not used. The value of a state is the best
    expected value of ``discount**k``, where k is the number of moves to the goal. A state that
    cannot reach the goal, such as a hole in the ice, has a tiny positive value; see `World`.
    """
    if isinstance(env, str):
        gymnasium = import_optional("gymnasium", "worlds", "an environment")
        try:
            env = gymnasium.make(env)
        except (gymnasium.error.Error, ImportError) as error:
            raise CobayesError(
                f"gymnasium cannot make the environment {env!r}: {error}",
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
        state: {int(action): [pair[:2] for pair in found] for action, found in moves.items()}
        for state, moves in source.items()
    }
    if start is None:
        chances: Any = getattr(inner, "initial_state_distrib", None)
        if chances is None:
            raise CobayesError("the environment does not name its first state.", "give start=...")
        start = int(np.argmax(chances))
    names = ACTIONS.get(type(inner).__name__) if actions is None else actions
    return TabularWorld(table, start, goals, discount, names)
