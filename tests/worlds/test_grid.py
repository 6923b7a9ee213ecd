"""The board, its moves, and the matrices on it."""

import inspect
import pickle
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cobayes import SCBI, CobayesError, Learner
from cobayes.worlds import GridWorld
from cobayes.worlds.grid import KING_MOVES
from tests.worlds.walks import with_discount

DISCOUNTS = st.floats(0.02, 0.98)


@given(DISCOUNTS, st.sampled_from([5, 7, 9]))
def test_matrix_on_every_blue_square_is_the_papers_up_to_column_scaling(discount, width):
    # Section 6: columns (k-1, k-1, k+1) and (k+1, k-1, k-1) as powers of the discount.
    world = GridWorld.paper(discount, width)
    for row in (1, 2):
        for column in range(1, width - 1):
            matrix = world.matrix_at((row, column)).matrix
            k = row + np.array([column, width - 1 - column])
            powers = np.array([[k[0] - 1, k[1] + 1], k - 1, [k[0] + 1, k[1] - 1]])
            assert np.allclose(matrix, discount**powers, rtol=1e-13, atol=0.0)


@given(DISCOUNTS, st.sampled_from([5, 7]))
def test_scaling_gives_the_papers_matrix_T_for_any_discount(discount, width):
    # Section 6 prints T = (2, 2g; 1+g, 1+g; 2g, 2) / (3 + 3g) with g = discount squared.
    world = GridWorld.paper(discount, width)
    g = discount**2
    printed = np.array([[2, 2 * g], [1 + g, 1 + g], [2 * g, 2]]) / (3 + 3 * g)
    teacher = SCBI(world.matrix_at(world.start)).likelihood([0.5, 0.5])
    assert np.allclose(teacher, printed, rtol=1e-10, atol=0.0)


def test_paper_board_is_the_one_that_is_drawn():
    assert GridWorld.paper().to_text() == "A.....B\n.......\n...S..."
    assert GridWorld.paper(width=5).to_text() == "A...B\n.....\n..S.."
    model = GridWorld.paper().matrix_at((2, 3))
    assert model.data == ("left", "up", "right")
    assert model.hypotheses == ("A", "B")


@st.composite
def open_boards(draw):
    width, height = draw(st.integers(2, 7)), draw(st.integers(2, 6))
    squares = [(r, c) for r in range(height) for c in range(width)]
    places = draw(st.lists(st.sampled_from(squares), min_size=4, max_size=9, unique=True))
    return width, height, places[0], places[1:3], places[3:]


@given(open_boards(), DISCOUNTS)
def test_without_walls_the_value_is_discount_to_the_city_block_distance(board, discount):
    width, height, start, goals, _ = board
    world = GridWorld(width, height, start, goals, discount, reward=3.0)
    for square, worth in zip(world.states, world.values, strict=True):
        for goal, value in zip(goals, worth, strict=True):
            steps = abs(square[0] - goal[0]) + abs(square[1] - goal[1])
            assert value == pytest.approx(3.0 * discount**steps, rel=1e-12)


@given(open_boards(), st.floats(0.2, 0.95))
@settings(max_examples=50)
def test_values_fulfil_the_equation_of_dynamic_programming_with_walls(board, discount):
    width, height, start, goals, walls = board
    try:
        world = GridWorld(width, height, start, goals, discount, walls=walls)
    except CobayesError:
        assume(False)
        raise
    next_states, _ = world.outcomes
    best = discount * world.values[next_states[:, :, 0]].max(axis=1)
    for goal in range(2):
        reachable = np.isfinite(world.distances[:, goal])
        away = reachable & (world.distances[:, goal] > 0)
        assert np.allclose(world.values[away, goal], best[away, goal], rtol=1e-12)
        assert (world.values[~reachable, goal] < world.values[reachable, goal].min()).all()


@given(open_boards(), st.floats(0.2, 0.9))
@settings(max_examples=25)
def test_value_iteration_with_tiny_slips_agrees_with_shortest_walks(board, discount):
    width, height, start, goals, _ = board
    sure = GridWorld(width, height, start, goals, discount)
    nearly = GridWorld(width, height, start, goals, discount, slip=1e-9)
    assert not nearly.is_certain
    assert np.allclose(nearly.values, sure.values, rtol=1e-6)


