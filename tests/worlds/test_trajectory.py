"""Walkers, watchers and lessons whose matrix changes from round to round."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobayes import BI, SCBI, CobayesError, Learner, Lesson, Teacher, run_lesson
from cobayes.paper.grid_experiments import scbi_posterior_after_left_up
from cobayes.worlds import (
    GridWorld,
    TabularWorld,
    WorldLearner,
    WorldTeacher,
    measure_legibility,
    plan_trajectory,
    run_trajectory,
    walk_distribution,
    watch_actions,
)

DISCOUNTS = st.floats(0.05, 0.95)
WALLED = "A..#..C\n..#....\nB..S...\n.#...#."


@given(DISCOUNTS, st.sampled_from([5, 7]))
def test_bi_posterior_after_left_up_is_its_closed_form(discount, width):
    # Both columns of the paper's M have equal sums, so 'up' says nothing: 1 / (1 + g).
    walk = watch_actions(GridWorld.paper(discount, width), "A", ["left", "up"], "BI")
    assert walk.belief_in_goal[1] == pytest.approx(1 / (1 + discount**2), rel=1e-12)
    assert walk.belief_in_goal[2] == pytest.approx(1 / (1 + discount**2), rel=1e-12)


@given(DISCOUNTS, st.sampled_from([5, 7]))
def test_scbi_posterior_after_left_up_is_the_root_of_its_cubic(discount, width):
    walk = watch_actions(GridWorld.paper(discount, width), "A", ["left", "up"], "SCBI")
    assert walk.belief_in_goal[1] == pytest.approx(1 / (1 + discount**2), rel=1e-10)
    assert walk.belief_in_goal[2] == pytest.approx(scbi_posterior_after_left_up(discount), rel=1e-9)


@given(DISCOUNTS)
def test_scbi_teacher_prefers_left_at_the_start_and_bi_teacher_does_not_care(discount):
    world = GridWorld.paper(discount)
    left, up, right = WorldTeacher(world, "A", "SCBI").distribution_at(world.start)
    assert left > up > right
    assert up == pytest.approx(1 / 3, rel=1e-10)
    left, up, right = WorldTeacher(world, "A", "BI").distribution_at(world.start)
    assert left == pytest.approx(up, rel=1e-12)
    assert up > right


def test_a_walk_saved_and_resumed_goes_on_exactly(tmp_path):
    world = GridWorld.from_text(WALLED, 0.6, slip=0.2)
    rule = SCBI(world)

    def walk(num_rounds):
        return run_lesson(Teacher(rule, "C", rng=4), Learner(rule), num_rounds)

    walk(3).save(tmp_path / "walk.npz")
    again = Lesson.load(tmp_path / "walk.npz").extend(5)
    whole = walk(8)
    assert again.states == whole.states
    assert np.array_equal(again.log_beliefs, whole.log_beliefs)


def test_a_walker_and_a_watcher_can_be_saved(tmp_path):
    world = GridWorld.paper(0.5)
    walker, watcher = WorldTeacher(world, "A", rng=1, moves="forward"), WorldLearner(world)
    walk = run_lesson(walker, watcher, 2)
    walk.save(tmp_path / "walk.npz")
    again, seer = Lesson.load(tmp_path / "walk.npz").resume()
    assert (again.moves, again.state, seer.state) == ("forward", walker.state, walker.state)
    assert again.choose() == walker.choose()


def test_a_slippery_walk_asks_where_it_led():
    world = GridWorld.from_text(WALLED, 0.6, slip=0.2)
    learner = Learner(SCBI(world))
    learner.observe("up")
    with pytest.raises(CobayesError, match="possible outcomes"):
        learner.observe("up")
    learner.arrive(world.start)
    learner.observe("up")


def test_a_table_world_can_be_saved(tmp_path):
    table = {"a": {0: [(1.0, "b")], 1: [(0.5, "a"), (0.5, "c")]}}
    table |= {state: {0: [(1.0, "a")], 1: [(1.0, "a")]} for state in "bc"}
    rule = SCBI(TabularWorld(table, "a", {"left": "b", "right": "c"}, 0.5))
    run_lesson(Teacher(rule, "right", rng=0), Learner(rule), 4).save(tmp_path / "walk.npz")
    again = Lesson.load(tmp_path / "walk.npz")
    assert again.teacher_state["rule"].task.table == rule.task.table


@pytest.mark.parametrize("rule", ["SCBI", "BI"])
@pytest.mark.parametrize("moves", ["any", "forward"])
def test_trajectory_follows_the_matrix_of_every_state(rule, moves):
    world = GridWorld.from_text(WALLED, 0.6)
    walk = run_trajectory(
        WorldTeacher(world, "C", rule, rng=5, moves=moves), WorldLearner(world, rule)
    )
    belief = np.full(3, 1 / 3)
    make = {"SCBI": SCBI, "BI": BI}[rule]
    for step in range(walk.num_steps):
        belief = make(world.matrix_at(walk.states[step])).update(belief, int(walk.actions[step]))
        assert np.allclose(walk.beliefs[step + 1], belief, rtol=1e-8)
        assert walk.states[step + 1] == world.move(walk.states[step], int(walk.actions[step]))
    assert walk.reached_goal
    assert all(state != world.goals["C"] for state in walk.states[:-1])
    assert np.allclose(walk.beliefs, walk.teacher_beliefs)


@pytest.mark.parametrize("rule", ["SCBI", "BI"])
def test_walker_who_moves_forward_takes_a_shortest_way(rule):
    world = GridWorld.from_text(WALLED, 0.6)
    for goal in world.goal_labels:
        walk = run_trajectory(
            WorldTeacher(world, goal, rule, rng=2, moves="forward"), WorldLearner(world, rule)
        )
        assert walk.reached_goal
        assert walk.extra_steps == 0


def test_same_seed_same_walk_even_on_slippery_boards():
    world = GridWorld.from_text(WALLED, 0.6, slip=0.3)

    def walk(seed):
        teacher = WorldTeacher(world, "A", rng=seed)
        return run_trajectory(teacher, WorldLearner(world), rng=seed + 1)

    assert walk(4).states == walk(4).states
    assert np.array_equal(walk(4).log_beliefs, walk(4).log_beliefs)
    assert walk(4).states != walk(5).states


def test_walk_stops_after_the_last_round():
    world = GridWorld.paper(0.5)
    walk = run_trajectory(WorldTeacher(world, "A", rng=1), WorldLearner(world), max_rounds=3)
    assert walk.num_steps == 3
    assert not walk.reached_goal
    assert walk.extra_steps is None


@given(st.floats(0.1, 0.9), st.sampled_from(["SCBI", "BI"]), st.sampled_from(["any", "forward"]))
@settings(max_examples=20)
def test_exact_walks_have_probability_one_and_follow_single_walks(discount, rule, moves):
    world = GridWorld.from_text(WALLED, discount)
    walks = walk_distribution(world, "B", 3, rule, moves=moves)
    assert walks.probabilities.sum() == pytest.approx(1.0, abs=1e-12)
    most = int(np.argmax(walks.probabilities))
    watched = watch_actions(world, "B", walks.actions[most], rule)
    assert np.allclose(watched.log_beliefs[-1], walks.log_beliefs[most], rtol=1e-8)
    assert watched.states[-1] == walks.states[most]


def test_exact_walks_agree_with_sampled_ones():
    # 4000 walks of two moves; the tolerance of 4.5 standard errors fails once in 150,000 seeds.
    world = GridWorld.paper(0.5)
    other = world.with_discount(0.6)
    exact = walk_distribution(world, "A", 2, learner_world=other)
    teacher, learner = WorldTeacher(world, "A", rng=11), WorldLearner(other)
    found = []
    for _ in range(4000):
        teacher.restart()
        learner.restart()
        walk = run_trajectory(teacher, learner, max_rounds=2)
        found.append(walk.belief_in_goal[-1] - walk.teacher_beliefs[-1, 0])
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - exact.mean(exact.misjudgement)) < 4.5 * error


def test_exact_walks_branch_where_moves_slip():
    world = GridWorld.paper(0.5)
    slippery = GridWorld.with_goals_on_top(7, 3, 2, 0.5, slip=0.2)
    assert len(walk_distribution(world, "A", 1).probabilities) == 3
    walks = walk_distribution(slippery, "A", 1)
    assert len(walks.probabilities) == 9
    assert walks.probabilities.sum() == pytest.approx(1.0)


@given(st.floats(0.1, 0.9), st.integers(1, 4))
@settings(max_examples=20)
def test_probability_of_an_scbi_walk_is_the_rise_of_the_belief(discount, num_rounds):
    # Columns of the scaled matrix sum to n theta: P(walk) = n^-k theta_k(h) / theta_0(h).
    world = GridWorld.from_text(WALLED, discount)
    walks = walk_distribution(world, "C", num_rounds, prior=[0.2, 0.5, 0.3])
    lengths = np.array([len(actions) for actions in walks.actions])
    # The drawing lists the goals row by row: A, C, B.
    expected = 4.0**-lengths * walks.belief_in_goal / 0.5
    assert np.allclose(walks.probabilities, expected, rtol=1e-8)


def test_scbi_plan_is_the_walk_after_which_the_watcher_is_surest():
    world = GridWorld.paper(0.5)
    plan = plan_trajectory(world, "A", "SCBI")
    walks = walk_distribution(world, "A", 5, moves="forward")
    assert plan.belief_in_goal[-1] == pytest.approx(walks.belief_in_goal.max(), rel=1e-12)
    assert plan.action_labels == ("left", "left", "left", "up", "up")


@pytest.mark.parametrize("discount", [0.2, 0.5, 0.8])
def test_cooperative_plan_is_more_legible_than_the_literal_one(discount):
    world = GridWorld.paper(discount)
    cooperative, literal = (plan_trajectory(world, "A", rule) for rule in ("SCBI", "BI"))
    assert cooperative.action_labels[0] == "left"
    assert literal.action_labels[0] == "up"
    assert cooperative.num_steps == literal.num_steps == 5
    assert cooperative.legibility > literal.legibility
    for reader in ("SCBI", "BI"):
        good = watch_actions(world, "A", cooperative.actions.tolist(), reader)
        bad = watch_actions(world, "A", literal.actions.tolist(), reader)
        assert good.legibility > bad.legibility


@pytest.mark.parametrize("rule", ["SCBI", "BI"])
def test_plan_is_the_most_likely_of_all_walks_to_the_goal(rule):
    world = GridWorld.from_text("A.#B\n....\n.S..", 0.5)
    plan = plan_trajectory(world, "B", rule, extra_steps=2)
    longest = int(world.distances[world.state_position(world.start), 1]) + 2
    walks = walk_distribution(world, "B", longest, rule)
    arrived = [world.is_goal(state, "B") for state in walks.states]
    best = int(np.argmax(np.where(arrived, walks.probabilities, 0.0)))
    index = walks.actions.index(tuple(plan.actions.tolist()))
    assert walks.probabilities[index] == pytest.approx(walks.probabilities[best], rel=1e-9)


def test_plan_says_when_it_did_not_follow_every_way():
    world = GridWorld.with_goals_on_top(9, 5, 3, 0.7)
    with pytest.warns(UserWarning, match="only the likeliest were followed") as caught:
        plan = plan_trajectory(world, "A", beam_width=2)
    assert caught[0].filename == __file__
    assert plan.reached_goal


def test_cooperative_walkers_are_understood_sooner_at_the_same_cost():
    # Over 300 walks the difference of about 1.4 moves is some 20 standard errors.
    world = GridWorld.paper(0.5)
    scbi, bi = (
        measure_legibility(world, "A", rule, num_walks=300, rng=8) for rule in ("SCBI", "BI")
    )
    assert scbi.steps == bi.steps == 5.0
    assert bi.rounds - scbi.rounds > 5 * np.hypot(scbi.rounds_stderr, bi.rounds_stderr)
    assert scbi.num_unsure == scbi.num_unfinished == 0


def test_trajectory_tables_keep_the_labels():
    world = GridWorld.paper(0.5)
    walk = plan_trajectory(world, "A")
    table = walk.to_dataframe()
    assert list(table.columns) == ["action", "state", "A", "B"]
    assert table.loc[1, "action"] == "left"
    assert table.loc[5, "state"] == (0, 0)
    data = walk.to_xarray()
    assert data.belief.sel(goal="A").values[-1] == walk.belief_in_goal[-1]
    assert walk.rounds_until(0.95) == 2
    assert walk.rounds_until(0.9999) is None
    assert "goal 'A' reached" in repr(walk)


def test_bad_requests_get_clear_errors():
    world = GridWorld.paper(0.5)
    with pytest.raises(CobayesError, match="no rule called 'magic'"):
        WorldLearner(world, "magic")
    with pytest.raises(CobayesError, match="moves is 'backward'"):
        WorldTeacher(world, "A", moves="backward")
    with pytest.raises(CobayesError, match="different goals"):
        run_trajectory(
            WorldTeacher(world, "A"), WorldLearner(GridWorld.with_goals_on_top(7, 3, 3, 0.5))
        )
    with pytest.raises(CobayesError, match="is zero"):
        WorldTeacher(world, "A", prior=[0.0, 1.0])
    with pytest.raises(CobayesError, match="needs a world in which every move has one outcome"):
        plan_trajectory(GridWorld.with_goals_on_top(7, 3, 2, 0.5, slip=0.1), "A")
    with pytest.raises(CobayesError, match="max_rounds is -1"):
        run_trajectory(WorldTeacher(world, "A"), WorldLearner(world), max_rounds=-1)
    with pytest.raises(CobayesError, match="expected a world"):
        WorldLearner(np.ones((3, 2)))
