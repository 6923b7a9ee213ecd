"""``cobayes teach``: one lesson, by SCBI, by plain Bayes, or by both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobayes.cli import inputs, options, terminal
from cobayes.cli.app import command

if TYPE_CHECKING:
    from cobayes.lessons import Lesson

# Places that "0.1234 " takes, a bar, and the name of the strongest other hypothesis at least.
_BELIEF, _BAR, _NAME = 7, 10, 4


@command(
    "cobayes teach world.csv --hypothesis A --rounds 5 --seed 1",
    "cobayes teach world.csv --hypothesis A --rounds 5 --best --no-repeats",
    "cobayes teach example:gestures --rule both --prior tidy --plot lesson.svg",
)
@options.matrix
@options.hypothesis
@options.rounds(10, "How many data the teacher shows, one per round.", least=0)
@options.rule("scbi")
@options.data_prior
@options.flag("--best", help="Choose the data that raise the belief most, instead of drawing them.")
@options.no_repeats
@options.prior
@options.learner_prior
@options.new_seed
@options.smooth
@options.as_json
@options.path("--csv", help="Write a table with the beliefs after every round.")
@options.raw
@options.plot
def teach(
    matrix: str,
    hypothesis: str | None,
    rounds: int,
    best: bool,
    no_repeats: bool,
    prior: str | None,
    learner_prior: str | None,
    seed: int | None,
    smooth: float | None,
    as_json: bool,
    csv: Path | None,
    raw: bool,
    plot: Path | None,
    **rule: Any,
) -> None:
    """Run one lesson: a teacher teaches a hypothesis and a learner learns, round by round."""
    inputs.check_outputs({"--csv": csv, "--plot": plot}, [matrix, rule["data_prior"]])
    model, example = inputs.load_matrix(matrix, smooth)
    target = inputs.find_hypothesis(hypothesis, model, example)
    assumed = inputs.read_prior(prior, model, example)
    actual = inputs.read_prior(learner_prior, model, example, name="learner's prior")
    actual = assumed if actual is None else actual

    from cobayes._output import counted
    from cobayes.lessons import Learner, Teacher, plan_lesson, run_lesson

    rules = inputs.make_rules(inputs.make_task(model, no_repeats=no_repeats), **rule)
    used_seed = inputs.choose_seed(seed)
    with terminal.patience(f"running {counted(rounds, 'round')}"):
        lessons = [
            plan_lesson(one, target, rounds, prior=actual)
            if best
            else run_lesson(
                Teacher(one, target, assumed, rng=used_seed), Learner(one, actual), rounds
            )
            for one in rules
        ]
    if csv is not None:
        from cobayes._output import write_csv

        write_csv(csv, _rows(lessons), raw=raw)
        terminal.say(f"wrote {csv}")
    if plot is not None:
        from cobayes.plots.beliefs import save_lessons

        save_lessons(lessons, plot)
        terminal.say(f"wrote {plot}")
    if as_json:
        terminal.show_json(_as_json(matrix, lessons, used_seed))
        return
    for lesson in lessons:
        _show(lesson)
    if len(lessons) > 1:
        last = [f"{lesson.rule_name} {lesson.beliefs[-1, target]:.4f}" for lesson in lessons]
        terminal.show(f"final belief in {model.hypotheses[target]}: {', '.join(last)}")
    if seed is None and not best and rounds:
        terminal.say_seed(used_seed, "see the same lesson")


def _rows(lessons: list[Lesson]) -> list[list[object]]:
    rows: list[list[object]] = [["rule", "round", "datum", *lessons[0].model.hypotheses]]
    for lesson in lessons:
        data = ("", *lesson.data_labels)
        for k, (datum, belief) in enumerate(zip(data, lesson.beliefs.tolist(), strict=True)):
            rows.append([lesson.rule_name, k, datum, *belief])
    return rows


def _as_json(source: str, lessons: list[Lesson], seed: int) -> dict[str, Any]:
    from cobayes import __version__

    first = lessons[0]
    return {
        "cobayes": __version__,
        "matrix": source,
        "data": list(first.model.data),
        "hypotheses": list(first.model.hypotheses),
        "hypothesis": first.hypothesis_label,
        "rounds": first.num_rounds,
        "seed": seed,
        "lessons": [
            {**lesson.to_dict(), "log_beliefs": lesson.log_beliefs.tolist()} for lesson in lessons
        ],
    }


def _show(lesson: Lesson) -> None:
    """Print a lesson with all hypotheses side by side, or with the strongest other one."""
    from cobayes._output import counted

    names, taught = lesson.model.hypotheses, lesson.hypothesis
    others = [h for h in range(len(names)) if h != taught]
    data = ("prior", *lesson.data_labels)
    title = f"{names[taught]} (taught)"
    needed = [len("round"), max(map(len, data)), max(len(title), _BELIEF + _BAR)]
    needed += [max(len(names[h]), _BELIEF) for h in others]
    width = terminal.width()
    shows_all = width is None or sum(needed) + 3 * len(needed) <= width
    columns = [("round", ">"), ("datum", "<"), (title, "<")]
    columns += [(names[h], ">") for h in others] if shows_all else [("strongest other", "<")]
    rows = []
    for k, (datum, belief) in enumerate(zip(data, lesson.beliefs, strict=True)):
        row = [str(k), datum, f"{belief[taught]:.4f} {terminal.bar(belief[taught], _BAR)}"]
        if shows_all:
            row += [f"{belief[h]:.4f}" for h in others]
        else:
            rival = max(others, key=lambda h: belief[h])
            # The number first: where there is no room, the end is cut off.
            row.append(f"{belief[rival]:.4f} {names[rival]}")
        rows.append(row)
    least = [len("round"), 6, _BELIEF]
    least += [_BELIEF] * len(others) if shows_all else [_BELIEF + _NAME]
    heading = f"{lesson.rule_name} teaches {names[taught]}, {counted(lesson.num_rounds, 'round')}"
    terminal.show_table(heading, columns, rows, least=least)
