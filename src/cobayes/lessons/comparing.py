"""`compare_teachers`: one hypothesis, several ways of choosing the data, several learners."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import suggest
from cobayes._input.validation import counts_by, number_between, whole_number
from cobayes._runtime.randomness import spawn_generators
from cobayes.errors import CobayesError
from cobayes.lessons.agents import Learner, Teacher
from cobayes.lessons.comparison import TeacherComparison, TeacherResult
from cobayes.lessons.ensemble import RoundsNeeded
from cobayes.lessons.lesson import run_lesson
from cobayes.lessons.planning import Planner
from cobayes.lessons.planning_search import Node, Search, SearchTooLargeError
from cobayes.lessons.simulation import simulate
from cobayes.lessons.teachers import ask_questions, can_ask, drawing_rule
from cobayes.model import MatrixLike, Model, as_task
from cobayes.rules import BI, SCBI, Pragmatic, Rule, as_rule
from cobayes.rules.naming import RuleLike
from cobayes.tasks.repeats import WithoutRepeats
from cobayes.tasks.task import Task

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

MOST_BELIEFS = 5_000
"""The search for the optimal lesson gives up after so many beliefs, a few seconds of work."""

DRAWN = ("random", "truthful", "literal", "SCBI")


@counts_by("num_lessons")
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
        A matrix of any kind, a `Model` or any other task.
    hypothesis
        The hypothesis to teach, by position or label.
    teachers
        "all" (that the task allows), or some of: "random", "truthful" (random among the data that
        speak for the hypothesis), "literal" (drawn by BI), "SCBI" (drawn by SCBI), "likeliest"
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
        The belief in the truth from which on a learner counts as sure.
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
    "greedy" and "optimal" are left out; "active" is, where the matrix or what is available changes
    otherwise than by `without_repeats`.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.lessons.compare_teachers(
    ...     "example:gestures", "cup", teachers=["literal", "optimal"], num_lessons=200, rng=1
    ... )
    >>> found.result("optimal", "BI").median_rounds
    3
    """
    task = as_task(matrix)
    model = task.model
    target = model.hypothesis_index(hypothesis)
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
            one = _One(task, target, learner, label, prior, num_rounds, num_lessons, level, stream)
            if name == "active" and number:
                result = replace(results[-1], learner=label)  # it learns by Bayes in any case
            else:
                result = one.run(name, questions)
            results.append(result)
    return TeacherComparison(
        model, target, level, num_rounds, num_lessons, tuple(results), left_out
    )


