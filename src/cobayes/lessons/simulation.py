"""`simulate`: many lessons, compiled, on all cores, the same bits for any number of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import is_position
from cobayes._input.validation import counts_by, number_between, whole_number
from cobayes._runtime.limits import require_affordable_simulation
from cobayes._runtime.randomness import spawn_generators
from cobayes._runtime.threads import map_chunks
from cobayes.errors import CobayesError
from cobayes.lessons.ensemble import Ensemble, RoundsNeeded
from cobayes.lessons.few import play_few
from cobayes.lessons.groups import Group, SteppedGroup, is_compiled, make_group
from cobayes.lessons.lesson import require_rounds
from cobayes.lessons.playing import ROUNDS, Course, play
from cobayes.lessons.statistics import LogOddsHistogram, Moments, num_bins
from cobayes.lessons.tallies import Tallies
from cobayes.model import require_same_world
from cobayes.rules import Rule, as_rule
from cobayes.rules.base import require_teachable
from cobayes.rules.naming import RuleLike
from cobayes.scaling.small import LARGEST

Array = NDArray[np.float64]

# Lessons in a block: enough to amortise the calls into compiled code, few enough for the cache.
BLOCK = 1024
# So many lessons are played one by one, on matrices of at most so many entries (measured): side by
# side they would cost what sixteen cost.
FEW = ((1000, 12), (5000, 6), (math.inf, 3))
# Where that is not compiled, agents are asked one by one: one for so many entries, at most four.
ENTRIES_PER_AGENT = 1000
# Blocks whose results are held before they are merged: their lessons can be counted in 16 bits.
WAVE = 63
# Paths are kept without being asked for up to this many numbers (256 MB).
AUTOMATIC_PATHS = 2**25


@dataclass(frozen=True)
class _Task:
    """Everything that a block needs to know."""

    teacher: Rule
    learner: Rule
    teacher_prior: Array
    learner_prior: Array
    is_shared: bool
    hypothesis: int
    num_rounds: int
    level: float
    path_rounds: NDArray[np.intp]


@dataclass(frozen=True)
class _Block:
    """What a block adds to the statistics."""

    size: int
    means: Array
    squares: Array
    first_sure: NDArray[np.int64]
    paths: Array
    num_contradicted: int


@counts_by("num_lessons")
def simulate(
    rule: RuleLike,
    hypothesis: SupportsIndex | str,
    *,
    num_rounds: SupportsIndex,
    num_lessons: SupportsIndex,
    prior: ArrayLike | None = None,
    learner_rule: RuleLike | None = None,
    learner_prior: ArrayLike | None = None,
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
        The number of rounds in a lesson, and of lessons.
    prior
        What the teacher takes the learner's prior to be; uniform by default.
    learner_rule, learner_prior
        The learner's, where they differ from the teacher's.
    rng
        Anything that `numpy.random.default_rng` takes. The same seed gives the same bits for
        any number of threads.
    level
        The belief in the truth from which on the learner counts as sure.
    keep_paths
        Whether to keep the log-beliefs of every lesson: at all rounds (True), at some (a list
        of rounds; they are kept in order and once), at none (False). By default at all rounds
        while that takes under 256 MB.

    Returns
    -------
    Ensemble
        Means and deviations of the beliefs, rounds needed, and the paths that were kept.

    Notes
    -----
    Algorithm 1 of the paper, without assumption (iii'). Lessons on a matrix and on
    `without_repeats` of one are compiled. On other tasks the agents are asked one by one, about
    fifty times slower: 6,000 to 11,000 rounds per second of processor time for 20 data and 10
    hypotheses. A lesson that is over before the last round keeps its last belief.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> rule = cb.SCBI(model)
    >>> ensemble = cb.simulate(rule, "summer", num_rounds=10, num_lessons=1000, rng=1)
    >>> ensemble.mean("summer")[-1].round(3)
    np.float64(0.93)
    """
    task = _validated(rule, hypothesis, num_rounds, prior, learner_rule, learner_prior, level)
    num_rounds = task.num_rounds
    num_lessons = whole_number(num_lessons, "num_lessons", 1)
    require_affordable_simulation(num_lessons, num_rounds, *task.learner.model.shape)
    task = _with_path_rounds(task, keep_paths, num_lessons)

    m = task.learner.model.num_hypotheses
    moments = Moments((num_rounds + 1, m))
    histogram = np.zeros((num_rounds + 1, num_bins(num_rounds)), dtype=np.int64)
    first_sure = np.zeros(num_rounds + 2, dtype=np.int64)
    paths = []
    num_contradicted = 0
    sizes = [min(BLOCK, num_lessons - start) for start in range(0, num_lessons, BLOCK)]
    generators = spawn_generators(rng, len(sizes))
    pieces = list(zip(sizes, generators, strict=True))
    # Every thread counts in a histogram of its own: whole numbers add up to the same in any order.
    idle: list[NDArray[np.uint16]] = []

    def run(piece: tuple[int, np.random.Generator]) -> _Block:
        try:
            counts = idle.pop()
        except IndexError:
            counts = np.zeros(histogram.shape, dtype=np.uint16)
        block = _run_block(task, *piece, counts)
        idle.append(counts)
        return block

    for start in range(0, len(pieces), WAVE):
        blocks = map_chunks(run, pieces[start : start + WAVE])
        for counts in idle:
            np.add(histogram, counts, out=histogram)
            counts.fill(0)
        for block in blocks:
            moments.merge(block.size, block.means, block.squares)
            first_sure += block.first_sure
            num_contradicted += block.num_contradicted
            paths.append(block.paths)
    return Ensemble(
        model=task.learner.model,
        hypothesis=task.hypothesis,
        rule_name=task.teacher.title,
        learner_rule_name=task.learner.title,
        num_lessons=num_lessons,
        num_rounds=num_rounds,
        means=moments.mean,
        stds=moments.std,
        rounds_needed=RoundsNeeded(level, first_sure[:-1], int(first_sure[-1])),
        histogram=LogOddsHistogram(histogram),
        paths=np.concatenate(paths) if len(task.path_rounds) else None,
        path_rounds=task.path_rounds,
        num_contradicted=num_contradicted,
    )


