"""Helpers of the sections: texts from Markdown, confidence intervals, points with error bars."""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._intervals import exact_interval
from cobayes.plots.house import new_figure
from cobayes.report.claims import ERROR_RATE
from cobayes.report.section import Section, prose, written_section

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def write_section(name: str, **parts: Any) -> Section:
    """Return a section from ``prose/NAME.md``; see `written_section`."""
    return written_section(prose("cobayes.paper").get_template(f"{name}.md"), **parts)


def words(name: str, **values: Any) -> dict[str, Any]:
    """Return the texts of a claim, with values filled in, as keywords for `Claim` or `judge_*`.

    The texts are the items under the heading ``## NAME`` in ``prose/claims.md``. The keyword
    "topic" is the last heading of level 1 above ``## NAME``.
    """
    source = (resources.files("cobayes.paper") / "prose" / "claims.md").read_text(encoding="utf-8")
    before, text = re.split(rf"^## {re.escape(name)}\n", source, flags=re.MULTILINE)
    own = re.split(r"^#", text, flags=re.MULTILINE)[0]
    text = prose("cobayes.paper").from_string(own).render(values)
    items = re.findall(r"^- (\w+): (.*?)(?=^- |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    topic = re.findall(r"^# (.+)$", before, flags=re.MULTILINE)[-1]
    return {"topic": topic, **{key: re.sub(r"\s*\n\s*", " ", said.strip()) for key, said in items}}


def share_intervals(successes: Collection[int], trials: Collection[int]) -> NDArray[np.float64]:
    """Return the lower and upper ends of exact confidence intervals of k shares, (2, k).

    The probability that all intervals contain their true shares is at least 1 - `ERROR_RATE`.
    """
    confidence = 1.0 - ERROR_RATE / len(successes)
    counts = zip(successes, trials, strict=True)
    return np.array([exact_interval(k, count, confidence) for k, count in counts]).T


def new_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure of `width` x `height` inches, and its only axes."""
    figure = new_figure(width, height)
    return figure, figure.subplots()


def draw_points(ax: Axes, x: Any, y: Any, errors: Any = None, **style: Any) -> None:
    """Draw points without a line, with error bars unless `errors` is None."""
    style = {"markersize": 3.5, "elinewidth": 1.0, "capsize": 1.5, **style, "linestyle": "none"}
    ax.errorbar(x, y, errors, **style)
