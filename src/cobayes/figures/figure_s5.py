"""Figure S5: learners' priors uniform in the triangle, for 25 cases."""

from __future__ import annotations

from cobayes.figures.section import Context, Picture, Section
from cobayes.figures.stability_claims import (
    judge_conjecture,
    judge_lower_bound,
    judge_upper_bound,
)
from cobayes.figures.stability_experiments import CaseRates, all_cases
from cobayes.figures.stability_pictures import grid_of_panels
from cobayes.figures.stability_tables import data_table, share_table, sizes_of


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
            "How close success comes to the bound depends on the matrix: very close for M₂, whose "
            "columns are far apart, and not at all for some learners of M₁ and M₄. There the "
            "column of h lies between the two others: a learner that believes h as much as the "
            "teacher does, and the other two in another proportion, is led astray by data that "
            "are meant to speak against one of them.",
            share_table(found),
        ),
        data=(data_table("figure-s5", "Figure S5: success of learners with any prior", found),),
        claims=(
            judge_upper_bound(found, f"Section 5; {source}"),
            judge_lower_bound(found, f"proved in cobayes, on {source}"),
            judge_conjecture(found, f"Conjecture 5.3, on {source}"),
            judge_conjecture(found, f"Conjecture 5.3 in another reading, on {source}", "tv"),
        ),
        sizes=sizes_of(found),
    )


def _picture(found: list[CaseRates]) -> Picture:
    from cobayes.plots.stability_panels import plot_against_belief

    figure = grid_of_panels(
        found,
        lambda rates, ax: plot_against_belief(
            rates.learner_belief, rates.value, rates.teacher_belief, ax=ax
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
        "close to the line for M₂, far below it for many learners of M₁ and M₄.",
        is_wide=True,
    )
