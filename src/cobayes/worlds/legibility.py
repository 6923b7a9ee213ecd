"""Legible walks: the likeliest walk to a goal, and the number of moves until a watcher is sure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobayes._input.labels import Distribution
from cobayes._input.validation import generator, instance, whole_number
from cobayes._output import counted
from cobayes.errors import CobayesError, warn_user
from cobayes.lessons.agents import Choice, Learner, Teacher
from cobayes.lessons.lesson import Lesson, run_lesson
from cobayes.lessons.planning import Planner
from cobayes.rules import Rule, as_rule
from cobayes.rules.naming import RuleLike
from cobayes.rules.response import add_evidence
from cobayes.worlds.world import World

Walk = tuple[float, tuple[int, ...]]
"""The logarithm of a walk's probability, and its moves."""

TIE = 1e-10
"""Smaller differences of log-probabilities and log-beliefs are attributed to rounding."""


def world_of(rule: Rule) -> World:
    """Return the world of a rule; raise an error if its task is not a world."""
    hint = "make the rule from one: cobayes.SCBI(cobayes.GridWorld(...))."
    return instance(rule.task, World, "the rule's task", "a world", hint)


def plan_walk(
    rule: RuleLike,
    goal: int | str,
    *,
    prior: Distribution | None = None,
    extra_moves: int = 0,
    beam_width: int = 20_000,
) -> Lesson:
    """Plan a walker's most probable walk to its goal, by default among the shortest walks.

    With `SCBI` and a uniform data prior the plan is cooperative: no walk of the same length to the
    goal leads to a higher belief of the watcher in this goal. With `BI` the plan is literal: it
    depends only on the values of the states.

    Parameters
    ----------
    rule
        The rule of walker and watcher, made from a world in which every move has one outcome. A
        world itself stands for `SCBI(world)`.
    goal
        The walker's goal, by position or label.
    prior
        The watcher's prior; uniform by default.
    extra_moves
        The largest number of moves in addition to the shortest walk.
    beam_width
        The search keeps at most this number of partial walks of each length, the likeliest ones.
        If it drops any, a warning says that a better walk may exist.

    Returns
    -------
    Lesson
        The walk: moves, states, and the watcher's beliefs.

    Notes
    -----
    Under SCBI with a uniform data prior, a walk d_1, ..., d_k has probability
    ``n**-k theta_k(h) / theta_0(h)``, whatever the matrices of the rounds are, because the column
    sums of the scaled matrix are ``n theta``. If several walks are equally probable, the first in
    the order of the moves is returned.

    Examples
    --------
    >>> import cobayes as cb
    >>> walk = cb.worlds.plan_walk(cb.GridWorld.paper(discount=0.5), "A")
    >>> walk.data_labels
    ('left', 'left', 'left', 'up', 'up')
    """
    teacher = Teacher(rule, goal, prior, rng=0)
    rule, column = teacher.rule, teacher.hypothesis
    world = world_of(rule)
    if not world.is_certain:
        raise CobayesError(
            "planning needs a world in which every move has one outcome.",
            "use a world that does not slip, or draw the moves: "
            "run_lesson(Teacher(rule, goal, choice='forward'), Learner(rule), 100).",
        )
    extra_moves = whole_number(extra_moves, "extra_moves", 0)
    beam_width = whole_number(beam_width, "beam_width", 1)
    moves_left = world.distances[:, column]
    start = world.state_position(world.start)
    budget = int(moves_left[start]) + extra_moves
    next_states = world.outcomes[0][:, :, 0].tolist()

    best: Walk | None = None
    layer = {(start, b""): ((0.0, ()), teacher.log_belief)}
    is_cut = False
    for spent in range(budget):
        following: dict[tuple[int, bytes], tuple[Walk, np.ndarray]] = {}
        for (state, _), ((score, actions), belief) in layer.items():
            response = rule.at(world.states[state]).answer(belief)
            posteriors = add_evidence(belief, response.log_likelihood)
            scores = score + response.log_likelihood[:, column]
            for action, target in enumerate(next_states[state]):
                if moves_left[target] > budget - spent - 1:
                    continue
                way = (float(scores[action]), (*actions, action))
                if moves_left[target] == 0.0:
                    best = way if best is None else _better(best, way)
                    continue
                # Walks to the same state and belief have the same continuations: keep the best.
                key = (target, np.round(posteriors[action] / TIE).tobytes())
                if key not in following or _better(following[key][0], way) == way:
                    following[key] = (way, posteriors[action])
        ranked = sorted(
            following.items(), key=lambda item: (-round(item[1][0][0] / TIE), item[1][0][1])
        )
        is_cut = is_cut or len(ranked) > beam_width
        layer = dict(ranked[:beam_width])
    if is_cut:
        found = f"more than {beam_width} partial walks; only the likeliest were continued"
        warn_user(f"{found}: a better walk may exist, raise beam_width to find it.")
    assert best is not None  # every partial walk that was kept can still reach the goal
    planner = Planner(rule, column, prior, data=best[1])
    return run_lesson(planner, Learner(rule, prior), len(best[1]))


