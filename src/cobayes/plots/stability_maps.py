"""Success rates in the triangle of priors or of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.plots.house import BLUE, COLORMAP, GREY, INK, VERMILION, axes_or_new, shorten_label
from cobayes.plots.simplex import CORNERS, HEIGHT, draw_frame, plot_simplex_points, project

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cobayes.stability.robustness import Robustness

Array = NDArray[np.float64]


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

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.stability.disc([0.4, 0.3, 0.3], num_circles=3)
    >>> ax = cb.plots.plot_success_map(found.points, 1.0 - found.distances, centre=found.centre)
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


def plot_success_disc(
    points: ArrayLike,
    values: ArrayLike,
    limits: tuple[float, float],
    *,
    size: float = 9.0,
    ax: Axes | None = None,
) -> Axes:
    """Colour a disc of the triangle by success, enlarged.

    Parameters
    ----------
    points, values
        Priors, (k, 3), and success rates, (k,); the first is the centre.
    limits
        The success rates of the darkest and the lightest colour.
    size
        The points' area, in square points.
    ax
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.stability.disc([0.4, 0.3, 0.3], num_circles=3)
    >>> ax = cb.plots.plot_success_disc(found.points, 1.0 - found.distances, (0.8, 1.0))
    """
    ax = axes_or_new(ax, size=(3.0, 3.0))
    flat = project(points)
    _color_dots(ax, flat, values, limits, s=size, linewidths=0.0)
    ax.plot(*flat[0], "+", color=INK, markersize=6, markeredgewidth=1.2, zorder=3)
    _zoom_to(ax, flat)
    return ax


def plot_position(
    centre: ArrayLike, radius: float, *, truth: str = "h", ax: Axes | None = None
) -> Axes:
    """Show where a disc around a prior lies in the triangle.

    Parameters
    ----------
    centre
        The prior, (3,).
    radius
        Radius of the disc, Euclidean in R^3.
    truth
        The name of the first corner.
    ax
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> ax = cb.plots.plot_position([0.4, 0.3, 0.3], 0.1, truth="h_1")
    """
    from matplotlib.patches import Circle, Polygon

    ax = draw_frame(axes_or_new(ax, size=(3.0, 3.0)), grid=None)
    middle = project(np.asarray(centre))
    # The triangle shows distances of R^3 divided by sqrt(2).
    around = Circle((middle[0], middle[1]), radius / np.sqrt(2.0), color=BLUE, alpha=0.35, lw=0)
    ax.add_patch(around)
    around.set_clip_path(Polygon(CORNERS, closed=True, transform=ax.transData))
    ax.plot(*middle, ".", color=INK, markersize=4)
    ax.annotate(truth, CORNERS[0], xytext=(-5, 0), textcoords="offset points", ha="right")
    return ax


def plot_column_map(
    columns: ArrayLike,
    values: ArrayLike,
    own_columns: ArrayLike,
    names: Sequence[str],
    limits: tuple[float, float],
    *,
    zoom: bool = False,
    size: float | Sequence[float] = 7.0,
    edges: float | Sequence[float] = 0.0,
    ax: Axes | None = None,
) -> Axes:
    """Colour perturbed columns of a learner's matrix by success, in the triangle of data.

    Parameters
    ----------
    columns, values
        Perturbed columns, (k, 3), and success rates, (k,).
    own_columns
        The teacher's columns, (3, 3), one in each row; they are marked with crosses.
    names
        Names of the three columns.
    limits
        The success rates of the darkest and the lightest colour.
    zoom
        Whether to show only where the points are.
    size
        The points' area, in square points; one for all or for each.
    edges
        The width of a dark line around the points; one for all or for each.
    ax
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.stability.perturb_column("example:M_2", "h_2")
    >>> own = cb.examples["M_2"].model.matrix.T
    >>> success = [0.9] * len(found.columns)
    >>> names = ["h_1", "h_2", "h_3"]
    >>> ax = cb.plots.plot_column_map(found.columns, success, own, names, (0.8, 1.0))
    """
    ax = axes_or_new(ax, size=(4.0, 3.6))
    flat, crosses = project(columns), project(own_columns)
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color=GREY, linewidth=0.8, zorder=1)
    _color_dots(ax, flat, values, limits, s=size, linewidths=edges, edgecolors=INK)
    for edge, width in (("white", 3.0), (VERMILION, 1.5)):
        ax.plot(*crosses.T, "x", color=edge, markersize=6.0, markeredgewidth=width, zorder=4)
    if zoom:
        _zoom_to(ax, flat)
        return ax
    _name_crosses(ax, crosses, names, flat)
    ax.set_aspect("equal")
    ax.set_xlim(-0.03, 1.03)
    ax.set_ylim(-0.03, float(CORNERS[2, 1]) + 0.03)
    ax.set_axis_off()
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

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.stability.robustness("example:M_2", hypothesis="h_1", num_sequences=200, rng=1)
    >>> grid = cb.stability.simplex_grid(3, 6)
    >>> ax = cb.plots.plot_robustness_map(found, grid, grid[:, 0])
    """
    ax = axes_or_new(ax, size=(5.4, 4.4))
    x, y = project(grid).T
    drawn = ax.tricontourf(
        x, y, np.asarray(values), levels=np.linspace(0.0, 1.0, 11), cmap="cividis"
    )
    names = result.rate.hypotheses
    draw_frame(ax, names, highlight=names.index(result.rate.hypothesis), grid=None)
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7)
    bar.set_label(f"success rate of teaching {shorten_label(result.rate.hypothesis)}")
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


