"""Walks are lessons whose matrix changes from state to state."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobayes import (
    BI,
    SCBI,
    CobayesError,
    GridWorld,
    Learner,
    Lesson,
    Teacher,
    run_lesson,
    simulate,
)
from tests.paper.test_grid import scbi_after_left_up
from tests.worlds.walks import all_walks, with_discount

DISCOUNTS = st.floats(0.05, 0.95)
WALLED = "A..#..C\n..#....\nB..S...\n.#...#."


def beliefs_after(rule, moves):
    learner = Learner(rule)
    return [learner.observe(move)[0] for move in moves]


@given(DISCOUNTS, st.sampled_from([5, 7]))
def test_bi_posterior_after_left_up_is_its_closed_form(discount, width):
    # Both columns of the paper's M have equal sums, so 'up' says nothing: 1 / (1 + g).
    beliefs = beliefs_after(BI(GridWorld.paper(discount, width)), ["left", "up"])
    assert beliefs == pytest.approx([1 / (1 + discount**2)] * 2, rel=1e-12)


@given(DISCOUNTS, st.sampled_from([5, 7]))
def test_scbi_posterior_after_left_up_is_the_root_of_its_cubic(discount, width):
    beliefs = beliefs_after(SCBI(GridWorld.paper(discount, width)), ["left", "up"])
    assert beliefs[0] == pytest.approx(1 / (1 + discount**2), rel=1e-10)
    assert beliefs[1] == pytest.approx(scbi_after_left_up(discount), rel=1e-9)


@given(DISCOUNTS)
def test_scbi_teacher_prefers_left_at_the_start_and_bi_teacher_does_not(discount):
    world = GridWorld.paper(discount)
    left, up, right = Teacher(SCBI(world), "A").distribution
    assert left > up > right
    assert up == pytest.approx(1 / 3, rel=1e-10)
    left, up, right = Teacher(BI(world), "A").distribution
    assert left == pytest.approx(up, rel=1e-12)
    assert up > right


def test_a_walk_saved_and_resumed_goes_on_exactly(tmp_path):
    rule = SCBI(GridWorld.from_text(WALLED, 0.6, slip=0.2))

    def walk(num_rounds):
        return run_lesson(Teacher(rule, "C", rng=4), Learner(rule), num_rounds)

    walk(3).save(tmp_path / "walk.json")
    again = Lesson.load(tmp_path / "walk.json").extend(5)
    whole = walk(8)
    assert again.states == whole.states
    assert np.array_equal(again.log_beliefs, whole.log_beliefs)


def test_a_walker_and_a_watcher_can_be_saved(tmp_path):
    rule = SCBI(GridWorld.paper(0.5))
    walker, watcher = Teacher(rule, "A", rng=1, choice="forward"), Learner(rule)
    run_lesson(walker, watcher, 2).save(tmp_path / "walk.json")
    again, other = Lesson.load(tmp_path / "walk.json").resume()
    assert (again.choice, again.state, other.state) == ("forward", walker.state, walker.state)
    assert again.choose() == walker.choose()


def test_after_a_slippery_move_the_learner_needs_the_new_state(tmp_path):
    world = GridWorld.from_text(WALLED, 0.6, slip=0.2)
    learner = Learner(SCBI(world))
    learner.observe("up")
    learner.save(tmp_path / "learner.json")
    for agent in (learner, Learner.load(tmp_path / "learner.json")):
        assert agent.outcomes == world.next_states(world.start, "up")
        with pytest.raises(CobayesError, match="possible outcomes"):
            agent.observe("up")
    learner.arrive(world.start)
    learner.observe("up")


@pytest.mark.parametrize("kind", [SCBI, BI])
@pytest.mark.parametrize("choice", ["draw", "forward"])
def test_a_walk_follows_the_matrix_of_every_state(kind, choice):
    world = GridWorld.from_text(WALLED, 0.6)
    rule = kind(world)
    walk = run_lesson(Teacher(rule, "C", rng=5, choice=choice), Learner(rule), 100)
    belief = np.full(3, 1 / 3)
    for step, move in enumerate(walk.data.tolist()):
        belief = kind(world.matrix_at(walk.states[step])).update(belief, move)
        assert np.allclose(walk.beliefs[step + 1], belief, rtol=1e-8)
        assert walk.states[step + 1] == world.next_state(walk.states[step], move)
    assert walk.is_over
    assert all(state != world.goals["C"] for state in walk.states[:-1])
    assert np.allclose(walk.beliefs, walk.teacher_beliefs)


@pytest.mark.parametrize("kind", [SCBI, BI])
def test_a_walker_who_moves_forward_takes_a_shortest_walk(kind):
    rule = kind(GridWorld.from_text(WALLED, 0.6))
    for goal in range(3):
        walk = run_lesson(Teacher(rule, goal, rng=2, choice="forward"), Learner(rule), 100)
        assert walk.is_over
        start = rule.task.state_position(rule.task.start)
        assert walk.num_rounds == rule.task.distances[start, goal]


def test_same_seed_same_walk_even_on_slippery_boards():
    rule = SCBI(GridWorld.from_text(WALLED, 0.6, slip=0.3))

    def walk(seed):
        return run_lesson(Teacher(rule, "A", rng=seed), Learner(rule), 100, rng=seed + 1)

    assert walk(4).states == walk(4).states
    assert np.array_equal(walk(4).log_beliefs, walk(4).log_beliefs)
    assert walk(4).states != walk(5).states


def test_walk_stops_after_the_last_round():
    rule = SCBI(GridWorld.paper(0.5))
    walk = run_lesson(Teacher(rule, "A", rng=1), Learner(rule), 3)
    assert walk.num_rounds == 3
    assert not walk.is_over


def test_a_watcher_may_discount_differently():
    world = GridWorld.paper(0.5)
    own, other = SCBI(world), SCBI(with_discount(world, 0.6))
    walk = run_lesson(Teacher(own, "A", rng=11), Learner(other), 2)
    learner = Learner(other)
    for move in walk.data:
        learner.observe(move)
    np.testing.assert_allclose(walk.log_beliefs[-1], learner.log_belief)
    assert not np.allclose(walk.beliefs[1:], walk.teacher_beliefs[1:])


def test_lessons_and_simulations_begin_where_the_teacher_is():
    world = GridWorld.paper(0.5)
    elsewhere = BI(type(world).from_settings({**world.settings(), "start": (2, 0)}))
    walk = run_lesson(Teacher(BI(world), "A", choice="likeliest"), Learner(elsewhere), 1)
    options = {"num_rounds": 1, "num_lessons": 30, "rng": 1}
    paths = simulate(BI(world), "A", learner_rule=elsewhere, **options).paths
    assert np.array_equal(paths, simulate(BI(world), "A", learner_rule=BI(world), **options).paths)
    assert np.array_equal(walk.log_beliefs, walk.teacher_log_beliefs)


@given(st.floats(0.1, 0.9), st.integers(1, 4))
@settings(max_examples=10)
def test_probability_of_an_scbi_walk_is_the_rise_of_the_belief(discount, num_rounds):
    # Columns of the scaled matrix sum to n theta: P(walk) = n^-k theta_k(h) / theta_0(h).
    rule = SCBI(GridWorld.from_text(WALLED, discount))
    # The drawing lists the goals row by row: A, C, B.
    for probability, moves, teacher in all_walks(rule, "C", num_rounds, prior=[0.2, 0.5, 0.3]):
        expected = 4.0 ** -len(moves) * teacher.belief[1] / 0.5
        assert probability == pytest.approx(expected, rel=1e-8)


def test_tables_of_a_walk_keep_the_labels_and_the_states():
    rule = SCBI(GridWorld.paper(0.5))
    walk = run_lesson(Teacher(rule, "A", choice="likeliest"), Learner(rule), 5)
    table = walk.to_dataframe()
    assert list(table.columns) == ["datum", "state", "A", "B"]
    assert table.loc[1, "datum"] == "left"
    assert table.loc[1, "state"] == (2, 2)
    assert walk.rounds_until(0.95) == 2
    assert walk.rounds_until(1.0) is None


def test_bad_requests_get_clear_errors():
    rule = SCBI(GridWorld.paper(0.5))
    with pytest.raises(CobayesError, match="expected 'draw', 'likeliest' or 'forward'"):
        Teacher(rule, "A", choice="backward")
    with pytest.raises(CobayesError, match="lessons on the task Model have no goal"):
        Teacher(np.eye(3) + 1.0, 0, choice="forward")
    more_goals = SCBI(GridWorld.with_goals_on_top(7, 3, 3, 0.5))
    with pytest.raises(CobayesError, match="must share data and hypotheses"):
        run_lesson(Teacher(rule, "A"), Learner(more_goals), 3)
    smaller = SCBI(GridWorld.with_goals_on_top(5, 3, 2, 0.5))
    with pytest.raises(CobayesError, match=r"there is no state \(2, 5\)"):
        run_lesson(Teacher(rule, "B", choice="likeliest"), Learner(smaller), 5)
    with pytest.raises(CobayesError, match="is zero"):
        Teacher(rule, "A", prior=[0.0, 1.0])


def test_distances_and_values_of_a_world_are_read_only():
    board = GridWorld.paper(discount=0.5)
    for found in (board.distances, board.values):
        with pytest.raises(ValueError, match="read-only"):
            found[0, 0] = 1.0
