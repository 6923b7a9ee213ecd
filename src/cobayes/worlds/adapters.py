"""Worlds from environments that somebody else wrote.

Gymnasium's tabular environments hold their dynamics in a table ``env.unwrapped.P``: from state
to move to a list of (probability, next state, reward, is over). The adapter takes the dynamics
from there and the candidate goals from the user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cobayes.errors import CobayesError, import_optional
from cobayes.tasks.task import State
from cobayes.worlds.tabular import TabularWorld

ACTIONS = {
    "FrozenLakeEnv": ("left", "down", "right", "up"),
    "CliffWalkingEnv": ("up", "right", "down", "left"),
    "TaxiEnv": ("south", "north", "east", "west", "pick up", "drop off"),
}
"""Names of the moves of Gymnasium's own tabular environments, in their order."""

TAXI_STANDS = {"red": (0, 0), "green": (0, 4), "yellow": (4, 0), "blue": (4, 3)}


def world_from_gymnasium(
    env: Any,
    goals: Mapping[str, Any] | Sequence[State],
    discount: float = 0.9,
    *,
    start: State | None = None,
    actions: Sequence[str] | None = None,
    view: Callable[[Any], State] | None = None,
) -> TabularWorld:
    """Return the world of a tabular Gymnasium environment.

    Parameters
    ----------
    env
        An environment with a table ``env.unwrapped.P``, or the name of a registered one.
    goals
        From label to the state or the list of states that count as that goal, or to a function
        that tells whether a state does. A list of states, each a goal labelled by itself, will do.
    discount
        What a step costs.
    start
        Where walks start; the environment's most likely first state by default.
    actions
        Labels of the moves; known for Gymnasium's own environments.
    view
        What a watcher sees of a state of the environment, where it does not see all: states
        that look alike become one state of the world (Taxi's destination, for instance, is
        part of its state). Goals and start are then given as the watcher sees them.

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
    Rewards of the environment are left aside: a goal is worth one, everything else what it is
    away from it, as in the paper. A state that ends an episode without being a goal, such as a
    hole in the ice, is worth next to nothing; see `World`.
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
    see = (lambda state: state) if view is None else view
    table = _merge(source, see)
    if not isinstance(goals, Mapping):
        if isinstance(goals, str) or not isinstance(goals, Sequence | np.ndarray):
            raise CobayesError(
                f"the goals are {goals!r}; expected a list of states, or a dict from label to "
                "state.",
                'world_from_gymnasium(env, {"home": 15, "shop": 3}).',
            )
        goals = {str(state): _plain(state) for state in goals}
    found_goals = {
        label: [state for state in table if given(state)] if callable(given) else given
        for label, given in goals.items()
    }
    return TabularWorld(
        table,
        _first_state(inner, see) if start is None else start,
        found_goals,
        discount,
        ACTIONS.get(type(inner).__name__) if actions is None else actions,
        view=view,
    )


def taxi_world(env: Any, state: int, discount: float = 0.9) -> TabularWorld:
    """Return the world of somebody who watches a taxi and does not know where it is going.

    States are (row, column, passenger) with the passenger's place 0 to 3 (red, green, yellow,
    blue) or 4 in the taxi. A goal is to have dropped the passenger there; the place where the
    passenger waits is no candidate.

    Parameters
    ----------
    env
        Gymnasium's Taxi.
    state
        The environment's state at the start, as ``env.reset()`` returns it.
    discount
        What a step costs.

    Returns
    -------
    TabularWorld
        With the other three places as goals.

    Examples
    --------
    >>> import gymnasium
    >>> from cobayes.worlds import taxi_world
    >>> env = gymnasium.make("Taxi-v4")
    >>> state, _ = env.reset(seed=1)
    >>> taxi_world(env, state).goal_labels
    ('red', 'green', 'yellow')
    """
    decode = env.unwrapped.decode

    def view(full: int) -> State:
        row, column, passenger, _ = decode(int(full))
        return int(row), int(column), int(passenger)

    start = view(state)
    goals = {
        name: (*square, place)
        for place, (name, square) in enumerate(TAXI_STANDS.items())
        if place != start[2]
    }
    return world_from_gymnasium(env, goals, discount, start=start, view=view)


def _merge(source: Mapping[Any, Any], see: Callable[[Any], State]) -> dict[State, dict[int, list]]:
    """Merge states that look alike, after checking that moves do the same in all of them."""
    table: dict[State, dict[int, list]] = {}
    for state, moves in source.items():
        merged = {}
        for action, found in moves.items():
            chances: dict[State, float] = {}
            for probability, target, *_ in found:
                seen = see(_plain(target))
                chances[seen] = chances.get(seen, 0.0) + float(probability)
            merged[int(action)] = sorted((p, s) for s, p in chances.items())
        known = table.setdefault(see(_plain(state)), merged)
        if known != merged:
            raise CobayesError(
                f"states that look like {see(_plain(state))!r} do not behave alike.",
                "let the view show more of the state.",
            )
    return table


def _first_state(inner: Any, see: Callable[[Any], State]) -> State:
    chances = getattr(inner, "initial_state_distrib", None)
    if chances is None:
        raise CobayesError("the environment does not say where it starts.", "give start=...")
    return see(int(np.argmax(chances)))


def _plain(state: Any) -> Any:
    """Return a NumPy integer as a plain one, so that states print as users write them."""
    return int(state) if isinstance(state, np.integer) else state
