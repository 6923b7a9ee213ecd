"""Teachers to compare with: who draws data at random, truthfully, literally or by SCBI."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobayes.model import Model
from cobayes.rules import BI, SCBI, Rule
from cobayes.tasks.repeats import WithoutRepeats
from cobayes.tasks.task import State, Task

Array = NDArray[np.float64]

# How often a teacher that prefers true data shows another one: only where no true one is left.
_LAST_RESORT = 1e-12


def drawing_rule(teacher: str, task: Task, hypothesis: int) -> Rule:
    """Return the rule by which a teacher draws its data.

    Parameters
    ----------
    teacher
        "random", "truthful", "literal" or "SCBI".
    task
        What may be shown.
    hypothesis
        The position of the hypothesis that is taught.
    """
    if teacher == "SCBI":
        return SCBI(task)
    if teacher == "literal":
        return BI(task)
    column = hypothesis if teacher == "truthful" else None
    if isinstance(task, Model):
        return BI(_even_model(task, column))
    if isinstance(task, WithoutRepeats) and isinstance(task.task, Model):
        return BI(WithoutRepeats(_even_model(task.task, column)))
    return BI(EvenTask(task, column))


class EvenTask(Task):
    """A task as it is, except that its teacher shows all available data equally often.

    Parameters
    ----------
    task
        The task.
    hypothesis
        Where given, only data that are true of this hypothesis, as long as there are some.
    """

    def __init__(self, task: Task, hypothesis: int | None = None) -> None:
        self.task, self.hypothesis = task, hypothesis
        self.start = task.start

    @property
    def is_seen(self) -> bool:
        """Whether the state of the task is seen."""
        return self.task.is_seen

    @property
    def is_certain(self) -> bool:
        """Whether every datum leads to one state of the task."""
        return self.task.is_certain

    def matrix_at(self, state: State) -> Model:
        """Return a matrix whose entries say which data are shown."""
        return _even_model(self.task.matrix_at(state), self.hypothesis)

    def data_prior_at(self, state: State) -> Array | None:
        """Return the prior of the task: zero for what is not available."""
        return self.task.data_prior_at(state)

    def next_states(self, state: State, datum: int) -> tuple[tuple[State, float], ...]:
        """Return where a datum can lead in the task."""
        return self.task.next_states(state, datum)

    def seen_part(self, state: State) -> State:
        """Return what is seen of the state of the task."""
        return self.task.seen_part(state)

    def is_over(self, state: State, hypothesis: int) -> bool:
        """Tell whether a lesson on the task is over."""
        return self.task.is_over(state, hypothesis)

    def rounds_left(self, state: State, hypothesis: int | None = None) -> int | None:
        """Return what the task says."""
        return self.task.rounds_left(state, hypothesis)

    def read_state(self, content: State) -> State:
        """Return a state of the task."""
        return self.task.read_state(content)


def truthful_data(model: Model, hypothesis: int) -> NDArray[np.bool_]:
    """Tell which data are true of a hypothesis, (n,).

    In a table with zeros those that the hypothesis allows. Where every datum is possible, those
    that it makes more often than the hypotheses do on average.
    """
    likelihood = model.normalized()
    own = likelihood[:, hypothesis]
    if (own == 0.0).any():
        return own > 0.0
    return own >= likelihood.mean(axis=1)


def _even_model(model: Model, hypothesis: int | None) -> Model:
    shares = np.ones(model.shape)
    if hypothesis is not None:
        shares[:, hypothesis] = np.where(truthful_data(model, hypothesis), 1.0, _LAST_RESORT)
    return Model(shares, model.data, model.hypotheses)
