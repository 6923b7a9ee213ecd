"""Pictures of walks on boards, and of the watcher's belief in each goal."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import instance, items, number_between, whole_number
from cobayes._output import percent
from cobayes.errors import CobayesError, import_optional
from cobayes.lessons import Lesson
from cobayes.plots.house import (
    FAINT,
    INK,
    axes_or_new,
    bar_style,
    integer_ticks,
    line_style,
    new_figure,
    shorten_label,
)
from cobayes.worlds import GridWorld

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WALL = "#5A5A5A"
MAX_FRAMES = 400


def plot_world(
    world: GridWorld,
    belief: ArrayLike | None = None,
    *,
    path: Sequence[tuple[int, int]] = (),
    goal: int | str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a board; each goal's square is filled in proportion to the watcher's belief in it.

    Parameters
    ----------
    world
        The board.
    belief
        The watcher's belief over the goals; None fills the squares of all goals.
    path
        The squares of the walk; the walker is drawn on the last square.
    goal
        The walker's own goal, which has a thick frame.
    title
        The title above the board.
    ax
        The axes to draw on; by default a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> ax = cb.plots.plot_world(world)
    """
    ax = axes_or_new(ax, board_size(instance(world, GridWorld, "world", "a GridWorld")))
    levels = np.ones(len(world.goals))
    if belief is not None:
        levels = world.model.distribution(belief, name="belief")
    path = [world.states[world.state_position(square)] for square in items(path, "path", "squares")]
    true_goal = None if goal is None else world.goal_index(goal)
    for square in np.ndindex(world.height, world.width):
        color = WALL if square in world.walls else "white"
        _draw_square(ax, square, facecolor=color, edgecolor=FAINT, linewidth=0.8)
    row, column = world.start
    # The start is labelled in a corner of its square that the first move does not cross.
    down, right = (path[1][0] - row, path[1][1] - column) if len(path) > 1 else (0, 0)
    x, ha = (0.4, "right") if right < 0 else (-0.4, "left")
    y, va = (-0.4, "top") if down > 0 else (0.4, "bottom")
    ax.text(column + x, row + y, "S", ha=ha, va=va, color="#777777", fontsize=11)
    for position, (label, square) in enumerate(world.goals.items()):
        level = float(np.clip(levels[position], 0.0, 1.0))
        _draw_square(ax, square, level, **bar_style(position), alpha=0.85)
        width, above = (2.4, 4) if position == true_goal else (0.8, 3)
        _draw_square(ax, square, fill=False, edgecolor=INK, linewidth=width, zorder=above)
        _write_goal(ax, *square, label, None if belief is None else level)
    _draw_path(ax, path, list(world.goals.values()))
    ax.set(aspect="equal", xlim=(-0.55, world.width - 0.45), ylim=(world.height - 0.45, -0.55))
    ax.set_anchor("S")  # unused height goes above the title, not below the board
    ax.set_axis_off()
    if title:
        ax.set_title(title, fontsize=11, color=INK)
    return ax


