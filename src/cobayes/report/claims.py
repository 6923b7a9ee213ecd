"""Claims, judged: statement, measured figure, uncertainty, verdict.

A verdict follows from numbers by a rule that stands beside it. Each rule compares intervals with a
limit. The intervals of one claim cover the truth together with probability 1 - `ERROR_RATE`.

- "holds": every interval lies inside the limit;
- "holds except": most lie inside, some lie outside, and these are named;
- "does not hold": at least half lie outside;
- "not decided": the numbers do not say.

A section hands its claims over in ``Section.claims``; the page groups them by topic.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Verdict = Literal["holds", "holds except", "does not hold", "not decided"]
VERDICTS: tuple[Verdict, ...] = ("holds", "holds except", "does not hold", "not decided")

ERROR_RATE = 0.01
SURE = f"{100 * (1 - ERROR_RATE):g} %"
_MOST_NAMED = 4


@dataclass(frozen=True)
class Claim:
    """A statement beside what was found.

    Attributes
    ----------
    statement : str
        What is claimed, in one sentence.
    source : str
        Where it is claimed.
    verdict : str
        "holds", "holds except", "does not hold", or "not decided".
    measured : str
        The figure, and for "holds except" the exceptions.
    uncertainty : str
        How sure the figure is; "exact" for what was computed without sampling.
    rule : str
        How the verdict follows from the figure.
    topic : str
        Claims with the same topic are shown together.

    Examples
    --------
    >>> from cobayes.report import judge_exact
    >>> claim = judge_exact("Rows sum to one", "Section 2", 1e-16, 1e-12, "largest error 1e-16")
    >>> claim.verdict
    'holds'
    """

    statement: str
    source: str
    verdict: Verdict
    measured: str
    uncertainty: str
    rule: str
    topic: str = ""


def about(topic: str, *claims: Claim) -> tuple[Claim, ...]:
    """Return claims with their topic.

    Parameters
    ----------
    topic
        Under which heading the page shows them.
    *claims
        Any number.

    Returns
    -------
    tuple of Claim
        The same claims, in their order.

    Examples
    --------
    >>> from cobayes.report import about, judge_exact
    >>> claim = judge_exact("Rows sum to one", "Section 2", 1e-16, 1e-12, "largest error 1e-16")
    >>> [one.topic for one in about("Scaling", claim)]
    ['Scaling']
    """
    return tuple(dataclasses.replace(claim, topic=topic) for claim in claims)


def verdict_of(is_inside: ArrayLike, is_outside: ArrayLike) -> Verdict:
    """Return the verdict on a statement about many numbers.

    Parameters
    ----------
    is_inside, is_outside
        For each number, whether its interval lies inside its limit, and whether outside.
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


def family_quantile(count: int, *, two_sided: bool = False) -> float:
    """Return the z that none of so many normal variables exceeds, except with `ERROR_RATE`.

    Parameters
    ----------
    count
        The number of comparisons.
    two_sided
        Whether both signs count.
    """
    from scipy.special import ndtri

    return -float(ndtri(ERROR_RATE / count / (2 if two_sided else 1)))


def student_quantile(count: int, degrees: int) -> float:
    """Return what none of so many of Student's t exceeds in size, except with `ERROR_RATE`.

    Parameters
    ----------
    count
        The number of comparisons.
    degrees
        Degrees of freedom of each variable.
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1.0 - ERROR_RATE / (2 * count)))


def probability_text(chance: float) -> str:
    """Return "p = ..." for a probability that may be too small for a float."""
    return f"p = {chance:.2g}" if chance > 1e-99 else "p < 10⁻⁹⁹"


def number_text(value: float) -> str:
    """Return a number with the digits that a reader of a claim needs."""
    if value != 0.0 and abs(value) < 1e-4:
        return f"{value:.1e}"
    return f"{value:.4g}" if abs(value) < 0.999 else f"{value:.6g}"


def listed(names: Sequence[str], chosen: ArrayLike, separator: str = ", ") -> str:
    """Return the chosen names, the first few of them.

    Parameters
    ----------
    names
        Of all.
    chosen
        Which to list, one bool for each.
    separator
        Between two.
    """
    found = [name for name, is_chosen in zip(names, np.asarray(chosen), strict=True) if is_chosen]
    more = len(found) - _MOST_NAMED
    return separator.join(found[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
