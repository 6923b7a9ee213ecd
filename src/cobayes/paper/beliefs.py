"""Figure 3: beliefs on random 20 x 20 matrices, exact after 5 rounds and simulated after 30."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._intervals import exact_interval
from cobayes._output import percent
from cobayes.lessons import simulate
from cobayes.paper.common import new_axes, words, write_section
from cobayes.plots.house import BLUE, INK, ORANGE
from cobayes.report.claims import Claim, Verdict, family_quantile
from cobayes.report.section import Context, Section
from cobayes.rules import BI, SCBI
from cobayes.runs import Estimate, Experiment, Point, RunResult, concatenate, mean_estimate
from cobayes.theory.exact import exact_rounds

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

SIZE, NUM_LESSONS = 20, 2000
COLUMNS = ("mean_bi", "std_bi", "mean_scbi", "std_scbi")
QUANTITIES = {"mean": "mean belief in the truth", "std": "sd of the belief in the truth"}
PARTS = {"exact": (5, 300, 24, 1), "simulated": (30, 500, 60, 5)}
"""The number of rounds, and the numbers of matrices in the paper, at quick scale and per shard.

A shard takes 1 to 2 s."""


# --- Experiments -----------------------------------------------------------------------------


def beliefs_experiment(context: Context, part: str) -> Experiment:
    """Return the experiment of the upper panels, "exact", or of the lower panels, "simulated"."""
    num_rounds, paper, quick, per_shard = PARTS[part]
    count = context.count(paper, at_least=2, quick=quick)
    num_matrices = context.setting(f"num_matrices_{part}", count)
    parameters = {"part": part, "size": context.setting("size", SIZE)}
    parameters["num_rounds"] = context.setting(f"num_rounds_{part}", num_rounds)
    if part == "simulated":
        parameters["num_lessons"] = context.setting("num_lessons", NUM_LESSONS)
    point = Point(part, parameters, num_matrices, per_shard)
    functions: dict[str, Any] = {"estimate": beliefs_estimate, "reduce": concatenate}
    return Experiment(f"beliefs-{part}", (point,), beliefs_shard, seed=context.seed, **functions)


def beliefs_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw matrices; return for each the mean and sd of the belief in the truth under both rules.

    Parameters
    ----------
    parameters
        "part" ("exact" or "simulated"), "size", "num_rounds"; "num_lessons" if simulated.
    seed_sequence
        The seed of the shard.
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
                rng = np.random.default_rng(own)
                counts = {name: parameters[name] for name in ("num_rounds", "num_lessons")}
                lessons = simulate(rule, 0, rng=rng, keep_paths=False, **counts)
                row += [lessons.mean()[-1], lessons.std()[-1]]
        rows.append(row)
    return dict(zip(COLUMNS, np.array(rows).T.copy(), strict=True))


def random_matrix(rng: np.random.Generator, size: int) -> Array:
    """Return a square matrix whose columns are uniform on the simplex."""
    return rng.dirichlet(np.ones(size), size).T


def beliefs_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate SCBI minus BI, for the mean and the sd of the belief, averaged over matrices."""
    found = {}
    for name in QUANTITIES:
        ahead = np.asarray(statistics[f"{name}_scbi"]) - np.asarray(statistics[f"{name}_bi"])
        found[f"{name}, SCBI less BI"] = mean_estimate(len(ahead), ahead.sum(), (ahead**2).sum())
    return found


# --- Numbers and claims ----------------------------------------------------------------------


def beliefs_table(result: RunResult) -> pd.DataFrame:
    """Return one row per matrix; ``num_lessons`` is zero for exact numbers."""
    import pandas as pd

    (point,) = result.points
    table = pd.DataFrame({name: np.asarray(point.statistics[name]) for name in COLUMNS})
    given = {name: point.parameters.get(name, 0) for name in ("num_rounds", "num_lessons")}
    return table.assign(matrix=np.arange(len(table)), **given)


def judge_figure_3(exact: pd.DataFrame, simulated: pd.DataFrame) -> tuple[Claim, ...]:
    """Judge the paper's claims about the four panels of Figure 3."""
    return tuple(
        judge_average(claim, sign, place, beliefs)
        for claim, sign in (("mean is higher", 1.0), ("std is lower", -1.0))
        for place, beliefs in (("top", exact), ("bottom", simulated))
    )


