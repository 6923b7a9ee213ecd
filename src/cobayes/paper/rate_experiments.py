"""The experiments behind Figure 2: rates of both rules on random matrices, in shards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobayes._intervals import exact_interval, proportion_stderr
from cobayes.report.section import Context
from cobayes.runs import Estimate, Experiment, Point, RunResult, concatenate
from cobayes.runs.statistics import mean_estimate

PAPER_SAMPLES = {"n-by-2": 10**10, "10-by-m": 10**8, "n-by-n": 10**8}
QUICK_SAMPLES = {"n-by-2": 2_000_000, "10-by-m": 500_000, "n-by-n": 50_000}
SHAPES = {
    "n-by-2": tuple((n, 2) for n in range(2, 51)),
    "10-by-m": tuple((10, m) for m in range(2, 11)),
    "n-by-n": tuple((n, n) for n in range(2, 51)),
}
"""The three families of Figure 2: (number of data, number of hypotheses)."""

# A matrix costs about so many seconds on one core: measured, see docs/reproducing.md.
_SECONDS_PER_CELL = {"n-by-2": 3e-9, "10-by-m": 7e-9, "n-by-n": 7e-9}
_SECONDS_PER_COMPARISON = 2e-10
_SHARD_SECONDS = 1.5

SPLITTING_SIZES = (*range(6, 31, 2), 34, 38, 42, 46, 50)
QUICK_SPLITTING_SIZES = (6, 10, 14, 18, 22)
FULL_ESTIMATES, FEWEST_ESTIMATES = 20, 10
FULL_PARTICLES, QUICK_PARTICLES = 256, 128
# A shard's pilot population is shared by its estimates: fewer where each takes half a minute.
_ESTIMATES_PER_SHARD, _LARGE_ESTIMATES_PER_SHARD, _LARGE = 5, 2, 30


@dataclass(frozen=True)
class Family:
    """P and E along one family of shapes.

    Attributes
    ----------
    name : str
        "n-by-2", "10-by-m" or "n-by-n".
    num_data, num_hypotheses : ndarray
        The shapes.
    num_samples : int
        Matrices a shape.
    exceptions : ndarray
        On how many of them SCBI's mean rate was below BI's.
    advantage, advantage_stderr : ndarray
        E.
    mean_bi, mean_bi_stderr : ndarray
        The mean rate of BI.
    mean_scbi, mean_scbi_stderr : ndarray
        The mean rate of SCBI.
    """

    name: str
    num_data: np.ndarray
    num_hypotheses: np.ndarray
    num_samples: int
    exceptions: np.ndarray
    advantage: np.ndarray
    advantage_stderr: np.ndarray
    mean_bi: np.ndarray
    mean_bi_stderr: np.ndarray
    mean_scbi: np.ndarray
    mean_scbi_stderr: np.ndarray

    @property
    def size(self) -> np.ndarray:
        """What grows along the family: m for 10 x m, else n."""
        return self.num_hypotheses if self.name == "10-by-m" else self.num_data

    @property
    def shape_names(self) -> list[str]:
        """The shapes in words."""
        return [f"{n} × {m}" for n, m in zip(self.num_data, self.num_hypotheses, strict=True)]

    @property
    def probability(self) -> np.ndarray:
        """P."""
        return 1.0 - self.exceptions / self.num_samples

    @property
    def probability_stderr(self) -> np.ndarray:
        """The standard error of P, never zero."""
        return np.array([proportion_stderr(int(k), self.num_samples) for k in self.exceptions])

    def exception_interval(self, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the exact (Clopper-Pearson) intervals for 1 - P.

        Parameters
        ----------
        confidence
            Of each.
        """
        ends = [exact_interval(int(k), self.num_samples, confidence) for k in self.exceptions]
        low, high = np.array(ends).T
        return low, high

    @property
    def minus_log(self) -> np.ndarray:
        """-ln(1 - P); infinite where no exception was seen."""
        with np.errstate(divide="ignore"):
            return -np.log(self.exceptions / self.num_samples)

    @property
    def minus_log_stderr(self) -> np.ndarray:
        """The standard error of -ln(1 - P); NaN where no exception was seen."""
        share = self.exceptions / self.num_samples
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(share > 0.0, np.sqrt((1.0 - share) / self.exceptions), np.nan)

    def minus_log_interval(self, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the interval for -ln(1 - P); its upper end is infinite without exceptions.

        Parameters
        ----------
        confidence
            Of each.
        """
        low, high = self.exception_interval(confidence)
        with np.errstate(divide="ignore"):
            return -np.log(high), -np.log(low)


@dataclass(frozen=True)
class Splitting:
    """-ln(1 - P) for square matrices by multilevel splitting.

    Attributes
    ----------
    size : ndarray
        The numbers of rows.
    minus_log, minus_log_stderr : ndarray
        -ln(1 - P) and its standard error, from the scatter of independent estimates.
    low, high : ndarray
        Student's 95 % intervals.
    num_estimates : int
        How many estimates for each size.
    num_particles : int
        Matrices in each population.
    """

    size: np.ndarray
    minus_log: np.ndarray
    minus_log_stderr: np.ndarray
    low: np.ndarray
    high: np.ndarray
    num_estimates: int
    num_particles: int


def rates_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw matrices of one shape and return sums of both rules' rates.

    Parameters
    ----------
    parameters
        "num_data" and "num_hypotheses".
    seed_sequence
        The shard's own.
    num_samples
        How many matrices.
    """
    from cobayes.random_matrices.random_rates import sample_rates_chunk

    return sample_rates_chunk(
        parameters["num_data"], parameters["num_hypotheses"], num_samples, seed_sequence
    )


def splitting_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Estimate 1 - P by multilevel splitting, so many times independently.

    Parameters
    ----------
    parameters
        "num_data", "num_hypotheses", "num_particles" and "num_sweeps".
    seed_sequence
        The shard's own.
    num_samples
        How many estimates, at least two.

    Notes
    -----
    All estimates of a shard share the levels that a pilot population chose. Given the levels each
    is unbiased and independent of the others, so that estimates are uncorrelated, within shards
    and across them.
    """
    from cobayes.random_matrices.rare import rare_probability

    found = rare_probability(
        parameters["num_data"],
        parameters["num_hypotheses"],
        num_particles=parameters["num_particles"],
        num_sweeps=parameters["num_sweeps"],
        num_replicates=num_samples,
        rng=np.random.default_rng(seed_sequence),
    )
    return {"estimates": found.estimates}


def rates_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate P and E from a point's sums.

    Parameters
    ----------
    statistics
        Statistics of the shards that have finished.
    """
    count = int(statistics["count"])
    fine = int(statistics["count_not_slower"])
    return {
        "P": Estimate(fine / count, proportion_stderr(fine, count)),
        "E": mean_estimate(
            count, statistics["sum_difference"], statistics["sum_squared_difference"]
        ),
    }


def splitting_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate -ln(1 - P) from the estimates of 1 - P.

    Parameters
    ----------
    statistics
        Statistics of the shards that have finished.
    """
    estimates = np.asarray(statistics["estimates"])
    mean = float(estimates.mean())
    error = float(estimates.std(ddof=1)) / math.sqrt(len(estimates))
    return {"-ln(1-P)": Estimate(-math.log(mean), error / mean)}


def rates_experiment(context: Context, family: str) -> Experiment:
    """Return the experiment of one family of shapes.

    Parameters
    ----------
    context
        Says scale and seed.
    family
        A key of `SHAPES`.
    """
    num_samples = context.count(PAPER_SAMPLES[family], at_least=100, quick=QUICK_SAMPLES[family])
    points = [
        Point(
            f"{n} x {m}",
            {"num_data": n, "num_hypotheses": m},
            num_samples,
            min(num_samples, _samples_per_shard(family, n, m)),
        )
        for n, m in SHAPES[family]
    ]
    return Experiment(
        f"rates-{family}", tuple(points), rates_shard, seed=context.seed, estimate=rates_estimate
    )


def splitting_experiment(context: Context) -> Experiment:
    """Return the experiment that goes beyond what plain sampling of squares can see.

    Parameters
    ----------
    context
        Says scale and seed. Since the paper has no such experiment, scale 1 means 20 estimates of
        1 - P for each size; fewer than ten could not say how much they scatter.
    """
    estimates = context.count(FULL_ESTIMATES, at_least=FEWEST_ESTIMATES, quick=FEWEST_ESTIMATES)
    particles = QUICK_PARTICLES if context.is_quick else FULL_PARTICLES
    points = [
        Point(
            f"{n} x {n}",
            {"num_data": n, "num_hypotheses": n, "num_particles": particles, "num_sweeps": 4},
            estimates,
            _ESTIMATES_PER_SHARD if n <= _LARGE else _LARGE_ESTIMATES_PER_SHARD,
        )
        for n in (QUICK_SPLITTING_SIZES if context.is_quick else SPLITTING_SIZES)
    ]
    return Experiment(
        "splitting-n-by-n",
        tuple(points),
        splitting_shard,
        seed=context.seed,
        estimate=splitting_estimate,
        reduce=concatenate,
    )


def family_of(name: str, result: RunResult) -> Family:
    """Return P and E of a family from its finished run.

    Parameters
    ----------
    name
        A key of `SHAPES`.
    result
        Of `rates_experiment`.
    """
    statistics = [point.statistics for point in result]
    columns: dict[str, Any] = {}
    for column, key in (("advantage", "difference"), ("mean_bi", "bi"), ("mean_scbi", "scbi")):
        estimates = [
            mean_estimate(s["count"], s[f"sum_{key}"], s[f"sum_squared_{key}"]) for s in statistics
        ]
        columns[column] = np.array([estimate.value for estimate in estimates])
        columns[f"{column}_stderr"] = np.array([estimate.stderr for estimate in estimates])
    return Family(
        name=name,
        num_data=np.array([point.parameters["num_data"] for point in result]),
        num_hypotheses=np.array([point.parameters["num_hypotheses"] for point in result]),
        num_samples=result.points[0].num_samples,
        exceptions=np.array([int(s["count"]) - int(s["count_not_slower"]) for s in statistics]),
        **columns,
    )


def splitting_of(result: RunResult) -> Splitting:
    """Return -ln(1 - P) from a finished run of `splitting_experiment`.

    Parameters
    ----------
    result
        Of that experiment.
    """
    from scipy.special import stdtrit

    found = [splitting_estimate(point.statistics, {})["-ln(1-P)"] for point in result]
    values = np.array([estimate.value for estimate in found])
    errors = np.array([estimate.stderr for estimate in found])
    count = len(result.points[0].statistics["estimates"])
    margin = float(stdtrit(count - 1, 0.975)) * errors
    return Splitting(
        size=np.array([point.parameters["num_data"] for point in result]),
        minus_log=values,
        minus_log_stderr=errors,
        low=values - margin,
        high=values + margin,
        num_estimates=count,
        num_particles=result.points[0].parameters["num_particles"],
    )


def _samples_per_shard(family: str, num_data: int, num_hypotheses: int) -> int:
    """Return how many matrices take about a second or two, rounded to 1, 2 or 5 times 10^k."""
    cost = num_data * num_hypotheses * _SECONDS_PER_CELL[family]
    if num_hypotheses > 2:
        cost += num_data * num_hypotheses**2 * _SECONDS_PER_COMPARISON
    wanted = _SHARD_SECONDS / cost
    power = 10 ** math.floor(math.log10(wanted))
    return max(step * power for step in (1, 2, 5) if step * power <= wanted)
