"""Sections of the report: what a figure's module hands back, and how it is kept on disk."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cobayes.report.claims import Claim
from cobayes.report.data_table import DataTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cobayes.report.runner import Runner
    from cobayes.runs import Experiment, RunResult

# A drawing with more text than this (many points) is shown as PNG, which is then smaller.
_MAX_SVG_BYTES = 400_000

SECTION_FILE = "section.json"

PICTURE_FORMATS, DATA_FORMATS = ("svg", "png", "pdf"), ("csv", "netcdf")
FORMATS = PICTURE_FORMATS + DATA_FORMATS
"""What pictures and numbers can be saved as."""

QUICK_SCALE = 0.01
"""The share of the paper's effort at quick scale where a section has no number of its own."""

Tone = Literal["plain", "good", "note", "bad"]


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
    """

    name: str
    figure: Figure = field(repr=False)
    caption: str
    alt: str
    is_wide: bool = False


@dataclass(frozen=True)
class Cell:
    """A table's cell with a judgement: its tone is shown by colour and by a sign."""

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
        What it holds.
    content : str or None
        The text of the file; None where the file lies in the section's folder already.
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
        Paragraphs, pictures and tables in the order of reading; pictures that follow each other
        are laid side by side where there is room. In text ``*word*`` is emphasis and a word
        between backquotes is code.
    downloads : tuple of Download
        Files to take away.
    data : tuple of DataTable
        The numbers, to be saved as CSV and NetCDF.
    claims : tuple of Claim
        What the section's numbers say about the paper's claims; the page shows those of all
        sections in one table.
    sizes : str
        How much was computed, in words.
    """

    title: str
    blocks: tuple[str | Picture | Table, ...]
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
        The section's own folder; run data that is kept there can be resumed.
    tell : callable
        Takes one line of text about the progress.
    is_quick : bool
        Whether the quick numbers apply instead of a share of the paper's.
    runner : Runner or None
        Computes experiments; in this process when there is none.
    """

    name: str
    scale: float
    seed: int
    folder: Path
    tell: Any = field(default=lambda _text: None, repr=False)
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
        """
        if self.is_quick and quick is not None:
            return quick
        return max(at_least, round(paper_count * self.scale))

    def run(self, experiment: Experiment, *, section: str | None = None) -> RunResult:
        """Run an experiment on the user's workers, or go on where an earlier run stopped.

        Parameters
        ----------
        experiment
            The plan.
        section
            In whose folder its data are kept, for experiments that several sections share;
            this section's own when left out.
        """
        from cobayes.report.runner import Runner

        folder = self.folder if section is None else self.folder.parent / section
        runner = self.runner or Runner(jobs=1)
        return runner.run(experiment, folder / "runs" / experiment.name)


def save_section(
    section: Section,
    made: Made,
    folder: Path,
    *,
    formats: Collection[str] = FORMATS,
    key: str = "",
) -> None:
    """Write a section's pictures, numbers, downloads and words into its folder.

    Parameters
    ----------
    section
        What to write.
    made
        How it was made.
    folder
        Where to.
    formats
        Some of `FORMATS`. The page needs one drawing of each picture, so that SVG or PNG is
        written in any case.
    key
        What the section depends on; see `load_section`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    downloads = []
    for download in section.downloads:
        if download.content is not None:
            (folder / download.name).write_text(download.content, encoding="utf-8")
        downloads.append({"name": download.name, "label": download.label})
    for table in section.data:
        downloads += _save_table(table, folder, formats, made.command)
    content = {
        "title": section.title,
        "blocks": [_save_block(block, folder, formats) for block in section.blocks],
        "downloads": downloads,
        "claims": [asdict(claim) for claim in section.claims],
        "made": asdict(made),
        "key": key,
    }
    # Written last: a section that was interrupted is not part of the report.
    (folder / SECTION_FILE).write_text(
        json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8"
    )


def load_section(folder: Path) -> dict[str, Any] | None:
    """Return what `save_section` wrote, or None where there is nothing complete."""
    try:
        content = json.loads((folder / SECTION_FILE).read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return None
    return content if all((folder / name).is_file() for name in _files_of(content)) else None


def _files_of(content: dict[str, Any]) -> list[str]:
    pictures = [block for block in content["blocks"] if block["kind"] == "picture"]
    return [
        *(item["name"] for item in content["downloads"]),
        *(name for picture in pictures for name in picture["files"]),
    ]


def _save_table(
    table: DataTable, folder: Path, formats: Collection[str], history: str
) -> list[dict[str, str]]:
    saved = []
    if "csv" in formats:
        name = table.write_csv(folder)
        saved.append({"name": name, "label": f"{table.title} (CSV)"})
        saved.append({"name": f"{name}-metadata.json", "label": "its columns, described (JSON)"})
    if "netcdf" in formats:
        name = table.write_netcdf(folder, history)
        saved.append({"name": name, "label": f"{table.title} (NetCDF)"})
    return saved


def _save_block(
    block: str | Picture | Table, folder: Path, formats: Collection[str]
) -> dict[str, Any]:
    if isinstance(block, str):
        return {"kind": "text", "text": block}
    if isinstance(block, Picture):
        return {
            "kind": "picture",
            "files": _save_picture(block, folder, formats),
            "caption": block.caption,
            "alt": block.alt,
            "is_wide": block.is_wide,
        }
    return {
        "kind": "table",
        "caption": block.caption,
        "header": list(block.header),
        "rows": [[asdict(_as_cell(cell)) for cell in row] for row in block.rows],
    }


def _as_cell(cell: str | Cell) -> Cell:
    return cell if isinstance(cell, Cell) else Cell(cell)


def _save_picture(picture: Picture, folder: Path, formats: Collection[str]) -> list[str]:
    """Save a drawing in the wanted formats; return the file names, the one to show first."""
    import matplotlib as mpl

    wanted = [suffix for suffix in PICTURE_FORMATS if suffix in formats]
    if not {"svg", "png"} & set(wanted):
        wanted.insert(0, "svg")
    for suffix in wanted:
        # A fixed salt and no date: the same drawing gives the same bytes.
        metadata = {
            "svg": {"Date": None, "Creator": None},
            "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        }
        with mpl.rc_context({"svg.hashsalt": picture.name}):
            picture.figure.savefig(
                folder / f"{picture.name}.{suffix}", dpi=200, metadata=metadata.get(suffix)
            )
    names = [f"{picture.name}.{suffix}" for suffix in wanted]
    if {"svg", "png"} <= set(wanted) and (folder / names[0]).stat().st_size > _MAX_SVG_BYTES:
        names[:2] = reversed(names[:2])
    return names
