"""The supplement's 2x2 example: its printed numbers are ours, but for one misprint."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.paper.example import divergences, judge_divergence, judge_example, recompute, rounds_to

NUMBERS = recompute()
JOINT = np.array([[0.3, 0.3], [0.1, 0.3]])
UNIFORM = [0.5, 0.5]
HALF_LAST_DIGIT = 0.5e-3 + 1e-12


def test_every_printed_number_is_ours_or_the_known_misprint():
    # Supplement, "An Example on a 2 by 2 Matrix": the digits 3 and 4 are swapped, twice.
    wrong = NUMBERS[~NUMBERS.agrees]
    assert wrong.printed.tolist() == ["0.643", "0.643"]
    assert all(rounds_to(value, "0.634") for value in wrong.recomputed)
    assert len(NUMBERS) == 32


def test_a_wrong_number_would_be_noticed():
    assert rounds_to(0.7581, "0.758")
    assert not rounds_to(0.7586, "0.758")
    changed = NUMBERS.assign(agrees=NUMBERS.agrees & (NUMBERS.index > 0))
    assert judge_example(changed)[0].verdict == "does not hold"


def test_the_divergence_grows_on_the_printed_rounds_and_falls_after_them():
    found = divergences(200)
    # Computed independently, to four digits.
    expected = [0.1308, 0.1472, 0.1484, 0.1480, 0.1468]
    np.testing.assert_allclose(found[:5], expected, atol=5e-5)
    assert found[0] < found[1] < found[2]
    assert (np.diff(found[2:20]) < 0).all()
    assert found[-1] == pytest.approx(
        cb.rate_of_convergence(cb.examples["supplement-2x2"].model, 0), abs=1e-6
    )


def test_the_example_is_judged():
    numbers, divergence, faster = judge_example(NUMBERS)
    assert numbers.verdict == "holds except"
    assert divergence.verdict == "holds except"
    assert "rises in 2 of the 2 printed steps" in divergence.measured
    # 0.1438 nats per round against 0.1308: faster by a tenth only.
    assert faster.verdict == "does not hold"
    assert "0.1438 (SCBI) and 0.1308 (BI)" in faster.measured


def test_a_divergence_that_falls_on_the_printed_rounds_does_not_hold():
    assert judge_divergence(np.array([0.2, 0.1, 0.3, 0.4])).verdict == "does not hold"
    assert judge_divergence(np.array([0.1, 0.2, 0.3, 0.4])).verdict == "holds"


def test_numbers_round_to_as_many_digits_as_are_printed():
    assert rounds_to(0.449, "0.4")
    assert not rounds_to(0.606, "0.60")


@pytest.fixture
def scbi():
    return cb.SCBI(JOINT)


@pytest.fixture
def bi():
    return cb.BI(JOINT)


def test_bi_normalises_columns(bi):
    np.testing.assert_allclose(bi.likelihood(UNIFORM), [[0.75, 0.5], [0.25, 0.5]])


def test_first_scaled_matrix(scbi):
    expected = [[0.634, 0.366], [0.366, 0.634]]
    np.testing.assert_allclose(scbi.posteriors(UNIFORM), expected, atol=HALF_LAST_DIGIT)
    # "which is already column normalized"
    np.testing.assert_allclose(scbi.likelihood(UNIFORM), expected, atol=HALF_LAST_DIGIT)


def test_posteriors_after_the_first_datum(scbi, bi):
    np.testing.assert_allclose(bi.update(UNIFORM, 0), [0.6, 0.4])
    # The supplement prints (0.643, 0.366), which does not sum to one: 0.643 is a misprint of
    # 0.634, as its own matrix above and 2 * 0.634 = 1.268 below show.
    np.testing.assert_allclose(scbi.update(UNIFORM, 0), [0.634, 0.366], atol=HALF_LAST_DIGIT)


def test_second_round(scbi, bi):
    belief = scbi.update(UNIFORM, 0)
    np.testing.assert_allclose(2 * belief, [1.268, 0.732], atol=HALF_LAST_DIGIT)
    np.testing.assert_allclose(
        scbi.posteriors(belief), [[0.758, 0.242], [0.51, 0.49]], atol=HALF_LAST_DIGIT
    )
    np.testing.assert_allclose(scbi.likelihood(belief), [[0.60, 0.33], [0.4, 0.67]], atol=0.5e-2)
    np.testing.assert_allclose(scbi.update(belief, 0), [0.758, 0.242], atol=HALF_LAST_DIGIT)
    np.testing.assert_allclose(
        bi.update(bi.update(UNIFORM, 0), 0), [0.692, 0.308], atol=HALF_LAST_DIGIT
    )


def test_scaling_the_scaled_matrix_again_is_the_same(scbi):
    # The supplement scales M_1 in round two, not M.
    belief = scbi.update(UNIFORM, 0)
    again = cb.SCBI(scbi.likelihood(UNIFORM))
    np.testing.assert_allclose(again.posteriors(belief), scbi.posteriors(belief), rtol=1e-11)


def test_divergence_between_the_hypotheses_grows(scbi):
    def divergence(likelihood):
        p, q = likelihood.T
        return float(np.sum(p * np.log(p / q)))

    first = divergence(scbi.likelihood(UNIFORM))
    belief = scbi.update(UNIFORM, 0)
    second = divergence(scbi.likelihood(belief))
    assert divergence(cb.BI(JOINT).likelihood(UNIFORM)) < first < second
    # The supplement computes the first two rounds; in round three the divergence falls (towards
    # the rate of convergence).
    third = divergence(scbi.likelihood(scbi.update(belief, 0)))
    assert third < second
