"""Figure 4: what a learner's other prior costs, in four samples."""

from __future__ import annotations

import numpy as np

from cobayes.paper.stability_cases import shown_directions
from cobayes.paper.stability_claims import judge_bounds, judge_straight
from cobayes.paper.stability_experiments import CaseRates, figure_four
from cobayes.paper.stability_pictures import direction_colors, draw_rays, ray_key
from cobayes.paper.stability_tables import data_table, sizes_of
from cobayes.report.section import Context, Picture, Section

_DISTANCE = "distance of the learner’s prior from the teacher’s"


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("learners with other priors, four samples")
    found = figure_four(context)
    disc, uniform_3, along, uniform_4 = found
    return Section(
        title="Figure 4: a learner with another prior",
        blocks=(
            "The teacher takes the learner’s prior to be θᵀ and teaches the first hypothesis, h, "
            "until that learner would believe it with more than 1 − 10⁻⁵. The actual learner has "
            "the same matrix and another prior, θᴸ. Its mean belief in h at the end is the success "
            "rate. All learners of a panel are taught by the same sequences.",
            _rays_panel(disc, context.seed),
            _belief_panel(uniform_3),
            _directions_panel(along, context.seed),
            _distance_panel(uniform_4),
            "The red line of panel B is min(1, θᴸ(h)/θᵀ(h)). It is a theorem: fed the same uniform "
            "data, teacher and learner end at certainty of i and j with a joint probability whose "
            "margins are the two priors, and the success rate is the chance that both end at h, "
            "given that the teacher does. The dotted line is the lower bound of the same argument.",
        ),
        data=(
            data_table("figure-4-rank-3", "Figure 4 A, B: success rates", [disc, uniform_3]),
            data_table("figure-4-rank-4", "Figure 4 C, D: success rates", [along, uniform_4]),
        ),
        claims=(
            judge_straight([disc, along], "Section 5; Figure 4 A, C"),
            judge_bounds([uniform_3, uniform_4], "Section 5; Figure 4 B, D"),
        ),
        sizes=sizes_of(found),
    )


def _rays_panel(rates: CaseRates, seed: int) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 3.5), layout="constrained")
    ax = draw_rays(rates, seed, figure.subplots(), with_markers=True)
    ax.set_xlabel(_DISTANCE)
    ax.set_ylabel("success rate")
    ray_key(ax)
    last = rates.value[rates.learners.rays >= 0].min()
    return Picture(
        "figure-4A",
        figure,
        f"(A) {rates.case.title}: along six rays, 60° apart; ray 1 goes towards h. The red dashed "
        "line is Conjecture 5.3’s.",
        f"Six lines start at one and fall nearly straight, the lowest to {last:.3f}.",
    )


def _belief_panel(rates: CaseRates) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots.stability_panels import plot_against_belief

    figure = Figure(figsize=(4.8, 3.5), layout="constrained")
    ax = plot_against_belief(
        rates.learner_belief, rates.value, rates.teacher_belief, size=3.4, ax=figure.subplots()
    )
    ax.set_xlabel("learner’s prior in the truth, θᴸ(h)")
    ax.set_ylabel("success rate")
    return Picture(
        "figure-4B",
        figure,
        f"(B) {rates.case.title}: {len(rates)} learners, uniform in the triangle; red: the proved "
        "upper bound min(1, θᴸ(h)/θᵀ(h)), dotted: the lower one.",
        "A cloud of points below a line that rises from zero to one and then stays there; "
        f"the lowest success rate is {rates.value.min():.3f}.",
    )


def _directions_panel(rates: CaseRates, seed: int) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 3.5), layout="constrained")
    ax = draw_rays(rates, seed, figure.subplots())
    ax.set_xlabel(_DISTANCE)
    ax.set_ylabel("success rate")
    count = len(direction_colors(seed))
    axis = np.array([3.0, -1.0, -1.0, -1.0]) / np.sqrt(12.0)
    towards = int((shown_directions(seed) @ axis > 0.0).sum())
    return Picture(
        "figure-4C",
        figure,
        f"(C) {rates.case.title}: along {count} random directions; the lighter a line, the farther "
        "its direction points away from h. Red dashed: Conjecture 5.3’s line.",
        f"{count} lines from one downwards, the lowest to {rates.value.min():.3f}; {towards} go "
        "towards the truth and stay close to one.",
    )


def _distance_panel(rates: CaseRates) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots.stability_panels import plot_against_distance

    figure = Figure(figsize=(4.8, 3.5), layout="constrained")
    ax = plot_against_distance(
        rates.learners.distances,
        rates.value,
        rates.teacher_belief,
        size=3.4,
        ax=figure.subplots(),
    )
    ax.set_xlabel(_DISTANCE)
    ax.set_ylabel("success rate")
    return Picture(
        "figure-4D",
        figure,
        f"(D) {rates.case.title}: {len(rates)} learners, uniform in the tetrahedron; red: the "
        "lower bound that Conjecture 5.3 promises.",
        "A cloud of points, all above a falling line; the lowest success rate is "
        f"{rates.value.min():.3f}.",
    )
