"""Statements of docs/beyond.md and docs/conjecture.md that no other test checks."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds)
@settings(max_examples=50, deadline=None)
def test_updates_of_two_hypotheses_are_monotone(seed):
    rng = np.random.default_rng(seed)
    rule = cb.SCBI(np.exp(2.0 * rng.normal(size=(rng.integers(2, 6), 2))))
    low, high = np.sort(rng.uniform(0.01, 0.99, size=2))
    below, above = rule.posteriors([low, 1.0 - low]), rule.posteriors([high, 1.0 - high])
    assert (below[:, 0] <= above[:, 0] + 1e-11).all()


@given(seed=seeds)
@settings(max_examples=50, deadline=None)
def test_errors_of_the_matrix_grow_by_no_more_than_the_size(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 6, size=2)
    matrix = np.exp(rng.uniform(0.0, 8.0) * rng.normal(size=(n, m)))
    sums = n * rng.dirichlet(np.full(m, 0.5))
    size = 10.0 ** rng.uniform(-3.0, 0.0)
    moved = matrix * np.exp(size * rng.choice([-1.0, 1.0], size=(n, m)))
    before, after = (cb.scale(x, column_sums=sums).matrix for x in (matrix, moved))
    growth = np.abs(np.log(after) - np.log(before)).max() / size
    assert growth <= 2.0 * min(n, m) + 1e-6


def test_errors_of_the_matrix_can_grow_by_nearly_that_much():
    # Two by two: signs that add up around the one cycle, seen from its smallest entry.
    matrix = np.array([[1.0, 1e-8], [1e-8, 1.0]])
    signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    sums = [1.0 + 1e-6, 1.0 - 1e-6]
    before = cb.scale(matrix, column_sums=sums).matrix
    after = cb.scale(matrix * np.exp(1e-3 * signs), column_sums=sums).matrix
    growth = np.abs(np.log(after / before)).max() / 1e-3
    assert 3.9 < growth <= 4.0


def test_errors_of_the_sums_can_grow_without_bound():
    matrix = np.array([[1.0, 1e-8], [1e-8, 1.0]])
    even = cb.scale(matrix).matrix
    moved = cb.scale(matrix, column_sums=[1.0 + 1e-6, 1.0 - 1e-6]).matrix
    assert moved[1, 0] / even[1, 0] > 90.0  # from 1e-8 to about 1e-6
    assert moved[0, 1] / even[0, 1] < 0.02


@given(seed=seeds)
@settings(max_examples=200, deadline=None)
def test_nested_blocks_never_fail_by_more_than_total_variation(seed):
    """Proposition 15 of docs/conjecture.md, for chains of blocks."""
    from cobayes.conjecture.separation import nested_success
    from cobayes.stability import prior_distance

    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 9))
    taught, believed = (rng.dirichlet(np.full(m, rng.choice([0.3, 1.0, 5.0]))) for _ in range(2))
    taught, believed = ((p + 1e-9) / (p + 1e-9).sum() for p in (taught, believed))
    success = nested_success(taught, believed, 0, list(rng.permutation(np.arange(1, m))))
    failure = taught[0] * (1.0 - success)
    assert failure <= prior_distance(taught, believed, "tv") + 1e-12
