"""Maxima of many units' likelihoods within bounds, and profiles of single parameters.

All units (people) have the same few parameters. Each step of Fisher scoring is computed for all
units that have not converged; every unit has its own damping.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize.elementwise import find_root

from cobayes.people.likelihood import Evaluation, Likelihood
from cobayes.people.problems import Array, Positions

# Starting points are chosen among this number of points between the bounds. If possible, they
# differ in some parameter by at least the share APART of the random numbers that make the points.
NUM_POINTS, APART = 100, 0.5
MAX_STEPS = 200
# Starting points keep at least this distance from the bounds, relative to the range between them.
MARGIN = 0.005
# A unit has converged if the next step is expected to raise its log-likelihood by at most this.
GAIN_TOLERANCE = 1e-8
# The first damping. A damping d multiplies the information of each parameter by 1 + d, which
# shortens the step.
DAMPING = 1e-3
# Each parameter is damped as if its information were at least this share of the largest
# information of the unit's parameters.
LEAST_DAMPED = 1e-5
# The maximisation of a unit stops when its damping exceeds this.
MAX_DAMPING = 1e12


class Maximum(NamedTuple):
    """The maxima of the units' log-likelihoods.

    Attributes
    ----------
    parameters : ndarray
        (units, free): the values of the free parameters.
    value : ndarray
        (units,): log-likelihoods; minus infinity if a response has probability zero.
    information : ndarray
        (units, free, free): the expected information at the maximum.
    is_converged : ndarray
        (units,): True if a further step without damping would raise the log-likelihood by at most
        `GAIN_TOLERANCE`, as predicted from the gradient and the curvature. False if the
        maximisation stopped before, or if the likelihood is zero at the starting point.
    """

    parameters: Array
    value: Array
    information: Array
    is_converged: NDArray[np.bool_]


def climb(likelihood: Likelihood, num_starts: int = 4) -> Maximum:
    """Maximise from several starting points; return the best maximum.

    The first starting point is the middle of the usual ranges. The others are, for each unit,
    points with high likelihoods among `NUM_POINTS` points, which are the same in every call. They
    are chosen far from each other, because near points mostly lead to the same maximum.
    """
    low, high, every = likelihood.low, likelihood.high, np.arange(likelihood.num_units)
    usual = np.array([0.5 * sum(likelihood.family.usual(name)) for name in likelihood.names])
    random = np.random.default_rng(20200).random((NUM_POINTS, len(low)))
    # The cube of the random numbers puts more points near the lower bounds, where rationality and
    # lapse usually are. Weights, which may be negative, start in the middle half of their range.
    spread = np.where(low < 0.0, 0.25 + 0.5 * random, random**3)
    # The gradient may vanish at a bound: start inside.
    points = _inside(likelihood, np.vstack([usual, low + (high - low) * spread]))
    starts = [points[:1].repeat(len(every), axis=0)]
    if len(low) and num_starts > 1:
        values = likelihood.log_likelihoods(points[1:, None].repeat(len(every), axis=1))
        for _ in range(num_starts - 1):
            likeliest = values.argmax(axis=0)
            starts.append(points[1 + likeliest])
            # Points near a chosen one are chosen only after all others.
            values -= 1e9 * (np.abs(random[:, None] - random[likeliest]).max(axis=2) < APART)
            values[likeliest, every] = -np.inf
    climbs = [maximise(likelihood.evaluate, start, low, high) for start in starts]
    best = np.argmax([found.value for found in climbs], axis=0)
    return Maximum(*(np.stack(parts)[best, every] for parts in zip(*climbs, strict=True)))


def _inside(likelihood: Likelihood, parameters: Array) -> Array:
    """Return parameters moved away from the bounds."""
    margin = MARGIN * (likelihood.high - likelihood.low)
    return np.clip(parameters, likelihood.low + margin, likelihood.high - margin)


def maximise(
    evaluate: Callable[..., Evaluation], start: Array, low: Array, high: Array, fixed: int = -1
) -> Maximum:
    """Maximise the likelihood within bounds from a starting point, for all units at once.

    Parameters
    ----------
    evaluate
        A function like `Likelihood.evaluate`.
    start
        (units, free).
    low, high
        The bounds, (free,).
    fixed
        Position of a parameter that keeps its starting value; -1: none.
    """
    is_fixed = np.arange(start.shape[1]) == fixed
    parameters = start.copy()
    value, gradient, information = evaluate(parameters)
    curvature = information.copy()
    damping = np.full(len(start), DAMPING)
    converged = np.isfinite(value)
    active = np.flatnonzero(converged & ~is_fixed.all())
    for _ in range(MAX_STEPS):
        up, at = gradient[active], parameters[active]
        blocked = is_fixed | ((at <= low) & (up <= 0.0)) | ((at >= high) & (up >= 0.0))
        step, gain = _step(up, curvature[active], damping[active], blocked, high - low)
        converged[active] = gain <= GAIN_TOLERANCE
        going = ~converged[active] & (damping[active] <= MAX_DAMPING)
        active, step = active[going], step[going]
        if not len(active):
            break
        trial = np.clip(parameters[active] + step, low, high)
        new = evaluate(trial, active)
        # Steps with zero gain are accepted, too: near the maximum rounding may hide the gain.
        better = new.value >= value[active]
        took, kept = active[better], active[~better]
        curvature[took] = _curvature(
            new.information[better],
            trial[better] - parameters[took],
            gradient[took] - new.gradient[better],
        )
        parameters[took], value[took] = trial[better], new.value[better]
        gradient[took], information[took] = new.gradient[better], new.information[better]
        damping[took] = np.maximum(damping[took] / 10.0, 1e-9)
        damping[kept] = damping[kept] * 8.0
    return Maximum(parameters, value, information, converged)


def _step(gradient, information, damping, blocked, width) -> tuple[Array, Array]:
    """Return damped scoring steps (u, p), and the expected gains without damping (u,)."""
    slope = np.where(blocked, 0.0, gradient) * width
    moving = ~blocked * width
    scaled = information * moving[:, :, None] * moving[:, None, :]
    diagonal = np.einsum("upp->up", scaled)
    # `floor` keeps steps short in directions without information. LEAST_DAMPED is for responses
    # that were lapses: the curvature may then be far larger than the expected information, and the
    # step too long; with LEAST_DAMPED a small damping shortens it enough.
    largest = diagonal.max(axis=1, keepdims=True, initial=0.0)
    floor = 1e-10 * (1.0 + largest)
    added = damping[:, None] * np.maximum(diagonal, LEAST_DAMPED * largest) + floor + blocked
    damped = scaled + added[:, :, None] * np.eye(len(width))
    step = np.linalg.solve(damped, slope[..., None])[..., 0]
    gain = 0.5 * np.einsum("up,up->u", step, slope)
    return step * width, gain * (1.0 + damping)


def _curvature(information: Array, step: Array, change: Array) -> Array:
    """Return the expected information, corrected to the curvature measured along the last step.

    If a response was a lapse, curvature and expected information differ, and scoring without this
    correction would oscillate around the maximum. The correction is the formula of Broyden,
    Fletcher, Goldfarb and Shanno.
    """
    along = np.einsum("upq,uq->up", information, step)
    expected, seen = (np.einsum("up,up->u", step, other) for other in (along, change))
    usable = (expected > 0.0) & (seen > 1e-3 * expected)
    expected, seen = (np.where(usable, size, np.inf)[:, None, None] for size in (expected, seen))
    outer = np.einsum("up,uq->upq", change, change) / seen
    return information + outer - np.einsum("up,uq->upq", along, along) / expected


def profile(
    likelihood: Likelihood, maximum: Maximum, column: int, bound: float, drop: float
) -> Array:
    """Return the parameter values at which the profile log-likelihood has fallen by `drop`, (u,).

    They lie between the maximum and `bound`. If the profile falls by less than `drop`, the value
    is `bound`.

    Parameters
    ----------
    likelihood, maximum
        The likelihood of some units, and its maximum.
    column
        Position of the parameter.
    bound
        The parameter's lower or upper bound.
    drop
        Half of a chi-squared quantile with one degree of freedom.
    """

    def fall(at: Array, units: Positions) -> Array:
        """Return the square root of the fall of the profile log-likelihood, minus sqrt(drop)."""
        # At a bound the expected information can be so large that no step leaves the bound.
        start = _inside(likelihood, maximum.parameters[units])
        start[:, column] = at
        own = likelihood.take(units)
        found = maximise(own.evaluate, start, own.low, own.high, column)
        # The square root is nearly linear in the parameter, so that `find_root` needs few steps.
        excess = np.sqrt(np.maximum(maximum.value[units] - found.value, 0.0)) - np.sqrt(drop)
        return np.where(np.isfinite(excess), excess, 1e3)

    units = np.arange(likelihood.num_units)
    ends = maximum.parameters[:, column], np.full(len(units), bound)
    tolerances = {"fatol": 1e-4, "xrtol": 1e-9}
    found = find_root(fall, ends, args=(units,), tolerances=tolerances, maxiter=30)
    # Status -1: no change of sign, since the profile falls by less than `drop` up to the bound.
    # After 30 steps without convergence `x` is at a jump of the profile, exact to about 1e-8.
    return np.where(found.status == -1, bound, found.x)
