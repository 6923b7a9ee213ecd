"""The model of a person: beliefs of the learner in mind, and responses, with exact derivatives.

The *learner in mind* is the learner whom a teacher imagines or, if the person is a learner, the
person. A *situation* is a problem together with the data shown so far. Axes: situations (b), data
(n), hypotheses (m), responses (t), options of a response (k) and free parameters (p). A *jet* is an
array with a leading axis of length 1 + q: the value, then its derivatives with respect to the q
free parameters that change the learner in mind. If a logarithm is minus infinity, its derivatives
are zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cobayes._input.labels import aligned
from cobayes.errors import CobayesError
from cobayes.people.family import Family
from cobayes.people.problems import Array, History, Positions, Problem, Tables
from cobayes.people.tables import as_numbers
from cobayes.rules.response import add_evidence


def constant(value: Array, num_tangents: int = 0) -> Array:
    """Return the jet of an array that depends on no parameter."""
    jet = np.zeros((1 + num_tangents, *value.shape))
    jet[0] = value
    return jet


def normalise(logs: Array, axis: int) -> Array:
    """Normalise a jet of logarithms along an axis that is counted from the end (-1: the last).

    A slice that is minus infinity everywhere is not changed.
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
    """Return the jet (b, m) of log(prior ** temperature), normalised; a zero prior stays zero."""
    prior = np.zeros((len(problems), num_hypotheses))
    for row, problem in zip(prior, problems, strict=True):
        row[: len(problem.prior)] = problem.prior
    logs = np.log(np.where(prior > 0.0, prior, 1.0))
    found = temperature[..., None] * logs
    found[0, prior == 0.0] = -np.inf
    return normalise(found, axis=-1)


