"""Pictures of fits to people: estimates, comparisons, recovery, predictions, groups, trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cobayes._input.validation import instance, one_of, whole_number
from cobayes._output import percent, probability_text
from cobayes.errors import CobayesError
from cobayes.people import Comparison, Fit, GroupFit, Recovery
from cobayes.plots.house import (
    BLUE,
    COLORMAP,
    FAINT,
    GREY,
    INK,
    ORANGE,
    VERMILION,
    axes_or_new,
    shorten_label,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_comparison(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw by how much each model's BIC and AIC exceed the lowest.

    If the comparison has protected exceedance probabilities, they are written beside the models.

    Parameters
    ----------
    comparison
        The result of `cobayes.people.compare`.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> fit = cb.people.fit(*cb.people.example_study(), cb.people.Family(depth=(0, 1)))
    >>> comparison = cb.people.compare({"0": fit.at_depth(0), "1": fit.at_depth(1)}, loo=False)
    >>> ax = cb.plots.plot_comparison(comparison)
    """
    table = instance(comparison, Comparison, "comparison", "what people.compare returns").table
    ax = axes_or_new(ax, (6.4, 0.8 + 0.55 * len(table)))
    places = np.arange(len(table))[::-1]
    for name, colour, shift, marker in (("bic", BLUE, 0.12, "o"), ("aic", ORANGE, -0.12, "s")):
        behind = table[name].to_numpy() - table[name].to_numpy().min()
        ax.hlines(places + shift, 0.0, behind, color=colour, linewidth=2)
        ax.plot(behind, places + shift, marker, color=colour, label=name.upper(), clip_on=False)
    labels = [shorten_label(str(name)) for name in table.index]
    if "protected" in table.columns:
        pairs = zip(labels, table["protected"].to_numpy(), strict=True)
        labels = [f"{text}\nprotected {probability_text(p)}" for text, p in pairs]
    ax.set_yticks(places, labels)
    ax.set_xlim(left=0.0)
    ax.margins(x=0.08)
    words = "difference from the best model (smaller is better)"
    ax.set(xlabel=words, ylim=(-0.6, len(table) - 0.4))
    ax.legend(frameon=False, loc="best")
    return ax


