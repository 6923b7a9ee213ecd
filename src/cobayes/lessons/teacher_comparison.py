"""`compare_teachers`: one hypothesis, several ways of choosing the data, several learners."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, SupportsIndex

from cobayes._input.labels import Distribution, suggest
from cobayes._input.validation import items, number_between, spawn_generators, whole_number
from cobayes._output import Result, counted, html_table
from cobayes.errors import CobayesError, import_optional
from cobayes.lessons.teachers import TEACHERS, Pair, TeacherResult, refused_teachers
from cobayes.model import MatrixLike, Model, as_task
from cobayes.rules import BI, SCBI, Pragmatic, Rule, as_rule
from cobayes.rules.naming import RuleLike
from cobayes.tasks.task import Task

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class TeacherComparison(Result):
    """The results of every teacher with every learner.

    Attributes
    ----------
    model : Model
        The matrix.
    hypothesis : int
        The position of the hypothesis that was taught.
    level : float
        A learner is sure when its belief in the taught hypothesis is at least this.
    num_rounds, num_lessons : int
        The number of rounds of a lesson, and the number of lessons if they are random.
    results : tuple of TeacherResult
        One for each pair of a teacher and a learner.
    left_out : dict of str to str
        The teachers that the task does not allow, and the reasons.

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

    @property
    def hypothesis_label(self) -> str:
        """The label of the hypothesis that was taught."""
        return self.model.hypotheses[self.hypothesis]

    @property
    def title(self) -> str:
        """The title of the table."""
        return (
            f"Rounds until belief in {self.hypothesis_label!r} is {self.level:g} "
            f"(median), and mean belief after {counted(self.num_rounds, 'round')}"
        )

    def result(self, teacher: str, learner: str) -> TeacherResult:
        """Return the result of a teacher with a learner, both given by name."""
        for found in self.results:
            if (found.teacher, found.learner) == (teacher, learner):
                return found
        raise CobayesError(
            f"{teacher!r} and {learner!r} were not compared.",
            f"choose a teacher from {', '.join(self.teachers)}, and a learner from "
            f"{', '.join(self.learners)}.",
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per pair of a teacher and a learner."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        names = ("teacher", "learner", "median_rounds", "share_sure", "final_belief", "is_proved")
        rows = [[getattr(found, name) for name in names] for found in self.results]
        return pandas.DataFrame(rows, columns=names)

    def cells(self) -> list[list[str]]:
        """Return the table as texts: the heading, then one row per teacher."""
        table = [["teacher", *(f"{name} learner" for name in self.learners)]]
        for teacher in self.teachers:
            row = [teacher]
            for learner in self.learners:
                found = self.result(teacher, learner)
                median = found.median_rounds
                rounds = f">{self.num_rounds}" if median is None else str(median)
                if not found.is_proved:
                    rounds = "?" if median is None else f"<={median}"
                row.append(f"{rounds} ({found.final_belief:.3f})")
            table.append(row)
        return table

    def notes(self) -> list[str]:
        """Return notes to the table, one sentence each."""
        notes = [f"{name} is left out: {why}" for name, why in self.left_out.items()]
        if not all(found.is_proved for found in self.results):
            notes.append("<=k or ?: the search for the optimal lesson was too large to be finished")
        return notes

    def __repr__(self) -> str:
        cells = self.cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join([self.title, *lines, *self.notes()])

    def _repr_html_(self) -> str:
        head, *rows = self.cells()
        return html_table(self.title, head, rows)


def compare_teachers(
    matrix: MatrixLike,
    hypothesis: SupportsIndex | str,
    *,
    teachers: str | Iterable[str] = "all",
    learners: Sequence[RuleLike] | None = None,
    num_rounds: SupportsIndex = 30,
    num_lessons: SupportsIndex = 1000,
    level: float = 0.95,
    prior: Distribution | None = None,
    questions: Sequence[Any] | None = None,
    rng: Any = None,
) -> TeacherComparison:
    """Compare how many rounds each way of choosing data needs until a learner is sure of the truth.

    Parameters
    ----------
    matrix
        A matrix of any kind, a `Model` or any other task.
    hypothesis
        The hypothesis to teach, by position or label.
    teachers
        "all" (every teacher that the task allows), or one or several of these names. "random": any
        datum. "truthful": random among the data that are true of the hypothesis. "literal": drawn
        by BI. "SCBI": drawn by SCBI. "likeliest": SCBI's likeliest datum. "greedy": `plan_lesson`
        for this learner. "optimal": an exact search for the fewest rounds until this learner is
        sure, then greedy. "active": no teacher; a Bayesian learner asks the most informative
        question, and the answer is drawn with the probabilities in the matrix.
    learners
        Rules, their classes or names; `BI`, `Pragmatic` of depth 1 and `SCBI` by default.
    num_rounds, num_lessons
        The number of rounds of a lesson (fewer if the task ends earlier), and the number of lessons
        of each teacher whose lessons are random.
    level
        A learner is sure when its belief in the truth is at least this.
    prior
        The learners' prior, which the teachers know; uniform by default.
    questions
        For "active": the question to which each datum is an answer, n labels. By default every
        datum is a yes-or-no question; its entries in the matrix are the probabilities of "yes". If
        entries exceed one, "active" needs this argument.
    rng
        Anything that `numpy.random.default_rng` accepts.

    Returns
    -------
    TeacherComparison
        `print` shows it as a table; `cobayes.plots.plot_teachers` draws it. In the table "<=k"
        means that the search for "optimal" ended early and the best lesson found has k rounds. "?"
        means that the search ended early and found no lesson.

    Notes
    -----
    In a column with zeros the data with positive entries are true of the hypothesis. In a column
    without zeros they are the data whose probability is at least the mean over all hypotheses.

    With hundreds of data and hypotheses "optimal" takes most of the time and rarely finishes its
    search; in this case compare only the other teachers. If a datum has uncertain outcomes (a
    walker slips), "greedy" and "optimal" are left out. "active" is left out unless the task is a
    matrix, with or without repeats.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.lessons.compare_teachers(
    ...     "example:gestures", "cup", teachers=["literal", "optimal"], num_lessons=200, rng=1
    ... )
    >>> found.result("optimal", "BI").median_rounds
    3
    """
    if isinstance(matrix, Rule):
        raise CobayesError(
            f"a rule was given where a matrix or a task is expected: {matrix.title}.",
            "give its model, and the rule as a learner: compare_teachers(model, hypothesis, "
            "learners=[rule]).",
        )
    task = as_task(matrix)
    target = task.model.hypothesis_index(hypothesis)
    names, left_out = _teacher_names(teachers, task, questions)
    num_rounds = whole_number(num_rounds, "num_rounds", 1)
    num_lessons = whole_number(num_lessons, "num_lessons", 1)
    left = task.rounds_left(task.start, target)
    num_rounds = num_rounds if left is None else min(num_rounds, left)
    level = number_between(level, "level", 0.0, 1.0)
    made = _learner_rules(task, learners)
    streams = spawn_generators(rng, len(TEACHERS) * len(made))
    results = []
    for name in names:
        for number, (label, learner) in enumerate(made.items()):
            stream = streams[list(TEACHERS).index(name) * len(made) + number]
            pair = Pair(task, target, learner, prior, num_rounds, num_lessons, level, stream)
            is_known = name == "active" and number > 0  # "active" ignores the rule
            result = results[-1] if is_known else pair.run(name, questions)
            results.append(replace(result, learner=label))
    found = tuple(results)
    return TeacherComparison(task.model, target, level, num_rounds, num_lessons, found, left_out)


def _teacher_names(
    teachers: str | Iterable[str], task: Task, questions: Sequence[Any] | None
) -> tuple[list[str], dict[str, str]]:
    """Return the names of the teachers to compare, and the reasons why others are left out."""
    refused = refused_teachers(task, questions)
    if isinstance(teachers, str) and teachers.lower() == "all":
        return [name for name in TEACHERS if name not in refused], refused
    known = {name.lower(): name for name in TEACHERS}
    wanted = set()
    given = [teachers] if isinstance(teachers, str) else teachers
    for name in map(str, items(given, "teachers", "names", least=1)):
        if name.lower() not in known:
            raise CobayesError(f"there is no teacher called {name!r}.", suggest(name, [*TEACHERS]))
        wanted.add(known[name.lower()])
    for name in wanted & set(refused):
        raise CobayesError(
            f"the teacher {name!r} cannot be compared here: {refused[name]}.",
            "leave it out of teachers.",
        )
    return [name for name in TEACHERS if name in wanted], {}


def _learner_rules(task: Task, learners: Sequence[RuleLike] | None) -> dict[str, Rule]:
    """Return the learners' rules by unique labels."""
    given = (BI, Pragmatic(task, 1), SCBI) if learners is None else learners
    rules = [as_rule(rule, task) for rule in items(given, "learners", "rules", least=1)]
    found: dict[str, Rule] = {}
    for k, rule in enumerate(rules):
        found[f"{rule.title} ({k + 1})" if rule.title in found else rule.title] = rule
    return found
