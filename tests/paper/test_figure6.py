"""Figure 6: both panels, and the verdicts about larger boards."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from cobayes import CobayesError
from cobayes.paper import figure6
from cobayes.paper.grid_claims import by_board, judge_figure, judge_order, judge_trend
from cobayes.paper.grid_experiments import (
    READINGS,
    Reading,
    board_trend,
    make_board,
    misjudgement_against_discount,
    posteriors_against_discount,
    scbi_posterior_after_left_up,
)
from cobayes.report.section import Context, Picture, Table
from cobayes.worlds import GridWorld

DISCOUNTS = np.linspace(0.15, 0.85, 8)


def test_left_panel_is_its_closed_forms():
    found = posteriors_against_discount(DISCOUNTS)
    assert np.allclose(found["BI"], 1 / (1 + DISCOUNTS**2), rtol=1e-12)
    assert np.allclose(found["SCBI"], [scbi_posterior_after_left_up(g) for g in DISCOUNTS])


def test_right_panel_for_bi_is_its_closed_form():
    # After a walk with l moves left and r right the BI belief in A is x/(x+1) with x the
    # discount to the power 2(r-l); the teacher makes the moves with chances (1, 1, g)/(2+g).
    found = misjudgement_against_discount(DISCOUNTS)
    expected = []
    for discount in DISCOUNTS:
        scale = 2 + discount**2
        chances = {1: 1 / scale, 0: 1 / scale, -1: discount**2 / scale}
        total = 0.0
        for first, p in chances.items():
            for second, q in chances.items():
                ahead = first + second
                mine, *theirs = (
                    1 / (1 + g ** (2.0 * ahead)) for g in (discount, discount - 0.1, discount + 0.1)
                )
                total += p * q * np.mean([abs(other - mine) for other in theirs])
        expected.append(total)
    assert np.allclose(found["BI"], expected, rtol=1e-10)


def test_paper_board_of_the_text_and_of_the_drawing_give_the_same_figure():
    def narrow(discount):
        return GridWorld.paper(discount, width=5)

    for compute in (posteriors_against_discount, misjudgement_against_discount):
        drawn, written = compute(DISCOUNTS), compute(DISCOUNTS, board=narrow)
        for name, values in drawn.items():
            assert np.allclose(values, written[name], rtol=1e-9, atol=1e-15)


def test_papers_statements_about_figure_6_hold():
    judged = judge_figure(
        posteriors_against_discount(DISCOUNTS), misjudgement_against_discount(DISCOUNTS)
    )
    assert [item.verdict for item in judged] == ["holds"] * 7


def test_learner_with_the_teachers_discount_is_never_misjudged():
    found = misjudgement_against_discount([0.5], shift=1e-9)
    assert found["SCBI"][0] < 1e-8
    assert found["BI"][0] < 1e-8


def test_width_alone_changes_nothing():
    found = board_trend(Reading("w", ((5, 2), (9, 2), (15, 2))), [0.3, 0.7])
    for quantity in ("gap", "SCBI_difference", "BI_difference"):
        by_board = found[quantity].reshape(3, 2)
        assert np.allclose(by_board, by_board[0], rtol=1e-9)


def test_doubling_goals_on_both_sides_halves_the_gap():
    # Two goals a side that no move tells apart share what one goal had.
    two, four = board_trend(Reading("g", ((13, 2), (13, 4))), [0.4])["gap"]
    assert four == pytest.approx(two / 2, rel=1e-9)


def test_on_the_whole_shortest_walk_the_gap_in_log_odds_grows_at_every_discount():
    (reading,) = [r for r in READINGS if r.walk == "shortest" and r.scale == "log-odds"]
    found = board_trend(reading, figure6.TREND_DISCOUNTS)
    discounts, _, gaps = by_board(found, "gap")
    # Computed independently: widths 5, 7, 9, 13 and 17 at discount 0.5.
    at = int(np.flatnonzero(discounts == 0.5)[0])
    assert gaps[:, at] == pytest.approx([1.00, 1.55, 2.11, 3.23, 4.35], abs=0.005)
    assert judge_trend(found, "gap", "rises")[0] == "holds"
    verdict, single = judge_trend(found, "SCBI_difference", "falls")
    assert verdict == "holds except"
    assert single == ["holds"] * 4 + ["does not hold"]


def trend(*boards):
    count = len(boards)
    return {
        "width": np.repeat(np.arange(count), 2),
        "num_goals": np.repeat(2, 2 * count),
        "discount": np.tile([0.3, 0.5], count),
        "gap": np.array(boards, dtype=float).ravel(),
    }


@pytest.mark.parametrize(
    ("boards", "direction", "verdict"),
    [
        (([1, 1], [2, 3], [3, 4]), "rises", "holds"),
        (([1, 1], [2, 0], [3, 4]), "rises", "holds except"),
        (([1, 1], [2, 0], [3, 1]), "rises", "does not hold"),
        (([1, 1], [1, 1], [1, 1]), "rises", "does not hold"),
        (([1, 1], [1, 1], [1, 1]), "falls", "does not hold"),
        (([3, 4], [2, 3], [1, 1]), "falls", "holds"),
        (([3, 4], [2, 3], [1, 1]), "rises", "does not hold"),
    ],
)
def test_verdict_on_a_trend_comes_from_the_numbers(boards, direction, verdict):
    assert judge_trend(trend(*boards), "gap", direction)[0] == verdict


@pytest.mark.parametrize(
    ("ahead", "verdict"),
    [([1, 1, 1], "holds"), ([1, 1, -1], "holds except"), ([1, 0, -1], "does not hold")],
)
def test_verdict_on_an_order_comes_from_the_numbers(ahead, verdict):
    zeros = np.zeros(3)
    judged = judge_order("above", np.array(ahead, dtype=float), zeros, np.array([0.2, 0.5, 0.8]))
    assert judged.verdict == verdict


def test_discount_that_leaves_no_room_for_the_shift_is_an_error():
    with pytest.raises(CobayesError, match="would not lie between 0 and 1"):
        misjudgement_against_discount([0.05])


def test_boards_with_goals_all_around_start_in_the_middle():
    board = make_board(5, 4, 0.5, "around")
    assert board.to_text() == "A...B\n.....\n..S..\n.....\nD...C"
    assert len(board.action_labels) == 8


def test_plots_take_and_return_axes():
    beliefs = posteriors_against_discount(DISCOUNTS)
    ax = Figure().subplots()
    assert figure6.draw_posteriors(beliefs, ax=ax) is ax
    assert {line.get_label() for line in ax.lines} == {"SCBI", "BI"}
    ax = Figure().subplots()
    found = board_trend(Reading("g", ((5, 2), (5, 3))), [0.3, 0.6])
    assert figure6.draw_trend(found, "gap", "num_goals", ax=ax) is ax
    assert ax.get_xlabel() == "number of goals"


@pytest.mark.slow
def test_section_has_pictures_verdicts_and_downloads(tmp_path):
    section = figure6.build(Context("figure-6", 0.01, 2020, tmp_path / "figure-6"))
    pictures = [block for block in section.blocks if isinstance(block, Picture)]
    tables = [block for block in section.blocks if isinstance(block, Table)]
    assert len({picture.name for picture in pictures}) == len(pictures) == 8
    assert all(picture.alt and picture.caption for picture in pictures)
    readings = {row[0]: [cell.text for cell in row[2:]] for row in tables[0].rows}
    assert len(readings) == len(READINGS)
    assert readings["width, two goals"][0] == "no"
    assert readings["width, two goals; the whole shortest walk, log-odds"] == [
        "holds",
        "at 0.2, 0.3, 0.5, 0.7",
        "at 0.2, 0.3, 0.5, 0.7",
    ]
    panels = section.data[0]
    assert panels["belief_bi"] == pytest.approx(1 / (1 + panels["discount"] ** 2))
    claims = {claim.statement: claim.verdict for claim in section.claims}
    assert len(claims) == 10
    gap = "On larger boards the gap between the posteriors of SCBI and BI grows"
    assert claims[gap] == "holds except"
    assert (tmp_path / "runs" / "grid-world" / "ledger.sqlite").is_file()
