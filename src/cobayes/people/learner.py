"""The learner that a person has in mind, with exact derivatives.

Arrays have a leading axis of situations: ``log_belief`` (b, m), ``log_posterior`` (b, n, m).
Derivatives stand in front of it: (q, b, ...), one for each parameter that changes this learner.
Tables of several sizes are padded with zeros to one shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes.people.family import Family
from cobayes.people.problems import Problem, Table

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


class Smooth(NamedTuple):
    """An array together with its derivatives along q directions, (q, *shape)."""

    value: Array
    tangents: Array

    def take(self, places: Any) -> Smooth:
        """Return some places along the first axis of the value."""
        return Smooth(self.value[places], self.tangents[:, places])


def constant(value: Array, num_tangents: int = 0) -> Smooth:
    """Return an array that depends on no parameter."""
    return Smooth(value, np.zeros((num_tangents, *value.shape)))


class Tables:
    """The distinct tables of some situations, in logarithms, padded to one shape.

    Parameters
    ----------
    problems, states
        Problem and state of every situation.

    Attributes
    ----------
    index : ndarray
        The table of every situation.
    tables : list of Table
        The distinct tables.
    log_matrix, log_likelihood : ndarray
        (tables, n, m): the matrices, and the literal teacher T_0; minus infinity at zeros.
    log_data_prior : ndarray
        (tables, n); minus infinity where a datum is not available.
    """

    def __init__(self, problems: Sequence[Problem], states: Sequence[Any]) -> None:
        known: dict[int, int] = {}
        self.tables: list[Table] = []
        self.index = np.empty(len(problems), dtype=np.int64)
        for place, (problem, state) in enumerate(zip(problems, states, strict=True)):
            table = problem.table(state)
            if id(table) not in known:
                known[id(table)] = len(self.tables)
                self.tables.append(table)
            self.index[place] = known[id(table)]
        self.num_data, self.num_hypotheses = (
            max(table.matrix.shape[axis] for table in self.tables) for axis in (0, 1)
        )
        shape = (len(self.tables), self.num_data, self.num_hypotheses)
        matrices, priors = np.zeros(shape), np.zeros(shape[:2])
        for place, table in enumerate(self.tables):
            n, m = table.matrix.shape
            matrices[place, :n, :m] = table.matrix * (table.data_prior > 0.0)[:, None]
            priors[place, :n] = table.data_prior
        with np.errstate(divide="ignore"):
            self.log_matrix, self.log_data_prior = np.log(matrices), np.log(priors)
        self.log_likelihood = normalise(constant(self.log_matrix), axis=-2).value

    def posterior(
        self, index: Positions, belief: Smooth, depth: float, rationality: Smooth, literal: str
    ) -> Smooth:
        """Return log L_depth(h | d), (b, n, m), of the learner with a belief (b, m).

        Parameters
        ----------
        index
            (b,): the tables.
        belief
            The learner's, before the datum.
        depth
            Depth of the learner.
        rationality
            (b,): exponent of the teachers inside a recursion of finite depth.
        literal
            "likelihood" or "truth".
        """
        if math.isinf(depth):
            return self._cooperative(index, belief)
        logs = (self.log_likelihood if literal == "likelihood" else self.log_matrix)[index]
        posterior = bayes(constant(logs, len(belief.tangents)), belief)
        for _ in range(int(depth)):
            teacher = _teach(posterior, rationality, self.log_data_prior[index])
            posterior = bayes(teacher, belief)
        return posterior

    def _cooperative(self, index: Positions, belief: Smooth) -> Smooth:
        """Return the posteriors of SCBI with their derivatives."""
        shape = (len(index), self.num_data, self.num_hypotheses)
        log_posterior, log_likelihood = np.full(shape, -np.inf), np.full(shape, -np.inf)
        for table in np.unique(index):
            rows = np.flatnonzero(index == table)
            n, m = self.tables[table].matrix.shape
            found = self.tables[table].cooperative(belief.value[rows, :m])
            log_posterior[rows, :n, :m], log_likelihood[rows, :n, :m] = found
        if not len(belief.tangents):
            return constant(log_posterior)
        return _differentiate_scaling(log_posterior, log_likelihood, belief)


def first_beliefs(problems: Sequence[Problem], temperature: Smooth, num_hypotheses: int) -> Smooth:
    """Return the learners' first beliefs, log prior * temperature, normalised: (b, m)."""
    prior = np.zeros((len(problems), num_hypotheses))
    for row, problem in enumerate(problems):
        prior[row, : len(problem.prior)] = problem.prior
    possible = prior > 0.0
    logs = np.log(np.where(possible, prior, 1.0))
    value = np.where(possible, temperature.value[:, None] * logs, -np.inf)
    return normalise(Smooth(value, temperature.tangents[:, :, None] * logs), axis=-1)


