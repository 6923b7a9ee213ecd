"""The problems that people were given: tables with labels, priors, and what may be shown next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import find, is_position, shorten
from cobayes.errors import CobayesError
from cobayes.model import Model, as_model, as_task
from cobayes.tasks.task import Task

Array = NDArray[np.float64]
SUFFIXES = (".csv", ".tsv", ".json", ".parquet")


class Table(NamedTuple):
    """What holds before one choice: the matrix and the data prior, zero for unavailable data."""

    matrix: Array
    data_prior: Array


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem: a labelled table, perhaps a task around it, and the learner's first belief."""

    name: str
    model: Model
    prior: Array
    task: Task | None = None
    _tables: dict[Any, Table] = field(default_factory=dict, repr=False)

    def table(self, history: tuple[int, ...]) -> Table:
        """Return the matrix and the data prior after some data were shown."""
        state = None
        if self.task is not None:
            state = self.task.start
            for datum in history:
                outcomes = list(self.task.next_states(state, datum))
                if len(outcomes) != 1:
                    raise CobayesError(
                        f"problem {self.name!r}: datum {self.model.data[datum]!r} has "
                        f"{len(outcomes)} possible outcomes, and a table of choices does not say "
                        "which one it had.",
                        "give a task in which every datum leads to one state.",
                    )
                state = outcomes[0][0]
        if state not in self._tables:
            model = self.model if self.task is None else self.task.matrix_at(state)
            prior = None if self.task is None else self.task.data_prior_at(state)
            if prior is None:
                prior = np.full(model.num_data, 1.0 / model.num_data)
            elif not prior.any():
                raise CobayesError(
                    f"problem {self.name!r}: no datum is available after {len(history)} data.",
                    "check the table: a choice was made where the task had ended.",
                )
            self._tables[state] = Table(model.matrix, prior)
        return self._tables[state]

    def datum(self, value: Any) -> int:
        """Return the position of a datum as written in a table of choices."""
        return _find_in_table(value, self.model.data, "datum")

    def hypothesis(self, value: Any) -> int:
        """Return the position of a hypothesis as written in a table of choices."""
        return _find_in_table(value, self.model.hypotheses, "hypothesis")


def _find_in_table(value: Any, labels: Sequence[str], kind: str) -> int:
    """Return a position; in a table a number that is a label means the label."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column with a missing value elsewhere holds floats
    text = str(value).strip()
    if text in labels:
        return labels.index(text)
    if isinstance(value, str) and text.isdecimal():
        value = int(text)
    return find(value if is_position(value) else text, labels, kind)


def read_problems(problems: Any, priors: Mapping[str, Any] | None = None) -> dict[str, Problem]:
    """Return problems by name.

    Parameters
    ----------
    problems
        A mapping from name to matrix or task; a folder of model files, named by their stems; or
        one file or matrix, the only problem of all choices.
    priors
        From name to prior; uniform where nothing is given.
    """
    if isinstance(problems, (str, Path)):
        problems = _from_path(problems)
    if not isinstance(problems, Mapping):
        problems = {ONLY: problems}
    if not problems:
        raise CobayesError("no problems were given.", "give {name: matrix}, one for each problem.")
    priors = dict(priors or {})
    unknown = [str(name) for name in priors if name not in problems]
    if unknown:
        raise CobayesError(f"there is a prior for {shorten(unknown)}, which is no problem.")
    found = {}
    for name, matrix in problems.items():
        if isinstance(matrix, Problem):
            found[str(name)] = matrix
            continue
        task = as_task(matrix) if isinstance(matrix, Task) else None
        model = as_model(matrix) if task is None else task.model
        prior = model.distribution(priors.get(name), name=f"prior of problem {name!r}")
        found[str(name)] = Problem(str(name), model, prior, task)
    return found


ONLY = "*"
"""Name of a single problem that was given without one; it goes with every choice."""


def _from_path(path: str | Path) -> dict[str, Model]:
    from cobayes.reading import read_model

    if not Path(path).is_dir():
        return {ONLY: read_model(path)}
    files = sorted(file for file in Path(path).iterdir() if file.suffix.lower() in SUFFIXES)
    if not files:
        raise CobayesError(
            f"the folder {path} holds no model file.",
            f"put one file for each problem there, with the suffix {', '.join(SUFFIXES)}.",
        )
    return {file.stem: read_model(file) for file in files}
