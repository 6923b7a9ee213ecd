"""Figure 6: the grid world, and two trends that the paper asserts for larger boards.

All numbers are exact. The paper does not define how boards grow, which walk is observed, or on
which scale the gap between the beliefs of SCBI and BI is measured. A `Reading` fixes all three.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import number_between
from cobayes.lessons import Learner, Teacher
from cobayes.paper.common import new_axes, words, write_section
from cobayes.plots.house import COLORMAP, GREY, integer_ticks, line_style
from cobayes.report.claims import Claim, Verdict, judge_interval
from cobayes.report.section import Context, Section
from cobayes.rules import BI, SCBI, Rule
from cobayes.runs import Experiment, Point, RunResult
from cobayes.theory.rates import rate_of_convergence
from cobayes.worlds.grid import KING_MOVES, GridWorld

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

RULES = {"BI": BI, "SCBI": SCBI}
DISCOUNTS = np.round(np.arange(0.02, 0.981, 0.02), 2)
TREND_DISCOUNTS = (0.2, 0.3, 0.5, 0.7, 0.85)
SHIFT = 0.1
"""How much the learner's and the teacher's discount differ in the right panel of Figure 6."""

# On the paper's board, the shortest walk to goal A that goes left first, then up.
TO_THE_GOAL = ("left", "left", "left", "up", "up")
SURE_LEVEL = 0.95
# Differences below this, absolute or relative, are rounding errors.
_SAME = 1e-9


@dataclass(frozen=True)
class Reading:
    """One reading of "the board gets wider and the number of possible goals gets more".

    Attributes
    ----------
    name : str
        A short description.
    sizes : tuple
        Pairs (width, number of goals), in growing order.
    layout : str
        "top": three rows, goals on the upper edge, three moves, as in the paper's drawing.
        "around": a square board, goals on all edges, the start in the middle, and the eight moves
        of a king.
    walk : str
        The observed moves: "left, up"; the "shortest" walk to the goal, with the moves to the
        left first; or the first "m + 1 moves" of that walk, with m the number of goals.
    scale : str
        The scale of the gap between SCBI and BI: "belief" or "log-odds".
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
        """Return the observed moves; the layout must be "top" unless the walk is "left, up"."""
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
"""The readings of "larger board" by which the paper's claims are judged."""


# --- Experiment ------------------------------------------------------------------------------


def grid_experiment(context: Context) -> Experiment:
    """Return the experiment of Figure 6, which uses no random numbers."""
    shift = context.setting("shift", SHIFT)
    number_between(shift, "shift", 0.0, 1.0 - max(TREND_DISCOUNTS))
    # The learners' discounts (the teacher's minus and plus `shift`) stay between 0.01 and 0.99.
    shifted = DISCOUNTS[(DISCOUNTS - shift > 0.01) & (DISCOUNTS + shift < 0.99)]
    given: dict[str, Any]
    given = {"posteriors": {"discounts": DISCOUNTS}, "misjudgement": {"discounts": shifted}}
    for k, reading in enumerate(READINGS):
        given[reading.name] = {"reading": k, "discounts": TREND_DISCOUNTS}
    points = [Point(name, {"part": name, "shift": shift, **own}) for name, own in given.items()]
    return Experiment("grid-world", points, grid_shard, seed=context.seed, reduce=None)


def grid_shard(parameters: dict[str, Any], _: np.random.SeedSequence, __: int) -> Mapping[str, Any]:
    """Compute one part of Figure 6: "posteriors", "misjudgement", or the trend of a `Reading`."""
    part, discounts, shift = (parameters[key] for key in ("part", "discounts", "shift"))
    if "reading" in parameters:
        return board_trend(READINGS[parameters["reading"]], discounts, shift)
    found = {}
    for name, rule in RULES.items():
        if part == "posteriors":
            rules = [rule(GridWorld.paper(discount)) for discount in discounts]
            for suffix, walk in (("", ("left", "up")), ("_at_goal", TO_THE_GOAL)):
                found[f"{name}{suffix}"] = [belief_after(own, walk) for own in rules]
        else:
            found[name] = [misjudgement(rule, GridWorld.paper, g, shift) for g in discounts]
    return {name: np.array(values) for name, values in found.items()}


