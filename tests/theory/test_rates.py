"""Rates of convergence, M-sharp and the relevant hypothesis."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import cobayes as cb
from cobayes.errors import CobayesError
from cobayes.theory.rates import (
    limit_divergences,
    m_sharp,
    rate_of_convergence,
    relevant_hypothesis,
)

RULES = ("bi", "scbi")
KINDS = {"bi": cb.BI, "scbi": cb.SCBI}

matrices = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(2, 5)),
    elements=st.floats(1e-3, 1e3),
)


def exact_rates(matrix, rule):
    """The definition of Theorems 3.2 and 3.6 with 400 digits: rates go down to 1e-300."""
    n, m = matrix.shape
    with mpmath.workdps(400):
        entries = [[mpmath.mpf(float(value)) for value in row] for row in matrix]

        def divergence(h, b):
            column, other = [row[h] for row in entries], [row[b] for row in entries]
            if rule == "scbi":
                other = [y / x for x, y in zip(column, other, strict=True)]
                column = [mpmath.mpf(1)] * n
            total, other_total = mpmath.fsum(column), mpmath.fsum(other)
            return mpmath.fsum(
                x / total * mpmath.log(x / total * other_total / y)
                for x, y in zip(column, other, strict=True)
            )

        return [min(divergence(h, b) for b in range(m) if b != h) for h in range(m)]


def largest_error(found, exact):
    return max(abs(float((f - e) / e)) for f, e in zip(found, exact, strict=True))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", [(2, 2), (7, 3), (9, 8)])
@pytest.mark.parametrize("power", [1, 20, 300])
def test_rates_are_those_of_the_theorems(rule, shape, power):
    # Powers: entries down to 1e-300 and ratios that overflow when formed.
    matrix = np.random.default_rng(0).uniform(0.1, 1.0, shape) ** power
    assert (
        largest_error(rate_of_convergence(KINDS[rule](matrix)), exact_rates(matrix, rule)) < 1e-13
    )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("distance", [1e-1, 1e-3, 1e-6, 1e-9, 1e-12])
def test_nearly_equal_columns_lose_no_more_digits_than_the_data_have(rule, distance):
    rng = np.random.default_rng(1)
    matrix = rng.standard_exponential((12, 4))
    matrix[:, 1] = 3.7 * matrix[:, 0] * (1.0 + distance * rng.standard_normal(12))
    error = largest_error(rate_of_convergence(KINDS[rule](matrix)), exact_rates(matrix, rule))
    # Rounding an entry, by 1.1e-16, changes a rate of size distance^2 by this much.
    assert error < 1e-13 + 2e-15 / distance


@pytest.mark.parametrize("rule", RULES)
def test_equal_columns_have_rate_zero(rule):
    matrix = np.random.default_rng(2).standard_exponential((9, 3))
    matrix[:, 2] = matrix[:, 0]
    rates = rate_of_convergence(KINDS[rule](matrix))
    assert rates[0] == rates[2] == 0.0 < rates[1]


@given(matrices)
def test_rates_are_never_negative(matrix):
    for rule in RULES:
        assert np.all(rate_of_convergence(KINDS[rule](matrix)) >= 0.0)


@given(matrices, st.integers(0, 2**32 - 1))
def test_scbi_rate_does_not_change_when_rows_and_columns_are_scaled(matrix, seed):
    rng = np.random.default_rng(seed)
    scaled = rng.uniform(0.1, 10, (len(matrix), 1)) * matrix * rng.uniform(0.1, 10, matrix.shape[1])
    np.testing.assert_allclose(
        rate_of_convergence(scaled), rate_of_convergence(matrix), rtol=1e-9, atol=1e-14
    )


@given(matrices, st.randoms(use_true_random=False))
def test_permuting_data_changes_nothing_and_hypotheses_permutes_rates(matrix, random):
    rows = random.sample(range(matrix.shape[0]), matrix.shape[0])
    columns = random.sample(range(matrix.shape[1]), matrix.shape[1])
    for rule in RULES:
        np.testing.assert_allclose(
            rate_of_convergence(KINDS[rule](matrix[rows][:, columns])),
            rate_of_convergence(KINDS[rule](matrix))[columns],
            rtol=1e-9,
            atol=1e-14,
        )


@pytest.mark.parametrize("rule", RULES)
def test_one_hypothesis_is_an_entry_of_all(rule):
    matrix = np.random.default_rng(3).standard_exponential((5, 4))
    rates = rate_of_convergence(KINDS[rule](matrix))
    assert rates.shape == (4,)
    one = rate_of_convergence(KINDS[rule](matrix), 2)
    assert isinstance(one, float)
    assert one == rates[2]


def test_scbi_rate_is_bayes_rate_of_m_sharp():
    matrix = np.random.default_rng(5).standard_exponential((6, 4))
    for h in range(4):
        assert rate_of_convergence(matrix, h) == pytest.approx(
            rate_of_convergence(cb.BI(m_sharp(matrix, h)), h), rel=1e-12
        )


def test_m_sharp_is_rows_divided_by_the_column_then_normalised():
    matrix = np.random.default_rng(6).standard_exponential((6, 4))
    quotient = matrix / matrix[:, [2]]
    np.testing.assert_allclose(m_sharp(matrix, 2), quotient / quotient.sum(axis=0), rtol=1e-13)
    np.testing.assert_allclose(m_sharp(matrix, 2)[:, 2], 1 / 6, rtol=1e-15)
    wild = np.array([[1e-300, 1e300], [1e300, 1e-300]])
    np.testing.assert_allclose(m_sharp(wild, 0), [[0.5, 1.0], [0.5, 0.0]])


def test_m_sharp_is_refused_where_the_limit_depends_on_the_other_beliefs():
    # Hypothesis 1 allows datum 2, which hypothesis 0 excludes; only if datum 2 may be shown does
    # this matter.
    matrix = [[0.5, 0.2], [0.5, 0.3], [0.0, 0.5]]
    with pytest.raises(CobayesError, match="allows data that the taught hypothesis excludes"):
        m_sharp(matrix, 0)
    found = m_sharp(cb.SCBI(matrix, data_prior=[0.5, 0.5, 0.0]), 0)
    np.testing.assert_allclose(found, [[0.5, 0.4], [0.5, 0.6], [0.0, 0.0]], rtol=1e-12)


def test_a_hypothesis_without_an_available_datum_has_no_rate():
    rule = cb.SCBI([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], data_prior=[1.0, 0.0, 0.0])
    with pytest.raises(CobayesError, match="'1' allows none of the data"):
        rate_of_convergence(rule)


def test_m_sharp_is_the_limit_of_scbis_likelihood():
    # Section 3: as the belief tends to h, the scaled likelihood tends to M-sharp.
    matrix = np.random.default_rng(7).standard_exponential((5, 3))
    belief = np.array([1e-9, 1 - 2e-9, 1e-9])
    limit = cb.SCBI(matrix).likelihood(belief)
    np.testing.assert_allclose(limit, m_sharp(matrix, 1), atol=1e-7)


def test_relevant_hypothesis_sets_the_rate():
    matrix = np.random.default_rng(8).standard_exponential((6, 5))
    for rule in RULES:
        kind = KINDS[rule]
        nearest = relevant_hypothesis(kind(matrix), 0)
        assert isinstance(nearest, int)
        pair = rate_of_convergence(kind(matrix[:, [0, nearest]]), 0)
        assert pair == pytest.approx(rate_of_convergence(kind(matrix), 0), rel=1e-12)
        assert rate_of_convergence(kind(np.delete(matrix, nearest, axis=1)), 0) > pair


def test_no_rival_determines_an_infinite_rate():
    for hypothesis in (0, None):
        with pytest.raises(CobayesError, match=r"inf.*every rival is excluded"):
            relevant_hypothesis([[1, 0], [0, 1]], hypothesis)


def test_labels_name_hypotheses():
    model = cb.Model([[0.5, 0.2], [0.5, 0.8]], hypotheses=["fair", "loaded"])
    assert rate_of_convergence(model, "loaded") == rate_of_convergence(model)[1]
    assert relevant_hypothesis(model, "loaded") == 0
    with pytest.raises(CobayesError, match="no hypothesis called 'odd'"):
        rate_of_convergence(model, "odd")


def test_two_by_two_rates_of_the_first_worked_case():
    # Supplement, Eqs. (avg_roc_bi) and (avg_roc_scbi): the means over both hypotheses.
    x, y = np.array([0.3, 0.7]), np.array([0.6, 0.4])
    matrix = np.stack([x, y], axis=1)
    bayes = 0.5 * np.sum((x - y) * (np.log(x) - np.log(y)))
    scbi = 0.5 * (np.log(np.sum(x / y)) + np.log(np.sum(y / x))) - np.log(2)
    assert np.mean(rate_of_convergence(cb.BI(matrix))) == pytest.approx(bayes, rel=1e-13)
    assert np.mean(rate_of_convergence(matrix)) == pytest.approx(scbi, rel=1e-13)


def test_one_datum_tells_nothing():
    assert rate_of_convergence([[0.2, 0.9]]).tolist() == [0.0, 0.0]


def test_one_hypothesis_has_no_rate():
    with pytest.raises(CobayesError, match="one hypothesis"):
        rate_of_convergence([[0.2], [0.8]])


def test_a_subclass_has_its_parents_rate_unless_it_answers_differently():
    class Renamed(cb.SCBI):
        """Answers as SCBI does."""

    class Halfway(cb.SCBI):
        """Believes half of what it is taught."""

        def respond(self, log_belief):
            likelihood = super().respond(log_belief).likelihood
            return cb.rules.Response((likelihood + 1.0 / self.model.num_data) / 2.0)

    matrix = np.random.default_rng(5).standard_exponential((4, 3))
    np.testing.assert_array_equal(rate_of_convergence(Renamed(matrix)), rate_of_convergence(matrix))
    own = rate_of_convergence(Halfway(matrix))
    # In the limit of certainty the columns are halfway between M-sharp's and the uniform one.
    for h in range(3):
        columns = (m_sharp(matrix, h) + 0.25) / 2.0
        expected = min(
            (columns[:, h] * np.log(columns[:, h] / columns[:, j])).sum()
            for j in range(3)
            if j != h
        )
        assert own[h] == pytest.approx(expected, rel=1e-9)


def test_m_sharp_takes_scbi_and_models_and_refuses_other_rules():
    class Own(cb.SCBI):
        def respond(self, log_belief):
            return super().respond(log_belief)

    matrix = np.random.default_rng(9).standard_exponential((4, 3))
    model = cb.Model(matrix, hypotheses=list("ABC"))
    for source in (model, cb.SCBI(model)):
        np.testing.assert_array_equal(m_sharp(source, "B"), m_sharp(matrix, 1))
    for rule in (cb.BI(model), Own(model)):
        with pytest.raises(CobayesError, match="M-sharp is the limit of SCBI"):
            m_sharp(rule, "B")


@pytest.mark.parametrize(
    "matrix",
    [
        [[1.0], [1.0, 2.0]],
        np.ones((2, 2, 2)),
        [[1.0, 2.0], [3.0, 4.0 + 1.0j]],
        [[1, 2], [3, 10**400]],
        np.ma.array(np.ones((2, 2)), mask=True),
    ],
    ids=["ragged", "stack", "complex", "huge integer", "masked"],
)
def test_what_is_no_table_of_real_numbers_is_refused_in_words(matrix):
    for function in (cb.rate_of_convergence, cb.theory.relevant_hypothesis):
        with pytest.raises(cb.CobayesError):
            function(matrix)


@given(matrices, st.integers(0, 10**6))
def test_the_rate_with_a_data_prior_is_the_smallest_bracket(matrix, seed):
    share = np.random.default_rng(seed).dirichlet(np.ones(len(matrix)))
    if not (share > 0.0).all():
        return
    found = rate_of_convergence(cb.SCBI(matrix, data_prior=share))
    with mpmath.workdps(40):
        for h in range(matrix.shape[1]):
            brackets = []
            for j in range(matrix.shape[1]):
                ratios = [mpmath.mpf(row[j]) / mpmath.mpf(row[h]) for row in matrix]
                pairs = [(mpmath.mpf(p), z) for p, z in zip(share, ratios, strict=True)]
                total = mpmath.fsum(p for p, _ in pairs)
                mean = mpmath.fsum(p * z for p, z in pairs) / total
                log_mean = mpmath.fsum(p * mpmath.log(z) for p, z in pairs) / total
                brackets.append(mpmath.log(mean) - log_mean)
            expected = min(float(value) for j, value in enumerate(brackets) if j != h)
            assert found[h] == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_a_uniform_data_prior_changes_nothing():
    matrix = np.random.default_rng(2).exponential(size=(6, 4))
    np.testing.assert_allclose(
        rate_of_convergence(cb.SCBI(matrix, data_prior=np.full(6, 1 / 6))),
        rate_of_convergence(matrix),
        rtol=1e-13,
    )


def test_data_that_are_not_available_do_not_count():
    matrix = np.random.default_rng(2).exponential(size=(6, 4))
    share = np.array([0.0, 0.25, 0.25, 0.0, 0.25, 0.25])
    np.testing.assert_allclose(
        rate_of_convergence(cb.SCBI(matrix, data_prior=share)),
        rate_of_convergence(matrix[share > 0]),
        rtol=1e-12,
    )


def test_only_hypotheses_with_a_positive_prior_are_rivals():
    matrix = np.random.default_rng(2).exponential(size=(6, 4))
    found = rate_of_convergence(matrix, prior=[0.2, 0.3, 0.0, 0.5])
    kept = [0, 1, 3]
    np.testing.assert_allclose(found[kept], rate_of_convergence(matrix[:, kept]), rtol=1e-12)
    assert np.isnan(found[2])
    with pytest.raises(CobayesError, match="prior"):
        rate_of_convergence(matrix, 2, prior=[0.2, 0.3, 0.0, 0.5])
    assert relevant_hypothesis(matrix, 0, prior=[0.5, 0.5, 0.0, 0.0]) == 1


def test_zeros_make_rates_infinite_where_one_datum_excludes():
    # Hypotheses 0 and 1 allow the same data; 2 allows another one and is excluded by any of theirs.
    matrix = np.array([[1.0, 2.0, 1.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    common = rate_of_convergence(matrix[:2, :2])
    np.testing.assert_allclose(rate_of_convergence(matrix), [*common, np.inf], rtol=1e-13)
    # BI: log-ratios over the data that h allows; 0 and 1 allow a datum that excludes 2.
    columns = matrix / matrix.sum(axis=0)
    x, y = columns[:2, 0], columns[:2, 1]
    expected = (x * np.log(x / y)).sum()
    assert rate_of_convergence(cb.BI(matrix), 0) == pytest.approx(expected, rel=1e-13)
    # Under BI hypothesis 2 is told from 0 by its own datum: one round may do it.
    assert rate_of_convergence(cb.BI(matrix), 2) == np.inf


def test_a_custom_rule_has_the_rate_of_its_answers():
    class Mixed(cb.Rule):
        name = "mixed"

        def respond(self, log_belief):
            return cb.rules.Response(0.9 * self.model.normalized() + 0.1 / self.model.num_data)

    class Renamed(cb.SCBI):
        name = "renamed"

    matrix = [[0.6, 0.3, 0.2], [0.4, 0.7, 0.8]]
    blurred = 0.9 * np.array(matrix) + 0.05
    expected = cb.rate_of_convergence(cb.BI(blurred))
    np.testing.assert_allclose(cb.rate_of_convergence(Mixed(matrix)), expected)
    np.testing.assert_array_equal(
        cb.rate_of_convergence(Renamed(matrix)), cb.rate_of_convergence(matrix)
    )


@pytest.mark.parametrize("depth", [0, 1])
def test_the_rate_of_a_learner_that_takes_the_table_as_it_is(depth):
    # At depth 0 it does not know how the teacher's columns are normalised.
    rule = cb.Pragmatic([[0.9, 0.5], [0.1, 0.4]], depth, literal="truth")
    found = cb.rate_of_convergence(rule, 0)
    assert found == limit_divergences(rule, 0).min()
    odds = cb.simulate(rule, 0, num_rounds=600, num_lessons=600, rng=1).log_odds()
    slopes = (odds[:, 600] - odds[:, 200]) / 400
    assert abs(slopes.mean() - found) < 4 * slopes.std(ddof=1) / np.sqrt(600)


def test_a_learner_that_takes_the_table_as_it_is_may_be_led_astray():
    # By hand: the teacher of 0 draws from (3/4, 1/4), and log-odds gain log 3 or nothing.
    rule = cb.Pragmatic([[3, 1], [1, 1]], 0, literal="truth")
    assert rate_of_convergence(rule, 0) == pytest.approx(0.75 * np.log(3.0))
    # Taught 1, half of the data speak for 0 and none for 1.
    assert rate_of_convergence(rule, 1) == pytest.approx(-0.5 * np.log(3.0))
    lessons = cb.simulate(rule, 1, num_rounds=60, num_lessons=200, rng=1)
    assert lessons.mean(1)[-1] < 1e-6


def test_every_rival_may_be_excluded_by_another_datum():
    # No datum excludes both rivals of 0, and yet its rate is infinite.
    matrix = [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    assert rate_of_convergence(matrix, 0) == np.inf
    assert rate_of_convergence(cb.BI(matrix), 0) == np.inf


def test_entries_that_underflow_beside_others_of_their_column_count_in_scbis_rate():
    rule = cb.SCBI([[1.0, 1e-200], [1.0, 1e200]])
    # log(sum_i p_i z_i) - sum_i p_i log(z_i) with z = (1e-200, 1e200) and its inverse.
    expected = 200.0 * np.log(10.0) - np.log(2.0)
    np.testing.assert_allclose(cb.rate_of_convergence(rule), expected, rtol=1e-14)
