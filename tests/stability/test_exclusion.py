"""Success enclosed on tables with zeros: exact fractions, errors, merged leaves."""

from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest

import cobayes as cb
from cobayes.stability.exclusion import Belief, Exclusions, simplest_fraction


def subsets(items):
    return (set(s) for size in range(1, len(items) + 1) for s in combinations(items, size))


def exact_update(allowed, share, belief):
    """Scale by definition, in fractions; None where the surviving entries have a cycle.

    `allowed` has the rows that each column allows. The block of the highest ratio is the largest
    set of columns with the most mass for the rows that it allows; an entry of a block dies where
    some of its columns without this one need all that is in the row.
    """
    scaled, columns = {}, {j for j in belief if belief[j]}
    rows = set().union(*(allowed[j] for j in columns))
    while columns:
        room = {j: allowed[j] & rows for j in columns}

        def load(chosen, room=room):
            used = set().union(*(room[j] for j in chosen))
            return sum(belief[j] for j in chosen) / sum(share[i] for i in used)

        ratio, _, block = max((load(s), len(s), tuple(s)) for s in subsets(columns))
        tight = [s for s in subsets(block) if load(s) == ratio]
        edges = {
            (i, j)
            for j in block
            for i in room[j]
            if not any(j not in s and i in set().union(*(room[k] for k in s)) for s in tight)
        }
        left = {("row", i): ratio * share[i] for i in set().union(*(room[j] for j in block))}
        left |= {("column", j): belief[j] for j in block}
        while edges:
            ends = [node for node in left if sum(node in names(e) for e in edges) == 1]
            if not ends:
                return None
            edge = next(e for e in edges if ends[0] in names(e))
            flow = left[ends[0]]
            for node in names(edge):
                left[node] -= flow
            scaled[edge] = flow
            edges.remove(edge)
        assert not any(left.values())
        columns -= set(block)
        rows -= {i for _, i in left if _ == "row"}
    return scaled


def names(edge):
    return ("row", edge[0]), ("column", edge[1])


def exact_outcomes(allowed, share, taught, believed, depth):
    """Return the probabilities that the learner is certain of 0, and that it has excluded 0."""
    if set(believed) == {0}:
        return Fraction(1), Fraction(0)
    if 0 not in believed:
        return Fraction(0), Fraction(1)
    if depth == 0:
        return Fraction(0), Fraction(0)
    own, theirs = (exact_update(allowed, share, b) for b in (taught, believed))
    if own is None or theirs is None:
        return None
    success = failure = Fraction(0)
    for i in allowed[0]:
        weight = own.get((i, 0), Fraction(0)) / taught[0]
        if not weight:
            continue
        after = []
        for scaled in (own, theirs):
            row = {j: flow for (k, j), flow in scaled.items() if k == i}
            after.append({j: flow / sum(row.values()) for j, flow in row.items()})
        found = exact_outcomes(allowed, share, *after, depth - 1)
        if found is None:
            return None
        success, failure = success + weight * found[0], failure + weight * found[1]
    return success, failure


def test_ends_are_rounded_outwards_from_exact_fractions():
    rng = np.random.default_rng(3)
    checked = 0
    for _ in range(120):
        n, m = rng.integers(2, 5), rng.integers(2, 4)
        pattern = rng.random((n, m)) < 0.6
        if pattern.all() or not (pattern.any(axis=0).all() and pattern.any(axis=1).all()):
            continue
        allowed = {j: set(np.flatnonzero(pattern[:, j]).tolist()) for j in range(m)}
        weights = rng.integers(1, 4, size=n), rng.integers(1, 4, size=m), rng.integers(1, 4, size=m)
        share, own, theirs = (
            {k: Fraction(int(x), int(sum(part))) for k, x in enumerate(part)} for part in weights
        )
        exact = exact_outcomes(allowed, share, own, theirs, 3)
        if exact is None:
            continue
        rule = cb.SCBI(rng.random((n, m)) * pattern, data_prior=weights[0] / weights[0].sum())
        found = cb.success_enclosure(
            rule,
            0,
            teacher_prior=weights[1] / weights[1].sum(),
            learner_prior=weights[2] / weights[2].sum(),
            depth=3,
        )
        checked += 1
        success, most = exact[0], 1 - exact[1]
        # Leaves with equal patterns may be bounded, too; they only narrow the interval.
        assert found.upper <= float(most) + 1e-12
        assert found.lower >= float(success) - 1e-12
        if success == most:
            assert found.lower <= success <= found.upper
            assert found.upper - found.lower < 1e-12
    assert checked >= 25


@pytest.mark.parametrize("seed", range(3))
def test_posteriors_lie_within_their_errors(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(0.2, 1.0, (4, 3))
    matrix[0, 0] = matrix[3, 2] = 0.0
    prior, share = rng.uniform(0.2, 0.4, 3), np.full(4, 0.25)
    start = Exclusions.start(prior)
    answers = Exclusions(matrix, share, 1)
    found = answers.respond(start)
    assert found is not None
    with mpmath.workdps(40):
        v, c = [mpmath.mpf(1)] * 3, [mpmath.mpf(x.numerator) / x.denominator for x in start.exact]
        entries = [[mpmath.mpf(x) for x in row] for row in matrix.tolist()]
        for _ in range(500):
            u = [1 / mpmath.fsum(a * b for a, b in zip(row, v, strict=True)) for row in entries]
            v = [4 * c[j] / mpmath.fsum(u[i] * entries[i][j] for i in range(4)) for j in range(3)]
        for i, posterior in found.posteriors.items():
            assert posterior.error < 1e-9
            exact = [u[i] * entries[i][j] * v[j] for j in posterior.columns]
            logs = [mpmath.log(a / b) for a, b in zip(posterior.values, exact, strict=True)]
            assert max(logs) - min(logs) <= posterior.error
            chance = u[i] * entries[i][1] * v[1] / (4 * c[1])
            assert chance * (1 - mpmath.mpf(10) ** -8) <= found.chances[i] <= chance


def test_a_tie_that_rounding_could_break_is_left_open():
    # Mass of column 0 equals the room of its row exactly: 1/2 of the belief, one of two rows.
    matrix = np.array([[1.0, 1.0], [0.0, 1.0]])
    answers = Exclusions(matrix, np.full(2, 0.5), 0)
    exact = Exclusions.start(np.array([0.5, 0.5]))
    assert answers.respond(exact).posteriors[0].columns == (0,)
    assert answers.respond(Belief((0, 1), None, (0.5, 0.5), 1e-12)) is None
    enclosed = answers.respond(Belief((0, 1), None, (0.4, 0.6), 1e-12))
    assert enclosed.posteriors[0].columns == (0, 1)


def test_equal_leaves_are_merged():
    # Rows that exclude the same hypotheses lead to the same beliefs: 3 kinds of data, not 24.
    table = np.repeat([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], 8, axis=0)
    found = cb.success_enclosure(table, 0, learner_prior=[0.3, 0.3, 0.4], depth=3)
    few = cb.success_enclosure(table[::8], 0, learner_prior=[0.3, 0.3, 0.4], depth=3)
    assert found.num_leaves == few.num_leaves <= 27
    assert (found.lower, found.upper) == pytest.approx((few.lower, few.upper), abs=1e-12)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1 / 3, Fraction(1, 3)), (0.1, Fraction(1, 10)), (7 / 15, Fraction(7, 15))],
)
def test_numbers_are_read_as_the_simplest_fractions(value, expected):
    assert simplest_fraction(value) == expected
    assert float(simplest_fraction(np.pi / 10)) == np.pi / 10
