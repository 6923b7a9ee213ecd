"""The supplement's example on a 2 by 2 matrix, every printed number."""

import numpy as np
import pytest

import cobayes as cb

JOINT = np.array([[0.3, 0.3], [0.1, 0.3]])
UNIFORM = [0.5, 0.5]
HALF_LAST_DIGIT = 0.5e-3 + 1e-12


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
    # The supplement prints (0.643, 0.366), which does not sum to one: the 0.643 is a slip of
    # the pen for 0.634, as its own matrix above and 2 * 0.634 = 1.268 below show.
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
    # The supplement speaks of the first two rounds; it is not so for ever: in round three it
    # falls again (towards the asymptotic rate).
    third = divergence(scbi.likelihood(scbi.update(belief, 0)))
    assert third < second
