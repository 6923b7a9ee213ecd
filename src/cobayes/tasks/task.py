"""The base class of tasks."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import shorten
from cobayes._input.validation import lost_settings, subclasses
from cobayes._output import counted
from cobayes.errors import CobayesError

if TYPE_CHECKING:
    from cobayes.model import Model

Array = NDArray[np.float64]

State = Any
"""A hashable summary of the data shown so far, such as the sorted data or a walker's position."""


class Task(ABC):
    """The matrix and the available data of each round, given the data shown before.

    A task has a state, which determines the matrix and the data prior of the next round. Data with
    prior zero are not available. The datum that is shown leads to the next state. A `Model` is a
    task with only one state. Rules are made from tasks, and agents keep track of the state.

    For your own task, define `matrix_at` and the methods that differ from the defaults here. All
    matrices of a task share their data and hypotheses.

    Examples
    --------
    A lesson in which the matrix alternates:

    >>> import cobayes as cb
    >>> class Alternating(cb.tasks.Task):
    ...     start = 0
    ...     models = (cb.Model([[0.9, 0.2], [0.1, 0.8]]), cb.Model([[0.6, 0.5], [0.4, 0.5]]))
    ...
    ...     def matrix_at(self, state):
    ...         return self.models[state]
    ...
    ...     def next_state(self, state, datum):
    ...         return 1 - state
    >>> rule = cb.SCBI(Alternating())
    >>> cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 4).num_rounds
    4
    """

    start: State = None
    """The state before the first round."""

    is_seen: bool = False
    """Whether both agents see the state itself, such as the position of a walker."""

    @property
    def is_certain(self) -> bool:
        """Whether the datum determines the next state, so that no state is drawn at random.

        By default: True, unless the class overrides `next_states`.
        """
        return type(self).next_states is Task.next_states

    @property
    def is_constant(self) -> bool:
        """Whether the state never changes: the matrix and data prior of all rounds are the same."""
        kind = type(self)
        return kind.next_states is Task.next_states and kind.next_state is Task.next_state

    @abstractmethod
    def matrix_at(self, state: State) -> Model:
        """Return the matrix in a state, with its labels."""

    def data_prior_at(self, state: State) -> Array | None:  # noqa: ARG002
        """Return the prior probabilities of the data in a state, (n,).

        Zero means that a datum is not available. None, the default, makes all equally likely.
        """
        return None

    def available_at(self, state: State) -> NDArray[np.bool_]:
        """Return which data may be shown in a state, (n,)."""
        prior = self.data_prior_at(state)
        return np.ones(self.model.num_data, dtype=np.bool_) if prior is None else prior > 0.0

    def next_state(self, state: State, datum: int) -> State:  # noqa: ARG002
        """Return the state after a datum, given by position, was shown."""
        return state

    def next_states(self, state: State, datum: int) -> tuple[tuple[State, float], ...]:
        """Return the possible states after a datum: pairs of a state and its probability.

        If there are several, one is drawn after each round, and both agents observe it.
        """
        return ((self.next_state(state, datum), 1.0),)

    def seen_part(self, state: State) -> State:
        """Return the part of a state that both agents see: by default the whole state."""
        return state

    def with_seen_part(self, state: State, seen: State) -> State:  # noqa: ARG002
        """Return the state with the seen part replaced by `seen`."""
        return seen

    def is_over(self, state: State, hypothesis: int) -> bool:
        """Tell whether a lesson about a hypothesis, given by position, ends in a state.

        By default it ends when no available datum is possible under the hypothesis.
        """
        return self.is_exhausted(state, hypothesis)

    def is_exhausted(self, state: State, hypothesis: int) -> bool:
        """Tell whether no available datum is possible under a hypothesis, given by position."""
        prior = self.data_prior_at(state)
        if prior is None:
            return False
        return not prior[self.matrix_at(state).matrix[:, hypothesis] > 0.0].any()

    def moves_forward(self, state: State, hypothesis: int) -> NDArray[np.bool_] | None:  # noqa: ARG002
        """Tell which data lead a lesson about a hypothesis towards the lesson's end, (n,).

        None, the default, for tasks without such an end.
        """
        return None

    def rounds_left(self, state: State, hypothesis: int | None = None) -> int | None:  # noqa: ARG002
        """Return an upper bound on the number of rounds that can follow; None if none is known.

        Parameters
        ----------
        state
            The current state.
        hypothesis
            The position of the hypothesis that is taught, if it is known.
        """
        return None

    @property
    def model(self) -> Model:
        """The matrix at the start."""
        return self.matrix_at(self.start)

    def settings(self) -> dict[str, Any]:
        """Return the arguments that make the same task again, for saving it.

        They may contain texts, numbers, lists, dicts, arrays and other tasks.
        """
        raise CobayesError(
            f"the task {type(self).__name__} cannot be saved.",
            "define its method settings(), which returns the arguments of the constructor.",
        )

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> Self:
        """Make a task from the arguments that `settings` returns."""
        return cls(**settings)

    def read_state(self, content: Any) -> State:
        """Return a state that was read from a file, where tuples have become lists."""
        return as_state(content)

    def __eq__(self, other: object) -> bool:
        if self is other or type(other) is not type(self) or type(self).settings is Task.settings:
            return self is other
        # If settings() does not return all parameters, the task is equal only to itself.
        own = self.settings()
        return not lost_settings(type(self), own) and _listed(own) == _listed(other.settings())

    def __hash__(self) -> int:
        return hash((type(self), self.start))


