"""A section's words: Markdown with places for numbers, pictures and tables.

The first line is the heading. ``{{ name }}`` is a value. A line ``[[ name, other ]]`` of its own
stands for pictures and tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from cobayes.errors import CobayesError, import_optional
from cobayes.report.section import LiveFigure, Picture, Section, Table

Part = Picture | Table | LiveFigure | Sequence[Picture | Table]


def written_section(
    text: str, *, values: Mapping[str, Any], parts: Mapping[str, Part], **fields: Any
) -> Section:
    r"""Return a section whose words are Markdown.

    Parameters
    ----------
    text
        The Markdown.
    values
        What ``{{ name }}`` stands for.
    parts
        What ``[[ name ]]`` stands for: a picture, a table, a live figure, or several.
    **fields
        Further attributes of `Section`: downloads, data, claims, sizes.

    Returns
    -------
    Section
        Title and blocks as the text has them.

    Examples
    --------
    >>> table = Table("Counts.", ("n",), (("3",),))
    >>> section = written_section(
    ...     "# Mine\n\nThere are {{ n }}.\n\n[[ counts ]]\n",
    ...     values={"n": 3},
    ...     parts={"counts": table},
    ... )
    >>> section.title, section.blocks[0]
    ('Mine', 'There are 3.')
    """
    jinja2 = import_optional("jinja2", "plots", "the report")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)
    try:
        filled = environment.from_string(text).render(values)
    except jinja2.UndefinedError as error:
        raise CobayesError(
            f"the text of a section names a value that is not given: {error}."
        ) from (None)
    first, _, rest = filled.lstrip().partition("\n")
    if not first.startswith("# "):
        raise CobayesError(f"a section's text begins with {first!r:.60}; expected '# Heading'.")
    blocks: list[str | Picture | Table | LiveFigure] = []
    used: set[str] = set()
    for paragraph in re.split(r"\n\s*\n", rest.strip()):
        match = re.fullmatch(r"\[\[(.+)\]\]", paragraph.strip())
        if match is None:
            blocks.append(" ".join(paragraph.split()) if _is_plain(paragraph) else paragraph)
            continue
        for name in (part.strip() for part in match[1].split(",")):
            if name not in parts:
                raise CobayesError(f"the text of {first!r} names {name!r}, which is not given.")
            part = parts[name]
            used.add(name)
            blocks.extend([part] if isinstance(part, Picture | Table | LiveFigure) else part)
    missing = sorted(set(parts) - used)
    if missing:
        raise CobayesError(f"the text of {first!r} does not show {', '.join(missing)}.")
    return Section(title=first[2:].strip(), blocks=tuple(blocks), **fields)


def read_prose(package: str, name: str) -> str:
    """Return the text of a Markdown file that lies in a package.

    Parameters
    ----------
    package
        Its dotted name.
    name
        Name of the file, without suffix.
    """
    return (resources.files(package) / f"{name}.md").read_text(encoding="utf-8")


def _is_plain(paragraph: str) -> bool:
    """Return whether a paragraph has no lines that mean something by themselves."""
    return re.search(r"^\s*([-*+>|#]|\d+\.)\s", paragraph, flags=re.MULTILINE) is None
