"""Tasks in which going from one datum to the next has a cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.tables import as_floats
from cobayes._input.validation import number_between
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model
from cobayes.tasks.around import Around
from cobayes.tasks.task import State

Array = NDArray[np.float64]


class MovingCosts(Around):
    """A task in which the next datum is the less likely the more it costs to get there.

    Made by `moving_costs`. Its own state is the last datum, None before the first round.
    """

    def __init__(self, task: MatrixLike, costs: ArrayLike, weight: float = 1.0) -> None:
        super().__init__(task)
        self.weight = number_between(weight, "weight", 0.0, np.inf, closed="low")
        self.costs = _read_costs(costs, self.task.model)

    def following(self, own: int | None, datum: int) -> int:  # noqa: ARG002
        """Return the datum, which is now the last one."""
        return datum

    def data_prior_at(self, state: State) -> Array | None:
        """Return a prior in proportion to ``exp(-weight * cost)`` from the last datum on."""
        last, inner = state
        prior = self.task.data_prior_at(inner)
        if last is None or self.weight == 0.0:
            return prior
        worth = np.exp(-self.weight * (self.costs[last] - self.costs[last].min()))
        if prior is not None:
            worth *= prior
        return worth / worth.sum() if worth.any() else worth

    def settings(self) -> dict[str, Any]:
        """Return the inner task, the costs and their weight."""
        return {"task": self.task, "costs": self.costs, "weight": self.weight}

    def read_state(self, content: Any) -> State:
        """Return a saved state, or raise an error where it cannot be one."""
        last, inner = content
        if last is not None and not (type(last) is int and 0 <= last < len(self.costs)):
            raise ValueError(f"the last datum is {last!r}")
        return last, self.task.read_state(inner)

    def __repr__(self) -> str:
        return f"moving_costs({self.task!r}; weight {self.weight:g})"


def moving_costs(matrix: MatrixLike, costs: ArrayLike, weight: float = 1.0) -> MovingCosts:
    """Return the task in which going from one datum to another has a cost.

    A datum's prior probability is in proportion to ``exp(-weight * cost)`` with the cost of going
    there from the last datum. The first datum is free.

    Parameters
    ----------
    matrix
        A matrix of any kind, a `Model`, or another task.
    costs
        From the last datum (rows) to the next (columns), (n, n). Infinity forbids a step.
    weight
        The factor of the costs in the exponent; zero makes all data equally likely.

    Returns
    -------
    MovingCosts
        A task, for rules and agents.

    Examples
    --------
    >>> import cobayes as cb
    >>> import numpy as np
    >>> place = np.arange(3.0)
    >>> costs = abs(place[:, None] - place)
    >>> task = cb.moving_costs([[0.8, 0.3], [0.1, 0.2], [0.1, 0.5]], costs, weight=2.0)
    >>> task.data_prior_at(task.next_state(task.start, 0)).round(3)
    array([0.867, 0.117, 0.016])
    """
    return MovingCosts(matrix, costs, weight)


def _read_costs(costs: ArrayLike, model: Model) -> Array:
    n = model.num_data
    table = as_floats(costs, copy=True, name="costs")
    if table.shape != (n, n):
        raise CobayesError(
            f"the costs have the shape {table.shape}; expected {(n, n)}, from the last datum to "
            "the next."
        )
    if np.isnan(table).any() or (table == -np.inf).any():
        raise CobayesError("the costs contain NaN or minus infinity.", "use inf to forbid a step.")
    is_dead_end = np.isinf(table).all(axis=1)
    if is_dead_end.any():
        label = model.data[int(np.argmax(is_dead_end))]
        raise CobayesError(f"no step leads on from datum {label!r}: all its costs are infinite.")
    table.flags.writeable = False
    return table
