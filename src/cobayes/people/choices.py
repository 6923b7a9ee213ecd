"""Reading and checking the long table of choices, guesses or ratings."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.cells import advice, has_decimal_commas, with_decimal_point
from cobayes._input.delimited import find_delimiter
from cobayes._input.labels import shorten, suggest
from cobayes._output import without_guard
from cobayes.errors import CobayesError, import_optional, warn_user
from cobayes.people.problems import ONLY, Problem
from cobayes.reading import existing_file, read_parquet_frame, read_text

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "choice": ("person", "problem", "round", "hypothesis", "datum"),
    "guess": ("person", "problem", "round", "datum", "guess"),
    "rating": ("person", "problem", "round", "datum", "hypothesis", "rating"),
}
"""Columns that a table needs, by kind of response."""

# Labels such as 01 or 1e3 are not numbers.
_LABELS = ("person", "problem", "hypothesis", "datum", "guess", "lesson")


@dataclass(frozen=True, eq=False)
class Choices:
    """A checked table of responses, with positions in place of labels.

    Attributes
    ----------
    frame : DataFrame
        The user's rows and columns, as given.
    problem : list of Problem
        Of every row.
    history : list of tuple
        Positions of the data shown before the row's datum.
    datum, hypothesis, guess : ndarray
        Positions; -1 where the kind of response has none.
    rating : ndarray
        Between 0 and 1; NaN where the kind of response has none.
    """

    frame: pd.DataFrame
    problem: list[Problem]
    history: list[tuple[int, ...]]
    datum: NDArray[np.int64]
    hypothesis: NDArray[np.int64]
    guess: NDArray[np.int64]
    rating: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.problem)

    def take(self, rows: NDArray[np.int64]) -> Choices:
        """Return some of the rows; their histories stay whole."""
        return Choices(
            self.frame.iloc[rows],
            [self.problem[row] for row in rows],
            [self.history[row] for row in rows],
            self.datum[rows],
            self.hypothesis[rows],
            self.guess[rows],
            self.rating[rows],
        )


def read_choices(choices: Any, problems: Mapping[str, Problem], response: str) -> Choices:
    """Check a table against the problems and work out what had been shown before each row.

    Parameters
    ----------
    choices
        A DataFrame, a mapping of columns, or a CSV, TSV or Parquet file.
    problems
        By name, as `read_problems` returns them.
    response
        "choice", "guess" or "rating".
    """
    frame = _as_frame(choices)
    if "problem" not in frame.columns and set(problems) == {ONLY}:
        frame = frame.assign(problem=ONLY)
    missing = [name for name in COLUMNS[response] if name not in frame.columns]
    if missing:
        raise CobayesError(
            f"the table has no column {missing[0]!r}; found {shorten([*map(str, frame.columns)])}.",
            f"a table for response={response!r} needs {', '.join(COLUMNS[response])}; rename "
            f"yours: table.rename(columns={{'...': {missing[0]!r}}}), or --columns "
            f"{missing[0]}=... on the command line.",
        )
    twice = [name for name in COLUMNS[response] if list(frame.columns).count(name) > 1]
    if twice:
        raise CobayesError(
            f"the table has two columns {twice[0]!r}.", "drop or rename one of them."
        )
    if frame.empty:
        raise CobayesError("the table of choices has no rows.")
    reader = _Rows(frame, problems)
    datum = reader.positions("datum", "datum")
    none = np.full(len(frame), -1)
    hypothesis = none if response == "guess" else reader.positions("hypothesis", "hypothesis")
    guess = reader.positions("guess", "hypothesis") if response == "guess" else none
    rating = reader.ratings() if response == "rating" else np.full(len(frame), np.nan)
    history = reader.histories(datum, hypothesis, response)
    return Choices(frame, reader.problem, history, datum, hypothesis, guess, rating)


def read_numbers(
    table: Any, problems: Mapping[str, Problem], kind: str
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return numbers by column and problem, one for each datum or hypothesis.

    Parameters
    ----------
    table
        A table like the choices: a column of labels called like the kind, columns of numbers, and
        a column ``problem`` unless the numbers go with every problem.
    problems
        By name.
    kind
        "datum" or "hypothesis".
    """
    frame = _as_frame(table)
    if kind not in frame.columns or set(frame.columns) <= {"problem", kind}:
        raise CobayesError(
            f"a table of numbers for each {kind} needs a column {kind!r} and columns of numbers; "
            f"found {shorten([*map(str, frame.columns)])}."
        )
    columns = [name for name in frame.columns if name not in ("problem", kind)]
    if "problem" not in frame.columns:
        pandas = import_optional("pandas", "people", "a table of numbers")
        frame = pandas.concat([frame.assign(problem=name) for name in problems])
    rows = _Rows(frame, problems)
    place = rows.positions(kind, kind)
    found: dict[str, dict[str, NDArray[np.float64]]] = {str(name): {} for name in columns}
    for name, problem in problems.items():
        labels = problem.model.data if kind == "datum" else problem.model.hypotheses
        own = [row for row, other in enumerate(rows.problem) if other is problem]
        counts = np.bincount(place[own], minlength=len(labels))
        for count, label in zip(counts, labels, strict=True):
            if count != 1:
                on = "" if name == ONLY else f" of problem {name!r}"
                what = "no row" if count == 0 else f"{count} rows"
                raise CobayesError(f"the table has {what} for {kind} {label!r}{on}; expected one.")
        for column in columns:
            found[str(column)][name] = rows.numbers(column, own)[np.argsort(place[own])]
    return found


