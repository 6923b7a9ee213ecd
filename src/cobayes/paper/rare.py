"""1 - P, the probability that BI is faster on a random matrix, by multilevel splitting.

The score of a matrix is BI's mean rate minus SCBI's, and 1 - P is the probability of a positive
score. A population of matrices passes through increasing levels of the score up to zero. At each
level the matrices below it are replaced by copies of those above. Then all matrices make steps of a
Markov chain that stays above the level. The product of the shares that pass the levels is an
estimate of 1 - P. Figure 2 shows these estimates beside those of plain sampling, which fails if
1 - P is very small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.report.section import Context
from cobayes.runs import Estimate, Experiment, Point, RunResult, concatenate

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

# The share of the pilot population whose scores exceed the next level, the target share of accepted
# moves, and the first step size: usual choices for multilevel splitting; none biases the estimates.
_SURVIVAL = 0.3
_ACCEPTANCE = 0.3
_FIRST_STEP = 0.5

PAPER_SQUARES, QUICK_SQUARES = 10**8, 50_000
"""The number of sampled matrices of each n x n shape: in the paper, and at quick scale."""

SPLITTING_SIZES = (*range(6, 31, 2), 34, 38, 42, 46, 50)
QUICK_SPLITTING_SIZES = (6, 10, 14, 18, 22)
# Estimates per shard; the estimates of a shard share a pilot population. Shards for matrices with
# more than `_LARGE` rows have fewer estimates, because an estimate takes up to half a minute.
_ESTIMATES_PER_SHARD, _LARGE_ESTIMATES_PER_SHARD, _LARGE = 5, 2, 22
_NUM_SWEEPS = 2


def splitting_experiment(context: Context) -> Experiment:
    """Return the experiment that estimates 1 - P of square matrices by multilevel splitting.

    The paper has no such experiment. At scale 1 there are 20 estimates of 1 - P for each size, each
    from a population of 256 matrices. At any scale there are at least ten estimates, each from
    at least 128 matrices; ten suffice for a standard error. The largest size is linear in the
    logarithm of the scale; up to scale 0.0005 (`QUICK_SQUARES / PAPER_SQUARES`), the sizes are
    those of quick scale.
    """
    estimates = context.setting("num_estimates", context.count(20, at_least=10, quick=10))
    particles = context.setting("num_particles", context.count(256, at_least=128, quick=128))
    scales = np.log([QUICK_SQUARES / PAPER_SQUARES, 1.0])
    ends = QUICK_SPLITTING_SIZES[-1], SPLITTING_SIZES[-1]
    largest = np.interp(math.log(context.scale), scales, ends)
    is_small = context.is_quick or largest == ends[0]
    points = []
    for n in QUICK_SPLITTING_SIZES if is_small else (n for n in SPLITTING_SIZES if n <= largest):
        per_shard = _ESTIMATES_PER_SHARD if n <= _LARGE else _LARGE_ESTIMATES_PER_SHARD
        given = {"num_data": n, "num_particles": particles}
        points.append(Point(f"{n} x {n}", given, estimates, per_shard))
    functions: dict[str, Any] = {"estimate": splitting_estimate, "reduce": concatenate}
    return Experiment("splitting-n-by-n", points, splitting_shard, seed=context.seed, **functions)


def splitting_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Return `num_samples` estimates of 1 - P by multilevel splitting.

    The estimates of a shard share the levels and step sizes that a pilot population chose. Given
    the levels and step sizes, the estimates are independent and unbiased; so they are uncorrelated.
    """
    size, rng = parameters["num_data"], np.random.default_rng(seed_sequence)
    counts = {"num_estimates": num_samples, "num_particles": parameters["num_particles"]}
    found = exception_probabilities(size, size, num_sweeps=_NUM_SWEEPS, rng=rng, **counts)
    return {"estimates": found}