def _listed(setting: Any) -> Any:
    """Return a setting with arrays, tuples and dicts as lists; dicts keep their order."""
    setting = setting.tolist() if isinstance(setting, np.ndarray) else setting
    if isinstance(setting, dict):
        setting = list(setting.items())
    return [_listed(part) for part in setting] if isinstance(setting, list | tuple) else setting


def require_usable(task: Task) -> Task:
    """Return the task, or raise an error if its methods return values of a wrong type or shape."""
    name, model, prior = type(task).__name__, task.model, task.data_prior_at(task.start)
    if not isinstance(model, Task):  # `Model` cannot be imported: model.py imports this module
        raise CobayesError(
            f"{name}.matrix_at returns a {type(model).__name__}; expected a cobayes.Model.",
            "make the models once, in the constructor: cobayes.Model(matrix, data, hypotheses).",
        )
    num_data = model.model.num_data
    if prior is not None and (not isinstance(prior, np.ndarray) or prior.shape != (num_data,)):
        raise CobayesError(
            f"{name}.data_prior_at returns {prior!r}; expected None or an array of {num_data} "
            "numbers, one for each datum."
        )
    try:
        hash(task.start)
    except TypeError as error:
        raise CobayesError(
            f"the states of {name} cannot be keys of a dict: {error}.",
            "use tuples instead of lists and arrays.",
        ) from error
    return task


def as_state(content: Any) -> State:
    """Return a state with tuples instead of lists and arrays, and with Python's numbers."""
    if isinstance(content, np.ndarray | np.generic):
        content = content.tolist()
    if isinstance(content, dict | set):
        raise CobayesError(
            f"a state holds {content!r}; expected numbers, texts, None or tuples of them."
        )
    is_sequence = type(content) in (list, tuple)  # not a named tuple
    return tuple(map(as_state, content)) if is_sequence else content


def draw_outcome(outcomes: tuple[tuple[State, float], ...], rng: np.random.Generator) -> State:
    """Draw one of the possible next states; no random number is used if there is only one."""
    if len(outcomes) == 1:
        return outcomes[0][0]
    chances = np.cumsum([chance for _, chance in outcomes])
    drawn = int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))
    return outcomes[min(drawn, len(outcomes) - 1)][0]


def require_left(num_rounds: int, task: Task, state: State, name: str, taught: int | None) -> None:
    """Raise an error if the task, from this state on, has data for fewer rounds than asked for."""
    left = task.rounds_left(state, taught)
    if left is not None and num_rounds > left:
        raise CobayesError(
            f"a lesson of {counted(num_rounds, 'round')} was asked for; the {name}'s task has "
            f"data for {left} of them.",
            f"ask for at most {counted(left, 'round')}.",
        )


def no_datum(model: Model, hypothesis: int, available: NDArray[np.bool_]) -> CobayesError:
    """Return the error about a hypothesis under which no available datum is possible.

    Parameters
    ----------
    model
        The matrix with its labels.
    hypothesis
        The position of the hypothesis that is to be taught.
    available
        Which data may be shown, (n,).
    """
    name = model.hypotheses[hypothesis]
    if not available.any():
        return CobayesError(
            f"no datum is left to teach hypothesis {name!r}.", "ask for fewer rounds."
        )
    shown = [model.data[row] for row in np.flatnonzero(available)]
    allowed = [model.data[row] for row in np.flatnonzero(model.matrix[:, hypothesis])]
    return CobayesError(
        f"hypothesis {name!r} allows none of the data that may be shown ({shorten(shown, 4)}).",
        f"make one of {shorten(allowed, 4)} available, or teach another hypothesis.",
    )


OWN_TASKS = ("cobayes.tasks.", "cobayes.worlds.", "cobayes.lessons.")
"""The modules that loading a file may import; an untrusted file must not import others."""


def class_name(task: Task) -> str:
    """Return the name by which `task_from_settings` finds a task's class."""
    return f"{type(task).__module__}.{type(task).__name__}"


def task_from_settings(name: str, settings: dict[str, Any]) -> Task:
    """Make a task from the `class_name` and the `settings` of another one.

    A custom task is found by the name of its class once the class has been defined.
    """
    module, _, own_name = str(name).rpartition(".")
    if module.startswith(OWN_TASKS):
        with suppress(ImportError):
            importlib.import_module(module)
    found = [kind for kind in subclasses(Task) if kind.__name__ == own_name]
    if not found:
        raise CobayesError(
            f"there is no task called {own_name!r}.", "define or import its class before loading."
        )
    # A notebook may define a class twice. The last definition is taken, preferably one in `module`.
    found.sort(key=lambda kind: kind.__module__ == module)
    return found[-1].from_settings(settings)
