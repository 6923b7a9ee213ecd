"""The page of a fit: one HTML file with tables and pictures inside, in the report's style."""

from __future__ import annotations

import base64
import io
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes._version import __version__
from cobayes.people.compare import Comparison
from cobayes.people.plan import StudyPlan
from cobayes.people.predict import calibration
from cobayes.people.recover import Recovery
from cobayes.people.result import Fit
from cobayes.plots import house

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Longer tables are cut on the page; the files hold them whole.
MAX_ROWS = 40

MEANINGS = {
    "model": "what was fitted",
    "log_likelihood": "the larger the better",
    "num_parameters": "identified parameters of all people",
    "aic": "smaller is better",
    "bic": "smaller is better",
    "num_best": "people for whom it is best",
    "frequency": "expected share of people",
    "exceedance": "probability to be the most frequent model",
    "protected": "the same, protected against chance",
    "cross_validated": "log-likelihood of people left out",
    "loo": "log-likelihood of responses left out",
    "loo_stderr": "its standard error",
    "loo_unreliable": "responses with Pareto k above 0.7",
}


def render_fit(
    fit: Fit,
    comparison: Comparison,
    command: str,
    recovery: Recovery | None = None,
    plan: StudyPlan | None = None,
) -> str:
    """Return the page as HTML that needs nothing from elsewhere.

    Parameters
    ----------
    fit
        All depths, by person or pooled.
    comparison
        Comparison of its depths.
    command
        What to type to make the page again.
    recovery
        Simulated people on the same problems, fitted by the same family.
    plan
        How many responses a wanted precision needs.
    """
    style = (resources.files("cobayes.report") / "report.css").read_text(encoding="utf-8")
    title = "People fitted"
    people = len(set(fit.choices.frame["person"].tolist()))
    lead = (
        f"{len(fit.choices):,} responses by {people} {'person' if people == 1 else 'people'} on "
        f"{len(fit.problems)} {'problem' if len(fit.problems) == 1 else 'problems'}, depths "
        f"{', '.join(_depth(depth) for depth in fit.family.depth)}."
    )
    files = ["fit.csv", "trials.csv", "comparison.csv"]
    with house.style():
        sections = [_comparison(comparison), _estimates(fit), _depths(fit), _predictions(fit)]
        if recovery is not None:
            sections.append(_recovery(recovery))
            files.append("recovery.csv")
        if plan is not None:
            sections.append(_plan(plan))
            files.append("plan.csv")
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{title}</title><style>\n{style}td {{ white-space: nowrap; }}</style></head>\n"
        "<body>"
        f'<header><p class="eyebrow">cobayes {escape(__version__)} · fit</p><h1>{title}</h1>'
        f'<p class="lead">{escape(lead)}</p></header>\n'
        f'<section class="what"><h2>What can be concluded</h2><p>{escape(comparison.conclusion)}'
        "</p></section>\n"
        f"<main>{''.join(sections)}</main>\n"
        f"<footer><p>Made by <code>{escape(command)}</code> with cobayes {escape(__version__)}. "
        f"Files beside this page: {', '.join(f'<code>{name}</code>' for name in files)}."
        "</p></footer></body></html>\n"
    )


def _comparison(comparison: Comparison) -> str:
    from cobayes.plots.people import plot_comparison

    table = comparison.table.rename_axis("model").reset_index().drop(columns="per_response")
    meanings = "".join(
        f"<li><code>{name}</code>: {MEANINGS[name]}</li>"
        for name in table.columns
        if name in MEANINGS
    )
    figure = _figure((7.2, 1.2 + 0.6 * len(table)))
    plot_comparison(comparison, ax=figure.subplots())
    alt = "How far each model is behind the best one by BIC and AIC."
    return _section(
        "comparison",
        "Models compared",
        _table("One row per model, the best BIC first.", table),
        _picture(figure, "Behind the best model, by BIC and by AIC.", alt),
        f"<details><summary>What the columns mean</summary><ul>{meanings}</ul></details>",
    )


def _estimates(fit: Fit) -> str:
    from cobayes.plots.people import plot_estimates

    table = fit.estimates.copy()
    fixed = [p.name for p in fit.family.parameters if not p.is_free]
    values = ", ".join(f"{p.name} = {p.low:g}" for p in fit.family.parameters if not p.is_free)
    table = table.drop(columns=fixed)
    pictures = []
    free = fit.family.free_names(fit.family.depth[-1])
    if fit.by is not None:
        for name in free:
            if not np.isfinite(table[name].to_numpy()).any():
                continue
            figure = _figure((6.4, 3.6))
            plot_estimates(fit, name, ax=figure.subplots())
            caption = f"Estimates of {name.replace('_', ' ')} with their intervals."
            pictures.append(_picture(figure, caption, caption))
    noted = sum(note != "" for note in table["note"].tolist())
    text = (
        "Each row has the depth with the highest likelihood. An estimate that the data say nothing "
        "about is shown as ?, and its interval spans the bounds."
    )
    if noted:
        text += f" {noted} of {len(table)} rows have a note: look at it before using the number."
    if fixed:
        text += f" Fixed: {values}."
    return _section(
        "estimates",
        "Estimates",
        f"<p>{escape(text)}</p>",
        f'<div class="pictures">{"".join(pictures)}</div>' if pictures else "",
        _table(
            f"Estimates with their intervals{_cut(len(table))}.",
            _with_intervals(fit, table).head(MAX_ROWS),
        ),
    )


