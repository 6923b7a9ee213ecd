"""Success rates of many learners under the same lessons, and the numbers read off them.

All learners of a case are taught by the same sequences of data, so that differences between them
are far less noisy than the success rates themselves. The means of batches of sequences are kept:
their scatter gives the standard error of whatever is computed from several learners.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.stability.cases import DISC, Case, Effort, Learners, learners_of, plane_basis
from cobayes.report.claims import ERROR_RATE
from cobayes.report.section import Context
from cobayes.rules import SCBI
from cobayes.runs import Estimate, Experiment, Point, PointResult
from cobayes.stability.bounds import Distance, frechet, prior_distance
from cobayes.theory.rates import rate_of_convergence

Array = NDArray[np.float64]

NUM_BATCHES = 40

# Measured on one core, and used for the size of shards alone: the seconds that a round of a
# learner costs, by the number of hypotheses; and rounds of a lesson times the rate of convergence.
_SECONDS_PER_ROUND = {3: 5.6e-8, 4: 1e-7}
_ROUNDS_TIMES_RATE = 12.5
_SHARD_SECONDS = 3.0
_MOST_PER_SHARD = 5000

FEWEST_ON_RAY = 4
_HARMONICS = 4
_ANGLES = np.radians(np.arange(0.0, 180.0, 0.5))


@dataclass(frozen=True, eq=False)
class CaseRates:
    """The success rates of all learners of a case.

    Attributes
    ----------
    case : Case
        Matrix, prior and kind of learners.
    learners : Learners
        Their priors and columns.
    value, stderr : ndarray
        Success rates and their standard errors, (learners,).
    lower, upper : ndarray
        Bounds of the success rates if every sequence were taken to its end.
    batches : ndarray
        Success rates in batches of equally many sequences, (batches, learners).
    num_lessons, num_unfinished : int
        Teaching sequences, and those that were cut off.
    """

    case: Case
    learners: Learners
    value: Array
    stderr: Array
    lower: Array
    upper: Array
    batches: Array
    num_lessons: int
    num_unfinished: int

    def __len__(self) -> int:
        return len(self.value)

    @property
    def teacher_belief(self) -> float:
        """The teacher's prior in what is taught."""
        return float(self.case.teacher_prior[0])

    @property
    def learner_belief(self) -> Array:
        """The learners' priors in what is taught."""
        return self.learners.priors[:, 0]

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The proved bounds of the success rates: lower and upper."""
        return frechet(self.teacher_belief, self.learner_belief)


def success_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw teaching sequences; return sums over them of what every learner believes at the end.

    Parameters
    ----------
    parameters
        "matrix", "teacher_prior"; "learner_priors", or "learner_columns" and "column"; "batch",
        the number of sequences of which means are kept apart.
    seed_sequence
        The shard's own.
    num_samples
        Number of sequences, a multiple of the batch.
    """
    from cobayes.rules.naming import as_agents
    from cobayes.stability.teaching import teach_until_sure

    matrix, prior = np.array(parameters["matrix"]), parameters["teacher_prior"]
    rule = SCBI(matrix)
    pairs = []
    for values in parameters["learner_columns"] or ():
        changed = matrix.copy()
        changed[:, parameters["column"]] = values
        pairs.append(as_agents(rule, 0, prior, SCBI(changed)))
    if not pairs:
        pairs = [as_agents(rule, 0, prior, None, own) for own in parameters["learner_priors"]]
    ends = teach_until_sure(pairs, num_samples, seed_sequence)
    beliefs = ends.believed[:, :, 0]
    lower, upper = frechet(ends.taught[:, 0], beliefs)
    return {
        "count": num_samples,
        "unfinished": int((~ends.is_finished).sum()),
        # Of what is missing to one: near certainty the beliefs' own squares would cancel.
        "squared_failures": ((1.0 - beliefs) ** 2).sum(axis=1),
        "lower": lower.sum(axis=1),
        "upper": upper.sum(axis=1),
        "batches": beliefs.reshape(len(beliefs), -1, parameters["batch"]).mean(axis=2).T.copy(),
    }


