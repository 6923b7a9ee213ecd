"""``cobayes rates``: the asymptotic rates of convergence of the rules."""

from __future__ import annotations

from typing import Any

from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.random_matrices.sampling import RateComparison, compare_rates
from cobayes.rules import Rule
from cobayes.theory.rates import rate_of_convergence, relevant_hypothesis


@options.command(
    "cobayes rates world.csv",
    "cobayes rates world.csv --rule pragmatic --depth 2",
    "cobayes rates example:diagnosis --samples 1000000 --seed 1",
)
@options.matrix
@options.hypothesis("all")
@options.rule("both")
@options.data_prior
@options.count(
    "--samples",
    least=2,
    help="Number of random matrices of the same shape for a comparison of SCBI with BI.",
)
@options.seed()
@options.smooth
@options.as_json
def rates(given: Given) -> None:
    """Show the asymptotic rates: the growth of the log-odds of the truth per round.

    The table has a row for each taught hypothesis: the rate of each rule, in nats (natural
    logarithms) per round, and the rival that determines the rate (the other hypothesis that is
    hardest to exclude).
    """
    model, rules = given.model, given.rules_on(given.model)
    chosen = range(model.num_hypotheses) if given.hypothesis is None else [given.target]
    table = [_rates_of(rules, position) for position in chosen]
    comparison = None
    if given.samples is not None:
        with terminal.patience(f"drawing {given.samples:,} random matrices"):
            comparison = compare_rates(*model.shape, given.samples, rng=given.used_seed)
    drawn = None if comparison is None else comparison.to_dict() | {"seed": given.used_seed}
    content = {"rates": table, "random_matrices": drawn}
    given.finish(content, lambda: _show(table, rules, comparison))


def _rates_of(rules: list[Rule], position: int) -> dict[str, Any]:
    labels = rules[0].model.hypotheses
    found: dict[str, Any] = {"hypothesis": labels[position]}
    for rule in rules:
        rate = float(rate_of_convergence(rule, position))
        # The rate is infinite if data of the taught hypothesis exclude every other hypothesis.
        rival = labels[int(relevant_hypothesis(rule, position))] if rate < float("inf") else None
        found[rule.name.lower()] = {"rate": rate, "relevant_hypothesis": rival}
    return found


def _show(
    table: list[dict[str, Any]], rules: list[Rule], comparison: RateComparison | None
) -> None:
    names = {rule.name.lower(): rule.title for rule in rules}
    columns = [("taught", "<")]
    for name in names.values():
        columns += [(name, ">"), ("rival", "<")]
    if len(names) == 2:
        columns.append((" / ".join(reversed(list(names.values()))), ">"))
    rows = []
    for entry in table:
        row = [entry["hypothesis"]]
        for key in names:
            row += [f"{entry[key]['rate']:.5g}", entry[key]["relevant_hypothesis"] or "-"]
        if len(names) == 2:
            bi, scbi = (entry[key]["rate"] for key in names)
            row.append(f"{scbi / bi:.3g}" if 0.0 < bi < float("inf") else "-")
        rows.append(row)
    terminal.show_table("asymptotic rates, nats per round", columns, rows)
    if len(table) > 1:
        means = [sum(entry[key]["rate"] for entry in table) / len(table) for key in names]
        pairs = zip(names.values(), means, strict=True)
        text = ", ".join(f"{name} {mean:.5g}" for name, mean in pairs)
        terminal.show(f"mean rate over the hypotheses: {text}")
    if any(entry[key]["rate"] == float("inf") for entry in table for key in names):
        terminal.show_text("inf: data of the taught hypothesis exclude every other hypothesis.")
    if comparison is not None:
        _show_comparison(comparison)


def _show_comparison(found: RateComparison) -> None:
    low, high = found.probability_interval
    shape = f"{found.num_data} x {found.num_hypotheses}"
    terminal.show(f"\n{found.num_samples:,} random {shape} matrices:")
    terminal.show(
        f"  P, SCBI at least as fast as BI: {found.probability:.6g} "
        f"({found.confidence:.0%} interval {low:.6g} to {high:.6g})"
    )
    terminal.show(
        f"  E, mean of SCBI's rate minus BI's: {found.advantage:.6g} ± {found.advantage_stderr:.2g}"
    )
