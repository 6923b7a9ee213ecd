"""Turn arguments (a rule, its name or class, a matrix) into rules; check teacher and learner."""

from __future__ import annotations

from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import Distribution, as_distribution, find
from cobayes.errors import CobayesError, unteachable
from cobayes.model import MatrixLike, require_same_world
from cobayes.rules.base import Rule, require_datum, rule_named
from cobayes.rules.native import SCBI

Array = NDArray[np.float64]

RuleLike = Any
"""A rule; a matrix or task, for which `SCBI` is used; or the class or the name of a rule."""


class Agents(NamedTuple):
    """A teacher and a learner: validated rules, log-priors and the taught hypothesis.

    Attributes
    ----------
    teacher, learner : Rule
        The same object if no other rule was given for the learner.
    teacher_prior, learner_prior : ndarray
        Log-beliefs at the start, (m,); the same object if no learner's prior was given.
    hypothesis : int
        The position of the hypothesis that is taught.
    is_shared : bool
        Whether teacher and learner have the same objects as rule and prior.
    """

    teacher: Rule
    learner: Rule
    teacher_prior: Array
    learner_prior: Array
    hypothesis: int
    is_shared: bool


def as_agents(
    rule: RuleLike,
    hypothesis: SupportsIndex | str,
    prior: Distribution | None = None,
    learner_rule: RuleLike | None = None,
    learner_prior: Distribution | None = None,
    *,
    every_round: bool = False,
) -> Agents:
    """Validate the rules and priors of teacher and learner, and the taught hypothesis.

    Parameters
    ----------
    rule, hypothesis, prior, learner_rule, learner_prior
        As in `cobayes.simulate`.
    every_round
        Whether a task must have the same matrix and data prior in every round.

    Returns
    -------
    Agents
        Rules, log-priors and the position of the hypothesis. The hypothesis has a positive prior in
        both agents and allows a datum that may be shown.
    """
    teacher = rule if isinstance(rule, Rule) else as_rule(rule)
    learner = teacher if learner_rule is None else as_rule(learner_rule, teacher.task)
    if learner is not teacher:
        require_same_world(teacher.model, learner.model)
    names, others = teacher.model.hypotheses, learner.model.hypotheses
    position = find(hypothesis, names, "hypothesis")
    own = theirs = as_distribution(prior, names, "hypothesis", "prior", in_logs=True)
    if learner_prior is not None:
        what = "learner's prior"
        theirs = as_distribution(learner_prior, others, "hypothesis", what, in_logs=True)
    for logs, what in ((own, "prior"), (theirs, "learner's prior")):
        if logs[position] == -np.inf:
            raise unteachable(names[position], what)
    if teacher.task is not teacher.model or teacher.data_prior is not None:
        require_datum(teacher, position)
    if every_round:
        teacher, learner = in_every_round(teacher), in_every_round(learner)
    is_shared = learner is teacher and theirs is own
    return Agents(teacher, learner, own, theirs, position, is_shared)


def as_rule(rule: RuleLike, matrix: MatrixLike | None = None, **settings: Any) -> Rule:
    """Return a rule, from an object, a class or a name.

    Parameters
    ----------
    rule
        A rule; a matrix of any kind or a task, for which `SCBI` is made; or the class or the name
        of a rule, such as "scbi" or "SCBI": the rule is then made from `matrix`.
    matrix
        The data-by-hypotheses matrix for a class or a name.
    **settings
        Further arguments for a class or a name, such as the depth of "pragmatic".

    Returns
    -------
    Rule
        The given rule, or a new rule for the matrix.

    Examples
    --------
    >>> from cobayes.rules import as_rule
    >>> as_rule("scbi", [[0.8, 0.3], [0.2, 0.7]]).name
    'SCBI'
    """
    if isinstance(rule, Rule):
        return rule
    name = rule.strip() if isinstance(rule, str) else ""
    if rule is None or (np.isscalar(rule) and not name):
        raise CobayesError(
            f"the rule is {rule!r}; expected a rule, a matrix, a class or a name.",
            "give a rule, such as cobayes.SCBI(matrix) or cobayes.BI(matrix).",
        )
    if name:
        rule = rule_named(name) or rule
        if isinstance(rule, str) and matrix is not None:
            raise CobayesError(
                f"there is no rule called {name!r}.",
                "choose 'BI', 'SCBI' or 'Pragmatic', or define the class of a custom rule first.",
            )
    if not (isinstance(rule, type) and issubclass(rule, Rule)):
        return SCBI(rule)  # a matrix or a task; a text names a file or an example
    if matrix is None:
        raise CobayesError(
            f"the rule is {rule.__name__}, without a matrix.",
            f"give it one: cobayes.{rule.__name__}(matrix).",
        )
    try:
        return rule(matrix, **settings)
    except TypeError as error:  # such as "pragmatic" without a depth, or an unknown argument
        given = f"a matrix and {settings}" if settings else "a matrix alone"
        raise CobayesError(
            f"{rule.__name__} cannot be made from {given}: {error}.",
            f"give the rule itself: cobayes.{rule.__name__}(matrix, ...).",
        ) from error


def in_every_round(rule: Rule) -> Rule:
    """Return the rule that holds in all rounds; raise an error if the task's state can change."""
    if rule.task.is_constant:
        return rule.at(rule.task.start)
    raise CobayesError(
        "this computation needs the same matrix and data prior in all rounds; in the task "
        f"{type(rule.task).__name__} they may depend on the data shown before.",
        "use simulate(...) or run_lesson(...), or give the table alone: cobayes.Model(task).",
    )
