"""Moves on a grid: their names and their checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from cobayes._input.labels import is_position, shorten
from cobayes.errors import CobayesError

Square = tuple[int, int]

MOVES: dict[str, Square] = {
    "left": (0, -1),
    "up": (-1, 0),
    "right": (0, 1),
    "down": (1, 0),
    "stay": (0, 0),
    "up-left": (-1, -1),
    "up-right": (-1, 1),
    "down-left": (1, -1),
    "down-right": (1, 1),
}
"""Moves known by name, as (rows, columns) to go; row 0 is the top."""

FOUR_MOVES = ("left", "up", "right", "down")
PAPER_MOVES = ("left", "up", "right")
KING_MOVES = (*FOUR_MOVES, "up-left", "up-right", "down-left", "down-right")


def read_slip(slip: Any, num_actions: int) -> float:
    """Return the probability of a slip, or say what is wrong with it."""
    if not isinstance(slip, int | float | np.number) or not 0.0 <= float(slip) < 1.0:
        raise CobayesError(f"slip is {slip!r}; expected a probability below 1.")
    if slip > 0.0 and num_actions < 2:
        raise CobayesError("with a single move there is nothing to slip to.", "use slip=0.")
    return float(slip)


def read_moves(actions: Any) -> tuple[tuple[str, Square], ...]:
    """Return moves, given by name or as a mapping, as pairs of a name and a step."""
    if isinstance(actions, str):
        actions = (actions,)
    items: tuple[tuple[str, tuple[Any, ...]], ...]
    if isinstance(actions, Mapping):
        items = tuple(
            (str(name), tuple(step) if isinstance(step, Iterable) else (step,))
            for name, step in actions.items()
        )
    else:
        names = list(actions) if isinstance(actions, Iterable) else [actions]
        for name in names:
            if not isinstance(name, str) or name not in MOVES:
                raise CobayesError(
                    f"there is no move called {name!r}.", f"choose from: {shorten(list(MOVES))}."
                )
        items = tuple((name, MOVES[name]) for name in names)
    if not items:
        raise CobayesError(
            "the world has no moves; expected at least one.",
            f"name some of: {shorten(list(MOVES))}.",
        )
    if len({name for name, _ in items}) != len(items):
        raise CobayesError(f"the moves are {[name for name, _ in items]}; names must differ.")
    for name, step in items:
        if len(step) != 2 or not all(is_position(part) for part in step):
            raise CobayesError(
                f"move {name!r} goes by {step!r}; expected (rows, columns) as integers."
            )
    return tuple((name, (int(step[0]), int(step[1]))) for name, step in items)
