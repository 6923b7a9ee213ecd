"""The contract that both rules fulfil.

A rule is a map from the learner's belief to a likelihood matrix: everything else, what the
teacher does and what the learner concludes, follows from Bayes' formula. Plain Bayesian
inference has the same likelihood for every belief; SCBI scales it to the belief.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.errors import CobayesError, unteachable
from cobayes.model import MatrixLike, Model, as_task
from cobayes.tasks.task import State, Task

Array = NDArray[np.float64]

# Rules for the states of a task are kept while their matrices have fewer entries than this.
MOST_KEPT = 2**22


@dataclass(frozen=True, eq=False)
class Response:
    """A rule's answer to a belief: a likelihood matrix in factored form.

    An agent looks at one column and one row of it; the whole matrix is made when asked for.

    Attributes
    ----------
    matrix : ndarray
        Shape (n, m).
    row_factors, column_factors : ndarray or None
        The likelihood is ``row_factors[:, None] * matrix * column_factors``; None means ones.
    memory : ndarray or None
        What makes the answer to the next belief quicker; an agent hands it back.
    """

    matrix: Array
    row_factors: Array | None = None
    column_factors: Array | None = None
    memory: Array | None = None

    @property
    def likelihood(self) -> Array:
        """The likelihood matrix, (n, m); columns sum to one."""
        if self.row_factors is None or self.column_factors is None:
            return self.matrix
        # In this order and with one temporary, which also becomes the result.
        likelihood = self.row_factors[:, None] * self.matrix
        likelihood *= self.column_factors
        return likelihood

    def column(self, hypothesis: int) -> Array:
        """Return the distribution over data under one hypothesis, (n,)."""
        if self.row_factors is None or self.column_factors is None:
            return self.matrix[:, hypothesis].copy()
        return self.row_factors * self.matrix[:, hypothesis] * self.column_factors[hypothesis]

    def log_row(self, datum: int) -> Array:
        """Return log-likelihoods of one datum, (m,), exact where likelihoods underflow."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.matrix[datum])
            if self.row_factors is None or self.column_factors is None:
                return logs
            return np.log(self.row_factors[datum]) + logs + np.log(self.column_factors)

    @property
    def log_likelihood(self) -> Array:
        """Logarithms of the likelihood matrix, (n, m)."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.matrix)
            if self.row_factors is None or self.column_factors is None:
                return logs
            return np.log(self.row_factors)[:, None] + logs + np.log(self.column_factors)


class Rule(ABC):
    """How a learner learns and a teacher teaches, given the learner's belief.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray or `Model`.
    """

    name: ClassVar[str]

    def __init__(self, matrix: MatrixLike) -> None:
        self.task: Task = as_task(matrix)
        self.model: Model = self.task.model
        self._at: dict[tuple[int, bytes | None], Rule] = {}

    @abstractmethod
    def respond(self, log_belief: Array, memory: Array | None = None) -> Response:
        """Return the likelihood matrix for a belief given by its logarithms.

        This is the one step that agents, exact trees and the command line share; the
        public methods below are views of it.

        Parameters
        ----------
        log_belief
            Normalised; minus infinity for a hypothesis that is ruled out.
        memory
            The last response's, where there was one.
        """

    def at(self, state: State) -> Rule:
        """Return the rule in a state of its task: with the matrix and the data prior there.

        A rule whose matrix is a `Model`, the task that never changes, is returned as it is.
        """
        if self.task is self.model:
            return self
        model, prior = self.task.matrix_at(state), self.task.data_prior_at(state)
        key = (id(model), None if prior is None else prior.tobytes())
        if key not in self._at:
            if len(self._at) * model.matrix.size > MOST_KEPT:
                self._at.clear()
            self._at[key] = self._for(model, prior)
        return self._at[key]

    def _for(self, model: Model, prior: Array | None) -> Rule:
        """Return the same rule with another matrix and the data prior of a task."""
        if (model.data, model.hypotheses) != (self.model.data, self.model.hypotheses):
            raise CobayesError(
                f"the matrices of {self.task!r} have different data or hypotheses.",
                "give all of them the same labels in the same order.",
            )
        if prior is None:
            return type(self)(model, **self.settings())
        return Restricted(self, model, prior)

    def likelihood(self, belief: ArrayLike) -> Array:
        """Return the likelihood matrix M_k at a belief: (n, m), columns sum to one."""
        return self.respond(self.log_belief(belief)).likelihood

    def teach(self, belief: ArrayLike, hypothesis: int | str) -> Array:
        """Return the teacher's distribution over data, tau in the paper: (n,).

        Parameters
        ----------
        belief
            The learner's belief, as far as the teacher knows.
        hypothesis
            The true hypothesis, by position or label; it must not be ruled out.
        """
        column = self.model.hypothesis_index(hypothesis)
        log_belief = self.log_belief(belief)
        require_teachable(self.model, log_belief, column, "belief")
        return self.respond(log_belief).column(column)

    def update(self, belief: ArrayLike, datum: int | str) -> Array:
        """Return the posterior after one datum, T_d(belief) in the paper: (m,)."""
        row = self.model.datum_index(datum)
        log_belief = self.log_belief(belief)
        return np.exp(self.observe(log_belief, self.respond(log_belief), row))

    def observe(self, log_belief: Array, response: Response, datum: int) -> Array:
        """Return the log-posterior after a datum, or raise an error that says it is impossible.

        Parameters
        ----------
        log_belief
            Normalised; minus infinity for a hypothesis that is ruled out.
        response
            This rule's answer to that belief.
        datum
            The position of the datum.
        """
        posterior = add_evidence(log_belief, response.log_row(datum))
        if np.isnan(posterior[0]):
            raise CobayesError(
                f"datum {self.model.data[datum]!r} is impossible under every hypothesis that is "
                "believed, so the belief cannot be updated.",
                "show a datum that some believed hypothesis allows, or start from a prior that "
                "allows this one.",
            )
        return posterior

    def posteriors(self, belief: ArrayLike) -> Array:
        """Return the posteriors after every datum: (n, m), rows sum to one; NaN: impossible."""
        log_belief = self.log_belief(belief)
        return np.exp(add_evidence(log_belief, self.respond(log_belief).log_likelihood))

    def log_belief(self, belief: ArrayLike | None, name: str = "belief") -> Array:
        """Validate a belief and return its logarithms; None is the uniform belief."""
        with np.errstate(divide="ignore"):
            return np.log(self.model.distribution(belief, name=name))

    def settings(self) -> dict[str, Any]:
        """Return the arguments beside the matrix that make the same rule again."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return {"rule": self.name, **self.settings(), **self.model.to_dict()}

    def __repr__(self) -> str:
        return f"{self.name}({self.model!r})"


