"""The theorems on consistency and rates, and the invariants behind them, on matrices at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.stability_cases import in_symbols
from cobayes.paper.theorem_claims import (
    CONSISTENCY,
    RATES,
    UNIFORM,
    Destinations,
    MeasuredRate,
    full_rate,
    judge_atoms,
    judge_consistency,
    judge_destinations,
    judge_invariants,
    judge_mixture,
    judge_rates,
)
from cobayes.paper.theorem_experiments import (
    MAX_UNIFORM_ROUNDS,
    MIXTURE_ROUNDS,
    RULES,
    SETTLED,
    UNIFORM_PRIORS,
    models_of,
    slope_of,
    theorem_experiment,
    without_relevant,
)
from cobayes.report.claims import about
from cobayes.report.data_table import DataTable, column
from cobayes.report.prose import read_prose, written_section
from cobayes.report.section import Context, Picture, Section, Table
from cobayes.rules import BI, SCBI
from cobayes.runs import RunResult
from cobayes.theory.rates import rate_of_convergence


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("slopes of the log-odds, invariants, learners under uniform data")
    models = models_of(context)
    result = context.run(theorem_experiment(context))
    rates = [
        _measured(result, f"rate, {name}, {rule}", name, rule, model, hypothesis, None)
        for name, (model, hypothesis) in models.items()
        for rule in RULES
    ]
    model, hypothesis = models["M_1"]
    excluded = [
        _measured(
            result,
            f"rate without the relevant hypothesis, M_1, {rule}",
            "M_1, relevant hypothesis excluded",
            rule,
            model,
            hypothesis,
            without_relevant(model, hypothesis, rule),
        )
        for rule in RULES
    ]
    reports = {name: result[f"invariants, {name}"].statistics for name in models}
    ends = [
        Destinations(
            name,
            np.array(prior),
            np.asarray(found["counts"]),
            int(found["unsettled"]),
        )
        for name, prior in UNIFORM_PRIORS.items()
        for found in [result[f"uniform data, {name}"].statistics]
    ]
    mixture = result["any true distribution"].statistics
    num_rounds = result[f"rate, {next(iter(models))}, BI"].parameters["num_rounds"]
    slopes, invariants = _pictures(rates, reports)
    return written_section(
        read_prose("cobayes.paper.prose", "theorems"),
        values={
            "num_rounds": num_rounds,
            "excluded": " and ".join(
                f"{rate.theory:.4f} instead of {full_rate(rates, rate.rule):.4f} for {rate.rule} "
                f"(lessons: {rate.value:.4f} ± {rate.stderr:.4f})"
                for rate in excluded
            ),
            "mixture": mixture,
            "mixture_rounds": f"{MIXTURE_ROUNDS:,}",
            "mixture_distance": f"{mixture['apart'] / mixture['count']:.2f}",
        },
        parts={
            "rates": slopes,
            "invariants": invariants,
            "rate-table": _rates_table([*rates, *excluded]),
            "ends": _ends_table(ends),
        },
        data=(_data([*rates, *excluded]),),
        claims=(
            *about(
                CONSISTENCY,
                *(judge_consistency(rates, rule) for rule in RULES),
                judge_mixture(mixture),
                *judge_invariants(reports, (0, 1)),
                judge_atoms(result["atoms"].statistics),
            ),
            *about(RATES, *judge_rates([*rates, *excluded])),
            *about(UNIFORM, judge_destinations(ends), *judge_invariants(reports, (2, 3))),
        ),
        sizes=f"{rates[0].num_lessons} lessons of {num_rounds} rounds for each of "
        f"{len(rates) + len(excluded)} slopes; {int(ends[0].counts.sum()) + ends[0].num_unsettled} "
        f"learners under uniform data for each of {len(ends)} matrices.",
    )


def _measured(
    result: RunResult,
    point: str,
    name: str,
    rule: str,
    model: Any,
    hypothesis: int,
    prior: NDArray[np.float64] | None,
) -> MeasuredRate:
    found = result[point].statistics
    slope = slope_of(found)
    own = BI(model) if rule == "BI" else SCBI(model)
    return MeasuredRate(
        name,
        rule,
        float(rate_of_convergence(own, hypothesis, prior=prior)),
        slope.value,
        slope.stderr,
        int(found["count"]),
        int(found["sure"]),
    )


def _pictures(rates: Sequence[MeasuredRate], reports: Mapping[str, Any]) -> tuple[Picture, Picture]:
    from matplotlib.figure import Figure

    from cobayes.plots.house import (
        GREY,
        HYPOTHESIS_COLORS,
        count_in_whole_numbers,
        line_style,
        tidy,
    )

    slopes, invariants = (Figure(figsize=(4.8, 3.4), layout="constrained") for _ in range(2))
    ax = slopes.subplots()
    top = 1.08 * max(rate.theory for rate in rates)
    ax.plot((0.0, top), (0.0, top), color=GREY, linewidth=0.8)
    for rule in RULES:
        own = [rate for rate in rates if rate.rule == rule]
        style = {**line_style(rule, 0), "linestyle": "none"}
        ax.errorbar(
            [rate.theory for rate in own],
            [rate.value for rate in own],
            yerr=[2.0 * rate.stderr for rate in own],
            label=rule,
            markersize=5,
            markerfacecolor="none",
            **style,
        )
    ax.set_xlabel("rate by the theorem, nats per round")
    ax.set_ylabel("slope in lessons")
    ax.legend(frameon=False)
    tidy(ax)
    ax = invariants.subplots()
    for position, (name, report) in enumerate(list(reports.items())[1:6]):
        ax.plot(
            report["mean_belief"],
            label=_shown(name),
            color=HYPOTHESIS_COLORS[position],
            marker="os^Dv"[position],
            markersize=4,
        )
    ax.set_xlabel("round")
    ax.set_ylabel("exact mean of θ(h)")
    count_in_whole_numbers(ax)
    ax.legend(frameon=False, fontsize=8.5)
    tidy(ax)
    away = max(abs(rate.value - rate.theory) / rate.stderr for rate in rates)
    return (
        Picture(
            "rates",
            slopes,
            f"Slope of the log-odds in lessons against the theorem, {len(rates)} cases; bars are "
            "two standard errors, the line is equality.",
            f"Points on the diagonal from {min(rate.theory for rate in rates):.3f} to "
            f"{max(rate.theory for rate in rates):.3f}; none is further off than {away:.1f} "
            "standard errors.",
        ),
        Picture(
            "invariants",
            invariants,
            "The mean belief in the truth while it is taught by SCBI, exactly, on the "
            "supplement’s five matrices: it never falls.",
            "Five rising curves of the mean belief in the truth from one third upwards.",
        ),
    )


def _rates_table(rates: Sequence[MeasuredRate]) -> Table:
    by_matrix: dict[str, list[MeasuredRate]] = {}
    for rate in rates:
        by_matrix.setdefault(rate.matrix, []).append(rate)
    return Table(
        "Rates of convergence, nats per round (± standard error).",
        ("matrix", "BI, theory", "BI, lessons", "SCBI, theory", "SCBI, lessons"),
        tuple(
            (
                _shown(name),
                *(
                    text
                    for rate in pair
                    for text in (f"{rate.theory:.5f}", f"{rate.value:.5f} ± {rate.stderr:.5f}")
                ),
            )
            for name, pair in by_matrix.items()
        ),
    )


def _shown(name: str) -> str:
    """Return a matrix's name as text shows it: symbols for the paper's."""
    first, comma, rest = name.partition(",")
    return (in_symbols(first) if first.startswith("M") else first) + comma + rest


def _ends_table(ends: Sequence[Destinations]) -> Table:
    rows = []
    for end in ends:
        total = end.counts.sum()
        shares = end.counts / total
        errors = np.sqrt(shares * (1.0 - shares) / total)
        rows.append(
            (
                _shown(end.matrix),
                ", ".join(f"{value:g}" for value in end.prior),
                ", ".join(f"{a:.3f} ± {b:.3f}" for a, b in zip(shares, errors, strict=True)),
                str(end.num_unsettled),
            )
        )
    return Table(
        "Where SCBI learners end under uniform random data: followed until they are sure of "
        f"something (belief above 1 − {SETTLED:g}), at most {MAX_UNIFORM_ROUNDS:,} rounds.",
        ("matrix", "prior", "share that ends there", "unsettled"),
        tuple(rows),
    )


def _data(rates: Sequence[MeasuredRate]) -> DataTable:
    unit = "nats per round"
    return DataTable(
        "theorems",
        "Rates of convergence in theory and in lessons",
        (
            column("matrix", [rate.matrix for rate in rates], "the matrix", is_key=True),
            column("rule", [rate.rule for rate in rates], "BI or SCBI", is_key=True),
            column("theory", [rate.theory for rate in rates], "rate by the theorem", unit),
            column("measured", [rate.value for rate in rates], "slope in lessons", unit),
            column("stderr", [rate.stderr for rate in rates], "its standard error", unit),
            column("num_lessons", [rate.num_lessons for rate in rates], "lessons", "lessons"),
            column(
                "num_sure",
                [rate.num_sure for rate in rates],
                "of them with a belief in the truth above 0.99 at the end",
                "lessons",
            ),
        ),
    )
