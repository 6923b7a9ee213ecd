"""Many agents of one rule: in compiled code where the task allows it, else one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import ImpossibleDatumError
from cobayes.lessons.agents import Learner
from cobayes.lessons.drawing import draw
from cobayes.model import Model
from cobayes.rules import BeliefState, Responses, Rule
from cobayes.tasks.repeats import WithoutRepeats
from cobayes.tasks.task import draw_outcome

Array = NDArray[np.float64]

OVER = -1
"""The datum of a lesson that is over."""


class Group:
    """Agents whose matrix never changes, with all beliefs in compiled code.

    Parameters
    ----------
    rule
        The rule of all agents.
    log_prior
        The belief from which all of them start, (m,).
    size
        The number of agents.
    """

    def __init__(self, rule: Rule, log_prior: Array, size: int) -> None:
        self.rule = rule
        self.beliefs = BeliefState.from_logs(log_prior, size)
        self.contradicted = np.zeros(size, dtype=np.bool_)
        self._responses: Responses | None = None
        self._is_current = False

    def _respond(self) -> Responses:
        """Return the rule's responses to the current beliefs, computed once."""
        if self._responses is None or not self._is_current:
            self._responses = self._answers()
            self._is_current = True
        return self._responses

    def _answers(self) -> Responses:
        return self.rule.respond_many(self.beliefs, self._responses)

    def draw(self, hypothesis: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw a datum for everyone, as teachers of a hypothesis do."""
        size = self.beliefs.size
        return self._respond().draw(np.full(size, hypothesis), rng.random(size))

    def observe(self, data: NDArray[np.intp]) -> None:
        """Move on by a datum each, (size,)."""
        self.beliefs = self._respond().observe(data, self.contradicted)
        self._is_current = False


class FreshGroup(Group):
    """Agents of a task without repeats: each has a data prior over what it has not yet seen."""

    def __init__(self, rule: Rule, log_prior: Array, size: int) -> None:
        super().__init__(rule, log_prior, size)
        own = getattr(rule, "data_prior", None)
        self._priors = np.tile(np.ones(rule.model.num_data) if own is None else own, (size, 1))

    def _answers(self) -> Responses:
        totals = self._priors.sum(axis=1, keepdims=True)
        state = BeliefState.from_logs(
            self.beliefs.log_beliefs, data_priors=self._priors / np.where(totals > 0.0, totals, 1.0)
        )
        return self.rule.respond_many(state)

    def observe(self, data: NDArray[np.intp]) -> None:
        """Move on by a datum each, which is not available any more."""
        super().observe(data)
        # Without the data priors the beliefs are of the type that all other groups have.
        self.beliefs = self.beliefs._replace(row_sums=None)
        self._priors[np.arange(len(data)), data] = 0.0


class SteppedGroup(Group):
    """Agents of any task, asked one by one; `beliefs` stays where they started."""

    def __init__(self, rule: Rule, log_prior: Array, size: int) -> None:
        super().__init__(rule, log_prior, size)
        self._agents = [Learner(rule, np.exp(log_prior)) for _ in range(size)]

    def draw(self, hypothesis: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw a datum for everyone; `OVER` where the lesson has ended."""
        data = np.full(len(self._agents), OVER)
        for k, (agent, uniform) in enumerate(
            zip(self._agents, rng.random(len(data)).tolist(), strict=True)
        ):
            if not agent.task.is_over(agent.state, hypothesis):
                data[k] = draw(agent.distribution_over_data(hypothesis), uniform)
        return data

    def observe(self, data: NDArray[np.intp]) -> None:
        """Move on by a datum each, except where the lesson has ended."""
        for k, (agent, datum) in enumerate(zip(self._agents, data.tolist(), strict=True)):
            if datum == OVER:
                continue
            try:
                agent.observe(datum)
            except ImpossibleDatumError:  # the belief stays
                self.contradicted[k] = True
                agent.move_on(datum)

    @property
    def log_beliefs(self) -> Array:
        """The logarithms of the beliefs, (size, m)."""
        return np.array([one.log_belief for one in self._agents])

    def settle(self, learners: Group, rng: np.random.Generator) -> None:
        """Draw where uncertain data led, and tell the learners where that is seen."""
        followers = learners._agents if isinstance(learners, SteppedGroup) else self._agents
        for agent, follower in zip(self._agents, followers, strict=True):
            if agent.outcomes:
                agent.arrive(draw_outcome(agent.outcomes, rng))
            if follower is not agent:
                follower.follow(agent)


def is_compiled(rule: Rule) -> bool:
    """Tell whether lessons on the task of a rule run in compiled code."""
    task = rule.task
    return task is rule.model or (isinstance(task, WithoutRepeats) and isinstance(task.task, Model))


def make_group(rule: Rule, log_prior: Array, size: int, *, stepped: bool) -> Group:
    """Return agents of one rule.

    Parameters
    ----------
    rule, log_prior, size
        As for `Group`.
    stepped
        Ask them one by one, because one of the two tasks of a lesson needs that.
    """
    kind = SteppedGroup if stepped else Group if rule.task is rule.model else FreshGroup
    return kind(rule, log_prior, size)
