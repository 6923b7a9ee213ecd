"""What the pictures need to know about a lesson, from a `Lesson` or from a plain array."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import find, make_labels
from cobayes.errors import CobayesError


@dataclass(frozen=True)
class Trace:
    """Beliefs round by round with their labels.

    Attributes
    ----------
    log_beliefs : ndarray
        Shape (rounds + 1, m); row 0 is the prior.
    hypotheses : tuple of str
        Labels of the m hypotheses.
    data : tuple of str or None
        The datum of each round, where it is known.
    hypothesis : int or None
        The position of the taught hypothesis, where it is known.
    name : str or None
        The rule that made it.
    """

    log_beliefs: NDArray[np.float64]
    hypotheses: tuple[str, ...]
    data: tuple[str, ...] | None
    hypothesis: int | None
    name: str | None

    @property
    def beliefs(self) -> NDArray[np.float64]:
        """The beliefs, shape (rounds + 1, m)."""
        return np.exp(self.log_beliefs)

    @property
    def num_rounds(self) -> int:
        """How many data were shown."""
        return len(self.log_beliefs) - 1

    def target(self, hypothesis: int | str | None) -> int:
        """Return the position of a hypothesis; None is the taught one."""
        if hypothesis is not None:
            return find(hypothesis, self.hypotheses, "hypothesis")
        if self.hypothesis is None:
            raise CobayesError(
                "a plain array does not say which hypothesis was taught.",
                "give hypothesis=..., a position or a label.",
            )
        return self.hypothesis

    def log_doubt(self, hypothesis: int) -> NDArray[np.float64]:
        """Return log(1 - belief in a hypothesis), exact where the belief rounds to one."""
        return np.logaddexp.reduce(np.delete(self.log_beliefs, hypothesis, axis=1), axis=1)


def as_trace(
    lesson: Any,
    *,
    hypotheses: Iterable[object] | None = None,
    data: Sequence[object] | None = None,
) -> Trace:
    """Take a `Lesson`, or an array of beliefs of shape (rounds + 1, m).

    Parameters
    ----------
    lesson
        The lesson or the array.
    hypotheses, data
        Labels for an array; a lesson has its own.
    """
    if hasattr(lesson, "log_beliefs"):
        return Trace(
            log_beliefs=lesson.log_beliefs,
            hypotheses=lesson.model.hypotheses,
            data=lesson.data_labels,
            hypothesis=lesson.hypothesis,
            name=lesson.rule_name,
        )
    beliefs = np.asarray(lesson, dtype=np.float64)
    if beliefs.ndim != 2 or beliefs.size == 0:
        raise CobayesError(
            f"beliefs of shape {beliefs.shape} were given; expected (rounds + 1, hypotheses).",
            "give a lesson, or one row for the prior and one for every round.",
        )
    if not np.all(beliefs >= 0.0) or not np.allclose(beliefs.sum(axis=1), 1.0, atol=1e-3):
        raise CobayesError(
            "a row of the beliefs is not a distribution.", "give rows that sum to one."
        )
    if data is not None and len(data) != len(beliefs) - 1:
        raise CobayesError(
            f"{len(data)} data were given for {len(beliefs) - 1} rounds.",
            "give one datum for every round; the first row of the beliefs is the prior.",
        )
    with np.errstate(divide="ignore"):
        log_beliefs = np.log(beliefs)
    return Trace(
        log_beliefs=log_beliefs,
        hypotheses=make_labels(hypotheses, beliefs.shape[1], "hypothesis"),
        data=None if data is None else tuple(str(label) for label in data),
        hypothesis=None,
        name=None,
    )
