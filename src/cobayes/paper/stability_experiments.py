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
from itertools import cycle, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.example_library import examples
from cobayes.paper.stability_cases import Case, Effort, Learners, learners_of
from cobayes.report.section import Context
from cobayes.runs import Estimate, Experiment, Point, PointResult
from cobayes.runs.statistics import Statistics

Array = NDArray[np.float64]

NUM_BATCHES = 40

# On one core: a round of a learner costs so many seconds, by the number of hypotheses; a sequence
# has about so many rounds times the rate of convergence. They only decide the size of shards.
_SECONDS_PER_ROUND = {3: 5.6e-8, 4: 1e-7}
_ROUNDS_TIMES_RATE = 12.5
_SHARD_SECONDS = 3.0
_MOST_PER_SHARD = 5000


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
    from cobayes.stability.sequences import TeachingSequences

    sequences = TeachingSequences.draw(
        parameters["matrix"],
        0,
        prior=parameters["teacher_prior"],
        num_sequences=num_samples,
        rng=seed_sequence,
    )
    priors, matrices = np.atleast_2d(parameters["learner_priors"]), parameters["learner_matrices"]
    pairs = zip(repeat(None), priors) if matrices is None else zip(matrices, cycle(priors))
    beliefs = np.array([sequences.beliefs_of(*pair)[:, 0] for pair in pairs])
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
        Statistics of the shards that have finished.
    """
    batches = np.asarray(statistics["batches"])
    lowest = int(batches.mean(axis=0).argmin())
    return {
        "mean success": _of_batches(batches.mean(axis=1)),
        "lowest success": _of_batches(batches[:, lowest]),
    }


def success_rates(context: Context, cases: Sequence[Case]) -> list[CaseRates]:
    """Run some cases and return their success rates.

    Every case has a ledger of its own: figures that show the same case share it, and no figure
    computes the cases of another.

    Parameters
    ----------
    context
        Of any section.
    cases
        In any order.
    """
    effort = Effort.of(context)
    plans = [(stability_experiment(context, case), case.folder) for case in cases]
    results = context.run_all(plans)
    return [
        _case_rates(case, effort, context.seed, result[case.name])
        for case, result in zip(cases, results, strict=True)
    ]


def stability_experiment(context: Context, case: Case) -> Experiment:
    """Return the experiment of one case.

    Parameters
    ----------
    context
        Says scale and seed.
    case
        Its only point.
    """
    return Experiment(
        case.stream,
        (_point(case, Effort.of(context), context.seed),),
        success_shard,
        seed=context.seed,
        estimate=success_estimate,
        reduce=join,
    )


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
