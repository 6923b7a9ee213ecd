"""The teachers of `compare_teachers`, and the lessons of one teacher with one learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import Distribution
from cobayes._input.validation import items
from cobayes._output import Result
from cobayes._parallel import require_affordable_simulation
from cobayes.errors import CobayesError
from cobayes.lessons.agents import Learner, Teacher
from cobayes.lessons.ensemble import RoundsNeeded
from cobayes.lessons.lesson import run_lesson
from cobayes.lessons.planning import Node, Planner, Search, SearchTooLargeError
from cobayes.lessons.simulate import simulate
from cobayes.model import Model
from cobayes.rules import BI, SCBI, Rule
from cobayes.rules.response import add_evidence
from cobayes.tasks.constraints import Around, WithoutRepeats
from cobayes.tasks.task import State, Task

Array = NDArray[np.float64]

TEACHERS = {
    "random": "any datum, all equally likely",
    "truthful": "any datum that is true of the hypothesis, all equally likely",
    "literal": "drawn by BI, from the normalised column of the hypothesis",
    "SCBI": "drawn by SCBI",
    "likeliest": "the likeliest datum of SCBI",
    "greedy": "the datum that raises this learner's belief most",
    "optimal": "the sequence that makes this learner sure in the fewest rounds, then greedy",
    "active": "no teacher: a Bayesian learner asks the most informative question",
}
"""The ways of choosing data that are compared, in the order of the table."""

DRAWN = ("random", "truthful", "literal", "SCBI")

MOST_BELIEFS = 5_000
"""The search for the optimal lesson computes at most this number of beliefs (some seconds)."""

LAST_RESORT = 1e-12
"""The weight of an untrue datum relative to a true one, so that true data are shown first."""


@dataclass(frozen=True, eq=False)
class TeacherResult(Result):
    """The result of one teacher with one learner.

    Attributes
    ----------
    teacher, learner : str
        The way of choosing data, and the name of the learner's rule.
    beliefs : ndarray
        The learner's mean belief in the truth from round 0 on, (num_rounds + 1,).
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
        """The first round by which the learner was sure in half of the lessons, or None."""
        return self.rounds_needed.median

    @property
    def share_sure(self) -> float:
        """The share of lessons in which the learner was sure by the last round."""
        return float(self.rounds_needed.cumulative()[-1])

    @property
    def final_belief(self) -> float:
        """The learner's mean belief in the truth after the last round."""
        return float(self.beliefs[-1])


def refused_teachers(task: Task, questions: Sequence[Any] | None) -> dict[str, str]:
    """Return the teachers that a task does not allow, and why."""
    found = {}
    if not task.is_certain:
        why = "in this task the state after a datum is random"
        found |= {"greedy": why, "optimal": why}
    inner = task.task if isinstance(task, WithoutRepeats) else task
    if not isinstance(inner, Model):
        found["active"] = "questions need a matrix, with or without repeats"
    elif questions is None and inner.matrix.max() > 1.0:
        found["active"] = (
            "entries above 1 are not probabilities of 'yes'; give questions=[...], the question "
            "that each datum answers"
        )
    return found


