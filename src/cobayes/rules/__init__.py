"""Rules of inference: plain Bayes, one round of cooperation, and SCBI."""

from typing import Any

from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.rules.base import Response, Rule
from cobayes.rules.bayes import BI
from cobayes.rules.cooperative import CooperativeInference, cooperative_inference
from cobayes.rules.sequential import SCBI

__all__ = [
    "BI",
    "SCBI",
    "CooperativeInference",
    "Response",
    "Rule",
    "cooperative_inference",
    "rule_from_dict",
]


def rule_from_dict(content: dict[str, Any]) -> Rule:
    """Undo `Rule.to_dict`."""
    model = Model.from_dict(content)
    if content["rule"] == BI.name:
        return BI(model)
    if content["rule"] == SCBI.name:
        return SCBI(model, tolerance=content["tolerance"])
    raise CobayesError(f"there is no rule called {content['rule']!r}.", "expected 'BI' or 'SCBI'.")
