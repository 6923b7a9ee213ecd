"""The paper's claims about stability, judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.common import in_symbols
from cobayes.paper.stability.cases import CENTRE, DISC
from cobayes.paper.stability.experiment import (
    CaseRates,
    RayFit,
    conjecture_bound,
    deviance_limit,
    excess_above,
    excess_below,
    fit_cone,
    fit_rays,
    used_share,
)
from cobayes.report.claims import (
    SURE,
    Claim,
    Verdict,
    family_quantile,
    judge_interval,
    listed,
    student_quantile,
    verdict_of,
)
from cobayes.stability.bounds import Distance

Array = NDArray[np.float64]
Found = Sequence[CaseRates]

PRIOR = "Section 5: a learner with another prior"
MATRIX = "Section 5: a learner with another matrix"
CONJECTURE = "Conjecture 5.3"

# The paper gives no limits for its words; these are our readings of them.
FLAT = 0.01  # a ray that falls by less has nothing to be straight or bent
STRAIGHT = 0.05  # the bend of a straight ray, as a share of its fall
RAPID = 2.0  # "rapid" over "slow"
PERPENDICULAR = 20.0  # degrees
CLOSE = 0.1  # a success rate "close" to its bound
MUCH_MORE_STABLE = 0.25  # the sd of a single sequence, where the supplement's bound is 1

DISTANCES: dict[Distance, str] = {
    "euclidean": "the Euclidean distance",
    "tv": "total variation",
    "l1": "the L¹ distance",
}


def judge_straight(found: Found, source: str) -> Claim:
    """Judge that the success rate falls linearly along rays, on the cases that have rays."""
    fits = [fit for rates in found for fit in fit_rays(rates)]
    falling = [fit for fit in fits if fit.fall > FLAT]
    bends = np.array([abs(fit.bend) for fit in falling])
    errors = np.array([fit.bend_stderr for fit in falling])
    allowed = STRAIGHT * np.array([fit.fall for fit in falling])
    reach = errors * student_quantile(max(len(falling), 1), len(found[0].batches) - 1)
    inside, outside = bends + reach <= allowed, bends - reach > allowed
    return Claim(
        "Along a ray from the teacher’s prior the success rate falls linearly with the distance",
        source,
        verdict_of(inside, outside),
        f"{len(fits) - len(falling)} of {len(fits)} rays are flat (fall below {FLAT:g})"
        + _straight_text(falling, inside, outside),
        f"standard errors of the bends up to {errors.max(initial=0.0):.2g}, from the scatter of "
        "batches (neighbours share their sequences)",
        "on every ray that is not flat the largest distance between the fitted parabola and its "
        f"chord is below {_percent(STRAIGHT)} of the fall, with its interval ({SURE} for all rays "
        "together)",
    )


def judge_bounds(found: Found, source: str) -> Claim:
    """Judge that success rates lie between what any coupling of the two agents allows."""
    found = [rates for rates in found if rates.case.kind == "uniform"]
    below = _joined(found, [rates.bounds[0] for rates in found], excess_below)
    above = _joined(found, [rates.bounds[1] for rates in found], excess_above)
    gaps = np.concatenate([rates.bounds[1] - rates.value for rates in found])
    telling = int(sum((rates.bounds[0] > 0.0).sum() for rates in found))
    excess = np.concatenate([above, below])
    limit = deviance_limit(len(excess))
    return Claim(
        "Success is bounded by a multiple of the learner’s prior: at most min(1, θᴸ(h)/θᵀ(h)), "
        "and at least max(0, θᵀ(h) + θᴸ(h) − 1)/θᵀ(h)",
        source,
        "does not hold" if (excess > limit).any() else "holds",
        f"both bounds are proved; on these data the upper one: {_beyond(above)}; the lower one, "
        f"above zero for {telling:,}: {_beyond(below)}; largest distance from the upper one "
        f"{gaps.max():.2f} ({_at(found, int(gaps.argmax()))})",
        _noise_of(found),
        f"by proof; the data would contradict it by more than {limit:.1f} standard errors, below "
        f"which noise stays for all learners together ({SURE}, Hoeffding’s inequality)",
    )


def judge_closeness(found: Found, source: str) -> Claim:
    """Judge that success rates come close to their upper bound."""
    gaps = np.concatenate([rates.bounds[1] - rates.value for rates in found])
    errors = np.concatenate([rates.stderr for rates in found])
    reach = family_quantile(len(gaps), two_sided=True) * errors
    inside, outside = gaps + reach <= CLOSE, gaps - reach > CLOSE
    middle, ninth = np.quantile(gaps, [0.5, 0.9])
    return judge_interval(
        "Success is *closely* bounded by that multiple",
        source,
        gaps - reach,
        gaps + reach,
        below=CLOSE,
        values=gaps,
        measured=f"{int(inside.sum()):,} of {len(gaps):,} learners lie within {CLOSE:g} of the "
        f"bound beyond the noise, {int(outside.sum()):,} farther away; the median gap is "
        f"{middle:.3f}, the 90 % quantile {ninth:.2f}, the largest {gaps.max():.2f} "
        f"({_at(found, int(gaps.argmax()))})",
        uncertainty=_noise_of(found),
        rule=f"every interval of the gap ({SURE} for all learners together) ends below {CLOSE:g}; "
        "that limit is our reading of “closely”",
    )


def judge_single_sequences(found: Found, source: str) -> Claim:
    """Judge that the success of a single sequence scatters much less than its bound."""
    count = found[0].num_lessons
    spread = np.concatenate([rates.stderr for rates in found]) * np.sqrt(count - 1)
    # Var(s) <= (m4 - s^4) / (4 N s^2), and m4 <= s^2 for numbers between 0 and 1.
    reach = family_quantile(len(spread), two_sided=True) * np.sqrt((1.0 - spread**2) / (4 * count))
    return judge_interval(
        "The success of a single teaching sequence is much more stable than its bound: a standard "
        "deviation of 1",
        source,
        spread - reach,
        spread + reach,
        below=MUCH_MORE_STABLE,
        values=spread,
        measured=f"standard deviation over sequences: median {np.median(spread):.3f}, largest "
        f"{spread.max():.3f} ({_at(found, int(spread.argmax()))}); no number between 0 and 1 has "
        f"more than 0.5; below {MUCH_MORE_STABLE:g} for "
        f"{int((spread < MUCH_MORE_STABLE).sum()):,} of {len(spread):,} learners",
        uncertainty=f"up to ±\u00a0{reach.max():.2f}, {SURE} for all learners together",
        rule=f"every interval ends below {MUCH_MORE_STABLE:g}, our reading of “much more stable”",
    )


def judge_conjecture(found: Found, source: str, distance: Distance = "euclidean") -> Claim:
    """Judge Conjecture 5.3 on some data; one learner below its promise refutes it."""
    bounds = [conjecture_bound(rates, distance) for rates in found]
    below = _joined(found, bounds, excess_below)
    above = _joined(found, bounds, excess_above)
    promised = np.concatenate(bounds)
    # At the teacher's own prior both sides are one.
    is_elsewhere = np.concatenate([rates.learners.kinds != CENTRE for rates in found])
    limit = deviance_limit(2 * int(is_elsewhere.sum()))
    outside = (below > limit) & is_elsewhere
    inside = ((above > limit) | (promised <= 0.0)) & is_elsewhere
    shares, errors = np.concatenate([used_share(rates, distance) for rates in found], axis=1)
    # The largest share of all is mostly noise: take the one that is surely large.
    surest = int(np.nanargmax(shares - 2.0 * errors))
    verdict: Verdict = "holds" if inside[is_elsewhere].all() else "not decided"
    telling = is_elsewhere & (promised > 0.0)
    measured = (
        f"of {int(telling.sum()):,} learners who are promised more than zero "
        f"{int((inside & telling).sum()):,} lie above the promise beyond the noise, "
        f"{int(outside.sum())} below it. Failure is up to {shares[surest]:.3f} of what is allowed "
        f"({_at(found, surest)})"
    )
    if outside.any():
        verdict = "does not hold"
        worst = int(np.where(outside, below, 0.0).argmax())
        measured += f"; the worst lies {below[worst]:.1f} standard errors below the promise"
        measured += "" if worst == surest else f" ({_at(found, worst)})"
    return Claim(
        f"Conjecture 5.3 on these data, in {DISTANCES[distance]}: success is greater than "
        "1 − distance/θᵀ(h)",
        source,
        verdict,
        measured,
        f"±\u00a0{errors[surest]:.2g} (standard error of that share)",
        f"all learners lie above the promise, beyond the noise of all together ({SURE}, "
        f"Hoeffding’s inequality: {limit:.1f} standard errors); one below it refutes the claim. "
        "Near the teacher’s prior promise and success are both close to one, and no sample decides",
    )


def judge_conjecture_tv(found: Found, source: str) -> Claim:
    """Judge Conjecture 5.3 with the total variation as distance."""
    return judge_conjecture(found, source, "tv")


def judge_euclidean_certificate(_: Found, source: str) -> Claim:
    """Judge Conjecture 5.3 for all matrices, from a certificate that comes with cobayes."""
    from cobayes.conjecture.certificate import Certificate, load_certificate

    certificate = load_certificate("euclidean-separated")
    assert isinstance(certificate, Certificate)
    lessons = certificate.evidence["lessons"]
    errors = certificate.evidence["standard_errors"]
    return Claim(
        "Conjecture 5.3 for any matrix and priors, in the Euclidean distance",
        source,
        "does not hold" if min(errors.values()) > 6.0 else "not decided",
        "recorded in a file that comes with cobayes, not computed in this report: on a matrix with "
        f"{certificate.model.num_hypotheses} hypotheses the conjecture promises "
        f"{certificate.conjectured_success:.4f}, and success is {lessons['value']:.4f}. "
        "`cobayes conjecture check euclidean-separated` computes it anew",
        f"±\u00a0{lessons['stderr']:.1g}; {errors['lessons']:.1f} standard errors by lessons, "
        f"{errors['coupling']:.1f} by coupling",
        "both recorded estimates lie at least 6 standard errors below the promise",
    )


def judge_variation_certificate(_: Found, source: str) -> Claim:
    """Judge Conjecture 5.3 in total variation by data that contradict it, found in a file."""
    from cobayes.conjecture.certificate import Certificate, load_certificate, witness_margin

    certificate = load_certificate("tv-paper-matrix")
    assert isinstance(certificate, Certificate)
    margin = witness_margin(certificate)
    return Claim(
        "Conjecture 5.3 for any matrix and priors, in total variation",
        source,
        "does not hold" if margin > 1e-6 else "not decided",
        f"on the paper’s own {in_symbols('M_1')} with the uniform prior: "
        f"{len(certificate.witness)} data after which the teacher believes another hypothesis and "
        f"the learner this one with {1 + margin:.4f} together, more than one",
        "exact; the data come from a file, what they lead to was computed for this report",
        "such data prove that teacher and learner can end apart in a way that the conjecture "
        "excludes; `cobayes conjecture check tv-paper-matrix` repeats it",
    )


def judge_axes(found: Found, source: str) -> Claim:
    """Judge that around a column success falls slowly one way and rapidly across."""
    fits = [fit_cone(rates) for rates in found]
    names = [fit.title for fit in fits]
    limit = student_quantile(2 * len(fits), len(found[0].batches) - 1)
    ratios = np.array([fit.ratio for fit in fits])
    errors = np.array([fit.log_ratio_stderr for fit in fits])
    margins = np.exp(np.minimum(limit * errors, 50.0))
    between = np.array([fit.between for fit in fits])
    reach = limit * np.array([fit.between_stderr for fit in fits])
    is_across = between - reach >= 90.0 - PERPENDICULAR
    is_oblique = between + reach < 90.0 - PERPENDICULAR
    # Where the ratio is surely above one the axes are known; else their angle says nothing.
    inside = (ratios / margins > RAPID) & is_across
    outside = (ratios * margins < RAPID) | ((ratios > margins) & is_oblique)
    worst, best = int(ratios.argmin()), int(ratios.argmax())
    measured = (
        f"the fall is {ratios[worst]:.2f} ({names[worst]}) to {ratios[best]:.2f} ({names[best]}) "
        "times as fast along the fastest axis as along the slowest; the two are "
        f"{between.min():.0f} to {between.max():.0f} degrees apart; R² of the cone at least "
        f"{min(fit.r_squared for fit in fits):.3f}"
    )
    for words, mask in (("surely not so", outside), ("too noisy to say", ~inside & ~outside)):
        if mask.any():
            measured += f"; {words}: {listed(names, mask, '; ')}"
    return Claim(
        "When a column of the learner’s matrix is perturbed, success varies slowly in one "
        "direction and rapidly in the perpendicular one",
        source,
        verdict_of(inside, outside),
        measured,
        f"standard errors of these two ratios {ratios[worst] * errors[worst]:.2f} and "
        f"{ratios[best] * errors[best]:.2f}",
        f"every ratio exceeds {RAPID:g}, our reading of “rapidly”, and the axes are perpendicular "
        f"within {PERPENDICULAR:g} degrees, both with their intervals ({SURE} for all together)",
    )


def largest_step(found: Found) -> float:
    """Return the largest difference of success rates between neighbours on a ray of a disc."""
    steps = []
    for rates in found:
        assert rates.learners.columns is not None
        chosen = np.isin(rates.learners.kinds, (CENTRE, DISC))
        columns, values = rates.learners.columns[chosen], rates.value[chosen]
        apart = np.linalg.norm(columns[:, None] - columns, axis=2)
        nearest = np.where(apart > 0.0, apart, np.inf).argmin(axis=1)
        steps.append(np.abs(values - values[nearest]).max())
    return float(max(steps))


def _straight_text(
    falling: Sequence[RayFit], inside: NDArray[np.bool_], outside: NDArray[np.bool_]
) -> str:
    if not falling:
        return ""
    explained = np.array([fit.r_squared for fit in falling])
    shares = np.array([abs(fit.bend) / fit.fall for fit in falling])
    text = (
        f"; on the other {len(falling)} the median R² of a straight line is "
        f"{np.median(explained):.4f}, the smallest {explained.min():.3f}; the median bend is "
        f"{_percent(float(np.median(shares)))} of the fall. {int(inside.sum())} rays are straight "
        f"and {int(outside.sum())} bent beyond the noise; {int((~inside & ~outside).sum())} are "
        "open"
    )
    if outside.any():
        slowing = sum(fit.bend > 0.0 for fit, bent in zip(falling, outside, strict=True) if bent)
        text += (
            f". Bent: {listed([fit.title for fit in falling], outside)}, by at most "
            f"{_percent(float(shares[outside].max()))}; the fall slows down on {slowing} and "
            f"speeds up on {int(outside.sum()) - slowing}"
        )
    return text


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _joined(
    found: Found, bounds: Sequence[Array], excess: Callable[[CaseRates, Array], Array]
) -> Array:
    return np.concatenate([excess(rates, b) for rates, b in zip(found, bounds, strict=True)])


def _beyond(excess: Array) -> str:
    return (
        f"{int((excess > 4.0).sum())} of {len(excess):,} learners beyond it by more than 4 "
        "standard errors"
    )


def _noise_of(found: Found) -> str:
    return f"standard errors up to {max(float(rates.stderr.max()) for rates in found):.2g}"


def _at(found: Found, position: int) -> str:
    """Name the learner at a position of all cases joined."""
    for rates in found:
        if position < len(rates):
            numbers = ", ".join(f"{x:.3f}" for x in rates.learners.priors[position])
            return f"{rates.case.title}, θᴸ = ({numbers})"
        position -= len(rates)
    raise IndexError(position)
