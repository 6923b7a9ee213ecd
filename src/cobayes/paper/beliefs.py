"""Figure 3: beliefs on random 20 x 20 matrices after 5 rounds, exactly, and after 30, simulated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._intervals import exact_interval
from cobayes.lessons import simulate
from cobayes.paper.common import new_figure, write_section
from cobayes.plots.house import BLUE, INK, ORANGE, tidy
from cobayes.report.claims import (
    SURE,
    Claim,
    Verdict,
    about,
    family_quantile,
    student_quantile,
)
from cobayes.report.section import Context, Section, Table
from cobayes.rules import BI, SCBI
from cobayes.runs import Estimate, Experiment, Point, RunResult, concatenate, mean_estimate
from cobayes.theory.exact import exact_rounds

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

TOPIC = "Section 4.2: the first rounds"
SIZE, NUM_LESSONS = 20, 2000
COLUMNS = ("mean_bi", "std_bi", "mean_scbi", "std_scbi")
QUANTITIES = {"mean": "mean belief in the truth", "std": "sd of the belief in the truth"}
PARTS = {"exact": (5, 300, 24, 1), "simulated": (30, 500, 60, 5)}
"""Rounds; matrices in the paper, at quick scale, and per shard (a second or two on one core)."""


# --- Experiments -----------------------------------------------------------------------------


def beliefs_experiment(context: Context, part: str) -> Experiment:
    """Return the experiment of the upper panels, "exact", or of the lower ones, "simulated"."""
    num_rounds, paper, quick, per_shard = PARTS[part]
    num_matrices = context.setting(
        f"num_matrices_{part}", context.count(paper, at_least=2, quick=quick)
    )
    parameters = {
        "part": part,
        "size": context.setting("size", SIZE),
        "num_rounds": context.setting(f"num_rounds_{part}", num_rounds),
    }
    if part == "simulated":
        parameters["num_lessons"] = context.setting("num_lessons", NUM_LESSONS)
    point = Point(part, parameters, num_matrices, per_shard)
    functions: dict[str, Any] = {"estimate": beliefs_estimate, "reduce": concatenate}
    return Experiment(f"beliefs-{part}", (point,), beliefs_shard, seed=context.seed, **functions)


def beliefs_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw matrices; return mean and sd of the belief in the truth under both rules.

    Parameters
    ----------
    parameters
        "part" ("exact" or "simulated"), "size", "num_rounds"; "num_lessons" where simulated.
    seed_sequence
        The shard's own.
    num_samples
        Number of matrices.
    """
    rows = []
    for seed in seed_sequence.spawn(num_samples):
        first, *others = seed.spawn(3)
        matrix = random_matrix(np.random.default_rng(first), parameters["size"])
        row = []
        for rule, own in zip((BI(matrix), SCBI(matrix)), others, strict=True):
            if parameters["part"] == "exact":
                found = exact_rounds(rule, 0, parameters["num_rounds"])
                row += [found.mean[-1], found.std[-1]]
            else:
                counts: dict[str, Any] = {
                    name: parameters[name] for name in ("num_rounds", "num_lessons")
                }
                rng = np.random.default_rng(own)
                lessons = simulate(rule, 0, rng=rng, keep_paths=False, **counts)
                row += [lessons.mean()[-1], lessons.std()[-1]]
        rows.append(row)
    return dict(zip(COLUMNS, np.array(rows).T.copy(), strict=True))


def random_matrix(rng: np.random.Generator, size: int = SIZE) -> Array:
    """Return a square matrix whose columns are uniform on the simplex."""
    return rng.dirichlet(np.ones(size), size).T


