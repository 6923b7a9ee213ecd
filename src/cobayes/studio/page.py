"""The studio: one HTML file to play with, for a notebook cell, a folder or a mail."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from cobayes._output import shape_in_words
from cobayes.errors import CobayesError
from cobayes.studio.bundle import bundle, read

if TYPE_CHECKING:
    from cobayes.model import MatrixLike

MAX_DATA, MAX_HYPOTHESES = 200, 60
"""The largest table that the page shows."""

VIEWS = ("lesson", "table", "compare", "misjudge", "play", "grid")


REFERENCE_GAME = {
    "name": "reference-game",
    "title": "A reference game: one word for one of three objects (with zeros)",
    "hypothesis": 0,
    "isPython": False,
    "matrix": [[1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0]],
    "data": ["blue", "green", "square", "circle"],
    "hypotheses": ["blue square", "blue circle", "green square"],
}
"""An example with zeros: words of zeros and ones, as in studies of pragmatic language."""


LIVE_FIGURES = {"round": "What one round does", "lesson": "One lesson by three rules"}
"""Figures for other pages, with their titles."""


class Studio:
    """A page on which one can watch lessons, edit the table and compare rules.

    Everything is inside the page: it needs no server and no network, and sends nothing anywhere.
    In a notebook the object shows itself; `save` writes the file.

    Parameters
    ----------
    matrix
        The table to start with: anything that `cobayes.Model` takes, a model, an example, or
        what `cobayes.without_repeats` returns.
        None starts with the built-in example of the gestures.
    view
        What is shown first: "lesson", "table", "compare", "misjudge", "play" or "grid".

    Examples
    --------
    >>> import cobayes as cb
    >>> page = cb.studio("example:gestures")
    >>> page.save("page.html")  # doctest: +SKIP
    """

    def __init__(self, matrix: MatrixLike | None = None, *, view: str = "lesson") -> None:
        if view not in VIEWS:
            raise CobayesError(
                f"there is no view {view!r} in the studio.", f"choose one of: {', '.join(VIEWS)}."
            )
        self._start = {"view": view, **_first_table(matrix)}

    def to_html(self) -> str:
        """Return the page as text."""
        return render(self._start)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file and return its path.

        Parameters
        ----------
        path
            Such as "page.html"; the folder must exist.
        """
        file, text = Path(path), self.to_html()
        try:
            file.write_text(text, encoding="utf-8")
        except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
            raise CobayesError(
                f"the page cannot be written to {str(file)!r}: "
                f"{getattr(error, 'strerror', None) or error}.",
                "choose a file in a folder that exists and may be written to.",
            ) from error
        return file

    def _repr_html_(self) -> str:
        return frame(self.to_html(), title="cobayes studio", height=900)

    def __repr__(self) -> str:
        table = self._start.get("table")
        what = (
            shape_in_words(len(table["data"]), len(table["hypotheses"]))
            if table
            else f"example {self._start['example']!r}"
        )
        return f"Studio({what}; .save('page.html') writes the page)"


def studio(matrix: MatrixLike | None = None, *, view: str = "lesson") -> Studio:
    """Make the page to play with; see `Studio`.

    Parameters
    ----------
    matrix
        The table to start with; None for a built-in example.
    view
        What is shown first.

    Returns
    -------
    Studio
        Shows itself in a notebook; ``.save("page.html")`` writes the page.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.studio(cb.examples["gestures"])
    Studio(example 'gestures'; .save('page.html') writes the page)
    """
    return Studio(matrix, view=view)


