"""What `compare_teachers` returns: every teacher against every learner."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._output import counted
from cobayes.errors import CobayesError, import_optional
from cobayes.lessons.ensemble import RoundsNeeded
from cobayes.model import Model

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TeacherResult:
    """How one teacher did with one learner.

    Attributes
    ----------
    teacher, learner : str
        The way of choosing data, and the name of the learner's rule.
    beliefs : ndarray
        The learner's mean belief in the truth after each round, (num_rounds + 1,).
    rounds_needed : RoundsNeeded
        When the learner was sure.
    is_proved : bool
        False for an "optimal" lesson where the search was too large: fewer rounds may do.
    """

    teacher: str
    learner: str
    beliefs: Array
    rounds_needed: RoundsNeeded
    is_proved: bool = True

    @property
    def median_rounds(self) -> int | None:
        """The round by which half of the lessons were sure; None if they never were."""
        return self.rounds_needed.median


@dataclass(frozen=True, eq=False, repr=False)
class TeacherComparison:
    """Every teacher against every learner.

    Attributes
    ----------
    model : Model
        The matrix.
    hypothesis : int
        The position of the hypothesis that was taught.
    level : float
        The belief in it from which on a learner counts as sure.
    num_rounds, num_lessons : int
        The length of a lesson, and how many there were where data are drawn.
    results : tuple of TeacherResult
        One for each pair.
    left_out : dict of str to str
        Teachers that the task does not allow, and why.

    Examples
    --------
    >>> import cobayes as cb
    >>> from cobayes.lessons import compare_teachers
    >>> teachers = ["literal", "optimal"]
    >>> found = compare_teachers("example:gestures", 0, teachers=teachers, num_lessons=200, rng=1)
    >>> found.teachers, found.learners
    (('literal', 'optimal'), ('BI', 'Pragmatic, depth 1', 'SCBI'))
    """

    model: Model
    hypothesis: int
    level: float
    num_rounds: int
    num_lessons: int
    results: tuple[TeacherResult, ...]
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def teachers(self) -> tuple[str, ...]:
        """The teachers, in the order of the results."""
        return tuple(dict.fromkeys(result.teacher for result in self.results))

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners' rules, in the order of the results."""
        return tuple(dict.fromkeys(result.learner for result in self.results))

    def result(self, teacher: str, learner: str) -> TeacherResult:
        """Return the result of one pair."""
        for found in self.results:
            if (found.teacher, found.learner) == (teacher, learner):
                return found
        raise CobayesError(
            f"{teacher!r} and {learner!r} were not compared.",
            f"teachers: {', '.join(self.teachers)}; learners: {', '.join(self.learners)}.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return {
            "hypothesis": self.model.hypotheses[self.hypothesis],
            "level": self.level,
            "rounds": self.num_rounds,
            "lessons": self.num_lessons,
            "results": [_row(found) for found in self.results],
            "left_out": self.left_out,
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per pair of a teacher and a learner."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        return pandas.DataFrame([_row(found) for found in self.results])

    def cells(self) -> list[list[str]]:
        """Return the table as texts, the heading first: one row per teacher."""
        table = [["teacher", *(f"{name} learner" for name in self.learners)]]
        for teacher in self.teachers:
            row = [teacher]
            for learner in self.learners:
                found = self.result(teacher, learner)
                median = found.median_rounds
                rounds = f">{self.num_rounds}" if median is None else str(median)
                if not found.is_proved:
                    rounds = "?" if median is None else f"<={median}"
                row.append(f"{rounds} ({found.beliefs[-1]:.3f})")
            table.append(row)
        return table

    def __repr__(self) -> str:
        cells = self.cells()
        widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        label = self.model.hypotheses[self.hypothesis]
        title = (
            f"Rounds until belief in {label!r} is {self.level:g} (median), and mean belief after "
            f"{counted(self.num_rounds, 'round')}"
        )
        return "\n".join([title, *lines, *self.notes()])

    def notes(self) -> list[str]:
        """Return what a reader of the table must know, a sentence each."""
        notes = [f"{name} is left out: {why}" for name, why in self.left_out.items()]
        if not all(found.is_proved for found in self.results):
            notes.append("<=k or ?: the search for the optimal lesson was too large to be finished")
        return notes

    def _repr_html_(self) -> str:
        head, *rows = self.cells()
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        title = escape(repr(self).splitlines()[0])
        names = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        return (
            f"<table><caption>{title}</caption><thead><tr>{names}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )


def _row(found: TeacherResult) -> dict[str, Any]:
    needed = found.rounds_needed
    return {
        "teacher": found.teacher,
        "learner": found.learner,
        "median_rounds": found.median_rounds,
        "share_sure": float(needed.cumulative()[-1]),
        "final_belief": float(found.beliefs[-1]),
        "is_proved": found.is_proved,
    }
