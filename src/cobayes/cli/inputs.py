"""Turn command-line arguments into matrices, hypotheses, priors, rules and output files."""

from __future__ import annotations

import csv
import functools
import math
import os
import secrets
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
from click.core import ParameterSource
from numpy.typing import NDArray

from cobayes import __version__
from cobayes._input.text import find_delimiter, with_decimal_point
from cobayes._output import without_guard
from cobayes.cli import terminal
from cobayes.cli.options import Output, as_number
from cobayes.errors import CobayesError
from cobayes.example_library import Example, examples
from cobayes.model import Model, as_model, smooth
from cobayes.reading import EXAMPLE_PREFIX, existing_file, read_text
from cobayes.rules import BI, SCBI, Pragmatic, Rule
from cobayes.tasks.constraints import without_repeats
from cobayes.tasks.task import Task

# Arguments and options that may name a file to read, in commands that also write a file.
_SOURCES = ("matrix", "learner_matrix", "data_prior", "board")


class Given(SimpleNamespace):
    """The user's options by name, and the objects made from them.

    Parameters
    ----------
    context
        The running command.
    typed
        The command's arguments and options. The files to write are checked: the folder of each
        must exist, and none may also be an input or another output.
    """

    # Defaults for commands without these options.
    smooth, data_prior, no_repeats, plot, as_json = None, None, False, None, False

    def __init__(self, context: click.Context, typed: Mapping[str, Any]) -> None:
        super().__init__(**typed)
        self._context = context
        files = [typed.get(name) for name in _SOURCES]
        for option in context.command.params:
            path = typed[option.name or ""]
            if isinstance(option.type, Output) and path is not None:
                if not path.parent.is_dir():
                    raise CobayesError(
                        f"the folder {path.parent} does not exist.", "make the folder first."
                    )
                _require_other(option.opts[0], path, files)
                files.append(path)
        if self.plot is not None:
            from cobayes.plots.beliefs import require_picture_format

            require_picture_format(self.plot)

    def was_typed(self, name: str) -> bool:
        """Return whether the user typed an option; otherwise it has its default."""
        return self._context.get_parameter_source(name) is ParameterSource.COMMANDLINE

    @functools.cached_property
    def model(self) -> Model:
        """The matrix."""
        return load_matrix(self.matrix, self.smooth)

    @property
    def example(self) -> Example | None:
        """The example that the matrix comes from; None for a file."""
        return example_of(self.matrix)

    @functools.cached_property
    def target(self) -> int:
        """The position of the hypothesis that is taught."""
        return find_hypothesis(self.hypothesis, self.model, self.example)

    @functools.cached_property
    def assumed(self) -> NDArray[np.float64] | None:
        """The learner's prior as the teacher assumes it; None if it was not given."""
        return read_distribution(self.prior, self.model, example=self.example)

    @functools.cached_property
    def actual(self) -> NDArray[np.float64] | None:
        """The learner's actual prior; None if it was not given."""
        name, example = "learner's prior", self.example
        return read_distribution(self.learner_prior, self.model, name=name, example=example)

    @functools.cached_property
    def rules(self) -> list[Rule]:
        """The rules that the options name, BI first; with --no-repeats, no datum is shown twice."""
        return self.rules_on(without_repeats(self.model) if self.no_repeats else self.model)

    def rules_on(self, task: Task) -> list[Rule]:
        """Return the rules that the options name, for a given task; BI comes first."""
        self.require_rule_options()
        shares = read_distribution(self.data_prior, task.model, "datum", name="data prior")
        if self.rule == "pragmatic":
            return [Pragmatic(task, **{"depth": 1, **self.recursion}, data_prior=shares)]
        rules: dict[str, Rule] = {"bi": BI(task), "scbi": SCBI(task, data_prior=shares)}
        return list(rules.values()) if self.rule == "both" else [rules[self.rule]]

    @property
    def recursion(self) -> dict[str, Any]:
        """The settings of the pragmatic rule that the user typed."""
        typed = {name: getattr(self, name) for name in ("depth", "rationality", "literal")}
        return {name: value for name, value in typed.items() if value is not None}

    def require_rule_options(self) -> None:
        """Raise an error for options that the chosen rule does not have."""
        if self.rule != "pragmatic" and self.recursion:
            name = next(iter(self.recursion))
            raise CobayesError(f"--{name} belongs to --rule pragmatic.", "add --rule pragmatic.")
        if self.rule == "bi" and self.data_prior is not None:
            raise CobayesError("plain Bayes (bi) has no --data-prior.", "take --rule scbi.")

    @functools.cached_property
    def used_seed(self) -> int:
        """The user's seed, or a new one."""
        return secrets.randbelow(2**32) if self.seed is None else self.seed

    def say_seed(self) -> None:
        """Print the seed if it was chosen at random and the result does not contain it."""
        if "used_seed" in vars(self) and self.seed is None and not self.as_json:
            seed = self.used_seed
            terminal.say(f"seed {seed} (add --seed {seed} to repeat this result)")

    def show_json(self, content: Mapping[str, Any]) -> None:
        """Write a result as JSON, with the version, the matrix's name and, if used, the seed."""
        start = {"cobayes": __version__, "matrix": getattr(self, "matrix", None)}
        seed = {"seed": self.used_seed} if "used_seed" in vars(self) else {}
        known = {name: value for name, value in start.items() if value is not None}
        terminal.show_json({**known, **seed, **content})

    def finish(
        self,
        content: Mapping[str, Any],
        show: Callable[[], None],
        draw: Callable[[], Any] | None = None,
    ) -> None:
        """Write the figure, if requested, and the result as JSON or as text."""
        if self.plot is not None and draw is not None:
            from cobayes.plots.beliefs import save_picture

            save_picture(draw(), self.plot)
            terminal.say(f"wrote {self.plot}")
        if self.as_json:
            self.show_json(content)
        else:
            show()

    def typed_command(self) -> str:
        """Return the command that the user typed, quoted for a shell and without --json."""
        return shlex.join(["cobayes", *(word for word in self._context.obj if word != "--json")])


