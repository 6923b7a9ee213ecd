"""Checks that the functions of this folder share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes import model
from cobayes._input.validation import number_between, whole_number
from cobayes.model import MatrixLike
from cobayes.rules import SCBI, Rule
from cobayes.rules.base import require_teachable


def as_rule(matrix: MatrixLike | Rule) -> Rule:
    """Return a rule, `SCBI` where a bare matrix was given."""
    return matrix if isinstance(matrix, Rule) else SCBI(matrix)


def require_same_world(teacher: Rule, learner: Rule) -> None:
    """Raise an error unless two rules are about the same data and hypotheses."""
    model.require_same_world(teacher.model, learner.model)


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
    return whole_number(value, name, 1)


def small_probability(value: float, name: str) -> float:
    """Return a number strictly between zero and one half."""
    return number_between(value, name, 0.0, 0.5, hint="1e-5 is the default.")
