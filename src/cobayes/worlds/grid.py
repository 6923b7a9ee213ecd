"""The grid world: a board with walls, moves, and candidate goals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from string import ascii_uppercase
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import shorten
from cobayes._input.validation import as_integer, instance, items, number_between, whole_number
from cobayes._parallel import require_affordable, short_number
from cobayes.errors import CobayesError
from cobayes.worlds.world import World

Array = NDArray[np.float64]
Square = tuple[int, int]
"""A square of a board, or a step on it: (row, column), row 0 at the top."""

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
FOUR_MOVES = ("left", "up", "right", "down")
PAPER_MOVES = ("left", "up", "right")
KING_MOVES = (*FOUR_MOVES, "up-left", "up-right", "down-left", "down-right")

BYTES_PER_SQUARE = 500.0
"""Memory of a world per square, measured with four moves, two goals and a million squares."""


class GridWorld(World):
    """A board on which a watcher infers a walker's goal from its moves.

    Squares are (row, column), counted from (0, 0) in the upper left corner. A move off the board or
    into a wall counts as a move, but does not change the position. The walk ends on the walker's
    own goal; see `World` for the other candidate goals.

    As a Gymnasium environment it is called ``cobayes/GridWorld-v0``.

    Parameters
    ----------
    width, height
        The numbers of columns and of rows.
    start
        The square on which a walk starts.
    goals
        The candidate goals: a mapping from label to square; or a list of squares, which get the
        labels A, B, C, ... (G1, G2, ... if there are more than 26).
    discount
        Between 0 and 1: without slips, a square that is k moves from the goal has the value
        ``reward * discount**k``.
    walls
        Squares that cannot be entered.
    actions
        Names of moves ("left", "up", "right", "down", "stay", "up-left", ...), or a mapping
        from the name of each move to its step (rows, columns).
    slip
        The probability that another move happens instead of the intended one; all other moves are
        equally likely.
    reward
        The value of a goal, positive.

    Examples
    --------
    >>> import cobayes as cb
    >>> world = cb.GridWorld.paper(discount=0.5)
    >>> print(world.to_text())
    A.....B
    .......
    ...S...
    """

    width: int
    height: int
    goals: dict[str, Square]
    actions: dict[str, Square]
    walls: frozenset[Square]
    slip: float

    def __init__(
        self,
        width: SupportsIndex,
        height: SupportsIndex,
        start: Square,
        goals: Mapping[str, Square] | Iterable[Square],
        discount: float,
        *,
        walls: Iterable[Square] = (),
        actions: Iterable[str] | Mapping[str, Square] = FOUR_MOVES,
        slip: float = 0.0,
        reward: float = 1.0,
    ) -> None:
        width, height = whole_number(width, "the width", 1), whole_number(height, "the height", 1)
        require_affordable_board(width, height)
        shape = height, width
        walls = items(walls, "walls", "squares")
        blocked = frozenset(_square(wall, "a wall", shape) for wall in walls)
        start = _square(start, "the start", shape, blocked)
        expected = "squares, or a mapping from label to square"
        named = goals if isinstance(goals, Mapping) else _labelled(items(goals, "goals", expected))
        places = {
            str(label): _square(square, f"goal {label!r}", shape, blocked)
            for label, square in named.items()
        }
        moves = _read_moves(actions)
        slip = number_between(slip, "slip", 0.0, 1.0, closed="low")
        if slip > 0.0 and len(moves) == 1:
            raise CobayesError("slip is positive, but there is one move only.", "use slip=0.")
        vars(self).update(width=width, height=height, slip=slip)
        vars(self).update(goals=places, actions=moves, walls=blocked)
        states = [square for square in np.ndindex(shape) if square not in blocked]
        ends = {label: (square,) for label, square in places.items()}
        outcomes = _outcomes(states, list(moves.values()), slip)
        super().__init__(states, start, moves, ends, outcomes, discount, reward)

    @classmethod
    def paper(cls, discount: float = 0.5, width: SupportsIndex = 7) -> GridWorld:
        """Return the board of the paper's Section 6: goals A and B in the upper corners.

        Parameters
        ----------
        discount
            gamma in the paper.
        width
            The number of columns. The paper draws 3 rows of 7 squares, but writes "3 x 5". With 5
            and with 7 columns, the matrices near the start differ only by the scaling of columns:
            the paper's results do not depend on the width.
        """
        return cls.with_goals_on_top(width, 3, 2, discount)

    @classmethod
    def with_goals_on_top(
        cls,
        width: SupportsIndex,
        height: SupportsIndex,
        num_goals: SupportsIndex,
        discount: float,
        *,
        walls: Iterable[Square] = (),
        actions: Iterable[str] | Mapping[str, Square] = PAPER_MOVES,
        slip: float = 0.0,
        reward: float = 1.0,
    ) -> GridWorld:
        """Return a board like the paper's: goals on the upper edge, start in the lower middle.

        Parameters
        ----------
        width, height
            The numbers of columns and of rows.
        num_goals
            The number of candidate goals, spaced from corner to corner as equally as possible.
        discount, walls, actions, slip, reward
            As for `GridWorld`, but the default moves are left, up and right.
        """
        columns, rows = whole_number(width, "the width", 1), whole_number(height, "the height", 1)
        count = whole_number(num_goals, "num_goals", 2)
        if count > columns:
            raise CobayesError(
                f"{count} goals do not fit on the upper edge of a board of width {columns}.",
                f"expected at most {columns} goals.",
            )
        require_affordable_board(columns, rows)
        where = np.floor(np.linspace(0, columns - 1, count) + 0.5).astype(int)
        start, goals = (rows - 1, columns // 2), [(0, int(column)) for column in where]
        place = columns, rows, start, goals
        return cls(*place, discount, walls=walls, actions=actions, slip=slip, reward=reward)

    @classmethod
    def from_text(
        cls,
        text: str,
        discount: float = 0.5,
        *,
        actions: Iterable[str] | Mapping[str, Square] = FOUR_MOVES,
        slip: float = 0.0,
        reward: float = 1.0,
    ) -> GridWorld:
        """Read a board from a drawing.

        Parameters
        ----------
        text
            One line per row: ``S`` is the start, ``#`` a wall, ``.`` a free square, any other
            letter or digit a goal of that name.
        discount, actions, slip, reward
            As for `GridWorld`.

        Returns
        -------
        GridWorld
            The board, with a goal for every letter or digit of the drawing.
        """
        hint = 'read it from a file: GridWorld.from_text(Path("board.txt").read_text()).'
        instance(text, str, "text", "the drawing of a board", hint)
        lines = [line.strip() for line in text.strip().splitlines()] or [""]
        if not lines[0] or len({len(line) for line in lines}) != 1:
            raise CobayesError(
                f"the rows of the board have {sorted({len(line) for line in lines})} characters.",
                "every row of the board needs the same number of characters, at least one.",
            )
        signs = {(r, c): sign for r, line in enumerate(lines) for c, sign in enumerate(line)}
        goals: dict[str, Square] = {}
        for square, sign in signs.items():
            if sign in goals or not (sign in "#S." or sign.isalnum()):
                raise CobayesError(
                    f"the board has {sign!r} at {square}"
                    + ("; the goal occurs a second time." if sign in goals else "."),
                    "expected S, #, a dot, or a letter or digit for each goal; text is the drawing "
                    "itself, not the name of a file.",
                )
            if sign not in "#S.":
                goals[sign] = square
        starts = [square for square, sign in signs.items() if sign == "S"]
        if len(starts) != 1:
            raise CobayesError(
                f"the board has {len(starts)} starts; expected one.",
                "mark the walker's first square with S.",
            )
        walls = [square for square, sign in signs.items() if sign == "#"]
        place = len(lines[0]), len(lines), starts[0], goals
        return cls(*place, discount, walls=walls, actions=actions, slip=slip, reward=reward)

    def to_text(self, walker: Square | None = None) -> str:
        """Return a drawing of the board, in the signs of `from_text`; a walker is shown as ``@``.

        A goal is drawn as the first character of its label.
        """
        signs = {
            **dict.fromkeys(self.walls, "#"),
            self.start: "S",
            **{square: label[0] for label, square in self.goals.items()},
        }
        if walker is not None:
            signs[self.states[self.state_position(walker)]] = "@"
        return "\n".join(
            "".join(signs.get((row, column), ".") for column in range(self.width))
            for row in range(self.height)
        )

    def settings(self) -> dict[str, Any]:
        """Return the constructor's arguments by name, for JSON."""
        names = "width", "height", "start", "goals", "discount", "actions", "slip", "reward"
        return {**{name: copy(getattr(self, name)) for name in names}, "walls": sorted(self.walls)}

    def __repr__(self) -> str:
        goals = ", ".join(f"{label} at {square}" for label, square in [*self.goals.items()][:4])
        more = f", … ({len(self.goals)} in all)" if len(self.goals) > 4 else ""
        walls = f"; {len(self.walls)} walls" if self.walls else ""
        slip = f"; slip {self.slip:g}" if self.slip else ""
        return (
            f"GridWorld({self.width} wide, {self.height} high; start {self.start}; goals {goals}"
            f"{more}; discount {self.discount:g}{walls}{slip})"
        )


