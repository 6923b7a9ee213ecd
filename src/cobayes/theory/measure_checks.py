"""Checks on what a measure is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.distributions import SUM_SLACK, as_distribution
from cobayes._input.labels import make_labels, shorten
from cobayes._input.tables import as_floats
from cobayes.errors import CobayesError

Array = NDArray[np.float64]


def checked_weights(values: ArrayLike, count: int, name: str) -> Array:
    """Validate weights that sum to one.

    Parameters
    ----------
    values
        Not negative; a sum within 1e-3 of one counts as rounded and is renormalised.
    count
        How many there must be.
    name
        What to call them in an error message.
    """
    array = as_floats(values, copy=True, name=f"set of {name}")
    if array.shape != (count,):
        raise CobayesError(f"the {name} have shape {array.shape}; expected ({count},).")
    if not (np.isfinite(array).all() and (array >= 0.0).all()):
        raise CobayesError(f"the {name} hold a number that is negative or not finite.")
    total = float(array.sum())
    if abs(total - 1.0) > SUM_SLACK:
        raise CobayesError(
            f"the {name} sum to {total:.6g}, not to 1.",
            "divide them by their sum (sums within 1e-3 of one are renormalised).",
        )
    return array / total


def checked_beliefs(
    beliefs: Sequence[Any] | ArrayLike, hypotheses: Iterable[object] | None
) -> tuple[tuple[str, ...] | None, Array]:
    """Validate beliefs; return their labels, if there are any, and a table (a, m).

    Parameters
    ----------
    beliefs
        One distribution over hypotheses for each atom.
    hypotheses
        The labels; None takes those that the first belief brings, if it does.
    """
    rows: list[Any] = list(beliefs) if isinstance(beliefs, Iterable) else [beliefs]
    first: Any = rows[0] if rows else None
    has_labels = hasattr(first, "keys")
    if first is None or not (has_labels or _is_array(first)):
        raise CobayesError(
            f"the belief of an atom is {first!r}; expected a distribution over hypotheses."
            if rows
            else "there are no beliefs; a measure needs at least one atom.",
            "one atom: AtomicMeasure.at([0.2, 0.8]); several: "
            "AtomicMeasure.from_atoms([0.5, 0.5], [[0.2, 0.8], [0.4, 0.6]]).",
        )
    if hypotheses is None and has_labels:
        hypotheses = list(first.keys())
    given = None if hypotheses is None else list(hypotheses)
    labels = make_labels(given, len(first), "hypothesis")
    table = np.array([as_distribution(row, labels, "hypothesis", "belief") for row in rows])
    return None if given is None else labels, table


def _is_array(value: Any) -> bool:
    """Tell whether something holds several values, as text does not."""
    if isinstance(value, str | bytes):
        return False
    try:
        return np.ndim(value) > 0
    except ValueError:  # lists of different lengths
        return True


def joined_labels(
    own: tuple[str, ...] | None, other: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """Return the labels on which two sides agree; None, or mere numbers, agree with any."""
    if own is None or (other is not None and _are_mere_numbers(own)):
        return other
    if other is None or own == other or _are_mere_numbers(other):
        return own
    raise CobayesError(
        f"the hypotheses are labelled {shorten(own, 4)} on one side and "
        f"{shorten(other, 4)} on the other.",
        "give both the same labels in the same order.",
    )


def _are_mere_numbers(labels: tuple[str, ...]) -> bool:
    """Tell whether labels only count positions, as they do where nobody gave any."""
    return labels == tuple(str(position) for position in range(len(labels)))
