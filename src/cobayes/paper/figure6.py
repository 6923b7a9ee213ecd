"""Figure 6: the grid world, and two trends that the paper asserts for larger boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes.paper.grid_claims import by_board, judge_figure, judge_trend, judge_trends
from cobayes.paper.grid_experiments import READINGS, Reading, grid_shard
from cobayes.plots.house import axes_or_new, count_in_whole_numbers, line_style, tidy
from cobayes.report.claims import about
from cobayes.report.data_table import DataTable, column
from cobayes.report.prose import read_prose, written_section
from cobayes.report.section import Cell, Context, Picture, Section, Table, Tone
from cobayes.runs import Experiment, Point
from cobayes.worlds import GridWorld, plan_trajectory
from cobayes.worlds.agents import Moves, RuleName

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cobayes.worlds import Trajectory

TOPIC = "Section 6: the grid world"
DISCOUNTS = np.round(np.arange(0.02, 0.981, 0.02), 2)
SHIFTED_DISCOUNTS = np.round(np.arange(0.12, 0.881, 0.02), 2)
TREND_DISCOUNTS = (0.2, 0.3, 0.5, 0.7, 0.85)
FULL_NUM_WALKS = 2000
WALKERS: tuple[tuple[RuleName, Moves], ...] = (
    ("SCBI", "forward"),
    ("BI", "forward"),
    ("SCBI", "any"),
    ("BI", "any"),
)
QUANTITIES = ("gap", "SCBI_difference", "BI_difference")
_SIGNS: dict[str, tuple[str, Tone]] = {
    "holds": ("holds", "good"),
    "holds except": ("mostly", "note"),
    "does not hold": ("no", "bad"),
}


def grid_experiment(context: Context) -> Experiment:
    """Return the experiment of Figure 6: exact points, and walks that are drawn.

    Parameters
    ----------
    context
        Says scale and seed.
    """
    num_walks = context.count(FULL_NUM_WALKS, at_least=200)
    return Experiment(
        "grid-world",
        (
            Point("posteriors", {"part": "posteriors", "discounts": DISCOUNTS}),
            Point("misjudgement", {"part": "misjudgement", "discounts": SHIFTED_DISCOUNTS}),
            *(
                Point(reading.name, {"part": "trend", "reading": k, "discounts": TREND_DISCOUNTS})
                for k, reading in enumerate(READINGS)
            ),
            *(
                Point(
                    f"{rule}, {moves}", {"part": "walks", "rule": rule, "moves": moves}, num_walks
                )
                for rule, moves in WALKERS
            ),
        ),
        grid_shard,
        seed=context.seed,
    )


def draw_posteriors(beliefs: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Draw the beliefs in the true goal after (left, up) against the discount."""
    ax = _plot_rules(beliefs, axes_or_new(ax))
    ax.set_ylabel("belief in A after (left, up)")
    ax.set_ylim(0.48, 1.01)
    return ax


