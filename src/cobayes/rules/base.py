"""The base class of rules.

A rule maps the learner's belief to a likelihood matrix. The teacher draws data from the column of
the true hypothesis; the learner's posterior follows by Bayes' formula. Plain Bayesian inference has
the same likelihood for every belief; SCBI scales the matrix to the belief.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.labels import Distribution, as_distribution, find
from cobayes._input.validation import lost_settings, require_settings, subclasses
from cobayes._parallel import num_threads
from cobayes.errors import CobayesError, ImpossibleDatumError, unteachable
from cobayes.model import MatrixLike, Model, as_task
from cobayes.rules.response import Response, add_evidence, not_converged, what_is_wrong
from cobayes.tasks.task import State, Task, no_datum

Array = NDArray[np.float64]

# Keys of `Rule.to_dict` that are not settings.
_NOT_SETTINGS = {"rule", "matrix", "data", "hypotheses"}
# The cache of rules for a task's states is emptied above this number of matrix entries (32 MB).
MOST_KEPT = 2**22


class Rule(ABC):
    """The base class of rules: the likelihood matrix as a function of the learner's belief.

    For a custom rule, derive a class and define `respond`, which returns the likelihood matrix at a
    belief; `name` is the name of the class unless it is set. If the rule has arguments besides the
    matrix, also define `settings`, which returns them; tasks and saving need this method.
    Agents, `simulate`, `exact_rounds`, `success_rate` and `rate_of_convergence` accept custom
    rules. For a rule made from a task, `likelihood`, `teach`, `update` and `posteriors` use the
    first state.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray, `Model` or task.

    Examples
    --------
    A teacher who sometimes shows a random datum:

    >>> import cobayes as cb
    >>> class Absent(cb.Rule):
    ...     name = "absent"
    ...
    ...     def respond(self, log_belief):
    ...         likelihood = 0.9 * self.model.normalized() + 0.1 / self.model.num_data
    ...         return cb.rules.Response(likelihood)
    >>> Absent([[0.8, 0.3], [0.2, 0.7]]).update([0.5, 0.5], 0).round(3)
    array([0.706, 0.294])
    """

    name: str = "Rule"
    title: str
    """The name and the settings, for titles and legends."""
    depends_on_belief: bool = True
    """Whether the likelihood changes with the belief; if not, the order of data does not matter."""
    core: _core.Rule | None = None
    """The rule in the native core; None for a custom rule."""
    is_custom: bool = False
    """Whether `respond` or `respond_many` is defined outside of cobayes."""
    is_scbi: bool = False
    """Whether the rule is `SCBI`, or `Pragmatic` of infinite depth, and not `is_custom`."""
    data_prior: Array | None = None
    """Probabilities of the data before anything is taught; None: uniform."""
    tolerance: float = 1e-12
    """Tolerance for the native core's estimate of the likelihood's relative error."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.likelihood is not Rule.likelihood:
            raise CobayesError(
                f"{cls.__name__} overrides likelihood, which agents and simulate do not call.",
                "write respond(self, log_belief) and return cobayes.rules.Response(likelihood).",
            )
        if not callable(cls.settings):
            raise CobayesError(
                f"the settings of {cls.__name__} are not a method.", "write def settings(self): ..."
            )
        cls.name = vars(cls).get("name", cls.__name__)  # never inherited
        modules = cls.respond.__module__, cls.respond_many.__module__
        cls.is_custom = not all(name.startswith("cobayes.") for name in modules)

    def __init__(self, matrix: MatrixLike) -> None:
        self.title = self.name
        self.task: Task = as_task(matrix)
        self.model: Model = self.task if isinstance(self.task, Model) else self.task.model
        self._at: dict[State, Rule] = {}

    @abstractmethod
    def respond(self, log_belief: Array) -> Response:
        """Return the likelihood matrix for a belief given by its logarithms.

        In a custom rule, all methods, agents and simulations compute with this likelihood.

        Parameters
        ----------
        log_belief
            Logarithms of a distribution over hypotheses, (m,); minus infinity for an excluded one.
        """

    def answer(self, log_belief: Array) -> Response:
        """Return the result of `respond`; raise an error if a custom rule's result is invalid."""
        found = self.respond(log_belief)
        wrong = None if self.core is not None else what_is_wrong(found, self.model)
        if wrong is not None:
            raise CobayesError(
                f"{type(self).__name__}.respond returns {wrong}.",
                "return cobayes.rules.Response(likelihood), data by hypotheses, columns summing "
                "to one.",
            )
        return found

    def respond_many(self, log_beliefs: Array) -> Array:
        """Return log-likelihoods (k, n, m) for beliefs given by their logarithms, (k, m)."""
        if self.core is None:
            return np.array([self.answer(logs).log_likelihood for logs in log_beliefs])
        return self._ask(self.core.respond, log_beliefs, in_logs=True)

    def _ask(self, question: Callable[..., Any], log_beliefs: Array, *row: int, **in_logs: bool):
        """Return the core's answer for beliefs (k, m); raise an error if it is too inaccurate."""
        threads = num_threads() if len(log_beliefs) > 1 else 1
        values, error, iterations = question(log_beliefs, *row, num_threads=threads, **in_logs)
        if not error <= self.tolerance:
            raise not_converged(error, self.tolerance, iterations)
        return values

    def settings(self) -> dict[str, Any]:
        """Return the constructor's arguments by name, without the matrix."""
        return {}

    def at_certainty(self, hypothesis: SupportsIndex | str) -> Response:
        """Return the likelihood matrix in the limit of certainty about a hypothesis.

        Rates of convergence follow from this matrix. The teacher's distribution tends to the column
        of the taught hypothesis. The log-odds of this hypothesis against another one grow per
        round, on average, by the Kullback-Leibler divergence between the two columns.
        """
        logs = np.full(self.model.num_hypotheses, -np.inf)
        logs[self.model.hypothesis_index(hypothesis)] = 0.0
        return self.answer(logs)

    def at(self, state: State) -> Rule:
        """Return the rule in a state of its task, with the matrix and the data prior of the state.

        A rule whose task is a `Model` is returned unchanged.
        """
        if self.task is self.model:
            return self
        found = self._at.get(state)
        if found is None:
            if len(self._at) * self.model.matrix.size > MOST_KEPT:
                self._at = {}
            found = self._at[state] = self._in(state)
        return found

    def _in(self, state: State) -> Rule:
        model, prior = self.task.matrix_at(state), self.task.data_prior_at(state)
        if (model.data, model.hypotheses) != (self.model.data, self.model.hypotheses):
            raise CobayesError(
                f"the matrices of {self.task!r} have different data or hypotheses.",
                "give all of them the same labels in the same order.",
            )
        if prior is None:
            return self._remade(model)
        if not (prior.shape == (model.num_data,) and (prior >= 0.0).all() and prior.sum() < np.inf):
            raise CobayesError(
                f"the data prior of {self.task!r} is {prior!r}; expected {model.num_data} finite "
                "numbers that are not negative."
            )
        prior = prior if self.data_prior is None else prior * self.data_prior
        if not prior.any():
            raise CobayesError(
                "no datum is left: the data prior is zero for all data that the task still allows.",
                "ask for fewer rounds, or give more data a positive data prior.",
            )
        return self._restricted(model, prior)

    def _remade(self, model: Model) -> Rule:
        """Make a rule with the same class and settings from another matrix."""
        require_settings(type(self), self.settings(), num_given=1)
        return type(self)(model, **self.settings())

    def _restricted(self, model: Model, prior: Array) -> Rule:
        """Make a rule with the same settings from the matrix and data prior of a task's state.

        The rule's own data prior, if it has one, is a factor of `prior`.
        """
        return Restricted(self, model, prior)

    def likelihood(self, belief: Distribution) -> Array:
        """Return the likelihood matrix at a belief, M_k in the paper.

        Parameters
        ----------
        belief
            The belief, (m,). Beliefs of shape (k, m) give (k, n, m).

        Returns
        -------
        ndarray
            P(d | h), (n, m) or (k, n, m). A column sums to one, or is zero if h allows no
            available datum. With `Pragmatic` of finite depth >= 1 it is also zero if each available
            datum that h allows is impossible under all hypotheses with a positive belief.
        """
        logs = self.log_beliefs(belief)
        many, rule = np.atleast_2d(logs), self.at(self.task.start)
        if rule.core is None:
            found = np.array([rule.answer(one).likelihood for one in many])
        else:
            found = rule._ask(rule.core.respond, many)
        return found.reshape(*logs.shape[:-1], *self.model.shape)

    def teach(self, belief: Distribution, hypothesis: SupportsIndex | str) -> Array:
        """Return the teacher's distribution over data, tau in the paper.

        Parameters
        ----------
        belief
            The teacher's estimate of the learner's belief, (m,). Beliefs of shape (k, m)
            give (k, n).
        hypothesis
            The true hypothesis, by position or label; the belief in it must be positive.

        Returns
        -------
        ndarray
            The probabilities of the data, (n,) or (k, n); they sum to one.
        """
        column = self.model.hypothesis_index(hypothesis)
        require_teachable(self.model, self.log_beliefs(belief), column, "belief")
        require_datum(self, column)
        return self.likelihood(belief)[..., column]

    def update(self, belief: Distribution, datum: SupportsIndex | str) -> Array:
        """Return the posterior after one datum, T_d(belief) in the paper.

        Parameters
        ----------
        belief
            The belief before the datum, (m,). Beliefs of shape (k, m) give (k, m).
        datum
            The datum, by position or label.

        Returns
        -------
        ndarray
            A distribution over hypotheses, (m,) or (k, m).
        """
        row, logs = find(datum, self.model.data, "datum"), self.log_beliefs(belief)
        many, rule = logs if logs.ndim == 2 else logs[None], self.at(self.task.start)
        if rule.core is None:
            found = _core.exp(add_evidence(many, rule.respond_many(many)[:, row]))
        else:
            found = rule._ask(rule.core.update, many, row, in_logs=False)
        if math.isnan(sum(found[:, 0].tolist())):  # NaN if the datum is impossible at the belief
            raise impossible_datum(rule, row)
        return found.reshape(logs.shape)

    def posteriors(self, belief: Distribution) -> Array:
        """Return the posterior after each datum.

        Parameters
        ----------
        belief
            The belief before the datum, (m,). Beliefs of shape (k, m) give (k, n, m).

        Returns
        -------
        ndarray
            Row d is ``update(belief, d)``, (n, m) or (k, n, m); NaN if datum d is not available or
            is impossible under every hypothesis with a positive belief.
        """
        logs = self.log_beliefs(belief)
        many, rule = np.atleast_2d(logs), self.at(self.task.start)
        if rule.core is None:
            found = _core.exp(add_evidence(many[:, None, :], rule.respond_many(many)))
        else:
            found = rule._ask(rule.core.posteriors, many)
        return found.reshape(*logs.shape[:-1], *self.model.shape)

    def log_belief(self, belief: Distribution | None, name: str = "belief") -> Array:
        """Validate a belief and return its logarithms, (m,); None is the uniform belief."""
        return as_distribution(belief, self.model.hypotheses, "hypothesis", name, in_logs=True)

    def log_beliefs(self, belief: Distribution) -> Array:
        """Validate one belief or many and return the logarithms, (m,) or (k, m)."""
        names = self.model.hypotheses
        logs = as_distribution(belief, names, "hypothesis", "belief", batch=True, in_logs=True)
        if logs.ndim > 2:
            found, m = f"the beliefs have shape {logs.shape}", len(names)
            hint = f"reshape them: beliefs.reshape(-1, {m})."
            raise CobayesError(f"{found}; expected ({m},) or (k, {m}).", hint)
        return logs

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as a dict for JSON; `from_dict` makes the same rule again."""
        if not isinstance(self.task, Model):
            raise CobayesError(
                f"the rule is made from the task {type(self.task).__name__}; to_dict describes "
                "only rules that are made from a matrix.",
                "save an agent, which has the rule and its task: cobayes.Learner(rule).save(path).",
            )
        settings = self.settings()
        require_settings(type(self), settings, num_given=1)
        return {"rule": self.name, **settings, **self.model.to_dict()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Rule:
        """Make a rule from the result of `to_dict`; `cobayes.Rule.from_dict` accepts every rule.

        Parameters
        ----------
        content
            A dict: "rule" is the name of the rule; the other entries are "matrix", "data",
            "hypotheses" and the rule's other arguments.

        Examples
        --------
        >>> import cobayes as cb
        >>> rule = cb.Pragmatic([[0.6, 0.2], [0.4, 0.8]], 2, rationality=3.0)
        >>> cb.Rule.from_dict(rule.to_dict()).rationality
        3.0
        """
        from cobayes.rules.naming import as_rule

        if not isinstance(content, dict) or not isinstance(content.get("rule"), str):
            raise CobayesError(
                "there is no entry 'rule', the name of the rule.",
                "expected the content that rule.to_dict() returns.",
            )
        own = {key: value for key, value in content.items() if key not in _NOT_SETTINGS}
        found = as_rule(content["rule"], Model.from_dict(content), **own)
        if not isinstance(found, cls):
            raise CobayesError(
                f"the content describes the rule {found.name}; expected {cls.name}.",
                "use cobayes.Rule.from_dict, which makes rules of any kind.",
            )
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rule):
            return NotImplemented
        own, theirs = self.settings(), other.settings()
        # If settings() does not return all parameters, the rule is equal only to itself.
        if self is other or (self.core is None and lost_settings(type(self), own, num_given=1)):
            return self is other
        return (type(self), self.task, own) == (type(other), other.task, theirs)

    def __hash__(self) -> int:
        return hash((type(self), self.task))

    def __deepcopy__(self, memo: dict[int, Any]) -> Rule:
        return self  # a rule does not change: copies of agents share it

    def __repr__(self) -> str:
        parts = [repr(self.task)]
        if self.title != self.name:
            parts.append(self.title.removeprefix(f"{self.name}, "))
        if self.data_prior is not None:
            shown = ", ".join(f"{share:.3g}" for share in self.data_prior[:4])
            more = f", … ({len(self.data_prior)} in all)" if len(self.data_prior) > 4 else ""
            parts.append(f"data prior {shown}{more}")
        return f"{self.name}({'; '.join(parts)})"


def rule_named(name: str) -> type[Rule] | None:
    """Return the class of rules with this name, ignoring case; None if there is none."""
    found = [kind for kind in subclasses(Rule) if kind.name.lower() == name.lower()]
    # A notebook may define a class twice: the last definition is taken, unless cobayes itself has
    # a rule of this name.
    found.sort(key=lambda kind: kind.__module__.startswith("cobayes."))
    return found[-1] if found else None


class Restricted(Rule):
    """A custom rule in a state of a task: its likelihood, normalised over the available data.

    Parameters
    ----------
    rule
        The custom rule.
    model
        The matrix in the state, with all data.
    prior
        The data prior in the state. A datum is available if its prior is positive; the prior has
        no other effect. A rule that uses the prior's values overrides `Rule._restricted`.
    """

    name = ""  # so that `as_rule` cannot find this class by name

    def __init__(self, rule: Rule, model: Model, prior: Array) -> None:
        super().__init__(model)
        self._available = prior > 0.0
        self._within = rule._remade(model)

    def respond(self, log_belief: Array) -> Response:
        """Return the likelihood over the available data, zero for the others."""
        inner = self._within.answer(log_belief)
        likelihood = np.where(self._available[:, None], inner.likelihood, 0.0)
        totals = likelihood.sum(axis=0)
        # A column of zeros stays zero: the hypothesis allows none of the available data.
        scale = np.where(totals > 0.0, totals, 1.0)
        if inner.logs is None:
            return Response(likelihood / scale)
        logs = np.where(self._available[:, None], inner.logs - _core.log(scale), -np.inf)
        return Response(likelihood / scale, logs)


def impossible_datum(rule: Rule, datum: int) -> ImpossibleDatumError:
    """Return the error about a datum that the data prior or the belief excludes."""
    name = rule.model.data[datum]
    if rule.data_prior is not None and rule.data_prior[datum] == 0.0:
        return ImpossibleDatumError(
            f"the data prior of datum {name!r} is zero, so the belief cannot be updated.",
            "show another datum, or give this one a positive data prior.",
        )
    return ImpossibleDatumError(
        f"datum {name!r} is impossible under every hypothesis with a positive belief, so the "
        "belief cannot be updated.",
        "show a datum that one of these hypotheses allows, or start from a prior that is positive "
        "in a hypothesis that allows this datum.",
    )


def require_teachable(model: Model, log_belief: Array, hypothesis: int, what: str) -> None:
    """Raise an error if a belief is zero in the hypothesis to teach; `what` names the belief."""
    if (log_belief[..., hypothesis] == -np.inf).any():
        raise unteachable(model.hypotheses[hypothesis], what)


def require_datum(rule: Rule, hypothesis: int) -> None:
    """Raise an error if the hypothesis to teach allows no datum available in the first round."""
    available = rule.task.available_at(rule.task.start)
    if rule.data_prior is not None:
        available = available & (rule.data_prior > 0.0)
    if not available[rule.model.matrix[:, hypothesis] > 0.0].any():
        raise no_datum(rule.model, hypothesis, available)
