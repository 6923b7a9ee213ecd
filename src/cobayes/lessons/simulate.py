"""`simulate`: many lessons in the native core, with equal results for any number of threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.labels import Distribution
from cobayes._input.validation import items, number_between, seed_of, whole_number
from cobayes._parallel import (
    num_threads,
    require_affordable,
    require_affordable_simulation,
    short_number,
)
from cobayes.errors import CobayesError, ImpossibleDatumError
from cobayes.lessons.agents import Learner
from cobayes.lessons.ensemble import Ensemble, RoundsNeeded
from cobayes.model import Model
from cobayes.rules import Rule
from cobayes.rules.naming import Agents, RuleLike, as_agents
from cobayes.rules.response import draw, not_converged
from cobayes.tasks.constraints import WithoutRepeats
from cobayes.tasks.task import draw_outcome, require_left

Array = NDArray[np.float64]

# The largest number of log-beliefs that are kept by default (256 MB).
AUTOMATIC_PATHS = 2**25

# A lower bound on the time per round, in seconds, of lessons that run one by one in Python.
_SECONDS_PER_ROUND = 1e-5


def simulate(
    rule: RuleLike,
    hypothesis: SupportsIndex | str,
    *,
    num_rounds: SupportsIndex,
    num_lessons: SupportsIndex,
    prior: Distribution | None = None,
    learner_rule: RuleLike | None = None,
    learner_prior: Distribution | None = None,
    rng: Any = None,
    level: float = 0.95,
    keep_paths: bool | Sequence[int] | None = None,
) -> Ensemble:
    """Run many lessons about one hypothesis and return their statistics.

    Parameters
    ----------
    rule
        The teacher's rule, and the learner's unless `learner_rule` is given.
    hypothesis
        The true hypothesis, by position or label.
    num_rounds, num_lessons
        The number of rounds in a lesson, and the number of lessons.
    prior
        The learner's prior as the teacher assumes it; uniform by default.
    learner_rule, learner_prior
        The learner's rule and prior, if they differ from the teacher's.
    rng
        Anything that `numpy.random.default_rng` accepts. In the native core (see Notes) the same
        seed gives the same bits on any machine and for any number of threads.
    level
        The learner is sure when its belief in the truth is at least this.
    keep_paths
        The rounds whose log-beliefs are kept, for every lesson: True for all, False for none, or a
        list of rounds. A list is sorted, and duplicates are dropped. By default all rounds are
        kept, but only for the first lessons, up to 256 MB; see `Ensemble.num_paths`.

    Returns
    -------
    Ensemble
        Means and standard deviations of the beliefs, the numbers of rounds until the learner was
        sure, and the paths that were kept.

    Notes
    -----
    Algorithm 1 of the paper. Its assumptions (iii) and (iv) need not hold; see `Model.check`. The
    native core runs the lessons of the built-in rules on tasks that never change and, if no datum
    has the data prior zero, on a matrix without repeats. All other lessons run one by one in
    Python. A lesson that ends before the last round keeps its last belief.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> rule = cb.SCBI(model)
    >>> ensemble = cb.simulate(rule, "summer", num_rounds=10, num_lessons=1000, rng=1)
    >>> bool(ensemble.mean("summer")[-1] > 0.9)
    True
    """
    agents = as_agents(rule, hypothesis, prior, learner_rule, learner_prior)
    num_rounds = whole_number(num_rounds, "num_rounds", 0)
    num_lessons = whole_number(num_lessons, "num_lessons", 1)
    level = number_between(level, "level", 0.0, 1.0, closed="high")
    seed = seed_of(rng)
    rounds, num_paths = _kept_paths(keep_paths, num_rounds, num_lessons, agents.learner.model)
    both = (agents.teacher, "teacher", agents.hypothesis), (agents.learner, "learner", None)
    for rule, name, taught in both:
        require_left(num_rounds, rule.task, rule.task.start, name, taught)
    teacher, learner = _in_core(agents.teacher), _in_core(agents.learner)
    options: dict[str, Any] = dict(
        num_rounds=num_rounds,
        num_lessons=num_lessons,
        seed=seed,
        level=level,
        num_paths=num_paths,
        path_rounds=rounds,
    )
    if teacher is None or learner is None:
        if agents.teacher.task is agents.teacher.model:  # lessons on other tasks may end early
            require_affordable(
                f"{short_number(num_lessons)} lessons of {short_number(num_rounds)} rounds by a "
                "custom rule",
                "ask for fewer lessons or rounds.",
                # `require_affordable` divides by the number of threads, but Python uses one.
                seconds=_SECONDS_PER_ROUND * num_lessons * num_rounds * num_threads(),
            )
        found = _play_one_by_one(agents, **options)
    else:
        found = _core.simulate(
            teacher,
            None if learner is teacher else learner,
            teacher_logs=agents.teacher_prior,
            learner_logs=None if agents.is_shared else agents.learner_prior,
            hypothesis=agents.hypothesis,
            teacher_drops=isinstance(agents.teacher.task, WithoutRepeats),
            learner_drops=isinstance(agents.learner.task, WithoutRepeats),
            num_threads=num_threads(),
            **options,
        )
        tolerance = max(agents.teacher.tolerance, agents.learner.tolerance)
        if not found["error"] <= tolerance:
            raise not_converged(found["error"], tolerance)
    return Ensemble(
        model=agents.learner.model,
        hypothesis=agents.hypothesis,
        rule_name=agents.teacher.title,
        learner_rule_name=agents.learner.title,
        num_lessons=num_lessons,
        num_rounds=num_rounds,
        means=found["means"],
        stds=found["stds"],
        rounds_needed=RoundsNeeded(level, found["first_sure"][:-1], int(found["first_sure"][-1])),
        paths=found["paths"] if num_paths else None,
        path_rounds=rounds if num_paths else rounds[:0],
        num_contradicted=found["num_contradicted"],
    )


def _in_core(rule: Rule) -> _core.Rule | None:
    """Return a rule, in the first state of its task, as an object of the native core.

    None if the core cannot run lessons of this rule and task.
    """
    task = rule.task
    if rule.core is None:
        return None
    is_supported = task.is_constant
    if isinstance(task, WithoutRepeats) and isinstance(task.task, Model):
        # Only Python raises an error when all data with a positive data prior have been shown.
        is_supported = rule.data_prior is None or bool(rule.data_prior.all())
    return rule.at(task.start).core if is_supported else None


def _play_one_by_one(
    agents: Agents,
    *,
    num_rounds: int,
    num_lessons: int,
    seed: int,
    level: float,
    num_paths: int,
    path_rounds: NDArray[np.int64],
) -> dict[str, Any]:
    """Simulate lessons of custom rules and tasks; see `_core.simulate`."""
    shape = num_rounds + 1, agents.learner.model.num_hypotheses
    means, squares = np.zeros(shape), np.zeros(shape)
    first_sure = np.zeros(num_rounds + 2, dtype=np.int64)
    paths = np.empty((num_paths, len(path_rounds), shape[1]))
    num_contradicted = 0
    for lesson in range(num_lessons):
        rng = np.random.Generator(np.random.Philox(key=np.array([seed, lesson], dtype=np.uint64)))
        logs, was_contradicted = _play_one(agents, num_rounds, rng)
        num_contradicted += was_contradicted
        beliefs = _core.exp(logs)
        gaps = beliefs - means  # Welford's update of means and sums of squares
        means += gaps / (lesson + 1)
        squares += gaps * (beliefs - means)
        sure = np.flatnonzero(beliefs[:, agents.hypothesis] >= level)
        first_sure[sure[0] if len(sure) else -1] += 1
        if lesson < num_paths:
            paths[lesson] = logs[path_rounds]
    return {
        "means": means,
        "stds": np.sqrt(squares / num_lessons),
        "first_sure": first_sure,
        "paths": paths,
        "num_contradicted": num_contradicted,
    }


def _play_one(agents: Agents, num_rounds: int, rng: np.random.Generator) -> tuple[Array, bool]:
    """Return the learner's log-beliefs in one lesson, and whether it saw an impossible datum."""
    learner = Learner(agents.learner, _core.exp(agents.learner_prior))
    teacher = learner
    if not agents.is_shared:
        teacher = Learner(agents.teacher, _core.exp(agents.teacher_prior))
    logs = np.empty((num_rounds + 1, len(agents.learner_prior)))
    logs[0] = agents.learner_prior
    was_contradicted = False
    for k in range(1, num_rounds + 1):
        if learner is not teacher:
            learner.follow(teacher)
        if not teacher.task.is_over(teacher.state, agents.hypothesis):
            datum = draw(teacher.distribution_over_data(agents.hypothesis), rng.random())
            for agent in {id(teacher): teacher, id(learner): learner}.values():
                try:
                    agent.observe(datum)
                except ImpossibleDatumError:  # the belief does not change
                    was_contradicted |= agent is learner
                    agent.move_on(datum)
            if teacher.outcomes:
                teacher.arrive(draw_outcome(teacher.outcomes, rng))
        logs[k] = learner.log_belief
    return logs, was_contradicted


