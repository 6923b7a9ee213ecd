"""Sections of a report, and the context for a section's builder."""

from __future__ import annotations

import functools
import importlib
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cobayes._output import percent
from cobayes.errors import CobayesError, import_optional
from cobayes.report.claims import ERROR_RATE, SURE, Claim
from cobayes.runs import Experiment, RunResult, run_all

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Environment, Template
    from matplotlib.figure import Figure

Number = TypeVar("Number", int, float)

# ![alt](name "caption")
_IMAGE = re.compile(r'!\[([^\]]*)\]\((\S+)\s+"([^"]*)"\)')

QUICK_SCALE = 0.01
"""The scale of a quick report, for sections that define no quick numbers of samples."""


@dataclass(frozen=True)
class Picture:
    """A drawing with its caption.

    Attributes
    ----------
    name : str
        The file's name without suffix, unique within the section.
    figure : matplotlib Figure or str
        The drawing, or HTML that is inserted into the page unchanged, such as a live figure of the
        studio. A drawing wider than 6 inches takes the whole width of the page.
    caption : str
        One or two sentences below the drawing, as Markdown.
    alt : str
        What the drawing shows, for readers who cannot see it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cobayes.report import Picture
    >>> Picture("curve", Figure(), "Belief by round.", "A rising curve.").name
    'curve'
    """

    name: str
    figure: Figure | str = field(repr=False)
    caption: str
    alt: str = ""


@dataclass(frozen=True)
class Table:
    """A caption, a header and rows of text.

    A cell that begins with ✓, △ or ✗ is coloured as good, noteworthy or bad.

    Attributes
    ----------
    caption : str
        One sentence above the table, as Markdown.
    header : tuple of str
        Names of the columns.
    rows : tuple of tuples of str
        The cells, as Markdown.

    Examples
    --------
    >>> from cobayes.report import Table
    >>> len(Table("Sizes.", ("n", "verdict"), (("2", "✓ holds"),)).rows)
    1
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """One part of a report.

    Attributes
    ----------
    title : str
        The heading.
    blocks : tuple
        Paragraphs of Markdown, pictures and tables, in order. Consecutive pictures are side by
        side if the page is wide enough.
    data : mapping of str to DataFrame
        Numbers for readers to download, by the name of the CSV file without suffix; see
        `data_frame`.
    downloads : mapping of str to str
        Further files that the builder has written to ``Context.folder``: name and description.
    claims : tuple of Claim
        Claims judged by the section's numbers; the page shows the claims of all sections in one
        table.
    sizes : str
        A sentence with the numbers of samples and lessons.

    Examples
    --------
    >>> from cobayes.report import Section, Table
    >>> Section("Mine", ("Some *words*.", Table("Sizes.", ("n",), (("2",),)))).title
    'Mine'
    """

    title: str
    blocks: tuple[str | Picture | Table, ...]
    data: Mapping[str, pd.DataFrame] = field(default_factory=dict, repr=False)
    downloads: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    sizes: str = ""


def data_frame(title: str, *columns: tuple[str, Any, str]) -> pd.DataFrame:
    """Return a DataFrame with a title, and a description of each column.

    Parameters
    ----------
    title
        The title of the table; stored as ``attrs["title"]``.
    *columns
        Name, values and description (with the unit) of each column. The descriptions are stored
        as ``attrs["columns"]``; the page shows them beside the CSV file.

    Returns
    -------
    DataFrame
        One column per argument.

    Examples
    --------
    >>> from cobayes.report import data_frame
    >>> frame = data_frame("P by size", ("n", [2, 3], "rows"), ("p", [0.7, 0.8], "probability"))
    >>> frame.attrs["columns"]["n"]
    'rows'
    """
    pandas = import_optional("pandas", "plots", "the report")
    frame = pandas.DataFrame({name: np.asarray(values) for name, values, _ in columns})
    frame.attrs = {"title": title, "columns": {name: text for name, _, text in columns}}
    return frame


@functools.cache
def prose(package: str) -> Environment:
    """Return the Jinja environment of the Markdown files in a package's folder ``prose``."""
    jinja2 = import_optional("jinja2", "plots", "the report")
    loader = jinja2.PackageLoader(package, "prose")
    found = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined)
    found.globals |= {"sure": SURE, "error_rate": ERROR_RATE}
    found.filters["percent"] = percent
    return found