def _square(
    value: Any, what: str, shape: tuple[int, int], walls: frozenset[Square] = frozenset()
) -> Square:
    row, column = _pair(value, what, "a square (row, column) of integers")
    if not (0 <= row < shape[0] and 0 <= column < shape[1]):
        raise CobayesError(
            f"{what} is at {(row, column)}, outside the board of {shape[0]} rows and {shape[1]} "
            "columns.",
            f"rows go from 0 to {shape[0] - 1}, columns from 0 to {shape[1] - 1}.",
        )
    if (row, column) in walls:
        found = f"{what} is at {(row, column)}, in a wall."
        raise CobayesError(found, "move it, or remove the wall.")
    return row, column


def _outcomes(
    states: list[Square], steps: list[Square], slip: float
) -> tuple[NDArray[np.intp], Array]:
    """Return positions of next squares and their probabilities, (states, actions, outcomes)."""
    positions = {square: position for position, square in enumerate(states)}
    ends = np.array(
        [
            [positions.get((row + down, column + along), here) for down, along in steps]
            for (row, column), here in positions.items()
        ],
        dtype=np.intp,
    )
    if slip == 0.0:
        return ends[:, :, None], np.ones((*ends.shape, 1))
    count = len(steps)
    chances = np.where(np.eye(count, dtype=bool), 1.0 - slip, slip / (count - 1))
    shape = len(ends), count, count
    return np.broadcast_to(ends[:, None, :], shape), np.broadcast_to(chances, shape)


