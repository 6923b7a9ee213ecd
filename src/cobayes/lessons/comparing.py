"""`compare_teachers`: one hypothesis, several ways of choosing the data, several learners."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import suggest
from cobayes._input.validation import number_between, whole_number
from cobayes._runtime.randomness import spawn_generators
from cobayes.errors import CobayesError, import_optional
from cobayes.lessons.agents import Learner, Teacher
from cobayes.lessons.asking import ask_questions
from cobayes.lessons.ensemble import RoundsNeeded
from cobayes.lessons.lesson import Lesson, run_lesson
from cobayes.lessons.planning import Node, Search, SearchTooLargeError, plan_lesson
from cobayes.lessons.simulation import simulate
from cobayes.model import MatrixLike, Model, as_task
from cobayes.rules import BI, SCBI, Pragmatic, Rule, as_rule
from cobayes.rules.naming import RuleLike
from cobayes.tasks.repeats import WithoutRepeats
from cobayes.tasks.task import Task

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

TEACHERS = {
    "random": "any datum, all equally likely",
    "truthful": "any datum that speaks for the hypothesis, all equally likely",
    "literal": "drawn by BI: as often as the hypothesis makes them",
    "SCBI": "drawn by SCBI",
    "likeliest": "the likeliest datum of SCBI",
    "greedy": "the datum that raises this learner's belief most",
    "optimal": "the sequence that makes this learner sure in the fewest rounds",
    "active": "no teacher: the learner asks the most informative question",
}
"""The ways of choosing data that are compared, in the order of the table."""

MOST_BELIEFS = 5_000
"""The search for the optimal lesson gives up after so many beliefs, a few seconds of work."""

DRAWN = ("random", "truthful", "literal", "SCBI")


@dataclass(frozen=True, eq=False)
class TeacherResult:
    """How one teacher did with one learner.

    Attributes
    ----------
    teacher, learner : str
        One of `TEACHERS`, and the name of the learner's rule.
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
    """

    model: Model
    hypothesis: int
    level: float
    num_rounds: int
    num_lessons: int
    results: tuple[TeacherResult, ...]

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
            f"{self.num_rounds} rounds"
        )
        return "\n".join([title, *lines, *self.notes()])

    def notes(self) -> list[str]:
        """Return what a reader of the table must know, a sentence each."""
        if all(found.is_proved for found in self.results):
            return []
        return ["<=k or ?: the search for the optimal lesson was too large to be finished"]

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


def compare_teachers(
    matrix: MatrixLike,
    hypothesis: SupportsIndex | str,
    *,
    teachers: str | Iterable[str] = "all",
    learners: Sequence[RuleLike] | None = None,
    num_rounds: SupportsIndex = 30,
    num_lessons: SupportsIndex = 1000,
    level: float = 0.95,
    prior: ArrayLike | None = None,
    questions: Sequence[Any] | None = None,
    rng: Any = None,
) -> TeacherComparison:
    """Compare ways of choosing data by how soon a learner is sure of the truth.

    Parameters
    ----------
    matrix
        A matrix of any kind, a `Model` or `without_repeats` of one.
    hypothesis
        The hypothesis to teach, by position or label.
    teachers
        "all", or some of: "random", "truthful" (random among the data that speak for the
        hypothesis), "literal" (drawn by BI), "SCBI" (drawn by SCBI), "likeliest" (SCBI's likeliest
        datum), "greedy" (`plan_lesson` for this learner), "optimal" (the fewest rounds possible
        for this learner, by an exact search; "<=k" where the tree is too large to prove that k
        rounds are the fewest, "?" where it is too large and no lesson was found that makes the
        learner sure), "active" (the learner
        asks the most informative question and nature answers; needs `questions`).
    learners
        Rules, their classes or names; plain Bayes, `Pragmatic` of depth 1 and SCBI by default.
    num_rounds, num_lessons
        The length of a lesson, and the number of lessons where data are drawn.
    level
        The belief in the truth from which on a learner counts as sure.
    prior
        The learners' prior, which the teachers know; uniform by default.
    questions
        For "active": the question to which each datum is an answer, n labels.
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    TeacherComparison
        It prints as a table; `cobayes.plots.plot_teachers` draws it.

    Notes
    -----
    With hundreds of data and hypotheses "optimal" takes most of the time and rarely ends with a
    proof; name the other teachers instead.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.compare_teachers(
    ...     "example:M_1", 0, teachers=["literal", "optimal"], num_lessons=200, rng=1
    ... )
    >>> found.result("optimal", "BI").median_rounds
    24
    """
    task = as_task(matrix)
    model = task.model
    target = model.hypothesis_index(hypothesis)
    names = _teacher_names(teachers, questions)
    num_rounds = whole_number(num_rounds, "num_rounds", 1)
    num_lessons = whole_number(num_lessons, "num_lessons", 1)
    left = task.rounds_left(task.start, target)
    num_rounds = num_rounds if left is None else min(num_rounds, left)
    level = number_between(level, "level", 0.0, 1.0)
    made = _learner_rules(task, learners)
    streams = spawn_generators(rng, len(TEACHERS) * len(made))
    results = []
    for name in names:
        for number, learner in enumerate(made):
            stream = streams[list(TEACHERS).index(name) * len(made) + number]
            one = _One(task, target, learner, prior, num_rounds, num_lessons, level, stream)
            results.append(one.run(name, questions))
    return TeacherComparison(model, target, level, num_rounds, num_lessons, tuple(results))


@dataclass(frozen=True)
class _One:
    """One learner to be taught one hypothesis."""

    task: Task
    hypothesis: int
    learner: Rule
    prior: ArrayLike | None
    num_rounds: int
    num_lessons: int
    level: float
    rng: np.random.Generator

    def run(self, teacher: str, questions: Sequence[Any] | None) -> TeacherResult:
        if teacher in DRAWN:
            return self._drawn(teacher)
        if teacher == "active":
            assert questions is not None  # checked with the names
            beliefs = ask_questions(
                self.task,
                questions,
                self.hypothesis,
                self.learner.log_belief(self.prior),
                self.num_rounds,
                self.num_lessons,
                self.rng,
            )
            return self._result(teacher, beliefs)
        if teacher == "optimal":
            return self._optimal()
        if teacher == "greedy":
            lesson = self._greedy()
        else:
            agent = Teacher(SCBI(self.task), self.hypothesis, self.prior, 0, "likeliest")
            lesson = run_lesson(agent, Learner(self.learner, self.prior), self.num_rounds)
        return self._result(teacher, lesson.beliefs[None, :, self.hypothesis])

    def _drawn(self, teacher: str) -> TeacherResult:
        rule = _drawing_rule(teacher, self.task, self.hypothesis)
        found = simulate(
            rule,
            self.hypothesis,
            num_rounds=self.num_rounds,
            num_lessons=self.num_lessons,
            prior=self.prior,
            learner_rule=self.learner,
            rng=self.rng,
            level=self.level,
            keep_paths=False,
        )
        return TeacherResult(teacher, self.learner.name, found.mean(), found.rounds_needed)

    def _optimal(self) -> TeacherResult:
        """Begin with the greedy lesson, and look for shorter ones until there are none."""
        greedy = self._greedy()
        needed = np.flatnonzero(greedy.beliefs[:, self.hypothesis] >= self.level)
        rounds = int(needed[0]) if len(needed) else self.num_rounds + 1
        data = tuple(greedy.data[:rounds].tolist())
        search = Search(self.task, self.learner, self.hypothesis, MOST_BELIEFS)
        start = Node(self.task.start, self.learner.task.start, self.learner.log_belief(self.prior))
        wanted = float(np.log(self.level) - np.log1p(-self.level))
        is_proved = True
        try:
            while rounds > 1 and (shorter := search.reach(start, rounds - 1, wanted)) is not None:
                data, rounds = shorter, len(shorter)
        except SearchTooLargeError:
            is_proved = False
        learner = Learner(self.learner, self.prior)
        reached = [learner.belief[self.hypothesis]]
        reached += [learner.observe(datum)[self.hypothesis] for datum in data]
        path = np.full((1, self.num_rounds + 1), reached[-1])
        path[0, : len(reached)] = reached
        return replace(self._result("optimal", path), is_proved=is_proved)

    def _greedy(self) -> Lesson:
        return plan_lesson(
            self.learner if self.learner.task is self.task else BI(self.task),
            self.hypothesis,
            self.num_rounds,
            learner_rule=self.learner,
            prior=self.prior,
        )

    def _result(self, teacher: str, beliefs: Array) -> TeacherResult:
        """Summarise lessons given by their beliefs in the truth, (lessons, rounds + 1)."""
        sure = beliefs >= self.level
        first = np.where(sure.any(axis=1), sure.argmax(axis=1), beliefs.shape[1])
        counts = np.bincount(first, minlength=beliefs.shape[1] + 1)
        needed = RoundsNeeded(self.level, counts[:-1], int(counts[-1]))
        return TeacherResult(teacher, self.learner.name, beliefs.mean(axis=0), needed)


def _drawing_rule(teacher: str, task: Task, hypothesis: int) -> Rule:
    """Return the rule by which a teacher draws its data."""
    if teacher == "SCBI":
        return SCBI(task)
    if teacher == "literal":
        return BI(task)
    model = task.model
    shares = np.ones(model.shape)
    if teacher == "truthful":
        shares[:, hypothesis] = np.where(truthful_data(model, hypothesis), 1.0, 1e-12)
    made = Model(shares, model.data, model.hypotheses)
    return BI(WithoutRepeats(made) if isinstance(task, WithoutRepeats) else made)


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


def _teacher_names(teachers: str | Iterable[str], questions: Sequence[Any] | None) -> list[str]:
    if isinstance(teachers, str) and teachers == "all":
        return [name for name in TEACHERS if name != "active" or questions is not None]
    chosen = [teachers] if isinstance(teachers, str) else list(teachers)
    for name in chosen:
        if name not in TEACHERS:
            raise CobayesError(
                f"there is no teacher called {name!r}.", suggest(name, list(TEACHERS))
            )
    if "active" in chosen and questions is None:
        raise CobayesError(
            "active learning needs to know which data answer which question.",
            "give questions=[...], a label for each datum: data with one label are the possible "
            "answers to one question.",
        )
    return [name for name in TEACHERS if name in chosen]


def _learner_rules(task: Task, learners: Sequence[RuleLike] | None) -> list[Rule]:
    given = (BI, Pragmatic(task, 1), SCBI) if learners is None else learners
    return [as_rule(rule, task) for rule in given]


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
