"""Figure 6: both panels, and the verdicts about larger boards."""

import numpy as np
import pytest

from cobayes import BI, SCBI, CobayesError
from cobayes.paper import grid
from cobayes.paper.grid import (
    READINGS,
    TREND_DISCOUNTS,
    Reading,
    belief_after,
    board_trend,
    grid_experiment,
    judge_trends,
    misjudgement,
    trend_of,
)
from cobayes.report.section import Context, Picture, Table
from cobayes.worlds import GridWorld

DISCOUNTS = np.linspace(0.15, 0.85, 5)


def scbi_after_left_up(discount):
    """Return the SCBI learner's belief in A after (left, up) as a root of a cubic.

    On the squares next to S, with ``g = discount**2``, the belief after *left* is 1 / (1 + g).
    Scaling the matrix (1, g; 1, 1; g, 1) to it leaves one unknown, the ratio r of the two column
    factors; the three rows' beliefs in A are r / (r + g), r / (r + 1) and g r / (g r + 1).
    """
    g = discount**2
    factors = [np.array([1.0, g]), np.array([1.0, 1.0]), np.array([g, 1.0])]
    cubic = 3.0 / (1.0 + g) * np.polymul(np.polymul(factors[0], factors[1]), factors[2])
    for row, lead in enumerate((1.0, 1.0, g)):
        others = [factor for other, factor in enumerate(factors) if other != row]
        cubic = np.polysub(cubic, np.polymul(np.array([lead, 0.0]), np.polymul(*others)))
    roots = np.roots(cubic)
    ratio = float(roots[(abs(roots.imag) < 1e-9 * abs(roots)) & (roots.real > 0.0)].real[0])
    return ratio / (ratio + 1.0)


def test_left_panel_is_its_closed_forms():
    for discount in DISCOUNTS:
        world, walk = GridWorld.paper(discount), ("left", "up")
        assert belief_after(BI(world), walk) == pytest.approx(1 / (1 + discount**2), rel=1e-12)
        assert belief_after(SCBI(world), walk) == pytest.approx(scbi_after_left_up(discount))


def test_right_panel_for_bi_is_its_closed_form():
    # After a walk with l moves left and r right the BI belief in A is x/(x+1) with x the
    # discount to the power 2(r-l); the teacher makes the moves with chances (1, 1, g)/(2+g).
    for discount in DISCOUNTS:
        scale = 2 + discount**2
        chances = {1: 1 / scale, 0: 1 / scale, -1: discount**2 / scale}
        total = 0.0
        for first, p in chances.items():
            for second, q in chances.items():
                mine, *theirs = (
                    1 / (1 + g ** (2.0 * (first + second)))
                    for g in (discount, discount - 0.1, discount + 0.1)
                )
                total += p * q * np.mean([abs(other - mine) for other in theirs])
        found = misjudgement(BI, GridWorld.paper, discount, 0.1)
        assert found == pytest.approx(total, rel=1e-10)


def test_paper_board_of_the_text_and_of_the_drawing_give_the_same_figure():
    def narrow(discount):
        return GridWorld.paper(discount, width=5)

    for rule in (BI, SCBI):
        drawn, written = (misjudgement(rule, b, 0.4, 0.1) for b in (GridWorld.paper, narrow))
        assert drawn == pytest.approx(written, rel=1e-9)
        left = (belief_after(rule(b(0.4)), ("left", "up")) for b in (GridWorld.paper, narrow))
        assert len({round(value, 12) for value in left}) == 1


def test_learner_with_the_teachers_discount_is_never_misjudged():
    assert misjudgement(SCBI, GridWorld.paper, 0.5, 1e-9) < 1e-8


def test_width_alone_changes_nothing():
    found = board_trend(Reading("w", ((5, 2), (9, 2), (15, 2))), [0.3, 0.7], 0.1)
    for values in found.values():
        assert np.allclose(values, values[0], rtol=1e-9)


def test_doubling_goals_on_both_sides_halves_the_gap():
    # Two goals on each side that no move distinguishes share the belief of one goal.
    two, four = board_trend(Reading("g", ((13, 2), (13, 4))), [0.4], 0.1)["gap"]
    assert four == pytest.approx(two / 2, rel=1e-9)


