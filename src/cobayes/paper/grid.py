"""Figure 6: the grid world, and two trends that the paper asserts for larger boards.

Everything is exact. The paper says what larger boards do, but not what exactly grows,
which walk is watched, and how the gap is measured. A `Reading` says all three.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobayes.lessons import Learner, Teacher
from cobayes.paper.common import new_figure, write_section
from cobayes.plots.house import COLORMAP, GREY, count_in_whole_numbers, line_style, tidy
from cobayes.report.claims import Claim, Verdict, about, judge_interval
from cobayes.report.section import Context, Section, Table
from cobayes.rules import BI, SCBI, Rule
from cobayes.runs import Experiment, Point, RunResult
from cobayes.theory.rates import rate_of_convergence
from cobayes.worlds.grid import KING_MOVES, GridWorld

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

TOPIC = "Section 6: the grid world"
SOURCE = "Section 6, Figure 6"
RULES = {"BI": BI, "SCBI": SCBI}
DISCOUNTS = np.round(np.arange(0.02, 0.981, 0.02), 2)
TREND_DISCOUNTS = (0.2, 0.3, 0.5, 0.7, 0.85)
SHIFT = 0.1
"""How far the learner's discount is from the teacher's, in the paper's right panel."""

# The shortest walk to A on the paper's board, left first.
TO_THE_GOAL = ("left", "left", "left", "up", "up")
SURE_LEVEL = 0.95
# Below this relative difference two numbers are the same one, computed twice.
_SAME = 1e-9


