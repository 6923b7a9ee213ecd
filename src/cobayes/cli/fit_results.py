"""What ``cobayes fit`` gives: files in a folder, JSON, a table on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobayes.cli import output
from cobayes.errors import CobayesError

if TYPE_CHECKING:
    import pandas as pd

    from cobayes.people import Comparison, Fit, Recovery, StudyPlan

WRITTEN = ("fit.csv", "trials.csv", "comparison.csv", "recovery.csv", "plan.csv", "index.html")


def _guarded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table for CSV in which no label is a formula to a spreadsheet."""
    from cobayes._output import not_a_formula

    return table.map(not_a_formula).rename(columns=not_a_formula)


def write_results(
    out: Path, found: Fit, comparison: Comparison, extra: dict[str, Any], command: str
) -> None:
    """Write the tables and the page into a folder."""
    from cobayes._output import write_text
    from cobayes.people.page import render_fit

    try:
        out.mkdir(parents=True, exist_ok=True)
        _guarded(found.estimates).to_csv(out / "fit.csv", index=False)
        _guarded(found.trials).to_csv(out / "trials.csv", index=False)
        models = comparison.table.rename_axis("model").reset_index()
        _guarded(models).to_csv(out / "comparison.csv", index=False)
        for name, result in extra.items():
            if result is not None:
                _guarded(result.table).to_csv(out / f"{name}.csv", index=False)
        write_text(out / "index.html", render_fit(found, comparison, command, **extra))
    except OSError as error:
        raise CobayesError(f"{out} cannot be written: {error.strerror}.") from None


def results_as_json(
    found: Fit, comparison: Comparison, recovery: Recovery | None, study: StudyPlan | None
) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    from cobayes import __version__

    content = {
        "cobayes": __version__,
        "log_likelihood": found.log_likelihood,
        "estimates": found.estimates.to_dict(orient="records"),
        "comparison": comparison.table.rename_axis("model").reset_index().to_dict(orient="records"),
        "conclusion": comparison.conclusion,
    }
    if recovery is not None:
        content["recovery"] = {
            "num_choices": recovery.num_choices,
            "depth_accuracy": recovery.depth_accuracy,
            "coverage": recovery.coverage.reset_index().to_dict(orient="records"),
        }
    if study is not None:
        content["plan"] = {
            "num_choices": study.num_choices,
            "table": study.table.to_dict(orient="records"),
            "conclusion": study.conclusion,
        }
    return content


# Columns of the comparison that fit a terminal, with headings and formats; files hold all.
_SHOWN = {
    "log_likelihood": ("log likelihood", ".1f"),
    "num_parameters": ("num parameters", ".0f"),
    "aic": ("AIC", ".1f"),
    "bic": ("BIC", ".1f"),
    "num_best": ("best for", ".0f"),
    "protected": ("protected", ".3f"),
    "loo": ("LOO", ".1f"),
    "cross_validated": ("cross validated", ".1f"),
}


def print_results(found: Fit, comparison: Comparison) -> None:
    """Print the comparison as a table, and its conclusion."""
    from rich.text import Text

    console = output.console()
    columns = {key: shown for key, shown in _SHOWN.items() if key in comparison.table.columns}
    table = output.table(
        f"{len(found.choices):,} responses",
        [("model", "left"), *((heading, "right") for heading, _ in columns.values())],
    )
    for name, row in comparison.table.iterrows():
        numbers = (Text(format(row[key], form)) for key, (_, form) in columns.items())
        table.add_row(Text(str(name)), *numbers)
    console.print(table)
    console.print(comparison.conclusion, markup=False)
