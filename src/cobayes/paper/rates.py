"""Figures 2 and S1: how often, and by how much, SCBI is faster than BI on random matrices.

P is the probability that SCBI's mean rate is at least BI's, and E the mean of the difference. An
exception is a matrix on which BI's mean rate is higher than SCBI's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._intervals import exact_interval, proportion_stderr
from cobayes.paper.common import draw_points, new_axes, share_intervals, words, write_section
from cobayes.plots.house import BLUE, GREEN, GREY, INK
from cobayes.random_matrices.sampling import expected_advantage
from cobayes.report.claims import (
    ERROR_RATE,
    Claim,
    Verdict,
    family_quantile,
    judge_agreement,
    judge_interval,
    judge_order,
    probability_text,
    verdict_of,
)
from cobayes.report.section import Context, Section
from cobayes.runs import Estimate, Experiment, Point, RunResult, concatenate, mean_estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

PAPER_SAMPLES = {"n-by-2": 10**10, "10-by-m": 10**8, "n-by-n": 10**8}
QUICK_SAMPLES = {"n-by-2": 2_000_000, "10-by-m": 500_000, "n-by-n": 50_000}
SHAPES = {
    "n-by-2": tuple((n, 2) for n in range(2, 51)),
    "10-by-m": tuple((10, m) for m in range(2, 11)),
    "n-by-n": tuple((n, n) for n in range(2, 51)),
}
"""The three families of Figure 2: (number of data, number of hypotheses)."""

PANELS = {"n-by-2": "AB", "10-by-m": "CD", "n-by-n": "EF"}
GUESS = {"a": 0.5, "c": 1.5, "b": 0.1, "d": -0.3}
"""The authors' values in -ln(1 - P) = a ln(x (x + 1) / (x - c)) + b x + d, Figure S1."""

# Seconds per entry of a matrix and per pair of entries on one core, measured by
# `cobayes reproduce figure-2`; used for the size of shards alone.
_SECONDS_PER_ENTRY = {"n-by-2": 3e-9, "10-by-m": 7e-9, "n-by-n": 7e-9}
_SECONDS_PER_PAIR = 2e-10
_SHARD_SECONDS = 1.5

SPLITTING_SIZES = (*range(6, 31, 2), 34, 38, 42, 46, 50)
QUICK_SPLITTING_SIZES = (6, 10, 14, 18, 22)
# Estimates per shard; they share a pilot population. One estimate of a large square takes minutes.
_ESTIMATES_PER_SHARD, _LARGE_ESTIMATES_PER_SHARD, _LARGE = 5, 2, 22
_NUM_SWEEPS = 2

# Our limits for words that the paper does not quantify.
_STRAIGHT = 0.25  # "straight": the slopes of both halves differ by less than this share
_SLOWLY = 0.5  # "slowly": at least this share of the quantity is left at the last size
_MEAN_LIMIT = 0.003  # agreement of means, in nats per round
_CLOSE = 0.1  # "≈": difference in -ln(1 - P), that is, a tenth of 1 - P

_FIRST_WITHOUT = 18
_PAPER_SQUARES = 10**8
# From this size on, exceptions among square matrices are too rare to count: splitting is used.
_SPLIT_FROM = 8


# --- Experiments -----------------------------------------------------------------------------


def rates_experiment(context: Context, family: str) -> Experiment:
    """Return the experiment of one family of shapes."""
    default = context.count(PAPER_SAMPLES[family], at_least=100, quick=QUICK_SAMPLES[family])
    num_samples = context.setting(f"num_samples_{family.replace('-', '_')}", default)
    points = []
    for n, m in SHAPES[family]:
        per_shard = min(num_samples, _samples_per_shard(family, n, m))
        given = {"num_data": n, "num_hypotheses": m}
        points.append(Point(f"{n} x {m}", given, num_samples, per_shard))
    functions: dict[str, Any] = {"shard": rates_shard, "estimate": rates_estimate}
    return Experiment(f"rates-{family}", points, seed=context.seed, **functions)


