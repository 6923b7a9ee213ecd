"""A fit to people as sections of a report: comparison, estimates, predictions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes.people import Comparison, Fit, calibration
from cobayes.people.compare import probability_text
from cobayes.people.family import depth_name
from cobayes.report.section import Context, Picture, Recipe, Section, Table

if TYPE_CHECKING:
    import pandas as pd

# Longer tables are cut on the page; the table of the fit holds all rows.
MAX_ROWS = 40

MEANINGS = {
    "log_likelihood": "larger is better",
    "num_parameters": "identified parameters of all people",
    "aic": "smaller is better",
    "bic": "smaller is better",
    "num_best": "people for whom the model is best",
    "frequency": "expected share of people",
    "exceedance": "probability that the model is the most frequent one",
    "protected": "the same, protected against chance",
    "cross_validated": "log-likelihood of people left out",
    "loo": "log-likelihood of responses left out",
    "loo_stderr": "standard error of loo",
    "loo_unreliable": "responses with a Pareto k above 0.7",
}
PROBABILITIES = ("frequency", "exceedance", "protected")


def fit_recipes(fit: Fit, comparison: Comparison) -> tuple[Recipe, ...]:
    """Return the sections of a page about a fit, for `build_report`.

    The sections are not kept from one report to the next: call `build_report` with ``fresh=True``.

    Parameters
    ----------
    fit
        All depths, by person or pooled.
    comparison
        Comparison of its depths, or of other models with them.

    Returns
    -------
    tuple of Recipe
        Comparison, estimates, and (not for ratings) predicted against observed frequencies.

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
        Recipe("comparison", "models compared", lambda _: _comparison(comparison)),
        Recipe("estimates", "parameters with intervals", lambda _: _estimates(fit)),
    ]
    if fit.family.response != "rating":
        found.append(Recipe("predictions", "a posterior predictive check", _predictions(fit)))
    return tuple(found)


def fit_in_words(fit: Fit) -> str:
    """Return one sentence about what was fitted."""
    frame, depths = fit.choices.frame, ", ".join(map(depth_name, fit.family.depth))
    people = f" by {frame['person'].nunique()} people" if "person" in frame.columns else ""
    return (
        f"{len(fit.choices):,} responses{people} on {len(fit.problems)} "
        f"{'problem' if len(fit.problems) == 1 else 'problems'}, depths {depths}."
    )


def _comparison(comparison: Comparison) -> Section:
    from cobayes.plots.people import plot_comparison

    table = comparison.table.rename_axis("model").reset_index().drop(columns="per_response")
    meanings = "\n".join(
        f"- {name.replace('_', ' ')}: {MEANINGS[name]}"
        for name in table.columns
        if name in MEANINGS
    )
    figure = _figure((7.2, 1.2 + 0.6 * len(table)))
    plot_comparison(comparison, ax=figure.subplots())
    caption = "Difference from the best model, by BIC and by AIC."
    return Section(
        "Models compared",
        (
            _escape(comparison.conclusion),
            _table("One row per model, the best BIC first.", table),
            Picture("comparison", figure, caption, caption),
            meanings,
        ),
    )


def _estimates(fit: Fit) -> Section:
    from cobayes.plots.people import plot_estimates

    table, free = fit.estimates, fit.family.free_names()
    fixed = [f"{name} = {low:g}" for name, (low, high) in fit.family.bounds.items() if low == high]
    noted = sum(note != "" for note in table["note"].tolist())
    text = (
        "Each row has the depth with the highest likelihood. An estimate that the data say nothing "
        "about is shown as ?, and its interval spans the bounds."
    )
    if noted:
        text += f" {noted} of {len(table)} rows have a note: read it before you use the number."
    if fixed:
        text += f" Fixed: {', '.join(fixed)}."
    pictures = []
    for name in free if fit.by is not None else ():
        if np.isfinite(table[name].to_numpy()).any():
            figure = _figure((6.4, 3.6))
            plot_estimates(fit, name, ax=figure.subplots())
            caption = f"Estimates of {name.replace('_', ' ')} with their intervals."
            pictures.append(Picture(name, figure, caption, caption))
    cut = f", the first {MAX_ROWS} of {len(table)}" if len(table) > MAX_ROWS else ""
    shown = _with_intervals(fit).head(MAX_ROWS)
    blocks = [_escape(text), *pictures, _table(f"Estimates with their intervals{cut}.", shown)]
    if len(fit.family.depth) > 1 and fit.by is not None:
        chosen = table["depth"].to_numpy()
        rows = [
            (depth_name(depth), str((chosen == depth).sum()), f"{(chosen == depth).mean():.0%}")
            for depth in fit.family.depth
        ]
        blocks += [
            "With few responses per person neighbouring depths are hard to tell apart; "
            "`cobayes.people.recover` says how hard.",
            Table("The depth with the highest likelihood.", ("depth", "number", "share"), (*rows,)),
        ]
    return Section("Estimates", tuple(blocks))


def _with_intervals(fit: Fit) -> pd.DataFrame:
    """Return the estimates for readers: a value and its interval in one cell."""
    free, table = fit.family.free_names(), fit.estimates.drop(columns=["aic", "bic"])
    for name in free:
        table[name] = [
            f"{_text(value) or '?'}\u00a0[{_text(low)},\u00a0{_text(high)}]"
            for value, low, high in table[[name, f"{name}_low", f"{name}_high"]].to_numpy()
        ]
    ends = [f"{name}_{end}" for name in fit.family.names for end in ("low", "high")]
    fixed = [name for name in fit.family.names if name not in free]
    return table.drop(columns=[*fixed, *ends], errors="ignore")


def _predictions(fit: Fit):
    def build(context: Context) -> Section:
        from cobayes.plots.people import plot_calibration

        figure = _figure((4.6, 4.4))
        plot_calibration(calibration(fit, rng=context.rng()), ax=figure.subplots())
        caption = (
            "A posterior predictive check. Options are grouped by their predicted probability; the "
            "band holds 95 % of the frequencies that the model produces when its parameters are "
            "drawn from their posterior distribution. About one point in twenty lies outside by "
            "chance; more of them, or a trend, show where the model is wrong."
        )
        alt = "Observed frequencies of options against their predicted probabilities."
        return Section(
            "Predicted against observed", (Picture("calibration", figure, caption, alt),)
        )

    return build


def _figure(size: tuple[float, float]) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def _table(caption: str, frame: pd.DataFrame) -> Table:
    header = tuple(str(name).replace("_", " ") for name in frame.columns)
    rows = (
        tuple(_escape(_text(cell, name)) for name, cell in zip(frame.columns, row, strict=True))
        for row in frame.itertuples(index=False, name=None)
    )
    return Table(caption, tuple(map(_escape, header)), tuple(rows))


def _text(value: Any, name: Any = "") -> str:
    if not isinstance(value, (float, np.floating)):
        return str(value)
    if np.isnan(value):
        return ""
    if name in PROBABILITIES:
        return probability_text(float(value))
    return f"{value:.1f}" if 100 <= abs(value) < np.inf else f"{value:.3g}"


def _escape(text: str) -> str:
    """Return a text whose signs are no Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|~!&])", r"\\\1", text)
