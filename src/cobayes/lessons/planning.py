"""`plan_lesson`: choosing the data that teach best, instead of drawing them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import whole_number
from cobayes.errors import CobayesError
from cobayes.lessons import saving
from cobayes.lessons.agents import Learner, Teacher
from cobayes.lessons.lesson import Lesson, run_lesson
from cobayes.model import Model, require_same_world
from cobayes.rules import Rule
from cobayes.rules.base import Response, add_evidence
from cobayes.tasks.task import State, Task

Array = NDArray[np.float64]

MOST_NODES = 50_000
"""A search that has to work out more beliefs than this is refused."""

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
        self._state = _only_state(self.task, self._state, row)
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


class SearchTooLargeError(CobayesError):
    """A search would have to work out too many beliefs."""


@dataclass(frozen=True, eq=False)
class Node:
    """A point of the search: the states of both tasks and the learner's log-belief."""

    state: State
    learner_state: State
    log_belief: Array


class Search:
    """Exact search for the datum after which the learner believes most in a hypothesis.

    The measure is the learner's log-odds in favour of the hypothesis, which still tell good from
    better where beliefs round to one.

    Parameters
    ----------
    task
        What may be shown.
    rule
        The learner's.
    hypothesis
        The position of the hypothesis.
    most_nodes
        How many beliefs may be worked out; `MOST_NODES` by default.
    """

    def __init__(
        self, task: Task, rule: Rule, hypothesis: int, most_nodes: int | None = None
    ) -> None:
        self._task, self._rule, self._hypothesis = task, rule, hypothesis
        self._most_nodes = MOST_NODES if most_nodes is None else most_nodes
        self.num_nodes = 0  # how many beliefs were worked out
        self._known: dict[tuple[Any, ...], tuple[float, int]] = {}
        self._failed: set[tuple[Any, ...]] = set()
        self._ratios: _Ratios | None = None
        self._model: Model | None = None

    def best(self, node: Node, depth: int) -> tuple[float, int]:
        """Return the highest log-odds that some data reach in `depth` rounds, and the first datum.

        The datum is -1 where none is left that the hypothesis allows.
        """
        key = self._key(node, depth)
        if key not in self._known:
            self._known[key] = self._search(node, depth)
        return self._known[key]

    def _search(self, node: Node, depth: int) -> tuple[float, int]:
        response, odds, bounds = self._expand(node, depth)
        if depth == 1 or odds.max() == -np.inf:
            first = int(np.argmax(odds))
            return float(odds[first]), first if odds[first] > -np.inf else -1
        found, datum = -np.inf, -1
        for row in np.argsort(-bounds, kind="stable").tolist():
            if bounds[row] <= found:
                break
            after = self._after(node, response, row)
            if self.is_over(after):
                value = float(odds[row])
            else:
                value, _ = self.best(after, depth - 1)
            if value > found:
                found, datum = value, row
        return found, datum

    def reach(self, node: Node, depth: int, wanted: float) -> tuple[int, ...] | None:
        """Return data that raise the log-odds to `wanted` within `depth` rounds, or None.

        None is a proof that there are none.
        """
        key = (wanted, *self._key(node, depth))
        if key in self._failed:
            return None
        response, odds, bounds = self._expand(node, depth)
        best = int(np.argmax(odds))
        if odds[best] >= wanted:
            return (best,)
        if depth > 1:
            for row in np.argsort(-odds, kind="stable").tolist():
                if odds[row] == -np.inf:
                    break
                if bounds[row] < wanted:
                    continue
                after = self._after(node, response, row)
                if self.is_over(after):
                    continue
                further = self.reach(after, depth - 1, wanted)
                if further is not None:
                    return (row, *further)
        self._failed.add(key)
        return None

    def _key(self, node: Node, depth: int) -> tuple[Any, ...]:
        beliefs = np.round(node.log_belief, 9).tobytes()
        return (depth, node.state, node.learner_state, beliefs)

    def _expand(self, node: Node, depth: int) -> tuple[Response, Array, Array]:
        """Return the response, the log-odds after each datum, and bounds on the final ones."""
        self.num_nodes += 1
        if self.num_nodes > self._most_nodes:
            raise SearchTooLargeError(
                f"looking ahead has to work out more than {self._most_nodes:,} beliefs.",
                "use a smaller look_ahead, or fewer data.",
            )
        rule = self._rule.at(node.learner_state)
        response = rule.respond(node.log_belief)
        available = self._available(node)
        if self._ratios is None and rule.is_factored:
            self._ratios = _Ratios(response.log_likelihood, self._hypothesis)
            self._model = rule.model
        ratios = self._ratios if rule.model is self._model else None
        weights = None
        if ratios is not None and available.any():
            weights = ratios.weights(response, node.log_belief, available)
        if ratios is None or weights is None:
            odds = _odds_after(response, node.log_belief, self._hypothesis)
            bounds = np.full(len(odds), np.inf)
        else:
            odds = ratios.odds(weights)
            bounds = ratios.odds(weights, depth - 1)
        odds[~available] = -np.inf
        bounds[odds == -np.inf] = -np.inf
        return response, odds, bounds

    def _after(self, node: Node, response: Response, row: int) -> Node:
        return Node(
            _only_state(self._task, node.state, row),
            _only_state(self._rule.task, node.learner_state, row),
            add_evidence(node.log_belief, response.log_row(row)),
        )

    def _available(self, node: Node) -> NDArray[np.bool_]:
        """Return which data may be shown and are possible in the learner's task."""
        available = np.ones(self._rule.model.num_data, dtype=bool)
        for task, state in ((self._task, node.state), (self._rule.task, node.learner_state)):
            prior = task.data_prior_at(state)
            if prior is not None:
                available &= prior > 0.0
        return available

    def is_over(self, node: Node) -> bool:
        """Tell whether nothing can follow."""
        is_over = self._task.is_over(node.state, self._hypothesis)
        return is_over or not self._available(node).any()


