"""Drawings of success rates: Figures 4, 5 and S2 to S7."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.common import new_axes
from cobayes.paper.stability.cases import CENTRE, DISC, random_directions, spherical_coordinates
from cobayes.paper.stability.experiment import CaseRates, joined
from cobayes.plots.house import (
    BLUE,
    COLORMAP,
    FAINT,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    new_figure,
    with_subscripts,
)
from cobayes.plots.simplex import CORNERS, draw_frame, project
from cobayes.stability.bounds import frechet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Found = Sequence[CaseRates]
Figures = dict[str, "Figure"]
Draw = Callable[[CaseRates, "Axes"], object]

# No ray is vermilion, the colour of bounds and conjectures.
RAY_COLORS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#555555")
RAY_MARKERS = "os^Dv<"
DISTANCE = "distance of the learner’s prior from the teacher’s"
BELIEF = "learner’s prior in the truth, θᴸ(h)"
_PAGE_INCHES = 9.6
_MARGIN = 0.03


def four_panels(found: Found, seed: int) -> Figures:
    """Return the panels of Figure 4, each with its legend."""
    figures = {f"figure-4{letter}": new_figure(4.8, 3.5) for letter in "ABCD"}
    rays, uniform, along, distant = found
    a, b, c, d = (figure.subplots() for figure in figures.values())
    draw_rays(rays, a, seed=seed, with_markers=True)
    draw_against_belief(uniform, b, size=3.4)
    draw_rays(along, c, seed=seed)
    draw_against_distance(distant, d, size=3.4)
    for ax, label in ((a, DISTANCE), (b, BELIEF), (c, DISTANCE), (d, DISTANCE)):
        ax.set(xlabel=label, ylabel="success rate")
    _ray_key(a, loc="lower left", ncols=2)
    for ax in (b, d):  # the points fill these panels, so the legends stand above them
        ax.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    # The legend shows only the directions closest to and farthest from h; other shades lie between.
    away = spherical_coordinates(random_directions(seed))[:, 0]
    *lines, line = c.get_lines()
    lines.sort(key=lambda each: away[int(str(each.get_label()).removeprefix("ray ")) - 1])
    names = ["direction closest to h", "farthest from h", "Conjecture 5.3"]
    c.legend([lines[0], lines[-1], line], names, fontsize=8, loc="lower left")
    return figures


def disc_grid(found: Found, _: int) -> Figures:
    """Return the picture of Figure S2: for each case, success on a disc of learners' priors."""
    from matplotlib.figure import Figure

    matrices = list(dict.fromkeys(rates.case.matrix for rates in found))
    columns = len(found) // len(matrices)
    learners = joined(found)
    limits, radius = _color_limits(learners.success), learners.distance.max()
    figure = Figure(figsize=(_PAGE_INCHES, 10.4))
    rows = [0.8] + [1.0] * len(matrices)
    axes = figure.subplots(len(rows), columns, height_ratios=rows)
    for ax, rates in zip(axes[0], found[:columns], strict=True):
        _draw_position(ax, rates.case.teacher_prior, radius)
        ax.set_title(with_subscripts(rates.case.prior), fontsize=12, color=INK)
    for ax, rates in zip(axes[1:].flat, found, strict=True):
        area = _dot_area(106.0, len(rates.learners) - 1 + rates.learners.attrs["num_left_out"])
        flat = project(rates.points)
        _color_dots(ax, flat, rates.value, limits, s=area, linewidths=0.0)
        ax.plot(*flat[0], "+", color=INK, markersize=6, markeredgewidth=1.2, zorder=3)
        _zoom_to(ax, flat)
    for ax, matrix in zip(axes[1:, 0], matrices, strict=True):
        _name_row(ax, -0.1, 0.5, with_subscripts(matrix), ha="right", va="center")
    figure.subplots_adjust(left=0.06, right=0.89, top=0.965, bottom=0.01, wspace=0.04, hspace=0.04)
    bar = figure.colorbar(axes[1, 0].collections[0], cax=figure.add_axes((0.915, 0.12, 0.018, 0.6)))
    bar.set_label("success rate", fontsize=11)
    bar.outline.set_visible(False)
    return {"figure-s2": figure}


