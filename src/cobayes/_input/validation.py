"""Checks of arguments, with the same error texts for all functions."""

from __future__ import annotations

import inspect
import numbers
import operator
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cobayes.errors import CobayesError


def as_integer(value: Any) -> int | None:
    """Return an integer of any type as an int; None for any other value, such as a bool."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def whole_number(value: Any, name: str, least: int) -> int:
    """Return an integer if it is >= `least`; else raise an error that names the argument."""
    number = as_integer(value)
    if number is None or number < least:
        raise CobayesError(f"{name} is {value!r}; expected an integer >= {least}.")
    return number


def number_between(
    value: Any, name: str, low: float, high: float, *, closed: str = "", hint: str | None = None
) -> float:
    """Return a number if it lies between two bounds; else raise an error that names the argument.

    Parameters
    ----------
    value, name
        The value, and the name of the argument.
    low, high
        The bounds.
    closed
        Which bounds are included: "", "low", "high" or "both".
    hint
        The hint of the error (default: how to write a percentage, if `high` is 1).
    """
    is_number = isinstance(value, (float, numbers.Real)) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else float("nan")
    except OverflowError:  # beyond the range of float64
        number = float("nan")  # fails every check of bounds
    is_above = number >= low if closed in ("low", "both") else number > low
    is_below = number <= high if closed in ("high", "both") else number < high
    if not (is_above and is_below):
        if hint is None and high == 1.0 and 2.0 <= number <= 100.0:
            hint = f"write {number / 100.0:g} for {number:g} %."
        allowed = {"low": f" ({low:g} allowed)", "high": f" ({high:g} allowed)"}.get(closed, "")
        expected = f"{'between' if closed else 'strictly between'} {low:g} and {high:g}{allowed}"
        if high == float("inf"):
            expected = f"{'>=' if closed in ('low', 'both') else '>'} {low:g}"
        raise CobayesError(f"{name} is {value!r}; expected a number {expected}.", hint)
    return number


def one_of(value: Any, name: str, choices: Sequence[str | None], hint: str | None = None) -> None:
    """Raise an error unless a value is one of the choices; the error lists the choices."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        *others, last = map(repr, choices)
        expected = f"{', '.join(others)} or {last}" if others else last
        raise CobayesError(f"{name} is {_shown(value)}; expected {expected}.", hint)


def instance(
    value: Any, kind: type | tuple[type, ...], name: str, expected: str, hint: str | None = None
) -> Any:
    """Return the value if it is of the class; else raise an error that names the argument."""
    if not isinstance(value, kind):
        raise CobayesError(f"{name} is {_shown(value)}; expected {expected}.", hint)
    return value


def items(
    values: Any, name: str, expected: str, kind: type | tuple[type, ...] = object, *, least: int = 0
) -> list[Any]:
    """Return the items of a collection as a list, or raise an error that names the argument.

    Parameters
    ----------
    values, name
        The collection, and the name of the argument.
    expected
        The noun for the expected items, in the plural, such as "lessons".
    kind
        The class of each item.
    least
        The least number of items.
    """
    if not isinstance(values, Iterable):
        raise CobayesError(f"{name} is {_shown(values)}; expected a list of {expected}.")
    found = list(values)
    for value in found:
        if not isinstance(value, kind):
            raise CobayesError(f"an item of {name} is {_shown(value)}; expected only {expected}.")
    if len(found) < least:
        raise CobayesError(f"{name} has {len(found)} items; expected at least {least}.")
    return found


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def quoted(value: Any) -> str:
    """Return a value as a text for a message: shortened, and in quotation marks if it is a text."""
    return _SHORT.repr(value)


def _shown(value: Any) -> str:
    """Return an argument as text for a message.

    Texts, numbers, lists, tuples, dicts and None are shown by value, other objects by their type.
    """
    plain = str | bytes | numbers.Number | list | tuple | dict | None
    return quoted(value) if isinstance(value, plain) else f"of type {type(value).__name__}"


def generator(rng: Any = None) -> np.random.Generator:
    """Return the generator that `numpy.random.default_rng` makes, or raise an error.

    Parameters
    ----------
    rng
        None, an integer >= 0, a SeedSequence, a BitGenerator, or a Generator, which is returned
        unchanged.
    """
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise CobayesError(
            f"rng is {rng!r}; expected a seed: {error}.",
            "give an integer >= 0, or a numpy Generator.",
        ) from error


def seed_of(rng: Any) -> int:
    """Return 64 random bits, the seed of a call of the native core.

    A seed or a SeedSequence gives the same bits in every call; any other `rng` gives new bits.
    """
    return int(generator(rng).integers(2**64, dtype=np.uint64))


def spawn_generators(rng: Any, count: int) -> list[np.random.Generator]:
    """Return independent generators; the same seed gives the same generators in every call."""
    return np.random.default_rng(seed_of(rng)).spawn(count)


def subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    """Yield all classes that derive from a class, directly or not."""
    for derived in kind.__subclasses__():
        yield derived
        yield from subclasses(derived)


def lost_settings(kind: type, settings: Mapping[str, Any], num_given: int = 0) -> list[str]:
    """Return the constructor's parameters that `settings()` omits.

    Parameters
    ----------
    kind
        The class whose constructor is called with ``settings()`` to make a copy.
    settings
        The result of ``settings()``.
    num_given
        The number of leading parameters that are not settings, such as the matrix of a rule.
    """
    named = [
        name
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    return [name for name in named[num_given:] if name not in settings]


def require_settings(kind: type, settings: Mapping[str, Any], num_given: int = 0) -> None:
    """Raise an error if `settings()` omits a parameter; see `lost_settings`."""
    lost = lost_settings(kind, settings, num_given)
    if lost:
        raise CobayesError(
            f"{kind.__name__} cannot be saved or made again: its settings() do not name the "
            f"parameter {lost[0]!r}, which would be lost.",
            f"let settings() return {{{lost[0]!r}: its value, ...}} with all parameters.",
        )
