"""What users type: matrices, hypotheses, priors, rules and the files to write."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobayes.cli import terminal
from cobayes.errors import CobayesError

if TYPE_CHECKING:
    import click
    import numpy as np
    from numpy.typing import NDArray

    from cobayes.example_library import Example
    from cobayes.model import Model
    from cobayes.rules import Rule
    from cobayes.tasks.task import Task

# Python refuses to read integers of thousands of digits; no position is that far.
_MOST_DIGITS = 20


def load_matrix(text: str, smooth: float | None = None) -> tuple[Model, Example | None]:
    """Return the model that ``example:NAME`` or a file name stands for, and the example."""
    from cobayes import model
    from cobayes.example_library import examples
    from cobayes.reading import EXAMPLE_PREFIX, read_model

    if text.startswith(EXAMPLE_PREFIX):
        example = examples[text.removeprefix(EXAMPLE_PREFIX)]
        found = example.model
    elif text in examples and not Path(text).exists():
        raise CobayesError(f"there is no file {text}.", f"for the example write example:{text}.")
    else:
        example, found = None, read_model(text)
    return (found if smooth is None else model.smooth(found, smooth)), example


def find_hypothesis(text: str | None, model: Model, example: Example | None) -> int:
    """Return the position of a hypothesis given by label or position; by default the example's."""
    if text is None and example is not None:
        return model.hypothesis_index(example.hypothesis)
    if text is None:
        raise CobayesError(
            "no hypothesis to teach was given.",
            f"add --hypothesis with one of: {', '.join(model.hypotheses[:12])}.",
        )
    is_number = text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS
    if text not in model.hypotheses and is_number:
        position = model.hypothesis_index(int(text))
        if any(label.isdigit() for label in model.hypotheses):
            name = model.hypotheses[position]
            terminal.say(f"note: {text} is no label; it is taken as the position of {name!r}.")
        return position
    position = model.hypothesis_index(text)
    if is_number and position != int(text) < model.num_hypotheses:
        terminal.say(f"note: {text} is the label of a hypothesis (at position {position}).")
    return position


def read_prior(
    text: str | None, model: Model, example: Example | None, *, name: str = "prior"
) -> NDArray[np.float64] | None:
    """Return the prior that the user typed, or None.

    Numbers in the order of the hypotheses (``0.2,0.8`` or ``1/3,1/3,1/3``), pairs
    (``A=0.2,B=0.8``), ``uniform``, or the name of one of the example's priors.
    """
    if text is None:
        return None
    named = {} if example is None else example.priors
    if text.strip() in named:
        return model.distribution(named[text.strip()], name=name)
    return model.distribution(_parse(text, name, tuple(named)), name=name)


def _parse(text: str, name: str, known: tuple[str, ...] = ()) -> Any:
    """Return numbers, or a mapping from label to number; None for ``uniform``."""
    if text.strip() == "uniform":
        return None
    parts = [part.strip() for part in text.split(",")]
    pairs = [part.rpartition("=") for part in parts]
    if not all(sign for _, sign, _ in pairs):
        return [_number(part, name, known) for part in parts]
    found: dict[str, float] = {}
    for label, _, value in pairs:
        if label.strip() in found:
            raise CobayesError(f"the {name} gives {label.strip()!r} twice.")
        found[label.strip()] = _number(value, name)
    return found


def read_data_prior(text: str, model: Model) -> NDArray[np.float64]:
    """Return the distribution over data that the user typed, or that a file holds.

    A file has two columns, the datum and its number; its first line may be headings.
    """
    values = _parse_file(text) if os.path.exists(text) else _parse(text, "data prior")
    return model.distribution(values, over="datum", name="data prior")


def _parse_file(text: str) -> dict[str, float]:
    import csv

    from cobayes.reading import existing_file, read_text

    file = existing_file(text)
    try:
        rows = [row for row in csv.reader(read_text(file).splitlines()) if any(row)]
    except csv.Error as error:
        raise CobayesError(f"{text} cannot be read: {error}.") from None
    if any(len(row) != 2 for row in rows):
        raise CobayesError(
            f"{text} has lines of another length than two cells.",
            "write one line per datum: its label, a comma, its number.",
        )
    if rows and rows[0][1].strip().isalpha():
        rows = rows[1:]  # headings
    return {label.strip(): _number(value, "data prior") for label, value in rows}


def _number(text: str, name: str, known: tuple[str, ...] = ()) -> float:
    # Not fractions.Fraction: it would write out all the digits of 1e99999999.
    above, has_line, below = text.strip().partition("/")
    try:
        if "_" in text:
            raise ValueError
        value = float(above) / (float(below) if has_line else 1.0)
        if not math.isfinite(value):
            raise ValueError
        return value
    except (ValueError, ZeroDivisionError):
        names = f", or a name: {', '.join(known)}" if known else ""
        raise CobayesError(
            f"the {name} holds {text.strip()!r}, which is not a finite number.",
            f"write 0.2,0.8 or 1/3,2/3 or A=0.2,B=0.8{names}.",
        ) from None