def draw_misjudgement(errors: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Draw the expected difference between learner's belief and teacher's estimate."""
    ax = _plot_rules(errors, axes_or_new(ax))
    ax.set_ylabel("expected difference")
    ax.set_ylim(0.0, None)
    return ax


def draw_trend(
    trend: Mapping[str, Any],
    quantity: str,
    over: str,
    *,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Draw a quantity against the board, one curve for each discount.

    Parameters
    ----------
    trend
        From `board_trend`.
    quantity
        The column to draw.
    over
        The column to draw it against: "width" or "num_goals".
    ax
        Where to draw; a new figure by default.
    label
        Label of the vertical axis; the quantity by default.
    """
    ax = axes_or_new(ax)
    discounts, _, values = by_board(trend, quantity)
    horizontal = trend[over].reshape(values.shape)[:, 0]
    for position, discount in enumerate(discounts):
        ax.plot(
            horizontal,
            values[:, position],
            label=f"{discount:g}",
            color=_shade(position, len(discounts)),
            marker="osD^v<>P"[position % 8],
            markersize=4,
        )
    ax.axhline(0.0, color="#888888", linewidth=0.8)
    ax.set_xlabel({"width": "board width", "num_goals": "number of goals"}[over])
    ax.set_ylabel(label or quantity)
    ax.legend(
        title="discount",
        frameon=False,
        fontsize=8,
        title_fontsize=8,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
    )
    count_in_whole_numbers(ax)
    tidy(ax)
    return ax


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("both panels, readings of larger boards, and walks")
    result = context.run(grid_experiment(context))
    beliefs, errors = result["posteriors"].statistics, result["misjudgement"].statistics
    trends = {reading: result[reading.name].statistics for reading in READINGS}
    walks = [result[f"{rule}, {moves}"].statistics for rule, moves in WALKERS]
    world = GridWorld.paper(0.5)
    plans = [plan_trajectory(world, "A", rule) for rule in ("SCBI", "BI")]
    left, right = _panels(beliefs, errors)
    by_name = {reading.name: reading for reading in READINGS}
    wide, goals = by_name["width, two goals"], by_name["number of goals, width 25"]
    whole = by_name["width, two goals; the whole shortest walk, log-odds"]
    return written_section(
        read_prose("cobayes.paper.prose", "figure-6"),
        values={},
        parts={
            "posteriors": left,
            "misjudgement": right,
            "width-gap": _trend_picture(wide, trends[wide], "gap", "width"),
            "goals-gap": _trend_picture(goals, trends[goals], "gap", "num_goals"),
            "walk-gap": _trend_picture(whole, trends[whole], "gap", "width"),
            "walk-difference": _trend_picture(whole, trends[whole], "SCBI_difference", "width"),
            "readings": _readings_table(trends),
            "plans": [_plan_picture(plan) for plan in plans],
            "walks": _legibility_table(walks),
        },
        data=(_data(beliefs, errors), _trends_data(trends)),
        claims=about(TOPIC, *judge_figure(beliefs, errors), *judge_trends(trends)),
        sizes=f"{walks[0]['num_walks']} walks of each walker; the rest is exact.",
    )


def _plot_rules(columns: Mapping[str, Any], ax: Axes) -> Axes:
    for rule in ("SCBI", "BI"):
        style = line_style(rule, 0)
        ax.plot(columns["discount"], columns[rule], label=rule, markevery=4, markersize=4, **style)
    ax.set_xlabel("discount γ")
    ax.set_xlim(0.0, 1.0)
    ax.legend(frameon=False)
    tidy(ax)
    return ax


def _shade(position: int, count: int) -> tuple[float, float, float, float]:
    import matplotlib as mpl

    from cobayes.plots.house import COLORMAP

    return mpl.colormaps[COLORMAP](0.9 * position / max(count - 1, 1))


def _panels(beliefs: Mapping[str, Any], errors: Mapping[str, Any]) -> tuple[Picture, Picture]:
    from matplotlib.figure import Figure

    left = Figure(figsize=(4.8, 3.2), layout="constrained")
    draw_posteriors(beliefs, ax=left.subplots())
    right = Figure(figsize=(4.8, 3.2), layout="constrained")
    draw_misjudgement(errors, ax=right.subplots())
    at = int(np.argmin(np.abs(beliefs["discount"] - 0.5)))
    there = int(np.argmin(np.abs(errors["discount"] - 0.5)))
    return (
        Picture(
            "posteriors",
            left,
            "Belief in the true goal A after the moves (left, up), against the discount.",
            f"Two falling curves; at discount 0.5 SCBI is at {beliefs['SCBI'][at]:.3f} and BI at "
            f"{beliefs['BI'][at]:.3f}.",
        ),
        Picture(
            "misjudgement",
            right,
            "Expected absolute difference between the learner's belief in A and the teacher's "
            "estimate of it after two moves, when the learner's discount is 0.1 above or below.",
            f"Two curves; at discount 0.5 SCBI is at {errors['SCBI'][there]:.4f} and BI at "
            f"{errors['BI'][there]:.4f}.",
        ),
    )


def _trend_picture(reading: Reading, trend: Mapping[str, Any], quantity: str, over: str) -> Picture:
    from matplotlib.figure import Figure

    label = {
        "gap": f"gap in {'beliefs' if reading.scale == 'belief' else 'log-odds'}: SCBI less BI",
        "SCBI_difference": "expected difference, SCBI",
    }[quantity]
    figure = Figure(figsize=(4.8, 3.0), layout="constrained")
    draw_trend(trend, quantity, over, label=label, ax=figure.subplots())
    _, _, values = by_board(trend, quantity)
    slug = f"{reading.name} {quantity}".lower()
    return Picture(
        "trend-" + "-".join("".join(c if c.isalnum() else " " for c in slug).split()),
        figure,
        f"{label[0].upper()}{label[1:]}; what grows: {reading.name}; watched: "
        + {"left, up": "(left, up)", "shortest": "the shortest walk"}.get(
            reading.walk, "m + 1 moves"
        )
        + ".",
        f"One curve for each of {values.shape[1]} discounts; the means over them go "
        f"from {values[0].mean():.4f} to {values[-1].mean():.4f}.",
    )


def _readings_table(trends: Mapping[Reading, Mapping[str, Any]]) -> Table:
    """Return each reading beside the others: where the gap grows and the difference falls."""
    rows = []
    for reading, trend in trends.items():
        row: list[str | Cell] = [
            reading.name,
            {"left, up": "(left, up)", "shortest": "to the goal"}.get(reading.walk, reading.walk),
        ]
        for quantity in QUANTITIES:
            way = "rises" if quantity == "gap" else "falls"
            verdict, single = judge_trend(trend, quantity, way)
            discounts, _, _ = by_board(trend, quantity)
            held = [f"{g:g}" for g, v in zip(discounts, single, strict=True) if v == "holds"]
            text, tone = _SIGNS[verdict]
            if verdict != "holds" and held:
                text, tone = f"at {', '.join(held)}", "note"
            row.append(Cell(text, tone))
        rows.append(tuple(row))
    return Table(
        "The two asserted trends in several readings of a larger board. “Holds” means at every "
        f"step and at all of the discounts {', '.join(f'{g:g}' for g in TREND_DISCOUNTS)}; else "
        "the discounts are named at which it does.",
        ("what grows", "walk", "gap grows", "SCBI’s difference falls", "BI’s difference falls"),
        tuple(rows),
    )


def _plan_picture(plan: Trajectory) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots.worlds import plot_trajectory

    figure = Figure(figsize=(4.8, 2.8), layout="constrained")
    plot_trajectory(plan, ax=figure.subplots())
    return Picture(
        f"plan-{plan.teacher_rule.lower()}",
        figure,
        f"The likeliest shortest walk of the {plan.teacher_rule} walker: "
        f"{', '.join(plan.action_labels)}. The watcher is 95 % sure after "
        f"{plan.rounds_until(0.95)} moves.",
        f"A board of {plan.num_steps} moves from S to A: {', '.join(plan.action_labels)}.",
    )


def _legibility_table(walks: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        f"Walks to A at discount 0.5, {walks[0]['num_walks']} of each kind, each watched by "
        "its own rule (± standard error). Once its watcher is convinced an SCBI walker has nothing "
        "left to teach and wanders: with all moves it takes longer ways than BI.",
        ("walker", "moves until 95 % sure", "never sure", "moves to A", "not there in 100"),
        tuple(
            (
                f"{rule}, {'moves forward only' if moves == 'forward' else 'all moves'}",
                f"{item['rounds']:.2f} ± {item['rounds_stderr']:.2f}",
                str(int(item["num_unsure"])),
                f"{item['steps']:.2f} ± {item['steps_stderr']:.2f}",
                str(int(item["num_unfinished"])),
            )
            for (rule, moves), item in zip(WALKERS, walks, strict=True)
        ),
    )


def _data(beliefs: Mapping[str, Any], errors: Mapping[str, Any]) -> DataTable:
    """Return both panels as one table; a panel has no value at some discounts of the other."""
    discounts = np.union1d(beliefs["discount"], errors["discount"])

    def spread(columns: Mapping[str, Any], rule: str) -> np.ndarray:
        values = np.full(len(discounts), np.nan)
        values[np.searchsorted(discounts, columns["discount"])] = columns[rule]
        return values

    return DataTable(
        "figure-6",
        "Figure 6: both panels",
        (
            column("discount", discounts, "what a step leaves of the reward", is_key=True),
            *(
                column(
                    f"belief_{rule.lower()}",
                    spread(beliefs, rule),
                    f"belief in A after (left, up), {rule}",
                )
                for rule in ("SCBI", "BI")
            ),
            *(
                column(
                    f"difference_{rule.lower()}",
                    spread(errors, rule),
                    "expected difference between the learner's belief in A and the teacher's "
                    f"estimate after two moves, discounts 0.1 apart, {rule}",
                )
                for rule in ("SCBI", "BI")
            ),
        ),
    )


def _trends_data(trends: Mapping[Reading, Mapping[str, Any]]) -> DataTable:
    described = {
        "gap": "SCBI less BI after the walk, in beliefs or log-odds as the reading says",
        "SCBI_difference": "expected difference between learner and teacher, SCBI",
        "BI_difference": "expected difference between learner and teacher, BI",
    }

    def joined(name: str) -> np.ndarray:
        return np.concatenate([trend[name] for trend in trends.values()])

    lengths = [len(trend["discount"]) for trend in trends.values()]

    def repeated(values: list[str]) -> np.ndarray:
        return np.repeat(values, lengths)

    return DataTable(
        "figure-6-trends",
        "The trends on growing boards",
        (
            column("trend", repeated([r.name for r in trends]), "what grows", is_key=True),
            column("walk", repeated([r.walk for r in trends]), "the moves that are watched"),
            column("scale", repeated([r.scale for r in trends]), "of the gap: belief or log-odds"),
            column("width", joined("width"), "columns of the board", "squares", is_key=True),
            column("num_goals", joined("num_goals"), "candidate goals", is_key=True),
            column("discount", joined("discount"), "the discount", is_key=True),
            *(column(name, joined(name), text) for name, text in described.items()),
        ),
    )
