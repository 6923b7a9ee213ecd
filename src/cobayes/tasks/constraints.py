"""Tasks made from a matrix or a task: no repeats, moving costs, some data only, sets of data."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb
from os import PathLike
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import places
from cobayes._input.tables import as_floats, unpack
from cobayes._input.validation import instance, items, number_between, whole_number
from cobayes._output import counted
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model, as_task
from cobayes.tasks.task import State, Task

Array = NDArray[np.float64]

MOST_NUMBERS = 20_000_000
"""The largest number of entries of the matrix that `sets_of` makes (160 MB)."""


class Around(Task):
    """A task that constrains an inner task; its state is the pair (own state, inner state).

    A subclass overrides the methods in which it differs from the inner task. The own state is
    `first` before the first round; `following` returns the own state after a datum.
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
        """Whether the datum determines the next state of the inner task."""
        return self.task.is_certain

    def matrix_at(self, state: State) -> Model:
        """Return the matrix of the inner task."""
        return self.task.matrix_at(state[1])

    def data_prior_at(self, state: State) -> Array | None:
        """Return the data prior of the inner task."""
        return self.task.data_prior_at(state[1])

    def next_states(self, state: State, datum: int) -> tuple[tuple[State, float], ...]:
        """Return the possible states after a datum, each with its probability."""
        own = self.following(state[0], int(datum))
        found = self.task.next_states(state[1], datum)
        return tuple(((own, inner), chance) for inner, chance in found)

    def next_state(self, state: State, datum: int) -> State:
        """Return the first of the states to which a datum can lead."""
        return self.next_states(state, datum)[0][0]

    def seen_part(self, state: State) -> State:
        """Return the part of the inner task's state that both agents see."""
        return self.task.seen_part(state[1])

    def with_seen_part(self, state: State, seen: State) -> State:
        """Return the state with the seen part of the inner task replaced by `seen`."""
        return state[0], self.task.with_seen_part(state[1], seen)

    def is_over(self, state: State, hypothesis: int) -> bool:
        """Tell whether the inner task is over, or the hypothesis allows no available datum."""
        return self.task.is_over(state[1], hypothesis) or super().is_over(state, hypothesis)

    def moves_forward(self, state: State, hypothesis: int) -> NDArray[np.bool_] | None:
        """Tell which data bring a lesson on the inner task nearer to its end."""
        return self.task.moves_forward(state[1], hypothesis)

    def rounds_left(self, state: State, hypothesis: int | None = None) -> int | None:
        """Return the inner task's upper bound on the number of rounds that can follow."""
        return self.task.rounds_left(state[1], hypothesis)

    def settings(self) -> dict[str, Any]:
        """Return the inner task."""
        return {"task": self.task}

    def read_state(self, content: Any) -> State:
        """Return a state that was read from a file, after the inner task has checked its part."""
        own, inner = content
        return own, self.task.read_state(inner)


class WithoutRepeats(Around):
    """A task in which no datum is shown twice; made by `without_repeats`.

    Its own state is the data that were shown, sorted.
    """

    first = ()

    def following(self, own: tuple[int, ...], datum: int) -> tuple[int, ...]:
        """Return the data that were shown, with this datum added."""
        return tuple(sorted({*own, datum}))

    def data_prior_at(self, state: State) -> Array | None:
        """Return the inner task's data prior, with zero for data that were shown, normalised."""
        shown, inner = state
        prior = self.task.data_prior_at(inner)
        if not shown:
            return prior
        prior = np.ones(self.task.matrix_at(inner).num_data) if prior is None else prior.copy()
        prior[list(shown)] = 0.0
        total = prior.sum()
        return prior / total if total > 0.0 else prior

    def rounds_left(self, state: State, hypothesis: int | None = None) -> int | None:
        """Return an upper bound: the number of unshown data that may still be shown."""
        shown, within = state
        model = self.task.matrix_at(within)
        is_new = np.ones(model.num_data, dtype=bool)
        is_new[list(shown)] = False
        # In a task that is not constant, the matrix and the available data may change later.
        if self.task.is_constant:
            is_new &= self.task.available_at(within)
            if hypothesis is not None:
                is_new &= model.matrix[:, hypothesis] > 0.0
        left = int(is_new.sum())
        inner = self.task.rounds_left(within, hypothesis)
        return left if inner is None else min(left, inner)

    def read_state(self, content: Any) -> State:
        """Validate a state that was read from a file, and return it."""
        shown, inner = content
        positions = tuple(whole_number(datum, "a datum that was shown", 0) for datum in shown)
        last = self.model.num_data - 1
        if positions != tuple(sorted(set(positions))) or any(d > last for d in positions):
            raise ValueError(
                f"the data shown are {positions}; expected different positions from 0 to {last}, "
                "in order"
            )
        return positions, self.task.read_state(inner)

    def __repr__(self) -> str:
        return f"without_repeats({self.task!r})"


