"""Read the tables of a study: problems with priors, responses, and features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cobayes._input.labels import find, shorten, suggest
from cobayes._input.validation import quoted
from cobayes.errors import CobayesError, warn_user
from cobayes.model import as_task
from cobayes.people.problems import Array, Positions, Problem, Situations
from cobayes.people.tables import as_text, filled, place_of, read_column, read_frame, require
from cobayes.reading import read_model

COLUMNS = {
    "choice": ("person", "problem", "round", "hypothesis", "datum"),
    "guess": ("person", "problem", "round", "datum", "guess"),
    "rating": ("person", "problem", "round", "datum", "hypothesis", "rating"),
}
"""Required columns of a table, by kind of response; the last column contains the response."""

ONLY = "*"
"""The name of the only problem, if it was given without a name."""

_SUFFIXES = (".csv", ".tsv", ".json", ".parquet")
# A table's counts may sum to at most this number; each response takes about 1 kB of memory.
MOST_RESPONSES = 5_000_000


def read_problems(problems: Any, priors: Any = None) -> dict[str, Problem]:
    """Return problems by name.

    Parameters
    ----------
    problems
        A mapping from name to matrix or task; a folder with one model file for each problem, such
        as ``p.csv`` for the problem ``p``; or one file, matrix or task for all responses.
    priors
        A mapping from a problem's name to its prior ("*" for a problem without a name); or a table
        (or file) with the columns problem, hypothesis and prior. Without the column problem, all
        problems have the same prior. Uniform by default.
    """
    if isinstance(problems, (str, Path)):
        problems = _from_path(problems)
    if isinstance(priors, (str, Path)) or hasattr(priors, "columns"):
        priors = read_frame(priors).rename_axis("priors")
    if not isinstance(problems, Mapping):
        problems = dict.fromkeys(_names(priors) or [ONLY], problems)
    if not problems:
        raise CobayesError("no problems were given.", "give {name: matrix} for each problem.")
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
    given_priors = _read_priors(priors, found)
    for name, prior in given_priors.items():
        if name not in found:
            message = f"the priors name {name!r}, but no problem has that name."
            raise CobayesError(message, suggest(name, list(found)))
        prior = found[name].model.distribution(prior, name=f"prior of problem {name!r}")
        found[name] = Problem(name, found[name].task, prior)
    even = [name for name in found if name not in given_priors and not np.ptp(found[name].prior)]
    if given_priors and even:
        warn_user(f"no prior for {shorten(even)}: uniform.")
    return found


def _names(priors: Any) -> list[str]:
    """Return the names of the problems that the priors mention."""
    if isinstance(priors, pd.DataFrame):
        return filled(priors, "problem").map(as_text).tolist() if "problem" in priors else []
    return [str(name) for name in priors] if isinstance(priors, Mapping) else []


def _from_path(path: str | Path) -> Any:
    if not Path(path).is_dir():
        return read_model(path)
    files = sorted(file for file in Path(path).iterdir() if file.suffix.lower() in _SUFFIXES)
    if not files:
        raise CobayesError(
            f"the folder {path} holds no model file.",
            f"put one file per problem into it ({', '.join(_SUFFIXES)}).",
        )
    return {file.stem: read_model(file) for file in files}


def _read_priors(priors: Any, problems: Mapping[str, Problem]) -> dict[str, Any]:
    if priors is None or isinstance(priors, Mapping):
        return {str(name): prior for name, prior in (priors or {}).items()}
    if not isinstance(priors, pd.DataFrame):
        raise CobayesError(
            f"the priors are {quoted(priors)}; expected a mapping from problem to prior, or a "
            "table with the columns problem, hypothesis and prior.",
            f"write priors={{{next(iter(problems))!r}: ...}}.",
        )
    return read_numbers(priors, problems, "hypothesis", is_partial=True)["prior"]


@dataclass(frozen=True, eq=False)
class Choices:
    """A checked table of responses, with positions in place of labels.

    Attributes
    ----------
    frame : DataFrame
        The user's columns, one row per response; a row with count c is repeated c times. The
        index is the row of the user's table, counted from 0.
    situations : Situations
        The distinct pairs of a problem and the data shown before; row i has the pair
        ``situations.at[i]``.
    datum : ndarray
        The position of the datum that was shown.
    hypothesis : ndarray
        The position of the true (choices), guessed (guesses) or rated (ratings) hypothesis.
    response : ndarray
        The position of the chosen datum or of the guessed hypothesis, or the rating, 0 to 1.
    """

    frame: pd.DataFrame
    situations: Situations
    datum: Positions
    hypothesis: Positions
    response: NDArray[Any]

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
    if "problem" not in frame.columns and len(problems) == 1:
        frame = frame.assign(problem=next(iter(problems)))
    # A table with a column 'count' needs neither person nor round.
    unneeded = ("person", "round") if "count" in frame.columns else ()
    needed = [name for name in COLUMNS[response] if name not in unneeded]
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        one = " If every lesson has one response, set round to 1." if "round" in missing else ""
        numbers = [name for name, dtype in frame.dtypes.items() if dtype.kind in "iu"]
        if numbers and {"person", "round"} <= set(missing):
            one += f" If {numbers[-1]!r} counts responses: --columns count={numbers[-1]} --by none."
        raise CobayesError(
            f"the table has no column {missing[0]!r}; found {shorten([*map(str, frame.columns)])}.",
            f"a table for response={response!r} needs {', '.join(needed)}; rename a column: "
            f"table.rename(columns={{'...': {missing[0]!r}}}), or --columns {missing[0]}=... on "
            f"the command line.{one}{_other_response(frame, response)}",
        )
    twice = [name for name in needed if list(frame.columns).count(name) > 1]
    if twice:
        raise CobayesError(
            f"the table has several columns {twice[0]!r}.", "drop or rename all but one."
        )
    if frame.empty:
        raise CobayesError("the table has no rows.")
    if "count" in frame.columns:
        frame = _repeated(frame)
    problem = _problems(frame, problems)
    datum = _positions(frame, problem, "datum", "datum")
    column = "guess" if response == "guess" else "hypothesis"
    hypothesis = _positions(frame, problem, column, "hypothesis")
    answer = datum if response == "choice" else hypothesis
    if response == "rating":
        answer = rating = read_column(frame, "rating")
        good = (rating >= 0.0) & (rating <= 1.0)
        message = "{} is not a number between 0 and 1."
        require(frame, good, "rating", message, "divide percentages by 100.")
        frame = frame.assign(rating=rating)
    lesson, level = _lessons(frame, datum, hypothesis, response)
    situations = Situations(problem, lesson, level, datum)
    return Choices(frame, situations, datum, hypothesis, answer)


def _lessons(
    frame: pd.DataFrame, datum: Positions, hypothesis: Positions, response: str
) -> tuple[Positions, Positions]:
    """Return the lesson of every row, and the number of data shown before the row in this lesson.

    Rows with the same person, problem and (if the table has this column) ``lesson`` form one
    lesson. In a table with a column ``count`` every row is a separate lesson.
    """
    if "count" in frame.columns:
        return np.arange(len(frame)), np.zeros(len(frame), dtype=np.int64)
    keys = ["person", "problem", *(["lesson"] if "lesson" in frame.columns else [])]
    rows = pd.DataFrame({key: filled(frame, key).map(as_text).to_numpy() for key in keys})
    # Grouping by names of columns is faster than by arrays.
    rows["lesson"] = rows.groupby(keys, sort=False).ngroup()
    rows = rows.assign(round=read_column(frame, "round"), datum=datum, hypothesis=hypothesis)
    rounds = rows.groupby(["lesson", "round"], sort=False)
    repeated = rounds.cumcount() > 0
    if response == "rating":  # one round may have a rating of each hypothesis
        repeated = rows.duplicated(["lesson", "round", "hypothesis"])
        repeated |= rounds["datum"].transform("first") != rows["datum"]
    if repeated.any():
        row = int(repeated.argmax())
        raise CobayesError(
            f"{place_of(frame, row, 'round')}: round {frame['round'].iloc[row]} of "
            f"{_who(frame, row)} occurs twice.",
            "drop one of the rows, add a column 'lesson' that numbers a person's lessons, or a "
            "column 'count' if a row stands for several responses."
            + _other_response(frame, response),
        )
    steps = rows.drop_duplicates(["lesson", "round"]).sort_values(["lesson", "round"])
    before = steps.groupby("lesson").shift()
    if response == "choice":
        good = before["round"].isna() | (steps["hypothesis"] == before["hypothesis"])
        hint = "add a column 'lesson' that numbers a person's lessons on a problem."
        message = "the truth changes within a lesson."
        require(frame, good.sort_index(), "hypothesis", message, hint)
    _warn_about_rounds(frame, steps, before["round"])
    level = rows.groupby("lesson")["round"].rank("dense").astype(np.int64) - 1
    return rows["lesson"].to_numpy(), level.to_numpy()


def _other_response(frame: pd.DataFrame, response: str) -> str:
    """Return a hint if the table has a column of responses of another kind."""
    for name in ("rating", "guess"):
        if name in frame.columns and name != response:
            how = f"response={name!r} (--response {name})"
            return f" If the column {name!r} contains the responses, use {how}."
    return ""


def _warn_about_rounds(frame: pd.DataFrame, steps: Any, before: Any) -> None:
    """Warn if rounds are missing, or if the column ``round`` seems to contain trial numbers.

    Rounds may start from 0 or 1.

    Parameters
    ----------
    frame
        The table of choices.
    steps
        One row per lesson and round, sorted by lesson and round; the index is the table's row.
    before
        For each row of `steps`, the preceding round of the lesson; NaN at the start of a lesson.
    """
    starts = before.isna()
    # Rounds are treated as trial numbers if some person has several lessons, and no person has the
    # same round number in two lessons.
    has_several = starts.sum() > steps["person"].nunique()
    are_trials = has_several and not steps.duplicated(["person", "round"]).any()
    first = min(steps["round"].min(), 1.0)
    # If the rounds are trial numbers, a lesson may start with any number.
    expected = before.where(~starts, steps["round"] if are_trials else first - 1.0) + 1.0
    late = steps[steps["round"] > expected]
    if len(late):
        row = late.index[0]
        warn_user(
            f"{place_of(frame, row, 'round')}: {_who(frame, row)} has round "
            f"{frame['round'].iloc[row]} but not the round before it (lessons with missing rounds: "
            f"{late['lesson'].nunique()}). Data of missing rounds count as not shown. Drop these "
            "lessons if the rounds were removed; if another lesson starts here, number the lessons "
            "in a column 'lesson'."
        )
    elif "lesson" not in frame.columns and are_trials and not starts.all():
        warn_user(
            "the column 'round' seems to contain trial numbers: it does not restart when a person "
            "begins another problem. All trials of a person on one problem are treated as one "
            "lesson, in which the learner remembers all data. If this is wrong, number the lessons "
            "in a column 'lesson'; if it is right, number the rounds of each lesson from 1."
        )


def _who(frame: pd.DataFrame, row: int) -> str:
    person, problem = (frame[name].iloc[row] for name in ("person", "problem"))
    return f"person {person!r}" + ("" if problem == ONLY else f" on problem {problem!r}")


def _repeated(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with one row for each counted response."""
    counts = read_column(frame, "count")
    good = (counts >= 0.0) & (counts == np.floor(counts))
    require(frame, good, "count", "{} is not an integer >= 0.")
    if "round" in frame.columns and filled(frame, "round").nunique() > 1:
        raise CobayesError(
            "the table has counts and rounds, but does not say which data came before a row.",
            "write one row for each response, or keep one round.",
        )
    total = counts.sum()
    if not 0 < total <= MOST_RESPONSES:
        raise CobayesError(f"the counts sum to {total:,.0f}; expected 1 to {MOST_RESPONSES:,}.")
    return frame.loc[frame.index.repeat(counts.astype(np.int64).tolist())].assign(count=1)


