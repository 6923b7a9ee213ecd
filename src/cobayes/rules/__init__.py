"""Rules of inference: plain Bayes, pragmatic recursion, SCBI, and one round of cooperation."""

from cobayes.rules.base import Rule
from cobayes.rules.cooperative import CooperativeInference, cooperative_inference
from cobayes.rules.naming import as_rule
from cobayes.rules.native import BI, SCBI, Pragmatic
from cobayes.rules.response import Response

__all__ = [
    "BI",
    "SCBI",
    "CooperativeInference",
    "Pragmatic",
    "Response",
    "Rule",
    "as_rule",
    "cooperative_inference",
]