def rates_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw matrices of one shape, "num_data" x "num_hypotheses"; return sums of both rates."""
    from cobayes.random_matrices.sampling import sample_rates_chunk

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
    """Return the experiment that estimates 1 - P of square matrices too rare for plain sampling.

    The paper has no such experiment. At scale 1 there are 20 estimates of 1 - P for each size from
    populations of 256 matrices; fewer than ten estimates would not give a standard error.
    """
    estimates = context.setting("num_estimates", context.count(20, at_least=10, quick=10))
    particles = context.setting("num_particles", context.count(256, at_least=64, quick=128))
    points = []
    for n in QUICK_SPLITTING_SIZES if context.is_quick else SPLITTING_SIZES:
        per_shard = _ESTIMATES_PER_SHARD if n <= _LARGE else _LARGE_ESTIMATES_PER_SHARD
        given = {"num_data": n, "num_particles": particles}
        points.append(Point(f"{n} x {n}", given, estimates, per_shard))
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

    size, rng = parameters["num_data"], np.random.default_rng(seed_sequence)
    counts = {"num_estimates": num_samples, "num_particles": parameters["num_particles"]}
    found = exception_probabilities(size, size, num_sweeps=_NUM_SWEEPS, rng=rng, **counts)
    return {"estimates": found}


def splitting_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate -ln(1 - P) from the estimates of 1 - P."""
    estimates = np.asarray(statistics["estimates"])
    mean = float(estimates.mean())
    error = float(estimates.std(ddof=1)) / math.sqrt(len(estimates))
    return {"-ln(1-P)": Estimate(-math.log(mean), error / mean)}


def _samples_per_shard(family: str, num_data: int, num_hypotheses: int) -> int:
    """Return the number of matrices for one or two seconds, rounded to 1, 2 or 5 times 10^k."""
    cost = num_data * num_hypotheses * _SECONDS_PER_ENTRY[family]
    if num_hypotheses > 2:
        cost += num_data * num_hypotheses**2 * _SECONDS_PER_PAIR
    wanted = _SHARD_SECONDS / cost
    power = 10 ** math.floor(math.log10(wanted))
    return max(step * power for step in (1, 2, 5) if step * power <= wanted)


# --- Numbers ---------------------------------------------------------------------------------


def rates_table(family: str, result: RunResult) -> pd.DataFrame:
    """Return P, E and the mean rates of a family; a row per shape, named after it."""
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


