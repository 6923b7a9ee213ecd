"""The studio: one HTML file with interactive lessons."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from cobayes import __version__
from cobayes._input.validation import one_of
from cobayes._output import shape_in_words, write_text
from cobayes.browser.bundle import bundle, read, script_value
from cobayes.errors import CobayesError
from cobayes.example_library import Example, examples
from cobayes.model import MatrixLike, Model, as_model
from cobayes.tasks.constraints import WithoutRepeats
from cobayes.tasks.task import Task

MAX_DATA, MAX_HYPOTHESES = 200, 60
"""The largest table that the page shows."""

VIEWS = ("lesson", "table", "compare", "play", "grid")

LIVE_FIGURES = {"round": "The normalisations of one round", "lesson": "One lesson by three rules"}
"""Figures for other pages, with their titles."""


class Studio:
    """A page on which one can watch lessons, edit the table and compare rules.

    The page is one file: it needs no server and no network, and sends no data. In a notebook the
    object is displayed as the page; `save` writes the file.

    Parameters
    ----------
    matrix
        The table to start with: anything that `cobayes.Model` takes, an example, or
        `cobayes.without_repeats` of a table; the built-in example "gestures" by default.
    view
        The first view: "lesson", "table", "compare", "play" or "grid".

    Examples
    --------
    >>> import cobayes as cb
    >>> page = cb.studio("example:gestures")
    >>> page.save("page.html")  # doctest: +SKIP
    """

    def __init__(self, matrix: MatrixLike | None = None, *, view: str = "lesson") -> None:
        one_of(view, "view", tuple(VIEWS))
        self._start = {"view": view, **_first_table(matrix)}

    def to_html(self) -> str:
        """Return the page as text."""
        return render(self._start)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file and return its path; a failed attempt keeps an existing file.

        Parameters
        ----------
        path
            The file, such as "page.html"; its folder must exist.
        """
        try:
            write_text(path, self.to_html())
        except OSError as error:
            raise CobayesError(
                f"the page cannot be written to {str(path)!r}: {error.strerror}.",
                "choose a file in a folder that exists and may be written to.",
            ) from error
        return Path(path)

    def _repr_html_(self) -> str:
        return frame(self.to_html(), title="cobayes studio", height=900)

    def __repr__(self) -> str:
        what = f"example {self._start['example']!r}"
        if table := self._start.get("table"):
            what = shape_in_words(len(table["data"]), len(table["hypotheses"]))
        return f"Studio({what}; .save('page.html') writes the page)"


def studio(matrix: MatrixLike | None = None, *, view: str = "lesson") -> Studio:
    """Make a page on which one can watch lessons, edit the table and compare rules.

    Parameters
    ----------
    matrix
        The table to start with: anything that `cobayes.Model` takes, an example, or
        `cobayes.without_repeats` of a table; the built-in example "gestures" by default.
    view
        The first view: "lesson", "table", "compare", "play" or "grid".

    Returns
    -------
    Studio
        A notebook displays it as the page; ``.save("page.html")`` writes the file.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.studio(cb.examples["gestures"])
    Studio(example 'gestures'; .save('page.html') writes the page)
    """
    return Studio(matrix, view=view)


def live_figure(kind: str, matrix: MatrixLike | None = None, *, height: int | None = None) -> str:
    """Return an interactive figure as HTML for another page.

    Parameters
    ----------
    kind
        "round": the normalisations of one round. "lesson": one lesson by each of the three rules
        (SCBI, BI and pragmatic).
    matrix
        The table; the built-in example "gestures" by default.
    height
        The smallest height in pixels; the default is enough for the figure on a wide screen.

    Returns
    -------
    str
        An ``iframe`` element with the figure.

    Examples
    --------
    >>> import cobayes as cb
    >>> frame = cb.browser.live_figure("round", "example:M_1")  # doctest: +SKIP
    """
    one_of(kind, "kind", tuple(LIVE_FIGURES))
    title = LIVE_FIGURES[kind]
    page = render({"view": "lesson", "embed": kind, **_first_table(matrix)}, title=title)
    num_data = as_model(matrix).num_data if matrix is not None else 8
    default = {"round": 290 + 32 * num_data, "lesson": 800}[kind]
    return frame(page, title=title, height=default if height is None else height)


def frame(page: str, *, title: str, height: int) -> str:
    """Return an ``iframe`` element with a page.

    Parameters
    ----------
    page
        The page's HTML.
    title
        The title that a screen reader reads out.
    height
        The height in pixels.
    """
    return (
        f'<iframe title="{escape(title)}" loading="lazy" width="100%" height="{height}" '
        f'style="border:0" srcdoc="{escape(page)}"></iframe>'
    )


def render(start: dict[str, Any], title: str = "cobayes studio") -> str:
    """Return the page as one HTML text without links to other files.

    Parameters
    ----------
    start
        The values of the page's state that differ from the defaults of its JavaScript.
    title
        The page's title.

    Notes
    -----
    The content security policy allows the script and the style sheet by their hashes, and nothing
    from the network. Therefore the browser runs no other script, whatever a table's labels contain.
    """
    style, program = read("page/style.css"), f'"use strict";\n{bundle("page/main.js")}'
    policy = (
        f"default-src 'none'; script-src {_fingerprint(program)}; style-src {_fingerprint(style)}; "
        "img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    return Template(read("page/page.html")).substitute(
        policy=policy,
        title=escape(title),
        style=style,
        version=__version__,
        content=script_value({"examples": _examples(), "start": start}),
        program=program,
    )


def _fingerprint(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _first_table(matrix: MatrixLike | None) -> dict[str, Any]:
    """Return the values of the page's state that choose its first table."""
    task: Any = matrix.task if isinstance(matrix, WithoutRepeats) else matrix
    if isinstance(task, Task) and not isinstance(task, Model):
        raise CobayesError(
            f"the studio shows one table; it cannot show a {type(task).__name__}.",
            "give the table of one state, task.matrix_at(state); the view 'grid' has grid worlds.",
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
    return {"example": "", "table": model.to_dict(), "repeats": task is matrix}


def _examples() -> list[dict[str, Any]]:
    """Return all built-in examples: "gestures", "reference-game", then the others."""
    first = {"gestures": 0, "reference-game": 1}
    return [
        {
            "name": example.name,
            "title": example.title,
            "hypothesis": example.model.hypothesis_index(example.hypothesis),
            **example.model.to_dict(),
        }
        for example in sorted(examples.values(), key=lambda example: first.get(example.name, 2))
    ]
