"""BI against SCBI: matrix by matrix, and lesson by lesson."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cobayes.plots.house import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    axes_or_new,
    count_in_whole_numbers,
    legend_of_curves,
    line_style,
    shorten_label,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cobayes.lessons import Ensemble, TeacherComparison

# A curve of many rounds carries about so many markers.
_MARKERS = 12


def plot_against_diagonal(
    bi: ArrayLike, scbi: ArrayLike, *, what: str = "mean belief", ax: Axes | None = None
) -> Axes:
    """Draw one point for each matrix, BI to the right and SCBI upwards, with the diagonal.

    Parameters
    ----------
    bi, scbi
        The two numbers of every matrix.
    what
        What the values are, for the labels of the axes.
    ax
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> ax = cb.plots.plot_against_diagonal([0.5, 0.6], [0.7, 0.8])
    """
    ax = axes_or_new(ax, (4.2, 4.2))
    bi, scbi = np.asarray(bi, dtype=float), np.asarray(scbi, dtype=float)
    both = np.concatenate([bi, scbi])
    margin = 0.05 * (np.ptp(both) or 1e-3)
    limits = (both.min() - margin, both.max() + margin)
    ax.plot(limits, limits, color=ORANGE, linewidth=1.5, zorder=1)
    ax.scatter(bi, scbi, s=14, color=BLUE, alpha=0.55, linewidths=0, zorder=2)
    share = 100.0 * float((scbi > bi).mean())
    # Next to the diagonal's ends there is always room.
    ax.text(
        0.03,
        0.97,
        f"above: {share:.1f} % of {len(bi)}",
        transform=ax.transAxes,
        va="top",
        fontsize=9,
        color=INK,
    )
    ax.set_xlim(limits)
    ax.set_ylim(limits)
    ax.set_aspect("equal")
    ax.set_xlabel(f"BI: {what}")
    ax.set_ylabel(f"SCBI: {what}")
    tidy(ax)
    return ax


def plot_rounds_needed(ensembles: Sequence[Ensemble], *, ax: Axes | None = None) -> Axes:
    """Draw the share of lessons in which the learner was sure by each round.

    Parameters
    ----------
    ensembles
        From `simulate`, one for each rule.
    ax
        Where to draw; None makes a new figure.

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
    ax = axes_or_new(ax)
    for position, ensemble in enumerate(ensembles):
        share = ensemble.rounds_needed.cumulative()
        style = line_style(ensemble.rule_name, position)
        median = ensemble.rounds_needed.median
        ax.step(
            range(len(share)),
            share,
            where="post",
            label=f"{ensemble.rule_name}, median {'never' if median is None else median}",
            markevery=max(1, len(share) // _MARKERS),
            markersize=4,
            **style,
        )
    ax.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    level = ensembles[0].rounds_needed.level
    _label_rounds(ax, f"share of learners {100 * level:g} % sure by then")
    cut_flat_tail(ax, [ensemble.rounds_needed.cumulative() for ensemble in ensembles])
    legend_of_curves(ax)
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
        From `simulate`, one for each rule, all of one hypothesis; or means and standard errors by
        round, under the rules' names.
    ax
        Where to draw; None makes a new figure.

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
        curves = dict(ensembles)
    else:
        first = ensembles[0]
        label = f"mean belief in {shorten_label(first.model.hypotheses[first.hypothesis])}"
        curves = {each.rule_name: (each.mean(), each.stderr()) for each in ensembles}
    for position, (name, (values, errors)) in enumerate(curves.items()):
        mean, error = np.asarray(values), 2.0 * np.asarray(errors)
        style = line_style(name, position)
        every = max(1, len(mean) // _MARKERS)
        ax.plot(mean, label=name, markevery=every, markersize=4, **style)
        ax.fill_between(
            range(len(mean)),
            mean - error,
            mean + error,
            color=style["color"],
            alpha=0.2,
            linewidth=0,
        )
    _label_rounds(ax, label)
    cut_flat_tail(ax, [mean for mean, _ in curves.values()])
    legend_of_curves(ax)
    return ax


def cut_flat_tail(ax: Axes, curves: Sequence[ArrayLike], flat: float = 0.005) -> None:
    """End the axis soon after the last round in which any curve still changes.

    Parameters
    ----------
    ax
        With rounds to the right.
    curves
        One value for each round.
    flat
        A curve this close to its last value no longer changes.
    """
    last = max(len(np.asarray(curve)) for curve in curves) - 1
    ends = []
    for curve in curves:
        values = np.asarray(curve, dtype=float)
        moving = np.flatnonzero(np.abs(values - values[-1]) > flat)
        ends.append(int(moving[-1]) + 1 if len(moving) else 0)
    end = max(5, math.ceil(1.15 * max(ends)))
    if end < 0.8 * last:
        ax.set_xlim(0, end)
        ax.set_xlabel(f"round (no change from here to {last})")
        for line in ax.get_lines():
            if line.get_markevery() is not None:
                line.set_markevery(max(1, end // _MARKERS))


def _label_rounds(ax: Axes, value_label: str) -> None:
    """Finish a picture of a probability over the rounds, one curve for each rule."""
    ax.set_xlabel("round")
    ax.set_ylabel(value_label)
    ax.set_ylim(0.0, 1.02)
    count_in_whole_numbers(ax)
    tidy(ax)


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
    >>> found = cb.lessons.compare_teachers(model, "summer", num_rounds=4, num_lessons=50, rng=1)
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
