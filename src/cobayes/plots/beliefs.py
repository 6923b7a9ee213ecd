"""Beliefs over the rounds of a lesson: stacked bars, and curves that compare rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import find, make_labels
from cobayes._input.tables import as_floats
from cobayes._input.validation import instance, items
from cobayes._output import counted
from cobayes.errors import CobayesError, import_optional
from cobayes.lessons import Lesson
from cobayes.plots.house import (
    FAINT,
    axes_or_new,
    bar_style,
    distinct,
    integer_ticks,
    legend_of_curves,
    line_style,
    new_figure,
    shorten_label,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# With more hypotheses than this, those with the lowest beliefs share one part of the bar.
MOST_PARTS = 12
# Inches of width that a vertical label needs; if space is short, only every k-th bar has a label.
_INCHES_PER_NAME = 0.105


@dataclass(frozen=True)
class Trace:
    """Beliefs round by round with their labels.

    Attributes
    ----------
    log_beliefs : ndarray
        Shape (rounds + 1, m); row 0 is the prior.
    hypotheses : tuple of str
        Labels of the m hypotheses.
    data : tuple of str or None
        The datum of each round, if it is known.
    hypothesis : int or None
        The position of the taught hypothesis, if it is known.
    name : str or None
        The name of the learner's rule.
    """

    log_beliefs: NDArray[np.float64]
    hypotheses: tuple[str, ...]
    data: tuple[str, ...] | None = None
    hypothesis: int | None = None
    name: str | None = None

    @property
    def beliefs(self) -> NDArray[np.float64]:
        """The beliefs, shape (rounds + 1, m)."""
        return np.exp(self.log_beliefs)

    @property
    def num_rounds(self) -> int:
        """The number of data that were shown."""
        return len(self.log_beliefs) - 1

    def target(self, hypothesis: int | str | None) -> int:
        """Return the position of a hypothesis; None is the taught hypothesis."""
        if hypothesis is not None:
            return find(hypothesis, self.hypotheses, "hypothesis")
        if self.hypothesis is None:
            raise CobayesError(
                "a plain array does not say which hypothesis was taught.",
                "give hypothesis=..., a position or a label.",
            )
        return self.hypothesis


def as_trace(
    lesson: Any,
    *,
    hypotheses: Iterable[object] | None = None,
    data: Sequence[object] | None = None,
) -> Trace:
    """Return the trace of a `Lesson`, or of an array of beliefs of shape (rounds + 1, m).

    Parameters
    ----------
    lesson
        The lesson or the array.
    hypotheses, data
        Labels for an array; a lesson has its own labels.
    """
    if isinstance(lesson, Lesson):
        labels = lesson.model.hypotheses, lesson.data_labels
        return Trace(lesson.log_beliefs, *labels, lesson.hypothesis, lesson.rule_name)
    beliefs = as_floats(lesson, copy=False, name="lesson, which is not a Lesson,")
    if beliefs.ndim != 2 or beliefs.size == 0:
        raise CobayesError(
            f"beliefs of shape {beliefs.shape} were given; expected (rounds + 1, hypotheses).",
            "give a lesson, or one row for the prior and one for every round.",
        )
    if not np.all(beliefs >= 0.0) or not np.allclose(beliefs.sum(axis=1), 1.0, atol=1e-3):
        raise CobayesError(
            "a row of the beliefs has a negative entry, or its sum is not one.",
            "give one distribution for each row.",
        )
    if data is not None and len(data) != len(beliefs) - 1:
        raise CobayesError(
            f"{len(data)} data were given for {counted(len(beliefs) - 1, 'round')}; expected one "
            "datum for each round.",
            "the first row of the beliefs is the prior, which has no datum.",
        )
    labels = make_labels(hypotheses, beliefs.shape[1], "hypothesis")
    with np.errstate(divide="ignore"):
        return Trace(np.log(beliefs), labels, None if data is None else tuple(map(str, data)))


def plot_belief_bars(
    lesson: Any,
    *,
    hypotheses: Sequence[object] | None = None,
    data: Sequence[object] | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the learner's belief after every round as a stacked bar.

    For a lesson, the taught hypothesis is the lowest part of each bar, in blue. Data are written
    below the bars if they are known. With more than 12 hypotheses, those with the lowest beliefs
    are drawn as one part.

    Parameters
    ----------
    lesson
        A `Lesson`, or an array of beliefs of shape (rounds + 1, m).
    hypotheses, data
        Labels for an array; a lesson has its own labels.
    legend
        Whether to draw the legend of hypotheses.
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
    >>> ax = cb.plots.plot_belief_bars(lesson)
    """
    trace = as_trace(lesson, hypotheses=hypotheses, data=data)
    ax = axes_or_new(ax)
    beliefs = trace.beliefs
    rounds = np.arange(trace.num_rounds + 1)
    order = list(range(len(trace.hypotheses)))
    if len(order) > MOST_PARTS:  # keep the hypotheses with the highest beliefs in any bar
        order = sorted(np.argsort(-beliefs.max(axis=0))[: MOST_PARTS - 1].tolist())
    if trace.hypothesis is not None:
        order = [trace.hypothesis, *(k for k in order if k != trace.hypothesis)]
    base = np.zeros(len(rounds))
    for layer, position in enumerate(order):
        label = shorten_label(trace.hypotheses[position])
        if position == trace.hypothesis:
            label += " (taught)"
        part = beliefs[:, position]
        ax.bar(rounds, part, bottom=base, width=0.86, label=label, **bar_style(layer))
        base += part
    if len(order) < len(trace.hypotheses):
        others = f"{len(trace.hypotheses) - len(order)} others"
        ax.bar(rounds, 1.0 - base, bottom=base, width=0.86, label=others, facecolor=FAINT)
    ax.set(ylim=(0.0, 1.0), xlim=(-0.6, len(rounds) - 0.4), ylabel="belief")
    _name_rounds(ax, trace)
    if instance(legend, (bool, np.bool_), "legend", "True or False"):
        # The legend lists the parts of a bar from the top down.
        place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
        ax.legend(reverse=True, frameon=False, fontsize="small", **place)
    return ax


