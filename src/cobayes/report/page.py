"""Stored sections, and the page made of them: one HTML file with embedded style and figures."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from cobayes import __version__
from cobayes._output import csv_text, frame_csv, write_text
from cobayes.errors import import_optional
from cobayes.report.claims import ERROR_RATE
from cobayes.report.section import Picture, Recipe, Section, Table

PICTURE_FORMATS = ("svg", "png", "pdf")
FORMATS = (*PICTURE_FORMATS, "csv")
"""Formats of the files that a report writes beside its page."""

# If SVG and PNG are saved and the SVG file is larger than this, the page shows the PNG file.
_MAX_SVG_BYTES = 400_000
# A drawing wider than this takes the whole width of the page.
_COLUMN_INCHES = 6.0
_SECTION_FILE = "section.json"
_MIME = {".svg": "image/svg+xml", ".png": "image/png"}
_TONES = {"✓": "good", "△": "note", "✗": "bad"}


def write_page(
    folder: Path,
    recipes: Sequence[Recipe],
    *,
    title: str = "Report",
    lead: str = "",
    formats: Collection[str] = FORMATS,
) -> Path:
    """Write ``index.html`` and ``claims.csv`` from the sections in a report's folder.

    Parameters
    ----------
    folder
        The report's folder.
    recipes
        The sections of the page, in order; sections that the folder does not have are omitted.
    title, lead, formats
        See `build_report`.

    Returns
    -------
    Path
        The path of ``index.html``.

    Examples
    --------
    >>> import tempfile
    >>> from cobayes import report
    >>> def build(context):
    ...     return report.Section("Mine", ("Some *words*.",))
    >>> mine = report.Recipe("mine", "a section of my own", build)
    >>> page = report.build_report(tempfile.mkdtemp(), [mine])
    >>> report.write_page(page.parent, [mine]) == page
    True
    """
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    jinja2 = import_optional("jinja2", "plots", "the report")
    sections, claims = [], []
    for recipe in recipes:
        content = load_section(folder / recipe.name)
        if content is not None:
            groups = list(_groups(content, folder / recipe.name))
            own = {"name": recipe.name, "is_opening": recipe.is_opening, "groups": groups}
            sections.append({**content, **own})
            claims += [{"section": recipe.name, **claim} for claim in content["claims"]]
    has_csv = bool(claims) and "csv" in formats
    if has_csv:
        rows = [list(claims[0]), *(claim.values() for claim in claims)]
        write_text(folder / "claims.csv", csv_text(rows))
    # HTML in Markdown is escaped.
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_resource),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "inline": lambda text: Markup(markdown.renderInline(text)),
        "paragraph": lambda text: Markup(markdown.render(text)),
        "tone": lambda text: _TONES.get(text[:1], ""),
    }
    text = environment.get_template("page.html").render(
        title=title,
        lead=lead,
        claims_file="claims.csv" if has_csv else "",
        version=__version__,
        style=Markup(_resource("report.css")),
        script=Markup(_resource("report.js")),
        opening=[section for section in sections if section["is_opening"]],
        others=[section for section in sections if not section["is_opening"]],
        titles={section["name"]: section["title"].partition(":")[0] for section in sections},
        topics=sorted(dict.fromkeys(claim["topic"] for claim in claims), key=_number_in),
        claims=claims,
        error_rate=f"{100 * ERROR_RATE:g}",
    )
    # Replaced in one step, so that a reader never sees an incomplete page.
    write_text(folder / "index.html", text)
    return folder / "index.html"


def save_section(
    section: Section,
    folder: Path,
    *,
    made: dict[str, Any],
    formats: Collection[str] = FORMATS,
    key: str = "",
) -> None:
    """Write a section's figures, numbers and text into its folder.

    Parameters
    ----------
    section
        The section to write.
    folder
        The section's folder.
    made
        The section's provenance: command, seed, scale, seconds, versions, instruction set.
    formats
        Some of `FORMATS`. SVG or PNG is written in any case, for the page.
    key
        Digest of the section's code and settings, by which `build_report` detects changes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    downloads = [
        {"name": name, "label": text, "columns": {}} for name, text in section.downloads.items()
    ]
    for name, frame in section.data.items() if "csv" in formats else ():
        write_text(folder / f"{name}.csv", frame_csv(frame))
        label = f"{frame.attrs.get('title', name)} (CSV)"
        columns = frame.attrs.get("columns", {})
        downloads.append({"name": f"{name}.csv", "label": label, "columns": columns})
    content = {
        "title": section.title,
        "blocks": [_save_block(block, folder, formats) for block in section.blocks],
        "downloads": downloads,
        "claims": [asdict(claim) for claim in section.claims],
        "made": {**made, "sizes": section.sizes},
        "key": key,
    }
    content["digest"] = _digest(content, folder)
    # Written last: a section that was interrupted is not part of the report.
    write_text(folder / _SECTION_FILE, json.dumps(content, indent=1, ensure_ascii=False))