def read_numbers(
    table: Any, problems: Mapping[str, Problem], kind: str, *, is_partial: bool = False
) -> dict[str, dict[str, Array]]:
    """Return ``{column: {problem: array}}``; arrays have one number per datum or hypothesis.

    Parameters
    ----------
    table
        A table with a column of labels (named "datum" or "hypothesis"), columns of numbers, and a
        column ``problem`` unless the numbers are the same for all problems.
    problems
        The problems by name.
    kind
        The kind of the labels: "datum" (a table of features) or "hypothesis" (a table of priors).
    is_partial
        Whether problems may be missing from the table.
    """
    of_priors = kind == "hypothesis"
    # Messages call the table by the name of its index.
    frame = read_frame(table).rename_axis("priors" if of_priors else "features")
    columns = [name for name in frame.columns if name not in ("problem", kind)]
    columns = ["prior"] if of_priors else columns
    if not columns or not {kind, *columns} <= set(frame.columns):
        number = "'prior'" if of_priors else "a column of numbers such as 'cost'"
        raise CobayesError(
            f"the table of {frame.index.name} has the columns "
            f"{shorten([*map(str, frame.columns)])}.",
            f"it needs {kind!r}, {number} and, unless it applies to every problem, 'problem'.",
        )
    if "problem" not in frame.columns:
        frame = pd.concat([frame.assign(problem=name) for name in problems])
    elif list(problems) == [ONLY] and len(named := set(frame["problem"])) > 1:
        raise CobayesError(
            f"the {frame.index.name} name {len(named)} problems, but one matrix was given for all.",
            "give {name: matrix} for each problem, or a folder with a file for each problem.",
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
                raise CobayesError(f"found {count} rows for {kind} {label!r}{on}; expected one.")
        for column, values in numbers.items():
            found[column][name] = values[own][np.argsort(place[own])]
    return found


def _problems(frame: pd.DataFrame, problems: Mapping[str, Problem]) -> list[Problem]:
    """Return the problem of every row."""
    if ONLY in problems:
        return [problems[ONLY]] * len(frame)
    names = filled(frame, "problem").map(as_text)
    hint = f"the problems are {shorten(list(problems))}."
    require(frame, names.isin(problems), "problem", "there is no problem {}.", hint)
    return [problems[name] for name in names]


def _positions(
    frame: pd.DataFrame, problem: Sequence[Problem], column: str, kind: str
) -> Positions:
    """Return the position of the datum or hypothesis (`kind`) in each cell of a column."""
    # Rows with the same problem and label form a group, so that each label is looked up once.
    rows = {"problem": [own.name for own in problem], "label": filled(frame, column).to_numpy()}
    group = pd.DataFrame(rows).groupby(["problem", "label"], sort=False).ngroup()
    cells, found = frame[column].tolist(), []
    for row in np.flatnonzero(~group.duplicated()).tolist():
        labels, text = problem[row].labels(kind), as_text(cells[row])
        # A number such as 2 is a position, unless some label is a number.
        is_number, are_numbers = text.isdecimal(), any(map(str.isdecimal, labels))
        try:
            found.append(find(int(text) if is_number and not are_numbers else text, labels, kind))
        except CobayesError as error:
            on = "" if problem[row].name == ONLY else f", problem {problem[row].name!r}"
            message = f"{place_of(frame, row, column)}{on}: {error.message}"
            hint = f"the labels are {shorten(labels)}; does the table count from another number?"
            hint = hint if is_number and are_numbers else error.hint
            raise CobayesError(message, hint) from None
    return np.array(found)[group]
