"""What all sections share: words from Markdown, and empty figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cobayes.errors import import_optional
from cobayes.report.section import (
    Picture,
    Section,
    Table,
    data_frame,
    read_prose,
    written_section,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# ![alt](name "caption")
_IMAGE = re.compile(r'!\[([^\]]*)\]\((\S+)\s+"([^"]*)"\)')
# Wider figures take the whole width of the page.
_COLUMN_INCHES = 6.0


def write_section(
    name: str,
    *,
    values: Mapping[str, Any],
    figures: Mapping[str, Figure | str],
    tables: Mapping[str, Table] | None = None,
    data: Mapping[str, pd.DataFrame] | None = None,
    **fields: Any,
) -> Section:
    """Return a section from ``prose/NAME.md``.

    Parameters
    ----------
    name
        Name of the file, without suffix.
    values
        The value of each ``{{ name }}``.
    figures
        The drawing, or the HTML of a live figure, of each image ``![alt](name "caption")``.
    tables
        The table of each ``[[ name ]]``.
    data
        The DataFrame of each part ``## Numbers: name``, which describes its columns.
    **fields
        Further attributes of `Section`: downloads, claims, sizes.
    """
    jinja2 = import_optional("jinja2", "plots", "the report")
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        loader=jinja2.FunctionLoader(lambda file: read_prose("cobayes.paper.prose", file)),
    )
    text, *numbers = environment.get_template(name).render(values).split("\n## Numbers: ")
    described = dict(_described(part, data or {}) for part in numbers)
    parts: dict[str, Table | Picture] = dict(tables or {})
    for alt, image, caption in _IMAGE.findall(text):
        figure = figures[image]
        is_wide = not isinstance(figure, str) and bool(figure.get_figwidth() > _COLUMN_INCHES)
        caption, alt = (" ".join(words.split()) for words in (caption, alt))
        parts[image] = Picture(image, figure, caption, alt, is_wide)
    unshown = sorted(set(figures) - set(parts))
    if unshown:
        raise ValueError(f"prose/{name}.md does not show {', '.join(unshown)}")
    text = _IMAGE.sub(r"\n\n[[ \2 ]]\n\n", text)
    return written_section(text, values={}, parts=parts, data=described, **fields)


def _described(text: str, data: Mapping[str, pd.DataFrame]) -> tuple[str, pd.DataFrame]:
    """Return the name of a table of numbers, and the columns that its text describes."""
    name, title, *_ = text.strip().split("\n\n")
    columns = re.findall(r"^- `(\w+)`: (.+)$", text, flags=re.MULTILINE)
    frame = data[name]
    return name, data_frame(title, *((column, frame[column], said) for column, said in columns))


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, whose parts are laid out without overlap."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def in_symbols(name: str) -> str:
    """Write ``M'_1`` as M′₁ and ``theta_2`` as θ₂."""
    text, number = name.replace("theta", "θ").replace("'", "′").split("_")
    return text + "₀₁₂₃₄₅₆₇₈₉"[int(number)]
