"""BI, SCBI and pragmatic rules, whose likelihoods come from the native core."""

from __future__ import annotations

import functools
import math
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.labels import Distribution
from cobayes._input.validation import as_integer, number_between, one_of, require_settings
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model
from cobayes.rules.base import Restricted, Rule
from cobayes.rules.response import LOOSEST, Response

Array = NDArray[np.float64]

# `Pragmatic.at_certainty` sets the log-belief in all hypotheses but the certain one to -_DOUBT, or
# to -_DOUBT / rationality for a rationality below 1; likelihoods below exp(-_DOUBT / 100) are zero.
_DOUBT = 1e8

# The largest finite depth. A step of the recursion takes two products of the matrix with a vector.
DEEPEST = 10_000


class NativeRule(Rule):
    """A rule whose likelihoods come from the native core, for one belief or many.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray, `Model` or task.
    data_prior
        Probabilities of the data before anything is taught, or None: uniform.
    tolerance
        Tolerance for the estimated relative error of the likelihood.
    **options
        Further arguments of `_core.Rule`, such as its kind and depth.
    """

    name = ""  # so that `as_rule` cannot find this class by name

    def __init__(
        self, matrix: MatrixLike, data_prior: Distribution | None, tolerance: float, **options: Any
    ) -> None:
        super().__init__(matrix)
        if data_prior is not None:
            self.data_prior = self.model.distribution(data_prior, over="datum", name="data prior")
            self.data_prior.setflags(write=False)
        self.tolerance = tolerance
        self.native = _core.Rule(
            self.model.matrix, data_prior=self.data_prior, tolerance=tolerance, **options
        )
        self.core = None if self.is_custom else self.native

    def __reduce__(self):
        # The core's object cannot be pickled or copied; the settings make the same rule again.
        settings = self.settings()
        require_settings(type(self), settings, num_given=1)
        return functools.partial(type(self), **settings), (self.task,)

    def respond(self, log_belief: Array) -> Response:
        """Return the likelihood matrix for a belief given by its logarithms."""
        logs = self._ask(self.native.respond, log_belief[None], in_logs=True)[0]
        return Response(_core.exp(logs), logs)

    def _restricted(self, model: Model, prior: Array) -> Rule:
        return type(self)(model, **{**self.settings(), "data_prior": prior / prior.sum()})


class BI(NativeRule):
    """Plain Bayesian inference: the likelihood is the column-normalised matrix at every belief.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray, `Model` or task.

    Notes
    -----
    Section 2.2 of the paper. If a task makes some data unavailable, the likelihood is normalised
    over the available ones. Costs of `cobayes.moving_costs` matter only where they forbid a move.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.BI(model).update([0.5, 0.5], "sun").round(3)
    array([0.778, 0.222])
    """

    name = "BI"

    def __init__(self, matrix: MatrixLike) -> None:
        super().__init__(matrix, None, 1e-12, kind="recursion")
        # The likelihood of a derived class with its own `respond` may depend on the belief.
        self.depends_on_belief = self.core is None

    def _restricted(self, model: Model, prior: Array) -> Rule:
        """Return the pragmatic rule of depth 0, which is BI, for the available data."""
        if self.is_custom:
            return Restricted(self, model, prior)
        available = prior > 0.0
        return Pragmatic(model, 0, data_prior=available / available.sum())


