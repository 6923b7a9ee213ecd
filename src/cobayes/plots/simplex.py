"""The triangle of distributions over three hypotheses: projection, frame, labels, points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import find, make_labels
from cobayes._input.tables import as_floats
from cobayes._input.validation import instance
from cobayes.errors import CobayesError
from cobayes.plots.beliefs import as_trace
from cobayes.plots.house import (
    COLORMAP,
    FAINT,
    INK,
    YELLOW,
    axes_or_new,
    color_limits,
    line_style,
    shorten_label,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = np.sqrt(3.0) / 2.0

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, HEIGHT]])
"""The corners: hypothesis 1 is certain at the lower left, 2 at the lower right, 3 at the top."""
CORNERS.flags.writeable = False


def project(distributions: ArrayLike) -> NDArray[np.float64]:
    """Map distributions over three hypotheses to points of the triangle.

    Parameters
    ----------
    distributions
        Shape (..., 3), each summing to one (up to 1e-3, the rounding of printed digits).

    Returns
    -------
    ndarray
        Shape (..., 2). Distances are Euclidean distances in R^3 divided by sqrt(2).
    """
    values = as_floats(distributions, copy=False, name="distributions")
    if values.ndim == 0 or values.shape[-1] != 3:
        count = values.shape[-1] if values.ndim else 0
        raise CobayesError(
            f"the triangle shows exactly three hypotheses; {count} were given.",
            "draw belief bars or curves for any other number.",
        )
    sums = values.sum(axis=-1, keepdims=True)
    if not np.all(np.abs(sums - 1.0) <= 1e-3):
        raise CobayesError(
            f"the distributions have sums from {sums.min():.4g} to {sums.max():.4g}; expected 1.",
            "divide each distribution by its sum.",
        )
    return (values / sums) @ CORNERS


def draw_frame(
    ax: Axes,
    labels: Sequence[object] | None = None,
    *,
    highlight: int | None = None,
    grid: float | None = 0.2,
) -> Axes:
    """Draw the triangle and the labels of its corners, and hide the axes.

    Parameters
    ----------
    ax
        Where to draw.
    labels
        Labels of the corners; None for no labels.
    highlight
        The position of a corner to mark with a star, such as the taught hypothesis.
    grid
        The difference in probability between neighbouring grid lines; None draws no grid.
    """
    closed = CORNERS[[0, 1, 2, 0]]
    if grid is not None:
        for level in np.arange(grid, 1.0 - 1e-9, grid):
            for corner in range(3):
                ends = np.zeros((2, 3))
                ends[:, corner] = level
                ends[0, (corner + 1) % 3] = ends[1, (corner + 2) % 3] = 1.0 - level
                ax.plot(*project(ends).T, color=FAINT, linewidth=0.5, zorder=0.5)
    ax.plot(*closed.T, color="#777777", linewidth=1.0, zorder=1, solid_joinstyle="round")
    names = make_labels(labels, 3, "hypothesis")
    if highlight is not None:
        star = {"marker": "*", "markersize": 15, "color": YELLOW, "mec": INK, "mew": 0.8}
        ax.plot(*CORNERS[find(highlight, names, "hypothesis")], zorder=2, **star)
    sides = ((-12, "top"), (-12, "top"), (11, "bottom"))
    for corner, name, (up, side) in zip(CORNERS, names, sides, strict=True):
        if labels is not None:
            place = {"xytext": (0, up), "textcoords": "offset points", "ha": "center", "va": side}
            ax.annotate(shorten_label(name), corner, color=INK, **place)
    ax.set(aspect="equal", xlim=(-0.14, 1.14), ylim=(-0.14, HEIGHT + 0.12))
    ax.set_axis_off()
    return ax


def values_of(values: ArrayLike, num_points: int) -> NDArray[np.float64]:
    """Return the values that colours show; raise an error unless there is one for each point."""
    found = as_floats(values, copy=False, name="values")
    if found.shape != (num_points,):
        raise CobayesError(
            f"the values have the shape {found.shape}; expected ({num_points},), one per point."
        )
    return found


def plot_simplex_points(
    distributions: ArrayLike,
    values: ArrayLike | None = None,
    *,
    labels: Sequence[object] | None = None,
    value_label: str | None = None,
    limits: tuple[float, float] | None = None,
    highlight: int | None = None,
    size: float = 18.0,
    frame: bool = True,
    ax: Axes | None = None,
    **scatter: Any,
) -> Axes:
    """Draw distributions over three hypotheses as points, coloured by a value if one is given.

    Parameters
    ----------
    distributions
        Shape (points, 3).
    values
        Shape (points,); shown by colour, with a colour bar beside the triangle.
    labels
        Labels of the corners; None for no labels.
    value_label
        The label of the colour bar.
    limits
        The values of the darkest and the lightest colour; None: the extremes of `values`.
    highlight
        The position of a corner to mark with a star.
    size
        The area of each marker, in square typographic points.
    frame
        Whether to draw the triangle too.
    ax
        The axes to draw on; None makes a new figure.
    **scatter
        Passed on to `matplotlib.axes.Axes.scatter`.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> ax = cb.plots.plot_simplex_points([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    """
    points = np.atleast_2d(project(distributions))
    ax = axes_or_new(ax, size=(4.6, 4.0))
    if instance(frame, (bool, np.bool_), "frame", "True or False"):
        draw_frame(ax, labels, highlight=highlight)
    low, high = (None, None) if limits is None else color_limits(limits)
    options: dict[str, Any] = {"s": size, "linewidths": 0.0, "zorder": 3}
    if values is not None:
        shades = values_of(values, len(points))
        options |= {"c": shades, "cmap": COLORMAP, "vmin": low, "vmax": high}
    drawn = ax.scatter(*points.T, **(options | scatter))
    if values is not None:
        bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7)
        bar.outline.set_visible(False)
        if value_label:
            bar.set_label(value_label)
    return ax


def plot_simplex_path(
    lesson: Any,
    *,
    hypotheses: Sequence[object] | None = None,
    label: str | None = None,
    frame: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the learner's belief as a path through the triangle of three hypotheses.

    The prior is a ring, the last belief a filled marker; for a lesson, a star marks the taught
    hypothesis. A second call with the same Axes and ``frame=False`` adds another lesson.

    Parameters
    ----------
    lesson
        A `Lesson` with three hypotheses, or an array of beliefs of shape (rounds + 1, 3).
    hypotheses
        Labels for an array; a lesson has its own labels.
    label
        The name in the legend (default: the name of the lesson's rule).
    frame
        Whether to draw the triangle too.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI("example:M_3")
    >>> lesson = cb.run_lesson(cb.Teacher(rule, "h_1", rng=1), cb.Learner(rule), 4)
    >>> ax = cb.plots.plot_simplex_path(lesson)
    """
    trace = as_trace(lesson, hypotheses=hypotheses)
    points = project(trace.beliefs)
    ax = axes_or_new(ax, size=(4.6, 4.0))
    if instance(frame, (bool, np.bool_), "frame", "True or False"):
        draw_frame(ax, trace.hypotheses, highlight=trace.hypothesis)
    name = label if label is not None else trace.name
    style = line_style(name or "SCBI", len(ax.get_lines()))
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.5}
    ax.plot(*points.T, linewidth=1.5, markersize=4.5, label=name, zorder=4, **edge, **style)
    ax.plot(*points[0], "o", markersize=9, fillstyle="none", color=INK, zorder=5)
    last = {"marker": style["marker"], "color": style["color"], "markeredgecolor": INK}
    ax.plot(*points[-1], markersize=9, zorder=6, **last)
    if name is not None:
        ax.legend(frameon=False, loc="upper left", fontsize="small", borderaxespad=0.0)
    return ax
