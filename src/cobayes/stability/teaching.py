"""Lessons of one teacher with any number of learners, until the teacher is sure of their success.

The teacher follows its own estimate of the learner's belief, and is sure when this estimate reaches
a level. So its data do not depend on the learner, and any number of learners can be compared on the
same data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.validation import generator, number_between, seed_of, whole_number
from cobayes._parallel import num_threads, require_affordable, short_number
from cobayes.model import Model
from cobayes.rules import Rule
from cobayes.rules.naming import Agents
from cobayes.rules.response import Response, add_evidence, draw
from cobayes.theory.certainty import LEVEL
from cobayes.theory.rates import rate_of_convergence

Array = NDArray[np.float64]

# The default of `max_rounds`.
MAX_ROUNDS = 1000
# The largest number of rounds that the native core can count.
MOST_ROUNDS = 2**31 - 1
# The number of rounds is estimated only if `max_rounds` rounds would take more seconds or bytes
# than these.
LONG_WORK, LARGE_WORK = 1000.0, 1e9


class Ends(NamedTuple):
    """The last beliefs of the teacher and of K learners in each lesson.

    Attributes
    ----------
    taught : ndarray
        The teacher's last estimates of the learner's belief, (num_lessons, m).
    believed : ndarray
        The learners' last beliefs, (K, num_lessons, m).
    num_rounds : ndarray
        The number of rounds until the teacher was sure, or `max_rounds`, (num_lessons,).
    is_finished : ndarray
        Whether the teacher was sure, (num_lessons,).
    is_known : ndarray
        Whether the outcome is known, (K, num_lessons): the teacher was sure. If it then continued
        (see `teach_until_sure`), the learner must also be sure or have excluded the hypothesis.
    """

    taught: Array
    believed: Array
    num_rounds: NDArray[np.int64]
    is_finished: NDArray[np.bool_]
    is_known: NDArray[np.bool_]


def require_affordable_teaching(
    model: Model,
    num_agents: int,
    num_lessons: SupportsIndex,
    level: float,
    max_rounds: SupportsIndex,
) -> tuple[int, int]:
    """Return the validated numbers of lessons and of rounds.

    An error is raised if the lessons would take too much time or memory. The time of a round is
    estimated from the size of the teacher's matrix, and the number of rounds from its rate of
    convergence.
    """
    number_between(level, "level", 0.5, 1.0, hint=f"{LEVEL} is the default.")
    most = whole_number(max_rounds, "max_rounds", 1)
    count = whole_number(num_lessons, "num_lessons", 1)
    rounds, many = float(min(most, MOST_ROUNDS)), float(min(count, 10**300))
    seconds = 1e-9 * (100.0 + 3.0 * model.matrix.size) * num_agents * many
    # Memory for the last beliefs of all agents, and for the data of a block of 1024 lessons.
    num_bytes = 8.0 * many * num_agents * model.num_hypotheses + 4096.0 * rounds
    if seconds * rounds > LONG_WORK or num_bytes > LARGE_WORK:
        if model.num_hypotheses > 1:
            # At a rate R the log-odds reach -log(1 - level) after about -log(1 - level) / R rounds;
            # the estimate is twice this number.
            rate = float(np.min(rate_of_convergence(model)))
            rounds = min(rounds, 1.0 - 2.0 * np.log1p(-level) / max(rate, 1e-300))
        require_affordable(
            f"{short_number(count)} lessons of about {rounds:.3g} rounds",
            "take fewer lessons (10,000 give two digits), or a smaller max_rounds.",
            seconds=seconds * rounds,
            num_bytes=num_bytes,
        )
    return count, min(most, MOST_ROUNDS)


def common_law(teacher: Rule, learner: Rule) -> Array | None:
    """Return the data distribution under which both agents' beliefs are martingales, (n,), or None.

    For SCBI on tables without zeros it is the data prior, if both agents have the same one. In all
    other cases the result is None.
    """
    laws = []
    for rule in (teacher, learner):
        if not rule.is_scbi or (rule.model.matrix == 0.0).any():
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
    """Teach a hypothesis until the teacher is sure, and show all learners the same data.

    All pairs have the same teacher, teacher's prior and hypothesis. If a learner's belief is a
    martingale under the data of a teacher who is sure, its belief in the hypothesis is its
    probability of success, and no more data are needed. The belief of an SCBI learner need not be a
    martingale if a table has zeros or if the data priors of the two SCBI agents differ. Then the
    teacher continues for at most `max_rounds` more rounds, until the learner is sure, too, or has
    excluded the hypothesis. With other rules every lesson ends when the teacher is sure.
    """
    hypothesis = pairs[0].hypothesis
    rules, priors = [pairs[0].teacher], [pairs[0].teacher_prior]
    for pair in pairs:
        rules.append(pair.learner)
        priors.append(pair.learner_prior)
    cores, goes_on, log_priors = [], [], np.array(priors)
    for rule in rules:
        cores.append(rule.core)
        is_pair = rules[0].is_scbi and rule.is_scbi
        goes_on.append(is_pair and common_law(rules[0], rule) is None)
    law = rules[0].at_certainty(hypothesis).likelihood[:, hypothesis] if any(goes_on) else None
    if None in cores:
        continued = [(k, law) for k in np.flatnonzero(goes_on).tolist()]
        lessons = (hypothesis, num_lessons, generator(rng), level, max_rounds)
        return _teach_one_by_one(rules, log_priors, continued, *lessons)
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
    continued: list[tuple[int, Any]],
    hypothesis: int,
    num_lessons: int,
    stream: np.random.Generator,
    level: float,
    max_rounds: int,
) -> Ends:
    """Teach with custom rules; a learner's belief stays the same after an impossible datum.

    `continued` lists the learners to whom a sure teacher shows more data: each learner's position
    in `rules`, and the distribution of these data.
    """
    ends = np.empty((len(rules), num_lessons, priors.shape[1]))
    num_rounds = np.zeros(num_lessons, dtype=np.int64)
    is_known = np.zeros((len(rules), num_lessons), dtype=bool)
    for lesson in range(num_lessons):
        logs = priors.copy()
        for _ in range(max_rounds):
            responses = [rule.answer(own) for rule, own in zip(rules, logs, strict=True)]
            datum = draw(responses[0].likelihood[:, hypothesis], stream.random())
            for k, response in enumerate(responses):
                logs[k] = _after(datum, response, logs[k])
            num_rounds[lesson] += 1
            if np.exp(logs[0, hypothesis]) > level:
                is_known[:, lesson] = True
                break
        for k, law in continued if is_known[0, lesson] else []:
            is_known[k, lesson] = False
            for _ in range(max_rounds + 1):
                is_excluded = not np.exp(logs[k, hypothesis]) > 0.0
                if is_excluded or np.exp(logs[k].max()) > level:
                    is_known[k, lesson] = True
                    break
                datum = draw(law, stream.random())
                logs[k] = _after(datum, rules[k].answer(logs[k]), logs[k])
        ends[:, lesson] = np.exp(logs)
    return Ends(ends[0], ends[1:], num_rounds, is_known[0], is_known[1:])


def _after(datum: int, response: Response, log_belief: Array) -> Array:
    found = add_evidence(log_belief, response.log_likelihood[datum])
    return np.where(np.isnan(found), log_belief, found)
