"""Rules that the native core knows: what BI, pragmatic rules and SCBI share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.distributions import Distribution
from cobayes._parallel import num_threads
from cobayes.errors import CobayesError, ConvergenceError
from cobayes.model import MatrixLike, Model
from cobayes.rules.base import Rule
from cobayes.rules.response import Response
from cobayes.scaling.scale import accuracy_hint

Array = NDArray[np.float64]

# Looser tolerances than this save next to nothing; estimates of the error may be several times too
# small, and would then be as large as what was asked for. SCBI takes them as this.
LOOSEST = 1e-9


class NativeRule(Rule):
    """A rule whose answers come from the native core, for one belief or many.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray, `Model` or task.
    data_prior
        Probabilities of the data before anything is taught, or None: uniform.
    tolerance
        For the relative error of an answer.
    **options
        What kind of rule it is; see `_core.Rule`.
    """

    def __init__(
        self, matrix: MatrixLike, data_prior: Distribution | None, tolerance: float, **options: Any
    ) -> None:
        super().__init__(matrix)
        self.data_prior: Array | None = None
        if data_prior is not None:
            self.data_prior = self.model.distribution(data_prior, over="datum", name="data prior")
            self.data_prior.setflags(write=False)
        self.tolerance = tolerance
        self._core = _core.Rule(
            self.model.matrix, data_prior=self.data_prior, tolerance=tolerance, **options
        )

    @property
    def core(self) -> _core.Rule | None:
        """The rule in the native core; None where a derived class answers by itself."""
        for kind in type(self).__mro__:
            if kind.__module__.startswith("cobayes."):
                break
            if "respond" in vars(kind) or "respond_many" in vars(kind):
                return None
        return self._core

    def respond(self, log_belief: Array) -> Response:
        """Return the likelihood matrix for a belief given by its logarithms."""
        logs = self._native_logs(log_belief[None])[0]
        return Response(_core.exp(logs), logs)

    def respond_many(self, log_beliefs: Array) -> Array:
        """Return log-likelihoods (k, n, m) for beliefs given by their logarithms, (k, m)."""
        return (
            super().respond_many(log_beliefs)
            if self.core is None
            else self._native_logs(log_beliefs)
        )

    def _native_logs(self, log_beliefs: Array) -> Array:
        return self._answer(
            self._core.respond(log_beliefs, in_logs=True, num_threads=num_threads())
        )

    def likelihood(self, belief: Distribution) -> Array:
        """Return the likelihood matrix M_k at a belief: (n, m), columns sum to one."""
        here = self.at(self.task.start)
        if here.core is None:
            return super().likelihood(belief)
        logs = self.log_beliefs(belief)
        found = self._answer(here.core.respond(np.atleast_2d(logs), num_threads=num_threads()))
        return found.reshape(*logs.shape[:-1], *self.model.shape)

    def posteriors(self, belief: Distribution) -> Array:
        """Return the posteriors after every datum: (n, m), rows sum to one; NaN: impossible."""
        here = self.at(self.task.start)
        if here.core is None:
            return super().posteriors(belief)
        logs = self.log_beliefs(belief)
        found = self._answer(here.core.posteriors(np.atleast_2d(logs), num_threads=num_threads()))
        return found.reshape(*logs.shape[:-1], *self.model.shape)

    def observe_many(self, log_beliefs: Array, data: NDArray[np.int64]) -> Array:
        """Return log-beliefs (k, m) after one datum each, (k,); NaN where it is impossible."""
        if self.core is None:
            return super().observe_many(log_beliefs, data)
        return self._answer(self._core.update(log_beliefs, data, num_threads=num_threads()))

    def teach_many(self, log_beliefs: Array, hypothesis: int) -> Array:
        """Return the chances of the data under a hypothesis at beliefs (k, m): (k, n)."""
        if self.core is None:
            return super().teach_many(log_beliefs, hypothesis)
        found = self._answer(self._core.respond(log_beliefs, num_threads=num_threads()))
        shares = found[:, :, hypothesis]  # a literal learner may take a table as it is
        return shares / shares.sum(axis=1, keepdims=True)

    def _answer(self, found: tuple[Array, Array, NDArray[np.int64]]) -> Array:
        """Return the core's answers, or raise an error where one missed the tolerance."""
        values, errors, iterations = found
        require_converged(float(errors.max(initial=0.0)), self.tolerance, iterations)
        return values

    def _restricted(self, model: Model, prior: Array) -> Rule:
        """Return the same rule with another matrix, where a task gives the data a prior."""
        if self.data_prior is not None:
            prior = prior * self.data_prior
        if not prior.any():
            raise CobayesError(
                "no datum is left: the data prior is zero for all data that the task still allows.",
                "ask for fewer rounds, or give more data a positive data prior.",
            )
        return type(self)(model, **{**self.settings(), "data_prior": prior / prior.sum()})


def require_converged(
    error: float, tolerance: float, iterations: NDArray[np.int64] | None = None
) -> None:
    """Raise an error where a scaling to a belief missed its tolerance.

    Parameters
    ----------
    error
        The largest estimated error; infinite where no answer was found.
    tolerance
        What it should have been.
    iterations
        How many sweeps and Newton steps were taken, where that is known.
    """
    if error <= tolerance:
        return
    taken = "" if iterations is None else f"after {int(iterations.max())} iterations "
    raise ConvergenceError(
        f"the scaling of the matrix to a belief did not converge to {tolerance:g}: {taken}the "
        f"estimated error is {error:.2g}.",
        accuracy_hint(error, LOOSEST, "SCBI(matrix, tolerance=...) with a"),
    )
