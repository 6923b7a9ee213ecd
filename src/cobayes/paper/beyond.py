"""Beyond the paper: enclosed success rates, tiny perturbations, time to certainty, best teacher."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes.conjecture.certificate import load_certificate
from cobayes.errors import CobayesError
from cobayes.example_library import examples
from cobayes.lessons import plan_lesson, simulate
from cobayes.paper.common import draw_points, new_axes, words, write_section
from cobayes.plots.house import (
    BLUE,
    GREEN,
    GREY,
    VERMILION,
    integer_ticks,
    line_style,
    new_figure,
)
from cobayes.report.claims import Claim
from cobayes.report.section import Context, Section
from cobayes.rules import BI, SCBI, Pragmatic, Rule
from cobayes.runs import Estimate, Experiment, Point, PointResult
from cobayes.stability.enclosure import success_enclosure
from cobayes.theory.certainty import choosing_rate, predicted_rounds
from cobayes.theory.exact import exact_rounds

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LEARNER_PRIOR = (1 / 5, 1 / 3, 7 / 15)
PROMISED = 0.6
"""The lower bound of Conjecture 5.3 (total variation) on success for M_1 and `LEARNER_PRIOR`."""

SIZES = (-1.5, -3.0, -10.0, -30.0, -60.0, -90.0, -150.0)
"""Decimal logarithms of the L1 distances between the teacher's and the learner's prior."""

# The learner is sure when one minus its belief in the truth is at most this.
DOUBT = 1e-9
RULES = {"BI": BI, "Pragmatic": lambda model: Pragmatic(model, 1), "SCBI": SCBI}
TEACHERS_MATRIX = "M_3"


# --- Experiment ------------------------------------------------------------------------------


def beyond_experiment(context: Context) -> Experiment:
    """Return the experiment of the section; each of its points is a single shard."""
    quick = context.is_quick
    depth = context.setting("depth", 11 if quick else 12)
    slope_rounds = context.setting("num_slope_rounds", 400 if quick else 1000)
    slopes = context.setting("num_slope_lessons", context.count(20_000, at_least=100, quick=500))
    num_lessons = context.setting("num_lessons", context.count(2000, at_least=50, quick=200))
    teacher_rounds = context.setting("num_teacher_rounds", 6 if quick else 8)
    points = [Point(f"enclosure, {k}", {"part": "enclosure", "depth": k}) for k in range(depth + 1)]
    for size in (*SIZES, None):
        given = {"part": "slope", "log10_size": size, "num_rounds": slope_rounds}
        name = "limit" if size is None else f"1e{size:g}"
        points.append(Point(f"slope, {name}", given, slopes))
    rounds = {f"rounds, {case}": {"part": "rounds", "case": case} for case in predictable()}
    points += [Point(name, given, num_lessons) for name, given in rounds.items()]
    for rule in RULES:
        given = {"part": "teachers", "rule": rule, "num_rounds": teacher_rounds}
        points.append(Point(f"teachers, {rule}", given))
    return Experiment("beyond", points, beyond_shard, seed=context.seed, reduce=None)


def beyond_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Compute a point whose "part" is "enclosure", "slope", "rounds" or "teachers"."""
    part = parameters["part"]
    rng = np.random.default_rng(seed_sequence)
    if part == "enclosure":
        given = {"learner_prior": LEARNER_PRIOR, "num_rounds": parameters["depth"]}
        found = success_enclosure(examples["M_1"].model, 0, max_leaves=10**6, **given)
        return {"lower": found.lower, "upper": found.upper}
    if part == "slope":
        given = {name: parameters[name] for name in ("log10_size", "num_rounds")}
        slope = limit_case().slope(**given, num_lessons=num_samples, rng=rng)
        # `slope` is a mean over lessons; the shard returns the sum, and the variance of this sum.
        variance = (num_samples * slope.stderr) ** 2
        return {"total": num_samples * slope.value, "variance": variance}
    if part == "rounds":
        return _sum_rounds(*rule_of(parameters["case"]), num_samples, rng)
    return _taught_beliefs(parameters["rule"], parameters["num_rounds"])


def limit_case() -> Any:
    """Return the certificate of a counter-example to Conjecture 5.3 in L1: a `LimitCertificate`."""
    return load_certificate("l1-small-perturbations")


def rule_of(case: str) -> tuple[Rule, int]:
    """Return the rule and the taught hypothesis of a case, such as "M_1, SCBI"."""
    matrix, _, kind = case.rpartition(", ")
    example = examples[matrix]
    return RULES[kind](example.model), example.model.hypothesis_index(example.hypothesis)


