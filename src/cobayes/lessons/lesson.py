"""One lesson: a teacher teaches, a learner learns, round by round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import whole_number
from cobayes._output import freeze, rounds_dataframe, rounds_dataset
from cobayes.errors import CobayesError
from cobayes.lessons import saving
from cobayes.lessons.agents import Learner, Teacher
from cobayes.model import Model, require_same_world

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Lesson:
    """What happened in a lesson of k rounds with m hypotheses.

    Attributes
    ----------
    data : ndarray
        The k data that were taught, by position.
    log_beliefs, teacher_log_beliefs : ndarray
        Logarithms of the learner's beliefs and of the teacher's estimates, (k + 1, m).
    teacher_state, learner_state : dict
        The agents after the last round, from which the lesson can go on.
    """

    data: NDArray[np.intp]
    log_beliefs: Array
    teacher_log_beliefs: Array
    teacher_state: dict[str, Any]
    learner_state: dict[str, Any]

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def beliefs(self) -> Array:
        """The learner's beliefs, shape (k + 1, m); the first is the prior."""
        return np.exp(self.log_beliefs)

    @property
    def teacher_beliefs(self) -> Array:
        """The teacher's estimates of the learner's beliefs, shape (k + 1, m)."""
        return np.exp(self.teacher_log_beliefs)

    @property
    def num_rounds(self) -> int:
        """The number of rounds, k."""
        return len(self.data)

    @property
    def hypothesis(self) -> int:
        """The position of the hypothesis that was taught."""
        return int(self.teacher_state["hypothesis"])

    @property
    def hypothesis_label(self) -> str:
        """The label of the hypothesis that was taught."""
        return self.model.hypotheses[self.hypothesis]

    @property
    def data_labels(self) -> tuple[str, ...]:
        """The labels of the data that were taught."""
        return tuple(self.model.data[datum] for datum in self.data)

    @property
    def model(self) -> Model:
        """The learner's matrix with its labels."""
        return Model.from_dict(self.learner_state["rule"])

    @property
    def rule_name(self) -> str:
        """The learner's rule, "BI" or "SCBI"."""
        return self.learner_state["rule"]["rule"]

    def resume(self) -> tuple[Teacher, Learner]:
        """Return the two agents as they were after the last round."""
        return Teacher.from_dict(self.teacher_state), Learner.from_dict(self.learner_state)

    def extend(self, num_rounds: int) -> Lesson:
        """Go on for some rounds; the same as if the lesson had not been interrupted."""
        more = run_lesson(*self.resume(), num_rounds)
        return replace(
            more,
            data=np.concatenate([self.data, more.data]),
            log_beliefs=np.concatenate([self.log_beliefs, more.log_beliefs[1:]]),
            teacher_log_beliefs=np.concatenate(
                [self.teacher_log_beliefs, more.teacher_log_beliefs[1:]]
            ),
        )

    def to_dataframe(self, agent: Literal["learner", "teacher"] = "learner") -> pd.DataFrame:
        """Return one row a round: the datum and the belief in every hypothesis.

        Parameters
        ----------
        agent
            The "learner", or the "teacher" with its estimates.
        """
        beliefs = self.beliefs if agent == "learner" else self.teacher_beliefs
        table = rounds_dataframe(beliefs, self.model.hypotheses)
        table.insert(0, "datum", [None, *self.data_labels], allow_duplicates=True)
        return table

    def to_xarray(self) -> xr.Dataset:
        """Return beliefs, log-beliefs and data as a Dataset with the labels."""
        return rounds_dataset(
            {
                "belief": self.beliefs,
                "log_belief": self.log_beliefs,
                "teacher_belief": self.teacher_beliefs,
            },
            "hypothesis",
            self.model.hypotheses,
            {"rule": self.rule_name, "true_hypothesis": self.hypothesis_label},
            {"datum": ["", *self.data_labels]},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return {
            "kind": "lesson",
            "data": self.data.tolist(),
            "log_beliefs": saving.pack(self.log_beliefs),
            "teacher_log_beliefs": saving.pack(self.teacher_log_beliefs),
            "teacher": self.teacher_state,
            "learner": self.learner_state,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Lesson:
        """Undo `to_dict`."""
        saving.require_kind(content, "lesson")
        with saving.explained("lesson"):
            lesson = cls(
                np.array(content["data"], dtype=np.intp),
                saving.unpack(content["log_beliefs"]),
                saving.unpack(content["teacher_log_beliefs"]),
                content["teacher"],
                content["learner"],
            )
            n, m = lesson.model.shape
            expected = (len(lesson.data) + 1, m)
        if not (lesson.log_beliefs.shape == lesson.teacher_log_beliefs.shape == expected):
            raise CobayesError(
                f"the saved lesson has {len(lesson.data)} data but beliefs of shape "
                f"{lesson.log_beliefs.shape}; expected {expected}."
            )
        if lesson.data.size and not ((lesson.data >= 0) & (lesson.data < n)).all():
            raise CobayesError(f"the saved lesson has a datum outside of 0 to {n - 1}.")
        return lesson

    def save(self, path: str | Path) -> None:
        """Write the lesson to a JSON file; it can be loaded and extended."""
        saving.write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Lesson:
        """Read a lesson written by `save`."""
        return cls.from_dict(saving.read(path))

    def __repr__(self) -> str:
        final = self.beliefs[-1, self.hypothesis]
        return (
            f"Lesson({self.rule_name}; {self.num_rounds} rounds; taught "
            f"{self.hypothesis_label!r}; final belief in it {final:.4f})"
        )

    def _repr_html_(self) -> str:
        names = self.model.hypotheses
        head = "".join(
            f"<th>{escape(name)}{' (true)' if h == self.hypothesis else ''}</th>"
            for h, name in enumerate(names)
        )
        rows = "".join(
            f"<tr><td>{k}</td><td>{escape(label)}</td>"
            + "".join(
                f'<td style="background:linear-gradient(to right,#9ecae1 {100 * p:.0f}%,'
                f'transparent 0)">{p:.4f}</td>'
                for p in belief
            )
            + "</tr>"
            for k, (label, belief) in enumerate(
                zip(("", *self.data_labels), self.beliefs, strict=True)
            )
        )
        return (
            f"<table><caption>{escape(repr(self))}</caption><thead><tr><th>round</th>"
            f"<th>datum</th>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )


def run_lesson(teacher: Teacher, learner: Learner, num_rounds: int) -> Lesson:
    """Let a teacher teach a learner for some rounds.

    The agents may hold different matrices and different priors; they go on from where they
    are, and are left as they are after the last round.

    Parameters
    ----------
    teacher
        Chooses the data.
    learner
        Observes them.
    num_rounds
        How many; zero is allowed.

    Notes
    -----
    Algorithm 1 of the paper, without assumption (iii').
    """
    for role, agent, kind in (("teacher", teacher, Teacher), ("learner", learner, Learner)):
        if not isinstance(agent, kind):
            raise CobayesError(
                f"the {role} is a {type(agent).__name__}; expected a {kind.__name__}.",
                "run_lesson(cobayes.Teacher(rule, hypothesis), cobayes.Learner(rule), num_rounds).",
            )
    require_same_world(teacher.rule.model, learner.rule.model)
    num_rounds = whole_number(num_rounds, "num_rounds", 0)
    data = np.empty(num_rounds, dtype=np.intp)
    log_beliefs = [learner.log_belief]
    teacher_log_beliefs = [teacher.log_belief]
    for k in range(num_rounds):
        data[k] = teacher.choose()
        learner.observe(data[k])
        log_beliefs.append(learner.log_belief)
        teacher_log_beliefs.append(teacher.log_belief)
    return Lesson(
        data,
        np.array(log_beliefs),
        np.array(teacher_log_beliefs),
        teacher.to_dict(),
        learner.to_dict(),
    )
