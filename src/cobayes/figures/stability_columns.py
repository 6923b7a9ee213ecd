"""Drawing perturbed columns: Figures 5 and S7."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cobayes.figures.stability_experiments import CaseRates
from cobayes.figures.stability_pictures import color_limits
from cobayes.stability.columns import DISC

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_column_map(rates: CaseRates, ax: Axes, *, zoom: bool, size: float = 7.0) -> Axes:
    """Draw the perturbations of a case, all of them or the disc enlarged.

    Parameters
    ----------
    rates
        Of kind "column".
    ax
        Where to draw.
    zoom
        Whether to show the disc alone, with a colour scale of its own.
    size
        The points' area, in square points, where all are shown.
    """
    from cobayes.plots.stability_panels import plot_column_map

    learners, roles = rates.learners, rates.case.roles
    chosen = np.ones(len(rates), dtype=bool)
    if zoom:
        radius = float(learners.distances[learners.kinds == DISC].max())
        chosen = learners.distances <= radius * (1.0 + 1e-9)
    names = {roles.target: "tr. h", roles.relevant: "rel. h", roles.irrelevant[0]: "irr. h"}
    return plot_column_map(
        learners.columns[chosen],
        rates.value[chosen],
        rates.case.model.matrix.T,
        [names[j] for j in range(3)],
        color_limits([rates.value[chosen]]) if zoom else (0.0, 1.0),
        zoom=zoom,
        size=size * (3.4 * np.sqrt(90 / max((learners.kinds == DISC).sum(), 1)) if zoom else 1.0),
        ax=ax,
    )
