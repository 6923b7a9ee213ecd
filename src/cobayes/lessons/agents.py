"""The two agents: a teacher who knows the true hypothesis and a learner who does not."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Literal, Self, SupportsIndex, get_args

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.labels import Distribution
from cobayes._input.validation import generator, instance, one_of, subclasses
from cobayes._output import probability_text
from cobayes.errors import CobayesError, ImpossibleDatumError, unteachable
from cobayes.lessons import saving
from cobayes.rules import Rule, as_rule
from cobayes.rules.base import impossible_datum
from cobayes.rules.naming import RuleLike
from cobayes.rules.response import Response, add_evidence, draw
from cobayes.tasks.task import State, Task, no_datum

Array = NDArray[np.float64]

Choice = Literal["draw", "likeliest", "forward"]
"""The teacher draws a datum, shows the likeliest one, or draws a datum that leads to the goal."""


class Learner:
    """A learner: it has a belief and updates it with every datum.

    Parameters
    ----------
    rule
        The learner's rule; a matrix, a model or a task means `SCBI` on it.
    prior
        The learner's belief before the first datum; uniform by default.

    Attributes
    ----------
    log_belief : ndarray
        The logarithms of the belief, (m,). They are accurate also where the belief underflows.
    state
        The state of the task as the agent knows it.
    outcomes : tuple
        After a datum with a random outcome, until `arrive` is called: the possible states, as pairs
        of a state and its probability. Otherwise empty.

    Examples
    --------
    >>> import cobayes as cb
    >>> learner = cb.Learner(cb.SCBI([[0.8, 0.3], [0.2, 0.7]]))
    >>> learner.observe(0).round(3)
    array([0.753, 0.247])
    """

    kind = "learner"

    def __init__(self, rule: RuleLike, prior: Distribution | None = None) -> None:
        self.rule: Rule = rule if isinstance(rule, Rule) else as_rule(rule)
        self.log_belief: Array = self.rule.log_belief(prior, "prior")
        self.state: State = self.rule.task.start
        self.outcomes: tuple[tuple[State, float], ...] = ()
        self._response: Response | None = None

    @property
    def task(self) -> Task:
        """The task of the agent's rule; a `Model` if the rule was made from a matrix."""
        return self.rule.task

    @property
    def belief(self) -> Array:
        """The current belief, shape (m,)."""
        return _core.exp(self.log_belief)

    @property
    def likelihood(self) -> Array:
        """The rule's likelihood matrix at the current belief, shape (n, m)."""
        return self._respond().likelihood

    def distribution_over_data(self, hypothesis: SupportsIndex | str) -> Array:
        """Return the rule's distribution over the next datum under a hypothesis, (n,)."""
        column = self.rule.model.hypothesis_index(hypothesis)
        likelihood = self._respond().likelihood
        found = likelihood[:, column]
        if not found.any():
            raise no_datum(self.rule.model, column, likelihood.sum(axis=1) > 0.0)
        return found

    def observe(self, datum: SupportsIndex | str) -> Array:
        """Update the belief with a datum, given by position or label; return the new belief."""
        row = self.rule.model.datum_index(datum)
        prior = None if self.outcomes else self.rule.task.data_prior_at(self.state)
        if prior is not None and prior[row] == 0.0:
            raise ImpossibleDatumError(
                f"datum {self.rule.model.data[row]!r} is not available in the current state of the "
                f"{self.kind}'s task.",
                "for an agent without this constraint, make its rule from the matrix.",
            )
        response = self._respond()
        posterior = add_evidence(self.log_belief, response.log_likelihood[row])
        if np.isnan(posterior[0]):
            raise impossible_datum(self.rule, row)
        self.log_belief = posterior
        self.move_on(row)
        return _core.exp(self.log_belief)

    def move_on(self, row: int) -> None:
        """Set the next state, or `outcomes` if several are possible; the belief stays the same."""
        self._response = None
        found = self.rule.task.next_states(self.state, row)
        if len(found) == 1:
            self.state = found[0][0]
        else:
            self.outcomes = found

    def arrive(self, state: State) -> None:
        """Set the state of the task after a datum with several possible outcomes.

        Parameters
        ----------
        state
            A state of the task, for instance a square of a `GridWorld`.
        """
        self.state, self.outcomes = self.rule.task.read_state(state), ()
        self._response = None

    def follow(self, teacher: Learner) -> None:
        """Copy from the teacher the part of the task's state that both agents see."""
        task = self.rule.task
        seen = instance(teacher, Learner, "the teacher", "an agent").task.seen_part(teacher.state)
        if self.outcomes:
            states = [state for state, _ in self.outcomes if task.seen_part(state) == seen]
            if not states:
                raise CobayesError(
                    f"the teacher's task is now in the state {seen!r}, which is not one of the "
                    f"{len(self.outcomes)} outcomes in the task of this {self.kind}.",
                    "give both agents rules made from tasks with the same states.",
                )
            self.arrive(states[0])
        elif teacher.task.is_seen and task.is_seen:
            self.arrive(task.with_seen_part(self.state, seen))

    def _respond(self) -> Response:
        """Return the rule's `Response` to the current belief; it is computed once per round."""
        if self.outcomes:
            raise CobayesError(
                f"the last datum has {len(self.outcomes)} possible outcomes.",
                "set the outcome: agent.arrive(state).",
            )
        if self._response is None:
            self._response = self.rule.at(self.state).answer(self.log_belief)
        return self._response

    def copy(self) -> Self:
        """Return an independent copy of the agent in the same state; the rule is shared."""
        return copy.deepcopy(self)

    def snapshot(self) -> dict[str, Any]:
        """Return the values that describe the agent; `restore` makes the same agent from them."""
        return {
            "kind": self.kind,
            "rule": self.rule,
            "log_belief": saving.plain_logs(self.log_belief),
            "state": self.state,
            "outcomes": self.outcomes,
        }

    @staticmethod
    def restore(content: dict[str, Any]) -> Any:
        """Make the agent, of any class, that a `snapshot` describes."""
        kinds = {kind.kind: kind for kind in (Learner, *subclasses(Learner))}
        if content["kind"] not in kinds:
            raise ValueError(f"the agent is a {content['kind']!r}; expected one of {list(kinds)}")
        rule = instance(content["rule"], Rule, "the rule", "a rule")
        agent = kinds[content["kind"]]._rebuild(rule, content)
        shape = (rule.model.num_hypotheses,)
        agent.log_belief = saving.read_logs(content["log_belief"], "log_belief", shape)
        agent.state = rule.task.read_state(content["state"])
        saved = content["outcomes"]
        agent.outcomes = tuple((rule.task.read_state(one), float(chance)) for one, chance in saved)
        if isinstance(agent, Teacher) and agent.log_belief[agent.hypothesis] == -np.inf:
            raise unteachable(rule.model.hypotheses[agent.hypothesis], "saved belief")
        return agent

    @classmethod
    def _rebuild(cls, rule: Rule, content: dict[str, Any]) -> Self:  # noqa: ARG003
        """Make an agent from its rule and the other values of `snapshot`."""
        return cls(rule)

    def save(self, path: str | Path) -> None:
        """Write the agent to a JSON file; `load` makes the same agent again.

        Parameters
        ----------
        path
            The file, of any name.
        """
        saving.write(path, self.kind, saving.to_plain(self.snapshot()))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an agent written by `save`."""
        content = saving.read(path, cls.kind)
        with saving.explained(cls.kind):
            return Learner.restore(saving.from_plain(content))

    def __repr__(self) -> str:
        best = int(np.argmax(self.log_belief))
        name = self.rule.model.hypotheses[best]
        return (
            f"{type(self).__name__}({self.rule.title}; most likely {name!r} "
            f"with {probability_text(self.belief[best], 4)})"
        )


class Teacher(Learner):
    """A teacher: it knows the true hypothesis and keeps an estimate of the learner's belief.

    Its ``belief`` is this estimate, which is exact if both agents have the same rule and prior.

    Parameters
    ----------
    rule
        The teacher's rule; a matrix, a model or a task means `SCBI` on it.
    hypothesis
        The true hypothesis, by position or label.
    prior
        The learner's prior as the teacher assumes it; uniform by default.
    rng
        Anything that `numpy.random.default_rng` accepts.
    choice
        "draw": the next datum is drawn from the rule's distribution, as in the paper. "likeliest":
        it is the datum with the highest probability, the first if there are several. "forward", in
        worlds: it is drawn from the rule's distribution, restricted to the moves towards the goal
        while one of them is available.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI([[0.8, 0.3], [0.2, 0.7]])
    >>> cb.Teacher(rule, 1, choice="likeliest").choose()
    1
    """

    kind = "teacher"

    def __init__(
        self,
        rule: RuleLike,
        hypothesis: SupportsIndex | str,
        prior: Distribution | None = None,
        rng: Any = None,
        choice: Choice = "draw",
    ) -> None:
        super().__init__(rule, prior)
        model, task = self.rule.model, self.rule.task
        self.hypothesis: int = model.hypothesis_index(hypothesis)
        if self.log_belief[self.hypothesis] == -np.inf:
            raise unteachable(model.hypotheses[self.hypothesis], "prior")
        one_of(choice, "choice", get_args(Choice))
        if choice == "forward" and task.moves_forward(self.state, self.hypothesis) is None:
            raise CobayesError(
                f"choice is 'forward', but lessons on the task {type(task).__name__} have no goal "
                "that a datum could lead towards.",
                "choose 'forward' in worlds, 'draw' or 'likeliest' elsewhere.",
            )
        self.choice: Choice = choice
        self.rng: np.random.Generator = generator(rng)

    @property
    def distribution(self) -> Array:
        """The distribution from which `choose` draws a datum or takes the likeliest, (n,)."""
        found = self.distribution_over_data(self.hypothesis)
        if self.choice == "forward":
            is_forward: Any = self.rule.task.moves_forward(self.state, self.hypothesis)
            forward = np.where(is_forward, found, 0.0)
            found = forward / forward.sum() if forward.any() else found
        return found

    def choose(self) -> int:
        """Choose the next datum, update the belief with it, and return its position."""
        law = self.distribution
        datum = int(np.argmax(law) if self.choice == "likeliest" else draw(law, self.rng.random()))
        self.observe(datum)
        return datum

    def snapshot(self) -> dict[str, Any]:
        """Return the values that describe the agent, including its random generator."""
        return {
            **super().snapshot(),
            "hypothesis": self.rule.model.hypotheses[self.hypothesis],
            "choice": self.choice,
            "rng": saving.pack_generator(self.rng),
        }

    @classmethod
    def _rebuild(cls, rule: Rule, content: dict[str, Any]) -> Self:
        rng = saving.unpack_generator(content["rng"])
        return cls(rule, content["hypothesis"], rng=rng, choice=content["choice"])

    def __repr__(self) -> str:
        name = self.rule.model.hypotheses[self.hypothesis]
        return (
            f"{type(self).__name__}({self.rule.title}; teaches {name!r}; the learner's belief in "
            f"it {probability_text(self.belief[self.hypothesis], 4)})"
        )
