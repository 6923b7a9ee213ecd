"""Success rates against distance, prior and direction; `stability_maps` has the triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cobayes.errors import CobayesError
from cobayes.plots.house import (
    BLUE,
    COLORMAP,
    FAINT,
    GREY,
    HYPOTHESIS_COLORS,
    INK,
    VERMILION,
    axes_or_new,
    tidy,
    with_subscripts,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cobayes.stability.robustness import Robustness

Color = str | tuple[float, float, float, float]

_EDGE = 0.03


def plot_success_rays(
    distances: ArrayLike,
    values: ArrayLike,
    rays: ArrayLike,
    *,
    stderrs: ArrayLike | None = None,
    colors: Sequence[Color] | None = None,
    markers: Sequence[str] = "",
    slope: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw success rates against the distance of the learner's prior, one line for each ray.

    Parameters
    ----------
    distances, values
        Distances and success rates, (k,). A learner at distance zero belongs to every ray.
    rays
        On which ray each learner lies, or -1, (k,).
    stderrs
        Standard errors, (k,); bands of two of them are drawn.
    colors
        One for each ray; those of the house when left out.
    markers
        One for each ray; none are drawn when left out.
    slope
        Draws ``1 - slope * distance`` as a dashed line: Conjecture 5.3 has 1 / theta^T(h).
    ax
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> ax = plot_success_rays([0.0, 0.1, 0.2], [1.0, 0.9, 0.8], [-1, 0, 0])  # doctest: +SKIP
    """
    ax = axes_or_new(ax)
    distances, values, rays = np.asarray(distances), np.asarray(values), np.asarray(rays)
    errors = None if stderrs is None else np.asarray(stderrs)
    if not len(distances) == len(values) == len(rays):
        raise CobayesError(
            f"there are {len(distances)} distances, {len(values)} success rates and {len(rays)} "
            "rays; expected one of each for every learner."
        )
    is_centre = (rays < 0) & (distances == 0.0)
    for ray in np.unique(rays[rays >= 0]):
        own = np.flatnonzero(is_centre | (rays == ray))
        own = own[np.argsort(distances[own], kind="stable")]
        color = HYPOTHESIS_COLORS[ray % len(HYPOTHESIS_COLORS)] if colors is None else colors[ray]
        if errors is not None:
            ax.fill_between(
                distances[own],
                values[own] - 2.0 * errors[own],
                values[own] + 2.0 * errors[own],
                color=color,
                alpha=0.15,
                linewidth=0,
            )
        ax.plot(
            distances[own],
            values[own],
            color=color,
            linewidth=1.0,
            marker=markers[ray % len(markers)] if len(markers) else None,
            markersize=2.8,
            markeredgewidth=0.0,
            solid_capstyle="round",
            label=f"ray {ray + 1}",
        )
    lowest = float(values.min())
    margin = _EDGE * (1.0 - lowest) + 1e-4
    if slope is not None:
        reach = np.array([0.0, float(distances.max())])
        ax.plot(
            reach,
            1.0 - slope * reach,
            color=VERMILION,
            linewidth=1.0,
            linestyle="--",
            label="Conjecture 5.3",
        )
    ax.set_ylim(lowest - margin, 1.0 + margin)
    ax.set_xlim(0.0, float(distances.max()) * 1.02)
    tidy(ax)
    return ax


def plot_success_against_prior(
    believed: ArrayLike,
    values: ArrayLike,
    teacher_belief: float,
    *,
    stderrs: ArrayLike | None = None,
    size: float = 2.4,
    ax: Axes | None = None,
) -> Axes:
    """Draw success rates against the learner's prior in the truth, between the proved bounds.

    Parameters
    ----------
    believed, values
        Priors in the truth and success rates of all learners, (k,).
    teacher_belief
        theta^T(h): what the teacher takes the learner's prior in the truth to be.
    stderrs
        Standard errors, (k,); bars of two of them are drawn.
    size
        The dots' diameter, in points.
    ax
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> ax = cb.plots.plot_success_against_prior([0.4, 0.5], [0.8, 1.0], 0.5)
    """
    from cobayes.stability.bounds import frechet

    ax = axes_or_new(ax)
    corners = np.unique([0.0, 1.0 - teacher_belief, teacher_belief, 1.0])
    lower, upper = frechet(teacher_belief, corners)
    ax.plot(corners, upper, color=VERMILION, linewidth=1.1, zorder=2)
    ax.plot(corners, lower, color=GREY, linewidth=1.0, linestyle=":", zorder=2)
    if stderrs is not None:
        bars = 2.0 * np.asarray(stderrs)
        ax.errorbar(believed, values, bars, fmt="none", ecolor=BLUE, elinewidth=0.6)
    _draw_learners(ax, believed, values, size)
    ax.set_xlim(0.0, 1.0)
    # Numbers at both ends would run into those of the neighbours.
    ax.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "", "0.5", "", "1"])
    return ax


def plot_success_against_distance(
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
        Distances and success rates of all learners, (k,).
    teacher_belief, size, ax
        See `plot_success_against_prior`.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> ax = cb.plots.plot_success_against_distance([0.0, 0.1], [1.0, 0.8], 0.5)
    """
    ax = axes_or_new(ax)
    ax.plot([0.0, teacher_belief], [1.0, 0.0], color=VERMILION, linewidth=1.1, zorder=2)
    _draw_learners(ax, distances, values, size)
    ax.set_xlim(0.0, None)
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

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> found = cb.stability.robustness(model, hypothesis="summer", num_sequences=500, rng=1)
    >>> ax = cb.plots.plot_directions(found)
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
    names = [with_subscripts(result.describe_direction(int(k))) for k in order]
    ax.set_yticks(places, names, fontsize=8)
    ax.set_xlabel(f"success rate at distance {result.distances.max():.3g}")
    tidy(ax)
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

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> directions = cb.stability.random_directions(5, 4, rng=1)
    >>> angles = cb.stability.spherical_coordinates(directions)
    >>> ax = cb.plots.plot_angles(angles, ["tab:blue"] * 5)
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


def _is_dark(color: Color) -> bool:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(color)
    return 0.3 * red + 0.6 * green + 0.1 * blue < 0.55
