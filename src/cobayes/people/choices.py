"""Read the tables of a study: problems with priors, responses, numbers for each label."""

from __future__ import annotations

import contextlib
import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobayes._input.labels import find, is_position, shorten, suggest
from cobayes._input.text import advice, find_delimiter, with_decimal_point
from cobayes._output import without_guard
from cobayes.errors import CobayesError, warn_user
from cobayes.model import as_task
from cobayes.people.problems import Array, Positions, Problem, Situations
from cobayes.reading import existing_file, read_model, read_parquet_frame, read_text

COLUMNS = {
    "choice": ("person", "problem", "round", "hypothesis", "datum"),
    "guess": ("person", "problem", "round", "datum", "guess"),
    "rating": ("person", "problem", "round", "datum", "hypothesis", "rating"),
}
"""Columns that a table needs, by kind of response; the last one holds the response."""

ONLY = "*"
"""Name of a single problem that was given without one; it goes with every choice."""

# Labels such as 01 or 1e3 are not numbers.
_LABELS = ("person", "problem", "hypothesis", "datum", "guess", "lesson")
_SUFFIXES = (".csv", ".tsv", ".json", ".parquet")
# The largest number of responses; each takes about 1 kB of memory.
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
        hypothesis and prior. Uniform by default.
    """
    if isinstance(problems, (str, Path)):
        problems = _from_path(problems)
    if not isinstance(problems, Mapping):
        problems = {ONLY: problems}
    if not problems:
        raise CobayesError("no problems were given.", "give {name: matrix}, one for each problem.")
    found = {}
    for name, given in problems.items():
        if not isinstance(given, Problem):
            try:
                task = as_task(given)
            except CobayesError as error:
                where = "" if name == ONLY else f"problem {name!r}: "
                raise CobayesError(f"{where}{error.message}", error.hint) from None
            given = Problem(str(name), task, task.model.distribution(None))
        found[str(name)] = given
    for name, prior in _read_priors(priors, found).items():
        if name not in found:
            raise CobayesError(
                f"the priors name {name!r}, but no problem has that name.",
                suggest(name, list(found)),
            )
        prior = found[name].model.distribution(prior, name=f"prior of problem {name!r}")
        found[name] = Problem(name, found[name].task, prior)
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
    situations : Situations
        The situation of every row is ``situations.at``.
    datum, hypothesis, guess : ndarray
        Positions; -1 if this kind of response has no such column.
    rating : ndarray
        Between 0 and 1; NaN for other kinds of response.
    """

    frame: pd.DataFrame
    situations: Situations
    datum: Positions
    hypothesis: Positions
    guess: Positions
    rating: Array

    def __len__(self) -> int:
        return len(self.datum)


def read_choices(choices: Any, problems: Mapping[str, Problem], response: str) -> Choices:
    """Check a table against the problems, and find the data shown before each row.

    Parameters
    ----------
    choices
        A DataFrame, a mapping of columns, or a CSV, TSV or Parquet file.
    problems
        The problems by name, as `read_problems` returns them.
    response
        "choice", "guess" or "rating".
    """
    frame = read_frame(choices)
    if "problem" not in frame.columns and set(problems) == {ONLY}:
        frame = frame.assign(problem=ONLY)
    # With counts, person and round are unknown.
    unneeded = ("person", "round") if "count" in frame.columns else ()
    needed = [name for name in COLUMNS[response] if name not in unneeded]
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        one = " Where a lesson has one response, its round is 1." if "round" in missing else ""
        raise CobayesError(
            f"the table has no column {missing[0]!r}; found {shorten([*map(str, frame.columns)])}.",
            f"a table for response={response!r} needs {', '.join(needed)}; rename yours: "
            f"table.rename(columns={{'...': {missing[0]!r}}}), or --columns {missing[0]}=... on "
            f"the command line.{one}",
        )
    twice = [name for name in needed if list(frame.columns).count(name) > 1]
    if twice:
        raise CobayesError(
            f"the table has two columns {twice[0]!r}.", "drop or rename one of them."
        )
    if frame.empty:
        raise CobayesError("the table of choices has no rows.")
    if "count" in frame.columns:
        frame = _repeated(frame)
    problem = _problems(frame, problems)
    datum = _positions(frame, problem, "datum", "datum")
    hypothesis = guess = np.full(len(frame), -1)
    if response == "guess":
        guess = _positions(frame, problem, "guess", "hypothesis")
    else:
        hypothesis = _positions(frame, problem, "hypothesis", "hypothesis")
    rating = np.full(len(frame), np.nan)
    if response == "rating":
        rating = read_column(frame, "rating")
        good = (rating >= 0.0) & (rating <= 1.0)
        message = "{} is not a number between 0 and 1."
        _require(frame, good, "rating", message, "divide percentages by 100.")
    lesson, level = _lessons(frame, datum, hypothesis, response)
    situations = Situations(problem, lesson, level, datum)
    return Choices(frame.reset_index(drop=True), situations, datum, hypothesis, guess, rating)