def _color_dots(
    ax: Axes, flat: Array, values: ArrayLike, limits: tuple[float, float], **style: Any
) -> None:
    """Draw dots in the colours of their success rates."""
    ax.scatter(
        *flat.T,
        c=np.asarray(values),
        cmap=COLORMAP,
        vmin=limits[0],
        vmax=limits[1],
        zorder=2,
        # Thousands of dots would make a vector file huge.
        rasterized=True,
        **style,
    )


def _space(spots: Array, others: Array) -> Array:
    """Return how far each spot is from the nearest of others; names are wider than high."""
    return np.linalg.norm((spots[:, None] - others) * [1.0, 1.6], axis=2).min(axis=1)


def _zoom_to(ax: Axes, flat: Array) -> None:
    low, high = flat.min(axis=0), flat.max(axis=0)
    half = 0.55 * float((high - low).max())
    middle = 0.5 * (low + high)
    ax.set_aspect("equal")
    ax.set_xlim(middle[0] - half, middle[0] + half)
    ax.set_ylim(middle[1] - half, middle[1] + half)
    ax.set_axis_off()


def _name_crosses(ax: Axes, crosses: Array, names: Sequence[str], dots: Array) -> None:
    """Write names beside crosses, each on the side with the most room."""
    angles = np.radians(np.arange(0.0, 360.0, 45.0))
    offsets = np.stack([21.0 * np.cos(angles), 12.0 * np.sin(angles)], axis=1)
    taken = list(crosses)
    for position, (place, name) in enumerate(zip(crosses, names, strict=True)):
        # A triangle is some 160 points wide in a panel of a grid.
        spots = place + offsets / 160.0
        others = np.array([point for k, point in enumerate(taken) if k != position])
        space = _space(spots, others)
        # Other names and crosses count most; among sides that are free of them, few dots.
        best = int((np.minimum(space, 0.14) + 0.3 * np.minimum(_space(spots, dots), 0.1)).argmax())
        taken.append(spots[best])
        ax.annotate(
            name,
            place,
            xytext=(float(offsets[best, 0]), float(offsets[best, 1])),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=8,
            color=INK,
            zorder=3,
            bbox={"boxstyle": "round,pad=0.05", "facecolor": "white", "alpha": 0.75, "lw": 0},
        )
