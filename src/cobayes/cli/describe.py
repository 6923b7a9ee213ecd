"""``cobayes info`` and ``cobayes examples``: describe a matrix, and list the built-in examples."""

from __future__ import annotations

from typing import Any

from cobayes._input.labels import shorten
from cobayes._output import shape_in_words
from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.errors import CobayesError
from cobayes.example_library import Example
from cobayes.example_library import examples as library
from cobayes.model import Model
from cobayes.reading import EXAMPLE_PREFIX
from cobayes.rules import BI, SCBI
from cobayes.theory.rates import rate_of_convergence


@options.command("cobayes info world.csv", "cobayes info example:M_3 --json")
@options.matrix
@options.prior
@options.smooth
@options.as_json
def info(given: Given) -> None:
    """Describe a matrix: shape, labels, the paper's assumptions (i) to (iv), zeros and rates."""
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
        numbers = ", ".join(f"{name.upper()} {rate:.4g}" for name, rate in rates.items())
        more = f"(for each hypothesis: cobayes rates {given.matrix})"
        facts.append(("mean rates", f"{numbers} nats per round {more}"))
    terminal.show_facts(given.example.title if given.example else given.matrix, facts)
    for finding in report.findings:
        is_met = finding.status == "holds"
        word, color = ("ok", "green") if is_met else ("warning", "red")
        mark = terminal.paint(f"{word:<8}", fg=color)
        terminal.show_text(f"({finding.assumption}) {finding.text}", mark)
    if report.zeros is not None:
        terminal.show_text(report.zeros, "zeros   ")


def _mean_rates(model: Model) -> dict[str, float] | None:
    """Return each rule's mean rate over the hypotheses; None for a single hypothesis."""
    if model.num_hypotheses == 1:
        return None
    rules = {"bi": BI(model), "scbi": SCBI(model)}
    return {name: float(rate_of_convergence(rule).mean()) for name, rule in rules.items()}


def _range(low: float, high: float) -> str:
    if high - low < 1e-9:
        return f"{low:.6g} each"
    return f"{low:.6g} to {high:.6g} (both rules normalise the columns)"


@options.command("cobayes examples", "cobayes examples diagnosis --csv diagnosis.csv")
@options.argument("name", required=False, help="The example to show (default: list all).")
@options.as_json
@options.output("--csv", help="Write the matrix to a CSV file.")
@options.raw
def examples(given: Given) -> None:
    """List the built-in examples, show one of them, or write its matrix to a file."""
    if given.name is None:
        if given.csv is not None:
            raise CobayesError(
                "--csv needs the name of an example.",
                "write, for instance: cobayes examples diagnosis --csv FILE",
            )
        if given.as_json:
            terminal.show_json([_summary(example) for example in library.values()])
            return
        rows = [
            [name, "{} x {}".format(*one.model.shape), one.title] for name, one in library.items()
        ]
        terminal.show_table(None, [("name", "<"), ("size", ">"), ("what it is", "<")], rows)
        terminal.show("Commands accept example:NAME as a matrix (M1 and M1p mean M_1 and M'_1).")
        return
    example = library[given.name.removeprefix(EXAMPLE_PREFIX)]
    if given.csv is not None:
        example.model.to_csv(given.csv, raw=given.raw)
        terminal.say(f"wrote {given.csv}")
    if given.as_json:
        priors = {key: values.tolist() for key, values in example.priors.items()}
        more = {"description": example.description, **example.model.to_dict(), "priors": priors}
        terminal.show_json({**_summary(example), **more})
    elif given.csv is None:
        _show_example(example)


def _summary(example: Example) -> dict[str, Any]:
    return {
        "name": example.name,
        "title": example.title,
        "num_data": example.model.num_data,
        "num_hypotheses": example.model.num_hypotheses,
        "hypothesis": example.hypothesis,
    }


def _show_example(example: Example) -> None:
    terminal.show(example.title, bold=True)
    terminal.show_text(example.description)
    model = example.model
    rows = [
        [datum, *(f"{value:.4g}" for value in row)]
        for datum, row in zip(model.data, model.matrix, strict=True)
    ]
    terminal.show_table(None, [("", "<"), *((name, ">") for name in model.hypotheses)], rows)
    for name, values in example.priors.items():
        terminal.show(f"prior {name}: {', '.join(f'{value:.4g}' for value in values)}")
    terminal.show(f"teaches: {example.hypothesis}")
