"""Pictures of robustness: success rates by direction, and over all priors on three hypotheses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cobayes._input.validation import instance, whole_number
from cobayes.plots.house import (
    BLUE,
    COLORMAP,
    FAINT,
    INK,
    VERMILION,
    axes_or_new,
    new_figure,
    shorten_label,
    style,
    with_subscripts,
)
from cobayes.plots.simplex import draw_frame, project, values_of
from cobayes.stability.robustness import Robustness

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_directions(result: Robustness, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """Draw the most dangerous directions in which `robustness` moved the learner's prior.

    The picture shows one minus the success rate, ± 2 standard errors, per 0.01 of distance moved.

    Parameters
    ----------
    result
        The result of `robustness`.
    most
        The largest number of directions to draw.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> found = cb.stability.robustness(model, "summer", num_lessons=500, rng=1)
    >>> ax = cb.plots.plot_directions(found)
    """
    instance(result, Robustness, "result", "what robustness returns")
    ax = axes_or_new(ax, size=(6.4, 4.2))
    most = whole_number(most, "most", 1)
    lost = (1.0 - np.array([rate.value for rate in result.moved_rates])) / result.distances
    order = np.argsort(-lost, kind="stable")[:most][::-1]
    for place, k in enumerate(order):
        error = 0.02 * result.moved_rates[k].stderr / result.distances[k]
        fmt, color = ("D", VERMILION) if k == result.worst else ("o", BLUE)
        ax.errorbar(0.01 * lost[k], place, xerr=error, fmt=fmt, color=color, markersize=5)
    ax.grid(axis="x", color=FAINT, linewidth=0.5)
    names = [with_subscripts(result.describe_direction(int(k))) for k in order]
    ax.set_yticks(range(len(order)), names, fontsize=8)
    ax.set_xlabel("success lost per 0.01 of distance")
    return ax


def plot_robustness_map(
    result: Robustness, grid: ArrayLike, values: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw the success rate as a function of the learner's prior on three hypotheses.

    Parameters
    ----------
    result
        The result of `robustness`.
    grid
        Learners' priors, shape (k, 3).
    values
        Success rates with these priors, shape (k,).
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.stability.robustness("example:M_2", "h_1", num_lessons=200, rng=1)
    >>> grid = cb.stability.simplex_grid(3, 6)
    >>> ax = cb.plots.plot_robustness_map(found, grid, grid[:, 0])
    """
    instance(result, Robustness, "result", "what robustness returns")
    ax = axes_or_new(ax, size=(5.4, 4.4))
    x, y = project(grid).T
    rates = values_of(values, x.size)
    drawn = ax.tricontourf(x, y, rates, levels=np.linspace(0.0, 1.0, 11), cmap=COLORMAP)
    names = result.rate.hypotheses
    draw_frame(ax, names, highlight=names.index(result.rate.hypothesis), grid=None)
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7)
    bar.set_label(f"success rate of teaching {shorten_label(result.rate.hypothesis)}")
    start, end = project(np.array([result.teacher_prior, result.worst_prior]))
    # The arrow has a fixed length, because the step itself may be too short to see.
    aim = start + (end - start) / np.linalg.norm(end - start) * 0.16
    arrow = {"arrowstyle": "-|>", "color": VERMILION, "linewidth": 1.8}
    ax.annotate("", aim, start, arrowprops=arrow, zorder=6)
    mark = {"color": "white", "markeredgecolor": INK, "zorder": 7}
    ax.plot(*start, "o", label="assumed by the teacher", **mark)
    if not np.array_equal(result.learner_prior, result.teacher_prior):
        ax.plot(*project(result.learner_prior), "s", label="the learner", **mark)
    ax.plot([], [], color=VERMILION, linewidth=1.8, label="most dangerous direction")
    ax.legend(loc="upper right", fontsize=8, frameon=False, bbox_to_anchor=(1.02, 1.06))
    return ax


def draw_robustness(result: Robustness, rates: tuple[ArrayLike, ArrayLike] | None = None) -> Figure:
    """Draw the map of priors if priors and success rates are given, otherwise the directions."""
    with style():
        figure = new_figure(7.0 if rates is None else 5.8, 4.6)
        ax = figure.subplots()
        if rates is None:
            plot_directions(result, ax=ax)
            taught = shorten_label(result.rate.hypothesis)
            ax.set_title(f"teaching {taught}: most dangerous mistakes", loc="left")
        else:
            plot_robustness_map(result, *rates, ax=ax)
    return figure
