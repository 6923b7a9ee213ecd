"""One lesson taught twice, by plain Bayes and by SCBI, and the average over many lessons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes.browser import live_figure
from cobayes.example_library import Example, examples
from cobayes.lessons import Learner, Lesson, Teacher, run_lesson, simulate
from cobayes.paper.common import new_axes, write_section
from cobayes.plots.beliefs import plot_belief_bars, plot_belief_curves
from cobayes.plots.comparison import plot_mean_beliefs
from cobayes.plots.house import shorten_label
from cobayes.plots.matrices import plot_scaling
from cobayes.plots.simplex import plot_simplex_path
from cobayes.report.section import Context, Section
from cobayes.rules import BI, SCBI
from cobayes.runs import Experiment, Point

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

EXAMPLE, REALISTIC = "M_3", "diagnosis"
RULES = {"BI": BI, "SCBI": SCBI}
_LESSONS_PER_SHARD = 50_000


def average_experiment(context: Context) -> Experiment:
    """Return the experiment that averages the belief in the truth over lessons."""
    default = context.count(100_000, at_least=200, quick=10_000)
    count = context.setting("num_lessons", default)
    num_rounds = context.setting("num_rounds", 12)
    given = [{"rule": rule, "num_rounds": num_rounds} for rule in RULES]
    points = [Point(each["rule"], each, count, _LESSONS_PER_SHARD) for each in given]
    return Experiment("lesson-averages", points, average_shard, seed=context.seed)


def average_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> dict[str, Any]:
    """Simulate lessons of one rule.

    Return, for each round, the sums over lessons of the belief in the truth and of its square.
    """
    rule, rng = RULES[parameters["rule"]](examples[EXAMPLE]), np.random.default_rng(seed_sequence)
    counts = {"num_rounds": parameters["num_rounds"], "num_lessons": num_samples}
    lessons = simulate(rule, examples[EXAMPLE].hypothesis, rng=rng, **counts)
    mean, std = lessons.mean(), lessons.std()
    squares = num_samples * (std**2 + mean**2)
    return {"count": num_samples, "total": num_samples * mean, "squares": squares}


def build(context: Context) -> Section:
    """Build the section."""
    experiment = average_experiment(context)
    (point, _) = experiment.points
    num_lessons, num_rounds = point.num_samples, point.parameters["num_rounds"]
    context.tell(f"averaging over {num_lessons:,} lessons of {num_rounds} rounds")
    means = {point.name: _mean_belief(point.statistics) for point in context.run(experiment)}
    example, seeds = examples[EXAMPLE], context.seeds().spawn(2)
    lessons = _teach(example, num_rounds, seeds[0])
    cases = _teach(examples[REALISTIC], num_rounds, seeds[1])
    for lesson in lessons:
        lesson.save(context.folder / f"lesson-{lesson.rule_name.lower()}.json")
    return write_section(
        "lesson",
        values={
            "num_rounds": num_rounds,
            "num_lessons": f"{num_lessons:,}",
            "ends": [f"{lesson.beliefs[-1, lesson.hypothesis]:.3f}" for lesson in lessons],
            "means": {rule: f"{m[-1]:.3f} ± {e[-1]:.3f}" for rule, (m, e) in means.items()},
            "matrix": example.model.matrix,
            "scaled": SCBI(example).posteriors(example.model.distribution()),
            "lessons": lessons,
            "cases": cases,
            "name": shorten_label,
        },
        figures=_draw(example, lessons, cases, means),
        data={"lesson": _rounds_table(lessons)},
        downloads={
            f"lesson-{name.lower()}.json": f"The {name} lesson, for cobayes.Lesson.load (JSON)"
            for name in RULES
        },
    )


def _mean_belief(statistics: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean belief by round, and its standard error."""
    count = int(statistics["count"])
    mean = np.asarray(statistics["total"]) / count
    spread = np.maximum(np.asarray(statistics["squares"]) - count * mean**2, 0.0)
    return mean, np.sqrt(spread / (count - 1) / count)


def _teach(example: Example, num_rounds: int, seed: np.random.SeedSequence) -> list[Lesson]:
    """Teach once by each rule; both teachers draw with the same random numbers."""
    found = []
    for kind in RULES.values():
        rule = kind(example)
        teacher = Teacher(rule, example.hypothesis, rng=np.random.default_rng(seed))
        found.append(run_lesson(teacher, Learner(rule), num_rounds))
    return found


def _rounds_table(lessons: list[Lesson]) -> pd.DataFrame:
    """Return the data and beliefs of both lessons; round 0 is the prior."""
    import pandas as pd

    tables = []
    for lesson in lessons:
        table = pd.DataFrame(lesson.beliefs, columns=list(lesson.model.hypotheses))
        tables.append(table.assign(rule=lesson.rule_name, datum=("", *lesson.data_labels)))
    return pd.concat(tables).rename_axis("round").reset_index()


def _draw(
    example: Example, lessons: list[Lesson], cases: list[Lesson], means: Mapping[str, Any]
) -> dict[str, Figure | str]:
    # The two matrices are separate pictures, so that a phone shows one below the other.
    (left, left_ax), (right, right_ax) = new_axes(4.8, 3.0), new_axes(4.8, 3.0)
    plot_scaling(example, axes=(left_ax, right_ax))
    figures: dict[str, Figure | str] = {"matrix": left, "scaled": right}
    named = [("lesson", lesson) for lesson in lessons] + [(REALISTIC, case) for case in cases]
    for name, lesson in named:
        figures[f"{name}-bars-{lesson.rule_name.lower()}"], ax = new_axes(4.8, 3.2)
        plot_belief_bars(lesson, ax=ax)
    figures["curves"], ax = new_axes(4.8, 3.2)
    plot_belief_curves(lessons, ax=ax)
    figures["average"], ax = new_axes(4.8, 3.2)
    plot_mean_beliefs(means, ax=ax)
    figures["path"], ax = new_axes(4.8, 4.0)
    for number, lesson in enumerate(lessons):
        plot_simplex_path(lesson, frame=number == 0, ax=ax)
    return {**figures, "live": live_figure("lesson", example)}
