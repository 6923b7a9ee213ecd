"""`compare_teachers`: one hypothesis, several ways of choosing the data, several learners."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import Distribution, suggest
from cobayes._input.validation import items, number_between, spawn_generators, whole_number
from cobayes._output import Result, counted, html_table
from cobayes.errors import CobayesError, import_optional
from cobayes.lessons.agents import Learner, Teacher
from cobayes.lessons.ensemble import RoundsNeeded
from cobayes.lessons.lesson import run_lesson
from cobayes.lessons.planning import Node, Planner, Search, SearchTooLargeError
from cobayes.lessons.simulate import simulate
from cobayes.model import MatrixLike, Model, as_task
from cobayes.rules import BI, SCBI, Pragmatic, Rule, as_rule
from cobayes.rules.naming import RuleLike
from cobayes.rules.response import add_evidence
from cobayes.tasks.constraints import Around, WithoutRepeats
from cobayes.tasks.task import State, Task

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
    "optimal": "the sequence that makes this learner sure in the fewest rounds, then greedy",
    "active": "no teacher: a learner by Bayes asks the most informative question",
}
"""The ways of choosing data that are compared, in the order of the table."""

DRAWN = ("random", "truthful", "literal", "SCBI")

MOST_BELIEFS = 5_000
"""The search for the optimal lesson gives up after this number of beliefs, seconds of work."""

LAST_RESORT = 1e-12
"""How often a truthful teacher shows another datum: in effect only where no true one is left."""


@dataclass(frozen=True, eq=False)
class TeacherResult(Result):
    """The result of one teacher with one learner.

    Attributes
    ----------
    teacher, learner : str
        The way of choosing data, and the name of the learner's rule.
    beliefs : ndarray
        The learner's mean belief in the truth after each round, (num_rounds + 1,).
    rounds_needed : RoundsNeeded
        The numbers of rounds until the learner was sure.
    is_proved : bool
        False for an "optimal" lesson whose search was not finished: fewer rounds may be enough.
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

    @property
    def share_sure(self) -> float:
        """The share of lessons in which the learner was sure at the end."""
        return float(self.rounds_needed.cumulative()[-1])

    @property
    def final_belief(self) -> float:
        """The learner's mean belief in the truth after the last round."""
        return float(self.beliefs[-1])


@dataclass(frozen=True, eq=False, repr=False)
class TeacherComparison(Result):
    """Every teacher against every learner.

    Attributes
    ----------
    model : Model
        The matrix.
    hypothesis : int
        The position of the hypothesis that was taught.
    level : float
        A learner is sure when its belief in the taught hypothesis is at least this.
    num_rounds, num_lessons : int
        The length of a lesson, and the number of lessons where data are drawn.
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
        """Return the result of one pair."""
        for found in self.results:
            if (found.teacher, found.learner) == (teacher, learner):
                return found
        raise CobayesError(
            f"{teacher!r} and {learner!r} were not compared.",
            f"teachers: {', '.join(self.teachers)}; learners: {', '.join(self.learners)}.",
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per pair of a teacher and a learner."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        names = ("teacher", "learner", "median_rounds", "share_sure", "final_belief", "is_proved")
        rows = [[getattr(found, name) for name in names] for found in self.results]
        return pandas.DataFrame(rows, columns=names)

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
    """Compare ways of choosing data by the number of rounds until a learner is sure of the truth.

    Parameters
    ----------
    matrix
        A matrix of any kind, a `Model` or any other task: what may be shown.
    hypothesis
        The hypothesis to teach, by position or label.
    teachers
        "all" (that the task allows), or some of: "random", "truthful" (random among the data that
        are true of the hypothesis), "literal" (drawn by BI), "SCBI" (drawn by SCBI), "likeliest"
        (SCBI's likeliest datum), "greedy" (`plan_lesson` for this learner), "optimal" (the fewest
        rounds possible for this learner, by an exact search, then greedy; "<=k" where the tree is
        too large to prove that k rounds are the fewest, "?" where it is too large and no lesson
        was found that makes the learner sure), "active" (a learner by Bayes asks the most
        informative question and nature answers).
    learners
        Rules, their classes or names; plain Bayes, `Pragmatic` of depth 1 and SCBI by default.
    num_rounds, num_lessons
        The length of a lesson, and the number of lessons where data are drawn.
    level
        A learner is sure when its belief in the truth is at least this.
    prior
        The learners' prior, which the teachers know; uniform by default.
    questions
        For "active": the question to which each datum is an answer, n labels. By default every
        datum is a yes-or-no question, answered "yes" with the probability in the matrix as it is;
        where entries exceed one, "active" needs this argument.
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    TeacherComparison
        It prints as a table; `cobayes.plots.plot_teachers` draws it.

    Notes
    -----
    With hundreds of data and hypotheses "optimal" takes most of the time and rarely ends with a
    proof; name the other teachers instead. Where a datum has uncertain outcomes (a walker slips)
    "greedy" and "optimal" are left out. "active" is left out on tasks that change from round to
    round, other than `without_repeats`.

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
            pair = _Pair(task, target, learner, prior, num_rounds, num_lessons, level, stream)
            is_known = name == "active" and number > 0  # does not depend on the learner
            result = results[-1] if is_known else pair.run(name, questions)
            results.append(replace(result, learner=label))
    return TeacherComparison(
        task.model, target, level, num_rounds, num_lessons, tuple(results), left_out
    )


