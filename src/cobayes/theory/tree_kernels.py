"""Compiled sums over atoms: moments of beliefs under every hypothesis that might be taught.

Nothing here allocates with the number of atoms, and no sum is reordered: the same blocks give
the same bits on any number of threads.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.compiled import compiled

Array = NDArray[np.float64]


class Sums(NamedTuple):
    """Sums over atoms, for each of t hypotheses that might be taught.

    Attributes
    ----------
    center : ndarray
        What to measure deviations from, (t, m): near the mean nothing cancels.
    total, first, second : ndarray
        Sums of weights (t,), weighted deviations and their squares (t, m).
    """

    center: Array
    total: Array
    first: Array
    second: Array

    @classmethod
    def about(cls, center: Array) -> Sums:
        """Return sums of zero about a centre."""
        return cls(center, np.zeros(len(center)), np.zeros_like(center), np.zeros_like(center))


@compiled(fastmath={"contract"})
def add_atoms(weights, beliefs, sums):
    """Add the moments of some atoms about a centre.

    Parameters
    ----------
    weights
        Of every atom when hypothesis t is taught, (a, t).
    beliefs
        Shape (a, m).
    sums
        The `Sums` to add to.
    """
    center, total, first, second = sums.center, sums.total, sums.first, sums.second
    num_atoms, num_believed = beliefs.shape
    for t in range(weights.shape[1]):
        a = 0
        # Four atoms at a time: the sums are loaded and stored once for the four of them.
        while a + 4 <= num_atoms:
            w0, w1, w2, w3 = weights[a, t], weights[a + 1, t], weights[a + 2, t], weights[a + 3, t]
            total[t] += (w0 + w1) + (w2 + w3)
            for j in range(num_believed):
                x0 = beliefs[a, j] - center[t, j]
                x1 = beliefs[a + 1, j] - center[t, j]
                x2 = beliefs[a + 2, j] - center[t, j]
                x3 = beliefs[a + 3, j] - center[t, j]
                y0, y1, y2, y3 = w0 * x0, w1 * x1, w2 * x2, w3 * x3
                first[t, j] += (y0 + y1) + (y2 + y3)
                second[t, j] += (y0 * x0 + y1 * x1) + (y2 * x2 + y3 * x3)
            a += 4
        while a < num_atoms:
            w0 = weights[a, t]
            total[t] += w0
            for j in range(num_believed):
                x0 = beliefs[a, j] - center[t, j]
                first[t, j] += w0 * x0
                second[t, j] += w0 * x0 * x0
            a += 1


@compiled()
def add_children(weights, answers, taught, data, copies, sums):
    """Add the moments of the posteriors after every datum, without keeping them.

    Parameters
    ----------
    weights
        Of the atoms before the datum, (a, t).
    answers
        The `cobayes.theory.atoms.Answers` to them.
    taught
        Positions of the t hypotheses.
    data, copies
        The data that lead to different posteriors, and how many data share each posterior.
    sums
        The `Sums` to add to.
    """
    beliefs, tables = answers.beliefs, answers.tables
    num_atoms, num_believed = beliefs.shape
    num_data = len(data)
    num_taught = len(taught)
    children = np.empty((num_data, num_believed))
    child_weights = np.empty((num_data, num_taught))
    for a in range(num_atoms):
        table = tables[a if tables.shape[0] > 1 else 0]
        columns = answers.columns[a]
        for i in range(num_data):
            d = data[i]
            row = answers.rows[a, d]
            evidence = 0.0
            for j in range(num_believed):
                joint = beliefs[a, j] * (row * table[d, j] * columns[j])
                children[i, j] = joint
                evidence += joint
            # After a datum that everything believed excludes nothing is left, and no weight.
            evidence = evidence if evidence > 0.0 else 1.0
            for j in range(num_believed):
                children[i, j] /= evidence
            for t in range(num_taught):
                likelihood = row * table[d, taught[t]] * columns[taught[t]]
                child_weights[i, t] = copies[i] * weights[a, t] * likelihood
        add_atoms(child_weights, children, sums)


@compiled()
def fill_counts(counts, out):
    """Fill successive count vectors, starting from the given one.

    Parameters
    ----------
    counts
        In: the first. Out: the last one filled.
    out
        Shape (a, n); the order is that of Nijenhuis and Wilf: the last count changes most slowly.
    """
    num_data = len(counts)
    for a in range(out.shape[0]):
        if a > 0:
            lowest = 0
            while counts[lowest] == 0:
                lowest += 1
            moved = counts[lowest]
            counts[lowest] = 0
            counts[0] = moved - 1
            counts[lowest + 1] += 1
        for d in range(num_data):
            out[a, d] = counts[d]


@compiled()
def fill_count_atoms(counts, log_likelihood, log_prior, log_factorials, taught, weights, beliefs):
    """Fill the posteriors and the weights of count vectors under fixed likelihoods.

    Parameters
    ----------
    counts
        How often each datum was seen, (a, n).
    log_likelihood, log_prior
        Shapes (n, m) and (m,).
    log_factorials
        Logarithms of 0!, 1!, ..., k! where k is the number of rounds.
    taught
        Positions of the t hypotheses.
    weights, beliefs
        Out: (a, t) and (a, m).
    """
    num_data, num_believed = log_likelihood.shape
    seen = np.empty(num_believed)
    for a in range(counts.shape[0]):
        log_orders = log_factorials[-1]
        seen[:] = 0.0
        for d in range(num_data):
            count = counts[a, d]
            if count == 0:
                continue
            log_orders -= log_factorials[count]
            for j in range(num_believed):
                seen[j] += count * log_likelihood[d, j]
        for t in range(len(taught)):
            weights[a, t] = math.exp(log_orders + seen[taught[t]])
        peak = -math.inf
        for j in range(num_believed):
            peak = max(peak, log_prior[j] + seen[j])
        if peak == -math.inf:
            beliefs[a] = 0.0
            continue
        evidence = 0.0
        for j in range(num_believed):
            beliefs[a, j] = math.exp(log_prior[j] + seen[j] - peak)
            evidence += beliefs[a, j]
        for j in range(num_believed):
            beliefs[a, j] /= evidence


@compiled()
def lead_equal_atoms(keys, order, log_beliefs, tolerance, window, leaders):
    """Find for every atom the first one, in the order of the keys, that it equals.

    Parameters
    ----------
    keys
        One number for each atom; equal atoms have keys within `window`.
    order
        The atoms by rising key.
    log_beliefs
        Shape (a, m).
    tolerance
        Atoms are equal when no log-belief differs by more than this.
    leaders
        Out: the position of the atom that stands for each one, (a,).
    """
    num_believed = log_beliefs.shape[1]
    for place in range(len(order)):
        atom = order[place]
        leaders[atom] = atom
        earlier = place - 1
        while earlier >= 0 and keys[atom] - keys[order[earlier]] <= window:
            other = order[earlier]
            earlier -= 1
            if leaders[other] != other:
                continue
            same = True
            for j in range(num_believed):
                one, two = log_beliefs[atom, j], log_beliefs[other, j]
                # Two ruled-out hypotheses agree; their difference is not a number.
                if one != two and not abs(one - two) <= tolerance:
                    same = False
                    break
            if same:
                leaders[atom] = other
                break