def written_section(
    text: str | Template,
    *,
    values: Mapping[str, Any],
    figures: Mapping[str, Figure | str] | None = None,
    data: Mapping[str, pd.DataFrame] | None = None,
    **fields: Any,
) -> Section:
    r"""Return a section made from a Markdown text.

    The first line is the heading. ``{{ name }}`` is replaced by a value, ``![alt](name "caption")``
    by a drawing. The lines of a table follow its caption, ``Table: caption``. The text may end
    with a part ``## Sizes``, and a part ``## Numbers: name`` for each table to download: the
    table's title, and a line ``- `column`: description`` for each column.

    Parameters
    ----------
    text
        The Markdown, or a Jinja template of it.
    values
        The value of each ``{{ name }}``.
    figures
        The drawing, or the HTML of a live figure, for each image.
    data
        The DataFrame of each ``## Numbers: name``.
    **fields
        Further attributes of `Section`: downloads and claims.

    Returns
    -------
    Section
        Title, blocks in the order of the text, data and sizes.

    Examples
    --------
    >>> from cobayes.report import written_section
    >>> text = "# Mine\n\nThere are {{ n }}.\n\nTable: Counts.\n| n |\n|---|\n| {{ n }} |\n"
    >>> section = written_section(text, values={"n": 3})
    >>> section.title, section.blocks[0], section.blocks[1].rows
    ('Mine', 'There are 3.', (('3',),))
    """
    jinja2 = import_optional("jinja2", "plots", "the report")
    plain = functools.partial(jinja2.Template, undefined=jinja2.StrictUndefined)
    try:
        filled = (plain(text) if isinstance(text, str) else text).render(values)
    except jinja2.UndefinedError as error:
        raise CobayesError(
            f"the text of a section uses a name without a value: {error}.",
            "add the name to values.",
        ) from None
    words, *ends = re.split(r"\n## (?=Sizes\n|Numbers: )", filled.strip())
    title, _, rest = words.partition("\n")
    if not title.startswith("# "):
        raise CobayesError(f"a section's text begins with {title!r:.60}; expected '# Heading'.")
    figures, shown = figures or {}, {name: (alt, said) for alt, name, said in _IMAGE.findall(rest)}
    for name in figures.keys() ^ shown.keys():
        where = "does not occur in the text" if name in figures else "is not given"
        raise CobayesError(
            f"the figure {name!r} of {title!r} {where}.",
            f'give each figure once, and write ![alternative text]({name} "caption") in the text.',
        )
    blocks: list[str | Picture | Table] = []
    for paragraph in re.split(r"\n\s*\n", _IMAGE.sub(r"\n\n![\2]\n\n", rest).strip()):
        if paragraph.startswith("Table: "):
            blocks.append(_written_table(paragraph))
        elif paragraph[2:-1] in shown:
            name = paragraph[2:-1]
            alt, caption = (" ".join(part.split()) for part in shown[name])
            blocks.append(Picture(name, figures[name], caption, alt))
        else:
            blocks.append(paragraph)
    parts = {name: said.strip() for name, _, said in (end.partition("\n") for end in ends)}
    sizes = " ".join(parts.pop("Sizes", "").split())
    named = {name.removeprefix("Numbers: "): said for name, said in parts.items()}
    data = data or {}
    for name in data.keys() ^ named.keys():
        where = "are not described in the text" if name in data else "are not given"
        raise CobayesError(
            f"the data {name!r} of {title!r} {where}.",
            f"give each table of data once, and describe its columns under '## Numbers: {name}'.",
        )
    numbers = {name: _described(said, data[name]) for name, said in named.items()}
    return Section(title[2:].strip(), tuple(blocks), numbers, sizes=sizes, **fields)


def _written_table(paragraph: str) -> Table:
    caption, bar, lines = paragraph.removeprefix("Table: ").partition("\n|")
    header, _, *rows = (
        tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1])
        for line in (bar + lines).strip().split("\n")
    )
    return Table(" ".join(caption.split()), header, tuple(rows))