def join(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Add the sums of two shards, and put their batches below each other."""
    joined = {name: left[name] + right[name] for name in left if name != "batches"}
    return {**joined, "batches": np.concatenate([left["batches"], right["batches"]])}


def success_estimate(statistics: Mapping[str, Any], _: dict[str, Any]) -> dict[str, Estimate]:
    """Estimate the mean and the lowest success rate of a case, for progress reports."""
    batches = np.asarray(statistics["batches"])
    lowest = batches[:, int(batches.mean(axis=0).argmin())]
    return {
        name: Estimate(float(means.mean()), scatter(means) if len(means) > 1 else math.nan)
        for name, means in (("mean success", batches.mean(axis=1)), ("lowest success", lowest))
    }


@dataclass(frozen=True)
class Shown:
    """Success rates of all cases of a figure.

    Attributes
    ----------
    found : list of CaseRates
        In the order of the cases.
    effort : Effort
        Numbers of lessons and learners.
    seed : int
        The report's seed, which decides random directions.
    """

    found: list[CaseRates]
    effort: Effort
    seed: int


def success_rates(context: Context, cases: Sequence[Case]) -> Shown:
    """Run some cases; each has a run of its own, which figures that show the same case share."""
    effort = Effort.of(context)
    plans = [(stability_experiment(context, case), case.folder) for case in cases]
    found = [
        _case_rates(case, learners_of(case, effort, context.seed), result[case.name])
        for case, result in zip(cases, context.run_all(plans), strict=True)
    ]
    return Shown(found, effort, context.seed)


def stability_experiment(context: Context, case: Case) -> Experiment:
    """Return the experiment of one case, its only point."""
    effort = Effort.of(context)
    learners = learners_of(case, effort, context.seed)
    batch = -(-effort.num_lessons // NUM_BATCHES)
    num_batches = -(-effort.num_lessons // batch)
    rounds = _ROUNDS_TIMES_RATE / float(rate_of_convergence(case.model, 0))
    seconds = len(learners) * rounds * _SECONDS_PER_ROUND[case.model.num_hypotheses]
    wanted = min(_MOST_PER_SHARD, max(batch, int(_SHARD_SECONDS / seconds)))
    # Shards of equal size, made of whole batches.
    num_shards = -(-num_batches // (wanted // batch))
    point = Point(
        case.name,
        {
            "matrix": case.model.matrix,
            "teacher_prior": case.teacher_prior,
            "learner_priors": None if learners.columns is not None else learners.priors,
            "learner_columns": learners.columns,
            "column": case.column,
            "batch": batch,
        },
        num_batches * batch,
        -(-num_batches // num_shards) * batch,
    )
    return Experiment(
        "stability",
        (point,),
        success_shard,
        seed=context.seed,
        estimate=success_estimate,
        reduce=join,
    )


def _case_rates(case: Case, learners: Learners, point: PointResult) -> CaseRates:
    found = point.statistics
    count = int(found["count"])
    batches = np.asarray(found["batches"])
    value = batches.mean(axis=0)
    variance = np.asarray(found["squared_failures"]) / count - (1.0 - value) ** 2
    return CaseRates(
        case=case,
        learners=learners,
        value=value,
        stderr=np.sqrt(np.maximum(variance, 0.0) / (count - 1)),
        lower=np.asarray(found["lower"]) / count,
        upper=np.asarray(found["upper"]) / count,
        batches=batches,
        num_lessons=count,
        num_unfinished=int(found["unfinished"]),
    )


@dataclass(frozen=True)
class RayFit:
    """A straight line and a parabola through the centre, fitted along one ray.

    Attributes
    ----------
    title : str
        Matrix, prior and ray.
    fall : float
        How much the success rate falls up to the last learner.
    r_squared : float
        The share of the variation that the straight line explains.
    bend, bend_stderr : float
        The largest distance between the parabola and its chord, positive where the fall slows
        down, and its standard error.
    """

    title: str
    fall: float
    r_squared: float
    bend: float
    bend_stderr: float


def fit_rays(rates: CaseRates) -> list[RayFit]:
    """Fit the rays of a case that have enough learners.

    The parabola ``s(d) = s(0) - a d - b d**2`` is fitted by least squares; its largest distance
    from the chord is ``b D**2 / 4`` for a ray of length D.
    """
    learners = rates.learners
    fits = []
    for ray in range(int(learners.rays.max()) + 1):
        chosen = learners.rays == ray
        if chosen.sum() < FEWEST_ON_RAY:
            continue
        distance = learners.distances[chosen]
        fall = rates.value[0] - rates.value[chosen]
        slope = float(distance @ fall / (distance @ distance))
        solve = np.linalg.pinv(np.stack([distance, distance**2], axis=1))
        curvatures = (rates.batches[:, :1] - rates.batches[:, chosen]) @ solve[1]
        bends = -0.25 * float(distance[-1]) ** 2 * curvatures
        fits.append(
            RayFit(
                f"{rates.case.title} ray {ray + 1}",
                float(fall[-1]),
                _explained(fall, slope * distance),
                float(bends.mean()),
                scatter(bends),
            )
        )
    return fits


@dataclass(frozen=True)
class ConeFit:
    """How fast the success rate falls around a column, by direction.

    Attributes
    ----------
    title : str
        Matrix and role of the column.
    slow, fast : float
        The fall per unit of distance along the slowest and the fastest axis, each the mean of
        its two ends.
    log_ratio_stderr : float
        The standard error of ln(fast / slow).
    between, between_stderr : float
        The angle between the two axes, 0 to 90 degrees, and its standard error.
    off_curve : float
        The angle between the slow axis and the curve of equal divergence, 0 to 90 degrees.
    r_squared : float
        The share of the variation over the disc that the fit explains.
    """

    title: str
    slow: float
    fast: float
    log_ratio_stderr: float
    between: float
    between_stderr: float
    off_curve: float
    r_squared: float

    @property
    def ratio(self) -> float:
        """The speed along the fastest axis over that along the slowest."""
        return self.fast / self.slow


def fit_cone(rates: CaseRates) -> ConeFit:
    """Fit the fall around a column, ``s(0) - s = r F(angle)`` with F of four harmonics.

    An axis has two ends: the mean of F over both is its speed.
    """
    learners = rates.learners
    assert learners.columns is not None
    own = learners.columns[0]
    chosen = learners.kinds == DISC
    first, second = plane_basis(len(own))
    moved = learners.columns[chosen] - own
    x, y = moved @ first, moved @ second
    design = np.hypot(x, y)[:, None] * _waves(np.arctan2(y, x))
    solve = np.linalg.pinv(design)
    both_ends = 0.5 * (_waves(_ANGLES) + _waves(_ANGLES + np.pi)) @ solve
    falls = rates.batches[:, :1] - rates.batches[:, chosen]
    fall = falls.mean(axis=0)
    speeds = both_ends @ fall
    slow, fast = int(speeds.argmin()), int(speeds.argmax())
    # Noise may turn the smallest speed negative; a thousandth of the largest stands for zero.
    least = 1e-3 * float(speeds.max())
    # The jackknife, leaving out one batch at a time: the ratio is no mean of the batches' ratios.
    count = len(falls)
    without = np.maximum(both_ends @ ((count * fall - falls) / (count - 1)).T, least)
    log_ratios = np.log(without.max(axis=0) / without.min(axis=0))
    between = _acute(_ANGLES[without.argmax(axis=0)] - _ANGLES[without.argmin(axis=0)])
    return ConeFit(
        title=f"{rates.case.title.split(',')[0]}, {rates.case.role} column",
        slow=max(float(speeds[slow]), least),
        fast=float(speeds[fast]),
        log_ratio_stderr=math.sqrt((count - 1) * float(log_ratios.var())),
        between=float(_acute(_ANGLES[fast] - _ANGLES[slow])),
        between_stderr=math.sqrt((count - 1) * float(between.var())),
        off_curve=float(_acute(_ANGLES[slow] - _curve_angle(own, rates.case.model.matrix[:, 0]))),
        r_squared=_explained(fall, design @ (solve @ fall)),
    )


def excess_above(rates: CaseRates, bound: Array) -> Array:
    """Return by how many standard errors success rates lie above a bound; zero where they do not.

    Notes
    -----
    The deviance ``sqrt(2 N KL(value, bound))``. By Hoeffding's inequality it exceeds z with a
    probability of at most ``exp(-z**2 / 2)`` for any number of sequences and any law of beliefs:
    where failures are rare, the sample's own standard error may be zero.
    """
    return _deviance(rates.value, bound, rates.num_lessons, rates.value > bound)


def excess_below(rates: CaseRates, bound: Array) -> Array:
    """Return by how many standard errors success rates lie below a bound; see `excess_above`.

    Sequences that were cut off count in favour of the bound.
    """
    value = np.minimum(rates.upper, 1.0)
    return _deviance(value, bound, rates.num_lessons, (value < bound) & (bound > 0.0))


def deviance_limit(count: int) -> float:
    """Return the limit that none of `count` deviances exceeds, with the claims' error rate."""
    return math.sqrt(2.0 * math.log(count / ERROR_RATE))


def conjecture_bound(rates: CaseRates, distance: Distance) -> Array:
    """Return the success rates that Conjecture 5.3 promises, (learners,); they may be negative."""
    apart = prior_distance(rates.learners.priors, rates.case.teacher_prior, distance)
    return 1.0 - apart / rates.teacher_belief


def used_share(rates: CaseRates, distance: Distance) -> tuple[Array, Array]:
    """Return failure over what Conjecture 5.3 allows, with standard errors; NaN at the centre."""
    with np.errstate(divide="ignore", invalid="ignore"):
        allowed = 1.0 - conjecture_bound(rates, distance)
        scale = np.where(allowed > 0.0, 1.0 / allowed, np.nan)
    return scale * (1.0 - np.minimum(rates.upper, 1.0)), scale * rates.stderr


def scatter(batches: Array) -> float:
    """Return the standard error of the mean of batches."""
    return float(batches.std(ddof=1)) / math.sqrt(len(batches))


def _deviance(value: Array, bound: Array, count: int, is_beyond: NDArray[np.bool_]) -> Array:
    v, b = value[is_beyond], np.clip(bound[is_beyond], 1e-300, 1.0)
    found = np.zeros(len(value))
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(v > 0.0, v * np.log(v / b), 0.0)
        other = np.where(v < 1.0, (1.0 - v) * np.log((1.0 - v) / (1.0 - b)), 0.0)
    found[is_beyond] = np.sqrt(2.0 * count * np.maximum(own + other, 0.0))
    return found


def _waves(angle: Array) -> Array:
    waves = [np.ones_like(angle)]
    for k in range(1, _HARMONICS + 1):
        waves += [np.cos(k * angle), np.sin(k * angle)]
    return np.stack(waves, axis=1)


def _curve_angle(own: Array, target: Array) -> float:
    """Return the direction in which the divergence from the target does not change."""
    # The gradient of log(mean of ratios) - mean of log(column).
    gradient = 1.0 / (target * (own / target).sum()) - 1.0 / (len(own) * own)
    x, y = plane_basis(len(own)) @ gradient
    return math.atan2(x, -y)


def _explained(found: Array, fitted: Array) -> float:
    total = float(((found - found.mean()) ** 2).sum())
    return 1.0 - float(((found - fitted) ** 2).sum()) / total if total > 0.0 else 1.0


def _acute(radians: Any) -> Any:
    """Return the angle between two axes, 0 to 90 degrees."""
    turned = np.degrees(radians) % 180.0
    return np.minimum(turned, 180.0 - turned)
