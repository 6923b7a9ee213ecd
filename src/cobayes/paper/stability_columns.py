"""Drawing perturbed columns: Figures 5 and S7."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cobayes.paper.stability_experiments import CaseRates
from cobayes.paper.stability_pictures import color_limits, dot_area
from cobayes.stability.columns import DISC

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    from cobayes.plots.stability_panels import plot_column_map

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
