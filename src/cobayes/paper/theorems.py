"""The theorems on rates and the invariants behind them, measured on matrices at hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cobayes.example_library import examples
from cobayes.model import Model
from cobayes.paper.belief_experiments import random_matrix
from cobayes.report.claims import Claim, judge_agreement, judge_exact
from cobayes.report.data_table import DataTable, column
from cobayes.report.section import Context, Picture, Section, Table
from cobayes.rules import BI, SCBI, BeliefState
from cobayes.theory.empirical import empirical_rate
from cobayes.theory.invariants import InvariantReport, check_invariants
from cobayes.theory.rates import rate_of_convergence

EXAMPLES = ("supplement-2x2", "M_1", "M_2", "M_3", "M_4", "M_5", "M'_1", "diagnosis", "gestures")
RANDOM_SIZES = (4, 8)

# Long enough for two hypotheses with nearly the same rate to part: the slope is an asymptotic one.
FULL_NUM_ROUNDS, QUICK_NUM_ROUNDS = 8000, 4000
FULL_NUM_LESSONS, QUICK_NUM_LESSONS = 2000, 200

UNIFORM_PRIORS = {"M_2": (0.5, 0.3, 0.2), "M_3": (0.2, 0.2, 0.6), "M'_1": (0.1, 0.2, 0.3, 0.4)}
MAX_UNIFORM_ROUNDS, _ROUNDS_BETWEEN_LOOKS = 20_000, 100
FULL_NUM_LEARNERS, QUICK_NUM_LEARNERS = 20_000, 4096
_SETTLED = 1e-5


@dataclass(frozen=True)
class MeasuredRate:
    """A rate of convergence in theory and in lessons."""

    matrix: str
    rule: str
    theory: float
    value: float
    stderr: float


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
    rate_seed, matrix_seed, uniform_seed = context.seeds().spawn(3)
    models = _models(matrix_seed)
    num_lessons = context.count(FULL_NUM_LESSONS, at_least=20, quick=QUICK_NUM_LESSONS)
    num_rounds = QUICK_NUM_ROUNDS if context.is_quick else FULL_NUM_ROUNDS
    context.tell(f"slopes of the log-odds, {num_lessons} lessons of {num_rounds} rounds each")
    rates = _measure_rates(models, num_rounds, num_lessons, rate_seed)
    context.tell("invariants, exactly")
    reports = {
        name: check_invariants(model, hypothesis) for name, (model, hypothesis) in models.items()
    }
    num_learners = context.count(FULL_NUM_LEARNERS, at_least=500, quick=QUICK_NUM_LEARNERS)
    context.tell(f"{num_learners} learners under uniform data")
    ends = _destinations(num_learners, uniform_seed)
    return Section(
        title="Theorems: rates and invariants",
        blocks=(
            "The log-odds of the truth grow in the end by a fixed amount a round, the rate of "
            "convergence: for BI the smallest Kullback-Leibler divergence between the column of "
            "the truth and another one (Theorem 3.2), for SCBI the same after all rows are "
            "divided by the column of the truth (Theorem 3.6). Below, the slope in simulated "
            f"lessons between rounds {num_rounds // 2} and {num_rounds}, beside the theory.",
            *_pictures(rates, reports),
            _rates_table(rates),
            "The proof of consistency rests on two invariants: while h is taught the mean of θ(h) "
            "never falls, and the mean of θ(h′)/θ(h) stays what it was. Proposition 5.1 says that "
            "under uniform random data the mean belief stays where it was while every single "
            "belief goes to certainty, so that a learner ends at hypothesis i with the "
            "probability that the prior gives to i.",
            _ends_table(ends),
        ),
        data=(_data(rates),),
        claims=(*_judge_rates(rates), *_judge_invariants(reports), _judge_destinations(ends)),
        sizes=f"{num_lessons} lessons of {num_rounds} rounds for each of {len(rates)} slopes; "
        f"{num_learners} learners under uniform data for each of {len(ends)} matrices.",
    )


def _models(seed: np.random.SeedSequence) -> dict[str, tuple[Model, int]]:
    found = {
        name: (
            examples[name].model,
            examples[name].model.hypothesis_index(examples[name].hypothesis),
        )
        for name in EXAMPLES
    }
    rng = np.random.default_rng(seed)
    for size in RANDOM_SIZES:
        found[f"random {size}x{size}"] = (Model(random_matrix(rng, size)), 0)
    return found


def _measure_rates(
    models: dict[str, tuple[Model, int]],
    num_rounds: int,
    num_lessons: int,
    seed: np.random.SeedSequence,
) -> list[MeasuredRate]:
    found = []
    seeds = iter(seed.spawn(2 * len(models)))
    for name, (model, hypothesis) in models.items():
        for rule in (BI(model), SCBI(model)):
            theory = rate_of_convergence(rule, hypothesis)
            measured = empirical_rate(
                rule,
                hypothesis,
                num_rounds=num_rounds,
                num_lessons=num_lessons,
                rng=np.random.default_rng(next(seeds)),
            )
            found.append(
                MeasuredRate(name, rule.name, float(theory), measured.value, measured.stderr)
            )
    return found


def _destinations(num_learners: int, seed: np.random.SeedSequence) -> list[Destinations]:
    found = []
    for (name, prior), own in zip(
        UNIFORM_PRIORS.items(), seed.spawn(len(UNIFORM_PRIORS)), strict=True
    ):
        rule = SCBI(examples[name])
        rng = np.random.default_rng(own)
        beliefs = BeliefState.from_logs(np.log(prior), num_learners)
        responses = None
        counts = np.zeros(len(prior), dtype=np.int64)
        for _ in range(MAX_UNIFORM_ROUNDS // _ROUNDS_BETWEEN_LOOKS):
            for _ in range(_ROUNDS_BETWEEN_LOOKS):
                responses = rule.respond_many(beliefs, responses)
                data = rng.integers(rule.model.num_data, size=beliefs.size)
                beliefs = responses.observe(data)
            found_beliefs = beliefs.beliefs
            is_settled = found_beliefs.max(axis=1) > 1.0 - _SETTLED
            settled = found_beliefs[is_settled].argmax(axis=1)
            counts += np.bincount(settled, minlength=len(prior))
            if is_settled.all():
                break
            # Those that are sure stay so; the others go on.
            if responses is not None:
                responses = responses.keep(np.flatnonzero(~is_settled))
                beliefs = responses.beliefs
        unsettled = num_learners - int(counts.sum())
        found.append(Destinations(name, np.array(prior), counts, unsettled))
    return found


def _judge_rates(rates: list[MeasuredRate]) -> tuple[Claim, ...]:
    claims = []
    for rule, theorem in (("BI", "Theorem 3.2"), ("SCBI", "Theorem 3.6")):
        own = [rate for rate in rates if rate.rule == rule]
        claims.append(
            judge_agreement(
                f"The log-odds of the truth under {rule} grow at the rate of the theorem",
                theorem,
                [rate.value for rate in own],
                [rate.stderr for rate in own],
                [rate.theory for rate in own],
                what="slope in lessons less theory",
            )
        )
    return tuple(claims)


def _judge_invariants(reports: dict[str, InvariantReport]) -> tuple[Claim, ...]:
    rounds = [report.num_rounds for report in reports.values()]
    claims = []
    for position, (statement, source) in enumerate(
        (
            ("The mean of θ(h) never falls while h is taught", "Proof of Theorem 3.5"),
            ("The mean of θ(h′)/θ(h) is constant while h is taught", "Proof of Theorem 3.5"),
            ("Under uniform data the mean belief is constant", "Proposition 5.1, proof"),
            ("Under uniform data beliefs move outwards on average", "Proposition 5.1, proof"),
        )
    ):
        checked = [report.invariants[position] for report in reports.values()]
        worst = max(invariant.deviation for invariant in checked)
        claims.append(
            judge_exact(
                statement,
                source,
                worst,
                checked[0].tolerance,
                f"largest violation {worst:.1g} on {len(checked)} matrices, {min(rounds)} to "
                f"{max(rounds)} rounds",
            )
        )
    return tuple(claims)


def _judge_destinations(ends: list[Destinations]) -> Claim:
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
        what=f"share of learners less prior ({unsettled} unsettled)",
    )


def _pictures(
    rates: list[MeasuredRate], reports: dict[str, InvariantReport]
) -> tuple[Picture, Picture]:
    from matplotlib.figure import Figure

    from cobayes.plots.style import (
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
    for rule in ("BI", "SCBI"):
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
    ax.set_xlabel("rate by the theorem, nats a round")
    ax.set_ylabel("slope in lessons")
    ax.legend(frameon=False)
    tidy(ax)
    ax = invariants.subplots()
    for position, (name, report) in enumerate(list(reports.items())[1:6]):
        ax.plot(
            report.mean_belief,
            label=name,
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


def _rates_table(rates: list[MeasuredRate]) -> Table:
    by_matrix: dict[str, list[MeasuredRate]] = {}
    for rate in rates:
        by_matrix.setdefault(rate.matrix, []).append(rate)
    return Table(
        "Rates of convergence, nats a round (± standard error).",
        ("matrix", "BI, theory", "BI, lessons", "SCBI, theory", "SCBI, lessons"),
        tuple(
            (
                name,
                *(
                    text
                    for rate in pair
                    for text in (f"{rate.theory:.5f}", f"{rate.value:.5f} ± {rate.stderr:.5f}")
                ),
            )
            for name, pair in by_matrix.items()
        ),
    )


def _ends_table(ends: list[Destinations]) -> Table:
    rows = []
    for end in ends:
        total = end.counts.sum()
        shares = end.counts / total
        errors = np.sqrt(shares * (1.0 - shares) / total)
        rows.append(
            (
                end.matrix,
                ", ".join(f"{value:g}" for value in end.prior),
                ", ".join(f"{a:.3f} ± {b:.3f}" for a, b in zip(shares, errors, strict=True)),
                str(end.num_unsettled),
            )
        )
    return Table(
        "Where SCBI learners end under uniform random data: followed until they are sure of "
        f"something (belief above 1 − {_SETTLED:g}), at most {MAX_UNIFORM_ROUNDS:,} rounds.",
        ("matrix", "prior", "share that ends there", "unsettled"),
        tuple(rows),
    )


def _data(rates: list[MeasuredRate]) -> DataTable:
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
        ),
    )
