"""Active learning: the learner asks the most informative question and nature answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.rules.base import add_evidence
from cobayes.tasks.repeats import WithoutRepeats
from cobayes.tasks.task import Task

Array = NDArray[np.float64]


def ask_questions(
    task: Task,
    questions: Sequence[Any],
    hypothesis: int,
    log_prior: Array,
    num_rounds: int,
    num_lessons: int,
    rng: np.random.Generator,
) -> Array:
    """Return a learner's beliefs in the truth when it asks instead of being taught.

    In every round it asks the question whose answer is expected to tell it most (the mutual
    information of answer and hypothesis). Nature answers by the matrix, and the learner knows
    that: it learns by Bayes' formula.

    Parameters
    ----------
    task
        Its matrix is nature's; `without_repeats` asks no question twice.
    questions
        The question to which each datum is an answer, n labels.
    hypothesis
        The position of the truth.
    log_prior
        The learner's, as logarithms, (m,).
    num_rounds, num_lessons
        The size of the experiment.
    rng
        For nature's answers.

    Returns
    -------
    ndarray
        Shape (num_lessons, num_rounds + 1).
    """
    model = task.model
    if len(questions) != model.num_data:
        raise CobayesError(
            f"{len(questions)} questions were given for {model.num_data} data.",
            "give one label for each datum.",
        )
    names = [str(name) for name in questions]
    asked, question = np.unique(names, return_inverse=True)
    belongs = (question[:, None] == np.arange(len(asked))).astype(np.float64)
    totals = belongs.T @ model.matrix
    answers = model.matrix / totals[question]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(answers)
        # The part of the mutual information that does not depend on the predicted answers.
        known = np.where(answers > 0.0, answers * logs, 0.0)
    is_new = np.ones((num_lessons, len(asked)), dtype=bool)
    log_beliefs = np.tile(log_prior, (num_lessons, 1))
    found = np.empty((num_lessons, num_rounds + 1))
    found[:, 0] = np.exp(log_prior[hypothesis])
    everyone = np.arange(num_lessons)
    for k in range(1, num_rounds + 1):
        beliefs = np.exp(log_beliefs)
        predicted = beliefs @ answers.T
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = np.where(predicted > 0.0, predicted * np.log(predicted), 0.0)
        gain = (beliefs @ known.T - surprise) @ belongs
        gain[~is_new] = -np.inf
        chosen = gain.argmax(axis=1)
        if isinstance(task, WithoutRepeats):
            is_new[everyone, chosen] = False
            if not is_new.any(axis=1).all():
                is_new[:] = True  # all have been asked: begin again
        shares = answers[:, hypothesis] * belongs.T[chosen]
        sums = np.cumsum(shares, axis=1)
        uniforms = rng.random(num_lessons) * sums[:, -1]
        last = model.num_data - 1 - np.argmax(shares[:, ::-1] > 0.0, axis=1)
        data = np.minimum((uniforms[:, None] >= sums).sum(axis=1), last)
        log_beliefs = add_evidence(log_beliefs, logs[data])
        found[:, k] = np.exp(log_beliefs[:, hypothesis])
    return found
