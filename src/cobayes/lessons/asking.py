"""Active learning: the learner asks the most informative question and nature answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.rules.base import add_evidence

Array = NDArray[np.float64]


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
