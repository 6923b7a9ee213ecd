"""Reading the tables of a study: problems with priors, responses, numbers for each label."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import shorten, suggest
from cobayes._input.text import advice, find_delimiter, with_decimal_point
from cobayes._output import without_guard
from cobayes.errors import CobayesError, import_optional, warn_user
from cobayes.model import as_model, as_task
from cobayes.people.problems import Problem
from cobayes.reading import existing_file, read_model, read_parquet_frame, read_text
from cobayes.tasks.task import Task

if TYPE_CHECKING:
    import pandas as pd

Positions = NDArray[np.int64]

COLUMNS = {
    "choice": ("person", "problem", "round", "hypothesis", "datum"),
    "guess": ("person", "problem", "round", "datum", "guess"),
    "rating": ("person", "problem", "round", "datum", "hypothesis", "rating"),
}
"""Columns that a table needs, by kind of response."""

ONLY = "*"
"""Name of a single problem that was given without one; it goes with every choice."""

# Labels such as 01 or 1e3 are not numbers.
_LABELS = ("person", "problem", "hypothesis", "datum", "guess", "lesson")
_SUFFIXES = (".csv", ".tsv", ".json", ".parquet")
# Memory for about 1 kB per response.
MOST_RESPONSES = 5_000_000


def read_problems(problems: Any, priors: Any = None) -> dict[str, Problem]:
    """Return problems by name.

    Parameters
    ----------
    problems
        A mapping from name to matrix or task; a folder of model files, named by their stems; or
        one file or matrix, the only problem of all choices.
    priors
        A mapping from name to prior; or a table, or the name of a file, with the columns problem,
        hypothesis and prior. Uniform where nothing is given.
    """
    if isinstance(problems, (str, Path)):
        problems = _from_path(problems)
    if not isinstance(problems, Mapping):
        problems = {ONLY: problems}
    if not problems:
        raise CobayesError("no problems were given.", "give {name: matrix}, one for each problem.")
    found = {}
    for name, given in problems.items():
        if isinstance(given, Problem):
            found[str(name)] = given
            continue
        task = as_task(given) if isinstance(given, Task) else None
        model = as_model(given) if task is None else task.model
        found[str(name)] = Problem(str(name), model, model.distribution(None), task)
    for name, prior in _read_priors(priors, found).items():
        if name not in found:
            raise CobayesError(
                f"the priors name {name!r}, but no problem has that name.",
                suggest(name, list(found)),
            )
        old = found[name]
        prior = old.model.distribution(prior, name=f"prior of problem {name!r}")
        found[name] = Problem(name, old.model, prior, old.task)
    return found


def _from_path(path: str | Path) -> dict[str, Any]:
    if not Path(path).is_dir():
        return {ONLY: read_model(path)}
    files = sorted(file for file in Path(path).iterdir() if file.suffix.lower() in _SUFFIXES)
    if not files:
        raise CobayesError(
            f"the folder {path} holds no model file.",
            f"put one file for each problem there, with the suffix {', '.join(_SUFFIXES)}.",
        )
    return {file.stem: read_model(file) for file in files}


def _read_priors(priors: Any, problems: Mapping[str, Problem]) -> dict[str, Any]:
    if priors is None or isinstance(priors, Mapping):
        return {str(name): prior for name, prior in (priors or {}).items()}
    columns = read_numbers(priors, problems, "hypothesis", is_partial=True)
    if list(columns) != ["prior"]:
        raise CobayesError(
            f"the priors have the columns of numbers {', '.join(columns)}; expected 'prior'.",
            "a table of priors has the columns problem, hypothesis and prior.",
        )
    return dict(columns["prior"])


@dataclass(frozen=True, eq=False)
class Choices:
    """A checked table of responses, with positions in place of labels.

    Attributes
    ----------
    frame : DataFrame
        The user's columns, one row per response: a row with a count is repeated.
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
    datum: Positions
    hypothesis: Positions
    guess: Positions
    rating: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.problem)


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
    frame = read_frame(choices)
    if "problem" not in frame.columns and set(problems) == {ONLY}:
        frame = frame.assign(problem=ONLY)
    # Nobody knows who gave which of several responses, or what had been shown to them before.
    unneeded = ("person", "round") if "count" in frame.columns else ()
    needed = [name for name in COLUMNS[response] if name not in unneeded]
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise CobayesError(
            f"the table has no column {missing[0]!r}; found {shorten([*map(str, frame.columns)])}.",
            f"a table for response={response!r} needs {', '.join(needed)}; rename yours: "
            f"table.rename(columns={{'...': {missing[0]!r}}}), or --columns {missing[0]}=... on "
            "the command line.",
        )
    twice = [name for name in COLUMNS[response] if list(frame.columns).count(name) > 1]
    if twice:
        raise CobayesError(
            f"the table has two columns {twice[0]!r}.", "drop or rename one of them."
        )
    if frame.empty:
        raise CobayesError("the table of choices has no rows.")
    if "count" in frame.columns:
        frame = _Rows(frame, problems).repeated()
    rows = _Rows(frame, problems)
    datum = rows.positions("datum", "datum")
    none = np.full(len(frame), -1)
    hypothesis = none if response == "guess" else rows.positions("hypothesis", "hypothesis")
    guess = rows.positions("guess", "hypothesis") if response == "guess" else none
    rating = rows.ratings() if response == "rating" else np.full(len(frame), np.nan)
    history = [()] * len(frame)
    if "count" not in frame.columns:
        history = rows.histories(datum, hypothesis, response)
    return Choices(
        frame.reset_index(drop=True), rows.problem, history, datum, hypothesis, guess, rating
    )


