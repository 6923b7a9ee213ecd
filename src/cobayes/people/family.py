"""Families of models of people: depths of recursion, and parameters with their bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from cobayes._input.validation import instance, one_of
from cobayes.errors import CobayesError
from cobayes.people.problems import Array
from cobayes.people.tables import as_numbers
from cobayes.rules.native import DEEPEST

_LEARNER = ("rationality", "sharpness", "lapse", "prior_temperature")
PARAMETERS = {
    "choice": ("rationality", "lapse", "inner_rationality", "prior_temperature"),
    "guess": _LEARNER,
    "rating": (*_LEARNER, "noise"),
}
"""Names of the parameters by kind of response; weights of features come after them."""
RESPONSES = tuple(PARAMETERS)

USUAL = {
    "rationality": (1.0, 6.0),
    "sharpness": (0.5, 3.0),
    "lapse": (0.0, 0.2),
    "inner_rationality": (0.5, 3.0),
    "prior_temperature": (0.5, 2.0),
    "noise": (0.05, 0.3),
}
"""Usual ranges of people's parameters; weights of features are between -2 and 2."""

# Limits of parameters. Parameters without an entry go from 0 to MOST, weights of features from
# -MOST to MOST. With the rationality MOST the best response is practically certain; far larger
# values would overflow. The smallest noise is far below the precision of a rating.
MOST = 1e9
_LIMITS = {"lapse": (0.0, 1.0), "noise": (1e-6, MOST)}
STATIC = "static"


