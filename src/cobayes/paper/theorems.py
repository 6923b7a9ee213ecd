"""The theorems on consistency and rates, and the invariants of their proofs, on examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes.example_library import examples
from cobayes.lessons import simulate
from cobayes.model import Model
from cobayes.paper.beliefs import random_matrix
from cobayes.paper.common import draw_points, new_axes, share_intervals, words, write_section
from cobayes.plots.house import (
    GREY,
    HYPOTHESIS_COLORS,
    integer_ticks,
    line_style,
    with_subscripts,
)
from cobayes.report.claims import Claim, Verdict, judge_agreement, judge_interval
from cobayes.report.section import Context, Section
from cobayes.rules import BI, SCBI
from cobayes.runs import Estimate, Experiment, Point, RunResult, mean_estimate
from cobayes.stability.coupling import coupling
from cobayes.theory.invariants import check_invariants, inverse_update
from cobayes.theory.rates import rate_of_convergence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Numbers = Mapping[str, Any]
Generator = np.random.Generator
Models = Mapping[str, tuple[Model, int]]

RULES = {"BI": BI, "SCBI": SCBI}
EXAMPLES = ("supplement-2x2", "M_1", "M_2", "M_3", "M_4", "M_5", "M'_1", "diagnosis", "gestures")
RANDOM_SIZES = (4, 8)
EXCLUDED = "M_1, relevant hypothesis excluded"
UNIFORM_PRIORS = {"M_2": (0.5, 0.3, 0.2), "M_3": (0.2, 0.2, 0.6), "M'_1": (0.1, 0.2, 0.3, 0.4)}
MAX_UNIFORM_ROUNDS = 20_000
SETTLED = 1.0 - 1e-5
MIXTURE_MATRIX, MIXTURE_ROUNDS = "M_3", 10_000
_LESSONS_PER_SHARD, _LEARNERS_PER_SHARD = 200, 2048

# Largest accepted errors of a slope (as a share of the theorem's rate), of a share of learners, and
# of an identity in double precision.
_RATE_LIMIT, _SHARE_LIMIT, _ROUNDING = 0.05, 0.05, 1e-9
# Our readings of the theorems' words for finitely many rounds. "In probability": at least this
# share of lessons ends with certainty of the truth. "Almost never": for at least this share of
# mixtures, BI does not converge to the mixture.
_SURE_SHARE, _ALMOST_ALL = 0.95, 0.9


# --- Experiment ------------------------------------------------------------------------------


def models_of(context: Context) -> dict[str, tuple[Model, int]]:
    """Return the matrices by name, each with the position of the taught hypothesis."""
    found = {}
    for name in EXAMPLES:
        model = examples[name].model
        found[name] = model, model.hypothesis_index(examples[name].hypothesis)
    rng = context.rng()
    for size in RANDOM_SIZES:
        found[f"random {size}x{size}"] = Model(random_matrix(rng, size)), 0
    return found


def theorem_experiment(context: Context, models: Models) -> Experiment:
    """Return the experiment; the "part" of each point is a key of `PARTS`."""
    # Many rounds: the slope is asymptotic, and hypotheses with nearly equal rates separate slowly.
    num_rounds = context.setting("num_rounds", 4000 if context.is_quick else 8000)
    num_lessons = context.setting("num_lessons", context.count(2000, at_least=20, quick=200))
    num_learners = context.setting("num_learners", context.count(20_000, at_least=500, quick=4096))
    num_mixtures = context.setting("num_mixtures", context.count(10_000, at_least=100, quick=1000))
    slopes = [(name, rule, *models[name], None) for name in models for rule in RULES]
    model, h = models["M_1"]
    slopes += [(EXCLUDED, rule, model, h, without_relevant(model, h, rule)) for rule in RULES]
    points = []
    for name, rule, model, hypothesis, prior in slopes:
        given = {"name": name, "rule": rule, "matrix": model.matrix, "hypothesis": hypothesis}
        given |= {"part": "rate", "num_rounds": num_rounds, "prior": prior}
        points.append(Point(f"rate, {name}, {rule}", given, num_lessons, _LESSONS_PER_SHARD))
    for name, (model, hypothesis) in models.items():
        given = {"part": "invariants", "matrix": model.matrix, "hypothesis": hypothesis}
        points.append(Point(f"invariants, {name}", given))
    for name, prior in UNIFORM_PRIORS.items():
        given = {"part": "uniform", "matrix": examples[name].model.matrix, "prior": prior}
        points.append(Point(f"uniform data, {name}", given, num_learners, _LEARNERS_PER_SHARD))
    columns = examples[MIXTURE_MATRIX].model.normalized()
    points.append(Point("mixtures", {"part": "mixtures", "matrix": columns}, num_mixtures))
    points.append(Point("atoms", {"part": "atoms"}))
    functions: dict[str, Any] = {"shard": theorem_shard, "estimate": theorem_estimate}
    return Experiment("theorems", points, seed=context.seed, **functions)


def without_relevant(model: Model, hypothesis: int, rule: str) -> Array:
    """Return the uniform prior over all hypotheses except the one that determines the rate."""
    count = model.num_hypotheses
    rates = np.full(count, np.inf)
    for other in set(range(count)) - {hypothesis}:
        prior = np.zeros(count)
        prior[[hypothesis, other]] = 0.5
        rates[other] = rate_of_convergence(RULES[rule](model), hypothesis, prior=prior)
    prior = np.ones(count)
    prior[int(np.argmin(rates))] = 0.0
    return prior / prior.sum()


def theorem_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Numbers:
    """Compute a shard of a point; its "part" is a key of `PARTS`."""
    return PARTS[parameters["part"]](parameters, num_samples, np.random.default_rng(seed_sequence))


def theorem_estimate(statistics: Numbers, parameters: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate the slope of the log-odds, in nats per round, if the part is "rate"."""
    if parameters["part"] != "rate":
        return {}
    return {"slope": mean_estimate(*(statistics[k] for k in ("count", "total", "squares")))}


