"""How often and by how much SCBI converges faster than BI: P, E and -ln(1 - P)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cobayes.plots.house import (
    BLUE,
    GREEN,
    GREY,
    INK,
    axes_or_new,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RED = "#B2182B"
"""Of E, as in the paper; dark enough to differ from the blue of P without colour, too."""

_POINTS = {"linestyle": "none", "markersize": 3.5, "elinewidth": 1.0, "capsize": 1.5}


def plot_probability_and_advantage(
    size: ArrayLike,
    probability: ArrayLike,
    probability_stderr: ArrayLike,
    advantage: ArrayLike,
    advantage_stderr: ArrayLike,
    *,
    exact_advantage: ArrayLike | None = None,
    size_label: str = "number of rows n",
    ax: Axes | None = None,
) -> Axes:
    """Draw P in blue and E in red against the size of the matrix.

    Parameters
    ----------
    size
        What grows.
    probability, probability_stderr
        P; the bars are two standard errors.
    advantage, advantage_stderr
        E, likewise.
    exact_advantage
        The exact E, drawn as a line over the sampled one.
    size_label
        Label of the horizontal axis.
    ax
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> sizes, share, gain = [2, 3, 4], [0.7, 0.8, 0.9], [0.1, 0.15, 0.2]
    >>> ax = cb.plots.plot_probability_and_advantage(sizes, share, [0.01] * 3, gain, [0.01] * 3)
    >>> ax.get_xlabel()
    'number of rows n'
    """
    ax = axes_or_new(ax)
    size, exact = np.asarray(size), exact_advantage
    for values, errors, color, marker, label in (
        (probability, probability_stderr, BLUE, "o", "P, share of matrices"),
        (advantage, advantage_stderr, RED, "s", "E, nats per round"),
    ):
        error = 2.0 * np.asarray(errors)
        ax.errorbar(
            size, values, yerr=error, color=color, marker=marker, label=label, zorder=2, **_POINTS
        )
    if exact is not None:
        ax.plot(size, exact, color=INK, linewidth=1.0, label="E, exact", zorder=3)
    ax.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    ax.set_ylim(0.0, 1.04)
    _label_axes(ax, size_label, "P and E")
    ax.legend(frameon=False, fontsize=8.5, loc="best")
    return ax


def plot_exceptions(
    size: ArrayLike,
    minus_log: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    num_samples: int | None = None,
    size_label: str = "number of rows n",
    ax: Axes | None = None,
) -> Axes:
    """Draw -ln(1 - P) with intervals; where no exception was seen, what it exceeds.

    Parameters
    ----------
    size
        What grows.
    minus_log
        -ln(1 - P); infinite where no exception was seen.
    low, high
        The ends of its intervals.
    num_samples
        N, for the paper's precision line at ln(N)/2 and for the limit of sampling at ln(N), where
        they are in view; no lines when left out.
    size_label
        Label of the horizontal axis.
    ax
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> ax = cb.plots.plot_exceptions([2, 3, 4], [1, 2, 3], [0.9, 1.8, 2.6], [1.1, 2.2, 3.5])
    >>> ax.get_xlabel()
    'number of rows n'
    """
    ax = axes_or_new(ax)
    size, value, low, high = (np.asarray(x, dtype=float) for x in (size, minus_log, low, high))
    seen = np.isfinite(value)
    ax.errorbar(
        size[seen],
        value[seen],
        yerr=(value[seen] - low[seen], high[seen] - value[seen]),
        color=BLUE,
        marker="o",
        label="sampled, with 95 % interval",
        **_POINTS,
    )
    if not seen.all():
        ax.plot(
            size[~seen],
            low[~seen],
            color=GREY,
            linestyle="none",
            marker="^",
            markersize=4,
            label="no exception seen: at least this (97.5 %)",
        )
    highest = 1.05 * float(np.concatenate([high[seen], low[~seen]]).max())
    for level, style, text in _limits_of_sampling(num_samples):
        if level < highest:
            ax.axhline(level, color=RED, linewidth=1.0, linestyle=style, label=text)
    # Room for the legend above the points.
    ax.set_ylim(0.0, highest / (0.96 - 0.075 * len(ax.get_legend_handles_labels()[1])))
    _label_axes(ax, size_label, "−ln(1 − P)")
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    return ax


def plot_splitting(
    size: ArrayLike, minus_log: ArrayLike, low: ArrayLike, high: ArrayLike, *, ax: Axes
) -> Axes:
    """Add -ln(1 - P) found by multilevel splitting, as what it is: open diamonds.

    Parameters
    ----------
    size
        The numbers of rows.
    minus_log, low, high
        Values and the ends of their intervals.
    ax
        Where the sampled values are drawn already.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> ax = cb.plots.plot_exceptions([2, 3, 4], [1, 2, 3], [0.9, 1.8, 2.6], [1.1, 2.2, 3.5])
    >>> ax = cb.plots.plot_splitting([5, 6], [4.0, 5.0], [3.8, 4.7], [4.2, 5.3], ax=ax)
    """
    value, low, high = (np.asarray(x, dtype=float) for x in (minus_log, low, high))
    ax.errorbar(
        np.asarray(size),
        value,
        yerr=(value - low, high - value),
        color=GREEN,
        linestyle="none",
        marker="D",
        markersize=5,
        markerfacecolor="none",
        elinewidth=1.0,
        capsize=2,
        label="multilevel splitting, not plain sampling",
    )
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    return ax


def _limits_of_sampling(num_samples: int | None) -> list[tuple[float, str, str]]:
    if num_samples is None:
        return []
    return [
        (0.5 * math.log(num_samples), "--", "paper's precision line, ln(N)/2"),
        (math.log(num_samples), ":", "one exception in N, ln(N)"),
    ]


def _label_axes(ax: Axes, size_label: str, value_label: str) -> None:
    """Name both axes and let the ticks below fall on round whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel(size_label)
    ax.set_ylabel(value_label)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    tidy(ax)
