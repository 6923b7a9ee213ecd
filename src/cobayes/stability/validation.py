"""Checks that the functions of this folder share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.errors import CobayesError
from cobayes.labels import is_position
from cobayes.model import MatrixLike
from cobayes.rules import SCBI, Rule
from cobayes.rules.base import require_teachable


def as_rule(matrix: MatrixLike | Rule) -> Rule:
    """Return a rule, `SCBI` where a bare matrix was given."""
    return matrix if isinstance(matrix, Rule) else SCBI(matrix)


def require_same_world(teacher: Rule, learner: Rule) -> None:
    """Raise an error unless two rules are about the same data and hypotheses."""
    mine, theirs = teacher.model, learner.model
    if mine.shape != theirs.shape:
        raise CobayesError(
            f"the teacher's matrix has shape {mine.shape}, the learner's {theirs.shape}; they "
            "must share data and hypotheses."
        )
    default = (
        tuple(map(str, range(mine.num_data))),
        tuple(map(str, range(mine.num_hypotheses))),
    )
    for kind, own, other, numbers in (
        ("data", mine.data, theirs.data, default[0]),
        ("hypotheses", mine.hypotheses, theirs.hypotheses, default[1]),
    ):
        # A bare array has numbers for labels: it is taken in the order of the other.
        if own != other and numbers not in (own, other):
            raise CobayesError(
                f"teacher and learner label their {kind} differently: {own[:4]} and {other[:4]}.",
                "give both the same labels in the same order.",
            )


def log_prior(
    rule: Rule, prior: ArrayLike | None, hypothesis: int | None, name: str
) -> NDArray[np.float64]:
    """Return the logarithms of a prior, which must not rule out what is taught."""
    found = rule.log_belief(prior, name)
    if hypothesis is not None:
        require_teachable(rule.model, found, hypothesis, name)
    return found


def at_least_one(value: Any, name: str) -> int:
    """Return a whole number from one on."""
    if not is_position(value) or value < 1:
        raise CobayesError(f"{name} is {value!r}; expected a whole number from 1 on.")
    return int(value)


def small_probability(value: float, name: str) -> float:
    """Return a number strictly between zero and one half."""
    if not 0.0 < value < 0.5:
        raise CobayesError(
            f"{name} is {value!r}; it must lie strictly between 0 and 0.5.",
            "1e-5 is the default.",
        )
    return float(value)
