"""A fit to people as sections of a report: comparison, estimates, group, predictions."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes._output import probability_text
from cobayes.people import Comparison, Fit, GroupFit, calibration
from cobayes.plots.house import new_figure
from cobayes.report.section import Context, Recipe, Section, prose, written_section

if TYPE_CHECKING:
    import pandas as pd

# Longer tables are shortened on the page; `Fit.estimates` has all rows.
MAX_ROWS = 40
# The columns that the page shows. The terminal shows three fewer; comparison.csv has all columns.
HEADINGS = {
    "log_likelihood": "log-likelihood",
    "num_parameters": "parameters",
    "aic": "AIC",
    "bic": "BIC",
    "num_best": "best for",
    "frequency": "share",
    "protected": "protected",
    "cross_validated": "held out",
    "loo": "LOO",
    "loo_stderr": "LOO error",
    "loo_unreliable": "unreliable",
}


def fit_recipes(
    fit: Fit, comparison: Comparison, group: GroupFit | None = None
) -> tuple[Recipe, ...]:
    """Return the sections of a page about a fit, for `build_report`.

    `build_report` builds these sections even if nothing has changed. If its argument `names`
    selects some, the page shows the others as they are in the folder, possibly from an earlier fit.

    Parameters
    ----------
    fit
        The fit of all depths, by person or pooled.
    comparison
        A comparison of the depths of this fit, possibly also with other models.
    group
        The same people fitted as a group (default: no section about the group).

    Returns
    -------
    tuple of Recipe
        Comparison, estimates, the group if it is given, and, except for ratings, predicted against
        observed frequencies.

    Examples
    --------
    >>> import cobayes as cb
    >>> from cobayes import report
    >>> fit = cb.people.fit(*cb.people.example_study(), cb.people.Family(depth=(0, 1)))
    >>> models = {"0": fit.at_depth(0), "1": fit.at_depth(1)}
    >>> recipes = report.fit_recipes(fit, cb.people.compare(models, loo=False))
    >>> [recipe.name for recipe in recipes]
    ['comparison', 'estimates', 'predictions']
    """
    found = [
        Recipe("comparison", "models compared", partial(_comparison, comparison)),
        Recipe("estimates", "parameters with intervals", partial(_estimates, fit)),
    ]
    if group is not None:
        found.append(Recipe("group", "people as a group", partial(_group, group)))
    if fit.family.response != "rating":
        check = partial(_predictions, fit)
        found.append(Recipe("predictions", "a posterior predictive check", check))
    return tuple(found)


def shown_comparison(comparison: Comparison) -> pd.DataFrame:
    """Return the name of each model, and those columns of a comparison that readers need."""
    table = comparison.table.filter(list(HEADINGS)).rename(columns=HEADINGS)
    table.insert(0, "model", table.index.astype(str))
    return table


def fit_in_words(fit: Fit) -> str:
    """Return one sentence about the data and the depths of the fit."""
    frame, depths = fit.choices.frame, ", ".join(f"{depth:g}" for depth in fit.family.depth)
    people = f" by {frame['person'].nunique()} people" if "person" in frame.columns else ""
    return (
        f"{len(fit.choices):,} responses{people} on {len(fit.problems)} "
        f"{'problem' if len(fit.problems) == 1 else 'problems'}, depths {depths}."
    )


def _comparison(comparison: Comparison, _: Context) -> Section:
    from cobayes.plots.people import plot_comparison

    table = shown_comparison(comparison)
    table["model"] = table["model"].str.replace(" ", "\u00a0")
    figure = new_figure(7.2, 1.2 + 0.6 * len(table))
    plot_comparison(comparison, ax=figure.subplots())
    values = {"conclusion": comparison.conclusion, "table": table}
    return _written("comparison", values, {"comparison": figure})


def _estimates(fit: Fit, _: Context) -> Section:
    from cobayes.plots.people import plot_estimates

    table, figures, depths = fit.estimates, {}, {}
    if fit.by is not None:
        figures = {name: new_figure(6.4, 3.6) for name in _drawn(fit)}
        if len(fit.family.depth) > 1:
            depths = {f"{k:g}": int((table["depth"] == k).sum()) for k in fit.family.depth}
    for name, figure in figures.items():
        plot_estimates(fit, name, ax=figure.subplots())
    fixed = {name: low for name, (low, high) in fit.family.bounds.items() if low == high}
    values = {"estimates": table, "shown": _with_intervals(fit).head(MAX_ROWS), "fixed": fixed}
    values |= {"num_noted": (table["note"] != "").sum(), "drawn": figures, "depths": depths}
    return _written("estimates", values, figures)


def _drawn(fit: Fit) -> list[str]:
    """Return the free parameters that are identified in at least one row of the fit."""
    table = fit.estimates
    return [name for name in fit.family.free_names() if np.isfinite(table[name].to_numpy()).any()]


def _group(group: GroupFit, _: Context) -> Section:
    from cobayes.plots.people import plot_shrinkage

    figures = {name: new_figure(4.6, 4.4) for name in _drawn(group.fit)}
    for name, figure in figures.items():
        plot_shrinkage(group, name, ax=figure.subplots())
    headings = {"index": "quantity", "effective": "effective draws", "r_hat": "R-hat"}
    table = group.group.astype({"effective": int}).reset_index().rename(columns=headings)
    return _written("group", {"table": table, "drawn": figures}, figures)


def _with_intervals(fit: Fit) -> pd.DataFrame:
    """Return the rows with unit, depth, note, and each free parameter with its interval."""
    free, table = fit.family.free_names(), fit.estimates.copy()
    for name in free:
        table[name] = [
            cell_text(value)
            if np.isnan(low)
            else f"{cell_text(value) or '?'}\u00a0[{cell_text(low)},\u00a0{cell_text(high)}]"
            for value, low, high in table[[name, f"{name}_low", f"{name}_high"]].to_numpy()
        ]
    return table.filter([str(fit.by), "depth", *free, "note"])


def _predictions(fit: Fit, context: Context) -> Section:
    from cobayes.plots.people import plot_calibration

    figure = new_figure(4.6, 4.4)
    plot_calibration(calibration(fit, rng=context.rng()), ax=figure.subplots())
    return _written("predictions", {}, {"calibration": figure})


def _written(name: str, values: dict[str, Any], figures: dict[str, Any]) -> Section:
    """Return a section from ``prose/NAME.md``, where the filter `plain` escapes Markdown."""
    texts = prose("cobayes.report")
    texts.filters |= {"plain": _escape, "cell": cell_text}
    return written_section(texts.get_template(f"{name}.md"), values=values, figures=figures)


def cell_text(value: Any, name: Any = "") -> str:
    """Return a value of the column `name` as text with a suitable number of digits."""
    if not isinstance(value, (float, np.floating)):
        return str(value)
    if np.isnan(value):
        return ""
    if name in ("share", "protected"):
        return probability_text(float(value))
    # Three digits; more digits if a number below one would be rounded to one.
    digits = 6 if 0.9995 <= value < 1.0 else 3
    return f"{value:.1f}" if 100 <= abs(value) < np.inf else f"{value:.{digits}g}"


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~!&])", r"\\\1", text)
