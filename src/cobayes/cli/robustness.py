"""``cobayes robustness``: does teaching survive a wrong idea of the learner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobayes.cli import inputs, options, output, progress

if TYPE_CHECKING:
    from cobayes.stability.robustness import Robustness

EPILOG = (
    "Examples:\n\n"
    "cobayes robustness example:gestures --learner-prior tidy --seed 1\n\n"
    "cobayes robustness example:M_3 --teacher-prior 1/3,1/3,1/3 --plot map.png"
)

MAP_DIVISIONS = 24


def robustness(
    matrix: options.Matrix,
    hypothesis: options.TaughtHypothesis = None,
    teacher_prior: options.TeacherPrior = None,
    learner_prior: options.LearnerPrior = None,
    learner_matrix: Annotated[
        str | None,
        typer.Option(
            "--learner-matrix",
            metavar="MATRIX",
            help="The learner's own matrix (default: the teacher's).",
        ),
    ] = None,
    radius: Annotated[
        float,
        typer.Option(
            "--radius",
            parser=options.number(0.0, 2.0),
            metavar="DISTANCE",
            help="How far the learner's prior is moved to find the most dangerous direction.",
        ),
    ] = 0.05,
    sequences: Annotated[
        int,
        options.count_option("--sequences", "-n", least=2, help="How many lessons to simulate."),
    ] = 10_000,
    max_rounds: Annotated[
        int,
        options.count_option(
            "--max-rounds", least=1, help="Lessons that are undecided after so many rounds stop."
        ),
    ] = 10_000,
    seed: options.Seed = None,
    smooth: options.Smooth = None,
    as_json: options.AsJson = False,
    plot: Annotated[
        Path | None,
        options.file_option(
            "--plot",
            "Write a picture: a map of priors (three hypotheses) or the most dangerous directions.",
        ),
    ] = None,
) -> None:
    """Show how robust teaching is: the success rate with its bounds, and the worst mistake.

    Teacher and learner follow SCBI. The teacher has an idea of the learner's prior; where it is
    wrong, the learner may end up with another hypothesis, however long the lesson.
    """
    inputs.check_outputs({"--plot": plot}, [matrix, learner_matrix])
    model, example = inputs.load_matrix(matrix, smooth)
    target = inputs.find_hypothesis(hypothesis, model, example)
    own = inputs.read_prior(teacher_prior, model, example, name="teacher's prior")
    theirs = inputs.read_prior(learner_prior, model, example, name="learner's prior")
    other = None if learner_matrix is None else inputs.load_matrix(learner_matrix, smooth)[0]

    from cobayes._output import counted
    from cobayes.stability.robustness import robustness as estimate

    used_seed = inputs.choose_seed(seed)
    with progress.patience(f"running {counted(sequences, 'lesson')} per prior"):
        result = estimate(
            model,
            other,
            hypothesis=target,
            teacher_prior=own,
            learner_prior=theirs,
            radius=radius,
            num_sequences=sequences,
            max_rounds=max_rounds,
            rng=used_seed,
        )
        if plot is not None:
            _draw(result, model, other, target, own, used_seed, plot)
    if plot is not None:
        output.say(f"wrote {plot}")
    if as_json:
        output.print_json({"matrix": matrix, "seed": used_seed, **result.to_dict()})
        return
    _print(result, is_own_learner=theirs is not None or other is not None)
    if seed is None:
        output.say_seed(used_seed, "get the same numbers")


def _print(result: Robustness, *, is_own_learner: bool) -> None:
    console = output.console()
    rate, names = result.rate, result.rate.hypotheses
    low, high = rate.interval()
    who = "this learner" if is_own_learner else "a learner as the teacher imagines it"
    table = output.facts(f"teaching {rate.hypothesis} to {who}", "right")
    table.add_row("success rate", f"{rate.value:.4f} ± {rate.stderr:.1g}")
    table.add_row("95 % interval", f"{low:.4f} to {high:.4f}")
    table.add_row(
        "proved, from the priors", f"{result.bounds.lower:.4f} to {result.bounds.upper:.4f}"
    )
    if rate.num_unfinished:
        table.add_row(
            "lessons cut off", f"{rate.num_unfinished} of {rate.num_sequences} (in the interval)"
        )
    console.print(table)
    others = sorted(range(len(names)), key=lambda j: -rate.outcomes[j])
    wrong = [j for j in others if names[j] != rate.hypothesis and rate.outcomes[j] > 1e-4][:4]
    if wrong:
        ends = ", ".join(f"{names[j]} {rate.outcomes[j]:.4f}" for j in wrong)
        console.print(f"otherwise it ends at: {ends}", markup=False)
    prior = ", ".join(
        f"{name}={value:.4g}" for name, value in zip(names, result.worst_prior, strict=True)
    )
    worst = output.facts("most dangerous mistake about its prior")
    worst.add_row("direction", result.describe_direction())
    worst.add_row("for example", prior)
    worst.add_row(
        "success rate there",
        f"{result.worst_rate.value:.4f} ± {result.worst_rate.stderr:.1g} "
        f"(distance {result.distances[result.worst]:.3g})",
    )
    worst.add_row("success lost per 0.01", f"{0.01 * result.worst_slope:.4f}")
    console.print(worst)


def _draw(result: Robustness, model, other, target: int, own, seed: int, path: Path) -> None:
    from matplotlib.figure import Figure

    from cobayes.plots import plot_directions, plot_robustness_map, style
    from cobayes.plots.house import shorten_label
    from cobayes.plots.overview import save_picture

    is_map = model.num_hypotheses == 3
    with style():
        figure = Figure(figsize=(5.8, 4.6) if is_map else (7.0, 4.6), layout="constrained")
        ax = figure.subplots()
    if is_map:
        from cobayes.stability import TeachingSequences
        from cobayes.stability.robustness import simplex_grid

        grid = simplex_grid(3, MAP_DIVISIONS)
        sequences = TeachingSequences.draw(model, target, prior=own, num_sequences=2000, rng=seed)
        learners = None if other is None else [other] * len(grid)
        plot_robustness_map(result, grid, sequences.success_of_many(learners, grid).values, ax=ax)
    else:
        plot_directions(result, ax=ax)
        taught = shorten_label(result.rate.hypothesis)
        ax.set_title(f"teaching {taught}: most dangerous mistakes", loc="left")
    save_picture(figure, path)
