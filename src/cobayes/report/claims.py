"""Claims, and functions that judge claims: the verdict follows from numbers by a stated rule.

`judge_interval` and `judge_order` compare confidence intervals with the limits of the claim. The
probability that all intervals of a claim contain their true values is at least 1 - `ERROR_RATE`.

- "holds": every interval lies within the limits;
- "does not hold": at least half of the intervals lie completely outside;
- "holds except": more than half lie within, and some completely outside; the claim names the cases
  outside;
- "not decided": otherwise.

`judge_agreement` says "does not hold" if a χ² test has p < `ERROR_RATE`; it never says "holds
except".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Verdict = Literal["holds", "holds except", "does not hold", "not decided"]

ERROR_RATE = 0.01
SURE = f"{100 * (1 - ERROR_RATE):g} %"
_MOST_NAMED = 4


@dataclass(frozen=True)
class Claim:
    """A statement, and the verdict that follows from measured numbers.

    Attributes
    ----------
    statement : str
        The claim, in one sentence.
    source : str
        The source of the claim, such as a page of the paper.
    verdict : str
        "holds", "holds except", "does not hold", or "not decided".
    measured : str
        The measured numbers, and the exceptions if there are any.
    uncertainty : str
        The error of the numbers; "exact" for numbers computed without sampling.
    rule : str
        How the verdict follows from the numbers.
    topic : str
        Claims with the same topic are shown together.

    Examples
    --------
    >>> from cobayes.report import judge_interval
    >>> judge_interval("P exceeds 1/2", "my notes", 0.6, 0.8, above=0.5, what="P").verdict
    'holds'
    """

    statement: str
    source: str
    verdict: Verdict
    measured: str
    uncertainty: str
    rule: str
    topic: str = ""


def judge_interval(
    statement: str,
    source: str,
    low: ArrayLike,
    high: ArrayLike,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    values: ArrayLike | None = None,
    names: Sequence[str] = (),
    what: str = "value",
    places: str = "cases",
    **texts: str,
) -> Claim:
    """Judge the claim that a quantity lies within its limits in every case.

    Parameters
    ----------
    statement, source
        See `Claim`.
    low, high
        The ends of confidence intervals, equal ends for exact values. The probability that all
        intervals contain the true values must be at least 1 - `ERROR_RATE`.
    above, below
        The limits: the claim holds if all intervals have ``low > above`` and ``high <= below``
        (default: no limit).
    values
        The estimates (default: the middles of the intervals).
    names
        Names of the cases.
    what, places
        The quantity's name, and the noun for the cases, in the plural.
    **texts
        The claim's `topic`, and `measured`, `uncertainty` or `rule` in place of the texts that this
        function writes.

    Returns
    -------
    Claim
        The verdict and its numbers.

    Examples
    --------
    >>> from cobayes.report import judge_interval
    >>> judge_interval(
    ...     "P exceeds 1/2", "my notes", [0.6, 0.7], [0.8, 0.9], above=0.5, what="P"
    ... ).verdict
    'holds'
    """
    low, high = (np.array(x, dtype=float, ndmin=1) for x in (low, high))
    values = (low + high) / 2 if values is None else np.array(values, dtype=float, ndmin=1)
    names = names or [f"case {k + 1}" for k in range(len(low))]
    is_exact = bool((low == high).all())
    inside = (low > above) & (high <= below)
    outside = ~inside if is_exact else (high < above) | (low > below)
    verdict = verdict_of(inside, outside)
    worst = int(np.argmin(np.minimum(values - above, below - values)))
    extreme = "smallest" if values[worst] - above <= below - values[worst] else "largest"
    measured = f"the {extreme} {what} is {number_text(values[worst])}"
    ends = f"{number_text(low[worst])} to {number_text(high[worst])}, {SURE}"
    if len(low) > 1:
        measured += f" at {names[worst]}; {len(low)} {places}"
        ends += " for all together"
    if verdict == "holds except":
        measured += f"; not at {listed(names, outside)}"
    limits = [f"above {above:g}"] if above > -math.inf else []
    limits += [f"at most {below:g}"] if below < math.inf else []
    rule = f"every {'value' if is_exact else 'interval'} lies {' and '.join(limits)}"
    found = {"measured": measured, "uncertainty": "exact" if is_exact else ends, "rule": rule}
    return Claim(statement, source, verdict, **{**found, **texts})


def judge_order(
    statement: str,
    source: str,
    names: Sequence[str],
    values: ArrayLike,
    stderrs: ArrayLike = 0.0,
    *,
    rises: bool,
    what: str,
    **texts: str,
) -> Claim:
    """Judge the claim that a quantity rises, or falls, from each case to the next.

    Parameters
    ----------
    statement, source
        See `Claim`.
    names
        Names of the cases, in order.
    values, stderrs
        The quantity in each case, and its standard errors (zero for exact values). The estimates of
        different cases must be independent.
    rises
        True if the quantity should rise, False if it should fall.
    what
        The quantity's name.
    **texts
        See `judge_interval`.

    Returns
    -------
    Claim
        The verdict and its numbers.

    Examples
    --------
    >>> from cobayes.report import judge_order
    >>> names = ["n = 2", "n = 3", "n = 4"]
    >>> judge_order("P grows", "my notes", names, [0.6, 0.7, 0.8], rises=True, what="P").verdict
    'holds'
    """
    values = np.asarray(values, dtype=float)
    stderrs = np.broadcast_to(np.asarray(stderrs, dtype=float), values.shape)
    steps = (1.0 if rises else -1.0) * np.diff(values)
    errors = np.hypot(stderrs[1:], stderrs[:-1])
    bound = family_quantile(len(steps)) * errors
    is_exact = not errors.any()
    right, wrong = steps > bound, steps <= 0.0 if is_exact else steps < -bound
    way, other = ("rises", "falls") if rises else ("falls", "rises")
    measured = (
        f"{what} goes from {number_text(values[0])} ({names[0]}) to {number_text(values[-1])} "
        f"({names[-1]}); it {'' if is_exact else 'significantly '}{way} in {int(right.sum())} of "
        f"{len(steps)} steps"
    )
    if wrong.any():
        each = [f"from {a} to {b}" for a, b in itertools.pairwise(names)]
        worst = int(np.argmin(np.where(wrong, steps, np.inf)))
        measured += (
            f"; it {other} {listed(each, wrong)} "
            f"({number_text(values[worst])} → {number_text(values[worst + 1])})"
        )
    found = {"measured": measured, "uncertainty": "exact", "rule": f"every step {way}"}
    if not is_exact:
        found["uncertainty"] = f"standard errors up to {stderrs.max():.2g}"
        found["rule"] += f" significantly ({SURE} for all steps together)"
    return Claim(statement, source, verdict_of(right, wrong), **{**found, **texts})


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
    chi_square: tuple[float, int] | None = None,
    **texts: str,
) -> Claim:
    """Judge that measured values equal the claimed values.

    If a χ² test rejects equality, the claim "does not hold". Otherwise the claim "holds" if every
    interval lies within ± `within` of the claimed value; if not, the verdict is "not decided".

    Parameters
    ----------
    statement, source
        See `Claim`.
    values, stderrs
        The measured values and their standard errors.
    expected
        The claimed values.
    within
        The largest accepted difference; one number, or one per value.
    what
        The quantity's name.
    unit
        Unit of the limit, with a space before it if one is needed.
    chi_square
        The χ² statistic and its degrees of freedom; needed if the values depend on each other, as
        shares of one total do. The default is for independent values: the sum of
        ((value - expected) / stderr)² and the number of values.
    **texts
        See `judge_interval`.

    Returns
    -------
    Claim
        The verdict and its numbers.

    Examples
    --------
    >>> from cobayes.report import judge_agreement
    >>> judge_agreement(
    ...     "P is one half", "my notes", [0.501], [0.001], [0.5], within=0.01, what="P"
    ... ).verdict
    'holds'
    """
    from scipy.special import gammaincc

    values, stderrs, expected, limit = np.broadcast_arrays(
        *(np.array(x, dtype=float, ndmin=1) for x in (values, stderrs, expected, within))
    )
    apart = np.abs(values - expected)
    # An exact value adds nothing to χ² if it equals the claimed one, and infinity otherwise.
    ratios = np.divide(apart, stderrs, out=np.where(apart > 0.0, np.inf, 0.0), where=stderrs > 0.0)
    statistic, degrees = chi_square or (float((ratios**2).sum()), len(values))
    chance = float(gammaincc(0.5 * degrees, 0.5 * statistic))
    reach = apart + family_quantile(len(values)) * stderrs
    verdict: Verdict = "not decided"
    if chance < ERROR_RATE:
        verdict = "does not hold"
    elif (reach <= limit).all():
        verdict = "holds"
    limits = f"{limit.min():.2g}" + (f" to {limit.max():.2g}" if np.ptp(limit) > 0 else "")
    found = {
        "measured": f"{what}: largest difference {apart.max():.2g} over {len(values)} cases, "
        f"farthest end of an interval {reach.max():.2g}; χ² = {statistic:.1f} with {degrees} "
        f"degrees of freedom, {probability_text(chance)}",
        "uncertainty": f"standard errors {stderrs.min():.2g} to {stderrs.max():.2g}",
        "rule": f"every interval ({SURE} for all together) lies within ±\u00a0{limits}{unit} of "
        f"the claimed value; “does not hold” where χ² has p < {ERROR_RATE:g}",
    }
    return Claim(statement, source, verdict, **{**found, **texts})


def verdict_of(is_inside: ArrayLike, is_outside: ArrayLike) -> Verdict:
    """Return the verdict on a statement about many numbers.

    Parameters
    ----------
    is_inside, is_outside
        For each number, whether its interval lies completely within the claim's limits, and
        whether it lies completely outside.
    """
    inside, outside = np.asarray(is_inside), np.asarray(is_outside)
    count = inside.size
    if count and inside.all():
        return "holds"
    if outside.any() and 2 * outside.sum() >= count:
        return "does not hold"
    if outside.any() and 2 * inside.sum() > count:
        return "holds except"
    return "not decided"


def family_quantile(count: int, *, degrees: float = math.inf, sides: int = 2) -> float:
    """Return a bound on `count` standard normal variables.

    The probability that none of them exceeds the bound is at least 1 - `ERROR_RATE`.

    Parameters
    ----------
    count
        The number of variables.
    degrees
        Degrees of freedom if the variables follow Student's t distribution (default: normal).
    sides
        2 to bound the absolute values, 1 to bound the values.
    """
    from scipy.special import stdtrit

    return -float(stdtrit(degrees, ERROR_RATE / (sides * count)))


def probability_text(chance: float) -> str:
    """Return "p = ...", or "p < 10⁻⁹⁹" for a smaller probability."""
    return f"p = {chance:.2g}" if chance > 1e-99 else "p < 10⁻⁹⁹"


def number_text(value: float) -> str:
    """Return a number as text with a suitable number of digits."""
    if value != 0.0 and abs(value) < 1e-4:
        return f"{value:.1e}"
    return f"{value:.4g}" if abs(value) < 0.999 else f"{value:.6g}"


def listed(names: Sequence[str], chosen: ArrayLike, separator: str = ", ") -> str:
    """Return the first few of the chosen names, and the number of the others.

    Parameters
    ----------
    names
        Names of all cases.
    chosen
        Which to list, one bool for each name.
    separator
        The text between two names.
    """
    found = [name for name, is_chosen in zip(names, np.asarray(chosen), strict=True) if is_chosen]
    more = len(found) - _MOST_NAMED
    return separator.join(found[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
