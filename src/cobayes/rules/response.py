"""`Response`, the likelihood that a rule returns for a belief, and Bayes' formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._output import counted
from cobayes.errors import ConvergenceError
from cobayes.model import Model
from cobayes.scaling.scale import accuracy_hint

Array = NDArray[np.float64]

# The largest tolerance of SCBI; larger tolerances are replaced by it. A larger tolerance would save
# almost no time, and the true error may be several times the estimated error.
LOOSEST = 1e-9
# The columns of a custom rule's likelihood must sum to one within this tolerance.
COLUMN_SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class Response:
    """What a rule returns for a belief: the teacher's and the learner's likelihood.

    Attributes
    ----------
    likelihood : ndarray
        P(d | h), from which the teacher draws data, (n, m). A column sums to one, or is zero if the
        teacher of h has no datum to show.
    logs : ndarray or None
        The learner's log-likelihood, (n, m), if it differs from the logarithm of `likelihood`:
        where `likelihood` underflows, or where the learner uses a table whose columns are not
        normalised (`Pragmatic` of depth 0 with ``literal="truth"``).

    Examples
    --------
    >>> import numpy as np
    >>> import cobayes as cb
    >>> response = cb.SCBI([[0.6, 0.2], [0.4, 0.8]]).respond(np.log([0.5, 0.5]))
    >>> response.likelihood.round(3)
    array([[0.71, 0.29],
           [0.29, 0.71]])
    """

    likelihood: Array
    logs: Array | None = None

    @property
    def log_likelihood(self) -> Array:
        """Logarithms of the learner's likelihood, (n, m)."""
        return _core.log(self.likelihood) if self.logs is None else self.logs


def what_is_wrong(response: Any, model: Model) -> str | None:
    """Return a text with the error in a custom rule's response; None if it is valid."""
    if not isinstance(response, Response):
        return f"an object of type {type(response).__name__}; expected a Response"
    likelihood = response.likelihood
    logs = likelihood if response.logs is None else response.logs
    for name, table in (("a likelihood", likelihood), ("logs", logs)):
        if not hasattr(table, "shape"):
            return f"{name} of type {type(table).__name__}; expected an array"
        if table.shape != model.shape:
            return f"{name} of shape {table.shape}; expected {model.shape}"
    sums = np.where((likelihood >= 0.0).all(axis=0), likelihood.sum(axis=0), np.nan)
    # A column of zeros is valid: the hypothesis allows none of the data that may be shown.
    is_wrong = ~((np.abs(sums - 1.0) <= COLUMN_SLACK) | (sums == 0.0))
    if not is_wrong.any():
        return None
    column = int(np.argmax(is_wrong))
    found = "has a negative entry or NaN"
    if not np.isnan(sums[column]):
        found = f"sums to {sums[column]:.6g}, not to 1"
    return f"a likelihood whose column of hypothesis {model.hypotheses[column]!r} {found}"


def add_evidence(log_belief: Array, log_likelihood: Array) -> Array:
    """Return the log-posterior: log-belief + log-likelihood, normalised along the last axis.

    Parameters
    ----------
    log_belief
        Shape (..., m); minus infinity for an excluded hypothesis.
    log_likelihood
        Of a shape that broadcasts with `log_belief`, such as (n, m). The result is NaN in a row
        that excludes every hypothesis with a positive belief.
    """
    joint = log_belief + log_likelihood
    peak = joint.max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):  # if all are minus infinity: NaN
        joint = joint - peak
        return joint - _core.log(_core.exp(joint).sum(axis=-1, keepdims=True))


def not_converged(
    error: float, tolerance: float, iterations: int | None = None
) -> ConvergenceError:
    """Return the error about a scaling that did not reach the tolerance.

    Parameters
    ----------
    error
        The largest estimated error; infinite if a solution was not found.
    tolerance
        The required tolerance.
    iterations
        The number of sweeps and Newton steps, if it is known.
    """
    taken = "" if iterations is None else f"after {counted(iterations, 'iteration')} "
    return ConvergenceError(
        f"the scaling of the matrix to a belief did not converge to {tolerance:g}: {taken}the "
        f"estimated error is {error:.2g}.",
        accuracy_hint(error, LOOSEST, "SCBI(matrix, tolerance=...) with a"),
    )


def draw(shares: Array, uniform: float) -> int:
    """Draw a datum of positive probability from a distribution by one uniform number."""
    sums = np.cumsum(shares)
    datum = int(np.searchsorted(sums, uniform * sums[-1], side="right"))
    return min(datum, int(np.flatnonzero(shares)[-1]))
