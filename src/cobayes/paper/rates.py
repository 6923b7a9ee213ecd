"""Figure 2: how often, and by how much, SCBI is faster than BI on random matrices.

The mean rate of a rule on a matrix is the mean of its rates over the hypotheses. P is the
probability that SCBI's mean rate is at least BI's. E is the expected value of SCBI's mean rate
minus BI's. An exception is a matrix on which BI's mean rate is higher than SCBI's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._intervals import exact_interval, proportion_stderr
from cobayes.paper.common import draw_points, new_axes, share_intervals, words, write_section
from cobayes.paper.rare import PAPER_SQUARES, QUICK_SQUARES, splitting_experiment, splitting_table
from cobayes.plots.house import BLUE, GREEN, GREY, INK
from cobayes.random_matrices.sampling import expected_advantage, sample_rates_chunk
from cobayes.report.claims import (
    ERROR_RATE,
    Claim,
    Verdict,
    family_quantile,
    judge_agreement,
    judge_interval,
    judge_order,
    verdict_of,
)
from cobayes.report.section import Context, Section
from cobayes.runs import Estimate, Experiment, Point, RunResult, mean_estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

PAPER_SAMPLES = {"n-by-2": 10**10, "10-by-m": 10**8, "n-by-n": PAPER_SQUARES}
QUICK_SAMPLES = {"n-by-2": 2_000_000, "10-by-m": 500_000, "n-by-n": QUICK_SQUARES}
SHAPES = {
    "n-by-2": tuple((n, 2) for n in range(2, 51)),
    "10-by-m": tuple((10, m) for m in range(2, 11)),
    "n-by-n": tuple((n, n) for n in range(2, 51)),
}
"""The three families of Figure 2: (number of data, number of hypotheses)."""

PANELS = {"n-by-2": "AB", "10-by-m": "CD", "n-by-n": "EF"}
# Seconds per entry of a matrix, and seconds per pair of entries in one row. Measured on one core by
# `cobayes reproduce figure-2`; used only for the size of shards.
_SECONDS_PER_ENTRY = {"n-by-2": 3e-9, "10-by-m": 7e-9, "n-by-n": 7e-9}
_SECONDS_PER_PAIR = 2e-10
_SHARD_SECONDS = 1.5

# Our limits for words that the paper does not quantify.
_STRAIGHT = 0.25  # "straight": largest accepted |late / early - 1| of the slopes of `_two_slopes`
_SLOWLY = 0.5  # "slowly": smallest accepted ratio of E at the last size to E at the first
_MEAN_LIMIT = 0.003  # largest accepted |sampled mean - claimed mean|, in nats per round

# The paper saw no exception among its square matrices from n = 18 on.
_FIRST_WITHOUT = 18
# From this n on, the claim "P grows, n x n" uses multilevel splitting instead of sampling.
_SPLIT_FROM = 8


# --- Experiments -----------------------------------------------------------------------------


def rates_experiment(context: Context, family: str) -> Experiment:
    """Return the experiment of one family of shapes."""
    default = context.count(PAPER_SAMPLES[family], at_least=100, quick=QUICK_SAMPLES[family])
    num_samples = context.setting(f"num_samples_{family.replace('-', '_')}", default)
    points = []
    for n, m in SHAPES[family]:
        given, per_shard = {"num_data": n, "num_hypotheses": m}, _samples_per_shard(family, n, m)
        points.append(Point(f"{n} x {m}", given, num_samples, per_shard))
    functions: dict[str, Any] = {"shard": rates_shard, "estimate": rates_estimate}
    return Experiment(f"rates-{family}", points, seed=context.seed, **functions)


def rates_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw matrices of one shape, "num_data" x "num_hypotheses"; return sums of both rates."""
    shape = parameters["num_data"], parameters["num_hypotheses"]
    return sample_rates_chunk(*shape, num_samples, seed_sequence)


def rates_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate P and E from a point's sums."""
    count, fine = int(statistics["count"]), int(statistics["count_not_slower"])
    return {
        "P": Estimate(fine / count, proportion_stderr(fine, count)),
        "E": _mean_of(statistics, "difference"),
    }


def _samples_per_shard(family: str, num_data: int, num_hypotheses: int) -> int:
    """Return how many matrices (1, 2 or 5 times 10^k) a shard computes in at most about 1.5 s."""
    cost = num_data * num_hypotheses * _SECONDS_PER_ENTRY[family]
    if num_hypotheses > 2:
        cost += num_data * num_hypotheses**2 * _SECONDS_PER_PAIR
    wanted = _SHARD_SECONDS / cost
    power = 10 ** math.floor(math.log10(wanted))
    return max(step * power for step in (1, 2, 5) if step * power <= wanted)


