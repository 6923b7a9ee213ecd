"""P and E of the paper: the probability that SCBI is faster than BI, and the mean gain in rate.

The mean rate of a rule on a matrix is the rule's rate of convergence, averaged over the hypotheses.
P and E are estimated from random matrices; for two columns E is also computed exactly.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.validation import generator, number_between, whole_number
from cobayes._intervals import exact_interval, normal_quantile, proportion_stderr
from cobayes._output import Result, dataset
from cobayes._parallel import num_threads, require_affordable, short_number
from cobayes.errors import CobayesError, import_optional

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# The number of matrices per call of the native core.
MATRICES_PER_CALL = 1 << 26
MOST_DATA_DIGITS = 300
# Above this t the series in `_log_transform` is exact to the last bit.
_ASYMPTOTIC = 50.0
# The step of the trapezoidal rule in `_mean_log_ratio_sum`.
_STEP = 0.1875

RateStatistics = dict[str, int | float]
"""Counts and sums over the matrices of a chunk; see `sample_rates_chunk`."""


def sample_rates_chunk(
    num_data: int, num_hypotheses: int, num_samples: int, seed_sequence: np.random.SeedSequence
) -> RateStatistics:
    """Draw random matrices; return sums of their rates. Sums of several chunks can be added.

    Parameters
    ----------
    num_data, num_hypotheses
        The shape, at least 2 x 2.
    num_samples
        The number of matrices.
    seed_sequence
        The seed of the chunk; the same seed gives the same bits.

    Returns
    -------
    dict
        "count", the number of matrices; "count_not_slower", the number of matrices on which SCBI's
        mean rate was at least BI's; "sum_bi" and "sum_scbi", the sums of the mean rates;
        "sum_difference", the sum of SCBI's mean rate minus BI's; "sum_squared_bi" and so on, the
        sums of the squares.
    """
    num_data, num_hypotheses = check_shape(num_data, num_hypotheses)
    not_slower, sums, squares, _, _ = _core.random_rates(
        num_data,
        num_hypotheses,
        num_samples=num_samples,
        seed=int(seed_sequence.generate_state(1, np.uint64)[0]),
        num_threads=num_threads(),
    )
    names = ("bi", "scbi", "difference")
    return {
        "count": num_samples,
        "count_not_slower": not_slower,
        **{f"sum_{name}": float(value) for name, value in zip(names, sums, strict=True)},
        **{f"sum_squared_{name}": float(value) for name, value in zip(names, squares, strict=True)},
    }


def add_statistics(left: RateStatistics, right: RateStatistics) -> RateStatistics:
    """Add two sets of statistics name by name."""
    return {name: left[name] + right[name] for name in left}


def check_shape(num_data: Any, num_hypotheses: Any) -> tuple[int, int]:
    """Return a shape as integers; raise an error if a side is below two or memory is too small."""
    num_data = whole_number(num_data, "the number of data", 2)
    num_hypotheses = whole_number(num_hypotheses, "the number of hypotheses", 2)
    require_affordable(
        f"matrices of {short_number(num_data)} x {short_number(num_hypotheses)}",
        "take a smaller shape.",
        # Memory of a thread with AVX2: four matrices at once, with their logarithms and inverses.
        num_bytes=4.0 * 24.0 * min(num_data * num_hypotheses, 10**300),
    )
    return num_data, num_hypotheses


@dataclass(frozen=True)
class RateComparison(Result):
    """P and E for matrices of one shape, estimated from random matrices.

    The mean rate of a rule on a matrix is the rule's rate of convergence, in nats per round,
    averaged over the hypotheses.

    Attributes
    ----------
    num_data, num_hypotheses : int
        The shape.
    num_samples : int
        The number of matrices.
    num_exceptions : int
        Number of matrices on which SCBI's mean rate was below BI's; P is the share of the others.
    advantage, advantage_stderr : float
        E, the mean of SCBI's mean rate minus BI's, and its standard error.
    mean_bi, mean_bi_stderr, mean_scbi, mean_scbi_stderr : float
        The mean rate of each rule, averaged over the matrices, and its standard error.
    confidence : float
        Confidence level of the intervals.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.random_matrices.compare_rates(10, 2, num_samples=1000, rng=1)
    >>> found.probability > 0.5, found.advantage > 0.0
    (True, True)
    """

    num_data: int
    num_hypotheses: int
    num_samples: int
    num_exceptions: int
    advantage: float
    advantage_stderr: float
    mean_bi: float
    mean_bi_stderr: float
    mean_scbi: float
    mean_scbi_stderr: float
    confidence: float = 0.95

    @classmethod
    def from_statistics(
        cls,
        num_data: int,
        num_hypotheses: int,
        statistics: RateStatistics,
        *,
        confidence: float = 0.95,
    ) -> RateComparison:
        """Make the estimates from the sums that `sample_rates_chunk` returns.

        Parameters
        ----------
        num_data, num_hypotheses
            The shape.
        statistics
            Sums over at least two matrices, from one chunk or added over several.
        confidence
            Confidence level of the intervals.

        Returns
        -------
        RateComparison
            The estimates of P, E and both mean rates.
        """
        count = int(statistics["count"])
        if count < 2:
            raise CobayesError(
                f"there are {count} samples; a standard error needs at least two.",
                "draw more matrices.",
            )
        estimates = {}
        for name, key in (("advantage", "difference"), ("mean_bi", "bi"), ("mean_scbi", "scbi")):
            mean = statistics[f"sum_{key}"] / count
            scatter = max(0.0, statistics[f"sum_squared_{key}"] - count * mean * mean)
            estimates[name] = float(mean)
            estimates[f"{name}_stderr"] = math.sqrt(scatter / (count - 1) / count)
        return cls(
            num_data=num_data,
            num_hypotheses=num_hypotheses,
            num_samples=count,
            num_exceptions=count - int(statistics["count_not_slower"]),
            confidence=confidence,
            **estimates,
        )

    @property
    def probability(self) -> float:
        """P, the share of matrices on which SCBI's mean rate is at least BI's."""
        return 1.0 - self.exception_probability

    @property
    def probability_stderr(self) -> float:
        """The standard error of P; about 1 / num_samples, not zero, if the estimate of P is 1."""
        return proportion_stderr(self.num_exceptions, self.num_samples)

    @property
    def probability_interval(self) -> tuple[float, float]:
        """The exact (Clopper-Pearson) interval for P."""
        low, high = self.exception_interval
        return 1.0 - high, 1.0 - low

    @property
    def exception_probability(self) -> float:
        """1 - P, computed without cancellation."""
        return self.num_exceptions / self.num_samples

    @property
    def exception_interval(self) -> tuple[float, float]:
        """The exact (Clopper-Pearson) interval for 1 - P."""
        return exact_interval(self.num_exceptions, self.num_samples, self.confidence)

    @property
    def advantage_interval(self) -> tuple[float, float]:
        """The interval for E by the normal approximation."""
        margin = normal_quantile(self.confidence) * self.advantage_stderr
        return self.advantage - margin, self.advantage + margin

    def to_dataframe(self) -> pd.DataFrame:
        """Return a DataFrame of one row; `pandas.concat` joins several shapes into a table."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        row = self.to_dict()
        for name in ("probability", "exception", "advantage"):
            row[f"{name}_low"], row[f"{name}_high"] = row.pop(f"{name}_interval")
        return pandas.DataFrame([row])

    def to_xarray(self) -> xr.Dataset:
        """Return a Dataset in which the axes num_data and num_hypotheses have length one.

        ``xarray.combine_by_coords`` joins the Datasets of several shapes.
        """
        content = self.to_dict()
        axes = {name: [content.pop(name)] for name in ("num_data", "num_hypotheses")}
        attributes = {"confidence": content.pop("confidence")}
        values = {name: [[value]] for name, value in content.items()}
        return dataset(values, {**axes, "bound": ["low", "high"]}, attributes)

    def __repr__(self) -> str:
        low, high = self.probability_interval
        return (
            f"RateComparison({self.num_data} x {self.num_hypotheses}, {self.num_samples:,} "
            f"matrices; P = {self.probability:.6g} in [{low:.6g}, {high:.6g}], "
            f"E = {self.advantage:.6g} ± {self.advantage_stderr:.2g})"
        )


