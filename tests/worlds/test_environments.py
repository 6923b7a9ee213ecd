"""The Gymnasium environment, and worlds made from other people's environments."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cobayes import CobayesError
from cobayes.worlds import (
    GridWorld,
    TabularWorld,
    WorldLearner,
    WorldTeacher,
    plan_trajectory,
    run_trajectory,
    taxi_world,
    watch_actions,
    world_from_gymnasium,
)
from cobayes.worlds.gym import ENVIRONMENT  # importing it registers the environment

NAME = ENVIRONMENT
TAXI = "Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3"


@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_environment_passes_gymnasiums_checker(render_mode):
    # Warnings are errors in this test suite, so that the checker has nothing to complain about.
    check_env(gymnasium.make(NAME, render_mode=render_mode).unwrapped)


@pytest.mark.parametrize(
    ("imports", "name"),
    [
        ("gymnasium, cobayes.worlds", NAME),
        ("cobayes.worlds, gymnasium, cobayes.worlds.gym", NAME),
        ("gymnasium, cobayes as cb; cb.worlds", NAME),
        ("gymnasium, cobayes as cb; cb.GridWorld", NAME),
        ("gymnasium", f"cobayes.worlds.gym:{NAME}"),
    ],
)
def test_the_environment_is_registered_by_an_import(imports, name):
    code = f"import {imports}; print(gymnasium.make('{name}').unwrapped.world.width)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "7\n"


def test_goals_may_be_a_list_of_states():
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    world = world_from_gymnasium(lake, [15, 3])
    assert world.goal_labels == ("15", "3")
    assert world.goal_states("15") == (15,)
    labelled = world_from_gymnasium(lake, {"15": 15, "3": 3})
    assert np.array_equal(world.matrix_at(0).matrix, labelled.matrix_at(0).matrix)
    for goal in (0, 1):
        walk = plan_trajectory(world, goal)
        assert walk.reached_goal
        assert walk.states[-1] == (15, 3)[goal]
    as_array = world_from_gymnasium(lake, np.array([15, 3]))
    assert as_array.goal_labels == world.goal_labels
    with pytest.raises(CobayesError, match="the goals are 15; expected"):
        world_from_gymnasium(lake, 15)


def test_a_list_of_unknown_states_or_of_states_twice_is_an_error():
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    for goals in ([15, 99], [15, 15], [15, 5.5], [15, "corner"], [], [[15, 3]]):
        with pytest.raises(CobayesError):
            world_from_gymnasium(lake, goals)


def test_classes_say_which_import_registers_the_environment():
    assert "import cobayes.worlds.gym" in (GridWorld.__doc__ or "")


def test_importing_worlds_does_not_import_gymnasium():
    code = "import sys, cobayes.worlds; print('gymnasium' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_environment_tells_the_beliefs_that_a_watcher_has():
    world = GridWorld.paper(0.4)
    plan = plan_trajectory(world, "B", "SCBI")
    env = gymnasium.make(NAME, world=world, goal="B")
    observation, info = env.reset(seed=0)
    assert observation["goal"] == 1
    for step, action in enumerate(plan.actions, start=1):
        observation, reward, is_over, _, info = env.step(action)
        assert np.allclose(observation["belief"], plan.beliefs[step])
        assert tuple(observation["square"]) == plan.states[step]
    assert is_over
    assert reward == world.reward
    assert info["belief_in_goal"] == pytest.approx(plan.belief_in_goal[-1])


def test_teaching_rewards_sum_to_the_rise_of_the_belief():
    env = gymnasium.make(NAME, goal="A", teaching_weight=2.0)
    env.reset(seed=0)
    rewards = [env.step(action)[1] for action in (0, 1, 0, 1, 0)]
    walk = watch_actions(GridWorld.paper(0.5), "A", [0, 1, 0, 1, 0])
    risen = walk.belief_in_goal[-1] - 0.5
    assert sum(rewards) == pytest.approx(1.0 + 2.0 * risen)


def test_goal_is_drawn_by_the_seed_and_may_be_set():
    env = gymnasium.make(NAME)
    goals = [env.reset(seed=seed)[0]["goal"] for seed in range(30)]
    assert set(goals) == {0, 1}
    assert goals == [env.reset(seed=seed)[0]["goal"] for seed in range(30)]
    assert env.reset(options={"goal": "B"})[0]["goal"] == 1


def test_ansi_rendering_shows_board_walker_and_beliefs():
    env = gymnasium.make(NAME, goal="A", render_mode="ansi")
    env.reset(seed=0)
    env.step(0)
    text = env.render()
    assert "| . . @ S . . . |" in text
    assert "* A [################    ]  80.0%" in text


def test_picture_changes_with_the_walk():
    env = gymnasium.make(NAME, goal="A", render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(0)
    after = env.render()
    assert before.shape == after.shape
    assert before.dtype == np.uint8
    assert not np.array_equal(before, after)


def test_own_environment_read_by_the_adapter_is_the_same_world():
    world = GridWorld.from_text("A.#.B\n.....\n..S..", 0.6, slip=0.25)
    env = gymnasium.make(NAME, world=world)
    goals = {label: world.state_position(square) for label, square in world.goals.items()}
    read = world_from_gymnasium(env, goals, 0.6, actions=world.action_labels)
    assert read.start == world.state_position(world.start)
    assert np.allclose(read.values, world.values, rtol=1e-12)
    for position, square in enumerate(world.states):
        assert np.allclose(read.matrix_at(position).matrix, world.matrix_at(square).matrix)


def test_frozen_lake_on_firm_ice_has_the_worth_of_its_shortest_ways():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    world = world_from_gymnasium(env, {"G": 15, "corner": 3}, 0.9)
    assert world.action_labels == ("left", "down", "right", "up")
    # The 4 x 4 lake: G is six moves from the start and the way past the holes is one of those.
    assert world.distances[0].tolist() == [6, 3]
    assert world.matrix_at(0).matrix[1].tolist() == pytest.approx([0.9**5, 0.9**4])
    hole = world.values[5]
    assert (hole < 1e-5 * world.values[0]).all()
    assert (hole > 0).all()


def test_frozen_lake_on_slippery_ice_agrees_with_policy_iteration_on_its_table():
    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    world = world_from_gymnasium(env, {"G": 15, "corner": 3}, 0.9)
    table = env.unwrapped.P
    # The environment pays one on entering G: its value is ours without the reward's own place.
    values = np.zeros(16)
    for _ in range(2000):
        values = np.array(
            [
                max(
                    sum(p * (r + 0.9 * values[s] * (not over)) for p, s, r, over in table[state][a])
                    for a in range(4)
                )
                for state in range(16)
            ]
        )
    alive = [state for state in range(15) if values[state] > 0]
    assert np.allclose(world.values[alive, 0], 0.9 * values[alive], rtol=1e-9)


def test_walk_made_in_frozen_lake_itself_teaches_its_goal():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    world = world_from_gymnasium(env, {"G": 15, "corner": 3, "side": 8}, 0.7)
    teacher = WorldTeacher(world, "G", rng=0, moves="forward")
    learner = WorldLearner(world)
    state, _ = env.reset(seed=0)
    is_over = False
    while not is_over:
        action = teacher.act(state)
        learner.watch(state, action)
        state, reward, is_over, _, _ = env.step(action)
    assert reward == 1.0
    assert np.argmax(learner.belief) == 0
    assert np.allclose(learner.belief, teacher.belief)


def test_taxi_watcher_learns_nothing_before_the_passenger_is_in_and_then_the_destination():
    env = gymnasium.make(TAXI)
    full, _ = env.reset(seed=2)
    world = taxi_world(env, full, discount=0.5)
    assert len(world.states) == 125
    assert len(world.goal_labels) == 3
    for goal in world.goal_labels:
        walk = run_trajectory(
            WorldTeacher(world, goal, rng=1, moves="forward"), WorldLearner(world)
        )
        aboard = next(k for k, state in enumerate(walk.states) if state[2] == 4)
        assert np.allclose(walk.beliefs[: aboard + 1], 1 / 3)
        assert walk.belief_in_goal[-1] == walk.beliefs[-1].max()
        assert walk.belief_in_goal[-1] > 0.9
        assert walk.action_labels[-1] == "drop off"


def test_view_that_hides_too_much_is_an_error():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    with pytest.raises(CobayesError, match="do not behave alike"):
        world_from_gymnasium(env, {"a": 0, "b": 1}, 0.9, view=lambda state: state % 4)


def test_environment_without_a_table_is_an_error():
    with pytest.raises(CobayesError, match="no table of transitions"):
        world_from_gymnasium("CartPole-v1", {"a": 0, "b": 1})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"goals": {"a": 1}}, "expected at least two"),
        ({"goals": {"a": 1, "b": 7}}, "no state 7"),
        ({"goals": {"a": 1, "b": [1, 2]}}, "both goals"),
        ({"goals": {"a": 0, "b": 2}}, "is the start"),
        ({"table": {0: {0: [(0.5, 1)]}, 1: {0: [(1.0, 1)]}, 2: {0: [(1.0, 2)]}}}, "sum to 0.5"),
        ({"table": {0: {0: [(1.0, 1)]}, 1: {}, 2: {0: [(1.0, 2)]}}}, "has 0 moves"),
        ({"table": {0: {0: [(1.0, 1)]}, 1: {0: [(1.0, 1)]}, 2: {0: [(1.0, 2)]}}}, "be reached"),
        ({"table": {}}, "is empty"),
        ({"discount": 2.0}, "the discount is 2.0"),
    ],
)
def test_bad_table_gets_a_clear_error(change, message):
    good = {
        "table": {0: {0: [(1.0, 1)]}, 1: {0: [(1.0, 2)]}, 2: {0: [(1.0, 2)]}},
        "start": 0,
        "goals": {"a": 1, "b": 2},
        "discount": 0.5,
    }
    assert len(TabularWorld(**good).states) == 3
    with pytest.raises(CobayesError) as caught:
        TabularWorld(**{**good, **change})
    assert message in caught.value.message


def test_a_name_that_gymnasium_does_not_know_is_an_error_with_a_hint():
    with pytest.raises(CobayesError, match=r"'FrozenLak-v1'[\s\S]*pprint_registry"):
        world_from_gymnasium("FrozenLak-v1", {"x": 1, "y": 2})