# --- Numbers ---------------------------------------------------------------------------------


def rates_table(family: str, result: RunResult) -> pd.DataFrame:
    """Return a table of P, E and the mean rates, with a row for each shape of a family."""
    import pandas as pd

    rows = {}
    for point in result:
        found, (n, m) = point.statistics, point.parameters.values()
        count = int(found["count"])
        exceptions = count - int(found["count_not_slower"])
        share = exceptions / count
        low, high = exact_interval(exceptions, count, 0.95)
        row = {
            "family": family,
            "num_data": n,
            "num_hypotheses": m,
            "size": m if family == "10-by-m" else n,
            "num_samples": count,
            "num_exceptions": exceptions,
            "probability": 1.0 - share,
            "probability_stderr": proportion_stderr(exceptions, count),
            "exception_low": low,
            "exception_high": high,
            "minus_log": -math.log(share) if exceptions else math.inf,
            "minus_log_stderr": math.sqrt((1 - share) / exceptions) if exceptions else math.nan,
            "advantage_exact": expected_advantage(n) if m == 2 else math.nan,
        }
        for name, key in (("advantage", "difference"), ("mean_bi", "bi"), ("mean_scbi", "scbi")):
            mean = _mean_of(found, key)
            row[name], row[f"{name}_stderr"] = mean.value, mean.stderr
        rows[f"{n} × {m}"] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def _mean_of(statistics: Mapping[str, Any], key: str) -> Estimate:
    sums = (statistics[f"sum_{key}"], statistics[f"sum_squared_{key}"])
    return mean_estimate(statistics["count"], *sums)


# --- Claims ----------------------------------------------------------------------------------


def judge_figure_2(families: Mapping[str, pd.DataFrame], split: pd.DataFrame) -> tuple[Claim, ...]:
    """Judge every claim about Figure 2."""
    import pandas as pd

    two, ten, square = (families[name] for name in SHAPES)
    every = pd.concat(families.values())
    low, high = share_intervals(every.num_exceptions, every.num_samples)
    margin = family_quantile(len(every)) * every.advantage_stderr
    shapes: dict[str, Any] = {"names": list(every.index), "places": "shapes"}
    nats: dict[str, Any] = {"within": _MEAN_LIMIT, "unit": " nats per round"}
    return (
        judge_interval(
            **words("P above one half"),
            **shapes,
            low=1.0 - high,
            high=1.0 - low,
            above=0.5,
            values=every.probability,
            what="P",
        ),
        judge_interval(
            **words("E above zero"),
            **shapes,
            low=every.advantage - margin,
            high=every.advantage + margin,
            above=0.0,
            what="E",
        ),
        _judge_order("P grows, n x 2", two, "probability"),
        _judge_order("E grows, n x 2", two.assign(advantage_exact_stderr=0.0), "advantage_exact"),
        judge_agreement(
            **words("mean rate of BI"),
            **nats,
            values=two.mean_bi,
            stderrs=two.mean_bi_stderr,
            expected=(two.num_data - 1) / two.num_data,
            what="sampled mean rate minus (n − 1)/n",
        ),
        judge_agreement(
            **words("E is the integral"),
            **nats,
            values=two.advantage,
            stderrs=two.advantage_stderr,
            expected=two.advantage_exact,
            what="sampled E minus the exact E",
        ),
        _judge_order("P grows, 10 x m", ten, "probability"),
        _judge_order("E falls, 10 x m", ten, "advantage", rises=False),
        _judge_slow_decay(ten),
        _judge_growth_of_squares(square, split),
        _judge_order("E grows, n x n", square, "advantage"),
        judge_no_exceptions(square, split),
        judge_logistic(two, ten, split),
    )


def _judge_order(
    claim: str, rates: Any, column: str, *, rises: bool = True, what: str = ""
) -> Claim:
    numbers = {"values": rates[column], "stderrs": rates[f"{column}_stderr"]}
    names, what = list(rates.index), what or claim[0]
    return judge_order(**words(claim), **numbers, names=names, rises=rises, what=what)


def _judge_slow_decay(ten: pd.DataFrame) -> Claim:
    """Judge the claim that E decays slowly with m, by the ratio of the last E to the first E."""
    first, last = ten.iloc[0], ten.iloc[-1]
    left = last.advantage / first.advantage
    noise = math.hypot(*(row.advantage_stderr / row.advantage for row in (first, last)))
    reach = family_quantile(1) * left * noise
    sizes = {"first": first.name, "last": last.name}
    text = words("E decays slowly", left=left, reach=reach, limit=_SLOWLY, **sizes)
    return judge_interval(**text, low=left - reach, high=left + reach, above=_SLOWLY)


