"""The experiments behind Figures 4, 5 and S2 to S7: success rates of many learners, in shards.

All learners of a case are taught by the same sequences, so that differences between them are far
less noisy than the success rates themselves. Sums over batches of sequences are kept: the scatter
of batches gives the standard error of anything computed from several learners.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.example_library import examples
from cobayes.paper.stability_cases import (
    Case,
    Effort,
    Kind,
    Learners,
    column_cases,
    learners_of,
    rank_four,
    rank_three,
)
from cobayes.report.section import Context
from cobayes.runs import Estimate, Experiment, Point, PointResult, RunResult
from cobayes.runs.statistics import Statistics

Array = NDArray[np.float64]

NUM_BATCHES = 40

# On one core: a round of a learner costs so many seconds, by the number of hypotheses; a sequence
# has about so many rounds times the rate of convergence. Measured, see docs/reproducing.md.
_SECONDS_PER_ROUND = {3: 2.8e-8, 4: 5e-8}
_ROUNDS_TIMES_RATE = 12.5
_SHARD_SECONDS = 1.5
_MOST_PER_SHARD = 5000

FIGURE_FOUR = (
    Case("disc", "M_3", "theta_1"),
    Case("uniform", "M_3", "theta_1"),
    Case("directions", "M'_1", "theta'_1"),
    Case("uniform", "M'_1", "theta'_1"),
)
"""The panels of Figure 4."""

# In which section's folder the cases are kept that Figures 4 and 5 do not show.
_HOMES = {
    ("disc", 3): "figure-s2",
    ("directions", 4): "figure-s4",
    ("uniform", 3): "figure-s5",
    ("uniform", 4): "figure-s6",
    ("column", 3): "figure-s7",
}


@dataclass(frozen=True, eq=False)
class CaseRates:
    """The success rates of all learners of a case.

    Attributes
    ----------
    case : Case
        Which matrix, prior and learners.
    learners : Learners
        Their priors and matrices, and where they lie.
    value, stderr : ndarray
        Success rates and their standard errors, (learners,).
    lower, upper : ndarray
        Between which values they would lie if every sequence were taken to its end.
    batches : ndarray
        The success rates in batches of equally many sequences, (batches, learners).
    num_sequences, num_unfinished : int
        Teaching sequences, and how many of them were cut off.
    mean_rounds : float
        Their mean length.
    """

    case: Case
    learners: Learners
    value: Array
    stderr: Array
    lower: Array
    upper: Array
    batches: Array
    num_sequences: int
    num_unfinished: int
    mean_rounds: float

    def __len__(self) -> int:
        return len(self.value)

    @cached_property
    def teacher_belief(self) -> float:
        """The teacher's prior in what is taught."""
        return float(self.case.teacher_prior[0])

    @cached_property
    def learner_belief(self) -> Array:
        """The learners' priors in what is taught."""
        return self.learners.priors[:, 0]


