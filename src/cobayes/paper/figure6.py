"""Figure 6: the grid world, and two trends that the paper asserts for larger boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cobayes.plots.style import axes_or_new, count_in_whole_numbers, line_style, tidy
from cobayes.report.claims import Claim
from cobayes.report.data_table import DataTable, column
from cobayes.report.section import Cell, Context, Picture, Section, Table, Tone
from cobayes.worlds import GridWorld, measure_legibility, plan_trajectory
from cobayes.worlds.agents import Moves, RuleName
from cobayes.worlds.claims import Judgement, Verdict, by_board, judge_figure, judge_trends
from cobayes.worlds.experiments import (
    Columns,
    board_trend,
    misjudgement_against_discount,
    posteriors_against_discount,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cobayes.worlds import Legibility, Trajectory

DISCOUNTS = np.round(np.arange(0.02, 0.981, 0.02), 2)
SHIFTED_DISCOUNTS = np.round(np.arange(0.12, 0.881, 0.02), 2)
TREND_DISCOUNTS = (0.2, 0.3, 0.5, 0.7, 0.85)
WIDTHS = tuple((width, 2) for width in (5, 7, 9, 13, 17, 25))
GOALS = tuple((25, goals) for goals in (2, 3, 4, 5, 7, 9, 13))
BOTH = tuple((4 * (goals - 1) + 1, goals) for goals in (2, 3, 4, 5, 7, 9))
AROUND = tuple((9, goals) for goals in (2, 4, 8, 16, 32))
FULL_NUM_WALKS = 2000
WALKERS: tuple[tuple[RuleName, Moves], ...] = (
    ("SCBI", "forward"),
    ("BI", "forward"),
    ("SCBI", "any"),
    ("BI", "any"),
)

_TREND_CLAIMS = {
    "gap": "On larger boards the gap between SCBI and BI after (left, up) grows",
    "SCBI_difference": "On larger boards SCBI’s expected difference falls",
    "BI_difference": "On larger boards BI’s expected difference falls",
}
"""By the quantity that `judge_trends` judges, in its order."""

TONES: dict[Verdict, Tone] = {"holds": "good", "holds except": "note", "does not hold": "bad"}


def compute_trends() -> dict[str, Columns]:
    """Return the trends on growing boards, by what grows."""
    return {
        "width, two goals": board_trend(WIDTHS, TREND_DISCOUNTS),
        "number of goals, width 25": board_trend(GOALS, TREND_DISCOUNTS),
        "width and goals together": board_trend(BOTH, TREND_DISCOUNTS),
        "goals all around, eight moves": board_trend(AROUND, TREND_DISCOUNTS, layout="around"),
    }


def plot_posteriors(beliefs: Columns, *, ax: Axes | None = None) -> Axes:
    """Draw the beliefs in the true goal after (left, up) against the discount."""
    ax = _plot_rules(beliefs, axes_or_new(ax))
    ax.set_ylabel("belief in A after (left, up)")
    ax.set_ylim(0.48, 1.01)
    return ax


def plot_misjudgement(errors: Columns, *, ax: Axes | None = None) -> Axes:
    """Draw the expected difference between learner's belief and teacher's estimate."""
    ax = _plot_rules(errors, axes_or_new(ax))
    ax.set_ylabel("expected difference")
    ax.set_ylim(0.0, None)
    return ax


def plot_trend(
    trend: Columns, quantity: str, over: str, *, ax: Axes | None = None, label: str | None = None
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
        Of the vertical axis; the quantity by default.
    """
    ax = axes_or_new(ax)
    discounts, _, values = by_board(trend, quantity)
    horizontal = trend[over].reshape(values.shape)[:, 0]
    for position, discount in enumerate(discounts):
        style = {**line_style("", position), "color": _shade(position, len(discounts))}
        ax.plot(horizontal, values[:, position], label=f"{discount:g}", markersize=4, **style)
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
    context.tell(f"both panels at {len(DISCOUNTS)} discounts, exactly")
    beliefs = posteriors_against_discount(DISCOUNTS)
    errors = misjudgement_against_discount(SHIFTED_DISCOUNTS)
    context.tell("the same on growing boards")
    trends = compute_trends()
    judgements = (*judge_figure(beliefs, errors), *judge_trends(trends))
    num_walks = context.count(FULL_NUM_WALKS, at_least=200)
    context.tell(f"legibility over {num_walks} walks of each walker")
    world = GridWorld.paper(0.5)
    plans = [plan_trajectory(world, "A", rule) for rule in ("SCBI", "BI")]
    measured = [
        measure_legibility(world, "A", rule, moves=moves, num_walks=num_walks, rng=seed)
        for (rule, moves), seed in zip(WALKERS, context.seeds().spawn(len(WALKERS)), strict=True)
    ]
    return Section(
        title="Figure 6: the grid world",
        blocks=(
            "A walker starts at S, in the lower middle of a board with goals A and B in the upper "
            "corners, and moves left, up or right; a watcher infers the goal from the moves. A "
            "square k steps from the goal is worth γᵏ. The paper draws 3 rows of 7 squares and "
            "writes “3 × 5”; both boards give the same numbers here. Everything but the table of "
            "walks is exact.",
            *_panels(beliefs, errors),
            _table_of("The paper's statements about this board.", judgements[:5]),
            "The paper adds, without showing it, that on wider boards with more goals the gap "
            "between the two learners grows while the expected difference for the same error of "
            "the discount falls. Near the start the matrix does not depend on the width at all: "
            "up to the scaling of columns it only says which goals lie to the left, above and to "
            "the right, so that width alone changes nothing once both moves stay off the edge. "
            "More goals share the belief that the moves can give, and both the gap and the "
            "difference get smaller.",
            *_trend_pictures(trends),
            _table_of(
                "The two asserted trends, in four readings of a larger board.", judgements[5:]
            ),
            "What cooperation buys: the most likely shortest walk of an SCBI walker goes left "
            "first, that of a BI walker goes up first and leaves the watcher in doubt longest. "
            "Under SCBI a walk of k moves has the probability 3⁻ᵏ θₖ(A) / θ₀(A), so that the "
            "likeliest walk of a given length is the one after which the watcher is surest.",
            *(_plan_picture(plan) for plan in plans),
            _legibility_table(measured),
        ),
        data=(_data(beliefs, errors), _trends_data(trends)),
        claims=claims_of(judgements[:5], judgements[5:], trends),
        sizes=f"{num_walks} walks of each walker; the rest is exact.",
    )


