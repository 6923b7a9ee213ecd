"""Single cells of a file: the number in each, or an error that says what it holds instead."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cobayes.errors import CobayesError

# What spreadsheets and statistics programs write where a value is missing.
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})

# Shows what is in a cell, however long or deep it is.
_CELL = reprlib.Repr()
_CELL.maxstring = _CELL.maxother = 60

_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
# Could be a thousand and more, or a number with three decimals.
_THREE_AFTER_COMMA = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_THREE_AFTER_POINT = re.compile(r"[1-9]\d{0,2}\.\d{3}")
# 1,200,000 or 1,200.5 or 1 200 or 1'200 or 1.200,5
_GROUPED = re.compile(
    r"[+-]?\d{1,3}(?:(?:,\d{3}){2,}|(?:,\d{3})+\.\d*|(?:[ '\u2019\u00a0\u2009\u202f]\d{3})+"
    r"(?:[.,]\d*)?|(?:\.\d{3})+,\d*|(?:\.\d{3}){2,})"
)


def has_decimal_commas(rows: Iterable[Sequence[str]]) -> bool:
    """Tell whether a table certainly writes 0,25 for 0.25.

    No number may have a decimal point, every cell with a comma must be such a number, and one at
    least must not be readable as thousands: 1,200 alone decides nothing.
    """
    numbers = [cell for cells in rows for cell in cells if _is_like_number(cell)]
    found = [cell for cell in numbers if "," in cell]
    return (
        bool(found)
        and not any("." in cell for cell in numbers)
        and all(_COMMA.fullmatch(cell) for cell in found)
        and any(not _THREE_AFTER_COMMA.fullmatch(cell) for cell in found)
    )


def possible_thousands(rows: Iterable[Sequence[str]]) -> str | None:
    """Return a number like 1.200 where every number with a point may be meant in thousands."""
    found = [cell for cells in rows for cell in cells if "." in cell and _is_like_number(cell)]
    return found[0] if found and all(map(_THREE_AFTER_POINT.fullmatch, found)) else None


def with_decimal_point(cell: str) -> str:
    """Return a number with its comma replaced by a point, and any other text as it is."""
    return cell.replace(",", ".") if _COMMA.fullmatch(cell) else cell


def _is_like_number(cell: str) -> bool:
    return not cell.strip("0123456789.,+-eE '\u2019\u00a0\u2009\u202f")


def not_negative(cell: Any) -> float:
    """Return the number in a cell or raise an error that says what it holds instead."""
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING):
        found = (
            "the cell is empty" if cell in (None, "") else f"{_CELL.repr(cell)} is a missing value"
        )
        raise CobayesError(
            f"{found}; a number that is not negative was expected.",
            "fill it in, or drop its row or column.",
        )
    # Python itself would read '1_0' as ten and True as one.
    text = cell if isinstance(cell, str) else None
    try:
        if isinstance(cell, (bool, np.bool_)) or (text is not None and "_" in text):
            raise ValueError
        value = float(cell)
    except OverflowError:  # an integer of JSON has no limit
        value = np.inf
    except (TypeError, ValueError):
        raise CobayesError(f"{_CELL.repr(cell)} is not a number.", advice(text)) from None
    if np.isnan(value):
        raise CobayesError(
            "NaN is a missing value; a number that is not negative was expected.",
            "fill it in, or drop its row or column.",
        )
    if np.isinf(value):
        raise CobayesError(
            f"{shown(cell)} is infinite in floating point; entries must be finite.",
            "rescale the matrix.",
        )
    if value < 0.0:
        raise CobayesError(
            f"{shown(cell)} is negative; entries must not be negative.",
            "entries are likelihoods or weights: check the sign, or exponentiate log values.",
        )
    if value == 0.0 and text is not None and re.match(r"\s*[+-]?[0.]*[1-9]", text):
        raise CobayesError(
            f"{shown(cell)} is too small for floating point.",
            "rescale the matrix, or write 0 for what is impossible.",
        )
    return value


def advice(text: str | None) -> str:
    """Return what to write instead of a text that is not a number."""
    plain = "" if text is None else text.strip()
    if _THREE_AFTER_COMMA.fullmatch(plain):
        return (
            f"write {plain.replace(',', '')} if the comma separates thousands; if it is a decimal "
            "comma, write a point."
        )
    if _GROUPED.fullmatch(plain):
        return "remove the separators of thousands: write 1200, not 1,200 or 1 200."
    if _COMMA.fullmatch(plain):
        return "write the decimal point as '.', not as a comma."
    if plain.endswith("%"):
        return "write 25% as 0.25 (or as 25 everywhere: columns need not sum to one)."
    return "write numbers such as 0.25 or 1e-6."


def shown(cell: object) -> str:
    """Return a cell as a message shows it: short, and without quotation marks."""
    return _CELL.repr(cell).strip("'")


def shown_quoted(cell: object) -> str:
    """Return anything as a message shows it: short, and quoted if it is text."""
    return _CELL.repr(cell)
