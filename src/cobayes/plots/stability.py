"""Pictures of success rates: maps, rays, and what the priors alone allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cobayes.errors import CobayesError
from cobayes.plots.simplex import CORNERS, HEIGHT, draw_frame, plot_simplex_points, project
from cobayes.plots.style import (
    FAINT,
    GREY,
    HYPOTHESIS_COLORS,
    INK,
    VERMILION,
    axes_or_new,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cobayes.stability.geometry import SimplexPoints
    from cobayes.stability.results import SuccessRates
    from cobayes.stability.robustness import Robustness

MARKERS = "os^Dv<>Pp*hXd8H"


def plot_success_map(
    points: ArrayLike,
    values: ArrayLike,
    *,
    centre: ArrayLike | None = None,
    crosses: ArrayLike | None = None,
    zoom: bool = False,
    labels: tuple[str, ...] | None = None,
    limits: tuple[float, float] | None = None,
    size: float = 14.0,
    ax: Axes | None = None,
    **scatter: Any,
) -> Axes:
    """Colour points of the triangle by the success rate there.

    Parameters
    ----------
    points
        Learners' priors, or perturbed columns, (k, 3).
    values
        Success rates, (k,).
    centre
        What they lie around, marked with a ring.
    crosses
        Further points to mark with crosses, such as a matrix's columns, (c, 3).
    zoom
        Whether to show only where the points are.
    labels
        What the corners mean.
    limits
        The success rates of the darkest and the lightest colour.
    size
        The points' area, in square points.
    ax
        Where to draw; None makes a new figure.
    **scatter
        Passed on to `matplotlib.axes.Axes.scatter`.
    """
    shown = np.atleast_2d(np.asarray(points, dtype=np.float64))
    ax = plot_simplex_points(
        shown,
        values,
        labels=None if zoom else labels,
        value_label="success rate",
        limits=limits,
        size=size,
        ax=ax,
        **scatter,
    )
    if crosses is not None:
        ax.plot(*project(crosses).T, "x", color=VERMILION, markersize=7, mew=1.6, zorder=5)
    if centre is not None:
        ax.plot(
            *project(np.atleast_2d(centre)).T,
            "o",
            markerfacecolor="none",
            markeredgecolor=INK,
            markersize=7,
            zorder=5,
        )
    if zoom:
        low, high = project(shown).min(axis=0), project(shown).max(axis=0)
        margin = 0.06 * max(high - low)
        ax.set_xlim(low[0] - margin, high[0] + margin)
        ax.set_ylim(low[1] - margin, high[1] + margin)
    return ax


def plot_success_rays(
    points: SimplexPoints,
    rates: SuccessRates,
    *,
    slope: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the success rate against the distance from the centre, one line a ray.

    Parameters
    ----------
    points
        Points on rays.
    rates
        The success rates of learners with these priors.
    slope
        Draw the line ``1 - slope * distance`` too: Conjecture 5.3 has 1 / theta^T(h).
    ax
        Where to draw; None makes a new figure.
    """
    if len(points) != len(rates):
        raise CobayesError(f"there are {len(points)} points and {len(rates)} success rates.")
    ax = axes_or_new(ax)
    for place, ray in enumerate(np.unique(points.rays[points.rays >= 0])):
        own = points.rays == ray
        order = np.argsort(points.distances[own])
        distance = points.distances[own][order]
        value, error = rates.values[own][order], rates.stderrs[own][order]
        color = HYPOTHESIS_COLORS[place % len(HYPOTHESIS_COLORS)]
        ax.fill_between(
            distance, value - 2 * error, value + 2 * error, color=color, alpha=0.15, linewidth=0
        )
        ax.plot(
            distance,
            value,
            color=color,
            marker=MARKERS[place % len(MARKERS)],
            markersize=3.5,
            linewidth=1.0,
            label=f"ray {ray + 1}",
        )
    if slope is not None:
        reach = np.array([0.0, points.distances.max()])
        ax.plot(reach, 1.0 - slope * reach, "--", color=INK, label="Conjecture 5.3")
    ax.set_xlabel("distance of the learner's prior from the teacher's idea of it")
    ax.set_ylabel("success rate")
    tidy(ax)
    return ax


