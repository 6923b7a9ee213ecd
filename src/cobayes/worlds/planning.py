"""Planning a walk: the most likely way to the goal for a walker of either kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cobayes._input.labels import is_position
from cobayes.errors import CobayesError, warn_user
from cobayes.rules import Rule
from cobayes.rules.base import require_teachable
from cobayes.rules.response import log_posterior
from cobayes.worlds.agents import RuleName, world_rule
from cobayes.worlds.base import World
from cobayes.worlds.trajectory import Trajectory, require_deterministic, watch_actions


def plan_trajectory(
    world: World,
    goal: int | str,
    rule: RuleName | type[Rule] | Rule = "SCBI",
    *,
    prior: ArrayLike | None = None,
    extra_steps: int = 0,
    beam_width: int = 20_000,
) -> Trajectory:
    """Plan the walk to the goal that a teacher is most likely to take.

    With "SCBI" the plan is cooperative: among ways of equal length it is the one after which
    the watcher is surest. With "BI" it is literal: it only looks at what the moves are worth.

    Parameters
    ----------
    world
        A world without slips.
    goal
        The walker's goal, by position or label.
    rule
        "SCBI" or "BI"; also how the watcher reads the moves.
    prior
        The watcher's prior; uniform by default.
    extra_steps
        How many moves more than the fewest the way may take.
    beam_width
        How many ways are followed at a time, the likeliest of them; where that was too few to
        follow all, the plan may not be the best and a warning says so.

    Returns
    -------
    Trajectory
        The walk, and the beliefs of the watcher along it.

    Notes
    -----
    Under SCBI a way d_1, ..., d_k has probability ``n**-k theta_k(h) / theta_0(h)``, whatever
    the matrices of the rounds: column sums of the scaled matrix are ``n theta``. Ways of equal
    probability are ordered by their moves, those that come first in ``world.actions`` winning.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> walk = cb.worlds.plan_trajectory(world, "A")
    >>> walk
    Trajectory(SCBI walker, SCBI watcher; 5 moves; goal 'A' reached; final belief in it 0.9984)
    """
    require_deterministic(world, "planning")
    if not is_position(extra_steps) or extra_steps < 0:
        raise CobayesError(f"extra_steps is {extra_steps!r}; expected an integer >= 0.")
    if not is_position(beam_width) or beam_width < 1:
        raise CobayesError(f"beam_width is {beam_width!r}; expected a positive integer.")
    column = world.goal_index(goal)
    rules = world_rule(world, rule)
    first = rules.at(world.start)
    log_belief = first.log_belief(prior, "prior")
    require_teachable(first.model, log_belief, column, "prior")
    steps_left = world.distances[:, column]
    start = world.state_position(world.start)
    budget = int(steps_left[start]) + extra_steps
    next_states = world.outcomes[0][:, :, 0].tolist()

    best: tuple[float, tuple[int, ...]] | None = None
    layer = {(start, log_belief.tobytes()): (0.0, (), log_belief)}
    is_cut = False
    for spent in range(budget):
        following: dict[tuple[int, bytes], tuple[float, tuple[int, ...], np.ndarray]] = {}
        for (state, _), (score, actions, belief) in layer.items():
            likelihood = rules.at(world.states[state]).respond(belief).likelihood
            posteriors = log_posterior(belief, likelihood)
            for action, target in enumerate(next_states[state]):
                if steps_left[target] > budget - spent - 1:
                    continue
                way = (score + float(np.log(likelihood[action, column])), (*actions, action))
                if steps_left[target] == 0.0:
                    best = _better(best, way)
                    continue
                # Ways that lead to one state with one belief have one future: keep the best.
                key = (target, np.round(posteriors[action], 10).tobytes())
                known = following.get(key)
                if known is None or _better(known[:2], way) == way:
                    following[key] = (*way, posteriors[action])
        ranked = sorted(following.items(), key=lambda item: (-round(item[1][0], 10), item[1][1]))
        is_cut = is_cut or len(ranked) > beam_width
        layer = dict(ranked[:beam_width])
    if is_cut:
        warn_user(
            f"more than {beam_width} ways were open at a time; only the likeliest were followed."
        )
    if best is None:
        raise CobayesError("no way to the goal was found.", "raise beam_width.")
    return watch_actions(world, column, best[1], rule, prior=prior)


def _better(
    known: tuple[float, tuple[int, ...]] | None, way: tuple[float, tuple[int, ...]]
) -> tuple[float, tuple[int, ...]]:
    """Return the likelier way; of two that differ by rounding only, the one listed first."""
    if known is None or way[0] > known[0] + 1e-10:
        return way
    return way if way[0] > known[0] - 1e-10 and way[1] < known[1] else known
