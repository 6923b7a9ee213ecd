"""Decorators for commands and options, and the options that several commands share."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from cobayes.errors import CobayesError

# The largest number of characters of an integer; Python refuses to read thousands of digits.
_LONGEST = 40

Decorator = Callable[[Any], Any]
Bounds = tuple[float, float]


class Command(click.Command):
    """A command whose help does not wrap the lines of examples."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; an error without a hint refers to the --help of this command."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        except CobayesError as error:
            hint = error.hint or f"run '{ctx.command_path} --help' for its arguments and options."
            raise CobayesError(error.message, hint) from None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write examples without wrapping, so that commands can be copied."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write("".join(f"  {line}\n" for line in self.epilog.splitlines()))


class Group(Command, click.Group):
    """A command with subcommands."""


def command(*examples: str) -> Decorator:
    """Return a decorator that turns a function into a command; its docstring is the help text.

    The function has one argument, an `inputs.Given` with the user's options. It may return an exit
    code.
    """
    epilog = "\n".join(["Examples:" if len(examples) > 1 else "Example:", *examples])

    def decorate(function: Any) -> click.Command:
        @functools.wraps(function)
        def call(**typed: Any) -> Any:
            from cobayes.cli.inputs import Given

            given = Given(click.get_current_context(), typed)
            code = function(given)
            given.say_seed()
            return code

        return click.command(cls=Command, epilog=epilog)(call)

    return decorate


class Value(click.ParamType):
    """The type of an option whose text is converted by a call like ``read("--rounds", "5")``."""

    name = "value"

    def __init__(self, read: Callable[[str, str], Any]) -> None:
        self.read = read

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ARG002
        """Return the value, or raise an error that shows the expected form."""
        return self.read(max(param.opts, key=len), str(value).strip())


argument = click.argument


def option(
    *flags: str, help: str, read: Callable[[str, str], Any] | None = None, **settings: Any
) -> Decorator:
    """Return an option of a command; `read` converts its text, see `Value`."""
    if read is not None:
        settings["type"] = Value(read)
    return click.option(*flags, help=help, **settings)


def flag(*flags: str, help: str) -> Decorator:
    """Return an option without a value."""
    return click.option(*flags, is_flag=True, help=help)


def count(
    *flags: str, least: int, help: str, default: int | None = None, infinite: bool = False
) -> Decorator:
    """Return an option whose value is an integer >= `least`; `infinite` allows infinity, too."""

    def read(name: str, text: str) -> float:
        from cobayes._input.validation import whole_number

        if len(text) > _LONGEST:
            raise CobayesError(f"{name} has {len(text)} characters; the limit is {_LONGEST}.")
        number, real = text, as_number(text)
        if infinite and real == float("inf"):
            return float("inf")
        if re.fullmatch("-?[0-9]+", text):
            number = int(text)
        elif real is not None and real.is_integer():  # 1e6
            number = int(real)
        return whole_number(number, name, least)

    return option(*flags, read=read, metavar="N", help=help, default=default)


def number(
    *flags: str, between: Bounds, closed: str = "", hint: str = "", help: str, **settings: Any
) -> Decorator:
    """Return an option whose value is a number between bounds; see `number_between`."""

    def read(name: str, text: str) -> float:
        from cobayes._input.validation import number_between

        value = as_number(text)
        if value is None:
            raise CobayesError(
                f"{name}: expected a number, found {text[:40]!r}{_correction(text)}."
            )
        return number_between(value, name, *between, closed=closed, hint=hint or None)

    return option(*flags, read=read, help=help, **settings)


def choice(flag: str, *names: str, help: str, default: Any = None) -> Decorator:
    """Return an option whose value is one of several names, in upper or lower case."""
    kind = click.Choice(names, case_sensitive=False)
    return option(flag, type=kind, metavar="|".join(names), help=help, default=default)


def names(*flags: str, help: str, **settings: Any) -> Decorator:
    """Return an option whose value is names separated by commas."""

    def read(_: str, text: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())

    return option(*flags, read=read, help=help, **settings)


def pairs(*flags: str, help: str, **settings: Any) -> Decorator:
    """Return an option whose value is pairs of a name and a value, written a=1,b=2."""

    def read(name: str, text: str) -> dict[str, str]:
        found = {}
        for part in text.split(","):
            key, _, value = (word.strip() for word in part.partition("="))
            if not key or not value:
                raise CobayesError(f"{name}: expected NAME=VALUE, found {part[:40]!r}.")
            found[key] = value
        return found

    return option(*flags, read=read, help=help, **settings)


def as_number(text: str) -> float | None:
    """Return the number in a text such as 0.5, 1e6, inf, nan or 1/3; None for other texts."""
    # Not fractions.Fraction, which would compute all digits of 1e99999999.
    above, line, below = text.partition("/")
    try:
        return None if "_" in text else float(above) / (float(below) if line else 1.0)
    except (ValueError, ZeroDivisionError):
        return None