def _shard_of_rate(given: Numbers, num_lessons: int, rng: Generator) -> Numbers:
    rule, hypothesis = RULES[given["rule"]](np.array(given["matrix"])), given["hypothesis"]
    first, last = given["num_rounds"] // 2, given["num_rounds"]
    counts: dict[str, Any] = {"num_rounds": last, "num_lessons": num_lessons}
    case = {"prior": given["prior"], "keep_paths": [first, last], "rng": rng}
    odds = simulate(rule, hypothesis, **counts, **case).log_odds()
    slopes = (odds[:, 1] - odds[:, 0]) / (last - first)
    sums = {"count": num_lessons, "total": slopes.sum(), "squares": (slopes**2).sum()}
    return {**sums, "sure": int((odds[:, 1] > np.log(99.0)).sum())}  # belief above 0.99


def _shard_of_invariants(given: Numbers, _: int, __: Generator) -> Numbers:
    report = check_invariants(np.array(given["matrix"]), given["hypothesis"])
    return {
        "num_rounds": report.num_rounds,
        "deviations": np.array([invariant.deviation for invariant in report.invariants]),
        "tolerance": report.invariants[0].tolerance,
        "mean_belief": np.asarray(report.mean_belief),
    }


def _shard_of_uniform(given: Numbers, num_learners: int, rng: Generator) -> Numbers:
    """Estimate the numbers of learners that end at each hypothesis under uniform data.

    The matrix from `coupling` is nearly diagonal here, because both agents are the same learner.
    """
    limits: dict[str, Any] = {"max_rounds": MAX_UNIFORM_ROUNDS, "level": SETTLED, "rng": rng}
    matrix, prior = np.array(given["matrix"]), given["prior"]
    ends = coupling(matrix, prior=prior, num_lessons=num_learners, **limits)
    return {"shares": num_learners * np.diagonal(ends.matrix), "unsettled": ends.num_unfinished}


def _shard_of_mixtures(given: Numbers, count: int, rng: Generator) -> Numbers:
    """Draw data from mixtures of hypotheses; count the mixtures to which BI does not converge."""
    matrix = np.array(given["matrix"])
    truths = rng.dirichlet(np.ones(matrix.shape[1]), count)
    logs = rng.multinomial(MIXTURE_ROUNDS, truths @ matrix.T) @ np.log(matrix)
    beliefs = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    apart = np.abs(beliefs - truths).sum(axis=1)
    return {
        "count": count,
        "away": int((apart > 0.1).sum()),
        "apart": apart.sum(),
        "at_corner": int((beliefs.max(axis=1) > 0.99).sum()),
    }


def _shard_of_atoms(_: Numbers, __: int, rng: Generator) -> Numbers:
    """Count the distinct beliefs after one to four rounds of SCBI.

    The matrices are a random matrix and one in which two rows are proportional.
    """
    alike = random_matrix(rng, 3)
    matrices = {"random": alike.copy(), "alike": alike}
    alike[1] = 0.5 * alike[0]
    counts: dict[str, Any] = {}
    for name, matrix in matrices.items():
        rule, beliefs = SCBI(matrix), np.full((1, 3), 1.0 / 3.0)
        counts[name] = []
        for _round in range(4):
            beliefs = np.concatenate([rule.posteriors(belief) for belief in beliefs])
            counts[name].append(len(np.unique(beliefs.round(10), axis=0)))
    return {name: np.array(values) for name, values in counts.items()}