class _Ratios:
    """How much every datum speaks against a hypothesis, by a product of a matrix and a vector.

    For rules whose likelihood at every belief is one matrix with scaled rows and columns.

    Parameters
    ----------
    logs
        Log-likelihoods at any belief, (n, m).
    hypothesis
        The position of the hypothesis.
    """

    def __init__(self, logs: Array, hypothesis: int) -> None:
        self._hypothesis = hypothesis
        self._is_known = np.asarray(np.isfinite(logs).all(axis=1))
        with np.errstate(over="ignore", invalid="ignore"):
            self._logs = np.where(self._is_known[:, None], logs - logs[:, hypothesis, None], 0.0)
            self._plain = np.exp(self._logs)
        self._is_plain = bool(np.isfinite(self._plain).all())
        # The posteriors after all data have the belief as a mean, so the odds against another
        # hypothesis fall at most by the largest ratio over the smallest, at every belief.
        known = self._logs[self._is_known]
        self._spread = known.max(axis=0, initial=-np.inf) - known.min(axis=0, initial=np.inf)

    def weights(
        self, response: Response, log_belief: Array, available: NDArray[np.bool_]
    ) -> Array | None:
        """Return what each hypothesis counts against the true one, as logarithms, (m,).

        None where zeros hide the scaling of the columns.
        """
        h = self._hypothesis
        if not (self._is_known | ~available).all():
            return None
        pivot = int(np.argmax(available))
        with np.errstate(invalid="ignore"):
            row = response.log_row(pivot)
            scaling = (row - row[h]) - self._logs[pivot]
        if not np.isfinite(scaling).all():
            return None
        weights = log_belief - log_belief[h] + scaling
        weights[h] = -np.inf
        return weights

    def odds(self, weights: Array, num_rounds: int = 0) -> Array:
        """Return the log-odds in favour after each datum, (n,).

        With `num_rounds` they are bounds that cannot be exceeded so many rounds later.
        """
        if num_rounds:
            weights = weights - num_rounds * self._spread
        peak = weights.max()
        if peak == -np.inf:
            return np.full(len(self._logs), np.inf)
        if not self._is_plain:
            return -np.logaddexp.reduce(self._logs + weights, axis=1)
        with np.errstate(under="ignore", divide="ignore"):
            return -(peak + np.log(self._plain @ np.exp(weights - peak)))


def _odds_after(response: Response, log_belief: Array, hypothesis: int) -> Array:
    """Return the log-odds in favour of a hypothesis after each datum, (n,), for any rule."""
    joint = log_belief + response.log_likelihood
    own = joint[:, hypothesis]
    with np.errstate(invalid="ignore"):
        against = np.logaddexp.reduce(np.delete(joint, hypothesis, axis=1), axis=1, initial=-np.inf)
        return np.where(own > -np.inf, own - against, -np.inf)


def _only_state(task: Task, state: State, datum: int) -> State:
    """Return where a datum leads for certain."""
    found = task.next_states(state, datum)
    if len(found) != 1:
        raise CobayesError(
            "planning needs a task in which every datum leads to one state.",
            "use a world without slips, or let a Teacher choose round by round.",
        )
    return found[0][0]
