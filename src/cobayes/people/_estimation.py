"""Maximum likelihood as arrays: units by parameters, the best depth of each unit, intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cobayes.people._maximise import Maximum, climb_from_everywhere, profile
from cobayes.people.choices import Choices
from cobayes.people.family import Family
from cobayes.people.likelihood import Likelihood

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
Progress = Callable[[str, float], None]

# So many rows are worked on together: it bounds the memory.
CHUNK_ROWS = 20_000
# Information below this, per response and with parameters in units of their range, is none.
NO_INFORMATION = 1e-9
# Where climbs start: literature values first, then spread over the bounds.
USUAL_START = {"rationality": 2.0, "lapse": 0.05, "noise": 0.2, "inner_rationality": 1.0}


def silent(text: str, share: float) -> None:
    """Say nothing: the progress that nobody asked for."""
    del text, share


@dataclass(frozen=True)
class Estimates:
    """Estimates of every unit (u) at every depth (k) for all parameters (p).

    Attributes
    ----------
    parameters : ndarray
        (u, k, p).
    value : ndarray
        (u, k): log-likelihoods; minus infinity where a response is impossible.
    is_identified : ndarray
        (u, k, p): False for fixed parameters and for those that the data say nothing about.
    is_converged : ndarray
        (u, k).
    low, high : ndarray
        (u, p): ends of the intervals at the best depth; NaN where there is none.
    """

    parameters: Array
    value: Array
    is_identified: NDArray[np.bool_]
    is_converged: NDArray[np.bool_]
    low: Array
    high: Array

    @property
    def best(self) -> Positions:
        """Positions of the depths with the highest likelihood, (u,); ties go to the lower depth."""
        # Depths that differ by rounding only are equal.
        lead = self.value.max(axis=1, keepdims=True)
        return np.argmax(self.value >= lead - 1e-9 * np.maximum(1.0, np.abs(lead)), axis=1)


def bounds(family: Family) -> tuple[Array, Array]:
    """Return the bounds of all parameters."""
    return (
        np.array([parameter.low for parameter in family.parameters]),
        np.array([parameter.high for parameter in family.parameters]),
    )


def starts(family: Family, num_starts: int) -> Array:
    """Return the starts of the climbs, (starts, parameters): the same ones every time."""
    low, high = bounds(family)
    first = [
        np.clip(
            USUAL_START.get(p.name, 1.0 if p.name == "prior_temperature" else 0.0), p.low, p.high
        )
        for p in family.parameters
    ]
    # Squares put more starts near the lower bounds, where rationality and lapse usually are.
    spread = np.random.default_rng(20200).random((num_starts - 1, len(low))) ** 2
    spread = 0.02 + 0.96 * spread
    is_signed = low < 0.0
    spread[:, is_signed] = 0.25 + 0.5 * spread[:, is_signed]
    begin = np.array(first)
    # A bound itself can be a point without slope: start inside.
    inside = low + np.clip(begin - low, 0.02 * (high - low), 0.98 * (high - low))
    found = np.vstack([inside, low + spread * (high - low)])
    for column, parameter in enumerate(family.parameters):
        if parameter.name == "inner_rationality" and parameter.is_free:
            found[0, column] = np.clip(1.0, parameter.low, parameter.high)
    return found


def estimate(
    choices: Choices,
    family: Family,
    groups: list[Positions],
    *,
    num_starts: int,
    intervals: str | None,
    confidence: float,
    progress: Progress,
) -> Estimates:
    """Fit all units at all depths.

    Parameters
    ----------
    choices, family
        What to fit to what.
    groups
        The rows of every unit.
    num_starts
        Climbs per unit and depth.
    intervals, confidence
        "profile", "information" or None, and the confidence.
    progress
        Called with a text and the share done.
    """
    parts = []
    done = 0
    for chunk in _chunks(groups):
        rows = np.concatenate([groups[unit] for unit in chunk])
        units = np.repeat(np.arange(len(chunk)), [len(groups[unit]) for unit in chunk])

        def tell(text: str, share: float, first: int = done, size: int = len(chunk)) -> None:
            progress(text, (first + share * size) / len(groups))

        parts.append(
            _estimate_chunk(
                choices.take(rows), family, units, num_starts, intervals, confidence, tell
            )
        )
        done += len(chunk)
    progress("done", 1.0)
    return Estimates(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in Estimates.__dataclass_fields__
        )
    )


def _chunks(groups: list[Positions]) -> list[list[int]]:
    """Return consecutive units with at most so many rows together."""
    chunks: list[list[int]] = [[]]
    size = 0
    for unit, rows in enumerate(groups):
        if chunks[-1] and size + len(rows) > CHUNK_ROWS:
            chunks.append([])
            size = 0
        chunks[-1].append(unit)
        size += len(rows)
    return chunks


def _estimate_chunk(
    choices: Choices,
    family: Family,
    units: Positions,
    num_starts: int,
    intervals: str | None,
    confidence: float,
    progress: Progress,
) -> Estimates:
    low, high = bounds(family)
    points = starts(family, num_starts)
    likelihoods, maxima, identified = [], [], []
    for number, depth in enumerate(family.depth):
        progress(f"depth {depth:g}", number / (len(family.depth) + 1))
        likelihood = Likelihood(choices, family, depth, units)
        # Parameters without a part at this depth keep a neutral value.
        now = points.copy()
        for column, name in enumerate(family.names):
            if name == "inner_rationality" and column not in likelihood.free:
                now[:, column] = low[column] if low[column] == high[column] else 1.0
        distinct = np.unique(now[:, list(likelihood.free)], axis=0, return_index=True)[1]
        found = climb_from_everywhere(likelihood, now[np.sort(distinct)], low, high)
        likelihoods.append(likelihood)
        maxima.append(found)
        identified.append(_identified(likelihood, found, high - low))
    estimates = Estimates(
        _snap(np.stack([found.parameters for found in maxima], axis=1), low, high),
        np.stack([found.value for found in maxima], axis=1),
        np.stack(identified, axis=1),
        np.stack([found.is_converged for found in maxima], axis=1),
        np.full((len(maxima[0].value), len(low)), np.nan),
        np.full((len(maxima[0].value), len(low)), np.nan),
    )
    progress("intervals", len(family.depth) / (len(family.depth) + 1))
    if intervals is not None:
        best = estimates.best
        for number, (likelihood, found) in enumerate(zip(likelihoods, maxima, strict=True)):
            chosen = np.flatnonzero((best == number) & np.isfinite(found.value))
            if len(chosen):
                _add_intervals(estimates, chosen, number, likelihood, found, intervals, confidence)
    return estimates


def _snap(parameters: Array, low: Array, high: Array) -> Array:
    """Move estimates that differ from a bound by rounding only onto it."""
    near = 1e-9 * (high - low)
    parameters = np.where(parameters - low < near, low, parameters)
    return np.where(high - parameters < near, high, parameters)


def _identified(likelihood: Likelihood, found: Maximum, width: Array) -> NDArray[np.bool_]:
    """Return which parameters the responses say anything about, (u, p).

    A direction without information makes all parameters that take part in it unidentified.
    """
    free = list(likelihood.free)
    flags = np.zeros(found.parameters.shape, dtype=bool)
    if not free:
        return flags
    counts = np.bincount(likelihood.units)[:, None]
    scaled = found.information * width[free] * width[free][:, None] / counts[:, :, None]
    sizes, directions = np.linalg.eigh(scaled)
    empty = sizes < NO_INFORMATION
    involved = (np.abs(directions) > 0.1) & empty[:, None, :]
    flags[:, free] = ~involved.any(axis=2)
    return flags


def _add_intervals(
    estimates: Estimates,
    units: Positions,
    number: int,
    likelihood: Likelihood,
    found: Maximum,
    kind: str,
    confidence: float,
) -> None:
    """Fill in the intervals of the units whose best depth this is."""
    from scipy.special import chdtri

    drop = 0.5 * float(chdtri(1, 1.0 - confidence))
    low, high = bounds(likelihood.family)
    part = likelihood.take(units)
    chosen = Maximum(
        found.parameters[units],
        found.value[units],
        found.information[units],
        found.is_converged[units],
    )
    if kind == "profile":
        ends = [profile(part, chosen, p, drop, low, high) for p in range(len(likelihood.free))]
    else:
        ends = _normal_ends(chosen, list(likelihood.free), np.sqrt(2.0 * drop))
    for column, (lower, upper) in zip(likelihood.free, ends, strict=True):
        known = estimates.is_identified[units, number, column]
        estimates.low[units, column] = np.where(
            known, np.clip(lower, low[column], None), low[column]
        )
        estimates.high[units, column] = np.where(
            known, np.clip(upper, None, high[column]), high[column]
        )


def _normal_ends(chosen: Maximum, free: list[int], width: float) -> list[tuple[Array, Array]]:
    """Return estimate -+ width standard errors from the expected information."""
    covariance = np.linalg.pinv(chosen.information, rcond=1e-12, hermitian=True)
    errors = np.sqrt(np.maximum(np.einsum("upp->up", covariance), 0.0))
    values = chosen.parameters[:, free]
    return [
        (values[:, p] - width * errors[:, p], values[:, p] + width * errors[:, p])
        for p in range(len(free))
    ]
