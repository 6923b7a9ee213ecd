"""Figure 2: how often, and by how much, SCBI converges faster than BI on random matrices.

P is the probability that SCBI's mean rate is at least BI's, and E the mean of the difference. An
exception is a matrix on which BI's mean rate is the higher one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes._intervals import exact_interval, proportion_stderr
from cobayes.paper.common import new_figure, write_section
from cobayes.plots.house import BLUE, GREEN, GREY, INK, tidy
from cobayes.random_matrices.exact_two import expected_advantage
from cobayes.report.claims import (
    ERROR_RATE,
    SURE,
    Claim,
    Verdict,
    about,
    family_quantile,
    judge_agreement,
    judge_interval,
    judge_order,
    verdict_of,
)
from cobayes.report.section import Context, Section, Table
from cobayes.runs import Estimate, Experiment, Point, RunResult, concatenate, mean_estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOPIC = "Section 4.1: which rule is faster"

PAPER_SAMPLES = {"n-by-2": 10**10, "10-by-m": 10**8, "n-by-n": 10**8}
QUICK_SAMPLES = {"n-by-2": 2_000_000, "10-by-m": 500_000, "n-by-n": 50_000}
SHAPES = {
    "n-by-2": tuple((n, 2) for n in range(2, 51)),
    "10-by-m": tuple((10, m) for m in range(2, 11)),
    "n-by-n": tuple((n, n) for n in range(2, 51)),
}
"""The three families of Figure 2: (number of data, number of hypotheses)."""

# Seconds per entry of a matrix and per pair of entries on one core, measured by
# `cobayes reproduce figure-2`; used for the size of shards alone.
_SECONDS_PER_ENTRY = {"n-by-2": 3e-9, "10-by-m": 7e-9, "n-by-n": 7e-9}
_SECONDS_PER_PAIR = 2e-10
_SHARD_SECONDS = 1.5

SPLITTING_SIZES = (*range(6, 31, 2), 34, 38, 42, 46, 50)
QUICK_SPLITTING_SIZES = (6, 10, 14, 18, 22)
# A shard's pilot population is shared by its estimates; large squares take minutes for each.
_ESTIMATES_PER_SHARD, _LARGE_ESTIMATES_PER_SHARD, _LARGE = 5, 2, 22
_NUM_SWEEPS = 2

# Our readings of words that the paper gives no limit for.
_STRAIGHT = 0.25  # two slopes that differ by less, as a share, are one straight line
_SLOWLY = 0.5  # a quantity that keeps this share of itself decays slowly
_MEAN_LIMIT = 0.003  # agreement of means, in nats per round

_FIRST_WITHOUT = 18
_PAPER_SQUARES = 10**8
# From this size on exceptions among squares are counted by splitting, which sees rarer ones.
_SPLIT_FROM = 8


# --- Experiments -----------------------------------------------------------------------------


def rates_experiment(context: Context, family: str) -> Experiment:
    """Return the experiment of one family of shapes."""
    default = context.count(PAPER_SAMPLES[family], at_least=100, quick=QUICK_SAMPLES[family])
    num_samples = context.setting(f"num_samples_{family.replace('-', '_')}", default)
    points = tuple(
        Point(
            f"{n} x {m}",
            {"num_data": n, "num_hypotheses": m},
            num_samples,
            min(num_samples, _samples_per_shard(family, n, m)),
        )
        for n, m in SHAPES[family]
    )
    return Experiment(
        f"rates-{family}", points, rates_shard, seed=context.seed, estimate=rates_estimate
    )


def rates_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw matrices of one shape, "num_data" x "num_hypotheses"; return sums of both rates."""
    from cobayes.random_matrices.random_rates import sample_rates_chunk

    return sample_rates_chunk(
        parameters["num_data"], parameters["num_hypotheses"], num_samples, seed_sequence
    )


def rates_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate P and E from a point's sums."""
    count, fine = int(statistics["count"]), int(statistics["count_not_slower"])
    return {
        "P": Estimate(fine / count, proportion_stderr(fine, count)),
        "E": _mean_of(statistics, "difference"),
    }


