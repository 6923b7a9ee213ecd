"""Beyond the paper: success enclosed, tiny perturbations, time to certainty, the best teacher."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobayes.example_library import examples
from cobayes.paper.beyond_experiments import (
    LEARNERS,
    SIZES,
    TEACHERS_MATRIX,
    beyond_experiment,
    limit_case,
    rules_of,
)
from cobayes.paper.stability_claims import CONJECTURE
from cobayes.report.claims import Claim, about
from cobayes.report.data_table import DataTable, column
from cobayes.report.prose import read_prose, written_section
from cobayes.report.section import Context, Picture, Section
from cobayes.theory.choosing import choosing_rate

PROMISED = 0.6


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("enclosures, tiny perturbations, predicted rounds, the best teacher")
    experiment = beyond_experiment(context)
    result = context.run(experiment)
    counts = {p.parameters["part"]: p.num_samples for p in experiment.points}
    found = {name: [p for p in result if p.parameters["part"] == name] for name in _PARTS}
    depths = [point.parameters["depth"] for point in found["enclosure"]]
    lower, upper = (
        np.array([float(p.statistics[end]) for p in found["enclosure"]])
        for end in ("lower", "upper")
    )
    teachers = {point.parameters["rule"]: point.statistics for point in found["teachers"]}
    rounds = {p.parameters["case"]: p.statistics for p in found["rounds"]}
    slope = found["slope"][0].parameters
    rules = rules_of(examples[TEACHERS_MATRIX].model)
    rates = {name: choosing_rate(rule, 0) for name, rule in rules.items()}
    return written_section(
        read_prose("cobayes.paper.prose", "beyond"),
        values={
            "depth": depths[-1],
            "upper": f"{upper[-1]:.4f}",
            "slope_sequences": f"{counts['slope']:,}",
            "slope_rounds": f"{slope['num_rounds']:,}",
            "rounds_cases": len(rounds),
            "num_lessons": counts["rounds"],
            "teacher_rounds": len(teachers["BI"]["drawn"]) - 1,
            "teachers": "; ".join(
                f"{name} {teachers[name]['drawn'][-1]:.3f} drawn, "
                f"{teachers[name]['chosen'][-1]:.3f} chosen"
                for name in LEARNERS
            ),
            "borrowed": f"{min(teachers['SCBI']['borrowed'] - teachers['SCBI']['drawn']):.2f} to "
            f"{max(teachers['SCBI']['borrowed'] - teachers['SCBI']['drawn']):.2f}",
            "rates": " and ".join(
                f"{rates[name].rate:.2f} nats per round instead of "
                f"{rates[name].drawing_rate:.2f} for {name}"
                for name in ("BI", "SCBI")
            ),
        },
        parts={
            "enclosure": _enclosure_picture(depths, lower, upper),
            "slope": _slope_picture(found["slope"]),
            "rounds": _rounds_picture(rounds),
            "teachers": _teachers_picture(teachers),
        },
        data=(_rounds_data(rounds),),
        claims=about(CONJECTURE, _judge_enclosed(depths[-1], upper[-1]), _judge_limit(found)),
        sizes=f"depth {depths[-1]}; {counts['slope']} sequences of {slope['num_rounds']} data for "
        f"each of {len(SIZES) + 1} sizes; {counts['rounds']} lessons for each of {len(rounds)} "
        "cases.",
    )


_PARTS = ("enclosure", "slope", "rounds", "teachers")


def _judge_enclosed(depth: int, upper: float) -> Claim:
    return Claim(
        "Conjecture 5.3 on M₁ in total variation: a learner with prior (1/5, 1/3, 7/15) succeeds "
        "with at least 0.6",
        "Conjecture 5.3",
        "does not hold" if upper < PROMISED - 1e-9 else "not decided",
        f"success is at most {upper:.4f}, from all data up to depth {depth}",
        "exact",
        "the upper end of the enclosure, rounded outwards, lies below the promise",
    )


def _judge_limit(found: dict[str, list[Any]]) -> Claim:
    case = limit_case()
    recorded = case.evidence["limit"]
    above = (recorded["value"] - 1.0) / recorded["stderr"]
    here = found["slope"][-1].statistics
    return Claim(
        "Conjecture 5.3 for any matrix and priors, in the L¹ distance",
        "Conjecture 5.3",
        "does not hold" if above > 6.0 else "not decided",
        f"in the limit of small perturbations failure is {recorded['value']:.3f} times what is "
        f"allowed, as recorded ({float(here['value']):.2f} ± {float(here['stderr']):.2f} in this "
        "report); no failure is known for priors farther apart than about 10⁻⁶⁰. "
        "`cobayes conjecture check l1-small-perturbations` repeats it",
        f"±\u00a0{recorded['stderr']:.1g}; {above:.1f} standard errors above one",
        "the recorded ratio lies at least 6 standard errors above one",
    )


def _figure(width: float, height: float, columns: int = 1) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, columns)


def _enclosure_picture(depths: list[int], lower: np.ndarray, upper: np.ndarray) -> Picture:
    from cobayes.plots.house import BLUE, VERMILION, count_in_whole_numbers, tidy

    figure, ax = _figure(4.8, 3.4)
    ax.fill_between(depths, lower, upper, color=BLUE, alpha=0.15, linewidth=0)
    ax.plot(depths, upper, color=BLUE, marker="v", label="at most")
    ax.plot(depths, lower, color=BLUE, marker="^", label="at least")
    ax.axhline(PROMISED, color=VERMILION, linestyle="--", label="promised, at least")
    ax.set(xlabel="depth of the tree of data", ylabel="success rate", ylim=(0.0, 0.75))
    count_in_whole_numbers(ax)
    ax.legend(frameon=False, loc="upper center", ncols=3, fontsize=8.5)
    tidy(ax)
    inset = ax.inset_axes((0.2, 0.3, 0.5, 0.4))
    inset.plot(depths, upper, color=BLUE, marker="v", markersize=3)
    inset.axhline(PROMISED, color=VERMILION, linestyle="--")
    inset.set(ylim=(min(0.585, upper[-1] - 0.002), 0.602))
    inset.tick_params(labelsize=8)
    count_in_whole_numbers(inset)
    tidy(inset)
    return Picture(
        "success-enclosed",
        figure,
        "Bounds on the success rate on M₁, by depth; the inset enlarges the upper one. It falls "
        "below what Conjecture 5.3 promises in total variation.",
        f"The upper bound falls from 0.6 to {upper[-1]:.4f}, the lower one rises from "
        f"{lower[0]:.2f} to {lower[-1]:.2f}.",
    )


def _slope_picture(points: list[Any]) -> Picture:
    from cobayes.plots.house import BLUE, VERMILION, tidy

    figure, ax = _figure(4.8, 3.4)
    values = [float(point.statistics["value"]) for point in points]
    errors = [2.0 * float(point.statistics["stderr"]) for point in points]
    sizes = [-size for size in SIZES]
    ax.errorbar(sizes, values[:-1], yerr=errors[:-1], color=BLUE, marker="o", label="perturbation")
    low, high = values[-1] - errors[-1], values[-1] + errors[-1]
    ax.axhspan(low, high, color=BLUE, alpha=0.15, linewidth=0, label="limit")
    ax.axhline(1.0, color=VERMILION, linestyle="--", label="allowed, at most")
    ax.set(xlabel="−log₁₀ of the L¹ distance of the priors", ylabel="failure over what is allowed")
    ax.set_ylim(0.4, max(1.3, high + 0.05))
    ax.legend(frameon=False, loc="lower right")
    tidy(ax)
    return Picture(
        "tiny-perturbations",
        figure,
        "Failure over what Conjecture 5.3 allows in L¹, against the size of the perturbation; "
        "bars and band are two standard errors.",
        f"The ratio rises from {values[0]:.2f} for large perturbations to {values[-1]:.2f} in the "
        "limit.",
    )


def _rounds_picture(rounds: dict[str, Any]) -> Picture:
    from cobayes.plots.house import GREY, line_style, tidy

    figure, axes = _figure(9.0, 3.6, 2)
    for ax, (said, seen), title in zip(
        axes,
        (("predicted", "mean"), ("predicted_std", "std")),
        ("mean", "standard deviation"),
        strict=True,
    ):
        for rule in ("BI", "SCBI"):
            own = [v for name, v in rounds.items() if name.endswith(f", {rule}")]
            own = [v for v in own if float(v[said]) > 0.0 and float(v[seen]) > 0.0]
            style = {**line_style(rule, 0), "linestyle": "none"}
            ax.plot(
                [float(v[said]) for v in own],
                [float(v[seen]) for v in own],
                markerfacecolor="none",
                label=rule,
                **style,
            )
        ends = [min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])]
        ends[0] = max(ends[0], 8.0)
        ax.plot(ends, ends, color=GREY, linewidth=0.8, zorder=0)
        ax.set(xscale="log", yscale="log", title=f"{title} of the number of rounds")
        ax.set(xlabel="predicted", ylabel="in lessons")
        tidy(ax)
    axes[0].legend(frameon=False)
    worst = max(abs(float(v["mean"]) / float(v["predicted"]) - 1.0) for v in rounds.values())
    return Picture(
        "predicted-rounds",
        figure,
        "Rounds until the doubt is 10⁻⁹, predicted and in lessons, over the built-in examples; "
        f"the line is equality. The means differ by at most {100 * worst:.1f} %.",
        "Points near the diagonal over two orders of magnitude.",
        is_wide=True,
    )


def _teachers_picture(teachers: dict[str, Any]) -> Picture:
    from cobayes.plots.house import BLUE, GREEN, VERMILION, count_in_whole_numbers, tidy

    figure, axes = _figure(9.0, 3.2, len(LEARNERS))
    for ax, name in zip(axes, LEARNERS, strict=True):
        own = teachers[name]
        other = "SCBI" if name == "BI" else "BI"
        ax.plot(own["chosen"], color=BLUE, marker="o", label="chosen for it")
        ax.plot(own["borrowed"], "^-.", color=GREEN, label=f"chosen for {other}")
        ax.plot(own["drawn"], color=VERMILION, marker="s", linestyle="--", label="drawn (mean)")
        ax.set(title=f"{name} learner", xlabel="round", ylim=(0.3, 1.02))
        count_in_whole_numbers(ax)
        ax.legend(frameon=False, fontsize=8.5, loc="lower right")
        tidy(ax)
    axes[0].set_ylabel("belief in the truth")
    return Picture(
        "best-teacher",
        figure,
        "Belief in the truth on M₃ when the data are the best for that number of rounds, when "
        "they are the best for another learner, and on average when they are drawn.",
        "; ".join(
            f"{name}: {own['chosen'][-1]:.2f} chosen, {own['drawn'][-1]:.2f} drawn"
            for name, own in teachers.items()
        ),
        is_wide=True,
    )


def _rounds_data(rounds: dict[str, Any]) -> DataTable:
    def values(key: str) -> list[float]:
        return [float(own[key]) for own in rounds.values()]

    return DataTable(
        "predicted-rounds",
        "Rounds until the doubt is 1e-9, predicted and in lessons",
        (
            column("case", list(rounds), "example and rule", is_key=True),
            column("predicted", values("predicted"), "predicted mean", "rounds"),
            column("predicted_std", values("predicted_std"), "predicted sd", "rounds"),
            column("mean", values("mean"), "mean in lessons", "rounds"),
            column("std", values("std"), "standard deviation in lessons", "rounds"),
        ),
    )
