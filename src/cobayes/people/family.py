"""Families of models of people: which depths, and which parameters are free within which bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cobayes.errors import CobayesError
from cobayes.rules.pragmatic import DEEPEST

Bounds = float | tuple[float, float]
RESPONSES = ("choice", "guess", "rating")
STATIC = "static"

# Parameters that change the learner in mind, so that utilities must be computed again.
INNER = ("inner_rationality", "prior_temperature")


@dataclass(frozen=True)
class Parameter:
    """One number of the model of a person, between two bounds; equal bounds fix it."""

    name: str
    low: float
    high: float

    @property
    def is_free(self) -> bool:
        """Whether there is anything to estimate."""
        return self.low < self.high


@dataclass(frozen=True)
class Family:
    """A family of models of human teachers or learners.

    A teacher of depth K shows datum d with probability
    ``(1 - lapse) softmax(rationality * u(d) + sum of weight * feature(d)) + lapse / n``, where
    ``u(d) = log L_{K-1}(h | d)`` is what the learner in mind would believe in the truth h
    (``log T_0(d | h)`` for K = 0). A learner of depth K guesses h with probability
    ``(1 - lapse) softmax(rationality * log L_K(h | d)) + lapse / m``.

    A parameter is a number (fixed) or a pair of bounds (free). A fixed parameter costs nothing in
    a comparison.

    Parameters
    ----------
    depth
        One depth or several to choose from; ``numpy.inf`` is full cooperation (SCBI).
    rationality
        Weight of the utility in the response; 1 is the teacher of `cobayes.Teacher`.
    lapse
        Probability of a response at random.
    features
        By name: an array over data, a mapping from problem to such an array, or a function
        ``feature(model, history)`` that returns one number per datum; ``history`` holds the
        positions of the data shown so far.
    weights
        Bounds of the features' weights: one pair for all, or a mapping from name to bounds.
    inner_rationality
        Rationality inside a recursion of finite depth; matters from depth 2 (teachers) or 1
        (learners) on. At infinite depth it is 1.
    prior_temperature
        The learner in mind starts from ``prior ** prior_temperature``, normalised.
    noise
        Standard deviation of a belief rating; used by ``response="rating"`` only.
    other
        Depth of the learner whose belief a teacher follows over rounds. None: the learner in
        mind, K - 1 (the literal one for K = 0). "static": the belief stays at the prior.
    literal
        "likelihood" or "truth", as in `cobayes.Pragmatic`.
    response
        "choice" (teachers), "guess" or "rating" (learners).

    Examples
    --------
    >>> import numpy as np
    >>> from cobayes.people import Family
    >>> Family(depth=(0, 1, np.inf), rationality=(0.0, 20.0), lapse=0.02).free_names(1)
    ('rationality',)
    """

    depth: Any = (0, 1, 2, math.inf)
    rationality: Any = (0.0, 20.0)
    lapse: Any = (0.0, 0.5)
    features: Mapping[str, Any] | None = None
    weights: Any = (-10.0, 10.0)
    inner_rationality: Any = 1.0
    prior_temperature: Any = 1.0
    noise: Any = (0.01, 1.0)
    other: float | Literal["static"] | None = None
    literal: str = "likelihood"
    response: str = "choice"
    parameters: tuple[Parameter, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", as_depths(self.depth))
        object.__setattr__(self, "features", dict(self.features or {}))
        if self.response not in RESPONSES:
            raise CobayesError(
                f"response is {self.response!r}; expected 'choice', 'guess' or 'rating'."
            )
        if self.literal not in ("likelihood", "truth"):
            raise CobayesError(
                f"literal is {self.literal!r}; expected 'likelihood' or 'truth'.",
                "'truth' reads a 0/1 table as it is, the literal listener of rational speech acts.",
            )
        if self.other is not None and self.other != STATIC:
            object.__setattr__(self, "other", as_depths(self.other)[0])
        object.__setattr__(self, "parameters", self._parameters())
        inner = self.parameter("inner_rationality")
        is_one = inner.low <= 1.0 <= inner.high
        if math.inf in self.depth and not (is_one or self.uses_inner_rationality(math.inf)):
            raise CobayesError(
                "infinite depth exists for an inner rationality of 1 only: for others the "
                "recursion may have several limits.",
                "use finite depths, or leave inner_rationality at 1.",
            )

    def _parameters(self) -> tuple[Parameter, ...]:
        found = [
            _bounded("rationality", self.rationality, 0.0, math.inf),
            _bounded("lapse", self.lapse, 0.0, 1.0),
        ]
        features = self.features or {}
        if features and self.response != "choice":
            raise CobayesError(
                "features describe data, so they need response='choice'.",
                "drop the features of a family of learners.",
            )
        taken = {"rationality", "lapse", *INNER, "noise", "depth"}
        for name in features:
            if name in taken:
                raise CobayesError(f"a feature cannot be called {name!r}: it is a parameter.")
            own = self.weights
            if isinstance(own, Mapping):
                if name not in own:
                    raise CobayesError(f"the feature {name!r} has no bounds in weights.")
                own = own[name]
            found.append(_bounded(name, own, -math.inf, math.inf))
        found.append(_bounded("inner_rationality", self.inner_rationality, 0.0, math.inf))
        found.append(_bounded("prior_temperature", self.prior_temperature, 0.0, math.inf))
        if self.response == "rating":
            found.append(_bounded("noise", self.noise, 0.0, math.inf))
        return tuple(found)

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by its name."""
        return next(parameter for parameter in self.parameters if parameter.name == name)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all parameters, fixed ones too."""
        return tuple(parameter.name for parameter in self.parameters)

    def free_names(self, depth: float) -> tuple[str, ...]:
        """Names of the parameters that are estimated at one depth."""
        return tuple(
            parameter.name
            for parameter in self.parameters
            if parameter.is_free
            and (parameter.name != "inner_rationality" or self.uses_inner_rationality(depth))
        )

    def uses_inner_rationality(self, depth: float) -> bool:
        """Whether some learner, in mind or followed, has a recursion of finite depth."""
        return any(
            1 <= used < math.inf for used in (self.learner_depth(depth), self.followed_depth(depth))
        )

    def learner_depth(self, depth: float) -> float:
        """Depth of the learner that a person of this depth computes with."""
        return depth if self.response != "choice" else max(depth - 1, 0)

    def followed_depth(self, depth: float) -> float:
        """Depth of the learner whose belief is followed over rounds."""
        if self.response != "choice" or not isinstance(self.other, (int, float)):
            return self.learner_depth(depth)
        return float(self.other)

    def at(self, **changes: Any) -> Family:
        """Return the same family with some settings changed, such as ``at(depth=1)``."""
        from dataclasses import replace

        return replace(self, **changes)


def as_depths(depth: Any) -> tuple[float, ...]:
    """Return depths as a sorted tuple of numbers, or say what is wrong with them."""
    given = list(depth) if isinstance(depth, Iterable) and not isinstance(depth, str) else [depth]
    found = []
    for value in given:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not (number >= 0 and (math.isinf(number) or number == int(number))):
            raise CobayesError(
                f"the depth {value!r} is neither an integer >= 0 nor infinity.",
                "0 is literal, 1 rational speech acts, numpy.inf full cooperation.",
            )
        if DEEPEST < number < math.inf:
            raise CobayesError(
                f"the depth {number:g} is too deep: every level is worked out, {DEEPEST:,} at most."
            )
        found.append(number if math.isinf(number) else int(number))
    if not found:
        raise CobayesError("no depth was given.", "depth=(0, 1, 2, numpy.inf) compares four.")
    return tuple(sorted(set(found)))


def _bounded(name: str, value: Any, low: float, high: float) -> Parameter:
    """Return a parameter whose bounds lie within what makes sense for it."""
    pair = tuple(value) if isinstance(value, Iterable) else (value, value)
    try:
        first, last = (float(end) for end in pair)
    except (TypeError, ValueError):
        first = last = math.nan
    if not (low <= first <= last <= high and math.isfinite(first) and math.isfinite(last)):
        raise CobayesError(
            f"{name} is {value!r}; expected a number, or a pair of finite bounds, from {low:g} "
            f"to {high:g}.",
            f"write {name}=1.0 to fix it, or {name}=(0.0, 1.0) to estimate it.",
        )
    return Parameter(name, first, last)