@dataclass(frozen=True)
class _Pair:
    """A hypothesis and a learner with its rule; `run` simulates lessons by one teacher."""

    task: Task
    hypothesis: int
    learner: Rule
    prior: Distribution | None
    num_rounds: int
    num_lessons: int
    level: float
    rng: np.random.Generator

    def run(self, teacher: str, questions: Sequence[Any] | None) -> TeacherResult:
        is_proved = True
        if teacher in DRAWN:
            found = simulate(
                drawing_rule(teacher, self.task, self.hypothesis),
                self.hypothesis,
                num_rounds=self.num_rounds,
                num_lessons=self.num_lessons,
                prior=self.prior,
                learner_rule=self.learner,
                rng=self.rng,
                level=self.level,
                keep_paths=False,
            )
            return TeacherResult(teacher, "", found.mean(), found.rounds_needed)
        if teacher == "active":
            beliefs = self._ask(questions)
        elif teacher == "likeliest":
            # One lesson is enough unless the outcomes of data are random.
            count = 1 if self.task.is_certain else self.num_lessons
            rule = SCBI(self.task)
            agents = (
                Teacher(rule, self.hypothesis, self.prior, self.rng, "likeliest")
                for _ in range(count)
            )
            beliefs = np.array([self._taught_by(agent) for agent in agents])
        else:
            data, is_proved = self._shortest() if teacher == "optimal" else ((), True)
            beliefs = self._greedy(data)[None]
        sure = beliefs >= self.level
        first = np.where(sure.any(axis=1), sure.argmax(axis=1), beliefs.shape[1])
        counts = np.bincount(first, minlength=beliefs.shape[1] + 1)
        needed = RoundsNeeded(self.level, counts[:-1], int(counts[-1]))
        return TeacherResult(teacher, "", beliefs.mean(axis=0), needed, is_proved)

    def _taught_by(self, teacher: Teacher) -> Array:
        """Return the beliefs in the truth; after an early end the last belief is repeated."""
        lesson = run_lesson(teacher, Learner(self.learner, self.prior), self.num_rounds)
        own = lesson.beliefs[:, self.hypothesis]
        return np.pad(own, (0, self.num_rounds + 1 - len(own)), mode="edge")

    def _greedy(self, data: Sequence[int] = ()) -> Array:
        """Return the beliefs in the truth: the given data are shown first, then greedy choices."""
        rule = self.learner if self.learner.task is self.task else BI(self.task)
        return self._taught_by(Planner(rule, self.hypothesis, self.prior, self.learner, data=data))

    def _shortest(self) -> tuple[tuple[int, ...], bool]:
        """Return data that make the learner sure in the fewest rounds, and whether that is proved.

        The search starts with the greedy lesson and looks for shorter ones until there are none.
        No data are returned if no lesson was found that makes the learner sure.
        """
        sure = np.flatnonzero(self._greedy() >= self.level)
        rounds = int(sure[0]) if len(sure) else self.num_rounds + 1
        search = Search(self.task, self.learner, self.hypothesis, MOST_BELIEFS)
        start = Node(self.task.start, self.learner.task.start, self.learner.log_belief(self.prior))
        wanted = float(np.log(self.level) - np.log1p(-self.level))
        data: tuple[int, ...] = ()
        try:
            while rounds > 1:
                odds, shorter = search.best(start, rounds - 1, wanted)
                if odds < wanted:
                    break
                data, rounds = shorter, len(shorter)
        except SearchTooLargeError:
            return data, False
        return data, True

    def _ask(self, questions: Sequence[Any] | None) -> Array:
        """Return the beliefs in the truth of a learner that asks questions (active learning).

        In every round it asks the question with the highest mutual information of answer and
        hypothesis. Nature answers by the matrix, and the learner uses Bayes' formula. Without
        repeats no question is asked twice; when all have been asked, the belief no longer changes.
        """
        answers, question = _answers(self.task.model, questions)
        is_answer = (question[:, None] == np.arange(question.max() + 1)).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(answers)
            # The part of the mutual information that does not depend on the predicted answers.
            known = np.where(answers > 0.0, answers * logs, 0.0)
        is_new = np.ones((self.num_lessons, is_answer.shape[1]), dtype=bool)
        log_beliefs = np.tile(self.learner.log_belief(self.prior), (self.num_lessons, 1))
        found = [np.exp(log_beliefs[:, self.hypothesis])]
        everyone = np.arange(self.num_lessons)
        while len(found) <= self.num_rounds and is_new.any():
            beliefs = np.exp(log_beliefs)
            predicted = beliefs @ answers.T
            with np.errstate(divide="ignore", invalid="ignore"):
                surprise = np.where(predicted > 0.0, predicted * np.log(predicted), 0.0)
            gain = np.where(is_new, (beliefs @ known.T - surprise) @ is_answer, -np.inf)
            chosen = gain.argmax(axis=1)
            is_new[everyone, chosen] = not isinstance(self.task, WithoutRepeats)
            shares = answers[:, self.hypothesis] * is_answer.T[chosen]
            sums = np.cumsum(shares, axis=1)
            uniforms = self.rng.random(self.num_lessons) * sums[:, -1]
            last = len(answers) - 1 - np.argmax(shares[:, ::-1] > 0.0, axis=1)
            data = np.minimum((uniforms[:, None] >= sums).sum(axis=1), last)
            log_beliefs = add_evidence(log_beliefs, logs[data])
            found.append(np.exp(log_beliefs[:, self.hypothesis]))
        return np.pad(np.array(found).T, ((0, 0), (0, self.num_rounds + 1 - len(found))), "edge")