def ray_grid(found: Found, seed: int) -> Figures:
    """Return the pictures of Figure S3: where the six rays are, and success along them."""
    first = found[0]
    far, near = new_figure(4.6, 3.8), new_figure(4.6, 3.8)
    ax = draw_frame(far.subplots(), ("h₁, the truth", "h₂", "h₃"), highlight=0)
    _draw_ray_points(ax, first, size=2.0)
    ax = near.subplots()
    ax.plot(*project(first.points).T, ".", color=FAINT, markersize=3.0, zorder=2)
    _draw_ray_points(ax, first, size=3.8)
    ax.set_aspect("equal")
    ax.set_axis_off()
    _ray_key(ax, loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=1)
    grid = _grid(found, partial(draw_rays, seed=seed), DISTANCE)
    return {"figure-s3-rays": far, "figure-s3-rays-enlarged": near, "figure-s3": grid}


def direction_grid(found: Found, seed: int) -> Figures:
    """Return the pictures of Figure S4: the fifteen directions, and success along them."""
    figure, ax = new_axes(5.4, 3.6)
    down, around = np.degrees(spherical_coordinates(random_directions(seed))).T
    ax.axhline(90.0, color=FAINT, linewidth=0.8, zorder=0)
    for k, (x, y, color) in enumerate(zip(around, down, _shades(seed), strict=True)):
        ax.plot(x, y, "o", color=color, markersize=8)
        # The number is written on the side opposite to the nearest other direction.
        apart = np.where(np.arange(len(down)) == k, np.inf, np.hypot(around - x, down - y))
        side = 1 if x > around[apart.argmin()] else -1
        place = {"xytext": (7 * side, 0), "textcoords": "offset points", "va": "center"}
        ax.annotate(str(k + 1), (x, y), ha="left" if side > 0 else "right", fontsize=9, **place)
    ax.set(xlim=(-185, 185), ylim=(185, -5), xticks=range(-180, 181, 60), yticks=range(0, 181, 45))
    ax.set_xlabel("θ: angle around the axis of h₁, degrees (0: side of h₂)")
    ax.set_ylabel("φ: angle to h₁, degrees")
    grid = _grid(found, partial(draw_rays, seed=seed), DISTANCE, panel_height=2.2)
    return {"figure-s4-directions": figure, "figure-s4": grid}


def belief_grid(found: Found, _: int) -> Figures:
    """Return the picture of Figure S5: success against the learner's prior of the truth."""
    return {"figure-s5": _grid(found, draw_against_belief, BELIEF, share_y=True)}


def distance_grid(found: Found, _: int) -> Figures:
    """Return the picture of Figure S6: success against the distance between the priors."""
    grid = _grid(found, draw_against_distance, DISTANCE, panel_height=2.1, share_y=True)
    return {"figure-s6": grid}


def column_panels(found: Found, _: int) -> Figures:
    """Return the panels of Figure 5: all perturbed columns, then the least perturbed, enlarged."""
    figures = {}
    for rates in found:
        for width, suffix in ((None, ""), (215.0, "-enlarged")):
            figure, ax = new_axes(4.8, 4.0)
            _draw_columns(rates, ax, width=width)
            bar = figure.colorbar(ax.collections[0], ax=ax, shrink=0.75, pad=0.02)
            _tick(bar, 5)
            bar.set_label("success rate")
            figures[f"figure-5-{rates.case.role}{suffix}"] = figure
    return figures


