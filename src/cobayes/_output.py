"""Output for users: labelled tables, immutable results, files that are never partly written."""

from __future__ import annotations

import csv
import io
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Self, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from cobayes._input.validation import instance, quoted
from cobayes.errors import CobayesError, import_optional

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def freeze(result: Any) -> None:
    """Make the arrays of a frozen dataclass read-only, like its attributes."""
    for value in vars(result).values():
        if isinstance(value, np.ndarray):
            # The keyword `write=` would make a call of `scale` 6 % slower.
            value.setflags(False)  # pyright: ignore[reportCallIssue]


class Result:
    """The base of frozen dataclasses that can be written as JSON and read again."""

    def to_dict(self) -> dict[str, Any]:
        """Return fields and properties as values that JSON can represent; see `from_dict`."""
        kind = type(self)
        properties = [name for name in dir(kind) if isinstance(getattr(kind, name), property)]
        return {name: _plain(getattr(self, name)) for name in (*vars(self), *properties)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Make the result again from the content that `to_dict` returned."""
        instance(content, Mapping, "content", f"what {cls.__name__}.to_dict() returns")
        kinds = get_type_hints(cls)
        names = [field.name for field in fields(cls)]  # pyright: ignore[reportArgumentType]
        if missing := [name for name in names if name not in content]:
            raise CobayesError(
                f"the content for {cls.__name__}.from_dict has no entry {missing[0]!r}.",
                f"expected the content that {cls.__name__}.to_dict() returns.",
            )
        try:
            return cls(**{name: _restored(kinds[name], content[name]) for name in names})
        except CobayesError:
            raise
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise CobayesError(
                f"{cls.__name__}.from_dict cannot read this content: {error}."
            ) from error


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value


def _restored(kind: Any, value: Any) -> Any:
    """Return an attribute of type `kind` from the value that `_plain` made of it."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is UnionType:  # a type or None
        (kind,) = set(parts) - {NoneType}
        return None if value is None else _restored(kind, value)
    if origin is np.ndarray:
        return np.array(value, dtype=get_args(parts[1])[0])
    if origin is tuple:
        return tuple(_restored(parts[0], one) for one in value)
    if origin is dict:
        return {parts[0](key): _restored(parts[1], one) for key, one in value.items()}
    if hasattr(kind, "from_dict"):
        return kind.from_dict(value)
    if kind is Path:
        return Path(value)
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise ValueError(f"{value!r} is not of type {kind.__name__}")
    return value


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: "1 round", "1,000 rounds", "2 data"."""
    plural = {"datum": "data", "hypothesis": "hypotheses"}.get(noun, f"{noun}s")
    return f"{count:,} {noun if count == 1 else plural}"


def percent(share: float, digits: int = 1) -> str:
    """Return a share as "99.5 %"; a share between 0 and 1 is never shown as 0 or 100 %."""
    for places in range(digits, digits + 4):
        text = f"{100.0 * share:.{places}f}"
        if share in (0.0, 1.0) or float(text) not in (0.0, 100.0):
            return f"{text} %"
    step = 0.1 ** (digits + 3)
    return f"<{step:.{digits + 3}f} %" if share < 0.5 else f">{100.0 - step:.{digits + 3}f} %"


def probability_text(probability: float, digits: int = 3) -> str:
    """Return a probability as text; a probability between 0 and 1 is never shown as 0 or 1."""
    text, step = f"{probability:.{digits}f}", 0.1**digits
    if probability in (0.0, 1.0) or float(text) not in (0.0, 1.0):
        return text
    return f"< {step:.{digits}f}" if probability < 0.5 else f"> {1.0 - step:.{digits}f}"


def shape_in_words(num_data: int, num_hypotheses: int) -> str:
    """Return the shape of a table: "3 data x 2 hypotheses", "1 datum x 1 hypothesis"."""
    return f"{counted(num_data, 'datum')} x {counted(num_hypotheses, 'hypothesis')}"


def dataset(
    values: Mapping[str, ArrayLike],
    axes: Mapping[str, ArrayLike],
    attributes: Mapping[str, object] | None = None,
) -> xr.Dataset:
    """Return arrays as a labelled Dataset.

    Parameters
    ----------
    values
        The arrays, by name.
    axes
        The labels of every axis, by the name of the axis. An array of k dimensions has the first k
        of these axes.
    attributes
        Attributes of the Dataset.
    """
    xarray = import_optional("xarray", "labels", "a Dataset")
    names = tuple(axes)
    variables = {name: (names[: np.ndim(one)], np.array(one)) for name, one in values.items()}
    return xarray.Dataset(variables, coords=axes, attrs=attributes)


MOST_SHOWN = 20
"""The number of rows, and of columns, that a notebook shows of a longer table."""


def shown(values: Sequence[Any], keep: int = 0) -> list[Any]:
    """Return the first ten values, the one at position `keep`, and the last ten.

    Each "…" in the result stands for values that are left out.
    """
    half, count = MOST_SHOWN // 2, len(values)
    kept = sorted({*range(min(half, count)), keep, *range(max(count - half, 0), count)})
    found = []
    for before, position in zip([-1, *kept], kept, strict=False):
        found += [values[position]] if position == before + 1 else ["…", values[position]]
    return found


def html_table(title: str, headings: Sequence[str], rows: Sequence[Any]) -> str:
    """Return a small table for a notebook.

    Parameters
    ----------
    title
        A line above the table, or "".
    headings
        One for each column; the first column contains labels.
    rows
        The cells of each row: text, which is escaped, or a belief, which is drawn as a bar. A row
        given as "…" has this sign in every column. At most the first `MOST_SHOWN` + 1 rows are
        shown.
    """
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = ""
    for row in rows[: MOST_SHOWN + 1]:
        label, *cells = ["…"] * len(headings) if row == "…" else row
        body += f"<tr><th>{escape(label)}</th>{''.join(map(_html_cell, cells))}</tr>"
    num_left = len(rows) - MOST_SHOWN - 1
    above = f"<p>{escape(title)}</p>" if title else ""
    rest = f"<p>… and {num_left} more</p>" if num_left > 0 else ""
    return f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _html_cell(cell: str | float) -> str:
    if isinstance(cell, str):
        return f"<td>{escape(cell)}</td>"
    bar = f"linear-gradient(to right,#9ecae1 {100 * cell:.0f}%,transparent 0)"
    return f'<td style="background:{bar}">{cell:.4f}</td>'


OTHER_TABLES = (".json", ".parquet", ".tsv", ".xls", ".xlsx")
"""CSV files must not have these endings: other programs would read them as another format."""

# A spreadsheet treats a cell that begins with one of these signs as a formula and may execute it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def not_a_formula(cell: object) -> object:
    """Return a cell for CSV; text that a spreadsheet would execute gets an apostrophe in front.

    A text such as "'=x" gets another one, because `cobayes.read_model` removes one. A text that is
    a number, such as "-1.5", is not changed.
    """
    if not isinstance(cell, str) or not cell.lstrip("'").startswith(FORMULA_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def without_guard(cell: str) -> str:
    """Remove the apostrophe that `not_a_formula` adds."""
    is_guarded = cell.startswith("'") and cell.lstrip("'").startswith(FORMULA_STARTS)
    return cell[1:] if is_guarded else cell


def csv_text(rows: Iterable[Iterable[object]], *, raw: bool = False) -> str:
    """Return rows as CSV; DataFrames are written by `frame_csv`.

    Parameters
    ----------
    rows
        The cells, the header first.
    raw
        Whether to write texts without the apostrophes of `not_a_formula`.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow(row if raw else map(not_a_formula, row))
    return text.getvalue()


def frame_csv(frame: pd.DataFrame) -> str:
    """Return a DataFrame as CSV without its index; texts are changed by `not_a_formula`."""
    guarded = frame.map(not_a_formula).rename(columns=not_a_formula)
    return guarded.to_csv(index=False, lineterminator="\n")


def write_csv(
    path: str | os.PathLike[str], rows: Iterable[Iterable[object]], *, raw: bool = False
) -> None:
    """Write rows to a CSV file, completely or not at all; see `csv_text`."""
    if str(path).lower().endswith(OTHER_TABLES):
        raise CobayesError(
            f"{str(path)!r} is not the name of a CSV file.", "give a name that ends in .csv."
        )
    try:
        write_text(path, csv_text(rows, raw=raw))
    except OSError as error:
        raise CobayesError(f"{path} cannot be written: {error.strerror}.") from None


def as_path(path: Any, verb: str) -> Path:
    """Return `path` as a Path, or raise an error; `verb` is "read" or "write"."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else ""
    if not isinstance(text, str) or not Path(text).name or "\0" in text:
        raise CobayesError(
            f"the file to {verb} is {quoted(path)}; expected the path of a file.",
            "give the name of a file, as text or as a pathlib.Path.",
        )
    return Path(text)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file; after an interruption the file is the old one or the complete new one.

    The text is written to a new file beside the target. Then the new file replaces the target and
    keeps its permissions. A device or a pipe, such as /dev/stdout, is written to directly.

    Parameters
    ----------
    path
        The file to write or replace; a symbolic link stays a link.
    text
        Its content, written as UTF-8.
    """
    target = as_path(path, "write")
    try:
        content = text.encode()  # as bytes, so that line breaks are not translated
    except UnicodeEncodeError as error:
        raise CobayesError(
            f"{path} cannot be written: {text[error.start]!r} is not a character of Unicode.",
            "rename the label that contains it.",
        ) from error
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    target = Path(os.path.realpath(target))
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        unfinished.write_bytes(content)
        if target.exists():
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
