"""What the paper says about stability, judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.stability_cases import in_symbols
from cobayes.paper.stability_experiments import CaseRates
from cobayes.paper.stability_measures import (
    ConeFit,
    RayFit,
    conjecture_bound,
    deviance_limit,
    excess_above,
    excess_below,
    fit_rays,
    student_limit,
    used_share,
)
from cobayes.report.claims import ERROR_RATE, Claim, Verdict
from cobayes.stability.bounds import Distance, frechet

Array = NDArray[np.float64]

# A ray that falls by less is flat: there is nothing to be straight or bent.
FLAT = 0.01
# A bend of less than this share of the fall is none to the eye.
STRAIGHT = 0.05
# Fewer times faster than this is not "rapid" against "slow".
RAPID = 2.0
PERPENDICULAR = 20.0
_SURE = f"{100 * (1 - ERROR_RATE):g} %"
_MOST_NAMED = 4

DISTANCES: dict[Distance, str] = {
    "euclidean": "the Euclidean distance",
    "tv": "total variation",
    "l1": "the L¹ distance",
}


def judge_straight(found: Sequence[CaseRates], source: str) -> Claim:
    """Judge that the success rate falls linearly along rays.

    Parameters
    ----------
    found
        Cases of kind "disc" or "directions".
    source
        See `Claim`.
    """
    fits = [(rates, fit) for rates in found for fit in fit_rays(rates)]
    falling = [(rates, fit) for rates, fit in fits if fit.fall > FLAT]
    limit = student_limit(len(falling), len(found[0].batches)) if falling else math.inf
    noisy = [abs(fit.bend) > limit * fit.bend_stderr for _, fit in falling]
    bent = [
        (rates, fit)
        for (rates, fit), is_noisy in zip(falling, noisy, strict=True)
        if is_noisy and abs(fit.bend) > STRAIGHT * fit.fall
    ]
    largest = max((fit.bend_stderr for _, fit in falling), default=0.0)
    verdict: Verdict = "holds"
    if not falling:
        verdict = "not decided"
    elif bent:
        verdict = "holds except" if 2 * len(bent) < len(falling) else "does not hold"
    return Claim(
        "Along a ray from the teacher’s prior the success rate falls linearly with the distance",
        source,
        verdict,
        _straight_figure(fits, falling, sum(noisy), bent),
        f"standard errors of the bends up to {largest:.2g}, from the scatter of batches "
        "(neighbours share their sequences)",
        "the largest distance between the fitted parabola and its chord is below "
        f"{_percent(STRAIGHT)} of the fall or within the noise ({_SURE} for all rays together); "
        "“except” where not",
    )


def judge_bounds(found: Sequence[CaseRates], source: str) -> Claim:
    """Judge that success rates lie between what any coupling of the two agents allows.

    Parameters
    ----------
    found
        Cases with perturbed priors.
    source
        See `Claim`.
    """
    bounds = [frechet(rates.teacher_belief, rates.learner_belief) for rates in found]
    below = _joined(found, [low for low, _ in bounds], excess_below)
    above = _joined(found, [high for _, high in bounds], excess_above)
    gaps = np.concatenate(
        [high - rates.value for rates, (_, high) in zip(found, bounds, strict=True)]
    )
    middle, ninth = np.quantile(gaps, [0.5, 0.9])
    telling = int(sum((low > 0.0).sum() for low, _ in bounds))
    return Claim(
        "Success is bounded by a multiple of the learner’s prior: at most min(1, θᴸ(h)/θᵀ(h)), "
        "and at least max(0, θᵀ(h) + θᴸ(h) − 1)/θᵀ(h)",
        source,
        _verdict_of_bound(np.concatenate([above, below])),
        f"upper: {_beyond(above)}; lower, above zero for {telling:,}: {_beyond(below)}. Both are "
        f"proved. “Closely”: within 0.02 of the upper one for {_percent((gaps < 0.02).mean())} of "
        f"the learners; the gap is {middle:.3f} in the middle, below {ninth:.2f} for 90 %, "
        f"{gaps.max():.2f} at most ({_at(found, int(gaps.argmax()))})",
        _noise_of(found),
        _rule_of_bound(2 * len(gaps)),
    )


def judge_conjecture(
    found: Sequence[CaseRates], source: str, distance: Distance = "euclidean"
) -> Claim:
    """Judge Conjecture 5.3 on some data.

    Parameters
    ----------
    found
        Cases with perturbed priors.
    source
        See `Claim`.
    distance
        In which form of the conjecture.
    """
    bounds = [conjecture_bound(rates, distance) for rates in found]
    excess = _joined(found, bounds, excess_below)
    count = int((excess > deviance_limit(len(excess))).sum())
    shares, errors = (
        np.concatenate(parts)
        for parts in zip(*(used_share(rates, distance) for rates in found), strict=True)
    )
    # The largest share of all is mostly noise: the one that is surely large.
    surest = int(np.nanargmax(shares - 2.0 * errors))
    verdict: Verdict = "holds"
    if count:
        # One counter-example refutes what is said of any learner.
        verdict = "does not hold"
    elif shares[surest] - 2.0 * errors[surest] > 1.0:
        verdict = "not decided"
    telling = int(sum((b > 0.0).sum() for b in bounds))
    measured = (
        f"{_beyond(excess)}; {telling:,} are promised more than zero. Failure is up to "
        f"{shares[surest]:.3f} of what is allowed ({_at(found, surest)})"
    )
    if count:
        worst = int(excess.argmax())
        measured += f"; the worst lies {excess[worst]:.1f} standard errors below the promise"
        measured += "" if worst == surest else f" ({_at(found, worst)})"
    return Claim(
        f"Conjecture 5.3 on these data, in {DISTANCES[distance]}: success is greater than "
        "1 − distance/θᵀ(h)",
        source,
        verdict,
        measured,
        f"±\u00a0{errors[surest]:.2g} (standard error of that share)",
        _rule_of_bound(len(excess))
        + "; “not decided” where some share exceeds 1 by two standard errors all the same",
    )


def judge_known_refutations() -> tuple[Claim, ...]:
    """Judge Conjecture 5.3 for all matrices, from the certificates that come with cobayes."""
    from cobayes.conjecture.certificate import Certificate, witness_margin

    euclidean = Certificate.load("euclidean-separated")
    variation = Certificate.load("tv-paper-matrix")
    found = euclidean.evidence["lessons"]
    errors = euclidean.evidence["standard_errors"]
    margin = witness_margin(variation)
    return (
        Claim(
            "Conjecture 5.3 for any matrix and priors, in the Euclidean distance",
            "Conjecture 5.3",
            "does not hold" if min(errors.values()) > 6.0 else "not decided",
            f"a certificate with {euclidean.model.num_hypotheses} hypotheses: the conjecture "
            f"promises {euclidean.conjectured_success:.4f}, recorded {found['value']:.4f}; check "
            "it anew with `cobayes conjecture check euclidean-separated`",
            f"±\u00a0{found['stderr']:.1g}; {errors['lessons']:.1f} standard errors by lessons, "
            f"{errors['coupling']:.1f} by coupling",
            "both estimators lie at least 6 standard errors below the promise",
        ),
        Claim(
            "Conjecture 5.3 for any matrix and priors, in total variation",
            "Conjecture 5.3",
            "does not hold" if margin > 1e-6 else "not decided",
            f"on the paper’s own {in_symbols('M_1')} with the uniform prior: "
            f"{len(variation.witness)} data after which the teacher believes another hypothesis "
            f"and the learner this one with {1 + margin:.4f} together, more than one",
            "exact",
            "such data prove that teacher and learner can end apart in a way that the conjecture "
            "excludes; `cobayes conjecture check tv-paper-matrix` repeats it",
        ),
    )


def judge_axes(found: Sequence[tuple[CaseRates, ConeFit]], source: str) -> Claim:
    """Judge that around a column success falls slowly one way and rapidly across.

    Parameters
    ----------
    found
        Cases of kind "column" with their fits.
    source
        See `Claim`.
    """
    limit = student_limit(len(found), len(found[0][0].batches))
    names = [name_of_column(rates) for rates, _ in found]
    ratios = np.array([fit.ratio for _, fit in found])
    margins = np.exp(np.minimum(limit * np.array([fit.log_ratio_stderr for _, fit in found]), 50.0))
    between = np.array([fit.between for _, fit in found])
    # Three sorts: as claimed; surely not; too noisy to say.
    is_mild = ratios * margins < RAPID
    is_open = ~is_mild & (ratios < margins)
    is_wrong = is_mild | (~is_open & (between < 90.0 - PERPENDICULAR))
    if is_wrong.any():
        verdict: Verdict = "does not hold" if 2 * is_wrong.sum() > len(found) else "holds except"
    else:
        verdict = "not decided" if is_open.any() else "holds"
    worst, best = int(ratios.argmin()), int(ratios.argmax())
    measured = (
        f"the fall is {ratios[worst]:.2f} ({names[worst]}) to {ratios[best]:.2f} ({names[best]}) "
        "times as fast along the fastest axis as along the slowest; the two are "
        f"{between.min():.0f} to {between.max():.0f} degrees apart; R² of the cone at least "
        f"{min(fit.r_squared for _, fit in found):.3f}"
    )
    for words, mask in (("surely not so", is_wrong), ("too noisy to say", is_open)):
        if mask.any():
            measured += f"; {words}: {_listed(names, mask)}"
    return Claim(
        "When a column of the learner’s matrix is perturbed, success varies slowly in one "
        "direction and rapidly in the perpendicular one",
        source,
        verdict,
        measured,
        "standard errors of the ratios "
        + ", ".join(
            f"{fit.ratio * fit.log_ratio_stderr:.2f}"
            for _, fit in (found if len(found) <= _MOST_NAMED else (found[worst], found[best]))
        ),
        f"the ratio exceeds 1 beyond the noise ({_SURE} for all) and the axes are perpendicular "
        f"within {PERPENDICULAR:g} degrees; “except” where they are not, or where the ratio is "
        f"below {RAPID:g} beyond the noise",
    )


def name_of_column(rates: CaseRates) -> str:
    """Return "M₃, relevant column" or the like.

    Parameters
    ----------
    rates
        Of kind "column".
    """
    role = "relevant" if rates.case.column == rates.case.roles.relevant else "irrelevant"
    return f"{in_symbols(rates.case.matrix)}, {role} column"


def _straight_figure(
    fits: Sequence[tuple[CaseRates, RayFit]],
    falling: Sequence[tuple[CaseRates, RayFit]],
    num_noisy: int,
    bent: Sequence[tuple[CaseRates, RayFit]],
) -> str:
    text = f"{len(fits) - len(falling)} of {len(fits)} rays are flat (fall below {FLAT:g})"
    if not falling:
        return text
    explained = np.array([fit.r_squared for _, fit in falling])
    shares = np.array([abs(fit.bend) / fit.fall for _, fit in falling])
    text += (
        f"; on the other {len(falling)} R² of a straight line is {np.median(explained):.4f} in "
        f"the middle and at least {explained.min():.3f}, the bend {_percent(np.median(shares))} of "
        f"the fall in the middle; {num_noisy} bend beyond the noise"
    )
    if bent:
        largest = max(bent, key=lambda pair: abs(pair[1].bend) / pair[1].fall)
        up = sum(fit.bend > 0.0 for _, fit in bent)
        text += (
            f", {len(bent)} of them by more than {_percent(STRAIGHT)}: "
            + ", ".join(f"{r.case.title} ray {fit.ray + 1}" for r, fit in bent[:_MOST_NAMED])
            + (f" and {len(bent) - _MOST_NAMED} more" if len(bent) > _MOST_NAMED else "")
            + f"; at most {_percent(abs(largest[1].bend) / largest[1].fall)}; the fall slows down "
            f"on {up} and speeds up on {len(bent) - up}"
        )
    return text


def _listed(names: Sequence[str], chosen: NDArray[np.bool_]) -> str:
    found = [name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen]
    more = len(found) - _MOST_NAMED
    return "; ".join(found[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _joined(
    found: Sequence[CaseRates],
    bounds: Sequence[Array],
    excess: Callable[[CaseRates, Array], Array],
) -> Array:
    return np.concatenate([excess(rates, b) for rates, b in zip(found, bounds, strict=True)])


def _verdict_of_bound(excess: Array) -> Verdict:
    return "does not hold" if (excess > deviance_limit(len(excess))).any() else "holds"


def _beyond(excess: Array) -> str:
    return (
        f"{int((excess > 4.0).sum())} of {len(excess):,} learners beyond it by more than 4 "
        "standard errors"
    )


def _rule_of_bound(count: int) -> str:
    return (
        f"none by more than {deviance_limit(count):.1f} standard errors, below which noise stays "
        f"for all learners together ({_SURE}, by Hoeffding’s inequality)"
    )


def _noise_of(found: Sequence[CaseRates]) -> str:
    return f"standard errors up to {max(float(rates.stderr.max()) for rates in found):.2g}"


def _at(found: Sequence[CaseRates], position: int) -> str:
    """Name the learner at a position of all cases joined."""
    for rates in found:
        if position < len(rates):
            numbers = ", ".join(f"{x:.3f}" for x in rates.learners.priors[position])
            return f"{rates.case.title}, θᴸ = ({numbers})"
        position -= len(rates)
    raise IndexError(position)
