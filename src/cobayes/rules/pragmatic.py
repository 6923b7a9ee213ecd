"""Pragmatic rules: teacher and learner reason about each other to a finite depth."""

from __future__ import annotations

import math
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.distributions import Distribution
from cobayes._input.labels import is_position
from cobayes._input.validation import number_between
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike
from cobayes.rules.native import NativeRule
from cobayes.rules.response import Response
from cobayes.rules.scbi import SCBI

Array = NDArray[np.float64]

# Logarithms this far below zero stand for zero in the limit of certainty.
_DOUBT = 1e8

# A level is one pass over the matrix: deeper recursion would seem to hang.
DEEPEST = 10_000


class Pragmatic(NativeRule):
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

    name = "Pragmatic"

    def __init__(
        self,
        matrix: MatrixLike,
        depth: float | SupportsIndex | str,
        *,
        rationality: float = 1.0,
        data_prior: Distribution | None = None,
        literal: Literal["likelihood", "truth"] = "likelihood",
    ) -> None:
        self.depth = _checked_depth(depth)
        # Larger exponents would overflow; the best datum is certain long before.
        self.rationality = number_between(rationality, "rationality", 0.0, 1e100)
        if literal not in ("likelihood", "truth"):
            raise CobayesError(f"literal is {literal!r}; expected 'likelihood' or 'truth'.")
        self.literal = literal
        self.depends_on_belief = self.depth > 0
        if self.depth == math.inf:
            if self.rationality != 1.0:
                raise CobayesError(
                    f"infinite depth has one limit for rationality 1 only; found {rationality:g}.",
                    "give a finite depth, or rationality 1.",
                )
            super().__init__(matrix, data_prior, 1e-12, kind="cooperation")
        else:
            super().__init__(
                matrix,
                data_prior,
                1e-12,
                kind="recursion",
                depth=int(self.depth),
                rationality=self.rationality,
                literal=literal,
            )
        shown = "" if self.rationality == 1.0 else f", rationality {self.rationality:g}"
        shown += "" if self.literal == "likelihood" else ", literal truth"
        self.title = f"{self.name}, depth {self.depth:g}{shown}"

    @property
    def is_led_astray(self) -> bool:
        """Whether teacher and learner use different likelihoods: ``literal="truth"`` at depth 0."""
        return self.depth == 0 and self.literal == "truth"

    def respond(self, log_belief: Array) -> Response:
        """Return the likelihood of depth K at a belief.

        The literal learner of ``literal="truth"`` takes the table as it is; its teacher draws from
        normalised columns.
        """
        found = super().respond(log_belief)
        if not self.is_led_astray:
            return found
        totals = found.likelihood.sum(axis=0)
        return Response(found.likelihood / np.where(totals > 0.0, totals, 1.0), found.logs)

    def at_certainty(self, hypothesis: SupportsIndex | str) -> Response:
        """Return the likelihood matrix in the limit of certainty; see `Rule.at_certainty`."""
        if self.depth == math.inf:
            return SCBI(self.model, data_prior=self.data_prior).at_certainty(hypothesis)
        # Other hypotheses have almost no belief, but are not ruled out: where they allow a datum
        # that this one does not, they are known to choose it.
        logs = np.full(self.model.num_hypotheses, -_DOUBT)
        logs[self.model.hypothesis_index(hypothesis)] = 0.0
        response = self.respond(logs)
        found = response.log_likelihood
        found = np.where(found < -0.01 * _DOUBT, -np.inf, found)
        return Response(response.likelihood, found)

    def settings(self) -> dict[str, Any]:
        """Return the arguments beside the matrix that make the same rule again."""
        prior = self.data_prior
        return {
            "depth": "inf" if self.depth == math.inf else self.depth,
            "rationality": self.rationality,
            "data_prior": None if prior is None else prior.tolist(),
            "literal": self.literal,
        }

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
