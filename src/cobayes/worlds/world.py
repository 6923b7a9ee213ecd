"""The base class of worlds: states, moves, candidate goals, and a matrix at each state.

A state that is k moves from the goal has the value ``reward * discount**k``, the goal itself
``reward``. If every move has one outcome, Dijkstra's algorithm finds k, the length of the shortest
walk; otherwise value iteration finds the best expected value.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from cobayes._input.labels import find, shorten
from cobayes._input.validation import number_between
from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.tasks.task import State, Task, as_state

Array = NDArray[np.float64]

UNREACHABLE_SHARE = 1e-6
"""Value of a state that cannot reach the goal, as a share of the smallest other value."""

RELATIVE_TOLERANCE = 1e-14
"""Value iteration ends when no value changes by more than this share of itself.

Values far from the goal are tiny, so that an absolute tolerance would be too coarse.
"""

MAX_SWEEPS = 1_000_000


class World(Task):
    """States, moves and candidate goals, known to both agents; one candidate is the walker's goal.

    A world is a task: the walker's moves are the data, the candidate goals the hypotheses, and the
    matrix depends on the walker's state, which both agents see. Rules are made from worlds as from
    matrices, `SCBI(world)`. Three conventions apply in every world:

    - Only the walker's own goal ends its walk; the other candidates are ordinary states.
    - A watcher sees the moves and the states, but uses only the moves as evidence. If a walk
      continues after a candidate goal, this is no evidence against that goal.
    - All values are positive. A state that cannot reach a goal would have the value zero; it gets
      one millionth of the smallest value among the states that can reach the goal.

    Parameters
    ----------
    states
        All states, in the order of their positions.
    start
        The state in which a walk starts.
    actions
        The labels of the moves: the data.
    goals
        A mapping from the label of each candidate goal (a hypothesis) to its states.
    outcomes
        Two arrays of shape (states, actions, outcomes): the positions of the next states, and
        their probabilities.
    discount
        Between 0 and 1. If every move has one outcome, a state that is k moves from the goal has
        the value ``reward * discount**k``.
    reward
        The value of a goal, positive.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper()
    >>> world.goal_labels, world.action_labels
    (('A', 'B'), ('left', 'up', 'right'))
    >>> world.matrix_at(world.start).matrix.shape
    (3, 2)
    """

    is_seen = True
    states: tuple[State, ...]
    action_labels: tuple[str, ...]
    goal_labels: tuple[str, ...]
    outcomes: tuple[NDArray[np.intp], Array]
    discount: float
    reward: float
    _positions: dict[Hashable, int]
    _goals: tuple[list[int], ...]
    _models: dict[int, Model]

    def __init__(
        self,
        states: Iterable[State],
        start: State,
        actions: Collection[str],
        goals: Mapping[str, tuple[State, ...]],
        outcomes: tuple[NDArray[np.intp], Array],
        discount: float,
        reward: float,
    ) -> None:
        if not actions:
            raise CobayesError("the world has no moves; expected at least one.")
        half = "0.5 halves the value with every move."
        states = tuple(states)
        vars(self).update(
            states=states,
            start=start,
            action_labels=tuple(actions),
            goal_labels=tuple(goals),
            outcomes=outcomes,
            discount=number_between(discount, "the discount", 0.0, 1.0, hint=half),
            reward=number_between(reward, "the reward", 0.0, np.inf),
            _positions={state: position for position, state in enumerate(states)},
            _models={},
        )
        vars(self)["_goals"] = tuple([*map(self.state_position, found)] for found in goals.values())
        self._require_goals()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a world cannot be changed; make another one with another {name}.")

    @property
    def is_certain(self) -> bool:
        """Whether every move has one outcome."""
        return self.outcomes[0].shape[2] == 1

    def state_position(self, state: State) -> int:
        """Return the position of a state; raise an error if it is unknown."""
        try:
            return self._positions[as_state(state)]
        except (KeyError, TypeError):
            raise CobayesError(
                f"there is no state {state!r} in this world.",
                f"choose one of: {shorten([str(one) for one in self.states], 6)}.",
            ) from None

    def goal_index(self, goal: int | str) -> int:
        """Return the position of a goal given by position or label."""
        return find(goal, self.goal_labels, "goal")

    def action_index(self, action: int | str) -> int:
        """Return the position of a move given by position or label."""
        return find(action, self.action_labels, "move")

    def goal_states(self, goal: int | str) -> tuple[State, ...]:
        """Return the states of a goal, given by position or label."""
        return tuple(self.states[position] for position in self._goals[self.goal_index(goal)])

    @cached_property
    def distances(self) -> Array:
        """Fewest moves from every state to every goal, shape (states, goals).

        Infinity if the goal cannot be reached. If a move has several outcomes, the best outcome is
        assumed.
        """
        size, *shape = self.outcomes[0].shape
        where = self.outcomes[0].ravel(), np.repeat(np.arange(size), np.prod(shape))
        backwards = coo_array((np.ones(len(where[0])), where), (size, size)).tocsr()
        options = {"unweighted": True, "min_only": True}
        columns = [dijkstra(backwards, indices=goals, **options) for goals in self._goals]
        found = np.column_stack(columns)
        found.setflags(write=False)
        return found

    @cached_property
    def values(self) -> Array:
        """The value of every state for every goal, shape (states, goals); all positive."""
        if self.is_certain:
            with np.errstate(under="ignore"):
                worth = self.discount**self.distances
        else:
            columns = [_value_iteration(*self.outcomes, g, self.discount) for g in self._goals]
            worth = np.column_stack(columns)
        reachable = np.isfinite(self.distances)
        least = np.where(reachable, worth, np.inf).min(axis=0)
        if least.min() * UNREACHABLE_SHARE * self.reward < np.finfo(float).tiny:
            goal = self.goal_labels[int(np.argmin(least))]
            raise CobayesError(
                f"with discount {self.discount:g} the state farthest from goal {goal!r} has a "
                f"value of {least.min():.1g} times the reward; a millionth of it is too small for "
                "float64.",
                "use a larger discount or a smaller world.",
            )
        found = self.reward * np.where(reachable, worth, UNREACHABLE_SHARE * least)
        found.setflags(write=False)
        return found

    def matrix_at(self, state: State) -> Model:
        """Return the matrix in a state: for each goal, the value of the state after each move.

        Parameters
        ----------
        state
            The walker's state.

        Returns
        -------
        Model
            Moves by goals, with labels. If a move has several outcomes, its entry is the expected
            value.

        Notes
        -----
        M in Section 6 of the paper.
        """
        position = self.state_position(state)
        if position not in self._models:
            where, chances = self.outcomes
            worth = (chances[position, :, :, None] * self.values[where[position]]).sum(axis=1)
            self._models[position] = Model(worth, self.action_labels, self.goal_labels)
        return self._models[position]

    def next_states(self, state: State, action: int | str) -> tuple[tuple[State, float], ...]:
        """Return the possible states after a move: pairs of a state and its probability."""
        where, chances = self.outcomes
        at = self.state_position(state), self.action_index(action)
        merged: dict[int, float] = {}
        for target, chance in zip(where[at].tolist(), chances[at].tolist(), strict=True):
            if chance > 0.0:
                merged[target] = merged.get(target, 0.0) + chance
        return tuple((self.states[target], chance) for target, chance in merged.items())

    def next_state(self, state: State, datum: int) -> State:
        """Return the next state after a move; of several possible states, the likeliest."""
        return max(self.next_states(state, datum), key=lambda pair: pair[1])[0]

    def is_over(self, state: State, hypothesis: int | str) -> bool:
        """Tell whether the walker has reached its goal."""
        return as_state(state) in self.goal_states(hypothesis)

    def moves_forward(self, state: State, hypothesis: int | str) -> NDArray[np.bool_]:
        """Tell which moves bring the walker towards a goal, shape (n,).

        These are the moves whose value exceeds sqrt(discount) times that of the best move. If every
        move has one outcome, and the goal can be reached but is not yet reached, they are exactly
        the first moves of the shortest walks.
        """
        worth = self.matrix_at(state).matrix[:, self.goal_index(hypothesis)]
        return worth > np.sqrt(self.discount) * worth.max()

    def read_state(self, content: Any) -> State:
        """Return a state given as a tuple, a list or an array; raise an error if it is unknown."""
        return self.states[self.state_position(content)]

    def _require_goals(self) -> None:
        if len(self.goal_labels) < 2:
            raise CobayesError(
                f"the number of candidate goals is {len(self.goal_labels)}; expected at least two.",
                "with a single candidate there is nothing to infer.",
            )
        owners: dict[Hashable, str] = {}
        from_start = self.distances[self.state_position(self.start)]
        for position, (label, moves) in enumerate(zip(self.goal_labels, from_start, strict=True)):
            for state in self.goal_states(position):
                if state in owners:
                    raise CobayesError(
                        f"goals {owners[state]!r} and {label!r} are both at {state!r}.",
                        "no moves could distinguish them: drop one of them.",
                    )
                owners[state] = label
            if moves == 0:
                raise CobayesError(
                    f"goal {label!r} is the start {self.start!r}: the walk would be over before "
                    "the first move."
                )
            if moves == np.inf:
                raise CobayesError(
                    f"goal {label!r} cannot be reached from the start {self.start!r} with the "
                    f"moves {shorten(self.action_labels)}.",
                    "remove a wall, add a move, or drop the goal.",
                )


def _value_iteration(
    next_states: NDArray[np.intp], probabilities: Array, goals: list[int], discount: float
) -> Array:
    """Return the value of every state under the best policy, with a reward of one.

    Values rise from zero to the fixed point of
    ``V(s) = discount * max_a sum_s' p(s' | s, a) V(s')``, with V = 1 at the goal.
    """
    values = np.zeros(len(next_states))
    values[goals] = 1.0
    for _ in range(MAX_SWEEPS):
        improved = discount * (probabilities * values[next_states]).sum(axis=2).max(axis=1)
        improved[goals] = 1.0
        if (improved - values <= RELATIVE_TOLERANCE * improved).all():
            return improved
        values = improved
    raise CobayesError(
        f"the values of the states did not converge in {MAX_SWEEPS} sweeps.",
        "use a discount further below 1.",
    )
