"""Drawing perturbed columns: Figures 5 and S7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cobayes.paper.stability_cases import in_symbols
from cobayes.paper.stability_experiments import CaseRates
from cobayes.paper.stability_panels import color_limits, dot_area
from cobayes.plots.house import INK
from cobayes.report.section import Picture
from cobayes.stability.columns import DISC

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TITLES = ("irrelevant column", "enlarged", "relevant column", "enlarged")


def panels(found: Sequence[CaseRates]) -> list[Picture]:
    """Return the panels of Figure 5: each column, and the disc around it enlarged.

    Parameters
    ----------
    found
        The irrelevant column, then the relevant one.
    """
    return [_panel(rates, zoom) for rates in found for zoom in (False, True)]


def draw_column_map(rates: CaseRates, ax: Axes, *, width: float | None = None) -> Axes:
    """Draw the perturbations of a case, all of them or the disc enlarged.

    Parameters
    ----------
    rates
        Of kind "column".
    ax
        Where to draw.
    width
        How wide the disc is to be drawn, in points: it is shown alone, with a colour scale of its
        own. None shows everything.
    """
    from cobayes.plots import plot_column_map

    learners, roles = rates.learners, rates.case.roles
    is_disc = (learners.kinds == DISC) | (learners.kinds == "centre")
    chosen = np.ones(len(rates), dtype=bool)
    size, edges = np.full(len(rates), 5.0), np.zeros(len(rates))
    if width is not None:
        radius = float(learners.distances[is_disc].max())
        chosen = learners.distances <= radius * (1.0 + 1e-9)
        num_points = int(is_disc.sum()) - 1 + learners.num_left_out
        size = np.where(is_disc, dot_area(width, num_points), 9.0)
        edges = np.where(is_disc, 0.0, 0.5)
    names = {roles.target: "tr. h", roles.relevant: "rel. h", roles.irrelevant[0]: "irr. h"}
    return plot_column_map(
        learners.columns[chosen],
        rates.value[chosen],
        rates.case.model.matrix.T,
        [names[j] for j in range(3)],
        (0.0, 1.0) if width is None else color_limits([rates.value[chosen]]),
        zoom=width is not None,
        size=size[chosen].tolist(),
        edges=edges[chosen].tolist(),
        ax=ax,
    )


def grid(found: Sequence[CaseRates]) -> Picture:
    """Return the picture of Figure S7: a row for each matrix.

    Parameters
    ----------
    found
        The irrelevant and the relevant column of each matrix in turn.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(9.6, 10.6))
    rows = len(found) // 2
    axes = figure.subplots(rows, 4, gridspec_kw={"width_ratios": [1.15, 1.0, 1.15, 1.0]})
    figure.subplots_adjust(left=0.045, right=0.945, top=0.965, bottom=0.08, wspace=0.16, hspace=0.1)
    for position, rates in enumerate(found):
        row, pair = divmod(position, 2)
        draw_column_map(rates, axes[row, 2 * pair])
        near = draw_column_map(rates, axes[row, 2 * pair + 1], width=112.0)
        box = near.get_position()
        place = (box.x1 + 0.004, box.y0 + 0.12 * box.height, 0.008, 0.76 * box.height)
        bar = figure.colorbar(near.collections[0], cax=figure.add_axes(place))
        bar.locator = MaxNLocator(4)
        bar.update_ticks()
        bar.ax.tick_params(labelsize=7, length=2, pad=1)
        bar.outline.set_visible(False)
    for ax, title in zip(axes[0], _TITLES, strict=True):
        ax.set_title(title, fontsize=10.5, color=INK)
    for ax, rates in zip(axes[:, 0], found[::2], strict=True):
        ax.text(
            -0.02,
            0.75,
            in_symbols(rates.case.matrix),
            transform=ax.transAxes,
            fontsize=12,
            color=INK,
        )
    bar = figure.colorbar(
        axes[0, 0].collections[0],
        cax=figure.add_axes((0.25, 0.055, 0.5, 0.01)),
        orientation="horizontal",
    )
    bar.set_label("success rate (first and third column of panels)", fontsize=9.5)
    bar.outline.set_visible(False)
    lowest = min(float(rates.value.min()) for rates in found)
    return Picture(
        "figure-s7",
        figure,
        "Success rates of learners with one column perturbed; crosses are the teacher’s columns "
        "(tr. h: the truth’s, rel. h: relevant, irr. h: irrelevant).",
        "Five rows of four triangles and enlargements; in each enlargement a bright strip crosses "
        f"the centre; the lowest success rate is {lowest:.3f}, near the truth’s column.",
        is_wide=True,
    )


def _panel(rates: CaseRates, zoom: bool) -> Picture:
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(4.8, 4.0), layout="constrained")
    ax = draw_column_map(rates, figure.subplots(), width=215.0 if zoom else None)
    bar = figure.colorbar(ax.collections[0], ax=ax, shrink=0.75, pad=0.02)
    bar.locator = MaxNLocator(5)
    bar.update_ticks()
    bar.set_label("success rate")
    bar.outline.set_visible(False)
    role = "relevant" if rates.case.column == rates.case.roles.relevant else "irrelevant"
    low, high = float(rates.value.min()), float(rates.value.max())
    if zoom:
        text = (
            f"The disc around the {role} column, enlarged, with a colour scale of its own; ringed "
            "dots lie on the path and on the line of mixtures."
        )
    else:
        text = f"Perturbations of the {role} column: {len(rates)} learners."
    return Picture(
        f"figure-5-{role}{'-enlarged' if zoom else ''}",
        figure,
        text,
        f"Dots around the {role} column, coloured by success between {low:.2f} and {high:.2f}; "
        "a bright strip crosses the centre of the disc.",
    )
