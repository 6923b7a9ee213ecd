"""The experiments of the paper's Section 6, exact: no sampling is needed.

Every function returns a dict of arrays of equal length, which `pandas.DataFrame` takes as it is.
The paper says what larger boards do and not what exactly grows, which walk is watched, and how the
gap is measured. A `Reading` says all three.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.errors import CobayesError
from cobayes.worlds.agents import RuleName
from cobayes.worlds.grid import GridWorld
from cobayes.worlds.moves import KING_MOVES, Square
from cobayes.worlds.trajectory import watch_actions
from cobayes.worlds.tree import walk_distribution

Array = NDArray[np.float64]
Columns = dict[str, NDArray]
Layout = Literal["top", "around"]

RULES = ("BI", "SCBI")
PAPER_ACTIONS = ("left", "up")
PAPER_SHIFT = 0.1
PAPER_ROUNDS = 2

Walk = Literal["left, up", "shortest", "m + 1 moves"]
Scale = Literal["belief", "log-odds"]


@dataclass(frozen=True)
class Reading:
    """What "the board gets wider and the number of goals gets more" may mean.

    Attributes
    ----------
    name : str
        What grows, and what is watched.
    sizes : tuple
        Pairs (width, number of goals), in growing order.
    layout : str
        See `make_board`.
    walk : str
        The moves that are watched: "left, up"; the "shortest" walk to the goal, left first; or its
        first "m + 1 moves" where there are m goals.
    scale : str
        Whether the gap is one of beliefs or of log-odds.
    """

    name: str
    sizes: tuple[tuple[int, int], ...]
    layout: Layout = "top"
    walk: Walk = "left, up"
    scale: Scale = "belief"


_WIDTHS = tuple((width, 2) for width in (5, 7, 9, 13, 17))
_BOTH = tuple((4 * (goals - 1) + 1, goals) for goals in (2, 3, 4, 5, 7, 9))

READINGS = (
    Reading("width, two goals", tuple((width, 2) for width in (5, 7, 9, 13, 17, 25))),
    Reading("number of goals, width 25", tuple((25, goals) for goals in (2, 3, 4, 5, 7, 9, 13))),
    Reading("width and goals together", _BOTH),
    Reading(
        "goals all around, eight moves",
        tuple((9, goals) for goals in (2, 4, 8, 16, 32)),
        layout="around",
    ),
    Reading("width, two goals; the whole shortest walk", _WIDTHS, walk="shortest"),
    Reading(
        "width, two goals; the whole shortest walk, log-odds",
        _WIDTHS,
        walk="shortest",
        scale="log-odds",
    ),
    Reading("width and goals together; m + 1 moves", _BOTH, walk="m + 1 moves", scale="log-odds"),
)
"""Readings of the claim, side by side."""


def make_board(width: int, num_goals: int, discount: float, layout: Layout = "top") -> GridWorld:
    """Return a board that grows the paper's; its first goal is the upper left corner.

    Parameters
    ----------
    width
        Columns.
    num_goals
        Candidate goals.
    discount
        What a step costs.
    layout
        "top": three rows, goals spread over the upper edge, three moves, as the paper draws it.
        "around": a square board, goals spread over its whole edge, the start in the middle, and
        the eight moves of a king.
    """
    if layout == "top":
        return GridWorld.with_goals_on_top(width, 3, num_goals, discount)
    edge = _edge(width)
    where = (np.arange(num_goals) * len(edge)) // num_goals
    middle = width // 2
    return GridWorld(
        width, width, (middle, middle), [edge[i] for i in where], discount, actions=KING_MOVES
    )


def posteriors_against_discount(
    discounts: ArrayLike,
    *,
    actions: Sequence[str] = PAPER_ACTIONS,
    board: Callable[[float], GridWorld] = GridWorld.paper,
) -> Columns:
    """Return the learners' beliefs in the true goal after given moves: Figure 6, left.

    Parameters
    ----------
    discounts
        Where to compute them.
    actions
        The moves.
    board
        Makes a board for a discount; its first goal is the true one.

    Returns
    -------
    dict
        Columns ``discount``, ``BI`` and ``SCBI``.
    """
    values = np.atleast_1d(np.asarray(discounts, dtype=np.float64))
    return {
        "discount": values,
        **{
            rule: np.array(
                [watch_actions(board(g), 0, actions, rule).belief_in_goal[-1] for g in values]
            )
            for rule in RULES
        },
    }


def misjudgement_against_discount(
    discounts: ArrayLike,
    *,
    shift: float = PAPER_SHIFT,
    num_rounds: int = PAPER_ROUNDS,
    board: Callable[[float], GridWorld] = GridWorld.paper,
) -> Columns:
    """Return how wrong a teacher is whose learner discounts differently: Figure 6, right.

    The learner's discount is the teacher's plus or minus ``shift``, with equal probability. The
    difference is the learner's belief in the true goal less the teacher's estimate of it.

    Parameters
    ----------
    discounts
        The teacher's.
    shift
        How far off the learner's discount is.
    num_rounds
        The length of the teacher's walk.
    board
        Makes a board for a discount; its first goal is the true one.

    Returns
    -------
    dict
        Columns ``discount``; ``BI`` and ``SCBI``, the expected absolute difference; ``BI_signed``
        and ``SCBI_signed``, the expected difference. Expectations are over the teacher's walks
        and over the two learners.
    """
    values = np.atleast_1d(np.asarray(discounts, dtype=np.float64))
    if not (0.0 < shift < 0.5 and (values > shift).all() and (values < 1.0 - shift).all()):
        raise CobayesError(
            f"with a shift of {shift!r} the learner's discounts would not lie between 0 and 1.",
            f"use discounts between {shift!r} and {1 - shift:.6g}, both excluded.",
        )
    columns: Columns = {"discount": values}
    for rule in RULES:
        means = np.array([_misjudgement(board, float(g), shift, num_rounds, rule) for g in values])
        columns[rule], columns[f"{rule}_signed"] = means[:, 0], means[:, 1]
    return columns


def board_trend(reading: Reading, discounts: ArrayLike, *, shift: float = PAPER_SHIFT) -> Columns:
    """Return both panels' quantities on boards of several sizes.

    Parameters
    ----------
    reading
        Which boards, which walk, which scale.
    discounts
        The teacher's.
    shift
        How far off the learner's discount is.

    Returns
    -------
    dict
        One entry for each size and discount, sizes first: ``width``, ``num_goals``,
        ``discount``; ``BI`` and ``SCBI``, the beliefs in the true goal after the walk, or their
        log-odds, and their ``gap``; ``BI_difference`` and ``SCBI_difference``, the expected
        absolute difference between learner's belief and teacher's estimate: over the teacher's
        walks of two moves for the walk "left, up", after the walk itself for the others.
    """
    parts: list[Columns] = []
    values = np.atleast_1d(np.asarray(discounts, dtype=np.float64))
    for width, num_goals in reading.sizes:

        def board(discount: float, size: tuple[int, int] = (width, num_goals)) -> GridWorld:
            return make_board(*size, discount, reading.layout)

        moves = watched_moves(reading.walk, width, num_goals)
        found = {rule: _after(board, values, moves, rule, reading.scale) for rule in RULES}
        if reading.walk == "left, up":
            errors = misjudgement_against_discount(values, shift=shift, board=board)
            differences = {rule: errors[rule] for rule in RULES}
        else:
            differences = {
                rule: np.mean(
                    [
                        np.abs(
                            _after(board, values + other, moves, rule, "belief")
                            - _after(board, values, moves, rule, "belief")
                        )
                        for other in (-shift, shift)
                    ],
                    axis=0,
                )
                for rule in RULES
            }
        parts.append(
            {
                "width": np.full(len(values), width),
                "num_goals": np.full(len(values), num_goals),
                "discount": values,
                **found,
                "gap": found["SCBI"] - found["BI"],
                **{f"{rule}_difference": differences[rule] for rule in RULES},
            }
        )
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def watched_moves(walk: Walk, width: int, num_goals: int) -> tuple[str, ...]:
    """Return the moves of a walk on a board of three rows with its goal in the upper left corner.

    Parameters
    ----------
    walk
        See `Reading`.
    width
        Width of the board, odd.
    num_goals
        Candidate goals.
    """
    if walk == "left, up":
        return PAPER_ACTIONS
    shortest = ("left",) * (width // 2) + ("up",) * 2
    return shortest if walk == "shortest" else shortest[: num_goals + 1]


def _after(
    board: Callable[[float], GridWorld],
    discounts: Array,
    moves: Sequence[str],
    rule: RuleName,
    scale: Scale,
) -> Array:
    """Return the belief in the true goal after some moves, or its log-odds, by discount."""
    found = []
    for discount in discounts:
        watched = watch_actions(board(float(discount)), 0, moves, rule)
        if scale == "belief":
            found.append(float(watched.belief_in_goal[-1]))
        else:
            logs = watched.log_beliefs[-1]
            found.append(float(logs[0] - np.logaddexp.reduce(logs[1:])))
    return np.array(found)


def scbi_posterior_after_left_up(discount: float) -> float:
    """Return the SCBI learner's belief in A after (left, up) as a root of a cubic.

    On the blue squares, with ``g = discount**2``, the belief after *left* is ``a = 1 / (1 + g)``.
    Scaling the matrix (1, g; 1, 1; g, 1) to it leaves one unknown, the ratio r of the two column
    factors; the three rows' beliefs in A are ``r / (r + g)``, ``r / (r + 1)``, ``g r / (g r + 1)``
    and sum to ``3 a``. The belief after *up* is ``r / (r + 1)``.
    """
    g = discount**2
    total = 3.0 / (1.0 + g)
    factors = [np.array([1.0, g]), np.array([1.0, 1.0]), np.array([g, 1.0])]
    numerators = [np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([g, 0.0])]
    cubic = total * np.polymul(np.polymul(factors[0], factors[1]), factors[2])
    for row in range(3):
        others = [factors[other] for other in range(3) if other != row]
        cubic = np.polysub(cubic, np.polymul(numerators[row], np.polymul(*others)))
    roots = np.roots(cubic)
    ratio = float(roots[(abs(roots.imag) < 1e-9 * abs(roots)) & (roots.real > 0.0)].real[0])
    return ratio / (ratio + 1.0)


def _misjudgement(
    board: Callable[[float], GridWorld],
    discount: float,
    shift: float,
    num_rounds: int,
    rule: RuleName,
) -> tuple[float, float]:
    absolute, signed = [], []
    world = board(discount)
    for other in (discount - shift, discount + shift):
        walks = walk_distribution(
            world,
            0,
            num_rounds,
            rule,
            learner_world=board(other),
        )
        absolute.append(walks.mean(np.abs(walks.misjudgement)))
        signed.append(walks.mean(walks.misjudgement))
    return float(np.mean(absolute)), float(np.mean(signed))


def _edge(width: int) -> list[Square]:
    """Return the squares of the edge of a square board, clockwise from the upper left."""
    last = width - 1
    steps = range(last)
    return [
        *((0, step) for step in steps),
        *((step, last) for step in steps),
        *((last, last - step) for step in steps),
        *((last - step, 0) for step in steps),
    ]


def grid_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> dict[str, Any]:
    """Compute one part of Figure 6.

    Parameters
    ----------
    parameters
        "part": "posteriors", "misjudgement", "trend" (with "reading", a position) or "walks" (with
        "rule" and "moves"); "discounts" of all but the last.
    seed_sequence
        The shard's own; only walks are drawn.
    num_samples
        How many walks; the rest is exact.
    """
    part = parameters["part"]
    if part == "walks":
        from cobayes.worlds.legibility import measure_legibility

        found = measure_legibility(
            GridWorld.paper(0.5),
            "A",
            parameters["rule"],
            moves=parameters["moves"],
            num_walks=num_samples,
            rng=seed_sequence,
        )
        names = ("rounds", "rounds_stderr", "num_unsure", "steps", "steps_stderr", "num_unfinished")
        return {name: getattr(found, name) for name in names} | {"num_walks": num_samples}
    if part == "trend":
        return board_trend(READINGS[parameters["reading"]], parameters["discounts"])
    if part == "posteriors":
        return posteriors_against_discount(parameters["discounts"])
    return misjudgement_against_discount(parameters["discounts"])
