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

# SCBI replaces looser tolerances by this value. They would save next to no time, and estimated
# errors may be several times too small.
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
        Further arguments of `_core.Rule`, such as its kind and depth.
    """

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
        if type(self).__module__.startswith("cobayes.") or not _is_overridden(type(self)):
            self.core = self.native

    def respond(self, log_belief: Array) -> Response:
        """Return the likelihood matrix for a belief given by its logarithms."""
        logs = self._ask(self.native.respond, log_belief[None], in_logs=True)[0]
        return Response(_core.exp(logs), logs)

    def respond_many(self, log_beliefs: Array) -> Array:
        """Return log-likelihoods (k, n, m) for beliefs given by their logarithms, (k, m)."""
        if self.core is None:
            return super().respond_many(log_beliefs)
        return self._ask(self.core.respond, log_beliefs, in_logs=True)

    def likelihoods(self, log_beliefs: Array) -> Array:
        """Return the teacher's likelihoods at beliefs (k, m): (k, n, m), columns sum to one."""
        if self.core is None:
            return super().likelihoods(log_beliefs)
        return self._ask(self.core.respond, log_beliefs)

    def posteriors_at(self, log_beliefs: Array) -> Array:
        """Return the posteriors after every datum at beliefs (k, m): (k, n, m)."""
        if self.core is None:
            return super().posteriors_at(log_beliefs)
        return self._ask(self.core.posteriors, log_beliefs)

    def updated(self, log_beliefs: Array, datum: int) -> Array:
        """Return the beliefs after one datum at beliefs (k, m): (k, m); NaN: impossible."""
        if self.core is None:
            return super().updated(log_beliefs, datum)
        return self._ask(self.core.update, log_beliefs, datum, in_logs=False)

    def observe_many(self, log_beliefs: Array, data: NDArray[np.int64]) -> Array:
        """Return log-beliefs (k, m) after one datum each, (k,); NaN where it is impossible."""
        if self.core is None:
            return super().observe_many(log_beliefs, data)
        return self._ask(self.core.update, log_beliefs, data)

    def _ask(self, method: Any, log_beliefs: Array, *data: Any, **options: Any) -> Array:
        """Return the core's answers, or raise an error where one missed the tolerance."""
        # One belief is work for one thread.
        threads = num_threads() if len(log_beliefs) > 1 else 1
        values, error, iterations = method(log_beliefs, *data, num_threads=threads, **options)
        if not error <= self.tolerance:
            raise not_converged(error, self.tolerance, iterations)
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


def _is_overridden(kind: type[Rule]) -> bool:
    """Tell whether a class derived from a rule of this package overrides `respond`."""
    for cls in kind.__mro__:
        if cls.__module__.startswith("cobayes."):
            return False
        if "respond" in vars(cls) or "respond_many" in vars(cls):
            return True
    return False


def not_converged(
    error: float, tolerance: float, iterations: int | None = None
) -> ConvergenceError:
    """Return the error about a scaling to a belief that missed its tolerance.

    Parameters
    ----------
    error
        The largest estimated error; infinite where no answer was found.
    tolerance
        What it should have been.
    iterations
        The number of sweeps and Newton steps, where it is known.
    """
    taken = "" if iterations is None else f"after {iterations} iterations "
    return ConvergenceError(
        f"the scaling of the matrix to a belief did not converge to {tolerance:g}: {taken}the "
        f"estimated error is {error:.2g}.",
        accuracy_hint(error, LOOSEST, "SCBI(matrix, tolerance=...) with a"),
    )