def beliefs_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate by how much SCBI's mean and sd exceed BI's, on average over matrices."""
    found = {}
    for name in QUANTITIES:
        ahead = np.asarray(statistics[f"{name}_scbi"]) - np.asarray(statistics[f"{name}_bi"])
        found[f"{name}, SCBI less BI"] = mean_estimate(len(ahead), ahead.sum(), (ahead**2).sum())
    return found


# --- Numbers and claims ----------------------------------------------------------------------


def beliefs_table(result: RunResult) -> pd.DataFrame:
    """Return a row per matrix; no lessons where the numbers are exact."""
    import pandas as pd

    (point,) = result.points
    table = pd.DataFrame({name: np.asarray(point.statistics[name]) for name in COLUMNS})
    table.insert(0, "num_rounds", point.parameters["num_rounds"])
    table.insert(1, "matrix", np.arange(len(table)))
    table.insert(2, "num_lessons", point.parameters.get("num_lessons", 0))
    return table


def judge_figure_3(exact: pd.DataFrame, simulated: pd.DataFrame) -> tuple[Claim, ...]:
    """Judge what the paper reads off its four panels."""
    claims = []
    for quantity, statement, quote, side in (
        ("mean", "SCBI’s mean belief in the truth is higher", "better expectation", "left"),
        ("std", "SCBI has less variance", "less variance in the short run", "right"),
    ):
        for beliefs, place in ((exact, "top"), (simulated, "bottom")):
            ahead = beliefs[f"{quantity}_scbi"] - beliefs[f"{quantity}_bi"]
            claims.append(
                judge_average(
                    f"After {beliefs.num_rounds[0]} rounds {statement}",
                    f"Section 4.2, “{quote}”; Figure 3, {place} {side}",
                    (ahead if quantity == "mean" else -ahead).to_numpy(),
                    _noise(beliefs, quantity),
                    "SCBI less BI is"
                    if quantity == "mean"
                    else "standard deviation, BI less SCBI, is",
                )
            )
    return about(TOPIC, *claims)


def judge_average(
    statement: str, source: str, differences: Array, noise: Array, what: str
) -> Claim:
    """Judge that differences are positive on average over random matrices.

    Parameters
    ----------
    statement, source
        See `Claim`.
    differences, noise
        One per matrix, and their standard errors; zero where they are exact.
    what
        The difference in words.
    """
    count, mean = len(differences), float(differences.mean())
    stderr = float(differences.std(ddof=1)) / np.sqrt(count)
    reach = student_quantile(1, count - 1) * stderr
    against = int((differences < -family_quantile(count) * noise).sum())
    verdict: Verdict = "not decided"
    if mean < -reach:
        verdict = "does not hold"
    elif mean > reach:
        verdict = "holds except" if against else "holds"
    positive = int((differences > 0.0).sum())
    low, high = exact_interval(positive, count, 0.95)
    return Claim(
        statement,
        source,
        verdict,
        f"{what} {mean:.3g} on average; above zero in {positive} of {count} matrices "
        f"({100 * positive / count:.1f} %), below zero beyond its noise in {against}",
        f"±\u00a0{stderr:.2g} (standard error); share of all matrices above zero "
        f"{100 * low:.1f} to {100 * high:.1f} % (95 %)",
        f"the {SURE} interval of the average (Student’s t) lies above zero; “except” where single "
        "matrices go the other way beyond their noise",
    )


def _noise(beliefs: pd.DataFrame, quantity: str) -> Array:
    """Return standard errors of the differences between the rules, or upper bounds of them."""
    if not beliefs.num_lessons[0]:
        return np.zeros(len(beliefs))
    variances = np.zeros(len(beliefs))
    for rule in ("bi", "scbi"):
        mean, std = beliefs[f"mean_{rule}"].to_numpy(), beliefs[f"std_{rule}"].to_numpy()
        if quantity == "mean":
            variances += std**2
        else:
            # Beliefs near certainty jump between almost 0 and almost 1: of the fourth moment only
            # m4 <= std^2 * largest is known, and Var(s) is (m4 - s^4) / (4 N s^2).
            largest = np.maximum(mean, 1.0 - mean) ** 2
            variances += np.maximum(largest - std**2, 0.0) / 4.0
    return np.sqrt(variances / beliefs.num_lessons.to_numpy())


# --- Section and pictures --------------------------------------------------------------------


def build(context: Context) -> Section:
    """Build the section."""
    import pandas as pd

    context.tell("exact distributions after 5 rounds, and simulated lessons of 30")
    plans = [beliefs_experiment(context, part) for part in PARTS]
    both = [beliefs_table(run) for run in context.run_all([(plan, plan.name) for plan in plans])]
    exact, simulated = both
    return write_section(
        "figure-3",
        values={"size": plans[0].points[0].parameters["size"], "panels": both},
        figures={
            f"figure-3-round-{beliefs.num_rounds[0]}-{name}": _panel(beliefs, name)
            for beliefs in both
            for name in QUANTITIES
        },
        tables={"averages": _averages(both)},
        data={"figure-3": pd.concat(both)},
        claims=judge_figure_3(exact, simulated),
        sizes=f"{len(exact)} matrices exactly after {exact.num_rounds[0]} rounds; {len(simulated)} "
        f"matrices with {simulated.num_lessons[0]} lessons of {simulated.num_rounds[0]} rounds "
        "each for both rules.",
    )


def _averages(both: list[pd.DataFrame]) -> Table:
    rows = []
    for beliefs in both:
        for name, what in QUANTITIES.items():
            bi, scbi = beliefs[f"{name}_bi"], beliefs[f"{name}_scbi"]
            ahead = scbi - bi
            means = f"{bi.mean():.4f}", f"{scbi.mean():.4f}"
            difference = f"{ahead.mean():.4f} ± {ahead.sem():.4f}"
            share = f"{100 * (ahead > 0).mean():.1f} % of {len(ahead)}"
            rows.append((str(beliefs.num_rounds[0]), what, *means, difference, share))
    header = ("rounds", "quantity", "BI", "SCBI", "SCBI less BI", "above the diagonal")
    return Table("Averages over the matrices (± standard error).", header, tuple(rows))


def _panel(beliefs: pd.DataFrame, name: str) -> Figure:
    """Draw a point per matrix, BI to the right and SCBI upwards, with the diagonal."""
    bi, scbi = beliefs[f"{name}_bi"], beliefs[f"{name}_scbi"]
    figure = new_figure(4.4, 4.2)
    ax = figure.subplots()
    low, high = min(bi.min(), scbi.min()), max(bi.max(), scbi.max())
    margin = 0.05 * (high - low or 1e-3)
    limits = (low - margin, high + margin)
    ax.plot(limits, limits, color=ORANGE, linewidth=1.5, zorder=1)
    ax.scatter(bi, scbi, s=14, color=BLUE, alpha=0.55, linewidths=0, zorder=2)
    # Next to the diagonal's ends there is always room.
    share = f"above: {100 * (scbi > bi).mean():.1f} % of {len(bi)}"
    ax.text(0.03, 0.97, share, transform=ax.transAxes, va="top", fontsize=9, color=INK)
    what = QUANTITIES[name]
    ax.set(xlim=limits, ylim=limits, aspect="equal", xlabel=f"BI: {what}", ylabel=f"SCBI: {what}")
    tidy(ax)
    return figure