def think(
    family: Family, depth: float, tables: Tables, index: Positions, belief: Array, exponent: Array
) -> tuple[Array, Array]:
    """Return the posteriors of the learner in mind after each datum, by two rules.

    Both results are jets of log L(h | d), (b, n, m). The first rule has the learner's own depth.
    The second has depth `Family.followed_depth`; it updates the belief from round to round.

    Parameters
    ----------
    family, depth
        The person's family and depth.
    tables, index
        The tables, and the position of each situation's table, (b,).
    belief
        A jet (b, m) of logarithms: the learner's belief before the datum.
    exponent
        A jet (b,): the exponent of the teachers inside a recursion of finite depth.
    """
    own, other = family.learner_depth(depth), family.followed_depth(depth)
    found = {
        used: _cooperative(tables, index, belief)
        if math.isinf(used)
        else _recursive(tables, index, belief, int(used), exponent, family.literal)
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
        # A datum that no hypothesis with a positive belief allows has no posterior.
        log_posterior[rows, :n, :m] = np.where(np.isnan(after), -np.inf, after)
    if len(belief) == 1:
        return log_posterior[None]
    return _differentiate_scaling(log_posterior, log_likelihood, belief)


def _differentiate_scaling(log_posterior: Array, log_likelihood: Array, belief: Array) -> Array:
    """Return the jet of log L at infinite depth, by the implicit function theorem.

    Let L be the posteriors, T the likelihoods, theta the belief and v the column factors. Columns
    of the scaled matrix that are positive in a common row belong to the same block. For the
    columns of a block, let lambda be the block's total belief divided by its total data prior.
    The column sums of the scaled matrix are theta, and its row sums are lambda times the data
    prior. Differentiated, these conditions are (1 - T'L) d log v = d log theta - d log lambda: one
    linear system of m unknowns per situation. If two blocks have the same lambda, the limit may
    have only one-sided derivatives; the derivative with fixed blocks is returned.

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
    # Beliefs divided by their block's total, which may itself be below the range of float64.
    in_block = np.where(connected, belief[0, :, None, :], -np.inf)
    share = np.exp(normalise(in_block[None], axis=-1)[0])
    # The derivative of log lambda is the mean of the block's d log theta, weighted by `share`.
    right = belief[1:] - np.einsum("bjk,qbk->qbj", share, belief[1:])
    # 1 - T'L leaves a block's mean of d log v undetermined; adding `share` sets the mean to zero.
    system = np.eye(num_hypotheses) - mixing + share
    change = np.linalg.solve(system[None], right[..., None])[..., 0]
    change = np.where(believed, change, 0.0)
    found = constant(log_posterior, len(change))
    found[1:] = change[:, :, None, :] - np.einsum("bij,qbj->qbi", posterior, change)[..., None]
    found[1:, np.isneginf(log_posterior)] = 0.0
    return found


def after_datum(followed: Array, belief: Array, places: Positions, datum: Positions) -> Array:
    """Return the jet of beliefs after one more datum; an impossible datum changes no belief.

    Parameters
    ----------
    followed, belief
        Jets: the posteriors (b, n, m) by the rule that updates the belief (`Family.other`), and the
        belief before the datum (b, m).
    places, datum
        For each new belief: the position (axis b) of the old belief, and the datum shown after it.
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
        A jet (t, k); zero if the utility is minus infinity.
    log_base : ndarray
        (t, k): logarithms of the softmax weights without utilities and features; minus infinity for
        options that are not available, and for those that are chosen only in a lapse.
    even : ndarray
        (t, k): probability of each option in a lapse; zero if the option is not available.
    """

    utility: Array
    log_base: Array
    even: Array

    def take(self, rows: Positions) -> Scores:
        """Return the options of some responses."""
        return Scores(*(own.swapaxes(-1, -2).take(rows, axis=-1).swapaxes(-1, -2) for own in self))


def score_options(
    family: Family,
    depth: float,
    tables: Tables,
    index: Positions,
    about: Positions,
    posterior: Array,
    places: Positions,
) -> Scores:
    """Return the options of some responses, with their utilities for the person.

    Parameters
    ----------
    family, depth
        The person's family and depth.
    tables, index
        The tables, and the position of each response's table, (t,).
    about
        (t,): the truth for teachers, the datum for learners.
    posterior
        A jet (b, n, m): the log-posteriors of the learner in mind.
    places
        (t,): the position of every response's situation on the axis b.
    """
    if family.is_teacher:
        log_base = tables.log_data_prior[index]
        available = np.isfinite(log_base)
        utility = posterior.transpose(0, 1, 3, 2)[:, places, about]
        if depth == 0:
            # The literal teacher knows which data are available, but ignores their prior
            # probabilities.
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
    # If the learner in mind has excluded the truth, all data that are possible under the truth have
    # equal utility. Without such data, all available data have equal utility. Learners guess
    # uniformly after a datum that is impossible under every hypothesis with a positive belief.
    excluded = ~possible.any(axis=1)
    possible[excluded] = allowed[excluded]
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
            given = aligned(given, problem.model.data, "datum", f"feature {name!r}")
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
        The person's family.
    scores, features
        The options of every response with their utilities, and the features of all options,
        (features, t, k).
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
    derivative = np.zeros((len(free), *probability.T.shape)).swapaxes(1, 2)
    inner = [name for name in free if name in family.inner]
    slopes = weighted | {family.exponent: scores.utility[0]}
    slopes |= {name: exponent * scores.utility[k] for k, name in enumerate(inner, 1)}
    for place, name in enumerate(free):
        if name == "lapse":
            np.subtract(scores.even, choice, out=derivative[place])
        elif name in slopes:  # not `noise`, which is outside of the softmax
            slope = slopes[name]
            np.subtract(slope, (choice * slope).sum(axis=1, keepdims=True), out=derivative[place])
            derivative[place] *= attentive
    return probability, derivative


def draw_many(probability: Array, uniform: Array) -> Positions:
    """Draw one option of positive probability from every row."""
    sums = np.cumsum(probability, axis=1)
    drawn = (sums <= (uniform * sums[:, -1])[:, None]).sum(axis=1)
    last = probability.shape[1] - 1 - np.argmax(probability[:, ::-1] > 0.0, axis=1)
    return np.minimum(drawn, last)