def splitting_experiment(context: Context) -> Experiment:
    """Return the experiment that goes beyond what plain sampling of squares can see.

    The paper has no such experiment. At scale 1 there are 20 estimates of 1 - P for each size from
    populations of 256 matrices; fewer than ten estimates could not say how much they scatter.
    """
    estimates = context.setting("num_estimates", context.count(20, at_least=10, quick=10))
    particles = context.setting("num_particles", context.count(256, at_least=64, quick=128))
    points = tuple(
        Point(
            f"{n} x {n}",
            {"num_data": n, "num_particles": particles},
            estimates,
            _ESTIMATES_PER_SHARD if n <= _LARGE else _LARGE_ESTIMATES_PER_SHARD,
        )
        for n in (QUICK_SPLITTING_SIZES if context.is_quick else SPLITTING_SIZES)
    )
    functions: dict[str, Any] = {"estimate": splitting_estimate, "reduce": concatenate}
    return Experiment("splitting-n-by-n", points, splitting_shard, seed=context.seed, **functions)


def splitting_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Estimate 1 - P independently, `num_samples` times, by multilevel splitting.

    The estimates of a shard share the levels that a pilot population chose. Given the levels each
    is unbiased, so that estimates are uncorrelated within shards and across them.
    """
    from cobayes.paper.rare import exception_probabilities

    found = exception_probabilities(
        parameters["num_data"],
        parameters["num_data"],
        num_estimates=num_samples,
        num_particles=parameters["num_particles"],
        num_sweeps=_NUM_SWEEPS,
        rng=np.random.default_rng(seed_sequence),
    )
    return {"estimates": found}


def splitting_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate -ln(1 - P) from the estimates of 1 - P."""
    estimates = np.asarray(statistics["estimates"])
    mean = float(estimates.mean())
    error = float(estimates.std(ddof=1)) / math.sqrt(len(estimates))
    return {"-ln(1-P)": Estimate(-math.log(mean), error / mean)}


def _samples_per_shard(family: str, num_data: int, num_hypotheses: int) -> int:
    """Return how many matrices take about a second or two, rounded to 1, 2 or 5 times 10^k."""
    cost = num_data * num_hypotheses * _SECONDS_PER_ENTRY[family]
    if num_hypotheses > 2:
        cost += num_data * num_hypotheses**2 * _SECONDS_PER_PAIR
    wanted = _SHARD_SECONDS / cost
    power = 10 ** math.floor(math.log10(wanted))
    return max(step * power for step in (1, 2, 5) if step * power <= wanted)


# --- Numbers ---------------------------------------------------------------------------------


def rates_table(family: str, result: RunResult) -> pd.DataFrame:
    """Return P, E and the mean rates of a family; a row per shape, named after it."""
    rows, names = [], []
    for point in result:
        found, (n, m) = point.statistics, point.parameters.values()
        count = int(found["count"])
        exceptions = count - int(found["count_not_slower"])
        share = exceptions / count
        low, high = exact_interval(exceptions, count, 0.95)
        advantage, bi, scbi = (_mean_of(found, key) for key in ("difference", "bi", "scbi"))
        names.append(f"{n} × {m}")
        rows.append(
            {
                "family": family,
                "num_data": n,
                "num_hypotheses": m,
                "num_samples": count,
                "num_exceptions": exceptions,
                "probability": 1.0 - share,
                "probability_stderr": proportion_stderr(exceptions, count),
                "exception_low": low,
                "exception_high": high,
                "minus_log": -math.log(share) if exceptions else math.inf,
                "minus_log_stderr": math.sqrt((1 - share) / exceptions) if exceptions else math.nan,
                "advantage": advantage.value,
                "advantage_stderr": advantage.stderr,
                "advantage_exact": expected_advantage(n) if m == 2 else math.nan,
                "mean_bi": bi.value,
                "mean_bi_stderr": bi.stderr,
                "mean_scbi": scbi.value,
                "mean_scbi_stderr": scbi.stderr,
            }
        )
    import pandas as pd

    table = pd.DataFrame(rows, index=names)
    table["size"] = table["num_hypotheses" if family == "10-by-m" else "num_data"]
    return table


