"""Rules and teachers compared over many lessons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cobayes._input.validation import instance, items
from cobayes._output import counted
from cobayes.errors import CobayesError
from cobayes.lessons import Ensemble, TeacherComparison
from cobayes.plots.house import (
    GREY,
    axes_or_new,
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

# The approximate number of markers on a curve of many rounds.
_MARKERS = 12
# Changes of a probability by less than this cannot be seen in a picture.
_FLAT = 0.005


def plot_rounds_needed(ensembles: Sequence[Ensemble], *, ax: Axes | None = None) -> Axes:
    """Draw for each round the share of learners who were sure by then, one curve per ensemble.

    Parameters
    ----------
    ensembles
        Results of `simulate` with the same level.
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
    >>> ensemble = cb.simulate(rule, "h_1", num_rounds=9, num_lessons=90, rng=1)
    >>> ax = cb.plots.plot_rounds_needed([ensemble])
    """
    named = _by_name(ensembles)
    levels = {each.rounds_needed.level for each in named.values()}
    if len(levels) > 1:
        raise CobayesError(f"the ensembles have the levels {sorted(levels)}; expected one level.")
    ax = axes_or_new(ax)
    for position, (name, ensemble) in enumerate(named.items()):
        share, median = ensemble.rounds_needed.cumulative(), ensemble.rounds_needed.median
        label = f"{name}, median {'never' if median is None else median}"
        line = {**line_style(name, position), "markersize": 4}
        ax.step(range(len(share)), share, where="post", label=label, **line)
    _finish(ax, f"share of learners {100 * levels.pop():g} % sure by then")
    ax.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    return ax


def plot_mean_beliefs(
    ensembles: Sequence[Ensemble] | Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean belief in the truth, with bands of two standard errors.

    Parameters
    ----------
    ensembles
        Results of `simulate`, or a mapping from the name of each curve to its means and standard
        errors by round.
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
    >>> ensemble = cb.simulate(rule, "h_1", num_rounds=9, num_lessons=90, rng=1)
    >>> ax = cb.plots.plot_mean_beliefs([ensemble])
    """
    ax = axes_or_new(ax)
    label = "mean belief in the truth"
    if isinstance(ensembles, Mapping):
        pairs = "pairs of means and standard errors"
        items(ensembles.values(), "ensembles", pairs, (tuple, list), least=1)
        curves = dict(ensembles)
    else:
        named = _by_name(ensembles)
        taught = {each.model.hypotheses[each.hypothesis] for each in named.values()}
        if len(taught) == 1:
            label = f"mean belief in {shorten_label(taught.pop())}"
        curves = {name: (each.mean(), each.stderr()) for name, each in named.items()}
    for position, (name, (values, errors)) in enumerate(curves.items()):
        mean, error = np.asarray(values), 2.0 * np.asarray(errors)
        line = line_style(name, position)
        ax.plot(mean, label=name, markersize=4, **line)
        band = {"color": line["color"], "alpha": 0.2, "linewidth": 0}
        ax.fill_between(range(len(mean)), mean - error, mean + error, **band)
    _finish(ax, label)
    return ax


def _by_name(ensembles: Any) -> dict[str, Ensemble]:
    """Return ensembles by the names of their rules; see `distinct`."""
    given = items(ensembles, "ensembles", "ensembles, as simulate makes them", Ensemble, least=1)
    return dict(zip(distinct([each.rule_name for each in given]), given, strict=True))


