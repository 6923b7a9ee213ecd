"""How rarely BI beats SCBI on random matrices, far below what plain sampling can see."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import number_between, whole_number
from cobayes._runtime.randomness import generator
from cobayes._runtime.threads import map_chunks
from cobayes._runtime.vector_math import lane_states
from cobayes.errors import CobayesError, import_optional
from cobayes.random_matrices.column_pairs import WIDTH
from cobayes.random_matrices.random_rates import check_shape
from cobayes.random_matrices.rare_kernels import Workspace, draw_matrices, move_matrices
from cobayes.random_matrices.rate_kernels import BLOCKS, LANES

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_FIRST_STEP = 0.5
_WANTED_ACCEPTANCE = 0.3
_MAX_LEVELS = 1000


@dataclass(frozen=True, eq=False)
class RareProbability:
    """The probability 1 - P that SCBI's mean rate is below BI's, by multilevel splitting.

    Attributes
    ----------
    num_data, num_hypotheses : int
        The shape.
    probability : float
        1 - P: the mean of the estimates of independent replicates, each of them unbiased.
    stderr : float
        Its standard error, from the scatter of the replicates.
    estimates : ndarray
        The replicates' estimates.
    levels : ndarray
        The levels of the score, rising to zero.
    acceptance : ndarray
        The share of accepted moves at every level but the last, in the replicates.
    num_particles, num_sweeps : int
        The effort at every level.
    confidence : float
        Confidence level of the interval.

    Examples
    --------
    >>> from cobayes.random_matrices import rare_probability
    >>> found = rare_probability(8, 2, num_particles=64, num_replicates=2, rng=1)
    >>> found.interval[0] < found.probability < found.interval[1]
    True
    """

    num_data: int
    num_hypotheses: int
    probability: float
    stderr: float
    estimates: NDArray[np.float64]
    levels: NDArray[np.float64]
    acceptance: NDArray[np.float64]
    num_particles: int
    num_sweeps: int
    confidence: float = 0.95

    @property
    def minus_log(self) -> float:
        """-ln(1 - P), the quantity of Figure 2F."""
        return -math.log(self.probability)

    @property
    def minus_log_stderr(self) -> float:
        """The standard error of -ln(1 - P)."""
        return self.stderr / self.probability

    @property
    def minus_log_interval(self) -> tuple[float, float]:
        """Student's interval for -ln(1 - P)."""
        from scipy.special import stdtrit

        quantile = float(stdtrit(len(self.estimates) - 1, 0.5 + 0.5 * self.confidence))
        margin = quantile * self.minus_log_stderr
        return self.minus_log - margin, self.minus_log + margin

    @property
    def interval(self) -> tuple[float, float]:
        """The interval for 1 - P that belongs to that of its logarithm."""
        low, high = self.minus_log_interval
        return math.exp(-high), math.exp(-low)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers that JSON can hold."""
        return {
            "num_data": self.num_data,
            "num_hypotheses": self.num_hypotheses,
            "probability": self.probability,
            "stderr": self.stderr,
            "interval": list(self.interval),
            "minus_log": self.minus_log,
            "minus_log_stderr": self.minus_log_stderr,
            "minus_log_interval": list(self.minus_log_interval),
            "estimates": self.estimates.tolist(),
            "num_levels": len(self.levels),
            "num_particles": self.num_particles,
            "num_sweeps": self.num_sweeps,
            "confidence": self.confidence,
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row; concatenate the rows of several shapes to a table."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        row = self.to_dict()
        del row["estimates"]
        row["num_replicates"] = len(self.estimates)
        row["low"], row["high"] = row.pop("interval")
        row["minus_log_low"], row["minus_log_high"] = row.pop("minus_log_interval")
        return pandas.DataFrame([row])

    def to_xarray(self) -> xr.Dataset:
        """Return the estimate, the replicates' and the levels as a Dataset.

        The shape is an axis, each side of length one, as for `RateComparison`.
        """
        xarray = import_optional("xarray", "labels", "a Dataset")
        shape = ("num_data", "num_hypotheses")
        # No acceptance belongs to the last level: there nothing moves.
        acceptance = np.append(self.acceptance, np.nan)
        return xarray.Dataset(
            {
                "probability": (shape, [[self.probability]]),
                "stderr": (shape, [[self.stderr]]),
                "interval": ((*shape, "bound"), [[self.interval]]),
                "minus_log": (shape, [[self.minus_log]]),
                "minus_log_stderr": (shape, [[self.minus_log_stderr]]),
                "minus_log_interval": ((*shape, "bound"), [[self.minus_log_interval]]),
                "estimate": ((*shape, "replicate"), [[self.estimates]]),
                "level": ((*shape, "step"), [[self.levels]]),
                "acceptance": ((*shape, "step"), [[acceptance]]),
            },
            coords={
                "num_data": [self.num_data],
                "num_hypotheses": [self.num_hypotheses],
                "bound": ["low", "high"],
                "replicate": np.arange(len(self.estimates)),
                "step": np.arange(len(self.levels)),
            },
            attrs={
                "num_particles": self.num_particles,
                "num_sweeps": self.num_sweeps,
                "confidence": self.confidence,
            },
        )

    def __repr__(self) -> str:
        return (
            f"RareProbability({self.num_data} x {self.num_hypotheses}; 1 - P = "
            f"{self.probability:.3g} ± {self.stderr:.2g}, -ln(1 - P) = {self.minus_log:.3f} ± "
            f"{self.minus_log_stderr:.3f}; {len(self.estimates)} replicates, "
            f"{len(self.levels)} levels)"
        )


def rare_probability(
    num_data: int,
    num_hypotheses: int,
    *,
    num_particles: int = 512,
    num_replicates: int = 8,
    num_sweeps: int = 4,
    survival: float = 0.3,
    confidence: float = 0.95,
    rng: Any = None,
) -> RareProbability:
    """Estimate 1 - P, the probability that SCBI is slower than BI on a random matrix.

    Plain sampling needs many times 1/(1 - P) matrices: 10^8 show no exception for square
    matrices beyond 17 x 17. Here a population of matrices climbs through levels of the score,
    BI's mean rate minus SCBI's, up to zero; the shares that pass the levels multiply.

    Parameters
    ----------
    num_data, num_hypotheses
        The shape, at least 2 x 2.
    num_particles
        Matrices in a population, rounded up to a multiple of 8.
    num_replicates
        Independent repetitions, at least 2; their scatter is the uncertainty.
    num_sweeps
        How often every column of every matrix is moved at each level.
    survival
        The share that should pass each level.
    confidence
        Confidence level of the intervals.
    rng
        Seed or generator; the same seed gives the same bits for any number of threads.

    Returns
    -------
    RareProbability
        The probability, its standard error and its interval.

    Notes
    -----
    Fixed-effort multilevel splitting (a sequential Monte Carlo sampler). A first population
    chooses the levels and the steps of the Markov chains and is then thrown away; with both
    fixed, every replicate is unbiased, however badly its chains mix. Bad mixing shows as
    scatter. When the estimates scatter by more than their mean, use more particles or sweeps.

    Examples
    --------
    >>> from cobayes.random_matrices import rare_probability
    >>> found = rare_probability(8, 2, num_particles=64, num_replicates=2, rng=1)
    >>> 0.0 < found.probability < 0.5
    True
    """
    check_shape(num_data, num_hypotheses)
    number_between(confidence, "the confidence", 0.0, 1.0, hint="0.95 is the default.")
    _check_effort(num_particles, num_replicates, num_sweeps, survival)
    groups = -(-num_particles // WIDTH)
    words = generator(rng).integers(0, 1 << 32, size=8, dtype=np.uint64)
    root = [int(word) for word in words]

    def population(replicate: int) -> _Population:
        return _Population(num_data, num_hypotheses, groups, num_sweeps, (root, replicate))

    levels, steps = _choose_levels(population(0), survival)
    runs = [_climb(population(1 + k), levels, steps) for k in range(num_replicates)]
    estimates = np.array([estimate for estimate, _ in runs])
    mean = float(estimates.mean())
    if mean == 0.0:
        raise CobayesError(
            f"no population of {groups * WIDTH} matrices survived all {len(levels)} levels.",
            "use more particles or more sweeps.",
        )
    return RareProbability(
        num_data=num_data,
        num_hypotheses=num_hypotheses,
        probability=mean,
        stderr=float(estimates.std(ddof=1)) / math.sqrt(num_replicates),
        estimates=estimates,
        levels=levels,
        acceptance=np.mean([acceptance for _, acceptance in runs], axis=0),
        num_particles=groups * WIDTH,
        num_sweeps=num_sweeps,
        confidence=confidence,
    )


class _Population:
    """Matrices that are moved in groups of eight, each group with its own random numbers."""

    def __init__(
        self,
        num_data: int,
        num_hypotheses: int,
        groups: int,
        num_sweeps: int,
        seed: tuple[list[int], int],
    ) -> None:
        root, replicate = seed
        self.matrices = np.empty((groups, WIDTH, num_hypotheses, num_data))
        self.scores = np.empty((groups, WIDTH))
        self.num_sweeps = num_sweeps
        self._rng = np.random.default_rng(np.random.SeedSequence(root, spawn_key=(replicate, 0)))
        self._states = [
            lane_states(
                np.random.SeedSequence(root, spawn_key=(replicate, 1, group)), LANES, BLOCKS
            )
            for group in range(groups)
        ]
        map_chunks(self._draw, range(groups))

    @property
    def size(self) -> int:
        return self.scores.size

    def survivors(self, level: float) -> int:
        return int(np.count_nonzero(self.scores > level))

    def resample(self, level: float) -> None:
        """Replace the population by draws from those above the level."""
        alive = np.flatnonzero(self.scores.reshape(-1) > level)
        # Everybody survives equally often, up to one; who gets one more is left to chance.
        copies, rest = divmod(self.size, alive.size)
        chosen = np.concatenate(
            [np.repeat(alive, copies), self._rng.choice(alive, rest, replace=False)]
        )
        self._rng.shuffle(chosen)
        self.matrices = self._by_particle(self.matrices)[chosen].reshape(self.matrices.shape)
        self.scores = self.scores.reshape(-1)[chosen].reshape(self.scores.shape)

    def move(self, level: float, step: float) -> float:
        """Run the Markov chains above the level; return the share of accepted moves."""
        accepted = map_chunks(
            lambda group: self._move_group(group, level, step, self.num_sweeps),
            range(len(self.scores)),
        )
        return sum(accepted) / (self.size * self.num_sweeps * self.matrices.shape[2])

    def _draw(self, group: int) -> None:
        draw_matrices(self._states[group], self.matrices[group], self._workspace().planes)
        self._move_group(group, -math.inf, 1.0, 0)

    def _move_group(self, group: int, level: float, step: float, sweeps: int) -> int:
        groups = self._states[group], self.matrices[group], self.scores[group]
        return move_matrices(*groups, level, step, sweeps, self._workspace())

    def _workspace(self) -> Workspace:
        _, _, num_hypotheses, num_data = self.matrices.shape
        return Workspace.empty(num_data, num_hypotheses)

    @staticmethod
    def _by_particle(array: NDArray[np.float64]) -> NDArray[np.float64]:
        return array.reshape(-1, *array.shape[2:])


def _choose_levels(
    population: _Population, survival: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Let a population climb, choosing each level by its scores and each step by acceptance."""
    levels: list[float] = []
    steps: list[float] = []
    step = _FIRST_STEP
    while True:
        level = min(0.0, float(np.quantile(population.scores, 1.0 - survival)))
        if levels and level <= levels[-1]:
            raise CobayesError(
                f"the population stopped rising at level {level:.4g} of the score.",
                "use more sweeps or more particles.",
            )
        levels.append(level)
        if level == 0.0:
            return np.array(levels), np.array(steps)
        if len(levels) == _MAX_LEVELS:
            raise CobayesError(
                f"the score has reached {level:.4g}, not 0, after {_MAX_LEVELS} levels.",
                "use more sweeps, or a smaller survival.",
            )
        population.resample(level)
        steps.append(step)
        acceptance = population.move(level, step)
        step = min(0.99, step * math.exp(acceptance - _WANTED_ACCEPTANCE))


def _climb(
    population: _Population, levels: NDArray[np.float64], steps: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return one unbiased estimate and the acceptance at every level but the last."""
    estimate = 1.0
    acceptance = np.zeros(len(steps))
    for k, level in enumerate(levels):
        alive = population.survivors(level)
        estimate *= alive / population.size
        if alive == 0:
            break
        if k < len(steps):
            population.resample(level)
            acceptance[k] = population.move(level, steps[k])
    return estimate, acceptance


def _check_effort(
    num_particles: int, num_replicates: int, num_sweeps: int, survival: float
) -> None:
    for value, least, what in (
        (num_particles, 8, "particles"),
        (num_replicates, 2, "replicates"),
        (num_sweeps, 1, "sweeps"),
    ):
        whole_number(value, f"the number of {what}", least)
    number_between(survival, "the survival", 0.0, 1.0, hint="0.3 is a good choice.")