def read_numbers(
    table: Any, problems: Mapping[str, Problem], kind: str, *, is_partial: bool = False
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
    is_partial
        Whether some problems may be missing.
    """
    frame = read_frame(table)
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
        own = np.flatnonzero([other is problem for other in rows.problem])
        if is_partial and not len(own):
            continue
        labels = problem.labels(kind)
        counts = np.bincount(place[own], minlength=len(labels))
        for count, label in zip(counts, labels, strict=True):
            if count != 1:
                on = "" if name == ONLY else f" of problem {name!r}"
                what = "no row" if count == 0 else f"{count} rows"
                raise CobayesError(f"the table has {what} for {kind} {label!r}{on}; expected one.")
        for column in columns:
            found[str(column)][name] = rows.numbers(column)[own][np.argsort(place[own])]
    return found


def read_frame(choices: Any, names: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return a DataFrame of what may be a table, a mapping of columns or a file.

    Parameters
    ----------
    choices
        A DataFrame, a mapping of columns, or a CSV, TSV or Parquet file.
    names
        From the name that a table of choices needs to the one that this table has.
    """
    names = dict(names or {})
    pandas = import_optional("pandas", "people", "a table of choices")
    # Labels such as 01 stay labels under any name.
    labels = [*_LABELS, *names.values()]
    if isinstance(choices, (str, Path)):
        frame, source = _from_file(existing_file(choices), labels), str(choices)
    else:
        source = "the table"
        if hasattr(choices, "to_pandas"):
            choices = choices.to_pandas()
        try:
            frame = pandas.DataFrame(choices).reset_index(drop=True)
        except (TypeError, ValueError) as error:
            raise CobayesError(f"the choices cannot be read as a table: {error}.") from None
    for theirs in names.values():
        if theirs not in frame.columns:
            raise CobayesError(
                f"{source} has no column {theirs!r}.", suggest(theirs, [*map(str, frame.columns)])
            )
    frame = _with_decimal_points(source, frame, labels)
    return frame.rename(columns={theirs: ours for ours, theirs in names.items()})


def _from_file(file: Path, labels: Sequence[str]) -> pd.DataFrame:
    pandas = import_optional("pandas", "people", "a table of choices")
    if file.suffix.lower() in (".parquet", ".pq"):
        return read_parquet_frame(file)
    text, sign, _ = find_delimiter(read_text(file), "\t" if file.suffix == ".tsv" else ",")
    known = sign if sign in text else None  # others are guessed
    try:
        frame = pandas.read_csv(
            io.StringIO(text), sep=known, engine="python", dtype=dict.fromkeys(labels, str)
        )
    except (ValueError, OSError, csv.Error) as error:
        raise CobayesError(f"{file} cannot be read as a table: {error}.") from None
    return frame.map(lambda cell: without_guard(cell) if isinstance(cell, str) else cell)


def _with_decimal_points(source: str, frame: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return the table with numbers in the place of texts like 0,25."""
    found = {}
    if not frame.columns.is_unique:
        return frame  # which is an error later
    for name in frame.columns:
        if name in labels or frame[name].dtype.kind in "biuf":
            continue
        cells = [cell for cell in frame[name] if isinstance(cell, str)]
        if any("," in cell for cell in cells):
            with contextlib.suppress(ValueError):  # other cells are words: it stays as it is
                points = frame[name].map(with_decimal_point, na_action="ignore")
                found[name] = points.astype(float)
    if found:
        warn_user(
            f"{source} has decimal commas; they are read as decimal points (0,25 is 0.25). "
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
                raise self._error(
                    row,
                    "problem",
                    f"there is no problem {value!r}.",
                    f"the problems are {shorten(list(problems))}.",
                )
            self.problem.append(problem)

    def _error(self, row: int, column: str, message: str, hint: str | None = None) -> CobayesError:
        place = f"row {int(self.frame.index[row]) + 1} of the table, column {column!r}"
        return CobayesError(f"{place}: {message}", hint)

    def _values(self, column: str) -> list[Any]:
        values = self.frame[column]
        empty = values.isna().to_numpy()
        if empty.any():
            row = int(empty.argmax())
            raise self._error(row, column, "the cell is empty.", "fill it in, or drop the row.")
        listed = values.tolist()
        for row, value in enumerate(listed):
            if isinstance(value, (list, tuple, dict, set, np.ndarray)):
                raise self._error(
                    row,
                    column,
                    f"the cell holds {shorten([str(value)])}, a {type(value).__name__}.",
                    "write one row for each value: table.explode(...) does it.",
                )
        return listed

    def positions(self, column: str, kind: str) -> Positions:
        """Return the positions that a column of labels stands for."""
        known: dict[tuple[str, Any], int] = {}
        found = np.empty(len(self.frame), dtype=np.int64)
        for row, (problem, value) in enumerate(
            zip(self.problem, self._values(column), strict=True)
        ):
            key = (problem.name, value)
            if key not in known:
                try:
                    known[key] = problem.find(value, kind)
                except CobayesError as error:
                    on = "" if problem.name == ONLY else f", problem {problem.name!r}"
                    place = self._error(row, column, "").message.removesuffix(": ")
                    raise CobayesError(f"{place}{on}: {error.message}", error.hint) from None
            found[row] = known[key]
        return found

    def numbers(
        self,
        column: str,
        expected: str = "a number",
        hint: str | None = None,
        is_good: Callable[[NDArray[np.float64]], NDArray[np.bool_]] = np.isfinite,
    ) -> NDArray[np.float64]:
        """Return a column of numbers, or say which cell holds none."""
        values = self._values(column)
        found = np.empty(len(values))
        for row, value in enumerate(values):
            try:
                found[row] = float(value)
            except (TypeError, ValueError):
                found[row] = np.nan
        bad = np.flatnonzero(~is_good(found))
        if len(bad):
            value = values[bad[0]]
            if hint is None and isinstance(value, str):
                hint = advice(value)
            raise self._error(int(bad[0]), column, f"{value!r} is not {expected}.", hint)
        return found

    def ratings(self) -> NDArray[np.float64]:
        """Return belief ratings between 0 and 1."""
        return self.numbers(
            "rating",
            "a number between 0 and 1",
            "divide percentages by 100.",
            lambda found: (found >= 0.0) & (found <= 1.0),
        )

    def repeated(self) -> pd.DataFrame:
        """Return the table with every row as often as its count says, and a count of 1 each."""
        counts = self.numbers(
            "count",
            "an integer >= 0",
            is_good=lambda found: (found >= 0.0) & (found == np.floor(found)) & (found < 1e18),
        )
        if "round" in self.frame.columns and len(set(self._values("round"))) > 1:
            raise CobayesError(
                "a table of counts has several rounds, and it does not say which data went before.",
                "write one row for each response, or keep one round.",
            )
        total = counts.sum()
        if not 0 < total <= MOST_RESPONSES:
            raise CobayesError(
                f"the counts sum to {total:,.0f} responses; expected 1 to {MOST_RESPONSES:,}."
            )
        return self.frame.loc[self.frame.index.repeat(counts.astype(np.int64).tolist())].assign(
            count=1
        )

    def histories(
        self, datum: Positions, hypothesis: Positions, response: str
    ) -> list[tuple[int, ...]]:
        """Return the data shown before every row in the same lesson.

        A lesson is one person, one problem and, where there is such a column, one ``lesson``.
        """
        keys = ["person", "problem", *(["lesson"] if "lesson" in self.frame.columns else [])]
        columns = [[_text(value) for value in self._values(key)] for key in keys]
        rounds = self.numbers("round")
        lessons: dict[tuple[str, ...], list[int]] = {}
        for row, key in enumerate(zip(*columns, strict=True)):
            lessons.setdefault(key, []).append(row)
        history: list[tuple[int, ...]] = [()] * len(rounds)
        for rows in lessons.values():
            rows = sorted(rows, key=rounds.__getitem__)
            shown: tuple[int, ...] = ()
            for last, row in zip([None, *rows], rows, strict=False):
                if last is not None and rounds[row] == rounds[last]:
                    # Several rows in a round may rate several hypotheses.
                    is_other = hypothesis[row] != hypothesis[last]
                    if not (response == "rating" and datum[row] == datum[last] and is_other):
                        raise self._repeated_round(row)
                elif last is not None:
                    shown = (*shown, int(datum[last]))
                if response == "choice" and hypothesis[row] != hypothesis[rows[0]]:
                    raise self._error(
                        row,
                        "hypothesis",
                        "the truth changes within a lesson.",
                        "add a column 'lesson' that numbers a person's lessons on a problem.",
                    )
                history[row] = shown
        return history

    def _repeated_round(self, row: int) -> CobayesError:
        person, number = (self.frame[name].iloc[row] for name in ("person", "round"))
        on = "" if self.problem[row].name == ONLY else f" on problem {self.problem[row].name!r}"
        return self._error(
            row,
            "round",
            f"round {number} of person {person!r}{on} occurs twice.",
            "drop one of the rows, add a column 'lesson' that numbers a person's lessons, or a "
            "column 'count' where rows are counts.",
        )


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
