"""The base of tasks that constrain another one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.model import MatrixLike, Model, as_task
from cobayes.tasks.task import State, Task


class Around(Task):
    """A task that constrains an inner task; its state is the pair (own state, inner state).

    Everything is as in the inner task, except for what a subclass overrides; its own state is
    the value of `first` before the first round and follows `following`.
    """

    first: Any = None

    def __init__(self, task: MatrixLike) -> None:
        self.task = as_task(task)
        self.start = (self.first, self.task.start)
        self.is_seen = self.task.is_seen

    def following(self, own: Any, datum: int) -> Any:  # noqa: ARG002
        """Return the task's own state after a datum was shown."""
        return own

    @property
    def is_certain(self) -> bool:
        """Whether every datum leads to one state of the inner task."""
        return self.task.is_certain

    def matrix_at(self, state: State) -> Model:
        """Return the matrix of the inner task."""
        return self.task.matrix_at(state[1])

    def data_prior_at(self, state: State) -> NDArray[np.float64] | None:
        """Return the data prior of the inner task."""
        return self.task.data_prior_at(state[1])

    def next_states(self, state: State, datum: int) -> tuple[tuple[State, float], ...]:
        """Return where a datum can lead in both tasks."""
        own = self.following(state[0], int(datum))
        return tuple(
            ((own, inner), chance) for inner, chance in self.task.next_states(state[1], datum)
        )

    def next_state(self, state: State, datum: int) -> State:
        """Return the first of the states to which a datum can lead."""
        return self.next_states(state, datum)[0][0]

    def seen_part(self, state: State) -> State:
        """Return what is seen of the state of the inner task."""
        return self.task.seen_part(state[1])

    def with_seen_part(self, state: State, seen: State) -> State:
        """Return the state with another seen part of the inner task."""
        return state[0], self.task.with_seen_part(state[1], seen)

    def is_over(self, state: State, hypothesis: int) -> bool:
        """Tell whether the inner task is over, or no datum is left."""
        return self.task.is_over(state[1], hypothesis) or super().is_over(state, hypothesis)

    def moves_forward(self, state: State, hypothesis: int) -> NDArray[np.bool_] | None:
        """Ask the inner task."""
        return self.task.moves_forward(state[1], hypothesis)

    def rounds_left(self, state: State, hypothesis: int | None = None) -> int | None:
        """Ask the inner task."""
        return self.task.rounds_left(state[1], hypothesis)

    def settings(self) -> dict[str, Any]:
        """Return the inner task."""
        return {"task": self.task}

    def read_state(self, content: Any) -> State:
        """Return a saved state, or raise an error where it cannot be one."""
        own, inner = content
        return own, self.task.read_state(inner)