@dataclass(frozen=True)
class Reading:
    """One reading of "the board gets wider and the number of goals gets more".

    Attributes
    ----------
    name : str
        What grows, and what is watched.
    sizes : tuple
        Pairs (width, number of goals), in growing order.
    layout : str
        "top": three rows, goals spread over the upper edge, three moves, as the paper draws it.
        "around": a square board, goals spread over its whole edge, the start in the middle, and
        the eight moves of a king.
    walk : str
        The moves that are watched: "left, up"; the "shortest" walk to the goal, left first; or its
        first "m + 1 moves" where there are m goals.
    scale : str
        Whether the gap is one of beliefs or of log-odds.
    """

    name: str
    sizes: tuple[tuple[int, int], ...]
    layout: Literal["top", "around"] = "top"
    walk: Literal["left, up", "shortest", "m + 1 moves"] = "left, up"
    scale: Literal["belief", "log-odds"] = "belief"

    def board(self, width: int, num_goals: int, discount: float) -> GridWorld:
        """Return a board of this layout; its first goal is the upper left corner."""
        if self.layout == "top":
            return GridWorld.with_goals_on_top(width, 3, num_goals, discount)
        last = width - 1
        edge = [
            *((0, step) for step in range(last)),
            *((step, last) for step in range(last)),
            *((last, last - step) for step in range(last)),
            *((last - step, 0) for step in range(last)),
        ]
        goals = [edge[k * len(edge) // num_goals] for k in range(num_goals)]
        start = (width // 2, width // 2)
        return GridWorld(width, width, start, goals, discount, actions=KING_MOVES)

    def moves(self, width: int, num_goals: int) -> tuple[str, ...]:
        """Return the moves that are watched on a board of odd width."""
        if self.walk == "left, up":
            return ("left", "up")
        shortest = ("left",) * (width // 2) + ("up",) * 2
        return shortest if self.walk == "shortest" else shortest[: num_goals + 1]


_WIDTHS = tuple((width, 2) for width in (5, 7, 9, 13, 17))
_BOTH = tuple((4 * (goals - 1) + 1, goals) for goals in (2, 3, 4, 5, 7, 9))
_WALK = "width, two goals; the whole shortest walk"
READINGS = (
    Reading("width, two goals", (*_WIDTHS, (25, 2))),
    Reading("number of goals, width 25", tuple((25, goals) for goals in (2, 3, 4, 5, 7, 9, 13))),
    Reading("width and goals together", _BOTH),
    Reading("goals all around, eight moves", tuple((9, 2**k) for k in range(1, 6)), "around"),
    Reading(_WALK, _WIDTHS, walk="shortest"),
    Reading(f"{_WALK}, log-odds", _WIDTHS, walk="shortest", scale="log-odds"),
    Reading("width and goals together; m + 1 moves", _BOTH, walk="m + 1 moves", scale="log-odds"),
)
"""Readings of the claim, side by side."""


# --- Experiment ------------------------------------------------------------------------------


def grid_experiment(context: Context) -> Experiment:
    """Return the experiment of Figure 6; nothing in it is random."""
    shift = context.setting("shift", SHIFT)
    # Both learners' discounts must lie between 0 and 1.
    shifted = DISCOUNTS[(DISCOUNTS - shift > 0.01) & (DISCOUNTS + shift < 0.99)]
    points = (
        Point("posteriors", {"part": "posteriors", "discounts": DISCOUNTS}),
        Point("misjudgement", {"part": "misjudgement", "discounts": shifted, "shift": shift}),
        *(
            Point(
                reading.name,
                {"part": "trend", "reading": k, "discounts": TREND_DISCOUNTS, "shift": shift},
            )
            for k, reading in enumerate(READINGS)
        ),
    )
    return Experiment("grid-world", points, grid_shard, seed=context.seed, reduce=None)


def grid_shard(parameters: dict[str, Any], _: np.random.SeedSequence, __: int) -> Mapping[str, Any]:
    """Compute one part of Figure 6: "posteriors", "misjudgement" or a "trend"."""
    part = parameters["part"]
    discounts = parameters["discounts"]
    if part == "trend":
        return board_trend(READINGS[parameters["reading"]], discounts, parameters["shift"])
    if part == "posteriors":
        worlds = [GridWorld.paper(discount) for discount in discounts]
        moves = {"": ("left", "up"), "_at_goal": TO_THE_GOAL}
        return {
            f"{name}{suffix}": np.array([belief_after(rule(world), walk) for world in worlds])
            for name, rule in RULES.items()
            for suffix, walk in moves.items()
        }
    return {
        name: np.array(
            [misjudgement(rule, GridWorld.paper, g, parameters["shift"]) for g in discounts]
        )
        for name, rule in RULES.items()
    }


def belief_after(rule: Rule, moves: Sequence[str], scale: str = "belief") -> float:
    """Return a watcher's belief in the first goal after some moves, or its log-odds."""
    learner = Learner(rule)
    for move in moves:
        learner.observe(move)
    logs = learner.log_belief
    if scale == "belief":
        return float(np.exp(logs[0]))
    return float(logs[0] - np.logaddexp.reduce(logs[1:]))


def misjudgement(
    rule: Any, board: Any, discount: float, shift: float, num_rounds: int = 2
) -> float:
    """Return how wrong a teacher is on average whose learner discounts differently.

    The learner's discount is the teacher's plus or minus `shift`, with equal probability. The
    difference is the learner's belief in the true goal less the teacher's estimate of it, without
    its sign; the average is over the teacher's walks of `num_rounds` moves.

    Parameters
    ----------
    rule
        `BI` or `SCBI`.
    board
        Makes a world for a discount.
    discount, shift, num_rounds
        See above.
    """
    own = rule(board(discount))
    total = 0.0
    for other in (discount - shift, discount + shift):
        theirs = rule(board(other))
        for moves in itertools.product(range(own.model.num_data), repeat=num_rounds):
            teacher, learner, chance = Teacher(own, 0), Learner(theirs), 0.5
            for move in moves:
                chance *= teacher.distribution[move]
                teacher.observe(move)
                learner.observe(move)
            total += chance * abs(learner.belief[0] - teacher.belief[0])
    return float(total)


def board_trend(reading: Reading, discounts: Sequence[float], shift: float) -> dict[str, Array]:
    """Return both panels' quantities on boards of several sizes, each (sizes, discounts).

    The gap is SCBI's belief in the true goal after the walk less BI's, or that of the log-odds.
    The expected difference between learner and teacher is that over walks of two moves for the
    walk "left, up", and that after the walk itself for the others.
    """
    shape = (len(reading.sizes), len(discounts))
    found = {name: np.zeros(shape) for name in ("gap", "SCBI_difference", "BI_difference")}
    for i, (width, num_goals) in enumerate(reading.sizes):
        moves = reading.moves(width, num_goals)

        def board(discount: float, size: tuple[int, int] = (width, num_goals)) -> GridWorld:
            return reading.board(*size, discount)

        for j, g in enumerate(discounts):
            for sign, (name, rule) in zip((-1.0, 1.0), RULES.items(), strict=True):
                found["gap"][i, j] += sign * belief_after(rule(board(g)), moves, reading.scale)
                if reading.walk == "left, up":
                    difference = misjudgement(rule, board, g, shift)
                else:
                    own, *others = (
                        belief_after(rule(board(other)), moves)
                        for other in (g, g - shift, g + shift)
                    )
                    difference = float(np.mean([abs(other - own) for other in others]))
                found[f"{name}_difference"][i, j] = difference
    return found


# --- Claims ----------------------------------------------------------------------------------


def judge_figure_6(result: RunResult) -> tuple[Claim, ...]:
    """Judge the paper's statements about Figure 6 and about the walkers' first move."""
    beliefs, errors = (result[name].statistics for name in ("posteriors", "misjudgement"))
    shift = result["misjudgement"].parameters["shift"]
    worlds = [GridWorld.paper(float(g)) for g in DISCOUNTS]
    first = {
        name: np.array([Teacher(rule(world), "A").distribution for world in worlds])
        for name, rule in RULES.items()
    }
    scaled = np.array([SCBI(w.matrix_at(w.start)).likelihood([0.5, 0.5]) for w in worlds])
    off = float(np.abs(scaled - np.array([printed_matrix(g) for g in DISCOUNTS])).max())
    uneven = float(np.abs(first["BI"][:, 0] - first["BI"][:, 1]).max())
    largest = np.maximum(errors["SCBI"], errors["BI"])
    return about(
        TOPIC,
        judge_interval(
            "Scaling M gives the printed matrix T",
            "Section 6",
            off,
            off,
            below=_SAME,
            measured=f"at {len(DISCOUNTS)} discounts; largest difference {off:.1g}",
        ),
        judge_interval(
            "The BI teacher chooses equally between left and up at S",
            "Section 6",
            uneven,
            uneven,
            below=_SAME,
            measured=f"largest difference of the two probabilities {uneven:.1g}; it also chooses "
            f"right, with probability {first['BI'][:, 2].min():.2g} to "
            f"{first['BI'][:, 2].max():.2g}",
        ),
        _judge_ahead(
            "The SCBI teacher is more likely to choose left than up",
            first["SCBI"][:, 0] - first["SCBI"][:, 1],
            DISCOUNTS,
        ),
        _judge_ahead(
            "After (left, up) the SCBI learner is surer of A than the BI learner",
            beliefs["SCBI"] - beliefs["BI"],
            DISCOUNTS,
        ),
        _judge_convergence(beliefs, worlds),
        judge_interval(
            "Both BI and SCBI agents are robust to perturbations",
            "Figure 6, caption",
            largest,
            largest,
            below=shift,
            measured=f"discounts that differ by {shift:g} move the belief by at most "
            f"{errors['SCBI'].max():.3f} (SCBI) and {errors['BI'].max():.3f} (BI) on average",
            rule=f"at every discount the expected difference is at most {shift:g}, the size of the "
            "perturbation; the paper gives no limit, this one is ours",
        ),
        _judge_ahead(
            "SCBI is relatively less stable: its expected difference is the larger one",
            errors["SCBI"] - errors["BI"],
            np.asarray(result["misjudgement"].parameters["discounts"]),
        ),
    )


def _judge_ahead(statement: str, ahead: Array, discounts: Array) -> Claim:
    return judge_interval(
        statement,
        SOURCE,
        ahead,
        ahead,
        above=_SAME,
        names=[f"{g:g}" for g in discounts],
        measured=f"at {int((ahead > _SAME).sum())} of {len(ahead)} discounts from "
        f"{discounts[0]:g} to {discounts[-1]:g}; the difference goes from {ahead.min():.2g} to "
        f"{ahead.max():.2g}",
        rule="at every discount; “except” where at most of them",
    )


def _judge_convergence(beliefs: Mapping[str, Any], worlds: Sequence[GridWorld]) -> Claim:
    """Judge that both rules converge to the truth, by the belief when a walk ends at the goal."""
    at_goal = {name: np.asarray(beliefs[f"{name}_at_goal"]) for name in RULES}
    both = np.concatenate([at_goal["SCBI"], at_goal["BI"]])
    names = [f"{name} at {g:g}" for name in ("SCBI", "BI") for g in DISCOUNTS]
    texts = []
    for name, rule in RULES.items():
        rates = [float(rate_of_convergence(rule(w.matrix_at(w.start)), 0)) for w in worlds]
        last = DISCOUNTS[at_goal[name] > SURE_LEVEL].max(initial=0.0)
        texts.append(
            f"{name} {at_goal[name].min():.3f} to {at_goal[name].max():.4f}, above {SURE_LEVEL:g} "
            f"up to discount {last:g}; its rate at S, if walks went on there for ever, is "
            f"{min(rates):.2g} to {max(rates):.2g} nats per round"
        )
    return judge_interval(
        "Both BI and SCBI converge to the true hypothesis",
        "Figure 6, caption",
        both,
        both,
        above=SURE_LEVEL,
        names=names,
        measured="a walk ends at the goal. Belief in A when the shortest walk, left first, gets "
        "there: " + "; ".join(texts),
        rule=f"both watchers believe A with more than {SURE_LEVEL:g} at the goal, at every "
        "discount; “except” where at most of them. The limit is ours",
    )


_TRENDS = {
    "gap": (1.0, "On larger boards the gap between the posteriors of SCBI and BI grows"),
    "SCBI_difference": (-1.0, "On larger boards SCBI’s expected difference falls"),
    "BI_difference": (-1.0, "On larger boards BI’s expected difference falls"),
}


def trend_of(values: Array, sign: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each discount whether every step goes one way, and whether the last is beyond.

    Parameters
    ----------
    values
        A quantity by board and discount, (sizes, discounts).
    sign
        1 where it should rise, -1 where it should fall.
    """
    same = _SAME * np.abs(values).max(axis=0)
    steps = (sign * np.diff(values, axis=0) > same).all(axis=0)
    return steps, sign * (values[-1] - values[0]) > same


def judge_trends(trends: Mapping[str, Mapping[str, Array]]) -> tuple[Claim, ...]:
    """Judge the trends on larger boards, each with all readings side by side."""
    middle = TREND_DISCOUNTS.index(0.5)
    claims = []
    for quantity, (sign, statement) in _TRENDS.items():
        found = [trend_of(np.asarray(trend[quantity]), sign) for trend in trends.values()]
        steps, ends = np.array(found).swapaxes(0, 1)
        verdict: Verdict = "does not hold"
        if steps.all():
            verdict = "holds"
        elif steps.all(axis=1).any() or ends.mean() > 0.5:
            verdict = "holds except"
        texts = (
            f"{name} {trend[quantity][0, middle]:.4g} → {trend[quantity][-1, middle]:.4g}"
            for name, trend in trends.items()
        )
        way = "larger" if sign > 0.0 else "smaller"
        claims.append(
            Claim(
                statement,
                "Section 6, last paragraph",
                verdict,
                f"it is {way} on the largest board than on the smallest in {int(ends.sum())} of "
                f"{ends.size} pairs of reading and discount, and {way} from each board to the next "
                f"in {int(steps.sum())}; at every discount in {int(steps.all(axis=1).sum())} of "
                f"{len(found)} readings. At discount 0.5, from the smallest board to the largest: "
                + "; ".join(texts),
                "exact",
                "from each board to the next, in every reading and at every discount; “except” "
                "where a reading does so at every discount, or where most pairs of reading and "
                "discount do from the smallest board to the largest",
            )
        )
    return about(TOPIC, *claims)


def printed_matrix(discount: float) -> Array:
    """Return T as Section 6 prints it."""
    near, far = 2 / (3 + 3 * discount**2), 2 * discount**2 / (3 + 3 * discount**2)
    return np.array([[near, far], [1 / 3, 1 / 3], [far, near]])


# --- Section and pictures --------------------------------------------------------------------


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("both panels, and readings of larger boards")
    result = context.run(grid_experiment(context))
    trends = {reading.name: result[reading.name].statistics for reading in READINGS}
    beliefs, errors = (_panel_data(result, name) for name in ("posteriors", "misjudgement"))
    by_name = {reading.name: reading for reading in READINGS}
    shown = {
        "trend-width": ("width, two goals", "gap", "width"),
        "trend-walk": (f"{_WALK}, log-odds", "gap", "width"),
        "trend-goals": ("number of goals, width 25", "gap", "goals"),
        "trend-difference": (f"{_WALK}, log-odds", "SCBI_difference", "width"),
    }
    return write_section(
        "figure-6",
        values={
            "beliefs": beliefs.loc[0.5],
            "errors": errors.loc[0.5],
            "shift": result["misjudgement"].parameters["shift"],
        },
        figures={
            "posteriors": _draw_rules(beliefs, "belief in A after (left, up)", (0.48, 1.01)),
            "misjudgement": _draw_rules(errors, "expected difference", (0.0, None)),
            **{
                name: _draw_trend(by_name[reading], trends[reading], quantity, over)
                for name, (reading, quantity, over) in shown.items()
            },
        },
        tables={"readings": _readings_table(trends)},
        data={
            "figure-6": beliefs.add_suffix("_belief")
            .join(errors.add_suffix("_difference"))
            .reset_index(),
            "figure-6-trends": _trends_data(trends),
        },
        claims=(*judge_figure_6(result), *judge_trends(trends)),
        sizes="everything is exact.",
    )


def _panel_data(result: RunResult, name: str) -> pd.DataFrame:
    """Return the curves of a panel, a row per discount."""
    import pandas as pd

    columns = {rule: result[name].statistics[rule] for rule in RULES}
    index = pd.Index(result[name].parameters["discounts"], name="discount")
    return pd.DataFrame(columns, index=index)


def _trends_data(trends: Mapping[str, Mapping[str, Array]]) -> pd.DataFrame:
    """Return a row for each reading, size of the board and discount."""
    import pandas as pd

    tables = []
    for reading in READINGS:
        widths, goals = np.repeat(reading.sizes, len(TREND_DISCOUNTS), axis=0).T
        table = pd.DataFrame({key: np.ravel(trends[reading.name][key]) for key in _TRENDS})
        table["discount"] = np.tile(TREND_DISCOUNTS, len(reading.sizes))
        given = {"trend": reading.name, "walk": reading.walk, "scale": reading.scale}
        tables.append(table.assign(width=widths, num_goals=goals, **given))
    return pd.concat(tables)


def _readings_table(trends: Mapping[str, Mapping[str, Array]]) -> Table:
    rows = []
    for reading in READINGS:
        row = [reading.name]
        for quantity, (sign, _) in _TRENDS.items():
            steps, ends = trend_of(np.asarray(trends[reading.name][quantity]), sign)
            held = ", ".join(f"{g:g}" for g in np.array(TREND_DISCOUNTS)[ends])
            row.append("✓ at every step" if steps.all() else f"△ at {held}" if held else "✗ no")
        rows.append(tuple(row))
    discounts = ", ".join(f"{g:g}" for g in TREND_DISCOUNTS)
    return Table(
        "The two asserted trends in several readings of a larger board, at the discounts "
        f"{discounts}. “At every step”: from each board to the next, at all discounts; else the "
        "discounts at which it is so on the largest board against the smallest.",
        ("what grows", "gap grows", "SCBI’s difference falls", "BI’s difference falls"),
        tuple(rows),
    )


def _draw_rules(columns: pd.DataFrame, label: str, limits: tuple[float, float | None]) -> Figure:
    figure = new_figure(4.8, 3.2)
    ax = figure.subplots()
    for rule in ("SCBI", "BI"):
        style: dict[str, Any] = {
            "label": rule,
            "markevery": 4,
            "markersize": 4,
            **line_style(rule, 0),
        }
        ax.plot(columns.index, columns[rule], **style)
    ax.set(xlabel="discount γ", ylabel=label, xlim=(0.0, 1.0), ylim=limits)
    ax.legend()
    tidy(ax)
    return figure


def _draw_trend(reading: Reading, trend: Mapping[str, Array], quantity: str, over: str) -> Figure:
    """Draw a quantity against the board, one curve per discount."""
    import matplotlib as mpl

    figure = new_figure(4.8, 3.0)
    ax = figure.subplots()
    sizes = [size[0 if over == "width" else 1] for size in reading.sizes]
    for k, (discount, values) in enumerate(zip(TREND_DISCOUNTS, trend[quantity].T, strict=True)):
        color = mpl.colormaps[COLORMAP](0.9 * k / (len(TREND_DISCOUNTS) - 1))
        style: dict[str, Any] = {
            "color": color,
            "marker": "osD^v"[k],
            "markersize": 4,
            "label": f"{discount:g}",
        }
        ax.plot(sizes, values, **style)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    gap = f"gap in {'beliefs' if reading.scale == 'belief' else 'log-odds'}: SCBI less BI"
    ax.set_ylabel(gap if quantity == "gap" else "expected difference, SCBI")
    ax.set_xlabel("board width" if over == "width" else "number of goals")
    beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    ax.legend(title="discount", fontsize=8, title_fontsize=8, **beside)
    count_in_whole_numbers(ax)
    tidy(ax)
    return figure