PARTS = {
    "rate": _shard_of_rate,
    "invariants": _shard_of_invariants,
    "uniform": _shard_of_uniform,
    "mixtures": _shard_of_mixtures,
    "atoms": _shard_of_atoms,
}
"""The function that computes a shard, by the part of its point."""


# --- Numbers ---------------------------------------------------------------------------------


def slopes_table(models: Models, result: RunResult) -> pd.DataFrame:
    """Return rates of convergence in theory and in lessons, one row per matrix and rule."""
    import pandas as pd

    rows = []
    for point in (point for point in result if point.parameters["part"] == "rate"):
        matrix, rule, prior = (point.parameters[key] for key in ("name", "rule", "prior"))
        model, hypothesis = models["M_1" if matrix == EXCLUDED else matrix]
        theory = rate_of_convergence(RULES[rule](model), hypothesis, prior=prior)
        slope = point.estimates["slope"]
        counts = (int(point.statistics[key]) for key in ("count", "sure"))
        rows.append((matrix, rule, float(theory), slope.value, slope.stderr, *counts))
    columns = ("matrix", "rule", "theory", "measured", "stderr", "num_lessons", "num_sure")
    return pd.DataFrame(rows, columns=columns)


def ends_table(result: RunResult) -> pd.DataFrame:
    """Return the numbers of learners that end at each hypothesis, one row per matrix."""
    import pandas as pd

    rows = []
    for name, prior in UNIFORM_PRIORS.items():
        found = result[f"uniform data, {name}"].statistics
        rows.append((name, prior, np.asarray(found["shares"]), int(found["unsettled"])))
    return pd.DataFrame(rows, columns=["matrix", "prior", "counts", "unsettled"])


# --- Claims ----------------------------------------------------------------------------------


def judge_theorems(
    slopes: pd.DataFrame, models: Models, result: RunResult, rng: Generator
) -> tuple[Claim, ...]:
    """Judge the theorems, topic by topic."""
    reports = [result[f"invariants, {name}"].statistics for name in models]
    mean_rises, ratio_constant, mean_constant, outwards = (
        judge_invariant(reports, position) for position in range(4)
    )
    return (
        *(_judge_consistency(slopes, rule) for rule in RULES),
        judge_mixtures(result["mixtures"].statistics),
        mean_rises,
        ratio_constant,
        judge_inverse(models, rng),
        judge_atoms(result["atoms"].statistics),
        *(judge_rates(slopes, rule) for rule in RULES),
        judge_cross_ratios(models),
        judge_destinations(result),
        mean_constant,
        outwards,
    )


def _judge_consistency(slopes: pd.DataFrame, rule: str) -> Claim:
    own = slopes[(slopes.rule == rule) & (slopes.matrix != EXCLUDED)]
    low, high = share_intervals(own.num_sure, own.num_lessons)
    return judge_interval(
        **words("consistency", rule=rule),
        low=low,
        high=high,
        above=_SURE_SHARE,
        values=own.num_sure / own.num_lessons,
        names=list(own.matrix),
        what="share of lessons that end with a belief above 0.99",
        places="matrices",
    )


def judge_rates(slopes: pd.DataFrame, rule: str) -> Claim:
    """Judge the theorem on the rate of convergence of a rule."""
    own = slopes[slopes.rule == rule]
    return judge_agreement(
        **words("rate", rule=rule),
        values=own.measured,
        stderrs=own.stderr,
        expected=own.theory,
        within=_RATE_LIMIT * own.theory,
        what="slope in lessons minus theory",
        unit=f" nats per round ({100 * _RATE_LIMIT:g} % of the rate)",
    )


def judge_invariant(reports: list[Numbers], position: int) -> Claim:
    """Judge one of the invariants of `check_invariants`, given by its position in the report."""
    rounds = [int(report["num_rounds"]) for report in reports]
    worst = max(float(report["deviations"][position]) for report in reports)
    tolerance = max(float(report["tolerance"]) for report in reports)
    text = {"worst": worst, "limit": tolerance, "rounds": rounds}
    return _judge_identity(f"invariant {position + 1}", **text)


def judge_inverse(models: Models, rng: Generator) -> Claim:
    """Judge the claim that T_d, the update by datum d, is a bijection with continuous inverse."""
    positive = [model for model, _ in models.values() if (model.matrix > 0.0).all()]
    worst = 0.0
    for model in positive:
        rule = SCBI(model)
        for belief in rng.dirichlet(np.ones(model.num_hypotheses), 5):
            for datum, posterior in enumerate(rule.posteriors(belief)):
                apart = np.abs(inverse_update(rule, posterior, datum) - belief)
                worst = max(worst, float(apart.max()))
    return _judge_identity("bijection", worst=worst, count=len(positive))