def compare_rates(
    num_data: SupportsIndex,
    num_hypotheses: SupportsIndex,
    num_samples: SupportsIndex,
    *,
    rng: Any = None,
    confidence: float = 0.95,
) -> RateComparison:
    """Estimate P and E by drawing matrices whose columns are uniform on the simplex.

    Parameters
    ----------
    num_data, num_hypotheses
        The shape, at least 2 x 2.
    num_samples
        The number of matrices.
    rng
        Seed or generator; the same seed gives the same bits for any number of threads.
    confidence
        Confidence level of the intervals.

    Returns
    -------
    RateComparison
        ``.probability``, ``.advantage``, their standard errors and intervals.

    Notes
    -----
    Section 4.1. Let R^s and R^b be the rates of SCBI and BI. P is the probability that the mean
    over h of R^s(M; h) is at least that of R^b(M; h); E is the expectation of the difference.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.compare_rates(3, 2, 10_000, rng=2)
    >>> found.probability_interval[0] < 0.636 < found.probability_interval[1]
    True
    """
    num_data, num_hypotheses = check_shape(num_data, num_hypotheses)
    number_between(confidence, "the confidence", 0.0, 1.0, hint="0.95 is the default.")
    count = whole_number(num_samples, "num_samples", 2)
    # Time per matrix: about 1 ns for every pair of columns in each row, and 5 ns for every entry.
    work = num_data * num_hypotheses * (5.0 + num_hypotheses)
    require_affordable(
        f"{short_number(count)} matrices of {num_data} x {num_hypotheses}",
        "draw fewer; 10^8 matrices give four digits.",
        seconds=1e-9 * work * min(count, 10**300),
    )
    root = [int(word) for word in generator(rng).integers(0, 1 << 32, size=8, dtype=np.uint64)]
    parts = []
    for number, first in enumerate(range(0, count, MATRICES_PER_CALL)):
        # Each shape has its own seed: errors of neighbouring shapes must be independent.
        seed = np.random.SeedSequence(root, spawn_key=(num_data, num_hypotheses, number))
        size = min(MATRICES_PER_CALL, count - first)
        parts.append(sample_rates_chunk(num_data, num_hypotheses, size, seed))
    statistics = functools.reduce(add_statistics, parts)
    return RateComparison.from_statistics(
        num_data, num_hypotheses, statistics, confidence=confidence
    )