def _answers(model: Model, questions: Sequence[Any] | None) -> tuple[Array, NDArray[np.intp]]:
    """Return the probability of each answer under each hypothesis, and its question."""
    if questions is None:
        return np.concatenate([model.matrix, 1.0 - model.matrix]), np.tile(
            np.arange(model.num_data), 2
        )
    named = list(map(str, items(questions, "questions", "labels")))
    if len(named) != model.num_data:
        raise CobayesError(
            f"{len(named)} questions were given for {model.num_data} data.",
            "give one label for each datum.",
        )
    asked, question = np.unique(named, return_inverse=True)
    totals = np.array([model.matrix[question == k].sum(axis=0) for k in range(len(asked))])
    if not totals.all():
        k, h = np.argwhere(totals == 0.0)[0]
        raise CobayesError(
            f"hypothesis {model.hypotheses[h]!r} rules out every answer to question "
            f"{str(asked[k])!r}.",
            "every hypothesis must allow an answer to every question.",
        )
    return model.matrix / totals[question], question


def drawing_rule(teacher: str, task: Task, hypothesis: int) -> Rule:
    """Return the rule by which a "random", "truthful", "literal" or "SCBI" teacher draws data."""
    if teacher in ("literal", "SCBI"):
        return (SCBI if teacher == "SCBI" else BI)(task)
    column = hypothesis if teacher == "truthful" else None
    # The core simulates lessons on matrices, also without repeats; other lessons run one by one.
    if isinstance(task, Model):
        return BI(_even_model(task, column))
    if isinstance(task, WithoutRepeats) and isinstance(task.task, Model):
        return BI(WithoutRepeats(_even_model(task.task, column)))
    return BI(EvenTask(task, column))


