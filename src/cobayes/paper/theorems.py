"""The theorems on consistency and rates, and the invariants behind them, on matrices at hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._intervals import exact_interval
from cobayes.example_library import examples
from cobayes.lessons import simulate
from cobayes.model import Model
from cobayes.paper.beliefs import random_matrix
from cobayes.paper.common import in_symbols, new_figure, write_section
from cobayes.plots.house import GREY, HYPOTHESIS_COLORS, count_in_whole_numbers, line_style, tidy
from cobayes.report.claims import (
    ERROR_RATE,
    SURE,
    Claim,
    about,
    judge_agreement,
    judge_interval,
)
from cobayes.report.section import Context, Section, Table
from cobayes.rules import BI, SCBI
from cobayes.runs import Estimate, Experiment, Point, RunResult, mean_estimate
from cobayes.stability.coupling import coupling
from cobayes.theory.invariants import check_invariants
from cobayes.theory.inverse import inverse_update
from cobayes.theory.rates import rate_of_convergence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Models = Mapping[str, tuple[Model, int]]

CONSISTENCY = "Theorems 3.1 and 3.5: consistency"
RATES = "Theorems 3.2 and 3.6: rates of convergence"
UNIFORM = "Proposition 5.1: uniform data"

RULES = {"BI": BI, "SCBI": SCBI}
EXAMPLES = ("supplement-2x2", "M_1", "M_2", "M_3", "M_4", "M_5", "M'_1", "diagnosis", "gestures")
RANDOM_SIZES = (4, 8)
EXCLUDED = "M_1, relevant hypothesis excluded"
UNIFORM_PRIORS = {"M_2": (0.5, 0.3, 0.2), "M_3": (0.2, 0.2, 0.6), "M'_1": (0.1, 0.2, 0.3, 0.4)}
MAX_UNIFORM_ROUNDS = 20_000
SETTLED = 1.0 - 1e-5
MIXTURE_MATRIX, MIXTURE_ROUNDS = "M_3", 10_000
_LESSONS_PER_SHARD, _LEARNERS_PER_SHARD = 200, 2048

# Limits of agreement: of a slope, as a share of the theorem's rate; of a share of learners; of an
# identity, in double precision.
_RATE_LIMIT, _SHARE_LIMIT, _ROUNDING = 0.05, 0.05, 1e-9
# Our readings of "in probability" and of "almost never" in finitely many rounds.
_SURE_SHARE, _ALMOST_ALL = 0.95, 0.9


# --- Experiment ------------------------------------------------------------------------------


def models_of(context: Context) -> dict[str, tuple[Model, int]]:
    """Return the matrices by name, each with the position of what is taught."""
    found = {}
    for name in EXAMPLES:
        model = examples[name].model
        found[name] = model, model.hypothesis_index(examples[name].hypothesis)
    rng = context.rng()
    for size in RANDOM_SIZES:
        found[f"random {size}x{size}"] = Model(random_matrix(rng, size)), 0
    return found


def theorem_experiment(context: Context, models: Models) -> Experiment:
    """Return the experiment: slopes of log-odds, invariants, ends under uniform data, mixtures."""
    # Long enough for two hypotheses with nearly the same rate to part: the slope is an asymptote.
    num_rounds = context.setting("num_rounds", 4000 if context.is_quick else 8000)
    num_lessons = context.setting("num_lessons", context.count(2000, at_least=20, quick=200))
    num_learners = context.setting("num_learners", context.count(20_000, at_least=500, quick=4096))
    num_mixtures = context.setting("num_mixtures", context.count(10_000, at_least=100, quick=1000))
    points = []
    slopes = [(name, rule, *models[name], None) for name in models for rule in RULES]
    model, h = models["M_1"]
    slopes += [(EXCLUDED, rule, model, h, without_relevant(model, h, rule)) for rule in RULES]
    for name, rule, model, hypothesis, prior in slopes:
        given: dict[str, Any] = {
            "matrix": model.matrix,
            "hypothesis": hypothesis,
            "rule": rule,
            "prior": prior,
        }
        points.append(
            Point(
                f"rate, {name}, {rule}",
                {"part": "rate", "name": name, "num_rounds": num_rounds, **given},
                num_lessons,
                min(num_lessons, _LESSONS_PER_SHARD),
            )
        )
    for name, (model, hypothesis) in models.items():
        given: dict[str, Any] = {
            "part": "invariants",
            "matrix": model.matrix,
            "hypothesis": hypothesis,
        }
        points.append(Point(f"invariants, {name}", given))
    for name, prior in UNIFORM_PRIORS.items():
        given: dict[str, Any] = {
            "part": "uniform",
            "matrix": examples[name].model.matrix,
            "prior": prior,
        }
        per_shard = min(num_learners, _LEARNERS_PER_SHARD)
        points.append(Point(f"uniform data, {name}", given, num_learners, per_shard))
    columns = examples[MIXTURE_MATRIX].model.normalized()
    points.append(Point("mixtures", {"part": "mixtures", "matrix": columns}, num_mixtures))
    points.append(Point("atoms", {"part": "atoms"}))
    return Experiment(
        "theorems", tuple(points), theorem_shard, seed=context.seed, estimate=theorem_estimate
    )


def without_relevant(model: Model, hypothesis: int, rule: str) -> Array:
    """Return a prior that excludes the hypothesis which sets the rate, and is even elsewhere."""
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
) -> Mapping[str, Any]:
    """Compute a shard of a part: "rate", "invariants", "uniform", "mixtures" or "atoms"."""
    part = globals()[f"_shard_of_{parameters['part']}"]
    return part(parameters, num_samples, np.random.default_rng(seed_sequence))


def theorem_estimate(
    statistics: Mapping[str, Any], parameters: dict[str, Any]
) -> dict[str, Estimate]:
    """Estimate the slope of a point "rate", in nats per round."""
    if parameters["part"] != "rate":
        return {}
    return {"slope": mean_estimate(*(statistics[k] for k in ("count", "total", "squares")))}


def _shard_of_rate(
    parameters: Mapping[str, Any], num_lessons: int, rng: np.random.Generator
) -> dict[str, Any]:
    first, last = parameters["num_rounds"] // 2, parameters["num_rounds"]
    lessons = simulate(
        RULES[parameters["rule"]](np.array(parameters["matrix"])),
        parameters["hypothesis"],
        num_rounds=last,
        num_lessons=num_lessons,
        prior=parameters["prior"],
        rng=rng,
        keep_paths=[first, last],
    )
    odds = lessons.log_odds()
    slopes = (odds[:, 1] - odds[:, 0]) / (last - first)
    sure = int((odds[:, 1] > np.log(99.0)).sum())  # belief above 0.99
    return {
        "count": num_lessons,
        "total": slopes.sum(),
        "squares": (slopes**2).sum(),
        "sure": sure,
    }


def _shard_of_invariants(
    parameters: Mapping[str, Any], _: int, __: np.random.Generator
) -> dict[str, Any]:
    report = check_invariants(np.array(parameters["matrix"]), parameters["hypothesis"])
    return {
        "num_rounds": report.num_rounds,
        "deviations": np.array([invariant.deviation for invariant in report.invariants]),
        "tolerance": report.invariants[0].tolerance,
        "mean_belief": np.asarray(report.mean_belief),
    }


def _shard_of_uniform(
    parameters: Mapping[str, Any], num_learners: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Count where learners end; the coupling of two equal agents is on the diagonal."""
    ends = coupling(
        np.array(parameters["matrix"]),
        prior=parameters["prior"],
        num_lessons=num_learners,
        max_rounds=MAX_UNIFORM_ROUNDS,
        level=SETTLED,
        rng=rng,
    )
    return {"shares": num_learners * np.diagonal(ends.matrix), "unsettled": ends.num_unfinished}


