"""Lessons whose matrix changes from round to round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from cobayes.errors import CobayesError
from cobayes.lessons import Learner, Lesson, Teacher
from cobayes.rules import Rule

RoundRules = Rule | tuple[Rule, Rule]
"""The rules of a round: one that both agents follow, or the teacher's and the learner's."""

NextRules = Callable[[Sequence[int]], RoundRules | None]
"""From the data so far to the rules of the next round; None ends the lesson."""


def run_varying_lesson(
    teacher: Teacher, learner: Learner, rules: NextRules | Iterable[RoundRules]
) -> Lesson:
    """Let a teacher teach a learner with a matrix of its own for every round.

    Everything else is as in `run_lesson`, whose result it also returns. All matrices share
    their data and hypotheses. The lesson's ``extend`` goes on with the last round's matrix.

    Parameters
    ----------
    teacher, learner
        The agents; they adopt each round's rules and keep their beliefs.
    rules
        Either the rules of every round in order, or a function that is given the data so far
        (positions) and returns the rules of the next round, None when the lesson is over.
        Each is a `Rule` for both agents or a pair (teacher's, learner's).
    """
    following = rules if callable(rules) else _in_order(rules)
    labels = teacher.rule.model.data
    data: list[int] = []
    log_beliefs = [learner.log_belief]
    teacher_log_beliefs = [teacher.log_belief]
    while (found := following(tuple(data))) is not None:
        of_teacher, of_learner = found if isinstance(found, tuple) else (found, found)
        for rule in (of_teacher, of_learner):
            if rule.model.data != labels:
                raise CobayesError(
                    f"the matrix of round {len(data) + 1} has the data {rule.model.data[:4]}, the "
                    f"teacher's first one {labels[:4]}.",
                    "give the matrices of all rounds the same data in the same order.",
                )
        teacher.adopt(of_teacher)
        learner.adopt(of_learner)
        data.append(teacher.choose())
        learner.observe(data[-1])
        log_beliefs.append(learner.log_belief)
        teacher_log_beliefs.append(teacher.log_belief)
    return Lesson(
        np.array(data, dtype=np.intp),
        np.array(log_beliefs),
        np.array(teacher_log_beliefs),
        teacher.snapshot(),
        learner.snapshot(),
    )


def _in_order(rules: Iterable[RoundRules]) -> NextRules:
    listed = list(rules)
    return lambda data: listed[len(data)] if len(data) < len(listed) else None