class EvenTask(Around):
    """The same task with a matrix under which the teacher shows all available data equally often.

    Parameters
    ----------
    task
        The task.
    hypothesis
        If given, show only data that are true of this hypothesis while any are available.
    """

    def __init__(self, task: Task, hypothesis: int | None = None) -> None:
        super().__init__(task)
        self.hypothesis = hypothesis

    def matrix_at(self, state: State) -> Model:
        """Return a matrix that is one for the data to show and zero elsewhere."""
        return _even_model(super().matrix_at(state), self.hypothesis)


def _even_model(model: Model, hypothesis: int | None) -> Model:
    shares = np.ones(model.shape)
    if hypothesis is not None:
        shares[:, hypothesis] = np.where(truthful_data(model, hypothesis), 1.0, LAST_RESORT)
    return Model(shares, model.data, model.hypotheses)


def truthful_data(model: Model, hypothesis: int) -> NDArray[np.bool_]:
    """Tell which data are true of a hypothesis, (n,).

    In a table with zeros, the data that the hypothesis allows. In a positive table, the data whose
    probability under the hypothesis is above the mean over all hypotheses.
    """
    likelihood = model.normalized()
    own = likelihood[:, hypothesis]
    return own > 0.0 if (own == 0.0).any() else own >= likelihood.mean(axis=1)


def _teacher_names(
    teachers: str | Iterable[str], task: Task, questions: Sequence[Any] | None
) -> tuple[list[str], dict[str, str]]:
    """Return the names of the teachers to compare, and the reasons why others are left out."""
    refused = _refused(task, questions)
    if isinstance(teachers, str) and teachers.lower() == "all":
        return [name for name in TEACHERS if name not in refused], refused
    known = {name.lower(): name for name in TEACHERS}
    wanted = set()
    for name in [teachers] if isinstance(teachers, str) else items(teachers, "teachers", "names"):
        if str(name).lower() not in known:
            raise CobayesError(
                f"there is no teacher called {name!r}.", suggest(str(name), list(TEACHERS))
            )
        wanted.add(known[str(name).lower()])
    if not wanted:
        raise CobayesError("no teachers were given.", f"choose from {', '.join(TEACHERS)}, or all.")
    for name in wanted & set(refused):
        raise CobayesError(f"the teacher {name!r} cannot be compared here: {refused[name]}.")
    return [name for name in TEACHERS if name in wanted], {}


def _refused(task: Task, questions: Sequence[Any] | None) -> dict[str, str]:
    """Return the teachers that a task does not allow, and why."""
    found = {}
    if not task.is_certain:
        why = "in this task it is uncertain where a datum leads"
        found |= {"greedy": why, "optimal": why}
    inner = task.task if isinstance(task, WithoutRepeats) else task
    if not isinstance(inner, Model):
        found["active"] = "questions are asked of a matrix that does not change"
    elif questions is None and inner.matrix.max() > 1.0:
        found["active"] = (
            "entries above 1 are not probabilities of 'yes'; give questions=[...], the question "
            "that each datum answers"
        )
    return found


def _learner_rules(task: Task, learners: Sequence[RuleLike] | None) -> dict[str, Rule]:
    """Return the learners' rules by unique labels."""
    given = (BI, Pragmatic(task, 1), SCBI) if learners is None else learners
    rules = [as_rule(rule, task) for rule in items(given, "learners", "rules", least=1)]
    found: dict[str, Rule] = {}
    for k, rule in enumerate(rules):
        found[f"{rule.title} ({k + 1})" if rule.title in found else rule.title] = rule
    return found