def _shard_of_mixtures(
    parameters: Mapping[str, Any], count: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Let BI learn from data of mixtures of hypotheses; count how often it ends elsewhere."""
    matrix = np.array(parameters["matrix"])
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


def _shard_of_atoms(_: Mapping[str, Any], __: int, rng: np.random.Generator) -> dict[str, Any]:
    """Count different beliefs after k rounds, on a random matrix and on one with like rows."""
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


# --- Numbers ---------------------------------------------------------------------------------


def slopes_table(models: Models, result: RunResult) -> pd.DataFrame:
    """Return rates of convergence in theory and in lessons, one row per matrix and rule."""
    import pandas as pd

    rows = []
    for point in result:
        if point.parameters["part"] != "rate":
            continue
        matrix, rule = (point.parameters[key] for key in ("name", "rule"))
        model, hypothesis = models["M_1" if matrix == EXCLUDED else matrix]
        theory = rate_of_convergence(
            RULES[rule](model), hypothesis, prior=point.parameters["prior"]
        )
        slope = point.estimates["slope"]
        counts = (int(point.statistics[key]) for key in ("count", "sure"))
        rows.append((matrix, rule, float(theory), slope.value, slope.stderr, *counts))
    columns = ("matrix", "rule", "theory", "measured", "stderr", "num_lessons", "num_sure")
    return pd.DataFrame(rows, columns=columns)


# --- Claims ----------------------------------------------------------------------------------


def judge_theorems(
    slopes: pd.DataFrame, models: Models, result: RunResult, rng: np.random.Generator
) -> tuple[Claim, ...]:
    """Judge the theorems, topic by topic."""
    reports = [result[f"invariants, {name}"].statistics for name in models]
    return (
        *about(
            CONSISTENCY,
            *(_judge_consistency(slopes, rule) for rule in RULES),
            judge_mixtures(result["mixtures"].statistics),
            *(judge_invariant(reports, position) for position in (0, 1)),
            judge_inverse(models, rng),
            judge_atoms(result["atoms"].statistics),
        ),
        *about(RATES, *(judge_rates(slopes, rule) for rule in RULES), judge_cross_ratios(models)),
        *about(
            UNIFORM,
            judge_destinations(result),
            *(judge_invariant(reports, position) for position in (2, 3)),
        ),
    )


def _judge_consistency(slopes: pd.DataFrame, rule: str) -> Claim:
    """Judge that beliefs converge to the truth, in probability."""
    own = slopes[(slopes.rule == rule) & (slopes.matrix != EXCLUDED)]
    confidence = 1.0 - ERROR_RATE / len(own)
    counts = zip(own.num_sure, own.num_lessons, strict=True)
    low, high = np.array([exact_interval(k, count, confidence) for k, count in counts]).T
    return judge_interval(
        f"{rule} is consistent: the belief converges to the truth",
        "Theorem 3.1 (strongly)" if rule == "BI" else "Theorem 3.5 (in probability)",
        low,
        high,
        above=_SURE_SHARE,
        values=own.num_sure / own.num_lessons,
        names=list(own.matrix),
        what="share of lessons that end with a belief above 0.99,",
        places="matrices",
    )


def judge_rates(slopes: pd.DataFrame, rule: str) -> Claim:
    """Judge the theorem on the rate of a rule."""
    own = slopes[slopes.rule == rule]
    return judge_agreement(
        f"The log-odds of the truth under {rule} grow at the rate of the theorem, the minimum over "
        "the prior’s support",
        "Theorem 3.2" if rule == "BI" else "Theorem 3.6",
        own.measured,
        own.stderr,
        own.theory,
        within=_RATE_LIMIT * own.theory,
        what="slope in lessons less theory",
        unit=f" nats per round ({100 * _RATE_LIMIT:g} % of the rate)",
    )


_INVARIANTS = (
    ("The mean of θ(h) never falls while h is taught", "Proof of Theorem 3.5"),
    ("The mean of θ(h′)/θ(h) is constant while h is taught", "Proof of Theorem 3.5"),
    ("Under uniform data the mean belief is constant", "Proposition 5.1, proof"),
    ("Under uniform data beliefs move outwards on average", "Proposition 5.1, proof"),
)


def judge_invariant(reports: list[Mapping[str, Any]], position: int) -> Claim:
    """Judge an invariant of the proofs, by its position in `_INVARIANTS`."""
    rounds = [int(report["num_rounds"]) for report in reports]
    worst = max(float(report["deviations"][position]) for report in reports)
    return _judge_identity(
        *_INVARIANTS[position],
        worst,
        f"largest violation {worst:.1g} on {len(reports)} matrices, {min(rounds)} to {max(rounds)} "
        "rounds",
        max(float(report["tolerance"]) for report in reports),
    )


def judge_inverse(models: Models, rng: np.random.Generator) -> Claim:
    """Judge that T_d is a bijection whose inverse is continuous, by inverting it."""
    positive = [model for model, _ in models.values() if (model.matrix > 0.0).all()]
    worst = 0.0
    for model in positive:
        rule = SCBI(model)
        for belief in rng.dirichlet(np.ones(model.num_hypotheses), 5):
            for datum, posterior in enumerate(rule.posteriors(belief)):
                apart = np.abs(inverse_update(rule, posterior, datum) - belief)
                worst = max(worst, float(apart.max()))
    return _judge_identity(
        "The update T_d is a bijection of the beliefs, continuous both ways",
        "Section 3.2",
        worst,
        "the inverse is a formula of sums, products and quotients of positive numbers; applied to "
        f"T_d(θ) it returns θ up to {worst:.1g}, at 5 random θ and all data of {len(positive)} "
        "matrices without zeros",
    )


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
    return _judge_identity(
        "KL(a, b) = log Σ aᵢCᵢ − Σ aᵢ log Cᵢ with the cross-ratios Cᵢ = a₁bᵢ/(aᵢb₁)",
        "Supplement, proof of Theorem 3.6",
        worst,
        f"largest difference {worst:.1g} over all pairs of columns",
    )


def judge_destinations(result: RunResult) -> Claim:
    """Judge that learners end where the prior says, under uniform data; Pearson's χ²."""
    shares, errors, priors, statistic, degrees, unsettled = [], [], [], 0.0, 0, 0
    for name, given in UNIFORM_PRIORS.items():
        found, prior = result[f"uniform data, {name}"].statistics, np.array(given)
        counts = np.asarray(found["shares"])
        total = counts.sum()
        shares.append(counts / total)
        priors.append(prior)
        errors.append(np.sqrt(prior * (1.0 - prior) / total))
        statistic += float(((counts - total * prior) ** 2 / (total * prior)).sum())
        degrees += len(prior) - 1
        unsettled += int(found["unsettled"])
    return judge_agreement(
        "Under uniform data a learner ends at hypothesis i with the prior probability of i",
        "Proposition 5.1",
        np.concatenate(shares),
        np.concatenate(errors),
        np.concatenate(priors),
        within=_SHARE_LIMIT,
        what=f"share of learners less prior ({unsettled} unsettled)",
        chi_square=(statistic, degrees),
    )


def judge_mixtures(found: Mapping[str, Any]) -> Claim:
    """Judge that BI does not find a true distribution over several hypotheses."""
    count, away = int(found["count"]), int(found["away"])
    low, high = exact_interval(away, count, 1.0 - ERROR_RATE)
    return judge_interval(
        "BI with a general true distribution θ̂ is almost never consistent",
        "Remark after Theorem 3.1",
        low,
        high,
        above=_ALMOST_ALL,
        measured=f"{away} of {count} uniform θ̂ on M₃ end farther than 0.1 (L¹) from θ̂ after "
        f"{MIXTURE_ROUNDS:,} rounds; {int(found['at_corner'])} are certain of one hypothesis",
        uncertainty=f"{100 * low:.1f} to {100 * high:.1f} % of all θ̂ ({SURE})",
        rule=f"the interval of the share that ends elsewhere lies above {100 * _ALMOST_ALL:g} %, "
        "our reading of “almost never” in finitely many rounds",
    )


def judge_atoms(found: Mapping[str, Any]) -> Claim:
    """Judge the number of different beliefs after some rounds."""
    full = 3 ** np.arange(1, len(found["random"]) + 1)
    is_full = [bool((np.asarray(found[name]) == full).all()) for name in ("random", "alike")]
    random, alike = (", ".join(map(str, found[name])) for name in ("random", "alike"))
    return Claim(
        "After k rounds the distribution of beliefs has exactly nᵏ atoms",
        "Section 3.2",
        "holds" if all(is_full) else "holds except" if is_full[0] else "does not hold",
        f"different beliefs after 1 to {len(full)} rounds: {random} on a random 3 × 3 matrix, "
        f"{alike} on one with two proportional rows, which give the same posterior",
        "exact",
        "as many different beliefs as sequences of data; “except” where some matrices have fewer",
    )


def _judge_identity(
    statement: str, source: str, worst: float, measured: str, tolerance: float = _ROUNDING
) -> Claim:
    rule = f"the largest violation is rounding, at most {tolerance:.0e}"
    limits: dict[str, Any] = {"below": tolerance, "measured": measured, "rule": rule}
    return judge_interval(statement, source, worst, worst, **limits)


# --- Section and pictures --------------------------------------------------------------------


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("slopes of the log-odds, invariants, learners under uniform data")
    models = models_of(context)
    result = context.run(theorem_experiment(context, models))
    slopes = slopes_table(models, result)
    mixtures = result["mixtures"].statistics
    rate = result.points[0]
    learners = result[f"uniform data, {next(iter(UNIFORM_PRIORS))}"].num_samples
    return write_section(
        "theorems",
        values={
            "num_rounds": rate.parameters["num_rounds"],
            "slopes": slopes,
            "excluded": [
                (row, slopes[(slopes.matrix == "M_1") & (slopes.rule == row.rule)].iloc[0])
                for _, row in slopes[slopes.matrix == EXCLUDED].iterrows()
            ],
            "mixture": mixtures,
            "mixture_rounds": f"{MIXTURE_ROUNDS:,}",
        },
        figures=_draw(slopes, {n: result[f"invariants, {n}"].statistics for n in models}),
        tables={"rate-table": _rates_table(slopes), "ends": _ends_table(result)},
        data={"theorems": slopes},
        claims=judge_theorems(slopes, models, result, context.rng()),
        sizes=f"{rate.num_samples} lessons of {rate.parameters['num_rounds']} rounds for each of "
        f"{len(slopes)} slopes; {learners} learners under uniform data for each of "
        f"{len(UNIFORM_PRIORS)} matrices.",
    )


def _shown(name: str) -> str:
    """Return a matrix's name as text shows it: symbols for the paper's."""
    first, comma, rest = name.partition(",")
    return (in_symbols(first) if first.startswith("M") else first) + comma + rest


def _rates_table(slopes: pd.DataFrame) -> Table:
    rows = []
    for name, pair in slopes.groupby("matrix", sort=False):
        row = [_shown(str(name))]
        for _, rate in pair.iterrows():
            row += [f"{rate.theory:.5f}", f"{rate.measured:.5f} ± {rate.stderr:.5f}"]
        rows.append(tuple(row))
    header = ("matrix", "BI, theory", "BI, lessons", "SCBI, theory", "SCBI, lessons")
    caption = "Rates of convergence, nats per round (± standard error)."
    return Table(caption, header, tuple(rows))


def _ends_table(result: RunResult) -> Table:
    rows = []
    for name, prior in UNIFORM_PRIORS.items():
        found = result[f"uniform data, {name}"].statistics
        total = np.sum(found["shares"])
        shares = np.asarray(found["shares"]) / total
        errors = np.sqrt(shares * (1.0 - shares) / total)
        texts = (f"{a:.3f} ± {b:.3f}" for a, b in zip(shares, errors, strict=True))
        given = ", ".join(f"{value:g}" for value in prior)
        rows.append((_shown(name), given, ", ".join(texts), str(int(found["unsettled"]))))
    return Table(
        "Where SCBI learners end under uniform random data: followed until they are sure of "
        f"something (belief above {SETTLED:g}), at most {MAX_UNIFORM_ROUNDS:,} rounds.",
        ("matrix", "prior", "share that ends there", "unsettled"),
        tuple(rows),
    )


def _draw(slopes: pd.DataFrame, reports: Mapping[str, Any]) -> dict[str, Figure]:
    rates, invariants = new_figure(4.8, 3.6), new_figure(4.8, 3.6)
    ax = rates.subplots()
    top = 1.08 * slopes.theory.max()
    ax.plot((0.0, top), (0.0, top), color=GREY, linewidth=0.8)
    for rule, own in slopes.groupby("rule"):
        style: dict[str, Any] = {
            **line_style(str(rule), 0),
            "linestyle": "none",
            "markerfacecolor": "none",
        }
        ax.errorbar(own.theory, own.measured, 2.0 * own.stderr, label=rule, markersize=5, **style)
    ax.set(xlabel="rate by the theorem, nats per round", ylabel="slope in lessons")
    ax.legend()
    tidy(ax)
    ax = invariants.subplots()
    # The supplement's five matrices.
    for k, name in enumerate(f"M_{k}" for k in range(1, 6)):
        if name in reports:
            style: dict[str, Any] = {
                "color": HYPOTHESIS_COLORS[k],
                "marker": "os^Dv"[k],
                "markersize": 4,
            }
            ax.plot(reports[name]["mean_belief"], label=_shown(name), **style)
    ax.set(xlabel="round", ylabel="exact mean of θ(h)")
    count_in_whole_numbers(ax)
    ax.legend(fontsize=8.5)
    tidy(ax)
    return {"rates": rates, "invariants": invariants}