@dataclass(frozen=True)
class Family:
    """A family of models of human teachers or learners.

    A teacher of depth K shows datum d with probability
    ``(1 - lapse) softmax(rationality * u(d) + sum of weight * feature(d)) + lapse / n``. Here
    ``u(d) = log L_{K-1}(h | d)``, where h is the truth and L_{K-1} is the posterior of the learner
    whom the teacher imagines (the "learner in mind"). For K = 0, ``u(d) = log T_0(d | h)``, where
    T_0 is the matrix with normalised columns. If K > 0 and the task has a data prior p,
    ``log p(d)`` is added in the softmax. A learner of depth K guesses h with
    probability ``(1 - lapse) softmax(sharpness * log L_K(h | d)) + lapse / m``; its rating of h is
    this probability plus a normal error, censored at 0 and 1. n is the number of available data, m
    the number of hypotheses.

    A parameter is a number (fixed) or a pair of bounds (free). Fixed parameters are not counted in
    AIC and BIC.

    Parameters
    ----------
    depth
        Depths of recursion to compare; ``inf`` is full cooperation (SCBI).
    rationality
        For a teacher: the factor of the utility u(d) of a datum. For a learner of depth 1 or more:
        the exponent of the teachers in the learner's recursion; at infinite depth this exponent
        is 1.
    lapse
        Probability of a response that is drawn uniformly.
    features
        A mapping from the name of each feature to its numbers: an array or a Series with one number
        per datum, a mapping from problem to such numbers, or a function ``feature(model, history)``
        that returns them; ``history`` has the positions of the data shown so far.
    weights
        Weights of the features: a number or bounds for all features, or a mapping from feature to
        number or bounds.
    inner_rationality
        For a teacher: the exponent of the teachers in the recursion of the learner in mind, and in
        that of the rule of depth `other`. A recursion of depth 0 has no teachers; at infinite depth
        the exponent is 1.
    prior_temperature
        Exponent of the prior: the first belief of a learner (of the learner in mind, for a teacher)
        is the prior to this power, normalised.
    sharpness
        Exponent of the learner's belief when it guesses or rates. With sharpness 1 and lapse 0, a
        rating is the belief itself plus the error, censored.
    noise
        Standard deviation of the error of a rating.
    other
        For a teacher of depth K: the depth of the rule that updates the belief of the learner in
        mind after each datum; K - 1 by default (0 for K = 0). With "static", every round starts
        from the prior. For learners, only "static" has an effect.
    literal
        The literal learner's table: "likelihood" (columns are normalised) or "truth" (not
        normalised), as in `cobayes.Pragmatic`.
    response
        The kind of response: "choice" (teachers choose data), "guess" (learners guess a hypothesis)
        or "rating" (learners rate hypotheses).

    Attributes
    ----------
    bounds : dict
        The bounds of each parameter by name; equal bounds fix a parameter.

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
    sharpness: Any = 1.0
    noise: Any = (0.01, 1.0)
    other: float | Literal["static"] | None = None
    literal: str = "likelihood"
    response: str = "choice"
    bounds: dict[str, tuple[float, float]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", as_depths(self.depth))
        given, expected = self.features, "a mapping from names to tables or functions"
        features = {} if given is None else instance(given, Mapping, "features", expected)
        object.__setattr__(self, "features", dict(features))
        one_of(self.response, "response", RESPONSES)
        hint = "'truth' uses the table without normalisation, as in rational speech acts."
        one_of(self.literal, "literal", ("likelihood", "truth"), hint)
        if self.other is not None and self.other != STATIC:
            object.__setattr__(self, "other", as_depths(self.other)[0])
        for name, is_used, hint in (
            ("sharpness", not self.is_teacher, "teachers have rationality instead."),
            ("inner_rationality", self.is_teacher, "learners have rationality instead."),
            ("noise", self.response == "rating", "only ratings have an error."),
            ("features", self.is_teacher, "features describe data, which learners do not choose."),
            ("weights", bool(features), "give the features to which the weights belong."),
        ):
            # If no features were given, `features` is {} here, not its default None.
            value, default = getattr(self, name), getattr(Family, name)
            is_mapping = isinstance(value, Mapping)
            is_set = bool(value) if is_mapping else not np.array_equal(value, default)
            if is_set and not is_used:
                raise CobayesError(f"the setting {name!r} has no effect in this family.", hint)
        names = PARAMETERS[self.response]
        limits = dict.fromkeys(names, (0.0, MOST)) | _LIMITS
        found = {name: _bounded(name, getattr(self, name), *limits[name]) for name in names}
        all_alike = dict.fromkeys(features, self.weights)
        weights = self.weights if isinstance(self.weights, Mapping) else all_alike
        for name in weights.keys() ^ features.keys():
            hint = "give each feature one entry in weights: a number or bounds."
            raise CobayesError(f"{name!r} is in only one of features and weights.", hint)
        for name in features:
            if name in self.__dataclass_fields__ and name != "features":
                message = f"a feature cannot be called {name!r}: Family has a setting of this name."
                raise CobayesError(message, "rename the feature.")
            found[name] = _bounded(name, weights[name], -MOST, MOST, is_weight=True)
        object.__setattr__(self, "bounds", found)
        low, high = found[self.recursion]
        if math.inf in self.depth and not (low <= 1.0 <= high or self.has_recursion(math.inf)):
            raise CobayesError(
                f"infinite depth needs {self.recursion} 1: with other exponents the recursion may "
                "have several limits.",
                f"use finite depths, or leave {self.recursion} at 1"
                + ("." if self.is_teacher else "; the exponent of a response is sharpness."),
            )

    @property
    def is_teacher(self) -> bool:
        """Whether the people are teachers, who choose data."""
        return self.response == "choice"

    @property
    def exponent(self) -> str:
        """The name of the parameter that multiplies the utilities in the softmax."""
        return "rationality" if self.is_teacher else "sharpness"

    @property
    def recursion(self) -> str:
        """The name of the parameter that is the exponent of the imagined teachers."""
        return "inner_rationality" if self.is_teacher else "rationality"

    @property
    def inner(self) -> tuple[str, str]:
        """The names of the parameters that change the learner in mind."""
        return self.recursion, "prior_temperature"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all parameters, fixed and free."""
        return tuple(self.bounds)

    @cached_property
    def low(self) -> Array:
        """Lower bounds, in the order of `names`; for a fixed parameter, its value."""
        return np.array([low for low, _ in self.bounds.values()])

    @cached_property
    def high(self) -> Array:
        """Upper bounds, in the order of `names`."""
        return np.array([high for _, high in self.bounds.values()])

    def free_names(self, depth: float | None = None) -> tuple[str, ...]:
        """Names of the parameters that are free at this depth; for None, at one or more depths."""
        depths = self.depth if depth is None else (depth,)
        has_recursion = any(map(self.has_recursion, depths))
        return tuple(
            name
            for name, (low, high) in self.bounds.items()
            if low < high and (has_recursion or name != self.recursion)
        )

    @cached_property
    def columns(self) -> list[int]:
        """Positions in `names` of the parameters that are free at some depth."""
        return [self.names.index(name) for name in self.free_names()]

    def from_line(self, points: Array) -> Array:
        """Return the values (..., p) of the parameters in `columns`, from their logits.

        A value between the bounds low and high has the logit logit((value - low) / (high - low)).
        """
        low, high = self.low[self.columns], self.high[self.columns]
        return low + (high - low) * expit(points)

    def usual(self, name: str) -> tuple[float, float]:
        """Return the range of a parameter in `USUAL`, clipped to the family's bounds."""
        low, high = np.clip(USUAL.get(name, (-2.0, 2.0)), *self.bounds[name])
        return float(low), float(high)

    def has_recursion(self, depth: float) -> bool:
        """Whether a recursion of finite depth >= 1 is computed for a person of this depth.

        It is the recursion of the learner in mind, or of the rule that updates this learner's
        belief.
        """
        depths = self.learner_depth(depth), self.followed_depth(depth)
        return any(1 <= used < math.inf for used in depths)

    def learner_depth(self, depth: float) -> float:
        """Depth of the learner that a person of this depth has in mind."""
        return max(depth - 1, 0) if self.is_teacher else depth

    def followed_depth(self, depth: float) -> float:
        """Depth of the rule that updates the belief of the learner in mind."""
        if not self.is_teacher or not isinstance(self.other, (int, float)):
            return self.learner_depth(depth)
        return float(self.other)

    def at(self, **changes: Any) -> Family:
        """Return the same family with some settings changed, such as ``at(depth=1)``."""
        return replace(self, **changes)


