"""The model of a person, and the likelihood of responses with exact derivatives.

Axes: situations (b), data (n), hypotheses (m), responses (t) with their options (k), units (u:
people, or everybody together) and free parameters (p). A *jet* is an array with a leading axis
(1 + q, ...): the value, then its derivatives along the q free parameters that change the learner
whom a person has in mind. Where a logarithm is minus infinity, its derivatives are zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from cobayes.errors import CobayesError
from cobayes.people.choices import Choices, as_numbers
from cobayes.people.family import STATIC, Family
from cobayes.people.problems import History, Positions, Problem, Tables
from cobayes.rules.response import add_evidence

Array = NDArray[np.float64]

# Smaller probabilities are replaced by this in derivatives, whose squares must not overflow.
SMALLEST_PROBABILITY = 1e-100


def constant(value: Array, num_tangents: int = 0) -> Array:
    """Return the jet of an array that depends on no parameter."""
    jet = np.zeros((1 + num_tangents, *value.shape))
    jet[0] = value
    return jet


def normalise(logs: Array, axis: int) -> Array:
    """Return a jet of logarithms normalised along a negative axis.

    Slices that are all minus infinity stay so.
    """
    peak = logs[0].max(axis=axis, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    weights = np.exp(logs[0] - peak)
    total = weights.sum(axis=axis, keepdims=True)
    total = np.where(total > 0.0, total, 1.0)
    found = np.empty_like(logs)
    found[0] = logs[0] - (peak + np.log(total))
    if len(logs) > 1:
        weights /= total
        found[1:] = logs[1:] - (weights * logs[1:]).sum(axis=axis, keepdims=True)
        found[1:, np.isneginf(found[0])] = 0.0
    return found


def first_beliefs(problems: Sequence[Problem], temperature: Array, num_hypotheses: int) -> Array:
    """Return learners' first beliefs, log prior * temperature, normalised: a jet (b, m)."""
    prior = np.zeros((len(problems), num_hypotheses))
    for row, problem in zip(prior, problems, strict=True):
        row[: len(problem.prior)] = problem.prior
    logs = np.log(np.where(prior > 0.0, prior, 1.0))
    found = temperature[..., None] * logs
    found[0, prior == 0.0] = -np.inf
    return normalise(found, axis=-1)


def think(
    family: Family,
    depth: float,
    tables: Tables,
    index: Positions,
    belief: Array,
    rationality: Array,
) -> tuple[Array, Array]:
    """Return the posteriors of the learner in mind and of the learner that is followed.

    Jets of log L(h | d), (b, n, m) each.

    Parameters
    ----------
    family, depth
        The person's.
    tables, index
        The table of every situation.
    belief
        A jet (b, m) of logarithms: the learner's before the datum.
    rationality
        A jet (b,): exponent of the teachers inside a recursion of finite depth.
    """
    own, other = family.learner_depth(depth), family.followed_depth(depth)
    found = {
        used: _cooperative(tables, index, belief)
        if math.isinf(used)
        else _recursive(tables, index, belief, int(used), rationality, family.literal)
        for used in {own, other}
    }
    return found[own], found[other]


def _recursive(
    tables: Tables, index: Positions, belief: Array, depth: int, rationality: Array, literal: str
) -> Array:
    """Return log L_depth(h | d), a jet (b, n, m)."""
    literal_logs = tables.log_likelihood if literal == "likelihood" else tables.log_matrix
    prior = belief[:, :, None, :]
    posterior = normalise(constant(literal_logs[index], len(belief) - 1) + prior, axis=-1)
    alpha, log_data_prior = rationality[..., None, None], tables.log_data_prior[index][:, :, None]
    for _ in range(depth):
        # T(d | h) is proportional to p(d) L(h | d) ** rationality.
        possible = np.isfinite(posterior[0])
        finite = np.where(possible, posterior[0], 0.0)
        teacher = alpha[0] * posterior[1:] + alpha[1:] * finite
        value = np.where(possible, alpha[0] * finite, -np.inf) + log_data_prior
        teacher = normalise(np.concatenate([value[None], teacher]), axis=-2)
        posterior = normalise(teacher + prior, axis=-1)
    return posterior


