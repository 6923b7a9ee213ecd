"""Panels that the pictures of success rates are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cobayes.paper.stability_cases import in_symbols, shown_directions
from cobayes.paper.stability_experiments import CaseRates
from cobayes.plots.house import BLUE, GREEN, INK, ORANGE, PURPLE, SKY
from cobayes.stability.geometry import spherical_coordinates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Vermilion is left to the lines of bounds and conjectures.
RAY_COLORS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#555555")
RAY_MARKERS = "os^Dv<"
_WIDTH = 9.6
DISTANCE = "distance of the learner’s prior from the teacher’s"


def direction_colors(seed: int) -> list:
    """Return the colours of the directions among four hypotheses: light is away from the truth.

    Parameters
    ----------
    seed
        The user's seed.
    """
    from cobayes.plots.stability import shades

    return shades(spherical_coordinates(shown_directions(seed))[:, 0])


def draw_rays(rates: CaseRates, seed: int, ax: Axes, *, with_markers: bool = False) -> Axes:
    """Draw the rays of a case.

    Parameters
    ----------
    rates
        Of kind "disc" or "directions".
    seed
        The user's seed.
    ax
        Where to draw.
    with_markers
        Whether to mark the single learners.
    """
    from cobayes.plots import plot_success_rays

    learners = rates.learners
    is_disc = rates.case.kind == "disc"
    chosen = (learners.rays >= 0) | (learners.kinds == "centre")
    return plot_success_rays(
        learners.distances[chosen],
        rates.value[chosen],
        learners.rays[chosen],
        colors=RAY_COLORS if is_disc else direction_colors(seed),
        slope=1.0 / rates.teacher_belief,
        markers=RAY_MARKERS if with_markers else "",
        ax=ax,
    )


def ray_key(ax: Axes, **options) -> None:
    """Add a key of the six rays.

    Parameters
    ----------
    ax
        Where.
    **options
        Of `matplotlib.axes.Axes.legend`.
    """
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color, marker=marker, markersize=4, linewidth=1.2, label=f"{k + 1}")
        for k, (color, marker) in enumerate(zip(RAY_COLORS, RAY_MARKERS, strict=True))
    ]
    given = {"loc": "lower left", "ncols": 3, "title": "ray"} | options
    ax.legend(handles=handles, frameon=False, fontsize=8, title_fontsize=8, **given)


def grid_of_panels(
    found: Sequence[CaseRates],
    draw: Callable[[CaseRates, Axes], object],
    *,
    x_label: str,
    y_label: str,
    panel_height: float = 1.7,
    share_y: bool = False,
) -> Figure:
    """Draw one panel for each case: a row for each matrix, a column for each prior.

    Parameters
    ----------
    found
        All combinations, matrix by matrix.
    draw
        Fills the panel of a case.
    x_label, y_label
        Axis labels of all panels.
    panel_height
        In inches.
    share_y
        Whether all panels have one vertical scale, whose numbers are shown on the left only.
    """
    from matplotlib.figure import Figure

    matrices = list(dict.fromkeys(rates.case.matrix for rates in found))
    priors = list(dict.fromkeys(rates.case.prior for rates in found))
    rows, columns = len(matrices), len(priors)
    height = panel_height * rows + 0.75
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.subplots(rows, columns, sharey=share_y, squeeze=False)
    for ax, rates in zip(axes.flat, found, strict=True):
        draw(rates, ax)
        ax.tick_params(labelsize=7.5, length=2.5, pad=2)
    for ax, prior in zip(axes[0], priors, strict=True):
        ax.set_title(in_symbols(prior), fontsize=11, color=INK)
    for ax, matrix in zip(axes[:, 0], matrices, strict=True):
        ax.set_ylabel(in_symbols(matrix), fontsize=11, rotation=0, labelpad=14, va="center")
    # Laying out dozens of panels by constraints takes longer than drawing them.
    figure.subplots_adjust(
        left=0.085,
        right=0.99,
        top=1.0 - 0.28 / height,
        bottom=0.5 / height,
        wspace=0.12 if share_y else 0.32,
        hspace=0.3 if panel_height < 1.9 else 0.25,
    )
    figure.supxlabel(x_label, fontsize=10, y=0.08 / height)
    figure.supylabel(y_label, fontsize=10, x=0.004)
    return figure


def grid_of_rays(found: Sequence[CaseRates], seed: int, *, panel_height: float = 1.7) -> Figure:
    """Draw the rays of every case into a panel of its own.

    Parameters
    ----------
    found, panel_height
        See `grid_of_panels`.
    seed
        The user's seed.
    """
    return grid_of_panels(
        found,
        lambda rates, ax: draw_rays(rates, seed, ax),
        x_label=DISTANCE,
        y_label="success rate",
        panel_height=panel_height,
    )


def lowest_of(found: Sequence[CaseRates]) -> CaseRates:
    """Return the case in which a learner has the lowest success rate of all.

    Parameters
    ----------
    found
        At least one case.
    """
    return min(found, key=lambda rates: float(rates.value.min()))


def dot_area(width: float, num_points: int) -> float:
    """Return the area of dots, in square points, that just touch within a disc of circles.

    Parameters
    ----------
    width
        Width of the disc as drawn, in points.
    num_points
        On all its circles: 3 k (k + 1) for k of them.
    """
    circles = round((-1.0 + np.sqrt(1.0 + 4.0 * num_points / 3.0)) / 2.0)
    return (0.95 * width / (2 * circles)) ** 2


def color_limits(values: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the ends of a colour scale of success rates: a round number, and one.

    Parameters
    ----------
    values
        All that are to be shown on it.
    """
    lowest = min(float(v.min()) for v in values)
    step = 0.05 if lowest < 0.9 else 0.01
    return float(np.floor(lowest / step + 1e-9) * step), 1.0
