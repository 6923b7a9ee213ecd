"""The likelihood of responses, with exact derivatives.

Axes: responses (t), options of a response (k), units (u: people, or one unit for all people) and
free parameters (p). `cobayes.people.model` explains other axes, jets and the learner in mind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from cobayes.people import model
from cobayes.people.choices import Choices
from cobayes.people.family import STATIC, Family
from cobayes.people.model import Scores
from cobayes.people.problems import Array, Positions

# Derivatives of logarithms divide by probabilities, but by at least this number, so that squares of
# the derivatives do not overflow.
SMALLEST_PROBABILITY = 1e-100


class Evaluation(NamedTuple):
    """Log-likelihood (u,), gradient (u, p) and expected information (u, p, p) of units or rows.

    The information of ratings is approximate; see `_rated`.
    """

    value: Array
    gradient: Array
    information: Array


class Likelihood:
    """The likelihood of the responses of all units at one depth.

    Parameters are arrays (units, free parameters) in the order of `names`. A situation is a problem
    with the data shown so far. The beliefs in it are computed once for all units, or once per unit
    if a free parameter changes them.

    Parameters
    ----------
    choices, family, depth
        The responses, the family of models, and one of its depths.
    groups
        The rows of every unit.
    scores, features
        Options and features of the rows in `groups`, if already computed.

    Attributes
    ----------
    names : tuple of str
        The free parameters.
    columns : list of int
        The positions of the free parameters among all parameters of the family.
    low, high : ndarray
        The bounds of the free parameters.
    rows, units : ndarray
        (t,): rows of the choices, and the unit of each: 0, 0, ..., 1, 1, ...
    num_units : int
        The number of units.
    answer : ndarray
        (t,): the option that was chosen; the rated hypothesis for ratings.
    """

    def __init__(
        self,
        choices: Choices,
        family: Family,
        depth: float,
        groups: Sequence[Positions],
        scores: Scores | None = None,
        features: Array | None = None,
    ) -> None:
        self.choices, self.family, self.depth = choices, family, depth
        self.names = family.free_names(depth)
        self.columns = [family.names.index(name) for name in self.names]
        self.low, self.high = family.low[self.columns], family.high[self.columns]
        self._inner = [name for name in self.names if name in family.inner]
        sizes, self.num_units = np.array([len(rows) for rows in groups]), len(groups)
        self.rows, self.units = np.concatenate(groups), np.repeat(np.arange(len(groups)), sizes)
        self._starts, self._ends = np.cumsum(sizes) - sizes, np.cumsum(sizes)
        self.answer = (choices.datum if family.is_teacher else choices.hypothesis)[self.rows]
        known = choices.situations
        self._at = known.at[self.rows]
        if features is None:
            own = list(zip(known.problems, known.histories, strict=True))
            features = model.feature_values(family, own, known.tables.log_matrix.shape[1])
            features = features[:, self._at]
        self.features = features
        self._scores = scores
        if scores is None and not self._inner:
            self._scores = self.scores(self.low[None])

    def take(self, units: Positions, *, is_pooled: bool = False) -> Likelihood:
        """Return the likelihood of some units, or of all their rows as one unit.

        `units` may contain a unit several times.
        """
        places = [np.arange(int(self._starts[unit]), int(self._ends[unit])) for unit in units]
        kept = np.concatenate(places)
        scores = None if self._scores is None else self._scores.take(kept)
        groups = [self.rows[own] for own in ([kept] if is_pooled else places)]
        return Likelihood(
            self.choices, self.family, self.depth, groups, scores, self.features[:, kept]
        )

    def from_line(self, points: Array) -> Array:
        """Return parameters (..., p) from their logits, logit((value - low) / (high - low))."""
        return self.low + (self.high - self.low) * special.expit(points)

    def on_line(self, points: Array, units: Positions | None = None) -> Evaluation:
        """Evaluate at points on the logit scale; derivatives are with respect to the logits."""
        value, gradient, information = self.evaluate(self.from_line(points), units)
        slope = (self.high - self.low) * special.expit(points) * special.expit(-points)
        information = information * slope[:, :, None] * slope[:, None, :]
        return Evaluation(value, gradient * slope, information)

    def parameters(self, values: Array) -> dict[str, Array]:
        """Return all parameters by name, (u,) each, from the free parameters (u, p)."""
        # Both bounds of a fixed parameter are its value. A parameter without effect gets its lower
        # bound.
        fixed = np.tile(self.family.low[:, None], len(values))
        found = dict(zip(self.family.names, fixed, strict=True))
        return found | dict(zip(self.names, values.T, strict=True))

    def _walk(self, values: Array) -> Iterator[tuple[Positions, Positions, Array, Array, Array]]:
        """Compute the beliefs of the learner in mind in all situations, level by level.

        The level of a situation is the number of data shown before.

        Yields
        ------
        rows, places : ndarray
            Positions of the rows of this level, and for each row the position of its situation on
            the axis b of the next three arrays.
        belief, posterior, followed : ndarray
            Jets of log-beliefs: `belief` before the datum, (b, m); `posterior` and `followed` after
            each datum, by the two rules of `model.think`, (b, n, m).
        """
        known, at = self.choices.situations, self.parameters(values)
        # A pair (owner, situation) is coded as one integer. If a free parameter changes the learner
        # in mind, every unit owns its beliefs; otherwise all units share those of owner 0.
        owner, count = self.units if self._inner else np.zeros_like(self.units), len(known.parent)
        keys, level = owner * count + self._at, known.level[self._at]

        def parents(keys: Positions) -> Positions:
            return keys - keys % count + known.parent[keys % count]

        levels = [np.unique(keys[level == number]) for number in range(level.max() + 1)]
        for number in range(len(levels) - 1, 0, -1):
            levels[number - 1] = np.union1d(levels[number - 1], parents(levels[number]))
        inner = [model.constant(at[name], len(self._inner)) for name in self.family.inner]
        for place, name in enumerate(self._inner, 1):
            inner[self.family.inner.index(name)][place] = 1.0
        belief = followed = np.empty(0)
        for number, own in enumerate(levels):
            owner, nodes = np.divmod(own, count)
            exponent, temperature = (jet[:, owner] for jet in inner)
            if number == 0 or self.family.other == STATIC:
                problems = [known.problems[node] for node in nodes]
                width = known.tables.log_matrix.shape[2]
                belief = model.first_beliefs(problems, temperature, width)
            else:
                datum = np.array([known.histories[node][-1] for node in nodes])
                places = np.searchsorted(levels[number - 1], parents(own))
                belief = model.after_datum(followed, belief, places, datum)
            index = known.tables.index[nodes]
            posterior, followed = model.think(
                self.family, self.depth, known.tables, index, belief, exponent
            )
            rows = np.flatnonzero(level == number)
            yield rows, np.searchsorted(own, keys[rows]), belief, posterior, followed

    def scores(self, values: Array) -> Scores:
        """Return the options of all rows, with the terms of the softmax."""
        if self._scores is not None:
            return self._scores
        choices, tables = self.choices, self.choices.situations.tables
        about = choices.hypothesis if self.family.is_teacher else choices.datum
        shape = (tables.log_matrix.shape[1 if self.family.is_teacher else 2], len(self.rows))
        # In memory, responses are the last axis, which makes sums over the few options faster.
        utility, *others = np.empty((1 + len(self._inner), *shape)), *np.empty((2, *shape))
        found = Scores(utility.swapaxes(1, 2), *(own.T for own in others))
        for rows, places, _, posterior, _ in self._walk(values):
            chosen = self.rows[rows]
            index = tables.index[self._at[rows]]
            part = model.score_options(
                self.family, self.depth, tables, index, about[chosen], posterior, places
            )
            found.utility[:, rows], found.log_base[rows], found.even[rows] = part
        return found

    def beliefs(self, values: Array) -> tuple[Array, Array]:
        """Return log-beliefs before and after the datum of every row, (t, m) each.

        The belief is the person's own (learners), or that of the learner in mind (teachers).
        """
        shape = (len(self.rows), self.choices.situations.tables.log_matrix.shape[2])
        before, after = np.empty((2, *shape))
        for rows, places, belief, _, followed in self._walk(values):
            before[rows] = belief[0, places]
            datum = self.choices.datum[self.rows[rows]]
            after[rows] = model.after_datum(followed, belief, places, datum)[0]
        return before, after

    def responses(self, values: Array, free: Sequence[str] = ()) -> tuple[Array, Array]:
        """Return the probabilities of all options (t, k), and their derivatives (p, t, k).

        The derivatives are with respect to the parameters `free`.
        """
        at = {name: own[self.units] for name, own in self.parameters(values).items()}
        return model.choose(self.family, self.scores(values), self.features, at, free)

    def by_row(self, values: Array, free: Sequence[str] = ()) -> Evaluation:
        """Return every row's log-likelihood, with gradient and information for `free`."""
        probability, derivative = self.responses(values, free)
        every = np.arange(len(self.rows))
        chosen, slope = probability[every, self.answer], derivative[:, every, self.answer].T
        if self.family.response == "rating":
            noise = self.parameters(values)["noise"][self.units]
            place = free.index("noise") if "noise" in free else None
            return _rated(self.choices.response[self.rows], chosen, slope, noise, place)
        with np.errstate(divide="ignore"):
            value = np.log(chosen)
        gradient = slope / np.maximum(chosen, SMALLEST_PROBABILITY)[:, None]
        relative = derivative / np.maximum(probability, SMALLEST_PROBABILITY)
        information = np.empty((len(every), len(derivative), len(derivative)))
        for p in range(len(derivative)):
            for q in range(p + 1):
                # A loop over pairs of parameters is several times faster than one einsum for all.
                information[:, p, q] = np.einsum("tk,tk->t", relative[p], derivative[q])
                information[:, q, p] = information[:, p, q]
        return Evaluation(value, gradient, information)

    def evaluate(self, values: Array, units: Positions | None = None) -> Evaluation:
        """Return log-likelihood, gradient and information of every unit, or of some units."""
        own = self if units is None else self.take(units)
        rows = own.by_row(values, self.names)
        return Evaluation(*(np.add.reduceat(part, own._starts, axis=0) for part in rows))

    def log_likelihoods(self, values: Array) -> Array:
        """Return every unit's log-likelihood at many points: (..., u, p) gives (..., u)."""
        if values.ndim > 2:
            return np.array([self.log_likelihoods(own) for own in values])
        return np.add.reduceat(self.by_row(values).value, self._starts)


