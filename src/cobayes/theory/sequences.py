"""Going through everything that could be taught: all sequences of data, or all their counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.threads import map_chunks
from cobayes.rules import Rule
from cobayes.theory import tree_kernels as kernels
from cobayes.theory.atoms import Answers, answers_at, block_size, log_posteriors

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# The tree is grown level by level up to this many beliefs; below them, branches are walked
# depth first and need next to no memory.
FRONTIER = 16_384
# Beliefs of the frontier, or counts, that make one piece of work.
PIECE = 256
COUNT_PIECE = 4096
# Rows count as proportional when no log ratio strays further than this.
PROPORTIONAL = 1e-14


@dataclass(frozen=True)
class Moments:
    """Weights (t,), means (t, m) and summed squared deviations (t, m) of some atoms."""

    total: Array
    mean: Array
    squares: Array

    def combined(self, other: Moments) -> Moments:
        """Return the moments of both sets of atoms; deviations stay centred throughout."""
        total = self.total + other.total
        share = np.divide(other.total, total, out=np.zeros_like(total), where=total > 0.0)
        shift = other.mean - self.mean
        squares = self.squares + other.squares + (self.total * share)[:, None] * shift**2
        return Moments(total, self.mean + share[:, None] * shift, squares)


def _centered(sums: kernels.Sums) -> Moments:
    """Turn sums about a centre near the mean into moments."""
    center, total, first, second = sums
    weight = total[:, None]
    offset = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0.0)
    return Moments(total, center + offset, np.maximum(second - first * offset, 0.0))


class Tree:
    """All sequences of data, by any rule.

    Parameters
    ----------
    rule
        That of teacher and learner.
    log_prior
        Where it starts, (m,).
    taught
        Positions of the hypotheses whose teachers weigh the sequences.
    data, copies
        What `distinct_data` returns.
    """

    def __init__(
        self, rule: Rule, log_prior: Array, taught: Indices, data: Indices, copies: Array
    ) -> None:
        self.rule = rule
        self.log_prior = log_prior
        self.taught = taught
        self.data = data
        self.copies = copies
        self.block = block_size(rule)

    def moments(self, num_rounds: int) -> list[Moments]:
        """Return the moments after rounds 1 to num_rounds."""
        levels: list[list[Moments]] = []
        log_beliefs = self.log_prior[None]
        weights = np.ones((1, len(self.taught)))
        while len(levels) < num_rounds and len(log_beliefs) * len(self.data) <= FRONTIER:
            is_last = len(levels) == num_rounds - 1
            grown = map_chunks(
                lambda piece, is_last=is_last: self._grow(*piece, is_last),
                _pieces(log_beliefs, weights, min(PIECE, self.block)),
            )
            levels.append([moments for moments, _, _ in grown])
            log_beliefs = np.concatenate([children for _, children, _ in grown])
            weights = np.concatenate([shares for _, _, shares in grown])
        rounds_left = num_rounds - len(levels)
        if rounds_left > 0:
            walked = map_chunks(
                lambda piece: self._walk(*piece, rounds_left),
                _pieces(log_beliefs, weights, min(PIECE, self.block)),
            )
            levels.extend([list(level) for level in zip(*walked, strict=True)])
        return [reduce(Moments.combined, level) for level in levels]

    def _grow(
        self, log_beliefs: Array, weights: Array, is_last: bool
    ) -> tuple[Moments, Array, Array]:
        """Return the moments of the next round's beliefs, and these beliefs with their weights.

        The last round's beliefs are not returned: they need neither memory nor scaling.
        """
        answers = answers_at(self.rule, log_beliefs)
        moments = self._child_moments(weights, answers)
        if is_last:
            return moments, log_beliefs[:0], weights[:0]
        return moments, *self._children(log_beliefs, weights, answers.likelihoods(self.data))

    def _walk(self, log_beliefs: Array, weights: Array, rounds_left: int) -> list[Moments]:
        """Return the moments of all rounds that are left, for one branch of the tree."""
        answers = answers_at(self.rule, log_beliefs)
        own = self._child_moments(weights, answers)
        if rounds_left == 1:
            return [own]
        likelihoods = answers.likelihoods(self.data)
        below: list[Moments] = []
        step = max(1, self.block // len(self.data))
        for start in range(0, len(log_beliefs), step):
            part = slice(start, start + step)
            children = self._children(log_beliefs[part], weights[part], likelihoods[part])
            for piece in _pieces(*children, self.block):
                found = self._walk(*piece, rounds_left - 1)
                below = (
                    [a.combined(b) for a, b in zip(below, found, strict=True)] if below else found
                )
        return [own, *below]

    def _children(
        self, log_beliefs: Array, weights: Array, likelihoods: Array
    ) -> tuple[Array, Array]:
        """Return beliefs and weights after every datum, from the likelihoods of these data."""
        children = log_posteriors(log_beliefs, likelihoods).reshape(-1, log_beliefs.shape[1])
        shares = weights[:, None, :] * likelihoods[:, :, self.taught] * self.copies[:, None]
        shares = shares.reshape(-1, shares.shape[-1])
        # Data that nobody would show, or that every believed hypothesis excludes, lead nowhere.
        shown = (shares > 0.0).any(axis=1)
        return (children, shares) if shown.all() else (children[shown], shares[shown])

    def _child_moments(self, weights: Array, answers: Answers) -> Moments:
        beliefs = answers.beliefs
        # Before the datum the belief was not far off: a good centre, and a cheap one.
        sums = kernels.Sums.about(np.zeros((len(self.taught), beliefs.shape[1])))
        kernels.add_atoms(weights, beliefs, sums)
        sums = kernels.Sums.about(_centered(sums).mean)
        kernels.add_children(weights, answers, self.taught, self.data, self.copies, sums)
        return _centered(sums)


class Counts:
    """All counts of the data, by a rule whose likelihood does not depend on the belief.

    Parameters
    ----------
    rule
        `BI`, or any other rule of that kind.
    log_prior, taught, data, copies
        As for `Tree`.

    Notes
    -----
    The order of the data does not matter: C(n + k - 1, k) atoms after k rounds.
    """

    def __init__(
        self, rule: Rule, log_prior: Array, taught: Indices, data: Indices, copies: Array
    ) -> None:
        response = rule.respond(log_prior)
        with np.errstate(divide="ignore"):
            if response.logs is None:
                self.log_likelihood = np.log(response.likelihood[data] * copies[:, None])
            else:
                self.log_likelihood = response.logs[data] + np.log(copies)[:, None]
        self.log_prior = log_prior
        self.taught = taught

    def moments(self, num_rounds: int) -> Iterator[Moments]:
        """Yield the moments after rounds 1 to num_rounds."""
        for k in range(1, num_rounds + 1):
            size = math.comb(len(self.log_likelihood) + k - 1, k)
            log_factorials = np.array([math.lgamma(i + 1.0) for i in range(k + 1)])
            pieces = [
                (start, min(COUNT_PIECE, size - start)) for start in range(0, size, COUNT_PIECE)
            ]
            yield reduce(
                Moments.combined,
                map_chunks(
                    lambda piece, logs=log_factorials: self._piece_moments(*piece, logs), pieces
                ),
            )

    def _piece_moments(self, start: int, size: int, log_factorials: Array) -> Moments:
        num_data, num_believed = self.log_likelihood.shape
        counts = np.empty((size, num_data), dtype=np.int64)
        kernels.fill_counts(counts_at(start, len(log_factorials) - 1, num_data), counts)
        weights = np.empty((size, len(self.taught)))
        beliefs = np.empty((size, num_believed))
        kernels.fill_count_atoms(
            counts,
            self.log_likelihood,
            self.log_prior,
            log_factorials,
            self.taught,
            weights,
            beliefs,
        )
        center = np.zeros((len(self.taught), num_believed))
        for _ in range(2):  # first about zero, then about the mean so found
            sums = kernels.Sums.about(center)
            kernels.add_atoms(weights, beliefs, sums)
            moments = _centered(sums)
            center = moments.mean
        return moments


def counts_at(rank: int, total: int, num_data: int) -> NDArray[np.int64]:
    """Return the count vector at a place in the order of `tree_kernels.fill_counts`.

    Parameters
    ----------
    rank
        The place, from zero.
    total
        The sum of the counts.
    num_data
        How many counts there are.
    """
    counts = np.zeros(num_data, dtype=np.int64)
    for place in range(num_data - 1, 0, -1):
        # Vectors with the same later counts and a smaller one here come first.
        while True:
            before = math.comb(total + place - 1, place - 1)
            if rank < before:
                break
            rank -= before
            counts[place] += 1
            total -= 1
    counts[0] = total
    return counts


def distinct_data(rule: Rule) -> tuple[Indices, Array]:
    """Return the data that lead to different posteriors, and how many each stands for.

    Data with proportional rows lead to the same posterior under a factored rule. A teacher that
    follows the belief chooses them in proportion to their data prior, one that does not in
    proportion to their rows. Of any other rule nothing is assumed.
    """
    matrix = rule.model.matrix
    if not rule.is_factored:
        return np.arange(len(matrix)), np.ones(len(matrix))
    share = getattr(rule, "data_prior", None)
    allowed = matrix > 0.0
    with np.errstate(divide="ignore"):
        logs = np.where(allowed, np.log(matrix), 0.0)
    sizes = logs.mean(axis=1) if allowed.all() else logs.sum(axis=1) / allowed.sum(axis=1)
    logs -= np.where(allowed, sizes[:, None], 0.0)
    chosen: list[int] = []
    copies: list[float] = []
    for row in range(len(matrix)):
        if share is not None and share[row] == 0.0:
            continue
        distances = np.abs(logs[chosen] - logs[row]).max(axis=1, initial=0.0)
        same = (allowed[chosen] == allowed[row]).all(axis=1)
        equal = np.flatnonzero((distances <= PROPORTIONAL) & same)
        if len(equal) == 0:
            chosen.append(row)
            copies.append(1.0)
            continue
        first = chosen[equal[0]]
        if not rule.depends_on_belief:
            copies[equal[0]] += float(np.exp(sizes[row] - sizes[first]))
        else:
            copies[equal[0]] += 1.0 if share is None else float(share[row] / share[first])
    return np.array(chosen), np.array(copies)


def _pieces(log_beliefs: Array, weights: Array, size: int) -> list[tuple[Array, Array]]:
    return [
        (log_beliefs[start : start + size], weights[start : start + size])
        for start in range(0, len(log_beliefs), size)
    ]