def live_figure(kind: str, matrix: MatrixLike | None = None, *, height: int | None = None) -> str:
    """Return a figure that moves, as HTML for another page.

    Parameters
    ----------
    kind
        "round": what one round does to the table. "lesson": one lesson by the three rules.
    matrix
        The table; None for a built-in example.
    height
        In pixels; by default enough for the figure on a wide screen.

    Returns
    -------
    str
        An ``iframe`` element that holds the whole figure.

    Examples
    --------
    >>> import cobayes as cb
    >>> frame = cb.studio.live_figure("round", "example:M_1")  # doctest: +SKIP
    """
    from cobayes.model import as_model

    if kind not in LIVE_FIGURES:
        raise CobayesError(f"there is no live figure {kind!r}.", "choose 'round' or 'lesson'.")
    title = LIVE_FIGURES[kind]
    first = _first_table(matrix)
    page = render({"view": "lesson", "embed": kind, **first}, title=title)
    num_data = as_model(matrix).num_data if matrix is not None else 8
    default = {"round": 290 + 32 * num_data, "lesson": 800}[kind]
    return frame(page, title=title, height=default if height is None else height)


def frame(page: str, *, title: str, height: int) -> str:
    """Return an inline frame that holds a whole page.

    Parameters
    ----------
    page
        The page's HTML.
    title
        What a screen reader says.
    height
        In pixels.
    """
    return (
        f'<iframe title="{escape(title)}" loading="lazy" width="100%" height="{height}" '
        f'style="border:0" srcdoc="{escape(page)}"></iframe>'
    )


def render(start: dict[str, Any], title: str = "cobayes studio") -> str:
    """Return the page as HTML that needs nothing from elsewhere.

    Parameters
    ----------
    start
        The state that differs from the page's defaults.
    title
        The page's title.

    Notes
    -----
    The content security policy names the one script and the one style sheet by their hashes:
    nothing else runs, whatever a table holds, and no address can be reached.
    """
    from cobayes import __version__

    style, program = read("page/style.css"), f'"use strict";\n{bundle("page/main.js")}'
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_fingerprint(program)}",
            f"style-src {_fingerprint(style)}",
            "img-src data: blob:",
            "worker-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    content = {"examples": _examples(), "start": {**start, "version": __version__}}
    return Template(read("page/page.html")).substitute(
        policy=policy,
        title=escape(title),
        style=style,
        # No text of a table can end the script element: "<" never appears in it.
        content=json.dumps(content, ensure_ascii=False, allow_nan=False)
        .replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029"),
        program=program,
    )


def _fingerprint(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _first_table(matrix: MatrixLike | None) -> dict[str, Any]:
    """Return the part of the first state that says which table is shown."""
    from cobayes.example_library import Example, examples
    from cobayes.model import Model, as_model
    from cobayes.tasks.repeats import WithoutRepeats
    from cobayes.tasks.task import Task

    if isinstance(matrix, Task) and not isinstance(matrix, Model | WithoutRepeats):
        raise CobayesError(
            f"the studio shows one table; that of a {type(matrix).__name__} changes.",
            "give the table of one state, task.matrix_at(state); boards are drawn on the page.",
        )
    example = examples["gestures"] if matrix is None else matrix
    model = as_model(example)
    if model.num_data > MAX_DATA or model.num_hypotheses > MAX_HYPOTHESES:
        raise CobayesError(
            f"the table has {model.num_data} data and {model.num_hypotheses} hypotheses; the "
            f"studio shows at most {MAX_DATA} by {MAX_HYPOTHESES}.",
            "choose fewer rows and columns, or use cobayes.plots.",
        )
    if isinstance(example, Example):
        return {"example": example.name, "truth": model.hypothesis_index(example.hypothesis)}
    first = {"example": "", "table": model.to_dict()}
    return {**first, "repeats": False} if isinstance(matrix, WithoutRepeats) else first


def _examples() -> list[dict[str, Any]]:
    """Return the built-in examples as plain content, and one with zeros."""
    from cobayes.example_library import examples

    found = [
        {
            "name": example.name,
            "title": example.title,
            "hypothesis": example.model.hypothesis_index(example.hypothesis),
            "isPython": True,
            **example.model.to_dict(),
        }
        for example in examples.values()
    ]
    first = [example for example in found if example["name"] == "gestures"]
    return [*first, REFERENCE_GAME, *(example for example in found if example not in first)]
