"""The Gymnasium environment."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from cobayes import SCBI, CobayesError, GridWorld, Learner
from cobayes.worlds import plan_walk

NAME = "cobayes/GridWorld-v0"


@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_environment_passes_gymnasiums_checker(render_mode):
    # Warnings are errors in this test suite, so that the checker must not warn.
    check_env(gymnasium.make(NAME, render_mode=render_mode).unwrapped)


def test_observations_have_the_beliefs_of_the_watcher():
    world = GridWorld.paper(0.4)
    plan = plan_walk(world, "B")
    env = gymnasium.make(NAME, world=world, goal="B")
    observation, info = env.reset(seed=0)
    assert observation["goal"] == 1
    for step, action in enumerate(plan.data, start=1):
        observation, reward, is_over, _, info = env.step(action)
        assert np.allclose(observation["belief"], plan.beliefs[step])
        assert tuple(observation["square"]) == plan.states[step]
    assert is_over
    assert reward == world.reward
    assert info["belief_in_goal"] == pytest.approx(plan.beliefs[-1, 1])


def test_teaching_rewards_sum_to_the_rise_of_the_belief():
    env = gymnasium.make(NAME, goal="A", teaching_weight=2.0)
    env.reset(seed=0)
    rewards = [env.step(action)[1] for action in (0, 1, 0, 1, 0)]
    learner = Learner(SCBI(GridWorld.paper(0.5)))
    for action in (0, 1, 0, 1, 0):
        learner.observe(action)
    risen = learner.belief[0] - 0.5
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
    assert "* A [################    ]  80.0 %" in text


def test_picture_changes_with_the_walk():
    env = gymnasium.make(NAME, goal="A", render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(0)
    after = env.render()
    assert before.shape == after.shape
    assert before.dtype == np.uint8
    assert not np.array_equal(before, after)


def test_the_watcher_knows_the_square_after_a_slip():
    world = GridWorld.from_text("A.....B\n.......\n...S...", 0.5, slip=0.5)
    env = gymnasium.make(NAME, world=world, goal="A")
    env.reset(seed=3)
    learner = Learner(SCBI(world))
    for action in (0, 1, 2, 0, 3):
        observation, *_ = env.step(action)
        np.testing.assert_allclose(observation["belief"], learner.observe(action), rtol=1e-9)
        learner.arrive(observation["square"])


def test_a_wrong_world_or_action_gets_a_clear_error():
    with pytest.raises(CobayesError, match=r"'board.txt'; expected a GridWorld.*\n.*from_text"):
        gymnasium.make(NAME, world="board.txt")
    env = gymnasium.make(NAME).unwrapped
    env.reset(seed=0)
    for action in ("left", 3, -1, 0.5):
        with pytest.raises(CobayesError, match=r"expected an integer >= 0 and below 3.*\n.*'left'"):
            env.step(action)