def _run_block(
    task: _Task, size: int, rng: np.random.Generator, histogram: NDArray[np.uint16]
) -> _Block:
    """Run the lessons of one block, add to the histogram and return the rest of its part."""
    n, m = task.teacher.model.shape
    shape = task.num_rounds, m, size
    tallies = Tallies.starting(task.hypothesis, task.level, shape, histogram)
    paths = np.empty((size, len(task.path_rounds), m))
    recorded = {int(k): position for position, k in enumerate(task.path_rounds)}
    course = Course(task.num_rounds, rng, tallies, recorded, paths)
    course.keep(0, task.learner_prior)
    rule = task.teacher
    is_one_matrix = task.is_shared and rule.task is rule.model
    most = next(count for entries, count in FEW if n * m <= entries) if m > LARGEST else 0
    problem = rule.plain_problem() if is_one_matrix and size <= most else None
    num_contradicted = 0
    if problem is not None:
        tallies.add_rounds(0, np.tile(task.learner_prior, (1, size, 1)))
        play_few(rule, problem, task.teacher_prior, size, course)
    else:
        is_few = size <= min(4, 1 + n * m // ENTRIES_PER_AGENT) and m > LARGEST
        is_few = is_few and rule.depends_on_belief and task.learner.depends_on_belief
        stepped = is_few or not (is_compiled(rule) and is_compiled(task.learner))
        teacher = make_group(rule, task.teacher_prior, size, stepped=stepped)
        learner = teacher
        if not task.is_shared:
            learner = make_group(task.learner, task.learner_prior, size, stepped=stepped)
        tallies.add(learner.beliefs, 0)
        start = rule.workspace(teacher.beliefs) if is_one_matrix and not is_few else None
        if start is not None and not start.has_zeros:
            play(start, course)
        else:
            _run_rounds(task, teacher, learner, course)
        num_contradicted = int(learner.contradicted.sum())
    counts = np.bincount(tallies.first_sure, minlength=task.num_rounds + 2)
    return _Block(size, tallies.means, tallies.squares, counts, paths, num_contradicted)


def _run_rounds(task: _Task, teacher: Group, learner: Group, course: Course) -> None:
    """Play the rounds of a block one by one; see `play`."""
    rng, tallies = course.rng, course.tallies
    waiting: list[Array] = []
    for k in range(1, task.num_rounds + 1):
        data = teacher.draw(task.hypothesis, rng)
        teacher.observe(data)
        if learner is not teacher:
            learner.observe(data)
        if isinstance(teacher, SteppedGroup):
            teacher.settle(learner, rng)
        if not isinstance(learner, SteppedGroup):
            tallies.add(learner.beliefs, k)
            if k in course.recorded:
                course.keep(k, learner.beliefs.log_beliefs)
            continue
        waiting.append(learner.log_beliefs)
        course.keep(k, waiting[-1])
        if len(waiting) == ROUNDS or k == task.num_rounds:
            tallies.add_rounds(k - len(waiting) + 1, np.array(waiting))
            waiting.clear()


def _validated(
    rule: RuleLike,
    hypothesis: SupportsIndex | str,
    num_rounds: SupportsIndex,
    prior: ArrayLike | None,
    learner_rule: RuleLike | None,
    learner_prior: ArrayLike | None,
    level: float,
) -> _Task:
    rule = as_rule(rule)
    learner = rule if learner_rule is None else as_rule(learner_rule, rule.task)
    num_rounds = whole_number(num_rounds, "num_rounds", 0)
    level = number_between(level, "level", 0.0, 1.0, closed="high")
    require_same_world(rule.model, learner.model)
    position = rule.model.hypothesis_index(hypothesis)
    require_rounds(num_rounds, (rule, "teacher", position), (learner, "learner", None))
    own = rule.log_belief(prior, "prior")
    require_teachable(rule.model, own, position, "prior")
    theirs = own if learner_prior is None else learner.log_belief(learner_prior, "learner's prior")
    require_teachable(learner.model, theirs, position, "learner's prior")
    return _Task(
        teacher=rule,
        learner=learner,
        teacher_prior=own,
        learner_prior=theirs,
        is_shared=learner is rule and np.array_equal(own, theirs),
        hypothesis=position,
        num_rounds=num_rounds,
        level=level,
        path_rounds=np.empty(0, dtype=np.intp),
    )


def _with_path_rounds(
    task: _Task, keep_paths: bool | Sequence[int] | None, num_lessons: int
) -> _Task:
    """Decide which rounds' log-beliefs to keep."""
    everything = np.arange(task.num_rounds + 1)
    if keep_paths is None:
        numbers = num_lessons * len(everything) * task.learner.model.num_hypotheses
        keep_paths = numbers <= AUTOMATIC_PATHS
    if isinstance(keep_paths, bool | np.bool_):
        rounds = everything if keep_paths else everything[:0]
    else:
        rounds = _chosen_rounds(keep_paths, task.num_rounds)
    return replace(task, path_rounds=rounds)


def _chosen_rounds(keep_paths: Sequence[int], num_rounds: int) -> NDArray[np.intp]:
    """Return the rounds that were asked for, in order and each once."""
    expected = "expected True, False or a list of rounds."
    try:
        chosen = list(keep_paths)
    except TypeError as error:
        raise CobayesError(f"keep_paths is {keep_paths!r}; {expected}") from error
    for one in chosen:
        if not is_position(one):
            raise CobayesError(f"keep_paths contains {one!r}; {expected}")
        if not 0 <= one <= num_rounds:
            raise CobayesError(f"keep_paths asks for round {one}; they go from 0 to {num_rounds}.")
    return np.unique(np.array(chosen, dtype=np.intp))