def _kept_paths(
    keep_paths: bool | Sequence[int] | None, num_rounds: int, num_lessons: int, model: Model
) -> tuple[NDArray[np.int64], int]:
    """Return the rounds whose log-beliefs are kept, and the number of lessons with kept paths.

    An error is raised if the lessons would take too long or the paths too much memory.
    """
    rounds, num_paths, num_kept = None, num_lessons, num_rounds + 1
    if keep_paths is None:
        num_paths = min(num_lessons, AUTOMATIC_PATHS // (num_kept * model.num_hypotheses))
    elif isinstance(keep_paths, bool | np.bool_):
        num_paths = num_lessons if keep_paths else 0
    else:
        given = items(keep_paths, "keep_paths", "rounds, True or False")
        rounds = sorted({whole_number(one, "a round of keep_paths", 0) for one in given})
        if rounds and rounds[-1] > num_rounds:
            message = f"keep_paths has round {rounds[-1]}; expected rounds from 0 to {num_rounds}."
            raise CobayesError(message)
        num_paths, num_kept = num_lessons if rounds else 0, len(rounds)
    require_affordable_simulation(num_lessons, num_rounds, *model.shape, num_paths * num_kept)
    return np.array(range(num_kept) if rounds is None else rounds, dtype=np.int64), num_paths
