"""Built-in examples by name: the paper's matrices and four teaching cases."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import suggest
from cobayes._input.validation import quoted
from cobayes._output import html_table
from cobayes.errors import CobayesError
from cobayes.model import Model


@dataclass(frozen=True, eq=False)
class Example:
    """A matrix with a description, priors and the hypothesis that is taught.

    Every function that accepts a matrix also accepts an example.

    Attributes
    ----------
    name : str
        The name in `cobayes.examples`.
    title : str
        A title of one line.
    description : str
        What data, hypotheses and entries mean, and where the numbers come from.
    model : Model
        The labelled matrix.
    priors : dict of str to ndarray
        Named priors over the hypotheses, from the paper or made for cobayes; read-only.
    hypothesis : str
        The label of the hypothesis that is taught in the documentation.
    """

    name: str
    title: str
    description: str = field(repr=False)
    model: Model = field(repr=False)
    priors: dict[str, NDArray[np.float64]] = field(repr=False)
    hypothesis: str

    def _repr_html_(self) -> str:
        return (
            f"<p><b>{escape(self.name)}</b>: {escape(self.title)}</p>"
            f"<p>{escape(self.description)}</p>{self.model._repr_html_()}"
        )


class UnknownExampleError(CobayesError, KeyError):
    """No example has this name."""


class ExampleLibrary(Mapping[str, Example]):
    """A read-only mapping from names to examples; iterating gives the names.

    Names that need no quotation marks in a shell are accepted, too: ``M1`` means ``M_1`` and
    ``M1p`` means ``M'_1``.
    """

    def __getitem__(self, name: str) -> Example:
        # M3' and M'3 are accepted, too.
        is_text = isinstance(name, str)
        if plain := re.fullmatch(r"M(?:([1-9])(p|')?|'([1-9]))", name if is_text else ""):
            name = f"M'_{plain[1] or plain[3]}" if plain[2] or plain[3] else f"M_{plain[1]}"
        entry = _entries().get(name) if is_text else None
        if entry is None:
            raise UnknownExampleError(
                f"there is no example called {quoted(name)}.", suggest(name, tuple(self))
            )
        priors = {key: np.array(values) for key, values in entry["priors"].items()}
        for values in priors.values():
            values.flags.writeable = False
        title, description, taught = entry["title"], entry["description"], entry["hypothesis"]
        return Example(name, title, description, Model.from_dict(entry), priors, taught)

    def __iter__(self) -> Iterator[str]:
        return iter(_entries())

    def __len__(self) -> int:
        return len(_entries())

    def __repr__(self) -> str:
        return f"ExampleLibrary({', '.join(self)})"

    def _repr_html_(self) -> str:
        rows = [
            [name, example.title, f"{example.model.num_data} x {example.model.num_hypotheses}"]
            for name, example in self.items()
        ]
        return html_table("Built-in examples", ["name", "title", "size"], rows)


@functools.cache
def _entries() -> dict[str, dict[str, Any]]:
    """Return the content of ``data/examples.json``, by name."""
    file = resources.files("cobayes") / "data" / "examples.json"
    return {entry["name"]: entry for entry in json.loads(file.read_text(encoding="utf-8"))}


examples = ExampleLibrary()
"""The built-in examples; see `ExampleLibrary`."""