def _rated(
    rating: Array, believed: Array, slope: Array, noise: Array, noise_at: int | None
) -> Evaluation:
    """Return the log-likelihood of each rating, with its gradient and information.

    A rating is the person's probability of guessing the rated hypothesis plus a normal error,
    censored at 0 and at 1. The information is that of an uncensored rating; the true
    information is smaller.

    Parameters
    ----------
    rating
        (t,), between 0 and 1.
    believed, slope
        (t,) and (t, p): the rating without an error, and its derivatives.
    noise
        (t,): standard deviation of the error.
    noise_at
        Position of the noise among the free parameters; None if it is fixed.
    """
    z = (rating - believed) / noise
    is_cut, side = (rating <= 0.0) | (rating >= 1.0), np.where(rating <= 0.0, 1.0, -1.0)
    log_density, log_tail = -0.5 * z**2 - 0.5 * np.log(2.0 * np.pi), special.log_ndtr(side * z)
    value = np.where(is_cut, log_tail, log_density - np.log(noise))
    by_z = np.where(is_cut, side * np.exp(log_density - log_tail), -z)
    gradient = -(by_z / noise)[:, None] * slope
    information = np.einsum("tp,tq->tpq", slope, slope) / (noise**2)[:, None, None]
    if noise_at is not None:
        gradient[:, noise_at] = -(by_z * z + ~is_cut) / noise
        information[:, noise_at, noise_at] = 2.0 / noise**2
    return Evaluation(value, gradient, information)
