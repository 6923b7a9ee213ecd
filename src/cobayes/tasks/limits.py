"""Tasks in which some data may be shown and others may not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model, as_model
from cobayes.tasks.task import State, Task


class LimitedTo(Task):
    """A task in which some data may be shown; made by `limited_to`."""

    def __init__(self, matrix: MatrixLike, data: Iterable[SupportsIndex | str]) -> None:
        self._model = as_model(matrix)
        self.data = sorted({self._model.datum_index(datum) for datum in data})
        if not self.data:
            raise CobayesError("no datum may be shown.", "name at least one.")
        self._prior = np.zeros(self._model.num_data)
        self._prior[self.data] = 1.0 / len(self.data)

    def matrix_at(self, state: State) -> Model:  # noqa: ARG002
        """Return the matrix."""
        return self._model

    def data_prior_at(self, state: State) -> NDArray[np.float64]:  # noqa: ARG002
        """Return zero for the data that may not be shown, the same number for all others."""
        return self._prior

    def settings(self) -> dict[str, Any]:
        """Return the matrix and the positions of the data that may be shown."""
        return {"matrix": self._model, "data": self.data}

    def __repr__(self) -> str:
        return f"limited_to({self._model!r}, {len(self.data)} of {self._model.num_data} data)"


def limited_to(matrix: MatrixLike, data: Iterable[SupportsIndex | str]) -> LimitedTo:
    """Return the task in which only these data may be shown.

    A teacher who may say nothing but the truth is limited to true statements. A learner whose rule
    is made from this task knows the limit; one whose rule is made from the matrix does not.

    Parameters
    ----------
    matrix
        A matrix of any kind or a `Model`.
    data
        The data that may be shown, by position or label.

    Returns
    -------
    LimitedTo
        A task, for rules and agents.

    Examples
    --------
    The best two different examples among the first three, for a learner who knows the table:

    >>> import cobayes as cb
    >>> model = cb.examples["gestures"].model
    >>> task = cb.without_repeats(cb.limited_to(model, model.data[:3]))
    >>> cb.plan_lesson(cb.BI(task), "bowl", 2, learner_rule=cb.BI(model)).data_labels
    ('look left', 'lean forward')
    """
    return LimitedTo(matrix, data)