def _plot_rules(columns: Columns, ax: Axes) -> Axes:
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

    from cobayes.plots.style import COLORMAP

    return mpl.colormaps[COLORMAP](0.9 * position / max(count - 1, 1))


def _panels(beliefs: Columns, errors: Columns) -> tuple[Picture, Picture]:
    from matplotlib.figure import Figure

    left = Figure(figsize=(4.8, 3.2), layout="constrained")
    plot_posteriors(beliefs, ax=left.subplots())
    right = Figure(figsize=(4.8, 3.2), layout="constrained")
    plot_misjudgement(errors, ax=right.subplots())
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


def _trend_pictures(trends: Mapping[str, Columns]) -> list[Picture]:
    from matplotlib.figure import Figure

    pictures = []
    for name, over, slug in (
        ("width, two goals", "width", "width"),
        ("number of goals, width 25", "num_goals", "goals"),
    ):
        for quantity, label in (
            ("gap", "belief in A: SCBI less BI"),
            ("SCBI_difference", "expected difference, SCBI"),
        ):
            figure = Figure(figsize=(4.8, 3.0), layout="constrained")
            plot_trend(trends[name], quantity, over, label=label, ax=figure.subplots())
            _, _, values = by_board(trends[name], quantity)
            pictures.append(
                Picture(
                    f"trend-{slug}-{quantity.lower().replace('_', '-')}",
                    figure,
                    f"{label[0].upper()}{label[1:]} as the board grows: {name}.",
                    f"One curve for each of {values.shape[1]} discounts; the means over them go "
                    f"from {values[0].mean():.4f} to {values[-1].mean():.4f}.",
                )
            )
    return pictures


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


