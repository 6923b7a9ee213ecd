"""Tables and beliefs on which the browser twin is compared: random, hard, with zeros, with ties."""

import numpy as np


def positive_case(rng):
    """Return a positive table, sometimes of widely spread entries, and a belief."""
    num_data, num_hypotheses = map(int, rng.integers(2, 13, 2))
    matrix = rng.dirichlet(np.full(num_data, rng.choice([0.05, 0.3, 1.0])), num_hypotheses).T
    belief = rng.dirichlet(np.full(num_hypotheses, rng.choice([0.05, 0.3, 1.0])))
    belief = np.maximum(belief, 1e-200)
    return np.maximum(matrix, 1e-90), belief / belief.sum()


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


def data_prior(rng, num_data):
    """Return None (uniform) or weights of the data."""
    return None if rng.random() < 0.5 else rng.dirichlet(np.ones(num_data))


def as_floats(values):
    """Return numbers that the twin wrote, infinities included."""
    return np.array(values, dtype=float)
