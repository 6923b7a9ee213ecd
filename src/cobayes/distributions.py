"""Distributions over labelled things, as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes import labels as label_rules
from cobayes.errors import CobayesError
from cobayes.validation import real_array

# How far from one a printed distribution may sum and still be taken as rounded.
SUM_SLACK = 1e-3


def as_distribution(
    values: ArrayLike | None, labels: tuple[str, ...], kind: str, name: str
) -> NDArray[np.float64]:
    """Validate a distribution over labels; see `Model.distribution`."""
    count = len(labels)
    if values is None:
        return np.full(count, 1.0 / count)
    values = aligned(values, labels, kind, name)
    array = real_array(values, f"the {name}")
    if array.shape != (count,):
        raise CobayesError(
            f"the {name} has shape {array.shape}; expected one number for each of the "
            f"{count} {label_rules.plural(kind)}."
        )
    for position, value in enumerate(array):
        if not np.isfinite(value) or value < 0.0:
            raise CobayesError(
                f"the {name} is {value} at {kind} {labels[position]!r}; probabilities are "
                "finite and not negative."
            )
    total = float(array.sum())
    if abs(total - 1.0) > SUM_SLACK:
        raise CobayesError(
            f"the {name} sums to {total:.6g}, not to 1.",
            "divide it by its sum (rounding up to 1e-3 is mended silently).",
        )
    # Exactly normalised input stays as it is, bit for bit, so that saving changes nothing.
    return array if total == 1.0 else array / total


def aligned(values: Any, labels: tuple[str, ...], kind: str, name: str) -> Any:
    """Put labelled numbers into the order of the labels; leave others as they are.

    Parameters
    ----------
    values
        A mapping, a Series, a DataArray of one dimension, or anything without labels.
    labels, kind
        The labels, and what they are labels of.
    name
        What to call the values in an error message.
    """
    if hasattr(values, "dims") and hasattr(values, "coords"):
        (dim, *more) = values.dims or ("",)
        if more or dim not in values.coords:
            return values.values
        values = dict(zip(values.coords[dim].values.tolist(), values.values.tolist(), strict=True))
    if not hasattr(values, "keys"):
        return values
    # A Series without labels of its own has the index 0..m-1, which are positions.
    found = {
        labels[label_rules.find(key, labels, kind)]: value for key, value in dict(values).items()
    }
    missing = [label for label in labels if label not in found]
    if missing:
        raise CobayesError(
            f"the {name} says nothing about {label_rules.shorten(missing)}.",
            "give a number, zero if need be, to every one.",
        )
    return [found[label] for label in labels]