def predictable() -> list[str]:
    """Return the cases for which `predicted_rounds` predicts the rounds until certainty."""
    found = []
    for case in (f"{name}, {kind}" for name in examples for kind in ("BI", "SCBI")):
        try:
            predicted_rounds(*rule_of(case), level=1.0 - DOUBT)
        except CobayesError:
            continue
        found.append(case)
    return found


def _sum_rounds(
    rule: Rule, hypothesis: int, num_lessons: int, rng: np.random.Generator
) -> dict[str, int]:
    """Return the sum, and the sum of squares, of the rounds until the learner is sure.

    A lesson in which the learner is never sure counts as one round more than were simulated.
    """
    level = 1.0 - DOUBT
    predicted = predicted_rounds(rule, hypothesis, level=level)
    num_rounds = math.ceil(predicted.mean + 10.0 * predicted.std) + 50
    counts = {"num_rounds": num_rounds, "num_lessons": num_lessons}
    lessons = simulate(rule, hypothesis, **counts, level=level, keep_paths=False, rng=rng)
    needed = lessons.rounds_needed
    times = np.append(needed.counts, needed.num_unsure)
    rounds = np.arange(len(times))
    return {"total": int(times @ rounds), "squares": int(times @ rounds**2)}


def _taught_beliefs(name: str, num_rounds: int) -> dict[str, np.ndarray]:
    """Return a learner's belief in the truth after 0, 1, ... rounds, for three kinds of data.

    "drawn": data drawn by the learner's own rule (mean belief); "chosen": data that are best for
    this rule and number of rounds; "borrowed": data that are best for another rule.
    """
    model = examples[TEACHERS_MATRIX].model
    rule, other = RULES[name](model), RULES["SCBI" if name == "BI" else "BI"](model)
    prior = model.distribution()
    found = {"chosen": [prior[0]], "borrowed": [prior[0]]}
    for rounds in range(1, num_rounds + 1):
        for key, owner in (("chosen", rule), ("borrowed", other)):
            belief = prior
            for datum in plan_lesson(owner, 0, rounds, look_ahead=rounds).data.tolist():
                belief = rule.update(belief, datum)
            found[key].append(belief[0])
    drawn = np.asarray(exact_rounds(rule, 0, num_rounds).mean)
    return {"drawn": drawn, **{key: np.array(values) for key, values in found.items()}}


# --- Numbers and claims ----------------------------------------------------------------------


def slope_of(point: PointResult) -> Estimate:
    """Return, from the sums of a point, the ratio that `LimitCertificate.slope` estimates."""
    total, variance = (float(point.statistics[key]) for key in ("total", "variance"))
    return Estimate(total / point.num_samples, math.sqrt(variance) / point.num_samples)


