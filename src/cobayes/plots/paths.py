"""The path of a belief through the triangle of three hypotheses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cobayes.errors import CobayesError
from cobayes.plots.house import axes_or_new, line_style
from cobayes.plots.simplex import draw_frame, project
from cobayes.plots.traces import as_trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_simplex_path(
    lesson: Any,
    *,
    hypotheses: Sequence[object] | None = None,
    label: str | None = None,
    frame: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the learner's belief as a path through the triangle of three hypotheses.

    The prior is a ring, the last belief a filled marker, and a star marks the taught corner. Call
    it again with the same Axes and ``frame=False`` to lay a second lesson over the first.

    Parameters
    ----------
    lesson
        A `Lesson` with three hypotheses, or an array of beliefs of shape (rounds + 1, 3).
    hypotheses
        Labels for an array; a lesson has its own.
    label
        The name in the legend; None is the rule's.
    frame
        Whether to draw the triangle too.
    ax
        Where to draw; None makes a new figure.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI("example:M_3")
    >>> lesson = cb.run_lesson(cb.Teacher(rule, "h_1", rng=1), cb.Learner(rule), 4)
    >>> ax = cb.plots.plot_simplex_path(lesson)
    """
    trace = as_trace(lesson, hypotheses=hypotheses)
    if len(trace.hypotheses) != 3:
        raise CobayesError(
            f"the triangle shows exactly three hypotheses; this lesson has "
            f"{len(trace.hypotheses)}.",
            "draw belief bars or curves for any other number.",
        )
    points = project(trace.beliefs)
    ax = axes_or_new(ax, size=(4.6, 4.0))
    if frame:
        draw_frame(ax, trace.hypotheses, highlight=trace.hypothesis)
    name = label if label is not None else trace.name
    style = line_style(name or "SCBI", len(ax.get_lines()))
    color, marker = style["color"], style["marker"]
    ax.plot(
        *points.T,
        linewidth=1.5,
        markersize=4.5,
        markeredgecolor="white",
        markeredgewidth=0.5,
        label=name,
        zorder=4,
        **style,
    )
    ax.plot(*points[0], "o", markersize=9, fillstyle="none", color="#222222", zorder=5)
    ax.plot(*points[-1], marker, markersize=9, color=color, markeredgecolor="#222222", zorder=6)
    if name is not None:
        ax.legend(frameon=False, loc="upper left", fontsize="small", borderaxespad=0.0)
    return ax
