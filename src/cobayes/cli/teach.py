"""``cobayes teach``: one lesson, by SCBI, by plain Bayes, or by both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobayes.cli import inputs, options, output, progress

if TYPE_CHECKING:
    from cobayes.lessons import Lesson

EPILOG = (
    "Examples:\n\n"
    "cobayes teach world.csv --hypothesis A --rounds 5 --seed 1\n\n"
    "cobayes teach world.csv --hypothesis A --rounds 5 --best --no-repeats\n\n"
    "cobayes teach example:gestures --rule both --prior tidy --plot lesson.svg"
)

# Room for "0.1234 ", a bar, and the space around a column of the table.
_BELIEF_WIDTH, _BAR_WIDTH, _GAP = 7, 10, 3

# Of the strongest other hypothesis' name, in a narrow terminal.
_FEWEST_LETTERS = 4


def teach(
    matrix: options.Matrix,
    hypothesis: options.TaughtHypothesis = None,
    rounds: Annotated[
        int,
        options.count_option(
            "--rounds", "-k", least=0, help="How many data the teacher shows, one per round."
        ),
    ] = 10,
    rule: options.Rule = "scbi",
    best: Annotated[
        bool,
        typer.Option(
            "--best", help="Choose the data that raise the belief most, instead of drawing them."
        ),
    ] = False,
    no_repeats: options.NoRepeats = False,
    depth: options.Depth = None,
    rationality: options.Rationality = None,
    literal: options.Literal = None,
    data_prior: options.DataPrior = None,
    prior: options.Prior = None,
    learner_prior: options.LearnerPrior = None,
    seed: options.Seed = None,
    smooth: options.Smooth = None,
    as_json: options.AsJson = False,
    csv: Annotated[
        Path | None,
        options.file_option("--csv", "Write a table with the beliefs after every round."),
    ] = None,
    raw: options.Raw = False,
    plot: options.Plot = None,
) -> None:
    """Run one lesson: a teacher teaches a hypothesis and a learner learns, round by round."""
    inputs.check_outputs({"--csv": csv, "--plot": plot}, [matrix, data_prior])
    model, example = inputs.load_matrix(matrix, smooth)
    target = inputs.find_hypothesis(hypothesis, model, example)
    teacher_prior = inputs.read_prior(prior, model, example, name="prior")
    own_prior = inputs.read_prior(learner_prior, model, example, name="learner's prior")

    from cobayes._output import counted
    from cobayes.lessons import Learner, Teacher, plan_lesson, run_lesson

    task = inputs.make_task(model, no_repeats=no_repeats)
    rules = inputs.make_rules(
        rule, task, depth=depth, rationality=rationality, literal=literal, data_prior=data_prior
    )
    used_seed = inputs.choose_seed(seed)
    lessons = []
    with progress.patience(f"running {counted(rounds, 'round')}"):
        for made in rules:
            learners_prior = teacher_prior if own_prior is None else own_prior
            if best:
                lessons.append(plan_lesson(made, target, rounds, prior=learners_prior))
                continue
            teacher = Teacher(made, target, teacher_prior, rng=used_seed)
            lessons.append(run_lesson(teacher, Learner(made, learners_prior), rounds))

    if csv is not None:
        output.write_csv(csv, *_csv_table(lessons), raw=raw)
        output.say(f"wrote {csv}")
    if plot is not None:
        from cobayes.plots.overview import save_lessons

        save_lessons(lessons, plot)
        output.say(f"wrote {plot}")
    if as_json:
        output.print_json(_as_json(matrix, lessons, used_seed))
    else:
        _print_lessons(lessons, used_seed, is_given=best or seed is not None)


def _csv_table(lessons: list[Lesson]) -> tuple[list[str], list[list[object]]]:
    header = ["rule", "round", "datum", *lessons[0].model.hypotheses]
    rows = [
        [lesson.rule_name, number, datum, *belief]
        for lesson in lessons
        for number, (datum, belief) in enumerate(
            zip(("", *lesson.data_labels), lesson.beliefs.tolist(), strict=True)
        )
    ]
    return header, rows


def _as_json(source: str, lessons: list[Lesson], seed: int) -> dict[str, Any]:
    from cobayes import __version__

    first = lessons[0]
    model = first.model
    return {
        "cobayes": __version__,
        "matrix": source,
        "data": list(model.data),
        "hypotheses": list(model.hypotheses),
        "hypothesis": first.hypothesis_label,
        "rounds": first.num_rounds,
        "seed": seed,
        "lessons": [
            {**lesson.to_dict(), "log_beliefs": lesson.log_beliefs.tolist()} for lesson in lessons
        ],
    }


def _print_lessons(lessons: list[Lesson], seed: int, *, is_given: bool) -> None:
    console = output.console()
    for lesson in lessons:
        console.print(_lesson_table(lesson, console.width))
    if len(lessons) > 1:
        summary = ", ".join(
            f"{lesson.rule_name} {lesson.beliefs[-1, lesson.hypothesis]:.4f}" for lesson in lessons
        )
        console.print(f"final belief in {lessons[0].hypothesis_label}: {summary}", markup=False)
    if not is_given and lessons[0].num_rounds:
        output.say_seed(seed, "see the same lesson")


def _lesson_table(lesson: Lesson, width: int) -> Any:
    from rich.text import Text

    names = lesson.model.hypotheses
    taught = lesson.hypothesis
    others = [h for h in range(len(names)) if h != taught]
    taught_heading = f"{names[taught]} (taught)"
    widths = [
        len("round"),
        max(len(datum) for datum in ("prior", *lesson.data_labels)),
        max(len(taught_heading), _BELIEF_WIDTH + _BAR_WIDTH),
        *(max(len(names[h]), _BELIEF_WIDTH) for h in others),
    ]
    # All hypotheses side by side, if that fits the terminal.
    shows_all = sum(widths) + _GAP * len(widths) <= width
    headings: list[tuple[str, output.Justification]] = [
        ("round", "right"),
        ("datum", "left"),
        (taught_heading, "left"),
    ]
    if shows_all:
        headings.extend((names[h], "right") for h in others)
    else:
        headings.append(("strongest other", "left"))
    from cobayes._output import counted

    table = output.table(
        f"{lesson.rule_name} teaches {names[taught]}, {counted(lesson.num_rounds, 'round')}",
        headings,
    )
    beliefs = lesson.beliefs
    for number, (datum, belief) in enumerate(
        zip(("prior", *lesson.data_labels), beliefs, strict=True)
    ):
        cells = [
            Text(str(number)),
            Text(datum, style="dim" if number == 0 else ""),
            Text(f"{belief[taught]:.4f} ")
            + Text(output.bar(belief[taught], _BAR_WIDTH), style="blue"),
        ]
        if shows_all:
            cells += [Text(f"{belief[h]:.4f}") for h in others]
        else:
            rival = max(others, key=lambda h: belief[h])
            # The number first: where there is no room, the end is cut off.
            cells.append(Text(f"{belief[rival]:.4f} {names[rival]}"))
        table.add_row(*cells)
    for column in table.columns:
        column.no_wrap = True
    table.columns[2].min_width = _BELIEF_WIDTH
    if not shows_all:
        table.columns[3].min_width = _BELIEF_WIDTH + _FEWEST_LETTERS
    return table