def rounds_table(points: Sequence[PointResult]) -> pd.DataFrame:
    """Return mean and sd of the rounds until the learner is sure, predicted and simulated."""
    import pandas as pd

    rows = {}
    for point in points:
        case, count = point.parameters["case"], point.num_samples
        predicted = predicted_rounds(*rule_of(case), level=1.0 - DOUBT)
        mean = float(point.statistics["total"]) / count
        spread = float(point.statistics["squares"]) - count * mean**2
        std = math.sqrt(max(spread, 0.0) / (count - 1))
        rows[case] = (predicted.mean, predicted.std, mean, std)
    columns = ["predicted", "predicted_std", "mean", "std"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def judge_enclosed(depth: int, upper: float) -> Claim:
    """Judge Conjecture 5.3 in total variation by a proved upper bound on a success rate."""
    verdict = "does not hold" if upper < PROMISED - 1e-9 else "not decided"
    return Claim(verdict=verdict, **words("enclosed", depth=depth, upper=upper, promised=PROMISED))


def judge_limit(here: Estimate) -> Claim:
    """Judge Conjecture 5.3 in L1 by the counter-example in a certificate of cobayes."""
    recorded = limit_case().evidence["limit"]
    above = (recorded["value"] - 1.0) / recorded["stderr"]
    verdict = "does not hold" if above > 6.0 else "not decided"
    return Claim(verdict=verdict, **words("limit", recorded=recorded, above=above, here=here))


# --- Section and pictures --------------------------------------------------------------------


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("enclosures, tiny perturbations, predicted rounds, the best teacher")
    parts: dict[str, list[PointResult]] = {}
    for point in context.run(beyond_experiment(context)):
        parts.setdefault(point.parameters["part"], []).append(point)
    lower, upper = (
        np.array([float(point.statistics[end]) for point in parts["enclosure"]])
        for end in ("lower", "upper")
    )
    slopes, rounds = [slope_of(point) for point in parts["slope"]], rounds_table(parts["rounds"])
    teachers = {point.parameters["rule"]: point.statistics for point in parts["teachers"]}
    model = examples[TEACHERS_MATRIX].model
    return write_section(
        "beyond",
        values={
            "promised": PROMISED,
            "lower": lower,
            "upper": upper,
            "slopes": slopes,
            "slope": parts["slope"][0],
            "rounds": rounds,
            "num_lessons": parts["rounds"][0].num_samples,
            "teachers": teachers,
            "rates": {name: choosing_rate(RULES[name](model), 0) for name in ("BI", "SCBI")},
        },
        figures={
            "success-enclosed": _draw_enclosure(lower, upper),
            "tiny-perturbations": _draw_slopes(slopes),
            "predicted-rounds": _draw_rounds(rounds),
            "best-teacher": _draw_teachers(teachers),
        },
        data={"predicted-rounds": rounds.rename_axis("case").reset_index()},
        claims=(judge_enclosed(len(upper) - 1, upper[-1]), judge_limit(slopes[-1])),
    )


def _draw_enclosure(lower: np.ndarray, upper: np.ndarray) -> Figure:
    figure, ax = new_axes(4.8, 3.4)
    ax.fill_between(range(len(upper)), lower, upper, color=BLUE, alpha=0.15, linewidth=0)
    ax.plot(upper, color=BLUE, marker="v", label="upper bound")
    ax.plot(lower, color=BLUE, marker="^", label="lower bound")
    ax.set(xlabel="depth (number of data)", ylabel="success rate", ylim=(0.0, 0.75))
    inset = ax.inset_axes((0.2, 0.3, 0.5, 0.4))
    inset.plot(upper, color=BLUE, marker="v", markersize=3)
    inset.set(ylim=(min(0.585, upper[-1] - 0.002), 0.602))
    inset.tick_params(labelsize=8)
    for each in (ax, inset):
        each.axhline(PROMISED, color=VERMILION, linestyle="--", label="Conjecture 5.3")
        integer_ticks(each)
    ax.legend(loc="upper center", ncols=3, fontsize=8.5)
    return figure


def _draw_slopes(slopes: Sequence[Estimate]) -> Figure:
    figure, ax = new_axes(4.8, 3.4)
    values, errors = np.array([(each.value, 2.0 * each.stderr) for each in slopes]).T
    sizes = -np.array(SIZES)
    ax.errorbar(sizes, values[:-1], errors[:-1], color=BLUE, marker="o", label="perturbation")
    low, high = values[-1] - errors[-1], values[-1] + errors[-1]
    ax.axhspan(low, high, color=BLUE, alpha=0.15, linewidth=0, label="limit")
    ax.axhline(1.0, color=VERMILION, linestyle="--", label="Conjecture 5.3")
    ax.set(xlabel="−log₁₀ of the L¹ distance of the priors", ylabel="failure rate / its bound")
    ax.set_ylim(0.4, max(1.3, high + 0.05))
    ax.legend(loc="lower right")
    return figure


def _draw_rounds(rounds: pd.DataFrame) -> Figure:
    figure = new_figure(9.0, 3.6)
    axes = figure.subplots(1, 2)
    for ax, said, seen, title in (
        (axes[0], "predicted", "mean", "mean"),
        (axes[1], "predicted_std", "std", "standard deviation"),
    ):
        shown = rounds[(rounds[said] > 0.0) & (rounds[seen] > 0.0)]
        for rule in ("BI", "SCBI"):
            own = shown[shown.index.str.endswith(f", {rule}")]
            style = {**line_style(rule, 0), "markerfacecolor": "none", "markersize": 6}
            draw_points(ax, own[said], own[seen], label=rule, **style)
        ends = np.asarray(shown[[said, seen]])
        line = (0.8 * ends.min(), 1.25 * ends.max())
        ax.plot(line, line, color=GREY, linewidth=0.8, zorder=0)
        ax.set(xscale="log", yscale="log", title=f"{title} of the number of rounds")
        ax.set(xlabel="predicted", ylabel="in lessons")
        axes[0].legend()
    return figure


def _draw_teachers(teachers: Mapping[str, Mapping[str, Any]]) -> Figure:
    figure = new_figure(9.0, 3.2)
    axes = figure.subplots(1, len(teachers))
    for ax, (name, own) in zip(axes, teachers.items(), strict=True):
        other = "SCBI" if name == "BI" else "BI"
        ax.plot(own["chosen"], color=BLUE, marker="o", label=f"chosen for {name}")
        ax.plot(own["borrowed"], "^-.", color=GREEN, label=f"chosen for {other}")
        ax.plot(own["drawn"], "s--", color=VERMILION, label="drawn (mean)")
        ax.set(title=f"{name} learner", xlabel="round", ylim=(0.3, 1.02))
        integer_ticks(ax)
        ax.legend(fontsize=8.5, loc="lower right")
        axes[0].set_ylabel("belief in the truth")
    return figure