def _table_of(caption: str, judgements: tuple[Judgement, ...]) -> Table:
    return Table(
        caption,
        ("claim", "verdict", "measured"),
        tuple((j.claim, Cell(j.verdict, TONES[j.verdict]), j.evidence) for j in judgements),
    )


def _legibility_table(measured: list[Legibility]) -> Table:
    rows = []
    for number, item in enumerate(measured):
        rows.append(
            (
                f"{item.teacher_rule}, {'moves forward only' if number < 2 else 'all moves'}",
                f"{item.rounds:.2f} ± {item.rounds_stderr:.2f}",
                str(item.num_unsure),
                f"{item.steps:.2f} ± {item.steps_stderr:.2f}",
                str(item.num_unfinished),
            )
        )
    return Table(
        f"Walks to A at discount 0.5, {measured[0].num_walks} of each kind, each watched by "
        "its own rule (± standard error). Once its watcher is convinced an SCBI walker has nothing "
        "left to teach and wanders: with all moves it takes longer ways than BI.",
        ("walker", "moves until 95 % sure", "never sure", "moves to A", "not there in 100"),
        tuple(rows),
    )


def claims_of(
    statements: Sequence[Judgement],
    judged_trends: Sequence[Judgement],
    trends: Mapping[str, Columns],
) -> tuple[Claim, ...]:
    """Return the judgements as claims; each trend once, with all readings of a larger board.

    Parameters
    ----------
    statements
        Of `judge_figure`.
    judged_trends
        Of `judge_trends`.
    trends
        What they were judged by.
    """
    claims = [
        Claim(
            judgement.claim[0].upper() + judgement.claim[1:],
            "Section 6, Figure 6",
            judgement.verdict,
            judgement.evidence,
            "exact",
            "at every discount; “except” where at most of them",
        )
        for judgement in statements
    ]
    for position, (quantity, statement) in enumerate(_TREND_CLAIMS.items()):
        own = judged_trends[position :: len(_TREND_CLAIMS)]
        texts = []
        for (name, trend), judgement in zip(trends.items(), own, strict=True):
            discounts, _, values = by_board(trend, quantity)
            middle = int(np.argmin(np.abs(discounts - 0.5)))
            texts.append(
                f"{name}: {judgement.verdict}, {values[0, middle]:.4f} → {values[-1, middle]:.4f}"
            )
        verdict = own[0].verdict
        if any(judgement.verdict != verdict for judgement in own):
            verdict = "holds except"
        claims.append(
            Claim(
                statement,
                "Section 6",
                verdict,
                f"at discount {discounts[middle]:g}, from the smallest board to the largest: "
                + "; ".join(texts),
                "exact",
                "in every reading of a larger board; “except” where the readings differ",
            )
        )
    return tuple(claims)


def _data(beliefs: Columns, errors: Columns) -> DataTable:
    """Return both panels as one table; a panel has no value at some discounts of the other."""
    discounts = np.union1d(beliefs["discount"], errors["discount"])

    def spread(columns: Columns, rule: str) -> np.ndarray:
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


def _trends_data(trends: Mapping[str, Columns]) -> DataTable:
    described = {
        "gap": "belief in A after (left, up), SCBI less BI",
        "SCBI_difference": "expected difference between learner and teacher, SCBI",
        "BI_difference": "expected difference between learner and teacher, BI",
    }
    names = [name for name in next(iter(trends.values())) if name in described]

    def joined(name: str) -> np.ndarray:
        return np.concatenate([trend[name] for trend in trends.values()])

    lengths = [len(trend["discount"]) for trend in trends.values()]
    return DataTable(
        "figure-6-trends",
        "The trends on growing boards",
        (
            column("trend", np.repeat(list(trends), lengths), "what grows", is_key=True),
            column("width", joined("width"), "columns of the board", "squares", is_key=True),
            column("num_goals", joined("num_goals"), "candidate goals", is_key=True),
            column("discount", joined("discount"), "the discount", is_key=True),
            *(column(name, joined(name), described[name]) for name in names),
        ),
    )
