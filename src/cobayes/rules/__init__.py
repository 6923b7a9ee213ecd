"""Rules of inference: plain Bayes, one round of cooperation, and SCBI."""

from typing import Any

from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.rules.base import Response, Rule
from cobayes.rules.bayes import BI
from cobayes.rules.cooperative import CooperativeInference, cooperative_inference
from cobayes.rules.sequential import SCBI
from cobayes.tasks.task import Task

__all__ = [
    "BI",
    "SCBI",
    "CooperativeInference",
    "Response",
    "Rule",
    "cooperative_inference",
    "rule_from_dict",
    "rule_from_settings",
]


def rule_from_dict(content: dict[str, Any]) -> Rule:
    """Undo `Rule.to_dict`."""
    settings = {"tolerance": content["tolerance"]} if "tolerance" in content else {}
    return rule_from_settings(content["rule"], Model.from_dict(content), settings)


def rule_from_settings(name: str, task: Task, settings: dict[str, Any]) -> Rule:
    """Make a rule from its name and from what `Rule.settings` returned.

    A custom rule is found by its name as soon as its class has been defined.
    """
    kinds: list[type[Rule]] = [Rule]
    for kind in kinds:
        if getattr(kind, "name", None) == name:
            return kind(task, **settings)
        kinds.extend(kind.__subclasses__())
    raise CobayesError(
        f"there is no rule called {name!r}.", "expected 'BI', 'SCBI' or a custom rule's name."
    )
