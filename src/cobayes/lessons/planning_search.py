"""Exact search for the data after which a learner believes most in a hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.rules import Rule
from cobayes.rules.response import Response, add_evidence
from cobayes.tasks.task import State, Task

Array = NDArray[np.float64]

MOST_NODES = 50_000
"""A search that has to work out more beliefs than this is refused."""


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
            only_state(self._task, node.state, row),
            only_state(self._rule.task, node.learner_state, row),
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


def only_state(task: Task, state: State, datum: int) -> State:
    """Return where a datum leads for certain."""
    found = task.next_states(state, datum)
    if len(found) != 1:
        raise CobayesError(
            "planning needs a task in which every datum leads to one state.",
            "use a world without slips, or let a Teacher choose round by round.",
        )
    return found[0][0]