@dataclass(frozen=True)
class Pair:
    """A learner, with the task, hypothesis, length and number of its lessons."""

    task: Task
    hypothesis: int
    learner: Rule
    prior: Distribution | None
    num_rounds: int
    num_lessons: int
    level: float
    rng: np.random.Generator

    def run(self, teacher: str, questions: Sequence[Any] | None) -> TeacherResult:
        """Simulate the lessons of a teacher; the caller adds the learner's name to the result."""
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
        data, is_proved = self._shortest() if teacher == "optimal" else ((), True)
        if teacher == "active":
            beliefs = self._ask(questions)
        elif teacher == "likeliest":
            # This teacher draws nothing: one lesson is enough unless the outcomes of data are
            # random.
            count = 1 if self.task.is_certain else self.num_lessons
            arguments = SCBI(self.task), self.hypothesis, self.prior, self.rng, "likeliest"
            agents = (Teacher(*arguments) for _ in range(count))
            beliefs = np.array([self._taught_by(agent) for agent in agents])
        else:
            beliefs = self._greedy(data)[None]
        sure = beliefs >= self.level
        first = np.where(sure.any(axis=1), sure.argmax(axis=1), beliefs.shape[1])
        counts = np.bincount(first, minlength=beliefs.shape[1] + 1)
        needed = RoundsNeeded(self.level, counts[:-1], int(counts[-1]))
        return TeacherResult(teacher, "", beliefs.mean(axis=0), needed, is_proved)

    def _taught_by(self, teacher: Teacher) -> Array:
        """Return the beliefs in the truth; a lesson that ends early repeats its last belief."""
        lesson = run_lesson(teacher, Learner(self.learner, self.prior), self.num_rounds)
        own = lesson.beliefs[:, self.hypothesis]
        return np.pad(own, (0, self.num_rounds + 1 - len(own)), mode="edge")

    def _greedy(self, data: Sequence[int] = ()) -> Array:
        """Return the beliefs in the truth in a lesson with `data` first, then greedy choices."""
        # The planner chooses data by the learner's rule. Of `rule` it uses only the task.
        rule = self.learner if self.learner.task is self.task else BI(self.task)
        return self._taught_by(Planner(rule, self.hypothesis, self.prior, self.learner, data=data))

    def _shortest(self) -> tuple[tuple[int, ...], bool]:
        """Return the data of the shortest lesson that makes the learner sure.

        No data are returned if no lesson was found that is shorter than the greedy one. The second
        value tells whether the search was finished; if so, no shorter lesson exists.
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
        """For a learner that asks questions (active learning), return the beliefs in the truth.

        In every round it asks the question with the highest mutual information of answer and
        hypothesis. The answer is drawn from the matrix, and the learner uses Bayes' formula.
        On a task without repeats no question is asked twice; when all have been asked, the belief
        no longer changes.
        """
        answers, question = _answers(self.task.model, questions)
        require_affordable_simulation(self.num_lessons, self.num_rounds, *answers.shape)
        is_answer = (question[:, None] == np.arange(question.max() + 1)).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(answers)
            # The terms p log p of each answer under each hypothesis. Their sum over the answers to
            # a question is minus the entropy of the answer.
            terms_given = np.where(answers > 0.0, answers * logs, 0.0)
        is_new = np.ones((self.num_lessons, is_answer.shape[1]), dtype=bool)
        log_beliefs = np.tile(self.learner.log_belief(self.prior), (self.num_lessons, 1))
        found = [np.exp(log_beliefs[:, self.hypothesis])]
        everyone = np.arange(self.num_lessons)
        while len(found) <= self.num_rounds and is_new.any():
            beliefs = np.exp(log_beliefs)
            predicted = beliefs @ answers.T
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = np.where(predicted > 0.0, predicted * np.log(predicted), 0.0)
            gain = np.where(is_new, (beliefs @ terms_given.T - terms) @ is_answer, -np.inf)
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
    """Return the probability of each answer under each hypothesis, (answers, m).

    The second result is the position of the question that each answer belongs to, (answers,).
    """
    if questions is None:
        question = np.tile(np.arange(model.num_data), 2)
        return np.concatenate([model.matrix, 1.0 - model.matrix]), question
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
            "make an answer to every question possible under every hypothesis.",
        )
    return model.matrix / totals[question], question


def drawing_rule(teacher: str, task: Task, hypothesis: int) -> Rule:
    """Return the rule by which a "random", "truthful", "literal" or "SCBI" teacher draws data."""
    if teacher in ("literal", "SCBI"):
        return (SCBI if teacher == "SCBI" else BI)(task)
    column = hypothesis if teacher == "truthful" else None
    # The core runs lessons on a `Model`, with or without repeats, but not on an `EvenTask`.
    if isinstance(task, Model):
        return BI(_even_model(task, column))
    if isinstance(task, WithoutRepeats) and isinstance(task.task, Model):
        return BI(WithoutRepeats(_even_model(task.task, column)))
    return BI(EvenTask(task, column))


class EvenTask(Around):
    """A task with another matrix, under which a literal teacher shows all data equally often.

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
        """Return the matrix under which all data, or all true data, are equally likely."""
        return _even_model(super().matrix_at(state), self.hypothesis)


def _even_model(model: Model, hypothesis: int | None) -> Model:
    shares = np.ones(model.shape)
    if hypothesis is not None:
        shares[:, hypothesis] = np.where(truthful_data(model, hypothesis), 1.0, LAST_RESORT)
    return Model(shares, model.data, model.hypotheses)


def truthful_data(model: Model, hypothesis: int) -> NDArray[np.bool_]:
    """Tell which data are true of a hypothesis, (n,).

    If the hypothesis has zeros in its column, the true data are those with positive entries.
    Otherwise they are the data whose probability under the hypothesis is at least the mean over all
    hypotheses.
    """
    likelihood = model.normalized()
    own = likelihood[:, hypothesis]
    return own > 0.0 if (own == 0.0).any() else own >= likelihood.mean(axis=1)