def expected_advantage(num_data: int) -> float:
    """Return E, the mean of SCBI's mean rate minus BI's, over random matrices with two columns.

    Both columns are uniform on the simplex and independent. The result is accurate to 1e-13 and
    takes less than a millisecond for any number of data.

    Parameters
    ----------
    num_data
        The number of rows n, at least 1.

    Returns
    -------
    float
        E in nats per round. It is zero for one datum and pi^2/8 - ln 2 - 1/2 for two, and grows
        with the number of data.

    Notes
    -----
    Section 4.1. Let x and y be the two columns. The paper estimates the mean of
    log(sum_i x_i / y_i) from 10^10 samples. By Frullani's formula this mean is a single integral,
    so that

        E = int_0^inf (exp(-t) - phi(t)^n) / t dt - ln n - (n - 1)/n,

    where phi(t) = 1 - t exp(t) E1(t) is the Laplace transform of the ratio of two exponential
    variables. With t = exp(u) the integrand is analytic in a strip of half-width pi/2, so the error
    of the trapezoidal rule with step h is about exp(-pi^2/h).

    Examples
    --------
    >>> import cobayes as cb
    >>> round(cb.expected_advantage(3), 6)
    0.106693
    """
    num_data = whole_number(num_data, "num_data", 1)
    if num_data > 10**MOST_DATA_DIGITS:
        raise CobayesError(f"num_data is too large; expected at most 1e{MOST_DATA_DIGITS}.")
    if num_data == 1:
        return 0.0
    if num_data == 2:
        return math.pi**2 / 8.0 - math.log(2.0) - 0.5
    return _mean_log_ratio_sum(num_data) - math.log(num_data) - (num_data - 1) / num_data


def _mean_log_ratio_sum(num_data: int) -> float:
    """Return the mean of log(sum_i x_i / y_i); the columns x, y are uniform on the simplex."""
    # Beyond these ends the integral is negligible: near zero the integrand is of the order
    # n t log(1/t), and for large t, phi(t) < 1/t.
    start = -46.0 - math.log(num_data)
    stop = max(4.0, 38.0 / num_data)
    u = np.arange(math.floor(start / _STEP), math.ceil(stop / _STEP) + 1) * _STEP
    t = np.exp(u)
    difference = np.expm1(-t) - np.expm1(num_data * _log_transform(t))
    return _STEP * math.fsum(difference)


def _log_transform(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log phi(t); see `expected_advantage`."""
    from scipy.special import exp1

    near = np.minimum(t, _ASYMPTOTIC)
    inverse = 1.0 / np.maximum(t, _ASYMPTOTIC)
    series = np.zeros_like(t)
    for k in range(30, 0, -1):  # phi(t) ~ 1!/t - 2!/t^2 + 3!/t^3 - ...
        series = k * inverse * (1.0 - series)
    return np.where(t < _ASYMPTOTIC, np.log1p(-near * np.exp(near) * exp1(near)), np.log(series))