def make_task(model: Model, *, no_repeats: bool) -> Task:
    """Return the matrix as a task, without repeats where the user asked for that."""
    from cobayes.tasks.repeats import without_repeats

    return without_repeats(model) if no_repeats else model


def require_rule_options(rule: str, data_prior: str | None = None, **recursion: Any) -> None:
    """Raise an error for options that the chosen rule does not have."""
    given = [name for name, value in recursion.items() if value is not None]
    if rule != "pragmatic" and given:
        raise CobayesError(f"--{given[0]} belongs to --rule pragmatic.", "add --rule pragmatic.")
    if rule == "bi" and data_prior is not None:
        raise CobayesError("plain Bayes (bi) has no --data-prior.", "take --rule scbi.")


def make_rules(
    task: Task, rule: str, data_prior: str | None = None, **recursion: Any
) -> list[Rule]:
    """Return the rules that the options name, plain Bayes first.

    Parameters
    ----------
    task
        The matrix, or a task on it.
    rule
        "scbi", "bi", "pragmatic" or "both".
    data_prior
        What the user typed for the probabilities of the data; plain Bayes has none.
    **recursion
        depth, rationality and literal of a pragmatic rule; None for the defaults.
    """
    from cobayes.rules import BI, SCBI, Pragmatic

    require_rule_options(rule, data_prior, **recursion)
    shares = None if data_prior is None else read_data_prior(data_prior, task.model)
    if rule == "pragmatic":
        given: Any = {"depth": 1, **{k: v for k, v in recursion.items() if v is not None}}
        return [Pragmatic(task, **given, data_prior=shares)]
    rules: list[Rule] = [BI(task)] if rule in ("bi", "both") else []
    return [*rules, SCBI(task, data_prior=shares)] if rule in ("scbi", "both") else rules


def typed_command(context: click.Context) -> str:
    """Return the running command with every option that is not its default, for a shell."""
    import shlex

    words = ["cobayes", str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if value is None or parameter.name == "as_json":
            continue
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif value != parameter.get_default(context):
            flags = parameter.opts if value is not False else parameter.secondary_opts
            words += flags[:1] if isinstance(value, bool) else [flags[0], str(value)]
    return shlex.join(words)


def choose_seed(seed: int | None) -> int:
    """Return the user's seed, or a new one that can be told and used again."""
    if seed is not None:
        return seed
    import secrets

    return secrets.randbelow(2**32)


def check_outputs(
    outputs: Mapping[str, Path | None], sources: Iterable[str | Path | None] = ()
) -> None:
    """Raise an error before any work is done where an output cannot or must not be written.

    Parameters
    ----------
    outputs
        The files to write by the name of their option; None where none was asked for.
        ``--plot`` must be a picture.
    sources
        What the command reads; none of it may be overwritten.
    """
    wanted = {option: path for option, path in outputs.items() if path is not None}
    for option, path in wanted.items():
        _require_writable(path, option)
        _require_other(option, path, sources)
        for other, elsewhere in wanted.items():
            if other != option and _is_same_file(path, elsewhere):
                raise CobayesError(
                    f"{option} and {other} are both {path}.", "give them different names."
                )
        if option == "--plot":
            from cobayes.plots.beliefs import require_picture_format

            require_picture_format(path)


def check_folder(
    option: str, folder: Path, names: Iterable[str], sources: Iterable[str | Path | None]
) -> None:
    """Raise an error where files written to a folder would overwrite what a command reads."""
    if folder.exists() and not folder.is_dir():
        raise CobayesError(f"{folder} is a file; {option} needs a folder.")
    for name in names:
        _require_other(option, folder / name, sources)


def _require_other(option: str, path: Path, sources: Iterable[str | Path | None]) -> None:
    for source in sources:
        if source is not None and _is_same_file(path, Path(source)):
            raise CobayesError(
                f"{option} would overwrite {source}, which is read.", "write to another place."
            )


def _is_same_file(path: Path, other: Path) -> bool:
    """Tell whether two names mean one file, also through links."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return os.path.realpath(path) == os.path.realpath(other)


def _require_writable(path: Path, option: str) -> None:
    try:
        is_folder, has_folder = path.is_dir(), path.parent.is_dir()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CobayesError(f"{option} cannot be written: {reason}.") from None
    if is_folder:
        raise CobayesError(f"{path} is a folder; {option} needs a file name.")
    if not has_folder:
        raise CobayesError(f"the folder {path.parent} does not exist.", "make it first.")
