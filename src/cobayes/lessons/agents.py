"""The two agents: a teacher who knows the true hypothesis and a learner who does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._runtime.randomness import generator
from cobayes.errors import CobayesError
from cobayes.lessons import generators, saving
from cobayes.lessons.drawing import draw
from cobayes.rules import Rule
from cobayes.rules.base import Response, require_teachable

Array = NDArray[np.float64]


class Learner:
    """A learner: it holds a belief and updates it with every datum.

    Parameters
    ----------
    rule
        How it learns: `SCBI` or `BI` with the learner's matrix.
    prior
        Its belief before the first datum; uniform by default.
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
        self._memory: Array | None = None
        self._response: Response | None = None

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

    def observe(self, datum: int | str) -> Array:
        """Update the belief with a datum, given by position or label, and return it."""
        row = self.rule.model.datum_index(datum)
        response = self._respond()
        self._log_belief = self.rule.observe(self._log_belief, response, row)
        self._memory = response.memory
        self._response = None
        return self.belief

    def _respond(self) -> Response:
        """Return the rule's answer to the current belief, worked out once."""
        if self._response is None:
            self._response = self.rule.respond(self._log_belief, self._memory)
        return self._response

    def adopt(self, rule: Rule) -> None:
        """Go on with another rule over the same hypotheses; the belief is kept.

        Parameters
        ----------
        rule
            What the agent learns or teaches by from now on: the matrix of the next round where
            matrices change, as they do along a path through a world.
        """
        if rule.model.hypotheses != self.rule.model.hypotheses:
            raise CobayesError(
                f"the new rule is about {rule.model.hypotheses[:4]}, the agent's belief about "
                f"{self.rule.model.hypotheses[:4]}.",
                "give both rules the same hypotheses in the same order.",
            )
        if rule is not self.rule:
            self.rule = rule
            self._memory = self._response = None

    def snapshot(self) -> dict[str, Any]:
        """Return the agent's state, from which `restore` makes the same agent again.

        The rule is referred to, not copied: it never changes.
        """
        return {
            "rule": self.rule,
            "log_belief": self._log_belief.copy(),
            "memory": None if self._memory is None else self._memory.copy(),
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
            memory = content["memory"]
            if memory is not None:
                memory = saving.require(memory, np.ndarray, "memory").astype(np.float64)
            agent._memory = memory
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
            f"{type(self).__name__}({self.rule.name}; most likely {name!r} "
            f"with {self.belief[best]:.4f})"
        )


class Teacher(Learner):
    """A teacher: it knows the true hypothesis and follows the learner's belief in its mind.

    Its ``belief`` is its estimate of the learner's; the two agree as long as matrices and
    priors do.

    Parameters
    ----------
    rule
        How it teaches: `SCBI` or `BI` with the teacher's matrix.
    hypothesis
        The true hypothesis, by position or label.
    prior
        What it takes the learner's prior to be; uniform by default.
    rng
        Anything that `numpy.random.default_rng` takes.
    """

    kind = "teacher"

    def __init__(
        self,
        rule: Rule,
        hypothesis: int | str,
        prior: ArrayLike | None = None,
        rng: Any = None,
    ) -> None:
        super().__init__(rule, prior)
        self.hypothesis = rule.model.hypothesis_index(hypothesis)
        require_teachable(rule.model, self._log_belief, self.hypothesis, "prior")
        self._rng = generator(rng)

    @property
    def distribution(self) -> Array:
        """The distribution from which the next datum is drawn, shape (n,)."""
        return self._respond().column(self.hypothesis)

    def choose(self) -> int:
        """Draw the next datum, follow its effect on the learner, and return its position."""
        datum = int(draw(self.distribution, self._rng.random()))
        self.observe(datum)
        return datum

    def snapshot(self) -> dict[str, Any]:
        """Return the agent's state, the random generator's too; see `Learner.snapshot`."""
        return {
            **super().snapshot(),
            "hypothesis": self.hypothesis,
            "rng": generators.pack(self._rng),
        }

    @classmethod
    def _rebuild(cls, rule: Rule, content: dict[str, Any]) -> Self:
        last = rule.model.num_hypotheses - 1
        hypothesis = saving.position(content["hypothesis"], "hypothesis", last)
        log_belief = saving.require(content["log_belief"], np.ndarray, "log_belief")
        if log_belief.shape == (last + 1,):
            require_teachable(rule.model, log_belief, hypothesis, "saved belief")
        return cls(rule, hypothesis, rng=generators.unpack(content["rng"]))