def plot_belief_curves(
    lessons: Any,
    *,
    hypothesis: int | str | None = None,
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the belief in one hypothesis over the rounds, one curve for every lesson.

    Parameters
    ----------
    lessons
        A lesson, a list of lessons, or a mapping from legend names to lessons. Instead of a
        lesson, an array of beliefs of shape (rounds + 1, m) is accepted, too; arrays beside a
        lesson have its labels.
    hypothesis
        Draw the belief in this hypothesis (default: the taught one; required for arrays).
    log
        Draw 1 - belief on a logarithmic axis, on which exponential convergence is a straight
        line.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Notes
    -----
    For the taught hypothesis, the slope of ln(1 - belief) tends to minus the rate of convergence
    (Section 3 of the paper).

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI("example:M_3")
    >>> lesson = cb.run_lesson(cb.Teacher(rule, "h_1", rng=1), cb.Learner(rule), 4)
    >>> ax = cb.plots.plot_belief_curves([lesson])
    """
    traces = _named_traces(lessons)
    positions = {name: trace.target(hypothesis) for name, trace in traces.items()}
    names = {trace.hypotheses[positions[name]] for name, trace in traces.items()}
    if len(names) > 1:
        raise CobayesError(
            f"the curves would show different hypotheses: {', '.join(sorted(names))}.",
            "name the hypothesis to draw: hypothesis=...",
        )
    ax = axes_or_new(ax)
    longest = max(trace.num_rounds for trace in traces.values())
    instance(log, (bool, np.bool_), "log", "True or False")
    for position, (name, trace) in enumerate(traces.items()):
        values = trace.beliefs[:, positions[name]]
        if log:  # 1 - belief is the sum of the other beliefs; the belief itself may round to one
            others = np.delete(trace.log_beliefs, positions[name], axis=1)
            values = np.exp(np.logaddexp.reduce(others, axis=1))
        line = {**line_style(name, position), "linewidth": 1.8, "clip_on": log, "label": name}
        line |= {"markersize": 5 if longest <= 40 else 0, "mec": "white", "mew": 0.6}
        # Dashed curves are drawn on top, so that curves that coincide are both visible.
        ax.plot(values, zorder=3 if line["linestyle"] == "-" else 3.1, **line)
    label = f"belief in {shorten_label(names.pop())}"
    ax.set(xlim=(0, max(longest, 1)), xlabel="round")
    integer_ticks(ax)
    ax.grid(axis="y", color=FAINT, linewidth=0.6)
    if log:
        ax.set(yscale="log", ylabel=f"1 − {label}")
        ax.legend(frameon=False, loc="best")
    else:
        ax.set(ylim=(0.0, 1.0), ylabel=label)
        legend_of_curves(ax)
    return ax


def draw_lessons(lessons: Sequence[Lesson]) -> Figure:
    """Draw belief bars of every lesson and, for several lessons, curves that compare them.

    Parameters
    ----------
    lessons
        One or more lessons about the same hypothesis.

    Returns
    -------
    Figure
        A matplotlib figure that is not registered with pyplot.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI("example:M_3")
    >>> lesson = cb.run_lesson(cb.Teacher(rule, "h_1", rng=1), cb.Learner(rule), 4)
    >>> figure = cb.plots.draw_lessons([lesson])
    """
    lessons = items(lessons, "lessons", "lessons", Lesson, least=1)
    num_panels = len(lessons) + (len(lessons) > 1)
    # Wide enough for a label below every bar, up to about two hundred bars.
    longest = max(lesson.num_rounds for lesson in lessons)
    width = min(max(7.2, 2.0 + 0.13 * longest), 26.0)
    with style():
        figure = new_figure(width, 0.4 + 2.9 * num_panels)
        panels = figure.subplots(num_panels, 1, squeeze=False)[:, 0]
        for panel, lesson in zip(panels, lessons, strict=False):
            plot_belief_bars(lesson, ax=panel)
            taught = shorten_label(lesson.hypothesis_label)
            panel.set_title(f"{lesson.rule_name} teaches {taught}", loc="left")
        if len(lessons) > 1:
            plot_belief_curves(lessons, ax=panels[-1])
    return figure


def save_picture(figure: Figure, path: str | Path) -> None:
    """Write a figure to a file; its suffix determines the format.

    Parameters
    ----------
    figure
        A matplotlib figure.
    path
        The file; `require_picture_format` has checked its suffix.
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
    suffix = Path(instance(path, (str, Path), "path", "a path")).suffix
    if suffix.lower().lstrip(".") not in known:
        raise CobayesError(f"{path}: unknown picture format {suffix!r}.", "use .png, .svg or .pdf.")


def _named_traces(lessons: Any) -> dict[str, Trace]:
    is_list = isinstance(lessons, (list, tuple)) and not np.isscalar(_first_number(lessons))
    is_mapping = isinstance(lessons, Mapping)
    found = list(lessons.values()) if is_mapping else lessons if is_list else [lessons]
    if not found:
        raise CobayesError("there is no lesson to draw.", "give at least one.")
    # Arrays beside a lesson have its labels.
    labels = next((each.model.hypotheses for each in found if isinstance(each, Lesson)), None)
    traces = [as_trace(each, hypotheses=labels) for each in found]
    other = "lesson {}" if is_list else "belief"
    names = [trace.name or other.format(k) for k, trace in enumerate(traces, start=1)]
    return dict(zip(map(str, lessons) if is_mapping else distinct(names), traces, strict=True))


def _first_number(lessons: Any) -> Any:
    """Return the entry [0][0]: a number for one array of beliefs, a row for a list of arrays."""
    try:
        return lessons[0][0]
    except (TypeError, IndexError, KeyError):
        return None


def _name_rounds(ax: Axes, trace: Trace) -> None:
    """Label the bars, or every k-th bar, with their data; with rounds if data are unknown."""
    if trace.data is None:
        ax.set_xlabel("round (0 is the prior)")
        integer_ticks(ax)
        return
    labels = ["prior", *(shorten_label(datum, 16) for datum in trace.data)]
    width = ax.get_window_extent().width / ax.figure.dpi  # inches
    every = max(1, math.ceil(len(labels) * _INCHES_PER_NAME / width))
    # A letter is about 0.075 inches wide; a line of slanted text needs 0.2 inches.
    look: dict[str, Any] = {"fontsize": "small"}
    if 0.075 * max(map(len, labels)) * len(labels) > width:
        look |= {"rotation": 35, "ha": "right", "va": "baseline", "rotation_mode": "anchor"}
        if 0.2 * len(labels) > width:
            look = {"fontsize": "x-small", "rotation": 90}
    ax.set_xticks(range(0, len(labels), every), labels[::every], **look)
    named = "" if every == 1 else f"; one label per {every} bars"
    ax.set_xlabel(f"datum shown, round by round{named}")
