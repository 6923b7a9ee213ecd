"""Lessons that end when the teacher is sure, and the learners who follow them.

The teacher follows its own idea of the learner, so its data do not depend on the learner: the
lessons of one teacher serve any number of learners, which are then compared on the same data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.distributions import Distribution
from cobayes._input.validation import number_between, whole_number
from cobayes._parallel import num_threads, require_affordable, short_number
from cobayes._random import generator, seed_of
from cobayes.model import MatrixLike, require_same_world
from cobayes.rules import SCBI, Rule
from cobayes.rules import as_rule as rule_of
from cobayes.rules.base import in_every_round, require_datum, require_teachable

Array = NDArray[np.float64]

# The belief from which on an agent counts as sure, and the most rounds of a lesson.
LEVEL = 1.0 - 1e-5
MAX_ROUNDS = 1000
# The most rounds that the native core counts.
MOST_ROUNDS = 2**31 - 1


class Agent(NamedTuple):
    """A rule and the logarithms of a prior, (m,)."""

    rule: Rule
    log_prior: Array

    @classmethod
    def of(cls, rule: Rule, prior: Distribution | None, name: str = "prior") -> Agent:
        """Validate a prior (default: uniform)."""
        with np.errstate(divide="ignore"):
            return cls(rule, np.log(rule.model.distribution(prior, name=name)))

    @property
    def prior(self) -> Array:
        """The prior, (m,)."""
        return np.exp(self.log_prior)


class Ends(NamedTuple):
    """How the lessons of one teacher end, for the teacher and for K learners.

    Attributes
    ----------
    taught : ndarray
        The teacher's last estimates of the learner's belief, (num_lessons, m).
    believed : ndarray
        The learners' last beliefs, (K, num_lessons, m).
    num_rounds : ndarray
        After how many rounds the teacher was sure, or stopped, (num_lessons,).
    is_finished : ndarray
        Whether the teacher was sure, (num_lessons,).
    is_known : ndarray
        Whether the last belief of a learner says where it ends, (K, num_lessons).
    """

    taught: Array
    believed: Array
    num_rounds: NDArray[np.int64]
    is_finished: NDArray[np.bool_]
    is_known: NDArray[np.bool_]


class Limits(NamedTuple):
    """The level at which an agent is sure, and the most rounds of a lesson."""

    level: float
    max_rounds: int

    @classmethod
    def of(cls, level: Any, max_rounds: Any) -> Limits:
        """Validate both."""
        return cls(
            number_between(level, "level", 0.5, 1.0, hint=f"{LEVEL} is the default."),
            whole_number(max_rounds, "max_rounds", 1),
        )


def as_rule(rule: Rule | MatrixLike) -> Rule:
    """Return a rule that holds in all rounds, `SCBI` where a bare matrix was given."""
    return in_every_round(rule_of(rule))


def teacher_and_learner(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str | None,
    prior: Distribution | None,
    learner_rule: Rule | MatrixLike | None,
    learner_prior: Distribution | None,
) -> tuple[Agent, Agent, int]:
    """Validate two agents; return them and the position of the taught hypothesis (-1: none)."""
    teacher = as_rule(rule)
    learner = teacher if learner_rule is None else as_rule(learner_rule)
    require_same_world(teacher.model, learner.model)
    own = Agent.of(teacher, prior, "teacher's prior")
    theirs = Agent(learner, own.log_prior)
    if learner_prior is not None:
        theirs = Agent.of(learner, learner_prior, "learner's prior")
    position = -1
    if hypothesis is not None:
        position = teacher.model.hypothesis_index(hypothesis)
        require_teachable(teacher.model, own.log_prior, position, "teacher's prior")
        require_teachable(learner.model, theirs.log_prior, position, "learner's prior")
        require_datum(teacher, position)
    return own, theirs, position


def is_scbi(rule: Rule) -> bool:
    """Tell whether a rule answers as SCBI does: a class that overrides `respond` need not."""
    return isinstance(rule, SCBI) and rule.core is not None


def common_law(teacher: Rule, learner: Rule) -> Array | None:
    """Return the law of data under which both agents' beliefs are martingales, (n,), or None.

    SCBI on a table without zeros expects the data prior, whatever it believes.
    """
    laws = []
    for rule in (teacher, learner):
        if not is_scbi(rule) or (rule.model.matrix == 0.0).any():
            return None
        laws.append(rule.model.distribution(getattr(rule, "data_prior", None), over="datum"))
    return laws[0] if np.array_equal(*laws) else None


def require_affordable_lessons(
    rule: Rule, num_lessons: int, limits: Limits, num_agents: int
) -> None:
    """Raise an error with an estimate where lessons would take too long.

    Parameters
    ----------
    rule
        Whose matrix sets the cost of a round and, by its rate, the number of rounds.
    num_lessons, limits
        The number of lessons, and where each ends.
    num_agents
        How many beliefs follow every lesson.
    """
    from cobayes.theory.rates import rate_of_convergence

    num_data, num_hypotheses = rule.model.shape
    count = float(min(num_lessons, 10**300))
    rounds = float(min(limits.max_rounds, 10**300))
    nanoseconds = (100.0 + 3.0 * num_data * num_hypotheses) * num_agents
    if num_hypotheses > 1 and count * rounds * nanoseconds > 1e12:
        # At a rate R the log-odds reach -log(1 - level) after about -log(1 - level) / R rounds.
        rate = float(np.min(rate_of_convergence(rule.model)))
        rounds = min(rounds, 1.0 - 2.0 * np.log1p(-limits.level) / max(rate, 1e-300))
    require_affordable(
        f"{short_number(num_lessons)} lessons of about {rounds:.3g} rounds",
        "take fewer lessons (10,000 give two digits), or a smaller max_rounds.",
        seconds=1e-9 * nanoseconds * count * rounds,
        # The last beliefs of all agents, and the data of a block of 1024 lessons.
        num_bytes=8.0 * count * num_agents * num_hypotheses + 4096.0 * rounds,
    )


def teach_until_sure(
    teacher: Agent,
    learners: Sequence[Agent],
    hypothesis: int,
    num_lessons: int,
    limits: Limits,
    rng: Any,
) -> Ends:
    """Teach a hypothesis until the teacher is sure, and let all learners follow.

    Where two SCBI agents expect different data, because of zeros in a table or of different data
    priors, the sure teacher goes on until the learner is sure, too, or has excluded the
    hypothesis, for `max_rounds` more rounds at most.
    """
    require_affordable_lessons(teacher.rule, num_lessons, limits, 1 + len(learners))
    goes_on = [_goes_on(teacher.rule, learner.rule) for learner in learners]
    law = teacher.rule.at_certainty(hypothesis).column(hypothesis) if any(goes_on) else None
    cores = [agent.rule.core for agent in (teacher, *learners) if agent.rule.core is not None]
    if len(cores) <= len(learners):
        return _teach_custom(teacher, learners, hypothesis, num_lessons, limits, rng)
    taught, believed, num_rounds, is_finished, is_known = _core.teach(
        cores[0],
        cores[1:],
        teacher_logs=teacher.log_prior,
        learner_logs=np.array([learner.log_prior for learner in learners]),
        goes_on=goes_on,
        law=law,
        hypothesis=hypothesis,
        level=limits.level,
        max_rounds=min(limits.max_rounds, MOST_ROUNDS),
        num_lessons=num_lessons,
        seed=seed_of(rng),
        num_threads=num_threads(),
    )
    return Ends(_core.exp(taught), _core.exp(believed), num_rounds, is_finished, is_known)


def _goes_on(teacher: Rule, learner: Rule) -> bool:
    """Tell whether a sure teacher goes on for the learner's sake.

    Where the learner's belief is a martingale under a sure teacher's data, its chance of success
    is its belief, and more data change nothing.
    """
    return is_scbi(teacher) and is_scbi(learner) and common_law(teacher, learner) is None


def _teach_custom(
    teacher: Agent,
    learners: Sequence[Agent],
    hypothesis: int,
    num_lessons: int,
    limits: Limits,
    rng: Any,
) -> Ends:
    """Teach with rules that the native core does not know, round by round for all lessons."""
    stream = generator(rng)
    estimates = Followers(teacher, num_lessons)
    num_rounds = np.zeros(num_lessons, dtype=np.int64)
    shown: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    while len(estimates.members) and len(shown) < limits.max_rounds:
        members = estimates.members
        data = estimates.draw(hypothesis, stream.random(num_lessons)[members])
        estimates.observe(data)
        shown.append((members, data))
        num_rounds[members] += 1
        estimates.keep(estimates.ends[members, hypothesis] <= limits.level)
    is_finished = np.ones(num_lessons, dtype=np.bool_)
    is_finished[estimates.members] = False
    believed = np.empty((len(learners), *estimates.ends.shape))
    for k, learner in enumerate(learners):
        followers = Followers(learner, num_lessons)
        for members, data in shown:
            followers.keep(np.isin(followers.members, members))
            followers.observe(data)
        believed[k] = followers.ends
    is_known = np.tile(is_finished, (len(learners), 1))
    return Ends(estimates.ends, believed, num_rounds, is_finished, is_known)


class Followers:
    """The beliefs of one agent in many lessons, under one rule.

    Attributes
    ----------
    members : ndarray
        The lessons that are still followed.
    ends : ndarray
        The last belief in every lesson, (size, m).
    """

    def __init__(self, agent: Agent, size: int) -> None:
        self.rule = agent.rule
        self.members = np.arange(size)
        self._logs = np.tile(agent.log_prior, (size, 1))
        self.ends = np.exp(self._logs)

    def draw(self, hypothesis: int, uniforms: Array) -> NDArray[np.intp]:
        """Draw a datum for every lesson, as a teacher of the hypothesis would."""
        shares = self.rule.teach_many(self._logs, hypothesis)
        sums = np.cumsum(shares, axis=1)
        # Where sums round down: the last datum of positive probability.
        last = shares.shape[1] - 1 - np.argmax(shares[:, ::-1] > 0.0, axis=1)
        return np.minimum((uniforms[:, None] >= sums).sum(axis=1), last)

    def observe(self, data: NDArray[np.intp]) -> None:
        """Update by a datum each; a belief that its datum contradicts stays as it was."""
        found = self.rule.observe_many(self._logs, data)
        self._logs = np.where(np.isnan(found), self._logs, found)
        self.ends[self.members] = np.exp(self._logs)

    def keep(self, is_kept: NDArray[np.bool_]) -> None:
        """Go on with some of the lessons that are still followed."""
        if not is_kept.all():
            self.members = self.members[is_kept]
            self._logs = self._logs[is_kept]
