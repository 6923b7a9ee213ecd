"""`plan_lesson`: choosing the data that teach best, instead of drawing them."""

from __future__ import annotations

import math
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import whole_number
from cobayes.errors import CobayesError
from cobayes.lessons import saving
from cobayes.lessons.agents import Learner, Teacher
from cobayes.lessons.lesson import Lesson, run_lesson
from cobayes.lessons.planning_search import (
    MOST_NODES,
    Node,
    Search,
    SearchTooLargeError,
    only_state,
)
from cobayes.model import require_same_world
from cobayes.rules import Rule

Array = NDArray[np.float64]


_ENOUGH_TO_ESTIMATE = 300
"""A search that works out so many beliefs shows how the number grows with the depth."""


def plan_lesson(
    rule: Rule,
    hypothesis: SupportsIndex | str,
    num_rounds: SupportsIndex,
    *,
    learner_rule: Rule | None = None,
    prior: ArrayLike | None = None,
    look_ahead: SupportsIndex = 1,
) -> Lesson:
    """Plan the lesson after which a learner believes most in a hypothesis.

    In every round the datum is chosen that leads to the highest belief `look_ahead` rounds later.
    With 1 that is the greedy choice; with `num_rounds` the plan is the best there is. Nothing
    is drawn, and of several data that are equally good the first is taken.

    Parameters
    ----------
    rule
        What may be shown: the task from which this rule is made. It is also the learner's rule
        unless `learner_rule` is given.
    hypothesis
        The hypothesis to teach, by position or label.
    num_rounds
        The number of rounds.
    learner_rule
        How the learner learns: any rule over the same data and hypotheses.
    prior
        The learner's prior; uniform by default.
    look_ahead
        How many rounds to look ahead. The search is exact: it follows every sequence of data
        except those that provably cannot win. It grows fast with this number.

    Returns
    -------
    Lesson
        The data, and the learner's beliefs round by round.

    Examples
    --------
    Five different examples in the best order:

    >>> import cobayes as cb
    >>> import numpy as np
    >>> matrix = np.random.default_rng(0).uniform(0.1, 1.0, (50, 8))
    >>> lesson = cb.plan_lesson(cb.BI(cb.without_repeats(matrix)), 2, 5)
    >>> len(set(lesson.data.tolist()))
    5
    """
    num_rounds = whole_number(num_rounds, "num_rounds", 0)
    teacher = Planner(rule, hypothesis, prior, learner_rule, look_ahead, num_rounds)
    return run_lesson(teacher, Learner(teacher.pupil.rule, prior), num_rounds)


class Planner(Teacher):
    """A teacher that searches for the best datum; `plan_lesson` lets it teach.

    Parameters
    ----------
    rule, hypothesis, prior, learner_rule, look_ahead
        As for `plan_lesson`.
    num_rounds
        The length of the lesson, which it does not look beyond; None for one without an end.
    """

    kind = "planner"

    def __init__(
        self,
        rule: Rule,
        hypothesis: SupportsIndex | str,
        prior: ArrayLike | None = None,
        learner_rule: Rule | None = None,
        look_ahead: SupportsIndex = 1,
        num_rounds: int | None = None,
    ) -> None:
        super().__init__(rule, hypothesis, prior, rng=0, choice="likeliest")
        self.pupil = Learner(rule if learner_rule is None else learner_rule, prior)
        require_same_world(rule.model, self.pupil.rule.model)
        self.look_ahead = whole_number(look_ahead, "look_ahead", 1)
        self._rounds_left = num_rounds
        self._is_estimated = False

    @property
    def log_belief(self) -> Array:
        """The logarithms of what it takes the learner's belief to be."""
        return self.pupil.log_belief

    @property
    def is_finished(self) -> bool:
        """Whether the task is over, or no datum is left that the learner's task allows."""
        node = Node(self.state, self.pupil.state, self.pupil.log_belief)
        return Search(self.task, self.pupil.rule, self.hypothesis).is_over(node)

    def choose(self) -> int:
        """Return the best datum after a search, and follow its effect on the learner."""
        depth = self.look_ahead
        if self._rounds_left is not None and self._rounds_left > 0:
            depth = min(depth, self._rounds_left)
            self._rounds_left -= 1
        search = Search(self.task, self.pupil.rule, self.hypothesis)
        node = Node(self.state, self.pupil.state, self.pupil.log_belief)
        if not self._is_estimated:
            self._require_affordable(node, depth)
        _, datum = search.best(node, depth)
        if datum < 0:
            raise CobayesError(
                f"no datum is left that {self.rule.model.hypotheses[self.hypothesis]!r} allows.",
                "plan fewer rounds.",
            )
        self.observe(datum)
        return datum

    def _require_affordable(self, node: Node, depth: int) -> None:
        """Raise an error at once where a search is sure to be too large.

        Less deep searches show how the number of beliefs grows: like a power of the depth where
        sequences meet again (the order of data does not matter to BI), else geometrically.
        """
        self._is_estimated = True
        counts = [0]
        for small in range(1, depth):
            search = Search(self.task, self.pupil.rule, self.hypothesis)
            search.best(node, small)
            counts.append(search.num_nodes)
            if counts[-1] == counts[-2]:
                return  # the task is over before
            if counts[-1] > _ENOUGH_TO_ESTIMATE:
                break
        else:
            return
        growth, before = counts[-1] / counts[-2], counts[-2] / max(counts[-3], 1e-9)
        log_count = math.log(counts[-1])
        if growth < before:
            log_count += math.log(growth) * math.log(depth / small) / math.log(small / (small - 1))
        else:
            log_count += math.log(growth) * (depth - small)
        if log_count > math.log(MOST_NODES):
            shown = f"{math.exp(log_count):.1g}" if log_count < 600 else "more than 1e260"
            raise SearchTooLargeError(
                f"looking {depth} rounds ahead has to work out about {shown} beliefs; the limit is "
                f"{MOST_NODES:,}.",
                "use a smaller look_ahead, or fewer data.",
            )

    def observe(self, datum: SupportsIndex | str) -> Array:
        """Follow the effect of a datum on the learner, and go on in the task."""
        row = self.rule.model.datum_index(datum)
        self.pupil.observe(row)
        self._state = only_state(self.task, self._state, row)
        return self.pupil.belief

    def snapshot(self) -> dict[str, Any]:
        """Return the agent's state; see `Learner.snapshot`."""
        return {
            **super().snapshot(),
            "log_belief": self.log_belief,
            "pupil": self.pupil.snapshot(),
            "look_ahead": self.look_ahead,
            "rounds_left": self._rounds_left,
        }

    @classmethod
    def _rebuild(cls, rule: Rule, content: dict[str, Any]) -> Self:
        pupil = Learner.restore(saving.require(content["pupil"], dict, "pupil"))
        hypothesis = Teacher._rebuild(rule, content).hypothesis
        left = content["rounds_left"]
        agent = cls(rule, hypothesis, None, pupil.rule, content["look_ahead"], left)
        agent.pupil = pupil
        return agent
