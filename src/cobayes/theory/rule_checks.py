"""A clear word where something else was given instead of a rule."""

from __future__ import annotations

from typing import Any

from cobayes.errors import CobayesError
from cobayes.rules import Rule


def checked_rule(rule: Any) -> Rule:
    """Return the rule, or raise an error that says how to make one."""
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, type) and issubclass(rule, Rule):
        raise CobayesError(
            f"the rule is the class {rule.__name__}, without a matrix.",
            f"give it one: cobayes.{rule.__name__}(matrix).",
        )
    raise CobayesError(
        f"the rule is of type {type(rule).__name__}; expected cobayes.SCBI or cobayes.BI.",
        "wrap the matrix: cobayes.SCBI(matrix).",
    )