def after_datum(followed: Smooth, belief: Smooth, places: Positions, datum: Positions) -> Smooth:
    """Return beliefs after one more datum; an impossible datum changes nothing.

    Parameters
    ----------
    followed, belief
        The posteriors (b, n, m) of the learner that is followed, and its belief before (b, m).
    places, datum
        Whose belief, and the datum.
    """
    value, tangents = followed.value[places, datum], followed.tangents[:, places, datum]
    kept = ~np.isfinite(value).any(axis=1)
    value[kept], tangents[:, kept] = belief.take(places[kept])
    return Smooth(value, tangents)


def think(
    tables: Tables,
    index: Positions,
    belief: Smooth,
    family: Family,
    depth: float,
    rationality: Smooth,
) -> tuple[Smooth, Smooth]:
    """Return the posteriors (b, n, m) of the learner in mind and of the learner that is followed.

    Parameters
    ----------
    tables, index, belief, rationality
        As in `Tables.posterior`.
    family, depth
        The person's.
    """
    own, other = family.learner_depth(depth), family.followed_depth(depth)
    posterior = tables.posterior(index, belief, own, rationality, family.literal)
    if other == own:
        return posterior, posterior
    return posterior, tables.posterior(index, belief, other, rationality, family.literal)


def normalise(logs: Smooth, axis: int) -> Smooth:
    """Return logarithms normalised along a negative axis, with their derivatives.

    Slices that are all minus infinity stay so.
    """
    peak = logs.value.max(axis=axis, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    weights = np.exp(logs.value - peak)
    total = weights.sum(axis=axis, keepdims=True)
    safe = np.where(total > 0.0, total, 1.0)
    value = logs.value - (peak + np.log(safe))
    if not len(logs.tangents):
        return constant(value)
    weights /= safe
    tangents = logs.tangents - (weights * logs.tangents).sum(axis=axis, keepdims=True)
    tangents[:, np.isneginf(value)] = 0.0
    return Smooth(value, tangents)


def bayes(log_likelihood: Smooth, log_belief: Smooth) -> Smooth:
    """Return log posteriors (b, n, m) for every datum."""
    joint = Smooth(
        log_likelihood.value + log_belief.value[:, None, :],
        log_likelihood.tangents + log_belief.tangents[:, :, None, :],
    )
    return normalise(joint, axis=-1)


def _teach(posterior: Smooth, rationality: Smooth, log_data_prior: Array) -> Smooth:
    """Return log T(d | h), proportional to p(d) L(h | d) ** rationality: (b, n, m)."""
    alpha = rationality.value[:, None, None]
    possible = np.isfinite(posterior.value)
    finite = np.where(possible, posterior.value, 0.0)
    weighted = np.where(possible, alpha * finite, -np.inf) + log_data_prior[:, :, None]
    tangents = alpha * posterior.tangents + rationality.tangents[:, :, None, None] * finite
    return normalise(Smooth(weighted, tangents), axis=-2)


def _differentiate_scaling(
    log_posterior: Array, log_likelihood: Array, log_belief: Smooth
) -> Smooth:
    """Return log L at infinite depth with its derivatives, by the implicit function theorem.

    With L the posteriors, T the likelihood and b the logarithms of the column factors, the sums of
    the scaled matrix stay what they must be if (1 - T'L) db = d log theta - d log lambda, where
    lambda is the ratio of the block that a column belongs to. One linear system of m unknowns per
    situation. Where blocks meet (ties) the limit has one-sided derivatives only; this is the one
    within the present blocks.

    Parameters
    ----------
    log_posterior, log_likelihood
        (b, n, m): the learner and the teacher of `cobayes.SCBI` at the belief.
    log_belief
        (b, m), minus infinity where a hypothesis is ruled out.
    """
    believed = np.isfinite(log_belief.value)
    posterior = np.exp(log_posterior)
    likelihood = np.where(believed[:, None, :], np.exp(log_likelihood), 0.0)
    num_hypotheses = believed.shape[1]
    mixing = np.einsum("bij,bik->bjk", likelihood, posterior)
    connected = (mixing > 0.0) | np.eye(num_hypotheses, dtype=bool)
    for _ in range(max(1, math.ceil(math.log2(max(2, num_hypotheses))))):
        connected = np.einsum("bij,bjk->bik", connected, connected, dtype=np.int64) > 0
    # Shares of the belief in a block, which may be far below the smallest float64 as a whole.
    in_block = np.where(connected, log_belief.value[:, None, :], -np.inf)
    share = np.exp(normalise(constant(in_block), axis=-1).value)
    tangent = np.where(believed, log_belief.tangents, 0.0)
    # The ratio of a block changes by what its beliefs gain together.
    right = tangent - np.einsum("bjk,qbk->qbj", share, tangent)
    system = np.eye(num_hypotheses) - mixing + share
    change = np.linalg.solve(system[None], right[..., None])[..., 0]
    change = np.where(believed, change, 0.0)
    tangents = change[:, :, None, :] - np.einsum("bij,qbj->qbi", posterior, change)[..., None]
    tangents[:, np.isneginf(log_posterior)] = 0.0
    return Smooth(log_posterior, tangents)
