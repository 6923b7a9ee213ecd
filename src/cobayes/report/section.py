"""Sections of a report: what a builder is told, and what it hands back."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from cobayes.errors import CobayesError
from cobayes.report.claims import Claim
from cobayes.report.data_table import DataTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cobayes.report.runner import Runner
    from cobayes.runs import Experiment, RunResult

PICTURE_FORMATS, DATA_FORMATS = ("svg", "png", "pdf"), ("csv", "netcdf")
FORMATS = PICTURE_FORMATS + DATA_FORMATS
"""What pictures and numbers can be saved as."""

QUICK_SCALE = 0.01
"""The share of the paper's effort at quick scale where a section has no number of its own."""

Tone = Literal["plain", "good", "note", "bad"]
TONES: tuple[Tone, ...] = ("plain", "good", "note", "bad")


@dataclass(frozen=True)
class Picture:
    """A drawing with its words.

    Attributes
    ----------
    name : str
        The file's name without suffix, unique within the section.
    figure : matplotlib Figure
        The drawing.
    caption : str
        What the reader sees in it.
    alt : str
        What it shows, for those who cannot see it.
    is_wide : bool
        Whether it takes the whole width of the page.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cobayes.report import Picture
    >>> Picture("curve", Figure(), "Belief by round.", "A rising curve.").name
    'curve'
    """

    name: str
    figure: Figure = field(repr=False)
    caption: str
    alt: str
    is_wide: bool = False


@dataclass(frozen=True)
class LiveFigure:
    """A figure that moves and answers, from the studio.

    Attributes
    ----------
    figure : str
        "round": what one round does to the table; "lesson": one lesson by three rules.
    example : str
        The name of the built-in example that it starts with.
    caption : str
        What the reader sees in it.

    Examples
    --------
    >>> from cobayes.report import LiveFigure
    >>> LiveFigure("lesson", "gestures", "One lesson by three rules.").example
    'gestures'
    """

    figure: str
    example: str
    caption: str