def _lessons(
    frame: pd.DataFrame, datum: Positions, hypothesis: Positions, response: str
) -> tuple[Positions, Positions]:
    """Return the lesson of every row, and the number of data shown in it before.

    A lesson is one person, one problem and, where there is such a column, one ``lesson``; in a
    table of counts every row is one.
    """
    if "count" in frame.columns:
        return np.arange(len(frame)), np.zeros(len(frame), dtype=np.int64)
    keys = ["person", "problem", *(["lesson"] if "lesson" in frame.columns else [])]
    labels = [filled(frame, key).map(_text) for key in keys]
    lesson = frame.groupby(labels, sort=False).ngroup().to_numpy()
    rounds = read_column(frame, "round")
    order = np.lexsort((hypothesis, rounds, lesson))

    def is_same(values: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which rows, in order, have the value of the row before."""
        return np.r_[False, values[order][1:] == values[order][:-1]]

    goes_on = is_same(lesson)
    same_round = goes_on & is_same(rounds)
    repeated = same_round
    if response == "rating":  # several hypotheses may be rated after one datum
        repeated = same_round & (is_same(hypothesis) | ~is_same(datum))
    if repeated.any():
        row = int(order[repeated].min())
        raise CobayesError(
            f"{_place(frame, row, 'round')}: round {frame['round'].iloc[row]} of "
            f"{_who(frame, row)} occurs twice.",
            "drop one of the rows, add a column 'lesson' that numbers a person's lessons, or a "
            "column 'count' where rows are counts.",
        )
    if response == "choice":
        good = np.ones(len(frame), dtype=bool)
        good[order] = ~goes_on | is_same(hypothesis)
        message = "the truth changes within a lesson."
        hint = "add a column 'lesson' that numbers a person's lessons on a problem."
        _require(frame, good, "hypothesis", message, hint)
    runs_on = _runs_on(frame, lesson, rounds)
    late = order[~goes_on & (rounds[order] > rounds.min())]
    if len(late) and not runs_on:
        warn_user(
            f"{_place(frame, late[0], 'round')}: a lesson of {_who(frame, late[0])} starts with "
            f"round {frame['round'].iloc[late[0]]}, others with round {rounds.min():g} (lessons "
            f"that start late: {len(late)}). Earlier rounds are taken as not shown: the learner "
            "starts from the prior. Drop these lessons if their first rounds were removed."
        )
    num_rounds, num_lessons = int((~same_round).sum()), int((~goes_on).sum())
    num_people = frame["person"].map(_text).nunique()
    skips = goes_on & np.r_[False, np.diff(rounds[order]) > 1.0]
    if skips.any():
        first = int(np.argmax(skips))
        before, after = (frame["round"].iloc[row] for row in order[first - 1 : first + 1])
        warn_user(
            f"{_place(frame, order[first], 'round')}: round {after} of "
            f"{_who(frame, order[first])} follows round {before} (lessons with such a gap: "
            f"{len(np.unique(lesson[order[skips]]))}). Both rounds are taken as one lesson, in "
            "which the learner remembers what was shown. If they are two lessons, number them in "
            "a column 'lesson'."
        )
    elif "lesson" not in frame.columns and runs_on and num_rounds > num_lessons > num_people:
        warn_user(
            "the column 'round' looks like the number of a trial: it never starts again when a "
            "person goes on to another problem. Trials of a person on one problem are taken as one "
            "lesson, in which the learner remembers what was shown. Number lessons in a column "
            "'lesson' if that is wrong, and rounds from 1 in each lesson if it is right."
        )
    # Rounds are counted from the first row of each lesson.
    count = np.cumsum(~same_round)
    level = np.empty_like(lesson)
    level[order] = count - np.maximum.accumulate(np.where(goes_on, 0, count))
    return lesson, level


def _runs_on(frame: pd.DataFrame, lesson: Positions, rounds: Array) -> bool:
    """Tell whether rounds are numbered through all lessons of a person: no number comes twice."""
    person = frame.groupby(frame["person"].map(_text), sort=False).ngroup().to_numpy()
    steps = np.unique(np.column_stack([person, rounds, lesson]), axis=0)
    return len(np.unique(steps[:, :2], axis=0)) == len(steps)


def _who(frame: pd.DataFrame, row: int) -> str:
    person, problem = (frame[name].iloc[row] for name in ("person", "problem"))
    return f"person {person!r}" + ("" if problem == ONLY else f" on problem {problem!r}")


def _repeated(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with every row repeated by its count, and a count of 1 each."""
    counts = read_column(frame, "count")
    good = (counts >= 0.0) & (counts == np.floor(counts))
    _require(frame, good, "count", "{} is not an integer >= 0.")
    if "round" in frame.columns and filled(frame, "round").nunique() > 1:
        raise CobayesError(
            "a table of counts has several rounds; the data shown before are then unknown.",
            "write one row for each response, or keep one round.",
        )
    total = counts.sum()
    if not 0 < total <= MOST_RESPONSES:
        raise CobayesError(
            f"the counts sum to {total:,.0f} responses; expected 1 to {MOST_RESPONSES:,}."
        )
    return frame.loc[frame.index.repeat(counts.astype(np.int64).tolist())].assign(count=1)


def read_numbers(
    table: Any, problems: Mapping[str, Problem], kind: str, *, is_partial: bool = False
) -> dict[str, dict[str, Array]]:
    """Return numbers by column and problem, one for each datum or hypothesis.

    Parameters
    ----------
    table
        A table with a column of labels (named "datum" or "hypothesis"), columns of numbers, and a
        column ``problem`` unless the numbers are the same for all problems.
    problems
        By name.
    kind
        "datum" or "hypothesis".
    is_partial
        Whether some problems may be missing.
    """
    frame = read_frame(table)
    if kind not in frame.columns or set(frame.columns) <= {"problem", kind}:
        what, number = ("priors", "prior") if kind == "hypothesis" else ("features", "cost")
        raise CobayesError(
            f"the table of {what} has the columns {shorten([*map(str, frame.columns)])}.",
            f"it needs problem, {kind} and a column of numbers such as {number!r}; without the "
            "column problem it holds for every problem.",
        )
    columns = [name for name in frame.columns if name not in ("problem", kind)]
    if "problem" not in frame.columns:
        frame = pd.concat([frame.assign(problem=name) for name in problems])
    elif list(problems) == [ONLY] and len(named := set(frame["problem"])) > 1:
        raise CobayesError(
            f"the table names {len(named)} problems, but one matrix was given for all choices.",
            "give a matrix for each problem: a folder with a file of its name, or {name: matrix}.",
        )
    whose = _problems(frame, problems)
    place = _positions(frame, whose, kind, kind)
    numbers = {str(column): read_column(frame, column) for column in columns}
    found: dict[str, dict[str, Array]] = {column: {} for column in numbers}
    for name, problem in problems.items():
        own = np.flatnonzero([other is problem for other in whose])
        if is_partial and not len(own):
            continue
        labels = problem.labels(kind)
        counts = np.bincount(place[own], minlength=len(labels))
        for count, label in zip(counts, labels, strict=True):
            if count != 1:
                on = "" if name == ONLY else f" of problem {name!r}"
                what = "no row" if count == 0 else f"{count} rows"
                raise CobayesError(f"the table has {what} for {kind} {label!r}{on}; expected one.")
        for column, values in numbers.items():
            found[column][name] = values[own][np.argsort(place[own])]
    return found


def read_frame(choices: Any, names: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return a DataFrame from a table, a mapping of columns or a file.

    Parameters
    ----------
    choices
        A DataFrame, a mapping of columns, or a CSV, TSV or Parquet file.
    names
        A mapping from the required name of a column to its name in this table.
    """
    names = dict(names or {})
    # Labels such as 01 stay labels under any name.
    labels = [*_LABELS, *names.values()]
    if isinstance(choices, (str, Path)):
        frame, source = _from_file(existing_file(choices), labels), str(choices)
    else:
        source = "the table"
        if hasattr(choices, "to_pandas"):
            choices = choices.to_pandas()
        try:
            frame = pd.DataFrame(choices).reset_index(drop=True)
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
    if file.suffix.lower() in (".parquet", ".pq"):
        return read_parquet_frame(file)
    text, sign, _ = find_delimiter(read_text(file), "\t" if file.suffix == ".tsv" else ",")
    known = sign if sign in text else None  # pandas infers the types of other columns
    try:
        frame = pd.read_csv(
            io.StringIO(text), sep=known, engine="python", dtype=dict.fromkeys(labels, str)
        )
    except (ValueError, OSError, csv.Error) as error:
        raise CobayesError(f"{file} cannot be read as a table: {error}.") from None
    return frame.map(lambda cell: without_guard(cell) if isinstance(cell, str) else cell)


def _with_decimal_points(source: str, frame: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return the table with texts like 0,25 replaced by numbers."""
    found = {}
    if not frame.columns.is_unique:
        return frame  # a later check raises the error
    for name in frame.columns:
        if name in labels or frame[name].dtype.kind in "biuf":
            continue
        if any(isinstance(cell, str) and "," in cell for cell in frame[name]):
            cells = [with_decimal_point(c) if isinstance(c, str) else c for c in frame[name]]
            # If other cells are words or lists, the column is not changed.
            with contextlib.suppress(ValueError, TypeError):
                found[name] = np.array(cells, dtype=np.float64)
    if found:
        warn_user(
            f"{source} has decimal commas; they are read as decimal points (0,25 is 0.25). "
            "Write points to avoid this note."
        )
    return frame.assign(**found)


def _place(frame: pd.DataFrame, row: int, column: str) -> str:
    return f"row {int(frame.index[row]) + 1} of the table, column {column!r}"


def _require(
    frame: pd.DataFrame, good: Any, column: str, message: str, hint: str | None = None
) -> None:
    """Raise an error about the first bad cell, whose content replaces {} in the message."""
    bad = np.flatnonzero(~np.asarray(good, dtype=bool))
    if len(bad):
        cell = frame[column].tolist()[bad[0]]
        message = message.replace("{}", repr(cell))
        raise CobayesError(f"{_place(frame, bad[0], column)}: {message}", hint)


def filled(frame: pd.DataFrame, column: str) -> Any:
    """Return a column of single values; raise an error for empty cells, lists or invalid text."""
    cells = frame[column]
    _require(frame, cells.notna(), column, "the cell is empty.", "fill it in, or drop the row.")
    message = "the cell holds {}; expected one value."
    hint = "write one row for each value: table.explode(...) does it."
    _require(frame, cells.map(pd.api.types.is_hashable), column, message, hint)
    message = "the cell holds {}, which is not Unicode text."
    _require(frame, cells.map(_is_unicode), column, message, "save the table as UTF-8.")
    return cells


def _is_unicode(cell: Any) -> bool:
    """Tell whether a cell is valid Unicode text or no text; pandas cannot group others."""
    return not isinstance(cell, str) or not any("\ud800" <= letter <= "\udfff" for letter in cell)


def read_column(frame: pd.DataFrame, column: str) -> Array:
    """Return a column of finite numbers, or raise an error that names the first other cell."""
    cells = filled(frame, column)
    found = as_numbers(cells)
    good = np.isfinite(found)
    texts = [cell for cell in cells[~good] if isinstance(cell, str)]
    _require(frame, good, column, "{} is not a number.", advice(texts[0]) if texts else None)
    return found


def as_numbers(cells: Iterable[Any]) -> Array:
    """Return numbers; NaN where a cell holds no number."""

    def number(cell: Any) -> float:
        try:
            return float(cell)
        except (TypeError, ValueError, OverflowError):
            return math.nan

    return np.array([number(cell) for cell in cells])


def _problems(frame: pd.DataFrame, problems: Mapping[str, Problem]) -> list[Problem]:
    """Return the problem of every row."""
    if ONLY in problems:
        return [problems[ONLY]] * len(frame)
    names = filled(frame, "problem").map(_text)
    hint = f"the problems are {shorten(list(problems))}."
    _require(frame, names.isin(problems), "problem", "there is no problem {}.", hint)
    return [problems[name] for name in names]


def _positions(
    frame: pd.DataFrame, problem: Sequence[Problem], column: str, kind: str
) -> Positions:
    """Return the position of the label in every row of a column."""
    names = np.array([own.name for own in problem])
    # The distinct labels, numbered in the order of their first rows.
    group = frame.groupby([names, filled(frame, column)], sort=False).ngroup()
    cells, found = frame[column].tolist(), []
    for row in np.flatnonzero(~group.duplicated()).tolist():
        try:
            found.append(_find(cells[row], problem[row].labels(kind), kind))
        except CobayesError as error:
            on = "" if problem[row].name == ONLY else f", problem {problem[row].name!r}"
            message = f"{_place(frame, row, column)}{on}: {error.message}"
            raise CobayesError(message, error.hint) from None
    return np.array(found)[group]


def _find(value: Any, labels: Sequence[str], kind: str) -> int:
    """Return a position; in a table a number that is a label means the label."""
    text = _text(value)
    if text in labels:
        return labels.index(text)
    if text.isdecimal():
        value = int(text)
    return find(value if is_position(value) else text, labels, kind)


def _text(value: Any) -> str:
    """Return a label as text: 1.0 as "1", since pandas turns integers beside a NaN into floats."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
