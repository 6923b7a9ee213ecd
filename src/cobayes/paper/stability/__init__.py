"""Figures 4, 5 and S2 to S7: success rates of learners who differ from what their teacher assumes.

Each figure is a row of `FIGURES`: the cases it shows, and functions that draw them, judge them and
compute the numbers its text ``prose/NAME.md`` names. To add a figure, add a row and a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes.paper.common import in_symbols, write_section
from cobayes.paper.stability import pictures
from cobayes.paper.stability.cases import (
    CENTRE,
    FIGURE_FOUR,
    NUM_DIRECTIONS,
    Case,
    all_columns,
    all_priors,
    column_cases,
    random_directions,
    spherical_coordinates,
)
from cobayes.paper.stability.claims import (
    CONJECTURE,
    MATRIX,
    PRIOR,
    judge_axes,
    judge_bounds,
    judge_closeness,
    judge_conjecture,
    judge_conjecture_tv,
    judge_euclidean_certificate,
    judge_single_sequences,
    judge_straight,
    judge_variation_certificate,
    largest_step,
)
from cobayes.paper.stability.experiment import (
    CaseRates,
    Shown,
    conjecture_bound,
    fit_cone,
    success_rates,
    used_share,
)
from cobayes.report.claims import Claim
from cobayes.report.section import Context, Recipe, Section, Table
from cobayes.runs import Estimate
from cobayes.stability.bounds import Distance

if TYPE_CHECKING:
    import pandas as pd

Found = Sequence[CaseRates]


def _nothing(_: Shown) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class StabilityFigure:
    """One row: a figure of success rates.

    Attributes
    ----------
    name, summary : str
        Name of the section and of its text, and one line about it.
    cases : tuple of Case
        The cases that the figure shows.
    draw : callable
        Returns the pictures by name.
    claims : tuple
        Topic, judge and source of each claim.
    values, tables : callable
        Return the numbers and tables that the text names.
    """

    name: str
    summary: str
    cases: tuple[Case, ...]
    draw: Callable[[Shown], pictures.Figures]
    claims: tuple[tuple[str, Callable[[Found, str], Claim], str], ...]
    values: Callable[[Shown], Mapping[str, Any]] = _nothing
    tables: Callable[[Shown], Mapping[str, Table]] = _nothing

    def build(self, context: Context) -> Section:
        """Run what is missing and build the section."""
        context.tell(f"{len(self.cases)} cases of learners who differ from their teacher")
        shown = success_rates(context, self.cases)
        found = shown.found
        lowest = min(found, key=lambda rates: float(rates.value.min()))
        return write_section(
            self.name,
            values={
                "found": found,
                "effort": shown.effort,
                "num_learners": len(found[0]),
                "lowest": f"{lowest.value.min():.3f}",
                "lowest_case": lowest.case.title,
                **self.values(shown),
            },
            figures=self.draw(shown),
            tables=self.tables(shown),
            data=_numbers(self.name, found),
            claims=tuple(
                replace(judge(found, source), topic=topic) for topic, judge, source in self.claims
            ),
            sizes=_sizes(found),
        )


def directions(shown: Shown) -> dict[str, Any]:
    """Return the number of directions, and of those that lead towards the truth."""
    away = spherical_coordinates(random_directions(shown.seed))[:, 0]
    towards = int((away < np.pi / 2).sum())
    lows = [f"{rates.value.min():.3f}" for rates in shown.found]
    return {"directions": NUM_DIRECTIONS, "towards": towards, "lows": lows}


def rays(shown: Shown) -> dict[str, Any]:
    """Return the number of learners on a ray."""
    return {"on_ray": int((shown.found[0].learners.rays == 0).sum())}


def gaps(shown: Shown) -> dict[str, Any]:
    """Return how far below its bound success stays, by matrix."""
    found: dict[str, list[np.ndarray]] = {}
    for rates in shown.found:
        found.setdefault(in_symbols(rates.case.matrix), []).append(rates.bounds[1] - rates.value)
    ninths = {name: np.quantile(np.concatenate(parts), 0.9) for name, parts in found.items()}
    return {
        "gaps": ", ".join(f"{gap:.2f} for {name}" for name, gap in ninths.items()),
        "closest": min(ninths, key=lambda name: ninths[name]),
        "widest": " and ".join(sorted(ninths, key=lambda name: -ninths[name])[:2]),
    }


def columns(shown: Shown) -> dict[str, Any]:
    """Return the largest step between neighbours, and how far slow axes are from the path."""
    found, effort = shown.found, shown.effort
    return {
        "step": f"{effort.column_radius / effort.num_column_circles:g}",
        "largest_step": f"{largest_step(found):.3f}",
        "off_curve": f"{max(fit_cone(rates).off_curve for rates in found):.0f}",
        "ends": [(f"{rates.value.min():.2f}", f"{rates.value.max():.2f}") for rates in found],
    }


def share_table(shown: Shown) -> dict[str, Table]:
    """Return the largest share of what Conjecture 5.3 allows, by matrix and distance."""
    forms: tuple[Distance, ...] = ("euclidean", "tv", "l1")
    rows = []
    for matrix in dict.fromkeys(rates.case.matrix for rates in shown.found):
        own = [rates for rates in shown.found if rates.case.matrix == matrix]
        row = [in_symbols(matrix)]
        for form in forms:
            shares, errors = np.concatenate([used_share(rates, form) for rates in own], axis=1)
            telling = np.concatenate([conjecture_bound(rates, form) > 0.0 for rates in own])
            if not telling.any():
                row.append("")
                continue
            at = int(np.nanargmax(np.where(telling, shares - 2.0 * errors, -np.inf)))
            text = str(Estimate(float(shares[at]), float(errors[at])))
            row.append(f"✗ {text}" if shares[at] - 4.0 * errors[at] > 1.0 else text)
        rows.append(tuple(row))
    caption = (
        "Failure as a share of what Conjecture 5.3 allows: for each matrix the learner with the "
        "largest share less two standard errors, in three readings of “distance”. Above one the "
        "conjecture fails; marked where by more than four standard errors."
    )
    header = ("matrix", "Euclidean", "total variation", "L¹")
    return {"shares": Table(caption, header, tuple(rows))}


def axes_table(shown: Shown) -> dict[str, Table]:
    """Return the slow and the fast direction around each perturbed column."""
    caption = (
        "How fast success falls around a column, per unit of distance: along the slowest axis and "
        "along the fastest. The last column is the angle between the slow axis and the path of "
        "equal normalised divergence."
    )
    header = ("column", "slow", "fast", "ratio", "angle between", "R²", "slow axis off the path")
    rows = tuple(
        (
            fit.title,
            f"{fit.slow:.2f}",
            f"{fit.fast:.2f}",
            f"{fit.ratio:.2f} ± {fit.ratio * fit.log_ratio_stderr:.2f}",
            f"{fit.between:.0f}°",
            f"{fit.r_squared:.3f}",
            f"{fit.off_curve:.0f}°",
        )
        for fit in map(fit_cone, shown.found)
    )
    return {"axes": Table(caption, header, rows)}


def _numbers(name: str, found: Found) -> dict[str, pd.DataFrame]:
    """Return one row per learner, in one table for each number of hypotheses."""
    import pandas as pd

    tables: dict[int, list[pd.DataFrame]] = {}
    for rates in found:
        learners, case = rates.learners, rates.case
        table = pd.DataFrame(
            {
                "matrix": case.matrix,
                "prior": case.prior,
                "kind": learners.kinds,
                "ray": learners.rays + 1,
                "distance": learners.distances,
                "success": rates.value,
                "success_stderr": rates.stderr,
                "success_low": rates.lower,
                "success_high": rates.upper,
                "num_lessons": rates.num_lessons,
                "num_unfinished": rates.num_unfinished,
            }
        )
        if learners.columns is None:
            points, prefix = learners.priors, "learner_prior"
            table["bound_low"], table["bound_high"] = rates.bounds
            table["conjectured"] = conjecture_bound(rates, "euclidean")
        else:
            points, prefix = learners.columns, "entry"
            table["column"], table["role"] = case.column, case.role
        table[[f"{prefix}_{j + 1}" for j in range(points.shape[1])]] = points
        if name == "figure-s3":  # about the learners on rays alone
            table = table.loc[(learners.rays >= 0) | (learners.kinds == CENTRE)]
        tables.setdefault(case.model.num_hypotheses, []).append(table)
    joined = {size: pd.concat(each, ignore_index=True) for size, each in tables.items()}
    if len(joined) == 1:
        return {name: next(iter(joined.values()))}
    return {f"{name}-rank-{size}": table for size, table in joined.items()}


def _sizes(found: Found) -> str:
    learners = sum(len(rates) for rates in found)
    unfinished = sum(rates.num_unfinished for rates in found)
    hidden = max(float((rates.upper - rates.lower).max()) for rates in found)
    left_out = sum(rates.learners.num_left_out for rates in found)
    return (
        f"{found[0].num_lessons:,} teaching sequences for each of {len(found)} cases, "
        f"{learners:,} learners in all. {unfinished} of {len(found) * found[0].num_lessons:,} "
        f"sequences were cut off; that changes a success rate by at most {hidden:.1e}."
    ) + (f" {left_out} points outside the simplex were left out." if left_out else "")


FIGURES = (
    StabilityFigure(
        "figure-4",
        "success when the learner's prior is another, four samples",
        FIGURE_FOUR,
        pictures.four_panels,
        (
            (PRIOR, judge_straight, "Section 5; Figure 4 A, C"),
            (PRIOR, judge_bounds, "Section 5; Figure 4 B, D"),
        ),
        directions,
    ),
    StabilityFigure(
        "figure-s2",
        "success over discs around the teacher's prior, 25 cases",
        all_priors("disc", 3),
        pictures.disc_grid,
        (
            (CONJECTURE, judge_conjecture, "Conjecture 5.3, on the discs of Figure S2"),
            (PRIOR, judge_single_sequences, "Supplement, Section 4, on Figure S2"),
        ),
    ),
    StabilityFigure(
        "figure-s3",
        "success along six rays, 25 cases",
        all_priors("disc", 3),
        pictures.ray_grid,
        ((PRIOR, judge_straight, "Section 5; Supplement, Figure S3 and its remark"),),
        rays,
    ),
    StabilityFigure(
        "figure-s4",
        "four hypotheses: success along fifteen directions, 9 cases",
        all_priors("directions", 4),
        pictures.direction_grid,
        (
            (PRIOR, judge_straight, "Section 5; Supplement, Figure S4 and its remark"),
            (CONJECTURE, judge_conjecture, "Conjecture 5.3, on the directions of Figure S4"),
        ),
        directions,
    ),
    StabilityFigure(
        "figure-s5",
        "success for any prior of the learner and the proved bounds, 25 cases",
        all_priors("uniform", 3),
        pictures.belief_grid,
        (
            (PRIOR, judge_bounds, "Section 5; Figure S5"),
            (PRIOR, judge_closeness, "Section 5; Figure S5"),
            (CONJECTURE, judge_conjecture, "Conjecture 5.3, on Figure S5"),
            (CONJECTURE, judge_conjecture_tv, "Conjecture 5.3 in another reading, on Figure S5"),
        ),
        gaps,
        share_table,
    ),
    StabilityFigure(
        "figure-s6",
        "the same for four hypotheses, and Conjecture 5.3",
        all_priors("uniform", 4),
        pictures.distance_grid,
        (
            (PRIOR, judge_bounds, "Section 5, on Figure S6"),
            (CONJECTURE, judge_conjecture, "Conjecture 5.3; Figure S6"),
            (CONJECTURE, judge_euclidean_certificate, "Conjecture 5.3"),
            (CONJECTURE, judge_variation_certificate, "Conjecture 5.3"),
        ),
        tables=share_table,
    ),
    StabilityFigure(
        "figure-5",
        "success when a column of the learner's matrix is another",
        column_cases("M_3"),
        pictures.column_panels,
        ((MATRIX, judge_axes, "Section 5; Figure 5"),),
        columns,
        axes_table,
    ),
    StabilityFigure(
        "figure-s7",
        "the same for all five matrices",
        all_columns(),
        pictures.column_grid,
        ((MATRIX, judge_axes, "Section 5; Supplement, Figure S7"),),
        columns,
        axes_table,
    ),
)
"""The figures of success rates, in the order of the report."""

RECIPES = tuple(Recipe(figure.name, figure.summary, figure.build) for figure in FIGURES)
