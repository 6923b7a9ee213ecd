"""Figure S6: learners' priors uniform among four hypotheses, and Conjecture 5.3."""

from __future__ import annotations

from cobayes.paper.stability_claims import (
    judge_bounds,
    judge_conjecture,
    judge_known_refutations,
)
from cobayes.paper.stability_experiments import CaseRates, all_cases
from cobayes.paper.stability_pictures import grid_of_panels
from cobayes.paper.stability_tables import data_table, share_table, sizes_of
from cobayes.report.section import Context, Picture, Section


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("learners uniform in the tetrahedron, 9 cases")
    found = all_cases(context, "uniform", 4)
    source = "Figure S6"
    kept = judge_conjecture(found, f"Conjecture 5.3; {source}")
    return Section(
        title="Figure S6: any prior, four hypotheses, and Conjecture 5.3",
        blocks=(
            f"For each case {len(found[0])} learners whose priors are uniform in the tetrahedron, "
            "against the Euclidean distance of their priors from the teacher’s. The red line is "
            "what Conjecture 5.3 promises: success greater than 1 − distance/θᵀ(h).",
            _picture(found),
            share_table(found),
            f"On these data the conjecture {kept.verdict}. In general it is false: with six "
            "hypotheses that separate on different time scales the Euclidean form fails, and in "
            "total variation it fails on the paper’s own M₁. Both counter-examples come with "
            "cobayes as certificates that `cobayes conjecture check` runs again. In the L¹ "
            "distance no counter-example is known.",
        ),
        data=(data_table("figure-s6", "Figure S6: success of learners with any prior", found),),
        claims=(
            judge_bounds(found, f"Section 5, on {source}"),
            kept,
            *judge_known_refutations(),
        ),
        sizes=sizes_of(found),
    )


def _picture(found: list[CaseRates]) -> Picture:
    from cobayes.plots.stability_panels import plot_against_distance

    # The more learners, the smaller their dots.
    size = 30.0 / len(found[0]) ** 0.5
    figure = grid_of_panels(
        found,
        lambda rates, ax: plot_against_distance(
            rates.learners.distances, rates.value, rates.teacher_belief, size=size, ax=ax
        ),
        x_label="distance of the learner’s prior from the teacher’s",
        y_label="success rate",
        panel_height=2.1,
        share_y=True,
    )
    return Picture(
        "figure-s6",
        figure,
        "Success rate against the Euclidean distance of the priors; one column for each prior of "
        "the teacher, one row for each matrix. Red: Conjecture 5.3’s lower bound.",
        "Nine clouds of points above a line that falls from one to zero.",
        is_wide=True,
    )
