"""Teaching a class, or one learner whose prior is not known."""

from __future__ import annotations

from typing import Any, Literal, Self, SupportsIndex, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import Distribution, find
from cobayes._input.tables import as_floats
from cobayes._input.validation import number_between, one_of
from cobayes._output import counted, probability_text
from cobayes.errors import CobayesError
from cobayes.lessons import saving
from cobayes.lessons.agents import Learner, Teacher
from cobayes.rules import Rule
from cobayes.rules.base import require_teachable
from cobayes.rules.naming import RuleLike
from cobayes.rules.response import add_evidence
from cobayes.tasks.task import no_datum

Array = NDArray[np.float64]

Aim = Literal["mean", "worst", "number"]
"""A class teacher maximises the mean belief, the lowest one, or the weight of the sure learners."""

_OPTIONS = ("aim", "level", "sharpness", "lapse")


class ClassTeacher(Teacher):
    """A teacher of several learners, or of one learner whose prior is unknown.

    It models one learner for each prior. The weight of a prior is the share of the class that has
    it, or the probability that the learner has it. In every round the teacher shows the datum after
    which the value of `aim` is highest; its choice is not random. A learner's answer to "which
    hypothesis do you think is true?" changes the weights; see `hear`. If moves may slip (see
    `GridWorld`), give `run_lesson` an `rng`; otherwise every new `ClassTeacher` has the same slips.

    Parameters
    ----------
    rule
        The learners' rule; a matrix, a model or a task means `SCBI` on it.
    hypothesis
        The true hypothesis, by position or label.
    priors
        The learners' priors, (k, m).
    weights
        Weights of the priors, (k,); equal by default.
    aim
        "mean": the weighted mean belief in the truth. "worst": the lowest log-odds of the truth.
        "number": the total weight of the learners whose belief is at least `level`, plus 0.001
        times the mean belief, which breaks ties.
    level
        For "number": a learner is sure when its belief in the truth is at least this.
    sharpness, lapse
        The model of a learner's answer. In a lapse (probability `lapse`) every hypothesis is
        equally likely; otherwise the probabilities are proportional to ``belief ** sharpness``.

    Examples
    --------
    Two learners with different priors, taught together:

    >>> import cobayes as cb
    >>> rule = cb.SCBI([[0.6, 0.2, 0.2], [0.3, 0.5, 0.3], [0.1, 0.3, 0.5]])
    >>> teacher = cb.lessons.ClassTeacher(rule, 0, [[0.4, 0.3, 0.3], [0.1, 0.1, 0.8]], aim="worst")
    >>> data = [teacher.choose() for _ in range(8)]
    >>> bool((teacher.beliefs[:, 0] > 0.95).all())
    True
    """

    kind = "class teacher"

    def __init__(
        self,
        rule: RuleLike,
        hypothesis: SupportsIndex | str,
        priors: list[Distribution] | ArrayLike,
        weights: ArrayLike | None = None,
        *,
        aim: Aim = "mean",
        level: float = 0.95,
        sharpness: float = 1.0,
        lapse: float = 0.05,
    ) -> None:
        given = list(priors) if isinstance(priors, list | tuple) else list(np.atleast_2d(priors))
        if not given:
            raise CobayesError("no priors were given; expected one for each learner.")
        super().__init__(rule, hypothesis, given[0], rng=0)
        one_of(aim, "aim", get_args(Aim))
        self.learners = tuple(Learner(self.rule, prior) for prior in given)
        for learner in self.learners:
            require_teachable(self.rule.model, learner.log_belief, self.hypothesis, "prior")
        self.weights = _read_weights(weights, len(self.learners))
        self.aim: Aim = aim
        self.level = number_between(level, "level", 0.0, 1.0)
        self.sharpness = number_between(sharpness, "sharpness", 0.0, np.inf, closed="low")
        self.lapse = number_between(lapse, "lapse", 0.0, 1.0, closed="both")
        self._average()

    @property
    def beliefs(self) -> Array:
        """The estimated beliefs of the learners, (k, m)."""
        return np.array([learner.belief for learner in self.learners])

    def _average(self) -> Array:
        """Set the teacher's belief to the weighted mean of the learners' beliefs, and return it."""
        self._response = None
        logs = np.array([learner.log_belief for learner in self.learners])
        with np.errstate(divide="ignore"):
            self.log_belief = np.logaddexp.reduce(logs + np.log(self.weights)[:, None], axis=0)
        return np.exp(self.log_belief)

    @property
    def scores(self) -> Array:
        """What the teacher maximises: the value of the aim after each datum, (n,).

        Minus infinity for data that are not available, or that rule out the truth for a learner
        with a positive weight.
        """
        after = np.array([self._belief_after(learner) for learner in self.learners])
        counted = self.weights > 0.0
        is_open = (after[counted].min(axis=0) > -np.inf) & self.task.available_at(self.state)
        scores = mean = self.weights @ np.exp(after)
        if self.aim == "worst":
            with np.errstate(divide="ignore"):
                scores = (after - np.log(-np.expm1(after)))[counted].min(axis=0)
        elif self.aim == "number":
            scores = self.weights @ (np.exp(after) >= self.level) + 1e-3 * mean
        return np.where(is_open, scores, -np.inf)

    def _belief_after(self, learner: Learner) -> Array:
        """Return a learner's log-belief in the truth after each datum, (n,)."""
        logs = learner._respond().log_likelihood
        with np.errstate(invalid="ignore"):
            after = add_evidence(learner.log_belief, logs)[:, self.hypothesis]
        return np.where(np.isnan(after), -np.inf, np.minimum(after, 0.0))

    def choose(self) -> int:
        """Choose the datum with the highest score, and update the beliefs of all learners."""
        scores = self.scores
        datum = int(np.argmax(scores))
        if scores[datum] == -np.inf:
            raise no_datum(self.rule.model, self.hypothesis, scores > -np.inf)
        self.observe(datum)
        return datum

    def observe(self, datum: SupportsIndex | str) -> Array:
        """Update the beliefs of all learners with a datum; return the mean belief."""
        for learner in self.learners:
            learner.observe(datum)
        self.state = self.learners[0].state
        self.outcomes = self.learners[0].outcomes
        return self._average()

    def arrive(self, state: Any) -> None:
        """Set the state of the task for the teacher and all learners; see `Learner.arrive`."""
        for agent in self.learners:
            agent.arrive(state)
        super().arrive(state)

    def hear(self, answer: int | str) -> Array:
        """Update the weights with the hypothesis that a learner named, and return them.

        By Bayes' formula, each weight is multiplied by the probability of the answer, given the
        learner's belief, `sharpness` and `lapse`; then the weights are normalised.
        """
        named = find(answer, self.rule.model.hypotheses, "hypothesis")
        logs = np.array([self.sharpness * learner.log_belief for learner in self.learners])
        # 0 * -inf is NaN. At sharpness 0 all answers are equally likely.
        logs[np.isnan(logs)] = 0.0
        chosen = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))[:, named]
        weights = self.weights * ((1.0 - self.lapse) * chosen + self.lapse / logs.shape[1])
        if not weights.sum() > 0.0:
            raise CobayesError(
                f"the answer {self.rule.model.hypotheses[named]!r} has probability zero for every "
                "learner.",
                "allow for lapses: ClassTeacher(..., lapse=0.05).",
            )
        self.weights = weights / weights.sum()
        self._average()
        return self.weights.copy()

    def snapshot(self) -> dict[str, Any]:
        """Return the values that describe the agent; see `Learner.snapshot`."""
        return {
            **super().snapshot(),
            "learners": [learner.snapshot() for learner in self.learners],
            "weights": self.weights,
            **{name: getattr(self, name) for name in _OPTIONS},
        }

    @classmethod
    def _rebuild(cls, rule: Rule, content: dict[str, Any]) -> Self:
        learners = tuple(Learner.restore(one) for one in content["learners"])
        options = {name: content[name] for name in _OPTIONS}
        uniform: list[Any] = [None] * len(learners)
        agent = cls(rule, content["hypothesis"], uniform, content["weights"], **options)
        agent.learners, agent.rng = learners, saving.unpack_generator(content["rng"])
        return agent

    def __repr__(self) -> str:
        truth = self.rule.model.hypotheses[self.hypothesis]
        return (
            f"ClassTeacher({self.rule.title}; {counted(len(self.learners), 'prior')}; teaches "
            f"{truth!r}; aim {self.aim!r}; mean belief in it "
            f"{probability_text(self.belief[self.hypothesis], 4)})"
        )


def _read_weights(weights: ArrayLike | None, count: int) -> Array:
    found = as_floats(np.ones(count) if weights is None else weights, copy=False, name="weights")
    if found.shape != (count,) or not (found >= 0.0).all() or not 0.0 < found.sum() < np.inf:
        raise CobayesError(
            f"the weights are {weights!r}; expected {count} numbers >= 0 with a positive sum, one "
            "for each prior."
        )
    return found / found.sum()
