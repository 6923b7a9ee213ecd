"""What the paper says about the grid world, judged by the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.grid_experiments import Reading
from cobayes.report.claims import Claim, Verdict, listed, verdict_of
from cobayes.report.judges import judge_exact
from cobayes.rules import SCBI
from cobayes.theory.rates import rate_of_convergence
from cobayes.worlds.agents import RuleName, WorldTeacher
from cobayes.worlds.grid import GridWorld

_SOURCE = "Section 6, Figure 6"
_EVERYWHERE = "at every discount; “except” where at most of them"
_PERTURBATION = 0.1
RULES: tuple[RuleName, RuleName] = ("BI", "SCBI")

# Below this the two ends of a comparison are the same number, computed twice.
_SAME = 1e-9


def judge_order(statement: str, larger: NDArray, smaller: NDArray, discounts: NDArray) -> Claim:
    """Judge that one curve lies above another at every discount.

    Parameters
    ----------
    statement
        In words.
    larger, smaller
        The two curves, exact.
    discounts
        Where they were computed.
    """
    ahead = np.asarray(larger) - np.asarray(smaller)
    is_above = ahead > _SAME
    measured = (
        f"at {is_above.sum()} of {len(discounts)} discounts from {discounts[0]:g} to "
        f"{discounts[-1]:g}; the difference goes from {ahead.min():.2g} to {ahead.max():.2g}"
    )
    if not is_above.all():
        measured += f"; not at {listed([f'{g:g}' for g in discounts], ~is_above)}"
    return Claim(
        statement, _SOURCE, verdict_of(is_above, ~is_above), measured, "exact", _EVERYWHERE
    )


def judge_trend(
    trend: Mapping[str, Any], quantity: str, direction: Literal["rises", "falls"]
) -> tuple[Verdict, list[Verdict]]:
    """Judge that a quantity rises or falls from board to board, at each discount and at all.

    Parameters
    ----------
    trend
        From `board_trend`, boards in growing order.
    quantity
        The column to judge.
    direction
        Which way it should go.

    Returns
    -------
    verdict, by_discount : str, list of str
        At one discount it "holds" where every step goes that way, and "holds except" where half
        do and the last board is beyond the first. Over all discounts it "holds" where it does at
        each.
    """
    discounts, _, values = by_board(trend, quantity)
    sign = 1.0 if direction == "rises" else -1.0
    steps = sign * np.diff(values, axis=0)
    ends = sign * (values[-1] - values[0])
    # Of numbers that may be tiny: what rounding leaves of a step.
    same = _SAME * (np.abs(values[1:]) + np.abs(values[:-1]))
    found: list[Verdict] = []
    for k in range(len(discounts)):
        right = steps[:, k] > same[:, k]
        if right.all():
            found.append("holds")
        elif ends[k] > same[:, k].max() and right.mean() >= 0.5:
            found.append("holds except")
        else:
            found.append("does not hold")
    is_so = np.array([verdict == "holds" for verdict in found])
    is_not = np.array([verdict == "does not hold" for verdict in found])
    if is_so.all():
        return "holds", found
    return ("does not hold" if is_not.mean() >= 0.5 else "holds except"), found


def judge_figure(beliefs: Mapping[str, Any], errors: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Judge the paper's statements about Figure 6 and about the walkers' first move.

    Parameters
    ----------
    beliefs
        The left panel.
    errors
        The right panel.
    """
    discounts = beliefs["discount"]
    teach = {
        rule: np.array([_first_moves(rule, float(g)) for g in discounts]) for rule in ("SCBI", "BI")
    }
    expected = np.array([_printed_matrix(float(g)) for g in discounts])
    far = np.abs(np.array([_scaled_matrix(float(g)) for g in discounts]) - expected).max()
    uneven = np.abs(teach["BI"][:, 0] - teach["BI"][:, 1]).max()
    return (
        judge_exact(
            "Scaling M gives the printed matrix T",
            "Section 6",
            float(far),
            _SAME,
            f"at {len(discounts)} discounts; largest difference {far:.1g}",
        ),
        judge_exact(
            "The BI teacher chooses equally between left and up at S",
            "Section 6",
            float(uneven),
            _SAME,
            f"largest difference of the two probabilities {uneven:.1g}; it also chooses right, "
            f"with probability {teach['BI'][:, 2].min():.2g} to {teach['BI'][:, 2].max():.2g}",
        ),
        judge_order(
            "The SCBI teacher is more likely to choose left than up",
            teach["SCBI"][:, 0],
            teach["SCBI"][:, 1],
            discounts,
        ),
        judge_order(
            "After (left, up) the SCBI learner is surer of A than the BI learner",
            beliefs["SCBI"],
            beliefs["BI"],
            discounts,
        ),
        _judge_convergence(beliefs),
        _judge_robust(errors),
        judge_order(
            "SCBI is relatively less stable: its expected difference is the larger one",
            errors["SCBI"],
            errors["BI"],
            errors["discount"],
        ),
    )


