"""Pictures of success rates of learners with other priors: Figures 4 and S2 to S6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes.paper.stability_cases import Effort, in_symbols, shown_directions
from cobayes.paper.stability_experiments import CaseRates
from cobayes.paper.stability_panels import (
    DISTANCE,
    RAY_COLORS,
    RAY_MARKERS,
    color_limits,
    direction_colors,
    dot_area,
    draw_rays,
    grid_of_panels,
    grid_of_rays,
    lowest_of,
    ray_key,
)
from cobayes.plots.house import FAINT, INK
from cobayes.report.section import Picture
from cobayes.stability.geometry import spherical_coordinates

if TYPE_CHECKING:
    pass


def four_panels(found: Sequence[CaseRates], seed: int) -> dict[str, Picture]:
    """Return the panels of Figure 4, by letter.

    Parameters
    ----------
    found
        Its four cases.
    seed
        The user's seed.
    """
    disc, uniform_3, along, uniform_4 = found
    return {
        "A": _rays_panel(disc, seed),
        "B": _belief_panel(uniform_3),
        "C": _directions_panel(along, seed),
        "D": _distance_panel(uniform_4),
    }


def disc_grid(found: Sequence[CaseRates], effort: Effort) -> dict[str, Picture]:
    """Return the picture of Figure S2.

    Parameters
    ----------
    found
        All combinations, matrix by matrix.
    effort
        How large the discs are.
    """
    return {"discs": _discs(found, effort.circles * effort.circle_step)}


def ray_grid(found: Sequence[CaseRates], seed: int) -> dict[str, Picture]:
    """Return the pictures of Figure S3.

    Parameters
    ----------
    found
        All combinations, matrix by matrix.
    seed
        The user's seed.
    """
    far, near = _drawings(found[0])
    return {"rays": far, "enlarged": near, "grid": _ray_panels(found, seed)}


def direction_grid(found: Sequence[CaseRates], seed: int) -> dict[str, Picture]:
    """Return the pictures of Figure S4.

    Parameters
    ----------
    found
        All combinations, matrix by matrix.
    seed
        The user's seed.
    """
    return {"directions": _directions(seed), "grid": _direction_panels(found, seed)}


def belief_grid(found: Sequence[CaseRates]) -> Picture:
    """Return the picture of Figure S5: success against the learner's prior in the truth.

    Parameters
    ----------
    found
        All combinations, matrix by matrix.
    """
    from cobayes.plots import plot_success_against_prior

    # The more learners, the smaller their dots.
    size = 30.0 / len(found[0]) ** 0.5
    figure = grid_of_panels(
        found,
        lambda rates, ax: plot_success_against_prior(
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
        "teacher, one row for each matrix. Vermilion: proved upper bound; dotted: the lower one.",
        "Twenty-five clouds of points, all below a line that rises to one at the teacher’s prior; "
        "close to it for M₂, far below it for many learners of M₁ and M₄.",
        is_wide=True,
    )


def distance_grid(found: Sequence[CaseRates]) -> Picture:
    """Return the picture of Figure S6: success against the distance of the priors.

    Parameters
    ----------
    found
        All combinations, matrix by matrix.
    """
    from cobayes.plots import plot_success_against_distance

    # The more learners, the smaller their dots.
    size = 30.0 / len(found[0]) ** 0.5
    figure = grid_of_panels(
        found,
        lambda rates, ax: plot_success_against_distance(
            rates.learners.distances, rates.value, rates.teacher_belief, size=size, ax=ax
        ),
        x_label=DISTANCE,
        y_label="success rate",
        panel_height=2.1,
        share_y=True,
    )
    return Picture(
        "figure-s6",
        figure,
        "Success rate against the Euclidean distance of the priors; one column for each prior of "
        "the teacher, one row for each matrix. Vermilion: Conjecture 5.3’s lower bound.",
        "Nine clouds of points above a line that falls from one to zero.",
        is_wide=True,
    )


def _rays_panel(rates: CaseRates, seed: int) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 3.5), layout="constrained")
    ax = draw_rays(rates, seed, figure.subplots(), with_markers=True)
    ax.set_xlabel(DISTANCE)
    ax.set_ylabel("success rate")
    ray_key(ax)
    last = rates.value[rates.learners.rays >= 0].min()
    return Picture(
        "figure-4A",
        figure,
        f"(A) {rates.case.title}: along six rays, 60° apart; ray 1 goes towards h. The "
        "vermilion dashed line is Conjecture 5.3’s.",
        f"Six lines start at one and fall nearly straight, the lowest to {last:.3f}.",
    )


def _belief_panel(rates: CaseRates) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots import plot_success_against_prior

    figure = Figure(figsize=(4.8, 3.5), layout="constrained")
    ax = plot_success_against_prior(
        rates.learner_belief, rates.value, rates.teacher_belief, size=3.4, ax=figure.subplots()
    )
    ax.set_xlabel("learner’s prior in the truth, θᴸ(h)")
    ax.set_ylabel("success rate")
    return Picture(
        "figure-4B",
        figure,
        f"(B) {rates.case.title}: {len(rates)} learners, uniform in the triangle; vermilion: the "
        "proved upper bound min(1, θᴸ(h)/θᵀ(h)), dotted: the lower one.",
        "A cloud of points below a line that rises from zero to one and then stays there; "
        f"the lowest success rate is {rates.value.min():.3f}.",
    )


def _directions_panel(rates: CaseRates, seed: int) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 3.5), layout="constrained")
    ax = draw_rays(rates, seed, figure.subplots())
    ax.set_xlabel(DISTANCE)
    ax.set_ylabel("success rate")
    count = len(direction_colors(seed))
    axis = np.array([3.0, -1.0, -1.0, -1.0]) / np.sqrt(12.0)
    towards = int((shown_directions(seed) @ axis > 0.0).sum())
    return Picture(
        "figure-4C",
        figure,
        f"(C) {rates.case.title}: along {count} random directions; the lighter a line, the farther "
        "its direction points away from h. Vermilion dashed: Conjecture 5.3’s line.",
        f"{count} lines from one downwards, the lowest to {rates.value.min():.3f}; {towards} go "
        "towards the truth and stay close to one.",
    )


def _distance_panel(rates: CaseRates) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots import plot_success_against_distance

    figure = Figure(figsize=(4.8, 3.5), layout="constrained")
    ax = plot_success_against_distance(
        rates.learners.distances,
        rates.value,
        rates.teacher_belief,
        size=3.4,
        ax=figure.subplots(),
    )
    ax.set_xlabel(DISTANCE)
    ax.set_ylabel("success rate")
    return Picture(
        "figure-4D",
        figure,
        f"(D) {rates.case.title}: {len(rates)} learners, uniform in the tetrahedron; vermilion: "
        "the lower bound that Conjecture 5.3 promises.",
        "A cloud of points, all above a falling line; the lowest success rate is "
        f"{rates.value.min():.3f}.",
    )


def _discs(found: Sequence[CaseRates], radius: float) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots import plot_position, plot_success_disc

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
        plot_success_disc(rates.learners.priors, rates.value, limits, size=area, ax=ax)
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


def _draw_points(ax: Any, rates: CaseRates, *, size: float, with_all: bool) -> None:
    from cobayes.plots.simplex import project

    flat = project(rates.learners.priors)
    if with_all:
        ax.plot(*flat.T, ".", color=FAINT, markersize=size, zorder=2)
    for ray, (color, marker) in enumerate(zip(RAY_COLORS, RAY_MARKERS, strict=True)):
        own = flat[rates.learners.rays == ray]
        ax.plot(*own.T, marker, color=color, markersize=size + 0.8, linestyle="-", lw=0.8, zorder=3)


def _ray_panels(found: Sequence[CaseRates], seed: int) -> Picture:
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


def _directions(seed: int) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots import plot_angles

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


def _direction_panels(found: Sequence[CaseRates], seed: int) -> Picture:
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
