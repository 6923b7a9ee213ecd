"""``cobayes world``: a walk to a goal on a board, and a watcher who infers the goal."""

from __future__ import annotations

import sys
import time
from typing import Any, cast

import click

from cobayes._output import counted, percent
from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.cli.teach import show_lesson
from cobayes.errors import CobayesError
from cobayes.lessons import Learner, Lesson, Teacher, run_lesson
from cobayes.reading import existing_file, read_text
from cobayes.rules import Rule
from cobayes.worlds import GridWorld, plan_walk

_COLORS = ("blue", "yellow", "green", "magenta", "cyan", "red")
_SECONDS_PER_MOVE = 0.5
_GAP = "    "


@options.command(
    "cobayes world --seed 1",
    "cobayes world --width 9 --height 4 --goals 3 --goal B --moves plan --gif walk.gif",
)
@options.count("--width", least=2, default=7, help="Number of columns of the board.")
@options.count("--height", least=2, default=3, help="Number of rows of the board.")
@options.count("--goals", least=2, default=2, help="Number of goals on the upper edge.")
@options.number(
    "--discount",
    between=(0.0, 1.0),
    metavar="FACTOR",
    default=0.5,
    hint="0.5 halves the value of a goal with every move.",
    help="The factor between 0 and 1 by which every move reduces the value of a goal.",
)
@options.path(
    "--board",
    help="Instead of --width, --height and --goals, a text file with a board, on which walkers can "
    "also move down: S is the start, # a wall, . free, any other letter or digit a goal.",
)
@options.option("--goal", metavar="LABEL", help="The walker's goal (default: the first).")
@options.rule("both")
@options.choice(
    "--moves",
    *("forward", "any", "plan"),
    default="forward",
    help="How the walker chooses its moves: 'forward' draws from the moves towards the goal, 'any' "
    "from all moves (as in the paper), 'plan' takes the most likely shortest walk.",
)
@options.number(
    "--slip",
    between=(0.0, 1.0),
    closed="low",
    metavar="PROBABILITY",
    default=0.0,
    help="The probability that another move happens instead of the chosen one.",
)
@options.rounds(50, "Maximum number of moves.")
@options.seed()
@options.as_json
@options.output("--gif", help="Write an animation of the walk (needs matplotlib).")
def world(given: Given) -> None:
    """Simulate a walk to a goal on a board, and a watcher who infers the goal from the moves.

    The walker is the teacher, the watcher is the learner.
    """
    made = _make_world(given)
    goal = made.goal_index(made.goal_labels[0] if given.goal is None else given.goal)
    walks = [_walk(goal, rule, given) for rule in reversed(given.rules_on(made))]
    if given.gif is not None:
        from cobayes.plots.worlds import save_animation

        save_animation(walks, given.gif)
        terminal.say(f"wrote {given.gif}")
    given.finish(_as_dict(made, walks, given.moves), lambda: _show(walks))


def _make_world(given: Given) -> GridWorld:
    options = {"discount": given.discount, "slip": given.slip}
    if given.board is not None:
        typed = [name for name in ("width", "height", "goals") if given.was_typed(name)]
        if typed:
            drop = " and ".join(f"--{name}" for name in typed)
            raise CobayesError(
                f"--board is given together with {drop}; the board has its own size and goals.",
                f"drop {drop}, or drop --board.",
            )
        return GridWorld.from_text(read_text(existing_file(given.board)), **options)
    return GridWorld.with_goals_on_top(given.width, given.height, given.goals, **options)


def _walk(goal: int, rule: Rule, given: Given) -> Lesson:
    if given.moves == "plan":
        if given.was_typed("rounds"):
            raise CobayesError(
                "--rounds is given together with --moves plan; a planned walk ends at its goal.",
                "drop --rounds, or let moves be drawn: --moves forward.",
            )
        if given.slip > 0.0:
            raise CobayesError(
                "--slip is given together with --moves plan; a walk with slips cannot be planned.",
                "let moves be drawn: --moves forward; or plan without slips: --slip 0.",
            )
        return plan_walk(rule, goal)
    # The walker's choices and the world's slips need independent random numbers.
    choice = "forward" if given.moves == "forward" else "draw"
    teacher = Teacher(rule, goal, rng=[given.used_seed, 0], choice=choice)
    return run_lesson(teacher, Learner(rule), given.rounds, rng=[given.used_seed, 1])


