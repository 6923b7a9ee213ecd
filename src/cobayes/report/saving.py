"""Sections on disk: written whole, and read as data from anywhere would be."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cobayes.example_library import examples
from cobayes.report.claims import VERDICTS, Claim
from cobayes.report.data_table import DataTable
from cobayes.report.section import (
    FORMATS,
    PICTURE_FORMATS,
    TONES,
    Cell,
    LiveFigure,
    Made,
    Picture,
    Section,
    Table,
)
from cobayes.studio.page import LIVE_FIGURES

# A drawing with more text than this (many points) is shown as PNG, which is then smaller.
_MAX_SVG_BYTES = 400_000

SECTION_FILE = "section.json"


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
        The folder to write to.
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
    """Return what `save_section` wrote, or None where there is nothing complete.

    A file that says something else than `save_section` would, or names files outside of its
    folder, counts as nothing: the page shows the files that are named.

    Parameters
    ----------
    folder
        The section's folder.
    """
    try:
        content = json.loads((folder / SECTION_FILE).read_text(encoding="utf-8"))
        _check(content, folder)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return content


def _check(content: Any, folder: Path) -> None:
    """Raise where the content of a section's file is not what `save_section` writes."""
    json.dumps(content, ensure_ascii=False).encode()  # half a character cannot be written
    _expect(str, content["title"], content["key"])
    for block in content["blocks"]:
        kind = block["kind"]
        if kind == "text":
            _expect(str, block["text"])
        elif kind == "picture":
            _expect(str, block["caption"], block["alt"])
            _expect(bool, block["is_wide"])
            _expect_true(len(block["files"]) > 0)
            for name in block["files"]:
                _check_file(name, folder, PICTURE_FORMATS)
            _expect_true(Path(block["files"][0]).suffix in (".svg", ".png"))
        elif kind == "table":
            _expect(str, block["caption"], *block["header"])
            for row in block["rows"]:
                _expect_true(len(row) == len(block["header"]))
                _expect(str, *(cell["text"] for cell in row))
                _expect_true(all(cell["tone"] in TONES for cell in row))
        elif kind == "live":
            _expect(str, block["caption"])
            _expect_true(block["figure"] in LIVE_FIGURES and block["example"] in examples)
        else:
            raise ValueError(f"a block of kind {kind!r}")
    for item in content["downloads"]:
        _expect(str, item["label"])
        _check_file(item["name"], folder)
    for claim in content["claims"]:
        _expect(str, *asdict(Claim(**claim)).values())
        _expect_true(claim["verdict"] in VERDICTS)
    made = content["made"]
    _expect(str, made["command"], made["scale"], made["version"], made["sizes"])
    _expect(int, made["seed"])
    _expect(float, made["seconds"])
    _expect_true(math.isfinite(made["seconds"]))


def _check_file(name: Any, folder: Path, formats: Collection[str] = ()) -> None:
    _expect(str, name)
    path = folder / name
    # A name alone, of a file that is really there: no path, no link to somewhere else.
    _expect_true(Path(name).name == name and path.is_file() and not path.is_symlink())
    _expect_true(not formats or path.suffix[1:] in formats)


def _expect(kind: type, *values: Any) -> None:
    _expect_true(all(type(value) is kind for value in values))


def _expect_true(is_so: bool) -> None:
    if not is_so:
        raise ValueError("not a section of ours")


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
    block: str | Picture | Table | LiveFigure, folder: Path, formats: Collection[str]
) -> dict[str, Any]:
    if isinstance(block, str):
        return {"kind": "text", "text": block}
    if isinstance(block, LiveFigure):
        return {"kind": "live", **asdict(block)}
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
