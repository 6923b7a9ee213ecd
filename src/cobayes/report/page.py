"""The report's page: one HTML file with its style and its pictures inside."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from cobayes.report.claims import ERROR_RATE

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
    "matrix, and the learner's new belief is simply the row of that datum.",
    "The belief still converges to the truth, on most matrices faster than plain Bayes does, "
    "and it keeps most of that when teacher and learner differ a little in matrix or prior.",
)

_MIME = {".svg": "image/svg+xml", ".png": "image/png"}
_SIGNS = {"good": "✓\u00a0", "note": "△\u00a0", "bad": "✗\u00a0", "plain": ""}
_TONES = {"holds": "good", "holds except": "note", "does not hold": "bad", "not decided": "plain"}


def render_page(
    sections: Sequence[tuple[str, Path, dict[str, Any]]],
    version: str,
    claims_files: Sequence[str] = (),
) -> str:
    """Return the page as HTML that needs nothing from elsewhere.

    Parameters
    ----------
    sections
        Name, folder and saved content of every section, in order.
    version
        The version of cobayes that made the page.
    claims_files
        Names of the files that hold the claims, beside the page.
    """
    style = (resources.files("cobayes.report") / "report.css").read_text(encoding="utf-8")
    claims = _claims(sections, claims_files)
    contents = '<li><a href="#claims">The paper’s claims, judged</a></li>' if claims else ""
    contents += "".join(
        f'<li><a href="#{escape(name)}">{escape(content["title"])}</a></li>'
        for name, _, content in sections
    )
    sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in FIVE_SENTENCES)
    body = "".join(_section(name, folder, content) for name, folder, content in sections)
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{TITLE}</title><style>\n{style}</style></head>\n<body>"
        f'<header><p class="eyebrow">cobayes {escape(version)} · report</p><h1>{TITLE}</h1>'
        '<p class="lead">The evidence for the model of Wang, Wang and Shafto (ICML 2020), computed '
        "afresh: every number and picture below was made by the command that stands beneath it."
        "</p></header>\n"
        f'<section class="what"><h2>What SCBI is, in five sentences</h2><ol>{sentences}</ol>'
        "</section>\n"
        f'<nav aria-label="Contents"><h2>Contents</h2><ol>{contents}</ol></nav>\n'
        f"<main>{claims}{body}</main>\n"
        f"<footer><p>Made with cobayes {escape(version)}. Pictures and tables may be used freely "
        "under the MIT licence; please cite the paper.</p></footer></body></html>\n"
    )


def _claims(sections: Sequence[tuple[str, Path, dict[str, Any]]], files: Sequence[str]) -> str:
    """Return the table of all sections' claims."""
    found = [
        (name, content["title"], claim)
        for name, _, content in sections
        for claim in content.get("claims", ())
    ]
    if not found:
        return ""
    verdicts = [claim["verdict"] for _, _, claim in found]
    counted = ", ".join(
        f"{verdicts.count(verdict)} {one if verdicts.count(verdict) == 1 else several}"
        for verdict, one, several in (
            ("holds", "holds", "hold"),
            ("holds except", "holds with exceptions", "hold with exceptions"),
            ("does not hold", "does not hold", "do not hold"),
            ("not decided", "is not decided by these data", "are not decided by these data"),
        )
        if verdict in verdicts
    )
    rows = "".join(
        f"<tr><td>{inline(claim['statement'])} "
        f'<span class="source">{inline(claim["source"])} · '
        f'<a href="#{escape(name)}">{inline(title.partition(":")[0])}</a></span></td>'
        f'<td class="{_TONES[claim["verdict"]]} verdict">'
        f"{_SIGNS[_TONES[claim['verdict']]]}{escape(claim['verdict'])}</td>"
        f"<td>{inline(claim['measured'])} "
        f'<span class="source">{inline(claim["uncertainty"])}</span></td>'
        f'<td class="source">{inline(claim["rule"])}</td></tr>'
        for name, title, claim in found
    )
    links = " · ".join(
        f'<a href="{escape(file)}" download>{Path(file).suffix[1:].upper()}</a>' for file in files
    )
    return (
        '<section id="claims"><h2>The paper’s claims, judged</h2>'
        f"<p>Of {len(found)} claims, {counted}. Every verdict follows from numbers below by the "
        "rule in the last column. Sampled numbers speak for or against a claim only beyond their "
        f"noise: a verdict errs with a probability of at most {100 * ERROR_RATE:g} %. "
        f'<span class="files">{links}</span></p>'
        '<div class="table claims" tabindex="0" role="region" aria-label="Claims and verdicts">'
        '<table><thead><tr><th scope="col">claim</th><th scope="col">verdict</th>'
        '<th scope="col">measured</th><th scope="col">judged by</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>\n"
    )