def load_section(folder: Path) -> dict[str, Any] | None:
    """Return the stored section, or None if it or one of its files is missing or changed.

    Parameters
    ----------
    folder
        The section's folder.
    """
    try:
        content = json.loads((folder / _SECTION_FILE).read_text(encoding="utf-8"))
        is_ours = content.pop("digest") == _digest(content, folder)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return content if is_ours else None


def _number_in(topic: str) -> float:
    """Return the first number in a topic, such as 4.1 in "Section 4.1"; infinity if none."""
    found = re.search(r"\d+(\.\d+)?", topic)
    return float(found[0]) if found else float("inf")


def _groups(section: dict[str, Any], folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield groups of consecutive blocks of one kind, with embedded figures."""
    number = 0
    for kind, group in groupby(section["blocks"], key=lambda block: block["kind"]):
        blocks = [dict(block) for block in group]
        for block in blocks:
            if kind == "picture":
                number += 1
                shown = folder / block["files"][0]
                data = base64.b64encode(shown.read_bytes()).decode("ascii")
                block |= {
                    "number": number,
                    "source": f"data:{_MIME[shown.suffix]};base64,{data}",
                    "links": [(file, Path(file).suffix[1:].upper()) for file in block["files"]],
                }
            elif kind == "table":
                columns = range(len(block["header"]))
                block["is_number"] = [
                    all(_is_number(row[k]) for row in block["rows"] if row[k]) for k in columns
                ]
        yield kind, blocks


def _digest(content: dict[str, Any], folder: Path) -> str:
    """Return a digest of a stored section and of the files that it names."""
    whole = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    pictures = [name for block in content["blocks"] for name in block.get("files", ())]
    for name in (*pictures, *(item["name"] for item in content["downloads"])):
        path = folder / name
        # The page embeds or links these files: paths outside of the folder are refused.
        if Path(name).name != name or path.is_symlink():
            raise ValueError(name)
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def _save_block(
    block: str | Picture | Table, folder: Path, formats: Collection[str]
) -> dict[str, Any]:
    if isinstance(block, str):
        return {"kind": "text", "text": block}
    if isinstance(block, Table):
        return {"kind": "table", **asdict(block)}
    words = {"caption": block.caption, "alt": block.alt}
    if isinstance(block.figure, str):
        return {"kind": "live", "html": block.figure, **words}
    files = _save_drawing(block.figure, block.name, folder, formats)
    is_wide = bool(block.figure.get_figwidth() > _COLUMN_INCHES)
    return {"kind": "picture", "files": files, "is_wide": is_wide, **words}


def _save_drawing(drawing: Any, name: str, folder: Path, formats: Collection[str]) -> list[str]:
    """Save a drawing in the given formats; return the file names, first the one that is shown."""
    import matplotlib as mpl

    wanted = [suffix for suffix in PICTURE_FORMATS if suffix in formats]
    if not {"svg", "png"} & set(wanted):
        wanted.insert(0, "svg")
    # With a fixed svg.hashsalt and no date the same drawing gives the same bytes.
    metadata = {
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    files = [f"{name}.{suffix}" for suffix in wanted]
    for suffix, file in zip(wanted, files, strict=True):
        # Drawn in memory first, because Matplotlib hides the operating system's error about a full
        # disk.
        content = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": name}):
            drawing.savefig(content, format=suffix, dpi=200, metadata=metadata.get(suffix))
        (folder / file).write_bytes(content.getvalue())
    if {"svg", "png"} <= set(wanted) and (folder / files[0]).stat().st_size > _MAX_SVG_BYTES:
        files[:2] = reversed(files[:2])
    return files


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\(?[-−+≥≤<>]?([\d.,\s%×e±()–°-]|to)+", text) is not None


def _resource(name: str) -> str:
    return (resources.files("cobayes.report") / name).read_text(encoding="utf-8")
