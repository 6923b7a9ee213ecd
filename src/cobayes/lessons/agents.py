"""The two agents: a teacher who knows the true hypothesis and a learner who does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self, SupportsIndex, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._runtime.randomness import generator
from cobayes.errors import CobayesError, ImpossibleDatumError
from cobayes.lessons import generators, saving
from cobayes.lessons.drawing import draw
from cobayes.rules import Rule
from cobayes.rules.base import require_teachable
from cobayes.rules.response import Response
from cobayes.tasks.task import State, Task

Array = NDArray[np.float64]

Choice = Literal["draw", "likeliest"]
"""How a teacher chooses: by drawing from its distribution, or the likeliest datum."""


class Learner:
    """A learner: it holds a belief and updates it with every datum.

    Parameters
    ----------
    rule
        How it learns: a rule made from the learner's matrix or task.
    prior
        Its belief before the first datum; uniform by default.

    Examples
    --------
    >>> import cobayes as cb
    >>> learner = cb.Learner(cb.SCBI([[0.8, 0.3], [0.2, 0.7]]))
    >>> learner.observe(0).round(3)
    array([0.753, 0.247])
    """

    kind = "learner"

    def __init__(self, rule: Rule, prior: ArrayLike | None = None) -> None:
        if not isinstance(rule, Rule):
            raise CobayesError(
                f"the rule is a {type(rule).__name__}; expected a rule.",
                "wrap the matrix: cobayes.SCBI(matrix) or cobayes.BI(matrix).",
            )
        self.rule = rule
        self._log_belief = rule.log_belief(prior, "prior")
        self._state: State = rule.task.start
        self._outcomes: tuple[tuple[State, float], ...] = ()
        # What the last response left for the next one, and the rule that gave it.
        self._memory: Array | None = None
        self._memory_of: Rule | None = None
        self._response: Response | None = None

    @property
    def task(self) -> Task:
        """The task of its rule; a `Model` where nothing changes from round to round."""
        return self.rule.task

    @property
    def state(self) -> State:
        """The state of the task as the agent knows it."""
        return self._state

    @property
    def belief(self) -> Array:
        """The current belief, shape (m,)."""
        return np.exp(self._log_belief)

    @property
    def log_belief(self) -> Array:
        """The logarithms of the belief, exact where the belief itself underflows."""
        return self._log_belief.copy()

    @property
    def likelihood(self) -> Array:
        """The rule's likelihood matrix at the current belief, shape (n, m)."""
        return self._respond().likelihood

    def distribution_over_data(self, hypothesis: int) -> Array:
        """Return the rule's distribution over the next datum under a hypothesis, (n,)."""
        return self._respond().column(hypothesis)

    def observe(self, datum: SupportsIndex | str) -> Array:
        """Update the belief with a datum, given by position or label, and return it."""
        row = self.rule.model.datum_index(datum)
        prior = None if self._outcomes else self.task.data_prior_at(self._state)
        if prior is not None and prior[row] == 0.0:
            raise ImpossibleDatumError(
                f"datum {self.rule.model.data[row]!r} is not available now, says the task of "
                f"this {self.kind}.",
                "an agent that does not know the constraint has a rule made from the matrix alone.",
            )
        response = self._respond()
        self._log_belief = self.rule.observe(self._log_belief, response, row)
        self._memory, self._memory_of = response.memory, self.rule.at(self._state)
        self.move_on(row)
        return self.belief

    def move_on(self, row: int) -> None:
        """Go to the state to which a datum leads, and leave the belief as it is."""
        self._response = None
        found = self.task.next_states(self._state, row)
        if len(found) == 1:
            self._state = found[0][0]
        else:
            self._outcomes = found

    @property
    def outcomes(self) -> tuple[tuple[State, float], ...]:
        """Where the last datum can have led, with probabilities, until `arrive` is called.

        Empty where that is certain.
        """
        return self._outcomes

    def arrive(self, state: State) -> None:
        """Say in which state of the task the agent is, where the last datum did not settle it.

        Parameters
        ----------
        state
            As the task writes it: a square of a `GridWorld`, for instance.
        """
        self._state, self._outcomes = self.task.read_state(state), ()
        self._response = None

    def follow(self, teacher: Learner) -> None:
        """Go to where the teacher is, as far as both see it or the last datum left it open."""
        seen = teacher.task.seen_part(teacher.state)
        if self._outcomes:
            states = [state for state, _ in self._outcomes if self.task.seen_part(state) == seen]
            if not states:
                raise CobayesError(
                    f"the teacher's task is now in the state {seen!r}, which is not one of the "
                    f"{len(self._outcomes)} outcomes in the task of this {self.kind}.",
                    "give both agents rules made from tasks with the same states.",
                )
            self.arrive(states[0])
        elif teacher.task.is_seen and self.task.is_seen:
            self.arrive(self.task.with_seen_part(self._state, seen))

    def _respond(self) -> Response:
        """Return the rule's response to the current belief, computed once."""
        if self._outcomes:
            raise CobayesError(
                f"the last datum has {len(self._outcomes)} possible outcomes.",
                "say where it led: agent.arrive(state).",
            )
        if self._response is None:
            prior = self.task.data_prior_at(self._state)
            if prior is not None and not prior.any():
                raise CobayesError(
                    f"no datum is left, says the task of this {self.kind}.",
                    "its belief is the last one: agent.belief.",
                )
            rule = self.rule.at(self._state)
            memory = self._memory if rule is self._memory_of else None
            self._response = rule.respond(self._log_belief, memory)
        return self._response

    @property
    def _kept_memory(self) -> Array | None:
        """What the next response will make use of."""
        prior = self.task.data_prior_at(self._state)
        is_over = prior is not None and not prior.any()
        if self._memory is None or is_over or self.rule.at(self._state) is not self._memory_of:
            return None
        return self._memory.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold: labels and belief; `save` keeps all of it.

        ``Learner(rule, prior=content["belief"])`` is a learner with the same belief.
        """
        return {
            "rule": self.rule.title,
            "hypotheses": list(self.rule.model.hypotheses),
            "belief": self.belief.tolist(),
        }

    def snapshot(self) -> dict[str, Any]:
        """Return the agent's state, from which `restore` makes the same agent again.

        The rule is referred to, not copied: it never changes.
        """
        return {
            "kind": self.kind,
            "rule": self.rule,
            "log_belief": self._log_belief.copy(),
            "state": self._state,
            "memory": self._kept_memory,
        }

    @classmethod
    def restore(cls, content: dict[str, Any]) -> Self:
        """Undo `snapshot`; the agent goes on exactly where it was."""
        with saving.explained(cls.kind):
            rule = saving.require(content["rule"], Rule, "rule")
            agent = cls._rebuild(rule, content)
            agent._log_belief = saving.log_beliefs(
                content["log_belief"], "log_belief", (rule.model.num_hypotheses,)
            ).copy()
            agent._state = rule.task.read_state(content.get("state"))
            memory = content["memory"]
            if memory is not None:
                memory = saving.require(memory, np.ndarray, "memory").astype(np.float64)
                agent._memory, agent._memory_of = memory, rule.at(agent._state)
        return agent

    @classmethod
    def _rebuild(cls, rule: Rule, content: dict[str, Any]) -> Self:  # noqa: ARG003
        return cls(rule)

    def save(self, path: str | Path) -> None:
        """Write the state to a file; `load` makes the same agent again.

        Parameters
        ----------
        path
            The file, of any name; `numpy.load` opens it too where it is called ``.npz``.
        """
        saving.write(path, self.kind, self.snapshot())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a state written by `save`."""
        return cls.restore(saving.read(path, cls.kind))

    def __repr__(self) -> str:
        best = int(np.argmax(self._log_belief))
        name = self.rule.model.hypotheses[best]
        return (
            f"{type(self).__name__}({self.rule.title}; most likely {name!r} "
            f"with {self.belief[best]:.4f})"
        )