def splitting_table(result: RunResult) -> pd.DataFrame:
    """Return -ln(1 - P) of squares by splitting, with standard errors and 95 % intervals."""
    import pandas as pd
    from scipy.special import stdtrit

    rows = {}
    for point in result:
        n, found = point.parameters["num_data"], point.estimates["-ln(1-P)"]
        margin = stdtrit(point.num_samples - 1, 0.975) * found.stderr
        ends = (found.value - margin, found.value + margin)
        rows[f"{n} × {n}"] = (n, found.value, found.stderr, *ends)
    columns = ["size", "minus_log", "minus_log_stderr", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _mean_of(statistics: Mapping[str, Any], key: str) -> Estimate:
    sums = (statistics[f"sum_{key}"], statistics[f"sum_squared_{key}"])
    return mean_estimate(statistics["count"], *sums)


# --- Claims of Figure 2 ----------------------------------------------------------------------


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
            what="sampled mean rate less (n − 1)/n",
        ),
        judge_agreement(
            **words("E is the integral"),
            **nats,
            values=two.advantage,
            stderrs=two.advantage_stderr,
            expected=two.advantage_exact,
            what="sampled E less our closed form of it",
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
    values, errors, names = rates[column], rates[f"{column}_stderr"], list(rates.index)
    what = what or claim[0]
    return judge_order(
        **words(claim), names=names, values=values, stderrs=errors, rises=rises, what=what
    )


def _judge_slow_decay(ten: pd.DataFrame) -> Claim:
    """Judge that E decays slowly with m, by the share that is left at the last size."""
    first, last = ten.iloc[0], ten.iloc[-1]
    left = last.advantage / first.advantage
    noise = math.hypot(*(row.advantage_stderr / row.advantage for row in (first, last)))
    reach = family_quantile(1) * left * noise
    sizes = {"first": first.name, "last": last.name}
    text = words("E decays slowly", left=left, reach=reach, limit=_SLOWLY, **sizes)
    return judge_interval(**text, low=left - reach, high=left + reach, above=_SLOWLY)


def _judge_growth_of_squares(square: pd.DataFrame, split: pd.DataFrame) -> Claim:
    """Judge that P grows with n, by -ln(1 - P): from sampling for small squares, else splitting."""
    import pandas as pd

    small = square[(square["size"] < _SPLIT_FROM) & (square.num_exceptions > 0)]
    large = split[split["size"] >= _SPLIT_FROM]
    both = pd.concat([small, large])
    claim = _judge_order("P grows, n x n", both, "minus_log", what="−ln(1 − P)")
    sampled, by_splitting = (", ".join(map(str, part["size"])) for part in (small, large))
    where = f"Judged at {len(both)} of the {len(square)} sizes: n = {sampled} by sampling"
    return replace(claim, measured=f"{claim.measured}. {where}, n = {by_splitting} by splitting")


def judge_no_exceptions(square: pd.DataFrame, split: pd.DataFrame) -> Claim:
    """Judge that 10^8 samples of each square shape beyond 17 show no exception."""
    beyond = square[square["size"] >= _FIRST_WITHOUT]
    seen = int(beyond.num_exceptions.sum())
    # For larger sizes the value of the last estimated size is used, an upper bound.
    sizes = np.arange(_FIRST_WITHOUT - 1, square["size"].to_numpy().max() + 1)
    at_17, *later = _PAPER_SQUARES * np.exp(-np.interp(sizes, split["size"], split.minus_log))
    error = float(np.interp(_FIRST_WITHOUT, split["size"], split.minus_log_stderr))
    factor = math.exp(family_quantile(1) * error)
    low, high = (math.exp(-sum(later) * f) for f in (factor, 1.0 / factor))
    numbers = {"seen": seen, "matrices": beyond.num_samples.sum(), "first": _FIRST_WITHOUT}
    numbers |= {"expected": sum(later), "at_17": at_17, "factor": factor, "chances": (low, high)}
    is_fine = [low >= ERROR_RATE and seen == 0], [high < ERROR_RATE or seen > 0]
    return Claim(verdict=verdict_of(*is_fine), **words("no exceptions", **numbers))


def judge_logistic(two: pd.DataFrame, ten: pd.DataFrame, split: pd.DataFrame) -> Claim:
    """Judge that P tends to 1 logistically, that is, that -ln(1 - P) is a straight line."""
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
        # One family that is not straight refutes "in all situations".
        verdict = "holds except" if inside.any() else "does not hold"
    return Claim(verdict=verdict, **words("P grows logistically", known=known, limit=_STRAIGHT))


def _two_slopes(table: pd.DataFrame) -> tuple[float, float, float]:
    """Return the slopes of both halves of -ln(1 - P), and the standard error of the difference."""
    at = [0, len(table) // 2, len(table) - 1]
    columns = ["size", "minus_log", "minus_log_stderr"]
    sizes, values, errors = table[columns].to_numpy(dtype=float)[at].T
    first, second = 1.0 / np.diff(sizes)
    with np.errstate(invalid="ignore"):  # infinite if no exception was seen
        early, late = np.diff(values) / np.diff(sizes)
    # The middle value is part of both slopes.
    noise = np.linalg.norm(errors * [first, first + second, second])
    return float(early), float(late), float(noise)


# --- Figure S1: the empirical formula --------------------------------------------------------


def empirical_formula(num_data: ArrayLike, a: float, c: float, b: float, d: float) -> Array:
    """Return -ln(1 - P) by the supplement's formula, see `GUESS`.

    With the authors' values this is 1 - P = sqrt((x - 1.5) / (x (x + 1))) exp(-0.1 x + 0.3).
    """
    x = np.asarray(num_data, dtype=float)
    return a * np.log(x * (x + 1.0) / (x - c)) + b * x + d


@dataclass(frozen=True)
class FormulaFit:
    """The formula fitted to data by weighted least squares.

    Attributes
    ----------
    values, stderrs : ndarray
        The four parameters in the order of `GUESS`.
    misfit : float
        Standard deviation in -ln(1 - P) that must be added to the sampling errors to explain the
        residuals; zero if the sampling errors suffice.
    chi_square, guess_chi_square : float
        Sum of squared residuals, in units of sampling errors: best fit, and authors' guess.
    chance, guess_chance : float
        The probability of larger residuals if the form, or the authors' formula, were exact.
    num_points : int
        The number of sizes with exceptions.
    """

    values: Array
    stderrs: Array
    misfit: float
    chi_square: float
    guess_chi_square: float
    chance: float
    guess_chance: float
    num_points: int


def fit_formula(rates: pd.DataFrame) -> FormulaFit:
    """Fit the formula's four parameters by weighted least squares.

    If the sampling errors are too small to explain the residuals, a common variance is added to all
    of them. Otherwise the fit would depend only on the sizes with the smallest errors.
    """
    from scipy.optimize import brentq, curve_fit
    from scipy.special import gammaincc

    seen = rates[rates.num_exceptions > 0]
    names = ("size", "minus_log", "minus_log_stderr")
    x, y, error = (np.asarray(seen[name], float) for name in names)
    # The logarithm's argument must stay positive at the smallest size.
    bounds = (-np.inf, [np.inf, x.min() - 1e-6, np.inf, np.inf])
    guess, degrees = np.array([*GUESS.values()]), len(x) - len(GUESS)

    def fit(misfit: float) -> tuple[Array, Array]:
        sigma = np.hypot(error, misfit)
        return curve_fit(
            empirical_formula, x, y, guess, sigma=sigma, absolute_sigma=True, bounds=bounds
        )

    def chi_square(parameters: Array, misfit: float = 0.0) -> float:
        rest = y - empirical_formula(x, *parameters)
        return float(((rest / np.hypot(error, misfit)) ** 2).sum())

    statistics = np.array([chi_square(fit(0.0)[0]), chi_square(guess)])
    chances = gammaincc(0.5 * np.array([degrees, len(x)]), 0.5 * statistics)
    misfit: Any = 0.0
    if chances[0] < ERROR_RATE:
        misfit = brentq(lambda s: chi_square(fit(s)[0], s) - degrees, 0.0, 1.0, xtol=1e-6)
    values, covariance = fit(misfit)
    found = dict(zip(("chi_square", "guess_chi_square"), statistics, strict=True))
    found |= dict(zip(("chance", "guess_chance"), chances, strict=True))
    return FormulaFit(values, np.sqrt(np.diag(covariance)), misfit, num_points=len(x), **found)


def formula_errors(rates: pd.DataFrame) -> tuple[Array, Array]:
    """Return lower and upper bounds on the error of the authors' formula at each size."""
    seen = rates[rates.num_exceptions > 0]
    off = np.abs(seen.minus_log - empirical_formula(seen["size"], **GUESS)).to_numpy()
    noise = family_quantile(len(seen)) * seen.minus_log_stderr.to_numpy()
    return np.maximum(off - noise, 0.0), off + noise


def judge_formula(fit: FormulaFit, rates: pd.DataFrame) -> Claim:
    """Judge the authors' approximate formula."""
    least, most = formula_errors(rates)
    ends = np.array([least.max(), most.max()])
    numbers = {"ends": ends, "shares": 100.0 * np.expm1(ends), "fit": fit, "limit": _CLOSE}
    numbers |= {"errors": rates.minus_log_stderr, "p": probability_text(fit.guess_chance)}
    return judge_interval(**words("formula", **numbers), low=least, high=most, below=_CLOSE)


# --- Sections --------------------------------------------------------------------------------


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


def build_formula(context: Context) -> Section:
    """Build the section of Figure S1 from the run of Figure 2 A, B."""
    context.tell("random n × 2 matrices, shared with figure 2")
    rates = rates_table("n-by-2", context.run(rates_experiment(context, "n-by-2")))
    fit = fit_formula(rates)
    seen = rates[rates.num_exceptions > 0]
    formula = empirical_formula(seen["size"], **GUESS)
    fitted = empirical_formula(seen["size"], *fit.values)
    numbers = seen.assign(
        formula=formula,
        fitted=fitted,
        residual=seen.minus_log - formula,
        residual_of_fit=seen.minus_log - fitted,
    )
    return write_section(
        "figure-s1",
        values={
            "fit": fit,
            "rates": rates,
            "guess": GUESS,
            "worst": formula_errors(rates)[0].max(),
            "residuals": numbers.residual,
        },
        figures=_formula_pictures(rates, numbers, fit),
        data={"figure-s1": numbers},
        claims=(judge_formula(fit, rates),),
    )


# --- Pictures --------------------------------------------------------------------------------

RED = "#B2182B"
"""Of E, as in the paper; dark enough to differ from the blue of P without colour, too."""


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
    _label(ax, rates, "P and E")
    ax.legend(fontsize=8.5, loc="best")
    draw_exceptions(rates, other, with_limits=True)
    return {f"figure-2{left}": both, f"figure-2{right}": exceptions}


def draw_exceptions(rates: pd.DataFrame, ax: Axes, *, with_limits: bool = False) -> None:
    """Draw -ln(1 - P) with intervals; a lower bound where no exception was seen."""
    size, value = rates["size"].to_numpy(), rates.minus_log.to_numpy()
    with np.errstate(divide="ignore"):
        low, high = -np.log(rates[["exception_high", "exception_low"]].to_numpy().T)
    seen = np.isfinite(value)
    bars = (value[seen] - low[seen], high[seen] - value[seen])
    label = "sampled, with 95 % interval"
    draw_points(ax, size[seen], value[seen], bars, color=BLUE, marker="o", label=label)
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
    _label(ax, rates, "−ln(1 − P)")
    ax.legend(fontsize=8, loc="upper left")


def _extended(square: pd.DataFrame, split: pd.DataFrame) -> Figure:
    """Draw sampled and split estimates of larger squares; splitting as open diamonds."""
    figure, ax = new_axes(8.4, 3.6)
    draw_exceptions(square, ax)
    bars = (split.minus_log - split.low, split.high - split.minus_log)
    style = {"color": GREEN, "marker": "D", "markerfacecolor": "none", "markersize": 5}
    label = "multilevel splitting, not plain sampling"
    draw_points(ax, split["size"], split.minus_log, bars, label=label, **style)
    ax.legend(fontsize=8, loc="upper left")
    ax.set_ylim(0.0, 1.08 * split.high.max())
    return figure


def _formula_pictures(
    rates: pd.DataFrame, numbers: pd.DataFrame, fit: FormulaFit
) -> dict[str, Figure]:
    grid = np.linspace(2.0, rates["size"].to_numpy().max(), 300)
    curve, ax = new_axes(4.8, 3.2)
    draw_exceptions(rates, ax)
    ax.plot(grid, empirical_formula(grid, **GUESS), color=RED, label="the authors’ formula")
    ax.plot(grid, empirical_formula(grid, *fit.values), "--", color=GREEN, label="fitted anew")
    ax.legend(fontsize=8.5)
    rest, ax = new_axes(4.8, 3.2)
    for column, color, marker, face, shift, label in (
        ("residual", BLUE, "o", BLUE, -0.15, "data less the authors’ formula"),
        ("residual_of_fit", GREEN, "D", "none", 0.15, "data less the fit"),
    ):
        style = {"color": color, "marker": marker, "markerfacecolor": face, "label": label}
        errors = 2.0 * numbers.minus_log_stderr
        draw_points(ax, numbers["size"] + shift, numbers[column], errors, **style)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.margins(y=0.2)
    _label(ax, rates, "residual of −ln(1 − P)")
    ax.legend(fontsize=8.5)
    return {"figure-S1": curve, "figure-S1-residuals": rest}


def _label(ax: Axes, rates: pd.DataFrame, label: str) -> None:
    """Label the axes; the ticks of the horizontal axis are round integers."""
    from matplotlib.ticker import MaxNLocator

    growing = "columns m" if rates.family.iloc[0] == "10-by-m" else "rows n"
    ax.set(xlabel=f"number of {growing}", ylabel=label)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
