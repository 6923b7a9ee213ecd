"""Worlds given by a table, such as Gymnasium's environments."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

from cobayes import SCBI, CobayesError, Learner, Lesson, Teacher, run_lesson
from cobayes.worlds import GridWorld, TabularWorld, plan_walk, world_from_gymnasium
from tests.worlds.walks import with_discount


def test_goals_may_be_a_list_of_states():
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    world = world_from_gymnasium(lake, [15, 3])
    assert world.goal_labels == ("15", "3")
    assert world.goal_states("15") == (15,)
    labelled = world_from_gymnasium(lake, {"15": 15, "3": 3})
    assert np.array_equal(world.matrix_at(0).matrix, labelled.matrix_at(0).matrix)
    steps = {place: {"on": [(1.0, (place + 1) % 3)]} for place in range(3)}
    assert TabularWorld(steps, 0, [1, 2], 0.5) == TabularWorld(steps, 0, {"1": 1, "2": 2}, 0.5)
    for goal in (0, 1):
        walk = plan_walk(world, goal)
        assert walk.is_over
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


def test_a_board_written_as_a_gymnasium_table_is_the_same_world():
    world = GridWorld.from_text("A.#.B\n.....\n..S..", 0.6, slip=0.25)
    position = world.state_position
    table = {
        position(state): {
            action: [(chance, position(to), 0.0, False) for to, chance in outcomes]
            for action in range(4)
            if (outcomes := world.next_states(state, action))
        }
        for state in world.states
    }
    first = np.eye(len(world.states))[position(world.start)]
    env = SimpleNamespace(P=table, initial_state_distrib=first)
    goals = {label: world.state_position(square) for label, square in world.goals.items()}
    read = world_from_gymnasium(env, goals, 0.6, actions=world.action_labels)
    assert read.start == world.state_position(world.start)
    assert np.allclose(read.values, world.values, rtol=1e-12)
    for position, square in enumerate(world.states):
        assert np.allclose(read.matrix_at(position).matrix, world.matrix_at(square).matrix)


def test_values_on_firm_ice_are_those_of_shortest_walks():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    world = world_from_gymnasium(env, {"G": 15, "corner": 3}, 0.9)
    assert world.action_labels == ("left", "down", "right", "up")
    # On the 4 x 4 lake, G is six moves from the start.
    assert world.distances[0].tolist() == [6, 3]
    assert world.matrix_at(0).matrix[1].tolist() == pytest.approx([0.9**5, 0.9**4])
    hole = world.values[5]
    assert (hole < 1e-5 * world.values[0]).all()
    assert (hole > 0).all()


def test_values_on_slippery_ice_agree_with_value_iteration_on_the_table():
    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    world = world_from_gymnasium(env, {"G": 15, "corner": 3}, 0.9)
    table = env.unwrapped.P
    # The environment pays one for the move to G; in a world G itself has the value one.
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
    rule = SCBI(world)
    teacher, learner = Teacher(rule, "G", rng=0, choice="forward"), Learner(rule)
    env.reset(seed=0)
    is_over = False
    while not is_over:
        action = teacher.choose()
        learner.observe(action)
        state, reward, is_over, _, _ = env.step(action)
        assert teacher.state == learner.state == state
    assert reward == 1.0
    assert np.argmax(learner.belief) == 0
    assert np.allclose(learner.belief, teacher.belief)


def test_environment_without_a_table_is_an_error():
    with pytest.raises(CobayesError, match="no table of transitions"):
        world_from_gymnasium("CartPole-v1", {"a": 0, "b": 1})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"goals": {"a": 1}}, "expected at least two"),
        ({"goals": {"a": 1, "b": 7}}, "no state 7"),
        ({"goals": {"a": 1, "b": [1, 2]}}, "are both at 1"),
        ({"goals": {"a": 0, "b": 2}}, "is the start"),
        ({"table": {0: {0: [(0.5, 1)]}, 1: {0: [(1.0, 1)]}, 2: {0: [(1.0, 2)]}}}, "sum to 0.5"),
        (
            {"table": {0: {0: [(1.0, 1)]}, 1: {}, 2: {0: [(1.0, 2)]}}},
            "has the moves []",
        ),
        ({"table": {0: {0: [(1.0, 1)]}, 1: {0: [(1.0, 1)]}, 2: {0: [(1.0, 2)]}}}, "be reached"),
        ({"table": {}}, "is empty"),
        (
            {"table": {"lab": {"east": [("lab", 0.9), ("dock", 0.1)]}, "dock": {"east": []}}},
            "the outcomes of move 'east' in state 'lab' are [('lab', 0.9), ('dock', 0.1)];",
        ),
        ({"table": {"lab": {"east": "lab"}}}, "move 'east' in state 'lab' are 'lab'; expected"),
        ({"table": {0: {0: [(1.0, 7)]}}}, "move 0 in state 0 leads to 7; the table has no such"),
        (
            {"table": {0: {0: [(-1.0, 0)]}}},
            "move 0 in state 0 leads to 0 with probability -1; expected",
        ),
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


def test_the_hint_shows_the_form_of_outcomes():
    table = {"lab": {"east": [("lab", 0.9), ("dock", 0.1)]}, "dock": {"east": [(1.0, "dock")]}}
    with pytest.raises(CobayesError) as caught:
        TabularWorld(table, "lab", ["lab", "dock"], 0.5)
    assert caught.value.hint == "write, for example, [(0.9, 'lab'), (0.1, 'dock')]."


def test_moves_may_have_names():
    named = {
        0: {"on": [(1.0, 1)], "stay": [(1.0, 0)]},
        1: {"stay": [(1.0, 1)], "on": [(1.0, 2)]},
        2: {"on": [(1.0, 0)], "stay": [(1.0, 2)]},
    }
    numbered = {s: {0: moves["on"], 1: moves["stay"]} for s, moves in named.items()}
    goals = {"near": 1, "far": 2}
    world = TabularWorld(named, 0, goals, 0.9)
    assert world.action_labels == ("on", "stay")
    other = TabularWorld(numbered, 0, goals, 0.9, ("on", "stay"))
    for state in world.states:
        assert world.matrix_at(state) == other.matrix_at(state)
    del named[2]["stay"]
    with pytest.raises(CobayesError, match=r"state 2 has the moves \['on'\]; expected"):
        TabularWorld(named, 0, goals, 0.9)


def test_a_name_that_gymnasium_does_not_know_is_an_error_with_a_hint():
    with pytest.raises(CobayesError, match=r"'FrozenLak-v1'[\s\S]*pprint_registry"):
        world_from_gymnasium("FrozenLak-v1", {"x": 1, "y": 2})


def test_a_table_world_can_be_saved(tmp_path):
    table = {"a": {0: [(1.0, "b")], 1: [(0.5, "a"), (0.5, "c")]}}
    table |= {state: {0: [(1.0, "a")], 1: [(1.0, "a")]} for state in "bc"}
    rule = SCBI(TabularWorld(table, "a", {"left": "b", "right": "c"}, 0.5))
    run_lesson(Teacher(rule, "right", rng=0), Learner(rule), 4).save(tmp_path / "walk.json")
    again = Lesson.load(tmp_path / "walk.json").teacher.task
    assert again == rule.task
    assert again.settings() == rule.task.settings()


def test_another_discount_changes_nothing_else_in_the_world():
    table = {s: {0: [(1.0, (s - 1) % 5)], 1: [(1.0, (s + 1) % 5)]} for s in range(5)}
    world = TabularWorld(table, 2, {"low": [0, 1], "high": 4}, 0.5, ("back", "on"), reward=3.0)
    other = with_discount(world, 0.9)
    assert (other.discount, other.reward, other.goals) == (0.9, 3.0, world.goals)
    assert with_discount(other, 0.5).matrix_at(2) == world.matrix_at(2)
