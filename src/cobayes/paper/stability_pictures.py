"""Pictures of success rates of learners with other priors: Figures 4 and S2 to S6."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes.paper.stability_cases import Effort, in_symbols, shown_directions
from cobayes.paper.stability_experiments import CaseRates
from cobayes.plots.house import BLUE, FAINT, GREEN, INK, ORANGE, PURPLE, SKY
from cobayes.report.section import Picture
from cobayes.stability.geometry import spherical_coordinates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Vermilion is left to the lines of bounds and conjectures.
RAY_COLORS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#555555")
RAY_MARKERS = "os^Dv<"
_WIDTH = 9.6
_DISTANCE = "distance of the learner’s prior from the teacher’s"


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


def direction_colors(seed: int) -> list:
    """Return the colours of the directions among four hypotheses: light is away from the truth.

    Parameters
    ----------
    seed
        The user's seed.
    """
    from cobayes.plots.stability import shades

    return shades(spherical_coordinates(shown_directions(seed))[:, 0])


def draw_rays(rates: CaseRates, seed: int, ax: Axes, *, with_markers: bool = False) -> Axes:
    """Draw the rays of a case.

    Parameters
    ----------
    rates
        Of kind "disc" or "directions".
    seed
        The user's seed.
    ax
        Where to draw.
    with_markers
        Whether to mark the single learners.
    """
    from cobayes.plots import plot_success_rays

    learners = rates.learners
    is_disc = rates.case.kind == "disc"
    chosen = (learners.rays >= 0) | (learners.kinds == "centre")
    return plot_success_rays(
        learners.distances[chosen],
        rates.value[chosen],
        learners.rays[chosen],
        colors=RAY_COLORS if is_disc else direction_colors(seed),
        slope=1.0 / rates.teacher_belief,
        markers=RAY_MARKERS if with_markers else "",
        ax=ax,
    )


def ray_key(ax: Axes, **options) -> None:
    """Add a key of the six rays.

    Parameters
    ----------
    ax
        Where.
    **options
        Of `matplotlib.axes.Axes.legend`.
    """
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color, marker=marker, markersize=4, linewidth=1.2, label=f"{k + 1}")
        for k, (color, marker) in enumerate(zip(RAY_COLORS, RAY_MARKERS, strict=True))
    ]
    given = {"loc": "lower left", "ncols": 3, "title": "ray"} | options
    ax.legend(handles=handles, frameon=False, fontsize=8, title_fontsize=8, **given)


def grid_of_panels(
    found: Sequence[CaseRates],
    draw: Callable[[CaseRates, Axes], object],
    *,
    x_label: str,
    y_label: str,
    panel_height: float = 1.7,
    share_y: bool = False,
) -> Figure:
    """Draw one panel for each case: a row for each matrix, a column for each prior.

    Parameters
    ----------
    found
        All combinations, matrix by matrix.
    draw
        Fills the panel of a case.
    x_label, y_label
        Axis labels of all panels.
    panel_height
        In inches.
    share_y
        Whether all panels have one vertical scale, whose numbers are shown on the left only.
    """
    from matplotlib.figure import Figure

    matrices = list(dict.fromkeys(rates.case.matrix for rates in found))
    priors = list(dict.fromkeys(rates.case.prior for rates in found))
    rows, columns = len(matrices), len(priors)
    height = panel_height * rows + 0.75
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.subplots(rows, columns, sharey=share_y, squeeze=False)
    for ax, rates in zip(axes.flat, found, strict=True):
        draw(rates, ax)
        ax.tick_params(labelsize=7.5, length=2.5, pad=2)
    for ax, prior in zip(axes[0], priors, strict=True):
        ax.set_title(in_symbols(prior), fontsize=11, color=INK)
    for ax, matrix in zip(axes[:, 0], matrices, strict=True):
        ax.set_ylabel(in_symbols(matrix), fontsize=11, rotation=0, labelpad=14, va="center")
    # Laying out dozens of panels by constraints takes longer than drawing them.
    figure.subplots_adjust(
        left=0.085,
        right=0.99,
        top=1.0 - 0.28 / height,
        bottom=0.5 / height,
        wspace=0.12 if share_y else 0.32,
        hspace=0.3 if panel_height < 1.9 else 0.25,
    )
    figure.supxlabel(x_label, fontsize=10, y=0.08 / height)
    figure.supylabel(y_label, fontsize=10, x=0.004)
    return figure


def grid_of_rays(found: Sequence[CaseRates], seed: int, *, panel_height: float = 1.7) -> Figure:
    """Draw the rays of every case into a panel of its own.

    Parameters
    ----------
    found, panel_height
        See `grid_of_panels`.
    seed
        The user's seed.
    """
    return grid_of_panels(
        found,
        lambda rates, ax: draw_rays(rates, seed, ax),
        x_label="distance of the learner’s prior from the teacher’s",
        y_label="success rate",
        panel_height=panel_height,
    )


def lowest_of(found: Sequence[CaseRates]) -> CaseRates:
    """Return the case in which a learner has the lowest success rate of all.

    Parameters
    ----------
    found
        At least one case.
    """
    return min(found, key=lambda rates: float(rates.value.min()))


def dot_area(width: float, num_points: int) -> float:
    """Return the area of dots, in square points, that just touch within a disc of circles.

    Parameters
    ----------
    width
        Width of the disc as drawn, in points.
    num_points
        On all its circles: 3 k (k + 1) for k of them.
    """
    circles = round((-1.0 + np.sqrt(1.0 + 4.0 * num_points / 3.0)) / 2.0)
    return (0.95 * width / (2 * circles)) ** 2


def color_limits(values: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the ends of a colour scale of success rates: a round number, and one.

    Parameters
    ----------
    values
        All that are to be shown on it.
    """
    lowest = min(float(v.min()) for v in values)
    step = 0.05 if lowest < 0.9 else 0.01
    return float(np.floor(lowest / step + 1e-9) * step), 1.0


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
        x_label="distance of the learner’s prior from the teacher’s",
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
    ax.set_xlabel(_DISTANCE)
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
    ax.set_xlabel(_DISTANCE)
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
    ax.set_xlabel(_DISTANCE)
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
