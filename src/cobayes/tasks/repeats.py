"""Tasks in which no datum is shown twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.model import MatrixLike, Model, as_task
from cobayes.tasks.task import State, Task

Array = NDArray[np.float64]


class WithoutRepeats(Task):
    """A task in which no datum is shown twice; made by `without_repeats`.

    The state is the data that were shown, sorted, and the state of the task within.
    """

    def __init__(self, task: MatrixLike) -> None:
        self.task = as_task(task)
        self.start = ((), self.task.start)

    @property
    def is_seen(self) -> bool:
        """Whether the state of the task within is seen."""
        return self.task.is_seen

    @property
    def is_certain(self) -> bool:
        """Whether every datum leads to one state of the task within."""
        return self.task.is_certain

    def matrix_at(self, state: State) -> Model:
        """Return the matrix of the task within."""
        return self.task.matrix_at(state[1])

    def data_prior_at(self, state: State) -> Array | None:
        """Return the prior of the task within, given that the datum is a new one."""
        shown, inner = state
        prior = self.task.data_prior_at(inner)
        if not shown:
            return prior
        prior = np.ones(self.task.matrix_at(inner).num_data) if prior is None else prior.copy()
        prior[list(shown)] = 0.0
        total = prior.sum()
        return prior / total if total > 0.0 else prior

    def next_states(self, state: State, datum: int) -> tuple[tuple[State, float], ...]:
        """Return the state with one datum more."""
        shown = tuple(sorted({*state[0], int(datum)}))
        return tuple(
            ((shown, inner), chance) for inner, chance in self.task.next_states(state[1], datum)
        )

    def next_state(self, state: State, datum: int) -> State:
        """Return the state with one datum more."""
        return self.next_states(state, datum)[0][0]

    def seen_part(self, state: State) -> State:
        """Return what is seen of the state of the task within."""
        return self.task.seen_part(state[1])

    def with_seen_part(self, state: State, seen: State) -> State:
        """Return the state with another seen part of the task within."""
        return state[0], self.task.with_seen_part(state[1], seen)

    def is_over(self, state: State, hypothesis: int) -> bool:
        """Tell whether nothing new is left or the task within is over."""
        return self.task.is_over(state[1], hypothesis) or super().is_over(state, hypothesis)

    def rounds_left(self, state: State, hypothesis: int | None = None) -> int | None:
        """Return the number of data that are still to show and that the hypothesis allows."""
        shown, within = state
        model = self.task.matrix_at(within)
        is_new = np.ones(model.num_data, dtype=bool)
        is_new[list(shown)] = False
        prior = self.task.data_prior_at(within)
        # In other tasks what is not available now may be later.
        if prior is not None and self.task.is_constant:
            is_new &= prior > 0.0
        if hypothesis is not None:
            is_new &= model.matrix[:, hypothesis] > 0.0
        left = int(is_new.sum())
        inner = self.task.rounds_left(within, hypothesis)
        return left if inner is None else min(left, inner)

    def settings(self) -> dict[str, Any]:
        """Return the task within."""
        return {"task": self.task}

    def read_state(self, content: Any) -> State:
        """Return a saved state, or raise an error where it cannot be one."""
        shown, inner = content
        positions = tuple(int(datum) for datum in shown)
        last = self.model.num_data - 1
        if positions != tuple(sorted(set(positions))) or not all(0 <= d <= last for d in positions):
            raise ValueError(f"the data that were shown are {positions}")
        return positions, self.task.read_state(inner)

    def __repr__(self) -> str:
        return f"without_repeats({self.task!r})"


def without_repeats(matrix: MatrixLike) -> WithoutRepeats:
    """Return the task in which no datum is shown twice.

    A lesson on it has at most as many rounds as there are data. A learner whose rule is made from
    this task knows that nothing is shown twice; one whose rule is made from the matrix does not.

    Parameters
    ----------
    matrix
        A matrix of any kind, a `Model`, or another task.

    Returns
    -------
    WithoutRepeats
        A task, for rules and agents.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI(cb.without_repeats([[0.8, 0.3], [0.1, 0.2], [0.1, 0.5]]))
    >>> sorted(cb.run_lesson(cb.Teacher(rule, 0, rng=0), cb.Learner(rule), 3).data.tolist())
    [0, 1, 2]
    """
    return WithoutRepeats(matrix)
