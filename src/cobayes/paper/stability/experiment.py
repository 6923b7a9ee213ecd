"""Success rates of many learners under the same lessons, and numbers computed from them.

All learners of a case see the same sequences of data. Differences between their success rates are
therefore far less noisy than the success rates themselves. Every learner's success rate in each
batch of sequences is stored. Standard errors of quantities that depend on several learners follow
from the variation between batches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.stability.cases import DISC, Case, Effort, learners_of, plane_basis, points_of
from cobayes.plots.house import with_subscripts
from cobayes.report.claims import ERROR_RATE
from cobayes.report.section import Context
from cobayes.rules import SCBI
from cobayes.runs import Estimate, Experiment, Point, PointResult
from cobayes.stability.bounds import Distance, frechet, prior_distance
from cobayes.theory.rates import rate_of_convergence

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

NUM_BATCHES = 40
PROMISES: dict[Distance, tuple[str, str]] = {
    "euclidean": ("conjectured", "the Euclidean distance"),
    "tv": ("conjectured_tv", "total variation"),
    "l1": ("conjectured_l1", "the L¹ distance"),
}
"""For each distance, the column with Conjecture 5.3's lower bound, and the distance's name."""

# Seconds per round and learner, by the number of hypotheses. The number of rounds of a lesson
# is `_ROUNDS_TIMES_RATE` / rate of convergence. Measured on one core; used only for the size of
# shards.
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
    learners : DataFrame
        The columns of `learners_of`; "matrix", "prior" and "title" of the case; "success" with
        "success_stderr"; "success_low" and "success_high", estimated bounds on the success rate for
        infinitely long sequences; "num_lessons" and "num_unfinished". If learners differ in priors,
        also the proved bounds "bound_low" and "bound_high", and the lower bounds of Conjecture 5.3,
        see `PROMISES`; else "column" and "role" of the case.
    batches : ndarray
        Success rates in batches of equally many sequences, (batches, learners).
    """

    case: Case
    learners: pd.DataFrame
    batches: Array

    @classmethod
    def of(cls, case: Case, learners: pd.DataFrame, batches: Array, **columns: Any) -> CaseRates:
        """Add results, and bounds that follow from the case, to the table of learners."""
        names = {"matrix": case.matrix, "prior": case.prior, "title": case.title}
        found = learners.assign(**names, **columns)
        if case.column is not None:
            found = found.assign(column=case.column, role=case.role)
        else:
            taught, points = case.teacher_prior, points_of(found)
            found["bound_low"], found["bound_high"] = frechet(float(taught[0]), points[:, 0])
            for distance, (name, _) in PROMISES.items():
                found[name] = 1.0 - prior_distance(points, taught, distance) / taught[0]
        return cls(case, found, batches)

    @property
    def points(self) -> Array:
        """The learners' priors, or their perturbed columns."""
        return points_of(self.learners)

    @property
    def value(self) -> Array:
        """The success rates, (learners,)."""
        return self.learners.success.to_numpy()


def joined(found: Sequence[CaseRates]) -> pd.DataFrame:
    """Return the learners of all cases in one table."""
    import pandas as pd

    return pd.concat([rates.learners for rates in found], ignore_index=True)


def success_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Draw teaching sequences; return statistics of every learner's last belief in the truth.

    Parameters
    ----------
    parameters
        "matrix" and "teacher_prior"; "column", the position of the column in which the learners
        differ from the teacher, or None; "learners", the learners' columns, or their priors if
        "column" is None; "batch", the number of sequences per batch.
    seed_sequence
        The seed of the shard.
    num_samples
        Number of sequences, a multiple of the batch.
    """
    from cobayes.rules.naming import as_agents
    from cobayes.stability.teaching import teach_until_sure

    matrix, prior = np.array(parameters["matrix"]), parameters["teacher_prior"]
    rule, column = SCBI(matrix), parameters["column"]
    pairs = []
    for own in parameters["learners"]:
        if column is None:
            pairs.append(as_agents(rule, 0, prior, learner_prior=own))
            continue
        changed = matrix.copy()
        changed[:, column] = own
        pairs.append(as_agents(rule, 0, prior, SCBI(changed)))
    ends = teach_until_sure(pairs, num_samples, seed_sequence)
    beliefs = ends.believed[:, :, 0]
    lower, upper = frechet(ends.taught[:, 0], beliefs)
    return {
        "count": num_samples,
        "unfinished": int((~ends.is_finished).sum()),
        # Sums of belief^2 would lose the digits of the variance when beliefs are near one.
        "squared_failures": ((1.0 - beliefs) ** 2).sum(axis=1),
        "lower": lower.sum(axis=1),
        "upper": upper.sum(axis=1),
        "batches": beliefs.reshape(len(beliefs), -1, parameters["batch"]).mean(axis=2).T.copy(),
    }


def join(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Add the sums of two shards, and concatenate their batches."""
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


def success_rates(context: Context, cases: Sequence[Case]) -> list[CaseRates]:
    """Run each case separately; all figures that show a case share its run."""
    plans = [(stability_experiment(context, case), case.folder) for case in cases]
    results = zip(cases, context.run_all(plans), strict=True)
    return [_case_rates(context, case, result[case.name]) for case, result in results]


