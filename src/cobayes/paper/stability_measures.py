"""Numbers read off success rates: straight rays, bounds and how far off, the cone of a column.

All learners of a case share their teaching sequences, so the errors of neighbours go together.
Standard errors of fits come from the scatter of batches of sequences, which knows about that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.stability_experiments import CaseRates
from cobayes.report.claims import ERROR_RATE
from cobayes.stability.bounds import Distance, prior_distance
from cobayes.stability.columns import DISC
from cobayes.stability.geometry import plane_basis

Array = NDArray[np.float64]

FEWEST_ON_RAY = 4
_HARMONICS = 4
_ANGLES = np.radians(np.arange(0.0, 180.0, 0.5))


@dataclass(frozen=True)
class RayFit:
    """A straight and a bent line through the centre, fitted along one ray.

    Attributes
    ----------
    case_name, ray : str, int
        Where.
    length : float
        The distance of the last point.
    fall : float
        How much the success rate falls up to there.
    slope : float
        Slope of the straight line.
    r_squared : float
        The share of the variation that the straight line explains.
    bend, bend_stderr : float
        The largest distance between the bent line and its chord, positive where the fall
        slows down, and its standard error.
    """

    case_name: str
    ray: int
    length: float
    fall: float
    slope: float
    r_squared: float
    bend: float
    bend_stderr: float


@dataclass(frozen=True)
class ConeFit:
    """How fast the success rate falls around a column, by direction.

    Attributes
    ----------
    slow, fast : float
        The fall per unit of distance along the slowest and the fastest axis, each the mean of
        its two ends.
    log_ratio_stderr : float
        The standard error of ln(fast / slow).
    slow_angle, fast_angle : float
        The axes' directions in degrees from that of the first corner, 0 to 180.
    between_stderr : float
        The standard error of the angle between them, in degrees.
    curve_angle : float
        The same of the tangent of the curve of equal divergence.
    r_squared : float
        The share of the variation over the disc that the cone explains.
    """

    slow: float
    fast: float
    log_ratio_stderr: float
    slow_angle: float
    fast_angle: float
    between_stderr: float
    curve_angle: float
    r_squared: float

    @property
    def ratio(self) -> float:
        """How many times as fast the fall is along the fastest axis."""
        return self.fast / self.slow

    @property
    def between(self) -> float:
        """The angle between the two axes, 0 to 90 degrees."""
        return _acute(self.fast_angle - self.slow_angle)

    @property
    def off_curve(self) -> float:
        """The angle between the slow axis and the curve of equal divergence, 0 to 90 degrees."""
        return _acute(self.slow_angle - self.curve_angle)


def fit_rays(rates: CaseRates) -> list[RayFit]:
    """Fit straight and bent lines to the rays of a case that have points enough.

    Parameters
    ----------
    rates
        Of kind "disc" or "directions".

    Notes
    -----
    ``s(d) = s(0) - a d - b d**2`` by least squares; its largest distance from the chord is
    ``b D**2 / 4`` for a ray of length D.
    """
    learners = rates.learners
    fits = []
    for ray in range(int(learners.rays.max()) + 1):
        chosen = learners.rays == ray
        if chosen.sum() < FEWEST_ON_RAY:
            continue
        distance = learners.distances[chosen]
        length = float(distance[-1])
        fall = rates.value[0] - rates.value[chosen]
        slope = float(distance @ fall / (distance @ distance))
        solve = np.linalg.pinv(np.stack([distance, distance**2], axis=1))
        curvatures = (rates.batches[:, :1] - rates.batches[:, chosen]) @ solve[1]
        bends = -0.25 * length**2 * curvatures
        fits.append(
            RayFit(
                rates.case.name,
                ray,
                length,
                float(fall[-1]),
                slope,
                _explained(fall, slope * distance),
                float(bends.mean()),
                _scatter(bends),
            )
        )
    return fits


def excess_above(rates: CaseRates, bound: Array) -> Array:
    """Return by how many standard errors success rates lie above a bound; zero where they do not.

    Parameters
    ----------
    rates
        Of learners with beliefs between zero and one.
    bound
        What their mean should not exceed, (learners,).

    Notes
    -----
    The deviance ``sqrt(2 N KL(value, bound))``. By Hoeffding's inequality it exceeds z with a
    probability of at most ``exp(-z**2 / 2)`` for any number of sequences and any law of beliefs:
    where failures are rare, the sample's own standard error may be zero.
    """
    return _deviance(rates.value, bound, rates.num_sequences, rates.value > bound)


def excess_below(rates: CaseRates, bound: Array) -> Array:
    """Return by how many standard errors success rates lie below a bound; see `excess_above`.

    Parameters
    ----------
    rates
        Of learners with beliefs between zero and one. What stopping may hide counts in favour of
        the bound.
    bound
        What their mean should not fall short of, (learners,).
    """
    value = np.minimum(rates.upper, 1.0)
    return _deviance(value, bound, rates.num_sequences, (value < bound) & (bound > 0.0))


def deviance_limit(count: int) -> float:
    """Return what none of so many deviances exceeds, but for the error rate of the claims.

    Parameters
    ----------
    count
        The number of comparisons.
    """
    return math.sqrt(2.0 * math.log(count / ERROR_RATE))


def used_share(rates: CaseRates, distance: Distance) -> tuple[Array, Array]:
    """Return failure as a share of what Conjecture 5.3 allows, with standard errors.

    Parameters
    ----------
    rates
        Of learners with other priors.
    distance
        In which form of the conjecture. The centre has no share: NaN.
    """
    apart = prior_distance(rates.learners.priors, rates.case.teacher_prior, distance)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(apart > 0.0, rates.teacher_belief / apart, np.nan)
    return scale * (1.0 - np.minimum(rates.upper, 1.0)), scale * rates.stderr


def conjecture_bound(rates: CaseRates, distance: Distance) -> Array:
    """Return the success rates that Conjecture 5.3 promises, (learners,); they may be negative.

    Parameters
    ----------
    rates
        Of learners with other priors.
    distance
        In which form of the conjecture.
    """
    apart = prior_distance(rates.learners.priors, rates.case.teacher_prior, distance)
    return 1.0 - apart / rates.teacher_belief


def fit_cone(rates: CaseRates) -> ConeFit:
    """Fit the fall of the success rate around a column: distance times a function of the angle.

    Parameters
    ----------
    rates
        Of kind "column".

    Notes
    -----
    ``s(0) - s = r F(angle)`` with F of four harmonics, by least squares over the disc. An axis
    has two ends: the mean of F over both is what is called slow and fast.
    """
    learners = rates.learners
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
    # Noise may turn the smallest speed negative; a thousandth stands for "next to nothing".
    least = 1e-3 * float(speeds.max())
    count = len(falls)
    without = np.maximum(both_ends @ ((count * fall - falls) / (count - 1)).T, least)
    log_ratios = np.log(without.max(axis=0) / without.min(axis=0))
    turned = np.degrees(_ANGLES[without.argmax(axis=0)] - _ANGLES[without.argmin(axis=0)])
    between = np.array([_acute(float(angle)) for angle in turned])
    return ConeFit(
        slow=max(float(speeds.min()), least),
        fast=float(speeds.max()),
        # Leaving out one batch at a time: the ratio is no mean of the batches' ratios.
        log_ratio_stderr=math.sqrt((count - 1) * float(log_ratios.var())),
        between_stderr=math.sqrt((count - 1) * float(between.var())),
        slow_angle=math.degrees(_ANGLES[int(speeds.argmin())]),
        fast_angle=math.degrees(_ANGLES[int(speeds.argmax())]),
        curve_angle=_curve_angle(own, rates.case.model.matrix[:, 0], first, second),
        r_squared=_explained(fall, design @ (solve @ fall)),
    )


def all_unfinished(found: Sequence[CaseRates]) -> tuple[int, int, float]:
    """Return unfinished sequences, all sequences, and the most that stopping may hide.

    Parameters
    ----------
    found
        Any cases.
    """
    hidden = max(float((rates.upper - rates.lower).max()) for rates in found)
    return (
        sum(rates.num_unfinished for rates in found),
        sum(rates.num_sequences for rates in found),
        hidden,
    )


def _deviance(value: Array, bound: Array, count: int, is_beyond: NDArray[np.bool_]) -> Array:
    v, b = value[is_beyond], np.clip(bound[is_beyond], 1e-300, 1.0)
    found = np.zeros(len(value))
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(v > 0.0, v * np.log(v / b), 0.0)
        other = np.where(v < 1.0, (1.0 - v) * np.log((1.0 - v) / (1.0 - b)), 0.0)
    found[is_beyond] = np.sqrt(2.0 * count * np.maximum(own + other, 0.0))
    return found


def _waves(angle: Array) -> Array:
    parts = [np.ones_like(angle)]
    for k in range(1, _HARMONICS + 1):
        parts += [np.cos(k * angle), np.sin(k * angle)]
    return np.stack(parts, axis=1)


def _curve_angle(own: Array, target: Array, first: Array, second: Array) -> float:
    """Return the direction in which the divergence from the target does not change."""
    ratios = own / target
    # The gradient of log(mean of ratios) - mean of log(column).
    gradient = 1.0 / (target * ratios.sum()) - 1.0 / (len(own) * own)
    x, y = gradient @ first, gradient @ second
    return math.degrees(math.atan2(x, -y)) % 180.0


def _explained(found: Array, fitted: Array) -> float:
    total = float(((found - found.mean()) ** 2).sum())
    return 1.0 - float(((found - fitted) ** 2).sum()) / total if total > 0.0 else 1.0


def _scatter(batches: Array) -> float:
    return float(batches.std(ddof=1)) / math.sqrt(len(batches))


def _acute(degrees: float) -> float:
    turned = degrees % 180.0
    return min(turned, 180.0 - turned)