def belief_after(rule: Rule, moves: Sequence[str], scale: str = "belief") -> float:
    """Return a learner's belief in the first goal after `moves`, or the log-odds of this goal."""
    learner = Learner(rule)
    for move in moves:
        learner.observe(move)
    logs = learner.log_belief
    if scale == "belief":
        return float(np.exp(logs[0]))
    return float(logs[0] - np.logaddexp.reduce(logs[1:]))


def misjudgement(rule: Any, board: Any, discount: float, shift: float) -> float:
    """Return the mean error of a teacher about a learner with another discount.

    The learner's discount is the teacher's plus or minus `shift`, with equal probability. The error
    is |learner's belief in the true goal - teacher's estimate of it|; the mean is over the
    teacher's walks of two moves.

    Parameters
    ----------
    rule
        `BI` or `SCBI`.
    board
        A function that returns the world for a discount.
    discount, shift
        The teacher's discount, and the learner's deviation from it.
    """
    own = rule(board(discount))
    total = 0.0
    for other in (discount - shift, discount + shift):
        theirs = rule(board(other))
        for walk in itertools.product(range(own.model.num_data), repeat=2):
            teacher, learner, chance = Teacher(own, 0), Learner(theirs), 0.5
            for move in walk:
                chance *= teacher.distribution[move]
                teacher.observe(move)
                learner.observe(move)
            total += chance * abs(learner.belief[0] - teacher.belief[0])
    return float(total)


def board_trend(reading: Reading, discounts: Sequence[float], shift: float) -> dict[str, Array]:
    """Return the quantities of Figure 6's panels for each board and discount, (sizes, discounts).

    The "gap" is SCBI's belief in the true goal after the walk minus BI's, or this difference in
    log-odds. A rule's "difference" is the teacher's mean error, see `misjudgement`. If the
    reading's walk is "left, up", the mean is over all walks of two moves. Otherwise only
    the error after the reading's walk counts.
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
                    nearby = (g, g - shift, g + shift)
                    own, *others = (belief_after(rule(board(other)), moves) for other in nearby)
                    difference = float(np.mean([abs(other - own) for other in others]))
                found[f"{name}_difference"][i, j] = difference
    return found


# --- Claims ----------------------------------------------------------------------------------


def judge_figure_6(result: RunResult) -> tuple[Claim, ...]:
    """Judge the paper's statements about Figure 6 and about the walkers' first move."""
    beliefs, errors = (result[name].statistics for name in ("posteriors", "misjudgement"))
    shift, discounts = (result["misjudgement"].parameters[key] for key in ("shift", "discounts"))
    worlds = [GridWorld.paper(float(g)) for g in DISCOUNTS]
    first = [[Teacher(rule(world), "A").distribution for world in worlds] for rule in (BI, SCBI)]
    bi, scbi = np.array(first)
    scaled = [SCBI(world.matrix_at(world.start)).likelihood([0.5, 0.5]) for world in worlds]
    off = np.abs(np.array(scaled) - [printed_matrix(g) for g in DISCOUNTS]).max()
    uneven = np.abs(bi[:, 0] - bi[:, 1]).max()
    larger = np.maximum(errors["SCBI"], errors["BI"])
    return (
        _judge_exact(words("T as printed", discounts=DISCOUNTS, off=off), off, below=_SAME),
        _judge_exact(words("BI even", uneven=uneven, right=bi[:, 2]), uneven, below=_SAME),
        _judge_ahead("SCBI goes left", scbi[:, 0] - scbi[:, 1], DISCOUNTS),
        _judge_ahead("SCBI is surer", beliefs["SCBI"] - beliefs["BI"], DISCOUNTS),
        _judge_convergence(beliefs, worlds),
        _judge_exact(words("both are robust", shift=shift, errors=errors), larger, below=shift),
        _judge_ahead("SCBI is less stable", errors["SCBI"] - errors["BI"], discounts),
    )


def _judge_exact(text: dict[str, Any], values: Any, **limits: Any) -> Claim:
    return judge_interval(**text, low=values, high=values, **limits)


def _judge_ahead(claim: str, ahead: Array, discounts: Any) -> Claim:
    fine = int((ahead > _SAME).sum())
    text = words(claim, ahead=ahead, discounts=discounts, fine=fine)
    return _judge_exact(text, ahead, above=_SAME)


def _judge_convergence(beliefs: Mapping[str, Any], worlds: Sequence[GridWorld]) -> Claim:
    """Judge the claim that both rules converge to the truth, by the belief at the end of a walk."""
    rows = {}
    for name, rule in RULES.items():
        at_goal = np.asarray(beliefs[f"{name}_at_goal"])
        rates = [float(rate_of_convergence(rule(w.matrix_at(w.start)), 0)) for w in worlds]
        last = DISCOUNTS[at_goal > SURE_LEVEL].max(initial=0.0)
        rows[name] = at_goal.min(), at_goal.max(), last, min(rates), max(rates)
    both = np.concatenate([beliefs[f"{name}_at_goal"] for name in RULES])
    return _judge_exact(words("both converge", rows=rows, level=SURE_LEVEL), both, above=SURE_LEVEL)


_TRENDS = {"gap": 1.0, "SCBI_difference": -1.0, "BI_difference": -1.0}
"""The paper's claim: 1 if the quantity grows with the size of the board, -1 if it falls."""


