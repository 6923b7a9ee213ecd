"""`plan_lesson`: the data that teach best, found by an exact search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import Distribution
from cobayes._input.validation import whole_number
from cobayes.errors import CobayesError
from cobayes.lessons.agents import Learner, Teacher
from cobayes.lessons.lesson import Lesson, run_lesson
from cobayes.model import require_same_world
from cobayes.rules import Rule, as_rule
from cobayes.rules.naming import RuleLike
from cobayes.rules.response import Response, add_evidence
from cobayes.tasks.constraints import Around
from cobayes.tasks.task import State, Task, no_datum

Array = NDArray[np.float64]

MOST_NODES = 50_000
"""The search for a datum ends with an error if it needs more beliefs than this."""

Plan = tuple[float, tuple[int, ...]]
"""The learner's log-odds of the hypothesis after some data, and these data in order."""


def plan_lesson(
    rule: RuleLike,
    hypothesis: SupportsIndex | str,
    num_rounds: SupportsIndex,
    *,
    learner_rule: RuleLike | None = None,
    prior: Distribution | None = None,
    look_ahead: SupportsIndex = 1,
) -> Lesson:
    """Plan a lesson by a search for the data that raise a learner's belief in a hypothesis most.

    In every round the teacher shows the datum that leads to the highest belief after `look_ahead`
    rounds, this round included, or at the end of the lesson if that is sooner. With
    ``look_ahead=1`` the choice is greedy, and of several equally good data the first is taken. With
    ``look_ahead=num_rounds`` no lesson of `num_rounds` rounds is better. Nothing is random.

    Parameters
    ----------
    rule
        A rule, whose task says which data may be shown; a matrix, a model or a task means `SCBI` on
        it. The learner has the same rule unless `learner_rule` is given.
    hypothesis
        The hypothesis to teach, by position or label.
    num_rounds
        The number of rounds.
    learner_rule
        The learner's rule, with the same data and hypotheses (default: `rule`).
    prior
        The learner's prior; uniform by default.
    look_ahead
        The number of rounds to look ahead, >= 1. The search is exact: it follows every sequence of
        data except those that are proved not to give a higher belief. The work grows exponentially
        with `look_ahead`.

    Returns
    -------
    Lesson
        The data, and the learner's beliefs round by round.

    Examples
    --------
    Five different data; each raises the belief most in its round:

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
    """The teacher of `plan_lesson`, which searches for the best datum.

    Parameters
    ----------
    rule, hypothesis, prior, learner_rule, look_ahead
        As for `plan_lesson`.
    num_rounds
        The length of the lesson, which limits the search; None if the length is not fixed.
    data
        Positions of data to show first, before any search.
    """

    kind = "planner"

    def __init__(
        self,
        rule: RuleLike,
        hypothesis: SupportsIndex | str,
        prior: Distribution | None = None,
        learner_rule: RuleLike | None = None,
        look_ahead: SupportsIndex = 1,
        num_rounds: int | None = None,
        data: Sequence[int] = (),
    ) -> None:
        super().__init__(rule, hypothesis, prior, rng=0)
        learner_rule = self.rule if learner_rule is None else as_rule(learner_rule, self.task)
        self.pupil = Learner(learner_rule, prior)
        require_same_world(self.rule.model, self.pupil.rule.model)
        self.log_belief = self.pupil.log_belief
        self.look_ahead = whole_number(look_ahead, "look_ahead", 1)
        self.data = tuple(data)
        self._rounds_left = num_rounds

    def choose(self) -> int:
        """Search for the best datum, update the belief with it, and return its position."""
        depth = self.look_ahead
        if self._rounds_left:
            depth = min(depth, self._rounds_left)
            self._rounds_left -= 1
        if self.data:
            datum, self.data = self.data[0], self.data[1:]
        else:
            search = Search(self.task, self.pupil.rule, self.hypothesis, MOST_NODES)
            node = Node(self.state, self.pupil.state, self.pupil.log_belief)
            _, best = search.best(node, depth)
            if not best:
                available = search.available(node) & (self.pupil.likelihood.sum(axis=1) > 0.0)
                raise no_datum(self.pupil.rule.model, self.hypothesis, available)
            datum = best[0]
        self.observe(datum)
        return datum

    def observe(self, datum: SupportsIndex | str) -> Array:
        """Update the learner's belief and the state of the task with a datum."""
        row = self.rule.model.datum_index(datum)
        belief = self.pupil.observe(row)
        self.log_belief, self._response = self.pupil.log_belief, None
        self.state = only_state(self.task, self.state, row)
        return belief

    def snapshot(self) -> dict[str, Any]:
        """Return the values that describe the agent; see `Learner.snapshot`."""
        return {
            **super().snapshot(),
            "pupil": self.pupil.snapshot(),
            "look_ahead": self.look_ahead,
            "rounds_left": self._rounds_left,
            "data": self.data,
        }

    @classmethod
    def _rebuild(cls, rule: Rule, content: dict[str, Any]) -> Self:
        pupil = Learner.restore(content["pupil"])
        options = (content[name] for name in ("look_ahead", "rounds_left", "data"))
        agent = cls(rule, content["hypothesis"], None, pupil.rule, *options)
        agent.pupil = pupil
        return agent