def test_slipping_world_has_the_value_that_linear_algebra_gives():
    # One row, goals at both ends; towards A the best policy is 'left' everywhere, so that
    # V = discount * (0.9 V(left) + 0.1 V(right)) is a linear system.
    world = GridWorld(5, 1, (0, 2), [(0, 0), (0, 4)], 0.8, actions=("left", "right"), slip=0.1)
    equations, known = np.eye(5), np.zeros(5)
    known[0] = 1.0
    for column in range(1, 5):
        equations[column, column - 1] -= 0.8 * 0.9
        equations[column, min(column + 1, 4)] -= 0.8 * 0.1
    assert np.allclose(world.values[:, 0], np.linalg.solve(equations, known), rtol=1e-12)
    assert np.allclose(
        world.matrix_at((0, 2)).matrix[0],
        0.9 * world.values[1] + 0.1 * world.values[3],
        rtol=1e-12,
    )


def test_a_move_against_edge_or_wall_has_the_value_of_staying():
    world = GridWorld.from_text("A.B\n.#.\n..S", 0.5)
    assert world.next_state((2, 2), "right") == (2, 2)
    assert world.next_state((2, 1), "up") == (2, 1)
    at = world.state_position((2, 2))
    assert np.allclose(world.matrix_at((2, 2)).matrix[2], world.values[at])


def test_walls_make_the_way_longer():
    # From (0, 2) the way to A leads down three rows, two columns along, and up three again.
    blocked = GridWorld.from_text("A#..B\n.#...\n.#...\n....S", 0.5)
    assert blocked.distances[blocked.state_position((0, 2)), 0] == 3 + 2 + 3
    assert blocked.values[blocked.state_position((0, 2)), 0] == 0.5**8


def test_matrix_at_a_goal_is_computed_as_anywhere_else():
    world = GridWorld.paper(0.5)
    expected = [[1.0, 0.5**6], [1.0, 0.5**6], [0.5, 0.5**5]]
    assert np.allclose(world.matrix_at((0, 0)).matrix, expected)


def test_a_state_that_cannot_reach_a_goal_has_a_tiny_positive_value():
    # Moves are left, up and right: from above B there is no way down to it.
    world = GridWorld(
        5, 3, (2, 2), {"A": (0, 0), "B": (1, 4)}, 0.5, actions=("left", "up", "right")
    )
    hopeless = world.values[world.state_position((0, 4)), 1]
    reachable = np.isfinite(world.distances[:, 1])
    assert hopeless == pytest.approx(1e-6 * world.values[reachable, 1].min())
    assert (world.matrix_at((1, 3)).matrix > 0).all()


def test_kings_moves_shorten_distances():
    world = GridWorld(5, 5, (4, 4), [(0, 0), (0, 4)], 0.5, actions=KING_MOVES)
    assert world.distances[world.state_position((4, 4)), 0] == 4


def test_goals_and_moves_may_have_names_of_their_own():
    world = GridWorld(
        4,
        2,
        (1, 0),
        {"door": (0, 3), "window": (1, 3)},
        0.9,
        actions={"hop": (0, 2), "up": (-1, 0), "east": (0, 1)},
    )
    assert world.matrix_at((1, 0)).hypotheses == ("door", "window")
    assert world.next_state((1, 0), "hop") == (1, 2)
    assert world.next_state((1, 2), "hop") == (1, 2)


def test_a_world_made_again_from_text_dict_or_pickle_is_equal():
    world = GridWorld.from_text("A.#.B\n.....\n..S.#", 0.7, slip=0.1)
    assert GridWorld.from_text(world.to_text(), 0.7, slip=0.1) == world
    assert GridWorld.from_settings(world.settings()) == world
    assert pickle.loads(pickle.dumps(world)) == world
    assert hash(GridWorld.from_settings(world.settings())) == hash(world)
    assert with_discount(world, 0.6) != world
    assert with_discount(with_discount(world, 0.6), 0.7) == world


def test_world_cannot_be_changed():
    with pytest.raises(AttributeError):
        GridWorld.paper().discount = 0.9


