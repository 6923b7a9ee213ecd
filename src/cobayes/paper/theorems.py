"""The theorems on consistency and rates, and the invariants behind them, on matrices at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.stability_cases import in_symbols
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
from cobayes.report.claims import (
    ERROR_RATE,
    SURE,
    Claim,
    about,
    judge_agreement,
    judge_all_above,
    judge_exact,
    verdict_of,
)
from cobayes.report.data_table import DataTable, column
from cobayes.report.prose import read_prose, written_section
from cobayes.report.section import Context, Picture, Section, Table
from cobayes.rules import BI, SCBI
from cobayes.runs import RunResult
from cobayes.theory.rates import rate_of_convergence

CONSISTENCY = "Theorems 3.1 and 3.5: consistency"
RATES = "Theorems 3.2 and 3.6: rates of convergence"
UNIFORM = "Proposition 5.1: uniform data"

# A slope within this share of the theorem's rate agrees with it.
_RATE_LIMIT = 0.05
# So does a share of learners within this of the prior.
_SHARE_LIMIT = 0.05
# Convergence in probability: at the end at least this share of lessons has ended at the truth.
_SURE_SHARE = 0.95


@dataclass(frozen=True)
class MeasuredRate:
    """A rate of convergence in theory and in lessons, and how many lessons ended at the truth."""

    matrix: str
    rule: str
    theory: float
    value: float
    stderr: float
    num_lessons: int = 0
    num_sure: int = 0


@dataclass(frozen=True)
class Destinations:
    """Where learners end under uniform data.

    Attributes
    ----------
    matrix : str
        Its name.
    prior : ndarray
        Where all learners started.
    counts : ndarray
        How many ended at each hypothesis.
    num_unsettled : int
        How many were not yet sure of anything.
    """

    matrix: str
    prior: NDArray[np.float64]
    counts: NDArray[np.int64]
    num_unsettled: int


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
                f"{rate.theory:.4f} instead of {_full(rates, rate.rule):.4f} for {rate.rule} "
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
                _judge_mixture(mixture),
                *_judge_invariants(reports, (0, 1)),
                _judge_atoms(result["atoms"].statistics),
            ),
            *about(RATES, *judge_rates([*rates, *excluded])),
            *about(UNIFORM, judge_destinations(ends), *_judge_invariants(reports, (2, 3))),
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


def _full(rates: Sequence[MeasuredRate], rule: str) -> float:
    return next(rate.theory for rate in rates if rate.matrix == "M_1" and rate.rule == rule)


def judge_consistency(rates: Sequence[MeasuredRate], rule: str) -> Claim:
    """Judge that beliefs converge to the truth, in probability.

    Parameters
    ----------
    rates
        Rates of all matrices, for both rules.
    rule
        Which to judge.
    """
    from cobayes._intervals import exact_interval

    own = [rate for rate in rates if rate.rule == rule]
    intervals = [
        exact_interval(rate.num_sure, rate.num_lessons, 1.0 - ERROR_RATE / len(own)) for rate in own
    ]
    return judge_all_above(
        f"{rule} is consistent: the belief converges to the truth",
        "Theorem 3.1 (strongly)" if rule == "BI" else "Theorem 3.5 (in probability)",
        [rate.matrix for rate in own],
        [rate.num_sure / rate.num_lessons for rate in own],
        [low for low, _ in intervals],
        [high for _, high in intervals],
        _SURE_SHARE,
        what="share of lessons that end with a belief above 0.99",
        places="matrices",
    )


def judge_rates(rates: Sequence[MeasuredRate]) -> tuple[Claim, ...]:
    """Judge the theorems on rates, a claim for each rule.

    Parameters
    ----------
    rates
        In theory and in lessons.
    """
    claims = []
    for rule, theorem in (("BI", "Theorem 3.2"), ("SCBI", "Theorem 3.6")):
        own = [rate for rate in rates if rate.rule == rule]
        claims.append(
            judge_agreement(
                f"The log-odds of the truth under {rule} grow at the rate of the theorem, the "
                "minimum over the prior’s support",
                theorem,
                [rate.value for rate in own],
                [rate.stderr for rate in own],
                [rate.theory for rate in own],
                within=_RATE_LIMIT * np.array([rate.theory for rate in own]),
                what="slope in lessons less theory",
                unit=f" nats per round ({100 * _RATE_LIMIT:g} % of the rate)",
            )
        )
    return tuple(claims)


def _judge_invariants(reports: Mapping[str, Any], positions: Sequence[int]) -> tuple[Claim, ...]:
    statements = (
        ("The mean of θ(h) never falls while h is taught", "Proof of Theorem 3.5"),
        ("The mean of θ(h′)/θ(h) is constant while h is taught", "Proof of Theorem 3.5"),
        ("Under uniform data the mean belief is constant", "Proposition 5.1, proof"),
        ("Under uniform data beliefs move outwards on average", "Proposition 5.1, proof"),
    )
    rounds = [int(report["num_rounds"]) for report in reports.values()]
    tolerance = max(float(report["tolerance"]) for report in reports.values())
    claims = []
    for position in positions:
        worst = max(float(report["deviations"][position]) for report in reports.values())
        claims.append(
            judge_exact(
                *statements[position],
                worst,
                tolerance,
                f"largest violation {worst:.1g} on {len(reports)} matrices, {min(rounds)} to "
                f"{max(rounds)} rounds",
            )
        )
    return tuple(claims)


def judge_destinations(ends: Sequence[Destinations]) -> Claim:
    """Judge that learners end where the prior says, under uniform data.

    Parameters
    ----------
    ends
        One for each matrix.
    """
    shares = np.concatenate([end.counts / end.counts.sum() for end in ends])
    priors = np.concatenate([end.prior for end in ends])
    totals = np.concatenate([np.full(len(end.prior), end.counts.sum()) for end in ends])
    # Of every matrix one share follows from the others and must not be counted again.
    free = np.concatenate([np.arange(len(end.prior)) > 0 for end in ends])
    unsettled = sum(end.num_unsettled for end in ends)
    return judge_agreement(
        "Under uniform data a learner ends at hypothesis i with the prior probability of i",
        "Proposition 5.1",
        shares[free],
        np.sqrt(priors * (1.0 - priors) / totals)[free],
        priors[free],
        within=_SHARE_LIMIT,
        what=f"share of learners less prior ({unsettled} unsettled)",
    )


def _judge_mixture(found: Mapping[str, Any]) -> Claim:
    from cobayes._intervals import exact_interval

    count, away = int(found["count"]), int(found["away"])
    low, high = exact_interval(away, count, 1.0 - ERROR_RATE)
    return Claim(
        "BI with a general true distribution θ̂ is almost never consistent",
        "Remark after Theorem 3.1",
        verdict_of([low > 0.9], [high < 0.9]),
        f"{away} of {count} uniform θ̂ on M₃ end farther than 0.1 (L¹) from θ̂ after "
        f"{MIXTURE_ROUNDS:,} rounds; {int(found['at_corner'])} are certain of one hypothesis",
        f"{100 * low:.1f} to {100 * high:.1f} % of all θ̂ ({SURE})",
        "the interval of the share that ends elsewhere lies above 90 %, our reading of “almost "
        "never” in finitely many rounds",
    )


def _judge_atoms(found: Mapping[str, Any]) -> Claim:
    full = 3 ** np.arange(1, len(found["random"]) + 1)
    is_full = np.concatenate([np.asarray(found["random"]) == full])
    texts = (
        f"{', '.join(map(str, np.asarray(found[name])))} different beliefs after 1 to {len(full)} "
        f"rounds {where}"
        for name, where in (
            ("random", "on a random 3 × 3 matrix"),
            ("alike", "on one with two proportional rows"),
        )
    )
    alike_is_full = bool((np.asarray(found["alike"]) == full).all())
    return Claim(
        "After k rounds the distribution of beliefs has exactly nᵏ atoms",
        "Section 3.2",
        "does not hold" if not is_full.all() else "holds" if alike_is_full else "holds except",
        "; ".join(texts) + ". Rows that are proportional give the same posterior",
        "exact",
        "as many different beliefs as sequences of data; “except” where some matrices have fewer",
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