@dataclass(frozen=True)
class _One:
    """One learner to be taught one hypothesis."""

    task: Task
    hypothesis: int
    learner: Rule
    label: str
    prior: ArrayLike | None
    num_rounds: int
    num_lessons: int
    level: float
    rng: np.random.Generator

    def run(self, teacher: str, questions: Sequence[Any] | None) -> TeacherResult:
        if teacher in DRAWN:
            return self._drawn(teacher)
        if teacher == "active":
            return self._active(questions)
        if teacher == "likeliest":
            return self._likeliest()
        data, is_proved = self._shortest() if teacher == "optimal" else ((), True)
        path = self._greedy(data)
        return replace(self._result(teacher, path[None]), is_proved=is_proved)

    def _drawn(self, teacher: str) -> TeacherResult:
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
        return TeacherResult(teacher, self.label, found.mean(), found.rounds_needed)

    def _active(self, questions: Sequence[Any] | None) -> TeacherResult:
        beliefs = ask_questions(
            self.task.model,
            questions,
            self.hypothesis,
            self.learner.log_belief(self.prior),
            self.num_rounds,
            self.num_lessons,
            self.rng,
            no_repeats=isinstance(self.task, WithoutRepeats),
        )
        return self._result("active", beliefs)

    def _likeliest(self) -> TeacherResult:
        """Run one lesson, or many where it depends on chance where a datum leads."""
        rule = SCBI(self.task)
        paths = np.empty((1 if self.task.is_certain else self.num_lessons, self.num_rounds + 1))
        for path in paths:
            agent = Teacher(rule, self.hypothesis, self.prior, self.rng, "likeliest")
            lesson = run_lesson(agent, Learner(self.learner, self.prior), self.num_rounds)
            own = lesson.beliefs[:, self.hypothesis]
            path[: len(own)], path[len(own) :] = own, own[-1]
        return self._result("likeliest", paths)

    def _greedy(self, data: Sequence[int] = ()) -> Array:
        """Return the beliefs in the truth while some data are shown, then the best ones."""
        rule = self.learner if self.learner.task is self.task else BI(self.task)
        teacher = Planner(rule, self.hypothesis, self.prior, self.learner)
        path = np.empty(self.num_rounds + 1)
        path[0] = teacher.pupil.belief[self.hypothesis]
        for k in range(self.num_rounds):
            if k < len(data):
                teacher.observe(data[k])
            elif teacher.is_finished:
                path[k + 1 :] = path[k]
                break
            else:
                teacher.choose()
            path[k + 1] = teacher.pupil.belief[self.hypothesis]
        return path

    def _shortest(self) -> tuple[tuple[int, ...], bool]:
        """Return data that make the learner sure in the fewest rounds, and whether that is proved.

        The search begins with the greedy lesson and looks for shorter ones until there are none.
        Where no lesson makes the learner sure there are no data.
        """
        sure = np.flatnonzero(self._greedy() >= self.level)
        rounds = int(sure[0]) if len(sure) else self.num_rounds + 1
        search = Search(self.task, self.learner, self.hypothesis, MOST_BELIEFS)
        start = Node(self.task.start, self.learner.task.start, self.learner.log_belief(self.prior))
        wanted = float(np.log(self.level) - np.log1p(-self.level))
        data: tuple[int, ...] = ()
        try:
            while rounds > 1 and (shorter := search.reach(start, rounds - 1, wanted)) is not None:
                data, rounds = shorter, len(shorter)
        except SearchTooLargeError:
            return data, False
        return data, True

    def _result(self, teacher: str, beliefs: Array) -> TeacherResult:
        """Summarise lessons given by their beliefs in the truth, (lessons, rounds + 1)."""
        sure = beliefs >= self.level
        first = np.where(sure.any(axis=1), sure.argmax(axis=1), beliefs.shape[1])
        counts = np.bincount(first, minlength=beliefs.shape[1] + 1)
        needed = RoundsNeeded(self.level, counts[:-1], int(counts[-1]))
        return TeacherResult(teacher, self.label, beliefs.mean(axis=0), needed)


def _teacher_names(
    teachers: str | Iterable[str], task: Task, questions: Sequence[Any] | None
) -> tuple[list[str], dict[str, str]]:
    """Return the teachers to compare, and why others are left out."""
    refused = _refused(task, questions)
    if isinstance(teachers, str) and teachers.lower() == "all":
        return [name for name in TEACHERS if name not in refused], refused
    chosen = [teachers] if isinstance(teachers, str) else list(teachers)
    if not chosen:
        raise CobayesError("no teachers were given.", f"choose from {', '.join(TEACHERS)}, or all.")
    known = {name.lower(): name for name in TEACHERS}
    for name in chosen:
        if str(name).lower() not in known:
            raise CobayesError(
                f"there is no teacher called {name!r}.", suggest(str(name), list(TEACHERS))
            )
    wanted = {known[str(name).lower()] for name in chosen}
    for name, why in refused.items():
        if name in wanted:
            raise CobayesError(f"the teacher {name!r} cannot be compared here: {why}.")
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
    elif questions is None and not can_ask(inner):
        found["active"] = (
            "entries above 1 are no probabilities of 'yes'; say with questions=[...] which data "
            "answer which question"
        )
    return found


def _learner_rules(task: Task, learners: Sequence[RuleLike] | None) -> dict[str, Rule]:
    """Return the learners' rules by labels that differ."""
    given = (BI, Pragmatic(task, 1), SCBI) if learners is None else learners
    rules = [as_rule(rule, task) for rule in given]
    if not rules:
        raise CobayesError("no learners were given.", "give rules: learners=['bi', 'scbi'].")
    labels = [rule.title for rule in rules]
    for name in set(labels):
        same = [k for k, rule in enumerate(rules) if rule.title == name]
        if len(same) == 1:
            continue
        settings = [rules[k].settings() for k in same]
        differing = [key for key in settings[0] if len({str(one.get(key)) for one in settings}) > 1]
        for k, own in zip(same, settings, strict=True):
            labels[k] = " ".join([name, *(f"{key}={own.get(key)}" for key in differing)])
    for k, label in enumerate(labels):
        if label in labels[:k]:
            labels[k] = f"{label} ({k + 1})"
    return dict(zip(labels, rules, strict=True))
