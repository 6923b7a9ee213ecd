"""Figure S3: success along six rays, for 25 cases."""

from __future__ import annotations

from cobayes.paper.stability_claims import judge_straight
from cobayes.paper.stability_experiments import CaseRates, all_cases
from cobayes.paper.stability_pictures import (
    RAY_COLORS,
    RAY_MARKERS,
    grid_of_rays,
    lowest_of,
    ray_key,
)
from cobayes.paper.stability_tables import data_table, sizes_of
from cobayes.plots.style import FAINT
from cobayes.report.section import Context, Picture, Section


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("rays of learners, 25 cases (the same data as Figure S2)")
    found = all_cases(context, "disc", 3)
    on_ray = int((found[0].learners.rays == 0).sum())
    return Section(
        title="Figure S3: along six rays",
        blocks=(
            f"Six rays of {on_ray} learners each pass through the circles of Figure S2, 60° apart. "
            "The first goes towards the truth, the fourth away from it. Every panel has a scale of "
            "its own; red dashed lines are Conjecture 5.3’s, 1 − distance/θᵀ(h).",
            *_drawings(found[0]),
            _picture(found, context.seed),
        ),
        data=(data_table("figure-s3", "Figure S3: success along rays", found, only_rays=True),),
        claims=(judge_straight(found, "Section 5; Supplement, Figure S3 and its remark"),),
        sizes=sizes_of(found) + " They are those of Figure S2.",
    )


def _drawings(rates: CaseRates) -> tuple[Picture, Picture]:
    from matplotlib.figure import Figure

    from cobayes.plots.simplex import draw_frame

    pictures = []
    for name, is_near in (("figure-s3-rays", False), ("figure-s3-rays-enlarged", True)):
        figure = Figure(figsize=(4.6, 3.8), layout="constrained")
        ax = figure.subplots()
        if not is_near:
            draw_frame(ax, ("h₁, the truth", "h₂", "h₃"), highlight=0)
        _draw_points(ax, rates, size=1.2 if not is_near else 3.0, with_all=is_near)
        if is_near:
            ax.set_aspect("equal")
            ax.set_axis_off()
            ray_key(ax, loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=1)
        pictures.append((name, figure))
    (far_name, far), (near_name, near) = pictures
    return (
        Picture(
            far_name,
            far,
            f"Where the rays are: around {rates.case.title.split(', ')[1]}, in the triangle of "
            "priors.",
            "A triangle with six short rays, 60 degrees apart, in its middle.",
        ),
        Picture(
            near_name,
            near,
            "The same enlarged: coloured points lie on rays, grey ones only on circles.",
            f"Concentric circles of {len(rates) - 1} points in all, six rays through them.",
        ),
    )


def _draw_points(ax, rates: CaseRates, *, size: float, with_all: bool) -> None:
    from cobayes.plots.simplex import project

    flat = project(rates.learners.priors)
    if with_all:
        ax.plot(*flat.T, ".", color=FAINT, markersize=size, zorder=2)
    for ray, (color, marker) in enumerate(zip(RAY_COLORS, RAY_MARKERS, strict=True)):
        own = flat[rates.learners.rays == ray]
        ax.plot(*own.T, marker, color=color, markersize=size + 0.8, linestyle="-", lw=0.8, zorder=3)


def _picture(found: list[CaseRates], seed: int) -> Picture:
    figure = grid_of_rays(found, seed)
    lowest = lowest_of(found)
    return Picture(
        "figure-s3",
        figure,
        "Success rate against distance along the six rays; one column for each prior, one row for "
        "each matrix. Colours as above.",
        "Twenty-five panels of six lines that start at one and fall almost straight; the steepest "
        f"falls to {lowest.value.min():.3f}, for {lowest.case.title}.",
        is_wide=True,
    )
