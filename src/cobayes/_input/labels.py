"""Labels of data and hypotheses, their positions, and distributions over them."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes import _core
from cobayes._input.tables import as_floats
from cobayes._input.validation import as_integer, items, quoted
from cobayes._output import counted
from cobayes.errors import CobayesError, warn_user

# A user's distribution: numbers in the order of the labels, or by label.
Distribution = Mapping[str, float] | ArrayLike

# A sum that differs from one by at most this is attributed to the rounding of printed digits.
SUM_SLACK = 1e-3


def make_labels(labels: Iterable[object] | None, count: int, kind: str) -> tuple[str, ...]:
    """Return the user's labels as texts; raise an error if their number is wrong or two are equal.

    Parameters
    ----------
    labels
        The user's labels; None stands for the positions as texts, "0", "1", ...
    count
        The required number of labels.
    kind
        "datum" or "hypothesis", for messages.
    """
    if labels is None:
        return tuple(map(str, range(count)))
    given = items(labels, f"the {kind} labels", "labels")
    texts = tuple(str(label) for label in given)
    if len(texts) != count:
        raise CobayesError(
            f"found {counted(len(texts), 'label')} for {counted(count, kind)}.",
            f"give one label for each {kind}, or no labels.",
        )
    if len(set(texts)) < count:
        text = Counter(texts).most_common(1)[0][0]
        raise CobayesError(
            f"the {kind} label {quoted(text)} occurs twice; labels must differ.",
            "rename or merge the rows or columns with this label.",
        )
    are_integers = None not in map(as_integer, given)
    if count and are_integers and texts != tuple(str(position) for position in range(count)):
        warn_user(
            f"the {kind} labels are integers; in calls an integer means a position (counted from "
            f"0), and the label {texts[0]} is written '{texts[0]}'."
        )
    return texts


def find(value: Any, labels: Sequence[str], kind: str) -> int:
    """Return the position of a label, or check a position and return it.

    Parameters
    ----------
    value
        An integer (a position, counted from zero) or a label.
    labels
        The labels in order.
    kind
        "datum" or "hypothesis", for messages.
    """
    if isinstance(value, str) and value in labels:
        return labels.index(value)
    position = as_integer(value)
    if position is None:
        raise CobayesError(f"there is no {kind} called {quoted(value)}.", suggest(value, labels))
    if not 0 <= position < len(labels):
        raise CobayesError(
            f"there is no {kind} at position {position}; positions go from 0 to {len(labels) - 1}.",
            f"for the label {position} write '{position}'."
            if str(position) in labels
            else f"choose one of: {shorten(labels)}.",
        )
    return position


def suggest(value: object, names: Sequence[str]) -> str:
    """Return a hint about an unknown name: a similar known name, if any, and up to 20 names."""
    choice = f"choose one of: {shorten(names, 20)}."
    folded = {name.casefold(): name for name in reversed(names)}
    text = str(value)[:200].casefold()
    near = difflib.get_close_matches(text, list(folded), n=1, cutoff=0.7)
    if not near and len(longer := [name for name in folded if name.startswith(text)]) == 1:
        near = longer
    return f"did you mean {folded[near[0]]!r}? Otherwise {choice}" if near else choice


def shorten(labels: Sequence[str], limit: int = 12) -> str:
    """Return labels as a text for a message; a long list is shortened."""
    shown = ", ".join(quoted(label) for label in labels[:limit])
    return shown if len(labels) <= limit else f"{shown}, … ({len(labels)} in all)"


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
        Shape (m,), or (..., m) if `batch` is true; None is the uniform distribution.
    labels, kind
        The m labels, and their kind: "datum" or "hypothesis".
    name
        The name of the values in error messages.
    batch
        Whether leading axes are allowed.
    in_logs
        Whether to return logarithms.
    """
    count = len(labels)
    if values is None:
        even = np.full(count, 1.0 / count)
        return _core.log(even) if in_logs else even
    if not isinstance(values, (np.ndarray, list)):
        values = aligned(values, labels, kind, name)
    if isinstance(values, str):
        raise CobayesError(
            f"the {name} is the text {quoted(values)}; expected {counted(count, 'number')}.",
            "the named priors of an example are in cobayes.examples[NAME].priors.",
        )
    array = as_floats(values, copy=False, name=name)
    if array.shape != (count,) and not (batch and array.ndim > 1 and array.shape[-1] == count):
        raise CobayesError(
            f"the {name} has shape {array.shape}; expected {counted(count, 'number')}, one for "
            f"each {kind}.",
            f"their order is: {', '.join(labels[:12])}{', ...' if count > 12 else ''}.",
        )
    found = _core.normalized(array, SUM_SLACK, in_logs=in_logs)
    if found is None:
        raise _not_a_distribution(array, labels, kind, name)
    return found


