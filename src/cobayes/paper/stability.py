"""Figures 4, 5 and S2 to S7: one table of rows.

A row says which cases a figure needs, how they are drawn, what is claimed of them, and which
numbers its text names. The text itself is ``prose/NAME.md``. To add a figure, add a row and a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cobayes.paper import stability_columns as columns
from cobayes.paper import stability_pictures as pictures
from cobayes.paper.stability_cases import (
    FIGURE_FOUR,
    Case,
    Effort,
    all_columns,
    all_priors,
    column_cases,
    in_symbols,
)
from cobayes.paper.stability_claims import (
    CONJECTURE,
    MATRIX,
    PRIOR,
    judge_axes,
    judge_bounds,
    judge_closeness,
    judge_conjecture,
    judge_known_refutations,
    judge_straight,
)
from cobayes.paper.stability_experiments import CaseRates, success_rates
from cobayes.paper.stability_measures import fit_cone
from cobayes.paper.stability_tables import axes_table, data_table, share_table, sizes_of
from cobayes.report.claims import Claim, about
from cobayes.report.data_table import DataTable
from cobayes.report.prose import Part, read_prose, written_section
from cobayes.report.section import Context, Recipe, Section
from cobayes.stability.bounds import frechet

Found = Sequence[CaseRates]


@dataclass(frozen=True)
class StabilityFigure:
    """One row: a figure of success rates.

    Attributes
    ----------
    name : str
        Name of the section and of its text.
    summary : str
        One line.
    cases : tuple of Case
        The cases that the figure shows.
    parts : callable
        Pictures and tables by the names that the text has for them.
    claims : callable
        What is claimed of the cases, judged.
    values : callable
        The numbers that the text names.
    only_rays : bool
        Whether its table of numbers leaves out learners that lie on no ray.
    """

    name: str
    summary: str
    cases: tuple[Case, ...]
    parts: Callable[[Found, Context], Mapping[str, Part]]
    claims: Callable[[Found], tuple[Claim, ...]]
    values: Callable[[Found, Context], Mapping[str, Any]] = field(default=lambda *_: {})
    only_rays: bool = False

    @property
    def recipe(self) -> Recipe:
        """The figure as a section that can be built."""
        return Recipe(self.name, self.summary, self.build)

    def build(self, context: Context) -> Section:
        """Run what is missing and build the section.

        Parameters
        ----------
        context
            Scale, seed and workers.
        """
        context.tell(f"{len(self.cases)} cases of learners who differ from their teacher")
        found = success_rates(context, self.cases)
        effort = Effort.of(context)
        return written_section(
            read_prose("cobayes.paper.prose", self.name),
            values={
                "effort": effort,
                "num_learners": len(found[0]),
                "radius": f"{effort.circles * effort.circle_step:g}",
                **self.values(found, context),
            },
            parts=self.parts(found, context),
            data=self._data(found),
            claims=self.claims(found),
            sizes=sizes_of(found),
        )

    def _data(self, found: Found) -> tuple[DataTable, ...]:
        """Return the numbers, in one table for each number of hypotheses."""
        title = self.name.replace("-", " ").replace("f", "F", 1).replace(" s", " S")
        sizes = dict.fromkeys(rates.case.model.num_hypotheses for rates in found)
        return tuple(
            data_table(
                self.name if len(sizes) == 1 else f"{self.name}-rank-{size}",
                f"{title}: success rates",
                [rates for rates in found if rates.case.model.num_hypotheses == size],
                only_rays=self.only_rays,
            )
            for size in sizes
        )


def _gaps(found: Found, _: Context) -> dict[str, str]:
    texts = []
    for matrix in dict.fromkeys(rates.case.matrix for rates in found):
        gaps = np.concatenate(
            [
                frechet(rates.teacher_belief, rates.learner_belief)[1] - rates.value
                for rates in found
                if rates.case.matrix == matrix
            ]
        )
        texts.append(f"{np.quantile(gaps, 0.9):.2f} for {in_symbols(matrix)}")
    return {"gaps": f"Nine learners in ten stay within {', '.join(texts)}."}


def _on_these_data(found: Found, _: Context) -> dict[str, str]:
    claim = judge_conjecture(found, "")
    words = {
        "holds": "On these data the conjecture holds.",
        "does not hold": "On these data the conjecture does not hold.",
    }
    return {
        "on_these_data": words.get(
            claim.verdict,
            "On these data no learner lies below the line beyond the noise; not all lie above it.",
        )
    }


def _column_radius(context: Context) -> str:
    effort = Effort.of(context)
    return f"{effort.column_circles * effort.column_step:g}"


FIGURES = (
    StabilityFigure(
        "figure-4",
        "success when the learner's prior is another, four samples",
        FIGURE_FOUR,
        lambda found, context: pictures.four_panels(found, context.seed),
        lambda found: (
            *about(PRIOR, judge_straight([found[0], found[2]], "Section 5; Figure 4 A, C")),
            *about(PRIOR, judge_bounds([found[1], found[3]], "Section 5; Figure 4 B, D")),
        ),
    ),
    StabilityFigure(
        "figure-s2",
        "success over discs around the teacher's prior, 25 cases",
        all_priors("disc", 3),
        lambda found, context: pictures.disc_grid(found, Effort.of(context)),
        lambda found: about(
            CONJECTURE, judge_conjecture(found, "Conjecture 5.3, on the discs of Figure S2")
        ),
    ),
    StabilityFigure(
        "figure-s3",
        "success along six rays, 25 cases",
        all_priors("disc", 3),
        lambda found, context: pictures.ray_grid(found, context.seed),
        lambda found: about(
            PRIOR, judge_straight(found, "Section 5; Supplement, Figure S3 and its remark")
        ),
        lambda found, _: {"on_ray": int((found[0].learners.rays == 0).sum())},
        only_rays=True,
    ),
    StabilityFigure(
        "figure-s4",
        "four hypotheses: success along fifteen directions, 9 cases",
        all_priors("directions", 4),
        lambda found, context: pictures.direction_grid(found, context.seed),
        lambda found: (
            *about(PRIOR, judge_straight(found, "Section 5; Supplement, Figure S4 and its remark")),
            *about(
                CONJECTURE,
                judge_conjecture(found, "Conjecture 5.3, on the directions of Figure S4"),
            ),
        ),
        lambda _, context: {
            "reach": f"{Effort.of(context).distances * Effort.of(context).distance_step:g}"
        },
    ),
    StabilityFigure(
        "figure-s5",
        "success for any prior of the learner and the proved bounds, 25 cases",
        all_priors("uniform", 3),
        lambda found, _: {"grid": pictures.belief_grid(found), "shares": share_table(found)},
        lambda found: (
            *about(PRIOR, judge_bounds(found, "Section 5; Figure S5")),
            *about(PRIOR, judge_closeness(found, "Section 5; Figure S5")),
            *about(
                CONJECTURE,
                judge_conjecture(found, "Conjecture 5.3, on Figure S5"),
                judge_conjecture(found, "Conjecture 5.3 in another reading, on Figure S5", "tv"),
            ),
        ),
        _gaps,
    ),
    StabilityFigure(
        "figure-s6",
        "the same for four hypotheses, and Conjecture 5.3",
        all_priors("uniform", 4),
        lambda found, _: {"grid": pictures.distance_grid(found), "shares": share_table(found)},
        lambda found: (
            *about(PRIOR, judge_bounds(found, "Section 5, on Figure S6")),
            *about(
                CONJECTURE,
                judge_conjecture(found, "Conjecture 5.3; Figure S6"),
                *judge_known_refutations(),
            ),
        ),
        _on_these_data,
    ),
    StabilityFigure(
        "figure-5",
        "success when a column of the learner's matrix is another",
        column_cases("M_3"),
        lambda found, _: {
            "panels": columns.panels(found),
            "axes": axes_table([(rates, fit_cone(rates)) for rates in found]),
        },
        lambda found: about(MATRIX, judge_axes(found, "Section 5; Figure 5")),
        lambda _, context: {"radius": _column_radius(context)},
    ),
    StabilityFigure(
        "figure-s7",
        "the same for all five matrices",
        all_columns(),
        lambda found, _: {
            "grid": columns.grid(found),
            "axes": axes_table([(rates, fit_cone(rates)) for rates in found]),
        },
        lambda found: about(MATRIX, judge_axes(found, "Section 5; Supplement, Figure S7")),
        lambda found, context: {
            "radius": _column_radius(context),
            "off_curve": f"{max(fit_cone(rates).off_curve for rates in found):.0f}",
        },
    ),
)
"""Every figure of success rates, in the order of the report."""

RECIPES = tuple(figure.recipe for figure in FIGURES)
