"""``cobayes info``: what a matrix holds, the paper's assumptions, and the rates it allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cobayes.cli import inputs, options, output

if TYPE_CHECKING:
    from cobayes.model import Model

EPILOG = "Examples:\n\ncobayes info world.csv\n\ncobayes info example:M_3 --json"


def info(
    matrix: options.Matrix,
    prior: options.Prior = None,
    smooth: options.Smooth = None,
    as_json: options.AsJson = False,
) -> None:
    """Describe a matrix: shape, labels, the paper's assumptions (i) to (iv), zeros, mean rates."""
    model, example = inputs.load_matrix(matrix, smooth)
    report = model.check(inputs.read_prior(prior, model, example, name="prior"))
    content: dict[str, Any] = {
        "matrix": matrix,
        "num_data": model.num_data,
        "num_hypotheses": model.num_hypotheses,
        "data": list(model.data),
        "hypotheses": list(model.hypotheses),
        "smallest_entry": float(model.matrix.min()),
        "largest_entry": float(model.matrix.max()),
        "column_sums": model.matrix.sum(axis=0).tolist(),
        "assumptions": [
            {"assumption": f.assumption, "status": f.status, "text": f.text}
            for f in report.findings
        ],
        "holds": report.holds,
        "zeros": report.zeros,
        "mean_rates": _mean_rates(model),
    }
    if as_json:
        output.print_json(content)
        return
    from rich.text import Text

    from cobayes._input.labels import shorten
    from cobayes._output import shape_in_words

    console = output.console()
    facts = output.facts(example.title if example is not None else matrix)
    for name, value in (
        ("shape", shape_in_words(*model.shape)),
        ("data", shorten(model.data)),
        ("hypotheses", shorten(model.hypotheses)),
        ("entries", f"{model.matrix.min():.4g} to {model.matrix.max():.4g}"),
        ("column sums", _range(content["column_sums"])),
        *_rate_rows(content["mean_rates"], matrix),
    ):
        facts.add_row(Text(name, style="bold"), Text(value))
    console.print(facts)
    for finding in report.findings:
        holds = finding.status == "holds"
        mark = Text("ok     ", style="green") if holds else Text("warning", style="yellow")
        console.print(mark + Text(f" ({finding.assumption}) {finding.text}", style=""))
    if report.zeros is not None:
        console.print(Text("zeros   ", style="bold") + Text(report.zeros, style=""))


def _mean_rates(model: Model) -> dict[str, float] | None:
    """Return the rates of both rules averaged over the hypotheses; one alone has none."""
    if model.num_hypotheses == 1:
        return None
    from cobayes.theory.rates import rate_of_convergence

    return {rule: float(rate_of_convergence(model, rule=rule).mean()) for rule in ("bi", "scbi")}


def _rate_rows(rates: dict[str, float] | None, matrix: str) -> list[tuple[str, str]]:
    if rates is None:
        return []
    numbers = (
        f"{name} {'infinite' if rates[key] == float('inf') else f'{rates[key]:.4g}'}"
        for key, name in (("bi", "BI"), ("scbi", "SCBI"))
    )
    shown = f"{', '.join(numbers)} per round"
    return [("mean rates", f"{shown} (each one: cobayes rates {matrix})")]


def _range(sums: list[float]) -> str:
    low, high = min(sums), max(sums)
    if high - low < 1e-9:
        return f"{low:.6g} each"
    return f"{low:.6g} to {high:.6g} (both rules normalise them)"
