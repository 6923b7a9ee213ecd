"""Judges: rules by which a verdict on a claim follows from numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from cobayes.report.claims import (
    ERROR_RATE,
    SURE,
    Claim,
    Verdict,
    family_quantile,
    listed,
    number_text,
    probability_text,
    student_quantile,
    verdict_of,
)


def judge_all_above(
    statement: str,
    source: str,
    names: Sequence[str],
    values: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    threshold: float,
    *,
    what: str,
    places: str = "cases",
) -> Claim:
    """Judge that a quantity lies above a threshold everywhere.

    Parameters
    ----------
    statement, source
        See `Claim`.
    names
        Names of the places.
    values, low, high
        The quantity and the ends of intervals that cover it together, except with `ERROR_RATE`.
    threshold
        The value to be exceeded.
    what
        The quantity's name.
    places
        What the places are, in the plural.

    Returns
    -------
    Claim
        With a verdict and the numbers it rests on.

    Examples
    --------
    >>> from cobayes.report import judge_all_above
    >>> judge_all_above(
    ...     "P exceeds 1/2", "my notes", ["n = 2"], [0.7], [0.6], [0.8], 0.5, what="P"
    ... ).verdict
    'holds'
    """
    values, low, high = (np.asarray(x, dtype=float) for x in (values, low, high))
    is_below = high < threshold
    verdict = verdict_of(low > threshold, is_below)
    least = int(np.argmin(values))
    measured = (
        f"smallest {what} {number_text(values[least])} at {names[least]}; {len(values)} {places}"
    )
    if verdict == "holds except":
        measured += f"; not at {listed(names, is_below)}"
    return Claim(
        statement,
        source,
        verdict,
        measured,
        f"{number_text(low[least])} to {number_text(high[least])} there, {SURE} for all together",
        f"every interval lies above {threshold:g}",
    )


def judge_monotone(
    statement: str,
    source: str,
    names: Sequence[str],
    values: ArrayLike,
    stderrs: ArrayLike,
    *,
    rises: bool,
    what: str,
) -> Claim:
    """Judge that a quantity rises, or falls, from each place to the next.

    Parameters
    ----------
    statement, source
        See `Claim`.
    names
        Names of the places, in order.
    values, stderrs
        The quantity and its standard errors, independent of each other; zero for exact values.
    rises
        Which way it should go.
    what
        The quantity's name.

    Returns
    -------
    Claim
        With a verdict and the numbers it rests on.

    Examples
    --------
    >>> from cobayes.report import judge_monotone
    >>> names = ["n = 2", "n = 3", "n = 4"]
    >>> judge_monotone(
    ...     "P grows", "my notes", names, [0.6, 0.7, 0.8], [0, 0, 0], rises=True, what="P"
    ... ).verdict
    'holds'
    """
    values, stderrs = np.asarray(values, dtype=float), np.asarray(stderrs, dtype=float)
    steps = (1.0 if rises else -1.0) * np.diff(values)
    errors = np.hypot(stderrs[1:], stderrs[:-1])
    bound = family_quantile(len(steps), two_sided=True) * errors
    is_exact = not errors.any()
    right, wrong = steps > bound, steps < -bound
    if is_exact:
        wrong = steps <= 0.0
    verdict = verdict_of(right, wrong)
    way, other = ("rises", "falls") if rises else ("falls", "rises")
    measured = (
        f"{what} goes from {number_text(values[0])} ({names[0]}) to {number_text(values[-1])} "
        f"({names[-1]}); it {way} in {int(right.sum())} of {len(steps)} steps"
        + ("" if is_exact else " beyond the noise")
    )
    if wrong.any():
        each = [f"from {a} to {b}" for a, b in itertools.pairwise(names)]
        worst = int(np.argmin(np.where(wrong, steps, np.inf)))
        measured += (
            f"; it {other} {listed(each, wrong)} "
            f"({number_text(values[worst])} → {number_text(values[worst + 1])})"
        )
    return Claim(
        statement,
        source,
        verdict,
        measured,
        "exact" if is_exact else f"standard errors up to {stderrs.max():.2g}",
        f"every step {way}"
        + ("" if is_exact else f" beyond the noise ({SURE} for all steps together)"),
    )


def judge_agreement(
    statement: str,
    source: str,
    values: ArrayLike,
    stderrs: ArrayLike,
    expected: ArrayLike,
    *,
    within: ArrayLike,
    what: str,
    unit: str = "",
) -> Claim:
    """Judge that measured values are what they are said to be.

    It "holds" where every interval lies within a limit around the expected value, and "does not
    hold" where a χ² test rejects equality, which is what is claimed. Too few data give neither.

    Parameters
    ----------
    statement, source
        See `Claim`.
    values, stderrs
        What was measured, with standard errors, independent of each other.
    expected
        What is claimed.
    within
        The largest difference that still counts as agreement; one number or one for each.
    what
        The quantity's name.
    unit
        Unit of the limit.

    Returns
    -------
    Claim
        With a verdict and the numbers it rests on.

    Examples
    --------
    >>> from cobayes.report import judge_agreement
    >>> judge_agreement(
    ...     "P is one half", "my notes", [0.501], [0.001], [0.5], within=0.01, what="P"
    ... ).verdict
    'holds'
    """
    from scipy.special import gammaincc

    values, stderrs, expected = (np.asarray(x, dtype=float) for x in (values, stderrs, expected))
    limit = np.broadcast_to(np.asarray(within, dtype=float), values.shape)
    apart = np.abs(values - expected)
    chi_square = float(((apart / stderrs) ** 2).sum())
    chance = float(gammaincc(0.5 * len(values), 0.5 * chi_square))
    reach = apart + family_quantile(len(values), two_sided=True) * stderrs
    verdict: Verdict = "not decided"
    if chance < ERROR_RATE:
        verdict = "does not hold"
    elif (reach <= limit).all():
        verdict = "holds"
    limits = f"{limit.min():.2g}" + (f" to {limit.max():.2g}" if np.ptp(limit) > 0 else "")
    return Claim(
        statement,
        source,
        verdict,
        f"{what}: largest difference {apart.max():.2g} over {len(values)} cases, with its error "
        f"at most {reach.max():.2g}; χ² = {chi_square:.1f} with {len(values)} degrees of freedom, "
        f"{probability_text(chance)}",
        f"standard errors {stderrs.min():.2g} to {stderrs.max():.2g}",
        f"every interval ({SURE} for all together) lies within ±\u00a0{limits}{unit} of what is "
        f"claimed; “does not hold” where χ² has p < {ERROR_RATE:g}",
    )


def judge_differences(
    statement: str,
    source: str,
    differences: ArrayLike,
    *,
    what: str,
    noise: ArrayLike | None = None,
) -> Claim:
    """Judge that one number exceeds another on average over random matrices.

    Parameters
    ----------
    statement, source
        See `Claim`.
    differences
        What should be positive, one for each matrix.
    what
        The difference in words.
    noise
        Standard errors of the single differences; they are exact when left out.

    Returns
    -------
    Claim
        With a verdict and the numbers it rests on.

    Examples
    --------
    >>> from cobayes.report import judge_differences
    >>> gains = [0.1, 0.2, 0.15, 0.12, 0.18, 0.11, 0.16, 0.13]
    >>> judge_differences("SCBI gains", "my notes", gains, what="gain").verdict
    'holds'
    """
    from cobayes._intervals import exact_interval

    found = np.asarray(differences, dtype=float)
    count = len(found)
    mean = float(found.mean())
    stderr = float(found.std(ddof=1)) / math.sqrt(count)
    errors = np.zeros(count) if noise is None else np.asarray(noise, dtype=float)
    against = found < -family_quantile(count) * errors
    reach = student_quantile(1, count - 1) * stderr
    verdict: Verdict = "not decided"
    if mean < -reach:
        verdict = "does not hold"
    elif mean > reach:
        verdict = "holds except" if against.any() else "holds"
    positive = int((found > 0.0).sum())
    low, high = exact_interval(positive, count)
    measured = (
        f"{what} {mean:.3g} on average; above zero in {positive} of {count} matrices "
        f"({100 * positive / count:.1f} %)"
    )
    if noise is not None:
        measured += f", {int(against.sum())} below it beyond the noise"
    return Claim(
        statement,
        source,
        verdict,
        measured,
        f"±\u00a0{stderr:.2g} (standard error); share of all matrices "
        f"{100 * low:.1f} to {100 * high:.1f} % (95 %)",
        f"the {SURE} interval of the average (Student’s t) lies above zero; “except” where single "
        "matrices go the other way" + (" beyond their noise" if noise is not None else ""),
    )


def judge_exact(
    statement: str, source: str, deviation: float, tolerance: float, measured: str
) -> Claim:
    """Judge an identity that was computed without sampling.

    Parameters
    ----------
    statement, source, measured
        See `Claim`.
    deviation
        The largest violation found.
    tolerance
        What still counts as rounding.

    Returns
    -------
    Claim
        With a verdict and the numbers it rests on.

    Examples
    --------
    >>> from cobayes.report import judge_exact
    >>> judge_exact("Rows sum to one", "Section 2", 0.1, 1e-12, "largest error 0.1").verdict
    'does not hold'
    """
    return Claim(
        statement,
        source,
        "holds" if deviation <= tolerance else "does not hold",
        measured,
        "exact",
        f"the largest violation is rounding, at most {tolerance:.0e}",
    )