def column_grid(found: Found, _: int) -> Figures:
    """Return the picture of Figure S7: a row of panels for each matrix."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_PAGE_INCHES, 10.6))
    axes = figure.subplots(len(found) // 2, 4, width_ratios=[1.15, 1.0, 1.15, 1.0])
    figure.subplots_adjust(left=0.045, right=0.945, top=0.965, bottom=0.08, wspace=0.16, hspace=0.1)
    for position, rates in enumerate(found):
        row, pair = divmod(position, 2)
        _draw_columns(rates, axes[row, 2 * pair])
        near = axes[row, 2 * pair + 1]
        _draw_columns(rates, near, width=112.0)
        box = near.get_position()
        place = (box.x1 + 0.004, box.y0 + 0.12 * box.height, 0.008, 0.76 * box.height)
        bar = figure.colorbar(near.collections[0], cax=figure.add_axes(place))
        _tick(bar, 4)
        bar.ax.tick_params(labelsize=7, length=2, pad=1)
    titles = ("irrelevant column", "enlarged", "relevant column", "enlarged")
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set_title(title, fontsize=10.5, color=INK)
    for ax, rates in zip(axes[:, 0], found[::2], strict=True):
        _name_row(ax, -0.02, 0.75, with_subscripts(rates.case.matrix))
    place = figure.add_axes((0.25, 0.055, 0.5, 0.01))
    bar = figure.colorbar(axes[0, 0].collections[0], cax=place, orientation="horizontal")
    bar.set_label("success rate (first and third column of panels)", fontsize=9.5)
    bar.outline.set_visible(False)
    return {"figure-s7": figure}


def draw_rays(rates: CaseRates, ax: Axes, *, seed: int, with_markers: bool = False) -> None:
    """Draw success against distance, one line per ray, and Conjecture 5.3's lower bound."""
    learners = rates.learners.loc[(rates.learners.ray >= 0) | (rates.learners.kind == CENTRE)]
    colors = RAY_COLORS if rates.case.kind == "disc" else _shades(seed)
    for ray in learners.ray[learners.ray >= 0].unique():
        # The centre belongs to every ray.
        own = learners.loc[learners.ray.isin((-1, ray))].sort_values("distance")
        marker = RAY_MARKERS[ray] if with_markers else None
        style = {"color": colors[ray], "marker": marker, "markersize": 2.8, "markeredgewidth": 0.0}
        ax.plot(own.distance, own.success, linewidth=1.0, label=f"ray {ray + 1}", **style)
    reach, lowest = learners.distance.max(), learners.success.min()
    line = (1.0, 1.0 - reach / rates.case.teacher_prior[0])
    ax.plot((0.0, reach), line, "--", color=VERMILION, linewidth=1.0, label="Conjecture 5.3")
    margin = _MARGIN * (1.0 - lowest) + 1e-4
    ax.set(xlim=(0.0, 1.02 * reach), ylim=(lowest - margin, 1.0 + margin))


def draw_against_belief(rates: CaseRates, ax: Axes, size: float | None = None) -> None:
    """Draw success against the learner's prior of the truth, with the proved bounds."""
    taught = float(rates.case.teacher_prior[0])
    corners = np.unique([0.0, 1.0 - taught, taught, 1.0])
    lower, upper = frechet(taught, corners)
    ax.plot(corners, upper, color=VERMILION, linewidth=1.1, zorder=2, label="upper bound, proved")
    ax.plot(corners, lower, ":", color=GREY, linewidth=1.0, zorder=2, label="lower bound, proved")
    _draw_learners(ax, rates.learners.learner_prior_1, rates.value, size)
    ax.set_xlim(0.0, 1.0)
    # Longer labels at both ends would overlap with those of neighbouring panels.
    ax.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "", "0.5", "", "1"])


def draw_against_distance(rates: CaseRates, ax: Axes, size: float | None = None) -> None:
    """Draw success against the distance between the priors, with Conjecture 5.3's lower bound."""
    line, label = [[0.0, rates.case.teacher_prior[0]], [1.0, 0.0]], "Conjecture 5.3, lower bound"
    ax.plot(*line, color=VERMILION, linewidth=1.1, zorder=2, label=label)
    _draw_learners(ax, rates.learners.distance, rates.value, size)
    ax.set_xlim(0.0, None)


def _draw_learners(ax: Axes, places: Any, values: Array, size: float | None) -> None:
    size = size or 30.0 / len(values) ** 0.5
    ax.plot(places, values, "o", c=BLUE, markersize=size, mew=0.0, zorder=3, label="learners")
    ax.set_ylim(-_MARGIN, 1.0 + _MARGIN)


