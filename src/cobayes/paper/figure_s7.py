"""Figure S7: perturbed columns of all five matrices."""

from __future__ import annotations

from collections.abc import Sequence

from cobayes.paper.stability_cases import in_symbols
from cobayes.paper.stability_claims import judge_axes
from cobayes.paper.stability_columns import draw_column_map
from cobayes.paper.stability_experiments import CaseRates, all_cases
from cobayes.paper.stability_measures import fit_cone
from cobayes.paper.stability_tables import axes_table, data_table, sizes_of
from cobayes.plots.style import INK
from cobayes.report.section import Context, Picture, Section

_TITLES = ("irrelevant column", "enlarged", "relevant column", "enlarged")


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("learners with another column, five matrices")
    found = all_cases(context, "column", 3)
    fitted = [(rates, fit_cone(rates)) for rates in found]
    return Section(
        title="Figure S7: another matrix, all five",
        blocks=(
            "As Figure 5, for all five matrices: the irrelevant column, the relevant column, and "
            "the disc around each enlarged with a colour scale of its own. The closed path has "
            "equal normalised divergence from the truth’s column.",
            _picture(found),
            axes_table(fitted),
            "The slow direction is not that of the path in general: the two are up to "
            f"{max(fit.off_curve for _, fit in fitted):.0f}° apart.",
        ),
        data=(
            data_table("figure-s7", "Figure S7: success of learners with another column", found),
        ),
        claims=(judge_axes(fitted, "Section 5; Supplement, Figure S7"),),
        sizes=sizes_of(found),
    )


def _picture(found: Sequence[CaseRates]) -> Picture:
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(9.6, 10.6))
    rows = len(found) // 2
    axes = figure.subplots(rows, 4, gridspec_kw={"width_ratios": [1.15, 1.0, 1.15, 1.0]})
    figure.subplots_adjust(left=0.045, right=0.945, top=0.965, bottom=0.08, wspace=0.16, hspace=0.1)
    for position, rates in enumerate(found):
        row, pair = divmod(position, 2)
        draw_column_map(rates, axes[row, 2 * pair])
        near = draw_column_map(rates, axes[row, 2 * pair + 1], width=112.0)
        box = near.get_position()
        place = (box.x1 + 0.004, box.y0 + 0.12 * box.height, 0.008, 0.76 * box.height)
        bar = figure.colorbar(near.collections[0], cax=figure.add_axes(place))
        bar.locator = MaxNLocator(4)
        bar.update_ticks()
        bar.ax.tick_params(labelsize=7, length=2, pad=1)
        bar.outline.set_visible(False)
    for ax, title in zip(axes[0], _TITLES, strict=True):
        ax.set_title(title, fontsize=10.5, color=INK)
    for ax, rates in zip(axes[:, 0], found[::2], strict=True):
        ax.text(
            -0.02,
            0.75,
            in_symbols(rates.case.matrix),
            transform=ax.transAxes,
            fontsize=12,
            color=INK,
        )
    bar = figure.colorbar(
        axes[0, 0].collections[0],
        cax=figure.add_axes((0.25, 0.055, 0.5, 0.01)),
        orientation="horizontal",
    )
    bar.set_label("success rate (first and third column of panels)", fontsize=9.5)
    bar.outline.set_visible(False)
    lowest = min(float(rates.value.min()) for rates in found)
    return Picture(
        "figure-s7",
        figure,
        "Success rates of learners with one column perturbed; crosses are the teacher’s columns "
        "(tr. h: the truth’s, rel. h: relevant, irr. h: irrelevant).",
        "Five rows of four triangles and enlargements; in each enlargement a bright strip crosses "
        f"the centre; the lowest success rate is {lowest:.3f}, near the truth’s column.",
        is_wide=True,
    )
