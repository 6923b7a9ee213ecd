"""Bounded maximisation of many small likelihoods at once, and profile intervals.

Every unit (a person) has the same few parameters. One step of Fisher scoring with a damping of
its own is made for all units together; units that have converged are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cobayes.people.model import Likelihood

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

MAX_STEPS = 200
# Distance of starts from the bounds, relative to the range between them.
MARGIN = 0.005
# The expected gain of the next step, in units of log-likelihood.
GAIN_TOLERANCE = 1e-8
DAMPING = 1e-3
# A step is given up when the damping has grown this far.
MAX_DAMPING = 1e12


@dataclass(frozen=True)
class Maximum:
    """Where the log-likelihoods of the units are largest.

    Attributes
    ----------
    parameters : ndarray
        (units, parameters), fixed ones included.
    value : ndarray
        (units,); minus infinity where every response model gives some response probability zero.
    information : ndarray
        (units, free, free): the expected information there.
    is_converged : ndarray
        (units,): the expected gain of a further step is below the tolerance. False where a climb
        was given up: after the last step, or where ever shorter steps did not gain anything.
    """

    parameters: Array
    value: Array
    information: Array
    is_converged: NDArray[np.bool_]

    def take(self, units: Positions) -> Maximum:
        """Return some units."""
        return Maximum(*(array[units] for array in vars(self).values()))


def maximise(likelihood: Likelihood, start: Array, free: Positions) -> Maximum:
    """Climb from a start to a maximum within bounds, for all units at once.

    Parameters
    ----------
    likelihood
        Likelihood of the units.
    start
        (units, parameters).
    free
        Positions, among the likelihood's free parameters, of those that may move.
    """
    columns = likelihood.columns[free]
    low, high = likelihood.family.low[columns], likelihood.family.high[columns]
    parameters = start.copy()
    found = likelihood.evaluate(parameters)
    value, gradient, information = (array.copy() for array in found)
    curvature = information[:, free][:, :, free]
    damping = np.full(len(start), DAMPING)
    converged = np.zeros(len(start), dtype=bool)
    active = np.flatnonzero(np.isfinite(value))
    if not len(active) or not len(columns):
        return Maximum(parameters, value, information, np.isfinite(value))
    part = likelihood if len(active) == len(start) else likelihood.take(active)
    for _ in range(MAX_STEPS):
        step, gain = _step(
            parameters[active][:, columns],
            gradient[active][:, free],
            curvature[active],
            damping[active],
            low,
            high,
        )
        converged[active] = gain <= GAIN_TOLERANCE
        done = converged[active] | (damping[active] > MAX_DAMPING)
        if done.all():
            break
        if done.mean() > 0.3:
            active, step = active[~done], step[~done]
            part = likelihood.take(active)
        trial = parameters[active].copy()
        old = trial[:, columns]
        trial[:, columns] = np.clip(trial[:, columns] + step, low, high)
        new = part.evaluate(trial)
        # Equal values are taken too: at the limit of float64 a good step may gain nothing.
        better = new.value >= value[active]
        took, kept = active[better], active[~better]
        parameters[took], value[took] = trial[better], new.value[better]
        curvature[took] = _curvature(
            new.information[better][:, free][:, :, free],
            (trial[:, columns] - old)[better],
            (gradient[active] - new.gradient)[better][:, free],
        )
        gradient[took], information[took] = new.gradient[better], new.information[better]
        damping[took] = np.maximum(damping[took] / 10.0, 1e-9)
        damping[kept] = damping[kept] * 8.0
    return Maximum(parameters, value, information, converged)


def _step(parameters, gradient, information, damping, low, high) -> tuple[Array, Array]:
    """Return damped scoring steps (u, p) and the gains they promise without damping (u,)."""
    width = high - low
    blocked = ((parameters <= low) & (gradient <= 0.0)) | ((parameters >= high) & (gradient >= 0.0))
    slope = np.where(blocked, 0.0, gradient) * width
    scaled = information * width * width[:, None]
    moving = ~blocked
    scaled = scaled * moving[:, :, None] * moving[:, None, :]
    diagonal = np.einsum("upp->up", scaled)
    # A floor keeps directions that the data say nothing about from running away.
    floor = 1e-10 * (1.0 + diagonal.max(axis=1, keepdims=True))
    damped = scaled + np.einsum(
        "up,pq->upq", damping[:, None] * diagonal + floor + blocked, np.eye(len(width))
    )
    step = np.linalg.solve(damped, slope[..., None])[..., 0]
    gain = 0.5 * np.einsum("up,up->u", step, slope)
    return step * width, gain * (1.0 + damping)


def _curvature(information: Array, step: Array, change: Array) -> Array:
    """Return the expected information, corrected to the curvature seen along the last step.

    A responder's lapse makes the two differ, and plain scoring would swing around the maximum. The
    correction is the formula of Broyden, Fletcher, Goldfarb and Shanno.
    """
    along = np.einsum("upq,uq->up", information, step)
    expected, seen = (np.einsum("up,up->u", step, other) for other in (along, change))
    usable = (expected > 0.0) & (seen > 1e-3 * expected)
    expected, seen = (np.where(usable, size, np.inf)[:, None, None] for size in (expected, seen))
    outer = np.einsum("up,uq->upq", change, change) / seen
    return information + outer - np.einsum("up,uq->upq", along, along) / expected


def climb_from_everywhere(likelihood: Likelihood, starts: Array) -> Maximum:
    """Return the best of several climbs.

    Parameters
    ----------
    likelihood
        Likelihood of the units.
    starts
        (starts, units, parameters).
    """
    num_units, every = len(likelihood.starts), np.arange(len(likelihood.free))
    climbs = [maximise(likelihood, start, every) for start in starts]
    best = np.argmax([climb.value for climb in climbs], axis=0)
    units = np.arange(num_units)
    return Maximum(
        *(
            np.stack([getattr(climb, name) for climb in climbs])[best, units]
            for name in Maximum.__dataclass_fields__
        )
    )


def profile(
    likelihood: Likelihood, maximum: Maximum, position: int, drop: float
) -> tuple[Array, Array]:
    """Return where the profile log-likelihood of one parameter has fallen by `drop`: (u,), (u,).

    An end where it does not fall so far within the bounds is the bound.

    Parameters
    ----------
    likelihood, maximum
        The maximum's own likelihood.
    position
        Position of the parameter among the free ones.
    drop
        Half of a chi-squared quantile with one degree of freedom.
    """
    column = likelihood.columns[position]
    others = np.delete(np.arange(len(likelihood.free)), position)
    low, high = likelihood.family.low, likelihood.family.high
    # At a bound the expected information can be so large that a climb does not leave it.
    margin = MARGIN * (high - low)
    best = maximum.parameters[:, column]

    def fall(units: Positions, at: Array, start: Array) -> tuple[Array, Array]:
        """Return how far below the target the profile is, and where the others went."""
        parameters = np.clip(start, low + margin, high - margin)
        parameters[:, column] = at
        found = maximise(likelihood.take(units), parameters, others)
        # Signed roots are nearly linear in the parameter, so secants converge quickly.
        lost = np.maximum(maximum.value[units] - found.value, 0.0)
        return np.sqrt(lost) - np.sqrt(drop), found.parameters

    return (
        _ends(best, float(low[column]), maximum, drop, fall),
        _ends(best, float(high[column]), maximum, drop, fall),
    )


def _ends(
    best: Array,
    bound: float,
    maximum: Maximum,
    drop: float,
    fall: Callable[[Positions, Array, Array], tuple[Array, Array]],
) -> Array:
    """Return one end of the interval of every unit by bracketed secants (Illinois)."""
    ends = np.full(len(best), bound)
    units = np.flatnonzero(np.isfinite(maximum.value) & (best != bound))
    if not len(units):
        return ends
    outer = np.full(len(units), bound)
    outer_fall, _ = fall(units, outer, maximum.parameters[units])
    crossing = outer_fall > 0.0
    units, outer, outer_fall = units[crossing], outer[crossing], outer_fall[crossing]
    inner, start = best[units].copy(), maximum.parameters[units].copy()
    inner_fall = np.full(len(units), -np.sqrt(drop))
    outer_fall = np.where(np.isfinite(outer_fall), outer_fall, 1e3)
    for _ in range(30):
        if not len(units):
            break
        weight = np.clip(inner_fall / (inner_fall - outer_fall), 0.02, 0.98)
        at = inner + weight * (outer - inner)
        found, start = fall(units, at, start)
        found = np.where(np.isfinite(found), found, 1e3)
        ends[units] = at
        beyond = found > 0.0
        # The retained end's value is halved, so that no end stays for ever.
        inner_fall = np.where(beyond, 0.5 * inner_fall, found)
        outer_fall = np.where(beyond, found, 0.5 * outer_fall)
        inner, outer = np.where(beyond, inner, at), np.where(beyond, at, outer)
        going = (np.abs(found) > 1e-4) & (np.abs(outer - inner) > 1e-9 * (1.0 + np.abs(at)))
        units, start = units[going], start[going]
        inner, outer = inner[going], outer[going]
        inner_fall, outer_fall = inner_fall[going], outer_fall[going]
    return ends