def _labelled(squares: list[Any]) -> dict[str, Any]:
    if len(squares) <= len(ascii_uppercase):
        return dict(zip(ascii_uppercase, squares, strict=False))
    return {f"G{position}": square for position, square in enumerate(squares, 1)}


def _pair(value: Any, what: str, expected: str) -> Square:
    match [as_integer(part) for part in (value if isinstance(value, Iterable) else ())]:
        case [int(row), int(column)]:
            return row, column
    raise CobayesError(f"{what} is {value!r}; expected {expected}.")


def _read_moves(actions: Any) -> dict[str, Square]:
    """Return the step (rows, columns) of each move, by name."""
    if isinstance(actions, Mapping):
        return {
            str(name): _pair(step, f"the step of move {name!r}", "(rows, columns) as integers")
            for name, step in actions.items()
        }
    is_many = isinstance(actions, Iterable) and not isinstance(actions, str)
    names: list[Any] = list(actions) if is_many else [actions]
    choice = f"choose from: {shorten(list(MOVES))}."
    for name in names:
        if not isinstance(name, str) or name not in MOVES:
            raise CobayesError(f"there is no move called {name!r}.", choice)
    if len(set(names)) != len(names):
        raise CobayesError(f"the moves are {names}; expected each move once.", choice)
    return {name: MOVES[name] for name in names}


def require_affordable_board(width: int, height: int) -> None:
    """Raise an error if a board would need too much memory."""
    require_affordable(
        f"a board of {short_number(width)} by {short_number(height)} squares",
        "make the board smaller.",
        num_bytes=BYTES_PER_SQUARE * min(width * height, 10**300),
    )