class SearchTooLargeError(CobayesError):
    """The error about a search that would compute too many beliefs."""


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the search tree: the states of both agents' tasks and the learner's log-belief."""

    state: State
    learner_state: State
    log_belief: Array


class Search:
    """Exact search for the data after which the learner's belief in a hypothesis is highest.

    The search maximises the learner's log-odds of the hypothesis, because two beliefs that are both
    rounded to one still have different log-odds.

    Parameters
    ----------
    task
        The task, which says which data may be shown.
    rule
        The learner's rule.
    hypothesis
        The position of the hypothesis.
    most_nodes
        The largest number of beliefs to compute.
    """

    def __init__(self, task: Task, rule: Rule, hypothesis: int, most_nodes: int) -> None:
        self._task, self._rule, self._hypothesis = task, rule, hypothesis
        self._most_nodes = most_nodes
        self._num_nodes = 0
        self._known: dict[tuple[Any, ...], Plan] = {}

    def best(self, node: Node, depth: int, wanted: float | None = None) -> Plan:
        """Return the highest log-odds that some data reach in `depth` rounds, and these data.

        If the log-odds `wanted` are given, return instead the first data found that reach `wanted`
        in `depth` rounds or fewer; if none do, the log-odds returned are lower than `wanted`.
        Without `wanted`, the data are empty only if the highest log-odds are minus infinity.
        """
        # Sequences of data that lead to the same belief, up to rounding, are continued only once.
        beliefs = np.round(node.log_belief, 9).tobytes()
        key = (wanted, depth, node.state, node.learner_state, beliefs)
        if key not in self._known:
            self._known[key] = self._search(node, depth, wanted)
        return self._known[key]

    def _search(self, node: Node, depth: int, wanted: float | None) -> Plan:
        response, odds, bounds = self._expand(node, depth)
        first = int(np.argmax(odds))
        is_enough = wanted is not None and odds[first] >= wanted
        if depth == 1 or odds[first] == -np.inf or is_enough:
            return float(odds[first]), (first,) if odds[first] > -np.inf else ()
        found, data = -np.inf, ()
        for row in np.argsort(-bounds if wanted is None else -odds, kind="stable").tolist():
            if bounds[row] <= found or (wanted is not None and bounds[row] < wanted):
                continue
            after = self._after(node, response, row)
            value, further = float(odds[row]), ()
            if not self.is_over(after):
                value, further = self.best(after, depth - 1, wanted)
            if value > found:
                found, data = value, (row, *further)
            if wanted is not None and found >= wanted:
                break
        return found, data

    def _expand(self, node: Node, depth: int) -> tuple[Response, Array, Array]:
        """Return the response, the log-odds after each datum, and bounds on the final log-odds.

        The final log-odds are those after `depth` rounds; the bounds are upper bounds, (n,).
        """
        self._num_nodes += 1
        if self._num_nodes > self._most_nodes:
            raise SearchTooLargeError(
                f"the search needs more than {self._most_nodes:,} beliefs.",
                "use a smaller look_ahead, or fewer data.",
            )
        response = self._rule.at(node.learner_state).answer(node.log_belief)
        joint = node.log_belief + response.log_likelihood
        own = joint[:, self._hypothesis]
        is_open = self.available(node) & (own > -np.inf)
        against = joint - np.where(is_open, own, 0.0)[:, None]
        against[:, self._hypothesis] = -np.inf
        odds = np.where(is_open, -np.logaddexp.reduce(against, axis=1), -np.inf)
        if depth == 1:
            return response, odds, odds
        later = -np.logaddexp.reduce(against - (depth - 1) * self._largest_fall, axis=1)
        return response, odds, np.where(is_open, later, -np.inf)

    @cached_property
    def _largest_fall(self) -> Array:
        """An upper bound on the decrease of log(theta(j) / theta(h)) in one round, (m,).

        Here theta is the belief, h the hypothesis to teach, and L the likelihood. Datum d adds
        r_d = log(L_dj / L_dh) to the logarithm. If the belief changes, all r_d of a built-in rule
        change by one common number, so max_d r_d - min_d r_d stays the same. If the columns of L
        sum to one, some r_d is not negative, and max_d r_d - min_d r_d is a bound. If the columns
        do not sum to one, L does not depend on the belief, and -min_d r_d is a bound. The result is
        the larger of the two bounds, or infinite if no bound is known.
        """
        rule, task = self._rule, self._rule.task
        while isinstance(task, Around):
            task = task.task
        own = rule.at(rule.task.start)
        logs = own.answer(own.log_belief(None, "prior")).log_likelihood
        logs = logs[(logs > -np.inf).any(axis=1)]  # data that may be shown
        if rule.core is None or not task.is_constant or not np.isfinite(logs).all():
            return np.full(logs.shape[1], np.inf)
        increases = logs - logs[:, self._hypothesis, None]
        return np.maximum(increases.max(axis=0), 0.0) - increases.min(axis=0)

    def _after(self, node: Node, response: Response, row: int) -> Node:
        return Node(
            only_state(self._task, node.state, row),
            only_state(self._rule.task, node.learner_state, row),
            add_evidence(node.log_belief, response.log_likelihood[row]),
        )

    def available(self, node: Node) -> NDArray[np.bool_]:
        """Return which data the tasks of both agents allow at a node, (n,)."""
        by_learner = self._rule.task.available_at(node.learner_state)
        return self._task.available_at(node.state) & by_learner

    def is_over(self, node: Node) -> bool:
        """Tell whether a lesson ends at a node."""
        is_over = self._task.is_over(node.state, self._hypothesis)
        return is_over or not self.available(node).any()


def only_state(task: Task, state: State, datum: int) -> State:
    """Return the only state that can follow a datum; raise an error if there are several."""
    found = task.next_states(state, datum)
    if len(found) != 1:
        raise CobayesError(
            f"a datum leads to one of {len(found)} states at random; expected one certain state.",
            "use a world without slips, or let a Teacher choose round by round.",
        )
    return found[0][0]
