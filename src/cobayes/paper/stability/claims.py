"""Functions that judge the paper's claims about stability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cobayes.conjecture.certificate import load_certificate, witness_margin
from cobayes.paper.common import words
from cobayes.paper.stability.cases import CENTRE, DISC
from cobayes.paper.stability.experiment import (
    PROMISES,
    CaseRates,
    deviance_limit,
    excess_above,
    excess_below,
    fit_cones,
    fit_rays,
    joined,
    used_share,
)
from cobayes.report.claims import (
    Claim,
    Verdict,
    family_quantile,
    judge_interval,
    listed,
    verdict_of,
)
from cobayes.stability.bounds import Distance

Found = Sequence[CaseRates]

# The paper does not quantify these words; the limits are our choices.
FLAT = 0.01  # a ray is judged only if success falls by more than this
STRAIGHT = 0.05  # "straight": largest bend of success (see `fit_rays`), relative to its fall
RAPID = 2.0  # "rapid": least ratio of the fast speed to the slow one (see `fit_cones`)
PERPENDICULAR = 20.0  # "perpendicular": largest deviation from 90 degrees
CLOSE = 0.1  # "close": largest difference of a success rate from its bound
MUCH_MORE_STABLE = 0.25  # "much more stable": largest sd of success over single sequences


def judge_straight(found: Found, source: str) -> Claim:
    """Judge the claim that the success rate falls linearly along rays from the teacher's prior.

    A ray is judged by the bend of a fitted parabola, see `fit_rays`. Flat rays (`FLAT`) and cases
    without rays are ignored.
    """
    import pandas as pd

    rays = pd.concat([fit_rays(rates) for rates in found], ignore_index=True)
    falling = rays[rays.fall > FLAT]
    quantile = family_quantile(max(len(falling), 1), degrees=len(found[0].batches) - 1)
    share, reach = falling.bend.abs() / falling.fall, quantile * falling.bend_stderr / falling.fall
    inside, outside = share + reach <= STRAIGHT, share - reach > STRAIGHT
    numbers = {"rays": rays, "falling": falling, "share": share, "bent": falling[outside]}
    numbers |= {"num_straight": inside.sum(), "num_open": (~inside & ~outside).sum()}
    numbers |= {"limits": (FLAT, STRAIGHT), "names": listed(list(falling.title), outside)}
    text = words("straight", source=source, **numbers)
    return Claim(verdict=verdict_of(inside, outside), **text)


def judge_bounds(found: Found, source: str) -> Claim:
    """Judge the claim that success is within proved bounds, for uniformly drawn learner priors."""
    learners = joined([rates for rates in found if rates.case.kind == "uniform"])
    below = excess_below(learners, learners.bound_low.to_numpy())
    above = excess_above(learners, learners.bound_high.to_numpy())
    gaps, limit = learners.bound_high - learners.success, deviance_limit(2 * len(learners))
    numbers: dict[str, Any] = {"below": below, "above": above, "gap": gaps.max(), "limit": limit}
    numbers |= {"at": name_of(learners, gaps), "learners": learners}
    verdict = "does not hold" if (np.append(above, below) > limit).any() else "holds"
    return Claim(verdict=verdict, **words("bounds", source=source, **numbers))


def judge_closeness(found: Found, source: str) -> Claim:
    """Judge the claim that success rates are close to their upper bounds."""
    learners = joined(found)
    gaps = learners.bound_high - learners.success
    reach = family_quantile(len(gaps)) * learners.success_stderr
    numbers = {"near": (gaps + reach <= CLOSE).sum(), "far": (gaps - reach > CLOSE).sum()}
    numbers |= {"gaps": gaps, "at": name_of(learners, gaps), "learners": learners, "limit": CLOSE}
    text = words("closely bounded", source=source, **numbers)
    return judge_interval(**text, low=gaps - reach, high=gaps + reach, below=CLOSE, values=gaps)


def judge_single_sequences(found: Found, source: str) -> Claim:
    """Judge the claim "much more stable" by the sd of success over single teaching sequences."""
    learners = joined(found)
    count = learners.num_lessons
    spread = learners.success_stderr * np.sqrt(count - 1)
    # The variance of the sd s of N beliefs is about (m4 - s^4) / (4 N s^2), with m4 the fourth
    # central moment; for numbers between 0 and 1, m4 is at most s^2.
    reach = family_quantile(len(spread)) * np.sqrt((1.0 - spread**2) / (4 * count))
    numbers = {"spread": spread, "at": name_of(learners, spread), "reach": reach.max()}
    text = words("single sequences", source=source, limit=MUCH_MORE_STABLE, **numbers)
    ends = {"low": spread - reach, "high": spread + reach, "values": spread}
    return judge_interval(**text, **ends, below=MUCH_MORE_STABLE)


def judge_conjecture(found: Found, source: str, distance: Distance = "euclidean") -> Claim:
    """Judge Conjecture 5.3 on some cases.

    A single success rate significantly below its bound refutes the conjecture.
    """
    learners = joined(found)
    # At the teacher's own prior both the success rate and the bound are one.
    learners = learners.loc[learners.kind != CENTRE].reset_index(drop=True)
    column, said = PROMISES[distance]
    promised = learners[column].to_numpy()
    below, above = excess_below(learners, promised), excess_above(learners, promised)
    limit = deviance_limit(2 * len(learners))
    outside, inside = below > limit, (above > limit) | (promised <= 0.0)
    verdict: Verdict = "holds" if inside.all() else "not decided"
    if outside.any():
        verdict = "does not hold"
    shares, errors = used_share(learners, distance)
    # The largest ratio of failure rate to bound is mostly noise; the ratio with the largest lower
    # confidence limit is reported.
    surest = int((shares - 2.0 * errors).argmax())
    numbers = {"distance": said, "promised": (promised > 0.0).sum(), "limit": limit}
    numbers |= {"num_above": (inside & (promised > 0.0)).sum(), "num_below": outside.sum()}
    numbers |= {"share": shares[surest], "stderr": errors[surest], "worst": below.max()}
    names = {"at": name_of(learners, shares - 2.0 * errors), "worst_at": name_of(learners, below)}
    return Claim(verdict=verdict, **words("conjecture", source=source, **numbers, **names))


def judge_conjecture_tv(found: Found, source: str) -> Claim:
    """Judge Conjecture 5.3 with the total variation as distance."""
    return judge_conjecture(found, source, "tv")


def judge_euclidean_certificate(_: Found, source: str) -> Claim:
    """Judge Conjecture 5.3 for all matrices by the counter-example in a certificate of cobayes."""
    certificate: Any = load_certificate("euclidean-separated")
    errors = certificate.evidence["standard_errors"]
    verdict = "does not hold" if min(errors.values()) > 6.0 else "not decided"
    text = words("Euclidean certificate", source=source, certificate=certificate, errors=errors)
    return Claim(verdict=verdict, **text)


def judge_variation_certificate(_: Found, source: str) -> Claim:
    """Judge Conjecture 5.3 in total variation by the data sequence that a certificate contains."""
    certificate: Any = load_certificate("tv-paper-matrix")
    margin = witness_margin(certificate)
    verdict = "does not hold" if margin > 1e-6 else "not decided"
    text = words("variation certificate", source=source, certificate=certificate, margin=margin)
    return Claim(verdict=verdict, **text)


def judge_axes(found: Found, source: str) -> Claim:
    """Judge the claim that success falls slowly along one axis and rapidly along another.

    The axes are directions in which a column of the learner's matrix is changed; the claim says
    that they are perpendicular.
    """
    fits = fit_cones(found)
    limit = family_quantile(2 * len(fits), degrees=len(found[0].batches) - 1)
    margin = np.exp(np.minimum(limit * fits.log_ratio_stderr, 50.0))
    reach = limit * fits.angle_stderr
    is_across = fits.angle - reach >= 90.0 - PERPENDICULAR
    is_oblique = fits.angle + reach < 90.0 - PERPENDICULAR
    # The angle between the axes is judged only if the ratio of speeds is significantly above one.
    inside = (fits.ratio / margin > RAPID) & is_across
    outside = (fits.ratio * margin < RAPID) | ((fits.ratio > margin) & is_oblique)
    masks = {"significantly false for": outside, "undecided for": ~inside & ~outside}
    rest = {
        said: listed(list(fits.title), mask, "; ") for said, mask in masks.items() if mask.any()
    }
    numbers = {"worst": fits.loc[fits.ratio.idxmin()], "best": fits.loc[fits.ratio.idxmax()]}
    limits = {"rapid": RAPID, "perpendicular": PERPENDICULAR}
    text = words("axes", source=source, fits=fits, rest=rest, **numbers, **limits)
    return Claim(verdict=verdict_of(inside, outside), **text)


def largest_step(found: Found) -> float:
    """Return the largest difference of success rates between neighbouring learners on a disc."""
    steps = []
    for rates in found:
        chosen = rates.learners.kind.isin((CENTRE, DISC))
        columns, values = rates.points[chosen], rates.value[chosen]
        apart = np.linalg.norm(columns[:, None] - columns, axis=2)
        nearest = np.where(apart > 0.0, apart, np.inf).argmin(axis=1)
        steps.append(np.abs(values - values[nearest]).max())
    return float(max(steps))


def name_of(learners: Any, quantity: Any) -> str:
    """Return a text that names the learner with the largest value of a quantity."""
    row = learners.loc[np.nanargmax(quantity)]
    prior = ", ".join(f"{x:.3f}" for x in row.filter(like="learner_prior").dropna())
    return f"{row.title}, θᴸ = ({prior})"