def splitting_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate -ln(1 - P) from the estimates of 1 - P."""
    estimates = np.asarray(statistics["estimates"])
    mean = float(estimates.mean())
    error = float(estimates.std(ddof=1)) / math.sqrt(len(estimates))
    return {"-ln(1-P)": Estimate(-math.log(mean), error / mean)}


def splitting_table(result: RunResult) -> pd.DataFrame:
    """Return -ln(1 - P) of square matrices, with standard errors and 95 % intervals."""
    import pandas as pd
    from scipy.special import stdtrit

    rows = {}
    for point in result:
        n, found = point.parameters["num_data"], point.estimates["-ln(1-P)"]
        margin = stdtrit(point.num_samples - 1, 0.975) * found.stderr
        ends = (found.value - margin, found.value + margin)
        rows[f"{n} × {n}"] = (n, found.value, found.stderr, *ends)
    columns = ["size", "minus_log", "minus_log_stderr", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def exception_probabilities(
    num_data: int,
    num_hypotheses: int,
    *,
    num_estimates: int,
    num_particles: int,
    num_sweeps: int,
    rng: np.random.Generator,
) -> Array:
    """Return unbiased and uncorrelated estimates of 1 - P for one shape.

    Parameters
    ----------
    num_data, num_hypotheses
        The shape.
    num_estimates
        The number of estimates; each has its own population.
    num_particles
        The number of matrices in a population.
    num_sweeps
        The number of moves of every column of every matrix at each level.
    rng
        Draws the matrices and their moves.

    Notes
    -----
    A pilot population chooses the levels and the step sizes, and is then discarded. Given both, the
    estimates are independent, and unbiased even if their Markov chains mix badly; bad mixing
    increases the variance.
    """
    pilot = Population(1, num_particles, num_data, num_hypotheses, rng)
    levels, steps = _choose_levels(pilot, num_sweeps)
    population = Population(num_estimates, num_particles, num_data, num_hypotheses, rng)
    estimates = np.ones(num_estimates)
    for level, step in zip(levels, steps, strict=True):
        estimates *= population.resample(level)
        population.move(level, step, num_sweeps)
    return estimates * (population.scores > 0.0).mean(axis=1)


class Population:
    """Random matrices with their scores, in groups that are resampled separately.

    Parameters
    ----------
    num_groups, group_size
        The number of groups, and of matrices in each.
    num_data, num_hypotheses
        The shape, n x m.
    rng
        Draws the matrices and their moves.

    Attributes
    ----------
    lines : ndarray
        Shape (4, groups * size, m, n). ``lines[k, i, h]`` belongs to column h of matrix i. For
        k = 0 it holds positive numbers, at first independent exponentials. For k = 1 it is the
        column: these numbers divided by their sum, at first uniform on the simplex. For k = 2 and
        k = 3 it holds the logarithms and the reciprocals of the column's entries.
    scores : ndarray
        BI's mean rate minus SCBI's, (groups, size).

    Notes
    -----
    The scores follow from two numbers of each column h, mean_d(log M_dh) and sum_d(M_dh log M_dh),
    and from two tables of pairs of columns. ``cross[j, :, h]`` is sum_d(M_dh log M_dj), and
    ``ratio[j, :, h]`` is log(sum_d(M_dj / M_dh)) - mean_d(log M_dj); for j = h they are -inf and
    inf. The second axis is that of the matrices. The first axis is j because the scores need
    extremes over j; this order halves the time at 50 x 50.
    """

    def __init__(
        self,
        num_groups: int,
        group_size: int,
        num_data: int,
        num_hypotheses: int,
        rng: np.random.Generator,
    ) -> None:
        self._shape, self._rng = (num_groups, group_size), rng
        count = num_groups * group_size
        self.lines = np.ones((4, count, num_hypotheses, num_data))
        self._numbers = np.zeros((2, count, num_hypotheses))
        self._tables = np.zeros((2, num_hypotheses, count, num_hypotheses))
        for column, own in enumerate(rng.standard_exponential(self.lines[0].shape).swapaxes(0, 1)):
            self._put(column, own)
        self.scores = self._scores().reshape(self._shape)

    @property
    def matrices(self) -> Array:
        """The matrices, (groups * size, n, m)."""
        return self.lines[1].transpose(0, 2, 1)

    def resample(self, level: float) -> Array:
        """Fill each group with copies of its members above the level.

        Return, for each group, the share of members above the level; a group with share 0 is kept.
        """
        num_groups, group_size = self._shape
        chosen, shares = [], np.zeros(num_groups)
        for group, scores in enumerate(self.scores):
            alive = np.flatnonzero(scores > level)
            shares[group] = len(alive) / group_size
            if not len(alive):  # the estimate of this group is zero
                alive = np.arange(group_size)
            # The numbers of copies of the survivors differ by at most one.
            copies, rest = divmod(group_size, len(alive))
            extra = self._rng.choice(alive, rest, replace=False)
            chosen.append(group * group_size + np.concatenate([np.repeat(alive, copies), extra]))
        kept = np.concatenate(chosen)
        # `take` keeps the order of the axes in memory, on which the speed of `_scores` depends.
        self.lines, self._numbers = self.lines.take(kept, axis=1), self._numbers.take(kept, axis=1)
        self._tables = self._tables.take(kept, axis=2)
        self.scores = self.scores.ravel()[kept].reshape(self._shape)
        return shares

    def move(self, level: float, step: float, num_sweeps: int) -> float:
        """Move columns if the new score is above the level; return the share of accepted moves."""
        accepted = 0.0
        num_columns = self.lines.shape[2]
        for _ in range(num_sweeps):
            for column in range(num_columns):
                accepted += self._move_column(column, level, step)
        return accepted / (num_sweeps * num_columns)

    def _move_column(self, column: int, level: float, step: float) -> float:
        # All numbers that change with this column; the second axis is that of the matrices.
        parts = (
            self.lines[:, :, column],
            self._numbers[:, :, column : column + 1],
            self._tables[:, column],
            self._tables[:, :, :, column].swapaxes(1, 2),
        )
        before = [part.copy() for part in parts]
        self._put(column, propose_exponentials(before[0][0], step, self._rng))
        scores = self._scores()
        is_rejected = ~(scores > level)
        for part, saved in zip(parts, before, strict=True):
            np.copyto(part, saved, where=is_rejected[:, None])
        self.scores = np.where(is_rejected, self.scores.ravel(), scores).reshape(self._shape)
        return 1.0 - float(is_rejected.mean())

    def _scores(self) -> Array:
        # Theorems 3.2 and 3.6: a rate is the smallest of the divergences from the other columns.
        (mean_logs, entropies), (cross, ratio) = self._numbers, self._tables
        bayes, cooperative = entropies - cross.max(axis=0), ratio.min(axis=0) + mean_logs
        return (bayes - cooperative).mean(axis=1) + math.log(self.lines.shape[3])

    def _put(self, column: int, exponentials: Array) -> None:
        """Replace a column of every matrix, and its numbers in the tables."""
        new = exponentials / exponentials.sum(axis=1, keepdims=True)
        logs, inverse = np.log(new), 1.0 / new
        mean_log = logs.mean(axis=1)
        self.lines[:, :, column] = exponentials, new, logs, inverse
        self._numbers[:, :, column] = mean_log, (new * logs).sum(axis=1)
        _, columns, all_logs, inverses = self.lines
        mean_logs, cross, ratio = self._numbers[0], *self._tables
        cross[:, :, column] = (all_logs @ new[:, :, None])[:, :, 0].T
        cross[column] = (columns @ logs[:, :, None])[:, :, 0]
        ratio[:, :, column] = (np.log((columns @ inverse[:, :, None])[:, :, 0]) - mean_logs).T
        ratio[column] = np.log((inverses @ new[:, :, None])[:, :, 0]) - mean_log[:, None]
        cross[column, :, column], ratio[column, :, column] = -np.inf, np.inf


def propose_exponentials(old: Array, step: float, rng: np.random.Generator) -> Array:
    """Move independent exponentials by a Markov kernel that is reversible for their distribution.

    An exponential is the squared length of a complex normal variable z. The new exponential is the
    squared length of ``sqrt(1 - step^2) z + step z'`` with a new variable z'. The correlation of
    the two exponentials is 1 - step^2.
    """
    real, imaginary = step * math.sqrt(0.5) * rng.standard_normal((2, *old.shape))
    return (math.sqrt(1.0 - step * step) * np.sqrt(old) + real) ** 2 + imaginary**2


def _choose_levels(population: Population, num_sweeps: int) -> tuple[list[float], list[float]]:
    """Raise a pilot population to level zero; return the levels on the way and their step sizes."""
    levels: list[float] = []
    steps: list[float] = []
    step = _FIRST_STEP
    while (level := float(np.quantile(population.scores, 1.0 - _SURVIVAL))) < 0.0:
        if levels and level <= levels[-1]:
            raise CobayesError(
                f"multilevel splitting made no progress beyond level {level:.4g}.",
                "increase num_particles.",
            )
        levels.append(level)
        steps.append(step)
        population.resample(level)
        accepted = population.move(level, step, num_sweeps)
        step = min(0.99, step * math.exp(accepted - _ACCEPTANCE))
    return levels, steps
