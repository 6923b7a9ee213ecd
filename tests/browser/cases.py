"""Tables and beliefs on which the browser twin is compared: random, hard, with zeros, with ties."""

import numpy as np

import cobayes as cb

TOLERANCE = 1e-10
"""Largest difference between a number of the twin and Python's."""


def positive_case(rng):
    """Return a positive table, sometimes of widely spread entries, and a belief."""
    num_data, num_hypotheses = map(int, rng.integers(2, 13, 2))
    matrix = rng.dirichlet(np.full(num_data, rng.choice([0.05, 0.3, 1.0])), num_hypotheses).T
    belief = rng.dirichlet(np.full(num_hypotheses, rng.choice([0.05, 0.3, 1.0])))
    belief = np.maximum(belief, 1e-200)
    return np.maximum(matrix, 1e-90), belief / belief.sum()


def hard_case(rng):
    """Return a nearly diagonal table and a belief that is tiny for some hypotheses."""
    size = int(rng.integers(2, 8))
    matrix = np.eye(size) + 10.0 ** -rng.integers(3, 13) * rng.random((size, size))
    belief = np.maximum(rng.dirichlet(np.full(size, 0.1)), 1e-150)
    return matrix, belief / belief.sum()


def zeros_case(rng):
    """Return a table with zeros, often of zeros and ones, and a belief that often has ties."""
    while True:
        num_data, num_hypotheses = map(int, rng.integers(2, 10, 2))
        matrix = np.ones((num_data, num_hypotheses))
        if rng.random() < 0.5:
            matrix = rng.random((num_data, num_hypotheses))
        matrix = matrix * (rng.random(matrix.shape) < rng.choice([0.3, 0.5, 0.7]))
        if (matrix.sum(axis=0) > 0).all() and (matrix.sum(axis=1) > 0).all():
            break
    belief = np.full(num_hypotheses, 1.0 / num_hypotheses)
    if rng.random() < 0.6:
        belief = rng.dirichlet(np.ones(num_hypotheses))
    return matrix, belief


def data_prior(rng, matrix):
    """Return None (uniform) or weights of the data, sometimes with one that is not available."""
    if rng.random() < 0.5:
        return None
    prior = rng.dirichlet(np.ones(len(matrix)))
    if rng.random() < 0.3:
        prior[rng.integers(len(prior))] = 0.0
    # Every hypothesis needs a datum that can be shown.
    if not (matrix[prior > 0.0].sum(axis=0) > 0.0).all():
        return None
    return prior / prior.sum()


def mixed_case(rng, number):
    """Return a table, a belief that may exclude a hypothesis, and a data prior."""
    make = (positive_case, zeros_case, hard_case, zeros_case)[number % 4]
    matrix, belief = make(rng)
    if rng.random() < 0.2 and len(belief) > 2:
        belief[rng.integers(len(belief))] = 0.0
        belief /= belief.sum()
    return matrix, belief, data_prior(rng, matrix)


def as_floats(values):
    """Return numbers that the twin wrote, infinities included."""
    return np.array(values, dtype=float)


def make_rule(kind, matrix, prior, options):
    if kind == "BI":
        return cb.BI(matrix)
    if kind == "SCBI":
        return cb.SCBI(matrix, data_prior=prior)
    depth = options["depth"]
    rest = {name: value for name, value in options.items() if name != "depth"}
    return cb.Pragmatic(matrix, depth, data_prior=prior, **rest)
