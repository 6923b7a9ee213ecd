"""Figure S4: success along fifteen directions among four hypotheses, for 9 cases."""

from __future__ import annotations

from cobayes.paper.stability_cases import Effort, shown_directions
from cobayes.paper.stability_claims import judge_conjecture, judge_straight
from cobayes.paper.stability_experiments import CaseRates, all_cases
from cobayes.paper.stability_pictures import direction_colors, grid_of_rays, lowest_of
from cobayes.paper.stability_tables import data_table, sizes_of
from cobayes.report.section import Context, Picture, Section
from cobayes.stability.geometry import spherical_coordinates


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("learners along fifteen directions, 9 cases")
    found = all_cases(context, "directions", 4)
    effort = Effort.of(context)
    reach = effort.distances * effort.distance_step
    return Section(
        title="Figure S4: four hypotheses, along fifteen directions",
        blocks=(
            f"Fifteen random directions, the same for all cases, with {effort.distances} learners "
            f"each at distances {effort.distance_step:g} to {reach:g} from the teacher’s prior. "
            "Points outside the simplex are left out: θ′₃ has a coordinate of 0.0043. Every panel "
            "has a scale of its own; red dashed lines are Conjecture 5.3’s.",
            _directions(context.seed),
            _picture(found, context.seed),
        ),
        data=(data_table("figure-s4", "Figure S4: success along directions", found),),
        claims=(
            judge_straight(found, "Section 5; Supplement, Figure S4 and its remark"),
            judge_conjecture(found, "Conjecture 5.3, on the directions of Figure S4"),
        ),
        sizes=sizes_of(found),
    )


def _directions(seed: int) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots.stability_panels import plot_angles

    angles = spherical_coordinates(shown_directions(seed))
    figure = Figure(figsize=(5.4, 3.6), layout="constrained")
    plot_angles(angles, direction_colors(seed), ax=figure.subplots())
    away = int((angles[:, 0] > 1.5707963).sum())
    return Picture(
        "figure-s4-directions",
        figure,
        "The directions in spherical coordinates: φ is the angle from the direction of the first "
        "corner, the truth; the half-plane θ = 0 contains the second. Below the line a direction "
        "leads away from the truth; the lighter, the farther.",
        f"Fifteen numbered points; {away} of them below the line, away from the truth.",
    )


def _picture(found: list[CaseRates], seed: int) -> Picture:
    figure = grid_of_rays(found, seed, panel_height=2.2)
    lowest = lowest_of(found)
    return Picture(
        "figure-s4",
        figure,
        "Success rate against distance along the directions, coloured as above; one column for "
        "each prior, one row for each matrix.",
        "Nine panels of up to fifteen lines from one downwards; the steepest falls to "
        f"{lowest.value.min():.3f}, for {lowest.case.title}.",
        is_wide=True,
    )