def judge_cross_ratios(models: Models) -> Claim:
    """Judge the formula for the KL divergence in terms of cross-ratios."""
    worst = 0.0
    for model, h in models.values():
        matrix = model.normalized()
        if (matrix == 0.0).any():
            continue
        own = matrix[:, h]
        for other in np.delete(matrix, h, axis=1).T:
            ratios = own[0] * other / (own * other[0])
            formula = np.log(own @ ratios) - own @ np.log(ratios)
            worst = max(worst, abs(float(formula - own @ np.log(own / other))))
    return _judge_identity("cross-ratios", worst=worst)


def _judge_identity(claim: str, *, worst: float, limit: float = _ROUNDING, **numbers: Any) -> Claim:
    text = words(claim, worst=worst, **numbers)
    rule = f"the largest violation is at most {limit:.0e}, a rounding error"
    return judge_interval(**text, low=worst, high=worst, below=limit, rule=rule)


def judge_destinations(result: RunResult) -> Claim:
    """Judge the claim that learners end at each hypothesis with its prior probability.

    The data are uniform. Pearson's χ² compares the frequencies of final hypotheses with the prior.
    """
    shares, priors, variances, statistic = [], [], [], 0.0
    ends = ends_table(result)
    for given, counts in zip(ends.prior, ends.counts, strict=True):
        prior, total = np.array(given), counts.sum()
        shares.append(counts / total)
        priors.append(prior)
        variances.append(prior * (1.0 - prior) / total)
        statistic += float(((counts - total * prior) ** 2 / (total * prior)).sum())
    joined = np.concatenate(priors)
    return judge_agreement(
        **words("destinations"),
        values=np.concatenate(shares),
        stderrs=np.sqrt(np.concatenate(variances)),
        expected=joined,
        within=_SHARE_LIMIT,
        what=f"share of learners minus prior ({ends.unsettled.sum()} unsettled)",
        chi_square=(statistic, len(joined) - len(ends)),
    )


def judge_mixtures(found: Numbers) -> Claim:
    """Judge the claim that BI does not converge to a truth that is a mixture of hypotheses."""
    (low,), (high,) = share_intervals([int(found["away"])], [int(found["count"])])
    numbers = {"low": low, "high": high, "limit": _ALMOST_ALL, "num_rounds": MIXTURE_ROUNDS}
    text = words("mixtures", found=found, **numbers)
    return judge_interval(**text, low=low, high=high, above=_ALMOST_ALL)


def judge_atoms(found: Numbers) -> Claim:
    """Judge the claim that n data give n^k different beliefs after k rounds."""
    full = 3 ** np.arange(1, len(found["random"]) + 1)
    random, alike = (bool((np.asarray(found[name]) == full).all()) for name in ("random", "alike"))
    verdict: Verdict = "does not hold"
    if random:
        verdict = "holds" if alike else "holds except"
    return Claim(verdict=verdict, **words("atoms", found=found))


# --- Section and pictures --------------------------------------------------------------------


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("slopes of the log-odds, invariants, learners under uniform data")
    models = models_of(context)
    result = context.run(theorem_experiment(context, models))
    slopes = slopes_table(models, result)
    return write_section(
        "theorems",
        values={
            "slopes": slopes,
            "rate": result.points[0],
            "excluded": EXCLUDED,
            "ends": ends_table(result),
            "limits": (SETTLED, MAX_UNIFORM_ROUNDS),
            "mixture": result["mixtures"].statistics,
            "mixture_rounds": MIXTURE_ROUNDS,
            "shown": with_subscripts,
        },
        figures=_draw(slopes, {n: result[f"invariants, {n}"].statistics for n in models}),
        data={"theorems": slopes},
        claims=judge_theorems(slopes, models, result, context.rng()),
    )


def _draw(slopes: pd.DataFrame, reports: Numbers) -> dict[str, Figure]:
    rates, ax = new_axes(4.8, 3.6)
    top = 1.08 * slopes.theory.max()
    ax.plot((0.0, top), (0.0, top), color=GREY, linewidth=0.8)
    for rule, own in slopes.groupby("rule"):
        style = {**line_style(str(rule), 0), "markerfacecolor": "none", "markersize": 5}
        draw_points(ax, own.theory, own.measured, 2.0 * own.stderr, label=rule, **style)
    ax.set(xlabel="rate by the theorem, nats per round", ylabel="slope in lessons")
    ax.legend()
    invariants, ax = new_axes(4.8, 3.6)
    # The supplement's five matrices.
    for k, name in enumerate(f"M_{k}" for k in range(1, 6)):
        if name in reports:
            style = {"color": HYPOTHESIS_COLORS[k], "marker": "os^Dv"[k], "markersize": 4}
            ax.plot(reports[name]["mean_belief"], label=with_subscripts(name), **style)
    ax.set(xlabel="round", ylabel="exact mean of θ(h)")
    integer_ticks(ax)
    ax.legend(fontsize=8.5)
    return {"rates": rates, "invariants": invariants}
