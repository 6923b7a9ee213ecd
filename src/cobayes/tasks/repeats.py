"""Tasks in which no datum is shown twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.model import MatrixLike
from cobayes.tasks.around import Around
from cobayes.tasks.task import State

Array = NDArray[np.float64]


class WithoutRepeats(Around):
    """A task in which no datum is shown twice; made by `without_repeats`.

    Its own state is the data that were shown, sorted.
    """

    first = ()

    def following(self, own: tuple[int, ...], datum: int) -> tuple[int, ...]:
        """Return the data that were shown with one more."""
        return tuple(sorted({*own, datum}))

    def data_prior_at(self, state: State) -> Array | None:
        """Return the prior of the inner task, given that the datum is a new one."""
        shown, inner = state
        prior = self.task.data_prior_at(inner)
        if not shown:
            return prior
        prior = np.ones(self.task.matrix_at(inner).num_data) if prior is None else prior.copy()
        prior[list(shown)] = 0.0
        total = prior.sum()
        return prior / total if total > 0.0 else prior

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