def test_on_the_whole_shortest_walk_the_gap_in_log_odds_grows_at_every_discount():
    (reading,) = [r for r in READINGS if r.walk == "shortest" and r.scale == "log-odds"]
    found = board_trend(reading, TREND_DISCOUNTS, 0.1)
    # Computed independently: widths 5, 7, 9, 13 and 17 at discount 0.5.
    gaps = found["gap"][:, TREND_DISCOUNTS.index(0.5)]
    assert gaps == pytest.approx([1.00, 1.55, 2.11, 3.23, 4.35], abs=0.005)
    assert trend_of(found["gap"], 1.0)[0].all()
    steps, _ = trend_of(found["SCBI_difference"], -1.0)
    assert steps.tolist() == [True] * 4 + [False]


@pytest.mark.parametrize(
    ("boards", "sign", "steps", "ends"),
    [
        (([1, 1], [2, 3], [3, 4]), 1.0, [True, True], [True, True]),
        (([1, 1], [2, 0], [3, 4]), 1.0, [True, False], [True, True]),
        (([1, 1], [1, 1], [1, 1]), 1.0, [False, False], [False, False]),
        (([1, 1], [1, 1], [1, 1]), -1.0, [False, False], [False, False]),
        (([3, 4], [2, 3], [1, 1]), -1.0, [True, True], [True, True]),
        (([3, 4], [2, 3], [1, 1]), 1.0, [False, False], [False, False]),
    ],
)
def test_a_trend_is_read_off_the_steps_and_the_ends(boards, sign, steps, ends):
    found = trend_of(np.array(boards, dtype=float), sign)
    assert [part.tolist() for part in found] == [steps, ends]


RISING, DIPPING, FLAT = (np.outer(x, np.ones(5)) for x in ([1, 2, 3], [1, 3, 2], [1, 1, 1]))


@pytest.mark.parametrize(
    ("readings", "verdict"),
    [
        ((RISING, RISING, RISING), "holds"),
        ((DIPPING, DIPPING, FLAT), "holds except"),
        ((RISING, FLAT, FLAT), "holds except"),
        ((DIPPING, FLAT, FLAT), "does not hold"),
    ],
)
def test_verdict_on_larger_boards_comes_from_all_readings(readings, verdict):
    trends = {
        str(k): {"gap": each, "SCBI_difference": -each, "BI_difference": -each}
        for k, each in enumerate(readings)
    }
    assert {claim.verdict for claim in judge_trends(trends)} == {verdict}


def test_discounts_leave_room_for_the_shift(tmp_path):
    context = Context("figure-6", 0.01, 1, tmp_path, settings={"shift": 0.14})
    (point,) = [p for p in grid_experiment(context).points if p.name == "misjudgement"]
    discounts = np.array(point.parameters["discounts"])
    assert discounts.min() - 0.14 > 0.0
    assert discounts.max() + 0.14 < 1.0
    context = Context("figure-6", 0.01, 1, tmp_path, settings={"shift": 0.2})
    with pytest.raises(CobayesError, match=r"shift is 0.2; .* strictly between 0 and 0.15"):
        grid_experiment(context)


def test_boards_with_goals_all_around_start_in_the_middle():
    board = Reading("a", (), layout="around").board(5, 4, 0.5)
    assert board.to_text() == "A...B\n.....\n..S..\n.....\nD...C"
    assert len(board.action_labels) == 8


def test_section_has_pictures_verdicts_and_downloads(tmp_path):
    section = grid.build(Context("figure-6", 0.01, 2020, tmp_path / "figure-6"))
    pictures = [block for block in section.blocks if isinstance(block, Picture)]
    tables = [block for block in section.blocks if isinstance(block, Table)]
    assert len({picture.name for picture in pictures}) == len(pictures) == 6
    assert all(picture.alt and picture.caption for picture in pictures)
    readings = {row[0]: row[1:] for row in tables[0].rows}
    assert len(readings) == len(READINGS)
    assert readings["width, two goals"] == ("✗ no",) * 3
    walk = readings["width, two goals; the whole shortest walk, log-odds"]
    assert walk[0] == "✓ at every step"
    assert walk[1] == "△ at 0.2, 0.3, 0.5, 0.7"
    panels = section.data["figure-6"]
    assert panels["BI_belief"].to_numpy() == pytest.approx(1 / (1 + panels["discount"] ** 2))
    verdicts = {claim.statement: claim.verdict for claim in section.claims}
    assert len(verdicts) == 10
    other = {
        # Near discount 1 a move says almost nothing, and the walk is over at the goal.
        "Both BI and SCBI converge to the true hypothesis": "holds except",
        "On larger boards the gap between the posteriors of SCBI and BI grows": "holds except",
        "On larger boards SCBI’s expected difference falls": "holds except",
        "On larger boards BI’s expected difference falls": "holds except",
    }
    assert verdicts == {name: other.get(name, "holds") for name in verdicts}