def splitting_table(result: RunResult) -> pd.DataFrame:
    """Return -ln(1 - P) of squares by splitting, with standard errors and 95 % intervals."""
    import pandas as pd
    from scipy.special import stdtrit

    found = [splitting_estimate(point.statistics, {})["-ln(1-P)"] for point in result]
    table = pd.DataFrame(
        {
            "size": [point.parameters["num_data"] for point in result],
            "minus_log": [estimate.value for estimate in found],
            "minus_log_stderr": [estimate.stderr for estimate in found],
        },
        index=[
            f"{point.parameters['num_data']} × {point.parameters['num_data']}" for point in result
        ],
    )
    margin = stdtrit(result.points[0].num_samples - 1, 0.975) * table.minus_log_stderr
    table["low"], table["high"] = table.minus_log - margin, table.minus_log + margin
    return table


def minus_log_interval(rates: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the intervals for -ln(1 - P); infinite without exceptions."""
    with np.errstate(divide="ignore"):
        return -np.log(rates.exception_high.to_numpy()), -np.log(rates.exception_low.to_numpy())


def _mean_of(statistics: Mapping[str, Any], key: str) -> Estimate:
    sums = (statistics[f"sum_{key}"], statistics[f"sum_squared_{key}"])
    return mean_estimate(statistics["count"], *sums)


# --- Claims ----------------------------------------------------------------------------------


def judge_figure_2(families: Mapping[str, pd.DataFrame], split: pd.DataFrame) -> tuple[Claim, ...]:
    """Judge every claim that Figure 2 bears on."""
    two, ten, square = (families[name] for name in SHAPES)
    return about(
        TOPIC,
        *_judge_all_shapes(families),
        _judge_order("P grows with n for n × 2 matrices", "Figure 2 A, B", two, "probability"),
        judge_order(
            "E grows with n for n × 2 matrices",
            "Figure 2 A",
            list(two.index),
            two.advantage_exact,
            rises=True,
            what="E",
        ),
        judge_agreement(
            "The mean rate of BI on n × 2 matrices is (n − 1)/n",
            "Supplement, Section 2",
            two.mean_bi,
            two.mean_bi_stderr,
            (two.num_data - 1) / two.num_data,
            within=_MEAN_LIMIT,
            what="sampled mean rate less (n − 1)/n",
            unit=" nats per round",
        ),
        judge_agreement(
            "E for n × 2 matrices is the integral that the paper samples",
            "Supplement, Section 2",
            two.advantage,
            two.advantage_stderr,
            two.advantage_exact,
            within=_MEAN_LIMIT,
            what="sampled E less our closed form of it",
            unit=" nats per round",
        ),
        _judge_order("P grows with m for 10 × m matrices", "Figure 2 C, D", ten, "probability"),
        _judge_order("E falls with m for 10 × m matrices", "Figure 2 C", ten, "advantage", False),
        _judge_slow_decay(ten),
        _judge_growth_of_squares(square, split),
        _judge_order("E grows with n for n × n matrices", "Figure 2 E", square, "advantage"),
        judge_no_exceptions(square, split),
        judge_logistic(two, ten, split),
    )


def _judge_order(statement: str, source: str, rates: Any, column: str, rises: bool = True) -> Claim:
    values, errors = rates[column], rates[f"{column}_stderr"]
    what = statement[0]
    names = list(rates.index)
    return judge_order(statement, source, names, values, errors, rises=rises, what=what)


def _judge_all_shapes(families: Mapping[str, pd.DataFrame]) -> tuple[Claim, Claim]:
    import pandas as pd

    every = pd.concat(families.values())
    confidence = 1.0 - ERROR_RATE / len(every)
    counts = zip(every.num_exceptions, every.num_samples, strict=True)
    low, high = np.array([exact_interval(k, count, confidence) for k, count in counts]).T
    margin = family_quantile(len(every), two_sided=True) * every.advantage_stderr
    names: dict[str, Any] = {"names": list(every.index), "places": "shapes"}
    return (
        judge_interval(
            "P > 0.5: SCBI is the faster one on most matrices, whatever the shape",
            "Section 4.1",
            1.0 - high,
            1.0 - low,
            above=0.5,
            values=every.probability,
            what="P",
            **names,
        ),
        judge_interval(
            "E > 0: SCBI is faster on average, whatever the shape",
            "Section 4.1",
            every.advantage - margin,
            every.advantage + margin,
            above=0.0,
            values=every.advantage,
            what="E",
            **names,
        ),
    )


def _judge_slow_decay(ten: pd.DataFrame) -> Claim:
    """Judge that E decays slowly with m, by the share that is left at the last size."""
    first, last = ten.iloc[0], ten.iloc[-1]
    left = last.advantage / first.advantage
    noise = math.hypot(*(row.advantage_stderr / row.advantage for row in (first, last)))
    reach = family_quantile(1, two_sided=True) * left * noise
    return judge_interval(
        "E decays slowly with m for 10 × m matrices",
        "Section 4.1; Figure 2, caption",
        left - reach,
        left + reach,
        above=_SLOWLY,
        measured=f"at {last.name} E is {100 * left:.1f} % of E at {first.name}",
        uncertainty=f"±\u00a0{100 * reach:.1f} % ({SURE})",
        rule=f"more than {100 * _SLOWLY:g} % is left, our reading of “slowly”",
    )


def _judge_growth_of_squares(square: pd.DataFrame, split: pd.DataFrame) -> Claim:
    """Judge that P grows with n, by -ln(1 - P): sampled for small squares, split for large ones."""
    import pandas as pd

    small = square[(square["size"] < _SPLIT_FROM) & (square.num_exceptions > 0)]
    large = split[split["size"] >= _SPLIT_FROM]
    both = pd.concat([small, large])
    claim = _judge_order("P grows with n for n × n matrices", "Figure 2 E, F", both, "minus_log")
    sampled, by_splitting = (", ".join(map(str, part["size"])) for part in (small, large))
    return replace(
        claim,
        measured=f"{claim.measured.replace('P goes', '−ln(1 − P) goes', 1)}. Judged at {len(both)} "
        f"of the {len(square)} sizes: n = {sampled} by sampling, n = {by_splitting} by splitting",
    )


def judge_no_exceptions(square: pd.DataFrame, split: pd.DataFrame) -> Claim:
    """Judge that 10^8 samples of each square shape beyond 17 show no exception."""
    beyond = square[square["size"] >= _FIRST_WITHOUT]
    seen = int(beyond.num_exceptions.sum())
    # Beyond the last size that was estimated the value of that size is taken, which is too large.
    expected_at = np.interp(
        np.arange(square["size"].to_numpy().max() + 1), split["size"], split.minus_log
    )
    expected_at = _PAPER_SQUARES * np.exp(-expected_at)
    expected = float(expected_at[_FIRST_WITHOUT:].sum())
    error = float(np.interp(_FIRST_WITHOUT, split["size"], split.minus_log_stderr))
    factor = math.exp(family_quantile(1, two_sided=True) * error)
    low, high = (math.exp(-expected * f) for f in (factor, 1.0 / factor))
    return Claim(
        "For square matrices with n > 17 SCBI is faster in all samples",
        "Figure 2 F",
        verdict_of([low >= ERROR_RATE and seen == 0], [high < ERROR_RATE or seen > 0]),
        f"{seen} exceptions in {beyond.num_samples.sum():,} matrices with n ≥ {_FIRST_WITHOUT}; "
        f"multilevel splitting expects {expected:.2g} in the paper’s 10⁸ per size for all these "
        f"sizes together, and {expected_at[_FIRST_WITHOUT - 1]:.2g} at n = 17. P is not 1: "
        "exceptions are rare, not absent",
        f"factor {factor:.2f} either way ({SURE}, from the scatter at n = 18)",
        "no exception was seen here, and by splitting the paper’s samples show none with a chance "
        f"of {100 * low:.0f} to {100 * high:.0f} %; at least {ERROR_RATE:g} would do",
    )


def judge_logistic(two: pd.DataFrame, ten: pd.DataFrame, split: pd.DataFrame) -> Claim:
    """Judge that P tends to 1 logistically, that is, that -ln(1 - P) is a straight line."""
    families = {"n × 2": two, "10 × m": ten, "n × n": split}
    slopes = {name: _two_slopes(table) for name, table in families.items()}
    known = {name: each for name, each in slopes.items() if math.isfinite(sum(each))}
    quantile = family_quantile(max(len(known), 1), two_sided=True)
    bends = np.array([abs(late / early - 1.0) for early, late, _ in known.values()])
    reach = np.array([quantile * noise / abs(early) for early, _, noise in known.values()])
    inside, outside = bends + reach < _STRAIGHT, bends - reach > _STRAIGHT
    verdict: Verdict = "not decided"
    if len(known) == len(families) and inside.all():
        verdict = "holds"
    elif outside.any():
        # One family that is bent refutes "in all situations".
        verdict = "holds except" if inside.any() else "does not hold"
    texts = (f"{name} {early:.3f} and {late:.3f}" for name, (early, late, _) in known.items())
    return Claim(
        "P grows to 1 logistically in all situations",
        "Figure 2, caption",
        verdict,
        "slope of −ln(1 − P) over the first and the second half of the sizes: " + "; ".join(texts),
        "standard errors of the differences "
        + ", ".join(f"{noise:.2g}" for _, _, noise in known.values()),
        f"in every family the two slopes differ by less than {100 * _STRAIGHT:g} %, with their "
        f"interval ({SURE} for all); “except” where in some",
    )


def _two_slopes(table: pd.DataFrame) -> tuple[float, float, float]:
    """Return the slopes of both halves of -ln(1 - P), and the standard error of the difference."""
    at = [0, len(table) // 2, len(table) - 1]
    sizes, values, errors = (
        table[column].to_numpy(dtype=float)[at]
        for column in ("size", "minus_log", "minus_log_stderr")
    )
    first, second = 1.0 / np.diff(sizes)
    with np.errstate(invalid="ignore"):  # infinite where no exception was seen
        early, late = np.diff(values) / np.diff(sizes)
    # The middle value enters both slopes.
    noise = np.linalg.norm(errors * [first, first + second, second])
    return float(early), float(late), float(noise)


# --- Section ---------------------------------------------------------------------------------

_PANELS = {
    "n-by-2": ("A", "B", "n × 2", "number of rows n"),
    "10-by-m": ("C", "D", "10 × m", "number of columns m"),
    "n-by-n": ("E", "F", "n × n", "number of rows n"),
}


def build(context: Context) -> Section:
    """Build the section."""
    import pandas as pd

    context.tell("random matrices of three families of shapes, and multilevel splitting")
    plans = [*(rates_experiment(context, name) for name in SHAPES), splitting_experiment(context)]
    *sampled, splitting = context.run_all([(plan, plan.name) for plan in plans])
    families = {name: rates_table(name, run) for name, run in zip(SHAPES, sampled, strict=True)}
    split, square = splitting_table(splitting), families["n-by-n"]
    by_splitting = split[["minus_log", "minus_log_stderr"]].add_prefix("splitting_")
    families["n-by-n"] = square.join(by_splitting)
    every = pd.concat(families.values())
    point = splitting.points[0]
    sizes = "; ".join(
        f"{families[name].num_samples.iloc[0]:,} matrices for each {shape}"
        for name, (_, _, shape, _) in _PANELS.items()
    )
    return write_section(
        "figure-2",
        values={
            "panels": [(families[name], *panel) for name, panel in _PANELS.items()],
            "split": split,
            "num_estimates": point.num_samples,
            "overlap": _overlap(families["n-by-n"]),
        },
        figures={
            **{k: v for name in SHAPES for k, v in _panels(families[name], *_PANELS[name]).items()},
            "figure-2F-extended": _extended(square, split),
        },
        tables={"values": _values_table(every)},
        data={"figure-2": every},
        claims=judge_figure_2(families, split),
        sizes=f"{sizes}; splitting: {point.num_samples} estimates for each of {len(split)} sizes, "
        f"{point.parameters['num_particles']} matrices in a population.",
    )


def _overlap(square: pd.DataFrame) -> str:
    """Return both estimates of -ln(1 - P) at the last sizes where both methods see exceptions."""
    both = square[(square.num_exceptions >= 5) & square.splitting_minus_log.notna()].tail(2)
    texts = []
    for _, row in both.iterrows():
        split = Estimate(row.splitting_minus_log, row.splitting_minus_log_stderr)
        sampled = Estimate(row.minus_log, row.minus_log_stderr)
        texts.append(f"n = {row['size']}: {split} against {sampled}")
    return "; ".join(texts) or "there is no such size here"


def _values_table(every: pd.DataFrame) -> Table:
    shown = {
        "n-by-2": (2, 3, 5, 10, 20, 50),
        "10-by-m": (3, 5, 10),
        "n-by-n": (3, 5, 10, 18, 22, 50),
    }
    rows = tuple(
        (
            str(name),
            f"{row.probability:.6f}",
            f"{row.exception_low:.3g} to {row.exception_high:.3g}",
            f"{row.advantage:.5f} ± {row.advantage_stderr:.5f}",
            "" if math.isnan(row.advantage_exact) else f"{row.advantage_exact:.6f}",
            ""
            if math.isnan(row.splitting_minus_log)
            else f"{row.splitting_minus_log:.2f} ± {row.splitting_minus_log_stderr:.2f}",
        )
        for name, row in every.iterrows()
        if row["size"] in shown[row.family]
    )
    header = ("shape", "P", "1 − P, 95 % interval", "E, sampled", "E, exact")
    caption = "Some of the values (± standard error)."
    return Table(caption, (*header, "−ln(1 − P) by splitting"), rows)


# --- Pictures --------------------------------------------------------------------------------

RED = "#B2182B"
"""Of E, as in the paper; dark enough to differ from the blue of P without colour, too."""

_POINTS: dict[str, Any] = {
    "linestyle": "none",
    "markersize": 3.5,
    "elinewidth": 1.0,
    "capsize": 1.5,
}


def _panels(
    rates: pd.DataFrame, left: str, right: str, _: str, size_label: str
) -> dict[str, Figure]:
    both, exceptions = new_figure(4.8, 3.2), new_figure(4.8, 3.2)
    ax = both.subplots()
    for column, color, marker, label in (
        ("probability", BLUE, "o", "P, share of matrices"),
        ("advantage", RED, "s", "E, nats per round"),
    ):
        style: dict[str, Any] = {
            "color": color,
            "marker": marker,
            "label": label,
            "zorder": 2,
            **_POINTS,
        }
        ax.errorbar(rates["size"], rates[column], 2.0 * rates[f"{column}_stderr"], **style)
    if rates.advantage_exact.notna().all():
        line: dict[str, Any] = {"color": INK, "linewidth": 1.0, "label": "E, exact", "zorder": 3}
        ax.plot(rates["size"], rates.advantage_exact, **line)
    ax.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    ax.set_ylim(0.0, 1.04)
    finish(ax, size_label, "P and E")
    ax.legend(fontsize=8.5, loc="best")
    draw_exceptions(rates, exceptions.subplots(), size_label, with_limits=True)
    return {f"figure-2{left}": both, f"figure-2{right}": exceptions}


def draw_exceptions(
    rates: pd.DataFrame, ax: Axes, size_label: str, *, with_limits: bool = False
) -> None:
    """Draw -ln(1 - P) with intervals; where no exception was seen, what it exceeds."""
    size, value = rates["size"].to_numpy(), rates.minus_log.to_numpy()
    low, high = minus_log_interval(rates)
    seen = np.isfinite(value)
    bars = (value[seen] - low[seen], high[seen] - value[seen])
    style: dict[str, Any] = {
        "color": BLUE,
        "marker": "o",
        "label": "sampled, with 95 % interval",
        **_POINTS,
    }
    ax.errorbar(size[seen], value[seen], bars, **style)
    if not seen.all():
        label = "no exception seen: at least this (97.5 %)"
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
    finish(ax, size_label, "−ln(1 − P)")
    ax.legend(fontsize=8, loc="upper left")


def _extended(square: pd.DataFrame, split: pd.DataFrame) -> Figure:
    """Draw squares beyond what sampling can see; splitting is drawn as open diamonds."""
    figure = new_figure(8.4, 3.6)
    ax = figure.subplots()
    draw_exceptions(square, ax, "number of rows n")
    bars = (split.minus_log - split.low, split.high - split.minus_log)
    style: dict[str, Any] = {
        "color": GREEN,
        "marker": "D",
        "markerfacecolor": "none",
        "linestyle": "none",
    }
    label = "multilevel splitting, not plain sampling"
    ax.errorbar(split["size"], split.minus_log, bars, label=label, markersize=5, capsize=2, **style)
    ax.legend(fontsize=8, loc="upper left")
    ax.set_ylim(0.0, 1.08 * split.high.max())
    return figure


def finish(ax: Axes, x_label: str, y_label: str) -> None:
    """Label the axes; ticks below fall on round integers."""
    from matplotlib.ticker import MaxNLocator

    ax.set(xlabel=x_label, ylabel=y_label)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    tidy(ax)
