"""The part of ``cobayes compare`` that compares teachers: ``--teachers``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobayes.cli import output

if TYPE_CHECKING:
    from cobayes.lessons import TeacherComparison
    from cobayes.rules import Rule
    from cobayes.tasks.task import Task


def compare_ways(
    teachers: str, task: Task, hypothesis: int, *, learners: list[Rule], **options: Any
) -> TeacherComparison:
    """Compare teachers for a BI, a pragmatic and an SCBI learner.

    Parameters
    ----------
    teachers
        "all", or names with commas.
    task, hypothesis
        What may be shown, and the position of what is taught.
    learners
        Rules with the settings that the user chose; they stand for those of their kind.
    **options
        As for `cobayes.lessons.compare_teachers`; the questions as labels with commas.
    """
    from cobayes.lessons import compare_teachers
    from cobayes.rules import BI, SCBI, Pragmatic

    names = _split(teachers)
    kinds = {rule.name: rule for rule in (BI(task), Pragmatic(task, 1), SCBI(task), *learners)}
    questions = options.pop("questions")
    return compare_teachers(
        task,
        hypothesis,
        teachers="all" if [name.lower() for name in names] == ["all"] else names,
        learners=list(kinds.values()),
        questions=None if questions is None else _split(questions),
        **options,
    )


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def print_teachers(found: TeacherComparison) -> None:
    """Print one row per teacher and one column per learner."""
    from rich.text import Text

    from cobayes._output import counted
    from cobayes.lessons.comparing import TEACHERS

    head, *rows = found.cells()
    label = found.model.hypotheses[found.hypothesis]
    title = (
        f"Rounds until belief in {label} is {found.level:g} (median); in brackets the mean belief "
        f"after {counted(found.num_rounds, 'round')}"
    )
    headings: list[tuple[str, output.Justification]] = [(head[0], "left")]
    headings.extend((name, "right") for name in head[1:])
    table = output.table(title, headings)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console = output.console()
    console.print(table)
    for name in found.teachers:
        console.print(f"{name}: {TEACHERS[name]}", markup=False, highlight=False)
    for note in found.notes():
        console.print(note, markup=False, highlight=False)


def save_teachers(found: TeacherComparison, path: Path) -> None:
    """Draw the comparison into a file."""
    from matplotlib.figure import Figure

    from cobayes.plots import plot_teachers, style
    from cobayes.plots.overview import save_picture

    with style():
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        plot_teachers(found, ax=figure.add_subplot())
    save_picture(figure, path)