def _judge_growth_of_squares(square: pd.DataFrame, split: pd.DataFrame) -> Claim:
    """Judge the claim that P grows with n for n x n matrices, by estimates of -ln(1 - P).

    The estimates come from sampling for n below `_SPLIT_FROM`, else from multilevel splitting.
    """
    import pandas as pd

    small = square[(square["size"] < _SPLIT_FROM) & (square.num_exceptions > 0)]
    large = split[split["size"] >= _SPLIT_FROM]
    both = pd.concat([small, large])
    claim = _judge_order("P grows, n x n", both, "minus_log", what="−ln(1 − P)")
    sampled, by_splitting = (", ".join(map(str, part["size"])) for part in (small, large))
    where = f"Judged at {len(both)} of the {len(square)} sizes: n = {sampled} by sampling"
    return replace(claim, measured=f"{claim.measured}. {where}, n = {by_splitting} by splitting")


def judge_no_exceptions(square: pd.DataFrame, split: pd.DataFrame) -> Claim:
    """Judge the claim that 10^8 samples of each n x n shape with n > 17 contain no exception."""
    beyond = square[square["size"] >= _FIRST_WITHOUT]
    seen = int(beyond.num_exceptions.sum())
    # Above the largest size in `split`, 1 - P of that size is used. This is an upper bound if 1 - P
    # falls with n.
    sizes = np.arange(_FIRST_WITHOUT - 1, square["size"].to_numpy().max() + 1)
    at_17, *later = PAPER_SQUARES * np.exp(-np.interp(sizes, split["size"], split.minus_log))
    error = float(np.interp(_FIRST_WITHOUT, split["size"], split.minus_log_stderr))
    factor = math.exp(family_quantile(1) * error)
    low, high = (math.exp(-sum(later) * f) for f in (factor, 1.0 / factor))
    numbers = {"seen": seen, "matrices": beyond.num_samples.sum(), "first": _FIRST_WITHOUT}
    numbers |= {"expected": sum(later), "at_17": at_17, "factor": factor, "chances": (low, high)}
    is_fine = [low >= ERROR_RATE and seen == 0], [high < ERROR_RATE or seen > 0]
    return Claim(verdict=verdict_of(*is_fine), **words("no exceptions", **numbers))


def judge_logistic(two: pd.DataFrame, ten: pd.DataFrame, split: pd.DataFrame) -> Claim:
    """Judge the claim that P tends to 1 logistically: -ln(1 - P) is linear in the size."""
    families = {"n × 2": two, "10 × m": ten, "n × n": split}
    slopes = {name: _two_slopes(table) for name, table in families.items()}
    known = {name: each for name, each in slopes.items() if math.isfinite(sum(each))}
    early, late, noise = np.array([*known.values()]).reshape(-1, 3).T
    bends = np.abs(late / early - 1.0)
    reach = family_quantile(max(len(known), 1)) * noise / np.abs(early)
    inside, outside = bends + reach < _STRAIGHT, bends - reach > _STRAIGHT
    verdict: Verdict = "not decided"
    if len(known) == len(families) and inside.all():
        verdict = "holds"
    elif outside.any():
        # The paper says "in all situations". One family without a straight curve contradicts it.
        verdict = "holds except" if inside.any() else "does not hold"
    return Claim(verdict=verdict, **words("P grows logistically", known=known, limit=_STRAIGHT))


