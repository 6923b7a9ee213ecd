"""Expectations of functions that a user wrote for one belief, quickly where that is safe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.errors import CobayesError

Array = NDArray[np.float64]
Function = Callable[[Array], ArrayLike]

# Up to so many atoms, calling the function once for each costs a few milliseconds.
FEW_ATOMS = 1024
# Beyond, it is called with all atoms at once if that agrees at so many of them.
PROBES = 256
# A vectorised sum may round differently.
ROUNDING = 1e-9


def expectation(weights: Array, table: Array, function: Function) -> float | Array:
    """Return the weighted sum of a function of the rows of a table.

    Parameters
    ----------
    weights
        Shape (a,).
    table
        One row for each atom, (a, m).
    function
        Of one row, (m,). One that does not take a row but does take a table, and returns
        one value or array for each row of it, is called with the table.
    """
    expected = np.tensordot(weights, _values(table, function), axes=1)
    return float(expected) if expected.ndim == 0 else expected


def _values(table: Array, function: Function) -> NDArray[Any]:
    try:
        first = function(table[0])
    except (IndexError, TypeError, ValueError) as error:
        values = _values_of_table(table, function)
        if values is None:
            raise CobayesError(
                f"the function fails for one belief, an array of shape {table[0].shape}: {error}.",
                "write it for one belief: lambda belief: belief[0] ** 2, say.",
            ) from error
        return values
    if len(table) > FEW_ATOMS:
        values = _values_of_table(table, function)
        probes = _probes(table)
        if values is not None and _agree(_one_by_one(table[probes], function), values[probes]):
            return values
    return _one_by_one(table[1:], function, first)


def _one_by_one(table: Array, function: Function, *known: ArrayLike) -> NDArray[Any]:
    """Call the function for every row, after the values that are known."""
    return _as_numbers([*known, *(function(row) for row in table)])


def _values_of_table(table: Array, function: Function) -> NDArray[Any] | None:
    """Call the function with the whole table; None unless it gives one result for each row."""
    count, width = table.shape
    # In a square table rows could be mistaken for columns: one more row tells them apart.
    shown = np.concatenate([table, table[:1]]) if count == width else table
    try:
        values = _as_numbers(function(shown))
    except (IndexError, TypeError, ValueError):
        return None
    return values[:count] if values.ndim and len(values) == len(shown) else None


def _probes(table: Array) -> NDArray[np.intp]:
    """Return positions spread over the table, and those where some belief is extreme."""
    spread = np.linspace(0, len(table) - 1, PROBES).astype(np.intp)
    return np.unique(np.concatenate([spread, table.argmin(axis=0), table.argmax(axis=0)]))


def _agree(one_by_one: NDArray[Any], at_once: NDArray[Any]) -> bool:
    return one_by_one.shape == at_once.shape and np.allclose(
        at_once, one_by_one, rtol=ROUNDING, atol=0.0, equal_nan=True
    )


def _as_numbers(values: Any) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise CobayesError(
            "the function returns arrays of different shapes for different beliefs.",
            "return numbers, or arrays of one shape.",
        ) from error
    if array.dtype.kind not in "biufc":
        raise CobayesError(
            f"the function returns {array.dtype} values; expected numbers.",
            "return a number, or an array of numbers, for each belief.",
        )
    return array