BAD_WORLDS = {
    "outside the board": {"start": (3, 0)},
    "in a wall": {"start": (1, 1), "walls": [(1, 1)]},
    "goal 'A' is at (0, 0), in a wall": {"walls": [(0, 0)]},
    "are both at": {"goals": [(0, 0), (0, 0)]},
    "goal 'B' is the start": {"goals": [(0, 0), (2, 2)]},
    "cannot be reached": {"walls": [(0, 1), (1, 0), (1, 1)]},
    "expected at least two": {"goals": [(0, 0)]},
    "expected a square": {"goals": [(0, 0), 5]},
    "the discount is 0": {"discount": 0.0},
    "the discount is 1": {"discount": 1},
    "the discount is -0.5": {"discount": -0.5},
    "the discount is nan": {"discount": float("nan")},
    "the discount is 'half'": {"discount": "half"},
    "the width is 0": {"width": 0},
    "the height is 2.5": {"height": 2.5},
    "squares would take about 5e+05 GB of memory": {"width": 10**6, "height": 10**6},
    "slip is 1": {"slip": 1.0},
    "the reward is 0": {"reward": 0.0},
    "no move called 'jump'": {"actions": ("left", "jump")},
    "expected each move once": {"actions": ("left", "left")},
    "expected (rows, columns)": {"actions": {"left": (0,), "up": (-1, 0)}},
    "the step of move 'left' is 1; expected (rows, columns)": {
        "actions": {"left": 1, "up": (-1, 0)}
    },
    "the world has no moves": {"actions": []},
    "no move called 3": {"actions": 3},
    "no move called ['left']": {"actions": [["left"]]},
    "goals is 5; expected a list of squares": {"goals": 5},
}


@pytest.mark.parametrize("message", BAD_WORLDS)
def test_bad_world_gets_a_clear_error(message):
    good = {"width": 5, "height": 3, "start": (2, 2), "goals": [(0, 0), (0, 4)], "discount": 0.5}
    with pytest.raises(CobayesError) as caught:
        GridWorld(**{**good, **BAD_WORLDS[message]})
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A..B\n.S.", "[3, 4]"),
        ("A..B\n....", "0 starts"),
        ("A..B\nS..S", "2 starts"),
        ("A..A\n.S..", "second time"),
        ("A.?B\n.S..", "'?' at (0, 2)"),
        ("", "[0]"),
    ],
)
def test_bad_drawing_gets_a_clear_error(text, message):
    with pytest.raises(CobayesError) as caught:
        GridWorld.from_text(text)
    assert message in caught.value.message


def test_a_path_instead_of_a_drawing_gets_a_hint():
    with pytest.raises(
        CobayesError, match=r'expected the drawing.*\n.*Path\("board.txt"\).read_text'
    ):
        GridWorld.from_text(cast("str", Path("board.txt")))


def test_discount_too_small_for_the_board_is_an_error_and_not_a_zero():
    world = GridWorld.with_goals_on_top(200, 3, 2, 0.01)
    with pytest.raises(CobayesError, match="too small for float64"):
        world.matrix_at(world.start)


def test_a_square_may_be_a_tuple_a_list_or_an_array():
    world = GridWorld.paper()
    squares: list[Any] = [[2, 3], np.array([2, 3]), (np.int64(2), np.int64(3))]
    for square in squares:
        assert world.matrix_at(square) == world.matrix_at((2, 3))
        assert world.next_state(square, "up") == (1, 3)
        assert world.next_states(square, "up") == world.next_states((2, 3), "up")
        assert world.to_text(square) == world.to_text((2, 3))
    assert world.is_over([0, 0], "A")
    assert not world.is_over([0, 1], "A")
    learner = Learner(SCBI(world))
    learner.arrive([2, 3])
    learner.observe("up")
    assert learner.state == (1, 3)
    for unknown in ([9, 9], [[2, 3]], np.zeros((2, 2))):
        with pytest.raises(CobayesError, match="no state"):
            world.matrix_at(unknown)


def test_unknown_state_goal_and_move_get_clear_errors():
    world = GridWorld.paper()
    with pytest.raises(CobayesError, match=r"no state \(9, 9\)"):
        world.matrix_at((9, 9))
    with pytest.raises(CobayesError, match="no goal called 'C'"):
        world.goal_states("C")
    with pytest.raises(CobayesError, match="no move called 'down'"):
        world.next_state((2, 3), "down")
    with pytest.raises(CobayesError, match="do not fit"):
        GridWorld.with_goals_on_top(3, 3, 4, 0.5)


def test_every_way_to_make_a_board_shows_its_options():
    for make in (GridWorld.from_text, GridWorld.with_goals_on_top):
        options = inspect.signature(make).parameters
        assert {"discount", "actions", "slip", "reward"} <= set(options)
