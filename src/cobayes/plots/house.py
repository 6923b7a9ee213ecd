"""The common style of all figures: colours, lines, axes and fonts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes._input.tables import as_floats
from cobayes._input.validation import instance
from cobayes.errors import CobayesError, import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW, GREY = "#56B4E9", "#D55E00", "#F0E442", "#8C8C8C"

HYPOTHESIS_COLORS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW, GREY)
"""The palette of Okabe and Ito, with grey instead of black."""

# Beyond eight hypotheses the colours are repeated with another hatching.
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "oooo")

RULE_STYLES = {
    "SCBI": {"color": BLUE, "linestyle": "-", "marker": "o"},
    "BI": {"color": VERMILION, "linestyle": "--", "marker": "s"},
}
"""Colour, line and marker of SCBI and BI; other rules use `OTHER_STYLES`."""

OTHER_STYLES = (
    {"color": GREEN, "linestyle": "-.", "marker": "^"},
    {"color": PURPLE, "linestyle": ":", "marker": "D"},
    {"color": ORANGE, "linestyle": (0, (5, 1, 1, 1)), "marker": "v"},
    {"color": GREY, "linestyle": (0, (1, 1)), "marker": "P"},
)

COLORMAP = "cividis"
INK, FAINT = "#222222", "#C8C8C8"


STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": INK,
    "axes.labelsize": 10.0,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 11.0,
    "figure.facecolor": "white",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.0,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "image.cmap": COLORMAP,
    "legend.fontsize": 9.0,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "savefig.facecolor": "white",
    "xtick.color": "#888888",
    "xtick.labelcolor": INK,
    "ytick.color": "#888888",
    "ytick.labelcolor": INK,
}
"""The common style as settings of matplotlib; `style` adds the colours of lines."""


def style() -> AbstractContextManager[Any]:
    """Return a context in which all figures, including your own, have the common style.

    Returns
    -------
    context manager
        Sets Matplotlib's parameters on entry, and restores them on exit.

    Examples
    --------
    >>> import cobayes as cb
    >>> with cb.plots.style():  # doctest: +SKIP
    ...     ax = cb.plots.plot_belief_bars(lesson)
    """
    matplotlib = import_optional("matplotlib", "plots", "a picture")
    colors = matplotlib.cycler(color=HYPOTHESIS_COLORS)
    return matplotlib.rc_context({**STYLE, "axes.prop_cycle": colors})


def line_style(name: str, position: int) -> dict:
    """Return the style of a curve: by its name for SCBI and BI, else by its position."""
    return dict(RULE_STYLES.get(name, OTHER_STYLES[position % len(OTHER_STYLES)]))


def bar_style(position: int) -> dict:
    """Return the colour and hatching of one part of a bar; position 0 is the lowest part."""
    count = len(HYPOTHESIS_COLORS)
    return {
        "facecolor": HYPOTHESIS_COLORS[position % count],
        "hatch": HATCHES[position // count % len(HATCHES)],
        "edgecolor": "white",
        "linewidth": 0.6,
    }


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a given size in inches, with constrained layout."""
    import_optional("matplotlib", "plots", "a picture")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (6.0, 3.6)) -> Axes:
    """Return the given Axes in the common style, or Axes of a new figure; `size` is in inches."""
    import_optional("matplotlib", "plots", "a picture")
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    if ax is not None:
        instance(ax, Axes, "ax", "Axes of Matplotlib")
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color("#888888")
        ax.tick_params(color="#888888", labelcolor=INK)
        return ax
    # Notebooks show only figures made by pyplot; no other function here uses pyplot's state.
    with style():
        return plt.subplots(figsize=size, layout="constrained")[1]


def color_limits(limits: tuple[float, float]) -> tuple[float, float]:
    """Return `limits`, the values of the darkest and the lightest colour, as two numbers."""
    found = as_floats(limits, copy=False, name="limits").tolist()
    if not isinstance(found, list) or len(found) != 2:
        raise CobayesError(f"limits is {limits!r}; expected two numbers.")
    return found[0], found[1]


def integer_ticks(ax: Axes) -> None:
    """Place the ticks of the x axis at integers."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def legend_of_curves(ax: Axes) -> None:
    """Draw a legend at the lower right if no curve is there, else at the best place."""
    low, high = ax.get_xlim()
    is_free = True
    for line in ax.get_lines():
        x, y = (np.asarray(values, dtype=float) for values in line.get_data())
        if len(x) > 2:
            is_free &= bool((y[(x > (low + high) / 2) & (x <= high)] > 0.35).all())
    ax.legend(frameon=False, loc="lower right" if is_free else "best")


def distinct(names: Sequence[str]) -> list[str]:
    """Make names distinct: a repeated name gets its place in the list, as in "SCBI", "SCBI (2)"."""
    return [f"{name} ({k + 1})" if name in names[:k] else name for k, name in enumerate(names)]


def shorten_label(text: str, limit: int = 22) -> str:
    """Shorten a long label in its middle; write ``h_1`` as h₁."""
    text = with_subscripts(text)
    if len(text) <= limit:
        return text
    # Long labels may differ only at their ends, so the last third is kept.
    end = limit // 3
    return f"{text[: limit - 1 - end].rstrip()}…{text[-end:].lstrip()}"


def with_subscripts(text: str) -> str:
    """Write names as the paper prints them: ``h_1`` as h₁, ``M'_2`` as M′₂, ``theta_3`` as θ₃."""

    def printed(name: re.Match[str]) -> str:
        letter, prime, digit = name.groups()
        return letter.replace("theta", "θ") + prime.replace("'", "′") + "₀₁₂₃₄₅₆₇₈₉"[int(digit)]

    return re.sub(r"\b(theta|[A-Za-z])('?)_(\d)\b", printed, text)