def _cooperative(tables: Tables, index: Positions, belief: Array) -> Array:
    """Return log L_infinity(h | d), a jet (b, n, m): the posteriors of SCBI."""
    shape = (len(index), *tables.log_matrix.shape[1:])
    log_posterior, log_likelihood = np.full((2, *shape), -np.inf)
    for table in np.unique(index):
        rule, rows = tables.rules[table], np.flatnonzero(index == table)
        n, m = rule.model.shape
        logs = belief[0, rows, :m]
        found = rule.respond_many(logs)
        log_likelihood[rows, :n, :m] = found
        after = add_evidence(logs[:, None, :], found)
        # A datum that no believed hypothesis allows has no posterior.
        log_posterior[rows, :n, :m] = np.where(np.isnan(after), -np.inf, after)
    if len(belief) == 1:
        return log_posterior[None]
    return _differentiate_scaling(log_posterior, log_likelihood, belief)


def _differentiate_scaling(log_posterior: Array, log_likelihood: Array, belief: Array) -> Array:
    """Return the jet of log L at infinite depth, by the implicit function theorem.

    With L the posteriors, T the likelihood and b the logarithms of the column factors, the sums of
    the scaled matrix stay what they must be if (1 - T'L) db = d log theta - d log lambda, where
    lambda is the ratio of the block that a column belongs to. One linear system of m unknowns per
    situation. Where blocks meet (ties) the limit has one-sided derivatives only; this is the one
    within the present blocks.

    Parameters
    ----------
    log_posterior, log_likelihood
        (b, n, m): the learner and the teacher of `cobayes.SCBI` at the belief.
    belief
        A jet (b, m) of logarithms.
    """
    believed = np.isfinite(belief[0])
    posterior = np.exp(log_posterior)
    likelihood = np.where(believed[:, None, :], np.exp(log_likelihood), 0.0)
    num_hypotheses = believed.shape[1]
    mixing = np.einsum("bij,bik->bjk", likelihood, posterior)
    connected = (mixing > 0.0) | np.eye(num_hypotheses, dtype=bool)
    for _ in range(num_hypotheses.bit_length()):
        connected = np.einsum("bij,bjk->bik", connected, connected, dtype=np.int64) > 0
    # Beliefs relative to their block's total, which may itself be below the range of float64.
    in_block = np.where(connected, belief[0, :, None, :], -np.inf)
    share = np.exp(normalise(in_block[None], axis=-1)[0])
    # The derivative of a block's log ratio is the weighted mean of those of its beliefs.
    right = belief[1:] - np.einsum("bjk,qbk->qbj", share, belief[1:])
    system = np.eye(num_hypotheses) - mixing + share
    change = np.linalg.solve(system[None], right[..., None])[..., 0]
    change = np.where(believed, change, 0.0)
    found = constant(log_posterior, len(change))
    found[1:] = change[:, :, None, :] - np.einsum("bij,qbj->qbi", posterior, change)[..., None]
    found[1:, np.isneginf(log_posterior)] = 0.0
    return found


def after_datum(followed: Array, belief: Array, places: Positions, datum: Positions) -> Array:
    """Return beliefs after one more datum, a jet; an impossible datum changes nothing.

    Parameters
    ----------
    followed, belief
        Jets: the posteriors (b, n, m) of the learner that is followed, its belief before (b, m).
    places, datum
        Whose belief, and the datum.
    """
    found = followed[:, places, datum]
    kept = ~np.isfinite(found[0]).any(axis=1)
    found[:, kept] = belief[:, places[kept]]
    return found


