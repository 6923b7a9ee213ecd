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
from cobayes._input.labels import Distribution
from cobayes._input.validation import generator, number_between, seed_of, whole_number
from cobayes._parallel import num_threads, require_affordable, short_number
from cobayes.model import MatrixLike, Model
from cobayes.rules import SCBI, Rule
from cobayes.rules.base import in_every_round
from cobayes.rules.naming import Agents, as_agents
from cobayes.rules.response import add_evidence, draw
from cobayes.theory.rates import rate_of_convergence

Array = NDArray[np.float64]

# An agent is sure when its belief exceeds the level; a lesson has at most this many rounds.
LEVEL = 1.0 - 1e-5
MAX_ROUNDS = 1000
# The most rounds that the native core counts.
MOST_ROUNDS = 2**31 - 1


def as_pair(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    prior: Distribution | None = None,
    learner_rule: Rule | MatrixLike | None = None,
    learner_prior: Distribution | None = None,
) -> Agents:
    """Check who teaches whom what, with rules that hold in all rounds."""
    pair = as_agents(rule, hypothesis, prior, learner_rule, learner_prior)
    for name, own in (("teacher", pair.teacher), ("learner", pair.learner)):
        if own.task is not own.model:
            pair = pair._replace(**{name: in_every_round(own)})
    return pair


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


def require_affordable_lessons(
    model: Model,
    num_agents: int,
    num_lessons: SupportsIndex,
    level: float,
    max_rounds: SupportsIndex,
) -> tuple[int, int]:
    """Return the numbers of lessons and of rounds, or say why such lessons cannot be given.

    The teacher's matrix sets the cost of a round and, by its rate, the number of rounds.
    """
    number_between(level, "level", 0.5, 1.0, hint=f"{LEVEL} is the default.")
    most = whole_number(max_rounds, "max_rounds", 1)
    count = whole_number(num_lessons, "num_lessons", 1)
    rounds, many = float(min(most, MOST_ROUNDS)), float(min(count, 10**300))
    seconds = 1e-9 * (100.0 + 3.0 * model.matrix.size) * num_agents * many
    if model.num_hypotheses > 1 and seconds * rounds > 1000.0:
        # At a rate R the log-odds reach -log(1 - level) after about -log(1 - level) / R rounds.
        rate = float(np.min(rate_of_convergence(model)))
        rounds = min(rounds, 1.0 - 2.0 * np.log1p(-level) / max(rate, 1e-300))
    require_affordable(
        f"{short_number(count)} lessons of about {rounds:.3g} rounds",
        "take fewer lessons (10,000 give two digits), or a smaller max_rounds.",
        seconds=seconds * rounds,
        # The last beliefs of all agents, and the data of a block of 1024 lessons.
        num_bytes=8.0 * many * num_agents * model.num_hypotheses + 4096.0 * rounds,
    )
    return count, min(most, MOST_ROUNDS)


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
        uniform = np.full(rule.model.num_data, 1.0 / rule.model.num_data)
        laws.append(uniform if rule.data_prior is None else rule.data_prior)
    return laws[0] if np.array_equal(*laws) else None


def teach_until_sure(
    pairs: Sequence[Agents],
    num_lessons: int,
    rng: Any,
    *,
    level: float = LEVEL,
    max_rounds: int = MAX_ROUNDS,
) -> Ends:
    """Teach a hypothesis until the teacher is sure, and let all learners follow.

    The pairs come from `as_pair` and have one teacher, one hypothesis and one teacher's prior.
    Where a learner's belief is a martingale under a sure teacher's data, its chance of success is
    its belief, and more data change nothing. Where two SCBI agents expect different data, because
    of zeros in a table or of different data priors, the sure teacher goes on until the learner is
    sure, too, or has excluded the hypothesis, for `max_rounds` more rounds at most.
    """
    hypothesis = pairs[0].hypothesis
    rules, priors = [pairs[0].teacher], [pairs[0].teacher_prior]
    for pair in pairs:
        rules.append(pair.learner)
        priors.append(pair.learner_prior)
    cores, goes_on, log_priors = [], [], np.array(priors)
    for rule in rules:
        cores.append(rule.core)
        is_pair = is_scbi(rules[0]) and is_scbi(rule)
        goes_on.append(is_pair and common_law(rules[0], rule) is None)
    if None in cores:
        return _teach_one_by_one(rules, log_priors, hypothesis, num_lessons, rng, level, max_rounds)
    law = rules[0].at_certainty(hypothesis).column(hypothesis) if any(goes_on) else None
    taught, believed, num_rounds, is_finished, is_known = _core.teach(
        cores[0],
        cores[1:],
        teacher_logs=log_priors[0],
        learner_logs=log_priors[1:],
        goes_on=goes_on[1:],
        law=law,
        hypothesis=hypothesis,
        level=level,
        max_rounds=max_rounds,
        num_lessons=num_lessons,
        seed=seed_of(rng),
        num_threads=num_threads(),
    )
    return Ends(_core.exp(taught), _core.exp(believed), num_rounds, is_finished, is_known)


def _teach_one_by_one(
    rules: list[Rule],
    priors: Array,
    hypothesis: int,
    num_lessons: int,
    rng: Any,
    level: float,
    max_rounds: int,
) -> Ends:
    """Teach with rules that the native core does not know; a contradicted belief stays."""
    stream = generator(rng)
    ends = np.empty((len(rules), num_lessons, priors.shape[1]))
    num_rounds = np.zeros(num_lessons, dtype=np.int64)
    for lesson in range(num_lessons):
        logs = priors.copy()
        for _ in range(max_rounds):
            responses = [rule.answer(own) for rule, own in zip(rules, logs, strict=True)]
            datum = draw(responses[0].column(hypothesis), stream.random())
            for k, response in enumerate(responses):
                found = add_evidence(logs[k], response.log_row(datum))
                logs[k] = np.where(np.isnan(found), logs[k], found)
            num_rounds[lesson] += 1
            if np.exp(logs[0, hypothesis]) > level:
                break
        ends[:, lesson] = np.exp(logs)
    is_finished = ends[0, :, hypothesis] > level
    is_known = np.broadcast_to(is_finished, (len(ends) - 1, num_lessons))
    return Ends(ends[0], ends[1:], num_rounds, is_finished, is_known)