class Restricted(Rule):
    """A rule over the data that are available, with the others left out.

    Parameters
    ----------
    rule
        Gives the kind of rule.
    model
        The matrix with all data.
    prior
        Zero for data that are not available.
    """

    name: ClassVar[str] = "restricted"

    def __init__(self, rule: Rule, model: Model, prior: Array) -> None:
        super().__init__(model)
        self._rows = np.flatnonzero(prior)
        if np.ptp(prior[self._rows]) > 1e-12:
            raise CobayesError(f"{rule.name} takes only tasks whose available data are alike.")
        labels = [model.data[row] for row in self._rows]
        part = Model(model.matrix[self._rows], labels, model.hypotheses)
        self._within = type(rule)(part, **rule.settings())

    def respond(self, log_belief: Array, memory: Array | None = None) -> Response:
        """Return the response over the available data, with zeros for the others."""
        inner = self._within.respond(log_belief, memory)
        matrix = np.zeros(self.model.shape)
        matrix[self._rows] = inner.matrix
        factors = inner.row_factors
        if factors is not None:
            factors = np.zeros(self.model.num_data)
            factors[self._rows] = inner.row_factors
        return Response(matrix, factors, inner.column_factors, inner.memory)


def log_posterior(log_belief: Array, likelihood: Array) -> Array:
    """Return log Bayes: log belief + log likelihood, normalised along the last axis.

    Parameters
    ----------
    log_belief
        Shape (m,); minus infinity where a hypothesis is ruled out.
    likelihood
        One row (m,) or all of them (n, m).
    """
    with np.errstate(divide="ignore"):
        return add_evidence(log_belief, np.log(likelihood))


def add_evidence(log_belief: Array, log_likelihood: Array) -> Array:
    """Return log Bayes from log-likelihoods, normalised along the last axis.

    Parameters
    ----------
    log_belief
        Shape (m,); minus infinity where a hypothesis is ruled out.
    log_likelihood
        One row (m,) or all of them (n, m). A row that excludes all that is believed gives NaN.
    """
    joint = log_belief + log_likelihood
    peak = joint.max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):  # minus infinity everywhere: NaN
        return joint - (peak + np.log(np.exp(joint - peak).sum(axis=-1, keepdims=True)))


def require_teachable(model: Model, log_belief: Array, hypothesis: int, what: str) -> None:
    """Raise an error where the hypothesis to teach is ruled out from the start."""
    if log_belief[hypothesis] == -np.inf:
        raise unteachable(model.hypotheses[hypothesis], what)