def trend_of(values: Array, sign: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return, by discount, whether a quantity changes as claimed from board to board.

    The first array tests every step from one board to the next. The second array tests only the
    difference between the first and the last board.

    Parameters
    ----------
    values
        A quantity for each board and discount, (sizes, discounts).
    sign
        1 if the quantity should rise, -1 if it should fall.
    """
    same = _SAME * np.abs(values).max(axis=0)
    steps = (sign * np.diff(values, axis=0) > same).all(axis=0)
    return steps, sign * (values[-1] - values[0]) > same


def judge_trends(trends: Mapping[str, Mapping[str, Array]]) -> tuple[Claim, ...]:
    """Judge the claimed trends on larger boards, each by the results of all readings."""
    middle = TREND_DISCOUNTS.index(0.5)
    claims = []
    for quantity, sign in _TRENDS.items():
        values = {name: np.asarray(trend[quantity]) for name, trend in trends.items()}
        steps, ends = np.array([trend_of(each, sign) for each in values.values()]).swapaxes(0, 1)
        verdict: Verdict = "does not hold"
        if steps.all():
            verdict = "holds"
        elif steps.all(axis=1).any() or ends.mean() > 0.5:
            verdict = "holds except"
        at = {name: (each[0, middle], each[-1, middle]) for name, each in values.items()}
        numbers = {"quantity": quantity, "way": "larger" if sign > 0.0 else "smaller", "at": at}
        text = words("larger boards", steps=steps, ends=ends, **numbers)
        claims.append(Claim(verdict=verdict, **text))
    return tuple(claims)


def printed_matrix(discount: float) -> Array:
    """Return T, the scaled matrix of the first move, by the formula that Section 6 prints."""
    near, far = 2 / (3 + 3 * discount**2), 2 * discount**2 / (3 + 3 * discount**2)
    return np.array([[near, far], [1 / 3, 1 / 3], [far, near]])


# --- Section and pictures --------------------------------------------------------------------


PICTURES = {
    "trend-width": ("width, two goals", "gap", "width"),
    "trend-walk": (f"{_WALK}, log-odds", "gap", "width"),
    "trend-goals": ("number of goals, width 25", "gap", "goals"),
    "trend-difference": (f"{_WALK}, log-odds", "SCBI_difference", "width"),
}
"""The trends that are drawn: reading, quantity, and what the horizontal axis shows."""


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("both panels, and readings of larger boards")
    result = context.run(grid_experiment(context))
    trends = {reading.name: result[reading.name].statistics for reading in READINGS}
    beliefs, errors = (_panel_data(result, name) for name in ("posteriors", "misjudgement"))
    figures = {
        "posteriors": _draw_rules(beliefs, "belief in A after (left, up)", (0.48, 1.01)),
        "misjudgement": _draw_rules(errors, "expected difference of beliefs in A", (0.0, None)),
        **{name: _draw_trend(trends, *which) for name, which in PICTURES.items()},
    }
    both = beliefs.add_suffix("_belief").join(errors.add_suffix("_difference"))
    return write_section(
        "figure-6",
        values={
            "beliefs": beliefs.loc[0.5],
            "errors": errors.loc[0.5],
            "shift": result["misjudgement"].parameters["shift"],
            "discounts": np.array(TREND_DISCOUNTS),
            "readings": {
                name: [trend_of(np.asarray(trend[key]), sign) for key, sign in _TRENDS.items()]
                for name, trend in trends.items()
            },
        },
        figures=figures,
        data={"figure-6": both.reset_index(), "figure-6-trends": _trends_data(trends)},
        claims=(*judge_figure_6(result), *judge_trends(trends)),
    )


def _panel_data(result: RunResult, name: str) -> pd.DataFrame:
    import pandas as pd

    columns = {rule: result[name].statistics[rule] for rule in RULES}
    index = pd.Index(result[name].parameters["discounts"], name="discount")
    return pd.DataFrame(columns, index=index)


def _trends_data(trends: Mapping[str, Mapping[str, Array]]) -> pd.DataFrame:
    """Return a row for each reading, board size and discount."""
    import pandas as pd

    tables = []
    for reading in READINGS:
        widths, goals = np.repeat(reading.sizes, len(TREND_DISCOUNTS), axis=0).T
        table = pd.DataFrame({key: np.ravel(trends[reading.name][key]) for key in _TRENDS})
        table["discount"] = np.tile(TREND_DISCOUNTS, len(reading.sizes))
        given = {"trend": reading.name, "walk": reading.walk, "scale": reading.scale}
        tables.append(table.assign(width=widths, num_goals=goals, **given))
    return pd.concat(tables)


def _draw_rules(columns: pd.DataFrame, label: str, limits: tuple[float, float | None]) -> Figure:
    figure, ax = new_axes(4.8, 3.2)
    for rule in ("SCBI", "BI"):
        style = line_style(rule, 0)
        ax.plot(columns.index, columns[rule], label=rule, markevery=4, markersize=4, **style)
    ax.set(xlabel="discount γ", ylabel=label, xlim=(0.0, 1.0), ylim=limits)
    ax.legend()
    return figure


def _draw_trend(trends: Mapping[str, Any], name: str, quantity: str, over: str) -> Figure:
    import matplotlib as mpl

    (reading,) = (reading for reading in READINGS if reading.name == name)
    figure, ax = new_axes(4.8, 3.0)
    sizes = [size[0 if over == "width" else 1] for size in reading.sizes]
    curves = zip(TREND_DISCOUNTS, np.asarray(trends[name][quantity]).T, "osD^v", strict=True)
    for k, (discount, values, marker) in enumerate(curves):
        color = mpl.colormaps[COLORMAP](0.9 * k / (len(TREND_DISCOUNTS) - 1))
        ax.plot(sizes, values, c=color, marker=marker, markersize=4, label=f"{discount:g}")
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    gap = f"gap in {'beliefs' if reading.scale == 'belief' else 'log-odds'}: SCBI minus BI"
    ax.set_ylabel(gap if quantity == "gap" else "expected difference, SCBI")
    ax.set_xlabel("board width" if over == "width" else "number of goals")
    small = {"fontsize": 8, "title_fontsize": 8}
    ax.legend(title="discount", loc="center left", bbox_to_anchor=(1.0, 0.5), **small)
    integer_ticks(ax)
    return figure
