"""Distributions over labelled things, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes import _core
from cobayes._input import labels as label_rules
from cobayes._input.tables import as_floats
from cobayes.errors import CobayesError

# A distribution as users give it: numbers in order, or by label.
Distribution = Mapping[str, float] | ArrayLike

# A sum that differs from one by at most this is attributed to rounded printed digits.
SUM_SLACK = 1e-3


def as_distribution(
    values: Distribution | None,
    labels: tuple[str, ...],
    kind: str,
    name: str,
    *,
    batch: bool = False,
    in_logs: bool = False,
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
    in_logs
        Whether to return logarithms.
    """
    count = len(labels)
    if values is None:
        even = np.full(count, 1.0 / count)
        return _core.log(even) if in_logs else even
    if hasattr(values, "keys") or hasattr(values, "dims"):
        values = aligned(values, labels, kind, name)
    array = as_floats(values, copy=False, name=name)
    if array.shape != (count,) and not (batch and array.ndim > 1 and array.shape[-1] == count):
        raise CobayesError(
            f"the {name} has shape {array.shape}; expected one number for each of the "
            f"{count} {label_rules.plural(kind)}.",
            f"they are, in this order: {', '.join(labels[:12])}{', ...' if count > 12 else ''}.",
        )
    found = _core.normalized(array, SUM_SLACK, in_logs=in_logs)
    if found is None:
        raise _not_a_distribution(array, labels, kind, name)
    return found


def _not_a_distribution(
    array: NDArray[np.float64], labels: tuple[str, ...], kind: str, name: str
) -> CobayesError:
    """Return the error about the first entry that is not a probability, or the first wrong sum."""
    is_bad = ~((array >= 0.0) & (array < np.inf))
    if is_bad.any():
        *which, position = np.argwhere(is_bad)[0]
        return CobayesError(
            f"the {name}{_batch_place(which)} is {array[*which, position]} at {kind} "
            f"{labels[position]!r}; probabilities are finite and not negative."
        )
    with np.errstate(over="ignore"):
        totals = array.sum(axis=-1)
    which = np.argwhere(np.atleast_1d(np.abs(totals - 1.0) > SUM_SLACK))[0] if totals.ndim else []
    return CobayesError(
        f"the {name}{_batch_place(which)} sums to {totals[*which]:.6g}, not to 1.",
        "divide it by its sum (sums within 1e-3 of one are renormalised).",
    )


def _batch_place(which: Any) -> str:
    return f" number {', '.join(str(int(k)) for k in which)}" if len(which) else ""


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
    if not hasattr(values, "keys") or getattr(values, "ndim", 1) == 2:
        return values
    # A Series made without labels has the index 0, ..., m - 1: these are positions.
    found = {
        labels[label_rules.find(key, labels, kind)]: value for key, value in dict(values).items()
    }
    missing = [label for label in labels if label not in found]
    if missing:
        raise CobayesError(
            f"the {name} has no number for {label_rules.shorten(missing)}.",
            "give every label a number; zero is allowed.",
        )
    return [found[label] for label in labels]
