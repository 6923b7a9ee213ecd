"""One picture of a whole lesson, or of several on the same matrix, for a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cobayes.errors import CobayesError, import_optional
from cobayes.plots.beliefs import plot_belief_bars, plot_belief_curves
from cobayes.plots.house import shorten_label, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cobayes.lessons import Lesson


def draw_lessons(lessons: Sequence[Lesson]) -> Figure:
    """Draw belief bars of every lesson, and below them the curves that compare several.

    Parameters
    ----------
    lessons
        At least one; all teach the same hypothesis.

    Returns
    -------
    Figure
        A matplotlib figure that pyplot knows nothing about.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI("example:M_3")
    >>> lesson = cb.run_lesson(cb.Teacher(rule, "h_1", rng=1), cb.Learner(rule), 4)
    >>> figure = cb.plots.draw_lessons([lesson])
    """
    import_optional("matplotlib", "plots", "a picture")
    from matplotlib.figure import Figure

    num_panels = len(lessons) + (len(lessons) > 1)
    # Room for a name below every bar, up to some two hundred of them.
    longest = max(lesson.num_rounds for lesson in lessons)
    width = min(max(7.2, 2.0 + 0.13 * longest), 26.0)
    with style():
        figure = Figure(figsize=(width, 0.4 + 2.9 * num_panels), layout="constrained")
        panels = figure.subplots(num_panels, 1, squeeze=False)[:, 0]
        for panel, lesson in zip(panels, lessons, strict=False):
            plot_belief_bars(lesson, ax=panel)
            taught = shorten_label(lesson.hypothesis_label)
            panel.set_title(f"{lesson.rule_name} teaches {taught}", loc="left")
        if len(lessons) > 1:
            plot_belief_curves(list(lessons), ax=panels[-1])
    return figure


def save_lessons(lessons: Sequence[Lesson], path: str | Path) -> None:
    """Draw lessons into a file whose suffix says the format.

    Parameters
    ----------
    lessons
        See `draw_lessons`.
    path
        Ends in .png, .svg, .pdf or another format that matplotlib writes.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI("example:M_3")
    >>> lesson = cb.run_lesson(cb.Teacher(rule, "h_1", rng=1), cb.Learner(rule), 4)
    >>> cb.plots.save_lessons([lesson], "lesson.svg")  # doctest: +SKIP
    """
    require_picture_format(path)
    save_picture(draw_lessons(lessons), path)


def save_picture(figure: Figure, path: str | Path) -> None:
    """Write a figure to a file whose suffix says the format.

    Parameters
    ----------
    figure
        A matplotlib figure.
    path
        Checked by `require_picture_format` before the work on the figure began.
    """
    try:
        figure.savefig(path, dpi=160)
    except OSError as error:
        raise CobayesError(f"{path} cannot be written: {error.strerror}.") from None


def require_picture_format(path: str | Path) -> None:
    """Raise an error for a file name whose suffix matplotlib does not know."""
    import_optional("matplotlib", "plots", "a picture")
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    suffix = Path(path).suffix
    if suffix.lower().lstrip(".") not in known:
        found = f"the suffix {suffix!r}, which is no picture format" if suffix else "no suffix"
        raise CobayesError(f"{path} has {found}.", "end it in .png, .svg or .pdf.")
