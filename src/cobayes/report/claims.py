"""Claims of the paper, judged: statement, measured figure, uncertainty, verdict.

A verdict comes from numbers by a rule that is stated beside it. Sampled numbers contradict or
confirm a claim only beyond their noise: each rule errs with a probability of at most `ERROR_RATE`,
however many numbers it looks at. What lies within the noise is "not decided".

A section of the report hands its claims over in ``Section.claims``; the page shows all of them in
one table.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Verdict = Literal["holds", "holds except", "does not hold", "not decided"]

ERROR_RATE = 0.01
_MOST_NAMED = 4


@dataclass(frozen=True)
class Claim:
    """Something that the paper says, beside what was found.

    Attributes
    ----------
    statement : str
        What is claimed, in one sentence.
    source : str
        Where the paper says so.
    verdict : str
        "holds", "holds except", "does not hold", or "not decided" by these data.
    measured : str
        The figure, and for "holds except" the exceptions.
    uncertainty : str
        How sure the figure is; "exact" for what was computed without sampling.
    rule : str
        How the verdict follows from the figure.
    """

    statement: str
    source: str
    verdict: Verdict
    measured: str
    uncertainty: str
    rule: str


def family_quantile(count: int, *, two_sided: bool = False) -> float:
    """Return the z that none of so many normal variables exceeds, but for the error rate.

    Parameters
    ----------
    count
        How many are looked at.
    two_sided
        Whether both signs count.
    """
    from scipy.special import ndtri

    return -float(ndtri(ERROR_RATE / count / (2 if two_sided else 1)))


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
) -> Claim:
    """Judge that a quantity lies above a threshold everywhere.

    Parameters
    ----------
    statement, source
        See `Claim`.
    names
        Of the places.
    values, low, high
        The quantity and the ends of intervals that all cover it together, but for the error rate.
    threshold
        What it should exceed.
    what
        The quantity's name.
    """
    values, low, high = (np.asarray(x, dtype=float) for x in (values, low, high))
    is_above, is_below = low > threshold, high < threshold
    verdict = _verdict(int(is_below.sum()), int((~is_above).sum()), len(values))
    least = int(np.argmin(values))
    measured = f"smallest {what} {_number(values[least])} at {names[least]}; {len(values)} shapes"
    if verdict == "holds except":
        measured += f"; not at {_listed(names, is_below)}"
    return Claim(
        statement,
        source,
        verdict,
        measured,
        f"{_interval(low[least], high[least])} there, {_percent()} for all together",
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
        Of the places, in order.
    values, stderrs
        The quantity and its standard errors, independent of each other; zero for exact values.
    rises
        Which way it should go.
    what
        The quantity's name.
    """
    values, stderrs = np.asarray(values, dtype=float), np.asarray(stderrs, dtype=float)
    sign = 1.0 if rises else -1.0
    steps = sign * np.diff(values)
    errors = np.hypot(stderrs[1:], stderrs[:-1])
    bound = family_quantile(len(steps), two_sided=True) * errors
    wrong, right = steps < -bound, steps > bound
    is_exact = not errors.any()
    if is_exact:
        wrong = steps <= 0.0
    overall = sign * (values[-1] - values[0])
    is_overall = overall > family_quantile(1) * math.hypot(stderrs[0], stderrs[-1])
    if not wrong.any():
        verdict: Verdict = "holds" if is_overall else "not decided"
    else:
        verdict = "holds except" if is_overall and wrong.mean() < 0.5 else "does not hold"
    measured = (
        f"{what} goes from {_number(values[0])} ({names[0]}) to {_number(values[-1])} "
        f"({names[-1]}); {int(right.sum())} of {len(steps)} steps beyond the noise"
    )
    if is_exact:
        measured = measured.replace(" beyond the noise", " go that way")
    if wrong.any():
        each = [f"from {a} to {b}" for a, b in itertools.pairwise(names)]
        way = "falls" if rises else "rises"
        worst = int(np.argmin(np.where(wrong, steps, np.inf)))
        measured += (
            f"; it {way} {_listed(each, wrong)} "
            f"({_number(values[worst])} → {_number(values[worst + 1])})"
        )
    return Claim(
        statement,
        source,
        verdict,
        measured,
        "exact" if is_exact else f"standard errors up to {stderrs.max():.2g}",
        "no step goes the other way"
        + ("" if is_exact else f" beyond the noise ({_percent()} for all steps together)")
        + ", and the last value is beyond the first",
    )


