"""Success rates enclosed, with rounding outwards."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.conjecture import load_certificate
from cobayes.stability.enclosure import success_enclosure


def exact_bounds(matrix, own, theirs, hypothesis, depth, share):
    """Both sides at full depth with 30 digits, scaling by plain sweeps."""
    n, m = matrix.shape
    share = [Decimal(float(p)) for p in share]

    def update(belief):
        entries = [[Decimal(float(x)) for x in row] for row in matrix]
        v = [Decimal(1)] * m
        for _ in range(4000):
            u = [share[i] / sum(entries[i][j] * v[j] for j in range(m)) for i in range(n)]
            new = [belief[j] / sum(u[i] * entries[i][j] for i in range(n)) for j in range(m)]
            step = max(abs(new[j] / v[j] - 1) for j in range(m))
            v = new
            if step < Decimal(10) ** -24:
                break
        rows = [[entries[i][j] * v[j] for j in range(m)] for i in range(n)]
        return [[x / sum(row) for x in row] for row in rows]

    def sides(t, other, left):
        if left == 0:
            joint = t[hypothesis] + other[hypothesis] - 1
            return max(joint, Decimal(0)), min(t[hypothesis], other[hypothesis])
        lower = upper = Decimal(0)
        for p, new_t, new_l in zip(share, update(t), update(other), strict=True):
            low, high = sides(new_t, new_l, left - 1)
            lower, upper = lower + p * low, upper + p * high
        return lower, upper

    with localcontext(prec=30):
        t, other = ([Decimal(float(x)) for x in prior] for prior in (own, theirs))
        t, other = ([x / sum(prior) for x in prior] for prior in (t, other))
        low, high = sides(t, other, depth)
        least = max(t[hypothesis] + other[hypothesis] - 1, Decimal(0))
        most = min(t[hypothesis], other[hypothesis])
        return max(low, least) / t[hypothesis], min(high, most) / t[hypothesis]


@pytest.mark.parametrize("seed", range(4))
def test_ends_are_rounded_outwards_from_the_exact_ones(seed):
    rng = np.random.default_rng(seed)
    n, m = [(2, 3), (3, 3), (3, 2), (2, 2)][seed]
    matrix = rng.dirichlet(np.ones(n), m).T
    own, theirs, share = (
        rng.dirichlet(np.ones(m)),
        rng.dirichlet(np.ones(m)),
        rng.dirichlet(np.ones(n)),
    )
    rule = cb.SCBI(matrix, data_prior=share)
    depth = 2
    found = success_enclosure(rule, 1, prior=own, learner_prior=theirs, num_rounds=depth)
    low, high = exact_bounds(matrix, own, theirs, 1, depth, share / share.sum())
    assert found.lower <= low
    assert high <= found.upper
    assert float(low) - found.lower < 1e-9
    assert found.upper - float(high) < 1e-9


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_more_depth_never_widens(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(3), 3).T
    priors = {
        "prior": rng.dirichlet(np.ones(3)),
        "learner_prior": rng.dirichlet(np.ones(3)),
    }
    last = success_enclosure(matrix, 0, **priors, num_rounds=0)
    bounds = cb.stability.success_bounds(*priors.values(), 0)
    assert last.lower == pytest.approx(bounds[0], abs=1e-14)
    assert last.upper == pytest.approx(bounds[1], abs=1e-14)
    for depth in (1, 3, 5):
        found = success_enclosure(matrix, 0, **priors, num_rounds=depth)
        assert found.lower >= last.lower - 1e-11
        assert found.upper <= last.upper + 1e-11
        last = found


def test_two_hypotheses_have_the_exact_value_inside():
    found = success_enclosure(
        [[0.9, 0.2], [0.1, 0.8]], 0, learner_prior=[0.4, 0.6], num_rounds=14, max_leaves=10**5
    )
    assert cb.stability.two_hypothesis_success([0.5, 0.5], [0.4, 0.6], 0) in found
    assert found.upper - found.lower < 1e-3


def test_sampling_agrees_with_the_enclosure():
    theirs = [0.2, 0.3, 0.5]
    matrix = np.random.default_rng(0).dirichlet(np.ones(4), 3).T
    found = success_enclosure(matrix, 0, learner_prior=theirs, num_rounds=8)
    sampled = cb.success_rate(matrix, hypothesis=0, learner_prior=theirs, num_lessons=4000, rng=1)
    assert found.lower - 4 * sampled.stderr <= sampled.value <= found.upper + 4 * sampled.stderr
    assert found.upper - found.lower < 0.05


def test_the_papers_matrix_refutes_total_variation_by_proof():
    claim = load_certificate("tv-paper-matrix")
    found = success_enclosure(
        claim.model,
        claim.hypothesis,
        prior=claim.teacher_prior,
        learner_prior=claim.learner_prior,
        num_rounds=11,
    )
    # At depth 11 the upper end is 0.5911; the conjecture promises 0.6.
    assert found.upper < 0.5912 < claim.conjectured_success


def test_rational_arithmetic_proves_the_same_refutation():
    """Seven rounds in exact numbers, with nothing from the library but Proposition 13.

    Column factors v that are any integers give an exact scaling of its own column sums c.
    The distance of c from the belief in Hilbert's metric, and what it grows to, is bounded from
    above in fractions: log x <= x - 1, and cosh(D / 4)**2 < 1.6 for this matrix. Beliefs are
    integers, in units of 2**-80.
    """
    entries = ["0.6559 0.5505 0.731", "0.168 0.3359 0.0403", "0.176 0.1136 0.2287"]
    matrix = [[int(10_000 * Fraction(x)) for x in row.split()] for row in entries]
    logs = np.log(matrix)
    spread = max(np.ptp(logs[:, i] - logs[:, j]) for i in range(3) for j in range(3))
    assert math.cosh(spread / 4.0) ** 2 < 1.6

    def factors(beliefs):
        v = beliefs = np.ldexp(np.array(beliefs, dtype=float), -80)
        for _ in range(40):
            v = beliefs / (1.0 / (3.0 * v @ np.transpose(matrix)) @ matrix)
        return [[int(x) for x in row] for row in np.ldexp(v, 60)]

    def children(belief, v, error):
        rows = [[a * b for a, b in zip(row, v, strict=True)] for row in matrix]
        product = math.prod(map(sum, rows))
        shares = [[x * (product // sum(row)) for x in row] for row in rows]
        ratios = [Fraction(sum(row[j] for row in shares), belief[j]) for j in range(3)]
        grown = Fraction(8, 5) * (error + max(ratios) / min(ratios) - 1)
        short = [[(x << 80) // product for x in row] for row in shares]
        # What the rounding of beliefs and of this bound may change.
        assert min(map(min, short)) > 2**80 // 10**9
        return short, Fraction(math.ceil(grown * 10**14) + 1, 10**14)

    own, theirs = [5 * 2**80 // 15] * 3, [k * 2**80 // 15 for k in (3, 5, 7)]
    leaves = [(own, theirs, Fraction(1, 10**14), Fraction(1, 10**14))]
    for _ in range(7):
        grown = []
        scaled = (factors([leaf[agent] for leaf in leaves]) for agent in (0, 1))
        for (own, theirs, own_error, their_error), v, w in zip(leaves, *scaled, strict=True):
            pairs = children(own, v, own_error), children(theirs, w, their_error)
            errors = pairs[0][1], pairs[1][1]
            grown += [(a, b, *errors) for a, b in zip(pairs[0][0], pairs[1][0], strict=True)]
        leaves = grown
    total = Fraction(0)
    for own, theirs, *errors in leaves:
        # exp(e) <= 1 + 2 e for e <= 1; entries are within that factor, sums of rows too.
        total += min(own[0], theirs[0]) * (1 + 4 * max(errors))
    success = total / len(leaves) * 3 / 2**80
    assert max(errors) < Fraction(1, 10**9)
    assert success < Fraction(59982, 100000) < Fraction(3, 5)
    found = success_enclosure(
        cb.examples["M_1"], 0, learner_prior=[1 / 5, 1 / 3, 7 / 15], num_rounds=7, max_leaves=3**7
    )
    assert found.upper == pytest.approx(float(success), abs=1e-9)


def test_a_small_budget_is_spent_where_it_matters_and_stays_valid():
    theirs = [0.2, 0.3, 0.5]
    matrix = np.random.default_rng(1).dirichlet(np.ones(4), 3).T
    little = success_enclosure(matrix, 0, learner_prior=theirs, num_rounds=30, max_leaves=500)
    much = success_enclosure(matrix, 0, learner_prior=theirs, num_rounds=30, max_leaves=50_000)
    assert little.num_leaves <= 500
    assert little.lower <= much.lower <= much.upper <= little.upper


def test_nearly_separate_columns_are_refused_a_proof_rather_than_given_a_wrong_one():
    found = success_enclosure(
        [[1.0, 1e-12], [1e-12, 1.0]], 0, learner_prior=[0.4, 0.6], num_rounds=4
    )
    assert 0.8 in found
    assert found.lower <= found.upper
    assert (found.num_leaves, found.num_rounds) == (1, 0)


def test_a_table_with_zeros_is_refused_with_a_way_out():
    with pytest.raises(cb.CobayesError, match="the table has zeros") as caught:
        success_enclosure(np.eye(3), 0, num_rounds=4)
    assert "success_rate" in caught.value.hint


def test_data_with_proportional_rows_are_merged():
    theirs = [0.2, 0.3, 0.5]
    matrix = np.random.default_rng(1).dirichlet(np.ones(3), 3).T
    halves = np.repeat(matrix, 2, axis=0) / 2.0
    found = success_enclosure(halves, 0, learner_prior=theirs, num_rounds=5)
    few = success_enclosure(matrix, 0, learner_prior=theirs, num_rounds=5)
    assert found.num_leaves == few.num_leaves <= 3**5
    assert (found.lower, found.upper) == pytest.approx((few.lower, few.upper), abs=1e-10)


def test_a_tree_too_large_is_refused_at_once():
    with pytest.raises(cb.CobayesError, match=r"a tree of 1e\+12 leaves would take about"):
        success_enclosure(np.eye(3) + 0.1, 0, num_rounds=10**6, max_leaves=10**12)


def test_priors_at_the_border_and_one_datum():
    matrix = np.random.default_rng(1).dirichlet(np.ones(3), 3).T
    assert success_enclosure(matrix, 0, learner_prior=[0.0, 0.5, 0.5], num_rounds=3).upper == 0.0
    assert (
        success_enclosure(matrix, 0, learner_prior=[1.0, 0.0, 0.0], num_rounds=3).lower > 1.0 - 1e-9
    )
    with pytest.raises(cb.CobayesError, match="teacher's prior"):
        success_enclosure(matrix, 0, prior=[0.0, 0.5, 0.5], num_rounds=3)
    one = success_enclosure([[0.3, 0.7]], 0, learner_prior=[0.4, 0.6], num_rounds=5)
    assert (one.num_rounds, one.num_leaves) == (0, 1)
    with pytest.raises(cb.CobayesError, match="BI"):
        success_enclosure(cb.BI(matrix), 0, num_rounds=1)
    assert math.isfinite(success_enclosure(matrix, 0, num_rounds=0).upper)


@pytest.mark.parametrize("matrix", [[[1.0, 2.0]], [[0.6, 0.2], [0.4, 0.8]]])
@pytest.mark.parametrize("num_rounds", [10**20, 10**400])
def test_a_number_of_rounds_beyond_any_tree_is_no_bare_exception(matrix, num_rounds):
    found = cb.success_enclosure(matrix, 0, num_rounds=num_rounds, max_leaves=50)
    assert 0.0 <= found.lower <= found.upper <= 1.0


@pytest.mark.parametrize(
    "matrix", [[[1.0, 1.0, 1e-310], [1.0, 1.0, 1.0]], [[1.0, 1e-200], [1e200, 1e308]]]
)
def test_nothing_is_proved_where_numbers_underflow_or_overflow(matrix):
    found = cb.success_enclosure(matrix, 0, num_rounds=3)
    assert 0.0 <= found.lower <= found.upper <= 1.0


@pytest.mark.parametrize(("prior", "learner_prior", "exact"), [
    ([1.0, 0.0], [0.4, 0.6], 0.4),
    ([0.4, 0.6], [1.0, 0.0], 1.0),
    ([1.0, 0.0], [1.0, 0.0], 1.0),
])  # fmt: skip
def test_an_agent_that_is_certain_from_the_start_has_the_success_of_the_bounds(
    prior, learner_prior, exact
):
    """Both of Frechet's bounds are min(1, theta^L(h) / theta^T(h)) if one of the beliefs is 1."""
    found = success_enclosure(
        [[0.9, 0.2], [0.1, 0.8]], 0, num_rounds=6, prior=prior, learner_prior=learner_prior
    )
    assert exact in found
    assert found.upper - found.lower < 1e-9
