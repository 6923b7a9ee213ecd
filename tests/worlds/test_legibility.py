"""Planned walks, and the number of moves until watchers are sure."""

import numpy as np
import pytest

from cobayes import BI, SCBI, CobayesError, GridWorld, Learner
from cobayes.worlds import measure_legibility, plan_walk
from tests.worlds.walks import all_walks


def legibility(rule, moves):
    """Return the mean belief in the first goal over some moves."""
    learner = Learner(rule)
    return np.mean([learner.observe(move)[0] for move in moves])


def test_scbi_plan_is_the_walk_after_which_the_watcher_is_surest():
    rule = SCBI(GridWorld.paper(0.5))
    plan = plan_walk(rule, "A")
    surest = max(teacher.belief[0] for _, _, teacher in all_walks(rule, "A", 5, choice="forward"))
    assert plan.beliefs[-1, 0] == pytest.approx(surest, rel=1e-12)
    assert plan.data_labels == ("left", "left", "left", "up", "up")
    assert plan.is_over


@pytest.mark.parametrize("discount", [0.2, 0.5, 0.8])
def test_cooperative_plan_is_more_legible_than_the_literal_one(discount):
    world = GridWorld.paper(discount)
    cooperative, literal = (plan_walk(kind(world), "A") for kind in (SCBI, BI))
    assert cooperative.data_labels[0] == "left"
    assert literal.data_labels[0] == "up"
    assert cooperative.num_rounds == literal.num_rounds == 5
    for kind in (SCBI, BI):
        rule = kind(world)
        assert legibility(rule, cooperative.data) > legibility(rule, literal.data)


@pytest.mark.parametrize("kind", [SCBI, BI])
def test_plan_is_the_most_likely_of_all_walks_to_the_goal(kind):
    world = GridWorld.from_text("A.#B\n....\n.S..", 0.5)
    rule = kind(world)
    plan = plan_walk(rule, "B", extra_moves=1)
    longest = int(world.distances[world.state_position(world.start), 1]) + 1
    arrived = {
        moves: probability
        for probability, moves, teacher in all_walks(rule, "B", longest)
        if world.is_over(teacher.state, "B")
    }
    assert arrived[tuple(plan.data)] == pytest.approx(max(arrived.values()), rel=1e-9)


def test_a_world_means_scbi_and_a_plan_is_a_lesson_that_can_be_saved(tmp_path):
    plan = plan_walk(GridWorld.paper(), "A")
    assert plan.rule_name == "SCBI"
    assert plan.states[-1] == (0, 0)
    plan.save(tmp_path / "plan.json")
    assert type(plan).load(tmp_path / "plan.json").states == plan.states


def test_a_plan_warns_if_partial_walks_were_dropped():
    world = GridWorld.with_goals_on_top(9, 5, 3, 0.7)
    with pytest.warns(UserWarning, match="only the likeliest were continued") as caught:
        plan = plan_walk(world, "A", beam_width=2)
    assert caught[0].filename == __file__
    assert plan.is_over


def test_cooperative_walkers_are_understood_sooner_at_the_same_cost():
    # Over 300 walks the difference of about 1.4 moves is some 20 standard errors.
    world = GridWorld.paper(0.5)
    scbi, bi = (measure_legibility(kind(world), "A", num_lessons=300, rng=8) for kind in (SCBI, BI))
    assert scbi.steps == bi.steps == 5.0
    assert bi.rounds - scbi.rounds > 5 * np.hypot(scbi.rounds_stderr, bi.rounds_stderr)
    assert scbi.num_unsure == scbi.num_unfinished == 0
    assert "95 % sure after" in repr(scbi)


def test_one_walk_has_a_mean_without_a_standard_error_and_none_has_neither():
    # The way to A has five moves.
    found = measure_legibility(GridWorld.paper(0.5), "A", num_lessons=3, num_rounds=2, rng=0)
    assert (found.rounds, found.num_unsure, found.num_unfinished) == (2.0, 2, 3)
    assert np.isnan([found.rounds_stderr, found.steps, found.steps_stderr]).all()
    assert "after 2 moves in 1 of 3 walks, at the goal never" in repr(found)


def test_a_walker_that_may_make_all_moves_takes_longer():
    # docs/robots.md: about 7 moves until sure instead of 3, and random moves after that.
    world = GridWorld.paper(0.5)
    forward, free = (
        measure_legibility(world, "A", choice=choice, num_lessons=100, rng=8)
        for choice in ("forward", "draw")
    )
    assert free.rounds > forward.rounds + 5 * free.rounds_stderr
    assert free.steps > 2 * forward.steps


def test_bad_requests_get_clear_errors():
    with pytest.raises(CobayesError, match="needs a world in which every move has one outcome"):
        plan_walk(GridWorld.with_goals_on_top(7, 3, 2, 0.5, slip=0.1), "A")
    with pytest.raises(CobayesError, match="the rule's task is of type Model; expected a world"):
        plan_walk(np.ones((3, 2)), 0)
    with pytest.raises(CobayesError, match="the rule's task is of type Model; expected a world"):
        measure_legibility(np.ones((3, 2)), 0)
    with pytest.raises(CobayesError, match="num_lessons is 1"):
        measure_legibility(GridWorld.paper(), 0, num_lessons=1)