def _with_intervals(fit: Fit, table: pd.DataFrame) -> pd.DataFrame:
    """Return the table for readers: an estimate and its interval in one cell."""
    table = table.drop(columns=["aic", "bic"])
    for parameter in fit.family.parameters:
        if parameter.is_free:
            ends = [f"{parameter.name}_low", f"{parameter.name}_high"]
            cells = table[[parameter.name, *ends]].to_numpy()
            table[parameter.name] = [
                f"{_text(value) or '?'} [{_text(low)}, {_text(high)}]" for value, low, high in cells
            ]
            table = table.drop(columns=ends)
    return table


def _depths(fit: Fit) -> str:
    if len(fit.family.depth) == 1 or fit.by is None:
        return ""
    chosen = fit.estimates["depth"].to_numpy()
    body = "".join(
        f"<tr><td>{_depth(depth)}</td><td class='number'>{(chosen == depth).sum()}</td>"
        f"<td class='number'>{(chosen == depth).mean():.0%}</td></tr>"
        for depth in fit.family.depth
    )
    return _section(
        "depths",
        "Depths",
        "<p>The depth with the highest likelihood. With few responses per person neighbouring "
        "depths are hard to tell apart: <code>cobayes.people.recover</code> says how hard."
        '</p><div class="table"><table><thead><tr><th scope="col">depth</th>'
        '<th scope="col" class="number">people</th><th scope="col" class="number">share</th>'
        "</tr></thead>"
        f"<tbody>{body}</tbody></table></div>",
    )


def _predictions(fit: Fit) -> str:
    from cobayes.plots.people import plot_calibration

    if fit.family.response == "rating":
        return ""
    figure = _figure((4.6, 4.4))
    plot_calibration(calibration(fit), ax=figure.subplots())
    caption = (
        "A posterior predictive check. Options are grouped by their predicted probability; the "
        "band holds 95 % of what the model answers when its parameters are drawn from their "
        "uncertainty. About one point in twenty lies outside by chance; more of them, or a trend, "
        "show where the model is wrong."
    )
    alt = "Observed frequencies of options against their predicted probabilities."
    return _section("predictions", "Predicted against observed", _picture(figure, caption, alt))


def _recovery(recovery: Recovery) -> str:
    from cobayes.plots.people import plot_confusion

    figure = _figure((4.6, 4.2))
    plot_confusion(recovery, ax=figure.subplots())
    text = (
        f"{len(recovery.table)} simulated people with {recovery.num_choices} responses each on the "
        "same problems, fitted by the same family. Depths that are often confused here cannot be "
        "told apart in people either; an interval should cover the truth in 95 % of cases."
    )
    table = recovery.coverage.drop(columns=["coverage_low", "coverage_high"]).reset_index()
    return _section(
        "recovery",
        "Could this study have told?",
        f"<p>{escape(text)}</p>",
        _picture(figure, "True depth and the depth with the highest likelihood.", text),
        _table("Free parameters at the true depth.", table),
    )


def _plan(plan: StudyPlan) -> str:
    text = (
        f"{plan.conclusion} Every row is a simulated study on these problems, with the same people "
        "and the same first lessons."
    )
    return _section(
        "plan",
        "How many responses are needed?",
        f"<p>{escape(text)}</p>",
        _table("Studies of different lengths.", plan.table),
    )


def _section(name: str, title: str, *parts: str) -> str:
    return f'<section id="{name}"><h2>{escape(title)}</h2>{"".join(parts)}</section>\n'


def _figure(size: tuple[float, float]) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def _picture(figure: Figure, caption: str, alt: str) -> str:
    """Return a drawing as SVG inside the page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    drawing = file.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    data = base64.b64encode(drawing.encode()).decode("ascii")
    width = 130 * figure.get_size_inches()[0]  # pixels; letters of about the size of the text
    return (
        f'<figure style="max-width: {width:.0f}px">'
        f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _table(caption: str, table: pd.DataFrame) -> str:
    is_number = [kind.kind in "biuf" for kind in table.dtypes]
    kinds = [' class="number"' if flag else "" for flag in is_number]
    head = "".join(
        f'<th scope="col"{kind}>{escape(str(name).replace("_", " "))}</th>'
        for name, kind in zip(table.columns, kinds, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{kind}>{escape(_text(value))}</td>" for value, kind in zip(row, kinds, strict=True)
        )
        + "</tr>"
        for row in table.itertuples(index=False, name=None)
    )
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _text(value: Any) -> str:
    if not isinstance(value, (float, np.floating)):
        return str(value)
    if np.isnan(value):
        return ""
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.3g}"


def _depth(depth: float) -> str:
    return "∞" if np.isinf(depth) else f"{depth:g}"


def _cut(count: int) -> str:
    return f", the first {MAX_ROWS} of {count}; fit.csv holds all" if count > MAX_ROWS else ""
