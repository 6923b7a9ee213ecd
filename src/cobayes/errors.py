"""Errors that name the value found, the values allowed, and a remedy."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cobayes.scaling import ScalingResult


class CobayesError(ValueError):
    """Bad input, described in one line, with a hint about what to do.

    Parameters
    ----------
    message
        What was found and what was expected.
    hint
        What the user can do; shown on a separate line.

    Examples
    --------
    >>> import cobayes as cb
    >>> try:
    ...     cb.Model([[0.5, -0.5]])
    ... except cb.CobayesError as error:
    ...     print(error.hint)
    entries are likelihoods or weights: check the sign, or exponentiate log values.
    """

    def __init__(self, message: str, hint: str | None = None, *more: Any) -> None:
        super().__init__(message, hint, *more)  # all arguments, so that pickling loses none
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  hint: {self.hint}"


class ConvergenceError(CobayesError):
    """A computation did not reach its tolerance.

    Attributes
    ----------
    result
        The unconverged result if the error is from `scale`, else None.

    Examples
    --------
    >>> import cobayes as cb
    >>> try:
    ...     result = cb.scale([[1.0, 2.0], [3.0, 1.0]], max_iterations=1)
    ... except cb.ConvergenceError as error:
    ...     result = error.result
    >>> result.is_converged
    False
    """

    def __init__(
        self, message: str, hint: str | None = None, result: ScalingResult | None = None
    ) -> None:
        super().__init__(message, hint, result)
        self.result = result


class InfeasibleError(ConvergenceError):
    """No matrix with these zeros has the requested sums.

    The message says which rows or columns make the sums infeasible.

    Attributes
    ----------
    result
        The limit of alternating normalisation. It has the requested column sums, with one
        exception: if all positive entries of a column are in rows with requested sum zero, the
        column is zero.

    Examples
    --------
    >>> import cobayes as cb
    >>> try:
    ...     cb.scale([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    ... except cb.InfeasibleError as error:
    ...     print(error.result.status)
    infeasible
    """


class ImpossibleDatumError(CobayesError):
    """The task, the data prior, or every hypothesis with a positive belief excludes the datum."""


class MissingDependencyError(CobayesError, ImportError):
    """An optional feature was used, and the extra that it needs is not installed.

    Examples
    --------
    >>> import cobayes as cb
    >>> error = cb.MissingDependencyError("this needs matplotlib.", "pip install matplotlib")
    >>> print(error)
    this needs matplotlib.
      hint: pip install matplotlib
    """


class CobayesWarning(UserWarning):
    """Valid input that a user probably did not intend.

    Examples
    --------
    >>> import warnings
    >>> import cobayes as cb
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", cb.CobayesWarning)
    ...     model = cb.Model([[0.6, 0.2], [0.4, 0.8]], hypotheses=[10, 20])
    >>> str(caught[0].message).partition(";")[0]
    'the hypothesis labels are integers'
    """


_PACKAGE = __file__.removesuffix("errors.py")


def warn_user(message: str) -> None:
    """Issue a `CobayesWarning` that names the user's line of code.

    Parameters
    ----------
    message
        The value found, its interpretation, and what to do if the interpretation is wrong.
    """
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, CobayesWarning, stacklevel=level)


def import_optional(module: str, extra: str, purpose: str):
    """Import an optional dependency, or raise an error that names the extra that installs it.

    Parameters
    ----------
    module
        Name of the module to import.
    extra
        The extra of cobayes that installs the module.
    purpose
        The feature that needs the module, as the subject of a sentence.
    """
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f"{purpose} needs the package {package!r}, which is not installed.",
            f"in a clone of cobayes: pip install '.[{extra}]'",
        ) from error


def unteachable(label: str, what: str) -> CobayesError:
    """Return the error about teaching a hypothesis whose prior is zero.

    Parameters
    ----------
    label
        The hypothesis.
    what
        The distribution in which its probability is zero, such as "prior" or "saved belief".
    """
    return CobayesError(
        f"the {what} in the hypothesis to teach, {label!r}, is zero; no data can ever raise it, "
        "so teaching is impossible.",
        "give it a positive probability, or teach another hypothesis.",
    )
