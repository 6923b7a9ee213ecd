"""Teachers compared: rounds until each learner is sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cobayes.plots.house import axes_or_new, count_in_whole_numbers, line_style, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cobayes.lessons import TeacherComparison


def plot_teachers(comparison: TeacherComparison, *, ax: Axes | None = None) -> Axes:
    """Draw the median number of rounds until a learner is sure, one row per teacher.

    A mark with an arrow means that fewer than half of the lessons got there; an open mark that
    the number is an upper bound.

    Parameters
    ----------
    comparison
        From `compare_teachers`.
    ax
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        With one series for every learner.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> found = cb.compare_teachers(model, "summer", num_rounds=4, num_lessons=50, rng=1)
    >>> ax = cb.plots.plot_teachers(found)
    """
    ax = axes_or_new(ax, (7.2, 4.2))
    teachers, learners = comparison.teachers, comparison.learners
    heights = np.arange(len(teachers))[::-1]
    offsets = np.linspace(0.22, -0.22, len(learners)) if len(learners) > 1 else np.zeros(1)
    beyond = comparison.num_rounds + 1
    for number, (learner, offset) in enumerate(zip(learners, offsets, strict=True)):
        style = line_style(learner, number)
        is_first = True
        for teacher, height in zip(teachers, heights, strict=True):
            found = comparison.result(teacher, learner)
            rounds = found.median_rounds
            place = beyond if rounds is None else rounds
            ax.plot(
                [place],
                [height + offset],
                linestyle="",
                marker=style["marker"],
                color=style["color"],
                markersize=7,
                fillstyle="full" if found.is_proved else "none",
                label=f"{learner} learner" if is_first else None,
            )
            if rounds is None:
                ax.annotate(
                    "",
                    (place + 0.04 * beyond, height + offset),
                    (place, height + offset),
                    arrowprops={"arrowstyle": "->", "color": style["color"]},
                )
            is_first = False
    if not all(found.is_proved for found in comparison.results):
        ax.plot([], [], "s", color="0.4", fillstyle="none", label="upper bound")
    if any(found.median_rounds is None for found in comparison.results):
        ax.axvline(comparison.num_rounds, color="0.6", linewidth=0.8, linestyle=":")
        ax.plot([], [], color="0.4", marker=r"$\rightarrow$", linestyle="", label="not reached")
    ax.set_yticks(heights, teachers)
    ax.set_xlim(0, 1.08 * beyond)
    ax.set_xlabel(f"rounds until the belief in the truth is {comparison.level:g} (median)")
    ax.set_ylabel("teacher")
    count_in_whole_numbers(ax)
    ax.grid(axis="y", alpha=0.3)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    tidy(ax)
    return ax