def _described(text: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that a text describes, with its title and descriptions as attributes."""
    columns = re.findall(r"^- `([^`]+)`: (.+)$", text, flags=re.MULTILINE)
    title = text.partition("\n")[0]
    for column, _ in columns:
        if column not in frame:
            raise CobayesError(
                f"the data {title!r} have no column {column!r}.",
                f"describe only their columns: {', '.join(map(str, frame))}.",
            )
    return data_frame(title, *((column, frame[column], said) for column, said in columns))


@dataclass
class Context:
    """Scale, seed, folder and workers for a section's builder.

    Attributes
    ----------
    name : str
        The section's name; `rng` and `seeds` depend only on this name and the seed.
    scale : float
        The effort: 1 for the full numbers of samples.
    seed : int
        The report's seed.
    folder : Path
        The section's own folder, inside the report's folder.
    tell : callable
        Takes one line of text about the progress.
    is_quick : bool
        Whether to use the quick numbers of samples instead of `scale` times the full numbers.
    options : mapping
        Keywords of `cobayes.runs.run_all` (default: ``{"jobs": 1}``, which runs the experiments in
        this process).
    fresh : bool
        Whether to delete the shards of earlier reports before an experiment is first run.
    settings : mapping
        Parameters that the user has changed, see `setting`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from cobayes.report import Context
    >>> context = Context("mine", 0.5, 1, Path("."))
    >>> context.count(1000)
    500
    >>> context.rng().random() == context.rng().random()
    True
    """

    name: str
    scale: float
    seed: int
    folder: Path
    tell: Callable[[str], None] = field(default=lambda _text: None, repr=False)
    is_quick: bool = False
    options: Mapping[str, Any] = field(default_factory=lambda: {"jobs": 1}, repr=False)
    fresh: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    _deleted: set[Path] = field(default_factory=set, repr=False)
    parameters: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """Names of the parameters that the builder has read, with a text about each."""
    extra_seconds: float = field(default=0.0, init=False, repr=False)
    """Seconds that the experiments took on all workers, minus the seconds of waiting for them."""

    def rng(self) -> np.random.Generator:
        """Return a random generator that starts from `seeds`."""
        return np.random.default_rng(self.seeds())

    def seeds(self) -> np.random.SeedSequence:
        """Return the section's own seeds, which do not depend on the other sections."""
        return np.random.SeedSequence([self.seed, *self.name.encode()])

    def count(self, full: int, *, at_least: int = 1, quick: int | None = None) -> int:
        """Return a number of samples at this context's scale.

        Parameters
        ----------
        full
            The number at scale 1.
        at_least
            The lower limit of `full` times `scale`; `quick` is not limited.
        quick
            The number at quick scale (default: `full` times `scale`).

        Returns
        -------
        int
            The number of samples.
        """
        if self.is_quick and quick is not None:
            return quick
        return max(at_least, round(full * self.scale))

    def setting(self, name: str, default: Number, where: str = "") -> Number:
        """Return a parameter of the section, which the user may change.

        Parameters
        ----------
        name
            Name of the parameter.
        default
            The value if `settings` does not have the parameter. A value in `settings` is a number
            or a text; it must be positive, and an integer if the default is an integer.
        where
            What the parameter changes; the error about an unknown name shows this text.

        Returns
        -------
        int or float
            The user's value, or the default.

        Examples
        --------
        >>> from pathlib import Path
        >>> from cobayes.report import Context
        >>> Context("mine", 1.0, 1, Path("."), settings={"radius": "0.1"}).setting("radius", 0.07)
        0.1
        """
        self.parameters[name] = f"{name}={default} ({where})" if where else f"{name}={default}"
        given = self.settings.get(name, default)
        try:
            value = type(default)(str(given))  # as text: int(2.7) would be 2
        except ValueError:
            value = None
        if value is None or not 0 < value < math.inf:
            kind = "positive integer" if isinstance(default, int) else "positive number"
            raise CobayesError(
                f"the setting {name} is {given!r}; expected a {kind}.",
                f"its default is {default}.",
            )
        return value

    def check_settings(self) -> None:
        """Raise an error for a setting that the builder has not read."""
        for name in set(self.settings) - set(self.parameters):
            known = ", ".join(self.parameters.values())
            raise CobayesError(
                f"{self.name} has no setting {name!r}.",
                f"its settings are {known}." if known else "it has none.",
            )

    def run(self, experiment: Experiment) -> RunResult:
        """Run an experiment, or continue an earlier run of it.

        Its shards are kept in the report's folder ``runs``, under the experiment's name: sections
        that need the same experiment share them.

        Parameters
        ----------
        experiment
            The plan.

        Returns
        -------
        RunResult
            The statistics and estimates of every point.
        """
        return self.run_all([(experiment, experiment.name)])[0]

    def run_all(self, experiments: Sequence[tuple[Experiment, str]]) -> list[RunResult]:
        """Run several experiments at once; see `run`.

        Parameters
        ----------
        experiments
            Plans, and the names of their folders inside ``runs``.

        Returns
        -------
        list of RunResult
            In the order of the experiments.
        """
        self.check_settings()
        start = time.perf_counter()
        plans = [(plan, self.folder.parent / "runs" / name) for plan, name in experiments]
        # Sections may share an experiment: the second must not delete the shards of the first.
        old = [plan for plan in plans if self.fresh and plan[1] not in self._deleted]
        results = {}
        for some, fresh in ((old, True), ([plan for plan in plans if plan not in old], False)):
            found = run_all(some, fresh=fresh, **self.options) if some else []
            results |= {place: each for (_, place), each in zip(some, found, strict=True)}
        self._deleted.update(results)
        spent = sum(result.seconds for result in results.values())
        self.extra_seconds += spent - (time.perf_counter() - start)
        return [results[place] for _, place in plans]


@dataclass(frozen=True)
class Recipe:
    """A section that can be built.

    Attributes
    ----------
    name : str
        Name of the section and of its folder.
    summary : str
        A description of one line.
    build : callable or str
        A function that takes a `Context` and returns a `Section`; or the name of a module with such
        a function ``build``; or ``"module:function"``. The module is imported when `build_report`
        comes to the section.
    is_opening : bool
        Whether the page shows the section before the claims.

    Examples
    --------
    >>> from cobayes.report import Recipe, Section
    >>> def build(context):
    ...     return Section("Mine", ("Some *words*.",))
    >>> Recipe("mine", "a section of my own", build).name
    'mine'
    """

    name: str
    summary: str
    build: Callable[[Context], Section] | str
    is_opening: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", self.name) or self.name == "runs":
            raise CobayesError(
                f"a section is named {self.name!r}, which cannot be the name of its folder.",
                "use lower-case letters, digits and hyphens; 'runs' is reserved.",
            )

    def builder(self) -> Callable[[Context], Section]:
        """Return the function that builds the section."""
        if not isinstance(self.build, str):
            return self.build
        module, _, function = self.build.partition(":")
        return getattr(importlib.import_module(module), function or "build")
