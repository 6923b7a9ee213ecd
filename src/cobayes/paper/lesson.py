"""One lesson taught twice, by plain Bayes and by SCBI, and the average over many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._output import csv_text
from cobayes.example_library import Example, examples
from cobayes.lessons import Learner, Lesson, Teacher, run_lesson, simulate
from cobayes.plots.house import shorten_label
from cobayes.report.prose import read_prose, written_section
from cobayes.report.section import Context, Download, LiveFigure, Picture, Section, Table
from cobayes.rules import BI, SCBI
from cobayes.runs import Experiment, Point

EXAMPLE, REALISTIC = "M_3", "diagnosis"
NUM_ROUNDS = 12
FULL_NUM_LESSONS, QUICK_NUM_LESSONS = 100_000, 10_000
_LESSONS_PER_SHARD = 50_000
RULES = ("BI", "SCBI")

Array = NDArray[np.float64]


def build(context: Context) -> Section:
    """Build the section."""
    example, realistic = examples[EXAMPLE], examples[REALISTIC]
    seeds = context.seeds().spawn(3)
    lessons = _teach(example, seeds[0])
    cases = _teach(realistic, seeds[1])
    experiment = average_experiment(context)
    num_lessons = experiment.points[0].num_samples
    context.tell(f"averaging over {num_lessons:,} lessons of {NUM_ROUNDS} rounds")
    result = context.run(experiment)
    many = {rule: _average_of(result[rule].statistics) for rule in RULES}
    bayes, cooperative = lessons
    return written_section(
        read_prose("cobayes.paper.prose", "lesson"),
        values={
            "num_rounds": NUM_ROUNDS,
            "num_lessons": f"{num_lessons:,}",
            "bayes": f"{bayes.beliefs[-1, 0]:.3f}",
            "cooperative": f"{cooperative.beliefs[-1, 0]:.3f}",
            "ahead": "ahead of" if many["SCBI"][0][-1] > many["BI"][0][-1] else "behind",
            "mean_scbi": _plus_minus(*many["SCBI"]),
            "mean_bi": _plus_minus(*many["BI"]),
            "realistic": realistic.hypothesis,
        },
        parts={
            "heat-maps": _heat_maps(example),
            "bars": [_bars(lesson, "lesson") for lesson in lessons],
            "curves": _curves(lessons),
            "average": _average(many, num_lessons),
            "path": _path(lessons),
            "rounds": _table(lessons),
            "cases": [_bars(lesson, REALISTIC) for lesson in cases],
            "live": LiveFigure(
                "lesson",
                EXAMPLE,
                "The same matrix, live: play the lesson, or show the data yourself.",
            ),
        },
        sizes=f"{num_lessons:,} lessons of {NUM_ROUNDS} rounds by each rule.",
        downloads=(
            Download("lesson.csv", "Both lessons, round by round (CSV)", _csv(lessons)),
            *(_saved(lesson, context) for lesson in lessons),
        ),
    )


def average_experiment(context: Context) -> Experiment:
    """Return the experiment of the averages over many lessons.

    Parameters
    ----------
    context
        Says scale and seed.
    """
    count = context.count(FULL_NUM_LESSONS, at_least=200, quick=QUICK_NUM_LESSONS)
    return Experiment(
        "lesson-averages",
        tuple(Point(rule, {"rule": rule}, count, min(count, _LESSONS_PER_SHARD)) for rule in RULES),
        average_shard,
        seed=context.seed,
    )


def average_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> dict[str, Any]:
    """Teach lessons and return sums of the belief in the truth, round by round.

    Parameters
    ----------
    parameters
        "rule": "BI" or "SCBI".
    seed_sequence
        The shard's own.
    num_samples
        How many lessons.
    """
    example = examples[EXAMPLE]
    rule = BI(example) if parameters["rule"] == "BI" else SCBI(example)
    lessons = simulate(
        rule,
        example.hypothesis,
        num_rounds=NUM_ROUNDS,
        num_lessons=num_samples,
        rng=np.random.default_rng(seed_sequence),
    )
    mean, std = lessons.mean(), lessons.std()
    return {
        "count": num_samples,
        "total": num_samples * mean,
        "squares": (num_samples - 1) * std**2 + num_samples * mean**2,
    }


def _average_of(statistics: Mapping[str, Any]) -> tuple[Array, Array]:
    """Return the mean belief by round, and its standard error."""
    count = int(statistics["count"])
    mean = np.asarray(statistics["total"]) / count
    spread = np.maximum(np.asarray(statistics["squares"]) - count * mean**2, 0.0)
    return mean, np.sqrt(spread / (count - 1) / count)


def _saved(lesson: Lesson, context: Context) -> Download:
    name = f"lesson-{lesson.rule_name.lower()}.npz"
    lesson.save(context.folder / name)
    return Download(name, f"The {lesson.rule_name} lesson, for cobayes.Lesson.load (NPZ)")


def _teach(example: Example, seed: np.random.SeedSequence) -> list[Lesson]:
    """Teach once by each rule; both teachers draw with the same random numbers."""
    return [
        run_lesson(
            Teacher(rule, example.hypothesis, rng=np.random.default_rng(seed)),
            Learner(rule),
            NUM_ROUNDS,
        )
        for rule in (BI(example), SCBI(example))
    ]


def _plus_minus(mean: Array, stderr: Array) -> str:
    return f"{mean[-1]:.3f} ± {stderr[-1]:.3f}"


def _table(lessons: list[Lesson]) -> Table:
    bayes, cooperative = lessons
    rows = [("0", "", f"{bayes.beliefs[0, 0]:.4f}", "", f"{cooperative.beliefs[0, 0]:.4f}")]
    rows += [
        (
            str(k + 1),
            shorten_label(bayes.data_labels[k]),
            f"{bayes.beliefs[k + 1, 0]:.4f}",
            shorten_label(cooperative.data_labels[k]),
            f"{cooperative.beliefs[k + 1, 0]:.4f}",
        )
        for k in range(NUM_ROUNDS)
    ]
    return Table(
        "The two lessons: the datum of each round and the belief in h₁ after it.",
        ("round", "BI: datum", "BI: belief", "SCBI: datum", "SCBI: belief"),
        tuple(rows),
    )


def _csv(lessons: list[Lesson]) -> str:
    rows = (
        (lesson.rule_name, number, datum, *belief)
        for lesson in lessons
        for number, (datum, belief) in enumerate(
            zip(("", *lesson.data_labels), lesson.beliefs.tolist(), strict=True)
        )
    )
    return csv_text([("rule", "round", "datum", *lessons[0].model.hypotheses), *rows])


def _heat_maps(example: Example) -> tuple[Picture, Picture]:
    from matplotlib.figure import Figure

    from cobayes.plots import plot_scaling

    # Two pictures rather than one: a phone shows them below each other.
    figures = [Figure(figsize=(4.8, 3.0), layout="constrained") for _ in range(2)]
    left, right = figures
    plot_scaling(example, axes=(left.subplots(), right.subplots()))
    rows = SCBI(example).posteriors(example.model.distribution())
    return (
        Picture(
            "matrix",
            left,
            "The matrix M₃: entry (d, h) is the chance of datum d if hypothesis h is true.",
            f"Heat map of the three by three matrix M_3: {_spell(example.model.matrix)}.",
        ),
        Picture(
            "scaled",
            right,
            "The same matrix scaled to the uniform prior: row sums one, column sums n·θ, here one. "
            "A row is the SCBI learner's posterior; column h₁ is what the teacher draws from.",
            f"Heat map of the scaled matrix: {_spell(rows)}.",
        ),
    )


def _spell(matrix: NDArray[np.float64]) -> str:
    return "; ".join(", ".join(f"{value:.3f}" for value in row) for row in matrix)


def _bars(lesson: Lesson, name: str) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots import plot_belief_bars

    figure = Figure(figsize=(4.8, 3.2), layout="constrained")
    plot_belief_bars(lesson, ax=figure.subplots())
    final = lesson.beliefs[-1, lesson.hypothesis]
    return Picture(
        f"{name}-bars-{lesson.rule_name.lower()}",
        figure,
        f"{lesson.rule_name} teaches {shorten_label(lesson.hypothesis_label)}: the learner's "
        "belief after every datum; the lowest part is the truth.",
        f"Stacked bars, one for the prior and one for each of {lesson.num_rounds} rounds; the part "
        f"of {lesson.hypothesis_label} goes from {lesson.beliefs[0, lesson.hypothesis]:.2f} to "
        f"{final:.2f}.",
    )


def _curves(lessons: list[Lesson]) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots import plot_belief_curves

    figure = Figure(figsize=(4.8, 3.2), layout="constrained")
    plot_belief_curves(lessons, ax=figure.subplots())
    ends = " and ".join(f"{x.rule_name} ends at {x.beliefs[-1, 0]:.2f}" for x in lessons)
    return Picture(
        "curves",
        figure,
        "Belief in the truth during these two lessons.",
        f"Two curves of the belief in h_1 over {NUM_ROUNDS} rounds: {ends}.",
    )


def _average(many: Mapping[str, tuple[Array, Array]], num_lessons: int) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots.comparison import plot_mean_beliefs

    figure = Figure(figsize=(4.8, 3.2), layout="constrained")
    plot_mean_beliefs(many, ax=figure.subplots())
    ends = " and ".join(f"{rule} reaches {mean[-1]:.3f}" for rule, (mean, _) in many.items())
    return Picture(
        "average",
        figure,
        f"The same, averaged over {num_lessons:,} lessons; the bands are two standard errors.",
        f"Two rising curves of the mean belief in h_1 over {NUM_ROUNDS} rounds: {ends}.",
    )


def _path(lessons: list[Lesson]) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots import plot_simplex_path

    figure = Figure(figsize=(4.8, 4.0), layout="constrained")
    ax = figure.subplots()
    for number, lesson in enumerate(lessons):
        plot_simplex_path(lesson, frame=number == 0, ax=ax)
    ends = "; ".join(
        f"{x.rule_name} ends at ({', '.join(f'{value:.2f}' for value in x.beliefs[-1])})"
        for x in lessons
    )
    return Picture(
        "path",
        figure,
        "The two lessons as paths through the triangle of beliefs: from the ring, the prior, to "
        "the large marker, the last belief. A corner is certainty; the star is the truth.",
        f"A triangle whose corners are h_1, h_2 and h_3, with two paths from its middle: {ends}.",
    )