def _finish(ax: Axes, value_label: str) -> None:
    """Label the axes of probabilities drawn over rounds, and add the legend.

    The x axis leaves out the last rounds if no curve changes in them and they are more than a fifth
    of all rounds.
    """
    ax.set(xlabel="round", ylabel=value_label, ylim=(0.0, 1.02))
    integer_ticks(ax)
    curves = [np.asarray(line.get_ydata(), dtype=float) for line in ax.get_lines()]
    last = max(map(len, curves)) - 1
    moving = [np.flatnonzero(np.abs(curve - curve[-1]) > _FLAT) for curve in curves]
    end = max([5, *(math.ceil(1.15 * (rounds[-1] + 1)) for rounds in moving if len(rounds))])
    if end < 0.8 * last:
        ax.set(xlim=(0, end), xlabel=f"round (no change from here to {last})")
    for line in ax.get_lines():
        line.set_markevery(max(1, min(end, last + 1) // _MARKERS))
    legend_of_curves(ax)


def plot_teachers(comparison: TeacherComparison, *, ax: Axes | None = None) -> Axes:
    """Draw the median number of rounds until a learner is sure, one row per teacher.

    A mark with an arrow means that the learner was sure in fewer than half of the lessons. If the
    search for the optimal lesson ended early, an open mark shows an upper bound on the number of
    rounds, or a question mark shows that the search found no lesson. If no median is known, the
    mean belief in the truth after the last round is drawn; an open mark is then a lower bound.

    Parameters
    ----------
    comparison
        The result of `compare_teachers`.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes, with one series for every learner.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> found = cb.lessons.compare_teachers(model, "summer", num_rounds=4, num_lessons=50, rng=1)
    >>> ax = cb.plots.plot_teachers(found)
    """
    instance(comparison, TeacherComparison, "comparison", "what compare_teachers returns")
    ax = axes_or_new(ax, (7.2, 4.2))
    learners, num_rounds, results = comparison.learners, comparison.num_rounds, comparison.results
    heights = dict(zip(comparison.teachers, range(len(comparison.teachers))[::-1], strict=True))
    offsets = np.linspace(0.22, -0.22, len(learners)) if len(learners) > 1 else np.zeros(1)
    is_known = any(found.median_rounds is not None for found in results)
    end = 1.08 * (num_rounds + 1) if is_known else 1.02
    for number, (learner, offset) in enumerate(zip(learners, offsets, strict=True)):
        style: dict[str, Any] = {**line_style(learner, number), "linestyle": "", "markersize": 7}
        for found in (found for found in results if found.learner == learner):
            place, height = found.median_rounds, heights[found.teacher] + offset
            mark: dict[str, Any] = {} if found.is_proved else {"fillstyle": "none"}
            if not is_known:
                place = float(found.beliefs[-1])
            elif place is None and not found.is_proved:
                place, mark = num_rounds + 1, {"marker": "$?$"}
            elif place is None:
                place = num_rounds + 1
                arrow = {"arrowstyle": "->", "color": style["color"]}
                ax.annotate("", (place + 0.04 * end, height), (place, height), arrowprops=arrow)
            ax.plot([place], [height], **style | mark)
        ax.plot([], [], label=f"{learner} learner", **style)
    ax.set(xlim=(0, end))
    kinds = {(found.median_rounds is None, found.is_proved) for found in results}
    if (not is_known, False) in kinds:
        bound = "upper bound" if is_known else "lower bound"
        ax.plot([], [], "s", color="0.4", fillstyle="none", label=bound)
    if is_known and (True, False) in kinds:
        label = "unknown: search not finished"
        ax.plot([], [], color="0.4", marker="$?$", linestyle="", label=label)
    if is_known:
        integer_ticks(ax)
        what = f"rounds until the belief in the truth is {comparison.level:g} (median)"
    else:
        ax.axvline(comparison.level, color="0.6", linewidth=0.8, linestyle=":")
        missed = f"({comparison.level:g} not reached)"
        what = f"mean belief in the truth after {counted(num_rounds, 'round')} {missed}"
    if is_known and (True, True) in kinds:
        ax.axvline(num_rounds, color="0.6", linewidth=0.8, linestyle=":")
        ax.plot([], [], color="0.4", marker=r"$\rightarrow$", linestyle="", label="not reached")
        most = num_rounds + 1 - 0.08 * end  # labels of later ticks would overlap the last label
        ticks = [int(tick) for tick in ax.get_xticks() if 0.0 <= tick <= most]
        ax.set_xticks([*ticks, num_rounds + 1], [*map(str, ticks), f">{num_rounds}"])
    ax.set_yticks(list(heights.values()), list(heights))
    ax.set(xlabel=what, ylabel="teacher")
    ax.grid(axis="y", alpha=0.3)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    return ax


def draw_comparison(found: Sequence[Ensemble] | TeacherComparison) -> Figure:
    """Draw two pictures that compare rules, or one picture that compares teachers."""
    is_one = not isinstance(found, Sequence)
    with style():
        figure = new_figure(7.2, 4.2 if is_one else 6.4)
        if is_one:
            plot_teachers(found, ax=figure.add_subplot())
        else:
            upper, lower = figure.subplots(2, 1)
            plot_rounds_needed(found, ax=upper)
            plot_mean_beliefs(found, ax=lower)
            taught = found[0].model.hypotheses[found[0].hypothesis]
            lessons = counted(found[0].num_lessons, "lesson")
            upper.set_title(f"{taught}, {lessons} by each rule", loc="left")
    return figure
