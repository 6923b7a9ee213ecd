"""``cobayes robustness``: the success rate if the teacher assumes a wrong prior."""

from __future__ import annotations

from typing import Any

from cobayes._output import counted
from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given, load_matrix
from cobayes.model import Model
from cobayes.stability import simplex_grid, success_rates
from cobayes.stability.robustness import Robustness
from cobayes.stability.robustness import robustness as estimate

# For the map of all priors over three hypotheses, a triangle: steps per edge, lessons per prior.
MAP_DIVISIONS, MAP_LESSONS = 24, 2000


@options.command(
    "cobayes robustness example:gestures --learner-prior tidy --seed 1",
    "cobayes robustness example:M_3 --prior 1/3,1/3,1/3 --plot map.png",
)
@options.matrix
@options.hypothesis()
@options.prior
@options.learner_prior
@options.option(
    "--learner-matrix",
    metavar="MATRIX",
    help="The learner's own matrix (default: the teacher's).",
)
@options.number(
    "--radius",
    between=(0.0, 2.0),
    metavar="DISTANCE",
    default=0.05,
    help="The Euclidean distance from the assumed prior at which to search for the most dangerous "
    "prior; less near the border of the simplex.",
)
@options.lessons(10_000, "Number of lessons for each prior.")
@options.rounds(10_000, "Maximum number of rounds of a lesson.")
@options.seed()
@options.smooth
@options.as_json
@options.plot(" of the most dangerous directions (for three hypotheses, a map of priors)")
def robustness(given: Given) -> None:
    """Measure the success rate if the teacher assumes a wrong prior of the learner.

    Teacher and learner follow SCBI. If the learner's prior differs from the teacher's assumption,
    the learner may converge to a wrong hypothesis. The command shows the success rate with its
    bounds, and the change of the learner's prior that reduces success most.
    """
    matrix = given.learner_matrix
    learner_rule = None if matrix is None else load_matrix(matrix, given.smooth)
    with terminal.patience(f"running {counted(given.lessons, 'lesson')} per prior"):
        result = estimate(
            given.model,
            given.target,
            num_lessons=given.lessons,
            prior=given.assumed,
            learner_rule=learner_rule,
            learner_prior=given.actual,
            radius=given.radius,
            max_rounds=given.rounds,
            rng=given.used_seed,
        )
        figure = None if given.plot is None else _draw(result, given, learner_rule)
    is_own_learner = given.actual is not None or matrix is not None
    given.finish(
        result.to_dict(), lambda: _show(result, is_own_learner=is_own_learner), lambda: figure
    )


def _show(result: Robustness, *, is_own_learner: bool) -> None:
    rate, names = result.rate, result.rate.hypotheses
    low, high = rate.interval()
    facts = [
        ("success rate", f"{rate.value:.4f} ± {rate.stderr:.1g}"),
        ("95 % interval", f"{low:.4f} to {high:.4f}"),
    ]
    if result.bounds is not None:
        low, high = result.bounds
        facts.append(("proved bounds from the priors", f"{low:.4f} to {high:.4f}"))
    if rate.num_unfinished:
        stopped = f"{rate.num_unfinished} of {rate.num_lessons} (the interval covers any outcome)"
        facts.append(("lessons without a decision", stopped))
    who = "this learner" if is_own_learner else "a learner with the assumed prior"
    terminal.show_facts(f"teaching {rate.hypothesis} to {who}", facts, ">")
    wrong = [j for j, name in enumerate(names) if name != rate.hypothesis]
    wrong = sorted((j for j in wrong if rate.outcomes[j] > 1e-4), key=lambda j: -rate.outcomes[j])
    if wrong:
        ends = ", ".join(f"{names[j]} {rate.outcomes[j]:.4f}" for j in wrong[:4])
        terminal.show_text(f"the learner ends at another hypothesis with probability: {ends}")
    prior = zip(names, result.worst_prior, strict=True)
    worst = result.worst_rate
    terminal.show_facts(
        "most dangerous mistake about the learner's prior",
        [
            ("direction", result.describe_direction()),
            ("for example", ", ".join(f"{name}={value:.4g}" for name, value in prior)),
            (
                "success rate at this prior",
                f"{worst.value:.4f} ± {worst.stderr:.1g} "
                f"(distance {result.distances[result.worst]:.3g})",
            ),
            ("success lost per 0.01 of distance", f"{0.01 * result.worst_slope:.4f}"),
        ],
    )


def _draw(result: Robustness, given: Given, learner: Model | None) -> Any:
    from cobayes.plots.robustness import draw_robustness

    if given.model.num_hypotheses != 3:
        return draw_robustness(result)
    grid = simplex_grid(3, MAP_DIVISIONS)
    rates = success_rates(
        given.model,
        given.target,
        num_lessons=MAP_LESSONS,
        prior=given.assumed,
        learner_rules=[learner],
        learner_priors=grid,
        max_rounds=given.rounds,
        rng=given.used_seed,
    )
    return draw_robustness(result, (grid, [rate.value for rate in rates]))