class Scores(NamedTuple):
    """The options of t responses, with the terms of the softmax.

    Attributes
    ----------
    utility : ndarray
        A jet (t, k); zero where the utility is minus infinity.
    log_base : ndarray
        (t, k): log weights before utilities; minus infinity for options that only a lapse chooses.
    even : ndarray
        (t, k): probabilities of a lapse; zero where an option is not available.
    """

    utility: Array
    log_base: Array
    even: Array

    def take(self, rows: Positions) -> Scores:
        """Return some rows."""
        return Scores(self.utility[:, rows], self.log_base[rows], self.even[rows])


def score_options(
    family: Family,
    depth: float,
    tables: Tables,
    index: Positions,
    about: Positions,
    posterior: Array,
    places: Positions,
) -> Scores:
    """Return the options of some responses and the person's utilities of them.

    Parameters
    ----------
    family, depth
        The person's.
    tables, index
        The table of every response.
    about
        (t,): the truth for teachers, the datum for learners.
    posterior
        A jet (b, n, m): of the learner in mind.
    places
        (t,): the situation, among b, of every response.
    """
    if family.is_teacher:
        log_base = tables.log_data_prior[index]
        available = np.isfinite(log_base)
        utility = posterior.transpose(0, 1, 3, 2)[:, places, about]
        if depth == 0:
            # The literal teacher knows which data are available, not how likely they are.
            log_base = np.where(available, 0.0, -np.inf)
            utility = constant(tables.log_likelihood[index, :, about], len(posterior) - 1)
        allowed = np.isfinite(tables.log_matrix[index, :, about]) & available
        allowed = np.where(allowed.any(axis=1, keepdims=True), allowed, available)
    else:
        available = np.arange(posterior.shape[-1]) < tables.num_hypotheses[index][:, None]
        log_base = np.where(available, 0.0, -np.inf)
        utility, allowed = posterior[:, places, about], available
    possible = np.isfinite(utility[0]) & available
    utility[:, ~possible] = 0.0
    # Where the learner in mind has ruled the truth out, all data that the truth allows are equal.
    hopeless = ~possible.any(axis=1)
    possible[hopeless] = allowed[hopeless]
    even = available / available.sum(axis=1, keepdims=True)
    return Scores(utility, np.where(possible, log_base, -np.inf), even)


def feature_values(
    family: Family, situations: Sequence[tuple[Problem, History]], num_options: int
) -> Array:
    """Return the features of all options in some situations, (features, b, k)."""
    features = family.features or {}
    found = np.zeros((len(features), len(situations), num_options))
    for own, (name, feature) in zip(found, features.items(), strict=True):
        for row, (problem, history) in zip(own, situations, strict=True):
            given: Any = feature.get(problem.name) if isinstance(feature, Mapping) else feature
            given = given(problem.model, history) if callable(given) else given
            values = as_numbers(np.ravel(given))
            if values.shape != (problem.model.num_data,) or not np.isfinite(values).all():
                raise CobayesError(
                    f"the feature {name!r} gives {given!r} for problem {problem.name!r}; expected "
                    f"{problem.model.num_data} finite numbers, one for each datum."
                )
            row[: len(values)] = values
    return found


def choose(
    family: Family,
    scores: Scores,
    features: Array,
    at: Mapping[str, Array],
    free: Sequence[str] = (),
) -> tuple[Array, Array]:
    """Return the probabilities of all options (t, k), and their derivatives (p, t, k).

    Parameters
    ----------
    family
        The person's.
    scores, features
        Utilities and options, and (features, t, k).
    at
        All parameters by name, (t,) each.
    free
        Names of the parameters to differentiate by.
    """
    exponent, lapse = at[family.exponent][:, None], at["lapse"][:, None]
    weighted = dict(zip(family.features or {}, features, strict=True))
    choice = exponent * scores.utility[0] + scores.log_base
    for name, values in weighted.items():
        choice += at[name][:, None] * values
    choice -= choice.max(axis=1, keepdims=True)
    np.exp(choice, out=choice)
    choice /= choice.sum(axis=1, keepdims=True)
    attentive = (1.0 - lapse) * choice
    probability = attentive + lapse * scores.even
    derivative = np.zeros((len(free), *probability.shape))
    inner = [name for name in free if name in family.inner]
    for place, name in enumerate(free):
        if name == "lapse":
            np.subtract(scores.even, choice, out=derivative[place])
            continue
        if name == family.exponent:
            slope = scores.utility[0]
        elif name in weighted:
            slope = weighted[name]
        elif name in inner:
            slope = exponent * scores.utility[1 + inner.index(name)]
        else:
            continue  # the noise of ratings is outside of the softmax
        np.subtract(slope, (choice * slope).sum(axis=1, keepdims=True), out=derivative[place])
        derivative[place] *= attentive
    return probability, derivative