def _correction(text: str) -> str:
    """Return a hint if a text has a percent sign or a decimal comma; else an empty text."""
    if re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", text):  # the comma may separate thousands
        return ""
    plain = text.replace(",", ".", 1)
    for written, scale in ((plain, 1.0), (plain.removesuffix("%"), 100.0)):
        if (value := as_number(written)) is not None:
            return f" (write {value / scale:g})"
    return ""


def path(*flags: str, help: str, metavar: str = "FILE", **settings: Any) -> Decorator:
    """Return an option whose value is the name of a file or folder."""
    settings = {"type": click.Path(path_type=Path), **settings}
    return option(*flags, metavar=metavar, help=help, **settings)


class Output(click.Path):
    """A file to write."""


def output(*flags: str, help: str, **settings: Any) -> Decorator:
    """Return an option with a file to write, which is checked before the command starts."""
    return path(*flags, type=Output(dir_okay=False, path_type=Path), help=help, **settings)


matrix = argument(
    "matrix",
    help="A file (.csv, .tsv, .json or .parquet: first row hypotheses, first column data) or "
    "example:NAME; see 'cobayes examples'.",
)


def hypothesis(default: str = "the hypothesis of the example") -> Decorator:
    """Return the option ``--hypothesis``; `default` describes its default in the help text."""
    text = f"The label of the taught hypothesis (default: {default})."
    return option("--hypothesis", "-H", metavar="LABEL", help=text)


prior = option(
    "--prior",
    metavar="PRIOR",
    help="The learner's belief before the lesson, as the teacher assumes it: 0.2,0.8 or "
    "A=0.2,B=0.8 or the name of one of the example's priors (default: uniform).",
)

learner_prior = option(
    "--learner-prior",
    metavar="PRIOR",
    help="The learner's actual prior, if it differs from --prior (default: --prior).",
)

depth = count(
    "--depth",
    least=0,
    infinite=True,
    help="The depth of the pragmatic rule's recursion; 'inf' is SCBI (default: 1).",
)

rationality = number(
    "--rationality",
    between=(0.0, float("inf")),
    metavar="ALPHA",
    help="The pragmatic teacher's rationality: the exponent of the learner's belief (default: 1).",
)

literal = choice(
    "--literal",
    "likelihood",
    "truth",
    help="The table of the pragmatic rule's literal learner: the matrix with normalised columns "
    "(likelihood, the default), or the matrix itself, as in rational speech acts (truth).",
)

data_prior = option(
    "--data-prior",
    metavar="FILE|NUMBERS",
    help="The prior probability of each datum: 0.2,0.8 or left=0.2,right=0.8, or a file with two "
    "columns, datum and number (default: uniform).",
)


def rule(default: str, *names: str) -> Decorator:
    """Return ``--rule`` and the options of the pragmatic rule: depth, rationality, literal."""
    helps = {
        "scbi": "full cooperation (scbi)",
        "bi": "plain Bayes (bi)",
        "pragmatic": "a recursion of depth --depth (pragmatic)",
        "both": "a comparison of scbi and bi (both)",
    }
    known = names or tuple(helps)
    listed = [helps[name] for name in known]
    text = f"The rule of teacher and learner: {', '.join(listed[:-1])}, or {listed[-1]}."
    chosen = choice("--rule", *known, default=default, help=text)
    return lambda function: chosen(depth(rationality(literal(function))))


def rounds(default: int, help: str, least: int = 1) -> Decorator:
    """Return ``--rounds``."""
    return count("--rounds", "-k", least=least, default=default, help=help)


def lessons(default: int | None, help: str, least: int = 2) -> Decorator:
    """Return ``--lessons``."""
    return count("--lessons", "-n", least=least, default=default, help=help)


level = number(
    "--level",
    between=(0.0, 1.0),
    closed="high",
    metavar="BELIEF",
    default=0.95,
    help="A learner is sure when its belief in the truth is at least BELIEF.",
)


def no_repeats(help: str = "Show no datum twice in a lesson.") -> Decorator:
    """Return ``--no-repeats``."""
    return flag("--no-repeats", help=help)


def seed(default: int | None = None, help: str = "") -> Decorator:
    """Return ``--seed``."""
    new = " (default: a new seed)" if default is None else ""
    text = f"The seed of the random numbers; the same seed gives the same result{new}."
    return count("--seed", least=0, default=default, help=help or text)


smooth = number(
    "--smooth",
    between=(0.0, 1.0),
    metavar="EPSILON",
    help="Make zeros positive: mix each column with a share EPSILON of the uniform distribution.",
)

as_json = flag("--json", "as_json", help="Write JSON to stdout instead of text.")

raw = flag(
    "--raw",
    help="Write labels to CSV unchanged (default: an apostrophe precedes each label that a "
    "spreadsheet would execute as a formula).",
)


def plot(of: str = "") -> Decorator:
    """Return ``--plot``; `of` describes the picture in the help text."""
    return output("--plot", help=f"Write a picture{of}: .png, .svg or .pdf (needs matplotlib).")


jobs = count("--jobs", least=1, help="Number of local processes (default: one per core).")
