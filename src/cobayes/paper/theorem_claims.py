"""What is claimed of the theorems on consistency, rates and invariants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.theorem_experiments import MIXTURE_ROUNDS
from cobayes.report.claims import ERROR_RATE, SURE, Claim, verdict_of
from cobayes.report.judges import judge_agreement, judge_all_above, judge_exact

CONSISTENCY = "Theorems 3.1 and 3.5: consistency"
RATES = "Theorems 3.2 and 3.6: rates of convergence"
UNIFORM = "Proposition 5.1: uniform data"

# A slope within this share of the theorem's rate agrees with it.
_RATE_LIMIT = 0.05
# So does a share of learners within this of the prior.
_SHARE_LIMIT = 0.05
# Convergence in probability: at the end at least this share of lessons has ended at the truth.
_SURE_SHARE = 0.95


@dataclass(frozen=True)
class MeasuredRate:
    """A rate of convergence in theory and in lessons, and how many lessons ended at the truth."""

    matrix: str
    rule: str
    theory: float
    value: float
    stderr: float
    num_lessons: int = 0
    num_sure: int = 0


@dataclass(frozen=True)
class Destinations:
    """Where learners end under uniform data.

    Attributes
    ----------
    matrix : str
        Its name.
    prior : ndarray
        Where all learners started.
    counts : ndarray
        How many ended at each hypothesis.
    num_unsettled : int
        How many were not yet sure of anything.
    """

    matrix: str
    prior: NDArray[np.float64]
    counts: NDArray[np.int64]
    num_unsettled: int


def full_rate(rates: Sequence[MeasuredRate], rule: str) -> float:
    """Return the rate on M_1 with all hypotheses believed at first."""
    return next(rate.theory for rate in rates if rate.matrix == "M_1" and rate.rule == rule)


def judge_consistency(rates: Sequence[MeasuredRate], rule: str) -> Claim:
    """Judge that beliefs converge to the truth, in probability.

    Parameters
    ----------
    rates
        Rates of all matrices, for both rules.
    rule
        Which to judge.
    """
    from cobayes._intervals import exact_interval

    own = [rate for rate in rates if rate.rule == rule]
    intervals = [
        exact_interval(rate.num_sure, rate.num_lessons, 1.0 - ERROR_RATE / len(own)) for rate in own
    ]
    return judge_all_above(
        f"{rule} is consistent: the belief converges to the truth",
        "Theorem 3.1 (strongly)" if rule == "BI" else "Theorem 3.5 (in probability)",
        [rate.matrix for rate in own],
        [rate.num_sure / rate.num_lessons for rate in own],
        [low for low, _ in intervals],
        [high for _, high in intervals],
        _SURE_SHARE,
        what="share of lessons that end with a belief above 0.99",
        places="matrices",
    )


def judge_rates(rates: Sequence[MeasuredRate]) -> tuple[Claim, ...]:
    """Judge the theorems on rates, a claim for each rule.

    Parameters
    ----------
    rates
        In theory and in lessons.
    """
    claims = []
    for rule, theorem in (("BI", "Theorem 3.2"), ("SCBI", "Theorem 3.6")):
        own = [rate for rate in rates if rate.rule == rule]
        claims.append(
            judge_agreement(
                f"The log-odds of the truth under {rule} grow at the rate of the theorem, the "
                "minimum over the prior’s support",
                theorem,
                [rate.value for rate in own],
                [rate.stderr for rate in own],
                [rate.theory for rate in own],
                within=_RATE_LIMIT * np.array([rate.theory for rate in own]),
                what="slope in lessons less theory",
                unit=f" nats per round ({100 * _RATE_LIMIT:g} % of the rate)",
            )
        )
    return tuple(claims)


def judge_invariants(reports: Mapping[str, Any], positions: Sequence[int]) -> tuple[Claim, ...]:
    """Judge the invariants of the proofs, by their positions in a report."""
    statements = (
        ("The mean of θ(h) never falls while h is taught", "Proof of Theorem 3.5"),
        ("The mean of θ(h′)/θ(h) is constant while h is taught", "Proof of Theorem 3.5"),
        ("Under uniform data the mean belief is constant", "Proposition 5.1, proof"),
        ("Under uniform data beliefs move outwards on average", "Proposition 5.1, proof"),
    )
    rounds = [int(report["num_rounds"]) for report in reports.values()]
    tolerance = max(float(report["tolerance"]) for report in reports.values())
    claims = []
    for position in positions:
        worst = max(float(report["deviations"][position]) for report in reports.values())
        claims.append(
            judge_exact(
                *statements[position],
                worst,
                tolerance,
                f"largest violation {worst:.1g} on {len(reports)} matrices, {min(rounds)} to "
                f"{max(rounds)} rounds",
            )
        )
    return tuple(claims)


def judge_destinations(ends: Sequence[Destinations]) -> Claim:
    """Judge that learners end where the prior says, under uniform data.

    Parameters
    ----------
    ends
        One for each matrix.
    """
    shares = np.concatenate([end.counts / end.counts.sum() for end in ends])
    priors = np.concatenate([end.prior for end in ends])
    totals = np.concatenate([np.full(len(end.prior), end.counts.sum()) for end in ends])
    # Of every matrix one share follows from the others and must not be counted again.
    free = np.concatenate([np.arange(len(end.prior)) > 0 for end in ends])
    unsettled = sum(end.num_unsettled for end in ends)
    return judge_agreement(
        "Under uniform data a learner ends at hypothesis i with the prior probability of i",
        "Proposition 5.1",
        shares[free],
        np.sqrt(priors * (1.0 - priors) / totals)[free],
        priors[free],
        within=_SHARE_LIMIT,
        what=f"share of learners less prior ({unsettled} unsettled)",
    )


def judge_mixture(found: Mapping[str, Any]) -> Claim:
    """Judge that BI does not find a true distribution over several hypotheses."""
    from cobayes._intervals import exact_interval

    count, away = int(found["count"]), int(found["away"])
    low, high = exact_interval(away, count, 1.0 - ERROR_RATE)
    return Claim(
        "BI with a general true distribution θ̂ is almost never consistent",
        "Remark after Theorem 3.1",
        verdict_of([low > 0.9], [high < 0.9]),
        f"{away} of {count} uniform θ̂ on M₃ end farther than 0.1 (L¹) from θ̂ after "
        f"{MIXTURE_ROUNDS:,} rounds; {int(found['at_corner'])} are certain of one hypothesis",
        f"{100 * low:.1f} to {100 * high:.1f} % of all θ̂ ({SURE})",
        "the interval of the share that ends elsewhere lies above 90 %, our reading of “almost "
        "never” in finitely many rounds",
    )


def judge_atoms(found: Mapping[str, Any]) -> Claim:
    """Judge the number of different beliefs after some rounds."""
    full = 3 ** np.arange(1, len(found["random"]) + 1)
    is_full = np.concatenate([np.asarray(found["random"]) == full])
    texts = (
        f"{', '.join(map(str, np.asarray(found[name])))} different beliefs after 1 to {len(full)} "
        f"rounds {where}"
        for name, where in (
            ("random", "on a random 3 × 3 matrix"),
            ("alike", "on one with two proportional rows"),
        )
    )
    alike_is_full = bool((np.asarray(found["alike"]) == full).all())
    return Claim(
        "After k rounds the distribution of beliefs has exactly nᵏ atoms",
        "Section 3.2",
        "does not hold" if not is_full.all() else "holds" if alike_is_full else "holds except",
        "; ".join(texts) + ". Rows that are proportional give the same posterior",
        "exact",
        "as many different beliefs as sequences of data; “except” where some matrices have fewer",
    )
