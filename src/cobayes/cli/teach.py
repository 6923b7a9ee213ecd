"""``cobayes teach``: one lesson by each chosen rule."""

from __future__ import annotations

from typing import Any

from cobayes._output import counted, write_csv
from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.lessons import Learner, Lesson, Teacher, run_lesson
from cobayes.lessons.planning import Planner
from cobayes.plots.beliefs import draw_lessons

# Widths in characters: a belief such as "0.1234 ", a bar, and the least width of the name of the
# strongest other hypothesis.
_BELIEF, _BAR, _NAME = 7, 10, 4


@options.command(
    "cobayes teach world.csv --hypothesis A --rounds 5 --seed 1",
    "cobayes teach world.csv --hypothesis A --rounds 5 --best --no-repeats",
    "cobayes teach example:gestures --rule both --prior tidy --plot lesson.svg",
)
@options.matrix
@options.hypothesis()
@options.rounds(10, "Number of rounds; the teacher shows one datum per round.", least=0)
@options.rule("scbi")
@options.data_prior
@options.flag(
    "--best",
    help="In each round choose the datum that raises belief in the truth most, not a random one.",
)
@options.no_repeats()
@options.prior
@options.learner_prior
@options.seed()
@options.smooth
@options.as_json
@options.output("--csv", help="Write a table with the beliefs after every round.")
@options.raw
@options.plot()
def teach(given: Given) -> None:
    """Run one lesson by each chosen rule: a teacher teaches a hypothesis, round by round."""
    target, prior = given.target, given.assumed
    actual = prior if given.actual is None else given.actual
    with terminal.patience(f"running {counted(given.rounds, 'round')}"):
        lessons = [
            run_lesson(
                Planner(rule, target, prior, num_rounds=given.rounds)
                if given.best
                else Teacher(rule, target, prior, rng=given.used_seed),
                Learner(rule, actual),
                given.rounds,
            )
            for rule in given.rules
        ]
    if given.csv is not None:
        write_csv(given.csv, _rows(lessons), raw=given.raw)
        terminal.say(f"wrote {given.csv}")
    given.finish(_as_dict(lessons), lambda: _show_all(lessons), lambda: draw_lessons(lessons))


def _rows(lessons: list[Lesson]) -> list[list[object]]:
    rows: list[list[object]] = [["rule", "round", "datum", *lessons[0].model.hypotheses]]
    for lesson in lessons:
        data = ("", *lesson.data_labels)
        for k, (datum, belief) in enumerate(zip(data, lesson.beliefs.tolist(), strict=True)):
            rows.append([lesson.rule_name, k, datum, *belief])
    return rows


def _as_dict(lessons: list[Lesson]) -> dict[str, Any]:
    first = lessons[0]
    return {
        "data": list(first.model.data),
        "hypotheses": list(first.model.hypotheses),
        "hypothesis": first.hypothesis_label,
        "rounds": first.num_rounds,
        "lessons": [lesson.to_dict() for lesson in lessons],
    }


def _show_all(lessons: list[Lesson]) -> None:
    for lesson in lessons:
        rounds = counted(lesson.num_rounds, "round")
        show_lesson(lesson, f"{lesson.rule_name} teaches {lesson.hypothesis_label}, {rounds}")
    if len(lessons) > 1:
        last = [f"{one.rule_name} {one.beliefs[-1, one.hypothesis]:.4f}" for one in lessons]
        terminal.show(f"final belief in {lessons[0].hypothesis_label}: {', '.join(last)}")


def show_lesson(lesson: Lesson, title: str) -> None:
    """Print a lesson with the beliefs in all hypotheses.

    In a narrow terminal, print only the taught hypothesis and the strongest other one.
    """
    names, taught = lesson.model.hypotheses, lesson.hypothesis
    others = [h for h in range(len(names)) if h != taught]
    data = ("prior", *lesson.data_labels)
    own = f"{names[taught]} (taught)"
    needed = [len("round"), max(map(len, data)), max(len(own), _BELIEF + _BAR)]
    needed += [max(len(names[h]), _BELIEF) for h in others]
    width = terminal.width()
    shows_all = width is None or not others or sum(needed) + 3 * len(needed) <= width
    columns = [("round", ">"), ("datum", "<"), (own, "<")]
    columns += [(names[h], ">") for h in others] if shows_all else [("strongest other", "<")]
    rows = []
    for k, (datum, belief) in enumerate(zip(data, lesson.beliefs, strict=True)):
        row = [str(k), datum, f"{belief[taught]:.4f} {terminal.bar(belief[taught], _BAR)}"]
        if shows_all:
            row += [f"{belief[h]:.4f}" for h in others]
        else:
            rival = max(others, key=lambda h: belief[h])
            # The number comes first, since a narrow terminal cuts off the end.
            row.append(f"{belief[rival]:.4f} {names[rival]}")
        rows.append(row)
    least = [len("round"), 6, _BELIEF]
    least += [_BELIEF] * len(others) if shows_all else [_BELIEF + _NAME]
    terminal.show_table(title, columns, rows, least=least)