def judge_agreement(
    statement: str,
    source: str,
    values: ArrayLike,
    stderrs: ArrayLike,
    expected: ArrayLike,
    *,
    what: str,
) -> Claim:
    """Judge that measured values are what they are said to be, but for sampling noise.

    Parameters
    ----------
    statement, source
        See `Claim`.
    values, stderrs
        What was measured, with standard errors, independent of each other.
    expected
        What is claimed.
    what
        The quantity's name.
    """
    from scipy.special import gammaincc

    values, stderrs, expected = (np.asarray(x, dtype=float) for x in (values, stderrs, expected))
    scores = (values - expected) / stderrs
    chi_square = float((scores**2).sum())
    chance = float(gammaincc(0.5 * len(scores), 0.5 * chi_square))
    worst = float(np.abs(values - expected).max())
    return Claim(
        statement,
        source,
        "holds" if chance >= ERROR_RATE else "does not hold",
        f"{what}: largest difference {worst:.2g} over {len(values)} cases; "
        f"χ² = {chi_square:.1f} with {len(values)} degrees of freedom, {probability_text(chance)}",
        f"standard errors {stderrs.min():.2g} to {stderrs.max():.2g}",
        f"p of the χ² test is at least {ERROR_RATE:g}",
    )


def judge_differences(
    statement: str,
    source: str,
    differences: ArrayLike,
    *,
    what: str,
    noise: ArrayLike | None = None,
) -> Claim:
    """Judge that one number exceeds another in every matrix of a sample.

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
    """
    from cobayes._intervals import exact_interval

    found = np.asarray(differences, dtype=float)
    count = len(found)
    mean = float(found.mean())
    stderr = float(found.std(ddof=1)) / math.sqrt(count)
    errors = np.zeros(count) if noise is None else np.asarray(noise, dtype=float)
    against = found < -family_quantile(count) * errors
    quantile = family_quantile(1)
    if mean < -quantile * stderr:
        verdict: Verdict = "does not hold"
    elif mean <= quantile * stderr:
        verdict = "not decided"
    else:
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
        f"the average is above zero beyond the noise ({_percent()}); “except” where single "
        "matrices go the other way" + (" beyond theirs" if noise is not None else ""),
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
    """
    return Claim(
        statement,
        source,
        "holds" if deviation <= tolerance else "does not hold",
        measured,
        "exact",
        f"the largest violation is rounding, at most {tolerance:.0e}",
    )


def probability_text(chance: float) -> str:
    """Return "p = ..." for a probability that may be too small for a float."""
    return f"p = {chance:.2g}" if chance > 1e-99 else "p < 10⁻⁹⁹"


def _verdict(num_against: int, num_not_for: int, count: int) -> Verdict:
    if num_against == 0:
        return "holds" if num_not_for == 0 else "not decided"
    return "holds except" if 2 * num_against < count else "does not hold"


def _listed(names: Sequence[str], chosen: NDArray[np.bool_]) -> str:
    found = [name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen]
    more = len(found) - _MOST_NAMED
    return ", ".join(found[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _interval(low: float, high: float) -> str:
    return f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    if value != 0.0 and abs(value) < 1e-4:
        return f"{value:.1e}"
    return f"{value:.4g}" if abs(value) < 0.999 else f"{value:.6g}"


def _percent() -> str:
    return f"{100 * (1 - ERROR_RATE):g} %"