def stability_experiment(context: Context, case: Case) -> Experiment:
    """Return an experiment whose only point is this case."""
    effort = Effort.of(context, [case])
    learners = learners_of(case, effort, context.seed)
    batch = -(-effort.num_lessons // NUM_BATCHES)
    num_batches = -(-effort.num_lessons // batch)
    rounds = _ROUNDS_TIMES_RATE / float(rate_of_convergence(case.model, 0))
    seconds = len(learners) * rounds * _SECONDS_PER_ROUND[case.model.num_hypotheses]
    wanted = max(batch, min(_MOST_PER_SHARD, int(_SHARD_SECONDS / seconds)))
    # Shards consist of whole batches; all shards but the last have the same size.
    num_shards = -(-num_batches // (wanted // batch))
    parameters = {
        "matrix": case.model.matrix,
        "teacher_prior": case.teacher_prior,
        "learners": points_of(learners),
        "column": case.column,
        "batch": batch,
    }
    per_shard = -(-num_batches // num_shards) * batch
    point = Point(case.name, parameters, num_batches * batch, per_shard)
    functions: dict[str, Any] = {"estimate": success_estimate, "reduce": join}
    return Experiment("stability", (point,), success_shard, seed=context.seed, **functions)


def _case_rates(context: Context, case: Case, point: PointResult) -> CaseRates:
    found = point.statistics
    count, batches = int(found["count"]), np.asarray(found["batches"])
    value = batches.mean(axis=0)
    variance = np.asarray(found["squared_failures"]) / count - (1.0 - value) ** 2
    return CaseRates.of(
        case,
        learners_of(case, Effort.of(context, [case]), context.seed),
        batches,
        success=value,
        success_stderr=np.sqrt(np.maximum(variance, 0.0) / (count - 1)),
        success_low=np.asarray(found["lower"]) / count,
        success_high=np.asarray(found["upper"]) / count,
        num_lessons=count,
        num_unfinished=int(found["unfinished"]),
    )


def fit_rays(rates: CaseRates) -> pd.DataFrame:
    """Fit a line and a parabola to the success rates on every ray from the teacher's prior.

    Both curves pass through the success rate at this prior and are fitted by least squares. At
    distance d from it the parabola is ``s(d) = s(0) - a d + b d**2``. The bend is the parabola's
    largest distance from its chord, ``b D**2 / 4`` for a ray of length D. Rays with fewer than
    `FEWEST_ON_RAY` learners are omitted.

    Returns
    -------
    DataFrame
        A row per ray: its title; the fall of success up to the farthest learner; the share
        "r_squared" of the variation that the line explains; the bend, positive if the fall slows
        down, and its standard error.
    """
    import pandas as pd

    rows = []
    for ray in range(rates.learners.ray.max() + 1):
        own = rates.learners.loc[rates.learners.ray == ray]
        if len(own) < FEWEST_ON_RAY:
            continue
        distance = own.distance.to_numpy()
        fall = rates.value[0] - own.success.to_numpy()
        line = distance * (distance @ fall / (distance @ distance))
        solve = np.linalg.pinv(np.stack([distance, distance**2], axis=1))
        curvatures = (rates.batches[:, :1] - rates.batches[:, own.index]) @ solve[1]
        bends = -0.25 * distance[-1] ** 2 * curvatures
        title = f"{rates.case.title} ray {ray + 1}"
        rows.append((title, fall[-1], _explained(fall, line), bends.mean(), scatter(bends)))
    return pd.DataFrame(rows, columns=["title", "fall", "r_squared", "bend", "bend_stderr"])


def fit_cones(found: Sequence[CaseRates]) -> pd.DataFrame:
    """Fit the fall of success around the teacher's column of each case, by direction.

    At distance r from this column the fall is modelled as ``s(0) - s = r F(angle)``. F is a Fourier
    series of four harmonics. An axis has two opposite directions; the mean of F over both is the
    speed along this axis.

    Returns
    -------
    DataFrame
        A row per case: its title; the speeds along the "slow" and the "fast" axis, their "ratio"
        and "log_ratio_stderr"; "angle", the angle of the two axes in degrees, and "angle_stderr";
        "off_curve", the angle in degrees between the slow axis and `cases.equal_divergence_curve`;
        "r_squared", the share of the variation that the fit explains.
    """
    import pandas as pd

    return pd.DataFrame([_fit_cone(rates) for rates in found])


def _fit_cone(rates: CaseRates) -> dict[str, Any]:
    own, chosen = rates.points[0], (rates.learners.kind == DISC).to_numpy()
    x, y = plane_basis(len(own)) @ (rates.points[chosen] - own).T
    design = np.hypot(x, y)[:, None] * _waves(np.arctan2(y, x))
    solve = np.linalg.pinv(design)
    both_ends = 0.5 * (_waves(_ANGLES) + _waves(_ANGLES + np.pi)) @ solve
    falls = rates.batches[:, :1] - rates.batches[:, chosen]
    fall = falls.mean(axis=0)
    speeds = both_ends @ fall
    slow, fast = int(speeds.argmin()), int(speeds.argmax())
    # Sampling errors may make the slow speed tiny or negative; it is raised to `least`.
    least = 1e-3 * speeds[fast]
    # Errors by the jackknife, because the ratio of means is not the mean of the batches' ratios.
    count = len(falls)
    without = np.maximum(both_ends @ ((count * fall - falls) / (count - 1)).T, least)
    log_ratios = np.log(without.max(axis=0) / without.min(axis=0))
    between = _acute(_ANGLES[without.argmax(axis=0)] - _ANGLES[without.argmin(axis=0)])
    curve = _curve_angle(own, rates.case.model.matrix[:, 0])
    return {
        "title": f"{with_subscripts(rates.case.matrix)}, {rates.case.role} column",
        "slow": max(speeds[slow], least),
        "fast": speeds[fast],
        "ratio": speeds[fast] / max(speeds[slow], least),
        "log_ratio_stderr": math.sqrt((count - 1) * log_ratios.var()),
        "angle": _acute(_ANGLES[fast] - _ANGLES[slow]),
        "angle_stderr": math.sqrt((count - 1) * between.var()),
        "off_curve": _acute(_ANGLES[slow] - curve),
        "r_squared": _explained(fall, design @ (solve @ fall)),
    }


def excess_above(learners: pd.DataFrame, bound: Array) -> Array:
    """Return, in standard errors, the excess of success rates over a bound; zero below the bound.

    Notes
    -----
    The excess is the root of the deviance, ``sqrt(2 N KL(value, bound))`` for N sequences, with KL
    the divergence of two Bernoulli distributions; a bound below 1e-300 counts as 1e-300. If the
    bound is true, the excess is above z with probability at most ``exp(-z**2 / 2)`` by Hoeffding's
    inequality, for any N and any distribution of beliefs. The sample's own standard error is not
    used: it may be zero if failures are rare.
    """
    value = learners.success.to_numpy()
    return np.where(value > bound, _deviance(value, bound, learners.num_lessons), 0.0)


def excess_below(learners: pd.DataFrame, bound: Array) -> Array:
    """Return, in standard errors, the shortfall of success rates from a bound; see `excess_above`.

    The success rate used is `success_high`, the upper bound for infinitely long sequences.
    """
    value = np.minimum(learners.success_high.to_numpy(), 1.0)
    is_below = (value < bound) & (bound > 0.0)
    return np.where(is_below, _deviance(value, bound, learners.num_lessons), 0.0)


def deviance_limit(count: int) -> float:
    """Return a limit for `count` excesses over bounds, see `excess_above`.

    With probability at least 1 - `ERROR_RATE`, all excesses over true bounds are below the limit.
    """
    return math.sqrt(2.0 * math.log(count / ERROR_RATE))


def used_share(learners: pd.DataFrame, distance: Distance) -> tuple[pd.Series, pd.Series]:
    """Return failure rate / Conjecture 5.3's bound on it, and the standard error of this ratio.

    The failure rate is 1 - `success_high`. Both results are NaN at the teacher's prior, where the
    bound is zero.
    """
    allowed = 1.0 - learners[PROMISES[distance][0]]
    allowed = allowed.where(allowed > 0.0)
    failures = 1.0 - learners.success_high.clip(upper=1.0)
    return failures / allowed, learners.success_stderr / allowed


def scatter(batches: Array) -> float:
    """Return the standard error of the mean of batches."""
    return float(batches.std(ddof=1)) / math.sqrt(len(batches))


def _deviance(value: Array, bound: Array, count: Any) -> Array:
    from scipy.special import rel_entr

    b = np.clip(bound, 1e-300, 1.0)
    divergence = rel_entr(value, b) + rel_entr(1.0 - value, 1.0 - b)
    return np.sqrt(2.0 * np.asarray(count) * np.maximum(divergence, 0.0))


def _waves(angle: Array) -> Array:
    turns = np.multiply.outer(angle, np.arange(1, _HARMONICS + 1))
    return np.hstack([np.ones((len(angle), 1)), np.cos(turns), np.sin(turns)])


def _curve_angle(own: Array, target: Array) -> float:
    """Return the angle at which `cases.equal_divergence_curve` passes through `own`."""
    # The gradient of `normalized_divergence` at the own column.
    gradient = 1.0 / (target * (own / target).sum()) - 1.0 / (len(own) * own)
    x, y = plane_basis(len(own)) @ gradient
    return math.atan2(x, -y)


def _explained(found: Array, fitted: Array) -> float:
    total = float(((found - found.mean()) ** 2).sum())
    return 1.0 - float(((found - fitted) ** 2).sum()) / total if total > 0.0 else 1.0


def _acute(radians: Any) -> Any:
    """Return the angle of two axes, 0 to 90 degrees, from the difference of their directions."""
    turned = np.degrees(radians) % 180.0
    return np.minimum(turned, 180.0 - turned)
