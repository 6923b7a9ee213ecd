"""Figure 5: what a learner's other matrix costs, on the third matrix."""

from __future__ import annotations

from cobayes.paper.stability_claims import judge_axes
from cobayes.paper.stability_columns import draw_column_map
from cobayes.paper.stability_experiments import CaseRates, figure_five
from cobayes.paper.stability_measures import fit_cone
from cobayes.paper.stability_tables import axes_table, data_table, sizes_of
from cobayes.report.section import Context, Picture, Section


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("learners with another column of M₃")
    found = figure_five(context)
    fitted = [(rates, fit_cone(rates)) for rates in found]
    return Section(
        title="Figure 5: a learner with another matrix",
        blocks=(
            "Teacher and learner have the uniform prior, and the learner’s matrix differs from the "
            "teacher’s, M₃, in one column. Each dot is such a column, drawn in the triangle of "
            "distributions over data; its colour is the success rate. Crosses are the teacher’s "
            "columns: that of the truth (tr. h), the relevant one, which sets the rate of "
            "convergence (rel. h), and the irrelevant one (irr. h). Besides the disc around the "
            "perturbed column there are the closed path of columns with the same normalised "
            "divergence from the truth’s, and the straight line of mixtures with it.",
            *(_panel(rates, zoom) for rates in found for zoom in (False, True)),
            "Near the teacher’s column the failure is a cone: proportional to the distance, by a "
            "factor that depends on the direction. The yellow strip of the enlarged panels is the "
            "direction of the smallest factor.",
            axes_table(fitted),
        ),
        data=(data_table("figure-5", "Figure 5: success of learners with another column", found),),
        claims=(judge_axes(fitted, "Section 5; Figure 5"),),
        sizes=sizes_of(found),
    )


def _panel(rates: CaseRates, zoom: bool) -> Picture:
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(4.8, 4.0), layout="constrained")
    ax = draw_column_map(rates, figure.subplots(), width=215.0 if zoom else None)
    bar = figure.colorbar(ax.collections[0], ax=ax, shrink=0.75, pad=0.02)
    bar.locator = MaxNLocator(5)
    bar.update_ticks()
    bar.set_label("success rate")
    bar.outline.set_visible(False)
    role = "relevant" if rates.case.column == rates.case.roles.relevant else "irrelevant"
    low, high = float(rates.value.min()), float(rates.value.max())
    if zoom:
        text = (
            f"The disc around the {role} column, enlarged, with a colour scale of its own; ringed "
            "dots lie on the path and on the line of mixtures."
        )
    else:
        text = f"Perturbations of the {role} column: {len(rates)} learners."
    return Picture(
        f"figure-5-{role}{'-enlarged' if zoom else ''}",
        figure,
        text,
        f"Dots around the {role} column, coloured by success between {low:.2f} and {high:.2f}; "
        "a bright strip crosses the centre of the disc.",
    )