def _draw_columns(rates: CaseRates, ax: Axes, *, width: float | None = None) -> None:
    """Draw the perturbed columns of a case in the triangle of distributions over data.

    If `width` is given, only the columns in a disc around the unperturbed column are drawn, with
    their own colour scale. The size of the dots then suits a disc that is `width` typographic
    points wide.
    """
    learners, case = rates.learners, rates.case
    is_disc = learners.kind.isin((DISC, CENTRE)).to_numpy()
    chosen, size, edges, limits = slice(None), 5.0, 0.0, (0.0, 1.0)
    if width is not None:
        chosen = (learners.distance <= learners.distance[is_disc].max() * (1.0 + 1e-9)).to_numpy()
        area = _dot_area(width, int(is_disc.sum()) - 1 + learners.attrs["num_left_out"])
        size, edges = np.where(is_disc, area, 9.0)[chosen], np.where(is_disc, 0.0, 0.5)[chosen]
        limits = _color_limits(rates.value[chosen])
    flat, crosses = project(rates.points[chosen]), project(case.model.matrix.T)
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color=GREY, linewidth=0.8, zorder=1)
    _color_dots(ax, flat, rates.value[chosen], limits, s=size, linewidths=edges, edgecolors=INK)
    for edge, line in (("white", 3.0), (VERMILION, 1.5)):
        ax.plot(*crosses.T, "x", color=edge, markersize=6.0, markeredgewidth=line, zorder=4)
    if width is not None:
        _zoom_to(ax, flat)
        return
    roles = ("rel. h", "irr. h") if case.is_relevant else ("irr. h", "rel. h")
    names = ["tr. h", *(roles[j != case.column] for j in (1, 2))]
    _name_crosses(ax, crosses, names, flat)
    ax.set(aspect="equal", xlim=(-0.03, 1.03), ylim=(-0.03, float(CORNERS[2, 1]) + 0.03))
    ax.set_axis_off()


def _draw_position(ax: Axes, centre: Array, radius: float) -> None:
    """Draw the triangle, and in it the disc around a prior."""
    from matplotlib.patches import Circle, Polygon

    draw_frame(ax, grid=None)
    x, y = project(centre)
    # The triangle shows distances of R^3 divided by sqrt(2).
    around = Circle((x, y), radius / np.sqrt(2.0), color=BLUE, alpha=0.35, lw=0)
    ax.add_patch(around)
    around.set_clip_path(Polygon(CORNERS, closed=True, transform=ax.transData))
    ax.plot(x, y, ".", color=INK, markersize=4)
    ax.annotate("h", CORNERS[0], xytext=(-5, 0), textcoords="offset points", ha="right")


def _draw_ray_points(ax: Axes, rates: CaseRates, *, size: float) -> None:
    flat = project(rates.points)
    for ray, (color, marker) in enumerate(zip(RAY_COLORS, RAY_MARKERS, strict=True)):
        own = flat[rates.learners.ray == ray]
        ax.plot(*own.T, marker, color=color, markersize=size, linestyle="-", lw=0.8, zorder=3)


def _ray_key(ax: Axes, **options: Any) -> None:
    """Add a legend of the six rays, and of Conjecture 5.3's line if it is drawn."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color, marker=marker, markersize=4, linewidth=1.2, label=f"ray {k}")
        for k, (color, marker) in enumerate(zip(RAY_COLORS, RAY_MARKERS, strict=True), start=1)
    ]
    handles += [line for line in ax.get_lines() if line.get_label() == "Conjecture 5.3"]
    ax.legend(handles=handles, fontsize=8, **options)


def _grid(
    found: Found, draw: Draw, x_label: str, *, panel_height: float = 1.7, share_y: bool = False
) -> Figure:
    """Draw one panel per case: a row for each matrix, a column for each prior."""
    from matplotlib.figure import Figure

    matrices = list(dict.fromkeys(rates.case.matrix for rates in found))
    priors = list(dict.fromkeys(rates.case.prior for rates in found))
    height = panel_height * len(matrices) + 0.75
    figure = Figure(figsize=(_PAGE_INCHES, height))
    axes = figure.subplots(len(matrices), len(priors), sharey=share_y, squeeze=False)
    for ax, rates in zip(axes.flat, found, strict=True):
        draw(rates, ax)
        ax.tick_params(labelsize=7.5, length=2.5, pad=2)
    for ax, prior in zip(axes[0], priors, strict=True):
        ax.set_title(with_subscripts(prior), fontsize=11, color=INK)
    for ax, matrix in zip(axes[:, 0], matrices, strict=True):
        ax.set_ylabel(with_subscripts(matrix), fontsize=11, rotation=0, labelpad=14, va="center")
    # Matplotlib's constrained layout of dozens of panels takes longer than drawing them.
    edges = {"left": 0.085, "right": 0.99, "top": 1.0 - 0.28 / height, "bottom": 0.5 / height}
    wspace, hspace = 0.12 if share_y else 0.32, 0.3 if panel_height < 1.9 else 0.25
    figure.subplots_adjust(**edges, wspace=wspace, hspace=hspace)
    figure.supxlabel(x_label, fontsize=10, y=0.08 / height)
    figure.supylabel("success rate", fontsize=10, x=0.004)
    return figure


def _shades(seed: int) -> list[tuple[float, float, float, float]]:
    """Return the colours of the directions: lighter for a larger angle to the truth's corner."""
    import matplotlib as mpl

    away = spherical_coordinates(random_directions(seed))[:, 0]
    share = (away - away.min()) / np.ptp(away)
    # The lightest colours are hard to see on white.
    return [mpl.colormaps[COLORMAP](0.92 * x) for x in share]


