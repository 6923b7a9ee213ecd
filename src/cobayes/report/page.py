"""The report's page: one HTML file with its style and its pictures inside."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from cobayes.errors import import_optional
from cobayes.report.claims import ERROR_RATE

_MIME = {".svg": "image/svg+xml", ".png": "image/png"}
_TONES = {"✓": "good", "△": "note", "✗": "bad"}


def render_page(
    sections: Sequence[dict[str, Any]],
    folder: Path,
    *,
    title: str,
    lead: str = "",
    claims_file: str = "",
) -> str:
    """Return the page as HTML that needs no other file.

    Parameters
    ----------
    sections
        Stored sections in order, with "name" and "is_opening".
    folder
        The report's folder, with a folder for each section.
    title, lead
        The heading, and Markdown below it.
    claims_file
        Name of the file that holds the claims; empty for none.
    """
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    from cobayes import __version__

    jinja2 = import_optional("jinja2", "plots", "the report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_resource),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # HTML in Markdown is escaped.
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    environment.filters |= {
        "inline": lambda text: Markup(markdown.renderInline(text)),
        "paragraph": lambda text: Markup(markdown.render(text)),
    }
    environment.filters["tone"] = lambda text: _TONES.get(text[:1], "")
    prepared = [
        {**section, "groups": list(_groups(section, folder / section["name"]))}
        for section in sections
    ]
    claims = [
        {**claim, "section": section["name"], "title": section["title"].partition(":")[0]}
        for section in sections
        for claim in section["claims"]
    ]
    return environment.get_template("page.html").render(
        title=title,
        lead=lead,
        claims_file=claims_file,
        version=__version__,
        style=Markup(_resource("report.css")),
        script=Markup(_resource("report.js")),
        opening=[section for section in prepared if section["is_opening"]],
        others=[section for section in prepared if not section["is_opening"]],
        topics=sorted(dict.fromkeys(claim["topic"] for claim in claims), key=_number_in),
        claims=claims,
        error_rate=f"{100 * ERROR_RATE:g}",
    )


def _number_in(topic: str) -> float:
    """Return the first number in a topic's name, such as a theorem's; infinity for none."""
    found = re.search(r"\d+(\.\d+)?", topic)
    return float(found[0]) if found else float("inf")


def _groups(section: dict[str, Any], folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield blocks of one kind that follow each other, with their pictures inside."""
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


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\(?[-−+≥≤<>]?([\d.,\s%×e±()–°-]|to)+", text) is not None


def _resource(name: str) -> str:
    return (resources.files("cobayes.report") / name).read_text(encoding="utf-8")
