"""Checks on what a measure is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.errors import CobayesError
from cobayes.labels import shorten
from cobayes.model import SUM_SLACK

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
    array = np.array(values, dtype=np.float64)
    if array.shape != (count,):
        raise CobayesError(f"the {name} have shape {array.shape}; expected ({count},).")
    if not (np.isfinite(array).all() and (array >= 0.0).all()):
        raise CobayesError(f"the {name} hold a number that is negative or not finite.")
    total = float(array.sum())
    if abs(total - 1.0) > SUM_SLACK:
        raise CobayesError(
            f"the {name} sum to {total:.6g}, not to 1.",
            "divide them by their sum (rounding up to 1e-3 is mended silently).",
        )
    return array / total


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