def _not_a_distribution(
    array: NDArray[np.float64], labels: tuple[str, ...], kind: str, name: str
) -> CobayesError:
    """Return the error about an invalid distribution or batch of distributions.

    It names the first entry that is negative or not finite, or else the sum farthest from one.
    """
    is_bad = ~((array >= 0.0) & (array < np.inf))
    if is_bad.any():
        *which, position = np.argwhere(is_bad)[0]
        return CobayesError(
            f"the {name}{_batch_place(which)} is {array[*which, position]} at {kind} "
            f"{labels[position]!r}; probabilities are finite and not negative."
        )
    with np.errstate(over="ignore"):
        totals = array.sum(axis=-1)
    which = np.unravel_index(np.abs(totals - 1.0).argmax(), totals.shape)
    hint = "divide it by its sum (sums within 1e-3 of one are renormalised)."
    if totals[*which] == 0.0:
        hint = "at least one probability must be positive."
    return CobayesError(
        f"the {name}{_batch_place(which)} sums to {totals[*which]:.6g}, not to 1.", hint
    )


def _batch_place(which: Any) -> str:
    return f" number {', '.join(str(int(k)) for k in which)}" if len(which) else ""


def aligned(values: Any, labels: tuple[str, ...], kind: str, name: str) -> Any:
    """Return labelled numbers in the order of the labels, and other values unchanged.

    Parameters
    ----------
    values
        Numbers by label: a mapping, a Series, the columns of a DataFrame, or a DataArray with
        labels on its last dimension. Other values are taken to be in the order of the labels.
    labels, kind
        The labels, and their kind: "datum" or "hypothesis".
    name
        The name of the values in error messages.
    """
    if hasattr(values, "coords") and isinstance(values.dims, tuple):
        dim, numbers = (values.dims or ("",))[-1], values.values
        if dim not in values.coords:
            return numbers
        keys = values.coords[dim].values.tolist()
    elif hasattr(values, "columns") and hasattr(values, "to_numpy"):
        keys, numbers = list(values.columns), values.to_numpy()
    elif hasattr(values, "keys"):
        keys, numbers = list(values.keys()), list(dict(values).values())
    else:
        return values
    order = places(keys, labels, kind, name)
    return [numbers[k] for k in order] if isinstance(numbers, list) else numbers[..., order]


def places(keys: Sequence[Any], labels: tuple[str, ...], kind: str, name: str) -> list[int]:
    """Return the place of each label among the keys of a user's table.

    Parameters
    ----------
    keys
        Labels or positions. A table made without labels has the keys 0, 1, ...: positions.
    labels, kind
        The labels, and their kind: "datum" or "hypothesis".
    name
        The name of the table in error messages.
    """
    found = {find(key, labels, kind): place for place, key in enumerate(keys)}
    missing = [label for position, label in enumerate(labels) if position not in found]
    if missing:
        raise CobayesError(
            f"the {name} has no number for {shorten(missing)}.",
            "give every label a number; zero is allowed.",
        )
    if len(keys) > len(labels):
        raise CobayesError(f"the {name} has two numbers for one {kind}.", "give one for each.")
    return [found[position] for position in range(len(labels))]
