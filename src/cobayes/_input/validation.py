"""Checks of single arguments, so that every function words them alike."""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

from cobayes._input.labels import is_position
from cobayes.errors import CobayesError

P = ParamSpec("P")
R = TypeVar("R")

# What the numbers of lessons, sequences, matrices and walks to draw are called.
SAMPLE_SIZES = {"num_lessons", "num_sequences", "num_samples", "num_walks"}


def counts_by(own: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for functions that draw samples: `own` is the name of their number.

    Another function's name for it gets a hint, and so does any argument that there is not.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = inspect.signature(function).parameters

        @functools.wraps(function)
        def checked(*arguments: P.args, **named: P.kwargs) -> R:
            for other in named:
                if other not in known:
                    meant = [own] if other in SAMPLE_SIZES else _near(other, list(known))
                    hint = f"use {' or '.join(map(repr, meant))} here." if meant else None
                    raise CobayesError(f"{function.__name__} has no argument {other!r}.", hint)
            return function(*arguments, **named)

        return checked

    return decorate


def _near(name: str, known: list[str]) -> list[str]:
    """Return the names that contain another one, or else those that are spelt nearly alike."""
    return [one for one in known if name in one] or get_close_matches(name, known, n=2)


def whole_number(value: Any, name: str, least: int) -> int:
    """Return an integer of at least `least`, or raise an error that names it."""
    if not is_position(value) or value < least:
        raise CobayesError(f"{name} is {value!r}; expected an integer >= {least}.")
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
    except OverflowError:  # integers and fractions have no limit
        number = float("nan")  # every bound is a float64, so that it lies outside
    above = number > low or (closed in ("low", "both") and number == low)
    below = number < high or (closed in ("high", "both") and number == high)
    if not (above and below):
        if hint is None and high == 1.0 and 1.0 < number <= 100.0:
            hint = f"write {number / 100.0:g} for {number:g} %."
        expected = _bounds(low, high, closed)
        raise CobayesError(f"{name} is {value!r}; expected a number {expected}.", hint)
    return number


def _bounds(low: float, high: float, closed: str) -> str:
    """Return in words what `number_between` allows."""
    if high == float("inf"):
        return f"{'>=' if closed in ('low', 'both') else '>'} {low:g}"
    words = "between" if closed else "strictly between"
    allowed = {"low": f" ({low:g} allowed)", "high": f" ({high:g} allowed)"}.get(closed, "")
    return f"{words} {low:g} and {high:g}{allowed}"


def positive_number(value: Any, name: str) -> float:
    """Return a positive finite number, or raise an error that names it."""
    return number_between(value, name, 0.0, float("inf"))