def without_repeats(matrix: MatrixLike) -> WithoutRepeats:
    """Return the task in which no datum is shown twice.

    A lesson on it has at most as many rounds as there are data. A learner whose rule is made from
    this task knows the constraint; a learner whose rule is made from the matrix does not.

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


class MovingCosts(Around):
    """A task in which each datum has a cost that depends on the datum before it.

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
        """Return the inner task's data prior times ``exp(-weight * cost)``, normalised."""
        last, inner = state
        prior = self.task.data_prior_at(inner)
        if last is None or self.weight == 0.0:
            return prior
        costs = self.weight * self.costs[last]
        if prior is not None:
            costs = np.where(prior > 0.0, costs, np.inf)
        if np.isinf(costs).all():
            return np.zeros_like(costs)
        # Relative to the cheapest move, so that not all values underflow.
        worth = np.exp(costs.min() - costs)
        worth *= 1.0 if prior is None else prior
        return worth / worth.sum()

    def settings(self) -> dict[str, Any]:
        """Return the inner task, the costs and their weight."""
        return {"task": self.task, "costs": self.costs, "weight": self.weight}

    def read_state(self, content: Any) -> State:
        """Validate a state that was read from a file, and return it."""
        last, inner = content
        if last is not None and not (type(last) is int and 0 <= last < len(self.costs)):
            raise ValueError(
                f"the last datum is {last!r}; expected a position from 0 to {len(self.costs) - 1}"
            )
        return last, self.task.read_state(inner)

    def __repr__(self) -> str:
        return f"moving_costs({self.task!r}; weight {self.weight:g})"


