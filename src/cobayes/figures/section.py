"""Sections of the report: what a figure's module hands back, and how it is kept on disk."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A drawing with more text than this (many points) is shown as PNG, which is then smaller.
_MAX_SVG_BYTES = 400_000

SECTION_FILE = "section.json"

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
    """

    title: str
    blocks: tuple[str | Picture | Table, ...]
    downloads: tuple[Download, ...] = ()


@dataclass(frozen=True)
class Made:
    """How a section was made."""

    command: str
    seed: int
    scale: float
    seconds: float
    version: str


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
    """

    name: str
    scale: float
    seed: int
    folder: Path
    tell: Any = field(default=lambda _text: None, repr=False)

    def seeds(self) -> np.random.SeedSequence:
        """Return the section's own seeds: building it alone or with others is the same."""
        return np.random.SeedSequence([self.seed, *self.name.encode()])

    def rng(self) -> np.random.Generator:
        """Return a random generator that starts from `seeds`."""
        return np.random.default_rng(self.seeds())

    def count(self, paper_count: int, *, at_least: int = 1) -> int:
        """Scale one of the paper's numbers of samples."""
        return max(at_least, round(paper_count * self.scale))


def save_section(section: Section, made: Made, folder: Path) -> None:
    """Write a section's pictures, downloads and words into its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for download in section.downloads:
        if download.content is not None:
            (folder / download.name).write_text(download.content, encoding="utf-8")
    content = {
        "title": section.title,
        "blocks": [_save_block(block, folder) for block in section.blocks],
        "downloads": [{"name": d.name, "label": d.label} for d in section.downloads],
        "made": asdict(made),
    }
    # Written last: a section that was interrupted is not part of the report.
    (folder / SECTION_FILE).write_text(
        json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8"
    )


def load_section(folder: Path) -> dict[str, Any] | None:
    """Return what `save_section` wrote, or None where there is nothing complete."""
    try:
        return json.loads((folder / SECTION_FILE).read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return None


def _save_block(block: str | Picture | Table, folder: Path) -> dict[str, Any]:
    if isinstance(block, str):
        return {"kind": "text", "text": block}
    if isinstance(block, Picture):
        return {
            "kind": "picture",
            "files": _save_picture(block, folder),
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


def _save_picture(picture: Picture, folder: Path) -> list[str]:
    """Save a drawing as SVG and PNG; return the file names, the one to show first."""
    import matplotlib as mpl

    names = [f"{picture.name}.svg", f"{picture.name}.png"]
    # A fixed salt and no date: the same drawing gives the same bytes.
    with mpl.rc_context({"svg.hashsalt": picture.name}):
        picture.figure.savefig(folder / names[0], metadata={"Date": None, "Creator": None})
    picture.figure.savefig(folder / names[1], dpi=200)
    if (folder / names[0]).stat().st_size > _MAX_SVG_BYTES:
        names.reverse()
    return names