class Teacher(Learner):
    """A teacher: it knows the true hypothesis and keeps an estimate of the learner's belief.

    Its ``belief`` is its estimate of the learner's; the two agree as long as matrices and
    priors do.

    Parameters
    ----------
    rule
        How it teaches: a rule made from the teacher's matrix or task.
    hypothesis
        The true hypothesis, by position or label.
    prior
        What it takes the learner's prior to be; uniform by default.
    rng
        Anything that `numpy.random.default_rng` takes.
    choice
        "draw": the next datum is drawn from the rule's distribution, as in the paper.
        "likeliest": it is the one with the highest probability, the first of several.

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
        rule: Rule,
        hypothesis: SupportsIndex | str,
        prior: ArrayLike | None = None,
        rng: Any = None,
        choice: Choice = "draw",
    ) -> None:
        super().__init__(rule, prior)
        if choice not in get_args(Choice):
            raise CobayesError(f"choice is {choice!r}; expected 'draw' or 'likeliest'.")
        self.hypothesis = rule.model.hypothesis_index(hypothesis)
        self.choice: Choice = choice
        require_teachable(rule.model, self._log_belief, self.hypothesis, "prior")
        self.rng = generator(rng)

    @property
    def distribution(self) -> Array:
        """The rule's distribution over the next datum, shape (n,)."""
        return self.distribution_over_data(self.hypothesis)

    def choose(self) -> int:
        """Choose the next datum, follow its effect on the learner, and return its position."""
        if not self._outcomes and self.task.is_exhausted(self._state, self.hypothesis):
            name = self.rule.model.hypotheses[self.hypothesis]
            raise CobayesError(
                f"no datum is left that {name!r} allows.",
                "stop when teacher.task.is_over(teacher.state, teacher.hypothesis).",
            )
        distribution = self.distribution
        if self.choice == "draw":
            datum = int(draw(distribution, self.rng.random()))
        else:
            datum = int(np.argmax(distribution))
        self.observe(datum)
        return datum

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold, as `Learner.to_dict`, and what it teaches."""
        return {
            **super().to_dict(),
            "hypothesis": self.rule.model.hypotheses[self.hypothesis],
        }

    def snapshot(self) -> dict[str, Any]:
        """Return the agent's state, the random generator's too; see `Learner.snapshot`."""
        return {
            **super().snapshot(),
            "hypothesis": self.hypothesis,
            "choice": self.choice,
            "rng": generators.pack(self.rng),
        }

    def __repr__(self) -> str:
        name = self.rule.model.hypotheses[self.hypothesis]
        return (
            f"{type(self).__name__}({self.rule.title}; teaches {name!r}; the learner's belief in "
            f"it {self.belief[self.hypothesis]:.4f})"
        )

    @classmethod
    def _rebuild(cls, rule: Rule, content: dict[str, Any]) -> Self:
        last = rule.model.num_hypotheses - 1
        hypothesis = saving.position(content["hypothesis"], "hypothesis", last)
        log_belief = saving.require(content["log_belief"], np.ndarray, "log_belief")
        if log_belief.shape == (last + 1,):
            require_teachable(rule.model, log_belief, hypothesis, "saved belief")
        return cls(
            rule,
            hypothesis,
            rng=generators.unpack(content["rng"]),
            choice=content.get("choice", "draw"),
        )


def restore(content: dict[str, Any]) -> Any:
    """Make the agent again, of whatever kind, that `Learner.snapshot` described."""
    kinds: list[type[Learner]] = [Learner]
    for kind in kinds:
        if kind.kind == content.get("kind"):
            return kind.restore(content)
        kinds.extend(kind.__subclasses__())
    raise CobayesError(f"there is no agent called {content.get('kind')!r}.")
