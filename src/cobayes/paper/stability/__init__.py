"""Figures 4, 5 and S2 to S7: success rates of learners who differ from the teacher's assumption.

Each figure is a row of `FIGURES`: its cases, and functions that draw them, judge the paper's claims
and compute the numbers of the text ``prose/NAME.md``. To add a figure, add a row and a text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes.paper.common import write_section
from cobayes.paper.stability import claims, pictures
from cobayes.paper.stability.cases import (
    CENTRE,
    FIGURE_FOUR,
    Case,
    Effort,
    all_columns,
    all_priors,
    column_cases,
    random_directions,
    spherical_coordinates,
)
from cobayes.paper.stability.claims import Found
from cobayes.paper.stability.experiment import (
    PROMISES,
    fit_cones,
    joined,
    success_rates,
    used_share,
)
from cobayes.plots.house import with_subscripts
from cobayes.report.claims import Claim
from cobayes.report.section import Context, Section
from cobayes.runs import Estimate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StabilityFigure:
    """A figure of success rates: one entry of `FIGURES`.

    Attributes
    ----------
    cases : tuple of Case
        The cases that the figure shows.
    draw : callable
        Returns the pictures by name, given the results and the seed of the random directions.
    claims : mapping
        The sources of the claims in the paper, by the functions that judge the claims.
    values : tuple of callables
        Functions that return further numbers for the text.
    """

    cases: tuple[Case, ...]
    draw: Callable[[Found, int], pictures.Figures]
    claims: dict[Callable[[Found, str], Claim], str]
    values: tuple[Callable[[Found], dict[str, Any]], ...] = ()


def build(context: Context) -> Section:
    """Build the section of the figure named ``context.name``."""
    figure = FIGURES[context.name]
    context.tell(f"{len(figure.cases)} cases of learners who differ from the assumption")
    found = success_rates(context, figure.cases)
    learners = joined(found)
    away = spherical_coordinates(random_directions(context.seed))[:, 0]
    values = {
        "found": found,
        "effort": Effort.of(context, figure.cases),
        "learners": learners,
        "num_unfinished": sum(rates.learners.num_unfinished[0] for rates in found),
        "num_left_out": sum(rates.learners.attrs["num_left_out"] for rates in found),
        "lowest": min(found, key=lambda rates: float(rates.value.min())),
        "num_directions": len(away),
        "num_towards": int((away < np.pi / 2).sum()),
    }
    for compute in figure.values:
        values |= compute(found)
    return write_section(
        context.name,
        values=values,
        figures=figure.draw(found, context.seed),
        data=_numbers(context.name, found),
        claims=tuple(judge(found, source) for judge, source in figure.claims.items()),
    )


def gaps(found: Found) -> dict[str, Any]:
    """Return the 90 % quantile of (upper bound - success rate) over learners, by matrix."""
    learners = joined(found)
    gap = (learners.bound_high - learners.success).groupby(learners.matrix).quantile(0.9)
    return {"gaps": gap.sort_values().rename(index=with_subscripts).to_dict()}


def shares(found: Found) -> dict[str, Any]:
    """Return, for each matrix and kind of distance, failure rate / Conjecture 5.3's bound on it.

    The ratio is that of one learner, for whom the ratio minus two standard errors is largest. Only
    learners whose bound is below one are compared; without such learners the ratio is None.
    """
    rows = {}
    for matrix, learners in joined(found).groupby("matrix"):
        rows[with_subscripts(str(matrix))] = row = []
        for distance, (promise, _) in PROMISES.items():
            telling = learners.loc[(learners[promise] > 0.0) & (learners.kind != CENTRE)]
            share, error = (np.asarray(column) for column in used_share(telling, distance))
            at = np.nanargmax(share - 2.0 * error) if len(telling) else None
            row.append(None if at is None else Estimate(float(share[at]), float(error[at])))
    return {"shares": rows}


def axes(found: Found) -> dict[str, Any]:
    """Return the fits of `fit_cones`, and the result of `claims.largest_step`."""
    return {"axes": fit_cones(found), "largest_step": claims.largest_step(found)}


def _numbers(name: str, found: Found) -> dict[str, pd.DataFrame]:
    """Return one row per learner, in one table for each number of hypotheses."""
    learners = joined(found)
    learners["ray"] += 1
    if name == "figure-s3":  # this figure shows the centre and the rays only
        learners = learners.loc[(learners.ray > 0) | (learners.kind == CENTRE)]
    if name != "figure-4":
        return {name: learners}
    has_four = learners.learner_prior_4.notna()
    return {f"{name}-rank-3": learners.loc[~has_four], f"{name}-rank-4": learners.loc[has_four]}


FIGURES = {
    "figure-4": StabilityFigure(
        FIGURE_FOUR,
        pictures.four_panels,
        {
            claims.judge_straight: "Section 5; Figure 4 A, C",
            claims.judge_bounds: "Section 5; Figure 4 B, D",
        },
    ),
    "figure-s2": StabilityFigure(
        all_priors("disc", 3),
        pictures.disc_grid,
        {
            claims.judge_conjecture: "Conjecture 5.3, on the discs of Figure S2",
            claims.judge_single_sequences: "Supplement, “Perturbation on Prior”; Figure S2",
        },
    ),
    "figure-s3": StabilityFigure(
        all_priors("disc", 3),
        pictures.ray_grid,
        {claims.judge_straight: "Section 5; Supplement, Figure S3 and its remark"},
    ),
    "figure-s4": StabilityFigure(
        all_priors("directions", 4),
        pictures.direction_grid,
        {
            claims.judge_straight: "Section 5; Supplement, Figure S4 and its remark",
            claims.judge_conjecture: "Conjecture 5.3, on the directions of Figure S4",
        },
    ),
    "figure-s5": StabilityFigure(
        all_priors("uniform", 3),
        pictures.belief_grid,
        {
            claims.judge_bounds: "Section 5; Figure S5",
            claims.judge_closeness: "Section 5; Figure S5",
            claims.judge_conjecture: "Conjecture 5.3, on Figure S5",
            claims.judge_conjecture_tv: "Conjecture 5.3 in another reading, on Figure S5",
        },
        (gaps, shares),
    ),
    "figure-s6": StabilityFigure(
        all_priors("uniform", 4),
        pictures.distance_grid,
        {
            claims.judge_bounds: "Section 5, on Figure S6",
            claims.judge_conjecture: "Conjecture 5.3; Figure S6",
            claims.judge_euclidean_certificate: "Conjecture 5.3",
            claims.judge_variation_certificate: "Conjecture 5.3",
        },
        (shares,),
    ),
    "figure-5": StabilityFigure(
        column_cases("M_3"),
        pictures.column_panels,
        {claims.judge_axes: "Section 5; Figure 5"},
        (axes,),
    ),
    "figure-s7": StabilityFigure(
        all_columns(),
        pictures.column_grid,
        {claims.judge_axes: "Section 5; Supplement, Figure S7"},
        (axes,),
    ),
}
"""The figures of success rates, by the names of their sections."""
