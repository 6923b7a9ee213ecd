"""Figure S5: learners' priors uniform in the triangle, for 25 cases."""

from __future__ import annotations

import numpy as np

from cobayes.paper.stability_cases import in_symbols
from cobayes.paper.stability_claims import judge_bounds, judge_conjecture
from cobayes.paper.stability_experiments import CaseRates, all_cases
from cobayes.paper.stability_pictures import grid_of_panels
from cobayes.paper.stability_tables import data_table, share_table, sizes_of
from cobayes.report.section import Context, Picture, Section
from cobayes.stability.bounds import frechet


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("learners uniform in the triangle, 25 cases")
    found = all_cases(context, "uniform", 3)
    source = "Figure S5"
    return Section(
        title="Figure S5: any prior, three hypotheses",
        blocks=(
            f"For each case {len(found[0])} learners whose priors are uniform in the triangle. The "
            "paper observes that success is “closely bounded by a multiple of the learner’s prior "
            "on the truth”. The red line is that bound as a theorem, min(1, θᴸ(h)/θᵀ(h)); the "
            "dotted one is the lower bound, max(0, θᵀ(h) + θᴸ(h) − 1)/θᵀ(h).",
            _picture(found),
            f"How close success comes to the bound depends on the matrix. {_gaps(found)} The gap "
            "is widest where the column of h lies between the two others, as in M₁ and M₄: a "
            "learner that believes h as much as the teacher does, and the other two in another "
            "proportion, is led astray by data that are meant to speak against one of them.",
            share_table(found),
        ),
        data=(data_table("figure-s5", "Figure S5: success of learners with any prior", found),),
        claims=(
            judge_bounds(found, f"Section 5; {source}"),
            judge_conjecture(found, f"Conjecture 5.3, on {source}"),
            judge_conjecture(found, f"Conjecture 5.3 in another reading, on {source}", "tv"),
        ),
        sizes=sizes_of(found),
    )


def _gaps(found: list[CaseRates]) -> str:
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
    return f"Nine learners in ten stay within {', '.join(texts)}."


def _picture(found: list[CaseRates]) -> Picture:
    from cobayes.plots.stability_panels import plot_against_belief

    # The more learners, the smaller their dots.
    size = 30.0 / len(found[0]) ** 0.5
    figure = grid_of_panels(
        found,
        lambda rates, ax: plot_against_belief(
            rates.learner_belief, rates.value, rates.teacher_belief, size=size, ax=ax
        ),
        x_label="learner’s prior in the truth, θᴸ(h)",
        y_label="success rate",
        share_y=True,
    )
    return Picture(
        "figure-s5",
        figure,
        "Success rate against the learner’s prior in the truth; one column for each prior of the "
        "teacher, one row for each matrix. Red: proved upper bound; dotted: proved lower bound.",
        "Twenty-five clouds of points, all below a line that rises to one at the teacher’s prior; "
        "close to it for M₂, far below it for many learners of M₁ and M₄.",
        is_wide=True,
    )