def draw_many(probability: Array, uniform: Array) -> Positions:
    """Return one option of every row; one with probability zero is never drawn."""
    sums = np.cumsum(probability, axis=1)
    drawn = (sums <= (uniform * sums[:, -1])[:, None]).sum(axis=1)
    last = probability.shape[1] - 1 - np.argmax(probability[:, ::-1] > 0.0, axis=1)
    return np.minimum(drawn, last)


class Evaluation(NamedTuple):
    """Log-likelihood (u,), gradient (u, p) and expected information (u, p, p) of units or rows."""

    value: Array
    gradient: Array
    information: Array


class Likelihood:
    """The likelihood of one depth for all units.

    Parameters are arrays (units, free parameters) in the order of `names`. Beliefs in a situation
    are computed once, unless a free parameter changes them: then each unit has its own.

    Parameters
    ----------
    choices, family, depth
        The responses, the family of models, and one of its depths.
    groups
        The rows of every unit.
    scores, features
    Options and features of these rows, if already computed.

    Attributes
    ----------
    names : tuple of str
        The free parameters.
    columns : list of int
        Their positions among all parameters of the family.
    low, high : ndarray
        Their bounds.
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
        sizes, self.num_units = [len(rows) for rows in groups], len(groups)
        self.rows, self.units = np.concatenate(groups), np.repeat(np.arange(len(groups)), sizes)
        self._starts = np.cumsum([0, *sizes[:-1]])
        answers = {"choice": choices.datum, "guess": choices.guess, "rating": choices.hypothesis}
        self.answer = answers[family.response][self.rows]
        known = choices.situations
        if features is None:
            own = list(zip(known.problems, known.histories, strict=True))
            features = feature_values(family, own, known.tables.log_matrix.shape[1])
            features = features[:, known.at[self.rows]]
        self.features = features
        self._scores = scores
        if scores is None and not self._inner:
            self._scores = self.scores(self.low[None])

    def take(self, units: Positions) -> Likelihood:
        """Return the likelihood of some units; one may occur several times."""
        return self._part([self._places[unit] for unit in units])

    def pooled(self, units: Positions) -> Likelihood:
        """Return the likelihood of the rows of some units as one unit."""
        return self._part([np.concatenate([self._places[unit] for unit in units])])

    @cached_property
    def _places(self) -> list[Positions]:
        """Positions of the rows of every unit."""
        return np.split(np.arange(len(self.rows)), self._starts[1:])

    def _part(self, places: Sequence[Positions]) -> Likelihood:
        kept = np.concatenate(places)
        scores = None if self._scores is None else self._scores.take(kept)
        groups = [self.rows[own] for own in places]
        return Likelihood(
            self.choices, self.family, self.depth, groups, scores, self.features[:, kept]
        )

    @cached_property
    def _situations(self) -> _Owned:
        """The situations of the rows, and all that lead to them."""
        known = self.choices.situations
        # A pair (owner, situation) is coded as one integer. All units share one owner if possible.
        owner, count = self.units if self._inner else np.zeros_like(self.units), len(known.parent)
        keys = owner * count + known.at[self.rows]
        found, size = np.unique(keys), 0
        while len(found) > size:  # until all parents are included
            size = len(found)
            owner, node = np.divmod(found, count)
            found = np.union1d(found, owner * count + known.parent[node])
        owner, node = np.divmod(found, count)
        parent = np.searchsorted(found, owner * count + known.parent[node])
        level = np.array([len(known.histories[place]) for place in node])
        place = np.searchsorted(found, keys)
        levels = [
            (np.flatnonzero(level == number), np.flatnonzero(level[place] == number))
            for number in range(level.max() + 1)
        ]
        return _Owned(owner, node, parent, place, levels)

    def to_line(self, values: Array) -> Array:
        """Return parameters on the whole line: logits of their places between the bounds.

        A parameter at a bound is taken to lie a fiftieth of the range inside.
        """
        places = (values - self.low) / (self.high - self.low)
        return special.logit(np.clip(places, 0.02, 0.98))

    def from_line(self, points: Array) -> Array:
        """Return parameters from points on the whole line."""
        return self.low + (self.high - self.low) * special.expit(points)

    def on_line(self, points: Array) -> Evaluation:
        """Return the sums over the rows of every unit at points on the whole line."""
        value, gradient, information = self.evaluate(self.from_line(points))
        slope = (self.high - self.low) * special.expit(points) * special.expit(-points)
        information = information * slope[:, :, None] * slope[:, None, :]
        return Evaluation(value, gradient * slope, information)

    def parameters(self, values: Array) -> dict[str, Array]:
        """Return all parameters by name, (u,) each, from the free ones (u, p)."""
        # Equal bounds are the value of a fixed parameter.
        fixed = np.tile(self.family.low[:, None], len(values))
        found = dict(zip(self.family.names, fixed, strict=True))
        return found | dict(zip(self.names, values.T, strict=True))

    def _walk(self, values: Array) -> Iterator[tuple[Positions, Positions, Array, Array, Array]]:
        """Follow the learner in mind from level to level, in all situations of the rows.

        Yields
        ------
        rows, places : ndarray
            Positions of the rows of this level, and of their situations in the arrays.
        belief, posterior, followed : ndarray
            Jets: before the datum (b, m), and after every datum (b, n, m) by the learner in mind
            and by the learner that is followed.
        """
        known, own = self.choices.situations, self._situations
        at, inner = self.parameters(values), []
        for name in self.family.inner:
            jet = constant(at[name][own.owner], len(self._inner))
            if name in self._inner:
                jet[1 + self._inner.index(name)] = 1.0
            inner.append(jet)
        rationality, temperature = inner
        places = np.zeros(len(own.node), dtype=np.int64)
        belief = followed = None
        for members, rows in own.levels:
            nodes = own.node[members]
            if belief is None or followed is None or self.family.other == STATIC:
                problems = [known.problems[node] for node in nodes]
                width = known.tables.log_matrix.shape[2]
                belief = first_beliefs(problems, temperature[:, members], width)
            else:
                datum = np.array([known.histories[node][-1] for node in nodes])
                belief = after_datum(followed, belief, places[own.parent[members]], datum)
            places[members] = np.arange(len(members))
            index = known.tables.index[nodes]
            posterior, followed = think(
                self.family, self.depth, known.tables, index, belief, rationality[:, members]
            )
            yield rows, places[own.place[rows]], belief, posterior, followed

    def scores(self, values: Array) -> Scores:
        """Return the options of all rows."""
        if self._scores is not None:
            return self._scores
        choices, tables = self.choices, self.choices.situations.tables
        about = choices.hypothesis if self.family.is_teacher else choices.datum
        shape = (len(self.rows), tables.log_matrix.shape[1 if self.family.is_teacher else 2])
        found = Scores(np.empty((1 + len(self._inner), *shape)), np.empty(shape), np.empty(shape))
        for rows, places, _, posterior, _ in self._walk(values):
            chosen = self.rows[rows]
            index = tables.index[choices.situations.at[chosen]]
            part = score_options(
                self.family, self.depth, tables, index, about[chosen], posterior, places
            )
            found.utility[:, rows], found.log_base[rows], found.even[rows] = part
        return found

    def beliefs(self, values: Array) -> tuple[Array, Array]:
        """Return log-beliefs before and after the datum of every row, (t, m) each.

        The belief is the person's own (learners), or that of the learner whom a teacher follows.
        """
        shape = (len(self.rows), self.choices.situations.tables.log_matrix.shape[2])
        before, after = np.empty((2, *shape))
        for rows, places, belief, _, followed in self._walk(values):
            before[rows] = belief[0, places]
            datum = self.choices.datum[self.rows[rows]]
            after[rows] = after_datum(followed, belief, places, datum)[0]
        return before, after

    def responses(self, values: Array, *, with_derivatives: bool = True) -> tuple[Array, Array]:
        """Return the probabilities of all options (t, k), and their derivatives (p, t, k)."""
        at = {name: own[self.units] for name, own in self.parameters(values).items()}
        free = self.names if with_derivatives else ()
        return choose(self.family, self.scores(values), self.features, at, free)

    def by_row(self, values: Array, *, with_derivatives: bool = True) -> Evaluation:
        """Return log-likelihood, gradient and information of every row."""
        probability, derivative = self.responses(values, with_derivatives=with_derivatives)
        every = np.arange(len(self.rows))
        chosen, slope = probability[every, self.answer], derivative[:, every, self.answer].T
        if self.family.response == "rating":
            noise = self.parameters(values)["noise"][self.units]
            free = self.names if with_derivatives else ()
            place = free.index("noise") if "noise" in free else None
            return _rated(self.choices.rating[self.rows], chosen, slope, noise, place)
        with np.errstate(divide="ignore"):
            value = np.log(chosen)
        gradient = slope / np.maximum(chosen, SMALLEST_PROBABILITY)[:, None]
        relative = derivative / np.maximum(probability, SMALLEST_PROBABILITY)
        information = np.empty((len(every), len(derivative), len(derivative)))
        for p in range(len(derivative)):
            for q in range(p + 1):
                # Pair by pair is several times faster than one product with three free indices.
                information[:, p, q] = np.einsum("tk,tk->t", relative[p], derivative[q])
                information[:, q, p] = information[:, p, q]
        return Evaluation(value, gradient, information)

    def evaluate(self, values: Array) -> Evaluation:
        """Return the sums over the rows of every unit."""
        rows = self.by_row(values)
        return Evaluation(*(np.add.reduceat(part, self._starts, axis=0) for part in rows))

    def log_likelihoods(self, values: Array) -> Array:
        """Return log-likelihoods of every unit at many parameters: (..., u, p) gives (..., u)."""
        if values.ndim > 2:
            return np.array([self.log_likelihoods(own) for own in values])
        return np.add.reduceat(self.by_row(values, with_derivatives=False).value, self._starts)


class _Owned(NamedTuple):
    """Situations (s) of some rows (t); each owner has a learner in mind of its own.

    Attributes
    ----------
    owner, node, parent : ndarray
        (s,): whose it is, its position among the situations of the choices, its parent among s.
    place : ndarray
        (t,): the situation of every row.
    levels : list
        Positions of situations and of rows, by the number of data shown before.
    """

    owner: Positions
    node: Positions
    parent: Positions
    place: Positions
    levels: list[tuple[Positions, Positions]]


def _rated(
    rating: Array, believed: Array, slope: Array, noise: Array, noise_at: int | None
) -> Evaluation:
    """Return the rows of ratings: the belief plus a normal error, cut at 0 and at 1.

    Parameters
    ----------
    rating
        (t,), between 0 and 1.
    believed, slope
        (t,) and (t, p): the rating without an error, and its derivatives.
    noise
        (t,): standard deviation.
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
