"""What the paper says about the grid world, judged by the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cobayes.rules import SCBI
from cobayes.worlds.agents import RuleName, WorldTeacher
from cobayes.worlds.experiments import Columns
from cobayes.worlds.grid import GridWorld

Verdict = Literal["holds", "holds except", "does not hold"]

# Below this the two ends of a comparison are the same number, computed twice.
_SAME = 1e-9


@dataclass(frozen=True)
class Judgement:
    """A claim of the paper beside what was measured.

    Attributes
    ----------
    claim : str
        What the paper says.
    verdict : str
        "holds", "holds except" or "does not hold".
    evidence : str
        The numbers behind it.
    """

    claim: str
    verdict: Verdict
    evidence: str


def judge_order(claim: str, larger: NDArray, smaller: NDArray, discounts: NDArray) -> Judgement:
    """Judge that one curve lies above another at every discount.

    Parameters
    ----------
    claim
        In words.
    larger, smaller
        The two curves.
    discounts
        Where they were computed.
    """
    ahead = larger - smaller
    is_above = ahead > _SAME
    verdict: Verdict = "does not hold"
    if is_above.all():
        verdict = "holds"
    elif is_above.mean() > 0.5:
        verdict = "holds except"
    evidence = (
        f"at {is_above.sum()} of {len(discounts)} discounts from {discounts[0]:g} to "
        f"{discounts[-1]:g}; the difference goes from {ahead.min():.2g} to {ahead.max():.2g}"
    )
    if verdict == "holds except":
        evidence += f"; not at {', '.join(f'{g:g}' for g in discounts[~is_above][:8])}"
    return Judgement(claim, verdict, evidence)


def judge_trend(
    claim: str, trend: Columns, quantity: str, direction: Literal["rises", "falls"]
) -> Judgement:
    """Judge that a quantity rises or falls from board to board.

    It "holds" where every step goes the right way at every discount, and "holds except" where
    the last board is beyond the first at every discount but single steps are not.

    Parameters
    ----------
    claim
        In words.
    trend
        From `board_trend`, boards in growing order.
    quantity
        The column to judge.
    direction
        Which way it should go.
    """
    discounts, boards, values = by_board(trend, quantity)
    sign = 1.0 if direction == "rises" else -1.0
    steps = sign * np.diff(values, axis=0)
    ends = sign * (values[-1] - values[0])
    verdict: Verdict = "does not hold"
    if (steps > _SAME).all():
        verdict = "holds"
    elif (ends > _SAME).all():
        verdict = "holds except"
    middle = int(np.argmin(np.abs(discounts - 0.5)))
    same, right = (np.abs(steps) <= _SAME).sum(), (steps > _SAME).sum()
    evidence = (
        f"{right} of {steps.size} steps go that way"
        + (f", {same} change nothing" if same else "")
        + f"; at discount {discounts[middle]:g} from {values[0, middle]:.4f} "
        f"({boards[0]}) to {values[-1, middle]:.4f} ({boards[-1]})"
    )
    if verdict == "holds except":
        wrong = sorted({f"{boards[s]} to {boards[s + 1]}" for s, _ in np.argwhere(steps <= _SAME)})
        evidence += f"; not from {', nor from '.join(wrong[:3])} at every discount"
    return Judgement(claim, verdict, evidence)


def judge_figure(beliefs: Columns, errors: Columns) -> tuple[Judgement, ...]:
    """Judge the paper's statements about Figure 6 and about the walkers' first move."""
    discounts = beliefs["discount"]
    teach = {
        rule: np.array([_first_moves(rule, float(g)) for g in discounts]) for rule in ("SCBI", "BI")
    }
    expected = np.array([_printed_matrix(float(g)) for g in discounts])
    far = np.abs(np.array([_scaled_matrix(float(g)) for g in discounts]) - expected).max()
    uneven = np.abs(teach["BI"][:, 0] - teach["BI"][:, 1]).max()
    return (
        Judgement(
            "scaling M gives the printed matrix T",
            "holds" if far < _SAME else "does not hold",
            f"at {len(discounts)} discounts; largest difference {far:.1g}",
        ),
        Judgement(
            "the BI teacher chooses equally between left and up at S",
            "holds" if uneven < _SAME else "does not hold",
            f"largest difference of the two probabilities {uneven:.1g}; it also chooses right, "
            f"with probability {teach['BI'][:, 2].min():.2g} to {teach['BI'][:, 2].max():.2g}",
        ),
        judge_order(
            "the SCBI teacher is more likely to choose left than up",
            teach["SCBI"][:, 0],
            teach["SCBI"][:, 1],
            discounts,
        ),
        judge_order(
            "after (left, up) the SCBI learner is surer of A than the BI learner",
            beliefs["SCBI"],
            beliefs["BI"],
            discounts,
        ),
        judge_order(
            "SCBI is relatively less stable: its expected difference is the larger one",
            errors["SCBI"],
            errors["BI"],
            errors["discount"],
        ),
    )


def judge_trends(trends: Mapping[str, Columns]) -> tuple[Judgement, ...]:
    """Judge that the gap rises and the difference falls with the board, in every reading."""
    found = []
    for name, trend in trends.items():
        found.append(
            judge_trend(
                f"the gap SCBI less BI after (left, up) rises: {name}", trend, "gap", "rises"
            )
        )
        found += [
            judge_trend(
                f"{rule}'s expected difference falls: {name}", trend, f"{rule}_difference", "falls"
            )
            for rule in ("SCBI", "BI")
        ]
    return tuple(found)


def by_board(trend: Columns, quantity: str) -> tuple[NDArray, list[str], NDArray]:
    """Return the discounts, the boards' names, and the quantity as (boards, discounts)."""
    discounts = np.unique(trend["discount"])
    shape = (-1, len(discounts))
    boards = [
        f"width {width}, {goals} goals"
        for width, goals in zip(
            trend["width"].reshape(shape)[:, 0],
            trend["num_goals"].reshape(shape)[:, 0],
            strict=True,
        )
    ]
    return discounts, boards, trend[quantity].reshape(shape)


def _first_moves(rule: RuleName, discount: float) -> NDArray:
    world = GridWorld.paper(discount)
    return WorldTeacher(world, "A", rule).distribution_at(world.start)


def _scaled_matrix(discount: float) -> NDArray:
    world = GridWorld.paper(discount)
    return SCBI(world.matrix_at(world.start)).likelihood([0.5, 0.5])


def _printed_matrix(discount: float) -> NDArray:
    """Return T as Section 6 prints it."""
    near, far = 2 / (3 + 3 * discount**2), 2 * discount**2 / (3 + 3 * discount**2)
    return np.array([[near, far], [1 / 3, 1 / 3], [far, near]])