def _better(known: Walk, way: Walk) -> Walk:
    """Return the likelier walk; if both are equally likely, the first in the order of moves."""
    if abs(way[0] - known[0]) <= TIE:
        return min(known, way, key=lambda walk: walk[1])
    return max(known, way)


@dataclass(frozen=True, repr=False)
class Legibility:
    """Statistics of many walks: moves until the watcher is sure, and moves to the goal.

    Attributes
    ----------
    rule_name, learner_rule_name : str
        The rules of walker and watcher.
    choice : str
        How the walker chose its moves: "draw", "likeliest" or "forward".
    level : float
        A watcher is sure when its belief in the goal is at least this.
    rounds, rounds_stderr : float
        Mean number of moves until the watcher was sure, with standard error, over the walks in
        which it became sure.
    num_unsure : int
        Walks in which the watcher was never sure.
    steps, steps_stderr : float
        Mean number of moves to the goal, with standard error, over the walks that reached it.
    num_unfinished : int
        Walks that did not reach the goal.
    legibility : float
        The watcher's belief in the goal, averaged over the moves of a walk and over walks.
    num_lessons : int
        The number of walks.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.worlds.measure_legibility(cb.GridWorld.paper(), "A", num_lessons=20, rng=1)
    >>> found.num_lessons, 0.0 < found.legibility < 1.0
    (20, True)
    """

    rule_name: str
    learner_rule_name: str
    choice: str
    level: float
    rounds: float
    rounds_stderr: float
    num_unsure: int
    steps: float
    steps_stderr: float
    num_unfinished: int
    legibility: float
    num_lessons: int

    def __repr__(self) -> str:
        sure = _in_words(self.rounds, self.rounds_stderr, self.num_unsure, self.num_lessons)
        there = _in_words(self.steps, self.steps_stderr, self.num_unfinished, self.num_lessons)
        return (
            f"Legibility({self.rule_name} walker, {self.learner_rule_name} watcher; "
            f"{100 * self.level:g} % sure {sure}, at the goal {there}; "
            f"{counted(self.num_lessons, 'walk')})"
        )


def _in_words(mean: float, stderr: float, num_never: int, num_lessons: int) -> str:
    if num_never == num_lessons:
        return "never"
    spread = "" if math.isnan(stderr) else f" ± {stderr:.1g}"
    whom = f" in {num_lessons - num_never} of {num_lessons} walks" if num_never else ""
    return f"after {mean:.3g}{spread} moves{whom}"


def measure_legibility(
    rule: RuleLike,
    goal: int | str,
    *,
    learner_rule: RuleLike | None = None,
    prior: Distribution | None = None,
    learner_prior: Distribution | None = None,
    choice: Choice = "forward",
    level: float = 0.95,
    num_lessons: int = 200,
    num_rounds: int = 100,
    rng: Any = None,
) -> Legibility:
    """Simulate walks; count the moves until the watcher is sure, and the moves to the goal.

    Parameters
    ----------
    rule
        The walker's rule, made from a world. A world itself stands for `SCBI(world)`.
    goal
        The walker's goal, by position or label.
    learner_rule
        The watcher's rule, if it differs from the walker's; its world may have another discount.
    prior, learner_prior
        The watcher's prior as the walker assumes it (default: uniform), and the watcher's
        actual prior (default: what the walker assumes).
    choice
        How the walker chooses, see `Teacher`. By default it draws among the moves towards the goal.
        With "draw", as in the paper, walks are longer: an SCBI walker whose watcher is certain
        draws all moves with equal probability.
    level
        The watcher is sure when its belief in the goal is at least this.
    num_lessons
        The number of walks.
    num_rounds
        The largest number of moves of a walk.
    rng
        Anything that `numpy.random.default_rng` accepts.

    Returns
    -------
    Legibility
        Mean numbers of moves until the watcher is sure and until the goal, with standard errors.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> round(cb.worlds.measure_legibility(world, "A", num_lessons=50, rng=1).rounds, 2)
    2.94
    """
    num_lessons = whole_number(num_lessons, "num_lessons", 2)
    rule = as_rule(rule)
    watching = rule if learner_rule is None else as_rule(learner_rule, rule.task)
    world_of(rule)
    world_of(watching)
    source = generator(rng)
    learner_prior = prior if learner_prior is None else learner_prior
    rounds: list[int] = []
    steps: list[int] = []
    beliefs: list[float] = []
    for _ in range(num_lessons):
        teacher = Teacher(rule, goal, prior, source, choice)
        lesson = run_lesson(teacher, Learner(watching, learner_prior), num_rounds, rng=source)
        sure = lesson.rounds_until(level)
        if sure is not None:
            rounds.append(sure)
        if lesson.is_over:
            steps.append(lesson.num_rounds)
        beliefs.append(float(lesson.beliefs[1:, lesson.hypothesis].mean()))
    return Legibility(
        rule.title,
        watching.title,
        choice,
        level,
        *_mean(rounds),
        num_lessons - len(rounds),
        *_mean(steps),
        num_lessons - len(steps),
        float(np.mean(beliefs)),
        num_lessons,
    )


def _mean(values: list[int]) -> tuple[float, float]:
    """Return the mean (NaN for no values) and its standard error (NaN for fewer than two)."""
    if len(values) < 2:
        return (float(values[0]) if values else np.nan), np.nan
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))
