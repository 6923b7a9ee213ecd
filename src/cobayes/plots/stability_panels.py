"""Panels of the stability figures: small, alike, and quick to draw by the dozen.

`cobayes.plots.stability` has the larger pictures for single questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.plots.simplex import CORNERS, draw_frame, project
from cobayes.plots.style import BLUE, COLORMAP, FAINT, GREY, INK, VERMILION, axes_or_new, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Color = str | tuple[float, float, float, float]

_EDGE = 0.03


def plot_falls(
    distances: ArrayLike,
    values: ArrayLike,
    rays: ArrayLike,
    colors: Sequence[Color],
    *,
    slope: float | None = None,
    markers: Sequence[str] = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw success rates against the distance from the centre, one line a ray.

    Parameters
    ----------
    distances, values
        Of all learners, (k,); the first is the centre.
    rays
        On which ray each lies, or -1, (k,).
    colors
        One for each ray.
    slope
        Draws ``1 - slope * distance`` as a red line: Conjecture 5.3 has 1 / theta^T(h).
    markers
        One for each ray; none are drawn when left out.
    ax
        Where to draw; None makes a new figure.
    """
    ax = axes_or_new(ax)
    distances, values, rays = np.asarray(distances), np.asarray(values), np.asarray(rays)
    for ray in np.unique(rays[rays >= 0]):
        own = np.concatenate([[0], np.flatnonzero(rays == ray)])
        ax.plot(
            distances[own],
            values[own],
            color=colors[ray],
            linewidth=1.0,
            marker=markers[ray] if len(markers) else None,
            markersize=2.8,
            markeredgewidth=0.0,
            solid_capstyle="round",
        )
    lowest = float(values.min())
    room = _EDGE * (1.0 - lowest) + 1e-4
    if slope is not None:
        reach = np.array([0.0, float(distances.max())])
        ax.plot(reach, 1.0 - slope * reach, color=VERMILION, linewidth=1.0, linestyle="--")
    ax.set_ylim(lowest - room, 1.0 + room)
    ax.set_xlim(0.0, float(distances.max()) * 1.02)
    tidy(ax)
    return ax


def plot_against_belief(
    believed: ArrayLike,
    values: ArrayLike,
    teacher_belief: float,
    *,
    size: float = 2.4,
    ax: Axes | None = None,
) -> Axes:
    """Draw success rates against the learner's prior in the truth, between the proved bounds.

    Parameters
    ----------
    believed, values
        Of all learners, (k,).
    teacher_belief
        theta^T(h).
    size
        The dots' diameter, in points.
    ax
        Where to draw; None makes a new figure.
    """
    from cobayes.stability.bounds import frechet

    ax = axes_or_new(ax)
    corners = np.unique([0.0, 1.0 - teacher_belief, teacher_belief, 1.0])
    lower, upper = frechet(teacher_belief, corners)
    ax.plot(corners, upper, color=VERMILION, linewidth=1.1, zorder=2)
    ax.plot(corners, lower, color=GREY, linewidth=1.0, linestyle=":", zorder=2)
    _draw_learners(ax, believed, values, size)
    ax.set_xlim(0.0, 1.0)
    # Numbers at both ends would run into those of the neighbours.
    ax.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "", "0.5", "", "1"])
    return ax


def plot_against_distance(
    distances: ArrayLike,
    values: ArrayLike,
    teacher_belief: float,
    *,
    size: float = 2.4,
    ax: Axes | None = None,
) -> Axes:
    """Draw success rates against the distance of the priors, with Conjecture 5.3's line.

    Parameters
    ----------
    distances, values
        Of all learners, (k,).
    teacher_belief, size, ax
        See `plot_against_belief`.
    """
    ax = axes_or_new(ax)
    ax.plot([0.0, teacher_belief], [1.0, 0.0], color=VERMILION, linewidth=1.1, zorder=2)
    _draw_learners(ax, distances, values, size)
    ax.set_xlim(0.0, None)
    return ax


def plot_disc(
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
        Of the disc, Euclidean in R^3.
    truth
        The name of the first corner.
    ax
        Where to draw; None makes a new figure.
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
        Of the three columns.
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


def plot_angles(angles: ArrayLike, colors: Sequence[Color], *, ax: Axes | None = None) -> Axes:
    """Draw directions in the simplex of four hypotheses by their two angles, with numbers.

    Parameters
    ----------
    angles
        (phi, theta) in radians, (k, 2), from `cobayes.stability.geometry.spherical_coordinates`.
    colors
        One for each.
    ax
        Where to draw; None makes a new figure.
    """
    ax = axes_or_new(ax, size=(6.0, 3.0))
    down, around = np.degrees(np.asarray(angles)).T
    ax.axhline(90.0, color=FAINT, linewidth=0.8, zorder=0)
    for position, (x, y) in enumerate(zip(around, down, strict=True)):
        color = colors[position]
        ax.plot(x, y, "o", color=color, markersize=13, markeredgecolor="white", mew=0.8)
        ax.annotate(
            str(position + 1),
            (x, y),
            ha="center",
            va="center_baseline",
            fontsize=7.5,
            color="white" if _is_dark(color) else INK,
        )
    ax.set_xlim(-185.0, 185.0)
    ax.set_ylim(185.0, -5.0)
    ax.set_xticks(range(-180, 181, 60))
    ax.set_yticks(range(0, 181, 45))
    ax.set_xlabel("θ: around that axis, degrees (0: the side of h₂)")
    ax.set_ylabel("φ: away from h₁, degrees")
    tidy(ax)
    return ax


def shades(values: ArrayLike, *, darkest: float = 0.0, lightest: float = 0.92) -> list[Color]:
    """Return colours of the map from the smallest to the largest value.

    Parameters
    ----------
    values
        One for each colour.
    darkest, lightest
        Which part of the map to use; the lightest colours are hard to see on white.
    """
    import matplotlib as mpl

    given = np.asarray(values, dtype=float)
    share = (given - given.min()) / max(float(np.ptp(given)), 1e-300)
    return [mpl.colormaps[COLORMAP](darkest + (lightest - darkest) * x) for x in share]


def _draw_learners(ax: Axes, places: ArrayLike, values: ArrayLike, size: float) -> None:
    """Draw one dot for each learner; success rates go up from 0 to 1."""
    ax.plot(places, values, "o", color=BLUE, markersize=size, markeredgewidth=0.0, zorder=3)
    ax.set_ylim(-_EDGE, 1.0 + _EDGE)
    tidy(ax)


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


def _room(spots: Array, others: Array) -> Array:
    """Return how far each spot is from the nearest of others; names are wider than high."""
    return np.linalg.norm((spots[:, None] - others) * [1.0, 1.6], axis=2).min(axis=1)


def _is_dark(color: Color) -> bool:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(color)
    return 0.3 * red + 0.6 * green + 0.1 * blue < 0.55


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
        room = _room(spots, others)
        # Other names and crosses count most; among sides that are free of them, few dots.
        best = int((np.minimum(room, 0.14) + 0.3 * np.minimum(_room(spots, dots), 0.1)).argmax())
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
