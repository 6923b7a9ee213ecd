"""One lesson: a teacher teaches, a learner learns, round by round."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.validation import generator, instance, number_between, one_of, whole_number
from cobayes._output import counted, dataset, freeze, html_table, probability_text, shown
from cobayes._parallel import require_affordable_simulation
from cobayes.errors import CobayesError, import_optional, warn_user
from cobayes.lessons import saving
from cobayes.lessons.agents import Learner, Teacher
from cobayes.model import Model, require_same_world
from cobayes.tasks.task import State, draw_outcome, require_left

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]

FEW_ROUNDS = 10_000
"""Lessons up to this number of rounds take seconds; for longer lessons the time is estimated."""


@dataclass(frozen=True, eq=False, repr=False)
class Lesson:
    """The data and beliefs of a lesson of k rounds with m hypotheses.

    Attributes
    ----------
    data : ndarray
        The k data that were taught, by position.
    log_beliefs, teacher_log_beliefs : ndarray
        Logarithms of the learner's beliefs and of the teacher's estimates of them, (k + 1, m).
    teacher, learner : Teacher, Learner
        The agents after the last round. To continue the lesson, use the copies that `resume`
        returns.
    states : tuple
        The k + 1 states of the teacher's task if agents see them (as in a `GridWorld`), else empty.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI("example:M_3")
    >>> lesson = cb.run_lesson(cb.Teacher(rule, "h_1", rng=1), cb.Learner(rule), 4)
    >>> lesson
    Lesson(SCBI; 4 rounds; taught 'h_1'; final belief in it 0.4194)
    >>> lesson.data_labels
    ('d_2', 'd_3', 'd_1', 'd_3')
    """

    data: NDArray[np.intp]
    log_beliefs: Array
    teacher_log_beliefs: Array
    teacher: Teacher
    learner: Learner
    states: tuple[State, ...] = ()

    __post_init__ = freeze

    @property
    def beliefs(self) -> Array:
        """The learner's beliefs, shape (k + 1, m); the first is the prior."""
        return _core.exp(self.log_beliefs)

    @property
    def teacher_beliefs(self) -> Array:
        """The teacher's estimates of the learner's beliefs, shape (k + 1, m)."""
        return _core.exp(self.teacher_log_beliefs)

    @property
    def num_rounds(self) -> int:
        """The number of rounds, k."""
        return len(self.data)

    @property
    def hypothesis(self) -> int:
        """The position of the hypothesis that was taught."""
        return self.teacher.hypothesis

    @property
    def hypothesis_label(self) -> str:
        """The label of the hypothesis that was taught."""
        return self.model.hypotheses[self.hypothesis]

    @property
    def data_labels(self) -> tuple[str, ...]:
        """The labels of the data that were taught."""
        labels = self.model.data
        return tuple(labels[datum] for datum in self.data)

    @property
    def model(self) -> Model:
        """The learner's matrix with its labels."""
        return self.learner.rule.model

    @property
    def rule_name(self) -> str:
        """The title of the learner's rule, such as "BI" or "Pragmatic, depth 2"."""
        return self.learner.rule.title

    @property
    def is_over(self) -> bool:
        """Whether the task allows no further round.

        This is so if the walker of a world is at its goal, or if the taught hypothesis allows no
        available datum.
        """
        return self.teacher.task.is_over(self.teacher.state, self.hypothesis)

    def rounds_until(self, level: float = 0.95) -> int | None:
        """Return the round in which the learner's belief in the truth first reached `level`.

        None if there is no such round; 0 if the prior is at least `level`.
        """
        level = number_between(level, "level", 0.0, 1.0, closed="high")
        sure = np.flatnonzero(self.beliefs[:, self.hypothesis] >= level)
        return int(sure[0]) if len(sure) else None

    def resume(self) -> tuple[Teacher, Learner]:
        """Return copies of the two agents as they were after the last round."""
        return self.teacher.copy(), self.learner.copy()

    def extend(self, num_rounds: SupportsIndex) -> Lesson:
        """Return the lesson continued for `num_rounds` more rounds, as one longer lesson.

        If the outcomes of data are random, the teacher's generator draws them.
        """
        more = run_lesson(*self.resume(), num_rounds)
        data = np.concatenate([self.data, more.data])
        logs = np.concatenate([self.log_beliefs, more.log_beliefs[1:]])
        own_logs = np.concatenate([self.teacher_log_beliefs, more.teacher_log_beliefs[1:]])
        states = self.states + more.states[1:]
        return Lesson(data, logs, own_logs, more.teacher, more.learner, states)

    def to_dataframe(self, agent: Literal["learner", "teacher"] = "learner") -> pd.DataFrame:
        """Return one row per round from 0 on: datum, state if agents see it, and belief.

        Parameters
        ----------
        agent
            "learner" for the learner's beliefs, "teacher" for the teacher's estimates of them.
        """
        one_of(agent, "agent", ("learner", "teacher"))
        beliefs = self.beliefs if agent == "learner" else self.teacher_beliefs
        pandas = import_optional("pandas", "labels", "a DataFrame")
        table = pandas.DataFrame(beliefs, columns=list(self.model.hypotheses))
        table.index.name = "round"
        if self.states:
            table.insert(0, "state", list(self.states), allow_duplicates=True)
        table.insert(0, "datum", [None, *self.data_labels], allow_duplicates=True)
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the lesson as a dict for JSON; `from_dict` makes the same lesson again.

        It contains labels, beliefs and the two agents with their rules; a shared matrix is written
        once.
        """
        return saving.to_plain(
            {
                "rule": self.rule_name,
                "hypothesis": self.hypothesis_label,
                "hypotheses": self.model.hypotheses,
                "data": self.data_labels,
                "beliefs": self.beliefs,
                "teacher_beliefs": self.teacher_beliefs,
                "log_beliefs": saving.plain_logs(self.log_beliefs),
                "teacher_log_beliefs": saving.plain_logs(self.teacher_log_beliefs),
                "states": self.states,
                "teacher": self.teacher.snapshot(),
                "learner": self.learner.snapshot(),
            }
        )

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Lesson:
        """Undo `to_dict`; raise an error if the content is damaged.

        Examples
        --------
        >>> import json
        >>> import cobayes as cb
        >>> rule = cb.SCBI("example:M_3")
        >>> lesson = cb.run_lesson(cb.Teacher(rule, "h_1", rng=1), cb.Learner(rule), 4)
        >>> text = json.dumps(lesson.to_dict())
        >>> cb.Lesson.from_dict(json.loads(text)).extend(1).num_rounds
        5
        """
        with saving.explained("lesson"):
            found = saving.from_plain(content)
            teacher, learner = (Learner.restore(found[role]) for role in ("teacher", "learner"))
            if not isinstance(teacher, Teacher):
                raise ValueError(f"the teacher is a {teacher.kind}")
            require_same_world(teacher.rule.model, learner.rule.model)
            data = [learner.rule.model.datum_index(label) for label in found["data"]]
            shape = (len(data) + 1, learner.rule.model.num_hypotheses)
            logs = {}
            for name, agent in (("log_beliefs", learner), ("teacher_log_beliefs", teacher)):
                logs[name] = saving.read_logs(found[name], name, shape)
                if not np.array_equal(logs[name][-1], agent.log_belief):
                    raise ValueError(f"the {agent.kind}'s belief is not that of the last round")
            states = tuple(teacher.task.read_state(state) for state in found["states"])
            if states and (len(states) != shape[0] or states[-1] != teacher.state):
                raise ValueError("the states do not match the rounds or the teacher's last state")
        rows = np.array(data, dtype=np.intp)
        return cls(rows, **logs, teacher=teacher, learner=learner, states=states)

    def to_xarray(self) -> xr.Dataset:
        """Return beliefs, log-beliefs and data as a Dataset with the labels."""
        return dataset(
            {
                "belief": self.beliefs,
                "log_belief": self.log_beliefs,
                "teacher_belief": self.teacher_beliefs,
                "datum": ["", *self.data_labels],
            },
            {"round": np.arange(self.num_rounds + 1), "hypothesis": list(self.model.hypotheses)},
            {"rule": self.rule_name, "true_hypothesis": self.hypothesis_label},
        )

    def save(self, path: str | Path) -> None:
        """Write the lesson to a JSON file; it can be loaded and extended.

        Parameters
        ----------
        path
            The file, of any name.
        """
        saving.write(path, "lesson", self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Lesson:
        """Read a lesson written by `save`; raise an error if the file is damaged."""
        return cls.from_dict(saving.read(path, "lesson"))

    def __repr__(self) -> str:
        final = self.beliefs[-1, self.hypothesis]
        return (
            f"Lesson({self.rule_name}; {counted(self.num_rounds, 'round')}; taught "
            f"{self.hypothesis_label!r}; final belief in it {probability_text(final, 4)})"
        )

    def _repr_html_(self) -> str:
        h, names = self.hypothesis, list(self.model.hypotheses)
        names[h] += " (true)"
        data, beliefs = ("", *self.data_labels), self.beliefs.tolist()
        rows = [
            k if k == "…" else [str(k), data[k], *shown(beliefs[k], h)]
            for k in shown(range(self.num_rounds + 1))
        ]
        return html_table(repr(self), ["round", "datum", *shown(names, h)], rows)


def run_lesson(
    teacher: Teacher, learner: Learner, num_rounds: SupportsIndex, *, rng: Any = None
) -> Lesson:
    """Run a lesson: a teacher teaches a learner for some rounds.

    The agents may have different matrices, tasks and priors; they start from their current beliefs
    and states, and the lesson changes both agents. In a world the lesson ends when the walker
    reaches its goal. It also ends early, with a warning, if the task has no datum left for the
    taught hypothesis; an error is raised if there is none for the first round.

    Parameters
    ----------
    teacher
        The teacher, who chooses the data.
    learner
        The learner, who observes the data.
    num_rounds
        The largest number of rounds, >= 0; an error if it exceeds a task's `rounds_left`.
    rng
        The random generator for the outcomes of data, in tasks such as a slippery world; the
        teacher's own by default.

    Returns
    -------
    Lesson
        The data and both agents' beliefs, round by round.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI([[0.8, 0.3], [0.2, 0.7]])
    >>> cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 5).beliefs.shape
    (6, 2)

    Notes
    -----
    Algorithm 1 of the paper. Its assumptions (iii) and (iv) need not hold; see `Model.check`.
    """
    hint = "call run_lesson(Teacher(rule, hypothesis), Learner(rule), num_rounds)."
    instance(teacher, Teacher, "the teacher", "a Teacher", hint)
    instance(learner, Learner, "the learner", "a Learner", hint)
    if teacher is learner:
        raise CobayesError(
            "the teacher and the learner are one agent, which would count every datum twice.",
            "make a cobayes.Learner(rule) for the lesson.",
        )
    num_rounds = whole_number(num_rounds, "num_rounds", 0)
    task, hypothesis = teacher.rule.task, teacher.hypothesis
    require_same_world(teacher.rule.model, learner.rule.model)
    for agent, taught in ((teacher, hypothesis), (learner, None)):
        require_left(num_rounds, agent.rule.task, agent.state, agent.kind, taught)
    if num_rounds > FEW_ROUNDS and isinstance(task, Model):  # lessons on other tasks may end early
        require_affordable_simulation(1, num_rounds, *task.shape)
    outcomes = teacher.rng if rng is None else generator(rng)
    if task.is_seen:
        learner.follow(teacher)
    data: list[int] = []
    states = [teacher.state]
    log_beliefs, teacher_log_beliefs = [learner.log_belief], [teacher.log_belief]
    while len(data) < num_rounds and not task.is_over(teacher.state, hypothesis):
        data.append(teacher.choose())
        learner.observe(data[-1])
        if teacher.outcomes:
            teacher.arrive(draw_outcome(teacher.outcomes, outcomes))
        learner.follow(teacher)
        states.append(teacher.state)
        log_beliefs.append(learner.log_belief)
        teacher_log_beliefs.append(teacher.log_belief)
    if len(data) < num_rounds and task.is_exhausted(teacher.state, hypothesis):
        if not data:
            teacher.choose()  # raises an error if no datum is left
        warn_user(
            f"the lesson ends after {len(data)} of {counted(num_rounds, 'round')}: no datum is "
            f"left that the teacher's task and {teacher.rule.model.hypotheses[hypothesis]!r} allow."
        )
    return Lesson(
        np.array(data, dtype=np.intp),
        np.array(log_beliefs),
        np.array(teacher_log_beliefs),
        teacher.copy(),
        learner.copy(),
        tuple(states) if task.is_seen else (),
    )
