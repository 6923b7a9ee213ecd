"""Arguments and options that several commands share, with one help text each.

Values are parsed here rather than by the toolkit, so that errors and help are in plain words.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

# Python refuses to read integers of thousands of digits.
_MOST_DIGITS = 40


def integer(least: int) -> Callable[[str], int]:
    """Return a parser of integers that are not smaller than `least`."""

    def parse(text: str | int) -> int:
        plain = str(text).strip()
        digits = plain.removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS:
            number = int(plain)
        else:
            number = _whole_float(plain)
        if number is None or number < least:
            raise typer.BadParameter(f"expected an integer >= {least}, found {plain[:40]!r}.")
        return number

    return parse


def _whole_float(text: str) -> int | None:
    """Read ``1e6`` as an integer; None where the text is no whole number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number.is_integer() and "_" not in text else None


def number(low: float, high: float, *, closed: str = "", hint: str = "") -> Callable[[str], float]:
    """Return a parser of numbers between two bounds; `closed` names the bounds allowed."""

    def parse(text: str | float) -> float:
        from cobayes._input.validation import number_between
        from cobayes.errors import CobayesError

        try:
            value = float("nan") if "_" in str(text) else float(text)
        except ValueError:
            raise typer.BadParameter(
                f"expected a number, found {str(text)[:40]!r}{_as_number(str(text))}."
            ) from None
        try:
            return number_between(value, "it", low, high, closed=closed)
        except CobayesError as error:
            expected = error.message.partition("; ")[2].rstrip(".")
            raise typer.BadParameter(f"{expected}, found {text}{hint}.") from None

    return parse


def _as_number(text: str) -> str:
    """Return how to write a percentage or a decimal comma; nothing for other texts."""
    plain = text.strip()
    if re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", plain):  # the comma may separate thousands
        return ""
    plain = plain.replace(",", ".", 1)
    for written, scale in ((plain, 1.0), (plain.removesuffix("%"), 100.0)):
        try:
            return f" (write {float(written) / scale:g})"
        except ValueError:
            continue
    return ""


def probability(text: str | float) -> float:
    """Parse a probability above 0 and up to 1; percentages get a hint."""
    try:
        percent = float(text)
    except ValueError:
        percent = 0.0
    hint = f" (for {percent:g} % write {percent / 100:g})" if 2.0 <= percent <= 100.0 else ""
    return number(0.0, 1.0, closed="high", hint=hint)(str(text))


def choice(*names: str) -> Any:
    """Return the settings of an option that takes one of several names, in any case."""

    def parse(text: str) -> str:
        plain = str(text).strip().lower()
        if plain in names:
            return plain
        near = difflib.get_close_matches(plain, names, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise typer.BadParameter(
            f"{str(text)[:40]!r} is not one of {', '.join(map(repr, names))}.{meant}"
        )

    return {
        "parser": parse,
        "metavar": "|".join(names),
        "autocompletion": lambda incomplete: [n for n in names if n.startswith(incomplete)],
    }


def count_option(*flags: str, least: int, help: str) -> Any:
    """Return an option that takes an integer."""
    return typer.Option(*flags, parser=integer(least), metavar="N", help=help)


def file_option(flag: str, help: str) -> Any:
    """Return an option that takes the name of a file to write."""
    return typer.Option(flag, metavar="FILE", help=help)


Matrix = Annotated[
    str,
    typer.Argument(
        metavar="MATRIX",
        help="A file (.csv, .tsv, .json or .parquet: first row hypotheses, first column data) or "
        "example:NAME; see 'cobayes examples'.",
        show_default=False,
    ),
]

TaughtHypothesis = Annotated[
    str | None,
    typer.Option(
        "--hypothesis",
        "-H",
        metavar="LABEL",
        help="The hypothesis that is taught: its label, or its position counted from 0 "
        "(default: the example's own).",
    ),
]

_PRIOR_FORMS = "0.2,0.8 or A=0.2,B=0.8 or the name of one of the example's priors"

Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="PRIOR",
        help=f"The learner's belief before the lesson, which the teacher knows: {_PRIOR_FORMS} "
        "(default: uniform).",
    ),
]

TeacherPrior = Annotated[
    str | None,
    typer.Option(
        "--teacher-prior",
        metavar="PRIOR",
        help=f"What the teacher takes the learner's prior to be: {_PRIOR_FORMS} "
        "(default: uniform).",
    ),
]

LearnerPrior = Annotated[
    str | None,
    typer.Option(
        "--learner-prior",
        metavar="PRIOR",
        help="The learner's actual prior where the teacher is wrong about it (default: what the "
        "teacher assumes).",
    ),
]

Rule = Annotated[
    str,
    typer.Option(
        "--rule",
        **choice("scbi", "bi", "pragmatic", "both"),
        help="The rule of teacher and learner: full cooperation (scbi), plain Bayes (bi), "
        "reasoning to a --depth (pragmatic), or SCBI and plain Bayes side by side (both).",
    ),
]


def _depth(text: str | float) -> float:
    """Parse a depth: an integer >= 0 or infinity."""
    if str(text).strip().lower() in ("inf", "infinity"):
        return float("inf")
    return integer(0)(str(text))


Depth = Annotated[
    float | None,
    typer.Option(
        "--depth",
        parser=_depth,
        metavar="N",
        help="How often the pragmatic teacher reasons about the learner; 'inf' is SCBI "
        "(default: 1).",
    ),
]

Rationality = Annotated[
    float | None,
    typer.Option(
        "--rationality",
        parser=number(0.0, float("inf")),
        metavar="ALPHA",
        help="How strongly the pragmatic teacher prefers better data (default: 1).",
    ),
]

Literal = Annotated[
    str | None,
    typer.Option(
        "--literal",
        **choice("likelihood", "truth"),
        help="How the literal learner of a pragmatic teacher reads the table: each column as a "
        "likelihood, or the numbers as they are (truth values, as in rational speech acts) "
        "(default: likelihood).",
    ),
]

DataPrior = Annotated[
    str | None,
    typer.Option(
        "--data-prior",
        metavar="FILE|NUMBERS",
        help="How likely each datum is before anything is taught: a table of two columns, datum "
        "and number, or 0.2,0.8 or left=0.2,right=0.8 (default: uniform).",
    ),
]

Seed = Annotated[
    int | None,
    count_option(
        "--seed", least=0, help="The same seed gives the same result (default: a new one)."
    ),
]

Smooth = Annotated[
    float | None,
    typer.Option(
        "--smooth",
        parser=number(0.0, 1.0),
        metavar="EPSILON",
        help="Mix every column with this share of the uniform distribution (default: none).",
    ),
]

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to stdout instead of text.")]

Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Write labels to CSV as they are, even those that a spreadsheet would run.",
    ),
]

Plot = Annotated[
    Path | None,
    file_option("--plot", "Write a picture: .png, .svg or .pdf (needs matplotlib)."),
]

NoRepeats = Annotated[bool, typer.Option("--no-repeats", help="Show no datum twice in a lesson.")]