def success_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw teaching sequences and return sums of what every learner believes at their ends.

    Parameters
    ----------
    parameters
        "matrix" and "teacher_prior"; "learner_priors" (one row where all have the same) and
        "learner_matrices" (None where all have the teacher's); "batch", the number of sequences
        of which sums are kept apart.
    seed_sequence
        The shard's own.
    num_samples
        How many sequences, a multiple of the batch.
    """
    from cobayes.stability.bounds import frechet
    from cobayes.stability.followers import beliefs_of_many
    from cobayes.stability.sequences import TeachingSequences

    sequences = TeachingSequences.draw(
        parameters["matrix"],
        0,
        prior=parameters["teacher_prior"],
        num_sequences=num_samples,
        rng=seed_sequence,
    )
    beliefs = beliefs_of_many(
        sequences, parameters["learner_matrices"], parameters["learner_priors"]
    )
    lower, upper = frechet(sequences.teacher_beliefs[:, 0], beliefs)
    return {
        "count": num_samples,
        "unfinished": sequences.num_unfinished,
        "rounds": int(sequences.lengths.sum()),
        # Of what is missing to one: near certainty the beliefs' own squares would cancel.
        "squared_failures": ((1.0 - beliefs) ** 2).sum(axis=1),
        "lower": lower.sum(axis=1),
        "upper": upper.sum(axis=1),
        "batches": beliefs.reshape(len(beliefs), -1, parameters["batch"]).mean(axis=2).T.copy(),
    }


def join(left: Statistics, right: Statistics) -> dict[str, Any]:
    """Add sums; put batches below each other.

    Parameters
    ----------
    left, right
        Of two runs of shards.
    """
    joined = {name: left[name] + right[name] for name in left if name != "batches"}
    return {**joined, "batches": np.concatenate([left["batches"], right["batches"]])}


def success_estimate(statistics: Statistics, _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate the mean and the lowest success rate of a case, for progress reports.

    Parameters
    ----------
    statistics
        Of the shards that have finished.
    """
    batches = np.asarray(statistics["batches"])
    lowest = int(batches.mean(axis=0).argmin())
    return {
        "mean success": _of_batches(batches.mean(axis=1)),
        "lowest success": _of_batches(batches[:, lowest]),
    }


def figure_four(context: Context) -> list[CaseRates]:
    """Return the success rates of the four panels of Figure 4.

    Parameters
    ----------
    context
        Of any section: the data are kept with Figure 4 and computed once.
    """
    return _run(context, "figure-4", FIGURE_FOUR)


def figure_five(context: Context) -> list[CaseRates]:
    """Return the success rates of Figure 5: the irrelevant column, then the relevant one.

    Parameters
    ----------
    context
        Of any section: the data are kept with Figure 5 and computed once.
    """
    return _run(context, "figure-5", column_cases("M_3"))


def all_cases(context: Context, kind: Kind, size: int) -> list[CaseRates]:
    """Return the success rates of all combinations of the paper's matrices and priors.

    Those that Figures 4 and 5 show come from there; a case is computed once.

    Parameters
    ----------
    context
        Of any section.
    kind
        Of the learners.
    size
        Number of hypotheses, 3 or 4.
    """
    section = _HOMES[kind, size]
    if kind == "column":
        cases = tuple(case for k in range(1, 6) for case in column_cases(f"M_{k}"))
        shown = figure_five(context)
    else:
        pairs = rank_three() if size == 3 else rank_four()
        cases = tuple(Case(kind, matrix, prior) for matrix, prior in pairs)
        shown = figure_four(context)
    found = {rates.case: rates for rates in shown}
    rest = _run(context, section, [case for case in cases if case not in found])
    found |= {rates.case: rates for rates in rest}
    return [found[case] for case in cases]


def _run(context: Context, section: str, cases: Sequence[Case]) -> list[CaseRates]:
    experiment = stability_experiment(context, f"stability-{section}", cases)
    return rates_of(context, context.run(experiment, section=section), cases)


def stability_experiment(context: Context, name: str, cases: Sequence[Case]) -> Experiment:
    """Return the experiment of some cases.

    Parameters
    ----------
    context
        Says scale and seed.
    name
        Of the experiment.
    cases
        One point each.
    """
    effort = Effort.of(context)
    return Experiment(
        name,
        tuple(_point(case, effort, context.seed) for case in cases),
        success_shard,
        seed=context.seed,
        estimate=success_estimate,
        reduce=join,
    )


def rates_of(context: Context, result: RunResult, cases: Sequence[Case]) -> list[CaseRates]:
    """Return the success rates of a finished run, case by case.

    Parameters
    ----------
    context
        The one that the experiment was made with.
    result
        Of `stability_experiment`.
    cases
        The same.
    """
    effort = Effort.of(context)
    return [_case_rates(case, effort, context.seed, result[case.name]) for case in cases]


def _point(case: Case, effort: Effort, seed: int) -> Point:
    learners = learners_of(case, effort, seed)
    batch = -(-effort.num_sequences // NUM_BATCHES)
    num_batches = -(-effort.num_sequences // batch)
    seconds = _seconds_per_sequence(case, len(learners))
    wanted = min(_MOST_PER_SHARD, max(batch, int(_SHARD_SECONDS / seconds)))
    # Shards of equal size: a small rest would leave lanes of the kernel empty.
    num_shards = -(-num_batches // (wanted // batch))
    return Point(
        case.name,
        {
            "matrix": case.model.matrix,
            "teacher_prior": case.teacher_prior,
            "learner_priors": case.teacher_prior if case.column is not None else learners.priors,
            "learner_matrices": learners.matrices,
            "batch": batch,
        },
        num_batches * batch,
        -(-num_batches // num_shards) * batch,
    )


def _seconds_per_sequence(case: Case, num_learners: int) -> float:
    from cobayes.theory.rates import rate_of_convergence

    rate = float(rate_of_convergence(examples[case.matrix].model, 0))
    rounds = _ROUNDS_TIMES_RATE / rate
    return num_learners * rounds * _SECONDS_PER_ROUND[case.model.num_hypotheses]


def _case_rates(case: Case, effort: Effort, seed: int, point: PointResult) -> CaseRates:
    found = point.statistics
    count = int(found["count"])
    batches = np.asarray(found["batches"])
    value = batches.mean(axis=0)
    squares = np.asarray(found["squared_failures"]) / count
    variance = np.maximum(squares - (1.0 - value) ** 2, 0.0)
    return CaseRates(
        case=case,
        learners=learners_of(case, effort, seed),
        value=value,
        stderr=np.sqrt(variance / (count - 1)),
        lower=np.asarray(found["lower"]) / count,
        upper=np.asarray(found["upper"]) / count,
        batches=batches,
        num_sequences=count,
        num_unfinished=int(found["unfinished"]),
        mean_rounds=int(found["rounds"]) / count,
    )


def _of_batches(means: Array) -> Estimate:
    if len(means) < 2:
        return Estimate(float(means.mean()))
    return Estimate(float(means.mean()), float(means.std(ddof=1)) / math.sqrt(len(means)))
