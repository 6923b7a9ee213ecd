"""The exact expected advantage for two columns."""

import math

import mpmath
import numpy as np
import pytest

from cobayes.errors import CobayesError
from cobayes.random_matrices.sampling import _mean_log_ratio_sum, expected_advantage


def high_precision_advantage(n):
    """The same integral with 30 digits, over a finer and wider grid, by another library."""
    with mpmath.workdps(30):

        def integrand(u):
            t = mpmath.e**u
            if t < 200:
                phi = 1 - t * mpmath.e**t * mpmath.e1(t)
            else:  # the divergent series, cut where its terms are below 1e-40
                phi = sum((-1) ** (k + 1) * mpmath.factorial(k) / t**k for k in range(1, 60))
            return mpmath.e ** (-t) - phi**n

        step = mpmath.mpf(1) / 8
        low, high = int((-70 - math.log(n)) / step), int(max(5, 70 / n) / step) + 1
        integral = step * mpmath.fsum(integrand(k * step) for k in range(low, high))
        return integral - mpmath.log(n) - mpmath.mpf(n - 1) / n


@pytest.mark.parametrize("n", [2, 3, 4, 10, 50, 317, 10_000])
def test_integral_is_exact_to_1e_13(n):
    assert abs(expected_advantage(n) - high_precision_advantage(n)) < 1e-13


def test_integral_for_two_data_is_the_closed_form():
    integral = _mean_log_ratio_sum(2) - math.log(2) - 0.5
    assert integral == pytest.approx(math.pi**2 / 8 - math.log(2) - 0.5, abs=1e-14)
    assert expected_advantage(2) == math.pi**2 / 8 - math.log(2) - 0.5


def test_one_datum_teaches_nothing():
    assert expected_advantage(1) == 0.0
    assert _mean_log_ratio_sum(1) == pytest.approx(0.0, abs=1e-14)


def test_integral_equals_double_integral_for_two_data():
    # x and y uniform on the 1-simplex: E = mean of log(x/y + (1-x)/(1-y)) - log 2 - 1/2.
    from scipy.integrate import dblquad

    value, _ = dblquad(lambda x, y: math.log(x / y + (1 - x) / (1 - y)), 0, 1, 0, 1)
    assert expected_advantage(2) == pytest.approx(value - math.log(2) - 0.5, abs=1e-7)


def test_advantage_grows_with_the_number_of_data():
    values = [expected_advantage(n) for n in range(1, 200)]
    assert np.all(np.diff(values) > 0)


def test_one_datum_tells_nothing_under_either_rule():
    assert expected_advantage(1) == 0.0


@pytest.mark.parametrize("bad", [0, -3, 2.5, "two", None, True, 10**301])
def test_bad_number_of_data_is_refused(bad):
    with pytest.raises(CobayesError, match=r"num_data (is|has)"):
        expected_advantage(bad)
