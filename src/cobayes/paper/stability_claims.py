"""What the paper says about stability, judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.stability_cases import in_symbols
from cobayes.paper.stability_experiments import CaseRates
from cobayes.paper.stability_measures import (
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
    listed,
    student_quantile,
    verdict_of,
)
from cobayes.stability.bounds import Distance, frechet

Array = NDArray[np.float64]

PRIOR = "Section 5: a learner with another prior"
MATRIX = "Section 5: a learner with another matrix"
CONJECTURE = "Conjecture 5.3"

# A ray that falls by less is flat: there is nothing to be straight or bent.
FLAT = 0.01
# A bend of less than this share of the fall is none to the eye.
STRAIGHT = 0.05
# Fewer times faster than this is not "rapid" against "slow".
RAPID = 2.0
PERPENDICULAR = 20.0
# A success rate this far below its bound is no longer "close" to it.
CLOSE = 0.1
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
    bends = np.array([abs(fit.bend) for _, fit in falling])
    errors = np.array([fit.bend_stderr for _, fit in falling])
    allowed = STRAIGHT * np.array([fit.fall for _, fit in falling])
    reach = errors * student_quantile(max(len(falling), 1), len(found[0].batches) - 1)
    inside, outside = bends + reach <= allowed, bends - reach > allowed
    return Claim(
        "Along a ray from the teacher’s prior the success rate falls linearly with the distance",
        source,
        verdict_of(inside, outside),
        _straight_figure(fits, falling, inside, outside),
        f"standard errors of the bends up to {errors.max(initial=0.0):.2g}, from the scatter of "
        "batches (neighbours share their sequences)",
        "on every ray that is not flat the largest distance between the fitted parabola and its "
        f"chord is below {_percent(STRAIGHT)} of the fall, with its interval ({SURE} for all rays "
        "together)",
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
    telling = int(sum((low > 0.0).sum() for low, _ in bounds))
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


def judge_closeness(found: Sequence[CaseRates], source: str) -> Claim:
    """Judge that success rates come close to their upper bound.

    Parameters
    ----------
    found
        Cases with perturbed priors.
    source
        See `Claim`.
    """
    gaps, errors = (
        np.concatenate(parts)
        for parts in zip(
            *((frechet(r.teacher_belief, r.learner_belief)[1] - r.value, r.stderr) for r in found),
            strict=True,
        )
    )
    reach = family_quantile(len(gaps), two_sided=True) * errors
    inside, outside = gaps + reach <= CLOSE, gaps - reach > CLOSE
    middle, ninth = np.quantile(gaps, [0.5, 0.9])
    return Claim(
        "Success is *closely* bounded by that multiple",
        source,
        verdict_of(inside, outside),
        f"{int(inside.sum()):,} of {len(gaps):,} learners lie within {CLOSE:g} of the bound beyond "
        f"the noise, {int(outside.sum()):,} farther away; the median gap is {middle:.3f}, the 90 % "
        f"quantile {ninth:.2f}, the largest {gaps.max():.2f} ({_at(found, int(gaps.argmax()))})",
        _noise_of(found),
        f"every interval of the gap ({SURE} for all learners together) ends below {CLOSE:g}; that "
        "limit is our reading of “closely”",
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
    below = _joined(found, bounds, excess_below)
    above = _joined(found, bounds, excess_above)
    promised = np.concatenate(bounds)
    # At the teacher's own prior both sides are one.
    is_elsewhere = np.concatenate([rates.learners.distances > 0.0 for rates in found])
    limit = deviance_limit(2 * int(is_elsewhere.sum()))
    outside = (below > limit) & is_elsewhere
    inside = ((above > limit) | (promised <= 0.0)) & is_elsewhere
    shares, errors = (
        np.concatenate(parts)
        for parts in zip(*(used_share(rates, distance) for rates in found), strict=True)
    )
    # The largest share of all is mostly noise: the one that is surely large.
    surest = int(np.nanargmax(shares - 2.0 * errors))
    verdict: Verdict = "holds" if inside[is_elsewhere].all() else "not decided"
    if outside.any():
        # One counter-example refutes what is said of every learner.
        verdict = "does not hold"
    telling = is_elsewhere & (promised > 0.0)
    measured = (
        f"of {int(telling.sum()):,} learners who are promised more than zero "
        f"{int((inside & telling).sum()):,} lie above the promise beyond the noise, "
        f"{int(outside.sum())} below it. Failure is up to {shares[surest]:.3f} of what is allowed "
        f"({_at(found, surest)})"
    )
    if outside.any():
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


def judge_axes(found: Sequence[CaseRates], source: str) -> Claim:
    """Judge that around a column success falls slowly one way and rapidly across.

    Parameters
    ----------
    found
        Cases of kind "column".
    source
        See `Claim`.
    """
    fits = [fit_cone(rates) for rates in found]
    limit = student_quantile(2 * len(found), len(found[0].batches) - 1)
    names = [name_of_column(rates) for rates in found]
    ratios = np.array([fit.ratio for fit in fits])
    margins = np.exp(np.minimum(limit * np.array([fit.log_ratio_stderr for fit in fits]), 50.0))
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
        "standard errors of the ratios "
        + ", ".join(
            f"{fit.ratio * fit.log_ratio_stderr:.2f}"
            for fit in (fits if len(fits) <= _MOST_NAMED else (fits[worst], fits[best]))
        ),
        f"every ratio exceeds {RAPID:g}, our reading of “rapidly”, and the axes are perpendicular "
        f"within {PERPENDICULAR:g} degrees, both with their intervals ({SURE} for all together)",
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
    inside: NDArray[np.bool_],
    outside: NDArray[np.bool_],
) -> str:
    text = f"{len(fits) - len(falling)} of {len(fits)} rays are flat (fall below {FLAT:g})"
    if not falling:
        return text
    explained = np.array([fit.r_squared for _, fit in falling])
    shares = np.array([abs(fit.bend) / fit.fall for _, fit in falling])
    text += (
        f"; on the other {len(falling)} the median R² of a straight line is "
        f"{np.median(explained):.4f}, the smallest {explained.min():.3f}; the median bend is "
        f"{_percent(float(np.median(shares)))} of the fall. {int(inside.sum())} rays are straight "
        f"and {int(outside.sum())} bent beyond the noise; {int((~inside & ~outside).sum())} are "
        "open"
    )
    if outside.any():
        names = [f"{rates.case.title} ray {fit.ray + 1}" for rates, fit in falling]
        up = sum(fit.bend > 0.0 for (_, fit), bent in zip(falling, outside, strict=True) if bent)
        text += (
            f". Bent: {listed(names, outside)}, by at most {_percent(float(shares[outside].max()))}"
            f"; the fall slows down on {up} and speeds up on {int(outside.sum()) - up}"
        )
    return text


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _joined(
    found: Sequence[CaseRates],
    bounds: Sequence[Array],
    excess: Callable[[CaseRates, Array], Array],
) -> Array:
    return np.concatenate([excess(rates, b) for rates, b in zip(found, bounds, strict=True)])


def _beyond(excess: Array) -> str:
    return (
        f"{int((excess > 4.0).sum())} of {len(excess):,} learners beyond it by more than 4 "
        "standard errors"
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