class SCBI(NativeRule):
    """Sequential cooperative Bayesian inference: the likelihood is scaled to the belief.

    At belief ``theta`` the matrix is Sinkhorn-scaled to row sums one and column sums ``n theta``.
    The teacher draws a datum from the column of the true hypothesis, normalised; the learner's new
    belief is the datum's row, normalised. Constant factors of rows or columns have no effect. If
    zeros make the sums impossible, the scaled matrix is the limit of normalising rows and columns
    in turn; see `scaling_blocks`.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray, `Model` or task.
    data_prior
        Probabilities of the data before anything is taught; uniform by default, zero for data
        that are not available. The row sums are ``n data_prior``.
    tolerance
        Tolerance for the estimated relative error of the scaling. Values above 1e-9 are replaced by
        1e-9: a larger tolerance would save almost no time.

    Notes
    -----
    Section 2.1 and Algorithm 1 of the paper. ``likelihood`` is M_k, ``posteriors`` is
    M^<n theta>, ``update(theta, d)`` is T_d(theta) and ``teach`` is tau.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.SCBI(model).update([0.5, 0.5], "sun").round(3)
    array([0.753, 0.247])
    """

    name = "SCBI"

    def __init__(
        self,
        matrix: MatrixLike,
        data_prior: Distribution | None = None,
        *,
        tolerance: float = 1e-12,
    ) -> None:
        hint = "1e-12 is the default; the precision of float64 allows about 1e-15."
        number_between(tolerance, "tolerance", 1e-15, 1.0, closed="low", hint=hint)
        super().__init__(matrix, data_prior, min(tolerance, LOOSEST), kind="cooperation")
        self.is_scbi = not self.is_custom

    def at_certainty(self, hypothesis: SupportsIndex | str) -> Response:
        """Return the likelihood matrix in the limit of certainty; see `Rule.at_certainty`.

        If another hypothesis allows available data that are impossible under `hypothesis`, only
        these data have a positive probability under the other hypothesis. These probabilities need
        not be the limit, which can depend on all beliefs; no rate depends on them.
        """
        if not self.is_scbi:
            return super().at_certainty(hypothesis)
        column = self.model.hypothesis_index(hypothesis)
        logs = _core.log(self.model.matrix)
        weights = 0.0 if self.data_prior is None else _core.log(self.data_prior)[:, None]
        own = logs[:, column, None]
        is_allowed = own > -np.inf
        inside = np.where(is_allowed, weights + logs - np.where(is_allowed, own, 0.0), -np.inf)
        outside = np.where(is_allowed, -np.inf, weights + logs)
        goes_out = (outside > -np.inf).any(axis=0)
        logs = np.where(goes_out, outside, inside)
        totals = np.logaddexp.reduce(logs, axis=0)
        logs -= np.where(totals > -np.inf, totals, 0.0)
        return Response(_core.exp(logs), logs)

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name, without the matrix."""
        prior = None if self.data_prior is None else self.data_prior.tolist()
        return {"tolerance": self.tolerance, "data_prior": prior}


class Pragmatic(NativeRule):
    """Teacher and learner reason about each other to a given depth, as in rational speech acts.

    From a literal teacher T_0, at belief theta and with data prior p:

        ``L_k(h | d) ∝ T_k(d | h) theta(h)``, normalised over hypotheses,
        ``T_{k+1}(d | h) ∝ p(d) L_k(h | d)**rationality``, normalised over data.

    A rule of depth K teaches by T_K and learns by L_K. Depth 0 with ``literal="likelihood"`` is
    `BI`; infinite depth, which requires rationality 1, is `SCBI`.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray, `Model` or task.
    depth
        The depth of the recursion: an integer >= 0, or infinity.
    rationality
        The exponent of the teacher, > 0; alpha in rational speech acts.
    data_prior
        Probabilities of the data before anything is taught; uniform by default, zero for data that
        are not available. For data with costs give ``exp(-rationality * cost)``, normalised.
    literal
        "likelihood": T_0 is the matrix with its columns normalised. "truth": the literal learner
        uses the table without normalisation, L_0(h | d) ∝ M(d, h) theta(h).

    Examples
    --------
    The first of three faces is plain, the second has glasses, and the third has glasses and a hat.
    After "glasses" (the datum at position 1) a listener finds the second face the most likely:

    >>> import cobayes as cb
    >>> faces = cb.Pragmatic([[1, 1, 1], [0, 1, 1], [0, 0, 1]], 1, literal="truth")
    >>> faces.update([1 / 3, 1 / 3, 1 / 3], 1).round(2)
    array([0.  , 0.69, 0.31])

    Notes
    -----
    Rational speech acts: Frank and Goodman (2012), Science 336, 998. Infinite depth requires
    rationality 1, since for other values the recursion may have several limits.
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
        # Larger exponents would overflow; at 1e100 the best datum has probability one.
        self.rationality = number_between(rationality, "rationality", 0.0, 1e100)
        one_of(literal, "literal", ("likelihood", "truth"))
        self.literal = literal
        self.depends_on_belief = self.depth > 0 or self.is_custom
        self.is_scbi = self.depth == math.inf and not self.is_custom
        options: dict[str, Any] = {"kind": "cooperation"}
        if self.depth < math.inf:
            options = {"kind": "recursion", "depth": self.depth, "literal": literal}
            options["rationality"] = self.rationality
        elif self.rationality != 1.0:
            raise CobayesError(
                f"the rationality is {rationality:g}; infinite depth needs rationality 1.",
                "give a finite depth, or rationality 1.",
            )
        super().__init__(matrix, data_prior, 1e-12, **options)
        shown = "" if self.rationality == 1.0 else f", rationality {self.rationality:g}"
        shown += "" if self.literal == "likelihood" else ", literal truth"
        self.title = f"{self.name}, depth {self.depth:g}{shown}"

    def respond(self, log_belief: Array) -> Response:
        """Return the likelihood of depth K at a belief.

        With ``literal="truth"`` the learner of depth 0 uses the table without normalisation; the
        teacher of depth 0 draws from the normalised columns.
        """
        found = super().respond(log_belief)
        if self.depth > 0 or self.literal != "truth":
            return found
        totals = np.logaddexp.reduce(found.log_likelihood, axis=0)
        logs = found.log_likelihood - np.where(totals > -np.inf, totals, 0.0)
        return Response(_core.exp(logs), found.logs)

    def at_certainty(self, hypothesis: SupportsIndex | str) -> Response:
        """Return the likelihood matrix in the limit of certainty; see `Rule.at_certainty`."""
        if self.is_scbi:
            return SCBI(self.model, data_prior=self.data_prior).at_certainty(hypothesis)
        # The belief in the other hypotheses is tiny but positive. If another hypothesis allows data
        # that are impossible under `hypothesis`, its teacher of depth >= 1 shows only these data.
        doubt = _DOUBT / min(max(self.rationality, 1e-9), 1.0)  # the core takes log-beliefs > -1e18
        logs = np.full(self.model.num_hypotheses, -doubt)
        logs[self.model.hypothesis_index(hypothesis)] = 0.0
        response = self.respond(logs)
        found = response.log_likelihood
        found = np.where(found < -0.01 * _DOUBT, -np.inf, found)
        return Response(response.likelihood, found)

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name, without the matrix."""
        prior = self.data_prior
        return {
            "depth": "inf" if self.depth == math.inf else self.depth,
            "rationality": self.rationality,
            "data_prior": None if prior is None else prior.tolist(),
            "literal": self.literal,
        }


def _checked_depth(depth: Any) -> float:
    is_text = isinstance(depth, str) and depth.lower() in ("inf", "infinity", "infinite")
    if is_text or (isinstance(depth, float) and depth == math.inf):
        return math.inf
    steps = as_integer(depth)
    if steps is None or steps < 0:
        raise CobayesError(
            f"depth is {depth!r}; expected an integer >= 0, or infinity.",
            "give 0 (literal), 1 (rational speech acts), ..., or numpy.inf (full cooperation).",
        )
    if steps > DEEPEST:
        raise CobayesError(
            f"depth is {depth}; the largest finite depth is {DEEPEST:,}.",
            "give a smaller depth, or numpy.inf (full cooperation) with rationality 1.",
        )
    return steps