def judge_average(claim: str, sign: float, place: str, beliefs: pd.DataFrame) -> Claim:
    """Judge the claim that SCBI's mean or sd of the belief is on average above, or below, BI's.

    Parameters
    ----------
    claim
        The claim's name in ``claims.md``; its first word is the quantity.
    sign
        1 if SCBI's value should be larger, -1 if smaller.
    place
        The row of panels in Figure 3 that shows `beliefs`, "top" or "bottom".
    beliefs
        The numbers of `beliefs_table`.
    """
    quantity, count = claim.partition(" ")[0], len(beliefs)
    ahead = sign * (beliefs[f"{quantity}_scbi"] - beliefs[f"{quantity}_bi"]).to_numpy()
    mean, stderr = ahead.mean(), ahead.std(ddof=1) / np.sqrt(count)
    reach = family_quantile(1, degrees=count - 1) * stderr
    against = int((ahead < -family_quantile(count, sides=1) * _noise(beliefs, quantity)).sum())
    verdict: Verdict = "not decided"
    if mean < -reach:
        verdict = "does not hold"
    elif mean > reach:
        verdict = "holds except" if against else "holds"
    positive = int((ahead > 0.0).sum())
    low, high = exact_interval(positive, count, 0.95)
    numbers = {"num_rounds": beliefs.num_rounds[0], "place": place, "mean": mean, "stderr": stderr}
    numbers |= {"positive": positive, "count": count, "against": against, "low": low, "high": high}
    return Claim(verdict=verdict, **words(claim, **numbers))


def _noise(beliefs: pd.DataFrame, quantity: str) -> Array:
    """Return the standard error of SCBI's value minus BI's, by matrix.

    For sds it is an upper bound.
    """
    if not beliefs.num_lessons[0]:
        return np.zeros(len(beliefs))
    variances = np.zeros(len(beliefs))
    for rule in ("bi", "scbi"):
        mean, std = beliefs[f"mean_{rule}"].to_numpy(), beliefs[f"std_{rule}"].to_numpy()
        if quantity == "mean":
            variances += std**2
        else:
            # The variance of the sd s of N beliefs is about (m4 - s^4) / (4 N s^2). The fourth
            # central moment m4 is at most s^2 times the largest squared deviation.
            largest = np.maximum(mean, 1.0 - mean) ** 2
            variances += np.maximum(largest - std**2, 0.0) / 4.0
    return np.sqrt(variances / beliefs.num_lessons.to_numpy())


# --- Section and pictures --------------------------------------------------------------------


def build(context: Context) -> Section:
    """Build the section."""
    import pandas as pd

    context.tell("exact distributions, and simulated lessons of more rounds")
    plans = [beliefs_experiment(context, part) for part in PARTS]
    both = [beliefs_table(run) for run in context.run_all([(plan, plan.name) for plan in plans])]
    figures = {
        f"figure-3-round-{beliefs.num_rounds[0]}-{name}": _panel(beliefs, name)
        for beliefs in both
        for name in QUANTITIES
    }
    size = plans[0].points[0].parameters["size"]
    return write_section(
        "figure-3",
        values={"size": size, "panels": both, "quantities": QUANTITIES},
        figures=figures,
        data={"figure-3": pd.concat(both)},
        claims=judge_figure_3(*both),
    )


def _panel(beliefs: pd.DataFrame, name: str) -> Figure:
    bi, scbi = beliefs[f"{name}_bi"], beliefs[f"{name}_scbi"]
    figure, ax = new_axes(4.4, 4.2)
    low, high = min(bi.min(), scbi.min()), max(bi.max(), scbi.max())
    margin = 0.05 * (high - low or 1e-3)
    limits = (low - margin, high + margin)
    ax.plot(limits, limits, color=ORANGE, linewidth=1.5, zorder=1)
    ax.scatter(bi, scbi, s=14, color=BLUE, alpha=0.55, linewidths=0, zorder=2)
    share = f"above: {percent(float(np.mean(scbi > bi)))} of {len(bi)}"
    ax.set_title(share, loc="left", fontsize=9, color=INK)
    what = QUANTITIES[name]
    ax.set(xlim=limits, ylim=limits, aspect="equal", xlabel=f"BI: {what}", ylabel=f"SCBI: {what}")
    return figure