def as_depths(depth: Any) -> tuple[float, ...]:
    """Return depths as a sorted tuple of numbers, or raise an error."""
    given = list(depth) if isinstance(depth, Iterable) and not isinstance(depth, str) else [depth]
    found = []
    for value, number in zip(given, as_numbers(given).tolist(), strict=True):
        if not (number >= 0 and (math.isinf(number) or number.is_integer())):
            raise CobayesError(
                f"the depth {value!r} is neither an integer >= 0 nor infinity.",
                "0 is literal, numpy.inf is full cooperation; 1 with literal='truth' is rational "
                "speech acts.",
            )
        if DEEPEST < number < math.inf:
            raise CobayesError(f"the depth is {number:g}; the largest finite depth is {DEEPEST:,}.")
        found.append(number if math.isinf(number) else int(number))
    if not found:
        raise CobayesError("no depth was given.", "depth=(0, 1, 2, numpy.inf) compares four.")
    return tuple(sorted(set(found)))


def _bounded(
    name: str, value: Any, low: float, high: float, *, is_weight: bool = False
) -> tuple[float, float]:
    """Return the bounds of a parameter or weight; they must lie between `low` and `high`."""
    ends = as_numbers(value if isinstance(value, Iterable) else (value, value)).tolist()
    if len(ends) != 2 or not low <= ends[0] <= ends[1] <= high:
        start, end = (f"weights={{{name!r}: ", "}") if is_weight else (f"{name}=", "")
        raise CobayesError(
            f"{'the weight of ' * is_weight}{name} is {value!r}; expected a number, or a pair of "
            f"finite bounds, from {low:g} to {high:g}.",
            # The values in this hint are within the limits of every parameter.
            "0.05 means 5 %."
            if name == "lapse" and any(value > 1.0 for value in ends)
            else f"write {start}1.0{end} to fix it, or {start}(0.1, 1.0){end} to estimate it.",
        )
    return ends[0], ends[1]


def as_family(family: Family | None) -> Family:
    """Return the family, or the default one for None."""
    expected = "a people.Family, such as people.Family(depth=(0, 1))"
    return Family() if family is None else instance(family, Family, "family", expected)
