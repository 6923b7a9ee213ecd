"""The report's page: one HTML file with its style and its pictures inside."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from cobayes.errors import import_optional
from cobayes.example_library import examples
from cobayes.report.claims import ERROR_RATE, VERDICTS
from cobayes.studio import live_figure

TITLE = "Sequential Cooperative Bayesian Inference, recomputed"

FIVE_SENTENCES = (
    "A teacher knows which of several hypotheses is true and shows a learner one datum after "
    "another; the learner starts from a prior belief and updates it with every datum.",
    "In plain Bayesian inference (BI) the data are drawn from the likelihood of the true "
    "hypothesis, and the learner reads them literally, as if nobody had chosen them.",
    "In Sequential Cooperative Bayesian Inference (SCBI) each knows that the other cooperates: "
    "before every round the matrix of likelihoods is scaled, rows and columns in turn, until its "
    "rows sum to one and its columns to the number of data times the learner's current belief.",
    "The teacher draws the next datum from the column of the true hypothesis in that scaled "
    "matrix, and the learner's new belief is the row of that datum.",
    "The belief still converges to the truth, on most matrices faster than plain Bayes does, "
    "and it keeps most of that when teacher and learner differ a little in matrix or prior.",
)

_MIME = {".svg": "image/svg+xml", ".png": "image/png"}
_SIGNS = {"good": "✓\u00a0", "note": "△\u00a0", "bad": "✗\u00a0", "plain": ""}
_TONES = {"holds": "good", "holds except": "note", "does not hold": "bad", "not decided": "plain"}
_COUNTED = {
    "holds": ("holds", "hold"),
    "holds except": ("holds with exceptions", "hold with exceptions"),
    "does not hold": ("does not hold", "do not hold"),
    "not decided": ("is not decided by these data", "are not decided by these data"),
}


@dataclass(frozen=True)
class PageSection:
    """A saved section on its way to the page.

    Attributes
    ----------
    name : str
        Name of the section and of its folder.
    folder : Path
        Where its files are.
    content : dict
        What `cobayes.report.saving.load_section` returned.
    is_opening : bool
        Whether it stands before the claims.
    """

    name: str
    folder: Path
    content: dict[str, Any]
    is_opening: bool = False


def render_page(
    sections: Sequence[PageSection], version: str, claims_files: Sequence[str] = ()
) -> str:
    """Return the page as HTML that needs nothing from elsewhere.

    Parameters
    ----------
    sections
        In order.
    version
        The version of cobayes that made the page.
    claims_files
        Names of the files that hold the claims, beside the page.
    """
    jinja2 = import_optional("jinja2", "plots", "the report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_resource),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"inline": _safe_inline, "paragraph": _paragraph}
    environment.globals |= {"signs": _SIGNS, "tones": _TONES}
    prepared = [(section.is_opening, _prepared(section)) for section in sections]
    claims = [
        {**claim, "section": section.name, "title": section.content["title"].partition(":")[0]}
        for section in sections
        for claim in section.content["claims"]
    ]
    return environment.get_template("page.html").render(
        title=TITLE,
        version=version,
        sentences=FIVE_SENTENCES,
        style=jinja2.utils.markupsafe.Markup(_resource("report.css")),
        script=jinja2.utils.markupsafe.Markup(_resource("report.js")),
        opening=[content for is_opening, content in prepared if is_opening],
        others=[content for is_opening, content in prepared if not is_opening],
        topics=_topics(claims),
        verdicts=[
            (verdict, _count_of(claims, verdict))
            for verdict in VERDICTS
            if _count_of(claims, verdict)
        ],
        num_claims=len(claims),
        num_sampled=sum(claim["uncertainty"] != "exact" for claim in claims),
        counted=_counted(claims),
        error_rate=f"{100 * ERROR_RATE:g}",
        claims_files=[(file, Path(file).suffix[1:].upper()) for file in claims_files],
    )


def _topics(claims: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the claims topic by topic, in the order of the numbers that the topics name."""
    names = sorted(dict.fromkeys(claim["topic"] for claim in claims), key=_number_in)
    found = []
    for name in names:
        own = [claim for claim in claims if claim["topic"] == name]
        verdicts = [verdict for verdict in VERDICTS if _count_of(own, verdict)]
        found.append(
            {
                "name": name or "Further claims",
                "claims": own,
                "counts": [(verdict, _count_of(own, verdict)) for verdict in verdicts],
            }
        )
    return found


def _number_in(topic: str) -> float:
    """Return the first number in a topic's name, such as a theorem's; infinity for none."""
    found = re.search(r"\d+(\.\d+)?", topic)
    return float(found[0]) if found else float("inf")


def _count_of(claims: Sequence[dict[str, Any]], verdict: str) -> int:
    return sum(claim["verdict"] == verdict for claim in claims)


def _counted(claims: Sequence[dict[str, Any]]) -> str:
    return ", ".join(
        f"{count} {_COUNTED[verdict][count != 1]}"
        for verdict in VERDICTS
        if (count := _count_of(claims, verdict))
    )


def _prepared(section: PageSection) -> dict[str, Any]:
    """Return a section with its pictures inside and its neighbouring pictures in groups."""
    content = section.content
    return {
        "name": section.name,
        "title": content["title"],
        "groups": list(_groups(section)),
        "downloads": content["downloads"],
        "made": content["made"],
        "took": _took(content["made"]["seconds"]),
        "effort": {"quick": "quick scale", "paper": "the paper’s own sizes"}.get(
            content["made"]["scale"], f"{content['made']['scale']} of the paper’s sizes"
        ),
    }


def _groups(section: PageSection) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    number = 0
    for kind, group in groupby(section.content["blocks"], key=lambda block: block["kind"]):
        blocks = [dict(block) for block in group]
        for block in blocks:
            if kind == "picture":
                number += 1
                shown = section.folder / block["files"][0]
                data = base64.b64encode(shown.read_bytes()).decode("ascii")
                block |= {
                    "number": number,
                    "source": f"data:{_MIME[shown.suffix]};base64,{data}",
                    "links": [(file, Path(file).suffix[1:].upper()) for file in block["files"]],
                }
            elif kind == "live":
                block["frame"] = live_figure(block["figure"], examples[block["example"]])
            elif kind == "table":
                block["is_number"] = [
                    all(_is_number(row[k]["text"]) for row in block["rows"] if row[k]["text"])
                    for k in range(len(block["header"]))
                ]
        yield kind, blocks


def _took(seconds: float) -> str:
    return f"{seconds:.1f}\u00a0s" if seconds < 60 else f"{seconds / 60:.1f}\u00a0min"


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\(?[-−+]?[\d.,\s%×e±()–-]+", text) is not None


def inline(text: str) -> str:
    """Turn a line of Markdown into HTML; HTML in it is shown, not obeyed.

    Parameters
    ----------
    text
        Without line breaks.
    """
    return str(_markdown().renderInline(text))


def _safe_inline(text: str) -> Any:
    return _safe(inline(text))


def _paragraph(text: str) -> Any:
    """Turn Markdown into HTML; HTML in it is shown, not obeyed."""
    return _safe(_markdown().render(text))


def _markdown() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def _safe(html: str) -> Any:
    from markupsafe import Markup

    return Markup(html)


def _resource(name: str) -> str:
    return (resources.files("cobayes.report") / name).read_text(encoding="utf-8")