def _color_dots(ax: Axes, flat: Array, values: Array, limits: Any, **style: Any) -> None:
    low, high = limits
    style = {"c": values, "cmap": COLORMAP, "vmin": low, "vmax": high, "zorder": 2, **style}
    # Thousands of dots would make a vector file huge.
    ax.scatter(*flat.T, rasterized=True, **style)


def _color_limits(values: Any) -> tuple[float, float]:
    """Return the ends of a colour scale of success rates: a multiple of 0.05 or 0.01, and 1."""
    step = 0.05 if values.min() < 0.9 else 0.01
    return float(np.floor(values.min() / step + 1e-9) * step), 1.0


def _dot_area(width: float, num_points: int) -> float:
    """Return the area, in square points, of dots that nearly touch on a disc `width` points wide.

    A disc of k circles has 3 k (k + 1) dots around its centre.
    """
    circles = round((-1.0 + np.sqrt(1.0 + 4.0 * num_points / 3.0)) / 2.0)
    return (0.95 * width / (2 * circles)) ** 2


def _tick(bar: Any, most: int) -> None:
    """Put ticks on a colour bar in at most `most` equal steps, from its upper end down."""
    low, high = bar.mappable.get_clim()
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / step <= most)
    bar.set_ticks(np.arange(high, low - 1e-9, -step))
    bar.outline.set_visible(False)


def _name_row(ax: Axes, x: float, y: float, name: str, **options: Any) -> None:
    ax.text(x, y, name, transform=ax.transAxes, fontsize=12, color=INK, **options)


def _zoom_to(ax: Axes, flat: Array) -> None:
    low, high = flat.min(axis=0), flat.max(axis=0)
    half = 0.55 * float((high - low).max())
    x, y = 0.5 * (low + high)
    ax.set(aspect="equal", xlim=(x - half, x + half), ylim=(y - half, y + half))
    ax.set_axis_off()


def _name_crosses(ax: Axes, crosses: Array, names: Sequence[str], dots: Array) -> None:
    """Write names beside crosses, each on the side with the most space."""
    angles = np.radians(np.arange(0.0, 360.0, 45.0))
    offsets = np.stack([21.0 * np.cos(angles), 12.0 * np.sin(angles)], axis=1)
    taken = list(crosses)
    for position, (place, name) in enumerate(zip(crosses, names, strict=True)):
        # The offsets are in points; in Figure S7 the triangle is about 160 points wide.
        spots = place + offsets / 160.0
        others = np.array([point for k, point in enumerate(taken) if k != position])
        # Sides far from other names and crosses are preferred; among them, the side farthest from
        # the nearest dot is chosen.
        room = np.minimum(_space(spots, others), 0.14) + 0.3 * np.minimum(_space(spots, dots), 0.1)
        best = int(room.argmax())
        taken.append(spots[best])
        box = {"boxstyle": "round,pad=0.05", "facecolor": "white", "alpha": 0.75, "lw": 0}
        style = {"ha": "center", "va": "center", "fontsize": 8, "color": INK, "bbox": box}
        aside = {"xytext": offsets[best], "textcoords": "offset points", "zorder": 3}
        ax.annotate(name, place, **aside, **style)


def _space(spots: Array, others: Array) -> Array:
    """Return the distance of each spot from the nearest of `others`.

    Vertical distances are multiplied by 1.6, because names are wider than high.
    """
    return np.linalg.norm((spots[:, None] - others) * [1.0, 1.6], axis=2).min(axis=1)