def moving_costs(matrix: MatrixLike, costs: ArrayLike, weight: float = 1.0) -> MovingCosts:
    """Return the task in which moving from one datum to the next has a cost.

    A datum's prior probability is multiplied by ``exp(-weight * cost)``, where the cost is that of
    moving from the last datum to this one; then the prior is normalised. The first datum has no
    cost.

    Parameters
    ----------
    matrix
        A matrix of any kind, a `Model`, or another task.
    costs
        The cost of moving from the last datum (rows) to the next (columns), (n, n), by position or,
        in a labelled table, by label. Infinity forbids the move. So does a cost that exceeds the
        lowest cost among the available data by about ``740 / weight`` or more, because the prior
        underflows.
    weight
        The factor of the costs in the exponent, >= 0. With zero the costs have no effect.

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
    values, *labels = (costs, None, None) if isinstance(costs, str | PathLike) else unpack(costs)
    table = as_floats(values, copy=True, name="costs")
    if table.shape != (n, n):
        raise CobayesError(
            f"the costs have the shape {table.shape}; expected {(n, n)}, from the last datum "
            "(rows) to the next (columns)."
        )
    for axis, keys in enumerate(labels):
        if keys is not None:
            table = table.take(places(keys, model.data, "datum", "table of costs"), axis)
    if np.isnan(table).any() or (table == -np.inf).any():
        raise CobayesError("the costs contain NaN or minus infinity.", "use inf to forbid a move.")
    is_dead_end = np.isinf(table).all(axis=1)
    if is_dead_end.any():
        label = model.data[int(np.argmax(is_dead_end))]
        raise CobayesError(
            f"all costs from datum {label!r} are infinite, so no datum can follow it.",
            "make one of these costs finite, or leave the datum out.",
        )
    table.flags.writeable = False
    return table


def _only_matrix(matrix: MatrixLike) -> Model:
    """Return a matrix as a model; refuse a task, because its constraints would be lost."""
    hint = "start from the matrix, as in without_repeats(limited_to(matrix, data))."
    return instance(as_task(matrix), Model, "the matrix", "a matrix or a Model, not a task", hint)


class LimitedTo(Task):
    """A task in which only some of the data may be shown; made by `limited_to`."""

    def __init__(self, matrix: MatrixLike, data: Iterable[SupportsIndex | str]) -> None:
        self._model = _only_matrix(matrix)
        given = items(data, "data", "data", least=1)
        self.data = sorted({self._model.datum_index(datum) for datum in given})
        self._prior = np.zeros(self._model.num_data)
        self._prior[self.data] = 1.0 / len(self.data)

    def matrix_at(self, state: State) -> Model:  # noqa: ARG002
        """Return the matrix."""
        return self._model

    def data_prior_at(self, state: State) -> Array:  # noqa: ARG002
        """Return equal probabilities for the data that may be shown, and zero for all others."""
        return self._prior

    def settings(self) -> dict[str, Any]:
        """Return the matrix and the positions of the data that may be shown."""
        return {"matrix": self._model, "data": self.data}

    def __repr__(self) -> str:
        return f"limited_to({self._model!r}, {len(self.data)} of {self._model.num_data} data)"


def limited_to(matrix: MatrixLike, data: Iterable[SupportsIndex | str]) -> LimitedTo:
    """Return the task in which only these data may be shown.

    For example, a teacher who must not lie is limited to true statements. A learner whose rule
    is made from this task knows the limit; a learner whose rule is made from the matrix does not.

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
    The best two different data among the first three, for a learner who does not know the limit:

    >>> import cobayes as cb
    >>> model = cb.examples["gestures"].model
    >>> task = cb.without_repeats(cb.limited_to(model, model.data[:3]))
    >>> cb.plan_lesson(cb.BI(task), "bowl", 2, learner_rule=cb.BI(model)).data_labels
    ('look left', 'lean forward')
    """
    return LimitedTo(matrix, data)


def sets_of(matrix: MatrixLike, size: SupportsIndex) -> Model:
    """Return the model whose data are the sets of `size` different data, shown together.

    The entry of a set is the product of its members' entries, because the members are drawn
    independently; their order does not matter. A set is impossible under a hypothesis if one of its
    members is. Sets that are impossible under every hypothesis are omitted.

    The limit is 20 million entries, sets times hypotheses (160 MB). For larger problems choose one
    datum after another: ``plan_lesson`` on ``without_repeats(matrix)`` adds in every round the
    datum that teaches best.

    Parameters
    ----------
    matrix
        A matrix of any kind or a `Model`.
    size
        The number of data in a set, at least one.

    Returns
    -------
    Model
        The model, with data labelled "a + b". If `size` is one, `matrix` as a model.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.sets_of(cb.Model([[0.8, 0.3], [0.1, 0.2], [0.1, 0.5]], data="abc"), 2).data
    ('a + b', 'a + c', 'b + c')
    """
    model = _only_matrix(matrix)
    size = whole_number(size, "size", 1)
    n, m = model.shape
    if size == 1:
        return model
    if size > n:
        raise CobayesError(
            f"the size of the sets is {size}; expected at most {n}, the number of data."
        )
    count = comb(n, size)
    if count * m > MOST_NUMBERS:
        raise CobayesError(
            f"there are {count:,} sets of {size} out of {n} data; with {m} hypotheses at most "
            f"{MOST_NUMBERS // m:,} are enumerated.",
            "build a set datum by datum, adding the best one each time: "
            f"plan_lesson(SCBI(without_repeats(matrix)), hypothesis, {size}). "
            "Or use a table with fewer data.",
        )
    allowed = (model.matrix > 0.0).sum(axis=0)
    if allowed.min() < size:
        name = model.hypotheses[int(np.argmin(allowed))]
        raise CobayesError(
            f"hypothesis {name!r} allows {counted(allowed.min(), 'datum')}, so no set of {size}.",
            "ask for smaller sets, or drop the hypothesis.",
        )
    members = np.array(list(combinations(range(n), size)))
    products, is_possible = np.ones((count, m)), np.ones((count, m), dtype=np.bool_)
    for column in members.T:
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow raises an error below
            products *= model.matrix[column]
        is_possible &= model.matrix[column] > 0.0
    found = products[is_possible]
    if not (np.isfinite(found) & (found >= np.finfo(np.float64).tiny)).all():
        raise CobayesError(
            f"products of {size} entries are out of the range of float64.",
            "divide every column by its largest entry, which changes only rules with "
            "literal='truth'; or ask for smaller sets.",
        )
    kept = is_possible.any(axis=1)
    labels = [" + ".join(model.data[d] for d in row) for row in members[kept]]
    return Model(products[kept], labels, model.hypotheses)
