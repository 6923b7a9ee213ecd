"""The experiments of the paper's Section 6, exact: no sampling is needed.

Every function returns a dict of arrays of equal length, which `pandas.DataFrame` takes as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

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


def board_trend(
    sizes: Sequence[tuple[int, int]],
    discounts: ArrayLike,
    *,
    layout: Layout = "top",
    shift: float = PAPER_SHIFT,
) -> Columns:
    """Return both panels' quantities on boards of several sizes.

    Parameters
    ----------
    sizes
        Pairs (width, number of goals).
    discounts
        The teacher's.
    layout
        See `make_board`.
    shift
        How far off the learner's discount is.

    Returns
    -------
    dict
        One entry for each size and discount, sizes first: ``width``, ``num_goals``,
        ``discount``; ``BI`` and ``SCBI``, the beliefs in the true goal after (left, up), and
        their ``gap``; ``BI_difference`` and ``SCBI_difference``, the expected absolute
        difference between learner's belief and teacher's estimate.
    """
    parts: list[Columns] = []
    for width, num_goals in sizes:

        def board(discount: float, size: tuple[int, int] = (width, num_goals)) -> GridWorld:
            return make_board(*size, discount, layout)

        beliefs = posteriors_against_discount(discounts, board=board)
        errors = misjudgement_against_discount(discounts, shift=shift, board=board)
        count = len(beliefs["discount"])
        parts.append(
            {
                "width": np.full(count, width),
                "num_goals": np.full(count, num_goals),
                **beliefs,
                "gap": beliefs["SCBI"] - beliefs["BI"],
                **{f"{rule}_difference": errors[rule] for rule in RULES},
            }
        )
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


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