def _two_slopes(table: pd.DataFrame) -> tuple[float, float, float]:
    """Return the slopes of -ln(1 - P) over the first and over the second half of the sizes.

    The third number is the standard error of the difference of the slopes.
    """
    at = [0, len(table) // 2, len(table) - 1]
    columns = ["size", "minus_log", "minus_log_stderr"]
    sizes, values, errors = table[columns].to_numpy(dtype=float)[at].T
    first, second = 1.0 / np.diff(sizes)
    with np.errstate(invalid="ignore"):  # inf - inf if no exception was sampled
        early, late = np.diff(values) / np.diff(sizes)
    # The middle value is part of both slopes.
    noise = np.linalg.norm(errors * [first, first + second, second])
    return float(early), float(late), float(noise)


# --- Section ---------------------------------------------------------------------------------


def build(context: Context) -> Section:
    """Build the section of Figure 2."""
    import pandas as pd

    context.tell("random matrices of three families of shapes, and multilevel splitting")
    plans = [*(rates_experiment(context, name) for name in SHAPES), splitting_experiment(context)]
    *sampled, splitting = context.run_all([(plan, plan.name) for plan in plans])
    families = {name: rates_table(name, run) for name, run in zip(SHAPES, sampled, strict=True)}
    split, square = splitting_table(splitting), families["n-by-n"]
    by_splitting = split[["minus_log", "minus_log_stderr"]].add_prefix("splitting_")
    families["n-by-n"] = square.join(by_splitting)
    every = pd.concat(families.values())
    panels = {name: _panels(families[name], *letters) for name, letters in PANELS.items()}
    both = every[(every.num_exceptions >= 5) & every.splitting_minus_log.notna()].tail(2)
    return write_section(
        "figure-2",
        values={
            "families": families,
            "panels": PANELS,
            "every": every,
            "both": both,
            "split": split,
            "splitting": splitting.points[0],
            "Estimate": Estimate,
        },
        figures={
            **{name: figure for each in panels.values() for name, figure in each.items()},
            "figure-2F-extended": _extended(square, split),
        },
        data={"figure-2": every},
        claims=judge_figure_2(families, split),
    )


# --- Pictures --------------------------------------------------------------------------------

RED = "#B2182B"
"""The colour of E, as in the paper; dark enough to differ from P's blue in grey-scale print."""


def _panels(rates: pd.DataFrame, left: str, right: str) -> dict[str, Figure]:
    both, ax = new_axes(4.8, 3.2)
    exceptions, other = new_axes(4.8, 3.2)
    for column, color, marker, label in (
        ("probability", BLUE, "o", "P, share of matrices"),
        ("advantage", RED, "s", "E, nats per round"),
    ):
        errors = 2.0 * rates[f"{column}_stderr"]
        draw_points(ax, rates["size"], rates[column], errors, c=color, marker=marker, label=label)
    if rates.advantage_exact.notna().all():
        ax.plot(rates["size"], rates.advantage_exact, color=INK, lw=1.0, label="E, exact", zorder=3)
    ax.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    ax.set_ylim(0.0, 1.04)
    label_axes(ax, rates, "P and E")
    ax.legend(fontsize=8.5, loc="best")
    draw_exceptions(rates, other, with_limits=True)
    return {f"figure-2{left}": both, f"figure-2{right}": exceptions}


def draw_exceptions(rates: pd.DataFrame, ax: Axes, *, with_limits: bool = False) -> None:
    """Draw -ln(1 - P) with intervals; a lower bound if the sample has no exception."""
    size, value = rates["size"].to_numpy(), rates.minus_log.to_numpy()
    with np.errstate(divide="ignore"):
        low, high = -np.log(rates[["exception_high", "exception_low"]].to_numpy().T)
    seen = np.isfinite(value)
    bars = (value[seen] - low[seen], high[seen] - value[seen])
    label = "sampled, with 95 % interval"
    draw_points(ax, size[seen], value[seen], bars, color=BLUE, marker="o", label=label)
    if not seen.all():
        label = "no exception seen: lower bound (97.5 %)"
        ax.plot(size[~seen], low[~seen], "^", color=GREY, markersize=4, label=label)
    highest = 1.05 * float(np.concatenate([high[seen], low[~seen]]).max())
    most = math.log(rates.num_samples.iloc[0])
    for level, line, label in (
        (0.5 * most, "--", "paper's precision line, ln(N)/2"),
        (most, ":", "one exception in N, ln(N)"),
    ):
        if with_limits and level < highest:
            ax.axhline(level, color=RED, linewidth=1.0, linestyle=line, label=label)
    # Room for the legend above the points.
    ax.set_ylim(0.0, highest / (0.96 - 0.075 * len(ax.get_legend_handles_labels()[1])))
    label_axes(ax, rates, "−ln(1 − P)")
    ax.legend(fontsize=8, loc="upper left")


def _extended(square: pd.DataFrame, split: pd.DataFrame) -> Figure:
    figure, ax = new_axes(8.4, 3.6)
    draw_exceptions(square, ax)
    bars = (split.minus_log - split.low, split.high - split.minus_log)
    style = {"color": GREEN, "marker": "D", "markerfacecolor": "none", "markersize": 5}
    label = "multilevel splitting, not plain sampling"
    draw_points(ax, split["size"], split.minus_log, bars, label=label, **style)
    ax.legend(fontsize=8, loc="upper left")
    ax.set_ylim(0.0, 1.08 * split.high.max())
    return figure


def label_axes(ax: Axes, rates: pd.DataFrame, label: str) -> None:
    """Label the axes; put the ticks of the horizontal axis at integers only."""
    from matplotlib.ticker import MaxNLocator

    growing = "columns m" if rates.family.iloc[0] == "10-by-m" else "rows n"
    ax.set(xlabel=f"number of {growing}", ylabel=label)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
