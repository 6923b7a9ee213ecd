"""Teachers to compare with: at random, truthful, literal, by SCBI, or one who only answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.rules import BI, SCBI, Rule
from cobayes.rules.response import add_evidence
from cobayes.tasks.repeats import WithoutRepeats
from cobayes.tasks.task import State, Task

Array = NDArray[np.float64]

# How often a teacher that prefers true data shows another one: only where no true one is left.
_LAST_RESORT = 1e-12


def drawing_rule(teacher: str, task: Task, hypothesis: int) -> Rule:
    """Return the rule by which a teacher draws its data.

    Parameters
    ----------
    teacher
        "random", "truthful", "literal" or "SCBI".
    task
        What may be shown.
    hypothesis
        The position of the hypothesis that is taught.
    """
    if teacher == "SCBI":
        return SCBI(task)
    if teacher == "literal":
        return BI(task)
    column = hypothesis if teacher == "truthful" else None
    if isinstance(task, Model):
        return BI(_even_model(task, column))
    if isinstance(task, WithoutRepeats) and isinstance(task.task, Model):
        return BI(WithoutRepeats(_even_model(task.task, column)))
    return BI(EvenTask(task, column))


class EvenTask(Task):
    """A task as it is, except that its teacher shows all available data equally often.

    Parameters
    ----------
    task
        The task.
    hypothesis
        Where given, only data that are true of this hypothesis, as long as there are some.
    """

    def __init__(self, task: Task, hypothesis: int | None = None) -> None:
        self.task, self.hypothesis = task, hypothesis
        self.start = task.start

    @property
    def is_seen(self) -> bool:
        """Whether the state of the task is seen."""
        return self.task.is_seen

    @property
    def is_certain(self) -> bool:
        """Whether every datum leads to one state of the task."""
        return self.task.is_certain

    def matrix_at(self, state: State) -> Model:
        """Return a matrix whose entries say which data are shown."""
        return _even_model(self.task.matrix_at(state), self.hypothesis)

    def data_prior_at(self, state: State) -> Array | None:
        """Return the prior of the task: zero for what is not available."""
        return self.task.data_prior_at(state)

    def next_states(self, state: State, datum: int) -> tuple[tuple[State, float], ...]:
        """Return where a datum can lead in the task."""
        return self.task.next_states(state, datum)

    def seen_part(self, state: State) -> State:
        """Return what is seen of the state of the task."""
        return self.task.seen_part(state)

    def is_over(self, state: State, hypothesis: int) -> bool:
        """Tell whether a lesson on the task is over."""
        return self.task.is_over(state, hypothesis)

    def rounds_left(self, state: State, hypothesis: int | None = None) -> int | None:
        """Return what the task says."""
        return self.task.rounds_left(state, hypothesis)

    def read_state(self, content: State) -> State:
        """Return a state of the task."""
        return self.task.read_state(content)


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


def _even_model(model: Model, hypothesis: int | None) -> Model:
    shares = np.ones(model.shape)
    if hypothesis is not None:
        shares[:, hypothesis] = np.where(truthful_data(model, hypothesis), 1.0, _LAST_RESORT)
    return Model(shares, model.data, model.hypotheses)


def ask_questions(
    model: Model,
    questions: Sequence[Any] | None,
    hypothesis: int,
    log_prior: Array,
    num_rounds: int,
    num_lessons: int,
    rng: np.random.Generator,
    *,
    no_repeats: bool = False,
) -> Array:
    """Return a learner's beliefs in the truth when it asks instead of being taught.

    In every round it asks the question whose answer is expected to tell it most (the mutual
    information of answer and hypothesis). Nature answers by the matrix, and the learner knows
    that: it learns by Bayes' formula.

    Parameters
    ----------
    model
        The matrix, which is nature's.
    questions
        The question to which each datum is an answer, n labels. By default every datum is a
        question of its own, answered "yes" with the probability in the matrix; see `can_ask`.
    hypothesis
        The position of the truth.
    log_prior
        The learner's, as logarithms, (m,).
    num_rounds, num_lessons
        The size of the experiment.
    rng
        For nature's answers.
    no_repeats
        Ask no question twice; when all have been asked the belief stays.

    Returns
    -------
    ndarray
        Shape (num_lessons, num_rounds + 1).
    """
    answers, question = _answers(model, questions)
    num_answers, num_questions = len(answers), int(question.max()) + 1
    belongs = (question[:, None] == np.arange(num_questions)).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(answers)
        # The part of the mutual information that does not depend on the predicted answers.
        known = np.where(answers > 0.0, answers * logs, 0.0)
    is_new = np.ones((num_lessons, num_questions), dtype=bool)
    log_beliefs = np.tile(log_prior, (num_lessons, 1))
    found = np.full((num_lessons, num_rounds + 1), np.exp(log_prior[hypothesis]))
    everyone = np.arange(num_lessons)
    for k in range(1, num_rounds + 1):
        if no_repeats and k > num_questions:
            found[:, k:] = found[:, k - 1 : k]
            break
        beliefs = np.exp(log_beliefs)
        predicted = beliefs @ answers.T
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = np.where(predicted > 0.0, predicted * np.log(predicted), 0.0)
        gain = (beliefs @ known.T - surprise) @ belongs
        gain[~is_new] = -np.inf
        chosen = gain.argmax(axis=1)
        is_new[everyone, chosen] = not no_repeats
        shares = answers[:, hypothesis] * belongs.T[chosen]
        sums = np.cumsum(shares, axis=1)
        uniforms = rng.random(num_lessons) * sums[:, -1]
        last = num_answers - 1 - np.argmax(shares[:, ::-1] > 0.0, axis=1)
        data = np.minimum((uniforms[:, None] >= sums).sum(axis=1), last)
        log_beliefs = add_evidence(log_beliefs, logs[data])
        found[:, k] = np.exp(log_beliefs[:, hypothesis])
    return found


def can_ask(model: Model) -> bool:
    """Tell whether the entries of a matrix can be probabilities of "yes"."""
    return bool(model.matrix.max() <= 1.0)


def _answers(model: Model, questions: Sequence[Any] | None) -> tuple[Array, NDArray[np.intp]]:
    """Return the probability of each answer under each hypothesis, and its question."""
    if questions is None:
        return np.concatenate([model.matrix, 1.0 - model.matrix]), np.tile(
            np.arange(model.num_data), 2
        )
    if len(questions) != model.num_data:
        raise CobayesError(
            f"{len(questions)} questions were given for {model.num_data} data.",
            "give one label for each datum.",
        )
    asked, question = np.unique([str(name) for name in questions], return_inverse=True)
    totals = np.array([model.matrix[question == k].sum(axis=0) for k in range(len(asked))])
    if not totals.all():
        k, h = np.argwhere(totals == 0.0)[0]
        raise CobayesError(
            f"hypothesis {model.hypotheses[h]!r} rules out every answer to question "
            f"{str(asked[k])!r}.",
            "every hypothesis must allow an answer to every question.",
        )
    return model.matrix / totals[question], question