def _judge_convergence(beliefs: Mapping[str, Any]) -> Claim:
    """Judge that both rules converge: on the blue squares both have a positive rate."""
    rates = np.array(
        [
            [
                float(rate_of_convergence(world.matrix_at(world.start), 0, rule=rule))
                for rule in RULES
            ]
            for world in (GridWorld.paper(float(g)) for g in beliefs["discount"])
        ]
    )
    is_positive = rates.min(axis=1) > 0.0
    return Claim(
        "Both BI and SCBI converge to the true hypothesis",
        "Figure 6, caption",
        verdict_of(is_positive, ~is_positive),
        "the rate of convergence of the matrix at S is positive at every discount: "
        f"{rates[:, 1].min():.2g} to {rates[:, 1].max():.2g} nats per round for SCBI, "
        f"{rates[:, 0].min():.2g} to {rates[:, 0].max():.2g} for BI. After the two moves of the "
        f"figure the belief is still between {beliefs['SCBI'].min():.2f} and "
        f"{beliefs['SCBI'].max():.4f} (SCBI)",
        "exact",
        "the rate is above zero at every discount, so that ever longer walks lead to certainty",
    )


def _judge_robust(errors: Mapping[str, Any]) -> Claim:
    """Judge that a wrong discount costs less belief than the discounts differ by."""
    largest = np.maximum(errors["SCBI"], errors["BI"])
    is_small = largest < _PERTURBATION
    return Claim(
        "Both BI and SCBI agents are robust to perturbations",
        "Figure 6, caption",
        verdict_of(is_small, ~is_small),
        f"discounts that differ by {_PERTURBATION:g} move the belief by at most "
        f"{errors['SCBI'].max():.3f} (SCBI) and {errors['BI'].max():.3f} (BI) on average",
        "exact",
        f"at every discount the expected difference is below {_PERTURBATION:g}, the size of the "
        "perturbation; the paper gives no limit, this one is ours",
    )


_TRENDS: tuple[tuple[str, Literal["rises", "falls"], str], ...] = (
    ("gap", "rises", "On larger boards the gap between the posteriors of SCBI and BI grows"),
    ("SCBI_difference", "falls", "On larger boards SCBI’s expected difference falls"),
    ("BI_difference", "falls", "On larger boards BI’s expected difference falls"),
)


def judge_trends(readings: Mapping[Reading, Mapping[str, Any]]) -> tuple[Claim, ...]:
    """Judge the trends on larger boards, each with all readings side by side.

    Parameters
    ----------
    readings
        What was computed for each.
    """
    claims = []
    for quantity, direction, statement in _TRENDS:
        found = {
            reading: judge_trend(trend, quantity, direction)[0]
            for reading, trend in readings.items()
        }
        texts = []
        for reading, trend in readings.items():
            discounts, _, values = by_board(trend, quantity)
            middle = int(np.argmin(np.abs(discounts - 0.5)))
            texts.append(
                f"{reading.name}: {found[reading]}, {values[0, middle]:.4g} → "
                f"{values[-1, middle]:.4g}"
            )
        so = np.array([verdict == "holds" for verdict in found.values()])
        verdict: Verdict = "holds" if so.all() else "holds except" if so.any() else "does not hold"
        claims.append(
            Claim(
                statement,
                "Section 6, last paragraph",
                verdict,
                f"{so.sum()} of {len(found)} readings hold at every discount. At discount 0.5, "
                "from the smallest board to the largest: " + "; ".join(texts),
                "exact",
                "in every reading of a larger board and at every discount; “except” where some "
                "readings hold at every discount and others do not",
            )
        )
    return tuple(claims)


def by_board(trend: Mapping[str, Any], quantity: str) -> tuple[NDArray, list[str], NDArray]:
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
