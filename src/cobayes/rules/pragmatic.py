"""Pragmatic rules: teacher and learner reason about each other to a finite depth."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import is_position
from cobayes._input.validation import number_between
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model
from cobayes.rules.base import Rule
from cobayes.rules.beliefs import WIDEST_SPREAD, BeliefState
from cobayes.rules.recursion import RecursionSolver
from cobayes.rules.response import Response
from cobayes.rules.responses import CompiledResponses, Responses
from cobayes.rules.sequential import SCBI
from cobayes.scaling.plain import PlainProblem

Array = NDArray[np.float64]

# Logarithms this far below zero stand for zero in the limit of certainty.
_DOUBT = 1e8

# Batches of matrices with more entries together are not worked out in logarithms (400 MB).
MOST_LOGARITHMS = 50_000_000

# A level is one pass over the matrix: deeper recursion would seem to hang.
DEEPEST = 10_000


class Pragmatic(Rule):
    """Teacher and learner reason about each other to a given depth, as rational speech acts do.

    From a literal teacher T_0, at belief theta and with data prior p:

        ``L_k(h | d) ∝ T_k(d | h) theta(h)``, normalised over hypotheses,
        ``T_{k+1}(d | h) ∝ p(d) L_k(h | d)**rationality``, normalised over data.

    A rule of depth K teaches by T_K and learns by L_K. Depth 0 is `BI`; infinite depth with
    rationality 1 is `SCBI`.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray, `Model` or task.
    depth
        How many times the teacher reasons about the learner: an integer >= 0, or infinity.
    rationality
        How strongly the teacher prefers the better data, > 0; alpha in rational speech acts.
    data_prior
        Probabilities of the data before anything is taught; uniform by default, zero for data
        that are not available. Costs are ``exp(-rationality * cost)``, normalised.
    literal
        "likelihood": T_0 is the matrix with its columns normalised. "truth": the literal learner
        takes the table as it is, L_0(h | d) ∝ M(d, h) theta(h).

    Examples
    --------
    The word "glasses" is true of two of three faces; a speaker would have said "hat" of one:

    >>> import cobayes as cb
    >>> faces = cb.Pragmatic([[1, 1, 1], [0, 1, 1], [0, 0, 1]], 1, literal="truth")
    >>> faces.update([1 / 3, 1 / 3, 1 / 3], 1).round(2)
    array([0.  , 0.69, 0.31])

    Notes
    -----
    Rational speech acts: Frank and Goodman (2012), Science 336, 998. Infinite depth is offered
    for rationality 1 only, since for others the recursion may have several limits.
    """

    name: ClassVar[str] = "Pragmatic"
    is_factored: ClassVar[bool] = True

    def __init__(
        self,
        matrix: MatrixLike,
        depth: float | SupportsIndex | str,
        *,
        rationality: float = 1.0,
        data_prior: ArrayLike | None = None,
        literal: Literal["likelihood", "truth"] = "likelihood",
    ) -> None:
        super().__init__(matrix)
        self.depth = _checked_depth(depth)
        self.rationality = number_between(rationality, "rationality", 0.0, math.inf)
        if literal not in ("likelihood", "truth"):
            raise CobayesError(f"literal is {literal!r}; expected 'likelihood' or 'truth'.")
        self.literal = literal
        self.data_prior = None
        if data_prior is not None:
            self.data_prior = self.model.distribution(data_prior, over="datum", name="data prior")
        self._limit: SCBI | None = None
        if self.depth == math.inf:
            if self.rationality != 1.0:
                raise CobayesError(
                    f"infinite depth has one limit for rationality 1 only; found {rationality:g}.",
                    "give a finite depth, or rationality 1.",
                )
            self._limit = SCBI(matrix, data_prior=data_prior)
        with np.errstate(divide="ignore"):
            self._log_matrix = np.log(self.model.matrix)
            self._log_prior = np.log(
                np.full(self.model.num_data, 1.0) if self.data_prior is None else self.data_prior
            )
        available = self._log_prior > -np.inf
        # What the literal learner takes for the likelihood of the data that are available.
        self._literal = np.where(available[:, None], self._log_matrix, -np.inf)
        self._taught = _normalized(self._literal)
        if literal == "likelihood":
            self._literal = self._taught

    @property
    def title(self) -> str:
        """The name with depth, rationality and literal learner, where they are not the usual."""
        rationality = "" if self.rationality == 1.0 else f", rationality {self.rationality:g}"
        truth = "" if self.literal == "likelihood" else ", literal truth"
        return f"{self.name}, depth {self.depth:g}{rationality}{truth}"

    @property
    def depends_on_belief(self) -> bool:
        """Whether the likelihood changes with the belief: at depth 0 it does not."""
        return self.depth > 0

    def respond(self, log_belief: Array, memory: Array | None = None) -> Response:
        """Return the likelihood of depth K at a belief.

        Parameters
        ----------
        log_belief
            Normalised; minus infinity for a hypothesis that is ruled out.
        memory
            The last response's, used at infinite depth.
        """
        if self._limit is not None:
            return self._limit.respond(log_belief, memory)
        if self.depth == 0:
            return Response(np.exp(self._taught), logs=self._literal)
        teacher = self._recurse(log_belief[None])[0]
        return Response(np.exp(teacher), logs=teacher)

    def _recurse(self, log_beliefs: Array) -> Array:
        """Return the log-likelihoods of depth K, (size, n, m), at beliefs (size, m)."""
        teacher = self._literal[None]
        for _ in range(int(self.depth)):
            joint = teacher + log_beliefs[:, None, :]
            totals = np.logaddexp.reduce(joint, axis=2, keepdims=True)
            # A datum that no believed hypothesis allows is not shown.
            is_possible = totals > -np.inf
            shares = np.where(is_possible, teacher - np.where(is_possible, totals, 0.0), -np.inf)
            teacher = _normalized(self._log_prior[:, None] + _times(shares, self.rationality))
        return teacher

    def respond_many(self, beliefs: BeliefState, memory: Responses | None = None) -> Responses:
        """Return the likelihood matrices for many beliefs; see `Rule.respond_many`.

        On tables with zeros, hypotheses with next to no belief may be the only ones that allow a
        datum; what compiled code cannot hold is then worked out in logarithms, unless these would
        need more than some hundred megabytes.
        """
        found = super().respond_many(beliefs, memory)
        if not (isinstance(found, CompiledResponses) and found.has_zeros):
            return found
        if not isinstance(found.solver, RecursionSolver):
            return found
        is_faint = beliefs.mantissas > 0.0
        is_faint &= (beliefs.shifts > 0) | (beliefs.mantissas < found.solver.smallest_belief)
        rows = np.flatnonzero(is_faint.any(axis=1).reshape(-1)[: beliefs.size])
        if not len(rows) or beliefs.size * found.lanes.matrix.size > MOST_LOGARITHMS:
            return found
        with np.errstate(invalid="ignore"):
            logs = found.log_likelihoods
        logs[rows] = self._recurse(beliefs.log_beliefs[rows])
        return Responses(beliefs, logs)

    def at_certainty(self, hypothesis: SupportsIndex | str) -> Response:
        """Return the likelihood matrix in the limit of certainty; see `Rule.at_certainty`."""
        if self._limit is not None:
            return self._limit.at_certainty(hypothesis)
        # Other hypotheses have almost no belief, but are not ruled out: where they allow a datum
        # that this one does not, they are known to choose it.
        logs = np.full(self.model.num_hypotheses, -_DOUBT)
        logs[self.model.hypothesis_index(hypothesis)] = 0.0
        found = self.respond(logs).log_likelihood
        found = np.where(found < -0.01 * _DOUBT, -np.inf, found)
        return Response(np.exp(found), logs=found)

    def settings(self) -> dict[str, Any]:
        """Return the arguments beside the matrix that make the same rule again."""
        prior = self.data_prior
        return {
            "depth": "inf" if self.depth == math.inf else self.depth,
            "rationality": self.rationality,
            "data_prior": None if prior is None else prior.tolist(),
            "literal": self.literal,
        }

    def plain_problem(self) -> PlainProblem | None:
        """Return what is scaled to every belief; see `Rule.plain_problem`."""
        return None if self._limit is None else self._limit.plain_problem()

    def workspace(self, beliefs: BeliefState) -> CompiledResponses | None:
        """Return where compiled answers to beliefs start; see `Rule.workspace`."""
        if self._limit is not None:
            return self._limit.workspace(beliefs)
        if beliefs.row_sums is not None:
            return None
        if self.depth == 0:
            is_bayes = self._literal is self._taught
            matrix = np.exp(self._taught)
            return CompiledResponses.starting(beliefs, matrix) if is_bayes else None
        # Powers of the entries must stay far inside the range of float64.
        finite = self._literal[self._literal > -np.inf]
        largest_power = max(1.0, self.rationality**self.depth)
        if not largest_power * np.ptp(finite) <= math.log(WIDEST_SPREAD):
            return None
        solver = RecursionSolver.starting(self._literal, int(self.depth), self.rationality)
        row_sums = None
        if self.data_prior is not None:
            row_sums = self.model.num_data * self.data_prior
        return CompiledResponses.starting(beliefs, solver.powers[-1], solver, row_sums)

    def _restricted(self, model: Model, prior: Array) -> Rule:
        """Return the same rule with another matrix, where a task gives the data a prior."""
        if self.data_prior is not None:
            prior = prior * self.data_prior
        settings = {**self.settings(), "data_prior": prior / prior.sum()}
        return type(self)(model, **settings)

    def __repr__(self) -> str:
        return f"Pragmatic({self.title.partition(', ')[2]}; {self.model!r})"


def _checked_depth(depth: Any) -> float:
    if isinstance(depth, str):
        depth = math.inf if depth.lower() in ("inf", "infinity", "infinite") else depth
    if isinstance(depth, float) and depth == math.inf:
        return math.inf
    if not is_position(depth) or depth < 0:
        raise CobayesError(
            f"depth is {depth!r}; expected an integer >= 0, or infinity.",
            "0 is literal, 1 rational speech acts, numpy.inf full cooperation.",
        )
    if depth > DEEPEST:
        raise CobayesError(
            f"depth is {depth}; every level is worked out, {DEEPEST:,} at most.",
            "numpy.inf is the limit of full cooperation, where the rationality is 1.",
        )
    return int(depth)


def _times(logs: Array, power: float) -> Array:
    """Return logarithms of powers; zero stays zero."""
    return logs if power == 1.0 else logs * power


def _normalized(logs: Array) -> Array:
    """Return logarithms with columns that sum to one, or of zeros throughout."""
    totals = np.logaddexp.reduce(logs, axis=-2, keepdims=True)
    return logs - np.where(totals > -np.inf, totals, 0.0)
