"""Rules by name: what a user may give wherever a rule is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobayes.errors import CobayesError
from cobayes.model import MatrixLike
from cobayes.rules.base import Rule
from cobayes.rules.bayes import BI
from cobayes.rules.pragmatic import Pragmatic
from cobayes.rules.scbi import SCBI

RULES: dict[str, type[Rule]] = {"bi": BI, "scbi": SCBI, "pragmatic": Pragmatic}

RuleLike = Any
"""A rule, a matrix or task (which means `SCBI` of it), a class of rules, or the name of one."""


def as_rule(rule: RuleLike, matrix: MatrixLike | None = None, **settings: Any) -> Rule:
    """Return a rule, from an object, a class or a name.

    Parameters
    ----------
    rule
        A rule; a matrix of any kind or a task, which means `SCBI` of it; or a class or a name such
        as "scbi" or "SCBI", which is given the matrix.
    matrix
        The data-by-hypotheses matrix for a class or a name.
    **settings
        Further arguments for a class or a name, as the depth of "pragmatic".

    Returns
    -------
    Rule
        The given one, or a new one for the matrix.

    Examples
    --------
    >>> from cobayes.rules import as_rule
    >>> as_rule("scbi", [[0.8, 0.3], [0.2, 0.7]]).name
    'SCBI'
    """
    if isinstance(rule, Rule):
        return rule
    if _is_matrix(rule, matrix):
        return SCBI(rule)
    kind = rule_class(rule)
    if kind is None:
        raise CobayesError(
            f"the rule is of type {type(rule).__name__}; expected a rule, a class or a name.",
            "wrap the matrix: cobayes.SCBI(matrix) or cobayes.BI(matrix).",
        )
    if matrix is None:
        raise CobayesError(
            f"the rule is {kind.__name__}, without a matrix.",
            f"give it one: cobayes.{kind.__name__}(matrix).",
        )
    try:
        return kind(matrix, **settings)
    except TypeError as error:  # as "pragmatic" without a depth
        raise CobayesError(
            f"{kind.__name__} cannot be made from a matrix alone: {error}.",
            f"give the rule itself, as cobayes.{kind.__name__}(matrix, ...).",
        ) from error


def _is_matrix(rule: RuleLike, matrix: MatrixLike | None) -> bool:
    """Tell whether a matrix or a task was given in the place of a rule."""
    if isinstance(rule, str):  # a file or an example, unless a matrix is there already
        return matrix is None and rule.strip().lower() not in RULES
    return rule is not None and not isinstance(rule, type) and not np.isscalar(rule)


def rule_class(rule: RuleLike) -> type[Rule] | None:
    """Return the class that a class or a name stands for; None where it is neither."""
    if isinstance(rule, type) and issubclass(rule, Rule):
        return rule
    if not isinstance(rule, str):
        return None
    found = RULES.get(rule.strip().lower())
    if found is None:
        raise CobayesError(
            f"there is no rule called {rule!r}.",
            "choose from " + ", ".join(repr(kind.name) for kind in RULES.values()) + ".",
        )
    return found
