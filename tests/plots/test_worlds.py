"""Drawings of boards and animations of walks."""

import matplotlib as mpl
import numpy as np
import pytest

from cobayes import BI, SCBI, CobayesError
from cobayes.worlds import GridWorld, TabularWorld, plan_walk

mpl.use("Agg")
from matplotlib.figure import Figure
from PIL import Image

from cobayes.plots.worlds import plot_certainty, plot_walk, plot_world, save_animation


@pytest.fixture
def walks():
    world = GridWorld.paper(0.5)
    return [plan_walk(rule(world), "A") for rule in (SCBI, BI)]


def test_board_shows_every_goal_with_its_share():
    world = GridWorld.from_text("A.C\n.#.\nBS.", 0.5)
    ax = Figure().subplots()
    assert plot_world(world, [0.2, 0.799, 0.001], path=[(2, 1)], goal="A", ax=ax) is ax
    shown = {text.get_text() for text in ax.texts}
    assert {"A", "B", "C", "S", "20 %", "80 %", "0.1 %"} <= shown


def test_the_letter_of_the_start_is_beside_the_walk():
    world = GridWorld.paper(0.5)
    for beside, is_right in (((2, 2), True), ((2, 4), False), ((1, 3), False)):
        ax = plot_world(world, path=[(2, 3), beside], ax=Figure().subplots())
        letter = next(text for text in ax.texts if text.get_text() == "S")
        assert (letter.get_position()[0] > 3) == is_right


def test_goals_are_filled_as_high_as_the_belief():
    world = GridWorld.paper(0.5)
    ax = plot_world(world, [0.75, 0.25], ax=Figure().subplots())
    heights = sorted(patch.get_height() for patch in ax.patches)
    assert heights[:2] == [0.25, 0.75]


def test_walk_can_be_drawn_at_any_move(walks):
    ax = plot_walk(walks[0], 1, ax=Figure().subplots())
    assert "move 1, left" in ax.get_title()
    assert "80.0 %" in ax.get_title()
    ax = plot_certainty(walks, ax=Figure().subplots())
    assert [line.get_label() for line in ax.lines[:2]] == ["SCBI", "BI"]
    assert np.allclose(ax.lines[0].get_ydata(), walks[0].beliefs[:, 0])


def test_animation_has_a_frame_for_every_move_and_the_start(walks, tmp_path):
    file = tmp_path / "walk.gif"
    save_animation(walks, file, seconds=0.2, dpi=50)
    with Image.open(file) as picture:
        assert picture.format == "GIF"
        assert picture.n_frames == 6
        first = np.asarray(picture.convert("RGB"))
        picture.seek(5)
        assert not np.array_equal(first, np.asarray(picture.convert("RGB")))


def test_wrong_files_and_worlds_of_animations_are_errors(walks, tmp_path):
    with pytest.raises(CobayesError, match=r"ends in \.gif"):
        save_animation(walks, tmp_path / "walk.mp4")
    with pytest.raises(CobayesError, match="cannot be written"):
        save_animation(walks, tmp_path / "missing" / "walk.gif", dpi=30)
    table = {0: {0: [(1.0, 1)]}, 1: {0: [(1.0, 2)]}, 2: {0: [(1.0, 2)]}}
    world = TabularWorld(table, 0, {"a": 1, "b": 2}, 0.5)
    with pytest.raises(CobayesError, match="no board to draw"):
        plot_walk(plan_walk(world, "a"))


def test_titles_of_boards_beside_a_curve_are_not_cut_off():
    board = GridWorld.from_text("A......B\n........\n........\nS.......\n.......C", 0.8)
    walk = plan_walk(board, "C")
    figure = Figure(figsize=(13, 3.5), layout="constrained")
    axes = figure.subplots(1, 3)
    for ax in axes[:2]:
        plot_walk(walk, ax=ax)
    plot_certainty([walk], ax=axes[2])
    figure.draw_without_rendering()
    assert axes[0].title.get_window_extent().y1 <= figure.bbox.y1
