"""Labels of data and hypotheses, and looking them up."""

from __future__ import annotations

import difflib
import operator
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

from cobayes.errors import CobayesError, warn_user


def make_labels(labels: Iterable[object] | None, count: int, kind: str) -> tuple[str, ...]:
    """Turn what the user gave into unique text labels.

    Parameters
    ----------
    labels
        The user's labels; None numbers the positions from zero.
    count
        How many there must be.
    kind
        "datum" or "hypothesis", for messages.
    """
    if labels is None:
        return tuple(str(position) for position in range(count))
    given = list(labels)
    texts = tuple(str(label) for label in given)
    if len(texts) != count:
        found = "1 label was" if len(texts) == 1 else f"{len(texts)} labels were"
        raise CobayesError(
            f"{found} given for {count} {plural(kind)}.",
            f"give exactly {count}, or none at all.",
        )
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            raise CobayesError(
                f"the {kind} label {quoted(text)} occurs twice; labels must differ.",
                "rename or merge the rows or columns that share it.",
            )
        seen.add(text)
    numbered = [is_position(label) for label in given]
    if count and all(numbered) and texts != tuple(str(position) for position in range(count)):
        warn_user(
            f"the {kind} labels are integers; in calls an integer means a position (counted from "
            f"0), and the label {texts[0]} is written '{texts[0]}'."
        )
    return texts


def plural(kind: str) -> str:
    """Return the plural of "datum" or "hypothesis"."""
    return {"datum": "data", "hypothesis": "hypotheses"}[kind]


def is_position(value: Any) -> bool:
    """Tell whether a value is a position: an integer, but not a bool."""
    if isinstance(value, bool):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def find(value: Any, labels: Sequence[str], kind: str) -> int:
    """Turn a position or a label into a position.

    Parameters
    ----------
    value
        An integer (a position, counted from zero) or a label.
    labels
        The labels in order.
    kind
        "datum" or "hypothesis", for messages.
    """
    if isinstance(value, str):
        if value in labels:
            return labels.index(value)
        raise CobayesError(f"there is no {kind} called {quoted(value)}.", suggest(value, labels))
    try:
        position = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        position = None
    if position is not None:
        if 0 <= position < len(labels):
            return position
        raise CobayesError(
            f"there is no {kind} at position {position}; positions go from 0 to {len(labels) - 1}.",
            f"for the label {position} write '{position}'."
            if str(position) in labels
            else f"choose one of: {shorten(labels)}.",
        )
    raise CobayesError(f"there is no {kind} called {quoted(value)}.", suggest(value, labels))


def suggest(value: object, names: Sequence[str], limit: int = 12) -> str:
    """Return a hint about an unknown name: the most similar name, or the list of names.

    Parameters
    ----------
    value
        What was given.
    names
        What is known.
    limit
        How many names to list at most.
    """
    choice = f"choose one of: {shorten(names, limit)}."
    folded = {name.casefold(): name for name in reversed(names)}
    text = str(value)[:200].casefold()
    near = difflib.get_close_matches(text, list(folded), n=1, cutoff=0.7)
    return f"did you mean {folded[near[0]]!r}? Otherwise {choice}" if near else choice


def shorten(labels: Sequence[str], limit: int = 12) -> str:
    """List labels for a message, cutting a long list."""
    shown = ", ".join(quoted(label) for label in labels[:limit])
    return shown if len(labels) <= limit else f"{shown}, … ({len(labels)} in all)"


_QUOTED = reprlib.Repr()
_QUOTED.maxstring = _QUOTED.maxother = 80


def quoted(label: object) -> str:
    """Return a label in quotation marks, short enough for a message."""
    return _QUOTED.repr(label)