def read_renamed(file: Path, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the table in a file that has other names for some columns.

    Parameters
    ----------
    file
        As in `read_choices`.
    names
        From the name that a table of choices needs to the one in the file.
    """
    # Labels such as 01 stay labels under any name.
    frame = _as_frame(file, [*_LABELS, *names.values()])
    unknown = [name for name in names.values() if name not in frame.columns]
    if unknown:
        raise CobayesError(
            f"{file} has no column {unknown[0]!r}.", suggest(unknown[0], [*map(str, frame.columns)])
        )
    return frame.rename(columns={theirs: ours for ours, theirs in names.items()})


def _as_frame(choices: Any, labels: Sequence[str] = _LABELS) -> pd.DataFrame:
    pandas = import_optional("pandas", "people", "a table of choices")
    if isinstance(choices, (str, Path)):
        file = existing_file(choices)
        if file.suffix.lower() in (".parquet", ".pq"):
            return read_parquet_frame(file)
        text, sign, _ = find_delimiter(read_text(file), "\t" if file.suffix == ".tsv" else ",")
        try:
            texts = dict.fromkeys(labels, str)
            known = sign if sign in text else None  # others are guessed
            frame = pandas.read_csv(io.StringIO(text), sep=known, engine="python", dtype=texts)
            frame = _with_decimal_points(file, frame, labels)
            return frame.map(lambda cell: without_guard(cell) if isinstance(cell, str) else cell)
        except (ValueError, OSError, csv.Error) as error:
            raise CobayesError(f"{file} cannot be read as a table: {error}.") from None
    if hasattr(choices, "to_pandas"):
        choices = choices.to_pandas()
    try:
        frame = pandas.DataFrame(choices).reset_index(drop=True)
    except (TypeError, ValueError) as error:
        raise CobayesError(f"the choices cannot be read as a table: {error}.") from None
    return _with_decimal_points("the table", frame, labels)


def _with_decimal_points(
    name_of_table: object, frame: pd.DataFrame, labels: Sequence[str]
) -> pd.DataFrame:
    """Return the table with numbers in the place of texts like 0,25."""
    found = {}
    if not frame.columns.is_unique:
        return frame  # which is an error later
    for name in frame.columns:
        if name in labels or frame[name].dtype.kind in "biuf":
            continue
        cells = [cell for cell in frame[name] if isinstance(cell, str)]
        if cells and has_decimal_commas([cells]):
            with contextlib.suppress(ValueError):  # other cells are words: it stays as it is
                points = frame[name].map(with_decimal_point, na_action="ignore")
                found[name] = points.astype(float)
    if found:
        warn_user(
            f"{name_of_table} has decimal commas; they are read as decimal points (0,25 is 0.25). "
            "Write points to avoid this note."
        )
    return frame.assign(**found)


class _Rows:
    """The rows of a table, checked one column at a time; errors name row and column."""

    def __init__(self, frame: pd.DataFrame, problems: Mapping[str, Problem]) -> None:
        self.frame = frame
        only = problems.get(ONLY)
        self.problem: list[Problem] = []
        for row, value in enumerate(self._values("problem")):
            problem = only if only is not None else problems.get(_text(value))
            if problem is None:
                raise CobayesError(
                    f"{self._place(row, 'problem')}: there is no problem {value!r}.",
                    f"the problems are {shorten(list(problems))}.",
                )
            self.problem.append(problem)

    def _values(self, column: str) -> list[Any]:
        values = self.frame[column]
        empty = values.isna().to_numpy()
        if empty.any():
            raise CobayesError(
                f"{self._place(int(empty.argmax()), column)}: the cell is empty.",
                "fill it in, or drop the row.",
            )
        return values.tolist()

    def _place(self, row: int, column: str) -> str:
        return f"row {int(self.frame.index[row]) + 1} of the table, column {column!r}"

    def positions(self, column: str, kind: str) -> NDArray[np.int64]:
        """Return the positions that a column of labels stands for."""
        known: dict[tuple[str, Any], int] = {}
        found = np.empty(len(self.frame), dtype=np.int64)
        for row, (problem, value) in enumerate(
            zip(self.problem, self._values(column), strict=True)
        ):
            key = (problem.name, value)
            if key not in known:
                try:
                    known[key] = (
                        problem.datum(value) if kind == "datum" else problem.hypothesis(value)
                    )
                except CobayesError as error:
                    place = self._place(row, column)
                    if problem.name != ONLY:
                        place += f", problem {problem.name!r}"
                    raise CobayesError(f"{place}: {error.message}", error.hint) from None
            found[row] = known[key]
        return found

    def numbers(self, column: str, rows: Sequence[int]) -> NDArray[np.float64]:
        """Return the finite numbers of some rows."""
        values = self._values(column)
        found = np.array([_number(values[row]) for row in rows])
        bad = np.flatnonzero(~np.isfinite(found))
        if len(bad):
            row = rows[bad[0]]
            raise CobayesError(
                f"{self._place(row, column)}: {values[row]!r} is not a number.",
                advice(values[row]) if isinstance(values[row], str) else None,
            )
        return found

    def ratings(self) -> NDArray[np.float64]:
        """Return belief ratings between 0 and 1."""
        found = np.empty(len(self.frame))
        for row, value in enumerate(self._values("rating")):
            found[row] = _number(value)
            if not 0.0 <= found[row] <= 1.0:
                raise CobayesError(
                    f"{self._place(row, 'rating')}: {value!r} is not a number between 0 and 1.",
                    "divide percentages by 100.",
                )
        return found

    def _rounds(self) -> list[float]:
        """Return the rounds as numbers; only their order counts."""
        found = []
        for row, value in enumerate(self._values("round")):
            try:
                found.append(float(value))
            except (TypeError, ValueError):
                found.append(np.nan)
            if not np.isfinite(found[-1]):
                raise CobayesError(f"{self._place(row, 'round')}: {value!r} is not a number.")
        return found

    def histories(
        self, datum: NDArray[np.int64], hypothesis: NDArray[np.int64], response: str
    ) -> list[tuple[int, ...]]:
        """Return the data shown before every row in the same lesson.

        A lesson is one person, one problem and, where there is such a column, one ``lesson``.
        """
        keys = ["person", "problem", *(["lesson"] if "lesson" in self.frame.columns else [])]
        columns = [[_text(value) for value in self._values(key)] for key in keys]
        rounds = self._rounds()
        lessons: dict[tuple[str, ...], list[int]] = {}
        for row, key in enumerate(zip(*columns, strict=True)):
            lessons.setdefault(key, []).append(row)
        history: list[tuple[int, ...]] = [()] * len(rounds)
        for rows in lessons.values():
            rows = sorted(rows, key=rounds.__getitem__)
            shown: tuple[int, ...] = ()
            last: int | None = None
            for row in rows:
                if last is not None and rounds[row] == rounds[last]:
                    self._require_same_round(last, row, datum, hypothesis, response)
                elif last is not None:
                    shown = (*shown, int(datum[last]))
                if response == "choice" and hypothesis[row] != hypothesis[rows[0]]:
                    raise CobayesError(
                        f"{self._place(row, 'hypothesis')}: the truth changes within a lesson.",
                        "add a column 'lesson' that numbers a person's lessons on a problem.",
                    )
                history[row] = shown
                last = row
        return history

    def _require_same_round(
        self,
        last: int,
        row: int,
        datum: NDArray[np.int64],
        hypothesis: NDArray[np.int64],
        response: str,
    ) -> None:
        """Allow several rows in a round only where they rate several hypotheses."""
        is_other = hypothesis[row] != hypothesis[last]
        if response == "rating" and datum[row] == datum[last] and is_other:
            return
        person = self.frame["person"].iloc[row]
        on = "" if self.problem[row].name == ONLY else f" on problem {self.problem[row].name!r}"
        raise CobayesError(
            f"{self._place(row, 'round')}: round {self.frame['round'].iloc[row]} of person "
            f"{person!r}{on} occurs twice.",
            "drop one of the rows, or add a column 'lesson' that numbers a person's lessons.",
        )


def _number(value: Any) -> float:
    """Return a cell as a number; NaN where it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