def load_matrix(matrix: Any, epsilon: float | None = None) -> Model:
    """Return the model of a matrix, ``example:NAME`` or a file; with `epsilon`, smoothed."""
    return as_model(matrix) if epsilon is None else smooth(matrix, epsilon)


def example_of(text: str) -> Example | None:
    """Return the example of ``example:NAME``; None for a file."""
    is_example = text.startswith(EXAMPLE_PREFIX)
    return examples[text.removeprefix(EXAMPLE_PREFIX)] if is_example else None


def find_hypothesis(text: str | None, model: Model, example: Example | None) -> int:
    """Return the position of a hypothesis, given its label; None: that of the example, if any."""
    if text is None and example is not None:
        return model.hypothesis_index(example.hypothesis)
    if text is None:
        raise CobayesError(
            "no hypothesis to teach was given.",
            f"add --hypothesis with one of: {', '.join(model.hypotheses[:12])}.",
        )
    return model.hypothesis_index(text)


def read_distribution(
    text: str | None,
    model: Model,
    over: str = "hypothesis",
    *,
    name: str = "prior",
    example: Example | None = None,
) -> NDArray[np.float64] | None:
    """Return the distribution that the user typed; None if there is no text.

    The text is ``uniform``, the name of one of the example's priors, numbers in the order of the
    labels (``0.2,0.8`` or ``1/3,2/3``), pairs (``A=0.2,B=0.8``) or, for data, the name of a file
    with two columns.
    """
    if text is None:
        return None
    text, named = text.strip(), {} if example is None else example.priors
    parts = text.split(",")
    if text == "uniform" or text in named:
        values = named.get(text)
    elif over == "datum" and os.path.exists(text):
        values = _by_label(_read_pairs(text, model.data), name)
    elif all("=" in part for part in parts):
        values = _by_label([part.rpartition("=")[::2] for part in parts], name)
    else:
        names = f", or a name: {', '.join(named)}" if named else ""
        forms = f"write 0.2,0.8 or 1/3,2/3 or A=0.2,B=0.8{names}."
        values = [_number(part, name, forms) for part in parts]
    return model.distribution(values, over=over, name=name)


def _by_label(pairs: Iterable[Sequence[str]], name: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for label, value in pairs:
        if label.strip() in found:
            raise CobayesError(f"the {name} gives {label.strip()!r} twice.")
        found[label.strip()] = _number(value, name)
    return found


def _read_pairs(text: str, labels: tuple[str, ...]) -> list[list[str]]:
    """Return the rows of a file with two columns, label and number; skip a row of headings."""
    file = existing_file(text)
    content, sign, _ = find_delimiter(read_text(file), ",")
    try:
        lines = [row for row in csv.reader(content.splitlines(), delimiter=sign) if any(row)]
    except csv.Error as error:
        raise CobayesError(f"{text} cannot be read: {error}.") from None
    rows = [[without_guard(cell.strip()) for cell in row] for row in lines]
    if any(len(row) != 2 for row in rows):
        raise CobayesError(
            f"{text} has lines that do not have two cells.",
            "write one line per datum: its label, a comma, its number.",
        )
    if sign != ",":
        rows = [[label, with_decimal_point(cell)] for label, cell in rows]
    if rows and rows[0][0] not in labels and as_number(rows[0][1]) is None:
        del rows[0]
    return rows


def _number(text: str, name: str, hint: str = "write a number such as 0.2 or 1/3.") -> float:
    value = as_number(text)
    if value is None or not math.isfinite(value):
        message = f"the {name} holds {text.strip()!r}, which is not a finite number."
        raise CobayesError(message, hint)
    return value


def check_folder(
    option: str, folder: Path, names: Iterable[str], sources: Iterable[str | Path | None]
) -> None:
    """Raise an error if `folder` is a file, or if files `names` in it would overwrite `sources`."""
    if folder.exists() and not folder.is_dir():
        raise CobayesError(f"{folder} is a file; {option} needs a folder.")
    for name in names:
        _require_other(option, folder / name, sources)


def _require_other(option: str, path: Path, sources: Iterable[str | Path | None]) -> None:
    for source in sources:
        if source is not None and _is_same_file(path, Path(source)):
            raise CobayesError(
                f"{option} would overwrite {source}, which this command also uses.",
                "write to another file.",
            )


def _is_same_file(path: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, possibly through links."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return os.path.realpath(path) == os.path.realpath(other)
