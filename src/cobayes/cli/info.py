"""``cobayes info``: shape and labels of a matrix, the paper's assumptions, rates of convergence."""

from __future__ import annotations

from cobayes._input.labels import shorten
from cobayes._output import shape_in_words
from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.model import Model
from cobayes.rules import BI, SCBI
from cobayes.theory.rates import rate_of_convergence


@options.command("cobayes info world.csv", "cobayes info example:M_3 --json")
@options.matrix
@options.prior
@options.smooth
@options.as_json
def info(given: Given) -> None:
    """Describe a matrix: shape, labels, the paper's assumptions (i) to (iv), zeros, mean rates."""
    model, report = given.model, given.model.check(given.assumed)
    sums, rates = model.matrix.sum(axis=0), _mean_rates(model)
    if given.as_json:
        given.show_json(
            {
                "num_data": model.num_data,
                "num_hypotheses": model.num_hypotheses,
                "data": list(model.data),
                "hypotheses": list(model.hypotheses),
                "smallest_entry": float(model.matrix.min()),
                "largest_entry": float(model.matrix.max()),
                "column_sums": sums.tolist(),
                "assumptions": [vars(finding) for finding in report.findings],
                "holds": report.holds,
                "zeros": report.zeros,
                "mean_rates": rates,
            }
        )
        return
    facts = [
        ("shape", shape_in_words(*model.shape)),
        ("data", shorten(model.data)),
        ("hypotheses", shorten(model.hypotheses)),
        ("entries", f"{model.matrix.min():.4g} to {model.matrix.max():.4g}"),
        ("column sums", _range(float(sums.min()), float(sums.max()))),
    ]
    if rates is not None:
        numbers = ", ".join(
            f"{name.upper()} {'infinite' if rate == float('inf') else f'{rate:.4g}'}"
            for name, rate in rates.items()
        )
        each = f"(each: cobayes rates {given.matrix})"
        facts.append(("mean rates", f"{numbers} nats per round {each}"))
    terminal.show_facts(given.example.title if given.example else given.matrix, facts)
    for finding in report.findings:
        is_met = finding.status == "holds"
        mark = terminal.paint(
            f"{'ok' if is_met else 'warning':<8}", fg="green" if is_met else "red"
        )
        terminal.show_text(f"({finding.assumption}) {finding.text}", mark)
    if report.zeros is not None:
        terminal.show_text(report.zeros, "zeros   ")


def _mean_rates(model: Model) -> dict[str, float] | None:
    """Return the mean rates of both rules over the hypotheses; none for a single hypothesis."""
    if model.num_hypotheses == 1:
        return None
    rules = {"bi": BI(model), "scbi": SCBI(model)}
    return {name: float(rate_of_convergence(rule).mean()) for name, rule in rules.items()}


def _range(low: float, high: float) -> str:
    if high - low < 1e-9:
        return f"{low:.6g} each"
    return f"{low:.6g} to {high:.6g} (both rules normalise them)"