def plot_walk(lesson: Lesson, moves: int | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw a walk on its board, with the watcher's belief after it.

    Parameters
    ----------
    lesson
        The walk: a lesson on a `GridWorld`.
    moves
        Draw the walk as it was after this number of moves; by default to its end.
    ax
        The axes to draw on; by default a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> walk = cb.worlds.plan_walk(cb.GridWorld.paper(discount=0.5), "A")
    >>> ax = cb.plots.plot_walk(walk)
    """
    world = require_grid(instance(lesson, Lesson, "lesson", "a walk, a lesson on a GridWorld"))
    shown = _number_of_moves(moves, lesson.num_rounds)
    belief = lesson.beliefs[shown]
    move = f", {lesson.data_labels[shown - 1]}" if shown else ""
    label, level = shorten_label(lesson.hypothesis_label), percent(belief[lesson.hypothesis])
    title = f"{describe_agents(lesson)}, move {shown}{move}\nwatcher's belief in {label}: {level}"
    path, goal = lesson.states[: shown + 1], lesson.hypothesis
    return plot_world(world, belief, path=path, goal=goal, title=title, ax=ax)


def plot_certainty(
    lessons: Sequence[Lesson], moves: int | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw the watcher's belief in the true goal against the moves, one curve for each walk.

    Parameters
    ----------
    lessons
        The walks.
    moves
        Draw the curves up to this number of moves; the axis keeps its length.
    ax
        The axes to draw on; by default a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> walk = cb.worlds.plan_walk(cb.GridWorld.paper(discount=0.5), "A")
    >>> ax = cb.plots.plot_certainty([walk])
    """
    ax = axes_or_new(ax)
    walks = items(lessons, "lessons", "walks (lessons on a world)", Lesson, least=1)
    longest = max(walk.num_rounds for walk in walks)
    for position, walk in enumerate(walks):
        values = walk.beliefs[: _number_of_moves(moves, longest) + 1, walk.hypothesis]
        style = line_style(walk.rule_name, position)
        ax.plot(range(len(values)), values, label=describe_agents(walk), markersize=4, **style)
    ax.axhline(0.95, color="#888888", linewidth=0.8, linestyle=":")
    ax.text(-0.1, 0.945, "95 %", ha="left", va="top", fontsize=8, color="#666666")
    ax.set(xlim=(-0.2, max(longest, 1) + 0.2), ylim=(0.0, 1.03))
    ax.set(xlabel="moves", ylabel="belief in the true goal")
    integer_ticks(ax)
    ax.legend(frameon=False, fontsize=9, loc="lower right")
    return ax


def save_animation(
    lessons: Lesson | Sequence[Lesson], file: str | Path, *, seconds: float = 0.8, dpi: int = 100
) -> None:
    """Write walks side by side, with the watcher's belief, as an animated GIF.

    Parameters
    ----------
    lessons
        A walk, or a list of up to four walks; a shorter walk stays at its last square.
    file
        Where to write; the name ends in .gif.
    seconds
        The time in seconds for which each move is shown; the last picture stays three times as
        long.
    dpi
        Dots per inch.

    Examples
    --------
    >>> import cobayes as cb
    >>> walk = cb.worlds.plan_walk(cb.GridWorld.paper(discount=0.5), "A")
    >>> cb.plots.save_animation([walk], "walk.gif")  # doctest: +SKIP
    """
    import_optional("matplotlib", "plots", "an animation")
    milliseconds = round(1000 * number_between(seconds, "seconds", 0.0, 60.0))
    whole_number(dpi, "dpi", 10)
    pillow = import_optional("PIL.Image", "plots", "an animation")
    target = Path(instance(file, (str, Path), "file", "a path"))
    if target.suffix.lower() != ".gif":
        raise CobayesError(
            f"the file name of the animation is {target.name!r}; expected one that ends in .gif.",
            f"write to {target.with_suffix('.gif').name}.",
        )
    if not target.parent.is_dir():  # before the frames are drawn
        raise CobayesError(f"{target} cannot be written: there is no folder {target.parent}.")
    given = [lessons] if isinstance(lessons, Lesson) else lessons
    walks = items(given, "lessons", "walks (lessons on a GridWorld)", Lesson, least=1)
    if len(walks) > 4:
        raise CobayesError(f"{len(walks)} walks were given; expected one to four.")
    last = max(walk.num_rounds for walk in walks)
    if last > MAX_FRAMES:
        raise CobayesError(
            f"the longest walk has {last} moves; an animation shows at most {MAX_FRAMES}.",
            'make the walk with choice="forward", or with fewer rounds.',
        )
    frames = [pillow.fromarray(_frame(walks, moves, dpi)) for moves in range(last + 1)]
    # All frames share one palette, made from the first and the last frame, which together have all
    # colours.
    both = pillow.fromarray(np.concatenate([np.asarray(frames[0]), np.asarray(frames[-1])]))
    palette = both.quantize(255, method=pillow.Quantize.MAXCOVERAGE)
    # Colours are matched only roughly: nearly white ones are set to white, or the background would
    # be slightly grey or blue.
    colors = np.array(palette.getpalette()).reshape(-1, 3)
    colors[colors.min(axis=1) >= 244] = 255
    palette.putpalette(colors.ravel().tolist())
    first, *others = (frame.quantize(palette=palette, dither=0) for frame in frames)
    times = [milliseconds] * last + [3 * milliseconds]
    try:
        first.save(target, save_all=True, append_images=others, duration=times, loop=0)
    except OSError as error:
        raise CobayesError(f"{target} cannot be written: {error.strerror or error}.") from None


def _number_of_moves(moves: int | None, last: int) -> int:
    return last if moves is None else min(whole_number(moves, "moves", 0), last)


def _frame(lessons: Sequence[Lesson], moves: int, dpi: int) -> NDArray[np.uint8]:
    sizes = [board_size(require_grid(walk)) for walk in lessons]
    width = max(5.0, sum(size[0] for size in sizes))
    boards = max(size[1] for size in sizes)
    figure = new_figure(width, boards + 2.6)
    grid = figure.add_gridspec(2, len(lessons), height_ratios=(boards, 2.4))
    for position, walk in enumerate(lessons):
        plot_walk(walk, moves, ax=figure.add_subplot(grid[0, position]))
    plot_certainty(lessons, moves, ax=figure.add_subplot(grid[1, :]))
    return to_pixels(figure, dpi)


def to_pixels(figure: Figure, dpi: int = 100) -> NDArray[np.uint8]:
    """Return a figure as red, green and blue, shape (height, width, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[:, :, :3]


def board_size(world: GridWorld) -> tuple[float, float]:
    """Return the width and height, in inches, of the picture of a board."""
    square = float(np.clip(7.0 / world.width, 0.35, 0.75))
    return max(3.4, square * world.width + 0.4), square * world.height + 0.9


def describe_agents(lesson: Lesson) -> str:
    """Return a text that names the rules of walker and watcher."""
    walker, watcher = lesson.teacher.rule.title, lesson.rule_name
    return watcher if walker == watcher else f"{walker} walker, {watcher} watcher"


def require_grid(lesson: Lesson) -> GridWorld:
    """Return the board of a walk; raise an error for other tasks."""
    world = lesson.teacher.task
    if not isinstance(world, GridWorld):
        raise CobayesError(
            f"a {type(world).__name__} has no board to draw.",
            "draw the beliefs instead: cobayes.plots.plot_certainty([lesson]).",
        )
    return world


def _draw_square(ax: Axes, square: tuple[int, int], height: float = 1.0, **style: Any) -> None:
    """Draw a square of the board, or its lower part; row numbers increase downwards."""
    from matplotlib.patches import Rectangle

    row, column = square
    ax.add_patch(Rectangle((column - 0.5, row + 0.5 - height), 1, height, **style))


def _write_goal(ax: Axes, row: int, column: int, label: str, level: float | None) -> None:
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.2, foreground="white")]
    text = shorten_label(label, 6)
    common = {"ha": "center", "va": "center", "color": INK, "path_effects": halo, "zorder": 6}
    above = 0.0 if level is None else 0.12
    size = 12 if len(text) < 3 else 8
    ax.text(column, row - above, text, fontsize=size, fontweight="bold", **common)
    if level is not None:
        ax.text(column, row + 0.3, percent(level, digits=0), fontsize=7.5, **common)


def _draw_path(
    ax: Axes, path: Sequence[tuple[int, int]], goals: Collection[tuple[int, int]]
) -> None:
    if not path:
        return
    rows, columns = np.array(path, dtype=float).T
    is_at_goal = tuple(path[-1]) in goals
    if is_at_goal and len(path) > 1:
        # The last step ends at the edge of the goal's square, before its letter.
        rows[-1] -= 0.45 * np.sign(rows[-1] - rows[-2])
        columns[-1] -= 0.45 * np.sign(columns[-1] - columns[-2])
    ax.plot(columns, rows, color=INK, linewidth=2.0, alpha=0.55, zorder=5, solid_capstyle="round")
    arrow = {"arrowstyle": "->", "color": INK, "linewidth": 1.6}
    for before, after in itertools.pairwise(np.array(path, dtype=float)[:, ::-1]):
        middle = (before + after) / 2
        if (before != after).any():
            tip = middle + 0.12 * (after - before)
            ax.annotate("", xy=tip, xytext=middle, arrowprops=arrow, zorder=5)
    # On a goal the walker stands in the corner, so that the label can be read.
    (row, column), aside = path[-1], 0.32 if is_at_goal else 0.0
    dot = {"color": INK, "markersize": 8 if aside else 11, "markeredgecolor": "white"}
    ax.plot(column + aside, row - aside, "o", zorder=7, **dot)