def _extra_moves(walk: Lesson) -> int | None:
    """Return the number of moves beyond the shortest walk; None if the goal was not reached."""
    world = cast("GridWorld", walk.teacher.task)
    if not walk.is_over:
        return None
    fewest = world.distances[world.state_position(walk.states[0]), walk.hypothesis]
    return walk.num_rounds - int(fewest)


def _as_dict(made: GridWorld, walks: list[Lesson], moves: str) -> dict[str, Any]:
    found = []
    for walk in walks:
        more = {"extra_moves": _extra_moves(walk)}
        more["rounds_until_95_percent_sure"] = walk.rounds_until(0.95)
        found.append(walk.to_dict() | more)
    start = made.matrix_at(made.start).to_dict()
    return {"world": made.settings(), "matrix_at_start": start, "moves": moves, "walks": found}


def _show(walks: list[Lesson]) -> None:
    """Print the boards, and a table of the watchers' beliefs.

    A terminal shows the boards after every move; other outputs contain only the last boards.
    """
    last = max(walk.num_rounds for walk in walks)
    for number in range(last + 1) if sys.stdout.isatty() else (last,):
        lines = _boards(walks, number)
        print("\n".join(lines), flush=True)
        if number < last:
            time.sleep(_SECONDS_PER_MOVE)
            print(f"\x1b[{len(lines)}A\x1b[J", end="")  # back to the first line, clear
    _show_beliefs(walks)


def _boards(walks: list[Lesson], number: int) -> list[str]:
    """Return the lines of all boards after a move, side by side or one below the other."""
    blocks = [_board(walk, min(number, walk.num_rounds)) for walk in walks]
    sizes = [max(len(click.unstyle(line)) for line in block) for block in blocks]
    limit = terminal.width()
    if limit is not None and sum(sizes) + len(_GAP) * (len(blocks) - 1) > limit:
        return [line for block in blocks for line in (*block, "")]
    padded = [
        [line + " " * (size - len(click.unstyle(line))) for line in block]
        for block, size in zip(blocks, sizes, strict=True)
    ]
    return [*(_GAP.join(parts).rstrip() for parts in zip(*padded, strict=True)), ""]


def _board(walk: Lesson, shown: int) -> list[str]:
    """Return the lines of a board: the path so far, and the watcher's belief in every goal."""
    made = cast("GridWorld", walk.teacher.task)  # this command makes only grid worlds
    colors = {square: _COLORS[h % 6] for h, (_, square) in enumerate(made.goals.items())}
    path = set(walk.states[: shown + 1])
    move = walk.data_labels[shown - 1] if shown else "start"
    lines = [terminal.paint(f"{walk.rule_name}: move {shown}, {move}", bold=True)]
    for row, line in enumerate(made.to_text(walk.states[shown]).splitlines()):
        signs = []
        for column, sign in enumerate(line):
            square = (row, column)
            shown_sign = "o" if square in path and sign == "." else sign
            color = None if sign == "@" else colors.get(square)
            signs.append(terminal.paint(shown_sign, fg=color, bold=True) if color else shown_sign)
        lines.append(" ".join(signs))
    labels = [terminal.printable(label) for label in made.goal_labels]
    size = max(map(len, labels))
    for h, (label, share) in enumerate(zip(labels, walk.beliefs[shown], strict=True)):
        bar = terminal.paint(terminal.bar(share), fg=_COLORS[h % 6])
        lines.append(
            f"{'*' if h == walk.hypothesis else ' '}{label:<{size}} {percent(share):>7} {bar}"
        )
    return lines


def _show_beliefs(walks: list[Lesson]) -> None:
    goal = walks[0].hypothesis_label
    for walk in walks:
        show_lesson(walk, f"{walk.rule_name}: the watcher's belief after every move")
    for walk in walks:
        sure = walk.rounds_until(0.95)
        belief = "never 95 % sure" if sure is None else f"95 % sure after {counted(sure, 'move')}"
        end = f"{goal} after {counted(walk.num_rounds, 'move')}"
        extra = f" ({_extra_moves(walk)} more than needed)" if walk.is_over else ""
        arrived = f"{'' if walk.is_over else 'not '}at {end}{extra}"
        terminal.show(f"{walk.rule_name}: {belief}; {arrived}")
