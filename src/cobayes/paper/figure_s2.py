"""Figure S2: discs of learners' priors around the teacher's, for 25 cases."""

from __future__ import annotations

from collections.abc import Sequence

from cobayes.paper.stability_cases import Effort, in_symbols
from cobayes.paper.stability_claims import judge_conjecture
from cobayes.paper.stability_experiments import CaseRates, all_cases
from cobayes.paper.stability_pictures import color_limits, dot_area, lowest_of
from cobayes.paper.stability_tables import data_table, sizes_of
from cobayes.plots.style import INK
from cobayes.report.section import Context, Picture, Section


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("discs of learners around the teacher’s prior, 25 cases")
    found = all_cases(context, "disc", 3)
    effort = Effort.of(context)
    radius = effort.circles * effort.circle_step
    return Section(
        title="Figure S2: discs around the teacher’s prior",
        blocks=(
            f"The learner’s prior lies on {effort.circles} circles around the teacher’s, with "
            f"radii {effort.circle_step:g} to {radius:g} and 6i points on the i-th. The first row "
            "shows where the disc lies in the triangle of priors; h is the truth. Below, the disc "
            "is enlarged, one row for each matrix.",
            _picture(found, radius),
        ),
        data=(data_table("figure-s2", "Figure S2: success rates on discs", found),),
        claims=(judge_conjecture(found, "Conjecture 5.3, on the discs of Figure S2"),),
        sizes=sizes_of(found),
    )


def _picture(found: Sequence[CaseRates], radius: float) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots.stability_panels import plot_disc, plot_position

    matrices = list(dict.fromkeys(rates.case.matrix for rates in found))
    columns = len(found) // len(matrices)
    limits = color_limits([rates.value for rates in found])
    figure = Figure(figsize=(9.6, 10.4))
    axes = figure.subplots(
        len(matrices) + 1, columns, gridspec_kw={"height_ratios": [0.8] + [1.0] * len(matrices)}
    )
    for ax, rates in zip(axes[0], found[:columns], strict=True):
        plot_position(rates.case.teacher_prior, radius, ax=ax)
        ax.set_title(in_symbols(rates.case.prior), fontsize=12, color=INK)
    for ax, rates in zip(axes[1:].flat, found, strict=True):
        area = dot_area(106.0, len(rates) - 1 + rates.learners.num_left_out)
        plot_disc(rates.learners.priors, rates.value, limits, size=area, ax=ax)
    for ax, matrix in zip(axes[1:, 0], matrices, strict=True):
        ax.text(
            -0.1,
            0.5,
            in_symbols(matrix),
            transform=ax.transAxes,
            fontsize=12,
            color=INK,
            ha="right",
            va="center",
        )
    figure.subplots_adjust(left=0.06, right=0.89, top=0.965, bottom=0.01, wspace=0.04, hspace=0.04)
    bar = figure.colorbar(axes[1, 0].collections[0], cax=figure.add_axes((0.915, 0.12, 0.018, 0.6)))
    bar.set_label("success rate", fontsize=11)
    bar.outline.set_visible(False)
    lowest = lowest_of(found)
    return Picture(
        "figure-s2",
        figure,
        f"Success rates over discs of {len(found[0]) - 1} learners; one column for each prior, one "
        "row for each matrix, one colour scale for all. The cross is the teacher’s prior.",
        "Twenty-five discs, yellow (success) towards the truth and blue away from it; the lowest "
        f"success rate is {lowest.value.min():.3f}, for {lowest.case.title}.",
        is_wide=True,
    )
