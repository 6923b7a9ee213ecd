"""``cobayes world``: a walker shows its goal on a board, and a watcher infers it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cobayes.cli import inputs, options, output

if TYPE_CHECKING:
    from cobayes.rules import Rule
    from cobayes.worlds import GridWorld, Trajectory
    from cobayes.worlds.agents import Moves

EPILOG = (
    "Examples:\n\n"
    "cobayes world --seed 1\n\n"
    "cobayes world --width 9 --height 4 --goals 3 --goal B --moves plan --gif walk.gif"
)

_COLORS = ("blue", "yellow", "green", "magenta", "cyan", "red")
_SECONDS_A_MOVE = 0.5


def world(
    width: Annotated[
        int, options.count_option("--width", least=2, help="Number of columns of the board.")
    ] = 7,
    height: Annotated[
        int, options.count_option("--height", least=2, help="Number of rows of the board.")
    ] = 3,
    goals: Annotated[
        int,
        options.count_option("--goals", least=2, help="Number of goals on the upper edge."),
    ] = 2,
    discount: Annotated[
        float,
        typer.Option(
            "--discount",
            parser=options.number(0.0, 1.0),
            metavar="FACTOR",
            help="By what a reward shrinks with every step, between 0 and 1.",
        ),
    ] = 0.5,
    board: Annotated[
        Path | None,
        typer.Option(
            "--board",
            metavar="FILE",
            help="A board drawn in text instead: S start, # wall, . free, other letters goals; "
            "four moves.",
        ),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option("--goal", metavar="LABEL", help="The walker's goal (default: the first)."),
    ] = None,
    rule: options.Rule = "both",
    depth: options.Depth = None,
    rationality: options.Rationality = None,
    literal: options.Literal = None,
    moves: Annotated[
        str,
        typer.Option(
            "--moves",
            **options.choice("forward", "any", "plan"),
            help="forward: drawn among moves towards the goal; any: drawn among all, as in the "
            "paper; plan: the likeliest shortest walk.",
        ),
    ] = "forward",
    slip: Annotated[
        float,
        typer.Option(
            "--slip",
            parser=options.number(0.0, 1.0, closed="low"),
            metavar="PROBABILITY",
            help="The probability that another move happens than the one chosen.",
        ),
    ] = 0.0,
    rounds: Annotated[
        int, options.count_option("--rounds", "-k", least=1, help="Stop after so many moves.")
    ] = 50,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
    gif: Annotated[
        Path | None,
        options.file_option("--gif", "Write an animation of the walk (needs matplotlib)."),
    ] = None,
) -> None:
    """Walk to a goal on a board while a watcher infers the goal from the moves."""
    inputs.check_outputs({"--gif": gif}, [board])
    made = _make_world(board, width, height, goals, discount, slip)
    true_goal = made.goal_index(made.goal_labels[0] if goal is None else goal)
    used_seed = inputs.choose_seed(seed)
    rules = inputs.make_rules(rule, made, depth=depth, rationality=rationality, literal=literal)
    walks = [_walk(made, true_goal, one, moves, rounds, used_seed) for one in reversed(rules)]
    if gif is not None:
        from cobayes.plots.worlds import save_animation

        save_animation(walks, gif)
        output.say(f"wrote {gif}")
    if as_json:
        output.print_json(_as_json(made, walks, moves, used_seed))
        return
    _play(walks)
    _print_tables(walks)
    if seed is None and moves != "plan":
        output.say_seed(used_seed, "see the same walk")


def _make_world(
    board: Path | None, width: int, height: int, goals: int, discount: float, slip: float
) -> GridWorld:
    from cobayes.errors import CobayesError
    from cobayes.reading import existing_file
    from cobayes.worlds import GridWorld

    if board is None:
        return GridWorld.with_goals_on_top(width, height, goals, discount, slip=slip)
    try:
        text = existing_file(board).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise CobayesError(f"{board} cannot be read: {reason}.") from None
    return GridWorld.from_text(text, discount, slip=slip)


def _walk(made: GridWorld, goal: int, rule: Rule, moves: str, rounds: int, seed: int) -> Trajectory:
    from cobayes.worlds import WorldLearner, WorldTeacher, plan_trajectory, run_trajectory

    if moves == "plan":
        return plan_trajectory(made, goal, rule)
    # The walker's choices and the world's slips must not share their random numbers.
    teacher = WorldTeacher(made, goal, rule, rng=[seed, 0], moves=cast("Moves", moves))
    return run_trajectory(teacher, WorldLearner(made, rule), max_rounds=rounds, rng=[seed, 1])


def _as_json(made: GridWorld, walks: list[Trajectory], moves: str, seed: int) -> dict[str, Any]:
    from cobayes import __version__

    return {
        "cobayes": __version__,
        "world": made.to_dict(),
        "matrix_at_start": made.matrix_at(made.start).to_dict(),
        "moves": moves,
        "seed": seed,
        "walks": [walk.to_dict() for walk in walks],
    }


def _play(walks: list[Trajectory]) -> None:
    """Show the walks move by move where somebody is looking, else only their ends."""
    from rich.live import Live

    console = output.console()
    last = max(walk.num_steps for walk in walks)
    if not console.is_terminal:
        console.print(_boards(walks, last))
        return
    with Live(_boards(walks, 0), console=console, auto_refresh=False) as live:
        for number in range(1, last + 1):
            time.sleep(_SECONDS_A_MOVE)
            live.update(_boards(walks, number), refresh=True)


def _boards(walks: list[Trajectory], number: int) -> Any:
    from rich.columns import Columns
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    panels = []
    for walk in walks:
        shown = min(number, walk.num_steps)
        move = walk.action_labels[shown - 1] if shown else "start"
        content = Group(_board(walk, shown), Text(""), _beliefs(walk, shown))
        panels.append(
            Panel(content, title=Text(f"{walk.teacher_rule}: move {shown}, {move}"), expand=False)
        )
    return Columns(panels)


def _board(walk: Trajectory, shown: int) -> Any:
    from rich.text import Text

    made = cast("GridWorld", walk.world)  # the command makes no other
    colors = {square: _color(h) for h, (_, square) in enumerate(made.goal_items)}
    path = set(walk.states[: shown + 1])
    text = Text()
    for row, line in enumerate(made.to_text(walk.states[shown]).splitlines()):
        for column, sign in enumerate(line):
            square = (row, column)
            if sign == "@":
                text.append("@ ", style="bold")
            elif square in colors:
                text.append(f"{sign} ", style=f"bold {colors[square]}")
            elif square in path and sign == ".":
                text.append("o ")
            else:
                text.append(f"{sign} ", style="dim")
        text.append("\n")
    text.rstrip()
    return text


def _beliefs(walk: Trajectory, shown: int) -> Any:
    from rich.text import Text

    labels = walk.world.goal_labels
    width = max(len(label) for label in labels)
    text = Text()
    for h, share in enumerate(walk.beliefs[shown]):
        mark = "*" if h == walk.goal else " "
        text.append(f"{mark}{labels[h]:<{width}} {share:6.1%} ")
        text.append(f"{output.bar(share):<12}\n", style=_color(h))
    text.rstrip()
    return text


def _color(position: int) -> str:
    return _COLORS[position % len(_COLORS)]


def _print_tables(walks: list[Trajectory]) -> None:
    from rich.text import Text

    goal = walks[0].goal_label
    console = output.console()
    headings: list[tuple[str, output.Justification]] = [("move", "right")]
    for walk in walks:
        headings.append((walk.teacher_rule, "left"))
        headings.append((f"belief in {goal}", "right"))
    table = output.table(f"The watcher's belief in {goal} (*), move by move", headings)
    for number in range(max(walk.num_steps for walk in walks) + 1):
        cells = [str(number)]
        for walk in walks:
            if number <= walk.num_steps:
                move = walk.action_labels[number - 1] if number else "start"
                cells += [move, f"{walk.belief_in_goal[number]:.4f}"]
            else:
                cells += ["", ""]
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    for walk in walks:
        sure = walk.rounds_until(0.95)
        understood = "never 95 % sure" if sure is None else f"95 % sure after {_moves(sure)}"
        arrived = (
            f"at {goal} after {_moves(walk.num_steps)} ({walk.extra_steps} more than needed)"
            if walk.reached_goal
            else f"not at {goal} after {_moves(walk.num_steps)}"
        )
        console.print(f"{walk.teacher_rule}: {understood}; {arrived}", markup=False)


def _moves(count: int) -> str:
    return "1 move" if count == 1 else f"{count} moves"
