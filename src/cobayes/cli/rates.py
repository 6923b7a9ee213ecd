"""``cobayes rates``: how fast the truth is learnt in the long run, by each rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cobayes.cli import inputs, options, terminal
from cobayes.cli.app import command

if TYPE_CHECKING:
    from cobayes.random_matrices.compare import RateComparison
    from cobayes.rules import Rule


@command(
    "cobayes rates world.csv",
    "cobayes rates world.csv --rule pragmatic --depth 2",
    "cobayes rates example:diagnosis --samples 1000000 --seed 1",
)
@options.matrix
@options.option(
    "--hypothesis",
    "-H",
    metavar="LABEL",
    help="Show this hypothesis alone: its label, or its position counted from 0 (default: all).",
)
@options.rule("both")
@options.data_prior
@options.count(
    "--samples",
    least=2,
    help="Also compare the rules on this many random matrices of the same shape (default: none).",
)
@options.new_seed
@options.smooth
@options.as_json
def rates(
    matrix: str,
    hypothesis: str | None,
    samples: int | None,
    seed: int | None,
    smooth: float | None,
    as_json: bool,
    **rule: Any,
) -> None:
    """Show the asymptotic rates: by how much a round raises the log-odds of the truth.

    For every hypothesis, the rate of each rule when it is taught, in nats (natural logarithms) per
    round, and the other hypothesis that is hardest to tell from it, which sets the rate.
    """
    model, example = inputs.load_matrix(matrix, smooth)
    rules = inputs.make_rules(model, **rule)
    table = [_rates_of(rules, position) for position in range(model.num_hypotheses)]
    if hypothesis is not None:
        table = [table[inputs.find_hypothesis(hypothesis, model, example)]]
    comparison = None
    used_seed = inputs.choose_seed(seed)
    if samples is not None:
        from cobayes.random_matrices.compare import compare_rates

        with terminal.patience(f"drawing {samples:,} random matrices"):
            comparison = compare_rates(*model.shape, samples, rng=used_seed)
    if as_json:
        drawn = None if comparison is None else {**comparison.to_dict(), "seed": used_seed}
        terminal.show_json({"matrix": matrix, "rates": table, "random_matrices": drawn})
        return
    _show_rates(table, rules)
    if comparison is not None:
        _show_comparison(comparison)
        if seed is None:
            terminal.say_seed(used_seed, "draw the same matrices")


def _rates_of(rules: list[Rule], position: int) -> dict[str, Any]:
    from cobayes.theory.rates import rate_of_convergence, relevant_hypothesis

    labels = rules[0].model.hypotheses
    found: dict[str, Any] = {"hypothesis": labels[position]}
    for rule in rules:
        rate = float(rate_of_convergence(rule, position))
        # An infinite rate has no such hypothesis: some datum rules each of them out.
        rival = None
        if rate < float("inf"):
            rival = labels[int(relevant_hypothesis(rule, position))]
        found[rule.name.lower()] = {"rate": rate, "relevant_hypothesis": rival}
    return found


def _show_rates(table: list[dict[str, Any]], rules: list[Rule]) -> None:
    names = {rule.name.lower(): rule.title for rule in rules}
    columns = [("taught", "<")]
    for name in names.values():
        columns += [(name, ">"), ("hardest to tell", "<")]
    if len(names) == 2:
        columns.append((" / ".join(reversed(list(names.values()))), ">"))
    rows = []
    for entry in table:
        row = [entry["hypothesis"]]
        for key in names:
            row += [f"{entry[key]['rate']:.5g}", entry[key]["relevant_hypothesis"] or "-"]
        if len(names) == 2:
            low, high = (entry[key]["rate"] for key in names)
            row.append(f"{high / low:.3g}" if 0.0 < low < float("inf") else "-")
        rows.append(row)
    terminal.show_table("asymptotic rates, nats per round", columns, rows)
    if len(table) > 1:
        means = {
            name: sum(e[key]["rate"] for e in table) / len(table) for key, name in names.items()
        }
        text = ", ".join(f"{name} {mean:.5g}" for name, mean in means.items())
        terminal.show(f"mean rate over the hypotheses: {text}")
    if any(entry[key]["rate"] == float("inf") for entry in table for key in names):
        terminal.show_text(
            "inf: each other hypothesis is ruled out for good by some datum that is shown for the "
            "taught one."
        )


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
