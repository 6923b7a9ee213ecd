"""``cobayes rates``: how fast the truth is learnt in the long run, by each rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobayes.cli import inputs, options, output, progress

if TYPE_CHECKING:
    from cobayes.model import Model
    from cobayes.random_matrices.compare import RateComparison
    from cobayes.rules import Rule

EPILOG = (
    "Examples:\n\n"
    "cobayes rates world.csv\n\n"
    "cobayes rates world.csv --rule pragmatic --depth 2\n\n"
    "cobayes rates example:diagnosis --samples 1000000 --seed 1"
)


def rates(
    matrix: options.Matrix,
    hypothesis: Annotated[
        str | None,
        typer.Option(
            "--hypothesis",
            "-H",
            metavar="LABEL",
            help="Show this hypothesis alone: its label, or its position counted from 0 "
            "(default: all).",
        ),
    ] = None,
    rule: options.Rule = "both",
    depth: options.Depth = None,
    rationality: options.Rationality = None,
    literal: options.Literal = None,
    data_prior: options.DataPrior = None,
    samples: Annotated[
        int | None,
        options.count_option(
            "--samples",
            least=2,
            help="Also compare the rules on this many random matrices of the same shape "
            "(default: none).",
        ),
    ] = None,
    seed: options.Seed = None,
    smooth: options.Smooth = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the asymptotic rates: by how much a round raises the log-odds of the truth.

    For every hypothesis, the rate of each rule when it is taught, and the other hypothesis that is
    hardest to tell from it, which sets the rate.
    """
    model, example = inputs.load_matrix(matrix, smooth)
    rules = inputs.make_rules(
        rule, model, depth=depth, rationality=rationality, literal=literal, data_prior=data_prior
    )
    table = _rates_of(model, rules)
    if hypothesis is not None:
        table = [table[inputs.find_hypothesis(hypothesis, model, example)]]
    comparison = None
    used_seed = inputs.choose_seed(seed)
    if samples is not None:
        from cobayes.random_matrices.compare import compare_rates

        with progress.patience(f"drawing {samples:,} random matrices"):
            comparison = compare_rates(*model.shape, samples, rng=used_seed)
    if as_json:
        output.print_json(
            {
                "matrix": matrix,
                "rates": table,
                "random_matrices": None
                if comparison is None
                else {**comparison.to_dict(), "seed": used_seed},
            }
        )
        return
    _print_rates(table, rules)
    if comparison is not None:
        _print_comparison(comparison)
        if seed is None:
            output.say_seed(used_seed, "draw the same matrices")


def _rates_of(model: Model, rules: list[Rule]) -> list[dict[str, Any]]:
    from cobayes.theory.rates import rate_of_convergence, relevant_hypothesis

    columns = {
        rule.name.lower(): (rate_of_convergence(rule), relevant_hypothesis(rule)) for rule in rules
    }
    return [
        {
            "hypothesis": label,
            **{
                name: {
                    "rate": float(rate[position]),
                    # None sets an infinite rate: some datum rules each of them out.
                    "relevant_hypothesis": model.hypotheses[int(relevant[position])]
                    if rate[position] < float("inf")
                    else None,
                }
                for name, (rate, relevant) in columns.items()
            },
        }
        for position, label in enumerate(model.hypotheses)
    ]


def _print_rates(table: list[dict[str, Any]], rules: list[Rule]) -> None:
    from rich.text import Text

    names = [rule.title for rule in rules]
    keys = [rule.name.lower() for rule in rules]
    columns: list[tuple[str, output.Justification]] = [("taught", "left")]
    for name in names:
        columns.append((name, "right"))
        columns.append(("hardest to tell", "left"))
    if len(names) == 2:
        columns.append((f"{names[1]} / {names[0]}", "right"))
    shown = output.table("asymptotic rates, nats per round", columns)
    for row in table:
        found = [row[key] for key in keys]
        cells: list[str | Text] = [Text(row["hypothesis"])]
        for one in found:
            cells += [f"{one['rate']:.5g}", Text(one["relevant_hypothesis"] or "-")]
        if len(names) == 2:
            low, high = (one["rate"] for one in found)
            cells.append(f"{high / low:.3g}" if 0.0 < low < float("inf") else "-")
        shown.add_row(*cells)
    console = output.console()
    console.print(shown)
    if len(table) > 1:
        means = []
        for name, key in zip(names, keys, strict=True):
            mean = sum(row[key]["rate"] for row in table) / len(table)
            means.append(f"{name} {mean:.5g}")
        console.print("mean rate: " + ", ".join(means))
    if any(row[key]["rate"] == float("inf") for row in table for key in keys):
        console.print(
            "inf: each other hypothesis is ruled out for good by some datum that is shown for the "
            "taught one."
        )


def _print_comparison(comparison: RateComparison) -> None:
    low, high = comparison.probability_interval
    console = output.console()
    console.print(
        f"\n{comparison.num_samples:,} random {comparison.num_data} x "
        f"{comparison.num_hypotheses} matrices:"
    )
    console.print(
        f"  P, SCBI at least as fast as BI: {comparison.probability:.6g} "
        f"({comparison.confidence:.0%} interval {low:.6g} to {high:.6g})"
    )
    console.print(
        f"  E, mean of SCBI's rate minus BI's: {comparison.advantage:.6g} "
        f"± {comparison.advantage_stderr:.2g}"
    )
