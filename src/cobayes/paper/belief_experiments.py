"""The experiments behind Figure 3: beliefs on random 20 x 20 matrices after 5 and 30 rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.report.section import Context
from cobayes.runs import Estimate, Experiment, Point, RunResult, concatenate, mean_estimate

SIZE = 20
EXACT_ROUNDS, SIMULATED_ROUNDS = 5, 30
NUM_LESSONS = 2000
PAPER_EXACT, PAPER_SIMULATED = 300, 500
QUICK_EXACT, QUICK_SIMULATED = 24, 60

# Each about a second or two on one core.
_EXACT_PER_SHARD, _SIMULATED_PER_SHARD = 1, 5

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Beliefs:
    """Mean and standard deviation of the belief in the truth, a row for each matrix.

    Attributes
    ----------
    num_rounds : int
        After how many rounds.
    num_lessons : int or None
        From how many lessons for each matrix; None where they are exact.
    mean_bi, mean_scbi, std_bi, std_scbi : ndarray
        One number for each matrix.
    """

    num_rounds: int
    num_lessons: int | None
    mean_bi: Array
    mean_scbi: Array
    std_bi: Array
    std_scbi: Array


def random_matrix(rng: np.random.Generator, size: int = SIZE) -> Array:
    """Return a square matrix whose columns are uniform on the simplex.

    Parameters
    ----------
    rng
        Draws it.
    size
        The number of rows and columns.
    """
    return rng.dirichlet(np.ones(size), size).T


def exact_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw matrices and return exact means and deviations of the belief in the truth.

    Parameters
    ----------
    parameters
        "size" and "num_rounds".
    seed_sequence
        The shard's own.
    num_samples
        How many matrices.
    """
    from cobayes.rules import BI, SCBI
    from cobayes.theory.exact import exact_rounds

    rows = []
    for seed in seed_sequence.spawn(num_samples):
        matrix = random_matrix(np.random.default_rng(seed), parameters["size"])
        found = [exact_rounds(rule(matrix), 0, parameters["num_rounds"]) for rule in (BI, SCBI)]
        rows.append([f(x) for x in found for f in (lambda x: x.mean[-1], lambda x: x.std[-1])])
    return _as_statistics(np.array(rows))


def simulated_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw matrices, teach many lessons on each, and return means and deviations.

    Parameters
    ----------
    parameters
        "size", "num_rounds" and "num_lessons".
    seed_sequence, num_samples
        See `exact_shard`.
    """
    from cobayes.lessons import simulate
    from cobayes.rules import BI, SCBI

    rows = []
    for seed in seed_sequence.spawn(num_samples):
        first, *others = seed.spawn(3)
        matrix = random_matrix(np.random.default_rng(first), parameters["size"])
        row = []
        for rule, own in zip((BI, SCBI), others, strict=True):
            lessons = simulate(
                rule(matrix),
                0,
                num_rounds=parameters["num_rounds"],
                num_lessons=parameters["num_lessons"],
                rng=np.random.default_rng(own),
                keep_paths=False,
            )
            row += [lessons.mean()[-1], lessons.std()[-1]]
        rows.append(row)
    return _as_statistics(np.array(rows))


def beliefs_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate by how much SCBI's mean and deviation exceed BI's, on average over matrices.

    Parameters
    ----------
    statistics
        Statistics of the shards that have finished.
    """
    found = {}
    for name, key in (("mean, SCBI less BI", "mean"), ("sd, SCBI less BI", "std")):
        ahead = np.asarray(statistics[f"{key}_scbi"]) - np.asarray(statistics[f"{key}_bi"])
        found[name] = mean_estimate(len(ahead), ahead.sum(), (ahead**2).sum())
    return found


def exact_experiment(context: Context) -> Experiment:
    """Return the experiment of the upper panels.

    Parameters
    ----------
    context
        Says scale and seed.
    """
    point = Point(
        f"{SIZE} x {SIZE}, round {EXACT_ROUNDS}, exact",
        {"size": SIZE, "num_rounds": EXACT_ROUNDS},
        context.count(PAPER_EXACT, at_least=2, quick=QUICK_EXACT),
        _EXACT_PER_SHARD,
    )
    return _experiment("beliefs-round-5-exact", point, exact_shard, context.seed)


def simulated_experiment(context: Context) -> Experiment:
    """Return the experiment of the lower panels.

    Parameters
    ----------
    context
        Says scale and seed; the scale changes the number of matrices, not that of lessons.
    """
    point = Point(
        f"{SIZE} x {SIZE}, round {SIMULATED_ROUNDS}, {NUM_LESSONS} lessons",
        {"size": SIZE, "num_rounds": SIMULATED_ROUNDS, "num_lessons": NUM_LESSONS},
        context.count(PAPER_SIMULATED, at_least=2, quick=QUICK_SIMULATED),
        _SIMULATED_PER_SHARD,
    )
    return _experiment("beliefs-round-30", point, simulated_shard, context.seed)


def beliefs_of(result: RunResult) -> Beliefs:
    """Return the beliefs of a finished run, in the order of the shards.

    Parameters
    ----------
    result
        Of one of the two experiments.
    """
    (point,) = result.points
    return Beliefs(
        num_rounds=point.parameters["num_rounds"],
        num_lessons=point.parameters.get("num_lessons"),
        **{name: np.asarray(values) for name, values in point.statistics.items()},
    )


def _experiment(name: str, point: Point, shard: Callable[..., Any], seed: int) -> Experiment:
    return Experiment(
        name, (point,), shard, seed=seed, estimate=beliefs_estimate, reduce=concatenate
    )


def _as_statistics(rows: Array) -> dict[str, Array]:
    names = ("mean_bi", "std_bi", "mean_scbi", "std_scbi")
    return {name: rows[:, k].copy() for k, name in enumerate(names)}