def inline(text: str) -> str:
    """Turn a line of text into HTML: ``*word*`` is emphasis, ````` `word` ````` is code."""
    # Code is cut out first: what stands between backquotes is shown as it is.
    parts = re.split(r"`([^`]+)`", escape(text, quote=False))
    return "".join(
        f"<code>{part}</code>"
        if position % 2
        else re.sub(r"\*(\S(?:[^*]*\S)?)\*", r"<em>\1</em>", part)
        for position, part in enumerate(parts)
    )


def _section(name: str, folder: Path, content: dict[str, Any]) -> str:
    body, num_pictures = "", 0
    for kind, group in groupby(content["blocks"], key=lambda block: block["kind"]):
        if kind == "text":
            body += "".join(f"<p>{inline(block['text'])}</p>" for block in group)
        elif kind == "table":
            body += "".join(_table(block) for block in group)
        else:
            figures = [
                _picture(block, name, folder, number)
                for number, block in enumerate(group, start=num_pictures + 1)
            ]
            num_pictures += len(figures)
            body += f'<div class="pictures">{"".join(figures)}</div>'
    downloads = ""
    if content["downloads"]:
        links = "".join(
            f'<li><a href="{escape(name)}/{escape(item["name"])}" download>'
            f"{escape(item['label'])}</a></li>"
            for item in content["downloads"]
        )
        downloads = f'<div class="downloads"><h3>Take away</h3><ul>{links}</ul></div>'
    return (
        f'<section id="{escape(name)}"><h2>{inline(content["title"])}</h2>{body}{downloads}'
        f"{_made(content['made'])}</section>\n"
    )


def _picture(picture: dict[str, Any], name: str, folder: Path, number: int) -> str:
    shown = folder / picture["files"][0]
    data = base64.b64encode(shown.read_bytes()).decode("ascii")
    links = " · ".join(
        f'<a href="{escape(name)}/{escape(file)}">{Path(file).suffix[1:].upper()}</a>'
        for file in picture["files"]
    )
    wide = ' class="wide"' if picture["is_wide"] else ""
    return (
        f'<figure{wide}><img alt="{escape(picture["alt"])}" '
        f'src="data:{_MIME[shown.suffix]};base64,{data}">'
        f"<figcaption><b>{number}.</b> {inline(picture['caption'])} "
        f'<span class="files">{links}</span></figcaption></figure>'
    )


def _table(table: dict[str, Any]) -> str:
    numeric = [
        all(_is_number(row[column]["text"]) for row in table["rows"] if row[column]["text"])
        for column in range(len(table["header"]))
    ]
    kinds = [' class="number"' if is_number else "" for is_number in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{inline(title)}</th>'
        for title, kind in zip(table["header"], kinds, strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(_cell(cell, kind) for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in table["rows"]
    )
    # Focusable, so that a keyboard can scroll a table that is wider than the page.
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{escape(table["caption"])}">'
        f"<table><caption>{inline(table['caption'])}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(cell: dict[str, str], kind: str) -> str:
    tone = cell["tone"]
    if tone != "plain":
        kind = f' class="{escape(tone)}"'
    return f"<td{kind}>{_SIGNS[tone]}{inline(cell['text'])}</td>"


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\(?[-−+]?[\d.,\s%×e±()–-]+", text) is not None


def _made(made: dict[str, Any]) -> str:
    seconds = made["seconds"]
    took = f"{seconds:.1f}\u00a0s" if seconds < 60 else f"{seconds / 60:.1f}\u00a0min"
    effort = {"quick": "quick scale", "paper": "the paper’s own sizes"}.get(
        made["scale"], f"{made['scale']} of the paper’s sizes"
    )
    sizes = f" Sizes: {inline(made['sizes'])}" if made["sizes"] else ""
    return (
        f'<p class="made">How it was made: <code>{escape(made["command"])}</code>, seed '
        f"{made['seed']}, {effort}, {took}, cobayes {escape(made['version'])}.{sizes}</p>"
    )
