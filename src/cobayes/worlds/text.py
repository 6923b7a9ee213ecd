"""Boards and beliefs in plain text, for terminals and Gymnasium's ``ansi`` mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from cobayes.worlds.grid import GridWorld, Square

BAR_WIDTH = 20


def draw_board(world: GridWorld, walker: Square | None = None) -> str:
    """Draw the board with a frame; the walker is ``@``.

    Parameters
    ----------
    world
        The board.
    walker
        Where the walker is.
    """
    edge = "+" + "-" * (2 * world.width + 1) + "+"
    rows = [f"| {' '.join(line)} |" for line in world.to_text(walker).splitlines()]
    return "\n".join([edge, *rows, edge])


def draw_beliefs(world: GridWorld, belief: ArrayLike, goal: int | None = None) -> str:
    """Draw the watcher's belief, a bar for every goal; the walker's own is marked ``*``.

    Parameters
    ----------
    world
        The board.
    belief
        The watcher's belief over the goals.
    goal
        The position of the walker's goal.
    """
    width = max(len(label) for label in world.goal_labels)
    lines = []
    for position, (label, share) in enumerate(
        zip(world.goal_labels, np.asarray(belief, dtype=float), strict=True)
    ):
        bar = "#" * round(BAR_WIDTH * float(share))
        mark = "*" if position == goal else " "
        lines.append(f"{mark} {label:<{width}} [{bar:<{BAR_WIDTH}}] {share:6.1%}")
    return "\n".join(lines)
