"""How much every state is worth when the reward lies at a goal.

A state that is k steps from the goal is worth ``reward * discount**k``, the goal itself
``reward``. Where moves are certain, k comes from a breadth-first search and the values are
exact; where they are not, value iteration finds the best expected worth.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError

Array = NDArray[np.float64]

RELATIVE_TOLERANCE = 1e-14
MAX_SWEEPS = 1_000_000


def distances(next_states: NDArray[np.intp], goal_states: tuple[int, ...]) -> Array:
    """Return the number of moves from every state to the nearest goal state.

    Parameters
    ----------
    next_states
        Where each move leads, shape (states, actions).
    goal_states
        The states that count as the goal.

    Returns
    -------
    ndarray
        Shape (states,); infinity where no moves lead to the goal.
    """
    num_states = next_states.shape[0]
    reverse: list[list[int]] = [[] for _ in range(num_states)]
    for state, targets in enumerate(next_states.tolist()):
        for target in set(targets):
            reverse[target].append(state)
    steps = np.full(num_states, np.inf)
    steps[list(goal_states)] = 0.0
    queue = deque(goal_states)
    while queue:
        target = queue.popleft()
        for state in reverse[target]:
            if steps[state] == np.inf:
                steps[state] = steps[target] + 1.0
                queue.append(state)
    return steps


def value_iteration(
    next_states: NDArray[np.intp],
    probabilities: Array,
    goal_states: tuple[int, ...],
    discount: float,
) -> Array:
    """Return what every state is worth, with a reward of one, for the best way of acting.

    Parameters
    ----------
    next_states, probabilities
        Outcomes of each move, shape (states, actions, outcomes).
    goal_states
        Worth one; the walk ends there.
    discount
        Between 0 and 1.

    Notes
    -----
    Values start at zero and rise to the fixed point of
    ``V(s) = discount * max_a sum_s' p(s' | s, a) V(s')``. The sweep stops where no value
    changes by more than 1e-14 of itself: values far from the goal are tiny, and an absolute
    rule would leave them unfinished.
    """
    goals = list(goal_states)
    values = np.zeros(next_states.shape[0])
    values[goals] = 1.0
    for _ in range(MAX_SWEEPS):
        improved = discount * (probabilities * values[next_states]).sum(axis=2).max(axis=1)
        improved[goals] = 1.0
        if (improved - values <= RELATIVE_TOLERANCE * improved).all():
            return improved
        values = improved
    raise CobayesError(
        f"the values of the states did not settle in {MAX_SWEEPS} sweeps.",
        "use a discount further below 1.",
    )
