"""What users type: matrices, hypotheses, priors and output files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobayes.errors import CobayesError

if TYPE_CHECKING:
    import numpy as np
    import typer
    from numpy.typing import NDArray

    from cobayes.example_library import Example
    from cobayes.model import Model
    from cobayes.rules import Rule
    from cobayes.tasks.task import Task

# Python refuses to read integers of thousands of digits; no position is that far.
_MANY_DIGITS = 20


def load_matrix(text: str, smooth: float | None = None) -> tuple[Model, Example | None]:
    """Return the model that ``example:NAME`` or a file name stands for, and the example.

    Parameters
    ----------
    text
        What the user typed.
    smooth
        The share of the uniform distribution to mix into every column; None changes nothing.
    """
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
    """Return the position of the hypothesis to teach, given by label or position.

    Parameters
    ----------
    text
        What the user typed; None takes the example's own.
    model, example
        What the matrix argument stood for.
    """
    if text is None and example is not None:
        return model.hypothesis_index(example.hypothesis)
    if text is None:
        raise CobayesError(
            "no hypothesis to teach was given.",
            f"add --hypothesis with one of: {', '.join(model.hypotheses[:12])}.",
        )
    is_number = text.isascii() and text.isdigit() and len(text) < _MANY_DIGITS
    from cobayes.cli import output

    if text not in model.hypotheses and is_number:
        position = model.hypothesis_index(int(text))
        if any(label.isdigit() for label in model.hypotheses):
            name = model.hypotheses[position]
            output.say(f"note: {text} is no label; it is taken as the position of {name!r}.")
        return position
    position = model.hypothesis_index(text)
    if is_number and position != int(text) < model.num_hypotheses:
        output.say(f"note: {text} is the label of a hypothesis (at position {position}).")
    return position


def read_prior(
    text: str | None, model: Model, example: Example | None, *, name: str
) -> NDArray[np.float64] | None:
    """Return the prior that the user typed, or None.

    Numbers in the order of the hypotheses (``0.2,0.8`` or ``1/3,1/3,1/3``), pairs
    (``A=0.2,B=0.8``), ``uniform``, or the name of one of the example's priors.

    Parameters
    ----------
    text
        What the user typed.
    model, example
        What the matrix argument stood for.
    name
        What to call the prior in an error message.
    """
    if text is None:
        return None
    if example is not None and text.strip() in example.priors:
        return model.distribution(example.priors[text.strip()], name=name)
    return read_distribution(text, model, name=name, known=tuple(example.priors) if example else ())


def read_distribution(
    text: str, model: Model, *, name: str, over: str = "hypothesis", known: tuple[str, ...] = ()
) -> NDArray[np.float64]:
    """Return the distribution over hypotheses or data that the user typed.

    Parameters
    ----------
    text
        Numbers, pairs of label and number, or ``uniform``.
    model
        Knows the labels.
    name
        What to call the distribution in an error message.
    over
        "hypothesis" or "datum".
    known
        Names that could have been given instead, for the hint.
    """
    if text.strip() == "uniform":
        return model.distribution(None, over=over)
    parts = [part.strip() for part in text.split(",")]
    pairs = [part.rpartition("=") for part in parts]
    if all(sign for _, sign, _ in pairs):
        labels = [label.strip() for label, _, _ in pairs]
        repeated = {label for label in labels if labels.count(label) > 1}
        if repeated:
            raise CobayesError(f"the {name} gives {repeated.pop()!r} twice.")
        values: Any = {
            label: _number(value, name) for label, (_, _, value) in zip(labels, pairs, strict=True)
        }
        return model.distribution(values, over=over, name=name)
    return model.distribution([_number(part, name, known) for part in parts], over=over, name=name)


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


def make_rules(
    name: str,
    task: Task,
    *,
    depth: float | None = None,
    rationality: float | None = None,
    literal: Any = None,
    data_prior: str | None = None,
) -> list[Rule]:
    """Return the rules that the options name, plain Bayes first.

    Parameters
    ----------
    name
        "scbi", "bi", "pragmatic" or "both".
    task
        The matrix, or a task on it.
    depth, rationality
        Depth and rationality of a pragmatic rule; None for the default, 1 each.
    literal
        "likelihood" or "truth" of a pragmatic rule; None for the default, the first.
    data_prior
        What the user typed for the probabilities of the data; plain Bayes has none.
    """
    from cobayes.rules import BI, SCBI, Pragmatic

    own = {"--depth": depth, "--rationality": rationality, "--literal": literal}
    given = [option for option, value in own.items() if value is not None]
    if name != "pragmatic" and given:
        raise CobayesError(f"{given[0]} belongs to --rule pragmatic.", "add --rule pragmatic.")
    if name == "bi" and data_prior is not None:
        raise CobayesError("plain Bayes (bi) has no --data-prior.", "take --rule scbi.")
    shares = None if data_prior is None else read_data_prior(data_prior, task.model)
    if name == "pragmatic":
        steps = 1 if depth is None else depth if math.isinf(depth) else int(depth)
        alpha = 1.0 if rationality is None else rationality
        settings = {} if literal is None else {"literal": literal}
        return [Pragmatic(task, steps, rationality=alpha, data_prior=shares, **settings)]
    rules: list[Rule] = [BI(task)] if name in ("bi", "both") else []
    return [*rules, SCBI(task, data_prior=shares)] if name in ("scbi", "both") else rules


def read_data_prior(text: str, model: Model) -> NDArray[np.float64]:
    """Return the distribution over data that the user typed, or that a file holds.

    A file has two columns without headings, the datum and its number.
    """
    if not Path(text).is_file():
        return read_distribution(text, model, name="data prior", over="datum")
    import csv

    try:
        content = Path(text).read_text(encoding="utf-8-sig")
        rows = [row for row in csv.reader(content.splitlines()) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CobayesError(f"{text} cannot be read: {error}.") from None
    if any(len(row) != 2 for row in rows):
        raise CobayesError(
            f"{text} has lines of another length than two cells.",
            "write one line per datum: its label, a comma, its number.",
        )
    if rows and rows[0][0] not in model.data:
        rows = rows[1:]  # headings
    values: Any = {label.strip(): _number(value, "data prior") for label, value in rows}
    return model.distribution(values, over="datum", name="data prior")


def typed_command(context: typer.Context) -> str:
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
        for source in sources:
            if source is not None and _is_same_file(path, Path(source)):
                raise CobayesError(
                    f"{option} would overwrite {source}, which is read.",
                    "write to another file.",
                )
        for other, elsewhere in wanted.items():
            if other != option and _is_same_file(path, elsewhere):
                raise CobayesError(
                    f"{option} and {other} are both {path}.", "give them different names."
                )
        if option == "--plot":
            from cobayes.plots.overview import require_picture_format

            require_picture_format(path)


def check_folder(
    option: str, folder: Path, names: Iterable[str], sources: Iterable[str | Path | None]
) -> None:
    """Raise an error where files written to a folder would overwrite what a command reads.

    Parameters
    ----------
    option
        The option that names the folder.
    folder
        The folder, which need not exist.
    names
        The files to write in it.
    sources
        What the command reads.
    """
    if folder.exists() and not folder.is_dir():
        raise CobayesError(f"{folder} is a file; {option} needs a folder.")
    for source in sources:
        for name in names:
            if source is not None and _is_same_file(folder / name, Path(source)):
                raise CobayesError(
                    f"{option} would overwrite {source}, which is read.",
                    "write to another folder.",
                )


def _is_same_file(path: Path, other: Path) -> bool:
    """Tell whether two names mean one file, also through links."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return os.path.realpath(path) == os.path.realpath(other)


def _require_writable(path: Path, purpose: str) -> None:
    try:
        is_folder, has_folder = path.is_dir(), path.parent.is_dir()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CobayesError(f"{purpose} cannot be written: {reason}.") from None
    if is_folder:
        raise CobayesError(f"{path} is a folder; {purpose} needs a file name.")
    if not has_folder:
        raise CobayesError(f"the folder {path.parent} does not exist.", "make it first.")
