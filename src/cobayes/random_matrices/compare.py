"""How often and by how much SCBI is faster than BI on random matrices: P and E of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np

from cobayes._input.validation import counts_by, number_between, whole_number
from cobayes._intervals import exact_interval, normal_quantile, proportion_stderr
from cobayes._runtime.limits import require_affordable, short_number
from cobayes._runtime.randomness import generator
from cobayes._runtime.threads import map_chunks
from cobayes.errors import CobayesError, import_optional
from cobayes.random_matrices.random_rates import (
    RateStatistics,
    add_statistics,
    check_shape,
    sample_rates_chunk,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Target = Literal["both", "probability", "advantage"]

# A chunk is some milliseconds of work; it depends on the shape alone, never on the threads.
_CHUNK_ENTRIES = 1 << 21
_CHUNKS_AT_ONCE = 512
_DEFAULT_LIMIT = 1_000_000_000


@dataclass(frozen=True)
class RateComparison:
    """P and E for matrices of one shape, estimated from random ones.

    Attributes
    ----------
    num_data, num_hypotheses : int
        The shape.
    num_samples : int
        How many matrices were drawn.
    num_exceptions : int
        On how many of them SCBI's mean rate was below BI's.
    advantage, advantage_stderr : float
        E, the mean of SCBI's mean rate minus BI's.
    mean_bi, mean_bi_stderr, mean_scbi, mean_scbi_stderr : float
        The mean rates themselves.
    confidence : float
        Confidence level of the intervals.
    is_precise : bool or None
        Whether the asked precision was reached; None where none was asked for.

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
    is_precise: bool | None = None

    @classmethod
    def from_statistics(
        cls,
        num_data: int,
        num_hypotheses: int,
        statistics: RateStatistics,
        *,
        confidence: float = 0.95,
        is_precise: bool | None = None,
    ) -> RateComparison:
        """Make the estimates from the sums that `sample_rates_chunk` returns.

        Parameters
        ----------
        num_data, num_hypotheses
            The shape.
        statistics
            Sums over at least two matrices, of one chunk or added up over many.
        confidence
            Confidence level of the intervals.
        is_precise
            Whether an asked precision was reached.

        Returns
        -------
        RateComparison
            The two estimates with standard errors and intervals.
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
            is_precise=is_precise,
            **estimates,
        )

    @property
    def probability(self) -> float:
        """P, the share of matrices on which SCBI's mean rate is at least BI's."""
        return 1.0 - self.exception_probability

    @property
    def probability_stderr(self) -> float:
        """The standard error of P; about 1/num_samples, not zero, where P was seen as 1."""
        return proportion_stderr(self.num_exceptions, self.num_samples)

    @property
    def probability_interval(self) -> tuple[float, float]:
        """The exact (Clopper-Pearson) interval for P."""
        low, high = self.exception_interval
        return 1.0 - high, 1.0 - low

    @property
    def exception_probability(self) -> float:
        """1 - P, with all its digits."""
        return self.num_exceptions / self.num_samples

    @property
    def exception_interval(self) -> tuple[float, float]:
        """The exact (Clopper-Pearson) interval for 1 - P."""
        return exact_interval(self.num_exceptions, self.num_samples, self.confidence)

    @property
    def advantage_interval(self) -> tuple[float, float]:
        """The interval for E."""
        margin = normal_quantile(self.confidence) * self.advantage_stderr
        return self.advantage - margin, self.advantage + margin

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers that JSON can hold."""
        return {
            "num_data": self.num_data,
            "num_hypotheses": self.num_hypotheses,
            "num_samples": self.num_samples,
            "num_exceptions": self.num_exceptions,
            "probability": self.probability,
            "probability_stderr": self.probability_stderr,
            "probability_interval": list(self.probability_interval),
            "exception_interval": list(self.exception_interval),
            "advantage": self.advantage,
            "advantage_stderr": self.advantage_stderr,
            "advantage_interval": list(self.advantage_interval),
            "mean_bi": self.mean_bi,
            "mean_bi_stderr": self.mean_bi_stderr,
            "mean_scbi": self.mean_scbi,
            "mean_scbi_stderr": self.mean_scbi_stderr,
            "confidence": self.confidence,
            "is_precise": self.is_precise,
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row; concatenate the rows of several shapes to a table."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        row = self.to_dict()
        for name in ("probability", "exception", "advantage"):
            row[f"{name}_low"], row[f"{name}_high"] = row.pop(f"{name}_interval")
        return pandas.DataFrame([row])

    def to_xarray(self) -> xr.Dataset:
        """Return a Dataset with an axis for each side of the shape, of length one.

        Several shapes make one table with ``xarray.combine_by_coords``.
        """
        xarray = import_optional("xarray", "labels", "a Dataset")
        content = self.to_dict()
        shape = ("num_data", "num_hypotheses")
        variables = {}
        for name, value in content.items():
            if name.endswith("_interval"):
                variables[name] = ((*shape, "bound"), [[value]])
            elif name not in (*shape, "confidence", "is_precise"):
                variables[name] = (shape, [[value]])
        return xarray.Dataset(
            variables,
            coords={**{name: [content[name]] for name in shape}, "bound": ["low", "high"]},
            # NetCDF has no None and no truth values.
            attrs={"confidence": self.confidence}
            | ({} if self.is_precise is None else {"is_precise": int(self.is_precise)}),
        )

    def __repr__(self) -> str:
        low, high = self.probability_interval
        return (
            f"RateComparison({self.num_data} x {self.num_hypotheses}, {self.num_samples:,} "
            f"matrices; P = {self.probability:.6g} in [{low:.6g}, {high:.6g}], "
            f"E = {self.advantage:.6g} ± {self.advantage_stderr:.2g})"
        )


@counts_by("num_samples")
def compare_rates(
    num_data: SupportsIndex,
    num_hypotheses: SupportsIndex,
    num_samples: SupportsIndex | None = None,
    *,
    rng: Any = None,
    precision: float | None = None,
    precision_of: Target = "both",
    confidence: float = 0.95,
) -> RateComparison:
    """Estimate P and E by drawing matrices whose columns are uniform on the simplex.

    Give the number of samples, or a precision, or both: then the samples are a limit.

    Parameters
    ----------
    num_data, num_hypotheses
        The shape, at least 2 x 2.
    num_samples
        How many matrices to draw; with a precision, the most (10^9 when left out).
    rng
        Seed or generator; the same seed gives the same bits for any number of threads.
    precision
        Draw until the half-width of the interval is no larger than this.
    precision_of
        Whose interval: "probability" (P), "advantage" (E) or "both".
    confidence
        Confidence level of the intervals.

    Returns
    -------
    RateComparison
        ``.probability``, ``.advantage``, their standard errors and intervals.

    Notes
    -----
    Section 4.1. P is the probability that the mean over h of R^s(M; h) is at least that of
    R^b(M; h); E is the expectation of the difference. A precision is looked at only between
    batches of at least 10^4 matrices, so stopping early hardly biases anything.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.compare_rates(3, 2, 10_000, rng=1)
    >>> round(found.probability, 3)
    0.643
    """
    num_data, num_hypotheses = check_shape(num_data, num_hypotheses)
    number_between(confidence, "the confidence", 0.0, 1.0, hint="0.95 is the default.")
    limit = _sample_limit(num_samples, precision, precision_of)
    # About 1 ns for every pair of columns and row, and 5 ns for every entry.
    work = num_data * num_hypotheses * (5.0 + num_hypotheses)
    if num_samples is not None:
        require_affordable(
            f"{short_number(limit)} matrices of {num_data} x {num_hypotheses}",
            "draw fewer (10^8 give four digits), or use rare_probability for small 1 - P.",
            seconds=1e-9 * work * min(limit, 10**300),
        )
    chunk_size = max(64, _CHUNK_ENTRIES // (num_data * num_hypotheses))
    entropy = generator(rng).integers(0, 1 << 32, size=8, dtype=np.uint64)
    root = [int(word) for word in entropy]

    def run_chunk(chunk: tuple[int, int]) -> RateStatistics:
        index, size = chunk
        # Shapes have seeds of their own: a curve over n must not move as a whole.
        seed = np.random.SeedSequence(root, spawn_key=(num_data, num_hypotheses, index))
        return sample_rates_chunk(num_data, num_hypotheses, size, seed)

    def summary(statistics: RateStatistics, is_precise: bool | None = None) -> RateComparison:
        return RateComparison.from_statistics(
            num_data, num_hypotheses, statistics, confidence=confidence, is_precise=is_precise
        )

    statistics: RateStatistics | None = None
    drawn = 0
    # Goals below the limit are whole chunks: the rest of a chunk cannot be drawn later.
    goal = limit if precision is None else min(limit, math.ceil(10_000 / chunk_size) * chunk_size)
    while True:
        for chunks in _chunks(drawn, goal, chunk_size):
            for part in map_chunks(run_chunk, chunks):
                statistics = part if statistics is None else add_statistics(statistics, part)
        drawn = goal
        assert statistics is not None  # the goal is at least two samples
        if precision is None:
            return summary(statistics)
        width = _half_width(summary(statistics), precision_of)
        if width <= precision or drawn >= limit:
            return summary(statistics, width <= precision)
        # Never more than four times what there is: the width is an estimate too.
        needed = drawn * min(4.0, 1.05 * (width / precision) ** 2)
        goal = min(limit, max(drawn + chunk_size, math.ceil(needed / chunk_size) * chunk_size))


def _chunks(drawn: int, goal: int, size: int) -> Iterator[list[tuple[int, int]]]:
    """Cut samples drawn..goal at multiples of the size, some hundred chunks at a time."""
    pieces = []
    while drawn < goal:
        index = drawn // size
        end = min((index + 1) * size, goal)
        pieces.append((index, end - drawn))
        drawn = end
        if len(pieces) == _CHUNKS_AT_ONCE or drawn == goal:
            yield pieces
            pieces = []


def _half_width(result: RateComparison, of: Target) -> float:
    widths = {}
    for name, (low, high) in (
        ("probability", result.probability_interval),
        ("advantage", result.advantage_interval),
    ):
        widths[name] = 0.5 * (high - low)
    return max(widths.values()) if of == "both" else widths[of]


def _sample_limit(num_samples: SupportsIndex | None, precision: float | None, of: str) -> int:
    if not isinstance(of, str) or of not in ("both", "probability", "advantage"):
        raise CobayesError(
            f"precision_of is {of!r}.", "choose 'both', 'probability' or 'advantage'."
        )
    if precision is not None:
        number_between(precision, "the precision", 0.0, math.inf)
    if num_samples is None:
        if precision is None:
            raise CobayesError(
                "neither a number of samples nor a precision was given.",
                "compare_rates(10, 2, 1_000_000), or compare_rates(10, 2, precision=1e-3).",
            )
        return _DEFAULT_LIMIT
    return whole_number(num_samples, "num_samples", 2)