def plot_calibration(calibration: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw observed against predicted frequencies, with bands for 95 % of replicated data.

    Parameters
    ----------
    calibration
        The result of `cobayes.people.calibration`.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> fit = cb.people.fit(*cb.people.example_study(), cb.people.Family(depth=(0, 1)))
    >>> ax = cb.plots.plot_calibration(cb.people.calibration(fit, num_bins=4))
    """
    ax = axes_or_new(ax, (4.4, 4.2))
    columns = ("predicted", "predicted_low", "predicted_high", "observed")
    _require_columns(calibration, columns, "calibration")
    predicted, low, high, observed = (calibration[name].to_numpy() for name in columns)
    top = 1.08 * max(high.max(), observed.max())
    ax.plot([0.0, top], [0.0, top], color=GREY, linewidth=1, label="perfect prediction")
    ax.fill_between(
        predicted, low, high, color=BLUE, alpha=0.2, linewidth=0, label="95 % of replicated data"
    )
    # With only one bin the band has no area to fill; these lines show it.
    ax.vlines(predicted, low, high, color=BLUE, alpha=0.35, linewidth=1)
    outside = (observed < low) | (observed > high)
    for flags, colour, label, marker in (
        (~outside, BLUE, "observed", "o"),
        (outside, VERMILION, "observed, outside", "X"),
    ):
        if flags.any():
            ax.plot(predicted[flags], observed[flags], marker, color=colour, label=label)
    ax.set(xlim=(0.0, top), ylim=(0.0, top), aspect="equal")
    ax.set(xlabel="predicted frequency", ylabel="observed frequency")
    ax.legend(frameon=False, loc="upper left")
    return ax


def plot_estimates(fit: Fit, parameter: str = "rationality", *, ax: Axes | None = None) -> Axes:
    """Draw the estimates of one parameter in order of size, with their intervals.

    Parameters
    ----------
    fit
        The result of `cobayes.people.fit`, usually with one row per person.
    parameter
        The name of the parameter.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> fit = cb.people.fit(*cb.people.example_study(), cb.people.Family(depth=(0, 1)))
    >>> ax = cb.plots.plot_estimates(fit, "rationality")
    """
    table = instance(fit, Fit, "fit", "what people.fit returns").estimates
    one_of(parameter, "parameter", fit.family.names)
    ax = axes_or_new(ax, (6.4, 3.4))
    values = table[parameter].to_numpy()
    order = np.argsort(values)
    order = order[np.isfinite(values[order])]
    places = np.arange(len(order))
    if f"{parameter}_low" in table.columns:
        low, high = (table[f"{parameter}_{end}"].to_numpy()[order] for end in ("low", "high"))
        ax.vlines(places, low, high, color=FAINT, linewidth=max(1.0, min(4.0, 200 / len(order))))
    depths = table["depth"].to_numpy()[order]
    markers = "osD^vP*X"
    colours = (VERMILION, BLUE, ORANGE, GREY, INK, BLUE, ORANGE, GREY)
    for number, depth in enumerate(fit.family.depth):
        own = depths == depth
        if own.any():
            look = {"marker": markers[number % 8], "color": colours[number % 8], "markersize": 4}
            ax.plot(places[own], values[order][own], label=f"depth {depth:g}", ls="", **look)
    missing = len(values) - len(order)
    left_out = f"; not identified: {missing} of {len(values)}" if missing else ""
    words = f"{fit.by or 'everybody'}, in order of the estimate{left_out}"
    ax.set(xlabel=words, ylabel=parameter.replace("_", " "), xticks=[])
    # The legend is above the axes, because intervals may span the whole axis.
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, borderaxespad=0)
    return ax


def plot_recovery(
    recovery: Recovery, parameter: str = "rationality", *, ax: Axes | None = None
) -> Axes:
    """Draw the estimates of a parameter against its true values, with intervals.

    Parameters
    ----------
    recovery
        The result of `cobayes.people.recover`.
    parameter
        The name of the parameter.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> from cobayes import people, plots
    >>> recovery = people.recover(
    ...     people.Family(depth=(0, 1)), "example:gestures", num_people=3, num_rounds=5, rng=1
    ... )
    >>> ax = plots.plot_recovery(recovery)
    """
    table = instance(recovery, Recovery, "recovery", "what people.recover returns").table
    one_of(parameter, "parameter", recovery.coverage.index.tolist())
    ax = axes_or_new(ax, (4.4, 4.2))
    ends = ("", "_estimate", "_low", "_high")
    truth, guess, low, high = (table[f"{parameter}{end}"].to_numpy() for end in ends)
    missed = ~((low <= truth) & (truth <= high)) & np.isfinite(guess)
    diagonal = (np.nanmin(truth), np.nanmax(truth))
    ax.plot(diagonal, diagonal, color=GREY, linewidth=1)
    for flags, colour, label, marker in (
        (~missed, BLUE, "interval covers the truth", "o"),
        (missed, VERMILION, "interval misses the truth", "x"),
    ):
        ax.vlines(truth[flags], low[flags], high[flags], color=colour, alpha=0.25, linewidth=1)
        ax.plot(truth[flags], guess[flags], marker, color=colour, markersize=4, label=label)
    ax.set(xlabel=f"true {parameter.replace('_', ' ')}", ylabel="estimate")
    share = recovery.coverage.loc[parameter, "coverage"]
    ax.set_title(f"coverage {percent(share, digits=0)}", loc="left", fontsize=10)
    # Leave space for the legend above the longest interval.
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, top + 0.2 * (top - bottom))
    ax.legend(frameon=False, loc="upper left", fontsize=8)
    return ax


def plot_confusion(recovery: Recovery, *, ax: Axes | None = None) -> Axes:
    """Draw a table: for each true depth, the share of people with each estimated depth.

    Parameters
    ----------
    recovery
        The result of `cobayes.people.recover`.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> from cobayes import people, plots
    >>> recovery = people.recover(
    ...     people.Family(depth=(0, 1)), "example:gestures", num_people=3, num_rounds=5, rng=1
    ... )
    >>> ax = plots.plot_confusion(recovery)
    """
    table = instance(recovery, Recovery, "recovery", "what people.recover returns").confusion
    ax = axes_or_new(ax, (4.2, 3.8))
    shares = table.to_numpy()
    ax.imshow(shares, cmap=COLORMAP, vmin=0.0, vmax=1.0)
    for (row, column), share in np.ndenumerate(shares):
        text, colour = percent(share, digits=0), "white" if share < 0.5 else INK
        ax.text(column, row, text, ha="center", va="center", color=colour)
    across, down = ([f"{depth:g}" for depth in axis] for axis in (table.columns, table.index))
    ax.set_xticks(range(len(across)), across)
    ax.set_yticks(range(len(down)), down)
    ax.set(xlabel="depth with the highest likelihood", ylabel="true depth")
    return ax


def plot_shrinkage(
    group: GroupFit, parameter: str = "rationality", *, ax: Axes | None = None
) -> Axes:
    """Draw each person's estimate in the group against the person's separate estimate.

    If the responses of a person carry little information, the estimate in the group is closer to
    the group's median than the separate maximum-likelihood estimate is.

    Parameters
    ----------
    group
        The result of `cobayes.people.fit_group`.
    parameter
        The name of a free parameter.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> family = cb.people.Family(depth=(0, 1), lapse=0.05)
    >>> group = cb.people.fit_group(*cb.people.example_study(), family, num_draws=100, rng=1)
    >>> ax = cb.plots.plot_shrinkage(group)
    """
    instance(group, GroupFit, "group", "what people.fit_group returns")
    one_of(parameter, "parameter", group.fit.family.free_names())
    ax = axes_or_new(ax, (4.4, 4.2))
    alone = group.fit.estimates[parameter].to_numpy()
    value, low, high = (
        group.estimates[f"{parameter}{end}"].to_numpy() for end in ("", "_low", "_high")
    )
    known = np.isfinite(alone)
    ends = (alone[known].min(), alone[known].max()) if known.any() else (0.0, 1.0)
    ax.plot(ends, ends, color=GREY, linewidth=1, label="no shrinkage")
    median = group.group.loc[f"median {parameter}", "estimate"]
    ax.axhline(median, color=ORANGE, linestyle="--", linewidth=1.5, label="median of the group")
    ax.vlines(alone[known], low[known], high[known], color=BLUE, alpha=0.25, linewidth=1)
    one = "a person, with 95 % interval"
    ax.plot(alone[known], value[known], "o", color=BLUE, markersize=4, label=one)
    missing = int((~known).sum())
    left_out = f"\nnot identified: {missing} of {len(alone)}" if missing else ""
    words = parameter.replace("_", " ")
    alone_words = f"{words}, separate fits (maximum likelihood){left_out}"
    ax.set(xlabel=alone_words, ylabel=f"{words}, in the group")
    ax.legend(frameon=False, loc="upper left", fontsize=8)
    return ax


def plot_informative(trials: pd.DataFrame, num_trials: int = 20, *, ax: Axes | None = None) -> Axes:
    """Draw the expected information of the most informative trials, the best on top.

    Parameters
    ----------
    trials
        The result of `cobayes.people.informative`.
    num_trials
        Draw at most this number of trials.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> family = cb.people.Family(depth=(0, 1), lapse=0.05)
    >>> ax = cb.plots.plot_informative(cb.people.informative("example:gestures", family, rng=1))
    """
    _require_columns(trials, ("problem", "nats"), "informative")
    shown = trials.head(whole_number(num_trials, "num_trials", 1))
    ax = axes_or_new(ax, (6.4, 0.8 + 0.24 * len(shown)))
    places = np.arange(len(shown))[::-1]
    ax.hlines(places, 0.0, shown["nats"].to_numpy(), color=BLUE, linewidth=2)
    ax.plot(shown["nats"].to_numpy(), places, "o", color=BLUE, markersize=5)
    columns = [name for name in shown.columns if name != "nats"]
    labels = [
        ", ".join(str(cell) for cell in row if cell != "*")
        for row in shown[columns].itertuples(index=False)
    ]
    ax.set_yticks(places, [shorten_label(label) for label in labels])
    ax.set_xlim(left=0.0)
    rest = f" (best {len(shown)} of {len(trials)} trials)" if len(shown) < len(trials) else ""
    words = f"expected information of one response, nats{rest}"
    ax.set(xlabel=words, ylabel=" and ".join(columns), ylim=(-0.6, len(shown) - 0.4))
    return ax


def _require_columns(table: pd.DataFrame, names: Sequence[str], function: str) -> None:
    """Raise an error unless a table has the columns that `function` of `cobayes.people` returns."""
    if not isinstance(table, pd.DataFrame) or not set(names) <= set(table.columns):
        raise CobayesError(
            f"the table does not have all of the columns {', '.join(names)}.",
            f"give the table that cobayes.people.{function} returns.",
        )