@dataclass(frozen=True)
class Cell:
    """A table's cell with a judgement: its tone is shown by colour and by a sign.

    Examples
    --------
    >>> from cobayes.report import Cell
    >>> Cell("holds", "good").text
    'holds'
    """

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Table:
    """Rows of text or `Cell` under a heading.

    Attributes
    ----------
    caption : str
        What the table says.
    header : tuple of str
        The columns' names.
    rows : tuple of tuples
        Text, or `Cell` where a value is judged.

    Examples
    --------
    >>> from cobayes.report import Cell, Table
    >>> table = Table("Sizes.", ("n", "verdict"), (("2", Cell("holds", "good")),))
    >>> len(table.rows)
    1
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]


@dataclass(frozen=True)
class Download:
    """A file that the reader can take away.

    Attributes
    ----------
    name : str
        The file's name.
    label : str
        What the file holds, in words.
    content : str or None
        The text of the file; None where the file lies in the section's folder already.

    Examples
    --------
    >>> from cobayes.report import Download
    >>> Download("notes.txt", "what was left out", "Nothing.").name
    'notes.txt'
    """

    name: str
    label: str
    content: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Section:
    """One part of the report.

    Attributes
    ----------
    title : str
        The heading.
    blocks : tuple
        Paragraphs of Markdown, pictures, tables and live figures in order; pictures that follow
        each other are laid side by side where there is room.
    downloads : tuple of Download
        Files to take away.
    data : tuple of DataTable
        The numbers, to be saved as CSV and NetCDF.
    claims : tuple of Claim
        What the section's numbers say about the paper's claims; the page shows those of all
        sections in one table.
    sizes : str
        How much was computed, in words.

    Examples
    --------
    >>> from cobayes.report import Section, Table
    >>> Section("Mine", ("Some *words*.", Table("Sizes.", ("n",), (("2",),)))).title
    'Mine'
    """

    title: str
    blocks: tuple[str | Picture | Table | LiveFigure, ...]
    downloads: tuple[Download, ...] = ()
    data: tuple[DataTable, ...] = ()
    claims: tuple[Claim, ...] = ()
    sizes: str = ""


@dataclass(frozen=True)
class Made:
    """How a section was made.

    Attributes
    ----------
    command : str
        What to type to make it again.
    seed : int
        The user's.
    scale : str
        The effort in words.
    seconds : float
        Time spent, that of earlier sessions of its runs included.
    version : str
        Of cobayes.
    sizes : str
        How much was computed, in words.
    """

    command: str
    seed: int
    scale: str
    seconds: float
    version: str
    sizes: str = ""


@dataclass(frozen=True)
class Context:
    """What a section's builder is told.

    Attributes
    ----------
    name : str
        The section's name; its random numbers depend on it and on the seed alone.
    scale : float
        The effort as a share of the paper's own: 1 repeats its numbers of samples.
    seed : int
        The user's seed.
    folder : Path
        The section's own folder, inside the report's.
    tell : callable
        Takes one line of text about the progress.
    is_quick : bool
        Whether the quick numbers apply instead of a share of the paper's.
    runner : Runner or None
        Computes experiments; in this process when there is none.

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
    runner: Runner | None = field(default=None, repr=False)

    def seeds(self) -> np.random.SeedSequence:
        """Return the section's own seeds: building it alone or with others is the same."""
        return np.random.SeedSequence([self.seed, *self.name.encode()])

    def rng(self) -> np.random.Generator:
        """Return a random generator that starts from `seeds`."""
        return np.random.default_rng(self.seeds())

    def count(self, paper_count: int, *, at_least: int = 1, quick: int | None = None) -> int:
        """Scale one of the paper's numbers of samples.

        Parameters
        ----------
        paper_count
            The paper's own.
        at_least
            Never fewer than this.
        quick
            The number at quick scale; a hundredth of the paper's when left out.

        Returns
        -------
        int
            The number of samples at this context's scale.
        """
        if self.is_quick and quick is not None:
            return quick
        return max(at_least, round(paper_count * self.scale))

    def run(self, experiment: Experiment) -> RunResult:
        """Run an experiment on the user's workers, or go on where an earlier run stopped.

        Its data are kept in the report's folder ``runs``, under the experiment's name, so that
        sections with the same experiment share them.

        Parameters
        ----------
        experiment
            The plan.

        Returns
        -------
        RunResult
            With the statistics and estimates of every point.
        """
        (result,) = self.run_all([(experiment, experiment.name)])
        return result

    def run_all(self, experiments: Sequence[tuple[Experiment, str]]) -> list[RunResult]:
        """Run several experiments at once; see `run`.

        Parameters
        ----------
        experiments
            Plans, and the names of their folders inside ``runs``.
        """
        from cobayes.report.runner import Runner

        place = self.folder.parent / "runs"
        runner = self.runner or Runner(jobs=1)
        return runner.run_all([(experiment, place / name) for experiment, name in experiments])


@dataclass(frozen=True)
class Recipe:
    """A section that can be built.

    Attributes
    ----------
    name : str
        What the command line calls it, and the name of its folder.
    summary : str
        One line.
    build : callable or str
        A function of a `Context` that returns a `Section`; or the name of a module that has such
        a function ``build``, or ``"module:function"``: it is imported when it is needed.
    is_opening : bool
        Whether the page shows it before the claims.

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
                f"a section is named {self.name!r}.",
                "use small letters, digits and hyphens; 'runs' is taken",
            )

    def make(self, context: Context) -> Section:
        """Build the section.

        Parameters
        ----------
        context
            Scale, seed, folder and workers.

        Returns
        -------
        Section
            With what was computed, ready for the page.
        """
        if not isinstance(self.build, str):
            return self.build(context)
        module, _, function = self.build.partition(":")
        return getattr(importlib.import_module(module), function or "build")(context)
