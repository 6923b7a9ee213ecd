"""Distributions over labelled things, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input import labels as label_rules
from cobayes._input.tables import as_floats
from cobayes.errors import CobayesError

# A distribution as users give it: numbers in order, or by label.
Distribution = Mapping[str, float] | ArrayLike

# How far from one a printed distribution may sum and still be taken as rounded.
SUM_SLACK = 1e-3


def as_distribution(
    values: Distribution | None,
    labels: tuple[str, ...],
    kind: str,
    name: str,
    *,
    batch: bool = False,
) -> NDArray[np.float64]:
    """Validate a distribution over labels, or a batch of them; see `Model.distribution`.

    Parameters
    ----------
    values
        Shape (m,), or (..., m) where `batch` is true; None is the uniform distribution.
    labels, kind
        The m labels, and what they are labels of: "datum" or "hypothesis".
    name
        What to call the values in an error message.
    batch
        Whether leading axes are allowed.
    """
    count = len(labels)
    if values is None:
        return np.full(count, 1.0 / count)
    array = as_floats(aligned(values, labels, kind, name), copy=True, name=name)
    if array.shape != (count,) and not (batch and array.ndim > 1 and array.shape[-1] == count):
        raise CobayesError(
            f"the {name} has shape {array.shape}; expected one number for each of the "
            f"{count} {label_rules.plural(kind)}.",
            f"they are, in this order: {', '.join(labels[:12])}{', ...' if count > 12 else ''}.",
        )
    # NaN fails the comparison, infinity the sum.
    if not (array >= 0.0).all() or not (array < np.inf).all():
        *which, position = np.argwhere(~((array >= 0.0) & (array < np.inf)))[0]
        raise CobayesError(
            f"the {name}{_batch_place(which)} is {array[*which, position]} at {kind} "
            f"{labels[position]!r}; probabilities are finite and not negative."
        )
    totals = array.sum(axis=-1, keepdims=True)
    off = np.abs(totals - 1.0) > SUM_SLACK
    if off.any():
        *which, _ = np.argwhere(off)[0]
        raise CobayesError(
            f"the {name}{_batch_place(which)} sums to {totals[*which, 0]:.6g}, not to 1.",
            "divide it by its sum (sums within 1e-3 of one are renormalised).",
        )
    # Exactly normalised input stays as it is, bit for bit, so that saving changes nothing.
    return np.divide(array, totals, out=array, where=totals != 1.0)


def _batch_place(which: list[Any]) -> str:
    return f" number {', '.join(str(int(k)) for k in which)}" if which else ""


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
