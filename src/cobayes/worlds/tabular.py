"""Worlds given by a table of transitions, Gymnasium's tabular environments among them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import make_labels
from cobayes.errors import CobayesError
from cobayes.tasks.task import State, as_state
from cobayes.worlds.base import World, require_discount, require_reward

Array = NDArray[np.float64]
Table = Mapping[Any, Mapping[Any, Iterable[tuple[float, Any]]]]
"""State -> move -> pairs of a probability and the next state."""


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
        What a step costs: see `World`.
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

    table: Table
    start: State = field()  # and not the default of `Task`
    goals: Mapping[str, Any]
    discount: float
    actions: Sequence[str] | None = None
    reward: float = 1.0
    view: Callable[[Any], State] | None = field(default=None, kw_only=True)

    if TYPE_CHECKING:  # made from the others, and no fields of the dataclass
        _states: tuple[State, ...] = field(init=False)
        _goal_sets: dict[str, tuple[State, ...]] = field(init=False)
        _outcomes: tuple[NDArray[np.intp], Array] = field(init=False)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "discount", require_discount(self.discount))
        set_field(self, "reward", require_reward(self.reward))
        set_field(self, "start", as_state(self.start))
        set_field(self, "table", {state: dict(row) for state, row in self.table.items()})
        if not self.table:
            raise CobayesError("the table of transitions is empty.")
        moves = list(next(iter(self.table.values())))
        if moves and all(isinstance(move, str) for move in moves):
            set_field(self, "table", self._with_numbered(moves))
            set_field(self, "actions", moves if self.actions is None else self.actions)
        elif not moves or sorted(moves) != list(range(len(moves))):
            raise CobayesError(
                f"the moves of the first state are {moves}; expected names, or 0, 1, 2, and so on."
            )
        set_field(self, "actions", make_labels(self.actions, len(moves), "datum"))
        set_field(self, "_states", tuple(self.table))
        set_field(self, "_goal_sets", self._read_goals())
        set_field(self, "_outcomes", self._read_outcomes())
        self.require_reachable()

    def _with_numbered(self, names: list[str]) -> dict[State, dict[int, Any]]:
        """Return the table with positions in the place of the names of moves."""
        for state, moves in self.table.items():
            if set(moves) != set(names):
                raise CobayesError(
                    f"state {state!r} has the moves {list(moves)}; expected {names}, those of the "
                    "first state.",
                    "where a move does nothing, let it lead back to the state.",
                )
        return {
            state: {k: moves[name] for k, name in enumerate(names)}
            for state, moves in self.table.items()
        }

    @property
    def states(self) -> tuple[State, ...]:
        """All states, in the order of the table."""
        return self._states

    @property
    def action_labels(self) -> tuple[str, ...]:
        """The labels of the moves: the data."""
        return tuple(self.actions or ())

    @property
    def goal_labels(self) -> tuple[str, ...]:
        """The labels of the candidate goals: the hypotheses."""
        return tuple(self._goal_sets)

    @property
    def outcomes(self) -> tuple[NDArray[np.intp], Array]:
        """Positions of next states and their probabilities, (states, actions, outcomes)."""
        return self._outcomes

    def goal_states(self, goal: int | str) -> tuple[State, ...]:
        """Return the states that count as a goal, given by position or label."""
        return self._goal_sets[self.goal_labels[self.goal_index(goal)]]

    def observe(self, state: Any) -> State:
        """Return the state of this world that a state of the environment looks like."""
        return state if self.view is None else self.view(state)

    def with_discount(self, discount: float) -> TabularWorld:
        """Return the same world with another discount."""
        return replace(self, discount=discount)

    def settings(self) -> dict[str, Any]:
        """Return the table and what else makes the same world again; a view cannot be saved."""
        return {
            "table": [
                [state, [list(moves[move]) for move in range(len(moves))]]
                for state, moves in self.table.items()
            ],
            "start": self.start,
            "goals": {label: list(states) for label, states in self._goal_sets.items()},
            "discount": self.discount,
            "actions": list(self.action_labels),
            "reward": self.reward,
        }

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> TabularWorld:
        """Undo `settings`."""
        table = {
            as_state(state): {
                move: [(chance, as_state(target)) for chance, target in found]
                for move, found in enumerate(moves)
            }
            for state, moves in settings["table"]
        }
        goals = {
            label: [as_state(state) for state in states]
            for label, states in settings["goals"].items()
        }
        return cls(**{**settings, "table": table, "goals": goals})

    def _read_goals(self) -> dict[str, tuple[State, ...]]:
        if len(self.goals) < 2:
            raise CobayesError(
                f"the number of candidate goals is {len(self.goals)}; expected at least two.",
                "with a single candidate there is nothing to infer.",
            )
        found: dict[str, tuple[State, ...]] = {}
        owners: dict[Hashable, str] = {}
        for label, given in self.goals.items():
            states = tuple(given) if isinstance(given, list | set | frozenset) else (given,)
            for state in states:
                self.state_position(state)
                if state in owners:
                    raise CobayesError(
                        f"state {state!r} belongs to both goals {owners[state]!r} and {label!r}."
                    )
                owners[state] = str(label)
            if not states:
                raise CobayesError(f"goal {label!r} has no states.")
            found[str(label)] = states
        if self.start in owners:
            raise CobayesError(
                f"goal {owners[self.start]!r} is the start {self.start!r}: the walk would be "
                "over before the first move."
            )
        self.state_position(self.start)
        return found

    def _read_outcomes(self) -> tuple[NDArray[np.intp], Array]:
        num_actions = len(self.action_labels)
        rows: list[list[dict[int, float]]] = []
        for state, moves in self.table.items():
            if len(moves) != num_actions:
                raise CobayesError(
                    f"state {state!r} has {len(moves)} moves; expected {num_actions}."
                )
            rows.append([self._merged(state, move, moves[move]) for move in range(num_actions)])
        width = max(len(found) for row in rows for found in row)
        next_states = np.zeros((len(rows), num_actions, width), dtype=np.intp)
        probabilities = np.zeros(next_states.shape)
        for s, row in enumerate(rows):
            for a, found in enumerate(row):
                next_states[s, a, : len(found)] = list(found)
                # Room that is not needed points to a state that is reached anyway.
                next_states[s, a, len(found) :] = next(iter(found))
                probabilities[s, a, : len(found)] = list(found.values())
        return next_states, probabilities

    def _merged(
        self, state: State, move: int, pairs: Iterable[tuple[float, State]]
    ) -> dict[int, float]:
        found: dict[int, float] = {}
        for probability, target in pairs:
            if probability < 0.0:
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