def plot_success_against_prior(
    rates: SuccessRates, teacher_belief: float, *, ax: Axes | None = None
) -> Axes:
    """Draw success rates against the learner's prior on the truth, with the proved bounds.

    Parameters
    ----------
    rates
        The success rates of many learners.
    teacher_belief
        theta^T(h): what the teacher takes the learner's prior on the truth to be.
    ax
        Where to draw; None makes a new figure.
    """
    from cobayes.stability.bounds import frechet

    ax = axes_or_new(ax)
    position = rates.hypotheses.index(rates.hypothesis)
    believed = np.linspace(0.0, 1.0, 201)
    lower, upper = frechet(teacher_belief, believed)
    ax.fill_between(believed, lower, upper, color=FAINT, alpha=0.35, linewidth=0)
    ax.plot(believed, upper, color=VERMILION, linewidth=1.2, label="proved upper bound")
    ax.plot(believed, lower, color=GREY, linewidth=1.0, linestyle=":", label="proved lower bound")
    ax.errorbar(
        rates.priors[:, position],
        rates.values,
        2.0 * rates.stderrs,
        fmt="o",
        color=HYPOTHESIS_COLORS[0],
        markersize=2.5,
        elinewidth=0.6,
        label="learners, two standard errors",
    )
    ax.set_xlabel(f"learner's prior on {rates.hypothesis}")
    ax.set_ylabel("success rate")
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(-0.02, 1.04)
    tidy(ax)
    return ax


def plot_directions(result: Robustness, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """Draw the success rate in the most dangerous directions, with two standard errors.

    Parameters
    ----------
    result
        What `robustness` returned.
    most
        How many directions to show.
    ax
        Where to draw; None makes a new figure.
    """
    ax = axes_or_new(ax, size=(6.4, 4.2))
    order = np.argsort(result.moved.values)[:most][::-1]
    places = np.arange(len(order))
    for place, k in enumerate(order):
        is_worst = k == result.worst
        ax.errorbar(
            result.moved.values[k],
            place,
            xerr=2.0 * result.moved.stderrs[k],
            fmt="D" if is_worst else "o",
            color=VERMILION if is_worst else HYPOTHESIS_COLORS[0],
            markersize=5,
        )
    ax.grid(axis="x", color=FAINT, linewidth=0.5)
    ax.set_yticks(places, [result.describe_direction(int(k)) for k in order], fontsize=8)
    ax.set_xlabel(f"success rate at distance {result.distances.max():.3g}")
    tidy(ax)
    return ax


def plot_robustness_map(
    result: Robustness, grid: ArrayLike, values: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw the success rate over all priors that a learner of three hypotheses may have.

    Parameters
    ----------
    result
        What `robustness` returned.
    grid
        Learners' priors, (k, 3).
    values
        Their success rates, (k,).
    ax
        Where to draw; None makes a new figure.
    """
    ax = axes_or_new(ax, size=(5.4, 4.4))
    x, y = project(grid).T
    drawn = ax.tricontourf(
        x, y, np.asarray(values), levels=np.linspace(0.0, 1.0, 11), cmap="cividis"
    )
    names = result.rate.hypotheses
    draw_frame(ax, names, highlight=names.index(result.rate.hypothesis), grid=None)
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7)
    bar.set_label(f"success rate of teaching {result.rate.hypothesis}")
    start, end = project(np.array([result.teacher_prior, result.worst_prior]))
    # The arrow is drawn longer than the step itself, which may be too short to see.
    aim = start + (end - start) / np.linalg.norm(end - start) * 0.16
    ax.annotate(
        "",
        aim,
        start,
        arrowprops={"arrowstyle": "-|>", "color": VERMILION, "linewidth": 1.8},
        zorder=6,
    )
    ax.plot(*start, "o", color="white", markeredgecolor=INK, zorder=7, label="teacher's idea")
    if not np.array_equal(result.learner_prior, result.teacher_prior):
        place = project(result.learner_prior)
        ax.plot(*place, "s", color="white", markeredgecolor=INK, zorder=7, label="the learner")
    ax.plot([], [], color=VERMILION, linewidth=1.8, label="most dangerous direction")
    ax.legend(loc="upper right", fontsize=8, frameon=False, bbox_to_anchor=(1.02, 1.06))
    ax.set_xlim(CORNERS[0, 0] - 0.14, CORNERS[1, 0] + 0.14)
    ax.set_ylim(-0.14, HEIGHT + 0.12)
    return ax
