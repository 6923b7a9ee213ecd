"""Checks of single arguments, so that every function words them alike."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.labels import is_position


def whole_number(value: Any, name: str, least: int) -> int:
    """Return a whole number of at least `least`, or raise an error that names it."""
    if not is_position(value) or value < least:
        raise CobayesError(f"{name} is {value!r}; expected a whole number from {least} on.")
    return int(value)


def number_between(
    value: Any, name: str, low: float, high: float, *, closed: str = "", hint: str | None = None
) -> float:
    """Return a number between two bounds, or raise an error that names it.

    Parameters
    ----------
    value, name
        What was given, and as what.
    low, high
        The bounds.
    closed
        Which of the bounds are allowed themselves: "", "low", "high" or "both".
    hint
        What to do.
    """
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else float("nan")
    except OverflowError:  # an integer beyond float64
        number = float("inf") if value > 0 else float("-inf")
    above = number > low or (closed in ("low", "both") and number == low)
    below = number < high or (closed in ("high", "both") and number == high)
    if not (above and below):
        words = {"": "strictly between", "both": "between"}.get(closed, "between")
        allowed = {"low": f" ({low:g} allowed)", "high": f" ({high:g} allowed)"}.get(closed, "")
        raise CobayesError(
            f"{name} is {value!r}; expected a number {words} {low:g} and {high:g}{allowed}.", hint
        )
    return number


def positive_number(value: Any, name: str) -> float:
    """Return a positive finite number, or raise an error that names it."""
    return number_between(value, name, 0.0, float("inf"))


def real_array(values: Any, name: str) -> NDArray[np.float64]:
    """Return an array of float64, or raise an error: text, complex and masked values are refused.

    Parameters
    ----------
    values
        Numbers, or nested lists of equal lengths.
    name
        What to call them in an error message, with an article: "the weights".
    """
    if np.ma.is_masked(values):
        raise CobayesError(
            f"{name} has masked values; expected numbers.",
            "fill them first: array.filled(0.0), say.",
        )
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise CobayesError(
                f"{name} is complex; expected real numbers.", "take the real part: array.real."
            )
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise CobayesError(
            f"{name} cannot be read as real numbers: {error}.",
            "give numbers, or lists of numbers of equal lengths.",
        ) from error
